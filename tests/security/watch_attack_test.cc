// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Watches that do nothing, or too many of them, take little, and nobody else waits for them.
#include <algorithm>

#include "tests/security/attack.h"
#include "tests/server/watcher.h"

namespace carom::server {
namespace {

std::vector<v1::ImportSceneRequest> LargeScene(double half) {
  std::vector<v1::ImportSceneRequest> parts;
  for (uint64_t i = 0; i < 5; ++i) {
    parts.push_back(ManySquares("scenes/large", 20000, 20000 * i, half));
  }
  return parts;
}

// A scene of 8 MB is replaced again and again while 200 clients that asked for its polygons read
// nothing: each holds a part, and all of them together two scenes at most.
TEST_F(AttackTest, WatchersThatDoNotRead) {
  ASSERT_NO_FATAL_FAILURE(Start({"--stalled-stream-seconds", "2"}));
  const auto scenes = v1::SceneService::NewStub(Connect());
  ASSERT_TRUE(Import(*scenes, LargeScene(1)).ok());
  ASSERT_TRUE(Import(*scenes, LargeScene(0.5)).ok());
  ResetPeak();
  const size_t before = Peak();
  std::vector<std::unique_ptr<Watcher>> watches;
  for (int connection = 0; connection < 4; ++connection) {
    const auto stub = v1::SceneService::NewStub(Connect());
    for (int i = 0; i < (kIsSanitized ? 5 : 50); ++i) {
      watches.push_back(std::make_unique<Watcher>(*stub, "name: 'scenes/large' polygons: true"));
    }
  }
  for (int i = 0; i < (kIsSanitized ? 1 : 6); ++i) {
    ASSERT_TRUE(Import(*scenes, LargeScene(1 + 0.1 * i)).ok());
    ExpectServed();
  }
  EXPECT_TRUE(WasBelow(before + (300u << 20))) << before << " " << Peak();
  std::this_thread::sleep_for(std::chrono::seconds(5));
  size_t ended = 0;
  for (const auto& watch : watches) {
    // The latter where the socket took nothing for long, and with it the connection went.
    const grpc::StatusCode code = watch->Finish().error_code();
    ended += code == grpc::RESOURCE_EXHAUSTED || code == grpc::UNAVAILABLE ? 1 : 0;
  }
  EXPECT_EQ(ended, watches.size());
  ExpectServed();
}

// Of 10,000 watches on one connection as many are served as a peer may have; the others are refused
// or wait at the client, and calls of other connections are answered all along.
TEST_F(AttackTest, TenThousandWatchesOfOneConnection) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto channel = Connect();
  const auto scenes = v1::SceneService::NewStub(channel);
  ASSERT_TRUE(Import(*scenes, {ManySquares("scenes/a", 10, 0)}).ok());
  const size_t before = Memory();
  grpc::CompletionQueue queue;
  v1::WatchSceneRequest request;
  request.set_name("scenes/a");
  struct Call {
    Context context;
    v1::WatchSceneResponse part;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncReader<v1::WatchSceneResponse>> reader;
    bool is_over = false;
  };
  std::vector<Call> calls(10000);
  for (Call& call : calls) {
    call.reader = scenes->AsyncWatchScene(&call.context, request, &queue, nullptr);
  }
  // Calls begin in the order in which they were made; the tag of their other events is themselves.
  size_t served = 0;
  size_t refused = 0;
  size_t begun = 0;
  void* tag = nullptr;
  bool ok = false;
  while (served + refused < calls.size()) {
    ASSERT_TRUE(queue.Next(&tag, &ok));
    Call& call = tag == nullptr ? calls[begun++] : *static_cast<Call*>(tag);
    if (tag == nullptr) {
      call.reader->Read(&call.part, &call);
    } else if (call.is_over) {
      ++refused;
      EXPECT_EQ(call.status.error_code(), grpc::RESOURCE_EXHAUSTED);
    } else if (ok) {
      ++served;
    } else {
      call.is_over = true;
      call.reader->Finish(&call.status, &call);
    }
  }
  EXPECT_EQ(served, 256u);
  ExpectServed();
  EXPECT_TRUE(IsBelow(before + (64u << 20))) << before << " " << Memory();
  for (Call& call : calls) call.context.TryCancel();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  // Those that were served are gone, and others have their places.
  EXPECT_TRUE(Eventually([&] {
    Watcher watch(*scenes, "name: 'scenes/a'");
    WatchedVersion version;
    return watch.Next(version);
  }));
  ExpectServed();
}

}  // namespace
}  // namespace carom::server
