// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/plain_touch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "numeric/double_lanes.h"
#include "numeric/exact.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/sweep/plain_touch.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "contact/plain_depths.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "sweep/plain_corner.h"
#include "sweep/plain_path.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// All is about the shape's first vertex. With R the largest coordinate then, a depth times a length
// is within 48 u R^2 of itself; a radius r adds r |e| <= 3 r R, within 20 u r R.
HWY_INLINE PlainTarget TargetOf(const IndexedPolygon& fixed, const SweptMover& mover) {
  const Box& box = fixed.polygon().bounds();
  const Vec2 origin = mover.ring.vertex(0);
  PlainTarget target;
  target.ring = fixed.polygon().vertices();
  target.is_clockwise = fixed.convexity() == Convexity::kStrictClockwise;
  target.extent =
      std::max({mover.ring.extent, std::abs(box.min.x - origin.x), std::abs(box.max.x - origin.x),
                std::abs(box.min.y - origin.y), std::abs(box.max.y - origin.y)});
  target.size = 2 * (mover.ring.extent + mover.radius +
                     std::max(box.max.x - box.min.x, box.max.y - box.min.y));
  return target;
}

// Polygons touch where the last edge is entered, and only there if no other edge might be.
HWY_INLINE void DecideStraight(const PlainTarget& target, const SweptMover& mover,
                               const Depths& depths, uint32_t last, PlainTouch& touch) {
  if (!std::has_single_bit(last)) return;
  const auto place = static_cast<uint32_t>(std::countr_zero(last));
  const bool is_fixed = place < kMostPlainVertices;
  const uint32_t at = place % kMostPlainVertices;
  const size_t n = target.ring.size();
  const PlainEdges& edges = is_fixed ? depths.edges : mover.ring.edges;
  const Vec2 edge{edges.x[at], edges.y[at]};
  const double error = 256 * kFilterUnit * target.extent * target.extent;
  const PointSet fixed_points{depths.x.data(), depths.y.data(), WidthOf(n)};
  const PointSet mover_points{mover.ring.from_x.data(), mover.ring.from_y.data(),
                              WidthOf(mover.ring.size)};
  const uint32_t far = is_fixed ? Farthest(edge, mover_points, mover.ring.size, error)
                                : Farthest(edge, fixed_points, n, error);
  if (!std::has_single_bit(far)) return;
  const auto support = static_cast<uint8_t>(std::countr_zero(far));
  touch.kind = is_fixed ? TouchKind::kFixedEdge : TouchKind::kMovingEdge;
  touch.fixed = is_fixed ? static_cast<uint8_t>(at) : support;
  touch.moving = is_fixed ? support : static_cast<uint8_t>(at);
  touch.verdict = TouchVerdict::kTouch;
}

PlainTouch TouchOf(const IndexedPolygon& fixed, const SweptMover& mover, double limit) {
  PlainTouch touch;
  const PlainTarget target = TargetOf(fixed, mover);
  const double error = 256 * kFilterUnit * target.extent * (target.extent + mover.radius);
  const size_t n = target.ring.size();
  const size_t width = WidthOf(n);
  const size_t mover_width = WidthOf(mover.ring.size);
  Depths depths;
  if (mover.radius > 0) {
    SetRoundPath(target, mover, depths);
  } else {
    SetPath(target, mover, depths);
  }
  alignas(64) PathColumn entries;
  entries.fill(-HUGE_VAL);
  // An edge errs by 4 u R in each coordinate.
  PathEdges edges(error,
                  8 * kFilterUnit * target.extent * (std::abs(mover.d.x) + std::abs(mover.d.y)));
  edges.AddRing(depths.edges, depths.fixed, width, mover.d, entries.data());
  if (mover.edge_count > 0) {
    edges.AddRing(mover.ring.edges, depths.mover, mover_width, {-mover.d.x, -mover.d.y},
                  &entries[kMostPlainVertices]);
  }
  const PathBounds bounds = edges.Bounds();
  touch.low = bounds.enter_low;
  touch.high = bounds.enter_high;
  if (bounds.along_high < 0 || bounds.enter_low > limit || bounds.leave_high < bounds.enter_low ||
      bounds.leave_high < 0) {
    touch.verdict = TouchVerdict::kNone;
    return touch;
  }
  const uint32_t last = LastEntries(entries, bounds.enter_low, n, mover.edge_count);
  if (mover.radius > 0) {
    RoundTouch(target, mover, depths, error).Decide(last, limit, bounds, touch);
    return touch;
  }
  if (!(bounds.along_low > 0)) return touch;
  if (bounds.enter_high < 0 && bounds.leave_low > 0) {
    touch.verdict = TouchVerdict::kOverlap;
  } else if (bounds.enter_low > 0 && bounds.enter_high < std::fmin(bounds.leave_low, 1)) {
    DecideStraight(target, mover, depths, last, touch);
  }
  return touch;
}

TouchFunction FindTouchHere() { return &TouchOf; }

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
  // One vector of lanes is as wide as a ring of two is filled up to, or a part of it.
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

TouchFunction FindTouch() { return HWY_DYNAMIC_DISPATCH(FindTouchHere)(); }

}  // namespace carom::internal
#endif  // HWY_ONCE
