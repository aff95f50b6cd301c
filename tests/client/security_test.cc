// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Clients that prove who they are: the library and the command line.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "support/certificates.h"
#include "support/process.h"
#include "support/tokens.h"

namespace carom {
namespace {

using carom::testing::Authority;
using carom::testing::KeyPair;
using carom::testing::ProcessResult;
using carom::testing::RunProcess;
using carom::testing::TokenLine;
using ::testing::HasSubstr;
using ::testing::Not;

class ClientSecurityTest : public ::testing::Test {
 protected:
  // Over TLS, with tokens and certificates.
  void SetUp() override {
    const KeyPair own = authority_.Sign({.name = "caromd", .alternatives = "IP:127.0.0.1"});
    const KeyPair editor = authority_.Sign({.name = "editor"});
    const KeyPair late = authority_.Sign({.name = "editor", .lasts_seconds = -60});
    ca_ = folder_.Write("ca.pem", authority_.pem());
    folder_.Write("editor.crt", editor.certificate);
    folder_.Write("editor.key", editor.key);
    folder_.Write("late.pem", late.certificate + late.key);
    folder_.Write("text", "not PEM and no word");
    folder_.Write("token", "good\n");
    folder_.Write("bad-token", "bad\n");
    server_options_.address = "127.0.0.1:0";
    server_options_.threads = 2;
    server_options_.credentials = folder_.Write(
        "credentials", TokenLine("good", "acme", "admin") + "certificate editor acme admin\n");
    server_options_.tls_certificate = server_options_.tls_key =
        folder_.Write("server.pem", own.certificate + own.key);
  }
  std::unique_ptr<server::Server> Start() {
    auto started = server::Server::Start(server_options_);
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? *std::move(started) : nullptr;
  }
  // Every kind of call: one that changes, a stream, a watch, an export.
  static void ExpectServed(Client& client) {
    ASSERT_TRUE(client.ImportScene("scenes/a", Squares(3), ImportMode::kReplace).ok());
    EXPECT_EQ(client.ExportScene("scenes/a")->size(), 3);
    EXPECT_TRUE(client.WatchScene("scenes/a")->Next().ok());
    const auto stream = client.OpenStream();
    EXPECT_TRUE(stream->Send(Frame()).ok() && stream->Receive().ok());
  }

  ScratchFolder folder_;
  Authority authority_{"all"};
  std::string ca_;
  server::ServerOptions server_options_;
};

TEST_F(ClientSecurityTest, ATokenOrACertificateOpensTheServer) {
  server_options_.tls_client_ca = "";
  {
    const auto server = Start();
    const auto client =
        Client::Connect(server->address(), {.ca_file = ca_, .token_file = folder_ / "token"});
    ASSERT_TRUE(client.ok()) << client.status();
    ExpectServed(**client);
    const auto stranger = Client::Connect(server->address(), {.ca_file = ca_});
    EXPECT_TRUE(absl::IsUnauthenticated((*stranger)->ListScenes().status()));
  }
  server_options_.tls_client_ca = ca_;
  const auto server = Start();
  const auto client =
      Client::Connect(server->address(), {.ca_file = ca_,
                                          .certificate_file = folder_ / "editor.crt",
                                          .key_file = folder_ / "editor.key"});
  ASSERT_TRUE(client.ok()) << client.status();
  ExpectServed(**client);
}

TEST_F(ClientSecurityTest, ATokenGoesOverPlaintextOnThisMachineAlone) {
  server_options_.tls_certificate = server_options_.tls_key = "";
  const auto server = Start();
  const auto client = Client::Connect(server->address(), {.token_file = folder_ / "token"});
  ASSERT_TRUE(client.ok()) << client.status();
  ExpectServed(**client);
  for (const char* target : {"192.0.2.1:7420", "example.org:1", "127.0.0.1:1,example.org:1"}) {
    const absl::Status status = Client::Connect(target, {.token_file = folder_ / "token"}).status();
    EXPECT_TRUE(Refuses(status, absl::StatusCode::kInvalidArgument, "token_file")) << target;
  }
}

TEST_F(ClientSecurityTest, AFileThatCannotBeUsedIsNamedWithTheReason) {
  struct Case {
    ClientOptions options;
    std::string field, reason;
  };
  const std::string text = folder_ / "text", absent = folder_ / "absent";
  const std::string editor = folder_ / "editor.crt", late = folder_ / "late.pem";
  for (const Case& c : {
           Case{{.ca_file = absent}, "ca_file", "cannot be read (No such file"},
           Case{{.ca_file = text}, "ca_file", "has no certificate in PEM"},
           Case{{.ca_file = ca_, .certificate_file = editor}, "key_file", "must be given"},
           Case{{.ca_file = ca_, .key_file = editor}, "certificate_file", "must be given"},
           Case{{.certificate_file = editor, .key_file = editor}, "ca_file", "must be given"},
           Case{{.ca_file = ca_, .certificate_file = editor, .key_file = late},
                "key_file",
                "does not match the certificate"},
           Case{{.ca_file = ca_, .certificate_file = late, .key_file = late},
                "certificate_file",
                "has expired"},
           Case{{.token_file = absent}, "token_file", "cannot be read"},
           Case{{.token_file = text}, "token_file", "has no token"},
       }) {
    const absl::Status status = Client::Connect("127.0.0.1:1", c.options).status();
    EXPECT_TRUE(Refuses(status, absl::StatusCode::kInvalidArgument, c.field));
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.reason));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("no word")));
  }
}

// Files are replaced while a client is there: its next calls have the new token, its next
// connection the new certificate, and what cannot be used leaves what was.
TEST_F(ClientSecurityTest, FilesAreReadAgain) {
  server_options_.tls_client_ca = "";
  auto server = Start();
  const std::string token = folder_.Write("rotated", "good\n");
  const auto client = Client::Connect(server->address(), {.ca_file = ca_, .token_file = token});
  ASSERT_TRUE(client.ok()) << client.status();
  ASSERT_TRUE((*client)->ListScenes().ok());
  carom::testing::ReplaceFile(token, "bad\n");
  EXPECT_TRUE(absl::IsUnauthenticated((*client)->ListScenes().status()));
  carom::testing::ReplaceFile(token, "good\n");
  EXPECT_TRUE((*client)->ListScenes().ok());
  for (const char* of_no_use : {"", "two words\n"}) {
    carom::testing::ReplaceFile(token, of_no_use);
    EXPECT_TRUE((*client)->ListScenes().ok());
  }
  EXPECT_TRUE((*client)->OpenStream()->Send(Frame()).ok());
}

// Story: a client that was there longer than its certificate could not connect any more, though the
// file had the next one.
TEST_F(ClientSecurityTest, TheNextConnectionHasTheNextCertificate) {
  const Authority other("other");
  const KeyPair first = authority_.Sign({.name = "editor"});
  const KeyPair own = other.Sign({.name = "caromd", .alternatives = "IP:127.0.0.1"});
  const KeyPair next = other.Sign({.name = "editor"});
  const std::string pair = folder_.Write("pair.pem", first.certificate + first.key);
  const std::string authorities = folder_.Write("rotated-ca.pem", authority_.pem());
  server_options_.tls_client_ca = ca_;
  auto server = Start();
  const std::string address = server->address();
  const auto client = Client::Connect(
      address, {.ca_file = authorities, .certificate_file = pair, .key_file = pair});
  ASSERT_TRUE(client.ok()) << client.status();
  ASSERT_TRUE((*client)->ListScenes().ok());
  // The server's certificate, its authority and that of its clients all change.
  server.reset();
  server_options_.address = address;
  server_options_.tls_client_ca = folder_.Write("other-ca.pem", other.pem());
  server_options_.tls_certificate = server_options_.tls_key =
      folder_.Write("other-server.pem", own.certificate + own.key);
  server = Start();
  EXPECT_FALSE((*client)->ListScenes().ok());
  carom::testing::ReplaceFile(pair, next.certificate + next.key);
  carom::testing::ReplaceFile(authorities, other.pem());
  bool served = false;
  for (int i = 0; i < 200 && !served; ++i) {
    served = (*client)->ListScenes().ok();
    if (!served) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(served);
}

// `carom load` takes the same files as the other commands.
TEST_F(ClientSecurityTest, LoadIsMadeWithATokenOverTls) {
  const char* binary = std::getenv("CAROM_BINARY");
  ASSERT_NE(binary, nullptr) << "CAROM_BINARY is not set: run this through ctest";
  const auto server = Start();
  const auto load = [&](const std::string& token) {
    return RunProcess({binary, "load", "--address", server->address(), "--polygons", "100",
                       "--duration", "0.2", "--warmup", "0.1", "--edits", "20", "--check", "1",
                       "--ca", ca_, "--token-file", folder_ / token},
                      "", 60);
  };
  const ProcessResult good = load("token");
  EXPECT_EQ(good.exit_code, 0) << good.standard_error;
  const ProcessResult bad = load("bad-token");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.standard_error, HasSubstr("UNAUTHENTICATED"));
}

// Flags and environment of the command line; what fails is said in one line.
TEST_F(ClientSecurityTest, TheCommandLineTakesPaths) {
  const char* binary = std::getenv("CAROM_BINARY");
  ASSERT_NE(binary, nullptr) << "CAROM_BINARY is not set: run this through ctest";
  const auto server = Start();
  const auto list = [&](const std::vector<std::string>& environment,
                        const std::vector<std::string>& flags) {
    std::vector<std::string> command = {"env"};
    command.insert(command.end(), environment.begin(), environment.end());
    for (const char* word : {binary, "scene", "list", "--address", server->address().c_str()}) {
      command.emplace_back(word);
    }
    command.insert(command.end(), flags.begin(), flags.end());
    return RunProcess(command, "", 60);
  };
  EXPECT_EQ(list({}, {"--ca", ca_, "--token-file", folder_ / "token"}).exit_code, 0);
  EXPECT_EQ(list({"CAROM_CA=" + ca_, "CAROM_TOKEN_FILE=" + (folder_ / "token")}, {}).exit_code, 0);
  // A flag wins.
  const ProcessResult bad = list({"CAROM_CA=" + ca_, "CAROM_TOKEN_FILE=" + (folder_ / "token")},
                                 {"--token-file", folder_ / "bad-token"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.standard_error, HasSubstr("UNAUTHENTICATED"));
  const ProcessResult absent = list({}, {"--ca", folder_ / "absent"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.standard_error, HasSubstr("ca_file"));
  EXPECT_THAT(absent.standard_error, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace carom
