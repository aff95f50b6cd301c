// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `InProcessServer`: the same answers without a socket, and the same ends.
#include "client/inprocess/in_process.h"

#include "tests/client/fixture.h"
#include "tests/client/stream_script.h"

namespace carom {
namespace {

using testing::EmptyFrame;
using testing::StreamScript;

std::vector<std::string> Ledger(Client& client, const StreamScript& script) {
  EXPECT_TRUE(testing::CreateScriptScenes(client).ok());
  const auto stream = client.OpenStream();
  absl::Status end;
  std::vector<std::string> ledger = testing::Converse(*stream, script, end);
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_EQ(ledger.size(), script.frames().size());
  return ledger;
}

TEST(InProcessTest, AnswersAreThoseOfSockets) {
  const StreamScript script(21, 300);
  const auto in_process = InProcessServer::Start();
  ASSERT_TRUE(in_process.ok()) << in_process.status();
  const std::vector<std::string> expected = Ledger(*(*in_process)->Connect(), script);
  const ScratchFolder folder;
  for (const std::string& address : {std::string("127.0.0.1:0"), "unix:" + (folder / "socket")}) {
    server::ServerOptions options;
    options.address = address;
    const auto server = server::Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    const auto client = Client::Connect((*server)->address());
    EXPECT_TRUE(Ledger(**client, script) == expected) << address;
  }
}

TEST(InProcessTest, ClientsShareTheScenes) {
  const auto server = InProcessServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  const auto a = (*server)->Connect();
  const auto b = (*server)->Connect();
  ASSERT_TRUE(a->ImportScene("scenes/a", Squares(3), ImportMode::kCreate).ok());
  const auto scene = b->GetScene("scenes/a");
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->polygon_count, 3u);
  EXPECT_TRUE(b->Evaluate({}).ok());
  EXPECT_EQ(b->GetScene("scenes/b").status().code(), absl::StatusCode::kNotFound);
}

TEST(InProcessTest, LimitsHold) {
  EXPECT_TRUE(absl::IsInvalidArgument(InProcessServer::Start({.max_scenes = 0}).status()));
  const auto server = InProcessServer::Start({.max_scenes = 1});
  ASSERT_TRUE(server.ok()) << server.status();
  const auto client = (*server)->Connect();
  EXPECT_TRUE(client->CreateScene("scenes/a", {}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(client->CreateScene("scenes/b", {}).status()));
}

// Two servers on nothing do not meet, and a drain ends streams as it does elsewhere.
TEST(InProcessTest, ADrainEndsStreams) {
  const auto server = InProcessServer::Start();
  const auto other = InProcessServer::Start();
  ASSERT_TRUE(server.ok() && other.ok());
  const auto client = (*server)->Connect();
  const auto stream = client->OpenStream({.reconnect_timeout = std::chrono::milliseconds(200)});
  ASSERT_TRUE(stream->Send(EmptyFrame(1)).ok());
  ASSERT_TRUE(stream->Receive().ok());
  (*server)->Drain();
  EXPECT_TRUE(stream->Send(EmptyFrame(2)).ok());
  EXPECT_TRUE(absl::IsUnavailable(stream->Receive().status()));
  EXPECT_TRUE(absl::IsUnavailable(client->GetScene("scenes/a").status()));
  EXPECT_TRUE((*other)->Connect()->Evaluate({}).ok());
}

}  // namespace
}  // namespace carom
