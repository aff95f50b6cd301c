// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What came after a version, from the file: watches go on after a restart, as far back as history
// is kept.
#include <signal.h>

#include <atomic>
#include <thread>

#include "carom/client.h"
#include "server/store/memory_store.h"
#include "server/store/page_tree.h"
#include "server/store/sqlite/sqlite_journal.h"
#include "tests/server/watcher.h"
#include "tests/store/fixture.h"
#include "tests/support/process.h"
#include "tests/support/random.h"

namespace carom::server {
namespace {

using carom::testing::ServerProcess;
using carom::testing::SplitMix64;

// --- The trees ----------------------------------------------------------------------------------

// Of two trees that differ in one polygon, a few pages are read, whatever they have.
TEST(CompareTreesTest, ReadsWhatDiffers) {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 100000; ++id) polygons.push_back(SquareAt(2 * id, 0));
  std::vector<const Polygon*> pointers;
  for (const Polygon& polygon : polygons) pointers.push_back(&polygon);
  std::map<PageHash, std::string> pages;
  size_t reads = 0;
  const auto read = [&](const PageHash& hash) -> absl::StatusOr<std::string> {
    ++reads;
    return pages.at(hash);
  };
  const auto keep = [&](const TreeChange& change) {
    for (const Page& page : change.added) pages[page.hash] = page.bytes;
    return change.root;
  };
  const PageHash root = keep(BuildTree(pointers));
  const Polygon other = SquareAt(77776, 5);
  const Polygon added = SquareAt(77777, 5);
  for (const TreeEdits& edits :
       {TreeEdits{{77776, &other}}, TreeEdits{{77777, &added}}, TreeEdits{{77776, nullptr}},
        TreeEdits{{0, nullptr}}, TreeEdits{{200001, &added}}}) {
    const PageHash edited = keep(*EditTree(root, edits, read));
    size_t changes = 0;
    reads = 0;
    for (const auto& [before, after] : {std::pair(root, edited), std::pair(edited, root)}) {
      EXPECT_TRUE(CompareTrees(before, after, read, [&](const Polygon*, const Polygon*) {
                    ++changes;
                    return absl::OkStatus();
                  }).ok());
    }
    EXPECT_EQ(changes, 2u);
    EXPECT_LT(reads, 40u) << pages.size();
  }
  EXPECT_TRUE(CompareTrees(root, root, read, [](const Polygon*, const Polygon*) {
                return absl::InternalError("they are one tree");
              }).ok());
}

// --- The store ----------------------------------------------------------------------------------

class ChangesTest : public ::testing::Test {
 protected:
  void Open(size_t versions = 64) {
    store_.reset();
    journal_.reset();
    auto journal = SqliteJournal::Open({.folder = folder_ / "state", .history_versions = versions});
    ASSERT_TRUE(journal.ok()) << journal.status();
    journal_ = *std::move(journal);
    store_ = std::make_unique<MemoryStore>(64, SceneLimits{}, memory_, journal_.get());
    ASSERT_TRUE(store_->Recover([](size_t, uint64_t) {}).ok());
  }
  absl::StatusOr<SceneChange::Ptr> Load(uint64_t version) {
    return store_->LoadChange("scenes/a", version, MemoryCharge(memory_, MemoryShare::kScenes));
  }

  TemporaryFolder folder_;
  MemoryAccount memory_{uint64_t{1} << 33};
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<MemoryStore> store_;
};

// What a change makes of `contents`, of whose polygons it may name those alone that differ.
void Apply(const SceneChange& change, Contents& contents) {
  uint64_t last = 0;
  bool is_first = true;
  for (const PolygonChange& one : change.list) {
    EXPECT_TRUE(is_first || one.id > last);
    is_first = false;
    last = one.id;
    EXPECT_EQ(contents.contains(one.id), one.kind != ChangeKind::kAdded) << one.id;
    if (!one.polygon.has_value()) {
      contents.erase(one.id);
      continue;
    }
    const std::span<const Vec2> vertices = one.polygon->vertices();
    std::vector<Vec2> now(vertices.begin(), vertices.end());
    EXPECT_TRUE(one.kind == ChangeKind::kAdded || contents[one.id] != now) << one.id;
    contents[one.id] = std::move(now);
  }
}

// One change of many a kind; large polygons lie in pages of their own.
void ChangeSomehow(MemoryStore& store, SplitMix64& random, const std::vector<uint64_t>& versions) {
  const uint64_t kind = random.Next() % 12;
  if (kind == 0 && versions.size() > 3) {
    const uint64_t version = versions[random.Next() % versions.size()];
    store.Rollback("scenes/a", version, 0).IgnoreError();
    return;
  }
  if (kind == 1) {
    std::vector<Polygon> polygons;
    const uint64_t count = random.Next() % 3000;
    for (uint64_t id = 0; id < count; ++id) polygons.push_back(SquareAt(2 * id, 2.0 * id));
    ASSERT_TRUE(
        store.Import("scenes/a", ImportMode::kReplace, std::move(polygons), [] { return false; })
            .ok());
    return;
  }
  const Scene::Ptr scene = store.Find("scenes/a");
  std::map<uint64_t, SceneEdit> edits;
  for (uint64_t i = 0; i < random.Next() % 20; ++i) {
    const uint64_t id = random.Next() % 6000;
    const bool is_there = scene->Find(id) != nullptr;
    const Polygon polygon = random.Next() % 8 == 0
                                ? Comb(id, 60 + static_cast<int>(random.Next() % 60000))
                                : SquareAt(id, static_cast<double>(random.Next() % 2));
    if (!is_there) {
      edits.insert_or_assign(id, AddPolygon{polygon});
    } else if (random.Next() % 2 == 0) {
      edits.insert_or_assign(id, RemovePolygon{id});
    } else {
      edits.insert_or_assign(id, ReplacePolygon{polygon});
    }
  }
  std::vector<SceneEdit> list;
  for (auto& [id, edit] : edits) list.push_back(std::move(edit));
  ASSERT_TRUE(store.Commit("scenes/a", 0, std::move(list)).ok());
}

// Of every two versions that follow each other, the file has the difference, and memory has the
// same while it has any.
TEST_F(ChangesTest, LeadFromEachVersionToTheNext) {
  ASSERT_NO_FATAL_FAILURE(Open());
  SplitMix64 random(14);
  ASSERT_TRUE(store_->Create("scenes/a", {}).ok());
  std::map<uint64_t, Contents> lives;
  std::vector<uint64_t> versions;
  const auto note = [&] {
    const Scene::Ptr scene = store_->Find("scenes/a");
    if (!lives.contains(scene->version())) versions.push_back(scene->version());
    lives[scene->version()] = ContentsOf(*scene);
  };
  note();
  for (int step = 0; step < 150; ++step) {
    ASSERT_NO_FATAL_FAILURE(ChangeSomehow(*store_, random, versions));
    note();
    if (random.Next() % 40 == 0) {
      ASSERT_NO_FATAL_FAILURE(Open());
    }
  }
  const std::vector<VersionSummary> known = store_->Versions("scenes/a");
  ASSERT_EQ(known.size(), 64u);
  size_t in_memory = 0;
  for (size_t i = 0; i + 1 < known.size(); ++i) {
    const absl::StatusOr<SceneChange::Ptr> change = Load(known[i].version);
    ASSERT_TRUE(change.ok()) << change.status();
    EXPECT_EQ((*change)->summary.version, known[i + 1].version);
    EXPECT_EQ((*change)->base, known[i].version);
    Contents contents = lives.at(known[i].version);
    Apply(**change, contents);
    ASSERT_TRUE(contents == lives.at(known[i + 1].version)) << known[i].version;
    const SceneChange::Ptr kept = store_->FindChange("scenes/a", known[i].version);
    if (kept == nullptr) continue;
    ++in_memory;
    ASSERT_EQ(kept->list.size(), (*change)->list.size());
    for (size_t k = 0; k < kept->list.size(); ++k) {
      EXPECT_EQ(kept->list[k].id, (*change)->list[k].id);
      EXPECT_EQ(kept->list[k].kind, (*change)->list[k].kind);
      EXPECT_EQ(kept->list[k].bounds.max, (*change)->list[k].bounds.max);
    }
  }
  EXPECT_GT(in_memory, 0u);
  EXPECT_EQ(Load(versions.front()).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Load(known.back().version).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Load(known.back().version + 5).status().code(), absl::StatusCode::kOutOfRange);
}

// A difference that the account has no room for is an error, and gives back what it took.
TEST_F(ChangesTest, AreCharged) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 5000; ++id) polygons.push_back(SquareAt(id, 0));
  const uint64_t first = (*store_->Create("scenes/a", {}))->version();
  ASSERT_TRUE(
      store_->Import("scenes/a", ImportMode::kReplace, polygons, [] { return false; }).ok());
  MemoryAccount small(1 << 20);
  const absl::Status status =
      store_->LoadChange("scenes/a", first, MemoryCharge(small, MemoryShare::kScenes)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(small.available(MemoryShare::kScenes), small.limit(MemoryShare::kScenes));
}

// Changes that are kept for watches are bounded, by scene and in sum.
TEST_F(ChangesTest, ThatAreKeptAreBounded) {
  MemoryAccount memory(64 << 20);
  MemoryStore store(64, {}, memory);
  std::vector<uint64_t> first;
  for (int scene = 0; scene < 8; ++scene) {
    const std::string name = absl::StrCat("scenes/", scene);
    first.push_back((*store.Create(name, {SquareAt(1, 0)}))->version());
    const uint64_t before = memory.available(MemoryShare::kScenes);
    for (int i = 0; i < 4000; ++i) {
      ASSERT_TRUE(store.Commit(name, 0, {ReplacePolygon{SquareAt(1, i)}}).ok());
    }
    EXPECT_LT(before - memory.available(MemoryShare::kScenes), 2u << 20);
    EXPECT_EQ(store.FindChange(name, first.back()), nullptr);
    const auto versions = store.Versions(name);
    EXPECT_TRUE(scene != 0 || store.FindChange(name, (versions.end() - 2)->version) != nullptr);
  }
  const uint64_t taken =
      memory.limit(MemoryShare::kScenes) - memory.available(MemoryShare::kScenes);
  EXPECT_LT(taken, memory.limit(MemoryShare::kScenes) / 8);
  for (int scene = 0; scene < 8; ++scene) {
    ASSERT_TRUE(store.Delete(absl::StrCat("scenes/", scene), 0).ok());
  }
  EXPECT_EQ(memory.available(MemoryShare::kScenes), memory.limit(MemoryShare::kScenes));
}

// --- The server ---------------------------------------------------------------------------------

class WatchRestartTest : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& options = {}) {
    const char* binary = std::getenv("CAROMD_BINARY");
    ASSERT_NE(binary, nullptr) << "CAROMD_BINARY is not set: run this through ctest";
    std::vector<std::string> all{"--store",         "sqlite",    "--state-dir",
                                 folder_ / "state", "--threads", "2"};
    all.insert(all.end(), options.begin(), options.end());
    server_ = ServerProcess::Start(binary, all, 60.0, "unix:" + (folder_ / "socket"));
    ASSERT_NE(server_, nullptr);
    client_ = Client::Connect(server_->address(), {.own_connection = true}).value();
  }
  void Kill() {
    kill(server_->pid(), SIGKILL);
    server_.reset();
  }
  uint64_t Commit(uint64_t id) {
    const std::vector<SceneEdit> edits = {AddPolygon{SquareAt(id, static_cast<double>(id))}};
    const auto made = client_->CommitEdits("scenes/a", 0, edits);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->version : 0;
  }

  TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> client_;
};

// The client's watch goes on by itself, without a gap and without doubles.
TEST_F(WatchRestartTest, GoesOnAfterTheServerWasKilled) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_TRUE(client_->CreateScene("scenes/a", {}).ok());
  const std::unique_ptr<SceneWatch> watch = client_->WatchScene("scenes/a", {.polygons = true});
  auto update = watch->Next();
  ASSERT_TRUE(update.ok()) << update.status();
  uint64_t last = update->scene.version;
  uint64_t id = 0;
  for (int life = 0; life < 3; ++life) {
    std::vector<uint64_t> versions;
    const uint64_t first_id = id;
    for (int i = 0; i < 5; ++i) versions.push_back(Commit(++id));
    // The watch reads the first two of them before the server is gone, and the others after.
    for (size_t i = 0; i < versions.size(); ++i) {
      if (i == 2) {
        Kill();
        ASSERT_NO_FATAL_FAILURE(Start());
      }
      update = watch->Next();
      ASSERT_TRUE(update.ok()) << update.status();
      EXPECT_EQ(update->scene.version, versions[i]);
      EXPECT_EQ(update->base_version, std::exchange(last, versions[i]));
      ASSERT_EQ(update->changes.size(), 1u);
      EXPECT_EQ(update->changes[0].id, first_id + i + 1);
      ASSERT_EQ(update->polygons.size(), 1u);
    }
  }
  EXPECT_EQ(server_->Stop(), 0);
}

// Whatever lives through a restart: commits, a rollback, a replacement.
TEST_F(WatchRestartTest, FromAnyVersionThatIsKept) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::vector<uint64_t> versions = {client_->CreateScene("scenes/a", {})->version};
  for (uint64_t id = 1; id < 6; ++id) versions.push_back(Commit(id));
  versions.push_back(client_->RollbackScene("scenes/a", versions[2])->version);
  std::vector<Polygon> many;
  for (uint64_t id = 0; id < 30000; ++id) many.push_back(SquareAt(id, 0));
  versions.push_back(client_->ImportScene("scenes/a", many, carom::ImportMode::kReplace)->version);
  versions.push_back(Commit(100000));
  const auto channel = [&] {
    return grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
  };
  for (int life = 0; life < 2; ++life) {
    const auto scenes = v1::SceneService::NewStub(channel());
    for (size_t from = 0; from + 1 < versions.size(); ++from) {
      Watcher watch(*scenes,
                    absl::StrCat("name: 'scenes/a' polygons: true from_version: ", versions[from]));
      uint64_t base = versions[from];
      for (size_t i = from + 1; i < versions.size(); ++i) {
        const WatchedVersion next = watch.Next();
        EXPECT_EQ(next.version(), versions[i]);
        EXPECT_EQ(next.base(), std::exchange(base, versions[i]));
        // The rollback takes back the polygons 3, 4 and 5; the replacement brings 0 and all
        // above 2.
        EXPECT_TRUE(i != 6 || next.ids == (std::vector<uint64_t>{3, 4, 5}));
        EXPECT_TRUE(i != 7 || next.polygons.size() == 30000u);
        EXPECT_LE(next.largest_part, 320u << 10);
      }
    }
    if (life == 1) break;
    Kill();
    ASSERT_NO_FATAL_FAILURE(Start());
  }
  EXPECT_EQ(server_->Stop(), 0);
}

TEST_F(WatchRestartTest, OutOfRangeBeyondTheHistory) {
  ASSERT_NO_FATAL_FAILURE(Start({"--history-versions", "4"}));
  std::vector<uint64_t> versions = {client_->CreateScene("scenes/a", {})->version};
  for (uint64_t id = 1; id < 10; ++id) versions.push_back(Commit(id));
  Kill();  // and what memory kept is gone
  ASSERT_NO_FATAL_FAILURE(Start({"--history-versions", "4"}));
  for (size_t i = 0; i < versions.size(); ++i) {
    const auto watch = client_->WatchScene("scenes/a", {.from_version = versions[i]});
    if (i + 1 == versions.size()) break;  // it would wait
    const auto update = watch->Next();
    if (i + 4 < versions.size()) {
      EXPECT_EQ(update.status().code(), absl::StatusCode::kOutOfRange) << i;
      EXPECT_EQ(watch->Next().status(), update.status());
    } else {
      ASSERT_TRUE(update.ok()) << update.status();
      EXPECT_EQ(update->scene.version, versions[i + 1]);
    }
  }
  EXPECT_EQ(server_->Stop(), 0);
}

}  // namespace
}  // namespace carom::server
