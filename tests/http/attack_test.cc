// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The HTTP ports under attack: silent sockets, floods, endless bodies. What clients hold is
// bounded.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/raw_client.h"
#include "server/fixture.h"
#include "server/http/http_server.h"
#include "server/transport/listener.h"

namespace carom::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST(HttpAttackTest, SilentSocketsLeaveHealthFast) {
  ServerOptions options;
  options.address = "127.0.0.1:0";
  options.admin_address = "127.0.0.1:0";
  const auto server = Server::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string address = (*server)->admin_address();
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 1000; ++i) {
    silent.push_back(std::make_unique<RawClient>(address));
    ASSERT_TRUE(silent.back()->is_connected()) << i;
  }
  // The first one waits until all of them are accepted; of the others, the host may delay some.
  EXPECT_EQ(RawClient(address).Request("GET", "/healthz").status, 200);
  auto fastest = steady_clock::duration::max();
  for (int i = 0; i < 5; ++i) {
    const auto begin = steady_clock::now();
    RawClient client(address);
    EXPECT_EQ(client.Request("GET", "/healthz").status, 200);
    fastest = std::min(fastest, steady_clock::now() - begin);
  }
  EXPECT_LT(fastest, milliseconds(kIsSanitized ? 1000 : 100));
}

// A handler that answers every request with its body.
class Echo final : public HttpHandler {
 public:
  std::shared_ptr<HttpCall> Handle(HttpRequest request,
                                   std::shared_ptr<HttpResponder> responder) override {
    responder->Reply({.status = 200, .headers = {}, .body = std::move(request.body)});
    return nullptr;
  }
  bool AcceptsBody(const HttpRequest& request) const override { return request.method == "POST"; }
  std::optional<HttpResponse> RefuseUpgrade(const HttpRequest&) const override {
    return HttpResponse{.status = 400, .headers = {}, .body = ""};
  }
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(HttpOptions options) {
    auto listener = Listen("127.0.0.1:0");
    ASSERT_TRUE(listener.ok());
    auto server = HttpServer::Start(*std::move(listener), options, echo_, memory_);
    ASSERT_TRUE(server.ok());
    server_ = *std::move(server);
  }
  RawClient Client() const { return RawClient(server_->address()); }

  Echo echo_;
  MemoryAccount memory_{64 << 20};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, TimeLimitsEndSlowClients) {
  HttpOptions options;
  options.header_time = options.body_time = options.idle_time = milliseconds(300);
  Start(options);
  RawClient silent = Client();
  RawClient drip = Client();
  RawClient half = Client();
  RawClient idle = Client();
  half.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  EXPECT_EQ(idle.Request("POST", "/", "", "x").body, "x");
  for (const char c : std::string("GET / HT")) {
    if (!drip.Send(std::string(1, c))) break;
    std::this_thread::sleep_for(milliseconds(50));
  }
  for (RawClient* client : {&silent, &drip, &half, &idle}) {
    EXPECT_TRUE(client->IsClosedWithin(seconds(20)));
  }
  EXPECT_TRUE(Eventually([&] { return server_->usage().connections == 0; }));
}

TEST_F(HttpServerTest, WrongAndLargeRequestsAreRefused) {
  HttpOptions options;
  options.max_body_bytes = 1 << 20;
  Start(options);
  const auto status = [&](const std::string& bytes) {
    RawClient client = Client();
    client.Send(bytes);
    const int got = client.Response(seconds(20)).status;
    EXPECT_TRUE(client.IsClosedWithin(seconds(20)));
    return got;
  };
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);  // no Host
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status("nonsense\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"), 400);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), 400);
  EXPECT_EQ(
      status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
      400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20000, 'x') + "\r\n\r\n"), 431);
  std::string flood = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 5000; ++i) flood += absl::StrCat("X-", i, ": y\r\n");
  EXPECT_EQ(status(flood + "\r\n"), 431);
  EXPECT_EQ(status(absl::StrCat("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ", (1 << 20) + 1,
                                "\r\n\r\n")),
            413);
  // a body where none is expected
  EXPECT_EQ(
      status("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n" + std::string(9000, 'x')),
      413);
  // a body that never ends
  RawClient endless = Client();
  endless.Send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
  bool is_open = true;
  for (int i = 0; i < 1000 && is_open; ++i) is_open = endless.Send(chunk);
  EXPECT_TRUE(endless.IsClosedWithin(seconds(20)));
}

TEST_F(HttpServerTest, AFurtherConnectionReplacesTheOneThatIsIdleLongest) {
  HttpOptions options;
  options.max_connections = 3;
  Start(options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->address()));
    EXPECT_EQ(clients.back()->Request("GET", "/").status, 200);
  }
  RawClient further = Client();
  EXPECT_EQ(further.Request("GET", "/").status, 200);
  EXPECT_TRUE(clients[0]->IsClosedWithin(seconds(20)));
  EXPECT_EQ(clients[2]->Request("GET", "/").status, 200);
  EXPECT_EQ(server_->usage().evicted, 1);
}

// Many bodies at once take no more memory than the share of messages allows.
TEST_F(HttpServerTest, BodiesAreChargedBeforeTheyAreKept) {
  HttpOptions options;
  options.max_body_bytes = 4 << 20;
  Start(options);
  std::vector<std::unique_ptr<RawClient>> clients;
  const std::string part(1 << 20, 'x');
  for (int i = 0; i < 30; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->address()));
    clients.back()->Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4194304\r\n\r\n");
  }
  for (const auto& client : clients) client->Send(part);
  EXPECT_TRUE(Eventually([&] { return memory_.used(MemoryShare::kMessages) != 0; }));
  EXPECT_LE(memory_.used(MemoryShare::kMessages),
            memory_.limit(MemoryShare::kMessages) + (4 << 20));
  int refused = 0;
  for (const auto& client : clients) {
    refused += client->Response(milliseconds(100)).status == 429 ? 1 : 0;
  }
  EXPECT_GT(refused, 0);
  clients.clear();
  EXPECT_TRUE(Eventually([&] { return memory_.used(MemoryShare::kMessages) == 0; }));
}

}  // namespace
}  // namespace carom::server
