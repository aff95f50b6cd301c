// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who a call is taken for, and what becomes of it when that is over.
#include "server/access/identity.h"

#include <grpcpp/security/credentials.h>

#include <chrono>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "support/certificates.h"
#include "support/tokens.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using carom::testing::Authority;
using carom::testing::KeyPair;
using carom::testing::ReplaceFile;
using carom::testing::TokenLine;

// The context of a call with a token.
class WithToken : public Context {
 public:
  explicit WithToken(const std::string& token) {
    AddMetadata("authorization", absl::StrCat("Bearer ", token));
  }
};

class IdentityTest : public ::testing::Test {
 protected:
  // A server on loopback whose file says `lines`.
  void Start(const std::string& lines, ServerOptions options = {}) {
    Write(lines);
    options.credentials = file_;
    server_.emplace(options);
  }
  void Write(const std::string& lines) { ReplaceFile(file_, lines); }

  grpc::Status Create(const std::string& token, const std::string& name) {
    WithToken context(token);
    v1::CreateSceneRequest request;
    request.set_name("scenes/" + name);
    v1::CreateSceneResponse response;
    return server_->scenes().CreateScene(&context, request, &response);
  }
  grpc::Status List(grpc::ClientContext& context) {
    v1::ListScenesResponse response;
    return server_->scenes().ListScenes(&context, {}, &response);
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_ / "credentials";
  std::optional<TestServer> server_;
};

TEST_F(IdentityTest, WhoeverHasNoTokenLearnsNothing) {
  Start(TokenLine("good", "acme", "reader") + TokenLine("", "acme", "admin") +
        TokenLine("late", "acme", "admin", "expires=2020-01-01T00:00:00Z"));
  std::vector<grpc::Status> refused;
  {
    Context none;
    refused.push_back(List(none));
  }
  for (const char* value : {"Bearer bad", "Bearer late", "Bearer ", "Bearer", "Basic good", "good",
                            "Bearer good good", "Bearer GOOD"}) {
    Context context;
    context.AddMetadata("authorization", value);
    refused.push_back(List(context));
    EXPECT_THAT(refused.back().error_message(), ::testing::Not(::testing::HasSubstr("good")));
  }
  Context twice;
  twice.AddMetadata("authorization", "Bearer good");
  twice.AddMetadata("authorization", "Bearer good");
  refused.push_back(List(twice));
  for (const grpc::Status& status : refused) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(status.error_message(), refused[0].error_message());
    EXPECT_EQ(status.error_details(), refused[0].error_details());
  }
  for (const char* value : {"Bearer good", "bearer good", "Bearer  good "}) {
    Context context;
    context.AddMetadata("authorization", value);
    EXPECT_TRUE(List(context).ok()) << value;
  }
}

TEST_F(IdentityTest, HealthAsksForNoCredential) {
  Start(TokenLine("good", "acme", "reader"));
  const auto health = grpc::health::v1::Health::NewStub(server_->channel());
  Context context;
  grpc::health::v1::HealthCheckResponse response;
  EXPECT_TRUE(health->Check(&context, {}, &response).ok());
}

// A stream that asks, and a watch that waits, each end when their token is revoked.
TEST_F(IdentityTest, RevocationEndsStreamsAndWatches) {
  const std::string other = TokenLine("other", "acme", "admin");
  Start(other + TokenLine("good", "acme", "writer"));
  ASSERT_TRUE(Create("good", "a").ok());
  WithToken stream_context("good"), watch_context("good"), other_context("other");
  const auto stream = server_->queries().Stream(&stream_context);
  const auto lasting = server_->queries().Stream(&other_context);
  v1::WatchSceneRequest request;
  request.set_name("scenes/a");
  const auto watch = server_->scenes().WatchScene(&watch_context, request);
  v1::WatchSceneResponse part;
  ASSERT_TRUE(watch->Read(&part));
  v1::StreamResponse answer;
  const auto frame = FromText<v1::StreamRequest>("frame { seq: 1 }");
  for (auto* each : {stream.get(), lasting.get()}) {
    ASSERT_TRUE(each->Write(frame) && each->Read(&answer));
  }
  Write(other);
  const auto revoked = std::chrono::steady_clock::now();
  EXPECT_FALSE(watch->Read(&part));
  EXPECT_FALSE(stream->Read(&answer));
  const auto took = std::chrono::steady_clock::now() - revoked;
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  RecordProperty("ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  EXPECT_EQ(Create("good", "b").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  // Nobody else is hurt.
  EXPECT_TRUE(lasting->Write(frame) && lasting->Read(&answer));
}

TEST_F(IdentityTest, ExpiryEndsAStreamByItself) {
  // On a slow host a token may expire before the stream is open: one that lasts longer then.
  for (const int seconds : {2, 4, 8}) {
    const absl::Time soon = absl::Now() + absl::Seconds(seconds);
    Start(
        TokenLine("good", "acme", "writer",
                  "expires=" + absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", soon, absl::UTCTimeZone())));
    WithToken context("good");
    const auto stream = server_->queries().Stream(&context);
    v1::StreamResponse answer;
    const bool is_open =
        stream->Write(FromText<v1::StreamRequest>("frame { seq: 1 }")) && stream->Read(&answer);
    EXPECT_TRUE(!is_open || !stream->Read(&answer));
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
    if (is_open) return;
    ASSERT_GT(absl::Now(), soon - absl::Seconds(1));  // of which it has whole seconds
  }
  FAIL() << "no stream was open before its token expired";
}

// Story: a stream ended at the time that its credential had when it came.
TEST_F(IdentityTest, ALaterExpiryIsThatOfOpenStreamsToo) {
  const absl::Time soon = absl::Now() + absl::Seconds(3);
  const auto line = [](absl::Time expiry) {
    return TokenLine(
        "good", "acme", "writer",
        "expires=" + absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", expiry, absl::UTCTimeZone()));
  };
  Start(line(soon));
  WithToken context("good");
  const auto stream = server_->queries().Stream(&context);
  v1::StreamResponse answer;
  const auto frame = FromText<v1::StreamRequest>("frame { seq: 1 }");
  ASSERT_TRUE(stream->Write(frame) && stream->Read(&answer));
  Write(line(soon + absl::Hours(1)));
  absl::SleepFor(soon + absl::Seconds(1) - absl::Now());
  EXPECT_TRUE(stream->Write(frame) && stream->Read(&answer));
}

// A change of tenant or role is no less than a revocation; the order of lines, or other lines, are
// nothing.
TEST_F(IdentityTest, AnotherRoleIsAnotherCredential) {
  Start(TokenLine("good", "acme", "writer"));
  WithToken context("good");
  const auto stream = server_->queries().Stream(&context);
  v1::StreamResponse answer;
  const auto frame = FromText<v1::StreamRequest>("frame { seq: 1 }");
  ASSERT_TRUE(stream->Write(frame) && stream->Read(&answer));
  Write("# moved\n" + TokenLine("new", "acme", "reader") + TokenLine("good", "acme", "writer"));
  EXPECT_TRUE(Eventually([&] {
    WithToken newcomer("new");
    return List(newcomer).ok();
  }));
  EXPECT_TRUE(stream->Write(frame) && stream->Read(&answer));
  Write(TokenLine("good", "acme", "reader"));
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Create("good", "b").error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

// A file that is wrong is not taken over, and nobody loses anything by it.
TEST_F(IdentityTest, AFileThatIsWrongChangesNothing) {
  Start(TokenLine("good", "acme", "writer"));
  ::testing::internal::CaptureStderr();
  Write("token secret acme writer\n");
  server_->server().Reload(OneThread());
  std::string log;
  for (int i = 0; i < 300 && log.find("line 1") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::fflush(stderr);
    log += ::testing::internal::GetCapturedStderr();
    ::testing::internal::CaptureStderr();
  }
  ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, ::testing::HasSubstr("line 1: "));
  EXPECT_THAT(log, ::testing::Not(::testing::HasSubstr("secret")));
  EXPECT_TRUE(Create("good", "a").ok());
}

TEST_F(IdentityTest, AStartWithAFileThatIsWrongNamesTheLine) {
  ServerOptions options = OneThread();
  options.address = "127.0.0.1:0";
  options.credentials = folder_ / "absent";
  EXPECT_TRUE(Refuses(Server::Start(options).status(), absl::StatusCode::kInvalidArgument,
                      "--credentials"));
  Write("\ntoken\n");
  options.credentials = file_;
  const absl::Status status = Server::Start(options).status();
  EXPECT_TRUE(Refuses(status, absl::StatusCode::kInvalidArgument, "--credentials"));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("line 2: "));
}

// Certificates: by the CN, by a SAN; one that the file does not name is nobody's.
TEST_F(IdentityTest, ACertificateStandsForATenant) {
  const Authority authority("all");
  ServerOptions options;
  const KeyPair own = authority.Sign({.name = "caromd", .alternatives = "IP:127.0.0.1"});
  options.tls_certificate = options.tls_key = folder_ / "server.pem";
  options.tls_client_ca = folder_ / "clients.pem";
  ReplaceFile(options.tls_certificate, own.certificate + own.key);
  ReplaceFile(options.tls_client_ca, authority.pem());
  Start("certificate editor acme writer\ncertificate player.example acme reader\n" +
            TokenLine("boss", "acme", "admin"),
        options);
  const auto create = [&](const KeyPair& pair, const std::string& token) {
    const grpc::SslCredentialsOptions ssl{authority.pem(), pair.key, pair.certificate};
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1::SceneService::NewStub(grpc::CreateCustomChannel(
        server_->server().address(), grpc::SslCredentials(ssl), arguments));
    Context context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    v1::CreateSceneRequest request;
    request.set_name("scenes/a");
    v1::CreateSceneResponse response;
    return stub->CreateScene(&context, request, &response).error_code();
  };
  const KeyPair editor = authority.Sign({.name = "editor"});
  const KeyPair player = authority.Sign({.name = "x", .alternatives = "DNS:player.example"});
  const KeyPair stranger = authority.Sign({.name = "stranger"});
  EXPECT_EQ(create(stranger, ""), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(create(player, ""), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(create(editor, ""), grpc::StatusCode::OK);
  EXPECT_EQ(create(player, "boss"), grpc::StatusCode::ALREADY_EXISTS);
  // A token that is wrong is not made good by a certificate.
  EXPECT_EQ(create(editor, "bad"), grpc::StatusCode::UNAUTHENTICATED);
}

}  // namespace
}  // namespace carom::server
