// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Whatever bit of the file flips, no scene is served as it never was: it is as it was, or
// DATA_LOSS, or the start is refused in one line.
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/store/memory_store.h"
#include "server/store/sqlite/sqlite_journal.h"
#include "tests/server/fixture.h"
#include "tests/store/fixture.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

using carom::testing::SplitMix64;

constexpr size_t kPageBytes = 4096;  // of SQLite's

class DamageTest : public ::testing::Test {
 protected:
  // A store over the files of a folder; why not.
  absl::Status Open(const std::string& folder) {
    store_.reset();
    journal_.reset();
    auto journal = SqliteJournal::Open({.folder = folder});
    if (!journal.ok()) return journal.status();
    journal_ = *std::move(journal);
    store_ = std::make_unique<MemoryStore>(64, SceneLimits{}, memory_, journal_.get());
    return store_->Recover([](size_t, uint64_t) {});
  }

  // A few scenes with a history, one that is gone, and what each version has.
  void SetUp() override {
    ASSERT_TRUE(Open(folder_ / "made").ok());
    const auto keep = [&](const std::string& name, const absl::StatusOr<Scene::Ptr>& scene) {
      ASSERT_TRUE(scene.ok()) << scene.status();
      versions_[name][(*scene)->version()] = ContentsOf(**scene);
    };
    std::vector<Polygon> polygons{Comb(1000, 700)};
    for (uint64_t id = 0; id < 60; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
    keep("scenes/a", store_->Create("scenes/a", polygons));
    keep("scenes/b", store_->Create("scenes/b", {SquareAt(1, 7, 100)}));
    keep("scenes/c", store_->Create("scenes/c", {}));
    for (uint64_t id = 0; id < 5; ++id) {
      keep("scenes/a", store_->Commit("scenes/a", 0, {ReplacePolygon{SquareAt(id, 9)}}));
      keep("scenes/b", store_->Commit("scenes/b", 0, {AddPolygon{SquareAt(10 + id, 9)}}));
    }
    for (int i = 0; i < 20; ++i) {
      last_version_ = (*store_->Create("scenes/gone", {}))->version();
      ASSERT_TRUE(store_->Delete("scenes/gone", 0).ok());
    }
    store_.reset();
    journal_.reset();
    std::ifstream file(folder_ / "made/scenes.sqlite", std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    ASSERT_GT(bytes_.size(), 10 * kPageBytes);
  }

  // What a start makes of these bytes in place of the file's; nothing if it is refused.
  std::optional<size_t> ScenesOf(const std::string& bytes) {
    const std::string folder = folder_ / "damaged";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/scenes.sqlite", std::ios::binary) << bytes;
    if (absl::Status status = Open(folder); !status.ok()) {
      EXPECT_FALSE(absl::StrContains(status.message(), '\n')) << status;
      EXPECT_FALSE(absl::IsDataLoss(status)) << status;
      return std::nullopt;
    }
    size_t served = 0;
    for (const auto& [name, versions] : versions_) {
      const Scene::Ptr scene = store_->Find(name);
      if (scene == nullptr) {
        EXPECT_EQ(store_->WhyMissing(name, "name").code(), absl::StatusCode::kDataLoss) << name;
      } else {
        EXPECT_EQ(scene->version(), versions.rbegin()->first);
        EXPECT_EQ(ContentsOf(*scene), versions.rbegin()->second);
        ++served;
      }
      for (const VersionSummary& known : store_->Versions(name)) ExpectVersion(name, known);
    }
    for (const NamedScene& listed : store_->List("", 100).scenes) {
      EXPECT_TRUE(versions_.contains(listed.name)) << listed.name;
    }
    const auto made = store_->Create("scenes/new", {});
    if (made.ok()) {
      EXPECT_GT((*made)->version(), last_version_);
    }
    return served;
  }

  void ExpectVersion(const std::string& name, const VersionSummary& known) {
    const std::map<uint64_t, Contents>& versions = versions_[name];
    ASSERT_TRUE(versions.contains(known.version)) << name << " " << known.version;
    EXPECT_EQ(known.polygon_count, versions.at(known.version).size());
    Contents contents;
    const absl::Status loaded = journal_->Load(name, known.version, [&](const Polygon& polygon) {
      contents[polygon.id()].assign(polygon.vertices().begin(), polygon.vertices().end());
      return absl::OkStatus();
    });
    if (loaded.ok()) {
      EXPECT_EQ(contents, versions.at(known.version));
    }
  }

  TemporaryFolder folder_;
  MemoryAccount memory_{uint64_t{1} << 33};
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<MemoryStore> store_;
  std::map<std::string, std::map<uint64_t, Contents>> versions_;
  uint64_t last_version_ = 0;
  std::string bytes_;
};

// A store that was killed: its file, and a log of commits of which each made a scene.
class LogDamageTest : public ::testing::Test {
 protected:
  static constexpr int kCommits = 12;

  void SetUp() override {
    MemoryAccount memory(uint64_t{1} << 33);
    auto journal = SqliteJournal::Open({.folder = folder_ / "made"});
    ASSERT_TRUE(journal.ok()) << journal.status();
    MemoryStore store(64, SceneLimits{}, memory, journal->get());
    ASSERT_TRUE(store.Recover([](size_t, uint64_t) {}).ok());
    for (int i = 0; i < kCommits; ++i) {
      ends_.push_back(Bytes(folder_ / "made/scenes.sqlite-wal").size());
      ASSERT_TRUE(store.Create(absl::StrCat("scenes/", i), {SquareAt(1, i)}).ok());
    }
    file_ = Bytes(folder_ / "made/scenes.sqlite");
    log_ = Bytes(folder_ / "made/scenes.sqlite-wal");
  }
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // How many scenes there are after a start with this log; why there is none.
  absl::StatusOr<size_t> Start(const std::string& log) {
    const std::string folder = folder_ / "damaged";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/scenes.sqlite", std::ios::binary) << file_;
    std::ofstream(folder + "/scenes.sqlite-wal", std::ios::binary) << log;
    MemoryAccount memory(uint64_t{1} << 33);
    auto journal = SqliteJournal::Open({.folder = folder});
    if (!journal.ok()) return journal.status();
    MemoryStore store(64, SceneLimits{}, memory, journal->get());
    absl::Status status = store.Recover([](size_t, uint64_t) {});
    if (!status.ok()) return status;
    return store.List("", 100).scenes.size();
  }

  TemporaryFolder folder_;
  std::string file_;
  std::string log_;
  std::vector<size_t> ends_;  // of the log, before each commit
};

// Story: SQLite takes a flipped bit for the end of the log. What followed was acknowledged, and
// gone without a word.
TEST_F(LogDamageTest, AFlippedBitIsFound) {
  EXPECT_EQ(*Start(log_), size_t{kCommits});
  SplitMix64 random(20262);
  std::vector<size_t> places{0, 3, 16, 27};  // of the header
  for (int i = 0; i < carom::testing::Repeats(60, 3000); ++i)
    places.push_back(random.Next() % log_.size());
  for (int i = 0; i < 20; ++i) {  // of the last commit
    places.push_back(ends_.back() + random.Next() % (log_.size() - ends_.back()));
  }
  for (const size_t place : places) {
    std::string log = log_;
    log[place] = static_cast<char>(log[place] ^ (1 << random.Next() % 8));
    const absl::StatusOr<size_t> scenes = Start(log);
    EXPECT_TRUE(absl::IsInternal(scenes.status())) << place << " " << scenes.status();
    EXPECT_TRUE(absl::StrContains(scenes.status().message(), "scenes.sqlite-wal is damaged"));
    EXPECT_FALSE(absl::StrContains(scenes.status().message(), '\n')) << scenes.status();
  }
}

// More than a bit, in a commit that others follow.
TEST_F(LogDamageTest, DamageBeforeOtherCommitsIsFound) {
  SplitMix64 random(20263);
  for (int i = 0; i < 20; ++i) {
    std::string log = log_;
    const size_t place = 32 + random.Next() % (ends_[kCommits - 2] - 32);
    for (size_t k = 0; k < 8; ++k) log[place + 97 * k] ^= '\x5a';
    EXPECT_TRUE(absl::IsInternal(Start(log).status())) << place;
  }
}

// A log that ends anywhere, or whose last commit is there in part, in any order, is what a power
// cut leaves.
TEST_F(LogDamageTest, TheEndOfAPowerCutIsNone) {
  SplitMix64 random(20264);
  for (int i = 0; i < 40; ++i) {
    const absl::StatusOr<size_t> scenes = Start(log_.substr(0, random.Next() % (log_.size() + 1)));
    EXPECT_TRUE(scenes.ok()) << scenes.status();
  }
  for (int i = 0; i < 40; ++i) {
    std::string log = log_;
    constexpr size_t kSector = 512;
    const size_t sectors = (log.size() - ends_.back()) / kSector;
    const size_t first = ends_.back() + random.Next() % sectors * kSector;
    log.replace(first, kSector, kSector, '\0');
    const absl::StatusOr<size_t> scenes = Start(log);
    ASSERT_TRUE(scenes.ok()) << scenes.status();
    EXPECT_GE(*scenes, size_t{kCommits - 1});
  }
}

TEST_F(DamageTest, WithoutItAllIsThere) { EXPECT_EQ(ScenesOf(bytes_), 3u); }

// Each page of SQLite's as zeros. What belongs to one of its trees was taken for damage of one
// scene.
TEST_F(DamageTest, ZeroedPages) {
  size_t refused = 0, pages = bytes_.size() / kPageBytes;
  for (size_t page = 0; page < pages; ++page) {
    std::string bytes = bytes_;
    bytes.replace(page * kPageBytes, kPageBytes, kPageBytes, '\0');
    SCOPED_TRACE(page);
    if (!ScenesOf(bytes).has_value()) ++refused;
  }
  // The schema, four small tables of which two have indices, and those of pages.
  EXPECT_GE(refused, 9u);
  std::printf("pages: %zu, refused: %zu\n", pages, refused);
}

// A bit of any page, of what is not empty there for the most part: rows of each kind, indices, and
// what SQLite says of itself.
TEST_F(DamageTest, FlippedBits) {
  SplitMix64 random(17);
  size_t refused = 0, served = 0, lost = 0;
  for (int i = carom::testing::Repeats(400, 50000); i > 0; --i) {
    const size_t page = random.Next() % (bytes_.size() / kPageBytes);
    size_t at = page * kPageBytes + random.Next() % kPageBytes;
    for (int tries = random.Next() % 100; tries > 0 && bytes_[at] == '\0'; --tries) {
      at = page * kPageBytes + random.Next() % kPageBytes;
    }
    const int bit = static_cast<int>(random.Next() % 8);
    std::string bytes = bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    SCOPED_TRACE(absl::StrCat("bit ", bit, " of byte ", at % kPageBytes, " of page ", page));
    const std::optional<size_t> scenes = ScenesOf(bytes);
    if (!scenes.has_value()) {
      ++refused;
    } else if (*scenes < versions_.size()) {
      ++lost;
    } else {
      ++served;
    }
    if (HasFailure()) break;
  }
  std::printf("refused: %zu, scenes lost: %zu, served: %zu\n", refused, lost, served);
}

}  // namespace
}  // namespace carom::server
