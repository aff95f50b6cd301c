// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Players that are pushed about every shared scene: none overlaps anything, crosses a wall or gets
// stuck. One case for each file of scenes; about a million player-ticks in the long suite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "client/formats/scene_reader.h"
#include "tests/conformance/fixture.h"
#include "tests/core/slide/slide_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

// A pose at which the player overlaps nothing, upright or turned, no farther than `within` by
// coordinate from some vertex; nothing where there is hardly room for it.
std::optional<Pose> FreePose(const Player& player, double within, Random& random) {
  const auto pick = [&](size_t n) {
    return static_cast<size_t>(random.Below(static_cast<int>(n)));
  };
  const CosSin turn = random.Below(2) == 0 ? CosSin{1, 0} : SinCos(6.28 * random.Unit());
  for (int i = 0; i < 200; ++i) {
    const Polygon& polygon = player.scene.polygon(pick(player.scene.polygon_count()));
    const Vec2 vertex = polygon.vertices()[pick(polygon.vertex_count())];
    const Pose pose{
        {vertex.x + within * (2 * random.Unit() - 1), vertex.y + within * (2 * random.Unit() - 1)},
        turn.c,
        turn.s};
    if (!Overlaps(player, pose)) return pose;
  }
  return std::nullopt;
}

// A player of one of the shapes and of some size, who walks from somewhere.
void WalkSomebody(const Scene& scene, size_t shape, int ticks, Random& random, WalkCounts& counts) {
  const Box& box = scene.bounds();
  const double extent = std::max(box.max.x - box.min.x, box.max.y - box.min.y);
  const double size = extent * 0.002 * std::pow(20.0, random.Unit());
  const double reach = size * 0.2 * std::pow(20.0, random.Unit());
  const std::vector<Shape> shapes = PlayerShapes(size);
  const Player player{scene, shapes[shape % shapes.size()], 0, reach};
  if (const std::optional<Pose> pose = FreePose(player, 2 * size, random)) {
    Walk(player, *pose, ticks, random, counts);
  }
}

class SlideScenesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SlideScenesTest, PlayersNeverOverlapCrossOrGetStuck) {
  CAROM_NEEDS_SHARED_DIR(data);
  const absl::StatusOr<SceneFile> file = SceneFile::Read(data + "/scenes/" + GetParam() + ".jsonl");
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<Scene::Ptr> scenes;
  for (size_t i = 0; i < file->size(); ++i) {
    absl::StatusOr<std::vector<Polygon>> polygons = file->polygons(i);
    ASSERT_TRUE(polygons.ok()) << polygons.status();
    if (!polygons->empty()) scenes.push_back(Scene::Create(*std::move(polygons)).value());
  }
  ASSERT_FALSE(scenes.empty());

  const int wanted = Repeats(4000, 112000);  // nine files
  const size_t players = 2 * static_cast<size_t>(wanted) / 50;
  WalkCounts counts;
  Random random(1919);
  for (size_t i = 0; i < players && counts.ticks < wanted && !HasFailure(); ++i) {
    const size_t scene = i % scenes.size();
    SCOPED_TRACE(absl::StrCat("scene ", scene, ", player ", i));
    WalkSomebody(*scenes[scene], i / scenes.size() + i, 50, random, counts);
  }
  GTEST_LOG_(INFO) << counts.ticks << " ticks, " << counts.blocked << " blocked, "
                   << counts.overlapping << " overlapping, " << counts.crossing << " crossing, "
                   << counts.stuck << " stuck, " << counts.continued << " continued";
  EXPECT_GE(counts.ticks, wanted);
  EXPECT_GT(counts.blocked, counts.ticks / 8);
  EXPECT_EQ(counts.overlapping, 0);
  EXPECT_EQ(counts.crossing, 0);
  EXPECT_EQ(counts.stuck, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, SlideScenesTest,
                         ::testing::Values("box2d", "clipper2", "earcut", "godot", "jts_wkt",
                                           "ldtk", "natural_earth", "polyanya", "world_geo"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace carom::testing
