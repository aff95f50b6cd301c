// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a capsule certainly overlap a small convex polygon? Highway compiles files that include this
// header once per instruction set (hwy/foreach_target.h).

#include <cstddef>

#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "sweep/fast_path.h"
#include "sweep/fast_touch.h"

#if defined(CAROM_CORE_SRC_FAST_OVERLAP_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_FAST_OVERLAP_H_
#undef CAROM_CORE_SRC_FAST_OVERLAP_H_
#else
#define CAROM_CORE_SRC_FAST_OVERLAP_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Returns whether any lane holds a point that is certainly within `radius` of its edge, with the
// nearest point between the ends of the edge. `along` and `beside` are the coordinates of the point
// along and across the edge, relative to its begin and multiplied by its length.
HWY_INLINE bool IsNearEdge(Points edge, V along, V beside, const FastTarget& target,
                           double radius) {
  const V error = All(target.error);
  const V length2 = hn::MulAdd(edge.x, edge.x, Mul(edge.y, edge.y));
  const V reach = Sub(Mul(All(radius), hn::Sqrt(length2)), error);
  const Mask is_beside = And(hn::Gt(along, error), hn::Lt(along, Sub(length2, error)));
  return !hn::AllFalse(D(), And(is_beside, hn::Lt(Abs(beside), reach)));
}

// Returns whether end `end` of the axis is certainly inside all edges of the polygon, or within the
// radius of one of them. For a clockwise polygon `ring` holds the edges reversed, so the edge in a
// lane begins at the vertex that follows the lane's vertex in the ring: then `ahead` is 1, which
// adds the edge to the vector from the lane's vertex.
template <size_t kWidth>
HWY_INLINE bool OverlapsEnd(const FastTarget& target, const SweptMover& mover,
                            const LocalRing<kWidth>& ring, size_t end) {
  const V ahead = All(target.is_clockwise ? 1 : 0);
  bool is_inside = true;
  bool is_near = false;
  for (size_t g = 0; g < ring.kGroups; ++g) {
    const Points e{ring.edge_x[g], ring.edge_y[g]};
    const V px = hn::MulAdd(ahead, e.x, Sub(All(mover.ring.from_x[end]), ring.x[g]));
    const V py = hn::MulAdd(ahead, e.y, Sub(All(mover.ring.from_y[end]), ring.y[g]));
    const V depth = hn::MulSub(e.x, py, Mul(e.y, px));
    const V along = hn::MulAdd(e.x, px, Mul(e.y, py));
    is_inside = is_inside && hn::AllTrue(D(), hn::Gt(depth, All(target.error)));
    is_near = is_near || IsNearEdge(e, along, depth, target, mover.radius);
  }
  return is_inside || is_near;
}

// Returns whether a vertex of the polygon is certainly within the radius of the capsule's axis,
// with the nearest point of the axis between its ends.
template <size_t kWidth>
HWY_INLINE bool OverlapsAxis(const FastTarget& target, const SweptMover& mover,
                             const LocalRing<kWidth>& ring) {
  const Points e{All(mover.ring.edges.x[0]), All(mover.ring.edges.y[0])};
  bool is_near = false;
  for (size_t g = 0; g < ring.kGroups; ++g) {
    const V beside = hn::MulSub(e.x, ring.y[g], Mul(e.y, ring.x[g]));
    const V along = hn::MulAdd(e.x, ring.x[g], Mul(e.y, ring.y[g]));
    is_near = is_near || IsNearEdge(e, along, beside, target, mover.radius);
  }
  return is_near;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of fast_overlap.h, once per instruction set
