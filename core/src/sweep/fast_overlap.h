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

// Each SIMD lane holds an edge (its vector is `edge`) and a point. Returns whether in any lane the
// point is certainly closer than `radius` to the edge, and the point of the edge nearest to it lies
// between the ends of the edge. `along` and `beside` are the coordinates of the point along and
// across the edge, relative to the begin of the edge and multiplied by the length of the edge.
HWY_INLINE bool IsNearEdge(Points edge, V along, V beside, const FastTarget& target,
                           double radius) {
  const V error = All(target.error);
  const V length2 = hn::MulAdd(edge.x, edge.x, Mul(edge.y, edge.y));
  const V reach = Sub(Mul(All(radius), hn::Sqrt(length2)), error);
  const Mask is_beside = And(hn::Gt(along, error), hn::Lt(along, Sub(length2, error)));
  return !hn::AllFalse(D(), And(is_beside, hn::Lt(Abs(beside), reach)));
}

// Returns whether end `end` of the capsule's axis is certainly inside the polygon (on the inner
// side of all its edges), or closer than the radius to one of the edges. Each SIMD lane of `ring`
// holds a vertex and the edge at that vertex. For a clockwise polygon `ring` holds the edges
// reversed, so the edge in a lane begins at the vertex that follows the lane's vertex in the ring:
// then `ahead` is 1, which adds the edge to the vector from the lane's vertex.
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

// Returns whether a vertex of the polygon is certainly closer to the capsule's axis than the
// radius, and the point of the axis nearest to that vertex lies between the ends of the axis.
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
