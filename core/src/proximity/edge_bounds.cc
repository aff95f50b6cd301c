// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/edge_bounds.h"

#include <algorithm>
#include <array>

#include "numeric/exact.h"

#ifndef CAROM_CORE_SRC_EDGE_BOUNDS_CC_  // the first time this file is compiled
#define CAROM_CORE_SRC_EDGE_BOUNDS_CC_
namespace carom::internal {
namespace {

constexpr size_t kMostLanes = 4;

// What is known of the edges so far.
struct Squares {
  std::array<double, kMostBoundedEdges + kMostLanes> of;  // squared distances, by edges
  std::array<double, kMostLanes> least;
  std::array<double, kMostLanes> extent;  // the largest coordinate of an end, about the point
};

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/proximity/edge_bounds.cc"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using hn::Abs;
using hn::Add;
using hn::Max;
using hn::Mul;
using hn::Sub;

using D = hn::CappedTag<double, kMostLanes>;
using V = hn::Vec<D>;

// Measures as many edges as there are lanes: edge i from from[i] to to[i], and writes them from
// edge `at` on. Of an edge of length 0 the nearest point is its end.
HWY_INLINE void MeasureEdges(const Vec2* from, const Vec2* to, Vec2 point, size_t at,
                             Squares& squares) {
  const D d;
  V ax = hn::Undefined(d), ay = hn::Undefined(d), bx = hn::Undefined(d), by = hn::Undefined(d);
  hn::LoadInterleaved2(d, &from->x, ax, ay);
  hn::LoadInterleaved2(d, &to->x, bx, by);
  const V px = hn::Set(d, point.x);
  const V py = hn::Set(d, point.y);
  ax = Sub(ax, px);
  ay = Sub(ay, py);
  const V ex = Sub(Sub(bx, px), ax);
  const V ey = Sub(Sub(by, py), ay);
  const V length2 = Add(Mul(ex, ex), Mul(ey, ey));
  const V along = hn::Div(hn::Neg(Add(Mul(ax, ex), Mul(ay, ey))), length2);
  const V place = hn::IfThenElseZero(hn::Gt(length2, hn::Zero(d)), along);
  const V t = hn::Min(Max(place, hn::Zero(d)), hn::Set(d, 1));
  const V x = Add(ax, Mul(t, ex));
  const V y = Add(ay, Mul(t, ey));
  const V square = Add(Mul(x, x), Mul(y, y));
  hn::StoreU(square, d, &squares.of[at]);
  hn::Store(hn::Min(hn::Load(d, squares.least.data()), square), d, squares.least.data());
  // Each vertex begins an edge.
  const V extent = Max(hn::Load(d, squares.extent.data()), Max(Abs(ax), Abs(ay)));
  hn::Store(extent, d, squares.extent.data());
}

// Edges by lanes, of which the last ones overlap those before; fewer than lanes repeat the last.
void MeasureRing(std::span<const Vec2> ring, Vec2 point, EdgeBounds& bounds) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const size_t n = ring.size();
  alignas(64) Squares squares;
  squares.least.fill(HUGE_VAL);
  squares.extent.fill(0);
  size_t i = 0;
  for (; i + lanes < n; i += lanes) MeasureEdges(&ring[i], &ring[i + 1], point, i, squares);
  std::array<Vec2, kMostLanes + 1> last;
  const size_t begin = n < lanes ? 0 : n - lanes;
  for (size_t k = 0; k < kMostLanes; ++k) last[k] = ring[std::min(begin + k, n - 1)];
  last[std::min(lanes, n)] = ring[0];
  if (n < lanes) {
    std::array<Vec2, kMostLanes> ends;
    for (size_t k = 0; k < kMostLanes; ++k) ends[k] = k + 1 < n ? ring[k + 1] : ring[0];
    last[n] = ring[n - 1];
    MeasureEdges(last.data(), ends.data(), point, 0, squares);
  } else {
    MeasureEdges(last.data(), last.data() + 1, point, begin, squares);
  }
  const double least = hn::GetLane(hn::MinOfLanes(d, hn::Load(d, squares.least.data())));
  const double extent = hn::GetLane(hn::MaxOfLanes(d, hn::Load(d, squares.extent.data())));
  const double error = 128 * kFilterUnit * extent * extent;
  bounds = {least - error, least + error, 0};
  const V most = hn::Set(d, (least + 2 * error) * kUp);
  for (i = 0; i < n; i += lanes) {
    uint8_t bits[8];
    hn::StoreMaskBits(d, hn::Le(hn::LoadU(d, &squares.of[i]), most), bits);
    bounds.nearest |= uint64_t{bits[0]} << i;
  }
  if (n < 64) bounds.nearest &= (uint64_t{1} << n) - 1;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(MeasureRing);

}  // namespace

EdgeBounds BoundsOfEdges(std::span<const Vec2> ring, Vec2 point) {
  EdgeBounds bounds;
  HWY_DYNAMIC_DISPATCH(MeasureRing)(ring, point, bounds);
  return bounds;
}

}  // namespace carom::internal
#endif  // HWY_ONCE
