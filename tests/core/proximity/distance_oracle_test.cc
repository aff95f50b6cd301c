// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Distances against an oracle in rational numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/distance.h"
#include "tests/core/proximity/distance_cases.h"
#include "tests/core/random_mover.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_distance.h"
#include "tests/support/repeats.h"

namespace carom::testing::distance_oracle_test {
namespace {

Rational Largest(const TestScene& scene, const TestMover& mover) {
  double largest = mover.radius;
  const auto see = [&](Xy p) { largest = std::max({largest, std::abs(p.x), std::abs(p.y)}); };
  for (const OracleShape& shape : scene.oracle.shapes()) {
    see(shape.box().low);
    see(shape.box().high);
  }
  see(mover.core.box().low);
  see(mover.core.box().high);
  return Exact(Ulp(largest));
}

// |sqrt(square) - length| <= slack.
bool IsRootNear(const Rational& square, const Rational& length, const Rational& slack) {
  return CompareRoot(square, length + slack) <= 0 &&
         (length <= slack || CompareRoot(square, length - slack) >= 0);
}

// A row of one polygon: the distance to the last bit, the first edge, and points on the shapes,
// that far from each other. 4 ulp a coordinate are 5.66 ulp along a slant.
void ExpectRow(const TestScene& scene, const OracleShape& polygon, const TestMover& mover,
               const OracleNearness& want, const DistanceRow& got) {
  const Rational radius = Exact(mover.radius);
  const Rational slack = Largest(scene, mover) * Rational(17) / 3;
  const bool touches = CompareRoot(want.square, radius) <= 0;
  if (touches) {
    EXPECT_EQ(got.distance, 0);
    EXPECT_EQ(got.point, got.mover_point);
  } else {
    EXPECT_TRUE(IsNearestToRoot(got.distance, want.square, radius)) << got.distance;
  }
  // The first edge that touches, else the first that is nearest.
  size_t index = 0;
  const Rational bound2 = touches ? Rational(radius * radius) : want.square;
  while (index < want.edges2.size() && want.edges2[index] > bound2) ++index;
  const bool is_edge_near = index < want.edges2.size();
  const RationalXy point = Exact(Xy{got.point.x, got.point.y});
  const RationalXy mover_point = Exact(Xy{got.mover_point.x, got.mover_point.y});
  if (is_edge_near) {
    ASSERT_TRUE(got.has_edge);
    const OracleShape::Edge& edge = polygon.edges()[index];
    EXPECT_EQ(got.edge.ring, edge.name.ring);
    EXPECT_EQ(got.edge.edge, edge.name.edge);
    EXPECT_LE(SquaredDistance(point, edge), slack * slack);
  } else {
    EXPECT_EQ(got.has_edge, !want.mover_ring.has_value());
    if (got.has_edge) {
      EXPECT_EQ(got.edge, (EdgeRef{uint32_t(*want.polygon_ring), 0}));
    }
  }
  EXPECT_LE(SquaredDistance(point, polygon), slack * slack);
  const Rational from_core2 = SquaredDistance(mover_point, mover.core);
  EXPECT_LE(CompareRoot(from_core2, radius + slack), 0);
  if (!touches) {
    EXPECT_TRUE(IsRootNear(from_core2, radius, slack));
  }
  const RationalXy gap = mover_point - point;
  EXPECT_TRUE(IsRootNear(Dot(gap, gap), Exact(got.distance), 2 * slack));
}

void ExpectSameRow(const DistanceRow& a, const DistanceRow& b) {
  EXPECT_EQ(a.distance, b.distance);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.mover_point, b.mover_point);
  EXPECT_EQ(a.has_edge, b.has_edge);
  if (a.has_edge) {
    EXPECT_EQ(a.edge, b.edge);
  }
}

// NEAREST_K answers the first k rows of ALL, in the order of `ranked`.
void ExpectRanked(const DistanceAnswers& got, const DistanceAnswers& all,
                  const std::vector<size_t>& ranked, uint32_t k) {
  ASSERT_EQ(got.polygon_ids.size(), std::min<size_t>(k, ranked.size()));
  for (size_t rank = 0; rank < got.polygon_ids.size(); ++rank) {
    EXPECT_EQ(got.polygon_ids[rank], all.polygon_ids[ranked[rank]]) << "rank " << rank;
    ExpectSameRow(got.rows[rank], all.rows[ranked[rank]]);
  }
}

double AnyBound(Random& random, const Grid& grid, double nearest) {
  switch (random.Below(6)) {
    case 0:
      return kInfinity;
    case 1:
      return nearest;
    case 2:
      return std::nextafter(nearest, 0);
    case 3:
      return std::nextafter(nearest, kInfinity);
    case 4:
      return 0;
    default:
      return std::abs(grid.Coordinate(random));
  }
}

// One mover against one scene, in every mode.
void ExpectDistances(Random& random, const Grid& grid) {
  const TestScene scene = RandomScene(random, grid);
  const TestMover mover = RandomMover(random, grid);
  SCOPED_TRACE(scene.ToCode() + mover.code);
  const Rational radius = Exact(mover.radius);
  std::vector<OracleNearness> want;
  Ids nearest;
  size_t best = 0;
  const auto key = [&](size_t i) {  // the same for all that touch
    return want[i].square <= radius * radius ? Rational(0) : want[i].square;
  };
  for (const OracleShape& polygon : scene.oracle.shapes()) {
    want.push_back(Nearness(polygon, mover.core));
    const size_t i = want.size() - 1;
    if (key(i) < key(best)) {
      nearest.clear();
      best = i;
    }
    if (key(i) == key(best)) nearest.push_back(polygon.id());
  }
  const DistanceAnswers got = Nearest(*scene.scene, mover.shape);
  ASSERT_EQ(got.polygon_ids, nearest);
  const double bound = AnyBound(random, grid, got.rows[0].distance);
  SCOPED_TRACE(absl::StrFormat("max_distance %a", bound));
  const DistanceAnswers all = Measure(*scene.scene, mover.shape, DistanceMode::kAll, bound);
  Ids within;
  for (size_t i = 0; i < want.size(); ++i) {
    const OracleShape& polygon = scene.oracle.shapes()[i];
    const bool is_within =
        bound == kInfinity || CompareRoot(want[i].square, radius + Exact(bound)) <= 0;
    EXPECT_EQ(IsWithin(scene.scene->polygon(i), mover.shape, bound), is_within);
    if (!is_within) continue;
    within.push_back(polygon.id());
    ASSERT_LE(within.size(), all.rows.size());
    ExpectRow(scene, polygon, mover, want[i], all.rows[within.size() - 1]);
  }
  EXPECT_EQ(all.polygon_ids, within);
  EXPECT_EQ(Measure(*scene.scene, mover.shape, DistanceMode::kWithin, bound).polygon_ids, within);
  for (size_t i = 0, row = 0; i < want.size(); ++i) {
    if (key(i) != key(best)) continue;
    ExpectRow(scene, scene.oracle.shapes()[i], mover, want[i], got.rows[row++]);
  }
  std::vector<size_t> ranked, polygon_of;  // rows of ALL; the polygon of each row
  for (size_t i = 0; i < want.size(); ++i) {
    if (!std::ranges::binary_search(within, scene.oracle.shapes()[i].id())) continue;
    ranked.push_back(ranked.size());
    polygon_of.push_back(i);
  }
  std::ranges::stable_sort(ranked, {}, [&](size_t row) { return key(polygon_of[row]); });
  for (const uint32_t k : {1u, 2u, 1u + uint32_t(random.Below(8)), kMaxNearestK}) {
    const DistanceOptions options{DistanceMode::kNearestK, kEveryCategory, k};
    ExpectRanked(Measure(*scene.scene, mover.shape, options, bound), all, ranked, k);
  }
}

TEST(DistanceOracleTest, ScenesEqualTheOracleInEveryMode) {
  ForGrids(21, Repeats(60, 2000), ExpectDistances);
}

// Two capsules, whose radii add up.
TEST(DistanceOracleTest, CapsulesEqualTheOracle) {
  ForGrids(22, Repeats(150, 8000), [](Random& random, const Grid& grid) {
    const TestMover a = RandomCapsule(random, grid);
    const TestMover b = RandomCapsule(random, grid);
    SCOPED_TRACE(a.code + b.code);
    const Rational radii = Exact(a.radius) + Exact(b.radius);
    const Rational square = Nearness(a.core, b.core).square;
    const Separation got = Distance(a.shape, b.shape);
    const double bound = AnyBound(random, grid, got.distance);
    EXPECT_EQ(IsWithin(a.shape, b.shape, bound),
              bound == kInfinity || CompareRoot(square, radii + Exact(bound)) <= 0);
    double largest = std::max(a.radius, b.radius);
    for (const TestMover* m : {&a, &b}) {
      for (const Xy p : {m->core.box().low, m->core.box().high}) {
        largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
      }
    }
    const Rational slack = Exact(Ulp(largest)) * Rational(17) / 3;
    const Rational from_a2 = SquaredDistance(Exact(Xy{got.point_a.x, got.point_a.y}), a.core);
    const Rational from_b2 = SquaredDistance(Exact(Xy{got.point_b.x, got.point_b.y}), b.core);
    if (CompareRoot(square, radii) <= 0) {
      EXPECT_EQ(got.distance, 0);
      EXPECT_EQ(got.point_a, got.point_b);
      EXPECT_LE(CompareRoot(from_a2, Exact(a.radius) + slack), 0);
      EXPECT_LE(CompareRoot(from_b2, Exact(b.radius) + slack), 0);
    } else {
      EXPECT_TRUE(IsNearestToRoot(got.distance, square, radii)) << got.distance;
      EXPECT_TRUE(IsRootNear(from_a2, Exact(a.radius), slack));
      EXPECT_TRUE(IsRootNear(from_b2, Exact(b.radius), slack));
    }
  });
}

// Edges by the hundred on a few grid points: the first bound and its pruning lose no tie.
TEST(DistanceOracleTest, PolygonsOfManyEdgesEqualTheOracle) {
  Random random(23);
  for (int i = 0; i < Repeats(12, 300) && !HasFailure(); ++i) {
    const Grid grid{20, 1, i % 2 == 0 ? 0 : 15};
    PolygonSpec spec = RandomPolygon(random, grid, 1);
    spec.solidity = Solidity::kBoundary;
    Vec2 p = grid.Point(random);
    for (int k = 0; k < 150; ++k) {
      spec.rings[0].vertices.push_back(p);
      p = {p.x + random.Below(3) - 1, p.y + random.Below(3) - 1};
    }
    const TestScene scene = MakeScene({spec});
    for (int q = 0; q < 3; ++q) {
      const TestMover mover = RandomMover(random, {40, 1, 0});
      SCOPED_TRACE(scene.ToCode() + mover.code);
      const OracleShape& polygon = scene.oracle.shapes()[0];
      const OracleNearness want = Nearness(polygon, mover.core);
      const DistanceAnswers got = Nearest(*scene.scene, mover.shape);
      ASSERT_EQ(got.rows.size(), 1u);
      ExpectRow(scene, polygon, mover, want, got.rows[0]);
    }
  }
}

}  // namespace
}  // namespace carom::testing::distance_oracle_test
