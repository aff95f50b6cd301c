// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// All attacks at once, under a limit of memory: the process neither dies nor passes its limit by
// more than a tenth, another client is served all along, and the memory goes back.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/file_descriptor.h"
#include "tests/security/attack.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

// What a sanitizer adds counts against the limit.
constexpr size_t kLimit = (kIsSanitized ? size_t{8} : size_t{1}) << 30;
constexpr int kRandomClients = 16;
constexpr char kStream[] = "/carom.v1.QueryService/Stream";
constexpr char kEvaluate[] = "/carom.v1.QueryService/Evaluate";

v1::StreamRequest AsStream(const v1::EvaluateRequest& request) {
  v1::StreamRequest of_stream;
  *of_stream.mutable_frame() = request.frame();
  return of_stream;
}

// Fields of any message, some of them with sense.
std::string RandomBytes(carom::testing::SplitMix64& random) {
  std::string bytes;
  const size_t size = random.Next() % 4 == 0 ? random.Next() % 4000 : random.Next() % 100;
  while (bytes.size() < size) {
    const uint64_t number = random.Next();
    bytes.push_back(static_cast<char>(number % 3 == 0 ? number >> 8 : number >> 8 & 0x7a));
  }
  return bytes;
}

// Trackers of a high handle, and of large shapes.
v1::StreamRequest Definitions() {
  v1::StreamRequest define;
  v1::TrackerDefinitions& high = *define.mutable_frame()->add_trackers();
  high.add_shapes()->mutable_capsule()->set_radius(1);
  high.set_first_tracker(65535);
  v1::TrackerDefinitions& large = *define.mutable_frame()->add_trackers();
  for (int k = 0; k < 8; ++k) {
    v1::Ring& ring = *large.add_shapes()->mutable_polygon()->add_rings();
    for (int i = 0; i < 4000; ++i) {
      ring.add_x(std::cos(i * 0.00157));
      ring.add_y(std::sin(i * 0.00157));
    }
  }
  return define;
}

// A large frame that waits for a version that never comes.
v1::StreamRequest Waiting() {
  auto wait = FromText<v1::StreamRequest>(
      "frame { budget_us: 5000000 groups { scene: 'scenes/teeth' min_version: 99999999 } }");
  v1::SegmentCasts& segments = *wait.mutable_frame()->mutable_groups(0)->mutable_segments();
  for (int i = 0; i < 65000; ++i) {
    for (auto* column : {segments.mutable_ax(), segments.mutable_ay(), segments.mutable_bx(),
                         segments.mutable_by()}) {
      column->Add(i);
    }
  }
  return wait;
}

class AllAttacksTest : public AttackTest {
 protected:
  // Runs an attack again and again until `Stop`, on a thread of its own.
  void Attack(std::function<void()> once) {
    attackers_.emplace_back([this, once = std::move(once)] {
      while (!stop_) once();
    });
  }
  void Stop() {
    stop_ = true;
    for (std::thread& attacker : attackers_) attacker.join();
  }

  void AttackMemory();
  // Frames of streams whose answers nobody reads, each a peer of its own, for a second or so.
  void AttackWithStreams(const v1::StreamRequest& request);
  // Imports that end without being registered.
  void AttackWithImports();
  void AttackWithHealthWatches();
  void AttackWithIdleSockets();
  void AttackTime();
  void AttackWithRandomCalls(int calls);

  std::atomic<bool> stop_{false};
  std::vector<std::thread> attackers_;
};

void AllAttacksTest::AttackWithStreams(const v1::StreamRequest& request) {
  std::vector<std::unique_ptr<StreamCall>> calls;
  for (int i = 0; i < 40 && !stop_; ++i) {
    calls.push_back(std::make_unique<StreamCall>());
    StreamCall& call = *calls.back();
    call.stream = v1::QueryService::NewStub(Connect())->Stream(&call.context);
    for (int k = 0; k < 3; ++k) call.stream->Write(request);
  }
  absl::SleepFor(absl::Seconds(1));
  for (const auto& call : calls) call->context.TryCancel();
}

void AllAttacksTest::AttackWithImports() {
  auto part = FromText<v1::ImportSceneRequest>("name: 'scenes/slow'");
  for (int i = 0; i < 10000; ++i) {
    *part.add_polygons() = FromText<v1::Polygon>(Square(i, 3 * i, 0));
  }
  const auto scenes = v1::SceneService::NewStub(Connect());
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<v1::ImportSceneResponse> responses(20);
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::ImportSceneRequest>>> imports;
  for (v1::ImportSceneResponse& response : responses) {
    contexts.push_back(std::make_unique<Context>());
    imports.push_back(scenes->ImportScene(contexts.back().get(), &response));
    for (int i = 0; i < 4; ++i) imports.back()->Write(part);
  }
  absl::SleepFor(absl::Seconds(1));
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& import : imports) import->Finish();
}

void AllAttacksTest::AttackMemory() {
  for (const v1::StreamRequest& request : {Definitions(), Waiting(), AsStream(ManyHits(260000))}) {
    Attack([this, request] { AttackWithStreams(request); });
  }
  std::string polygons;  // empty ones
  for (int i = 0; i < 2000000; ++i) polygons += std::string("\x12\x00", 2);
  Attack([this, polygons] {
    CallWithBytes(Connect(), "/carom.v1.SceneService/CreateScene", polygons);
  });
  Attack([this] { AttackWithImports(); });
  std::string unknown;  // fields
  for (int i = 0; i < 1300000; ++i) unknown += std::string("\xa2\x06\x00", 3);
  for (const char* method : {"/carom.v1.SceneService/WatchScene", "/carom.v1.QueryService/Explain",
                             "/carom.v1.SceneService/GetScene", kEvaluate}) {
    Attack([this, unknown, method] { CallWithBytes(Connect(), method, unknown); });
  }
  Attack([this] { AttackWithHealthWatches(); });
  Attack([this] { AttackWithIdleSockets(); });
}

void AllAttacksTest::AttackWithHealthWatches() {
  const auto health = grpc::health::v1::Health::NewStub(Connect());
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(7 << 20, 'a'));
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<grpc::health::v1::HealthCheckResponse>>> watches;
  for (int i = 0; i < 40 && !stop_; ++i) {
    contexts.push_back(std::make_unique<Context>());
    watches.push_back(health->Watch(contexts.back().get(), request));
  }
  absl::SleepFor(absl::Seconds(1));
  for (const auto& context : contexts) context->TryCancel();
}

void AllAttacksTest::AttackWithIdleSockets() {
  const std::string server = process().address();
  int port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(server.substr(server.rfind(':') + 1), &port));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<FileDescriptor> sockets;
  for (int i = 0; i < 200; ++i) {
    sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    connect(sockets.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  absl::SleepFor(absl::Seconds(1));
}

void AllAttacksTest::AttackTime() {
  const auto fan = FromText<v1::EvaluateRequest>(
      "frame { groups { scene: 'scenes/teeth' fans { x: 5 y: -0.9 angle: 0 step: 1e-6 range: 1e5"
      " beams: 65536 } } }");
  for (const v1::EvaluateRequest& request : {fan, LongCasts(2000)}) {
    for (int i = 0; i < 3; ++i) {
      Attack([this, request] {
        const auto queries = v1::QueryService::NewStub(Connect());
        for (int k = 0; k < 20 && !stop_; ++k) {
          grpc::ClientContext context;
          context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
          v1::EvaluateResponse response;
          queries->Evaluate(&context, request, &response);
        }
      });
    }
  }
}

void AllAttacksTest::AttackWithRandomCalls(int calls) {
  const std::vector<std::string> methods{kEvaluate,
                                         "/carom.v1.SceneService/CreateScene",
                                         "/carom.v1.SceneService/CommitEdits",
                                         "/carom.v1.SceneService/DeleteScene",
                                         "/carom.v1.SceneService/GetScene",
                                         "/carom.v1.SceneService/ListScenes",
                                         "/carom.v1.SceneService/ImportScene",
                                         "/grpc.health.v1.Health/Check",
                                         kStream,
                                         "/carom.v1.SceneService/None"};
  std::vector<std::thread> clients;
  for (int client = 0; client < kRandomClients; ++client) {
    clients.emplace_back([&, client] {
      carom::testing::SplitMix64 random(client);
      const auto channel = Connect();
      for (int i = 0; i < calls / kRandomClients; ++i) {
        CallWithBytes(channel, methods[random.Next() % methods.size()], RandomBytes(random));
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

TEST_F(AllAttacksTest, AtOnce) {
  ASSERT_NO_FATAL_FAILURE(Start({"--memory-limit-bytes", std::to_string(kLimit)}));
  const auto scenes = v1::SceneService::NewStub(Connect());
  Context create_context;
  v1::CreateSceneResponse created;
  ASSERT_TRUE(scenes->CreateScene(&create_context, Teeth(20000), &created).ok());
  Context row_context;
  ASSERT_TRUE(scenes->CreateScene(&row_context, RowOfSquares(), &created).ok());
  ExpectServed();
  ResetPeak();
  AttackMemory();
  AttackTime();
  absl::Duration worst;
  Attack([&] {
    const absl::Time begin = absl::Now();
    ExpectServed();
    worst = std::max(worst, absl::Now() - begin);
    absl::SleepFor(absl::Milliseconds(50));
  });
  AttackWithRandomCalls(kIsSanitized ? 1000 : carom::testing::Repeats(2000, 100000));
  Stop();
  const size_t peak = Peak();
  EXPECT_TRUE(kIsSanitized || peak < kLimit / 10 * 11) << peak;
  const absl::Time end = absl::Now();
  EXPECT_TRUE(Eventually([&] { return IsBelow(160u << 20); })) << Memory();
  EXPECT_LT(absl::Now() - end, absl::Seconds(60));
  ExpectServed();
  std::printf("peak %zu MB, worst wait of a client %s\n", peak >> 20,
              absl::FormatDuration(worst).c_str());
}

}  // namespace
}  // namespace carom::server
