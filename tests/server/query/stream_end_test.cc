// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How calls end: cancelled, idle, drained. That everything is freed, and nothing used afterwards,
// is for the sanitizers to say, on the same tests.
#include <atomic>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

v1::Frame HeavyFrame() {
  v1::Frame frame;
  *frame.add_groups() = TestServer::HeavyGroup("heavy");
  return frame;
}

std::string Waiting(uint64_t seq, uint64_t budget_us) {
  return absl::StrCat("seq: ", seq, " budget_us: ", budget_us,
                      " groups { scene: 'scenes/a' min_version: 99999 }");
}

// With one thread, another call is answered only after the cancelled frame has left it.
TEST(StreamEndTest, CancelStopsTheFrameAtWork) {
  ServerOptions options;
  options.threads = 1;
  TestServer server(options);
  server.CreateHeavy("heavy");
  const auto start = SteadyClock::now();
  {
    ClientStream stream(server);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(stream.Send(HeavyFrame()));
    stream.Cancel();
    v1::FrameAnswer none;
    EXPECT_FALSE(stream.Receive(none));
    EXPECT_EQ(stream.Finish().error_code(), grpc::CANCELLED);
  }
  server.Ask("seq: 1");
  server.server().Drain();
  EXPECT_LT(SteadyClock::now() - start, seconds(10));
}

TEST(StreamEndTest, CancelledAndExpiredEvaluateStop) {
  ServerOptions options;
  options.threads = 1;
  TestServer server(options);
  server.CreateHeavy("heavy");
  const auto start = SteadyClock::now();
  v1::EvaluateRequest request;
  *request.mutable_frame() = HeavyFrame();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  v1::EvaluateResponse response;
  EXPECT_EQ(server.queries().Evaluate(&context, request, &response).error_code(),
            grpc::DEADLINE_EXCEEDED);
  server.Ask("seq: 1");
  EXPECT_LT(SteadyClock::now() - start, seconds(10));
}

TEST(StreamEndTest, CancelEndsAWait) {
  TestServer server;
  server.Create("a", {});
  const auto start = SteadyClock::now();
  for (int i = 0; i < 20; ++i) {
    ClientStream stream(server);
    ASSERT_TRUE(stream.Send(Waiting(1, 60000000)));
    ASSERT_TRUE(stream.Send(Waiting(2, 60000000)));
    if (i % 2 == 0) server.Ask("seq: 1");
    stream.Cancel();
    EXPECT_EQ(stream.Finish().error_code(), grpc::CANCELLED);
  }
  server.server().Drain();
  EXPECT_LT(SteadyClock::now() - start, seconds(10));
}

// Streams that die at every stage, while frames, commits and drains go on.
TEST(StreamEndTest, CancelAtAnyMoment) {
  TestServer server;
  server.Create("a", {Square(1, 0, 0)});
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 25; ++i) {
        ClientStream stream(server);
        for (int k = 0; k < (c + i) % 5; ++k) {
          stream.Send(k % 3 == 2 ? Waiting(k, 1000000)
                                 : "groups { scene: 'scenes/a' points { x: 0 y: 0 } }");
        }
        v1::FrameAnswer answer;
        if (i % 3 == 1 && (c + i) % 5 > 0) stream.Receive(answer);
        if (i % 3 == 2) stream.CloseSide();
        stream.Cancel();
      }
    });
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(server.Commit("name: 'scenes/a'").ok());
  for (std::thread& client : clients) client.join();
  server.Ask("seq: 1");
  server.server().Drain();
}

TEST(StreamEndTest, IdleStreamIsAborted) {
  ServerOptions options;
  options.idle_stream_seconds = 1;
  TestServer server(options);
  ClientStream stream(server);
  const auto start = SteadyClock::now();
  ASSERT_TRUE(stream.Send("seq: 1"));
  EXPECT_EQ(stream.Next().seq(), 1);
  v1::FrameAnswer none;
  EXPECT_FALSE(stream.Receive(none));
  EXPECT_EQ(stream.Finish().error_code(), grpc::ABORTED);
  EXPECT_GE(SteadyClock::now() - start, seconds(1));
}

// A frame that waits longer than the idle time is work, not idleness.
TEST(StreamEndTest, WaitingIsNotIdle) {
  ServerOptions options;
  options.idle_stream_seconds = 1;
  TestServer server(options);
  server.Create("a", {});
  ClientStream stream(server);
  ASSERT_TRUE(stream.Send(Waiting(1, 2200000)));
  EXPECT_EQ(stream.Next().groups(0).status().code(), grpc::UNAVAILABLE);
}

TEST(StreamEndTest, IdleImportIsCancelled) {
  ServerOptions options;
  options.idle_stream_seconds = 1;
  TestServer server(options);
  Context context;
  v1::ImportSceneResponse response;
  auto writer = server.scenes().ImportScene(&context, &response);
  ASSERT_TRUE(writer->Write(FromText<v1::ImportSceneRequest>("name: 'scenes/a'")));
  const grpc::Status status = writer->Finish();
  EXPECT_EQ(status.error_code(), grpc::CANCELLED);
  Context get_context;
  v1::GetSceneRequest get;
  get.set_name("scenes/a");
  v1::GetSceneResponse got;
  EXPECT_EQ(server.scenes().GetScene(&get_context, get, &got).error_code(), grpc::NOT_FOUND);
}

TEST(StreamEndTest, DrainEndsAnOpenStreamAndRefusesOthers) {
  TestServer server;
  server.Create("a", {Square(1, 0, 0)});
  ClientStream stream(server);
  ASSERT_TRUE(stream.Send("seq: 1"));
  EXPECT_EQ(stream.Next().seq(), 1);
  const auto start = SteadyClock::now();
  server.server().Drain();
  EXPECT_LT(SteadyClock::now() - start, seconds(5));
  v1::FrameAnswer none;
  EXPECT_FALSE(stream.Receive(none));
  EXPECT_EQ(stream.Finish().error_code(), grpc::UNAVAILABLE);
  v1::FrameAnswer answer;
  EXPECT_EQ(server.Evaluate({}, answer).error_code(), grpc::UNAVAILABLE);
}

// While a drain waits for one stream's frame, that frame is answered and every other call refused.
TEST(StreamEndTest, DrainAnswersWhatWasRead) {
  TestServer server(OneThread());
  server.Create("a", {Square(1, 0, 0)});
  ClientStream stream(server);
  ASSERT_TRUE(stream.Send("seq: 1"));
  EXPECT_EQ(stream.Next().seq(), 1);
  ASSERT_TRUE(stream.Send(Waiting(2, 1500000)));
  ASSERT_TRUE(stream.Send("seq: 3 groups { scene: 'scenes/a' points { x: 0 y: 0 } }"));
  server.LetItRead();
  std::thread drain([&] { server.server().Drain(); });
  ASSERT_TRUE(Eventually([&] {
    v1::FrameAnswer answer;
    return server.Evaluate({}, answer).error_code() == grpc::UNAVAILABLE;
  }));
  EXPECT_EQ(server.Commit("name: 'scenes/a'").error_code(), grpc::UNAVAILABLE);
  Context context;
  auto refused = server.queries().Stream(&context);
  EXPECT_EQ(refused->Finish().error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(stream.Next().seq(), 2);
  const v1::FrameAnswer last = stream.Next();
  EXPECT_EQ(last.seq(), 3);
  EXPECT_EQ(last.groups(0).points().counts(0), 1);
  v1::FrameAnswer none;
  EXPECT_FALSE(stream.Receive(none));
  EXPECT_EQ(stream.Finish().error_code(), grpc::UNAVAILABLE);
  drain.join();
}

TEST(StreamEndTest, DrainTimeEndsWhatIsNotDone) {
  ServerOptions options = OneThread();
  options.drain_seconds = 1;
  TestServer server(options);
  server.Create("a", {});
  ClientStream stream(server);
  ASSERT_TRUE(stream.Send("seq: 1"));
  stream.Next();
  ASSERT_TRUE(stream.Send(Waiting(2, 60000000)));
  server.LetItRead();
  const auto start = SteadyClock::now();
  server.server().Drain();
  EXPECT_LT(SteadyClock::now() - start, seconds(10));
  v1::FrameAnswer none;
  EXPECT_FALSE(stream.Receive(none));
  EXPECT_FALSE(stream.Finish().ok());
}

// Streams that come while the server drains are answered, or refused; none stays.
TEST(StreamEndTest, DrainWhileStreamsCome) {
  for (int round = 0; round < 20; ++round) {
    TestServer server;
    server.Create("a", {Square(1, 0, 0)});
    std::vector<std::thread> clients;
    for (int c = 0; c < 4; ++c) {
      clients.emplace_back([&server] {
        for (int i = 0; i < 10; ++i) {
          ClientStream stream(server);
          v1::FrameAnswer answer;
          if (stream.Send("seq: 1")) stream.Receive(answer);
          stream.CloseSide();
          while (stream.Receive(answer)) {
          }
          const grpc::Status status = stream.Finish();
          // CANCELLED by gRPC: it came, and nobody waited for calls any more.
          EXPECT_TRUE(status.ok() || status.error_code() == grpc::UNAVAILABLE ||
                      status.error_code() == grpc::CANCELLED)
              << status.error_code() << " " << status.error_message();
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    const auto start = SteadyClock::now();
    server.server().Drain();
    EXPECT_LT(SteadyClock::now() - start, seconds(5));
    for (std::thread& client : clients) client.join();
  }
}

TEST(StreamEndTest, ServerGoesWithOpenStreams) {
  auto server = std::make_unique<TestServer>();
  ClientStream stream(*server);
  ASSERT_TRUE(stream.Send("seq: 1"));
  EXPECT_EQ(stream.Next().seq(), 1);
  server->server().Drain();
  server->server().Drain();  // a second one has nothing to do
}

}  // namespace
}  // namespace carom::server
