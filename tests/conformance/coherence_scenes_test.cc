// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Trackers on random ways through every shared scene: the same bytes warm and cold. One case for
// each file of scenes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "carom/tracker.h"
#include "client/formats/scene_reader.h"
#include "tests/conformance/fixture.h"
#include "tests/core/tracker/journey.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

Tracker MakeTracker(Random& random, double size) {
  TrackerOptions options;
  if (random.Below(5) == 0) options.within = size * random.Unit();
  switch (random.Below(4)) {
    case 0:
      return Tracker::Create(Shape::Create(Capsule{{}, size * random.Unit()}).value(), options)
          .value();
    case 1:
      return Tracker::Create(Shape::Create(Capsule{{{-size, 0}, {size, 0}}, 0}).value(), options)
          .value();
    default:
      return Tracker::Create(
                 Polygon::Create({0, {StarRing(random, {}, size, 0.4, 3 + random.Below(30))}})
                     .value(),
                 options)
          .value();
  }
}

// Small steps and turns, now and then to a vertex of the scene.
void RunScene(const Scene& scene, Random& random, MoveTiers& tiers) {
  const Box& box = scene.bounds();
  const double extent = std::max(box.max.x - box.min.x, box.max.y - box.min.y);
  std::vector<Tracker> trackers;
  std::vector<double> x, y, angle;
  for (int i = 0; i < 8; ++i) {
    trackers.push_back(MakeTracker(random, extent * 0.005 * std::pow(10.0, random.Unit())));
    x.push_back(box.min.x + (box.max.x - box.min.x) * random.Unit());
    y.push_back(box.min.y + (box.max.y - box.min.y) * random.Unit());
    angle.push_back(0);
  }
  const int frames = Repeats(60, 6000);
  for (int frame = 0; frame < frames; ++frame) {
    for (size_t i = 0; i < trackers.size(); ++i) {
      const double step = extent * 0.002 * random.Unit();
      x[i] = std::clamp(x[i] + step * (2 * random.Unit() - 1), box.min.x, box.max.x);
      y[i] = std::clamp(y[i] + step * (2 * random.Unit() - 1), box.min.y, box.max.y);
      angle[i] += 0.1 * (random.Unit() - 0.5);
      if (random.Below(25) == 0) {
        const auto pick = [&](size_t n) {
          return static_cast<size_t>(random.Below(static_cast<int>(n)));
        };
        const Polygon& polygon = scene.polygon(pick(scene.polygon_count()));
        const Vec2 vertex = polygon.vertices()[pick(polygon.vertex_count())];
        x[i] = vertex.x;
        y[i] = vertex.y;
      }
    }
    MoveOptions options;
    options.detail = random.Below(3) == 0 ? OverlapDetail::kEdges : OverlapDetail::kIds;
    const MoveColumns moves{trackers, {}, x, y, {}, {}, angle};
    MoveAnswers warm, cold;
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(scene, moves, options, warm, meter));
    options.coherence = Coherence::kOff;
    ASSERT_TRUE(MoveTrackers(scene, moves, options, cold, meter));
    ASSERT_EQ(warm.clear, cold.clear);
    ASSERT_EQ(warm.counts, cold.counts);
    ASSERT_EQ(warm.polygon_ids, cold.polygon_ids);
    ASSERT_EQ(warm.edge_counts, cold.edge_counts);
    ASSERT_EQ(warm.edges, cold.edges);
    ASSERT_EQ(warm.errors, cold.errors);
    tiers.quiet += warm.tiers.quiet;
    tiers.near += warm.tiers.near;
    tiers.refresh += warm.tiers.refresh;
    tiers.cold += warm.tiers.cold;
  }
}

class CoherenceScenesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CoherenceScenesTest, WarmBytesAreColdBytes) {
  CAROM_NEEDS_SHARED_DIR(data);
  const absl::StatusOr<SceneFile> file = SceneFile::Read(data + "/scenes/" + GetParam() + ".jsonl");
  ASSERT_TRUE(file.ok()) << file.status();
  MoveTiers tiers;
  Random random(71);
  for (size_t i = 0; i < file->size(); ++i) {
    absl::StatusOr<std::vector<Polygon>> polygons = file->polygons(i);
    ASSERT_TRUE(polygons.ok()) << polygons.status();
    if (polygons->empty()) continue;
    const Scene::Ptr scene = Scene::Create(*std::move(polygons)).value();
    RunScene(*scene, random, tiers);
    ASSERT_FALSE(HasFatalFailure()) << "scene " << i;
  }
  GTEST_LOG_(INFO) << "quiet " << tiers.quiet << ", near " << tiers.near << ", refresh "
                   << tiers.refresh << ", cold " << tiers.cold;
  EXPECT_GT(tiers.quiet + tiers.near, 4 * (tiers.refresh + tiers.cold));
}

INSTANTIATE_TEST_SUITE_P(Files, CoherenceScenesTest,
                         ::testing::Values("box2d", "clipper2", "earcut", "godot", "jts_wkt",
                                           "ldtk", "natural_earth", "polyanya", "world_geo"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace carom::testing
