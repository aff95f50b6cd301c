// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/polygon_pair.h"

#include <array>
#include <utility>

#include "carom/predicates.h"

namespace carom::internal {
namespace {

// The most runs (groups of up to eight consecutive edges) of the fixed polygon near the mover, the
// moving polygon, for which each fixed edge is tested against the mover's edges: kFewRunsNear for a
// mover of few edges, kMostRunsNear for other movers. With more runs, the mover's edges are tested
// against the fixed polygon.
constexpr size_t kFewRunsNear = 2;
constexpr size_t kMostRunsNear = 4;
// The most edges of the fixed polygon that are compared with every edge of a mover whose vertices
// have been computed at its pose; for more edges, an index of the mover's edges is built.
constexpr size_t kVeryFewEdges = 6;
// The most runs (groups of up to eight consecutive edges) of the fixed polygon that the box of a
// cluster (up to eight edges) of the mover may meet. If the box meets more runs, the cluster's
// edges are tested one by one, since the box of long edges is mostly empty.
constexpr size_t kFewRuns = 6;

bool Holds(const IndexedPolygon& outer, Vec2 p, WorkMeter& meter) {
  return LocateInPolygon(outer, p, meter).location != Location::kOutside;
}

}  // namespace

// The edges of the fixed polygon near the mover, the moving polygon. Only `count` is initialised.
struct PolygonPair::Near {
  static constexpr size_t kMost = kMostRunsNear * kLanes;

  size_t count = 0;
  std::array<Double2, kMost> a, b;  // the ends of each edge
  std::array<LaneBox, kMost> boxes;

  Segment edge(size_t i) const { return {{a[i][0], a[i][1]}, {b[i][0], b[i][1]}}; }
  void Add(const Polygon& polygon, size_t first, size_t last, const LaneBox& reach) {
    for (size_t i = first; i < last; ++i) {
      const Segment edge = polygon.edge(i);
      a[count] = LoadLanes(&edge.a.x);
      b[count] = LoadLanes(&edge.b.x);
      boxes[count] = LaneBox::Of(a[count], b[count]);
      count += boxes[count].Meets(reach) ? 1 : 0;
    }
  }
};

// Tests a vertex of the mover (the moving polygon) in the fixed polygon first, which is faster than
// the search for edges that meet. If no fixed edge is near the mover, the whole mover is inside or
// outside of the fixed polygon, and the vertex decides.
bool PolygonPair::Overlap() {
  const MeetsBox reach{moving_.bounds()};
  if (!reach(fixed_.polygon().bounds())) return false;
  if (Holds(fixed_, moving_.FirstVertex(0), meter_)) return true;
  std::array<std::pair<size_t, size_t>, kMostRunsNear> runs;
  const size_t most = is_small() ? kFewRunsNear : kMostRunsNear;
  size_t count = 0;
  const bool is_all = fixed_.VisitRuns(meter_, reach, [&](size_t first, size_t last) {
    if (count == most) return false;
    runs[count++] = {first, last};
    return true;
  });
  if (meter_.stopped() || count == 0) return false;
  if (is_all) {
    Near near;
    for (size_t i = 0; i < count && meter_.Spend(runs[i].second - runs[i].first); ++i) {
      near.Add(fixed_.polygon(), runs[i].first, runs[i].second, LaneBox(reach.reach));
    }
    if (near.count == 0) return false;
    if (DoNearEdgesMeet(near)) return true;
  } else if (DoManyEdgesMeet()) {
    return true;
  }
  return HoldsMovingRing() || HoldsFixedRing();
}

// Returns whether the fixed polygon contains the first vertex of a ring of the mover (the moving
// polygon). Skips the first ring, which `Overlap` has tested.
bool PolygonPair::HoldsMovingRing() {
  for (size_t ring = 1; ring < moving_.ring_count() && meter_.Spend(1); ++ring) {
    if (Holds(fixed_, moving_.FirstVertex(ring), meter_)) return true;
  }
  return false;
}

// Returns whether the mover (the moving polygon) contains the first vertex of a ring of the fixed
// polygon. Skips rings that cannot be inside the mover: the box of a ring inside the mover lies in
// the mover's box.
bool PolygonPair::HoldsFixedRing() {
  const Polygon& fixed = fixed_.polygon();
  const Box reach = moving_.bounds();
  for (size_t ring = 0; ring < fixed.ring_count() && meter_.Spend(1); ++ring) {
    if (!reach.Contains(fixed.ring(ring).front())) continue;
    if (fixed.ring_count() == 1 &&
        !(reach.Contains(fixed.bounds().min) && reach.Contains(fixed.bounds().max))) {
      continue;
    }
    if (Holds(moving_.polygon(), fixed.ring(ring).front(), meter_)) return true;
  }
  return false;
}

bool PolygonPair::is_small() const {
  return moving_.edge_count() <= IndexedPolygon::kMaxEdgesWithoutIndex;
}

bool PolygonPair::DoNearEdgesMeet(const Near& near) {
  if (is_small() || (moving_.is_placed() && near.count <= kVeryFewEdges)) {
    return DoesAnyEdgeMeet(near);
  }
  for (size_t i = 0; i < near.count; ++i) {
    if (MeetsMovingEdge(near.edge(i), near.boxes[i])) return true;
  }
  return false;
}

// Returns whether an edge of the mover (the moving polygon) meets one of the edges `near` of the
// fixed polygon. Tests the mover's edges in clusters of up to eight.
bool PolygonPair::DoesAnyEdgeMeet(const Near& near) {
  LaneBox reach = LaneBox::Empty();
  for (size_t i = 0; i < near.count; ++i) reach.Extend(near.boxes[i]);
  EdgeCluster cluster;
  cluster.Clear();
  const auto meets_cluster = [&] {
    if (!meter_.Spend(near.count)) return false;
    for (size_t i = 0; i < near.count; ++i) {
      if (cluster.Meets(near.edge(i), near.boxes[i], meter_)) return true;
    }
    cluster.Clear();
    return false;
  };
  const auto add = [&](size_t, const Segment& edge) {
    cluster.Add(edge);
    return !cluster.full() || !meets_cluster();
  };
  const bool ran = moving_.polygon().VisitEdges(meter_, MeetsBox{reach.box()}, add);
  return !meter_.stopped() && (!ran || (!cluster.empty() && meets_cluster()));
}

// Returns whether an edge of the mover (the moving polygon) meets `fixed_edge`, an edge of the
// fixed polygon with the bounding box `box`. Places only the moving edges that may be near this
// edge.
bool PolygonPair::MeetsMovingEdge(const Segment& fixed_edge, const LaneBox& box) {
  const MeetsSegment near = moving_.frame().Meeting(fixed_edge);
  return !moving_.MakeEdgeIndex().VisitRuns(meter_, near, [&](size_t first, size_t last) {
    return meter_.Spend(last - first) &&
           !moving_.PlacedRun(first, last).Meets(fixed_edge, box, meter_);
  }) && !meter_.stopped();
}

// Returns whether an edge of the mover (the moving polygon) meets an edge of the fixed polygon.
// Tests the mover's edges one by one if they are few, else in runs of up to eight, skipping runs
// that no fixed edge is near.
bool PolygonPair::DoManyEdgesMeet() {
  if (is_small()) {
    const Polygon& moving = moving_.polygon().polygon();
    for (size_t i = 0; i < moving.edge_count(); ++i) {
      if (MeetsEdgeOf(fixed_, moving.edge(i))) return true;
    }
    return false;
  }
  const LocalFrame frame = moving_.frame();
  const auto is_near = [&](const Box& described) {
    return !fixed_.VisitRuns(meter_, MeetsBox{frame.Placed(described)},
                             [](size_t, size_t) { return false; });
  };
  return !moving_.MakeEdgeIndex().VisitRuns(meter_, is_near, [&](size_t first, size_t last) {
    return meter_.Spend(last - first) && !MeetsFixedEdge(moving_.PlacedRun(first, last));
  }) && !meter_.stopped();
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
  fixed_.VisitRuns(meter_, MeetsBox{cluster.box().box()}, none_meets);
  if (runs <= kFewRuns) return meets;
  for (size_t i = 0; i < cluster.size(); ++i) {
    if (MeetsEdgeOf(fixed_, cluster.edge(i))) return true;
  }
  return false;
}

bool PolygonPair::MeetsEdgeOf(const IndexedPolygon& polygon, const Segment& edge) {
  const LaneBox box(edge);
  bool meets = false;
  polygon.VisitRuns(meter_, MeetsSegment(edge), [&](size_t first, size_t last) {
    if (!meter_.Spend(last - first)) return false;
    for (size_t i = first; i < last && !meets; ++i) {
      const Segment other = polygon.polygon().edge(i);
      meets = LaneBox(other).Meets(box) && Intersects(edge, other);
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
