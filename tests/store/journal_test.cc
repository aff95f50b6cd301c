// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is written down is there again: the store over a file, closed and opened.
#include "server/store/sqlite/sqlite_journal.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "server/store/memory_store.h"
#include "tests/server/fixture.h"
#include "tests/store/fixture.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

using carom::testing::SplitMix64;

// A store over a journal in a folder, which can be closed and opened again.
class JournalTest : public ::testing::Test {
 protected:
  void Open(size_t versions = 64, uint64_t bytes = 64u << 20) {
    Close();
    auto journal = SqliteJournal::Open(
        {.folder = folder_ / "state", .history_versions = versions, .history_bytes = bytes});
    ASSERT_TRUE(journal.ok()) << journal.status();
    journal_ = *std::move(journal);
    store_ = std::make_unique<MemoryStore>(64, SceneLimits{}, memory_, journal_.get());
    const absl::Status status = store_->Recover([](size_t, uint64_t) {});
    ASSERT_TRUE(status.ok()) << status;
  }
  void Close() {
    store_.reset();
    journal_.reset();
  }

  // Runs SQL on the file; the answer's first number.
  int64_t Sql(const std::string& sql) {
    absl::StatusOr<Database> database = Database::Open(folder_ / "state/scenes.sqlite");
    EXPECT_TRUE(database.ok());
    absl::StatusOr<Statement> statement = database->Prepare(sql);
    EXPECT_TRUE(statement.ok()) << statement.status();
    const absl::StatusOr<bool> row = statement->Step();
    EXPECT_TRUE(row.ok()) << row.status();
    return row.ok() && *row ? statement->Int(0) : 0;
  }

  TemporaryFolder folder_;
  MemoryAccount memory_{uint64_t{1} << 33};
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<MemoryStore> store_;
};

TEST_F(JournalTest, KeepsScenesAndVersions) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(store_->Create("scenes/empty", {}).ok());
  ASSERT_TRUE(
      store_->Create("scenes/a", {SquareAt(1, 0, 100), SquareAt(9, 5), Comb(4, 30000)}).ok());
  ASSERT_TRUE(store_->Commit("scenes/a", 0, {RemovePolygon{1}, AddPolygon{Comb(2, 70)}}).ok());
  ASSERT_TRUE(store_->Create("scenes/gone", {SquareAt(1, 0)}).ok());
  ASSERT_TRUE(store_->Delete("scenes/gone", 0).ok());
  const Scene::Ptr before = store_->Find("scenes/a");
  const uint64_t deleted = before->version();
  ASSERT_NO_FATAL_FAILURE(Open());
  const Scene::Ptr after = store_->Find("scenes/a");
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->version(), before->version());
  EXPECT_EQ(ContentsOf(*after), ContentsOf(*before));
  EXPECT_EQ(after->Find(9)->category(), 3u);
  EXPECT_EQ(store_->Find("scenes/gone"), nullptr);
  EXPECT_EQ(store_->Find("scenes/empty")->polygon_count(), 0u);
  // Versions go on, also above that of a scene that is gone.
  EXPECT_GT((*store_->Create("scenes/gone", {}))->version(), deleted + 1);
}

// A long life: after each step, and each opening, the file has what the store has, and the history
// brings every version back.
TEST_F(JournalTest, RandomLives) {
  for (const uint64_t seed : {1, 2, 3}) {
    ASSERT_NO_FATAL_FAILURE(Open(8));
    SplitMix64 random(seed);
    const std::string name = absl::StrCat("scenes/s", seed);
    std::vector<Polygon> first;
    for (uint64_t id = 0; id < 500; ++id) first.push_back(SquareAt(id * 3, id * 2.0));
    ASSERT_TRUE(store_->Create(name, first).ok());
    std::map<uint64_t, Contents> versions;
    for (int step = 0; step < 60; ++step) {
      const Scene::Ptr current = store_->Find(name);
      std::vector<SceneEdit> edits;
      std::set<uint64_t> ids;
      const size_t count = step % 20 == 0 ? 400 : random.Next() % 6;
      for (size_t i = 0; i < count; ++i) {
        const uint64_t id = random.Next() % 2000;
        if (!ids.insert(id).second) continue;
        const bool is_there = current->Find(id) != nullptr;
        if (is_there && random.Next() % 2 == 0) {
          edits.push_back(RemovePolygon{id});
          continue;
        }
        const Polygon polygon = random.Next() % 8 == 0 ? Comb(id, 10 + random.Next() % 400)
                                                       : SquareAt(id, random.Unit());
        edits.push_back(is_there ? SceneEdit(ReplacePolygon{polygon})
                                 : SceneEdit(AddPolygon{polygon}));
      }
      const auto scene = store_->Commit(name, 0, edits);
      ASSERT_TRUE(scene.ok()) << scene.status();
      versions[(*scene)->version()] = ContentsOf(**scene);
      if (step % 7 == 0) {
        ASSERT_NO_FATAL_FAILURE(Open(8));
        ASSERT_EQ(ContentsOf(*store_->Find(name)), versions.rbegin()->second) << step;
      }
      if (step % 11 == 0) {
        const VersionSummary old = store_->Versions(name).front();
        if (!versions.contains(old.version)) continue;
        const auto back = store_->Rollback(name, old.version, 0);
        ASSERT_TRUE(back.ok()) << back.status();
        ASSERT_EQ(ContentsOf(**back), versions[old.version]);
        versions[(*back)->version()] = ContentsOf(**back);
      }
    }
    EXPECT_EQ(store_->Versions(name).size(), 8u);
    ASSERT_TRUE(store_->Delete(name, 0).ok());
  }
  // Nothing is left of what is gone.
  Close();
  EXPECT_EQ(Sql("SELECT count(*) FROM pages"), 0);
  EXPECT_EQ(Sql("SELECT count(*) FROM versions"), 0);
}

TEST_F(JournalTest, HistoryIsBounded) {
  ASSERT_NO_FATAL_FAILURE(Open(1000, 1 << 19));
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 2000; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(store_->Create("scenes/a", polygons).ok());
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(store_->Commit("scenes/a", 0, {ReplacePolygon{SquareAt(i, i)}}).ok());
  }
  const std::vector<VersionSummary> versions = store_->Versions("scenes/a");
  EXPECT_LT(versions.size(), 200u);
  EXPECT_GT(versions.size(), 20u);
  EXPECT_EQ(store_->Rollback("scenes/a", versions.front().version - 1, 0).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(store_->Rollback("scenes/a", versions.front().version, 0).ok());
}

// By the bytes of its pages: those of a large polygon are a megabyte.
TEST_F(JournalTest, LargePolygonsCountAsWhatTheyAre) {
  ASSERT_NO_FATAL_FAILURE(Open(1000, 4 << 20));
  ASSERT_TRUE(store_->Create("scenes/a", {}).ok());
  for (int i = 0; i < 20; ++i) {
    const SceneEdit edit = i == 0 ? SceneEdit(AddPolygon{Comb(1, 60000)})
                                  : SceneEdit(ReplacePolygon{Comb(1, 60000 + 2 * i)});
    ASSERT_TRUE(store_->Commit("scenes/a", 0, {edit}).ok());
  }
  EXPECT_LE(store_->Versions("scenes/a").size(), 6u);
  EXPECT_LE(Sql("SELECT sum(length(bytes)) FROM pages"), 6 << 20);
}

// The file keeps its size, however many commits there are.
TEST_F(JournalTest, TheFileIsBoundedByHistory) {
  ASSERT_NO_FATAL_FAILURE(Open(16, 1 << 20));
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 2000; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(store_->Create("scenes/a", polygons).ok());
  SplitMix64 random(19);
  const auto commit = [&](int commits) {
    for (int i = 0; i < commits; ++i) {
      const uint64_t id = random.Next() % 2000;
      ASSERT_TRUE(store_->Commit("scenes/a", 0, {ReplacePolygon{SquareAt(id, i, i % 500)}}).ok());
    }
  };
  const auto size = [&] {
    return std::filesystem::file_size(folder_ / "state/scenes.sqlite") +
           std::filesystem::file_size(folder_ / "state/scenes.sqlite-wal");
  };
  ASSERT_NO_FATAL_FAILURE(commit(300));
  const size_t before = size();
  ASSERT_NO_FATAL_FAILURE(commit(carom::testing::Repeats(600, 100000)));
  EXPECT_LT(size(), before + before / 4);
  std::printf("bytes of the file: %zu, then %zu\n", before, size());
}

// A file of the first schema, which counted each page of an old version as 4 KiB.
TEST_F(JournalTest, AnOldSchemaIsBroughtUpToDate) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(store_->Create("scenes/a", {Comb(1, 60000), SquareAt(2, 0)}).ok());
  ASSERT_TRUE(store_->Commit("scenes/a", 0, {RemovePolygon{1}}).ok());
  ASSERT_TRUE(store_->Commit("scenes/a", 0, {AddPolygon{SquareAt(3, 9)}}).ok());
  const Contents contents = ContentsOf(*store_->Find("scenes/a"));
  Close();
  const int64_t bytes = Sql("SELECT total(dropped_bytes) FROM versions");
  EXPECT_GT(bytes, 900000);
  Sql("UPDATE versions SET dropped_bytes = 4096 * length(dropped) / 20 WHERE dropped NOT NULL"
      " RETURNING 1");
  Sql("DELETE FROM migrations WHERE number = 3 RETURNING 1");
  Sql("DELETE FROM migrations WHERE number = 2 RETURNING 1");
  Sql("DELETE FROM counters WHERE name = 'last_version_complement' RETURNING 1");
  EXPECT_LT(Sql("SELECT total(dropped_bytes) FROM versions"), 100000);
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(ContentsOf(*store_->Find("scenes/a")), contents);
  EXPECT_EQ(store_->Versions("scenes/a").size(), 3u);
  Close();
  EXPECT_EQ(Sql("SELECT total(dropped_bytes) FROM versions"), bytes);
  EXPECT_EQ(Sql("SELECT max(number) FROM migrations"), 3);
  EXPECT_EQ(Sql("SELECT count(*) FROM counters"), 2);
}

// What a commit of one polygon into a million writes.
TEST_F(JournalTest, ACommitWritesWhatItChanges) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const uint64_t count = carom::testing::Repeats(200000, 1000000);
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < count; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(store_->Create("scenes/a", std::move(polygons)).ok());
  const std::string log = folder_ / "state/scenes.sqlite-wal";
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(store_->Commit("scenes/a", 0, {ReplacePolygon{SquareAt(5, 1)}}).ok());
  const size_t before = std::filesystem::file_size(log);
  constexpr int kCommits = 50;
  for (int i = 0; i < kCommits; ++i) {
    const uint64_t id = (i * uint64_t{7919}) % count;
    ASSERT_TRUE(store_->Commit("scenes/a", 0, {ReplacePolygon{SquareAt(id, i)}}).ok());
  }
  const size_t written = (std::filesystem::file_size(log) - before) / kCommits;
  EXPECT_LE(written, 64u << 10);
  std::printf("bytes a commit: %zu\n", written);
}

TEST_F(JournalTest, WritersShareTransactions) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::vector<std::thread> writers;
  for (int w = 0; w < 8; ++w) {
    writers.emplace_back([&, w] {
      const std::string name = absl::StrCat("scenes/w", w);
      ASSERT_TRUE(store_->Create(name, {}).ok());
      for (uint64_t i = 0; i < 50; ++i) {
        ASSERT_TRUE(store_->Commit(name, 0, {AddPolygon{SquareAt(i, i)}}).ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  ASSERT_NO_FATAL_FAILURE(Open());
  for (int w = 0; w < 8; ++w) {
    EXPECT_EQ(store_->Find(absl::StrCat("scenes/w", w))->polygon_count(), 50u);
  }
}

TEST_F(JournalTest, OneProcessAtATime) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const auto second = SqliteJournal::Open({.folder = folder_ / "state"});
  EXPECT_EQ(second.status(), absl::UnavailableError("the store in " + (folder_ / "state") +
                                                    " is used by another process"));
}

TEST_F(JournalTest, ANewerSchemaIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Open());
  Close();
  Sql("INSERT INTO migrations VALUES(1000, 0)");
  const auto opened = SqliteJournal::Open({.folder = folder_ / "state"});
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(opened.status().message(), ::testing::HasSubstr("newer caromd"));
}

TEST_F(JournalTest, NoDatabaseIsRefused) {
  std::filesystem::create_directory(folder_ / "state");
  std::ofstream(folder_ / "state/scenes.sqlite") << std::string(10000, 'x');
  const auto opened = SqliteJournal::Open({.folder = folder_ / "state"});
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kInternal) << opened.status();
  const auto nowhere = SqliteJournal::Open({.folder = folder_ / "state/scenes.sqlite"});
  EXPECT_EQ(nowhere.status().code(), absl::StatusCode::kUnavailable) << nowhere.status();
}

// A flipped bit costs the scene that has it, and no other.
TEST_F(JournalTest, DamageIsOfOneScene) {
  const std::string flips[] = {
      "UPDATE pages SET bytes = substr(bytes, 1, 40) || x'ff' || substr(bytes, 42)"
      " WHERE id = 2",
      "UPDATE pages SET hash = zeroblob(20) WHERE id = 2",
      "DELETE FROM pages WHERE id = 2",
      "UPDATE versions SET record = record || x'00' WHERE scene ="
      " (SELECT id FROM scenes WHERE name = 'scenes/a')",
      "UPDATE versions SET checksum = zeroblob(20) WHERE scene ="
      " (SELECT id FROM scenes WHERE name = 'scenes/a')",
      "DELETE FROM versions WHERE scene = (SELECT id FROM scenes WHERE name = 'scenes/a')",
      // The version before is not current again.
      "DELETE FROM versions WHERE version = (SELECT max(version) FROM versions WHERE scene ="
      " (SELECT id FROM scenes WHERE name = 'scenes/a'))",
      "UPDATE versions SET version = 0 WHERE version = (SELECT max(version) FROM versions WHERE"
      " scene = (SELECT id FROM scenes WHERE name = 'scenes/a'))",
  };
  for (const std::string& flip : flips) {
    SCOPED_TRACE(flip);
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_TRUE(store_->Create("scenes/a", {}).ok());
    ASSERT_TRUE(
        store_->Commit("scenes/a", 0, {AddPolygon{SquareAt(1, 0)}, AddPolygon{SquareAt(2, 5)}})
            .ok());
    ASSERT_TRUE(store_->Create("scenes/b", {SquareAt(1, 7)}).ok());
    Close();
    Sql(flip);
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_NE(store_->Find("scenes/b"), nullptr);
    EXPECT_EQ(store_->Find("scenes/a"), nullptr);
    EXPECT_EQ(store_->WhyMissing("scenes/a", "name").code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(store_->Commit("scenes/a", 0, {}).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(store_->Create("scenes/a", {}).status().code(), absl::StatusCode::kAlreadyExists);
    // The same content again, which mends its page.
    ASSERT_TRUE(store_
                    ->Import("scenes/a", ImportMode::kReplace, {SquareAt(1, 0), SquareAt(2, 5)},
                             [] { return false; })
                    .ok());
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_EQ(store_->Find("scenes/a")->polygon_count(), 2u);
    ASSERT_TRUE(store_->Delete("scenes/a", 0).ok());
    ASSERT_TRUE(store_->Delete("scenes/b", 0).ok());
    Close();
    std::filesystem::remove_all(folder_ / "state");
  }
}

// Whoever follows the versions of a scene is not led past one that is damaged.
TEST_F(JournalTest, DamageOfAnOldVersionIsAGap) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::vector<uint64_t> versions;
  ASSERT_TRUE(store_->Create("scenes/a", {}).ok());
  versions.push_back(store_->Find("scenes/a")->version());
  for (uint64_t id = 1; id <= 3; ++id) {
    ASSERT_TRUE(store_->Commit("scenes/a", 0, {AddPolygon{SquareAt(id, 0)}}).ok());
    versions.push_back(store_->Find("scenes/a")->version());
  }
  Close();
  Sql(absl::StrCat("UPDATE versions SET checksum = zeroblob(20) WHERE version = ", versions[1]));
  ASSERT_NO_FATAL_FAILURE(Open());
  const auto load = [&](uint64_t version) {
    return store_->LoadChange("scenes/a", version, MemoryCharge(memory_, MemoryShare::kScenes));
  };
  EXPECT_TRUE(absl::IsDataLoss(load(versions[0]).status())) << load(versions[0]).status();
  EXPECT_TRUE(absl::IsOutOfRange(load(versions[1]).status()));
  const auto change = load(versions[2]);
  ASSERT_TRUE(change.ok()) << change.status();
  EXPECT_EQ((*change)->summary.version, versions[3]);
}

// A scene that is replaced because it is damaged has a gap at once, not only after a restart.
TEST_F(JournalTest, WhatReplacesDamageFollowsAGap) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const uint64_t first = (*store_->Create("scenes/a", {}))->version();
  const uint64_t second = (*store_->Commit("scenes/a", 0, {AddPolygon{SquareAt(1, 0)}}))->version();
  Close();
  Sql(absl::StrCat("UPDATE versions SET checksum = zeroblob(20) WHERE version = ", second));
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(store_->Import("scenes/a", ImportMode::kReplace, {}, [] { return false; }).ok());
  for (const bool again : {false, true}) {
    if (again) {
      ASSERT_NO_FATAL_FAILURE(Open());
    }
    const absl::Status gap =
        store_->LoadChange("scenes/a", first, MemoryCharge(memory_, MemoryShare::kScenes)).status();
    EXPECT_TRUE(absl::IsDataLoss(gap)) << gap;
  }
}

// The log of a large import does not stay: the commits after it make do with 8 MiB.
TEST_F(JournalTest, TheLogShrinksAfterALargeImport) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 6000; ++id) polygons.push_back(SquareAt(id, 2.0 * id, 2000));
  ASSERT_TRUE(store_->Create("scenes/a", std::move(polygons)).ok());
  const std::string log = folder_ / "state/scenes.sqlite-wal";
  EXPECT_GT(std::filesystem::file_size(log), 10u << 20);
  ASSERT_TRUE(store_->Commit("scenes/a", 0, {RemovePolygon{1}}).ok());
  EXPECT_LE(std::filesystem::file_size(log), 8u << 20);
}

// Commits without a pause, of which none moves the log by itself: it begins anew all the same, by
// the thread that moves it and what the writer adds.
TEST_F(JournalTest, TheLogIsBoundedBesideCommits) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 2000; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(store_->Create("scenes/a", std::move(polygons)).ok());
  const std::string log = folder_ / "state/scenes.sqlite-wal";
  const auto commits = static_cast<uint64_t>(carom::testing::Repeats(1000, 10000));
  const auto is_large = [&] { return std::filesystem::file_size(log) > 16u << 20; };
  // More of them where the host has not let the thread that moves the log run yet.
  for (uint64_t i = 0; i < commits || (i < commits + 20000 && is_large()); ++i) {
    const ReplacePolygon edit{SquareAt(i * 7919 % 2000, static_cast<double>(i))};
    ASSERT_TRUE(store_->Commit("scenes/a", 0, {edit}).ok());
  }
  std::printf("bytes of the log: %ju\n", std::filesystem::file_size(log));
  EXPECT_FALSE(is_large());
  // Some 8,000 pages went through it, so that the file has what is no longer in the log.
  EXPECT_GT(std::filesystem::file_size(folder_ / "state/scenes.sqlite"), 300u << 10);
  const Scene::Ptr scene = store_->Find("scenes/a");
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(store_->Find("scenes/a")->version(), scene->version());
}

// Old versions were read on the thread that writes, where a commit waited for them.
TEST_F(JournalTest, CommitsDoNotWaitForReads) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const uint64_t version = (*store_->Create("scenes/a", {SquareAt(1, 0)}))->version();
  absl::Notification reads, commits;
  std::thread reader([&] {
    const absl::Status status = journal_->Load("scenes/a", version, [&](const Polygon&) {
      reads.Notify();
      EXPECT_TRUE(commits.WaitForNotificationWithTimeout(absl::Seconds(20)));
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  });
  reads.WaitForNotification();
  EXPECT_TRUE(store_->Commit("scenes/a", 0, {ReplacePolygon{SquareAt(1, 5)}}).ok());
  commits.Notify();
  reader.join();
}

// SQLite begins its log anew when nobody reads. Where reads follow each other without a gap, that
// is made for it.
TEST_F(JournalTest, ReadsDoNotLetTheLogGrow) {
  ASSERT_NO_FATAL_FAILURE(Open(2));
  ASSERT_TRUE(store_->Create("scenes/a", {SquareAt(1, 0)}).ok());
  ASSERT_TRUE(store_->Create("scenes/b", {SquareAt(1, 0)}).ok());
  const uint64_t version = store_->Find("scenes/b")->version();
  std::atomic<bool> stop{false};
  const auto read = [&] {
    while (!stop) {
      const absl::Status status = journal_->Load("scenes/b", version, [&](const Polygon&) {
        absl::SleepFor(absl::Milliseconds(20));
        return absl::OkStatus();
      });
      ASSERT_TRUE(status.ok()) << status;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(read);
  uintmax_t most = 0;
  for (int i = 0; i < 120; ++i) {
    const auto made = store_->Commit("scenes/a", 0, {ReplacePolygon{Comb(1, 60000 + 2 * i)}});
    EXPECT_TRUE(made.ok()) << made.status();
    most = std::max(most, std::filesystem::file_size(folder_ / "state/scenes.sqlite-wal"));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_LE(most, 68u << 20);
  std::printf("bytes of the log: %ju\n", most);
}

TEST_F(JournalTest, WhatIsDamagedCanBeDeleted) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(store_->Create("scenes/a", {SquareAt(1, 0)}).ok());
  Close();
  Sql("UPDATE pages SET bytes = zeroblob(10)");
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_TRUE(store_->Delete("scenes/a", 0).ok());
  EXPECT_EQ(store_->WhyMissing("scenes/a", "name").code(), absl::StatusCode::kNotFound);
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(store_->WhyMissing("scenes/a", "name").code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace carom::server
