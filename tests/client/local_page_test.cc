// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom view`: a page and a scene, served to a browser of this machine.
#include "client/cli/local_page.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/raw_client.h"

namespace carom::cli {
namespace {

using server::RawClient;
using server::RawResponse;
using ::testing::HasSubstr;

constexpr PageFile kLocalFiles[] = {
    {"/", "text/html; charset=utf-8", "aa", "document"},
    {"/app.js", "text/javascript; charset=utf-8", "bb", "script"},
};

class LocalPageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto page = LocalPage::Listen(0, {.name = "a b&<.json", .bundle = "CAROM", .report = "{}"},
                                  kLocalFiles);
    ASSERT_TRUE(page.ok()) << page.status();
    page_ = std::make_unique<LocalPage>(*std::move(page));
    const std::string address = page_->address();
    ASSERT_THAT(address, ::testing::StartsWith("http://127.0.0.1:"));
    authority_ = address.substr(7, address.find('/', 7) - 7);
    thread_ = std::thread([this] { page_->Serve(); });
  }
  void TearDown() override {
    page_->Stop();
    thread_.join();
  }
  RawResponse Send(const std::string& request) {
    RawClient client(authority_);
    EXPECT_TRUE(client.Send(request));
    return client.Response();
  }
  RawResponse Get(const std::string& path, const std::string& host = "localhost:80") {
    return Send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  }

  std::unique_ptr<LocalPage> page_;
  std::string authority_;
  std::thread thread_;
};

TEST_F(LocalPageTest, ServesThePageAndTheScene) {
  EXPECT_THAT(page_->address(), ::testing::EndsWith("/?local=a%20b%26%3c.json"));
  const RawResponse document = Get("/?local=x");
  EXPECT_EQ(document.status, 200);
  EXPECT_EQ(document.body, "document");
  EXPECT_EQ(document.header("content-encoding"), "gzip");
  EXPECT_THAT(document.header("content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(Get("/app.js").body, "script");
  const RawResponse bundle = Get("/local/scene.carom", "127.0.0.1:1");
  EXPECT_EQ(bundle.body, "CAROM");
  EXPECT_EQ(bundle.header("content-type"), "application/octet-stream");
  EXPECT_EQ(Get("/local/scene.json").body, "{}");
}

TEST_F(LocalPageTest, RefusesOtherPagesAndMethods) {
  EXPECT_EQ(Get("/", "evil.example:80").status, 403);
  EXPECT_EQ(Get("/", "127.0.0.1.evil.example:80").status, 403);
  EXPECT_EQ(Get("/", "").status, 403);
  EXPECT_EQ(Get("/etc/passwd").status, 404);
  EXPECT_EQ(Get("/../app.js").status, 404);
  EXPECT_EQ(Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").status, 405);
  EXPECT_EQ(Send("no HTTP\r\n\r\n").status, 0);
  EXPECT_EQ(Get("/").status, 200);
}

// Browsers open connections ahead of their requests.
TEST_F(LocalPageTest, ConnectionsWithoutARequestDoNotBlockOthers) {
  std::vector<RawClient> idle;
  for (int i = 0; i < 32; ++i) idle.emplace_back(authority_);
  EXPECT_EQ(Get("/").status, 200);
}

TEST(LocalPage, NeedsAPageAndAFreePort) {
  const auto none = LocalPage::Listen(0, {}, {});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(none.status().message(), HasSubstr("./dev viewer"));
}

}  // namespace
}  // namespace carom::cli
