// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `Stream`: order, pipelining, and every end that a stream may have.
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/client/fixture.h"
#include "tests/support/process.h"

namespace carom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

constexpr char kStreamScene[] = "scenes/arena";
constexpr uint64_t kHandle = 3;
// How a stream without another server ends: the first broken call is the last.
constexpr StreamOptions kOneCall{.reconnect_timeout = std::chrono::milliseconds(0)};

// A frame that asks whether (x, 0.5) is in the arena.
struct PointFrame {
  explicit PointFrame(uint64_t seq) : x{static_cast<double>(seq)} {
    frame.seq = seq;
    frame.groups.resize(1);
    frame.groups[0].scene = kHandle;
    frame.groups[0].group.points = {x, y};
  }

  std::vector<double> x;
  std::vector<double> y = {0.5};
  Frame frame;
};

// Stops a process in its tracks; it answers nothing from here on.
void Freeze(pid_t pid) {
  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, WUNTRACED), pid);
  ASSERT_TRUE(WIFSTOPPED(status));
}

class ClientStreamTest : public ClientTest {
 protected:
  void SetUp() override {
    StartServer();
    ASSERT_TRUE(client_->CreateScene(kStreamScene, Squares(50)).ok());
  }

  std::unique_ptr<Stream> BoundStream(const StreamOptions& options = {}) {
    std::unique_ptr<Stream> stream = client_->OpenStream(options);
    Frame frame;
    frame.bindings.push_back({kHandle, kStreamScene});
    EXPECT_TRUE(stream->Send(frame).ok());
    EXPECT_TRUE(stream->Receive().ok());
    return stream;
  }

  // Squares stand at even x and are one wide, so both ends of each are in it.
  static void ExpectAnswer(const absl::StatusOr<FrameAnswer>& answer, uint64_t seq) {
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->seq, seq);
    ASSERT_EQ(answer->groups.size(), 1u);
    EXPECT_THAT(answer->groups[0].answers.points.polygon_ids, ElementsAre(seq / 2));
  }
};

TEST_F(ClientStreamTest, OneThreadSendsAheadOfItsAnswers) {
  const auto stream = BoundStream();
  for (uint64_t seq = 0; seq < 100; ++seq) {
    ASSERT_TRUE(stream->Send(PointFrame(seq).frame).ok());  // far more than are in flight
  }
  for (uint64_t seq = 0; seq < 100; ++seq) ExpectAnswer(stream->Receive(), seq);
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kOutOfRange);
}

TEST_F(ClientStreamTest, TwoThreads) {
  const auto stream = BoundStream({.max_in_flight = 3});
  std::thread sender([&] {
    for (int round = 0; round < 20; ++round) {
      for (uint64_t seq = 0; seq < 100; ++seq) {
        ASSERT_TRUE(stream->Send(PointFrame(seq).frame).ok());
      }
    }
    EXPECT_TRUE(stream->Finish().ok());
  });
  for (int round = 0; round < 20; ++round) {
    for (uint64_t seq = 0; seq < 100; ++seq) ExpectAnswer(stream->Receive(), seq);
  }
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kOutOfRange);
  sender.join();
}

TEST_F(ClientStreamTest, FinishKeepsAnswersForReceive) {
  const auto stream = BoundStream();
  for (uint64_t seq = 0; seq < 5; ++seq) ASSERT_TRUE(stream->Send(PointFrame(seq).frame).ok());
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(stream->Send(PointFrame(0).frame).code(), StatusCode::kFailedPrecondition);
  for (uint64_t seq = 0; seq < 5; ++seq) ExpectAnswer(stream->Receive(), seq);
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kOutOfRange);
}

TEST_F(ClientStreamTest, AStreamOutlivesItsClient) {
  const auto stream = BoundStream();
  client_.reset();
  ASSERT_TRUE(stream->Send(PointFrame(4).frame).ok());
  ExpectAnswer(stream->Receive(), 4);
}

TEST_F(ClientStreamTest, ARefusedFrameLeavesTheStream) {
  const auto stream = BoundStream();
  Frame twice;
  twice.bindings = {{1, kStreamScene}, {1, kStreamScene}};
  ASSERT_TRUE(stream->Send(twice).ok());
  ASSERT_TRUE(stream->Send(PointFrame(6).frame).ok());
  const auto refused = stream->Receive();
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_TRUE(Refuses(refused->status, StatusCode::kInvalidArgument, "bindings[1].handle"));
  ExpectAnswer(stream->Receive(), 6);
}

TEST_F(ClientStreamTest, AnUnknownHandleIsTheGroups) {
  const auto stream = client_->OpenStream();
  ASSERT_TRUE(stream->Send(PointFrame(0).frame).ok());
  const auto answer = stream->Receive();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->status.ok());
  EXPECT_TRUE(Refuses(answer->groups.at(0).status, StatusCode::kInvalidArgument, "scene_handle"));
}

TEST_F(ClientStreamTest, SendWaitsWhileTooManyAreInFlight) {
  const auto stream = BoundStream({.max_in_flight = 2});
  PointFrame waiting(0);  // for the version that the commit below makes
  waiting.frame.groups[0].min_version = client_->GetScene(kStreamScene)->version + 1;
  waiting.frame.budget_us = 60'000'000;
  std::atomic<int> sent = 0;
  std::thread sender([&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(stream->Send(waiting.frame).ok());
      ++sent;
    }
  });
  for (int i = 0; i < 3000 && sent < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(sent, 2);
  EXPECT_TRUE(client_->CommitEdits(kStreamScene, 0, {}).ok());
  for (int i = 0; i < 3; ++i) ExpectAnswer(stream->Receive(), 0);
  sender.join();
  EXPECT_EQ(sent, 3);
}

TEST_F(ClientStreamTest, CancelEndsWaits) {
  const auto stream = BoundStream();
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stream->Cancel();
  });
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kCancelled);
  canceller.join();
  EXPECT_EQ(stream->Send(PointFrame(0).frame).code(), StatusCode::kCancelled);
  EXPECT_EQ(stream->Finish().code(), StatusCode::kCancelled);
}

TEST_F(ClientStreamTest, DestructionCancels) {
  const auto stream = BoundStream();
  PointFrame waiting(0);
  waiting.frame.groups[0].min_version = uint64_t{1} << 40;
  waiting.frame.budget_us = 60'000'000;
  ASSERT_TRUE(stream->Send(waiting.frame).ok());
}

// Answers that no window holds must not stop a sender that receives nothing meanwhile.
TEST_F(ClientStreamTest, LargeAnswersDoNotBlockASender) {
  const auto stream = BoundStream({.max_in_flight = 64});
  const std::vector<double> ax(500, -1), y(500, 0.5), bx(500, 200);
  Frame frame;
  frame.groups.resize(1);
  frame.groups[0].scene = kHandle;
  frame.groups[0].group.cast_options.mode = CastMode::kAll;
  frame.groups[0].group.segments = {ax, y, bx, y};
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(stream->Send(frame).ok());  // 2 MiB each to come
  for (int i = 0; i < 40; ++i) {
    const auto answer = stream->Receive();
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->groups.at(0).answers.segments.hits.size(), 25000u);
  }
}

TEST_F(ClientStreamTest, ADrainedServerIsUnavailable) {
  const auto stream = BoundStream(kOneCall);
  server_->Drain();
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(stream->Send(PointFrame(0).frame).code(), StatusCode::kUnavailable);
}

TEST(ClientStreamProcessTest, AKilledServerIsUnavailable) {
  const auto process = carom::testing::ServerProcess::Start(Environment("CAROMD_BINARY"));
  ASSERT_NE(process, nullptr);
  const auto client = Client::Connect(process->address());
  ASSERT_TRUE(client.ok()) << client.status();
  const auto stream = (*client)->OpenStream(kOneCall);
  ASSERT_TRUE(stream->Send({}).ok());
  ASSERT_TRUE(stream->Receive().ok());
  kill(process->pid(), SIGKILL);
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(stream->Send({}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(stream->Finish().code(), StatusCode::kUnavailable);
  EXPECT_EQ((*client)->GetScene("scenes/a").status().code(), StatusCode::kUnavailable);
}

// A server that hangs: frames pile up to the limit, a call with a deadline ends by itself.
TEST(ClientStreamProcessTest, AStoppedServerDoesNotHoldCallsWithADeadline) {
  const auto process = carom::testing::ServerProcess::Start(Environment("CAROMD_BINARY"));
  ASSERT_NE(process, nullptr);
  const auto client = Client::Connect(process->address());
  ASSERT_TRUE(client.ok()) << client.status();
  const auto stream = (*client)->OpenStream({.max_in_flight = 4});
  ASSERT_TRUE(stream->Send({}).ok());
  ASSERT_TRUE(stream->Receive().ok());
  Freeze(process->pid());
  EXPECT_EQ(
      (*client)->GetScene("scenes/a", {.timeout = std::chrono::milliseconds(100)}).status().code(),
      StatusCode::kDeadlineExceeded);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(stream->Send({}).ok());
  kill(process->pid(), SIGCONT);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(stream->Receive().ok());
  EXPECT_TRUE(stream->Finish().ok());
}

// A machine that is gone answers nothing, not even that it is gone.
TEST(ClientStreamProcessTest, ASilentServerIsUnavailable) {
  const auto process = carom::testing::ServerProcess::Start(Environment("CAROMD_BINARY"));
  ASSERT_NE(process, nullptr);
  const auto client =
      Client::Connect(process->address(), {.keepalive_interval = std::chrono::milliseconds(500)});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto stream = (*client)->OpenStream(kOneCall);
  ASSERT_TRUE(stream->Send({}).ok());
  ASSERT_TRUE(stream->Receive().ok());
  Freeze(process->pid());
  ASSERT_TRUE(stream->Send({}).ok());
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace carom
