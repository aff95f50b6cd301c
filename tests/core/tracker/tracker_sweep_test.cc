// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Moves with a pose to start from: what a tracker touches first on its path.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/cast.h"
#include "carom/sweep.h"
#include "carom/tracker.h"
#include "numeric/expansion.h"
#include "tests/core/random_mover.h"
#include "tests/core/random_scene.h"
#include "tests/core/tracker/tracker_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::tracker_sweep_test {
namespace {

using ::testing::ElementsAre;

// Story: between two frames a shape may pass through a wall. Asked as a sweep, it is found.
TEST(TrackerSweepTest, ASweepFindsWhatWasTunnelled) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {4, -10}, {5, 10}), BoxSpec(3, {6, -10}, {7, 10})});
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
    std::vector<Tracker> trackers(1, UnitDisc());
    const double from = 0;
    const double to = 20;
    const double y = 0;
    MoveColumns moves{trackers, {}, {&to, 1}, {&y, 1}};
    MoveAnswers answers;
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(1));
    moves.from_x = {&from, 1};
    moves.from_y = {&y, 1};
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(0));
    EXPECT_THAT(answers.counts, ElementsAre(0));
    const double fraction = std::nextafter(0.15, 1);  // of a disc: 3/20 rounded up
    EXPECT_THAT(answers.first_touches,
                ElementsAre(FirstTouch{true, 7, fraction, fraction, true, {0, 3}, {-1, 0}}));
  }
}

// Whether a displacement is the exact difference of two coordinates, none of which is read as 0.
bool IsExact(double to, double from) {
  const internal::TwoDoubles difference = internal::TwoDiff(to, from);
  const auto is_read = [](double v) { return v == 0 || std::abs(v) >= kSmallestMagnitude; };
  return difference.low == 0 && is_read(difference.high) && is_read(to) && is_read(from);
}

// Paths from random points to others, some of them upright.
struct Paths {
  Paths(Random& random, const Grid& grid, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const Vec2 from = grid.Point(random);
      const Vec2 to = grid.Point(random);
      from_x.push_back(from.x);
      from_y.push_back(from.y);
      x.push_back(random.Below(4) == 0 ? from.x : to.x);
      y.push_back(to.y);
    }
  }

  bool IsExactAt(size_t i) const { return IsExact(x[i], from_x[i]) && IsExact(y[i], from_y[i]); }

  std::vector<double> x, y, from_x, from_y;
};

// Sets the edge and the normal to those of a cast from the start to the end.
void SetEdge(const CastHit& hit, FirstTouch& touch) {
  touch.has_edge = hit.feature != Feature::kNone;
  if (touch.has_edge) touch.edge = hit.edge;
  touch.normal = hit.normal;
}

// Law: the path of a sweep is answered as `SweepShapes` has it. Those of points go by casts, from
// which displacements of sweeps differ where they are rounded.
TEST(TrackerSweepTest, APathIsThatOfASweep) {
  int touched = 0;
  int compared = 0;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Repeats(400, 20000)); ++seed) {
    Random random(7000 + seed);
    Grid grid;
    grid.scale = std::ldexp(1.0, random.Below(40) - 20);
    grid.mixed = seed % 3 == 0;
    std::vector<Polygon> polygons;
    for (uint64_t id = 0; id < 6; ++id) {
      polygons.push_back(Polygon::Create(RandomPolygon(random, grid, id)).value());
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    const Vec2 at = random.Below(3) == 0 ? grid.Point(random) : Vec2{};
    const Shape point = Shape::Create(Capsule{{at, at}, 0}).value();
    const std::vector<Shape> shapes(20, point);
    const Paths paths(random, grid, shapes.size());
    const auto& [x, y, from_x, from_y] = paths;
    SweepAnswers sweeps;
    WorkMeter meter;
    ASSERT_TRUE(
        SweepShapes(*scene, {{shapes, {}, from_x, from_y, {}, {}, {}}, x, y}, {}, sweeps, meter));
    CastAnswers casts;
    ASSERT_TRUE(CastSegments(*scene, {from_x, from_y, x, y}, {}, casts, meter));
    for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
      std::vector<Tracker> trackers(shapes.size(), Tracker::Create(point).value());
      MoveAnswers answers;
      ASSERT_TRUE(MoveTrackers(*scene, {trackers, {}, x, y, {}, {}, {}, from_x, from_y},
                               {OverlapDetail::kIds, coherence}, answers, meter));
      size_t row = 0, next = 0, cast_row = 0;
      for (size_t i = 0; i < shapes.size(); ++i) {
        FirstTouch first;
        if ((answers.clear[i / 64] >> (i % 64) & 1) == 0) first = answers.first_touches[next++];
        FirstTouch expected;
        if (sweeps.counts[i] > 0) {
          const SweepHit& hit = sweeps.hits[row++];
          expected = {true, hit.polygon_id, hit.fraction, hit.fraction};
          ++touched;
        }
        // The end of a move must be accepted too.
        const bool is_error = std::ranges::any_of(
            answers.errors, [&](const ItemError& error) { return error.index == i; });
        expected.has_edge = first.has_edge;
        expected.edge = first.edge;
        expected.normal = first.normal;
        if (at == Vec2{} && paths.IsExactAt(i) && expected.touches && !is_error) {
          ASSERT_EQ(casts.counts[i], 1);
          SetEdge(casts.hits[cast_row], expected);
          ++compared;
        }
        cast_row += casts.counts[i];
        ASSERT_EQ(first, is_error ? FirstTouch{} : expected) << "seed " << seed << " item " << i;
      }
    }
  }
  EXPECT_GT(touched, 1000);
  EXPECT_GT(compared, 500);
}

// A bar that turns by half a turn hits what it touches at neither end.
TEST(TrackerSweepTest, ASweepThatTurnsFindsWhatItTouchesFirst) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {-0.5, 4}, {0.5, 5})});
  const Tracker bar =
      Tracker::Create(Polygon::Create(BoxSpec(0, {0, -0.1}, {6, 0.1})).value()).value();
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
    std::vector<Tracker> trackers(1, bar);
    const double zero = 0;
    const double angle = 3;
    MoveColumns moves{trackers, {}, {&zero, 1}, {&zero, 1}, {}, {}, {&angle, 1}};
    moves.from_x = moves.from_y = moves.from_angle = {&zero, 1};
    MoveAnswers answers;
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.counts, ElementsAre(0));
    ASSERT_EQ(answers.first_touches.size(), 1);
    const FirstTouch& touch = answers.first_touches[0];
    EXPECT_TRUE(touch.touches);
    EXPECT_EQ(touch.polygon_id, 7);
    EXPECT_LE(touch.low, touch.high);
    EXPECT_FALSE(touch.has_edge);
    EXPECT_EQ(touch.normal, Vec2{});
    // The bar's upper side passes the corner (0.5, 4) a little before the bar stands upright.
    const double expected_time = (std::atan2(4, 0.5) - std::asin(0.1 / std::hypot(4, 0.5))) / 3;
    EXPECT_NEAR(touch.high, expected_time, 0.01);
    EXPECT_LE(touch.low, expected_time);
  }
}

TEST(TrackerSweepTest, WhatIsWrongWithTheStartOfASweep) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {0, 0}, {4, 4})});
  const Tracker box =
      Tracker::Create(Polygon::Create(BoxSpec(0, {-4, -4}, {4, 4})).value()).value();
  std::vector<Tracker> trackers(5, box);
  const std::vector<double> x{9, 9, 9, 9, -0x1p52};
  const std::vector<double> y{9, 9, 9, 9, 9};
  const std::vector<double> angle{0, 0, 0, 0, 0};
  const std::vector<double> from_x{9, HUGE_VAL, 9, 0x1p53, 0x1.8p52};
  const std::vector<double> from_y{9, 9, 9, 9, 9};
  const std::vector<double> from_angle{0, 0, 0x1p30, 0, 0};
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff, Coherence::kOn}) {
    MoveAnswers answers;
    WorkMeter meter;
    const MoveColumns moves{trackers, {}, x, y, {}, {}, angle, from_x, from_y, {}, {}, from_angle};
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(1));
    EXPECT_EQ(answers.first_touches.size(), 4);
    EXPECT_THAT(answers.errors,
                ElementsAre(ItemError{1, ItemColumn::kFromX, ItemFault::kNotAccepted},
                            ItemError{2, ItemColumn::kFromAngle, ItemFault::kAngleOutOfRange},
                            ItemError{3, ItemColumn::kFromX, ItemFault::kPlacedOutOfRange},
                            ItemError{4, ItemColumn::kX, ItemFault::kNotAccepted}));
  }
}

}  // namespace
}  // namespace carom::testing::tracker_sweep_test
