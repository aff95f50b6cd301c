// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Bounds the distances of a point from the edges of a ring, several edges at a time. Files that
// Highway compiles once for each instruction set include this header after hwy/foreach_target.h, so
// that it, too, is included once per instruction set.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "numeric/exact.h"
#include "proximity/edge_bounds.h"

// The next part is identical for all instruction sets, and is compiled once.
#ifndef CAROM_CORE_SRC_MEASURE_RING_ONCE_H_
#define CAROM_CORE_SRC_MEASURE_RING_ONCE_H_
namespace carom::internal {

// What `MeasureRing` computes from the edges of a ring and a point.
struct Squares {
  std::array<double, kMostBoundedEdges + kMaxLanes> of;  // squared distance of each edge
  // The least squared distance, and the largest magnitude of a vertex coordinate relative to the
  // point. Each lane has the value for the edges that the lane computed.
  DoubleColumn least;
  DoubleColumn extent;
};

}  // namespace carom::internal
#endif

// Highway includes this header once per instruction set, and defines HWY_TARGET_TOGGLE every other
// time. The macro of this include guard toggles together with it, so that the guard lets one
// inclusion per instruction set through.
#if defined(CAROM_CORE_SRC_MEASURE_RING_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_MEASURE_RING_H_
#undef CAROM_CORE_SRC_MEASURE_RING_H_
#else
#define CAROM_CORE_SRC_MEASURE_RING_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Computes the squared distances of `point` from one vector of edges, edge i from from[i] to to[i].
// Writes the squared distances to `squares.of` from index `at` on, and updates `squares.least` and
// `squares.extent`. The nearest point of an edge of length 0 is its end.
HWY_INLINE void MeasureEdges(const Vec2* from, const Vec2* to, Vec2 point, size_t at,
                             Squares& squares) {
  const D d;
  V ax = hn::Undefined(d), ay = hn::Undefined(d), bx = hn::Undefined(d), by = hn::Undefined(d);
  hn::LoadInterleaved2(d, &from->x, ax, ay);
  hn::LoadInterleaved2(d, &to->x, bx, by);
  const V px = All(point.x);
  const V py = All(point.y);
  ax = Sub(ax, px);
  ay = Sub(ay, py);
  const V ex = Sub(Sub(bx, px), ax);
  const V ey = Sub(Sub(by, py), ay);
  const V length2 = Add(Mul(ex, ex), Mul(ey, ey));
  const V along = hn::Div(hn::Neg(Add(Mul(ax, ex), Mul(ay, ey))), length2);
  const V place = hn::IfThenElseZero(hn::Gt(length2, All(0)), along);
  const V t = Min(Max(place, All(0)), All(1));
  const V x = Add(ax, Mul(t, ex));
  const V y = Add(ay, Mul(t, ey));
  const V square = Add(Mul(x, x), Mul(y, y));
  hn::StoreU(square, d, &squares.of[at]);
  Put(Min(At(squares.least, 0), square), squares.least, 0);
  // Each vertex is the begin a of an edge, so the vertices a suffice for the extent.
  Put(Max(At(squares.extent, 0), Max(Abs(ax), Abs(ay))), squares.extent, 0);
}

// Sets `bounds` to bounds of the squared distance of `point` from a ring, and the edges that may be
// nearest. Computes a vector of edges at a time; the last vector overlaps the one before. If the
// ring has fewer edges than a vector has lanes, its last edge fills the remaining lanes.
inline void MeasureRing(std::span<const Vec2> ring, Vec2 point, EdgeBounds& bounds) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const size_t n = ring.size();
  Squares squares;
  squares.least.fill(HUGE_VAL);
  squares.extent.fill(0);
  size_t i = 0;
  for (; i + lanes < n; i += lanes) MeasureEdges(&ring[i], &ring[i + 1], point, i, squares);
  std::array<Vec2, kMaxLanes + 1> last;
  const size_t begin = n < lanes ? 0 : n - lanes;
  for (size_t k = 0; k < kMaxLanes; ++k) last[k] = ring[std::min(begin + k, n - 1)];
  last[std::min(lanes, n)] = ring[0];
  if (n < lanes) {
    std::array<Vec2, kMaxLanes> ends;
    for (size_t k = 0; k < kMaxLanes; ++k) ends[k] = k + 1 < n ? ring[k + 1] : ring[0];
    last[n] = ring[n - 1];
    MeasureEdges(last.data(), ends.data(), point, 0, squares);
  } else {
    MeasureEdges(last.data(), last.data() + 1, point, begin, squares);
  }
  const double least = hn::GetLane(hn::MinOfLanes(d, At(squares.least, 0)));
  const double extent = hn::GetLane(hn::MaxOfLanes(d, At(squares.extent, 0)));
  const double error = 128 * kFilterUnit * extent * extent;
  bounds = {least - error, least + error, 0};
  const V most = All((least + 2 * error) * kUp);
  for (i = 0; i < n; i += lanes) {
    bounds.nearest |= uint64_t{BitsOf(hn::Le(At(&squares.of[i]), most))} << i;
  }
  if (n < 64) bounds.nearest &= (uint64_t{1} << n) - 1;
}

// Sets `winding` to the winding number of a ring about a point that is not on the ring: the sum of
// the signed crossings of the edges with the horizontal ray from the point to the right. An end of
// an edge at the height of the point counts as below the ray. Rounding a difference of coordinates
// keeps the sign of the difference. Returns false if the sign of a rounded cross product is
// uncertain.
HWY_INLINE bool WindsAround(std::span<const Vec2> ring, Vec2 point, int& winding) {
  const size_t n = ring.size();
  int sum = 0;
  Vec2 a{ring[n - 1].x - point.x, ring[n - 1].y - point.y};
  for (size_t i = 0; i < n; ++i) {
    const Vec2 b{ring[i].x - point.x, ring[i].y - point.y};
    if ((a.y > 0) != (b.y > 0)) {
      const RoundedCross cross(a.x * b.y, a.y * b.x);
      if (!(std::abs(cross.value) > cross.error())) return false;
      if ((cross.value > 0) == (b.y > 0)) sum += b.y > 0 ? 1 : -1;
    }
    a = b;
  }
  winding = sum;
  return true;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard per instruction set
