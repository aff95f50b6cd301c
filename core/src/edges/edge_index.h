// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges of one large polygon are near, and how often does it wind around a point?
//
// A tree over the edges as they come, ring after ring. A leaf is a chain of up to eight edges of a
// ring, a whole ring of up to sixteen, or several of up to eight edges in all; a node has up to
// eight consecutive leaves or nodes. A node keeps what it takes to judge its children in columns: a
// box for each, and a strip, two parallel lines that hold the child between them. Both are convex,
// which is what point location rests on (docs/adr/0006-point-location.md):
//
//   (1) A chain winds around a point outside of a convex set that holds it as its chord does, the
//       segment from its first vertex to its last.
//
// So only the children that hold the point in both are descended.
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

// Where a point is in a polygon, and its winding number. The number is 0 where the point is on an
// edge, for there is none, and in a hollow polygon, where it means nothing.
struct PointInPolygon {
  Location location = Location::kOutside;
  int64_t winding = 0;
};

// The place of a point on no edge.
inline PointInPolygon PlaceOf(const Polygon& polygon, int64_t winding) {
  if (polygon.solidity() == Solidity::kBoundary) return {};
  return {polygon.IsFilled(winding) ? Location::kInside : Location::kOutside, winding};
}

// Beside `MeetsBox`, a condition judged eight boxes at a time: the boxes that share a point with
// `segment`, but for those about edges that share none. The visitor gets at least the edges that
// do, and with a margin those that have a point so near to the segment.
struct MeetsSegment {
  Segment segment;
  Vec2 normal;        // of length 1, within 4 * 2^-53; 0 for a point
  double margin = 0;  // only an index respects it

  explicit MeetsSegment(const Segment& s);
  bool operator()(const Box& box) const { return Intersects(segment, box); }
};

// Up to eight children. Their boxes and strips are in the node's own frame: the difference to
// `origin`, rounded, times `scale`, a power of two, rounded to float; no coordinate in the node
// exceeds 1 in magnitude. All of it is monotonic, so what is separate in a frame is separate, and
// what meets, meets in the frame too.
struct alignas(64) EdgeNode {
  // How much a strip is wider than the rounded dot products of its vertices. With u = 2^-24 the
  // coordinates of a query in the box are within u/2, their products with a normal, whose
  // components are at most 1 and at most 1.42 in all, within 0.71u + u, and the sum, below 2,
  // within u more; rounding the strip's own bound adds another u: less than 4u.
  static constexpr double kStripPad = 0x1p-21;

  Floats min_x, min_y, max_x, max_y;
  Floats normal_x, normal_y, low, high;
  Doubles start_y, end_y;  // of the chord; equal for whole rings, whose chord is a point
  Vec2 origin;
  double scale;
  double slack;  // bounds the error of BoxOf
  // Child i holds the edges in [first[i], first[i + 1]).
  uint32_t first[kLanes + 1];
  // The number of a node; or kLeaf with the number of the first of nine vertices in a row, those of
  // eight edges; or kOddLeaf where the edges are fewer or more, or close a ring.
  uint32_t child[kLanes];
  uint32_t count;

  static constexpr uint32_t kLeaf = uint32_t{1} << 31;
  static constexpr uint32_t kOddLeaf = ~uint32_t{0};

  bool IsLeaf(size_t i) const { return (child[i] & kLeaf) != 0; }

  float X(double x) const { return static_cast<float>((x - origin.x) * scale); }
  float Y(double y) const { return static_cast<float>((y - origin.y) * scale); }

  // The children whose box may meet what is asked for: at least those that do.
  LaneBits Meeting(const MeetsBox& asked) const;
  LaneBits Meeting(const MeetsSegment& asked) const;

  // A box that holds child `i`.
  Box BoxOf(size_t i) const {
    const double inverse = 1 / scale;
    return {{origin.x + min_x[i] * inverse - slack, origin.y + min_y[i] * inverse - slack},
            {origin.x + max_x[i] * inverse + slack, origin.y + max_y[i] * inverse + slack}};
  }
};

inline LaneBits EdgeNode::Meeting(const MeetsBox& asked) const {
  const Box& reach = asked.reach;
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

// Immutable after construction, hence thread-safe. It holds no pointer to the polygon, which is
// passed to each call: the same one.
class EdgeIndex {
 public:
  // Whether it also has strips, which take most of the time that building takes. Without them point
  // location gives the same answers and may visit more edges.
  enum class Strips : uint8_t { kNone, kAll };

  // O(n), with strips O(n log n). `polygon` has an edge.
  EdgeIndex(const Polygon& polygon, Strips strips);

  // Calls visit(first, last) for runs of at most eight edges, those of the leaves whose box passes
  // `meets`, in order, while it returns true and the meter allows. Returns whether both always did.
  // Each box tested is a unit of work; the edges are for the visitor to test and to count.
  template <class Meets, class Visit>
  bool VisitRuns(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return VisitNode(nodes_.back(), meter, meets, visit);
  }

  // As `LocateInPolygon`, for a point in the polygon's box.
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

  std::vector<EdgeNode> nodes_;  // children before their parents: the root is the last
};

}  // namespace carom::internal
