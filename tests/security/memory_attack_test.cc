// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Little input must not make the server hold much.
#include <cmath>
#include <thread>

#include "tests/security/attack.h"

namespace carom::server {
namespace {

// Story: a stream's table of trackers had a slot for each handle up to the highest. A frame of 21
// bytes took 5.4 MB.
TEST_F(AttackTest, HighTrackerHandles) {
  ASSERT_NO_FATAL_FAILURE(Start());
  constexpr size_t kStreams = 100;
  const auto queries = v1::QueryService::NewStub(Connect());
  struct Call {
    Context context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream;
  };
  std::vector<Call> calls(kStreams);
  v1::StreamRequest empty, define;
  define = FromText<v1::StreamRequest>(
      "frame { trackers { shapes { capsule { radius: 1 } } first_tracker: 65535 } }");
  const auto ask = [&](const v1::StreamRequest& request) {
    for (Call& call : calls) {
      v1::StreamResponse response;
      ASSERT_TRUE(call.stream->Write(request) && call.stream->Read(&response));
      EXPECT_EQ(response.answer().status().code(), 0) << response.answer().status().message();
    }
  };
  for (Call& call : calls) call.stream = queries->Stream(&call.context);
  ask(empty);
  const size_t before = Memory();
  ask(define);
  EXPECT_LT(Memory(), before + kStreams * (64 << 10));
  ExpectServed();
  for (Call& call : calls) call.context.TryCancel();
}

// Story: a message was parsed before its polygons were counted. 8.3 MB of empty ones became 420 MB.
TEST_F(AttackTest, EmptyPolygons) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::string polygons;
  for (int i = 0; i < 2090000; ++i) polygons += std::string("\x12\x00", 2);
  std::string edits("\x0a\x08scenes/a", 10);
  for (int i = 0; i < 2090000; ++i) edits += std::string("\x1a\x00", 2);
  ExpectServed();
  ResetPeak();
  const size_t before = Peak();
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      const auto channel = Connect();
      for (int k = 0; k < 4; ++k) {
        const grpc::Status status =
            i % 2 == 0 ? CallWithBytes(channel, "/carom.v1.SceneService/CreateScene", polygons)
                       : CallWithBytes(channel, "/carom.v1.SceneService/CommitEdits", edits);
        EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << status.error_message();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  // The messages themselves, a few at once, and what gRPC reads ahead.
  EXPECT_LT(Peak(), before + (128u << 20));
  ExpectServed();
}

// Story: a frame that waited for a version kept its parsed message, 25 times its bytes where it had
// 4 MB of empty rings; and what was freed afterwards stayed with the allocator, 1.8 GB.
TEST_F(AttackTest, ParkedFrames) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto scenes = v1::SceneService::NewStub(Connect());
  Context create_context;
  v1::CreateSceneResponse created;
  v1::CreateSceneRequest create;
  create.set_name("scenes/a");
  ASSERT_TRUE(scenes->CreateScene(&create_context, create, &created).ok());
  // 40,000 rings of a vertex, 1.1 MB, which are legal; and as many bytes of empty ones, which are
  // not.
  v1::StreamRequest request = FromText<v1::StreamRequest>(
      "frame { budget_us: 20000000 groups { scene: 'scenes/a' min_version: 99999999 } }");
  v1::Polygon& shape =
      *request.mutable_frame()->mutable_groups(0)->mutable_polygons()->add_shapes();
  for (int i = 0; i < 40000; ++i) {
    v1::Ring* ring = shape.add_rings();
    ring->add_x(i);
    ring->add_y(i);
  }
  v1::StreamRequest empty = request;
  v1::Polygon& hollow =
      *empty.mutable_frame()->mutable_groups(0)->mutable_polygons()->mutable_shapes(0);
  hollow.clear_rings();
  for (int i = 0; i < 1500000; ++i) hollow.add_rings();
  const size_t before = Memory();
  constexpr size_t kStreams = 40;
  const auto queries = v1::QueryService::NewStub(Connect());
  struct Call {
    Context context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream;
  };
  std::vector<Call> calls(kStreams);
  v1::StreamResponse response;
  for (size_t i = 0; i < kStreams; ++i) {
    calls[i].stream = queries->Stream(&calls[i].context);
    ASSERT_TRUE(calls[i].stream->Write(i % 4 == 0 ? empty : request));
    if (i % 4 != 0) continue;
    ASSERT_TRUE(calls[i].stream->Read(&response));
    EXPECT_EQ(response.answer().status().code(), grpc::RESOURCE_EXHAUSTED);
  }
  // Sure that all are parked: another stream's frame is answered, and nothing runs any more.
  ExpectServed();
  EXPECT_TRUE(Eventually([&] { return Memory() < before + kStreams * (4u << 20); }));
  for (Call& call : calls) call.context.TryCancel();
  EXPECT_TRUE(Eventually([&] { return Memory() < before + (64u << 20); }));
  ExpectServed();
}

// Whatever is held counts on one account. Under a limit of 400 MB scenes fill their share, then
// trackers, then frames that wait; each is refused by name, the others go on, and nothing passes
// the limit.
TEST_F(AttackTest, EveryShareAtOnce) {
  constexpr size_t kLimit = 400u << 20;
  ASSERT_NO_FATAL_FAILURE(Start({"--memory-limit-bytes", std::to_string(kLimit)}));
  const auto exhausted = [](const std::string& message, const char* share) {
    return message.find(std::string("memory for ") + share) != std::string::npos;
  };
  // Scenes of 20,000 squares.
  const auto channel = Connect();
  const auto scenes = v1::SceneService::NewStub(channel);
  v1::CreateSceneRequest create;
  for (int i = 0; i < 20000; ++i) {
    v1::Polygon& polygon = *create.add_polygons();
    polygon.set_id(i);
    v1::Ring& ring = *polygon.add_rings();
    for (const double x : {0, 1, 1, 0}) ring.add_x(3 * i + x);
    for (const double y : {0, 0, 1, 1}) ring.add_y(y);
  }
  int made = 0;
  grpc::Status status;
  for (; made < 100; ++made) {
    Context context;
    create.set_name("scenes/" + std::to_string(made));
    v1::CreateSceneResponse response;
    status = scenes->CreateScene(&context, create, &response);
    if (!status.ok()) break;
  }
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(exhausted(status.error_message(), "scenes")) << status.error_message();
  EXPECT_GT(made, 5);

  // Trackers of shapes of 4,000 vertices.
  struct Call {
    Context context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream;
  };
  const auto queries = v1::QueryService::NewStub(channel);
  v1::StreamRequest define;
  v1::TrackerDefinitions& definitions = *define.mutable_frame()->add_trackers();
  for (int k = 0; k < 8; ++k) {
    v1::Ring& ring = *definitions.add_shapes()->mutable_polygon()->add_rings();
    for (int i = 0; i < 4000; ++i) {
      ring.add_x(std::cos(i * 0.00157));
      ring.add_y(std::sin(i * 0.00157));
    }
  }
  std::vector<std::unique_ptr<Call>> streams;
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    streams.push_back(std::make_unique<Call>());
    Call& call = *streams.back();
    call.stream = queries->Stream(&call.context);
    v1::StreamResponse response;
    ASSERT_TRUE(call.stream->Write(define) && call.stream->Read(&response));
    refused += response.answer().status().code() == grpc::RESOURCE_EXHAUSTED ? 1 : 0;
  }
  EXPECT_GT(refused, 100);

  // Frames of 3 MB that wait for a version that never comes.
  v1::StreamRequest wait = FromText<v1::StreamRequest>(
      "frame { budget_us: 25000000 groups { scene: 'scenes/0' min_version: 99999999 } }");
  v1::SegmentCasts& segments = *wait.mutable_frame()->mutable_groups(0)->mutable_segments();
  for (int i = 0; i < 65000; ++i) {
    segments.add_ax(i);
    segments.add_ay(i);
    segments.add_bx(i);
    segments.add_by(i);
  }
  refused = 0;
  for (int i = 0; i < 60; ++i) {
    Call& call = *streams[i];
    call.stream->Write(wait);  // where gRPC's buffers are full, the call ends
  }
  // One more is refused, by the frame or by the call.
  ASSERT_TRUE(Eventually([&] {
    v1::EvaluateRequest request;
    *request.mutable_frame() = wait.frame();
    request.mutable_frame()->set_budget_us(0);
    v1::EvaluateResponse response;
    Context context;
    const grpc::Status asked = queries->Evaluate(&context, request, &response);
    return asked.error_code() == grpc::RESOURCE_EXHAUSTED &&
           exhausted(asked.error_message(), "messages");
  }));
  EXPECT_LT(Memory(), kLimit / 10 * 11);

  // A small client is still answered; what goes is given back.
  Context health_context;
  grpc::health::v1::HealthCheckResponse serving;
  EXPECT_TRUE(
      grpc::health::v1::Health::NewStub(channel)->Check(&health_context, {}, &serving).ok());
  for (const auto& call : streams) call->context.TryCancel();
  streams.clear();
  for (int i = 0; i < made; ++i) {
    Context context;
    v1::DeleteSceneRequest request;
    request.set_name("scenes/" + std::to_string(i));
    v1::DeleteSceneResponse response;
    ASSERT_TRUE(scenes->DeleteScene(&context, request, &response).ok());
  }
  ExpectServed();
  EXPECT_TRUE(Eventually([&] { return Memory() < (160u << 20); })) << Memory();
}

// Story: a client could watch the server's health without end.
TEST_F(AttackTest, ManyHealthWatches) {
  ASSERT_NO_FATAL_FAILURE(Start({"--max-calls-per-connection", "700"}));
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<grpc::health::v1::HealthCheckResponse>>> watches;
  size_t refused = 0;
  for (int connection = 0; connection < 2; ++connection) {
    const auto health = grpc::health::v1::Health::NewStub(Connect());
    for (int i = 0; i < 600; ++i) {
      contexts.push_back(std::make_unique<Context>());
      watches.push_back(health->Watch(contexts.back().get(), {}));
      grpc::health::v1::HealthCheckResponse response;
      if (watches.back()->Read(&response)) continue;
      EXPECT_EQ(watches.back()->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
      watches.pop_back();
      ++refused;
    }
  }
  EXPECT_EQ(refused, 1200u - 1024u);
  ExpectServed();
  for (const auto& context : contexts) context->TryCancel();
}

}  // namespace
}  // namespace carom::server
