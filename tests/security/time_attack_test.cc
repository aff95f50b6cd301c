// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Clients that ask for very much work must not keep others from being answered.
#include <atomic>
#include <thread>

#include "tests/security/attack.h"

namespace carom::server {
namespace {

class TimeAttackTest : public AttackTest {
 protected:
  void CreateTeeth(int teeth) {
    const auto scenes = v1::SceneService::NewStub(Connect());
    Context context;
    v1::CreateSceneResponse response;
    ASSERT_TRUE(scenes->CreateScene(&context, Teeth(teeth), &response).ok());
  }
  // A stream of frames of `bullets` segments that hit little, one after the other.
  int AnswersOfABystander(int frames, int bullets) {
    const auto queries = v1::QueryService::NewStub(Connect());
    // Less than the attackers have, so that it is not their end that helps.
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kTimeout / 2);
    const auto stream = queries->Stream(&context);
    v1::StreamRequest request;
    v1::Group& group = *request.mutable_frame()->add_groups();
    group.set_scene("scenes/teeth");
    for (int i = 0; i < bullets; ++i) {
      v1::SegmentCasts& segments = *group.mutable_segments();
      segments.add_ax(i % 1000);
      segments.add_ay(-3);
      segments.add_bx(i % 1000);
      segments.add_by(-1.5);
    }
    int answered = 0;
    v1::StreamResponse response;
    while (answered < frames && stream->Write(request) && stream->Read(&response)) {
      EXPECT_EQ(response.answer().groups(0).status().code(), 0);
      ++answered;
    }
    context.TryCancel();
    return answered;
  }
};

// Story: each of six streams sent a frame of unlimited work. They held all threads of the executor
// for as long as it took, and a client with frames of 10,000 bullets got no answer in 12 s.
TEST_F(TimeAttackTest, FramesOfUnlimitedWork) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(CreateTeeth(20000));
  const auto queries = v1::QueryService::NewStub(Connect());
  v1::StreamRequest request;
  *request.mutable_frame() = LongCasts(60000).frame();
  std::vector<StreamCall> calls(6);
  for (StreamCall& call : calls) {
    call.stream = queries->Stream(&call.context);
    for (int frame = 0; frame < 4; ++frame) ASSERT_TRUE(call.stream->Write(request));
  }
  EXPECT_EQ(AnswersOfABystander(60, 10000), 60);
  ExpectServed();
  for (StreamCall& call : calls) call.context.TryCancel();
}

// Story: calls of 60 bytes, each of which asks for seconds of work and is over by its deadline
// after some milliseconds, held every thread of the event loop. Health was silent, and another
// client waited 2.8 s for what takes half a millisecond.
TEST_F(TimeAttackTest, SmallCallsOfMuchWork) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(CreateTeeth(100000));
  const auto request = FromText<v1::EvaluateRequest>(
      "frame { groups { scene: 'scenes/teeth' fans { x: 5 y: -0.9 angle: 0 step: 1e-6 range: 1e5"
      " beams: 65536 } } }");
  std::atomic<bool> stop{false};
  std::vector<std::thread> attackers;
  for (int i = 0; i < (kIsSanitized ? 4 : 16); ++i) {
    attackers.emplace_back([&] {
      const auto queries = v1::QueryService::NewStub(Connect());
      while (!stop) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(20));
        v1::EvaluateResponse response;
        queries->Evaluate(&context, request, &response);
      }
    });
  }
  constexpr int kRounds = kIsSanitized ? 3 : 20;
  for (int i = 0; i < kRounds; ++i) ExpectServed();
  EXPECT_EQ(AnswersOfABystander(10 * kRounds, 1), 10 * kRounds);
  stop = true;
  for (std::thread& attacker : attackers) attacker.join();
}

}  // namespace
}  // namespace carom::server
