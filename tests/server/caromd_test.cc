// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// caromd as a process: its one line of output, signals and exit codes.
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/server/fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/tokens.h"

namespace carom::server {
namespace {

using carom::testing::ProcessResult;
using carom::testing::RunProcess;
using carom::testing::ServerProcess;

class CaromdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* binary = std::getenv("CAROMD_BINARY");
    ASSERT_NE(binary, nullptr) << "CAROMD_BINARY is not set: run this through ctest";
    binary_ = binary;
  }
  ProcessResult Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), binary_);
    return RunProcess(arguments, "", 30);
  }

  std::string binary_;
};

std::unique_ptr<v1::QueryService::Stub> Queries(const ServerProcess& process) {
  return v1::QueryService::NewStub(
      grpc::CreateChannel(process.address(), grpc::InsecureChannelCredentials()));
}

grpc::Status Evaluate(v1::QueryService::Stub& queries) {
  Context context;
  v1::EvaluateResponse response;
  return queries.Evaluate(&context, {}, &response);
}

TEST_F(CaromdTest, ServesUntilSigterm) {
  const auto process = ServerProcess::Start(binary_);
  ASSERT_NE(process, nullptr);
  EXPECT_TRUE(Evaluate(*Queries(*process)).ok());
  EXPECT_EQ(process->Stop(), 0);
}

TEST_F(CaromdTest, InterruptIsAsGood) {
  const auto process = ServerProcess::Start(binary_);
  ASSERT_NE(process, nullptr);
  EXPECT_TRUE(Evaluate(*Queries(*process)).ok());
  // Two signals at once may count as one and a second: only the first is sent before the end.
  ASSERT_EQ(kill(process->pid(), SIGINT), 0);
  const auto queries = Queries(*process);
  EXPECT_TRUE(Eventually([&] { return !Evaluate(*queries).ok(); }));
}

// A frame waits a minute for a version, so the drain goes on until the second signal.
TEST_F(CaromdTest, SecondSignalEndsADrainAtOnce) {
  const auto process = ServerProcess::Start(binary_, {"--drain-seconds", "60"});
  ASSERT_NE(process, nullptr);
  const auto channel = grpc::CreateChannel(process->address(), grpc::InsecureChannelCredentials());
  const auto scenes = v1::SceneService::NewStub(channel);
  Context create_context;
  v1::CreateSceneResponse created;
  ASSERT_TRUE(scenes
                  ->CreateScene(&create_context,
                                FromText<v1::CreateSceneRequest>("name: 'scenes/a'"), &created)
                  .ok());
  const auto queries = v1::QueryService::NewStub(channel);
  Context stream_context;
  auto stream = queries->Stream(&stream_context);
  v1::StreamResponse response;
  ASSERT_TRUE(stream->Write(FromText<v1::StreamRequest>("frame { seq: 1 }")));
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_TRUE(stream->Write(FromText<v1::StreamRequest>(
      "frame { budget_us: 60000000 groups { scene: 'scenes/a' min_version: 99999 } }")));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Evaluate(*queries).ok());
  ASSERT_EQ(kill(process->pid(), SIGTERM), 0);
  EXPECT_TRUE(Eventually([&] { return !Evaluate(*queries).ok(); }));
  EXPECT_EQ(process->Stop(), 1);
}

TEST_F(CaromdTest, TakenPortEndsWithOne) {
  const auto process = ServerProcess::Start(binary_);
  ASSERT_NE(process, nullptr);
  const ProcessResult second = Run({"--address", process->address()});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.standard_output, "");
  // One line with the reason, and no log of gRPC.
  EXPECT_EQ(second.standard_error,
            "caromd: cannot listen on " + process->address() + ": another process does\n");
  EXPECT_EQ(process->Stop(), 0);
}

// 192.0.2.0/24 is reserved for documentation: no machine has an address of it.
TEST_F(CaromdTest, AnAddressOfAnotherMachineEndsWithOne) {
  const ProcessResult result = Run({"--address", "192.0.2.1:7420", "--allow-plaintext-network"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error,
              ::testing::StartsWith("caromd: cannot listen on 192.0.2.1:7420: "));
}

// Nothing is encrypted, so nobody listens to the world by mistake.
TEST_F(CaromdTest, APlaintextAddressBeyondLoopbackIsAskedForInWords) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:7420", "example.org:7420"}) {
    const ProcessResult result = Run({"--address", address});
    EXPECT_EQ(result.exit_code, 2) << address;
    EXPECT_THAT(result.standard_error, ::testing::HasSubstr("--allow-plaintext-network"));
  }
  const auto process =
      ServerProcess::Start(binary_, {"--allow-plaintext-network"}, 20, "0.0.0.0:0");
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->Stop(), 0);
}

// Each SIGHUP reads the file, whether it has changed or not: of a file that is wrong it says so
// once more. A token that is gone from it ends what it began.
TEST_F(CaromdTest, HangupReadsCredentialsAgain) {
  const TemporaryFolder folder;
  const std::string credentials = folder / "credentials", log = folder / "log";
  carom::testing::ReplaceFile(credentials, carom::testing::TokenLine("good", "acme", "admin"));
  const std::string script = folder / "caromd";
  std::ofstream(script) << "#!/bin/sh\nexec " << binary_ << " \"$@\" 2>" << log << "\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto process = ServerProcess::Start(script, {"--credentials", credentials});
  ASSERT_NE(process, nullptr);
  const auto complaints = [&] {
    std::stringstream text;
    text << std::ifstream(log).rdbuf();
    int count = 0;
    for (std::string line; std::getline(text, line);) {
      count += line.find("cannot reload the credentials") != line.npos ? 1 : 0;
    }
    return count;
  };
  Context context;
  context.AddMetadata("authorization", "Bearer good");
  const auto queries = Queries(*process);
  const auto stream = queries->Stream(&context);
  v1::StreamResponse response;
  ASSERT_TRUE(stream->Write({}) && stream->Read(&response));
  carom::testing::ReplaceFile(credentials, "wrong\n");
  ASSERT_TRUE(Eventually([&] { return complaints() == 1; }));
  ASSERT_EQ(kill(process->pid(), SIGHUP), 0);
  EXPECT_TRUE(Eventually([&] { return complaints() == 2; }));
  ASSERT_TRUE(stream->Write({}) && stream->Read(&response));
  carom::testing::ReplaceFile(credentials, "# nobody\n");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(kill(process->pid(), SIGHUP), 0);
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(process->Stop(), 0);
}

TEST_F(CaromdTest, BadOptionEndsWithTwo) {
  const ProcessResult result = Run({"--max-scenes", "none"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_THAT(result.standard_error, ::testing::HasSubstr("--max-scenes"));
}

TEST_F(CaromdTest, HelpAndVersionEndWithZero) {
  const ProcessResult help = Run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.standard_output, ::testing::HasSubstr("--drain-seconds"));
  const ProcessResult version = Run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.standard_output, ::testing::StartsWith("caromd "));
}

}  // namespace
}  // namespace carom::server
