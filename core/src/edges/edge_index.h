// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges of a large polygon are near a box or a segment, and how often does the polygon wind
// around a point?
//
// The index is a tree over the edges in the order of the polygon, ring after ring. A leaf is a
// chain (consecutive edges): up to eight edges of a ring, a whole ring of up to sixteen edges, or
// several whole rings of up to eight edges in all. A node has up to eight consecutive leaves or
// nodes as children. For each child it stores a bounding box and a strip: two parallel lines with
// the child between them. Box and strip are both convex, and point location rests on a law about
// convex sets (docs/adr/0006-point-location.md):
//
//   (1) A chain winds around a point outside of a convex set that contains the chain as often as
//       its chord does, the segment from its first vertex to its last.
//
// So point location descends only into those children that have the point in their box and in their
// strip.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "carom/geometry.h"
#include "carom/locate.h"
#include "carom/polygon.h"
#include "carom/predicates.h"
#include "carom/work_meter.h"
#include "numeric/lanes.h"
#include "shape/meets_box.h"

namespace carom::internal {

// Where a point is in a polygon, and how often the polygon winds around it. `winding` is 0 if the
// point is on an edge, where the winding number is undefined, and in a polygon of solidity
// BOUNDARY, where it has no meaning.
struct PointInPolygon {
  Location location = Location::kOutside;
  int64_t winding = 0;
};

// Returns the location of a point that is on no edge of `polygon` and around which the polygon
// winds `winding` times.
inline PointInPolygon ToPointInPolygon(const Polygon& polygon, int64_t winding) {
  if (polygon.solidity() == Solidity::kBoundary) return {};
  return {polygon.IsFilled(winding) ? Location::kInside : Location::kOutside, winding};
}

// The condition that a box shares a point with `segment`. A traversal of an `EdgeIndex` tests it
// for eight boxes at a time, and skips only boxes of edges that share no point with the segment. So
// the visitor of the traversal gets at least the edges that meet the segment; with a margin above
// 0, at least the edges that have a point within `margin` of the segment.
struct MeetsSegment {
  Segment segment;
  // A normal of the segment, of length 1 within 4 * 2^-53; (0, 0) if the segment is a point.
  Vec2 normal;
  // The distance by which an `EdgeIndex` widens the segment; operator() ignores it.
  double margin = 0;

  explicit MeetsSegment(const Segment& s);
  bool operator()(const Box& box) const { return Intersects(segment, box); }
};

// A node of the tree: the boxes and strips of up to eight children, as a structure of arrays. A
// child is a chain of consecutive edges: a leaf, or all edges below a node. Its strip consists of
// two parallel lines with the child between them. The boxes and strips are in the node's own frame:
// a coordinate in the frame is the rounded difference of a coordinate of the polygon to `origin`,
// times `scale`, a power of two, rounded to float. No coordinate in the node exceeds 1 in
// magnitude. These roundings are monotonic, so boxes that meet in the polygon's coordinates also
// meet in the frame, and boxes that are separate in the frame are separate in the polygon's
// coordinates.
struct alignas(64) EdgeNode {
  // The distance by which a strip is widened on each side, to cover rounding errors of dot products
  // with its normal. With u = 2^-24, the float coordinates of a query point in the node's box err
  // by at most u/2. The magnitudes of the two components of a normal are at most 1, and their sum
  // is at most 1.42, so the two products of the dot product err by 0.71u + u in all, and their sum,
  // below 2, errs by u more. The rounding of the strip's own `low` or `high` adds another u. So the
  // error is less than 4u in all.
  static constexpr double kStripPad = 0x1p-21;

  Floats min_x, min_y, max_x, max_y;
  // The edges of child i lie in the strip of child i: the points p of the node's frame with low <=
  // normal . p <= high.
  Floats normal_x, normal_y, low, high;
  // The y coordinates of the ends of each child's chord, which runs from the child's first vertex
  // to its last; equal for a child of whole rings, which has a point as its chord.
  Doubles start_y, end_y;
  Vec2 origin;
  double scale;
  double slack;  // a bound of the error of `BoxOf`
  // Child i has the edges with indices in [first[i], first[i + 1]).
  uint32_t first[kLanes + 1];
  // What child i is: the index of its node; or kLeaf combined with the index of the first of nine
  // consecutive vertices, which make eight edges; or kIrregularLeaf for a leaf with fewer or more
  // than eight edges, or with the edge that closes a ring.
  uint32_t child[kLanes];
  uint32_t count;

  static constexpr uint32_t kLeaf = uint32_t{1} << 31;
  static constexpr uint32_t kIrregularLeaf = ~uint32_t{0};

  bool IsLeaf(size_t i) const { return (child[i] & kLeaf) != 0; }

  float X(double x) const { return static_cast<float>((x - origin.x) * scale); }
  float Y(double y) const { return static_cast<float>((y - origin.y) * scale); }

  // Returns the set of children that may have an edge that meets `query`: every child with such an
  // edge, and perhaps other children.
  LaneBits Meeting(const MeetsBox& query) const;
  LaneBits Meeting(const MeetsSegment& query) const;

  // Returns a box in the polygon's coordinates, not in the node's frame, that contains child `i`.
  Box BoxOf(size_t i) const {
    const double inverse = 1 / scale;
    return {{origin.x + min_x[i] * inverse - slack, origin.y + min_y[i] * inverse - slack},
            {origin.x + max_x[i] * inverse + slack, origin.y + max_y[i] * inverse + slack}};
  }
};

inline LaneBits EdgeNode::Meeting(const MeetsBox& query) const {
  const Box& reach = query.reach;
  const float x0 = X(reach.min.x);
  const float y0 = Y(reach.min.y);
  const float x1 = X(reach.max.x);
  const float y1 = Y(reach.max.y);
  const auto meeting = [&](size_t half) {
    return (min_x.half[half] <= x1) & (min_y.half[half] <= y1) & (max_x.half[half] >= x0) &
           (max_y.half[half] >= y0);
  };
  return Bits(meeting(0), meeting(1)) & ((1U << count) - 1);
}

// A tree over the edges of a polygon. A node has up to eight children, which are nodes or leaves
// (chains of consecutive edges), and a bounding box of each child. Immutable after construction,
// hence thread-safe. It stores no pointer to the polygon: the caller passes the polygon that the
// index was built for.
class EdgeIndex {
 public:
  // Whether the nodes have strips (pairs of parallel lines around each child), which take most of
  // the build time. Without strips, point location gives the same answers but may visit more edges.
  enum class Strips : uint8_t { kNone, kAll };

  // Builds the index in O(n), with strips in O(n log n). `polygon` must have an edge.
  EdgeIndex(const Polygon& polygon, Strips strips);

  // Calls visit(first, last) for runs of at most eight consecutive edges, in ascending order: for
  // the runs of each leaf whose box, and whose ancestors' boxes, pass `meets`. Stops if `visit`
  // returns false or the meter stops the work; returns true if it did not stop. Each tested box
  // counts one work unit; `visit` tests the edges of a run and counts them.
  template <class Meets, class Visit>
  bool VisitRuns(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return VisitNode(nodes_.back(), meter, meets, visit);
  }

  // Returns the location and the winding number of a point in the polygon's bounding box, as
  // `LocateInPolygon` (indexed_polygon.h) does.
  PointInPolygon Locate(const Polygon& polygon, Vec2 p, WorkMeter& meter) const;

  size_t memory_bytes() const { return sizeof(*this) + nodes_.capacity() * sizeof(EdgeNode); }

 private:
  template <class Visit>
  bool VisitChild(const EdgeNode& node, size_t i, const Visit& visit_run,
                  const auto& visit_node) const {
    if (!node.IsLeaf(i)) return visit_node(nodes_[node.child[i]]);
    const uint32_t last = node.first[i + 1];
    for (uint32_t first = node.first[i]; first < last; first += kLanes) {
      if (!visit_run(first, std::min<uint32_t>(first + kLanes, last))) return false;
    }
    return true;
  }

  template <class Meets, class Visit>
  bool VisitNode(const EdgeNode& node, WorkMeter& meter, const Meets& meets,
                 const Visit& visit) const {
    if (!meter.Spend(node.count)) return false;
    const auto visit_node = [&](const EdgeNode& n) { return VisitNode(n, meter, meets, visit); };
    for (size_t i = 0; i < node.count; ++i) {
      if (meets(node.BoxOf(i)) && !VisitChild(node, i, visit, visit_node)) return false;
    }
    return true;
  }

  template <class Meets, class Visit>
  requires std::is_same_v<Meets, MeetsBox> || std::is_same_v<Meets, MeetsSegment>
  bool VisitNode(const EdgeNode& node, WorkMeter& meter, const Meets& meets,
                 const Visit& visit) const {
    if (!meter.Spend(node.count)) return false;
    const auto visit_node = [&](const EdgeNode& n) { return VisitNode(n, meter, meets, visit); };
    for (LaneBits bits = node.Meeting(meets); bits != 0; bits &= bits - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(bits));
      if (!VisitChild(node, i, visit, visit_node)) return false;
    }
    return true;
  }

  std::vector<EdgeNode> nodes_;  // children before their parents; the last node is the root
};

}  // namespace carom::internal
