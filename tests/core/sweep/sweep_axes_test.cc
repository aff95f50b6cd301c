// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What separating axes say of a sweep, beside the exact search over all edges.
#include "sweep/sweep_axes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "sweep/sweep_passage.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::testing::sweep_axes_test {
namespace {

using internal::Motion;
using internal::MovingShape;
using internal::PlacedShape;
using internal::SweepAxes;
using internal::SweepEvent;
using internal::SweepPair;
using internal::TouchBounds;

// Shapes about the origin, of about the size 1, and places for them: anywhere, or in steps of a
// quarter, so that much touches, ties and runs along. Then all is scaled and moved.
class Cases {
 public:
  explicit Cases(uint64_t seed) : random_(seed), is_lattice_(Below(2) == 0) {
    scale_ = std::ldexp(1, static_cast<int>(Below(5)) * 12 - 24);
    const double far = Below(3) == 0 ? 0x1p20 * scale_ : 0;
    offset_ = {far, -far};
  }

  Vec2 Step(double reach) { return {scale_ * Coordinate(reach), scale_ * Coordinate(reach)}; }
  Vec2 Place(double reach) {
    const Vec2 step = Step(reach);
    return {offset_.x + step.x, offset_.y + step.y};
  }
  std::vector<Vec2> Ring() {
    std::vector<Vec2> ring;
    const size_t count = 3 + Below(7);
    const bool is_clockwise = Below(2) == 0;
    if (is_lattice_) {
      const double w = 0.25 + 0.25 * static_cast<double>(Below(4));
      const double h = 0.25 + 0.25 * static_cast<double>(Below(4));
      ring = {{0, 0}, {w, 0}, {w, h}, {0, h}};
      if (Below(3) == 0) ring.pop_back();
    } else {
      std::vector<double> angles;
      for (size_t i = 0; i < count; ++i) angles.push_back(2 * std::numbers::pi * random_.Unit());
      std::ranges::sort(angles);
      for (const double angle : angles) ring.push_back({std::cos(angle), std::sin(angle)});
    }
    if (is_clockwise) std::ranges::reverse(ring);
    for (Vec2& p : ring) p = {scale_ * p.x, scale_ * p.y};
    return ring;
  }
  Polygon Fixed() {
    const Vec2 at = Place(2);
    std::vector<Vec2> ring = Ring();
    for (Vec2& p : ring) p = {p.x + at.x, p.y + at.y};
    return Polygon::Create({7, {{ring}}}).value();
  }
  Shape Mover() {
    if (Below(3) != 0) return Shape(Polygon::Create({0, {{Ring()}}}).value());
    const double radius = std::abs(Coordinate(1)) * scale_;
    return Shape::Create(Capsule{{Step(1), Step(1)}, Below(4) == 0 ? 0 : radius}).value();
  }
  uint64_t Below(uint64_t bound) { return random_.Next() % bound; }

 private:
  double Coordinate(double reach) {
    const double value = reach * (2 * random_.Unit() - 1);
    return is_lattice_ ? std::round(4 * value) / 4 : value;
  }

  SplitMix64 random_;
  bool is_lattice_;
  double scale_;
  Vec2 offset_;
};

void ExpectEqual(const std::optional<SweepEvent>& a, const std::optional<SweepEvent>& b,
                 const Motion& motion) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_EQ(a->touch.time.Rounded(motion), b->touch.time.Rounded(motion));
  EXPECT_EQ(a->touch.fixed_edge, b->touch.fixed_edge);
  EXPECT_EQ(a->touch.moving_edge, b->touch.moving_edge);
  EXPECT_EQ(a->first_edge, b->first_edge);
}

TEST(SweepAxesTest, SayNothingThatIsWrong) {
  const int cases = Repeats(40000, 10000000);
  int apart = 0, touching = 0, by_guess = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(absl::StrFormat("case %d", i));
    Cases random(0x5a7e0000 + static_cast<uint64_t>(i));
    const IndexedPolygon fixed(random.Fixed());
    const Shape shape = random.Mover();
    MovingShape mover;
    if (!mover.Place(shape, Pose{random.Place(2)})) continue;
    const PlacedShape view = mover.View();
    const Motion motion{random.Below(20) == 0 ? Vec2{} : random.Step(4), view.radius()};
    SweepAxes axes;
    axes.Start(view, motion);
    const std::optional<TouchBounds> bounds = axes.Bound(fixed);
    if (!bounds) continue;
    ++apart;
    EXPECT_LE(bounds->low, bounds->high);
    SweepPair pair;
    pair.Start(view, motion);
    WorkMeter meter;
    EXPECT_FALSE(pair.HoldsRingAtStart(fixed, meter));
    const std::optional<SweepEvent> event = pair.FirstTouch(fixed, 1, meter);
    if (!event) continue;
    ++touching;
    const double t = event->touch.time.high();
    EXPECT_FALSE(event->touch.time.is_zero());
    ASSERT_GE(t, bounds->low);
    by_guess += t <= bounds->high ? 1 : 0;
    // With any limit that it is not beyond, the same event.
    for (const double limit : {1.0, t}) {
      ExpectEqual(pair.FirstTouch(fixed, limit, *bounds, meter), event, motion);
    }
  }
  std::printf("apart %d, of these touching %d, as soon as guessed %d\n", apart, touching, by_guess);
  EXPECT_GT(touching, cases / 20);
  EXPECT_GT(by_guess, touching / 2);
}

// What is too large, not convex or of several rings is left to the general search.
TEST(SweepAxesTest, AreOfSmallConvexPolygons) {
  const auto bounds_of = [](const PolygonSpec& spec, const Shape& shape) {
    const IndexedPolygon fixed(Polygon::Create(spec).value());
    MovingShape mover;
    EXPECT_TRUE(mover.Place(shape, Pose{{-9, 0}}));
    SweepAxes axes;
    const PlacedShape view = mover.View();
    axes.Start(view, {{20, 0}, view.radius()});
    return axes.Bound(fixed);
  };
  const Shape disc = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
  const PolygonSpec square{1, {{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}};
  const std::optional<TouchBounds> bounds = bounds_of(square, disc);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->low, 0.4, 1e-12);
  EXPECT_NEAR(bounds->high, 0.4, 1e-12);
  const PolygonSpec notched{1, {{{{0, 0}, {1, 0}, {0.25, 0.25}, {0, 1}}}}};
  EXPECT_FALSE(bounds_of(notched, disc).has_value());
  PolygonSpec two_rings = square;
  two_rings.rings.push_back({{{2, 0}, {3, 0}, {3, 1}}});
  EXPECT_FALSE(bounds_of(two_rings, disc).has_value());
  PolygonSpec large{1, {{}}};
  for (int i = 0; i < 17; ++i) large.rings[0].vertices.push_back({i * 1.0, i * i * 0.01});
  EXPECT_FALSE(bounds_of(large, disc).has_value());
  EXPECT_FALSE(bounds_of(square, Shape(Polygon::Create(large).value())).has_value());
}

}  // namespace
}  // namespace carom::testing::sweep_axes_test
