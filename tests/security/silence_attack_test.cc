// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Clients that say nothing must not keep others from being served.
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/security/attack.h"

namespace carom::server {
namespace {

// Story: an import held a thread of a pool that all scene calls and the health check shared.
TEST_F(AttackTest, SilentImports) {
  ASSERT_NO_FATAL_FAILURE(Start({"--max-scene-calls", "1000"}));
  const auto scenes = v1::SceneService::NewStub(Connect());
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<v1::ImportSceneResponse>> responses;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::ImportSceneRequest>>> imports;
  for (int i = 0; i < 200; ++i) {
    contexts.push_back(std::make_unique<Context>());
    responses.push_back(std::make_unique<v1::ImportSceneResponse>());
    imports.push_back(scenes->ImportScene(contexts.back().get(), responses.back().get()));
    const auto part = FromText<v1::ImportSceneRequest>("name: 'scenes/slow'");
    ASSERT_TRUE(imports.back()->Write(part));
  }
  for (int i = 0; i < 10; ++i) ExpectServed();
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& import : imports) EXPECT_EQ(import->Finish().error_code(), grpc::CANCELLED);
}

// An import that says just enough not to be idle ends all the same.
TEST_F(AttackTest, ImportsThatNeverEnd) {
  ASSERT_NO_FATAL_FAILURE(Start({"--import-seconds", "1"}));
  const auto scenes = v1::SceneService::NewStub(Connect());
  Context context;
  v1::ImportSceneResponse response;
  const auto import = scenes->ImportScene(&context, &response);
  const auto part = FromText<v1::ImportSceneRequest>("name: 'scenes/slow'");
  // The client may go on for a while after the server has ended the call.
  for (int i = 0; i < 40 && import->Write(part); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const grpc::Status status = import->Finish();
  EXPECT_EQ(status.error_code(), grpc::CANCELLED);
  EXPECT_EQ(status.error_message(), "the import took too long; nothing is registered");
  ExpectServed();
}

// Story: 200 silent reflection streams held the threads of scene calls and of the health check.
TEST_F(AttackTest, SilentReflection) {
  ASSERT_NO_FATAL_FAILURE(Start({"--reflection"}));
  grpc::GenericStub stub(Connect());
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<grpc::GenericClientAsyncReaderWriter>> calls;
  void* tag = nullptr;
  bool ok = false;
  for (int i = 0; i < 200; ++i) {
    contexts.push_back(std::make_unique<Context>());
    calls.push_back(stub.PrepareCall(contexts.back().get(),
                                     "/grpc.reflection.v1alpha.ServerReflection/"
                                     "ServerReflectionInfo",
                                     &queue));
    calls.back()->StartCall(nullptr);
    ASSERT_TRUE(queue.Next(&tag, &ok));
  }
  for (int i = 0; i < 10; ++i) ExpectServed();
  std::vector<grpc::Status> statuses(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    contexts[i]->TryCancel();
    calls[i]->Finish(&statuses[i], nullptr);
    ASSERT_TRUE(queue.Next(&tag, &ok));
  }
}

// Without the flag it is not there.
TEST_F(AttackTest, NoReflectionUnlessAsked) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const grpc::Status status = CallWithBytes(
      Connect(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "");
  EXPECT_EQ(status.error_code(), grpc::UNIMPLEMENTED);
}

// Story: with a soft limit of 1,024 descriptors, 1,100 idle sockets kept gRPC 1.51 from ever
// accepting again. The limit is lowered for the server's start alone, which raises it again.
TEST_F(AttackTest, IdleSockets) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GE(limit.rlim_max, 1000u) << "the sockets of this test need descriptors";
  const rlimit low{128, limit.rlim_max};
  const rlimit high{limit.rlim_max, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  Start();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &high), 0);
  ASSERT_FALSE(HasFatalFailure());
  const size_t colon = process().address().rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(process().address().substr(colon + 1))));
  std::vector<int> sockets;
  for (int i = 0; i < 300; ++i) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(sockets.back(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ExpectServed();
  for (const int socket : sockets) close(socket);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

// Story: each message with text that is not UTF-8 wrote a line to the log.
TEST(LogAttackTest, TextThatIsNotUtf8) {
  TestServer server;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 300; ++i) {
    const grpc::Status status = CallWithBytes(server.channel(), "/carom.v1.SceneService/GetScene",
                                              std::string("\x0a\x02\xff\xff", 4));
    EXPECT_FALSE(status.ok());
  }
  // A line a second; the calls take less than ten.
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_LE(std::count(log.begin(), log.end(), '\n'), 30) << log;
}

}  // namespace
}  // namespace carom::server
