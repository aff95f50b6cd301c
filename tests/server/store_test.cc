// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The laws of a scene store, on the one in memory.
#include <atomic>
#include <initializer_list>
#include <map>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/memory_store.h"
#include "server/scene_handler.h"
#include "server/scene_name.h"
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
    const absl::Status status = handler.ListVersions(request, response);
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
