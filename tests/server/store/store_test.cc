// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The laws of a scene store, on the one in memory.
#include <atomic>
#include <cmath>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/scene_name.h"
#include "server/scenes/scene_handler.h"
#include "server/store/memory_store.h"
#include "server/store/scene_change.h"
#include "server/store/scene_snapshot.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

Polygon Triangle(uint64_t id) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings.push_back({.vertices = {{0, 0}, {1, 0}, {0, 1}}, .open = false});
  return *Polygon::Create(std::move(spec));
}

std::vector<Polygon> Triangles(int count) {
  std::vector<Polygon> polygons;
  for (int i = 0; i < count; ++i) polygons.push_back(Triangle(i));
  return polygons;
}

std::vector<SceneEdit> Adds(uint64_t id) { return {AddPolygon{Triangle(id)}}; }

class Recorder : public SceneListener {
 public:
  void OnSceneChanged(absl::string_view name, uint64_t version, const SceneChange::Ptr&) override {
    absl::MutexLock lock(&mu_);
    changes_[std::string(name)].push_back(version);
  }
  std::vector<uint64_t> changes(const std::string& name) {
    absl::MutexLock lock(&mu_);
    return changes_[name];
  }

 private:
  absl::Mutex mu_;
  std::map<std::string, std::vector<uint64_t>> changes_ ABSL_GUARDED_BY(mu_);
};

TEST(SceneNameTest, IsTheDocumentedPattern) {
  const std::string longest = absl::StrCat("scenes/", std::string(63, 'x'));
  const std::string too_long = absl::StrCat("scenes/", std::string(64, 'x'));
  for (const absl::string_view name :
       std::initializer_list<absl::string_view>{"scenes/a", "scenes/0-z", "scenes/-", longest}) {
    EXPECT_TRUE(IsSceneName(name)) << name;
  }
  for (const absl::string_view name : std::initializer_list<absl::string_view>{
           "", "scenes/", "arena", "scenes/A", "scenes/a/b", "scenes/a_b", "scenes/\xc3\xa9",
           "Scenes/a", absl::string_view("scenes/a\0b", 10), "/scenes/a", too_long}) {
    EXPECT_FALSE(IsSceneName(name)) << name;
    EXPECT_TRUE(Refuses(CheckSceneName("name", name), absl::StatusCode::kInvalidArgument, "name"));
  }
}

TEST(MemoryStoreTest, VersionsGrowOverDeletion) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  const uint64_t first = (*store.Create("scenes/a", {}))->version();
  const uint64_t second = (*store.Commit("scenes/a", first, Adds(1)))->version();
  EXPECT_GT(second, first);
  ASSERT_TRUE(store.Delete("scenes/a", second).ok());
  EXPECT_EQ(store.Find("scenes/a"), nullptr);
  EXPECT_GT((*store.Create("scenes/a", {}))->version(), second);
}

TEST(MemoryStoreTest, FailedChangesChangeNothing) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(1, {.max_polygons = 2, .max_vertices = 100}, memory);
  const Scene::Ptr scene = *store.Create("scenes/a", Triangles(2));
  EXPECT_TRUE(
      Refuses(store.Create("scenes/a", {}).status(), absl::StatusCode::kAlreadyExists, "name"));
  EXPECT_TRUE(
      Refuses(store.Create("scenes/b", {}).status(), absl::StatusCode::kResourceExhausted, "name"));
  EXPECT_TRUE(Refuses(store.Commit("scenes/a", 0, Adds(1)).status(),
                      absl::StatusCode::kAlreadyExists, "edits[0].add.id"));
  EXPECT_TRUE(Refuses(store.Commit("scenes/a", 0, Adds(7)).status(),
                      absl::StatusCode::kResourceExhausted, "polygons"));
  EXPECT_TRUE(Refuses(store.Commit("scenes/a", scene->version() + 1, Adds(7)).status(),
                      absl::StatusCode::kAborted, "base_version"));
  EXPECT_TRUE(
      Refuses(store.Commit("scenes/b", 0, Adds(7)).status(), absl::StatusCode::kNotFound, "name"));
  EXPECT_TRUE(Refuses(store.Delete("scenes/a", scene->version() + 1), absl::StatusCode::kAborted,
                      "version"));
  EXPECT_TRUE(Refuses(store.Delete("scenes/b", 0), absl::StatusCode::kNotFound, "name"));
  EXPECT_EQ(store.Import("scenes/a", ImportMode::kReplace, {}, [] { return true; }).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_FALSE(
      store.Import("scenes/a", ImportMode::kReplace, Triangles(3), [] { return false; }).ok());
  EXPECT_EQ(store.Find("scenes/a"), scene);
}

TEST(MemoryStoreTest, StaleCommitOfTwiceTheSameIdIsInvalid) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(1, {}, memory);
  const uint64_t version = (*store.Create("scenes/a", {}))->version();
  std::vector<SceneEdit> edits = Adds(1);
  edits.push_back(RemovePolygon{1});
  EXPECT_EQ(store.Commit("scenes/a", version + 1, edits).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Bytes that scenes take, as the account has them.
uint64_t Counted(const MemoryAccount& memory) {
  return memory.limit(MemoryShare::kScenes) - memory.available(MemoryShare::kScenes);
}

// A regular polygon of many vertices.
Polygon Disc(uint64_t id, int vertices) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings.push_back({});
  for (int i = 0; i < vertices; ++i) {
    const double angle = 6.28 * i / vertices;
    spec.rings[0].vertices.push_back({std::cos(angle), std::sin(angle)});
  }
  return *Polygon::Create(std::move(spec));
}

// Story: a scene that was replaced while somebody read it was no longer counted, and an export
// that nobody took kept it: as many of them as calls are allowed, each of another version.
TEST(MemoryStoreTest, AVersionThatIsReadCounts) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  const auto import = [&](int count) {
    return *store.Import("scenes/a", ImportMode::kReplace, Triangles(count), [] { return false; });
  };
  import(10);
  const uint64_t small = Counted(memory);
  import(20000);
  const uint64_t large = Counted(memory);
  Scene::Ptr reader = store.Find("scenes/a");
  import(10);
  EXPECT_GE(Counted(memory), large + small);
  ASSERT_TRUE(store.Delete("scenes/a", 0).ok());
  EXPECT_GE(Counted(memory), large);
  reader.reset();
  EXPECT_EQ(Counted(memory), 0u);
}

// The next version of a large polygon counts beside the one that is read, and those in between,
// which nobody has any more, do not.
TEST(MemoryStoreTest, VersionsInBetweenDoNotCount) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  std::vector<Polygon> polygons = Triangles(100);
  polygons.push_back(Disc(1000, 100000));
  const uint64_t disc = BytesOf(polygons.back());
  ASSERT_TRUE(store.Create("scenes/a", std::move(polygons)).ok());
  const uint64_t before = Counted(memory);
  Scene::Ptr reader = store.Find("scenes/a");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store.Commit("scenes/a", 0, {ReplacePolygon{Disc(1000, 100000)}}).ok());
    EXPECT_GE(Counted(memory), before + disc);
    EXPECT_LE(Counted(memory), before + disc + (100 << 10));
  }
  reader.reset();
  EXPECT_LE(Counted(memory), before + (20 << 10));  // changes that are kept for watches
}

// Law: what is counted is what the polygons of all versions that somebody has take, each once, and
// for each version but the current one a part of its index.
TEST(SceneSnapshotTest, VersionsCountWhatTheyHave) {
  MemoryAccount memory(1 << 30);
  std::mt19937 random(20261);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto charge = [&](const std::vector<Polygon>& polygons) {
    MemoryCharge of_polygons(memory, MemoryShare::kScenes);
    for (const Polygon& polygon : polygons) EXPECT_TRUE(of_polygons.Add(BytesOf(polygon)).ok());
    return of_polygons;
  };
  const std::vector<Polygon> first = Triangles(300);
  SceneSnapshot::Ptr current = SceneSnapshot::Create(*Scene::Create(first), charge(first));
  std::vector<Scene::Ptr> readers;
  for (int step = 0; step < 800; ++step) {
    const Scene::Ptr scene = SceneSnapshot::SceneOf(current);
    if (below(2) == 0) {
      const uint64_t id = below(600);
      const Polygon disc = Disc(id, 3 + static_cast<int>(below(50)));
      SceneEdit edit = AddPolygon{disc};
      const bool removes = scene->Find(id) != nullptr && below(2) == 0;
      if (scene->Find(id) != nullptr) edit = ReplacePolygon{disc};
      if (removes) edit = RemovePolygon{id};
      std::vector<Polygon> added;
      if (!removes) added.push_back(disc);
      Scene::Ptr next = *scene->Commit({edit}, scene->version() + 1);
      current = SceneSnapshot::Follow(current, std::move(next), {&edit, 1}, charge(added));
    } else if (below(2) == 0 || readers.empty()) {
      readers.push_back(scene);
    } else {
      readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(below(readers.size())));
    }
    std::set<const Scene*> scenes{SceneSnapshot::SceneOf(current).get(), scene.get()};
    for (const Scene::Ptr& reader : readers) scenes.insert(reader.get());
    std::map<const void*, uint64_t> polygons;
    for (const Scene* held : scenes) {
      for (size_t i = 0; i < held->polygon_count(); ++i) {
        polygons[held->polygon(i).memory()] = BytesOf(held->polygon(i));
      }
    }
    uint64_t bytes = 0;
    for (const auto& [address, size] : polygons) bytes += size;
    ASSERT_GE(Counted(memory), bytes) << step;
    ASSERT_LE(Counted(memory), bytes + (scenes.size() - 1) * 600 * 160) << step;
    if (scenes.size() == 1) {
      ASSERT_EQ(Counted(memory), bytes) << step;
    }
  }
  readers.clear();
  current.reset();
  EXPECT_EQ(Counted(memory), 0u);
}

// Without a journal a rollback to the current version was refused as one to a version that is gone.
TEST(MemoryStoreTest, RollsBackToTheCurrentVersion) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  const uint64_t first = (*store.Create("scenes/a", Triangles(2)))->version();
  const uint64_t second = (*store.Commit("scenes/a", first, Adds(7)))->version();
  const auto back = store.Rollback("scenes/a", second, 0);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_GT((*back)->version(), second);
  EXPECT_EQ((*back)->polygon_count(), 3u);
  EXPECT_EQ(store.Find("scenes/a"), *back);
  EXPECT_TRUE(Refuses(store.Rollback("scenes/a", first, 0).status(), absl::StatusCode::kOutOfRange,
                      "version"));
}

// Who looks for a scene, and then for why there is none, may meet one that has come in between:
// that was DATA_LOSS. Versions that were looked up after the scene could be none, without an error.
TEST(MemoryStoreTest, ASceneThatComesAndGoesIsNotFound) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  ASSERT_TRUE(store.Create("scenes/a", {}).ok());
  EXPECT_EQ(store.WhyMissing("scenes/a", "name").code(), absl::StatusCode::kNotFound);
  Timer timer;
  Executor executor(1);
  ForkStore forks(store, memory, {}, timer, executor);
  SceneHandler handler(forks, {}, {});
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      EXPECT_TRUE(store.Delete("scenes/a", 0).ok());
      EXPECT_TRUE(store.Create("scenes/a", {}).ok());
    }
  });
  v1::ListSceneVersionsRequest request;
  request.set_name("scenes/a");
  for (int i = 0; i < 100000 && !::testing::Test::HasFailure(); ++i) {
    v1::ListSceneVersionsResponse response;
    const absl::Status status = handler.ListVersions({}, request, response);
    if (status.ok()) {
      EXPECT_GT(response.versions_size(), 0);
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
    }
  }
  stop = true;
  writer.join();
}

TEST(MemoryStoreTest, ListsByNameInPages) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  for (const char* name : {"scenes/c", "scenes/a", "scenes/d", "scenes/b"}) {
    ASSERT_TRUE(store.Create(name, {}).ok());
  }
  ScenePage page = store.List("", 3);
  ASSERT_EQ(page.scenes.size(), 3);
  EXPECT_FALSE(page.last);
  EXPECT_EQ(page.scenes[0].name, "scenes/a");
  page = store.List(page.scenes[2].name, 3);
  ASSERT_EQ(page.scenes.size(), 1);
  EXPECT_TRUE(page.last);
  EXPECT_EQ(page.scenes[0].name, "scenes/d");
  EXPECT_TRUE(store.List("scenes/d", 3).scenes.empty());
}

TEST(MemoryStoreTest, ListenersHearOfEachChangeInOrder) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  Recorder recorder;
  store.AddListener(&recorder);
  const uint64_t first = (*store.Create("scenes/a", {}))->version();
  const uint64_t second = (*store.Commit("scenes/a", 0, Adds(1)))->version();
  const uint64_t third =
      (*store.Import("scenes/a", ImportMode::kReplace, {}, [] { return false; }))->version();
  ASSERT_TRUE(store.Delete("scenes/a", 0).ok());
  EXPECT_THAT(recorder.changes("scenes/a"), ::testing::ElementsAre(first, second, third, 0));
}

// Of writers that race from one base, one wins each round; no commit is lost.
TEST(MemoryStoreTest, RacingCommitsFromOneBaseHaveOneWinner) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(8, {}, memory);
  ASSERT_TRUE(store.Create("scenes/a", {}).ok());
  std::atomic<int> won{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 50; ++i) {
        const uint64_t base = store.Find("scenes/a")->version();
        const auto scene = store.Commit("scenes/a", base, Adds(w * 1000 + i));
        won += scene.ok();
        EXPECT_TRUE(scene.ok() || absl::IsAborted(scene.status())) << scene.status();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GE(won, 50);
  EXPECT_EQ(store.Find("scenes/a")->polygon_count(), static_cast<size_t>(won));
}

TEST(MemoryStoreTest, SceneCapHoldsUnderRacingCreates) {
  MemoryAccount memory(1 << 30);
  MemoryStore store(10, {}, memory);
  std::atomic<int> made{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 10; ++i) {
        made += store.Create(absl::StrCat("scenes/", w, "-", i), {}).ok();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(made, 10);
  EXPECT_EQ(store.List("", 100).scenes.size(), 10);
}

}  // namespace
}  // namespace carom::server
