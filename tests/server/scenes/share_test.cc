// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Shares of tenants: each is met, names itself, and takes nothing from anybody else.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "carom/status.h"
#include "server/access/tenant.h"
#include "support/certificates.h"
#include "support/tokens.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using carom::testing::ReplaceFile;
using carom::testing::TokenLine;

// RESOURCE_EXHAUSTED that names the share and says when to try again.
void ExpectUsedUp(const absl::Status& status, const std::string& share) {
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("`" + share + "`"));
  EXPECT_GT(RetryDelay(status), 0u);
}

TEST(TenantSharesTest, WorkIsABucketThatASecondFills) {
  Tenant tenant;
  tenant.SetShares({.work = 1000});
  const Clock::time_point start = Clock::now() + std::chrono::seconds(10);
  ASSERT_TRUE(tenant.CheckWork(start).ok());
  tenant.TakeWork(1000 + 500, start);
  ExpectUsedUp(tenant.CheckWork(start), "work");
  EXPECT_NEAR(static_cast<double>(RetryDelay(tenant.CheckWork(start))), 501000, 2000);
  EXPECT_FALSE(tenant.CheckWork(start + std::chrono::milliseconds(499)).ok());
  EXPECT_TRUE(tenant.CheckWork(start + std::chrono::milliseconds(502)).ok());
  // It has a second's share and no more.
  const Clock::time_point later = start + std::chrono::hours(1);
  ASSERT_TRUE(tenant.CheckWork(later).ok());
  tenant.TakeWork(1000, later);
  EXPECT_FALSE(tenant.CheckWork(later).ok());
  // A reload with another limit is no gift.
  tenant.SetShares({.work = 2000});
  EXPECT_FALSE(tenant.CheckWork(later).ok());
  tenant.SetShares({});
  EXPECT_TRUE(tenant.CheckWork(later).ok());
}

TEST(TenantSharesTest, WhatIsTakenGoesBackUnlessItIsKept) {
  const auto tenant = std::make_shared<Tenant>();
  tenant->SetShares({.scenes = 1, .bytes = 100});
  ASSERT_TRUE(tenant->Take(1, 100).ok());
  {
    TenantCharge share(tenant, 1, 100);
    ExpectUsedUp(tenant->Take(1, 0), "scenes");
    ExpectUsedUp(tenant->Take(0, 1), "bytes");
  }
  ASSERT_TRUE(tenant->Take(1, 60).ok());
  TenantCharge share(tenant, 1, 60);
  share.Keep(20);
  EXPECT_TRUE(tenant->Take(0, 60).ok());
  ExpectUsedUp(tenant->Take(0, 1), "bytes");
}

class SharesTest : public ::testing::Test {
 protected:
  void Start(const std::string& lines) {
    Write(lines);
    ServerOptions options;
    options.credentials = folder_ / "credentials";
    server_.emplace(options);
  }
  void Write(const std::string& lines) {
    ReplaceFile(folder_ / "credentials",
                TokenLine("acme", "acme", "admin") + TokenLine("other", "other", "admin") + lines);
  }
  struct As : Context {
    explicit As(const std::string& token) { AddMetadata("authorization", "Bearer " + token); }
  };
  absl::Status Create(const std::string& tenant, const std::string& scene, int polygons = 1) {
    As context(tenant);
    v1::CreateSceneRequest request;
    request.set_name("scenes/" + scene);
    for (int i = 0; i < polygons; ++i) {
      *request.add_polygons() = FromText<v1::Polygon>(Square(1 + i, 4 * i, 0));
    }
    v1::CreateSceneResponse response;
    return ToStatus(server_->scenes().CreateScene(&context, request, &response));
  }
  absl::Status Delete(const std::string& tenant, const std::string& scene) {
    As context(tenant);
    v1::DeleteSceneRequest request;
    request.set_name("scenes/" + scene);
    v1::DeleteSceneResponse response;
    return ToStatus(server_->scenes().DeleteScene(&context, request, &response));
  }
  absl::Status Edit(const std::string& tenant, const std::string& edits) {
    As context(tenant);
    v1::CommitEditsResponse response;
    return ToStatus(server_->scenes().CommitEdits(
        &context, FromText<v1::CommitEditsRequest>("name: 'scenes/a' " + edits), &response));
  }
  absl::Status Evaluate(const std::string& tenant, const v1::Group& group) {
    As context(tenant);
    v1::EvaluateRequest request;
    *request.mutable_frame()->add_groups() = group;
    v1::EvaluateResponse response;
    return ToStatus(server_->queries().Evaluate(&context, request, &response));
  }
  static v1::Group Points(int count) {
    v1::Group group;
    group.set_scene("scenes/a");
    for (int i = 0; i < count; ++i) {
      group.mutable_points()->add_x(i % 7);
      group.mutable_points()->add_y(0);
    }
    return group;
  }

  TemporaryFolder folder_;
  std::optional<TestServer> server_;
};

TEST_F(SharesTest, ScenesAreCountedAndCanBeGivenBack) {
  Start("tenant acme scenes=2\n");
  EXPECT_TRUE(Create("acme", "a").ok());
  EXPECT_TRUE(Create("acme", "b").ok());
  ExpectUsedUp(Create("acme", "c"), "scenes");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Create("other", absl::StrCat("s", i)).ok());
  // Refused for another reason, it takes no place.
  EXPECT_EQ(Create("acme", "a").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(Delete("acme", "b").ok());
  EXPECT_TRUE(Create("acme", "c").ok());
  // A larger share counts without a restart.
  Write("tenant acme scenes=3\n");
  EXPECT_TRUE(Eventually([&] { return Create("acme", "d").ok(); }));
  ExpectUsedUp(Create("acme", "e"), "scenes");
}

TEST_F(SharesTest, BytesAreThoseOfTheCurrentVersions) {
  Start("tenant acme bytes=5000\n");
  EXPECT_TRUE(Create("acme", "a", 8).ok());
  ExpectUsedUp(Create("acme", "b", 8), "bytes");
  ExpectUsedUp(
      Edit("acme", absl::StrCat("edits { add { ", Square(100, 0, 0), " } } edits { add { ",
                                Square(101, 0, 0), " } } edits { add { ", Square(102, 0, 0),
                                " } } edits { add { ", Square(103, 0, 0), " } }")),
      "bytes");
  EXPECT_TRUE(Create("other", "b", 100).ok());
  // What takes no more is no more.
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(Edit("acme", absl::StrCat("edits { replace { ", Square(1, i, 0), " } }")).ok());
  }
  EXPECT_TRUE(Edit("acme", "edits { remove: 1 } edits { remove: 2 } edits { remove: 3 }").ok());
  EXPECT_TRUE(Create("acme", "b", 2).ok());
  EXPECT_TRUE(Delete("acme", "a").ok());
  EXPECT_TRUE(Create("acme", "c", 8).ok());
}

TEST_F(SharesTest, StreamsAreCounted) {
  Start("tenant acme streams=1\n");
  ASSERT_TRUE(Create("acme", "a").ok() && Create("other", "a").ok());
  {
    As context("acme");
    const auto stream = server_->queries().Stream(&context);
    v1::StreamResponse answer;
    ASSERT_TRUE(stream->Write(FromText<v1::StreamRequest>("frame { seq: 1 }")));
    ASSERT_TRUE(stream->Read(&answer));
    ExpectUsedUp(Evaluate("acme", Points(1)), "streams");
    EXPECT_TRUE(Evaluate("other", Points(1)).ok());
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
  }
  EXPECT_TRUE(Eventually([&] { return Evaluate("acme", Points(1)).ok(); }));
}

// One tenant asks with all that it may, from several connections; each call of the other is
// answered.
TEST_F(SharesTest, AFloodOfOneTenantIsRefusedAndTheOtherServed) {
  Start("tenant acme work=1000\n");
  ASSERT_TRUE(Create("acme", "a", 100).ok() && Create("other", "a", 100).ok());
  std::atomic<bool> stop{false};
  std::atomic<int> refused{0};
  std::vector<std::thread> flood;
  flood.reserve(4);
  for (int i = 0; i < 4; ++i) {
    flood.emplace_back([&] {
      while (!stop) {
        const absl::Status status = Evaluate("acme", Points(2000));
        if (status.ok()) continue;
        ExpectUsedUp(status, "work");
        ++refused;
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return refused > 10; }));
  int served = 0;
  for (int i = 0; i < 200; ++i) served += Evaluate("other", Points(100)).ok() ? 1 : 0;
  stop = true;
  for (std::thread& thread : flood) thread.join();
  EXPECT_EQ(served, 200);
}

// On a stream each frame is refused alone.
TEST_F(SharesTest, AFrameWithoutWorkLeavesItsStream) {
  Start("tenant acme work=10\n");
  ASSERT_TRUE(Create("acme", "a").ok());
  As context("acme");
  const auto stream = server_->queries().Stream(&context);
  v1::StreamRequest request;
  v1::StreamResponse response;
  *request.mutable_frame()->add_groups() = Points(10000);
  for (int i = 1; i <= 2; ++i) {
    request.mutable_frame()->set_seq(i);
    ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
    EXPECT_EQ(response.answer().seq(), i);
    EXPECT_EQ(response.answer().status().code(), i == 1 ? 0 : grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace carom::server
