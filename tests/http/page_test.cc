// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The page of the viewer over HTTP: its files, headers, and what is refused.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/raw_client.h"
#include "server/fixture.h"
#include "server/http/page_response.h"

namespace carom::server {
namespace {

using ::testing::HasSubstr;

constexpr PageFile kFiles[] = {
    {"/", "text/html; charset=utf-8", "aa", "document"},
    {"/app.js", "text/javascript; charset=utf-8", "bb", "script"},
};

HttpRequest Get(std::string path, HttpHeaders headers = {}) {
  HttpRequest request;
  request.method = "GET";
  request.path = std::move(path);
  request.headers = std::move(headers);
  return request;
}

TEST(PageResponse, FilesHaveTypeTagAndPolicy) {
  const auto response = PageResponse(Get("/app.js"), kFiles);
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 200u);
  EXPECT_EQ(response->constant_body, "script");
  EXPECT_TRUE(response->body.empty());
  EXPECT_EQ(FindHeader(response->headers, "content-type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(FindHeader(response->headers, "content-encoding"), "gzip");
  EXPECT_EQ(FindHeader(response->headers, "etag"), "\"bb\"");
  EXPECT_EQ(FindHeader(response->headers, "x-content-type-options"), "nosniff");
  const std::string policy(FindHeader(response->headers, "content-security-policy"));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, ::testing::Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(policy, ::testing::Not(HasSubstr("'unsafe-eval'")));
}

TEST(PageResponse, FileThatTheClientHasIsNotSentAgain) {
  const auto same = PageResponse(Get("/", {{"If-None-Match", "W/\"x\", \"aa\""}}), kFiles);
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->status, 304u);
  EXPECT_TRUE(same->constant_body.empty());
  const auto other = PageResponse(Get("/", {{"If-None-Match", "\"bb\""}}), kFiles);
  EXPECT_EQ(other->status, 200u);
}

TEST(PageResponse, ClientMustAcceptGzip) {
  EXPECT_EQ(PageResponse(Get("/"), kFiles)->status, 200u);
  for (const char* accepted :
       {"gzip", "br, GZIP;q=0.5", "*", "identity;q=0, *;q=0.1", "*;q=0, gzip"}) {
    EXPECT_EQ(PageResponse(Get("/", {{"Accept-Encoding", accepted}}), kFiles)->status, 200u)
        << accepted;
  }
  for (const char* accepted :
       {"", "identity", "br", "gzip;q=0", "gzip; q=0.0", "*, gzip;q=0", "*;q=0", ",;, "}) {
    EXPECT_EQ(PageResponse(Get("/", {{"Accept-Encoding", accepted}}), kFiles)->status, 406u)
        << accepted;
  }
}

TEST(PageResponse, OtherPathsAndMethodsAreNotThePage) {
  EXPECT_FALSE(PageResponse(Get("/app.j"), kFiles).has_value());
  EXPECT_FALSE(PageResponse(Get("/../app.js"), kFiles).has_value());
  HttpRequest post = Get("/");
  post.method = "POST";
  EXPECT_FALSE(PageResponse(post, kFiles).has_value());
  const auto none = PageResponse(Get("/"), {});
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->status, 404u);
  EXPECT_THAT(none->body, HasSubstr("./dev viewer"));
}

// A server of this build, with or without a page.
class PageServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.address = "127.0.0.1:0";
    options.http_address = "127.0.0.1:0";
    options.threads = 1;
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<Server> server_;
};

TEST_F(PageServerTest, ConnectionGoesOnAfterEachFile) {
  RawClient client(server_->http_address());
  if (PageFiles().empty()) {
    const RawResponse response = client.Request("GET", "/");
    EXPECT_EQ(response.status, 404);
    EXPECT_THAT(response.body, HasSubstr("./dev viewer"));
  }
  for (const PageFile& file : PageFiles()) {
    const RawResponse response = client.Request("GET", std::string(file.path));
    EXPECT_EQ(response.status, 200) << file.path;
    EXPECT_EQ(response.body, file.gzip) << file.path;
  }
  const RawResponse head = client.Request("GET", "/carom.v1.SceneService/GetScene");
  EXPECT_EQ(head.status, 405);
}

TEST_F(PageServerTest, PageOfAnotherHostIsRefused) {
  RawClient client(server_->http_address());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
  EXPECT_EQ(client.Response().status, 403);
}

}  // namespace
}  // namespace carom::server
