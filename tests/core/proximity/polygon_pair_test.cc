// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Two large polygons against every pair of their edges.

#include "proximity/polygon_pair.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "carom/predicates.h"
#include "tests/core/shape/large_rings.h"

namespace carom::testing::polygon_pair_test {
namespace {

using internal::LocateInPolygon;
using internal::MovingShape;
using internal::PolygonPair;

bool Holds(const IndexedPolygon& polygon, Vec2 p) {
  WorkMeter meter;
  return LocateInPolygon(polygon, p, meter).location != Location::kOutside;
}

struct Expected {
  bool overlap = false;
  std::vector<EdgeRef> edges = {};
};

// By the definition: a fixed edge meets a moving one or has an end inside.
Expected Answer(const IndexedPolygon& fixed, const IndexedPolygon& moving) {
  Expected answer;
  const Polygon& a = fixed.polygon();
  const Polygon& b = moving.polygon();
  for (size_t i = 0; i < a.edge_count(); ++i) {
    bool meets = Holds(moving, a.edge(i).a);
    for (size_t k = 0; k < b.edge_count() && !meets; ++k) meets = Intersects(a.edge(i), b.edge(k));
    if (meets) answer.edges.push_back(a.edge_ref(i));
  }
  answer.overlap = !answer.edges.empty();
  for (size_t r = 0; r < b.ring_count(); ++r) {
    answer.overlap = answer.overlap || Holds(fixed, b.ring(r).front());
  }
  return answer;
}

void ExpectAnswers(const PolygonSpec& a, const PolygonSpec& b) {
  const IndexedPolygon fixed(Polygon::Create(a).value());
  const Polygon mover = Polygon::Create(b).value();
  const Expected expected = Answer(fixed, IndexedPolygon(mover));
  for (const bool is_placed : {false, true}) {
    WorkMeter meter;
    MovingShape moving;
    moving.MoveTo(mover, {});
    ASSERT_TRUE(moving.IsAccepted());
    if (is_placed) moving.polygon().MakeIndex();
    PolygonPair pair(fixed, moving, meter);
    ASSERT_EQ(pair.Overlap(), expected.overlap) << ToCode(a) << ToCode(b);
    std::vector<EdgeRef> edges;
    pair.AppendEdges(edges);
    ASSERT_EQ(edges, expected.edges) << ToCode(a) << ToCode(b);
  }
}

TEST(PolygonPairTest, AnswersAsALookAtEveryPair) {
  Random random(51);
  for (int round = 0; round < 600; ++round) {
    const PolygonSpec a = RandomLarge(random);
    const PolygonSpec b = RandomLarge(random);
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers(a, b));
  }
}

// The teeth of one between those of the other, apart by one ulp, touching, and crossing: many edges
// of both near each other, and no vertex inside.
TEST(PolygonPairTest, InterlockedCombs) {
  for (const size_t teeth : {2u, 8u, 40u}) {
    Ring up = Comb(4 * teeth);
    Ring down = up;
    for (Vec2& p : down) p = {p.x + 2.5, 101 - p.y};
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers({1, {{up}}}, {2, {{down}}}));
    for (const double lift : {1.0, std::nextafter(1.0, 2), std::nextafter(1.0, 0)}) {
      Ring moved = down;
      for (Vec2& p : moved) p.y += lift - 2;
      ASSERT_NO_FATAL_FAILURE(ExpectAnswers({1, {{up}}}, {2, {{moved}}}));
    }
  }
}

// Small shapes on large ones, and the other way round.
TEST(PolygonPairTest, SmallAndLarge) {
  Random random(52);
  for (int round = 0; round < 300; ++round) {
    Ring large = round % 3 == 0 ? Star(1500) : round % 3 == 1 ? Comb(120) : Coast(random, 1500);
    Ring small = round % 2 == 0 ? Star(40) : Ring{{0, 0}, {90, 1}, {80, 70}};
    const double scale = round % 5 == 0 ? 0.01 : random.Unit();
    Transform(small, scale, {200 * random.Unit() - 100, 200 * random.Unit() - 100});
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers({1, {{large}}}, {2, {{small}}}));
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers({1, {{small}}}, {2, {{large}}}));
  }
}

TEST(PolygonPairTest, TheWorkStopsWithTheMeter) {
  const IndexedPolygon fixed(Polygon::Create({1, {{Comb(40000)}}}).value());
  Ring down = Comb(40000);
  for (Vec2& p : down) p = {p.x + 2.5, 100.5 - p.y};
  const Polygon mover = Polygon::Create({2, {{down}}}).value();
  MovingShape moving;
  moving.MoveTo(mover, {});
  WorkMeter* asked = nullptr;
  WorkMeter meter([&] { return asked->used() >= 5000; });
  asked = &meter;
  PolygonPair(fixed, moving, meter).Overlap();
  EXPECT_LE(meter.used(), 5000 + 2 * WorkMeter::kInterval);
}

}  // namespace
}  // namespace carom::testing::polygon_pair_test
