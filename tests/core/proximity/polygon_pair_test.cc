// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Two large polygons against every pair of their edges.

#include "proximity/polygon_pair.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "carom/predicates.h"
#include "carom/sincos.h"
#include "tests/core/shape/large_rings.h"

namespace carom::testing::polygon_pair_test {
namespace {

using internal::LocateInPolygon;
using internal::MovingShape;
using internal::Outline;
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

// Poses in turn of one mover, whose edges are looked for in its own frame and placed where they may
// be near, against a copy that is placed. Both are where `pose` is, so that they come near.
void ExpectPlacedAnswers(Outline& outline, const Pose& pose, PolygonSpec fixed_spec,
                         MovingShape& moving) {
  for (RingSpec& ring : fixed_spec.rings) Transform(ring.vertices, 1, pose.position);
  auto created = Polygon::Create(fixed_spec);
  std::optional<Polygon> placed;
  // Some are out of range there.
  if (!created.ok() || !PlaceInto(outline.polygon(), pose, placed)) return;
  const IndexedPolygon fixed(*std::move(created));
  WorkMeter meter;
  moving.MoveTo(outline, pose);
  ASSERT_TRUE(moving.IsAccepted());
  for (const Vec2 v : placed->vertices()) ASSERT_TRUE(moving.bounds().Contains(v));
  const Expected expected = Answer(fixed, IndexedPolygon(*placed));
  PolygonPair pair(fixed, moving, meter);
  ASSERT_EQ(pair.Overlap(), expected.overlap) << ToCode(fixed_spec);
  std::vector<EdgeRef> edges;
  pair.AppendEdges(edges);
  ASSERT_EQ(edges, expected.edges) << ToCode(fixed_spec);
}

// Turned by right angles, which keep lattices, and by any, and as far from a rotation as accepted;
// near the origin, and where placing rounds much.
Pose AnyPose(Random& random) {
  constexpr double kFar[] = {0, 1000, 0x1p30, 0x1p44};
  const CosSin turns[] = {{1, 0}, {0, 1}, {-1, 0}, SinCos(6.283185307179586 * random.Unit())};
  CosSin turn = turns[random.Below(4)];
  if (random.Below(4) == 0) {
    const double factor = 1 + 9e-7 * (random.Unit() - 0.5);
    turn = {turn.c * factor, turn.s * factor};
  }
  const double far = kFar[random.Below(4)];
  return {Normalized({far * random.Unit(), far * random.Unit()}), turn.c, turn.s};
}

TEST(PolygonPairTest, PlacedOnlyWhereItIsNear) {
  Random random(53);
  MovingShape moving;
  for (int round = 0; round < 300; ++round) {
    PolygonSpec spec = RandomLarge(random);
    if (round % 3 == 0) {
      Ring ring = round % 2 == 0 ? Star(200) : Coast(random, 300);
      Transform(ring, 0.3, {200 * random.Unit() - 100, 200 * random.Unit() - 100});
      spec = {1, {{ring}}};
    }
    const Polygon mover = Polygon::Create(spec).value();
    Outline outline(mover);
    for (int pose = 0; pose < 4; ++pose) {
      const PolygonSpec fixed = round % 3 != 0  ? RandomLarge(random)
                                : pose % 2 == 0 ? PolygonSpec{2, {{Star(500)}}}
                                                : PolygonSpec{2, {{Coast(random, 400)}}};
      ASSERT_NO_FATAL_FAILURE(ExpectPlacedAnswers(outline, AnyPose(random), fixed, moving));
    }
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
