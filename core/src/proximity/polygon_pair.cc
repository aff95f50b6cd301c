// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/polygon_pair.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "carom/predicates.h"

namespace carom::internal {
namespace {

// So many edges of one polygon near the other are looked up one by one.
constexpr size_t kFewEdges = 64;
// And so few are compared with every edge of the other, rather than making its index.
constexpr size_t kVeryFewEdges = 6;
// A cluster whose box meets more runs of edges than that is looked up edge by edge: the box of long
// edges is mostly empty.
constexpr size_t kFewRuns = 6;

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

std::optional<size_t> EdgeCluster::FirstMeeting(const Segment& edge, WorkMeter& meter) const {
  const Box box = BoundsOf(edge);
  if (!box.Intersects(box_)) return std::nullopt;
  const auto apart = [&](size_t pair) {
    return (min_x_.pair[pair] > box.max.x) | (min_y_.pair[pair] > box.max.y) |
           (max_x_.pair[pair] < box.min.x) | (max_y_.pair[pair] < box.min.y);
  };
  LaneBits near = ~Bits(apart(0), apart(1), apart(2), apart(3)) & ((1U << count_) - 1);
  meter.Spend(static_cast<uint64_t>(Count(near)));
  for (; near != 0; near &= near - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(near));
    if (Intersects(edge, edges_[lane])) return lane;
  }
  return std::nullopt;
}

// A vertex of one in the other is found at once where there is one; edges that meet take a search.
// Mostly no fixed edge is near: all of the reach lies in one face, and one vertex decides.
bool PolygonPair::Overlap() {
  const Polygon& fixed = fixed_.polygon();
  const MeetsBox near{moving_.bounds()};
  if (!near(fixed.bounds())) return false;
  if (Holds(fixed_, moving_.FirstVertex(0), meter_)) return true;
  if (!moving_.is_placed()) {
    const auto none = [](size_t, const Segment&) { return false; };
    if (fixed_.VisitEdges(meter_, near, none)) return false;
  }
  if (meter_.stopped()) return false;
  const IndexedPolygon& moving = moving_.polygon();
  if (Holds(moving, fixed.ring(0).front(), meter_) || DoEdgesMeet()) return true;
  return HoldsMovingRing() || (fixed.ring_count() > 1 &&
                               FirstRingInside(PlacedShape(moving), PlacedShape(fixed_), meter_));
}

// Of the first ring it is known.
bool PolygonPair::HoldsMovingRing() {
  for (size_t ring = 1; ring < moving_.ring_count() && meter_.Spend(1); ++ring) {
    if (Holds(fixed_, moving_.FirstVertex(ring), meter_)) return true;
  }
  return false;
}

bool PolygonPair::DoEdgesMeet() {
  IndexedPolygon& moving = moving_.polygon();
  Segment near[kFewEdges];
  size_t count = 0;
  const auto add = [&](size_t, const Segment& edge) {
    if (count == kFewEdges) return false;
    near[count++] = edge;
    return true;
  };
  const size_t edges = moving.polygon().edge_count();
  const bool few = fixed_.VisitEdges(meter_, MeetsBox{moving_.bounds()}, add);
  if (meter_.stopped()) return false;
  if (!few && edges > IndexedPolygon::kMaxScanned) return DoManyEdgesMeet();
  if (few && (count <= kVeryFewEdges || edges <= IndexedPolygon::kMaxScanned)) {
    return count != 0 && DoNearEdgesMeet({near, count});
  }
  if (few) {
    moving.MakeIndex();
    return std::any_of(near, near + count,
                       [&](const Segment& edge) { return MeetsEdgeOf(moving, edge); });
  }
  for (size_t i = 0; i < edges; ++i) {
    if (MeetsEdgeOf(fixed_, moving.polygon().edge(i))) return true;
  }
  return false;
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
  const auto add = [&](size_t, const Segment& edge) {
    cluster.Add(edge, BoundsOf(edge));
    return !cluster.full() || !meets_cluster();
  };
  const bool ran = moving_.polygon().VisitEdges(meter_, MeetsBox{reach}, add);
  return !meter_.stopped() && (!ran || (!cluster.empty() && meets_cluster()));
}

// Many moving edges are looked up by eight.
bool PolygonPair::DoManyEdgesMeet() {
  IndexedPolygon& moving = moving_.polygon();
  moving.MakeIndex();
  const MeetsBox reach{fixed_.polygon().bounds()};
  EdgeCluster cluster;
  return !moving.VisitRuns(meter_, reach, [&](size_t first, size_t last) {
    if (!meter_.Spend(last - first)) return false;
    cluster.Clear();
    for (size_t i = first; i < last; ++i) {
      const Segment edge = moving.polygon().edge(i);
      const Box box = BoundsOf(edge);
      if (reach(box)) cluster.Add(edge, box);
    }
    return cluster.empty() || !MeetsFixedEdge(cluster);
  });
}

bool PolygonPair::MeetsFixedEdge(const EdgeCluster& cluster) {
  size_t runs = 0;
  bool meets = false;
  const auto none_meets = [&](size_t first, size_t last) {
    if (++runs > kFewRuns || !meter_.Spend(last - first)) return false;
    for (size_t i = first; i < last && !meets; ++i) {
      meets = cluster.Meets(fixed_.polygon().edge(i), meter_);
    }
    return !meets;
  };
  fixed_.VisitRuns(meter_, MeetsBox{cluster.box()}, none_meets);
  if (runs <= kFewRuns) return meets;
  const std::span<const Segment> edges = cluster.edges();
  return std::any_of(edges.begin(), edges.end(),
                     [&](const Segment& edge) { return MeetsEdgeOf(fixed_, edge); });
}

bool PolygonPair::MeetsEdgeOf(const IndexedPolygon& polygon, const Segment& edge) {
  const Box box = BoundsOf(edge);
  bool meets = false;
  polygon.VisitRuns(meter_, MeetsSegment(edge), [&](size_t first, size_t last) {
    if (!meter_.Spend(last - first)) return false;
    for (size_t i = first; i < last && !meets; ++i) {
      const Segment other = polygon.polygon().edge(i);
      meets = box.Intersects(BoundsOf(other)) && Intersects(edge, other);
    }
    return !meets;
  });
  return meets;
}

void PolygonPair::AppendEdges(std::vector<EdgeRef>& edges) {
  IndexedPolygon& moving = moving_.polygon();
  moving.MakeIndex();
  fixed_.VisitEdges(meter_, MeetsBox{moving_.bounds()}, [&](size_t index, const Segment& edge) {
    if (MeetsEdgeOf(moving, edge) || Holds(moving, edge.a, meter_)) {
      edges.push_back(fixed_.polygon().edge_ref(index));
      return meter_.SpendRows(1);
    }
    return !meter_.stopped();
  });
}

}  // namespace carom::internal
