// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// WatchScene: every version, in order, each once, as long as the client reads.
#include <thread>

#include "tests/server/watcher.h"
#include "tests/support/random.h"

namespace carom::server {
namespace {

using carom::testing::SplitMix64;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kAdded = v1::POLYGON_CHANGE_ADDED;
constexpr auto kReplaced = v1::POLYGON_CHANGE_REPLACED;
constexpr auto kRemoved = v1::POLYGON_CHANGE_REMOVED;

class WatchTest : public ::testing::Test {
 protected:
  void Restart(ServerOptions options) { server_ = std::make_unique<TestServer>(options); }

  std::unique_ptr<Watcher> Watch(const std::string& more = "") {
    return std::make_unique<Watcher>(server_->scenes(), "name: 'scenes/a' " + more);
  }
  // A watch whose client's side keeps 64 KiB of what nobody reads. With probes of the bandwidth
  // gRPC may take 16 MiB.
  std::unique_ptr<Watcher> WatchWithSmallWindow(const std::string& more) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    const auto scenes = v1::SceneService::NewStub(grpc::CreateCustomChannel(
        server_->server().address(), grpc::InsecureChannelCredentials(), arguments));
    return std::make_unique<Watcher>(*scenes, "name: 'scenes/a' " + more);
  }
  uint64_t Commit(const std::string& edits) {
    v1::CommitEditsResponse response;
    const grpc::Status status = server_->Commit("name: 'scenes/a' " + edits, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.scene().version();
  }
  uint64_t Replace(int count, uint64_t first, double half = 1) {
    v1::Scene scene;
    const grpc::Status status =
        Import(server_->scenes(), {ManySquares("scenes/a", count, first, half)}, &scene);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return scene.version();
  }
  void Delete() {
    Context context;
    v1::DeleteSceneRequest request;
    request.set_name("scenes/a");
    v1::DeleteSceneResponse response;
    EXPECT_TRUE(server_->scenes().DeleteScene(&context, request, &response).ok());
  }

  std::unique_ptr<TestServer> server_ = std::make_unique<TestServer>();
};

TEST_F(WatchTest, BeginsWithTheCurrentVersion) {
  const uint64_t version = server_->Create("a", {Square(1, 0, 0), Square(2, 5, 5)});
  const WatchedVersion summary = Watch()->Next();
  EXPECT_EQ(summary.version(), version);
  EXPECT_EQ(summary.base(), 0u);
  EXPECT_EQ(summary.head.scene().vertex_count(), 8u);
  EXPECT_GT(summary.head.created_us(), 1600000000000000);
  EXPECT_THAT(summary.ids, IsEmpty());
  EXPECT_THAT(summary.polygons, IsEmpty());
  const WatchedVersion whole = Watch("polygons: true")->Next();
  EXPECT_THAT(whole.ids, IsEmpty());
  ASSERT_EQ(whole.polygons.size(), 2u);
  EXPECT_EQ(whole.polygons[1].id(), 2u);
}

TEST_F(WatchTest, SendsWhatEachCommitChanged) {
  const uint64_t first = server_->Create("a", {Square(1, 0, 0), Square(2, 5, 5)});
  const auto watch = Watch("polygons: true");
  ASSERT_EQ(watch->Next().version(), first);
  const uint64_t second =
      Commit(absl::StrCat("edit_id: 'e' edits { remove: 2 } edits { add {", Square(7, 9, 9),
                          "} } edits { replace {", Square(1, 1, 0), "} }"));
  const WatchedVersion version = watch->Next();
  EXPECT_EQ(version.version(), second);
  EXPECT_EQ(version.base(), first);
  EXPECT_EQ(version.head.edit_id(), "e");
  EXPECT_THAT(version.ids, ElementsAre(1, 2, 7));
  EXPECT_THAT(version.changes, ElementsAre(kReplaced, kRemoved, kAdded));
  // The box of a polygon that moved holds both of its places.
  EXPECT_EQ(version.boxes[0].min.x, -1);
  EXPECT_EQ(version.boxes[0].max.x, 2);
  EXPECT_EQ(version.boxes[1].max.y, 6);
  ASSERT_EQ(version.polygons.size(), 2u);
  EXPECT_EQ(version.polygons[0].bounds().min.x, 0);
  EXPECT_EQ(version.polygons[1].id(), 7u);
}

TEST_F(WatchTest, EqualPolygonsHaveNotChanged) {
  server_->Create("a", {Square(1, 0, 0)});
  const auto watch = Watch();
  watch->Next();
  Commit(absl::StrCat("edits { replace {", Square(1, 0, 0), "} }"));
  EXPECT_THAT(watch->Next().ids, IsEmpty());
  Commit("");
  EXPECT_THAT(watch->Next().ids, IsEmpty());
  Replace(3, 5);
  EXPECT_THAT(watch->Next().changes, ElementsAre(kRemoved, kAdded, kAdded, kAdded));
  const uint64_t last = Replace(3, 5);
  const WatchedVersion equal = watch->Next();
  EXPECT_EQ(equal.version(), last);
  EXPECT_THAT(equal.ids, IsEmpty());
}

TEST_F(WatchTest, GoesOnAfterAVersion) {
  const uint64_t first = server_->Create("a", {});
  std::vector<uint64_t> versions;
  for (int i = 0; i < 20; ++i) {
    versions.push_back(Commit(absl::StrCat("edits { add {", Square(i, i, 0), "} }")));
  }
  const auto watch = Watch(absl::StrCat("from_version: ", first));
  uint64_t base = first;
  for (const uint64_t version : versions) {
    const WatchedVersion next = watch->Next();
    EXPECT_EQ(next.version(), version);
    EXPECT_EQ(next.base(), std::exchange(base, version));
  }
  // The current version: it waits for the next one, and the client knows that it does.
  const auto waits = Watch(absl::StrCat("from_version: ", base));
  waits->AwaitBegin();
  const uint64_t last = Commit("");
  EXPECT_EQ(waits->Next().version(), last);
  EXPECT_EQ(watch->Next().version(), last);
}

TEST_F(WatchTest, OutOfRangeWhereHistoryDoesNotReach) {
  const uint64_t first = server_->Create("a", {});
  for (const uint64_t from : {first + 1, uint64_t{1} << 63}) {
    EXPECT_TRUE(Refuses(Watch(absl::StrCat("from_version: ", from))->Finish(),
                        absl::StatusCode::kOutOfRange, "from_version"));
  }
  // Without a store that lasts, a large change is not kept for those who come later.
  const uint64_t second = Replace(2000, 0);
  EXPECT_TRUE(Refuses(Watch(absl::StrCat("from_version: ", first))->Finish(),
                      absl::StatusCode::kOutOfRange, "from_version"));
  const uint64_t third = Commit("edits { remove: 7 }");
  EXPECT_EQ(Watch(absl::StrCat("from_version: ", second))->Next().version(), third);
}

TEST_F(WatchTest, RefusesWhatIsNoScene) {
  EXPECT_TRUE(Refuses(Watch()->Finish(), absl::StatusCode::kNotFound, "name"));
  Watcher bad(server_->scenes(), "name: 'a'");
  EXPECT_TRUE(Refuses(bad.Finish(), absl::StatusCode::kInvalidArgument, "name"));
}

TEST_F(WatchTest, EndsWithItsScene) {
  server_->Create("a", {});
  const auto watch = Watch();
  const uint64_t version = watch->Next().version();
  Delete();
  const grpc::Status status = watch->Finish();
  EXPECT_TRUE(Refuses(status, absl::StatusCode::kNotFound, "name"));
  EXPECT_THAT(status.error_message(), HasSubstr("deleted"));
  // One made again under the name is another one.
  server_->Create("a", {});
  EXPECT_TRUE(Refuses(Watch(absl::StrCat("from_version: ", version))->Finish(),
                      absl::StatusCode::kOutOfRange, "from_version"));
}

TEST_F(WatchTest, LargeVersionsComeInParts) {
  Replace(20000, 1000000);
  const auto with = Watch("polygons: true");
  const auto without = Watch();
  const WatchedVersion whole = with->Next();
  EXPECT_EQ(whole.polygons.size(), 20000u);
  EXPECT_GT(whole.parts, 20u);
  without->Next();
  Replace(20000, 0);
  for (const auto& watch : {with.get(), without.get()}) {
    const WatchedVersion version = watch->Next();
    ASSERT_EQ(version.ids.size(), 40000u);
    EXPECT_TRUE(std::is_sorted(version.ids.begin(), version.ids.end()));
    EXPECT_EQ(version.changes.front(), kAdded);
    EXPECT_EQ(version.changes.back(), kRemoved);
    EXPECT_GT(version.parts, 10u);
    EXPECT_LT(version.largest_part, 80u << 10);
    EXPECT_EQ(version.polygons.size(), watch == with.get() ? 20000u : 0u);
  }
}

// Whatever is committed, a copy that a watch keeps up to date is the scene.
TEST_F(WatchTest, ReplicasFollow) {
  Replace(30, 0);
  const auto watch = Watch("polygons: true");
  Replica replica;
  replica.Apply(watch->Next());
  SplitMix64 random(28);
  std::map<uint64_t, double> half;
  for (uint64_t i = 0; i < 30; ++i) half[i] = 1;
  for (int round = 0; round < 100; ++round) {
    if (random.Next() % 10 == 0) {
      const int count = static_cast<int>(random.Next() % 3000);
      const double size = 1 + static_cast<double>(random.Next() % 3);
      Replace(count, 0, size);
      half.clear();
      for (int i = 0; i < count; ++i) half[static_cast<uint64_t>(i)] = size;
    } else {
      const uint64_t id = random.Next() % 40;
      const double size = 1 + static_cast<double>(random.Next() % 3);
      const bool is_there = half.contains(id);
      const std::string polygon = Square(id, 3.0 * static_cast<double>(id), 0, size);
      if (is_there && random.Next() % 3 == 0) {
        Commit(absl::StrCat("edits { remove: ", id, "}"));
        half.erase(id);
      } else {
        Commit(absl::StrCat("edits { ", is_there ? "replace" : "add", " {", polygon, "} }"));
        half[id] = size;
      }
    }
    replica.Apply(watch->Next());
    ASSERT_EQ(replica.polygons().size(), half.size());
    for (const auto& [id, polygon] : replica.polygons()) {
      ASSERT_EQ(polygon.bounds().max.y, half.at(id)) << id << " in round " << round;
    }
  }
}

TEST_F(WatchTest, ManyWatchersOfAFastWriter) {
  server_->Create("a", {Square(1, 0, 0)});
  std::vector<std::unique_ptr<Watcher>> watches;
  for (int i = 0; i < 40; ++i) {
    watches.push_back(Watch());
    watches.back()->Next();
  }
  std::vector<uint64_t> versions;
  std::thread writer([&] {
    for (int i = 0; i < 300; ++i) {
      versions.push_back(Commit(absl::StrCat("edits { replace {", Square(1, i, 0), "} }")));
    }
  });
  std::vector<std::vector<uint64_t>> seen(watches.size());
  std::vector<std::thread> readers;
  for (size_t i = 0; i < watches.size(); ++i) {
    readers.emplace_back([&, i] {
      for (int k = 0; k < 300; ++k) seen[i].push_back(watches[i]->Next().version());
    });
  }
  writer.join();
  for (std::thread& reader : readers) reader.join();
  for (const std::vector<uint64_t>& of_one : seen) EXPECT_EQ(of_one, versions);
}

// --- Ends and limits ----------------------------------------------------------------------------

TEST_F(WatchTest, SlowReadersEnd) {
  ServerOptions options;
  options.stalled_stream_seconds = 1;
  Restart(options);
  // More than what fits between the two sides.
  std::vector<v1::ImportSceneRequest> parts;
  for (uint64_t i = 0; i < 10; ++i) parts.push_back(ManySquares("scenes/a", 20000, 20000 * i));
  ASSERT_TRUE(Import(server_->scenes(), parts).ok());
  const auto watch = WatchWithSmallWindow("polygons: true");
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("does not read"));
}

TEST_F(WatchTest, ReadersThatComeTooFarBehindEnd) {
  Replace(20000, 0);
  const auto watch = WatchWithSmallWindow("polygons: true");
  uint64_t last = watch->Next().version();
  for (int i = 0; i < 8; ++i) Replace(20000, 0, 2 + i);
  // Those that it gets are those that came first.
  WatchedVersion version;
  while (watch->Next(version)) EXPECT_EQ(version.base(), std::exchange(last, version.version()));
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("no longer kept"));
}

TEST_F(WatchTest, AreBoundedInSumAndByPeer) {
  ServerOptions options;
  options.max_watches = 6;
  options.max_watches_per_peer = 3;
  Restart(options);
  server_->Create("a", {});
  std::vector<std::unique_ptr<Watcher>> watches;
  for (int i = 0; i < 3; ++i) {
    watches.push_back(Watch());
    watches.back()->Next();
  }
  grpc::Status status = Watch()->Finish();
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("3 watches"));
  EXPECT_NE(RetryDelay(ToStatus(status)), 0u);
  // Other connections are other peers here. Each may have as many as it leaves to those that come.
  for (const int may_have : {2, 1}) {
    const auto other = v1::SceneService::NewStub(server_->MakeChannel());
    for (int i = 0; i < may_have; ++i) {
      watches.push_back(std::make_unique<Watcher>(*other, "name: 'scenes/a'"));
      watches.back()->Next();
    }
    status = Watcher(*other, "name: 'scenes/a'").Finish();
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
    EXPECT_THAT(status.error_message(), HasSubstr(may_have == 2 ? "2 watches" : "6 watches"));
  }
  // Whoever goes leaves room, and other calls have their own.
  watches.erase(watches.begin(), watches.begin() + 2);
  EXPECT_TRUE(Eventually([&] {
    WatchedVersion version;
    return Watch()->Next(version);
  }));
  Commit("");
}

TEST_F(WatchTest, EndsByDeadlineAndDrain) {
  server_->Create("a", {});
  // On a slow host a watch may end before it is answered: a longer one then.
  bool is_answered = false;
  for (const int time_ms : {300, 1000, 3000}) {
    if (is_answered) break;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(time_ms));
    auto reader =
        server_->scenes().WatchScene(&context, FromText<v1::WatchSceneRequest>("name: 'scenes/a'"));
    v1::WatchSceneResponse part;
    is_answered = reader->Read(&part);
    EXPECT_TRUE(!is_answered || !reader->Read(&part));
    EXPECT_EQ(reader->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
  }
  EXPECT_TRUE(is_answered);

  const auto watch = Watch();
  watch->Next();
  std::thread drain([&] { server_->server().Drain(); });
  EXPECT_EQ(watch->Finish().error_code(), grpc::UNAVAILABLE);
  drain.join();
}

// Story: a rollback of a fork has no edits that say what it changed, and a watch of one to a
// version without polygons saw no removal.
TEST_F(WatchTest, SeesAForkThatIsRolledBackToNothing) {
  server_->Create("a", {});
  Context forking, rolling;
  v1::ForkSceneResponse forked;
  ASSERT_TRUE(server_->scenes()
                  .ForkScene(&forking,
                             FromText<v1::ForkSceneRequest>("base: 'scenes/a' name: 'scenes/f'"),
                             &forked)
                  .ok());
  const uint64_t first = forked.scene().version();
  ASSERT_TRUE(server_->Commit("name: 'scenes/f' edits { add {" + Square(9, 0, 0) + "} }").ok());
  Watcher watch(server_->scenes(), "name: 'scenes/f' polygons: true");
  EXPECT_EQ(watch.Next().polygons.size(), 1u);
  v1::RollbackSceneRequest back;
  back.set_name("scenes/f");
  back.set_version(first);
  v1::RollbackSceneResponse rolled;
  ASSERT_TRUE(server_->scenes().RollbackScene(&rolling, back, &rolled).ok());
  const WatchedVersion empty = watch.Next();
  EXPECT_EQ(empty.version(), rolled.scene().version());
  EXPECT_THAT(empty.ids, ElementsAre(9));
  EXPECT_THAT(empty.changes, ElementsAre(kRemoved));
  EXPECT_THAT(empty.polygons, IsEmpty());
  // One that comes by later finds it, too.
  Watcher later(server_->scenes(), absl::StrCat("name: 'scenes/f' from_version: ", first));
  EXPECT_THAT(later.Next().changes, ElementsAre(kAdded));
  EXPECT_THAT(later.Next().changes, ElementsAre(kRemoved));
}

}  // namespace
}  // namespace carom::server
