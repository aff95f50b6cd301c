// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a capsule certainly overlap a small convex polygon? For files that are compiled once for
// each instruction set: to be included behind hwy/foreach_target.h, each time.

#include <cstddef>

#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "sweep/plain_path.h"
#include "sweep/plain_touch.h"

#if defined(CAROM_CORE_SRC_PLAIN_OVERLAP_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_PLAIN_OVERLAP_H_
#undef CAROM_CORE_SRC_PLAIN_OVERLAP_H_
#else
#define CAROM_CORE_SRC_PLAIN_OVERLAP_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Whether one of the places, so far along edges and beside them times their lengths, is within the
// radius of its edge, for certain.
HWY_INLINE bool IsNext(Points edge, V along, V beside, const PlainTarget& target, double radius) {
  const V error = All(target.error);
  const V length2 = hn::MulAdd(edge.x, edge.x, Mul(edge.y, edge.y));
  const V reach = Sub(Mul(All(radius), hn::Sqrt(length2)), error);
  const Mask is_beside = And(hn::Gt(along, error), hn::Lt(along, Sub(length2, error)));
  return !hn::AllFalse(D(), And(is_beside, hn::Lt(Abs(beside), reach)));
}

// Whether an end of the axis is on the inner side of all edges, or next to one, for certain. A
// clockwise edge begins at its other vertex.
template <size_t kWidth>
HWY_INLINE bool OverlapsEnd(const PlainTarget& target, const SweptMover& mover,
                            const LocalRing<kWidth>& ring, size_t end) {
  const V ahead = All(target.is_clockwise ? 1 : 0);
  bool is_inside = true;
  bool is_next = false;
  for (size_t g = 0; g < ring.kGroups; ++g) {
    const Points e{ring.edge_x[g], ring.edge_y[g]};
    const V px = hn::MulAdd(ahead, e.x, Sub(All(mover.ring.from_x[end]), ring.x[g]));
    const V py = hn::MulAdd(ahead, e.y, Sub(All(mover.ring.from_y[end]), ring.y[g]));
    const V depth = hn::MulSub(e.x, py, Mul(e.y, px));
    const V along = hn::MulAdd(e.x, px, Mul(e.y, py));
    is_inside = is_inside && hn::AllTrue(D(), hn::Gt(depth, All(target.error)));
    is_next = is_next || IsNext(e, along, depth, target, mover.radius);
  }
  return is_inside || is_next;
}

// Whether a vertex of the polygon is next to the axis, for certain.
template <size_t kWidth>
HWY_INLINE bool OverlapsAxis(const PlainTarget& target, const SweptMover& mover,
                             const LocalRing<kWidth>& ring) {
  const Points e{All(mover.ring.edges.x[0]), All(mover.ring.edges.y[0])};
  bool is_next = false;
  for (size_t g = 0; g < ring.kGroups; ++g) {
    const V beside = hn::MulSub(e.x, ring.y[g], Mul(e.y, ring.x[g]));
    const V along = hn::MulAdd(e.x, ring.x[g], Mul(e.y, ring.y[g]));
    is_next = is_next || IsNext(e, along, beside, target, mover.radius);
  }
  return is_next;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
