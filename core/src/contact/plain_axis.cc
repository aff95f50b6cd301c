// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/plain_axis.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "contact/separating_axis.h"
#include "numeric/exact.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/contact/plain_axis.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "contact/plain_depths.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Squares depths, without the lengths, and returns the least so far.
HWY_INLINE V Square(const PlainEdges& edges, size_t width, V least, EdgeColumn& depths) {
  for (size_t i = 0; i < width; i += hn::Lanes(D())) {
    const V depth = At(&depths[i]);
    const V square = Mul(Mul(depth, depth), At(&edges.inverse[i]));
    hn::Store(square, D(), &depths[i]);
    least = Min(least, square);
  }
  return least;
}

// The edges that may be the least deep, as `NearEdges` has them. All depths times lengths, which
// err by `error`, are at least `least`.
//
// With e = error / least <= 1/8 each of them is within a factor of 1 - e and 1 + e of itself, and
// ((1 + e) / (1 - e))^2 <= 1 + 8 e. Squares and products err by less than 12 u more, which kUp
// covers.
HWY_INLINE uint32_t LeastEdges(const PlainMover& mover, size_t n, double error, double least,
                               Depths& depths) {
  V most = Square(depths.edges, WidthOf(n), All(HUGE_VAL), depths.fixed);
  most = Square(mover.edges, WidthOf(mover.size), most, depths.mover);
  const V bound = Mul(hn::MinOfLanes(D(), most), All((1 + 8 * (error / least)) * kUp));
  return UpTo(bound, depths.fixed, n) | UpTo(bound, depths.mover, mover.size) << 8;
}

// All is relative to the mover's first vertex; with R the largest coordinate then, every depth
// times length is within 48 u R^2 of itself, and the depth within 256 u R^2 / length
// (`DepthFilter` in separating_axis.cc). An edge whose length rounds to 0 has a depth of 0, which
// counts as shallow.
HWY_INLINE PlainAxis AxisOf(const Polygon& polygon, bool is_clockwise, const PlainMover& mover) {
  Depths depths;
  PlainAxis axis;
  const std::span<const Vec2> ring = polygon.vertices();
  const size_t n = ring.size();
  const size_t width = WidthOf(n);
  const size_t mover_width = WidthOf(mover.size);
  const Vec2 origin = mover.vertex(0);
  const Box& box = polygon.bounds();
  const double extent =
      std::max({mover.extent, std::abs(box.min.x - origin.x), std::abs(box.max.x - origin.x),
                std::abs(box.min.y - origin.y), std::abs(box.max.y - origin.y)});
  const double error = 256 * kFilterUnit * extent * extent;
  axis.verdict = AxisVerdict::kApart;
  SetRing(ring, origin, depths);
  const PointSet fixed_points{depths.x.data(), depths.y.data(), width};
  const double mover_least = SetDepths(mover.edges, mover_width, fixed_points, depths.mover);
  if (mover_least < -error) return axis;
  SetEdges(width, is_clockwise, depths);
  const PointSet mover_points{mover.from_x.data(), mover.from_y.data(), mover_width};
  const double fixed_least = SetDepths(depths.edges, width, mover_points, depths.fixed);
  if (fixed_least < -error) return axis;
  SetInverses(width, depths.edges);

  const double least = std::min(mover_least, fixed_least);
  if (!(least > 8 * error)) {
    const V bound = All(8 * error);
    const uint32_t shallow = UpTo(bound, depths.fixed, n) | UpTo(bound, depths.mover, mover.size)
                                                                << 8;
    return SettleTies({shallow, true}, ring, is_clockwise, mover);
  }
  const uint32_t near = LeastEdges(mover, n, error, least, depths);
  if (!std::has_single_bit(near)) return SettleTies({near, false}, ring, is_clockwise, mover);
  const auto place = static_cast<uint32_t>(std::countr_zero(near));
  axis.fixed_is_reference = place < 8;
  axis.edge = static_cast<uint8_t>(place & 7);
  const PlainEdges& edges = axis.fixed_is_reference ? depths.edges : mover.edges;
  const Vec2 edge{edges.x[axis.edge], edges.y[axis.edge]};
  const uint32_t far = axis.fixed_is_reference ? Farthest(edge, mover_points, mover.size, error)
                                               : Farthest(edge, fixed_points, n, error);
  if (!std::has_single_bit(far)) return SettleTies({near, false}, ring, is_clockwise, mover);
  axis.support = static_cast<uint8_t>(std::countr_zero(far));
  axis.verdict = AxisVerdict::kFound;
  return axis;
}

// At most 512 pairs of 16 vertices, so their units are counted at once.
bool FindAll(std::span<PlainPair> pairs, const PlainMover* movers, WorkMeter& meter) {
  uint64_t units = 0;
  for (PlainPair& pair : pairs) {
    const PlainMover& mover = movers[pair.mover];
    if (mover.size == 0 || !IsPlain(*pair.fixed)) continue;
    const Polygon& polygon = pair.fixed->polygon();
    units += polygon.vertex_count() + mover.size;
    const bool is_clockwise = pair.fixed->convexity() == Convexity::kStrictClockwise;
    pair.axis = AxisOf(polygon, is_clockwise, mover);
  }
  return meter.Spend(units);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(FindAll);

}  // namespace

bool FindAxes(std::span<PlainPair> pairs, const PlainMover* movers, WorkMeter& meter) {
  return HWY_DYNAMIC_DISPATCH(FindAll)(pairs, movers, meter);
}

bool FindAxisAlone(const PlainMover& mover, WorkMeter& meter, PlainPair& pair) {
  std::array<Vec2, kMostPlainVertices> ring;
  for (size_t i = 0; i < mover.size; ++i) ring[i] = mover.vertex(i);
  const ConvexCore fixed_core(pair.fixed->polygon().ring(0), pair.fixed->convexity());
  const ConvexCore mover_core({ring.data(), mover.size}, mover.is_clockwise
                                                             ? Convexity::kStrictClockwise
                                                             : Convexity::kStrict);
  const std::optional<Axis> axis = ContactAxis(fixed_core, mover_core, meter);
  pair.axis.verdict = axis ? AxisVerdict::kFound : AxisVerdict::kApart;
  if (meter.stopped() || !axis) return !meter.stopped();
  const ConvexCore& reference = axis->fixed_is_reference ? fixed_core : mover_core;
  const ConvexCore& other = axis->fixed_is_reference ? mover_core : fixed_core;
  pair.axis.fixed_is_reference = axis->fixed_is_reference;
  pair.axis.edge = static_cast<uint8_t>(reference.edge_index(axis->edge));
  pair.axis.support = static_cast<uint8_t>(other.vertex_index(axis->support));
  return true;
}

}  // namespace carom::internal
#endif  // HWY_ONCE
