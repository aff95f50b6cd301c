// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// At which fractions of a straight path does one small convex shape enter and leave the edges of
// another small convex shape? Highway compiles files that include this header once per instruction
// set (hwy/foreach_target.h).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "numeric/exact.h"
#include "sweep/fast_ring.h"
#include "sweep/fast_touch.h"

// The declarations up to the next #endif do not depend on the instruction set, so they have an
// include guard of the usual kind.
#ifndef CAROM_CORE_SRC_FAST_PATH_ONCE_H_
#define CAROM_CORE_SRC_FAST_PATH_ONCE_H_
namespace carom::internal {

// The polygon of a `FastPair` (a polygon and a moving shape, the mover), with bounds of coordinates
// and of errors relative to the mover's first vertex.
struct FastTarget {
  std::span<const Vec2> ring;
  bool is_clockwise;
  // The largest magnitude of all coordinates of the polygon and the mover, relative to the mover's
  // first vertex.
  double extent;
  // Bounds the error of a depth (a distance inward from an edge, times the edge's length). Let R be
  // `extent`, r the radius, |e| the length of the edge and u = 2^-53. A depth errs by at most 48 u
  // R^2; the radius adds r |e| <= 3 r R, which errs by at most 20 u r R.
  double error;
};

}  // namespace carom::internal
#endif

#if defined(CAROM_CORE_SRC_FAST_PATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_FAST_PATH_H_
#undef CAROM_CORE_SRC_FAST_PATH_H_
#else
#define CAROM_CORE_SRC_FAST_PATH_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

HWY_INLINE FastTarget TargetOf(const FastPair& pair) {
  const Polygon& polygon = pair.fixed->polygon();
  const SweptMover& mover = *pair.mover;
  const Box& box = polygon.bounds();
  const Vec2 origin = mover.ring.vertex(0);
  FastTarget target;
  target.ring = polygon.vertices();
  target.is_clockwise = pair.fixed->convexity() == Convexity::kStrictClockwise;
  target.extent =
      std::max(std::max(std::max(std::abs(box.min.x - origin.x), std::abs(box.max.x - origin.x)),
                        std::max(std::abs(box.min.y - origin.y), std::abs(box.max.y - origin.y))),
               mover.ring.extent);
  target.error = 256 * kFilterUnit * target.extent * (target.extent + mover.radius);
  return target;
}

// The vertices of a polygon relative to `origin`, in SIMD lanes, and the vectors of its edges in
// counter-clockwise direction.
template <size_t kWidth>
struct LocalRing {
  static constexpr size_t kGroups = RingLanes<kWidth>::kGroups;

  HWY_INLINE LocalRing(const FastTarget& target, Vec2 origin) : lanes(target.ring) {
    const V turn = All(target.is_clockwise ? -1 : 1);
    for (size_t g = 0; g < kGroups; ++g) {
      const Points at = lanes.Vertices(g);
      const Points next = lanes.Next(g);
      x[g] = Sub(at.x, All(origin.x));
      y[g] = Sub(at.y, All(origin.y));
      edge_x[g] = Mul(turn, Sub(next.x, at.x));
      edge_y[g] = Mul(turn, Sub(next.y, at.y));
    }
  }

  RingLanes<kWidth> lanes;
  V x[kGroups], y[kGroups];
  V edge_x[kGroups], edge_y[kGroups];
};

// Computes the `PathBounds` of a `FastPair`, a polygon and a shape on a straight path: bounds of
// the times at which the path enters and leaves the inner sides (half-planes) of the edges of both
// shapes. The shapes overlap while the path is on the inner side of all edges. A time is a fraction
// of the path. Takes one SIMD vector of edges at a time.
class PathEdges {
 public:
  HWY_INLINE PathEdges(double error, double rate_error)
      : error_(All(error)),
        rate_error_(All(rate_error)),
        enter_low_(All(-HUGE_VAL)),
        enter_high_(All(-HUGE_VAL)),
        leave_low_(All(HUGE_VAL)),
        leave_high_(All(HUGE_VAL)),
        along_low_(All(HUGE_VAL)),
        along_high_(All(HUGE_VAL)) {}

  // Adds one SIMD vector of edges. `depth` is, for each edge, how far the start of the path lies on
  // the inner side of the edge, times the edge's length, with an error of at most `error_`. Along
  // the path the depth grows at the rate `left` - `right`; errors of the edges' coordinates add
  // `rate_error_` to the error of this rate. Returns an upper bound of the fraction of the path at
  // which it enters each edge, or -inf for an edge that it does not enter.
  //
  // Let t be the computed fraction, t' the exact one, and e the error of the rate: |t - t'| <=
  // (`error_` + |t| e) / (|rate| - e), where the divisor is at least |rate| / 2 if |rate| > 2e. The
  // code multiplies by the inverse of the rate instead of dividing. If |rate| <= 2e, the edge
  // counts as parallel to the path: the depth changes by at most 3e along the whole path.
  HWY_INLINE V Add(V depth, V left, V right) {
    const V rate = Sub(left, right);
    const V sizes = hn::Add(Abs(left), Abs(right));
    const V rate_error = hn::MulAdd(All(kCrossError), sizes, rate_error_);
    const Mask crosses = hn::Gt(Abs(rate), Mul(All(2), rate_error));
    const V inverse = hn::Div(All(-1), rate);
    const V t = Mul(depth, inverse);
    const V bound = Mul(hn::MulAdd(Abs(t), rate_error, error_), Mul(All(2), Abs(inverse)));
    const V slack = Mul(All(kUp), hn::MulAdd(Abs(t), All(8 * kFilterUnit), bound));
    const V low = Sub(t, slack);
    const V high = hn::Add(t, slack);
    const Mask enters = And(crosses, hn::Gt(rate, All(0)));
    const Mask leaves = And(crosses, hn::Lt(rate, All(0)));
    const V entry = IfThenElse(enters, high, All(-HUGE_VAL));
    enter_high_ = Max(enter_high_, entry);
    enter_low_ = Max(enter_low_, IfThenElse(enters, low, All(-HUGE_VAL)));
    leave_low_ = Min(leave_low_, IfThenElse(leaves, low, All(HUGE_VAL)));
    leave_high_ = Min(leave_high_, IfThenElse(leaves, high, All(HUGE_VAL)));
    const V along_error = hn::MulAdd(All(4), rate_error, error_);
    along_low_ = Min(along_low_, IfThenElse(crosses, All(HUGE_VAL), Sub(depth, along_error)));
    along_high_ = Min(along_high_, IfThenElse(crosses, All(HUGE_VAL), hn::Add(depth, along_error)));
    return entry;
  }

  // Sets all members of `bounds` but `last`. Returns `bounds.enter_low`, a lower bound, in all
  // lanes, of the fraction at which the path enters the edge that it enters last.
  HWY_INLINE V SetBounds(PathBounds& bounds) const {
    const V enter_low = hn::MaxOfLanes(D(), enter_low_);
    bounds.enter_low = hn::GetLane(enter_low);
    bounds.enter_high = hn::GetLane(hn::MaxOfLanes(D(), enter_high_));
    bounds.leave_low = hn::GetLane(hn::MinOfLanes(D(), leave_low_));
    bounds.leave_high = hn::GetLane(hn::MinOfLanes(D(), leave_high_));
    bounds.along_low = hn::GetLane(hn::MinOfLanes(D(), along_low_));
    bounds.along_high = hn::GetLane(hn::MinOfLanes(D(), along_high_));
    return enter_low;
  }

 private:
  V error_, rate_error_;
  V enter_low_, enter_high_, leave_low_, leave_high_, along_low_, along_high_;
};

// Returns a `PathEdges` without edges, for a mover with displacement d. A coordinate of an edge
// errs by at most 4 u R, where R is `target.extent` and u = 2^-53; the code allows twice that in
// the rate at which a depth (a distance inward from an edge, times the edge's length) grows.
HWY_INLINE PathEdges EdgesOf(const FastTarget& target, Vec2 d) {
  return PathEdges(target.error, 8 * kFilterUnit * target.extent * (std::abs(d.x) + std::abs(d.y)));
}

// Returns, as bits, the edges that the path may enter last: sets bit `at` + k if lane k of
// `entries`, an upper bound of the fraction at which the path enters the edge of that lane, is at
// least `bound`.
HWY_INLINE uint32_t EntriesFrom(V entries, V bound, size_t at) {
  return BitsOf(hn::Ge(entries, bound)) << at;
}

// Sets `pair.bounds` (bounds of the fractions of the path at which the two shapes overlap) for two
// polygons, from the edges of each polygon and the vertices of the other polygon. A depth (how far
// the other polygon reaches to the inner side of an edge, times the edge's length) errs by at most
// 48 u R^2, with R = `target.extent` and u = 2^-53, as shown at `AxisOf` in contact/fast_axis.cc.
template <size_t kWidth, size_t kMoverWidth>
HWY_INLINE void BoundStraight(FastPair& pair) {
  constexpr size_t kMoverGroups = kMoverWidth / kLaneCount;
  const FastTarget target = TargetOf(pair);
  const SweptMover& mover = *pair.mover;
  const LocalRing<kWidth> ring(target, mover.ring.vertex(0));
  alignas(64) std::array<double, kWidth> xs;
  alignas(64) std::array<double, kWidth> ys;
  const V dx = All(mover.d.x);
  const V dy = All(mover.d.y);
  PathEdges edges = EdgesOf(target, mover.d);
  V entries[ring.kGroups];
  for (size_t g = 0; g < ring.kGroups; ++g) {
    const V ex = ring.edge_x[g];
    const V ey = ring.edge_y[g];
    hn::Store(ring.x[g], D(), &xs[g * kLaneCount]);
    hn::Store(ring.y[g], D(), &ys[g * kLaneCount]);
    V most = All(-HUGE_VAL);
    for (size_t k = 0; k < kMoverWidth; ++k) {
      const V x = All(mover.ring.from_x[k]);
      most = Max(most, hn::MulSub(ex, All(mover.ring.from_y[k]), Mul(ey, x)));
    }
    const V offset = hn::MulSub(ex, ring.y[g], Mul(ey, ring.x[g]));
    entries[g] = edges.Add(Sub(most, offset), Mul(ex, dy), Mul(ey, dx));
  }
  V mover_entries[kMoverGroups];
  for (size_t g = 0; g < kMoverGroups; ++g) {
    const size_t i = g * kLaneCount;
    const V ex = At(&mover.ring.edges.x[i]);
    const V ey = At(&mover.ring.edges.y[i]);
    V most = All(-HUGE_VAL);
    for (size_t k = 0; k < kWidth; ++k) {
      most = Max(most, hn::MulSub(ex, All(ys[k]), Mul(ey, All(xs[k]))));
    }
    const V depth = Sub(most, At(&mover.ring.edges.offset[i]));
    mover_entries[g] = edges.Add(depth, Mul(ey, dx), Mul(ex, dy));
  }
  const V bound = edges.SetBounds(pair.bounds);
  uint32_t fixed = 0;
  uint32_t moving = 0;
  for (size_t g = 0; g < ring.kGroups; ++g) {
    fixed |= EntriesFrom(entries[g], bound, g * kLaneCount);
  }
  for (size_t g = 0; g < kMoverGroups; ++g) {
    moving |= EntriesFrom(mover_entries[g], bound, g * kLaneCount);
  }
  moving &= (uint32_t{1} << mover.edge_count) - 1;
  pair.bounds.last = ring.lanes.VerticesOf(fixed) | moving << kMostFastVertices;
}

// Sets `pair.bounds` (bounds of the fractions of the path at which the two shapes overlap) for a
// polygon and a capsule. All edges are moved outward by the capsule's radius. Coordinates are
// relative to the first end of the capsule's axis. The axis counts as two edges: forward in the
// even SIMD lanes, backward in the odd lanes.
template <size_t kWidth>
HWY_INLINE void BoundRound(FastPair& pair) {
  const FastTarget target = TargetOf(pair);
  const SweptMover& mover = *pair.mover;
  const LocalRing<kWidth> ring(target, mover.ring.vertex(0));
  const V fx = All(mover.ring.from_x[1]);
  const V fy = All(mover.ring.from_y[1]);
  const V dx = All(mover.d.x);
  const V dy = All(mover.d.y);
  const V radius = All(mover.radius);
  PathEdges edges = EdgesOf(target, mover.d);
  V entries[ring.kGroups];
  V most = All(-HUGE_VAL);
  V least = All(HUGE_VAL);
  for (size_t g = 0; g < ring.kGroups; ++g) {
    const V ex = ring.edge_x[g];
    const V ey = ring.edge_y[g];
    const V reach = Mul(radius, hn::Sqrt(hn::MulAdd(ex, ex, Mul(ey, ey))));
    const V end = Max(All(0), hn::MulSub(ex, fy, Mul(ey, fx)));
    const V offset = hn::MulSub(ex, ring.y[g], Mul(ey, ring.x[g]));
    entries[g] = edges.Add(Add(reach, Sub(end, offset)), Mul(ex, dy), Mul(ey, dx));
    const V vertex = hn::MulSub(fx, ring.y[g], Mul(fy, ring.x[g]));
    most = Max(most, vertex);
    least = Min(least, vertex);
  }
  const V forth = hn::MaxOfLanes(D(), most);
  const V back = hn::Neg(hn::MinOfLanes(D(), least));
  V axis[kVectorsOfTwo];
  for (size_t k = 0; k < kVectorsOfTwo; ++k) {
    const V turn = Alternating(All(1), All(-1), k);
    const V depth = Add(All(mover.axis_reach), Alternating(forth, back, k));
    axis[k] = edges.Add(depth, Mul(turn, Mul(fy, dx)), Mul(turn, Mul(fx, dy)));
  }
  const V bound = edges.SetBounds(pair.bounds);
  uint32_t fixed = 0;
  for (size_t g = 0; g < ring.kGroups; ++g) {
    fixed |= EntriesFrom(entries[g], bound, g * kLaneCount);
  }
  uint32_t moving = 0;
  for (size_t k = 0; k < kVectorsOfTwo; ++k) moving |= EntriesFrom(axis[k], bound, k);
  moving &= (uint32_t{1} << mover.edge_count) - 1;
  pair.bounds.last = ring.lanes.VerticesOf(fixed) | moving << kMostFastVertices;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of fast_path.h, once per instruction set
