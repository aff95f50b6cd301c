// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `Stream` when its calls break: at any byte, its ledger of answers is that of an uncut run.
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "tests/client/fixture.h"
#include "tests/client/stream_script.h"
#include "tests/support/cut_proxy.h"
#include "tests/support/repeats.h"

namespace carom {
namespace {

using absl::StatusCode;
using std::chrono::milliseconds;
using testing::Converse;
using testing::CutProxy;
using ::testing::ElementsAre;
using testing::EmptyFrame;
using testing::SplitMix64;
using testing::StreamScript;
using Clock = std::chrono::steady_clock;

constexpr const char* kScriptScene = testing::kScriptScenes[0];
constexpr milliseconds kSoon(3000);  // on a loaded machine

server::ServerOptions Options(const std::string& address) {
  server::ServerOptions options;
  options.address = address;
  options.threads = 2;
  options.drain_seconds = 2;
  return options;
}

// A server with the scenes of the script.
std::unique_ptr<server::Server> StartReplica(const std::string& address) {
  auto server = server::Server::Start(Options(address));
  EXPECT_TRUE(server.ok()) << server.status();
  const auto client = Client::Connect((*server)->address(), {.own_connection = true});
  EXPECT_TRUE(testing::CreateScriptScenes(**client).ok());
  return *std::move(server);
}

uint16_t PortOf(const std::string& address) {
  return static_cast<uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
}

std::vector<std::string> UncutLedger(const std::string& address, const StreamScript& script) {
  const auto client = Client::Connect(address, {.own_connection = true});
  const auto stream = (*client)->OpenStream();
  absl::Status end;
  std::vector<std::string> ledger = Converse(*stream, script, end);
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_EQ(ledger.size(), script.frames().size());
  EXPECT_EQ(stream->reconnects(), 0);
  return ledger;
}

void ExpectSameLedger(const std::vector<std::string>& ledger,
                      const std::vector<std::string>& expected) {
  ASSERT_EQ(ledger.size(), expected.size());
  for (size_t i = 0; i < ledger.size(); ++i) {
    ASSERT_TRUE(ledger[i] == expected[i]) << "frame " << i;
  }
}

// Some connections are cut among their first bytes, most after a few frames.
TEST(ReconnectTest, CutAtAnyByteTheLedgerIsThatOfAnUncutRun) {
  const auto server = StartReplica("127.0.0.1:0");
  const int runs = testing::Repeats(14, 200);
  uint64_t cuts = 0;
  uint64_t reconnects = 0;
  for (int run = 0; run < runs; ++run) {
    SCOPED_TRACE(run);
    const auto seed = static_cast<uint64_t>(run);
    const StreamScript script(seed, 200);
    const std::vector<std::string> expected = UncutLedger(server->address(), script);
    SplitMix64 random(seed);
    const auto proxy = CutProxy::Start(PortOf(server->address()), [&random] {
      const bool is_early = random.Next() % 12 == 0;
      const uint64_t most = is_early ? 800 : 24000;
      const uint64_t bytes = 1 + random.Next() % most;
      return random.Next() % 2 == 0 ? CutProxy::Plan{.to_server = bytes}
                                    : CutProxy::Plan{.to_client = bytes};
    });
    ASSERT_NE(proxy, nullptr);
    const auto client = Client::Connect(proxy->address(), {.own_connection = true});
    const auto stream = (*client)->OpenStream({.max_in_flight = 1 + run % 12u});
    absl::Status end;
    const std::vector<std::string> ledger = Converse(*stream, script, end);
    EXPECT_TRUE(end.ok()) << end;
    ExpectSameLedger(ledger, expected);
    cuts += proxy->cuts();
    reconnects += stream->reconnects();
  }
  EXPECT_GT(cuts, 10 * static_cast<uint64_t>(runs));
  EXPECT_GT(reconnects, 5 * static_cast<uint64_t>(runs));
}

// A server that asks clients to connect again after a second: the stream moves, and loses nothing.
TEST(ReconnectTest, AConnectionThatIsTooOldIsReplaced) {
  server::ServerOptions options = Options("127.0.0.1:0");
  options.max_connection_age_seconds = 1;
  options.max_connection_grace_seconds = 1;
  const auto server = server::Server::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto client = Client::Connect((*server)->address(), {.own_connection = true});
  ASSERT_TRUE(testing::CreateScriptScenes(**client).ok());
  const auto stream = (*client)->OpenStream();
  uint64_t answers = 0;
  const auto end = Clock::now() + std::chrono::seconds(120);
  while ((stream->reconnects() < 2 || answers <= 100) && Clock::now() < end) {
    ASSERT_TRUE(stream->Send(EmptyFrame(answers + 1)).ok());
    const absl::StatusOr<FrameAnswer> answer = stream->Receive();
    ASSERT_TRUE(answer.ok()) << answer.status();
    ++answers;
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_GE(stream->reconnects(), 2);
  EXPECT_GT(answers, 100);
}

// At every few bytes of the first exchanges: headers, definitions, the first answers. Every other
// connection lives.
TEST(ReconnectTest, CutAtEveryByteOfTheBeginning) {
  const auto server = StartReplica("127.0.0.1:0");
  const StreamScript script(77, 4);
  const std::vector<std::string> expected = UncutLedger(server->address(), script);
  uint64_t connections = 0;  // of the proxy's thread
  const auto proxy = CutProxy::Start(PortOf(server->address()), [&connections] {
    const uint64_t number = connections++;
    if (number % 2 == 1) return CutProxy::Plan{};
    // Below so many bytes the connection does not stand, and gRPC makes a pause.
    const uint64_t bytes = 150 + 7 * number;
    return number % 4 == 0 ? CutProxy::Plan{.to_server = bytes}
                           : CutProxy::Plan{.to_client = bytes};
  });
  ASSERT_NE(proxy, nullptr);
  for (int i = 0; i < 120; ++i) {
    const auto client = Client::Connect(proxy->address(), {.own_connection = true});
    const auto stream = (*client)->OpenStream();
    absl::Status end;
    ExpectSameLedger(testing::Converse(*stream, script, end), expected);
    EXPECT_TRUE(end.ok()) << end;
  }
  EXPECT_GT(proxy->cuts(), 40u);
}

// Two replicas are drained in turns, and start again: the stream hops between them.
TEST(ReconnectTest, HopsBetweenReplicas) {
  const ScratchFolder folder;
  const std::string addresses[] = {"unix:" + (folder / "a"), "unix:" + (folder / "b")};
  std::unique_ptr<server::Server> servers[] = {StartReplica(addresses[0]),
                                               StartReplica(addresses[1])};
  const StreamScript script(5, 600);
  const auto version_of = [&](int i) {
    return (*Client::Connect(addresses[i]))->GetScene(testing::kScriptScenes[0])->version;
  };
  ASSERT_EQ(version_of(0), version_of(1));
  const std::vector<std::string> expected = UncutLedger(addresses[0], script);
  const auto client = Client::Connect(addresses[0] + "," + addresses[1], {.own_connection = true});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto stream = (*client)->OpenStream();
  std::vector<std::string> ledger;
  const size_t part = script.frames().size() / 6;
  for (size_t i = 0; i < script.frames().size(); ++i) {
    if (i % part == part - 1) {
      const size_t at = i / part % 2;
      servers[at].reset();  // drains it
      servers[at] = StartReplica(addresses[at]);
    }
    ASSERT_TRUE(stream->Send(script.frames()[i]).ok());
    if (i % 5 == 4) {
      while (ledger.size() <= i) {
        auto answer = stream->Receive();
        ASSERT_TRUE(answer.ok()) << answer.status();
        ledger.push_back(testing::LedgerEntry(*answer));
      }
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  ExpectSameLedger(ledger, expected);
  EXPECT_GE(stream->reconnects(), 6);
  EXPECT_TRUE((*client)->GetScene(testing::kScriptScenes[0]).ok());
}

// A scene with squares at even x, and one client of it through a proxy that cuts on demand.
class ReconnectedStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = StartReplica("127.0.0.1:0");
    proxy_ = CutProxy::Start(PortOf(server_->address()), [] { return CutProxy::Plan{}; });
    ASSERT_NE(proxy_, nullptr);
    auto client = Client::Connect(proxy_->address(), {.own_connection = true});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  static FrameAnswer Ask(Stream& stream, const Frame& frame) {
    EXPECT_TRUE(stream.Send(frame).ok());
    absl::StatusOr<FrameAnswer> answer = stream.Receive();
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *std::move(answer) : FrameAnswer{};
  }

  std::unique_ptr<server::Server> server_;
  std::unique_ptr<CutProxy> proxy_;
  std::unique_ptr<Client> client_;
};

// What a refused frame would have defined is not replayed on the next call either.
TEST_F(ReconnectedStreamTest, ARefusedFrameDoesNotEnterTheSession) {
  const auto stream = client_->OpenStream();
  const std::vector<Shape> small{Square(0, 0, 0, 0.1)};
  const std::vector<Shape> large{Square(0, 0, 0, 9)};
  Frame define;
  define.bindings = {{1, kScriptScene}};
  define.trackers = {{.shapes = small}};
  EXPECT_TRUE(Ask(*stream, define).status.ok());
  Frame refused;
  refused.bindings = {{1, testing::kScriptScenes[1]}, {2, kScriptScene}, {2, "?"}};
  refused.trackers = {{.shapes = large}, {.shapes = large, .first_tracker = 1}};
  refused.removed_trackers = {0};
  EXPECT_TRUE(absl::IsInvalidArgument(Ask(*stream, refused).status));
  proxy_->CutAll();

  const std::vector<double> x{1.2, 1.2}, y{0.5, 0.5};  // between two squares
  Frame move;
  FrameGroup group{.scene = uint64_t{1}};
  group.group.moves = {.x = x, .y = y};
  move.groups = {group, {.scene = uint64_t{2}}};
  const FrameAnswer answer = Ask(*stream, move);
  ASSERT_EQ(answer.groups.size(), 2u);
  EXPECT_TRUE(answer.groups[0].status.ok()) << answer.groups[0].status;
  EXPECT_THAT(answer.groups[0].answers.moves.clear, ElementsAre(1));
  EXPECT_THAT(answer.groups[0].answers.moves.errors,
              ElementsAre(ItemError{1, ItemColumn::kTracker, ItemFault::kUnknownTracker}));
  EXPECT_TRUE(Refuses(answer.groups[1].status, StatusCode::kInvalidArgument, "scene_handle"));
  EXPECT_EQ(stream->reconnects(), 1);
}

// A session beyond one frame: more handles of scenes and bytes of shapes than one takes.
TEST_F(ReconnectedStreamTest, ALargeSessionIsToldInParts) {
  constexpr uint32_t kFrames = 100;
  constexpr uint32_t kTrackers = 50;  // a frame
  const auto stream = client_->OpenStream();
  std::vector<Vec2> round;  // 3000 vertices: the shapes of all frames take 5 MiB
  for (int i = 0; i < 3000; ++i) {
    round.push_back({0.2 * std::cos(i * 0.002), 0.2 * std::sin(i * 0.002)});
  }
  const std::vector<Shape> shapes(1, PolygonOf(0, round));
  const std::vector<uint32_t> which(kTrackers, 0);
  std::vector<uint32_t> moved;
  for (uint32_t i = 0; i < kFrames; ++i) {
    Frame frame;
    for (uint64_t k = 0; k < 10; ++k) frame.bindings.push_back({10 * i + k, kScriptScene});
    frame.trackers = {{.shapes = shapes, .shape = which, .first_tracker = kTrackers * i}};
    frame.trackers[0].options.within = 0.001 * (i % 7);
    EXPECT_TRUE(Ask(*stream, frame).status.ok());
    moved.push_back(kTrackers * i + i % kTrackers);
  }
  const std::vector<double> x(kFrames, 3.1995), y(kFrames, 0.5);  // 0.0005 from a square
  Frame move;
  for (const uint64_t handle : {0u, 10 * kFrames - 1}) {
    FrameGroup group{.scene = handle};
    group.group.moves = {.tracker = moved, .x = x, .y = y};
    move.groups.push_back(group);
  }
  FrameAnswer before = Ask(*stream, move);
  proxy_->CutAll();
  FrameAnswer after = Ask(*stream, move);
  ASSERT_EQ(after.groups.size(), 2u);
  EXPECT_TRUE(after.groups[1].status.ok());
  EXPECT_TRUE(after.groups[1].answers.moves.errors.empty());
  EXPECT_EQ(after.groups[1].answers.moves.counts.size(), kFrames);
  EXPECT_TRUE(testing::LedgerEntry(before) == testing::LedgerEntry(after));
  EXPECT_EQ(stream->reconnects(), 1);
}

// An idle stream opens no call in vain: it is there again with the next frame.
TEST_F(ReconnectedStreamTest, AnIdleStreamWaitsForAFrame) {
  const auto stream = client_->OpenStream();
  Ask(*stream, EmptyFrame(1));
  for (uint64_t seq = 2; seq < 12; ++seq) {
    proxy_->CutAll();
    EXPECT_EQ(Ask(*stream, EmptyFrame(seq)).seq, seq);
  }
  EXPECT_EQ(stream->reconnects(), 10);
  proxy_->CutAll();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(stream->reconnects(), 10);
}

TEST_F(ReconnectedStreamTest, WithoutATimeABrokenCallEndsTheStream) {
  const auto stream = client_->OpenStream({.reconnect_timeout = milliseconds(0)});
  Ask(*stream, {});
  proxy_->CutAll();
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(stream->Send({}).code(), StatusCode::kUnavailable);
}

// Streams whose server is gone, at a socket where it may come back.
class GoneServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = StartReplica(address_);
    auto client = Client::Connect(address_, {.own_connection = true});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // A stream that was answered once and tries to reach its server, with five frames to be answered.
  std::unique_ptr<Stream> SearchingStream(milliseconds timeout) {
    auto stream = client_->OpenStream({.reconnect_timeout = timeout});
    EXPECT_TRUE(stream->Send({}).ok());
    EXPECT_TRUE(stream->Receive().ok());
    server_.reset();
    for (uint64_t seq = 0; seq < 5; ++seq) EXPECT_TRUE(stream->Send(EmptyFrame(seq)).ok());
    return stream;
  }

  static milliseconds TimeOf(const std::function<void()>& action) {
    const Clock::time_point start = Clock::now();
    action();
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  }

  const ScratchFolder folder_;
  const std::string address_ = "unix:" + (folder_ / "socket");
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(GoneServerTest, ForGoodEndsTheStreamInTime) {
  const auto stream = SearchingStream(milliseconds(400));
  const milliseconds time =
      TimeOf([&] { EXPECT_EQ(stream->Receive().status().code(), StatusCode::kUnavailable); });
  EXPECT_LT(time, milliseconds(400) + kSoon);
  EXPECT_EQ(stream->Send({}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(stream->Finish().code(), StatusCode::kUnavailable);
}

TEST_F(GoneServerTest, CancelEndsTheSearch) {
  const auto stream = SearchingStream(milliseconds(60000));
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(300));
    stream->Cancel();
  });
  const milliseconds time = TimeOf([&] {
    EXPECT_EQ(stream->Receive().status().code(), StatusCode::kCancelled);
    EXPECT_EQ(stream->Finish().code(), StatusCode::kCancelled);
  });
  canceller.join();
  EXPECT_LT(time, kSoon);
}

TEST_F(GoneServerTest, DestructionEndsTheSearch) {
  auto stream = SearchingStream(milliseconds(60000));
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LT(TimeOf([&] { stream.reset(); }), kSoon);
}

TEST_F(GoneServerTest, FinishWaitsForTheServerThatComesBack) {
  const auto stream = SearchingStream(milliseconds(60000));
  absl::Status end;
  std::thread finisher([&] { end = stream->Finish(); });
  std::this_thread::sleep_for(milliseconds(200));
  server_ = StartReplica(address_);
  finisher.join();
  EXPECT_TRUE(end.ok()) << end;
  for (uint64_t seq = 0; seq < 5; ++seq) {
    const auto answer = stream->Receive();
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->seq, seq);
  }
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(stream->reconnects(), 1);
}

TEST_F(GoneServerTest, ASenderThatWaitsForAPlaceIsToldTheEnd) {
  const auto stream = SearchingStream(milliseconds(400));
  absl::Status status;
  const milliseconds time = TimeOf([&] {
    for (int i = 0; i < 4 && status.ok(); ++i) status = stream->Send({});
  });
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_LT(time, milliseconds(400) + kSoon);
}

// Calls pass on to the next address after one that failed.
TEST_F(GoneServerTest, CallsPassOn) {
  const std::string other = "unix:" + (folder_ / "other");
  const auto replica = StartReplica(other);
  server_.reset();
  const auto client = Client::Connect(address_ + "," + other);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ((*client)->GetScene("scenes/arena").status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE((*client)->GetScene("scenes/arena").ok());
  EXPECT_TRUE((*client)->GetScene("scenes/yard").ok());
  const auto stream = (*client)->OpenStream();
  ASSERT_TRUE(stream->Send({}).ok());
  EXPECT_TRUE(stream->Receive().ok());
  EXPECT_EQ(stream->reconnects(), 0);
}

}  // namespace
}  // namespace carom
