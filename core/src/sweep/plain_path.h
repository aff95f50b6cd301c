// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A path among the edges of two small convex shapes, for files that are compiled once for each
// instruction set: to be included behind hwy/foreach_target.h, each time.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "contact/plain_depths.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "numeric/exact.h"
#include "sweep/plain_touch.h"

#ifndef CAROM_CORE_SRC_PLAIN_PATH_ONCE_H_  // the same for all instruction sets
#define CAROM_CORE_SRC_PLAIN_PATH_ONCE_H_
namespace carom::internal {

// For the edges of the polygon, then for those of the shape.
using PathColumn = std::array<double, 2 * kMostPlainVertices>;

// A polygon and a shape on its path.
struct PlainTarget {
  std::span<const Vec2> ring;
  bool is_clockwise;
  // Of all coordinates about the shape's first vertex, the largest magnitude.
  double extent;
  // No less than the shape, its radius and the polygon are wide.
  double size;
};

}  // namespace carom::internal
#endif

#if defined(CAROM_CORE_SRC_PLAIN_PATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_PLAIN_PATH_H_
#undef CAROM_CORE_SRC_PLAIN_PATH_H_
#else
#define CAROM_CORE_SRC_PLAIN_PATH_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Between which fractions the path is on the inner side of all edges, as far as that is certain.
struct PathBounds {
  double enter_low, enter_high;  // of the last edge that is entered
  double leave_low, leave_high;  // of the first that is left
  double along_low, along_high;  // how deep it is along those that it runs along, times lengths
};

// Gathers them, some edges at a time.
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

  // Adds the edges of a ring. `depths` times lengths err by `error`, and grow along the path by the
  // cross product of the edge and d, which errs by `rate_error` for what the edge errs by. Sets by
  // when each is entered: never, for those that are not.
  //
  // |t - t'| <= (error + |t| e) / (|rate| - e), where e is what the rate errs by; then the quotient
  // is rounded. Where the rate is within 2e of 0, the depth changes by 3e at most.
  HWY_INLINE void AddRing(const PlainEdges& edges, const EdgeColumn& depths, size_t width, Vec2 d,
                          double* entries) {
    for (size_t i = 0; i < width; i += hn::Lanes(D())) {
      const V left = Mul(At(&edges.x[i]), All(d.y));
      const V right = Mul(At(&edges.y[i]), All(d.x));
      const V rate = Sub(left, right);
      const V rate_error = hn::MulAdd(All(kCrossError), Add(Abs(left), Abs(right)), rate_error_);
      const V rest = Sub(Abs(rate), rate_error);
      const Mask crosses = hn::Gt(rest, rate_error);
      const V depth = At(&depths[i]);
      const V t = hn::Neg(hn::Div(depth, rate));
      const V bound = hn::Div(hn::MulAdd(Abs(t), rate_error, error_), rest);
      const V slack = Mul(All(kUp), hn::MulAdd(Abs(t), All(4 * kFilterUnit), bound));
      const Mask enters = And(crosses, hn::Gt(rate, All(0)));
      const Mask leaves = And(crosses, hn::Lt(rate, All(0)));
      const V entry = IfThenElse(enters, Add(t, slack), All(-HUGE_VAL));
      hn::StoreU(entry, D(), entries + i);
      enter_high_ = Max(enter_high_, entry);
      enter_low_ = Max(enter_low_, IfThenElse(enters, Sub(t, slack), All(-HUGE_VAL)));
      leave_low_ = Min(leave_low_, IfThenElse(leaves, Sub(t, slack), All(HUGE_VAL)));
      leave_high_ = Min(leave_high_, IfThenElse(leaves, Add(t, slack), All(HUGE_VAL)));
      const V along_error = hn::MulAdd(All(4), rate_error, error_);
      along_low_ = Min(along_low_, IfThenElse(crosses, All(HUGE_VAL), Sub(depth, along_error)));
      along_high_ = Min(along_high_, IfThenElse(crosses, All(HUGE_VAL), Add(depth, along_error)));
    }
  }

  HWY_INLINE PathBounds Bounds() const {
    return {Most(enter_low_),   Most(enter_high_), Least(leave_low_),
            Least(leave_high_), Least(along_low_), Least(along_high_)};
  }

 private:
  static HWY_INLINE double Most(V v) { return hn::GetLane(hn::MaxOfLanes(D(), v)); }
  static HWY_INLINE double Least(V v) { return hn::GetLane(hn::MinOfLanes(D(), v)); }

  V error_, rate_error_;
  V enter_low_, enter_high_, leave_low_, leave_high_, along_low_, along_high_;
};

// Sets the polygon's columns and how deep all edges are; with R = `target.extent` within 48 u R^2
// (`AxisOf` in contact/plain_axis.cc).
HWY_INLINE void SetPath(const PlainTarget& target, const SweptMover& mover, Depths& depths) {
  const size_t width = WidthOf(target.ring.size());
  const size_t mover_width = WidthOf(mover.ring.size);
  SetRing(target.ring, mover.ring.vertex(0), depths);
  SetEdges(width, target.is_clockwise, depths);
  const PointSet fixed_points{depths.x.data(), depths.y.data(), width};
  const PointSet mover_points{mover.ring.from_x.data(), mover.ring.from_y.data(), mover_width};
  SetDepths(depths.edges, width, mover_points, depths.fixed);
  SetDepths(mover.ring.edges, mover_width, fixed_points, depths.mover);
}

// The same of a capsule, whose axis begins at 0; all edges are moved outward by its radius.
HWY_INLINE void SetRoundPath(const PlainTarget& target, const SweptMover& mover, Depths& depths) {
  const size_t width = WidthOf(target.ring.size());
  SetRing(target.ring, mover.ring.vertex(0), depths);
  SetEdges(width, target.is_clockwise, depths);
  const V fx = All(mover.ring.from_x[1]);
  const V fy = All(mover.ring.from_y[1]);
  V most = All(-HUGE_VAL);
  V least = All(HUGE_VAL);
  for (size_t i = 0; i < width; i += hn::Lanes(D())) {
    const V ex = At(&depths.edges.x[i]);
    const V ey = At(&depths.edges.y[i]);
    const V reach = Mul(All(mover.radius), hn::Sqrt(hn::MulAdd(ex, ex, Mul(ey, ey))));
    const V end = Max(All(0), hn::MulSub(ex, fy, Mul(ey, fx)));
    hn::StoreU(Add(reach, Sub(end, At(&depths.edges.offset[i]))), D(), &depths.fixed[i]);
    const V vertex = hn::MulSub(fx, At(&depths.y[i]), Mul(fy, At(&depths.x[i])));
    most = Max(most, vertex);
    least = Min(least, vertex);
  }
  if (mover.edge_count == 0) return;
  const double x = mover.ring.from_x[1];
  const double y = mover.ring.from_y[1];
  const double reach = mover.radius * std::sqrt(x * x + y * y);
  for (size_t i = 0; i < WidthOf(2); i += 2) {
    depths.mover[i] = reach + hn::GetLane(hn::MaxOfLanes(D(), most));
    depths.mover[i + 1] = reach - hn::GetLane(hn::MinOfLanes(D(), least));
  }
}

// The edges that are entered last, perhaps: bit k for edge k of the polygon, bit 8 + k for that of
// the shape.
HWY_INLINE uint32_t LastEntries(const PathColumn& entries, double enter_low, size_t n,
                                size_t mover_edges) {
  const V bound = All(enter_low);
  uint32_t bits = 0;
  for (size_t i = 0; i < entries.size(); i += hn::Lanes(D())) {
    bits |= BitsOf(hn::Ge(At(&entries[i]), bound)) << i;
  }
  const uint32_t fixed = (uint32_t{1} << n) - 1;
  const uint32_t moving = (uint32_t{1} << mover_edges) - 1;
  return bits & (fixed | moving << kMostPlainVertices);
}

// How far points are along edges, and beside them, times their lengths.
struct Beside {
  V along, beside;
};

// Whether one of them is within the radius of its edge, for certain.
HWY_INLINE bool IsNext(V ex, V ey, const Beside& place, double radius, double error) {
  const V length2 = hn::MulAdd(ex, ex, Mul(ey, ey));
  const V reach = Sub(Mul(All(radius), hn::Sqrt(length2)), All(error));
  const Mask is_beside =
      And(hn::Gt(place.along, All(error)), hn::Lt(place.along, Sub(length2, All(error))));
  return !hn::AllFalse(D(), And(is_beside, hn::Lt(Abs(place.beside), reach)));
}

// Whether an end of the axis is on the inner side of all edges, or next to one, for certain.
HWY_INLINE bool OverlapsEnd(const PlainTarget& target, const SweptMover& mover, size_t end,
                            const Depths& depths, double error) {
  const size_t ahead = target.is_clockwise ? 1 : 0;
  bool is_inside = true;
  bool is_next = false;
  for (size_t i = 0; i < WidthOf(target.ring.size()); i += hn::Lanes(D())) {
    const V ex = At(&depths.edges.x[i]);
    const V ey = At(&depths.edges.y[i]);
    const V px = Sub(All(mover.ring.from_x[end]), At(&depths.x[i + ahead]));
    const V py = Sub(All(mover.ring.from_y[end]), At(&depths.y[i + ahead]));
    const V depth = hn::MulSub(ex, py, Mul(ey, px));
    const V along = hn::MulAdd(ex, px, Mul(ey, py));
    is_inside = is_inside && hn::AllTrue(D(), hn::Gt(depth, All(error)));
    is_next = is_next || IsNext(ex, ey, {along, depth}, mover.radius, error);
  }
  return is_inside || is_next;
}

// Whether a vertex of the polygon is next to the axis, for certain.
HWY_INLINE bool OverlapsAxis(const PlainTarget& target, const SweptMover& mover,
                             const Depths& depths, double error) {
  const V ex = All(mover.ring.edges.x[0]);
  const V ey = All(mover.ring.edges.y[0]);
  bool is_next = false;
  for (size_t i = 0; i < WidthOf(target.ring.size()); i += hn::Lanes(D())) {
    const V x = At(&depths.x[i]);
    const V y = At(&depths.y[i]);
    const V beside = hn::MulSub(ex, y, Mul(ey, x));
    const V along = hn::MulAdd(ex, x, Mul(ey, y));
    is_next = is_next || IsNext(ex, ey, {along, beside}, mover.radius, error);
  }
  return is_next;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
