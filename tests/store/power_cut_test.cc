// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What was acknowledged survives a power cut, and a full disk refuses and recovers.
#include <filesystem>
#include <thread>

#include "server/store/memory_store.h"
#include "server/store/sqlite/sqlite_journal.h"
#include "tests/server/fixture.h"
#include "tests/store/faulty_vfs.h"
#include "tests/store/fixture.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

using carom::testing::FaultyVfs;
using carom::testing::SplitMix64;

class PowerCutTest : public ::testing::Test {
 protected:
  // A store over the files of a folder.
  struct Opened {
    std::unique_ptr<SqliteJournal> journal;
    std::unique_ptr<MemoryStore> store;
  };
  Opened Open(const std::string& folder, const char* vfs) {
    Opened opened;
    auto journal = SqliteJournal::Open({.folder = folder, .vfs = vfs});
    EXPECT_TRUE(journal.ok()) << journal.status();
    if (!journal.ok()) return opened;
    opened.journal = *std::move(journal);
    opened.store = std::make_unique<MemoryStore>(64, SceneLimits{}, memory_, opened.journal.get());
    const absl::Status status = opened.store->Recover([](size_t, uint64_t) {});
    EXPECT_TRUE(status.ok()) << status;
    return opened;
  }

  TemporaryFolder folder_;
  FaultyVfs vfs_;
  MemoryAccount memory_{uint64_t{1} << 33};
};

TEST_F(PowerCutTest, WhatIsAcknowledgedIsThere) {
  const Opened opened = Open(folder_ / "disk", vfs_.name());
  ASSERT_NE(opened.store, nullptr);
  SplitMix64 random(1);
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 300; ++id) polygons.push_back(SquareAt(2 * id, id));
  ASSERT_TRUE(opened.store->Create("scenes/a", polygons).ok());
  const int cuts = carom::testing::Repeats(200, 2000);
  for (int cut = 0; cut < cuts; ++cut) {
    for (uint64_t i = random.Next() % 4; i-- > 0;) {
      const uint64_t id = 2 * (random.Next() % 300);
      const auto scene = opened.store->Commit(
          "scenes/a", 0, {ReplacePolygon{SquareAt(id, random.Unit(), random.Next() % 3000)}});
      ASSERT_TRUE(scene.ok()) << scene.status();
    }
    const std::string after = folder_ / absl::StrCat("after-", cut);
    vfs_.CutPower(after, random.Next() % 6);
    const Opened again = Open(after, nullptr);
    ASSERT_NE(again.store, nullptr);
    const Scene::Ptr now = opened.store->Find("scenes/a");
    const Scene::Ptr then = again.store->Find("scenes/a");
    ASSERT_NE(then, nullptr);
    ASSERT_EQ(then->version(), now->version());
    ASSERT_EQ(ContentsOf(*then), ContentsOf(*now));
    std::filesystem::remove_all(after);
  }
}

// Pages, the version that has them and the counter are written one after the other. Wherever
// between them the power goes, the scene is as it was, or as it was to be.
TEST_F(PowerCutTest, AtEachWriteOfATransaction) {
  const Opened opened = Open(folder_ / "disk", vfs_.name());
  ASSERT_NE(opened.store, nullptr);
  SplitMix64 random(2);
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 300; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(opened.store->Create("scenes/a", polygons).ok());
  const std::string after = folder_ / "after";
  // By edits, and as a whole.
  for (const bool replaces : {false, true}) {
    int count = 1;
    for (;; ++count) {
      const Scene::Ptr before = opened.store->Find("scenes/a");
      vfs_.CutPowerAt(count, after, random.Next() % (count + 1));
      const Polygon comb = Comb(1000, 100 + 2 * (count % 500));
      const auto made =
          replaces ? opened.store->Import("scenes/a", ImportMode::kReplace,
                                          {comb, SquareAt(count, 0), SquareAt(0, 1)},
                                          [] { return false; })
                   : opened.store->Commit("scenes/a", 0,
                                          {count == 1 ? SceneEdit(AddPolygon{comb})
                                                      : SceneEdit(ReplacePolygon{comb}),
                                           ReplacePolygon{SquareAt(count % 300, random.Unit())}});
      ASSERT_TRUE(made.ok()) << made.status();
      if (vfs_.awaits_cut()) break;
      const Opened again = Open(after, nullptr);
      ASSERT_NE(again.store, nullptr);
      const Scene::Ptr then = again.store->Find("scenes/a");
      ASSERT_NE(then, nullptr) << count;
      const Scene& expected = then->version() == before->version() ? *before : **made;
      ASSERT_EQ(then->version(), expected.version()) << count;
      ASSERT_EQ(ContentsOf(*then), ContentsOf(expected)) << count;
      std::filesystem::remove_all(after);
    }
    EXPECT_GT(count, 10);
  }
}

// SQLite keeps the pages that a job changes until it is done, and put them into a temporary file
// when they were many. The image has no folder for one: the second import of a large map failed.
TEST_F(PowerCutTest, LargeChangesNeedNoTemporaryFile) {
  const Opened opened = Open(folder_ / "disk", vfs_.name());
  ASSERT_NE(opened.store, nullptr);
  for (const double x : {0.0, 1.0, 2.0}) {
    std::vector<Polygon> polygons;
    for (uint64_t id = 0; id < 10000; ++id) polygons.push_back(SquareAt(id, x + 2.0 * id));
    const auto made = opened.store->Import("scenes/a", ImportMode::kReplace, std::move(polygons),
                                           [] { return false; });
    ASSERT_TRUE(made.ok()) << made.status();
  }
  const uint64_t first = opened.store->Versions("scenes/a").front().version;
  const absl::Status back = opened.store->Rollback("scenes/a", first, 0).status();
  EXPECT_TRUE(back.ok()) << back;
  EXPECT_TRUE(opened.store->Delete("scenes/a", 0).ok());
}

// The cut is one: without syncs it loses what was acknowledged.
TEST_F(PowerCutTest, WithoutSyncsItWouldBeLost) {
  absl::StatusOr<Database> database = Database::Open(folder_ / "scenes.sqlite", vfs_.name());
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database
                  ->Run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                        "CREATE TABLE t(x); PRAGMA synchronous = OFF; INSERT INTO t VALUES(1);")
                  .ok());
  vfs_.CutPower(folder_ / "after");
  absl::StatusOr<Database> again = Database::Open(folder_ / "after/scenes.sqlite");
  ASSERT_TRUE(again.ok());
  absl::StatusOr<Statement> count = again->Prepare("SELECT count(*) FROM t");
  ASSERT_TRUE(count.ok()) << count.status();
  ASSERT_TRUE(count->Step().ok());
  EXPECT_EQ(count->Int(0), 0);
}

TEST_F(PowerCutTest, AFullDiskRefusesAndRecovers) {
  const Opened opened = Open(folder_ / "disk", vfs_.name());
  ASSERT_NE(opened.store, nullptr);
  ASSERT_TRUE(opened.store->Create("scenes/a", {SquareAt(1, 0)}).ok());
  for (const int64_t room : {0, 5000, 20000, 60000}) {
    const Scene::Ptr before = opened.store->Find("scenes/a");
    vfs_.set_capacity(vfs_.used() + room);
    const absl::Status full =
        opened.store->Commit("scenes/a", 0, {ReplacePolygon{Comb(1, 40000)}}).status();
    EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
    // Readers go on with what there was.
    EXPECT_EQ(opened.store->Find("scenes/a"), before);
    vfs_.set_capacity(INT64_MAX);
    const auto after = opened.store->Commit("scenes/a", 0, {ReplacePolygon{SquareAt(1, room)}});
    ASSERT_TRUE(after.ok()) << after.status();
    const std::string folder = folder_ / absl::StrCat("after-", room);
    vfs_.CutPower(folder);
    const Opened again = Open(folder, nullptr);
    ASSERT_NE(again.store, nullptr);
    EXPECT_EQ(ContentsOf(*again.store->Find("scenes/a")), ContentsOf(**after));
  }
}

// A commit for which there is no room costs the others nothing that share its transaction.
TEST_F(PowerCutTest, OnlyTheCommitThatFillsTheDiskFails) {
  const Opened opened = Open(folder_ / "disk", vfs_.name());
  ASSERT_NE(opened.store, nullptr);
  for (int w = 0; w <= 8; ++w) {
    ASSERT_TRUE(opened.store->Create(absl::StrCat("scenes/", w), {SquareAt(1, 0)}).ok());
  }
  vfs_.set_capacity(vfs_.used() + (4 << 20));
  std::vector<std::thread> writers;
  for (int w = 0; w <= 8; ++w) {
    writers.emplace_back([&, w] {
      const std::string name = absl::StrCat("scenes/", w);
      for (int i = 0; i < 20; ++i) {
        const Polygon polygon = w == 0 ? Comb(1, 600000 + 2 * i) : SquareAt(1, i);
        const absl::Status status =
            opened.store->Commit(name, 0, {ReplacePolygon{polygon}}).status();
        if (w == 0) {
          EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
        } else {
          EXPECT_TRUE(status.ok()) << status;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace carom::server
