// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A server that encrypts: who can connect, and what a change of the files does to whom.
#include <grpcpp/security/credentials.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "support/certificates.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using carom::testing::Authority;
using carom::testing::KeyPair;
using carom::testing::ReplaceFile;
using ::testing::HasSubstr;

// A server on loopback with a certificate of `authority`, and what its clients need.
class TlsServer {
 public:
  explicit TlsServer(bool asks_clients) {
    options_.address = "127.0.0.1:0";
    options_.threads = 2;
    options_.tls_certificate = options_.tls_key = folder_ / "server.pem";
    Rotate();
    ReplaceFile(folder_ / "clients.pem", client_authority_.pem());
    if (asks_clients) options_.tls_client_ca = folder_ / "clients.pem";
    auto started = Server::Start(options_);
    EXPECT_TRUE(started.ok()) << started.status();
    if (started.ok()) server_ = *std::move(started);
  }

  // Another certificate with another key, both at once.
  void Rotate() {
    const KeyPair pair =
        authority_.Sign({.name = "caromd", .alternatives = "DNS:localhost,IP:127.0.0.1"});
    ReplaceFile(options_.tls_certificate, pair.certificate + pair.key);
    certificate_ = pair.certificate;
  }

  // A channel with a connection of its own.
  std::shared_ptr<grpc::Channel> Channel(const KeyPair& client = {}) const {
    grpc::SslCredentialsOptions ssl{authority_.pem(), client.key, client.certificate};
    return Channel(grpc::SslCredentials(ssl));
  }
  std::shared_ptr<grpc::Channel> Channel(
      const std::shared_ptr<grpc::ChannelCredentials>& credentials) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->address(), credentials, arguments);
  }

  // The certificate that a connection from now on is shown.
  std::string Shown() const {
    Context context;
    v1::ListScenesResponse response;
    const auto stub = v1::SceneService::NewStub(Channel());
    const grpc::Status status = stub->ListScenes(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    const auto pem = context.auth_context()->FindPropertyValues("x509_pem_cert");
    return pem.empty() ? "" : std::string(pem[0].data(), pem[0].size());
  }
  bool ShowsCurrent() const { return Shown() == certificate_; }

  const Authority& clients() const { return client_authority_; }
  Server& server() { return *server_; }

 private:
  TemporaryFolder folder_;
  Authority authority_{"servers"};
  Authority client_authority_{"clients"};
  ServerOptions options_;
  std::string certificate_;
  std::unique_ptr<Server> server_;
};

grpc::Status List(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  v1::ListScenesResponse response;
  return v1::SceneService::NewStub(channel)->ListScenes(&context, {}, &response);
}

TEST(TlsTest, ServesWhoTrustsItAndNobodyInPlaintext) {
  TlsServer server(false);
  EXPECT_TRUE(List(server.Channel()).ok());
  EXPECT_EQ(List(server.Channel(grpc::InsecureChannelCredentials())).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  // Trusts another authority.
  const grpc::SslCredentialsOptions other{Authority("others").pem(), "", ""};
  EXPECT_EQ(List(server.Channel(grpc::SslCredentials(other))).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(TlsTest, WithAnAuthorityOnlyItsCertificatesAreServed) {
  TlsServer server(true);
  EXPECT_TRUE(List(server.Channel(server.clients().Sign({.name = "player"}))).ok());
  EXPECT_EQ(List(server.Channel()).error_code(), grpc::StatusCode::UNAVAILABLE);
  const Authority others("clients");  // of the same name
  EXPECT_EQ(List(server.Channel(others.Sign({.name = "player"}))).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(List(server.Channel(server.clients().Sign({.name = "late", .lasts_seconds = -60})))
                .error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

// Streams that are open and calls on new connections go on while the certificate changes.
TEST(TlsTest, RotationLosesNoFrame) {
  TlsServer server(false);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> connected{0};
  std::vector<std::thread> threads;
  threads.reserve(2);
  threads.emplace_back([&] {
    Context context;
    const auto stub = v1::QueryService::NewStub(server.Channel());
    const auto stream = stub->Stream(&context);
    v1::StreamRequest request;
    v1::StreamResponse response;
    while (!stop) {
      request.mutable_frame()->set_seq(answered + 1);
      ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
      ASSERT_EQ(response.answer().seq(), answered + 1);
      ++answered;
    }
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
  });
  threads.emplace_back([&] {
    while (!stop) {
      const grpc::Status status = List(server.Channel());
      ASSERT_TRUE(status.ok()) << status.error_message();
      ++connected;
    }
  });
  for (int i = 0; i < 3; ++i) {
    server.Rotate();
    const uint64_t before = answered;
    EXPECT_TRUE(Eventually([&] { return server.ShowsCurrent() && answered > before + 10; }));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(connected, 3u);
}

TEST(TlsTest, AFileThatCannotBeUsedIsNamedWithTheReason) {
  const TemporaryFolder folder;
  const Authority authority("servers");
  const KeyPair good = authority.Sign({.name = "caromd"});
  const KeyPair other = authority.Sign({.name = "other"});
  const KeyPair late = authority.Sign({.name = "late", .lasts_seconds = -60});
  ReplaceFile(folder / "good.crt", good.certificate);
  ReplaceFile(folder / "good.key", good.key);
  ReplaceFile(folder / "other.key", other.key);
  ReplaceFile(folder / "late.pem", late.certificate + late.key);
  ReplaceFile(folder / "text", "not PEM");
  ReplaceFile(folder / "locked.key",
              "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
  struct Case {
    std::string certificate, key, ca, option, reason;
  };
  for (const Case& c : {
           Case{"absent", "good.key", "", "--tls-certificate", "cannot be read (No such file"},
           Case{"good.crt", "absent", "", "--tls-key", "cannot be read (No such file"},
           Case{"text", "good.key", "", "--tls-certificate", "has no certificate in PEM"},
           Case{"good.crt", "text", "", "--tls-key", "has no private key in PEM"},
           Case{"good.crt", "good.crt", "", "--tls-key", "has no private key in PEM"},
           Case{"good.crt", "other.key", "", "--tls-key", "does not match the certificate"},
           Case{"late.pem", "late.pem", "", "--tls-certificate", "has expired"},
           Case{"good.crt", "good.key", "text", "--tls-client-ca", "has no certificate in PEM"},
           Case{"good.crt", "good.key", "absent", "--tls-client-ca", "cannot be read"},
       }) {
    ServerOptions options;
    options.address = "127.0.0.1:0";
    options.tls_certificate = folder / c.certificate;
    options.tls_key = folder / c.key;
    if (!c.ca.empty()) options.tls_client_ca = folder / c.ca;
    const absl::Status status = Server::Start(options).status();
    EXPECT_TRUE(Refuses(status, absl::StatusCode::kInvalidArgument, c.option));
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.reason));
  }
}

TEST(TlsTest, TheNetworkIsForThoseWhoEncryptAndAuthenticate) {
  ServerOptions options;
  options.address = "0.0.0.0:0";
  EXPECT_TRUE(
      Refuses(CheckServerOptions(options), absl::StatusCode::kInvalidArgument, "--address"));
  options.tls_certificate = "a";
  EXPECT_TRUE(
      Refuses(CheckServerOptions(options), absl::StatusCode::kInvalidArgument, "--tls-key"));
  options.tls_key = "a";
  EXPECT_TRUE(
      Refuses(CheckServerOptions(options), absl::StatusCode::kInvalidArgument, "--credentials"));
  options.tls_client_ca = "b";
  EXPECT_TRUE(CheckServerOptions(options).ok());
  options.tls_certificate = options.tls_key = "";
  EXPECT_TRUE(
      Refuses(CheckServerOptions(options), absl::StatusCode::kInvalidArgument, "--tls-client-ca"));
}

}  // namespace
}  // namespace carom::server
