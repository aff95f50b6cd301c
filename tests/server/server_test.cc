// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The composition: addresses, health, reflection, channelz.
#include "server/server.h"

#include <grpcpp/generic/generic_stub.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

// grpc.health.v1 with messages of the same shape: one string, one enum.
using HealthStub = grpc::TemplatedGenericStub<v1::GetSceneRequest, v1::ItemError>;
constexpr int kServing = 1;
constexpr int kNotServing = 2;

// The serving status; negative: the code of the call's error.
int Health(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  HealthStub stub(channel);
  Context context;
  v1::GetSceneRequest request;
  request.set_name(service);
  grpc::CompletionQueue queue;
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  v1::ItemError response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  return status.ok() ? static_cast<int>(response.index()) : -status.error_code();
}

// The first answer of a generic bidirectional call to one request, as bytes.
std::string FirstAnswer(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                        const std::string& request) {
  grpc::GenericStub stub(channel);
  Context context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
  const grpc::Slice slice(request);
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
  grpc::Slice bytes;
  EXPECT_TRUE(answer.DumpToSingleSlice(&bytes).ok());
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  EXPECT_TRUE(queue.Next(&tag, &ok));
  return std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

TEST(ServerTest, AddressHasTheRealPort) {
  TestServer server;
  EXPECT_THAT(server.server().address(), ::testing::StartsWith("127.0.0.1:"));
  EXPECT_THAT(server.server().address(), ::testing::Not(::testing::EndsWith(":0")));
}

TEST(ServerTest, TakenPortIsUnavailable) {
  TestServer first;
  ServerOptions options;
  options.address = first.server().address();
  const auto second = Server::Start(options);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), ::testing::HasSubstr(options.address));
  first.Ask("seq: 1");
}

TEST(ServerTest, OptionOutOfRangeIsRefused) {
  ServerOptions options;
  options.max_scenes = 0;
  EXPECT_EQ(Server::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
  options = {};
  options.address = "nowhere";
  EXPECT_EQ(Server::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ServerTest, ListensOnAUnixSocket) {
  const TemporaryFolder folder;
  ServerOptions options;
  options.address = "unix:" + (folder / "carom.sock");
  TestServer server(options);
  EXPECT_EQ(server.server().address(), options.address);
  server.Create("a", {Square(1, 0, 0)});
  EXPECT_EQ(server.Ask("groups { scene: 'scenes/a' points { x: 0 y: 0 } }")
                .groups(0)
                .points()
                .polygon_id(0),
            1);
  // A second server does not take the path away.
  EXPECT_EQ(Server::Start(options).status().code(), absl::StatusCode::kUnavailable);
  server.Ask("seq: 1");
}

// gRPC leaves the socket of a process that was killed; it stops nobody.
TEST(ServerTest, TakesOverADeadUnixSocket) {
  const TemporaryFolder folder;
  ServerOptions options;
  options.address = "unix:" + (folder / "carom.sock");
  for (int i = 0; i < 2; ++i) {
    TestServer server(options);
    server.Ask("seq: 1");
  }
}

TEST(ServerTest, UnixPathThatCannotBeIsUnavailable) {
  ServerOptions options;
  options.address = "unix:/nonexistent/carom.sock";
  EXPECT_EQ(Server::Start(options).status().code(), absl::StatusCode::kUnavailable);
}

TEST(ServerTest, HealthIsServingUntilTheDrain) {
  ServerOptions options = OneThread();
  options.drain_seconds = 60;
  TestServer server(options);
  for (const char* service : {"", "carom.v1.QueryService", "carom.v1.SceneService"}) {
    EXPECT_EQ(Health(server.channel(), service), kServing) << service;
  }
  EXPECT_EQ(Health(server.channel(), "no.such.Service"), -grpc::NOT_FOUND);
  server.Create("a", {});
  ClientStream stream(server);
  ASSERT_TRUE(stream.Send("budget_us: 60000000 groups { scene: 'scenes/a' min_version: 99999 }"));
  server.LetItRead();
  std::thread drain([&] { server.server().Drain(); });
  EXPECT_TRUE(
      Eventually([&] { return Health(server.channel(), "carom.v1.QueryService") == kNotServing; }));
  EXPECT_EQ(Health(server.channel(), ""), kNotServing);
  stream.Cancel();  // it holds the drain up until then
  drain.join();
}

TEST(ServerTest, ReflectionListsTheServices) {
  ServerOptions options;
  options.reflection = true;
  TestServer server(options);
  // ServerReflectionRequest { list_services: "" }
  const std::string answer = FirstAnswer(
      server.channel(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      std::string("\x3a\x00", 2));
  for (const char* service : {"carom.v1.QueryService", "carom.v1.SceneService",
                              "grpc.health.v1.Health", "grpc.channelz.v1.Channelz"}) {
    EXPECT_THAT(answer, ::testing::HasSubstr(service));
  }
}

TEST(ServerTest, UnknownMethodIsUnimplemented) {
  TestServer server;
  HealthStub stub(server.channel());
  Context context;
  grpc::CompletionQueue queue;
  auto call = stub.PrepareUnaryCall(&context, "/carom.v1.QueryService/Guess", {}, &queue);
  call->StartCall();
  v1::ItemError response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(status.error_code(), grpc::UNIMPLEMENTED);
}

// Story: gRPC's own acceptor of methods that nobody has asks for calls before it is made (grpc/grpc
// issue 32356). Of calls that came at once one reached the event loop without a tag, and the
// process ended. Several servers, as each begins to accept once.
TEST(ServerTest, UnknownMethodsAtOnceAreUnimplementedAndTheServerDrains) {
  struct Call {
    Context context;
    grpc::ByteBuffer response;
    grpc::Status status;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  };
  const grpc::Slice nothing("");
  for (int round = 0; round < 6; ++round) {
    TestServer server;
    grpc::GenericStub stub(server.channel());
    for (int wave = 0; wave < 3; ++wave) {
      grpc::CompletionQueue queue;
      std::vector<Call> calls(64);
      for (Call& call : calls) {
        call.reader = stub.PrepareUnaryCall(&call.context, "/carom.v1.QueryService/Guess",
                                            grpc::ByteBuffer(&nothing, 1), &queue);
        call.reader->StartCall();
        call.reader->Finish(&call.response, &call.status, &call);
      }
      void* tag = nullptr;
      bool ok = false;
      for (size_t i = 0; i < calls.size(); ++i) ASSERT_TRUE(queue.Next(&tag, &ok));
      for (const Call& call : calls) EXPECT_EQ(call.status.error_code(), grpc::UNIMPLEMENTED);
    }
    server.Ask("seq: 1");
    server.server().Drain();
  }
}

TEST(ServerTest, MessageThatIsNoMessageIsRefused) {
  TestServer server;
  EXPECT_FALSE(
      CallWithBytes(server.channel(), "/carom.v1.QueryService/Evaluate", "\xff\xff\xff\xff").ok());
  server.Ask("seq: 1");
}

}  // namespace
}  // namespace carom::server
