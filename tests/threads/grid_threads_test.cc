// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Squares of cells are made by whoever comes first, while others read them and commits share them
// with the next version. Whoever asks gets the same answers. What this guards are the atomic
// pointers and counts of index/scene_grid.h, under the thread sanitizer above all.

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "carom/cast.h"
#include "carom/distance.h"
#include "carom/scene.h"
#include "index/scene_index.h"
#include "tests/support/repeats.h"

namespace carom::testing::grid_threads_test {
namespace {

constexpr int kSide = 60;

Polygon Box(uint64_t id, double x, double y, double side) {
  const std::vector<Vec2> ring{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}};
  return Polygon::Create({.id = id, .rings = {{ring}}}).value();
}

Scene::Ptr Board() {
  std::vector<Polygon> polygons;
  for (int i = 0; i < kSide * kSide; ++i) {
    polygons.push_back(Box(static_cast<uint64_t>(i), i % kSide, i / kSide, 0.5));
  }
  return Scene::Create(std::move(polygons)).value();
}

// What lines and points all over the board find.
struct Answers {
  std::vector<uint64_t> hits;
  std::vector<double> fractions;
  std::vector<uint64_t> nearest;

  friend bool operator==(const Answers&, const Answers&) = default;
};

Answers Ask(const Scene& scene) {
  std::vector<double> ax, ay, bx, by;
  for (int i = 0; i < 2 * kSide; ++i) {
    const double at = 0.5 * i + 0.2;
    ax.push_back(i % 2 == 0 ? 0.7 : at);
    ay.push_back(i % 2 == 0 ? at : 0.8);
    bx.push_back(ax.back() + (i % 2 == 0 ? kSide : 0.4));
    by.push_back(ay.back() + (i % 2 == 0 ? 0.3 : kSide));
  }
  Answers answers;
  WorkMeter meter;
  CastAnswers cast;
  EXPECT_TRUE(CastSegments(scene, {ax, ay, bx, by}, {}, cast, meter));
  for (const CastHit& hit : cast.hits) {
    answers.hits.push_back(hit.polygon_id);
    answers.fractions.push_back(hit.fraction);
  }
  const std::vector<Shape> shapes{Shape::Create(Capsule{}).value()};
  const std::vector<uint32_t> which(ax.size(), 0);
  DistanceAnswers distance;
  const DistanceOptions options{DistanceMode::kNearest};
  EXPECT_TRUE(MeasureDistances(scene, {{shapes, which, ax, ay}, {}}, options, distance, meter));
  answers.nearest = distance.polygon_ids;
  return answers;
}

// Some of the polygons one after the other, each upon the version before.
Scene::Ptr Committed(Scene::Ptr scene) {
  for (uint64_t i = 0; i < 8; ++i) {
    const uint64_t id = i * 450 + 7;
    std::vector<SceneEdit> edits;
    edits.emplace_back(ReplacePolygon{
        Box(id, static_cast<double>(id % kSide), static_cast<double>(id / kSide), 0.75)});
    scene = scene->Commit(std::move(edits), scene->version() + 1).value();
  }
  return scene;
}

TEST(GridThreadsTest, TwoMakeSquaresWhileACommitSharesThem) {
  const Scene::Ptr quiet = Board();
  const Answers expected = Ask(*quiet);
  const Answers expected_after = Ask(*Committed(quiet));
  ASSERT_NE(expected, expected_after);
  for (int round = 0; round < Repeats(20, 1000) && !::testing::Test::HasFailure(); ++round) {
    const Scene::Ptr scene = Board();
    ASSERT_FALSE(scene->index().grid().empty());
    Answers first, second, after;
    std::barrier start(3);
    std::thread one([&] {
      start.arrive_and_wait();
      first = Ask(*scene);
    });
    std::thread other([&] {
      start.arrive_and_wait();
      second = Ask(*scene);
    });
    start.arrive_and_wait();
    after = Ask(*Committed(scene));
    one.join();
    other.join();
    EXPECT_EQ(first, expected);
    EXPECT_EQ(second, expected);
    EXPECT_EQ(after, expected_after);
  }
}

}  // namespace
}  // namespace carom::testing::grid_threads_test
