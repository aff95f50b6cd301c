// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "polygon_pair.h"

#include <bit>
#include <cmath>

#include "carom/predicates.h"
#include "point_scan.h"

namespace carom::internal {
namespace {

// So many edges near by are looked at one by one.
constexpr size_t kFewEdges = 64;

bool Holds(const IndexedPolygon& outer, Vec2 p, WorkMeter& meter) {
  return LocateInPolygon(outer, p, meter).location != Location::kOutside;
}

}  // namespace

void EdgeCluster::Add(const Segment& edge, const Box& box) {
  edges_[count_] = edge;
  min_x_.Set(count_, box.min.x);
  min_y_.Set(count_, box.min.y);
  max_x_.Set(count_, box.max.x);
  max_y_.Set(count_, box.max.y);
  box_.Extend(box);
  ++count_;
}

bool EdgeCluster::Meets(const Segment& edge, WorkMeter& meter) const {
  const Box box = BoundsOf(edge);
  if (!box.Intersects(box_)) return false;
  const auto apart = [&](size_t pair) {
    return (min_x_.pair[pair] > box.max.x) | (min_y_.pair[pair] > box.max.y) |
           (max_x_.pair[pair] < box.min.x) | (max_y_.pair[pair] < box.min.y);
  };
  LaneBits near = ~Bits(apart(0), apart(1), apart(2), apart(3)) & ((1U << count_) - 1);
  meter.Spend(static_cast<uint64_t>(Count(near)));
  for (; near != 0; near &= near - 1) {
    if (Intersects(edge, edges_[std::countr_zero(near)])) return true;
  }
  return false;
}

// A vertex of one in the other is found at once where there is one; edges that meet take a search.
bool PolygonPair::Overlap() {
  const Polygon& fixed = fixed_.polygon();
  const Polygon& moving = moving_.polygon();
  if (!fixed.bounds().Intersects(moving.bounds())) return false;
  if (Holds(fixed_, moving.ring(0).front(), meter_)) return true;
  if (Holds(moving_, fixed.ring(0).front(), meter_)) return true;
  if (meter_.stopped() || DoEdgesMeet()) return true;
  return (moving.ring_count() > 1 && HoldsRing(fixed_, moving, meter_)) ||
         (fixed.ring_count() > 1 && HoldsRing(moving_, fixed, meter_));
}

// Mostly few fixed edges are near, often none, and then the moving edges need no index.
bool PolygonPair::DoEdgesMeet() {
  Segment near[kFewEdges];
  size_t count = 0;
  const MeetsBox reach{moving_.polygon().bounds()};
  const bool few = fixed_.VisitEdges(meter_, reach, [&](size_t, const Segment& edge) {
    if (count == kFewEdges) return false;
    near[count++] = edge;
    return true;
  });
  if (meter_.stopped()) return false;
  if (few) return count != 0 && DoNearEdgesMeet({near, count});
  return moving_.polygon().edge_count() <= IndexedPolygon::kMaxScanned ? DoFewEdgesMeet()
                                                                       : DoManyEdgesMeet();
}

bool PolygonPair::DoNearEdgesMeet(std::span<const Segment> near) {
  Box reach;
  for (const Segment& edge : near) reach.Extend(BoundsOf(edge));
  EdgeCluster cluster;
  const auto meets_cluster = [&] {
    if (!meter_.Spend(near.size())) return false;
    for (const Segment& edge : near) {
      if (cluster.Meets(edge, meter_)) return true;
    }
    cluster.Clear();
    return false;
  };
  const bool ran = moving_.VisitEdges(meter_, MeetsBox{reach}, [&](size_t, const Segment& edge) {
    cluster.Add(edge, BoundsOf(edge));
    return !cluster.full() || !meets_cluster();
  });
  return !meter_.stopped() && (!ran || (!cluster.empty() && meets_cluster()));
}

// Few moving edges are looked up one by one: those near each one's line.
bool PolygonPair::DoFewEdgesMeet() {
  const Polygon& moving = moving_.polygon();
  const Polygon& fixed = fixed_.polygon();
  for (size_t i = 0; i < moving.edge_count(); ++i) {
    const Segment edge = moving.edge(i);
    const Box box = BoundsOf(edge);
    if (!box.Intersects(fixed.bounds())) continue;
    const auto none_meets = [&](size_t first, size_t last) {
      if (!meter_.Spend(last - first)) return false;
      for (size_t k = first; k < last; ++k) {
        const Segment other = fixed.edge(k);
        if (BoundsOf(other).Intersects(box) && Intersects(edge, other)) return false;
      }
      return true;
    };
    if (!fixed_.VisitRuns(meter_, MeetsSegment(edge), none_meets)) return true;
  }
  return false;
}

// Many moving edges are looked up by eight.
bool PolygonPair::DoManyEdgesMeet() {
  moving_.MakeIndex();
  const MeetsBox reach{fixed_.polygon().bounds()};
  EdgeCluster cluster;
  const auto none_meets = [&](size_t first, size_t last) {
    if (!meter_.Spend(last - first)) return false;
    for (size_t i = first; i < last; ++i) {
      if (cluster.Meets(fixed_.polygon().edge(i), meter_)) return false;
    }
    return true;
  };
  return !moving_.VisitRuns(meter_, reach, [&](size_t first, size_t last) {
    if (!meter_.Spend(last - first)) return false;
    cluster.Clear();
    for (size_t i = first; i < last; ++i) {
      const Segment edge = moving_.polygon().edge(i);
      const Box box = BoundsOf(edge);
      if (reach(box)) cluster.Add(edge, box);
    }
    return cluster.empty() || fixed_.VisitRuns(meter_, MeetsBox{cluster.box()}, none_meets);
  });
}

std::vector<EdgeRef> PolygonPair::Edges() {
  moving_.MakeIndex();
  std::vector<EdgeRef> edges;
  const MeetsBox near{moving_.polygon().bounds()};
  fixed_.VisitEdges(meter_, near, [&](size_t index, const Segment& edge) {
    if (MeetsMovingEdge(edge) || Holds(moving_, edge.a, meter_)) {
      edges.push_back(fixed_.polygon().edge_ref(index));
      return meter_.SpendRows(1);
    }
    return !meter_.stopped();
  });
  return edges;
}

bool PolygonPair::MeetsMovingEdge(const Segment& edge) {
  bool meet = false;
  moving_.VisitEdges(meter_, MeetsBox{BoundsOf(edge)}, [&](size_t, const Segment& other) {
    meet = Intersects(edge, other);
    return !meet;
  });
  return meet;
}

}  // namespace carom::internal
