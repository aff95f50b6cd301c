// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/fast_mover.h"

#include <algorithm>
#include <cmath>

#include "numeric/exact.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/contact/fast_mover.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

HWY_INLINE V Normal(V v) { return hn::IfThenElseZero(hn::Ge(Abs(v), All(kSmallestMagnitude)), v); }

// Sets the vertices of `mover` (the vertices of `shape`, placed at `pose`) and their bounding box.
HWY_INLINE void SetVertices(const FastShape& shape, const Pose& pose, FastMover& mover) {
  const D d;
  const V c = All(pose.c);
  const V s = All(pose.s);
  const V px = All(pose.position.x);
  const V py = All(pose.position.y);
  const size_t n = shape.size;
  const size_t width = WidthOf(n);
  V min_x = All(HUGE_VAL);
  V min_y = min_x;
  V max_x = All(-HUGE_VAL);
  V max_y = max_x;
  for (size_t i = 0; i < width; i += hn::Lanes(d)) {
    const V x = hn::Load(d, &shape.x[i]);
    const V y = hn::Load(d, &shape.y[i]);
    const V placed_x = Normal(Add(Sub(Mul(c, x), Mul(s, y)), px));
    const V placed_y = Normal(Add(Add(Mul(s, x), Mul(c, y)), py));
    hn::Store(placed_x, d, &mover.x[i]);
    hn::Store(placed_y, d, &mover.y[i]);
    hn::StoreU(placed_x, d, &mover.x[n + i]);
    hn::StoreU(placed_y, d, &mover.y[n + i]);
    min_x = Min(min_x, placed_x);
    min_y = Min(min_y, placed_y);
    max_x = Max(max_x, placed_x);
    max_y = Max(max_y, placed_y);
  }
  mover.bounds = {{hn::GetLane(hn::MinOfLanes(d, min_x)), hn::GetLane(hn::MinOfLanes(d, min_y))},
                  {hn::GetLane(hn::MaxOfLanes(d, max_x)), hn::GetLane(hn::MaxOfLanes(d, max_y))}};
}

// Computes the edges of a placed polygon. Returns whether the polygon is certainly strictly convex:
// whether it turns the same way at all vertices, and only once around. In one turn around, the
// edges change exactly once from pointing right to not pointing right, and once back (as in
// `ConvexityOf`).
HWY_INLINE bool SetEdges(FastMover& mover) {
  const V turn = All(mover.is_clockwise ? -1 : 1);
  const V origin_x = All(mover.x[0]);
  const V origin_y = All(mover.y[0]);
  const V zero = All(0);
  const uint32_t n = mover.size;
  const size_t width = WidthOf(n);
  Mask is_turning = hn::Eq(zero, zero);
  uint32_t right = 0;
  for (size_t i = 0; i < width; i += hn::Lanes(D())) {
    const V x = hn::Load(D(), &mover.x[i]);
    const V y = hn::Load(D(), &mover.y[i]);
    const V next_x = At(&mover.x[i + 1]);
    const V next_y = At(&mover.y[i + 1]);
    const V ex = Mul(turn, Sub(next_x, x));
    const V ey = Mul(turn, Sub(next_y, y));
    const V forth = Mul(ex, Sub(At(&mover.y[i + 2]), next_y));
    const V back = Mul(ey, Sub(At(&mover.x[i + 2]), next_x));
    const V error = Mul(All(kCrossError), Add(Abs(forth), Abs(back)));
    is_turning = And(is_turning, hn::Gt(Sub(forth, back), error));
    const Mask up = And(hn::Eq(ex, zero), hn::Gt(ey, zero));
    right |= BitsOf(hn::Or(hn::Gt(ex, zero), up)) << i;
    const V from_x = Sub(x, origin_x);
    const V from_y = Sub(y, origin_y);
    hn::Store(from_x, D(), &mover.from_x[i]);
    hn::Store(from_y, D(), &mover.from_y[i]);
    hn::Store(ex, D(), &mover.edges.x[i]);
    hn::Store(ey, D(), &mover.edges.y[i]);
    hn::Store(hn::MulSub(ex, from_y, Mul(ey, from_x)), D(), &mover.edges.offset[i]);
    hn::Store(hn::Div(All(1), hn::MulAdd(ex, ex, Mul(ey, ey))), D(), &mover.edges.inverse[i]);
  }
  const uint32_t all = (uint32_t{1} << n) - 1;
  right &= all;
  const uint32_t before = (right << 1 | right >> (n - 1)) & all;
  // `changes` has an even number of bits set. So it has two if exactly one bit remains after the
  // lowest one is cleared.
  const uint32_t changes = right ^ before;
  const uint32_t rest = changes & (changes - 1);
  return hn::AllTrue(D(), is_turning) && rest != 0 && (rest & (rest - 1)) == 0;
}

bool PlaceVertices(const FastShape& shape, const Pose& pose, FastMover& mover) {
  mover.size = shape.size;
  mover.is_clockwise = shape.is_clockwise;
  SetVertices(shape, pose, mover);
  const Box& box = mover.bounds;
  const Vec2 origin = mover.vertex(0);
  mover.extent = std::max(
      {box.max.x - origin.x, origin.x - box.min.x, box.max.y - origin.y, origin.y - box.min.y});
  const double magnitude = std::max({box.max.x, -box.min.x, box.max.y, -box.min.y});
  return magnitude <= kMaxCoordinate;
}

bool PlaceEdges(FastMover& mover) { return SetEdges(mover); }

bool Place(const FastShape& shape, const Pose& pose, FastMover& mover) {
  return PlaceVertices(shape, pose, mover) && SetEdges(mover);
}

FastPlacing PlaceHere() { return {&Place, &PlaceVertices, &PlaceEdges}; }

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(PlaceHere);

}  // namespace

FastShape::FastShape(const Shape& shape, Convexity convexity) {
  if (convexity != Convexity::kStrict && convexity != Convexity::kStrictClockwise) return;
  const Polygon* const polygon = shape.polygon();
  if (polygon == nullptr || polygon->vertex_count() > kMostFastVertices) return;
  const std::span<const Vec2> ring = polygon->ring(0);
  size = static_cast<uint32_t>(ring.size());
  is_clockwise = convexity == Convexity::kStrictClockwise;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = ring[i % size].x;
    y[i] = ring[i % size].y;
  }
}

FastPlacing PlaceFast() { return HWY_DYNAMIC_DISPATCH(PlaceHere)(); }

}  // namespace carom::internal
#endif  // HWY_ONCE
