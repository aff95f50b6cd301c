// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "carom/locate.h"
#include "carom/status.h"
#include "tests/core/random_scene.h"

namespace carom::scene_test {
namespace {

Polygon Square(uint64_t id, double x, double size = 1) {
  return Polygon::Create({id, {{{{x, 0}, {x + size, 0}, {x + size, size}, {x, size}}}}}).value();
}

std::vector<Polygon> Squares(int count) {
  std::vector<Polygon> polygons;
  for (int i = 0; i < count; ++i) polygons.push_back(Square(static_cast<uint64_t>(i), 2.0 * i));
  return polygons;
}

std::vector<uint64_t> IdsAt(const Scene& scene, double x) {
  const double y = 0.5;
  LocateAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(LocatePoints(scene, {{&x, 1}, {&y, 1}}, kEveryCategory, answers, meter));
  return answers.polygon_ids;
}

TEST(SceneTest, EmptySceneAnswersNothing) {
  const Scene::Ptr scene = Scene::Create({}).value();
  EXPECT_EQ(scene->polygon_count(), 0u);
  EXPECT_TRUE(scene->bounds().empty());
  EXPECT_EQ(scene->Find(0), nullptr);
  EXPECT_TRUE(IdsAt(*scene, 0).empty());
}

TEST(SceneTest, HoldsPolygonsByAscendingIdInAnyOrderGiven) {
  std::vector<Polygon> polygons;
  for (const uint64_t id : {UINT64_MAX, uint64_t{0}, uint64_t{5}})
    polygons.push_back(Square(id, 0));
  const Scene::Ptr scene = Scene::Create(std::move(polygons), 42).value();
  EXPECT_EQ(scene->version(), 42u);
  EXPECT_EQ(scene->vertex_count(), 12u);
  EXPECT_EQ(scene->polygon(0).id(), 0u);
  EXPECT_EQ(scene->polygon(2).id(), UINT64_MAX);
  EXPECT_EQ(IdsAt(*scene, 0.5), (std::vector<uint64_t>{0, 5, UINT64_MAX}));
}

TEST(SceneTest, FindsEveryPolygonOfALargerScene) {
  const Scene::Ptr scene = Scene::Create(Squares(1000)).value();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(IdsAt(*scene, 2.0 * i + 0.5), (std::vector<uint64_t>{static_cast<uint64_t>(i)}));
    EXPECT_TRUE(IdsAt(*scene, 2.0 * i + 1.5).empty());
  }
}

TEST(SceneTest, RefusesDuplicateIdsAndLimits) {
  std::vector<Polygon> polygons = Squares(3);
  polygons.push_back(Square(1, 9));
  const absl::Status twice = Scene::Create(polygons).status();
  EXPECT_EQ(twice.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Violations(twice)[0].field, "polygons[3].id");
  EXPECT_EQ(Scene::Create(Squares(3), 1, {2, 100}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Scene::Create(Squares(3), 1, {3, 11}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Scene::Create(Squares(3), 1, {3, 12}).ok());
}

TEST(SceneTest, CommitMakesANewSnapshotAndLeavesTheOldOne) {
  const Scene::Ptr before = Scene::Create(Squares(3), 1).value();
  std::vector<SceneEdit> edits;
  edits.push_back(AddPolygon{Square(10, 100)});
  edits.push_back(ReplacePolygon{Square(1, 200)});
  edits.push_back(RemovePolygon{0});
  const Scene::Ptr after = before->Commit(std::move(edits), 2).value();
  EXPECT_EQ(after->version(), 2u);
  EXPECT_EQ(after->polygon_count(), 3u);
  EXPECT_TRUE(IdsAt(*after, 0.5).empty());
  EXPECT_TRUE(IdsAt(*after, 2.5).empty());
  EXPECT_EQ(IdsAt(*after, 4.5), (std::vector<uint64_t>{2}));
  EXPECT_EQ(IdsAt(*after, 100.5), (std::vector<uint64_t>{10}));
  EXPECT_EQ(IdsAt(*after, 200.5), (std::vector<uint64_t>{1}));
  EXPECT_EQ(after->bounds().max.x, 201);
  EXPECT_EQ(IdsAt(*before, 0.5), (std::vector<uint64_t>{0}));
  EXPECT_EQ(before->polygon_count(), 3u);
  // What did not change is shared, not copied.
  EXPECT_EQ(after->Find(2)->vertices().data(), before->Find(2)->vertices().data());
}

// Pages split, shrink, join and vanish; after each commit all is as if made anew.
TEST(SceneTest, ManyCommitsMakeWhatOneSceneWouldBe) {
  testing::Random random(0x9a6e5);
  constexpr int kSide = 70;  // squares of a grid, half of them there
  std::map<uint64_t, Polygon> want;
  const auto square = [&](uint64_t id) {
    const double x = 2.0 * static_cast<double>(id % kSide);
    const double y = 2.0 * static_cast<double>(id / kSide);
    return Polygon::Create({id, {{{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}}}}).value();
  };
  Scene::Ptr scene = Scene::Create({}).value();
  for (int commit = 0; commit < 60; ++commit) {
    // Bursts that grow the scene and shrink it, in places of its own or everywhere.
    const int size = commit % 6 == 0 ? 1500 : random.Below(40) + 1;
    const bool grows = commit % 12 < 6;
    std::set<uint64_t> ids;
    for (int i = 0; i < size; ++i) {
      const int row = commit % 3 == 0 ? random.Below(kSide) : random.Below(4);
      ids.insert(static_cast<uint64_t>(row * kSide + random.Below(kSide)));
    }
    std::vector<SceneEdit> edits;
    for (const uint64_t id : ids) {
      if (!want.contains(id)) {
        if (!grows && random.Below(4) > 0) continue;
        edits.push_back(AddPolygon{square(id)});
        want.emplace(id, square(id));
      } else if (grows || random.Below(3) == 0) {
        edits.push_back(ReplacePolygon{square(id)});
      } else {
        edits.push_back(RemovePolygon{id});
        want.erase(id);
      }
    }
    scene = scene->Commit(std::move(edits), scene->version() + 1).value();
    ASSERT_EQ(scene->polygon_count(), want.size());
    EXPECT_EQ(scene->vertex_count(), 4 * want.size());
    Box bounds;
    size_t index = 0;
    for (const auto& [id, polygon] : want) {
      ASSERT_EQ(scene->polygon(index++).id(), id);
      ASSERT_NE(scene->Find(id), nullptr);
      EXPECT_EQ(scene->Find(id)->id(), id);
      bounds.Extend(polygon.bounds().min);
      bounds.Extend(polygon.bounds().max);
    }
    EXPECT_EQ(scene->bounds().min, bounds.min);
    EXPECT_EQ(scene->bounds().max, bounds.max);
    for (int i = 0; i < 200; ++i) {
      const auto id = static_cast<uint64_t>(random.Below(kSide * kSide));
      EXPECT_EQ(scene->Find(id) != nullptr, want.contains(id));
      const double x = 2.0 * static_cast<double>(id % kSide) + 0.5;
      const double y = 2.0 * static_cast<double>(id / kSide) + 0.5;
      LocateAnswers answers;
      WorkMeter meter;
      ASSERT_TRUE(LocatePoints(*scene, {{&x, 1}, {&y, 1}}, kEveryCategory, answers, meter));
      EXPECT_EQ(answers.counts[0], want.contains(id) ? 1u : 0u) << commit << " " << id;
    }
  }
}

TEST(SceneTest, AnotherVersionIsTheSameSceneOnTheSameMemory) {
  const Scene::Ptr scene = Scene::Create(Squares(2000), 1).value();
  const Scene::Ptr other = scene->WithVersion(7);
  EXPECT_EQ(other->version(), 7u);
  EXPECT_EQ(scene->version(), 1u);
  EXPECT_EQ(&other->polygon(5), &scene->polygon(5));
  EXPECT_EQ(other->BytesBeyond(*scene), 0u);
  EXPECT_EQ(IdsAt(*other, 8.5), IdsAt(*scene, 8.5));
}

// What a commit takes is some pages and a table of all, whatever else was edited before.
TEST(SceneTest, BytesBeyondAreThoseOfThePagesThatWereMadeAnew) {
  const Scene::Ptr base = Scene::Create(Squares(50000), 1).value();
  const auto edited = [](const Scene& scene, uint64_t id) {
    return scene.Commit({ReplacePolygon{Square(id, 2.0 * static_cast<double>(id), 1.5)}}, 2)
        .value();
  };
  const Scene::Ptr first = edited(*base, 5);
  const Scene::Ptr second = edited(*first, 45000);
  const size_t of_first = first->BytesBeyond(*base);
  const size_t of_second = second->BytesBeyond(*first);
  EXPECT_GT(of_first, 10000u);
  EXPECT_LT(of_first, 100000u);
  EXPECT_LT(of_second, 100000u);
  const size_t of_both = second->BytesBeyond(*base);
  EXPECT_GT(of_both, std::max(of_first, of_second));
  EXPECT_LE(of_both, of_first + of_second);
  EXPECT_EQ(base->BytesBeyond(*base), 0u);
  // A polygon that lies far outside makes all anew.
  const Scene::Ptr rebuilt = base->Commit({AddPolygon{Square(60000, 1e7)}}, 2).value();
  EXPECT_GT(rebuilt->BytesBeyond(*base), 1500000u);
}

TEST(SceneTest, SaysWhichEditsMakeTheIndexAnew) {
  const Scene::Ptr scene = Scene::Create(Squares(100), 1).value();
  const auto is_rebuilt = [&](std::vector<SceneEdit> edits) { return scene->IsRebuiltBy(edits); };
  EXPECT_FALSE(is_rebuilt({}));
  EXPECT_FALSE(is_rebuilt({AddPolygon{Square(200, 50)}, RemovePolygon{3}}));
  EXPECT_TRUE(is_rebuilt({AddPolygon{Square(200, 500)}}));
  EXPECT_TRUE(is_rebuilt({RemovePolygon{3}, ReplacePolygon{Square(4, 500)}}));
  std::vector<SceneEdit> half;
  for (uint64_t id = 0; id < 50; ++id) half.emplace_back(RemovePolygon{id});
  EXPECT_FALSE(is_rebuilt(half));
  half.emplace_back(RemovePolygon{50});
  EXPECT_TRUE(is_rebuilt(half));
}

TEST(SceneTest, WorkersMakeTheSameScene) {
  const Scene::Ptr alone = Scene::Create(Squares(3000)).value();
  Workers workers;
  workers.parts = 3;
  workers.run = [](size_t parts, const std::function<void(size_t)>& work) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < parts; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
  };
  std::atomic<int> pieces{0};
  workers.between = [&pieces] { ++pieces; };
  const Scene::Ptr shared = Scene::Create(Squares(3000), 1, {}, workers).value();
  ASSERT_EQ(shared->polygon_count(), 3000u);
  EXPECT_GT(pieces, 10);  // keys, sorts, tiles and pages of ids
  for (size_t i = 0; i < 3000; ++i) {
    EXPECT_EQ(shared->polygon(i).id(), alone->polygon(i).id());
    EXPECT_EQ(IdsAt(*shared, 2.0 * static_cast<double>(i) + 0.5).size(), 1u);
  }
}

struct CommitCase {
  const char* name;
  std::vector<SceneEdit> edits;
  absl::StatusCode code;
  const char* field;
};

TEST(SceneTest, CommitIsAllOrNothingAndNamesTheOffence) {
  const Scene::Ptr scene = Scene::Create(Squares(3), 1).value();
  const CommitCase cases[] = {
      {"added id is there",
       {AddPolygon{Square(7, 0)}, AddPolygon{Square(2, 0)}},
       absl::StatusCode::kAlreadyExists,
       "edits[1].add.id"},
      {"replaced id is not",
       {ReplacePolygon{Square(9, 0)}},
       absl::StatusCode::kNotFound,
       "edits[0].replace.id"},
      {"removed id is not", {RemovePolygon{9}}, absl::StatusCode::kNotFound, "edits[0].remove"},
      {"twice in one commit",
       {RemovePolygon{1}, AddPolygon{Square(1, 0)}},
       absl::StatusCode::kInvalidArgument,
       "edits[1].add.id"},
      {"twice wins over missing",
       {RemovePolygon{9}, RemovePolygon{9}},
       absl::StatusCode::kInvalidArgument,
       "edits[1].remove"},
  };
  for (const CommitCase& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::Status status = scene->Commit(c.edits, 2).status();
    EXPECT_EQ(status.code(), c.code);
    EXPECT_EQ(Violations(status)[0].field, c.field);
  }
  EXPECT_EQ(scene->Commit({AddPolygon{Square(9, 0)}}, 2, {3, 100}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(scene->Commit({}, 2).value()->polygon_count(), 3u);
}

TEST(SceneTest, CommitNamesSixteenOffencesAndTheirNumber) {
  const Scene::Ptr scene = Scene::Create({}, 1).value();
  std::vector<SceneEdit> edits;
  for (uint64_t i = 0; i < 100; ++i) edits.push_back(RemovePolygon{i});
  const absl::Status status = scene->Commit(std::move(edits), 2).status();
  EXPECT_EQ(Violations(status).size(), 16u);
  EXPECT_NE(std::string(status.message()).find("100 violations"), std::string::npos);
}

}  // namespace
}  // namespace carom::scene_test
