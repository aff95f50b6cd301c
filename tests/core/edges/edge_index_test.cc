// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The index over the edges of one polygon against a scan of all of them.

#include "edges/edge_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "carom/predicates.h"
#include "edges/indexed_polygon.h"
#include "tests/core/shape/large_rings.h"

namespace carom::testing::edge_index_test {
namespace {

using internal::LocateInPolygon;
using internal::MeetsBox;
using internal::MeetsSegment;
using internal::PointInPolygon;

Polygon Make(const PolygonSpec& spec) { return Polygon::Create(spec).value(); }
Polygon Make(Ring ring) { return Make(PolygonSpec{1, {{std::move(ring)}}}); }

// By the definition: signed crossings of the ray to the right, in the half-open sense.
PointInPolygon LocateByDefinition(const Polygon& polygon, Vec2 p) {
  PointInPolygon result;
  for (size_t i = 0; i < polygon.edge_count(); ++i) {
    const carom::Segment edge = polygon.edge(i);
    if (IsOnSegment(p, edge)) return {Location::kBoundary, 0};
    const int side = Orientation(edge.a, edge.b, p);
    if (edge.a.y <= p.y && p.y < edge.b.y && side > 0) ++result.winding;
    if (edge.b.y <= p.y && p.y < edge.a.y && side < 0) --result.winding;
  }
  if (polygon.solidity() == Solidity::kBoundary) result.winding = 0;
  if (polygon.IsFilled(result.winding)) result.location = Location::kInside;
  return result;
}

// The index in each of the ways in which it is made.
std::vector<IndexedPolygon> Indexed(const Polygon& polygon) {
  std::vector<IndexedPolygon> indexed;
  for (const IndexUse use : {IndexUse::kScene, IndexUse::kOneQuery, IndexUse::kFewLookups}) {
    indexed.emplace_back(polygon, use);
  }
  return indexed;
}

void ExpectLocates(const Polygon& polygon, const std::vector<IndexedPolygon>& indexed, Vec2 p,
                   const PolygonSpec& spec) {
  const PointInPolygon expected = LocateByDefinition(polygon, p);
  for (const IndexedPolygon& way : indexed) {
    WorkMeter meter;
    const PointInPolygon got = LocateInPolygon(way, p, meter);
    ASSERT_EQ(got.location, expected.location) << ToCode(spec) << ToCode(p);
    if (polygon.bounds().Contains(p)) {
      ASSERT_EQ(got.winding, expected.winding) << ToCode(spec) << ToCode(p);
    }
  }
}

TEST(EdgeIndexTest, LocatesAsALookAtEveryEdge) {
  Random random(41);
  for (int round = 0; round < 1500; ++round) {
    const PolygonSpec spec = RandomLarge(random);
    const Polygon polygon = Make(spec);
    const std::vector<IndexedPolygon> indexed = Indexed(polygon);
    for (int i = 0; i < 40; ++i) {
      ASSERT_NO_FATAL_FAILURE(ExpectLocates(polygon, indexed, PointNear(random, polygon), spec));
    }
  }
}

// Several levels, whose frames lie in each other.
TEST(EdgeIndexTest, LocatesInDeepIndices) {
  Random random(42);
  const Grid grid{300, 0.1};
  for (const Ring& ring :
       {Star(5000), Comb(5000), Coast(random, 5000), Tangle(random, grid, 5000)}) {
    const PolygonSpec spec{1, {{ring}}};
    const Polygon polygon = Make(spec);
    const std::vector<IndexedPolygon> indexed = Indexed(polygon);
    for (int i = 0; i < 500; ++i) {
      ASSERT_NO_FATAL_FAILURE(ExpectLocates(polygon, indexed, PointNear(random, polygon), {}));
    }
  }
}

template <class Meets>
std::vector<size_t> Visited(const IndexedPolygon& indexed, const Meets& meets) {
  std::vector<size_t> visited;
  WorkMeter meter;
  EXPECT_TRUE(indexed.VisitEdges(meter, meets, [&](size_t index, const carom::Segment&) {
    visited.push_back(index);
    return true;
  }));
  return visited;
}

bool IsWithin(const std::vector<size_t>& part, const std::vector<size_t>& all) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// In order, each once, with lanes and without. By a segment, at least those that share a point.
TEST(EdgeIndexTest, VisitsTheEdgesWhoseBoxPasses) {
  Random random(43);
  for (int round = 0; round < 1500; ++round) {
    const PolygonSpec spec = RandomLarge(random);
    const Polygon polygon = Make(spec);
    const std::vector<IndexedPolygon> indexed = Indexed(polygon);
    for (int i = 0; i < 8; ++i) {
      const carom::Segment reach{PointNear(random, polygon), PointNear(random, polygon)};
      const Box box = BoundsOf(reach);
      std::vector<size_t> in_box;
      std::vector<size_t> touching;
      std::vector<size_t> box_touching;
      for (size_t k = 0; k < polygon.edge_count(); ++k) {
        const Box bounds = BoundsOf(polygon.edge(k));
        if (box.Intersects(bounds)) in_box.push_back(k);
        if (Intersects(reach, polygon.edge(k))) touching.push_back(k);
        if (Intersects(reach, bounds)) box_touching.push_back(k);
      }
      for (const IndexedPolygon& way : indexed) {
        ASSERT_EQ(Visited(way, MeetsBox{box}), in_box) << ToCode(spec) << ToCode(reach);
        ASSERT_EQ(Visited(way, [&](const Box& b) { return box.Intersects(b); }), in_box)
            << ToCode(spec) << ToCode(reach);
        const std::vector<size_t> visited = Visited(way, MeetsSegment(reach));
        ASSERT_TRUE(IsWithin(touching, visited)) << ToCode(spec) << ToCode(reach);
        ASSERT_TRUE(IsWithin(visited, box_touching)) << ToCode(spec) << ToCode(reach);
      }
    }
  }
}

// What keeps long thin edges side by side apart: without strips a star takes thousands of units.
TEST(EdgeIndexTest, APointCostsFewUnitsWhateverTheShape) {
  Random random(44);
  for (const Ring& ring : {Star(100000), Comb(100000), Coast(random, 100000)}) {
    const IndexedPolygon indexed(Make(ring));
    WorkMeter meter;
    constexpr uint64_t kPoints = 1000;
    for (uint64_t i = 0; i < kPoints; ++i) {
      const Box& box = indexed.polygon().bounds();
      const double x = box.min.x + (box.max.x - box.min.x) * random.Unit();
      LocateInPolygon(indexed, {x, box.min.y + (box.max.y - box.min.y) * random.Unit()}, meter);
    }
    EXPECT_LE(meter.used(), kPoints * 150);
  }
}

TEST(EdgeIndexTest, AVertexTakesAtMost64Bytes) {
  Random random(45);
  const auto bytes_a_vertex = [](const Polygon& polygon) {
    const IndexedPolygon indexed(polygon);
    return static_cast<double>(indexed.edge_index()->memory_bytes()) /
           static_cast<double>(polygon.vertex_count());
  };
  for (const size_t count : {100u, 1000u, 100000u}) {
    EXPECT_LE(bytes_a_vertex(Make(Star(count))), 64) << count;
    EXPECT_LE(bytes_a_vertex(Make(Coast(random, count))), 64) << count;
  }
  PolygonSpec points{1, {}};
  PolygonSpec mixed{1, {}};
  for (size_t i = 0; i < 1000; ++i) {
    points.rings.push_back({{{static_cast<double>(i), 0}}});
    mixed.rings.push_back({Star(i % 2 == 0 ? 9 : 1)});
  }
  EXPECT_LE(bytes_a_vertex(Make(points)), 64);
  EXPECT_LE(bytes_a_vertex(Make(mixed)), 64);
}

TEST(EdgeIndexTest, TheWorkStopsWithTheMeter) {
  Random random(46);
  const Grid grid{1000, 1};
  const IndexedPolygon indexed(Make(Tangle(random, grid, 100000)));
  WorkMeter* asked = nullptr;
  WorkMeter meter([&] { return asked->used() >= 5000; });
  asked = &meter;
  LocateInPolygon(indexed, {500.5, 500.25}, meter);
  EXPECT_TRUE(meter.stopped());
  EXPECT_LE(meter.used(), 5000 + 2 * WorkMeter::kInterval);
}

}  // namespace
}  // namespace carom::testing::edge_index_test
