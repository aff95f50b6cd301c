// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Little input must not make the server hold much.
#include <sys/resource.h>

#include <cmath>
#include <thread>

#include "tests/security/attack.h"
#include "tests/server/watcher.h"

namespace carom::server {
namespace {

// Story: a stream's table of trackers had a slot for each handle up to the highest. A frame of 21
// bytes took 5.4 MB.
TEST_F(AttackTest, HighTrackerHandles) {
  ASSERT_NO_FATAL_FAILURE(Start());
  constexpr size_t kStreams = 100;
  const auto queries = v1::QueryService::NewStub(Connect());
  std::vector<StreamCall> calls(kStreams);
  v1::StreamRequest empty, define;
  define = FromText<v1::StreamRequest>(
      "frame { trackers { shapes { capsule { radius: 1 } } first_tracker: 65535 } }");
  const auto ask = [&](const v1::StreamRequest& request) {
    for (StreamCall& call : calls) {
      v1::StreamResponse response;
      ASSERT_TRUE(call.stream->Write(request) && call.stream->Read(&response));
      EXPECT_EQ(response.answer().status().code(), 0) << response.answer().status().message();
    }
  };
  for (StreamCall& call : calls) call.stream = queries->Stream(&call.context);
  ask(empty);
  const size_t before = Memory();
  ask(define);
  EXPECT_TRUE(IsBelow(before + kStreams * (64 << 10))) << Memory();
  ExpectServed();
  for (StreamCall& call : calls) call.context.TryCancel();
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
  EXPECT_TRUE(WasBelow(before + (128u << 20))) << Peak();
  ExpectServed();
}

// A frame of 40,000 rings of a vertex, 1.1 MB and many times that when it is parsed, that waits for
// a version of a scene.
v1::StreamRequest RingsThatWait(const std::string& scene, uint64_t version) {
  v1::StreamRequest request;
  request.mutable_frame()->set_budget_us(20000000);
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene(scene);
  group.set_min_version(version);
  v1::Polygon& shape = *group.mutable_polygons()->add_shapes();
  for (int i = 0; i < 40000; ++i) {
    v1::Ring* ring = shape.add_rings();
    ring->add_x(i);
    ring->add_y(i);
  }
  return request;
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
  // Which is legal; and as many bytes of empty rings, which are not.
  const v1::StreamRequest request = RingsThatWait("scenes/a", 99999999);
  v1::StreamRequest empty = request;
  v1::Polygon& hollow =
      *empty.mutable_frame()->mutable_groups(0)->mutable_polygons()->mutable_shapes(0);
  hollow.clear_rings();
  for (int i = 0; i < 1500000; ++i) hollow.add_rings();
  const size_t before = Memory();
  constexpr size_t kStreams = 40;
  const auto queries = v1::QueryService::NewStub(Connect());
  std::vector<StreamCall> calls(kStreams);
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
  EXPECT_TRUE(Eventually([&] { return IsBelow(before + kStreams * (4u << 20)); }));
  for (StreamCall& call : calls) call.context.TryCancel();
  EXPECT_TRUE(Eventually([&] { return IsBelow(before + (64u << 20)); }));
  ExpectServed();
}

bool IsExhausted(const grpc::Status& status, const std::string& share) {
  return status.error_code() == grpc::RESOURCE_EXHAUSTED &&
         status.error_message().find("memory for " + share) != std::string::npos;
}

class ShareTest : public AttackTest {
 protected:
  static constexpr size_t kLimit = 400u << 20;

  void Start() {
    AttackTest::Start({"--memory-limit-bytes", std::to_string(kLimit)});
    if (HasFatalFailure()) return;
    channel_ = Connect();
    scenes_ = v1::SceneService::NewStub(channel_);
    queries_ = v1::QueryService::NewStub(channel_);
  }

  // Registers scenes of 20,000 squares until one is refused; returns how many were made.
  int FillScenes() {
    v1::CreateSceneRequest create;
    for (int i = 0; i < 20000; ++i) {
      v1::Polygon& polygon = *create.add_polygons();
      polygon.set_id(i);
      v1::Ring& ring = *polygon.add_rings();
      for (const double x : {0, 1, 1, 0}) ring.add_x(3 * i + x);
      for (const double y : {0, 0, 1, 1}) ring.add_y(y);
    }
    for (int made = 0; made < 100; ++made) {
      Context context;
      create.set_name("scenes/" + std::to_string(made));
      v1::CreateSceneResponse response;
      const grpc::Status status = scenes_->CreateScene(&context, create, &response);
      if (status.ok()) continue;
      EXPECT_TRUE(IsExhausted(status, "scenes")) << status.error_message();
      return made;
    }
    return 100;
  }

  // Opens 300 streams, each with trackers of eight shapes of 4,000 vertices; returns how many are
  // refused.
  int FillTrackers() {
    v1::StreamRequest define;
    v1::TrackerDefinitions& definitions = *define.mutable_frame()->add_trackers();
    for (int k = 0; k < 8; ++k) {
      v1::Ring& ring = *definitions.add_shapes()->mutable_polygon()->add_rings();
      for (int i = 0; i < 4000; ++i) {
        ring.add_x(std::cos(i * 0.00157));
        ring.add_y(std::sin(i * 0.00157));
      }
    }
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
      streams_.push_back(std::make_unique<StreamCall>());
      StreamCall& call = *streams_.back();
      call.stream = queries_->Stream(&call.context);
      v1::StreamResponse response;
      EXPECT_TRUE(call.stream->Write(define) && call.stream->Read(&response));
      refused += response.answer().status().code() == grpc::RESOURCE_EXHAUSTED ? 1 : 0;
    }
    return refused;
  }

  // Sends frames of 2 MB that wait for a version that never comes, until another one is refused.
  // Frames that are parsed at the same time may refuse each other and leave room for one alone.
  void FillMessages() {
    v1::StreamRequest wait = FromText<v1::StreamRequest>(
        "frame { budget_us: 25000000 groups { scene: 'scenes/0' min_version: 99999999 } }");
    v1::SegmentCasts& segments = *wait.mutable_frame()->mutable_groups(0)->mutable_segments();
    for (int i = 0; i < 65000; ++i) {
      segments.add_ax(i);
      segments.add_ay(i);
      segments.add_bx(i);
      segments.add_by(i);
    }
    // Where gRPC's buffers are full, the call ends.
    for (int i = 0; i < 60; ++i) streams_[i]->stream->Write(wait);
    EXPECT_TRUE(Eventually([&] {
      v1::EvaluateRequest request;
      *request.mutable_frame() = wait.frame();
      request.mutable_frame()->set_budget_us(0);
      v1::EvaluateResponse response;
      Context context;
      if (IsExhausted(queries_->Evaluate(&context, request, &response), "messages")) return true;
      streams_.push_back(std::make_unique<StreamCall>());
      streams_.back()->stream = queries_->Stream(&streams_.back()->context);
      streams_.back()->stream->Write(wait);
      return false;
    }));
  }

  // Calls that were cancelled a moment ago may still have the memory for messages.
  void DeleteScenes(int made) {
    for (int i = 0; i < made; ++i) {
      v1::DeleteSceneRequest request;
      request.set_name("scenes/" + std::to_string(i));
      grpc::Status status;
      EXPECT_TRUE(Eventually([&] {
        Context context;
        v1::DeleteSceneResponse response;
        status = scenes_->DeleteScene(&context, request, &response);
        return !IsExhausted(status, "messages");
      }));
      EXPECT_TRUE(status.ok()) << status.error_message();
    }
  }

  void CloseStreams() {
    for (const auto& call : streams_) call->context.TryCancel();
    streams_.clear();
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::SceneService::Stub> scenes_;
  std::unique_ptr<v1::QueryService::Stub> queries_;
  std::vector<std::unique_ptr<StreamCall>> streams_;
};

// Whatever is held counts on one account: scenes fill their share, then trackers, then frames that
// wait. Each is refused by name, the others go on, nothing passes the limit by a tenth, and what
// goes is given back.
TEST_F(ShareTest, EveryShareAtOnce) {
  if (kIsSanitized) return;  // whose own memory leaves nothing of the limit
  ASSERT_NO_FATAL_FAILURE(Start());
  const int made = FillScenes();
  EXPECT_GT(made, 5);
  EXPECT_LT(made, 100);
  EXPECT_GT(FillTrackers(), 100);
  FillMessages();
  EXPECT_TRUE(IsBelow(kLimit / 10 * 11)) << Memory();
  Context context;
  grpc::health::v1::HealthCheckResponse serving;
  EXPECT_TRUE(grpc::health::v1::Health::NewStub(channel_)->Check(&context, {}, &serving).ok());
  CloseStreams();
  DeleteScenes(made);
  ExpectServed();
  EXPECT_TRUE(Eventually([&] { return IsBelow((160u << 20)); })) << Memory();
}

// Frames are parsed again once their wait is over. Where there is no memory for that, each is
// answered all the same, with the reason, and its stream goes on.
TEST_F(ShareTest, FramesThatWaitedAndCannotBeParsedAgain) {
  if (kIsSanitized) return;  // whose own memory leaves nothing of the limit
  ASSERT_NO_FATAL_FAILURE(Start());
  Context create_context;
  v1::CreateSceneRequest create;
  create.set_name("scenes/0");
  v1::CreateSceneResponse created;
  ASSERT_TRUE(scenes_->CreateScene(&create_context, create, &created).ok());
  constexpr size_t kOthers = 60, kStreams = 100;
  for (size_t i = 0; i < kStreams; ++i) {
    streams_.push_back(std::make_unique<StreamCall>());
    streams_.back()->stream = queries_->Stream(&streams_.back()->context);
  }
  const v1::StreamRequest rings = RingsThatWait("scenes/0", created.scene().version() + 1);
  for (size_t i = kOthers; i < kStreams; ++i) ASSERT_TRUE(streams_[i]->stream->Write(rings));
  FillMessages();
  const auto scenes = v1::SceneService::NewStub(Connect());
  Context commit_context;
  v1::CommitEditsRequest commit;
  commit.set_name("scenes/0");
  v1::CommitEditsResponse committed;
  ASSERT_TRUE(scenes->CommitEdits(&commit_context, commit, &committed).ok());
  int refused_after_the_wait = 0;
  for (size_t i = kOthers; i < kStreams; ++i) {
    v1::StreamResponse response;
    ASSERT_TRUE(streams_[i]->stream->Read(&response)) << i;
    const v1::FrameAnswer& answer = response.answer();
    if (answer.has_status()) {  // when it came
      EXPECT_EQ(answer.status().code(), grpc::RESOURCE_EXHAUSTED);
    } else if (answer.groups(0).has_status()) {
      EXPECT_EQ(answer.groups(0).status().code(), grpc::RESOURCE_EXHAUSTED);
      ++refused_after_the_wait;
    }
  }
  EXPECT_GT(refused_after_the_wait, 0);
  CloseStreams();
  ExpectServed();
}

// Story: memory that the system does not give ended the process. A frame that asks for too much
// gets an error, and nobody else notices.
TEST_F(AttackTest, MemoryThatTheSystemDoesNotGive) {
  if (kIsSanitized) return;  // which take terabytes of addresses
  ASSERT_NO_FATAL_FAILURE(
      Start({"--max-answer-rows-per-frame", "16000000", "--max-message-bytes", "16777216"}));
  const auto scenes = v1::SceneService::NewStub(Connect());
  Context create_context;
  v1::CreateSceneResponse created;
  ASSERT_TRUE(scenes->CreateScene(&create_context, RowOfSquares(), &created).ok());
  ExpectServed();
  const v1::EvaluateRequest request = ManyHits(1000000);
  v1::CreateSceneRequest many;  // 12 MB, and ten times that when it is parsed
  many.set_name("scenes/many");
  for (int i = 0; i < 400000; ++i) {
    v1::Polygon& polygon = *many.add_polygons();
    polygon.set_id(i);
    v1::Ring& ring = *polygon.add_rings();
    ring.add_x(i);
    ring.add_y(0);
  }
  const auto create = [&] {
    Context context;
    v1::CreateSceneResponse response;
    return scenes->CreateScene(&context, many, &response);
  };
  const auto queries = v1::QueryService::NewStub(Connect());
  const auto ask = [&](const v1::EvaluateRequest& frame) {
    Context context;
    v1::EvaluateResponse response;
    return queries->Evaluate(&context, frame, &response);
  };
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  const size_t size = StatusBytes(process().pid(), "VmSize:");
  const rlimit little{size + (48u << 20), RLIM_INFINITY};
  ASSERT_EQ(prlimit(process().pid(), RLIMIT_AS, &little, nullptr), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(request).error_message(), "the server is out of memory");
    StreamCall call;
    call.stream = queries->Stream(&call.context);
    v1::StreamRequest frame;
    *frame.mutable_frame() = request.frame();
    v1::StreamResponse response;
    EXPECT_TRUE(call.stream->Write(frame));
    EXPECT_FALSE(call.stream->Read(&response));
    EXPECT_EQ(call.stream->Finish().error_message(), "the server is out of memory");
    EXPECT_EQ(create().error_message(), "the server is out of memory");
    ExpectServed();
  }
  ASSERT_EQ(prlimit(process().pid(), RLIMIT_AS, &all, nullptr), 0);
  EXPECT_TRUE(ask(request).ok());
  EXPECT_TRUE(create().ok());
}

// Story: fields that a message does not know took 32 times their bytes when they were parsed, and
// counted as bytes; a watch kept them as long as it lasted. And the two calls that are not part of
// the release were parsed before anything looked at them.
TEST_F(AttackTest, UnknownFields) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::string unknown;  // of field 100, empty
  for (int i = 0; i < 1300000; ++i) unknown += std::string("\xa2\x06\x00", 3);
  const auto channel = Connect();
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(channel);
  const grpc::Slice slice(unknown);
  const grpc::ByteBuffer request(&slice, 1);
  const size_t before = Memory();
  ResetPeak();
  struct Call {
    Context context;
    grpc::ByteBuffer answer;
    grpc::Status status;
  };
  std::vector<std::unique_ptr<Call>> calls;
  std::atomic<int> over{0};
  for (const char* method :
       {"QueryService/Explain", "SceneService/LintScene", "SceneService/WatchScene",
        "SceneService/ExportScene", "SceneService/GetScene", "SceneService/GetMetrics",
        "QueryService/Evaluate"}) {
    for (int i = 0; i < 4; ++i) {
      Call& call = *calls.emplace_back(std::make_unique<Call>());
      stub.UnaryCall(&call.context, absl::StrCat("/carom.v1.", method), grpc::StubOptions(),
                     &request, &call.answer, [&call, &over](grpc::Status status) {
                       call.status = std::move(status);
                       ++over;
                     });
    }
  }
  ASSERT_TRUE(Eventually([&] { return over == static_cast<int>(calls.size()); }));
  for (const auto& call : calls) EXPECT_FALSE(call->status.ok());
  EXPECT_TRUE(WasBelow(before + (220 << 20))) << Peak() << " after " << before;
  ExpectServed();
}

// Story: while a frame was parked, each further one was refused by a status of 600 bytes that
// nothing counted, a thousand of them a stream for 5 KB.
TEST_F(AttackTest, RefusedFrames) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto channel = Connect();
  const auto queries = v1::QueryService::NewStub(channel);
  const auto scenes = v1::SceneService::NewStub(channel);
  Context create_context;
  v1::CreateSceneResponse created;
  ASSERT_TRUE(scenes->CreateScene(&create_context, RowOfSquares(), &created).ok());
  const auto parked = FromText<v1::StreamRequest>(
      "frame { budget_us: 20000000 groups { scene: 'scenes/row' min_version: 999999 } }");
  std::vector<std::unique_ptr<StreamCall>> streams;
  for (int i = 0; i < 200; ++i) {
    StreamCall& call = *streams.emplace_back(std::make_unique<StreamCall>());
    call.stream = queries->Stream(&call.context);
    ASSERT_TRUE(call.stream->Write(parked));
  }
  const size_t before = Memory();
  for (const auto& call : streams) {
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(call->stream->Write(v1::StreamRequest()));
  }
  ExpectServed();
  EXPECT_TRUE(IsBelow(before + (40 << 20))) << Memory() << " after " << before;
  for (const auto& call : streams) call->context.TryCancel();
}

// Story: a client could watch the server's health without end, and each watch kept its request, of
// up to 8 MB, as long as it lasted.
TEST_F(AttackTest, ManyHealthWatches) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<grpc::health::v1::HealthCheckResponse>>> watches;
  const auto watch = [&](const std::shared_ptr<grpc::Channel>& channel, const std::string& name) {
    contexts.push_back(std::make_unique<Context>());
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(name);
    auto call = grpc::health::v1::Health::NewStub(channel)->Watch(contexts.back().get(), request);
    grpc::health::v1::HealthCheckResponse response;
    if (call->Read(&response)) {
      watches.push_back(std::move(call));
      return true;
    }
    EXPECT_EQ(call->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
    return false;
  };
  const auto large = Connect();
  const size_t before = Memory();
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(watch(large, std::string(7 << 20, 'a')));
  EXPECT_TRUE(IsBelow(before + (60 << 20))) << Memory() << " after " << before;
  // A peer, here a connection, may have 128 of them, all together 1,024.
  size_t served = 30;
  for (int connection = 0; connection < 9; ++connection) {
    const auto channel = Connect();
    for (int i = 0; i < 135; ++i) served += watch(channel, "") ? 1 : 0;
    EXPECT_LE(served, 30u + 128u * (connection + 1));
  }
  EXPECT_EQ(served, 1024u);
  ExpectServed();
  for (const auto& context : contexts) context->TryCancel();
}

// Story: of a scene that was replaced again and again by nearly the same one, sixteen versions were
// kept for pins as if they had shared their polygons, and the next import was refused.
TEST_F(AttackTest, ASceneThatIsReplacedAgainAndAgainIsNeverRefused) {
  ASSERT_NO_FATAL_FAILURE(
      Start({"--memory-limit-bytes", absl::StrCat(kIsSanitized ? 2048u << 20 : 192u << 20)}));
  const auto scenes = v1::SceneService::NewStub(Connect());
  constexpr int kSquares = 30000;  // 14 MB; what scenes may take is 96 MB
  v1::ImportSceneRequest request = ManySquares("scenes/map", kSquares, 1);
  for (int i = 0; i < 24; ++i) {
    // One polygon differs.
    request.mutable_polygons(i)->set_category(2);
    const grpc::Status imported = Import(*scenes, {request});
    ASSERT_TRUE(imported.ok()) << i << ": " << imported.error_message();
  }
  for (int i = 0; i < 8; ++i) {
    Context deleting, creating;
    v1::DeleteSceneRequest remove;
    remove.set_name("scenes/map");
    v1::DeleteSceneResponse removed;
    ASSERT_TRUE(scenes->DeleteScene(&deleting, remove, &removed).ok());
    v1::CreateSceneRequest create;
    create.set_name("scenes/map");
    *create.mutable_polygons() = request.polygons();
    v1::CreateSceneResponse created;
    const grpc::Status status = scenes->CreateScene(&creating, create, &created);
    ASSERT_TRUE(status.ok()) << i << ": " << status.error_message();
  }
  ExpectServed();
}

}  // namespace
}  // namespace carom::server
