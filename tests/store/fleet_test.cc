// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Several servers over one etcd: what one commits, all have, and no failure loses or doubles it.
#include "server/store/etcd/fleet_store.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "absl/time/clock.h"
#include "tests/store/fleet_fixture.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

class FleetStoreTest : public FleetTest {};

// Every kind of change, by either of two servers, is at the other one with the same number, the
// same polygons and the same answers.
TEST_F(FleetStoreTest, WhatOneCommitsTheOtherHas) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  const auto made = a.client->CreateScene("scenes/a", std::vector<Polygon>{SquareAt(1, 2)});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(b.Sees("scenes/a", made->version));
  EXPECT_EQ(a.Answer("scenes/a"), b.Answer("scenes/a"));
  // Each writes on what the other has just written, of which it may not have heard.
  uint64_t last = made->version;
  for (uint64_t id = 2; id < 40; ++id) {
    const auto version = (id % 2 == 0 ? b : a).Add("scenes/a", id, last);
    ASSERT_TRUE(version.ok()) << version.status();
    ASSERT_GT(*version, last);
    last = *version;
  }
  EXPECT_EQ(a.Add("scenes/a", 100, made->version).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(b.Add("scenes/a", 3).status().code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(a.Sees("scenes/a", last));
  ASSERT_TRUE(b.Sees("scenes/a", last));
  EXPECT_EQ(a.Answer("scenes/a"), b.Answer("scenes/a"));
  EXPECT_EQ(a.Squares("scenes/a"), b.Squares("scenes/a"));
  EXPECT_EQ(a.Squares("scenes/a").size(), 39u);
}

// The same of a large import, of going back, and of a scene's end; and a server that comes later
// has all that there is.
TEST_F(FleetStoreTest, WholeScenesAndTheirHistory) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  ASSERT_TRUE(a.Add("scenes/a", 1).ok());
  const uint64_t last = a.Version("scenes/a");
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 20000; ++id) polygons.push_back(SquareAt(id, 2.0 * id, id % 50));
  polygons.push_back(Comb(1000000, 60000));
  const auto large = b.client->ImportScene("scenes/a", polygons, carom::ImportMode::kReplace);
  ASSERT_TRUE(large.ok()) << large.status();
  ASSERT_TRUE(a.Sees("scenes/a", large->version));
  EXPECT_EQ(a.Answer("scenes/a"), b.Answer("scenes/a"));
  EXPECT_EQ(a.Squares("scenes/a"), b.Squares("scenes/a"));
  const auto back = a.client->RollbackScene("scenes/a", last);
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_TRUE(b.Sees("scenes/a", back->version));
  EXPECT_EQ(a.Squares("scenes/a"), b.Squares("scenes/a", last));
  const auto of_a = a.client->ListSceneVersions("scenes/a");
  const auto of_b = b.client->ListSceneVersions("scenes/a");
  ASSERT_TRUE(of_a.ok() && of_b.ok());
  ASSERT_EQ(of_a->size(), 4u);
  for (size_t i = 0; i < of_a->size(); ++i) {
    EXPECT_EQ((*of_a)[i].scene.version, (*of_b)[i].scene.version);
    EXPECT_EQ((*of_a)[i].edit_id, (*of_b)[i].edit_id);
    EXPECT_EQ((*of_a)[i].created, (*of_b)[i].created);
  }
  // Another server that comes later, and one that comes back, have it all.
  {
    FleetReplica c(etcd_->Url());
    EXPECT_EQ(c.Answer("scenes/a"), a.Answer("scenes/a"));
    EXPECT_EQ(c.Squares("scenes/a", large->version), b.Squares("scenes/a", large->version));
    EXPECT_EQ(c.client->ListSceneVersions("scenes/a")->size(), 4u);
  }
  ASSERT_TRUE(b.client->DeleteScene("scenes/a", back->version).ok());
  EXPECT_TRUE(a.Sees("scenes/a", 0));
  EXPECT_EQ(a.Add("scenes/a", 1).status().code(), absl::StatusCode::kNotFound);
  const auto again = a.client->CreateScene("scenes/a", {});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GT(again->version, back->version);
  EXPECT_EQ(b.client->CreateScene("scenes/a", {}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(FleetReplica(etcd_->Url("/other")).Version("scenes/a"), 0u);
}

// A frame that needs a version waits for it, of a scene too that its server has never seen.
TEST_F(FleetStoreTest, AFrameWaitsForWhatAnotherServerHasMade) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  for (int i = 0; i < 50; ++i) {
    const std::string name = absl::StrCat("scenes/s", i);
    const auto made = a.client->CreateScene(name, std::vector<Polygon>{SquareAt(1, 0)});
    ASSERT_TRUE(made.ok()) << made.status();
    const auto answer = b.server->Ask(absl::StrCat("budget_us: 10000000 groups { scene: '", name,
                                                   "' min_version: ", made->version,
                                                   " points { x: 0.5 y: 0.5 } }"));
    ASSERT_FALSE(answer.groups(0).has_status()) << answer.groups(0).status().message();
    EXPECT_EQ(answer.groups(0).version(), made->version);
    EXPECT_EQ(answer.groups(0).points().polygon_id_size(), 1);
  }
  const uint64_t seen = a.Version("scenes/s49");
  const auto none = b.server->Ask(
      absl::StrCat("budget_us: 200000 groups { scene: 'scenes/none' min_version: ", seen, " }",
                   "groups { scene: 'scenes/none' min_version: ", seen + 1000000, " }"));
  EXPECT_EQ(none.groups(0).status().code(), grpc::NOT_FOUND);
  EXPECT_EQ(none.groups(1).status().code(), grpc::UNAVAILABLE);
}

// A watch at one server brings each version that the other one makes, once, in order.
TEST_F(FleetStoreTest, AWatchHearsOfOtherServersCommits) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  const auto made = a.client->CreateScene("scenes/a", {});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(b.Sees("scenes/a", made->version));
  Context context;
  v1::WatchSceneRequest request;
  request.set_name("scenes/a");
  request.set_from_version(made->version);
  request.set_polygons(true);
  const auto watch = b.server->scenes().WatchScene(&context, request);
  watch->WaitForInitialMetadata();
  std::vector<uint64_t> versions;
  for (uint64_t id = 0; id < 30; ++id) {
    const auto version = (id % 3 == 0 ? b : a).Add("scenes/a", id);
    ASSERT_TRUE(version.ok()) << version.status();
    versions.push_back(*version);
  }
  v1::WatchSceneResponse part;
  uint64_t base = made->version;
  for (uint64_t id = 0; id < 30; ++id) {
    ASSERT_TRUE(watch->Read(&part)) << id;
    EXPECT_EQ(part.base_version(), base);
    EXPECT_EQ(part.scene().version(), versions[id]);
    ASSERT_EQ(part.polygons_size(), 1);
    EXPECT_EQ(part.polygons(0).id(), id);
    base = part.scene().version();
  }
  context.TryCancel();
}

// One commit and when it was under way.
struct Made {
  absl::Time begin, end;
  uint64_t base = 0;
  uint64_t version = 0;
};

// Writers race through two servers. Versions are those of one order, which agrees with the time:
// each commit is made on the one before it, and none that began after another one was answered
// comes before it.
TEST_F(FleetStoreTest, RacingWritersAreLinearizable) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(3));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  const uint64_t first = a.Version("scenes/a");
  ASSERT_TRUE(b.Sees("scenes/a", first));
  std::mutex mutex;
  std::vector<Made> history;
  std::atomic<uint64_t> next_id{1};
  const int rounds = carom::testing::Repeats(40, 1000);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 6; ++writer) {
    writers.emplace_back([&, writer] {
      FleetReplica& replica = writer % 2 == 0 ? a : b;
      for (int round = 0; round < rounds; ++round) {
        // Half of them name their base, and lose if another one was faster.
        const uint64_t base = round % 2 == 0 ? replica.Version("scenes/a") : 0;
        Made made{.begin = absl::Now(), .end = {}, .base = base};
        const auto version = replica.Add("scenes/a", next_id++, base);
        made.end = absl::Now();
        if (version.ok()) {
          made.version = *version;
          const std::lock_guard lock(mutex);
          history.push_back(made);
        } else {
          EXPECT_EQ(version.status().code(), absl::StatusCode::kAborted) << version.status();
        }
        // Never back on one server.
        EXPECT_GE(replica.Version("scenes/a"), made.version);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::ranges::sort(history, {}, &Made::version);
  uint64_t before = first;
  absl::Time latest_begin = absl::InfinitePast();
  for (const Made& made : history) {
    ASSERT_GT(made.version, before);
    if (made.base != 0) {
      ASSERT_EQ(made.base, before);
    }
    before = made.version;
    // No later one had been answered before this one began: all before began before it ended.
    ASSERT_GE(made.end, latest_begin);
    latest_begin = std::max(latest_begin, made.begin);
  }
  ASSERT_TRUE(a.Sees("scenes/a", before));
  ASSERT_TRUE(b.Sees("scenes/a", before));
  EXPECT_EQ(a.Squares("scenes/a").size(), history.size());
  EXPECT_EQ(a.Answer("scenes/a"), b.Answer("scenes/a"));
}

// What is sent again by its id is made once, at whichever server.
TEST_F(FleetStoreTest, AnEditIsMadeOnceByAnyServer) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  for (int i = 0; i < 50; ++i) {
    const auto commit = [&](FleetReplica& replica) {
      Context context;
      v1::CommitEditsResponse response;
      const grpc::Status status = replica.server->scenes().CommitEdits(
          &context,
          FromText<v1::CommitEditsRequest>(
              absl::StrCat("name: 'scenes/a' edit_id: 'e", i, "' edits { add { ",
                           Square(static_cast<uint64_t>(i), 3 * i, 0), " } }")),
          &response);
      EXPECT_TRUE(status.ok()) << status.error_message();
      return response.scene().version();
    };
    const uint64_t version = commit(a);
    ASSERT_EQ(commit(b), version);
    ASSERT_EQ(commit(a), version);
  }
  EXPECT_EQ(a.client->ListSceneVersions("scenes/a")->size(), 51u);
}

// A server that etcd cannot be reached from answers from what it has, says that it takes no
// changes, refuses them, and has the rest soon after etcd is back.
TEST_F(FleetStoreTest, CutOffAndBack) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(ProxiedUrl());
  ASSERT_TRUE(a.client->CreateScene("scenes/a", std::vector<Polygon>{SquareAt(0, 0)}).ok());
  const uint64_t version = a.Version("scenes/a");
  ASSERT_TRUE(b.Sees("scenes/a", version));
  ASSERT_TRUE(b.TakesChanges());
  const std::string answer = b.Answer("scenes/a");
  Cut();
  EXPECT_TRUE(Eventually([&] { return !b.TakesChanges(); }));
  EXPECT_TRUE(b.IsReady());
  EXPECT_TRUE(b.IsServing(""));
  const absl::Time begin = absl::Now();
  const grpc::Status refused =
      b.server->Commit(absl::StrCat("name: 'scenes/a' edits { add { ", Square(1000, 0, 0), " } }"));
  EXPECT_EQ(refused.error_code(), grpc::UNAVAILABLE) << refused.error_message();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(8));  // attempts would take 10 s
  for (uint64_t id = 1; id < 20; ++id) ASSERT_TRUE(a.Add("scenes/a", id).ok());
  ASSERT_TRUE(a.client->CreateScene("scenes/b", {}).ok());
  EXPECT_EQ(b.Answer("scenes/a"), answer);
  EXPECT_EQ(b.Version("scenes/a"), version);
  EXPECT_GT(b.Staleness(), 1000000u);
  Mend();
  EXPECT_TRUE(b.Sees("scenes/a", a.Version("scenes/a")));
  EXPECT_TRUE(b.Sees("scenes/b", a.Version("scenes/b")));
  EXPECT_TRUE(Eventually([&] { return b.TakesChanges(); }));
  EXPECT_EQ(b.Squares("scenes/a"), a.Squares("scenes/a"));
  EXPECT_TRUE(b.Add("scenes/a", 1000).ok());
  EXPECT_TRUE(Eventually([&] { return b.Staleness() < 1500000; }));
}

// What came while a server was cut off is compacted away: it reads all there is.
TEST_F(FleetStoreTest, CompactionWhileAServerIsCutOff) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url()), b(ProxiedUrl());
  for (const char* name : {"scenes/a", "scenes/b", "scenes/c"}) {
    ASSERT_TRUE(a.client->CreateScene(name, std::vector<Polygon>{SquareAt(0, 0)}).ok());
    ASSERT_TRUE(b.Sees(name, a.Version(name)));
  }
  Cut();
  for (uint64_t id = 1; id < 20; ++id) ASSERT_TRUE(a.Add("scenes/a", id).ok());
  ASSERT_TRUE(a.client->DeleteScene("scenes/b").ok());
  ASSERT_TRUE(a.client->CreateScene("scenes/d", {}).ok());
  ASSERT_TRUE(etcd_->Compact());
  EXPECT_TRUE(Eventually([&] { return !b.TakesChanges(); }));
  Mend();
  EXPECT_TRUE(b.Sees("scenes/d", a.Version("scenes/d")));
  EXPECT_TRUE(b.Sees("scenes/a", a.Version("scenes/a")));
  EXPECT_TRUE(b.Sees("scenes/b", 0));
  EXPECT_EQ(b.Squares("scenes/a"), a.Squares("scenes/a"));
  EXPECT_EQ(b.Answer("scenes/a"), a.Answer("scenes/a"));
  EXPECT_EQ(b.client->ListSceneVersions("scenes/a")->size(), 20u);
  EXPECT_TRUE(Eventually([&] { return b.TakesChanges(); }));
  ASSERT_TRUE(b.Add("scenes/c", 7).ok());
  EXPECT_TRUE(a.Sees("scenes/c", b.Version("scenes/c")));
}

// --store-bytes refuses changes, and nothing is lost; deletions go on.
TEST_F(FleetStoreTest, AStoreThatIsFull) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url(), [](ServerOptions& options) { options.store_bytes = 8u << 20; });
  ASSERT_TRUE(a.client->CreateScene("scenes/a", {}).ok());
  absl::Status full;
  uint64_t made = 0;
  for (uint64_t id = 0; full.ok() && id < 2000; ++id) {
    const std::vector<SceneEdit> edits{AddPolygon{SquareAt(id, 2.0 * id, 4000)}};
    full = a.client->CommitEdits("scenes/a", 0, edits).status();
    if (full.ok()) ++made;
  }
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_EQ(a.Squares("scenes/a").size(), made);
  EXPECT_TRUE(a.TakesChanges());
  EXPECT_TRUE(a.client->DeleteScene("scenes/a").ok());
}

// A commit of one polygon writes the pages from its leaf to the root, and little else.
TEST_F(FleetStoreTest, ASmallCommitWritesLittle) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(1));
  FleetReplica a(etcd_->Url());
  const auto count = static_cast<uint64_t>(carom::testing::Repeats(30000, 1000000));
  std::vector<Polygon> polygons;
  polygons.reserve(count);
  for (uint64_t id = 0; id < count; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  const absl::Time begin = absl::Now();
  const auto imported = a.client->ImportScene("scenes/a", polygons, carom::ImportMode::kCreate,
                                              {.timeout = kTimeout});
  ASSERT_TRUE(imported.ok()) << imported.status();
  const absl::Time end = absl::Now();
  const auto version = a.Add("scenes/a", 2000000);
  ASSERT_TRUE(version.ok()) << version.status();
  auto client = EtcdClient::Create({.url = *ParseEtcdUrl(etcd_->Url()),
                                    .password_file = "",
                                    .ca = "",
                                    .certificate = "",
                                    .key = ""});
  ASSERT_TRUE(client.ok()) << client.status();
  Context context;
  etcd::WatchCreateRequest create;
  create.set_key("/carom/");
  create.set_range_end("/carom0");
  create.set_start_revision(static_cast<int64_t>(*version));
  const auto watch = (*client)->Watch(context, create);
  ASSERT_NE(watch, nullptr);
  etcd::WatchResponse response;
  while (response.events_size() == 0) ASSERT_TRUE(watch->Read(&response));
  size_t bytes = 0, keys = 0;
  for (const etcd::Event& event : response.events()) {
    if (event.kv().mod_revision() != static_cast<int64_t>(*version)) continue;
    bytes += event.kv().key().size() + event.kv().value().size();
    ++keys;
  }
  context.TryCancel();
  std::printf("%llu polygons imported in %.1f s; a commit of one wrote %zu keys, %zu bytes\n",
              static_cast<unsigned long long>(count), absl::ToDoubleSeconds(end - begin), keys,
              bytes);
  EXPECT_GT(bytes, 0u);
  EXPECT_LE(bytes, 65536u);
}

// From a commit's answer to its visibility at another server, at 100 commits a second.
TEST_F(FleetStoreTest, HowSoonTheOtherServerHasIt) {
  ASSERT_NO_FATAL_FAILURE(StartEtcd(3));
  FleetReplica a(etcd_->Url()), b(etcd_->Url());
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 10000; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(a.client->ImportScene("scenes/a", polygons, carom::ImportMode::kCreate).ok());
  ASSERT_TRUE(b.Sees("scenes/a", a.Version("scenes/a")));
  std::vector<double> milliseconds, commits;
  absl::Time next = absl::Now();
  for (uint64_t i = 0; i < static_cast<uint64_t>(carom::testing::Repeats(200, 3000)); ++i) {
    absl::SleepFor(next - absl::Now());
    next = std::max(next + absl::Milliseconds(10), absl::Now());
    const absl::Time begin = absl::Now();
    const std::vector<SceneEdit> edits{
        ReplacePolygon{SquareAt(i % 10000, 2.0 * (i % 10000), i % 7)}};
    const auto made = a.client->CommitEdits("scenes/a", 0, edits);
    ASSERT_TRUE(made.ok()) << made.status();
    const absl::Time acknowledged = absl::Now();
    const auto answer = b.server->Ask(absl::StrCat(
        "budget_us: 10000000 groups { scene: 'scenes/a' min_version: ", made->version, " }"));
    ASSERT_FALSE(answer.groups(0).has_status());
    milliseconds.push_back(absl::ToDoubleMilliseconds(absl::Now() - acknowledged));
    commits.push_back(absl::ToDoubleMilliseconds(acknowledged - begin));
  }
  for (std::vector<double>* times : {&milliseconds, &commits}) {
    std::ranges::sort(*times);
    std::printf("%s: p50 %.2f ms, p99 %.2f ms\n",
                times == &commits ? "commit" : "visible at the other server after that",
                (*times)[times->size() / 2], (*times)[times->size() * 99 / 100]);
  }
  EXPECT_LT(milliseconds[milliseconds.size() / 2], 1000);
}

}  // namespace
}  // namespace carom::server
