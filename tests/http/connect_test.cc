// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The RPCs over HTTP: what a client gets for right and for wrong requests.
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/raw_client.h"
#include "server/fixture.h"
#include "server/http/connect_protocol.h"
#include "server/http/origin_policy.h"

namespace carom::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kEvaluate[] = "/carom.v1.QueryService/Evaluate";
constexpr char kCreate[] = "/carom.v1.SceneService/CreateScene";
constexpr char kGet[] = "/carom.v1.SceneService/GetScene";
constexpr char kWatch[] = "/carom.v1.SceneService/WatchScene";
constexpr char kExport[] = "/carom.v1.SceneService/ExportScene";
// a square about the origin
constexpr char kScene[] =
    R"({"name":"scenes/a","polygons":[{"id":"7","rings":[{"x":[-1,1,1,-1],"y":[-1,-1,1,1]}]}]})";
// a bullet that hits the square at (-1, 0.25), half of its way
constexpr char kBullet[] =
    R"({"frame":{"seq":"5","groups":[{"scene":"scenes/a","segments":{"ax":[-4],"ay":[0.25],"bx":[2],"by":[0.25]}}]}})";

class ConnectTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.address = "127.0.0.1:0";
    if (options.http_address == "off") options.http_address = "127.0.0.1:0";
    options.threads = 2;
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  RawClient Client() const { return RawClient(server_->http_address()); }
  void CreateScene() {
    const RawResponse made = Client().Post(kCreate, kScene);
    ASSERT_EQ(made.status, 200) << made.body;
  }

  std::unique_ptr<Server> server_;
};

TEST_F(ConnectTest, JsonAndProtobufHaveTheAnswerOfGrpc) {
  Start();
  CreateScene();
  RawClient client = Client();
  const RawResponse json = client.Post(kEvaluate, kBullet);
  EXPECT_EQ(json.status, 200);
  EXPECT_EQ(json.header("content-type"), "application/json");
  EXPECT_THAT(json.body, AllOf(HasSubstr(R"("seq":"5")"), HasSubstr(R"("polygonId":["7"])"),
                               HasSubstr(R"("fraction":[0.5])")));
  const auto request = FromText<v1::EvaluateRequest>(
      R"(frame { seq: 5 groups { scene: "scenes/a" segments { ax: -4 ay: 0.25 bx: 2 by: 0.25 } } })");
  const RawResponse proto = client.Request("POST", kEvaluate, "Content-Type: application/proto\r\n",
                                           request.SerializeAsString());
  EXPECT_EQ(proto.header("content-type"), "application/proto");
  v1::EvaluateResponse over_http;
  ASSERT_TRUE(over_http.ParseFromString(proto.body));
  const auto channel = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
  v1::EvaluateResponse over_grpc;
  Context context;
  ASSERT_TRUE(v1::QueryService::NewStub(channel)->Evaluate(&context, request, &over_grpc).ok());
  over_http.mutable_answer()->clear_stats();
  over_grpc.mutable_answer()->clear_stats();
  EXPECT_EQ(over_http.SerializeAsString(), over_grpc.SerializeAsString());
}

TEST_F(ConnectTest, ErrorsHaveStatusCodeAndField) {
  Start();
  RawClient client = Client();
  const RawResponse bad_name = client.Post(kGet, R"({"name":"scenes/x y"})");
  EXPECT_EQ(bad_name.status, 400);
  EXPECT_THAT(bad_name.body,
              AllOf(::testing::StartsWith(R"({"code":"invalid_argument","message":"name: )"),
                    HasSubstr("google.rpc.BadRequest"), HasSubstr(R"("field":"name")")));
  EXPECT_EQ(client.Post(kGet, R"({"name":"scenes/none"})").status, 404);
  ASSERT_EQ(client.Post(kCreate, kScene).status, 200);
  EXPECT_EQ(client.Post(kCreate, kScene).status, 409);
}

TEST_F(ConnectTest, WhatIsNoCallIsRefused) {
  Start();
  RawClient client = Client();
  const RawResponse get = client.Request("GET", kGet);
  EXPECT_EQ(get.status, 405);
  EXPECT_EQ(get.header("allow"), "POST, OPTIONS");
  EXPECT_EQ(client.Request("POST", "/", "", "").status, 404);
  EXPECT_EQ(client.Request("POST", "/carom.v1.SceneService/Nothing", "", "").status, 404);
  for (const char* type : {"text/plain", "application/grpc", "application/connect+json",
                           "application/json; charset=latin1", ""}) {
    const RawResponse response =
        client.Request("POST", kGet, absl::StrCat("Content-Type: ", type, "\r\n"), "{}");
    EXPECT_EQ(response.status, 415) << type;
    EXPECT_EQ(response.header("accept-post"), "application/json, application/proto");
  }
  EXPECT_EQ(client.Request("POST", kWatch, "Content-Type: application/json\r\n", "{}").status, 415);
  EXPECT_EQ(client.Post(kGet, "{}", "Content-Encoding: gzip\r\n").status, 501);
  EXPECT_EQ(client.Post("/carom.v1.SceneService/ImportScene", "{}").status, 501);
  EXPECT_EQ(client.Post("/carom.v1.QueryService/Stream", "{}").status, 501);
  EXPECT_EQ(client.Post(kGet, "{}", "Connect-Timeout-Ms: soon\r\n").status, 400);
  EXPECT_EQ(client.Post(kGet, "{}", "Connect-Timeout-Ms: 12345678901\r\n").status, 400);
}

TEST_F(ConnectTest, WrongJsonIsRefusedWithTheReason) {
  Start();
  RawClient client = Client();
  const std::string deep(10000, '[');
  for (const std::string& json :
       {std::string("{"), std::string("[]"), std::string("nothing"), deep,
        absl::StrCat(R"({"frame":)", std::string(10000, '{')), std::string(R"({"unknown":1})"),
        std::string(R"({"frame":{"seq":"-1"}})"), std::string(R"({"frame":{"seq":"1e30"}})"),
        std::string("{\"frame\":\"\xFF\"}"),
        std::string(R"({"frame":{"groups":[{"segments":7}]}})")}) {
    const RawResponse response = client.Post(kEvaluate, json);
    EXPECT_EQ(response.status, 400) << json.substr(0, 40);
    EXPECT_THAT(response.body,
                HasSubstr("the message is not valid JSON of carom.v1.EvaluateRequest"));
    EXPECT_LT(response.body.size(), 600);
  }
}

// NaN is JSON of protobuf, but no coordinate.
TEST_F(ConnectTest, NotANumberIsRefusedLikeOverGrpc) {
  Start();
  CreateScene();
  const RawResponse response = Client().Post(
      kEvaluate,
      R"({"frame":{"groups":[{"scene":"scenes/a","segments":{"ax":["NaN"],"ay":[0],"bx":[1],"by":[1]}}]}})");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("ITEM_FAULT_NOT_ACCEPTED"));
}

// A million zeros are 8 MB on the wire, more than a message may have.
TEST_F(ConnectTest, AMillionZerosAreOverTheLimit) {
  Start();
  CreateScene();
  std::string zeros = "0";
  for (int i = 1; i < 1000000; ++i) zeros += ",0";
  const RawResponse response = Client().Post(
      kEvaluate, absl::StrCat(R"({"frame":{"groups":[{"scene":"scenes/a","points":{"x":[)", zeros,
                              R"(],"y":[0]}}]}})"));
  EXPECT_EQ(response.status, 429) << response.body;
}

TEST_F(ConnectTest, ATimeoutEndsTheCall) {
  Start();
  CreateScene();
  // waits for a version that nobody makes, for 10 s of budget
  const RawResponse response = Client().Post(
      kEvaluate,
      R"({"frame":{"budgetUs":"10000000","groups":[{"scene":"scenes/a","minVersion":"99","points":{"x":[0],"y":[0]}}]}})",
      "Connect-Timeout-Ms: 50\r\n");
  EXPECT_EQ(response.status, 504) << response.body;
  EXPECT_THAT(response.body, HasSubstr("deadline_exceeded"));
}

TEST_F(ConnectTest, ExportsAndWatchesAreStreams) {
  Start();
  CreateScene();
  const std::string type = "Content-Type: application/connect+json\r\n";
  const std::string name = Envelope(0, R"({"name":"scenes/a"})");
  const RawResponse exported = Client().Request("POST", kExport, type, name);
  EXPECT_EQ(exported.status, 200);
  EXPECT_THAT(exported.body, AllOf(HasSubstr(R"("id":"7")"), ::testing::EndsWith("{}")));
  const RawResponse missing =
      Client().Request("POST", kExport, type, Envelope(0, R"({"name":"scenes/none"})"));
  EXPECT_EQ(missing.status, 200);  // an error of a stream is in its last message
  EXPECT_EQ(missing.body[0], kEndOfStream);
  EXPECT_THAT(missing.body, HasSubstr(R"({"error":{"code":"not_found")"));
  for (const std::string& body :
       {std::string(), name.substr(1), name + name, Envelope(1, R"({"name":"scenes/a"})")}) {
    EXPECT_THAT(Client().Request("POST", kExport, type, body).body, HasSubstr("invalid_argument"));
  }
  // A watch ends when its client disconnects: the server counts no watch any more.
  {
    RawClient watching = Client();
    watching.Send(absl::StrCat("POST ", kWatch, " HTTP/1.1\r\nHost: localhost\r\n", type,
                               "Content-Length: ", name.size(), "\r\n\r\n", name));
    EXPECT_FALSE(watching.IsClosedWithin(std::chrono::milliseconds(200)));
  }
  server_->Drain();  // returns at once if no call is left, else after drain_seconds
}

TEST_F(ConnectTest, ConnectionsServeOneRequestAfterTheOther) {
  Start();
  CreateScene();
  RawClient client = Client();
  const std::string body = R"({"name":"scenes/a"})";
  const std::string request = absl::StrCat(
      "POST ", kGet, " HTTP/1.1\r\nHost: localhost\r\n",
      "Content-Type: application/json\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  std::string pipelined;
  for (int i = 0; i < 50; ++i) pipelined += request;
  ASSERT_TRUE(client.Send(pipelined));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.Response().status, 200) << i;
  // chunks, and a client that asks before it sends
  ASSERT_TRUE(client.Send(absl::StrCat(
      "POST ", kGet, " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
      "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")));
  EXPECT_EQ(client.Response().status, 100);
  ASSERT_TRUE(
      client.Send(absl::StrCat("5\r\n", body.substr(0, 5), "\r\n", absl::Hex(body.size() - 5),
                               "\r\n", body.substr(5), "\r\n0\r\n\r\n")));
  EXPECT_EQ(client.Response().status, 200);
  ASSERT_TRUE(client.Send("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_NE(client.Response().status, 0);
  EXPECT_TRUE(client.IsClosedWithin(std::chrono::seconds(10)));
}

TEST_F(ConnectTest, CredentialsAreThoseOfGrpc) {
  const std::string file = ::testing::TempDir() + absl::StrCat("/credentials-", getpid());
  std::ofstream(file) << "token 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8 "
                         "acme writer\n";  // SHA-256 of `password`
  ServerOptions options;
  options.credentials = file;
  Start(options);
  RawClient client = Client();
  EXPECT_EQ(client.Post(kGet, R"({"name":"scenes/a"})").status, 401);
  EXPECT_EQ(client.Post(kGet, R"({"name":"scenes/a"})", "Authorization: Bearer wrong\r\n").status,
            401);
  EXPECT_EQ(
      client.Post(kGet, R"({"name":"scenes/a"})", "Authorization: Bearer \xFF\xFE\r\n").status,
      401);
  const std::string token = "Authorization: Bearer password\r\n";
  EXPECT_EQ(client.Post(kCreate, kScene, token).status, 200);
  EXPECT_EQ(
      client.Post("/carom.v1.SceneService/DeleteScene", R"({"name":"scenes/a"})", token).status,
      403);  // a writer may not delete
  // Metadata of forwarded calls has no effect from outside.
  EXPECT_EQ(client
                .Post(kGet, R"({"name":"scenes/a"})",
                      "Carom-Forwarded-Peer-Bin: x\r\nCarom-Forwarded-Name-Bin: admin\r\n")
                .status,
            401);
  std::filesystem::remove(file);
}

TEST_F(ConnectTest, PagesOfOtherOriginsAreRefused) {
  ServerOptions options;
  options.http_allowed_origins = "https://game.example, http://localhost:8080";
  Start(options);
  RawClient client = Client();
  const auto get = [&](const std::string& headers) {
    return client.Post(kGet, R"({"name":"scenes/none"})", headers);
  };
  EXPECT_EQ(get("Origin: https://evil.example\r\n").status, 403);
  EXPECT_EQ(get("Origin: null\r\n").status, 403);
  const RawResponse allowed = get("Origin: https://game.example\r\n");
  EXPECT_EQ(allowed.status, 404);
  EXPECT_EQ(allowed.header("access-control-allow-origin"), "https://game.example");
  EXPECT_EQ(get("Origin: http://localhost\r\n").status, 404);  // the page of this server
  const RawResponse preflight = client.Request("OPTIONS", kGet, "Origin: https://game.example\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.header("access-control-allow-methods"), "POST");
  EXPECT_EQ(client.Request("OPTIONS", kGet, "Origin: https://evil.example\r\n").status, 403);
  // DNS rebinding: a name of the attacker that leads here.
  RawClient other = Client();
  other.Send(absl::StrCat("POST ", kGet, " HTTP/1.1\r\nHost: evil.example\r\n",
                          "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"));
  EXPECT_EQ(other.Response().status, 403);
  EXPECT_TRUE(OriginPolicy::Check("https://a, *").ok());
  EXPECT_TRUE(Refuses(OriginPolicy::Check("game.example"), absl::StatusCode::kInvalidArgument,
                      "--http-allowed-origins"));
}

TEST_F(ConnectTest, ADrainAnswersWhatItHasAndClosesConnections) {
  ServerOptions options;
  options.drain_seconds = 5;
  Start(options);
  CreateScene();
  RawClient idle = Client();
  RawClient busy = Client();
  EXPECT_EQ(idle.Post(kGet, R"({"name":"scenes/a"})").status, 200);
  const std::string waits =
      R"({"frame":{"budgetUs":"2000000","groups":[{"scene":"scenes/a","minVersion":"99","points":{"x":[0],"y":[0]}}]}})";
  busy.Send(absl::StrCat("POST ", kEvaluate, " HTTP/1.1\r\nHost: localhost\r\n",
                         "Content-Type: application/json\r\nContent-Length: ", waits.size(),
                         "\r\n\r\n", waits));
  // The server has read the request before it has answered so many that came after it.
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Client().Post(kGet, R"({"name":"scenes/a"})").status, 200);
  }
  std::thread drain([this] { server_->Drain(); });
  EXPECT_EQ(busy.Response().status, 200);
  EXPECT_TRUE(idle.IsClosedWithin(std::chrono::seconds(10)));
  EXPECT_TRUE(busy.IsClosedWithin(std::chrono::seconds(10)));
  drain.join();
}

TEST(ConnectProtocolTest, CodesHaveTheStatusOfTheSpecification) {
  EXPECT_EQ(HttpStatusOf(grpc::StatusCode::CANCELLED), 499);
  EXPECT_EQ(HttpStatusOf(grpc::StatusCode::DEADLINE_EXCEEDED), 504);
  EXPECT_EQ(HttpStatusOf(grpc::StatusCode::RESOURCE_EXHAUSTED), 429);
  EXPECT_EQ(HttpStatusOf(grpc::StatusCode::UNAVAILABLE), 503);
  EXPECT_EQ(HttpStatusOf(static_cast<grpc::StatusCode>(77)), 500);
  EXPECT_EQ(ErrorJson({grpc::StatusCode::NOT_FOUND, "no \"scene\""}),
            R"({"code":"not_found","message":"no \"scene\""})");
  EXPECT_EQ(EndOfStream(grpc::Status::OK), std::string("\x02\0\0\0\x02{}", 7));
}

}  // namespace
}  // namespace carom::server
