// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What attacks on a server share: caromd as a process of its own, what it takes of memory, and
// another client that must be served all along.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "carom/v1/query_service.grpc.pb.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "gtest/gtest.h"
#include "tests/server/fixture.h"
#include "tests/support/process.h"

namespace carom::server {

// A number of /proc/PID/status in KiB, such as "VmHWM:", as bytes.
inline size_t StatusBytes(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (file >> word) {
    size_t kib = 0;
    if (word == name && file >> kib) return kib << 10;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

// The client's side of a stream on a connection of the test's choice.
struct StreamCall {
  Context context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream;
};

// A polygon whose edges every one of `LongCasts` crosses, all of them.
inline v1::CreateSceneRequest Teeth(int teeth) {
  v1::CreateSceneRequest request;
  request.set_name("scenes/teeth");
  v1::Ring* ring = request.add_polygons()->add_rings();
  for (int i = 0; i < teeth; ++i) {
    ring->add_x(i);
    ring->add_y(i % 2 == 0 ? -1 : 1);
  }
  return request;
}

inline v1::EvaluateRequest LongCasts(int count) {
  v1::EvaluateRequest request;
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene("scenes/teeth");
  v1::SegmentCasts& casts = *group.mutable_segments();
  casts.set_mode(v1::CAST_MODE_ALL);
  for (int i = 0; i < count; ++i) {
    casts.add_ax(-1);
    casts.add_ay(0.25 + i * 1e-6);
    casts.add_bx(100000);
    casts.add_by(0.25);
  }
  return request;
}

// 2,000 squares in a row, and segments that hit each of them, so many times in all.
inline v1::CreateSceneRequest RowOfSquares() {
  v1::CreateSceneRequest request;
  request.set_name("scenes/row");
  for (int i = 0; i < 2000; ++i) {
    *request.add_polygons() = FromText<v1::Polygon>(Square(i + 1, 3 * i, 0));
  }
  return request;
}

inline v1::EvaluateRequest ManyHits(int hits) {
  v1::EvaluateRequest request;
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene("scenes/row");
  v1::SegmentCasts& casts = *group.mutable_segments();
  casts.set_mode(v1::CAST_MODE_ALL);
  casts.set_max_hits(65536);
  casts.set_detail(v1::CAST_DETAIL_EXIT);
  for (int i = 0; i < hits / 2000; ++i) {
    casts.add_ax(-2);
    casts.add_ay(0.5);
    casts.add_bx(6000);
    casts.add_by(0.5);
  }
  return request;
}

// A caromd of its own for each test.
class AttackTest : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& options = {},
             const std::string& address = "127.0.0.1:0") {
    process_ = StartAnother(options, address);
    ASSERT_NE(process_, nullptr);
    victim_ = Connect();
  }
  // Null, and a failure of the test, if it does not start.
  static std::unique_ptr<carom::testing::ServerProcess> StartAnother(
      const std::vector<std::string>& options, const std::string& address = "127.0.0.1:0") {
    const char* binary = std::getenv("CAROMD_BINARY");
    EXPECT_NE(binary, nullptr) << "CAROMD_BINARY is not set: run this through ctest";
    if (binary == nullptr) return nullptr;
    std::vector<std::string> all{"--threads", "2"};
    all.insert(all.end(), options.begin(), options.end());
    return carom::testing::ServerProcess::Start(binary, all, 20.0, address);
  }
  void TearDown() override {
    if (process_ == nullptr) return;
    EXPECT_EQ(process_->Stop(), 0);
  }

  // A connection of its own.
  std::shared_ptr<grpc::Channel> Connect() const { return ChannelTo(process_->address()); }
  static std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }

  // What another client finds: health, scenes and queries are there.
  void ExpectServed() {
    const auto health = grpc::health::v1::Health::NewStub(victim_);
    Context health_context;
    grpc::health::v1::HealthCheckResponse serving;
    const grpc::Status checked = health->Check(&health_context, {}, &serving);
    EXPECT_TRUE(checked.ok()) << checked.error_message();
    const auto scenes = v1::SceneService::NewStub(victim_);
    Context create_context;
    v1::CreateSceneRequest create;
    create.set_name("scenes/victim-" + std::to_string(++served_));
    v1::CreateSceneResponse created;
    const grpc::Status made = scenes->CreateScene(&create_context, create, &created);
    EXPECT_TRUE(made.ok()) << made.error_message();
    Context delete_context;
    v1::DeleteSceneRequest remove;
    remove.set_name(create.name());
    v1::DeleteSceneResponse removed;
    EXPECT_TRUE(scenes->DeleteScene(&delete_context, remove, &removed).ok());
    const auto queries = v1::QueryService::NewStub(victim_);
    Context query_context;
    v1::EvaluateResponse answer;
    EXPECT_TRUE(queries->Evaluate(&query_context, {}, &answer).ok());
  }

  // Of what the process holds itself, without the files that it maps.
  size_t Memory() const { return StatusBytes(process_->pid(), "RssAnon:"); }
  // The most that it has held since `ResetPeak`, with those files.
  size_t Peak() const { return StatusBytes(process_->pid(), "VmHWM:"); }
  bool IsBelow(size_t bytes) const { return kIsSanitized || Memory() < bytes; }
  bool WasBelow(size_t bytes) const { return kIsSanitized || Peak() < bytes; }
  void ResetPeak() const {
    std::ofstream("/proc/" + std::to_string(process_->pid()) + "/clear_refs") << 5;
  }

  const carom::testing::ServerProcess& process() const { return *process_; }

 private:
  std::unique_ptr<carom::testing::ServerProcess> process_;
  std::shared_ptr<grpc::Channel> victim_;
  int served_ = 0;
};

}  // namespace carom::server
