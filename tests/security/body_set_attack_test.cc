// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Body sets are memory that a client asks for with few bytes: that must not let it take what the
// others need.
#include "absl/strings/str_cat.h"
#include "tests/security/attack.h"

namespace carom::server {
namespace {

class BodySetAttackTest : public AttackTest {
 protected:
  // A definition of as many bodies, with as many ticks, as there may be: 34 MB.
  static v1::BodySet Largest(uint32_t handle) {
    v1::BodySet set;
    set.set_body_set(handle);
    set.add_shapes()->mutable_capsule()->set_radius(1);
    for (int i = 0; i < 4096; ++i) set.add_shape(0);
    set.set_keep_ticks(256);
    return set;
  }
};

// One client defines the largest sets on ever more streams, and fills them.
TEST_F(BodySetAttackTest, AFloodOfLargeSets) {
  ASSERT_NO_FATAL_FAILURE(Start({"--memory-limit-bytes", absl::StrCat(512u << 20)}));
  const auto queries = v1::QueryService::NewStub(Connect());
  std::vector<std::unique_ptr<StreamCall>> calls;
  size_t made = 0;
  bool refused = false;
  for (int i = 0; i < 8 && !refused; ++i) {
    StreamCall& call = *calls.emplace_back(std::make_unique<StreamCall>());
    call.stream = queries->Stream(&call.context);
    for (uint32_t handle = 0; handle < 64 && !refused; ++handle) {
      v1::StreamRequest request;
      *request.mutable_frame()->add_body_sets() = Largest(handle);
      v1::BodyPoses& poses = *request.mutable_frame()->add_poses();
      poses.set_body_set(handle);
      for (int k = 0; k < 4096; ++k) {
        poses.add_x(k);
        poses.add_y(k);
      }
      v1::StreamResponse response;
      ASSERT_TRUE(call.stream->Write(request) && call.stream->Read(&response));
      const int code = response.answer().status().code();
      EXPECT_TRUE(code == grpc::OK || code == grpc::RESOURCE_EXHAUSTED) << code;
      refused = code != grpc::OK;
      made += refused ? 0 : 1;
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_LT(made * (34u << 20), 512u << 20);
  ExpectServed();
  for (const auto& call : calls) call->context.TryCancel();
}

// One client sends ticks without end: what a set takes does not grow.
TEST_F(BodySetAttackTest, TicksWithoutEnd) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto queries = v1::QueryService::NewStub(Connect());
  StreamCall call;
  call.stream = queries->Stream(&call.context);
  size_t before = 0;
  for (int frame = 0; frame < 40; ++frame) {
    v1::StreamRequest request;
    if (frame == 0) {
      v1::BodySet set = Largest(1);
      set.set_keep_ticks(8);
      *request.mutable_frame()->add_body_sets() = set;
    }
    for (int k = 0; k < 16; ++k) {
      v1::BodyPoses& poses = *request.mutable_frame()->add_poses();
      poses.set_body_set(1);
      poses.set_tick(static_cast<uint64_t>(16 * frame + k));
      for (int i = 0; i < 4096; ++i) {
        poses.mutable_floats()->add_x(static_cast<float>(i));
        poses.mutable_floats()->add_y(static_cast<float>(i));
      }
    }
    v1::StreamResponse response;
    ASSERT_TRUE(call.stream->Write(request) && call.stream->Read(&response));
    ASSERT_EQ(response.answer().status().code(), 0) << response.answer().ShortDebugString();
    if (frame == 10) before = Memory();
    if (frame % 10 == 0) ExpectServed();
  }
  EXPECT_TRUE(IsBelow(before + (8u << 20))) << Memory() - before;
  call.context.TryCancel();
}

}  // namespace
}  // namespace carom::server
