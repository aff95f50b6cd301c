// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The memory of eyes never changes an answer.

#include "carom/eye_tracker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "carom/area.h"
#include "carom/sees.h"
#include "tests/core/area/area_cases.h"
#include "tests/core/grid_scenes.h"
#include "tests/support/repeats.h"

namespace carom::testing::eye_tracker_test {
namespace {

bool HaveSameBits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void Add(const EyeTiers& tiers, EyeTiers& sum) {
  sum.quiet += tiers.quiet;
  sum.refresh += tiers.refresh;
  sum.cold += tiers.cold;
}

// Eyes that walk, each with its tracker.
struct Walkers {
  Walkers(Random& random, const Grid& the_grid, size_t count) : grid(the_grid), trackers(count) {
    for (size_t i = 0; i < count; ++i) {
      const Vec2 at = grid.Point(random);
      x.push_back(at.x);
      y.push_back(at.y);
      range.push_back(grid.scale * (1 + 12 * random.Unit()));
      step.push_back(grid.scale * std::ldexp(1.0, -random.Below(14)));
      category.push_back(random.Below(4) == 0 ? 2 : 3);
    }
  }

  // Most steps are small, some go anywhere. Some ranges change, and some eyes stand.
  void Move(Random& random) {
    for (size_t i = 0; i < x.size(); ++i) {
      const int choice = random.Below(40);
      if (choice == 0) {
        const Vec2 at = grid.Point(random);
        x[i] = at.x;
        y[i] = at.y;
      } else if (choice > 4) {
        x[i] += step[i] * (random.Unit() - 0.3);
        y[i] += step[i] * (random.Unit() - 0.5);
      }
      if (choice == 1) range[i] *= 1.25;
      if (choice == 2) range[i] *= 0.75;
      if (choice == 3) category[i] ^= 1;
    }
  }

  AreaColumns columns(bool has_trackers) {
    AreaColumns made{x, y, range, {}, {}, {.mask = category}};
    if (has_trackers) made.trackers = trackers;
    return made;
  }

  Grid grid;
  std::vector<double> x, y, range, step;
  std::vector<uint64_t> category;
  std::vector<EyeTracker> trackers;
};

void ExpectSame(const World& world, Walkers& walkers, const AreaOptions& options, Against against,
                const std::string& what, EyeTiers& tiers) {
  AreaAnswers with, without;
  WorkMeter meter;
  AreaColumns tracked = walkers.columns(true), cold = walkers.columns(false);
  tracked.scope.against = cold.scope.against = against;
  ASSERT_TRUE(FindAreas(world, tracked, options, with, meter));
  ASSERT_TRUE(FindAreas(world, cold, options, without, meter));
  ASSERT_EQ(with.counts, without.counts) << what;
  ASSERT_TRUE(with.pieces == without.pieces) << what;
  ASSERT_TRUE(HaveSameBits(with.areas, without.areas)) << what;
  ASSERT_EQ(with.starts_inside, without.starts_inside) << what;
  EXPECT_EQ(without.tiers, EyeTiers());
  Add(with.tiers, tiers);
}

// Polygons of other categories, too, and edits while the eyes walk.
Scene::Ptr Edited(Random& random, const Scene::Ptr& scene, const Grid& grid, uint64_t version) {
  if (scene->polygon_count() == 0) return scene;
  const Polygon& polygon =
      scene->polygon(static_cast<size_t>(random.Below(static_cast<int>(scene->polygon_count()))));
  if (random.Below(2) == 0) {
    return scene->Commit({RemovePolygon{polygon.id()}}, version).value();
  }
  PolygonSpec spec = polygon.spec();
  spec.category = 1 + static_cast<uint64_t>(random.Below(3));
  const Vec2 by = grid.Point(random);
  for (RingSpec& ring : spec.rings) {
    for (Vec2& vertex : ring.vertices) vertex = {vertex.x + by.x / 8, vertex.y + by.y / 8};
  }
  return scene->Commit({ReplacePolygon{Polygon::Create(spec).value()}}, version).value();
}

Shape Square(double side) {
  PolygonSpec spec;
  spec.id = 1;
  spec.rings.push_back({{{0, 0}, {side, 0}, {side, side}, {0, side}}});
  return Shape(Polygon::Create(spec).value());
}

// Scenes of many polygons, of which eyes see few.
TEST(EyeTrackerTest, HiddenEdgesAreLeftOut) {
  Random random(82);
  EyeTiers tiers;
  for (int i = 0; i < Repeats(60, 2000); ++i) {
    const GridScene grid = AnyGridScene(random, 200);
    Scene::Ptr scene = Made(grid, random, 200);
    const Grid walk{static_cast<int>(grid.size) + 1, grid.scale, 20};
    Walkers walkers(random, walk, 6);
    for (size_t k = 0; k < walkers.x.size(); ++k) {
      walkers.x[k] += grid.corner.x;
      walkers.y[k] += grid.corner.y;
    }
    for (int step = 0; step < 40; ++step) {
      if (random.Below(12) == 0) scene = Edited(*scene, grid, random, 200);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*scene, walkers, {}, Against::kScene,
                                         absl::StrFormat("case %d, step %d", i, step), tiers));
      walkers.Move(random);
    }
  }
  EXPECT_GT(tiers.quiet, tiers.cold / 8) << tiers.quiet << " " << tiers.refresh;
}

// Observers look only in the directions of bodies, with and without their memories.
TEST(EyeTrackerTest, SeenBodiesAreThoseWithoutTrackers) {
  Random random(83);
  EyeTiers tiers;
  for (int i = 0; i < Repeats(100, 3000); ++i) {
    const Grid grid{4 + random.Below(8), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    const Scene::Ptr scene = RandomScene(random, grid).scene;
    Walkers walkers(random, {grid.size * 2, grid.scale, 20}, 6);
    const Shape shapes[] = {Square(grid.scale / 4),
                            Shape::Create(Capsule{{{0, 0}, {0, 0}}, grid.scale / 3}).value()};
    for (int step = 0; step < 40; ++step) {
      std::vector<double> x, y;
      std::vector<uint32_t> shape;
      for (uint32_t k = 0; k < 12; ++k) {
        const Vec2 at = grid.Point(random);
        x.push_back(at.x);
        y.push_back(at.y);
        shape.push_back(k % 2);
      }
      const Bodies bodies = Bodies::Create({{shapes, shape, x, y}}).value();
      SeeOptions options;
      options.margin = step % 3 == 0 ? grid.scale / 8 : 0;
      SeeAnswers with, without;
      WorkMeter meter;
      ASSERT_TRUE(FindSeen({*scene, &bodies}, walkers.columns(true), options, with, meter));
      ASSERT_TRUE(FindSeen({*scene, &bodies}, walkers.columns(false), options, without, meter));
      ASSERT_EQ(with.seen, without.seen) << "case " << i << ", step " << step;
      ASSERT_EQ(with.starts_inside, without.starts_inside);
      Add(with.tiers, tiers);
      walkers.Move(random);
    }
  }
  EXPECT_GT(tiers.quiet, tiers.cold / 8) << tiers.quiet << " " << tiers.refresh;
}

// An eye that stands has a memory from its second question on, and copies have their own.
TEST(EyeTrackerTest, MemoriesAreMadeCopiedAndDropped) {
  const std::vector<Polygon> walls = {*Square(1).polygon()};
  const Scene::Ptr scene = Scene::Create(walls).value();
  std::vector<EyeTracker> trackers(1);
  const size_t empty = trackers[0].memory_bytes();
  const double x[] = {-2}, y[] = {0.5}, range[] = {4};
  AreaAnswers out;
  const auto ask = [&](std::vector<EyeTracker>& of) {
    WorkMeter meter;
    AreaColumns eyes{x, y, range};
    eyes.trackers = of;
    EXPECT_TRUE(FindAreas(*scene, eyes, {}, out, meter));
    return out.tiers;
  };
  EXPECT_EQ(ask(trackers), (EyeTiers{0, 0, 1}));
  EXPECT_EQ(ask(trackers), (EyeTiers{0, 1, 0}));
  EXPECT_EQ(ask(trackers), (EyeTiers{1, 0, 0}));
  EXPECT_GT(trackers[0].memory_bytes(), empty);
  std::vector<EyeTracker> copies = trackers;
  trackers[0].Forget();
  EXPECT_EQ(trackers[0].memory_bytes(), empty);
  EXPECT_EQ(ask(copies), (EyeTiers{1, 0, 0}));
  EXPECT_EQ(ask(trackers), (EyeTiers{0, 0, 1}));
}

TEST(EyeTrackerTest, AreasAreThoseWithoutTrackers) {
  Random random(81);
  EyeTiers tiers;
  for (int i = 0; i < Repeats(300, 6000); ++i) {
    const Grid grid{4 + random.Below(8), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
    Scene::Ptr scene = RandomScene(random, grid).scene;
    Walkers walkers(random, {grid.size * 2, grid.scale, 20}, 6);
    const Shape square = Square(grid.scale / 4);
    AreaOptions options;
    options.inside_policy = i % 3 == 0 ? InsidePolicy::kReportStart : InsidePolicy::kIgnore;
    for (uint64_t step = 0; step < 40; ++step) {
      if (random.Below(12) == 0) scene = Edited(random, scene, grid, 2 + step);
      const Vec2 at[] = {grid.Point(random), grid.Point(random)};
      const double x[] = {at[0].x, at[1].x}, y[] = {at[0].y, at[1].y};
      const uint32_t shape[] = {0, 0};
      const Bodies bodies = Bodies::Create({{{&square, 1}, shape, x, y}}).value();
      const Against against = step % 4 == 0 ? Against::kBoth : Against::kScene;
      ASSERT_NO_FATAL_FAILURE(ExpectSame({*scene, &bodies}, walkers, options, against,
                                         absl::StrFormat("case %d, step %d", i, step), tiers));
      walkers.Move(random);
    }
  }
  EXPECT_GT(tiers.quiet, tiers.cold / 8) << tiers.quiet << " " << tiers.refresh;
  EXPECT_GT(tiers.refresh, 0u);
}

}  // namespace
}  // namespace carom::testing::eye_tracker_test
