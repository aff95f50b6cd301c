// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/fast_touch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "numeric/double_lanes.h"
#include "numeric/exact.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/sweep/fast_touch.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "contact/fast_depths.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "sweep/fast_corner.h"
#include "sweep/fast_path.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

HWY_INLINE size_t WidthOf(const FastPair& pair) {
  return internal::WidthOf(pair.fixed->polygon().vertex_count());
}

void BoundPairs(std::span<FastPair> pairs) {
  for (FastPair& pair : pairs) {
    const bool is_narrow = WidthOf(pair) == 4;
    if (pair.mover->radius > 0) {
      is_narrow ? BoundRound<4>(pair) : BoundRound<8>(pair);
    } else if (internal::WidthOf(pair.mover->ring.size) == 4) {
      is_narrow ? BoundStraight<4, 4>(pair) : BoundStraight<8, 4>(pair);
    } else {
      is_narrow ? BoundStraight<4, 8>(pair) : BoundStraight<8, 8>(pair);
    }
  }
}

// Decides the touch of two polygons. They touch at the edge that the path enters last, if it is
// certainly the only edge entered last and one vertex of the other polygon is certainly the
// farthest on the edge's inner side.
template <size_t kWidth>
HWY_INLINE void DecideStraight(const FastPair& pair, const FastTarget& target, FastTouch& touch) {
  const SweptMover& mover = *pair.mover;
  const uint32_t last = pair.bounds.last;
  if (!std::has_single_bit(last)) return;
  const auto place = static_cast<uint32_t>(std::countr_zero(last));
  const bool is_fixed = place < kMostFastVertices;
  const uint32_t at = place % kMostFastVertices;
  const double error = 256 * kFilterUnit * target.extent * target.extent;
  uint32_t far = 0;
  if (is_fixed) {
    const Vec2 a = target.ring[at];
    const Vec2 b = target.ring[at + 1 < target.ring.size() ? at + 1 : 0];
    const double turn = target.is_clockwise ? -1 : 1;
    const PointSet points{mover.ring.from_x.data(), mover.ring.from_y.data(),
                          internal::WidthOf(mover.ring.size)};
    far = Farthest({turn * (b.x - a.x), turn * (b.y - a.y)}, points, mover.ring.size, error);
  } else {
    const LocalRing<kWidth> ring(target, mover.ring.vertex(0));
    alignas(64) EdgeColumn x;
    alignas(64) EdgeColumn y;
    for (size_t g = 0; g < ring.kGroups; ++g) {
      hn::Store(ring.x[g], D(), &x[g * kLaneCount]);
      hn::Store(ring.y[g], D(), &y[g * kLaneCount]);
    }
    const Vec2 edge{mover.ring.edges.x[at], mover.ring.edges.y[at]};
    far = ring.lanes.VerticesOf(Farthest(edge, {x.data(), y.data(), kWidth}, kWidth, error));
  }
  if (!std::has_single_bit(far)) return;
  const auto support = static_cast<uint8_t>(std::countr_zero(far));
  touch.kind = is_fixed ? TouchKind::kFixedEdge : TouchKind::kMovingEdge;
  touch.fixed = is_fixed ? static_cast<uint8_t>(at) : support;
  touch.moving = is_fixed ? support : static_cast<uint8_t>(at);
  touch.verdict = TouchVerdict::kTouch;
}

template <size_t kWidth>
HWY_INLINE void Decide(const FastPair& pair, double limit, FastTouch& touch) {
  const PathBounds& bounds = pair.bounds;
  const FastTarget target = TargetOf(pair);
  if (pair.mover->radius > 0) {
    RoundTouch<kWidth>(pair, target).Decide(limit, bounds, touch);
  } else if (!(bounds.along_low > 0)) {
    return;
  } else if (bounds.enter_high < 0 && bounds.leave_low > 0) {
    touch.verdict = TouchVerdict::kOverlap;
  } else if (bounds.enter_low > 0 && bounds.enter_high < std::fmin(bounds.leave_low, 1)) {
    DecideStraight<kWidth>(pair, target, touch);
  }
}

FastTouch TouchOf(const FastPair& pair, double limit) {
  FastTouch touch;
  touch.low = pair.bounds.enter_low;
  touch.high = pair.bounds.enter_high;
  if (pair.bounds.Misses(limit)) {
    touch.verdict = TouchVerdict::kNone;
  } else if (WidthOf(pair) == 4) {
    Decide<4>(pair, limit, touch);
  } else {
    Decide<8>(pair, limit, touch);
  }
  return touch;
}

TouchFunctions FindTouchHere() { return {&BoundPairs, &TouchOf}; }

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(FindTouchHere);

void StoreLanes(Lanes lanes, double* to) { std::memcpy(to, &lanes, sizeof lanes); }

}  // namespace

void SweptMover::SetAxis(const Segment& axis) {
  const Lanes a = ToLanes(axis.a);
  const Lanes b = ToLanes(axis.b);
  const Lanes along = b - a;
  const Lanes min = Min(a, b);
  const Lanes max = Max(a, b);
  const Lanes magnitudes = Abs(along);
  ring.size = axis.a == axis.b ? 1 : 2;
  ring.is_clockwise = false;
  ring.bounds = {{min[0], min[1]}, {max[0], max[1]}};
  ring.extent = Max(magnitudes, Swapped(magnitudes))[0];
  edge_count = ring.size == 1 ? 0 : 2;
  const Lanes squares = along * along;
  axis_reach = edge_count == 0 ? HUGE_VAL : radius * std::sqrt(squares[0] + squares[1]);
  // Fills the first elements of the columns of `ring`, all that a loop over two vertices visits
  // (`WidthOf`), with copies of the two ends of the axis, two lanes at a time.
  for (size_t i = 0; i < WidthOf(2); i += 2) {
    StoreLanes(Lows(a, b), &ring.x[i]);
    StoreLanes(Highs(a, b), &ring.y[i]);
    StoreLanes(Lanes{0, along[0]}, &ring.from_x[i]);
    StoreLanes(Lanes{0, along[1]}, &ring.from_y[i]);
    StoreLanes(Lanes{along[0], -along[0]}, &ring.edges.x[i]);
    StoreLanes(Lanes{along[1], -along[1]}, &ring.edges.y[i]);
    StoreLanes(Lanes{0, 0}, &ring.edges.offset[i]);
  }
}

TouchFunctions FindTouch() { return HWY_DYNAMIC_DISPATCH(FindTouchHere)(); }

}  // namespace carom::internal
#endif  // HWY_ONCE
