// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The short cut for plain cases against the general path: the same passages, to the bit.

#include "cast/fast_passage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cast/passages.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"

namespace carom::testing::fast_passage_test {
namespace {

using carom::Ray;
using carom::Segment;
using internal::FastPassage;
using internal::FastVerdict;
using internal::Fraction;
using internal::kNoEdge;
using internal::Line;
using internal::Passage;
using internal::PassageFinder;

void ExpectSame(const Fraction& a, const Fraction& b) {
  EXPECT_EQ(a.low(), b.low());
  EXPECT_EQ(a.high(), b.high());
  EXPECT_EQ(a.is_start(), b.is_start());
  EXPECT_EQ(a.is_end(), b.is_end());
  EXPECT_EQ(a.is_vertex(), b.is_vertex());
}

void ExpectSame(const internal::PassageEdge& a, const internal::PassageEdge& b) {
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.parallel, b.parallel);
  if (a.index != kNoEdge) ExpectSame(a.at, b.at);
}

class FastPassageTest : public ::testing::Test {
 protected:
  // Counts what the short cut decides, and compares it with the general path.
  void Compare(const Line& line, const Ring& ring, FillRule rule) {
    PolygonSpec spec{1, {{ring}}};
    spec.fill_rule = rule;
    const IndexedPolygon polygon(Polygon::Create(spec).value());
    FastPassage fast;
    const FastVerdict verdict = FindFast(line, polygon.polygon().ring(0), fast);
    ++all_;
    decided_ += verdict != FastVerdict::kUncertain;
    passages_ += verdict == FastVerdict::kPassage;
    internal::FastCrossings crossings;
    several_ +=
        FindFastCrossings(line, polygon.polygon().ring(0), crossings) && crossings.count > 2;

    WorkMeter meter;
    PassageFinder finder;
    finder.Start(line);
    const std::vector<Passage> found = finder.Find(polygon, meter);
    const std::vector<Passage> general = finder.FindByTouches(polygon, meter);
    if (verdict == FastVerdict::kNoPassage) {
      EXPECT_TRUE(general.empty());
    }
    if (verdict == FastVerdict::kPassage) {
      ASSERT_EQ(general.size(), 1u);
      EXPECT_EQ(fast.entry, general[0].entry.index);
      EXPECT_EQ(fast.exit, general[0].exit.index);
    }
    ASSERT_EQ(found.size(), general.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ExpectSame(found[i].begin, general[i].begin);
      ExpectSame(found[i].end, general[i].end);
      ExpectSame(found[i].entry, general[i].entry);
      ExpectSame(found[i].exit, general[i].exit);
    }
  }

  int all_ = 0;
  int decided_ = 0;
  int passages_ = 0;
  int several_ = 0;  // of more than two crossings
};

FillRule AnyRule(Random& random) {
  return random.Below(2) == 0 ? FillRule::kEvenOdd : FillRule::kNonZero;
}

// Of a segment a -> b: itself, or rays along it with any range.
Line AnyLine(Random& random, Vec2 a, Vec2 b) {
  const Vec2 along = Normalized({b.x - a.x, b.y - a.y});
  if (random.Below(2) == 0 || along == Vec2{}) return Segment{a, b};
  const double t_min = random.Below(2) == 0 ? 0 : random.Unit();
  const double t_max = random.Below(2) == 0 ? HUGE_VAL : t_min + 0.01 + random.Unit();
  return Line(Ray{a, along, t_min, t_max});
}

TEST_F(FastPassageTest, RandomConvexRingsAreAlmostAlwaysFast) {
  Random random(71);
  for (int i = 0; i < 40000 && !HasFailure(); ++i) {
    const Vec2 center{400 * random.Unit(), 400 * random.Unit()};
    const auto near = [&] {
      return Vec2{center.x + 8 * random.Unit() - 4, center.y + 8 * random.Unit() - 4};
    };
    const Vec2 a = near();
    const Line line = AnyLine(random, a, near());
    const Ring ring = Hull(RingAbout(random, center, 3, 3 + random.Below(10)));
    Compare(line, ring, AnyRule(random));
    if (HasFailure()) ADD_FAILURE() << ToCode(ring);
  }
  RecordProperty("decided_in_10000", decided_ * 10000 / all_);
  EXPECT_GE(decided_, all_ * 0.999);
  EXPECT_GE(passages_, all_ / 4);
}

// Concave and self-crossing ones too, up to and beyond what the short cut takes.
TEST_F(FastPassageTest, RandomRingsAnswerAsByTouches) {
  Random random(72);
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    const Vec2 a{random.Unit() * 8 - 4, random.Unit() * 8 - 4};
    const Line line = AnyLine(random, a, {random.Unit() * 8 - 4, random.Unit() * 8 - 4});
    const Ring ring = RingAbout(random, {0, 0}, 3, 1 + random.Below(70));
    Compare(line, ring, AnyRule(random));
    if (HasFailure()) ADD_FAILURE() << ToCode(ring);
  }
  EXPECT_GE(passages_, all_ / 20);
  EXPECT_GE(several_, all_ / 4);
}

// Everything coincides, or comes in all magnitudes.
TEST_F(FastPassageTest, RingsOfGridsAnswerAsByTouches) {
  Random random(73);
  for (int i = 0; i < 60000 && !HasFailure(); ++i) {
    const Grid grid = AnyGrid(random);
    const Ring ring =
        random.Below(2) == 0 ? RandomRing(random, grid, 9) : RandomConvexRing(random, grid);
    const Vec2 a = Normalized(grid.Point(random));
    const Line line = AnyLine(random, a, Normalized(grid.Point(random)));
    Compare(line, ring, AnyRule(random));
    if (HasFailure()) ADD_FAILURE() << ToCode(ring) << ToCode(line.origin);
  }
  EXPECT_GE(decided_, all_ / 10);
  EXPECT_LT(decided_, all_);
}

// Lines through vertices, or as near as doubles come; ends on edges, likewise.
TEST_F(FastPassageTest, NearMissesAnswerAsByTouches) {
  Random random(74);
  for (int i = 0; i < 40000 && !HasFailure(); ++i) {
    const Ring ring = RingAbout(random, {100, 50}, 3, 3 + random.Below(6));
    const auto between = [](Vec2 p, Vec2 q, double t) {
      return Vec2{p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)};
    };
    const auto any = [&] {
      return ring[static_cast<size_t>(random.Below(static_cast<int>(ring.size())))];
    };
    const Vec2 on_edge = between(ring[0], ring[1], random.Unit());
    const Vec2 from{100 + 8 * random.Unit() - 4, 50 + 8 * random.Unit() - 4};
    const Vec2 through = between(from, any(), 1 + random.Unit());
    const Segment segments[] = {
        {from, on_edge}, {on_edge, from}, {from, through}, {any(), on_edge}};
    Compare(segments[random.Below(4)], ring, AnyRule(random));
    if (HasFailure()) ADD_FAILURE() << ToCode(ring);
  }
}

TEST_F(FastPassageTest, SidesAreThoseOfTheLine) {
  Random random(75);
  int certain = 0;
  int all = 0;
  for (int i = 0; i < 20000; ++i) {
    const Grid grid = AnyGrid(random);
    const Segment segment{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    const Line line(segment);
    const auto count = static_cast<size_t>(1 + random.Below(8));
    std::vector<Vec2> points;
    for (size_t k = 0; k < count; ++k) points.push_back(Normalized(grid.Point(random)));
    const internal::CertainSides sides = SidesOf(line, points.data(), count);
    ASSERT_EQ((sides.left | sides.right) >> count, 0u);
    for (size_t k = 0; k < count; ++k) {
      const int side = line.ExactSide(points[k]);
      ASSERT_EQ(line.Side(points[k]), side);
      if ((sides.left >> k & 1) != 0) {
        ASSERT_EQ(side, 1);
      }
      if ((sides.right >> k & 1) != 0) {
        ASSERT_EQ(side, -1);
      }
      certain += ((sides.left | sides.right) >> k & 1) != 0;
      ++all;
    }
  }
  EXPECT_GT(certain, all / 2);
}

// Equal crossings; too many edges; none.
TEST_F(FastPassageTest, WhatIsUncertain) {
  FastPassage fast;
  const Line line(Segment{{0, 0}, {4, 0}});
  const Ring slit{{2, -1}, {2, 1}, {2, -1}, {2, -2}};
  EXPECT_EQ(FindFast(line, slit, fast), FastVerdict::kUncertain);
  EXPECT_EQ(FindFast(line, Ring(65, Vec2{1, 1}), fast), FastVerdict::kUncertain);
  EXPECT_EQ(FindFast(line, Ring(64, Vec2{1, 1}), fast), FastVerdict::kNoPassage);
  EXPECT_EQ(FindFast(line, {}, fast), FastVerdict::kUncertain);
}

}  // namespace
}  // namespace carom::testing::fast_passage_test
