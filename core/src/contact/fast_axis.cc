// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/fast_axis.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <type_traits>

#include "contact/separating_axis.h"
#include "numeric/exact.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/contact/fast_axis.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "contact/fast_depths.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Replaces each entry of `depths`, the depth of an edge times the length of the edge, by the
// squared depth. Returns in each lane the least of `least` and of the squares in this lane.
HWY_INLINE V Square(const FastEdges& edges, size_t width, V least, EdgeColumn& depths) {
  for (size_t i = 0; i < width; i += hn::Lanes(D())) {
    const V depth = At(&depths[i]);
    const V square = Mul(Mul(depth, depth), At(&edges.inverse[i]));
    hn::Store(square, D(), &depths[i]);
    least = Min(least, square);
  }
  return least;
}

// Returns the edges that may be the least deep: bit k for edge k of the fixed polygon, bit 8 + k
// for edge k of the mover. The fixed polygon has `n` edges. The depth of an edge is how far the
// other polygon reaches past it. `least` is the minimum, over all edges of both polygons, of the
// depth times the length of the edge. Each such product errs by at most `error`.
//
// With e = error / least <= 1/8, each depth times length is within a factor of 1 - e and 1 + e of
// its exact value, and ((1 + e) / (1 - e))^2 <= 1 + 8 e. The squares and products add a relative
// error of less than 12 * 2^-53, which kUp covers.
HWY_INLINE uint32_t ShallowestEdges(const FastMover& mover, size_t n, double error, double least,
                                    Depths& depths) {
  V most = Square(depths.edges, WidthOf(n), All(HUGE_VAL), depths.fixed);
  most = Square(mover.edges, WidthOf(mover.size), most, depths.mover);
  const V bound = Mul(hn::MinOfLanes(D(), most), All((1 + 8 * (error / least)) * kUp));
  return UpTo(bound, depths.fixed, n) | UpTo(bound, depths.mover, mover.size) << 8;
}

// A pair of polygons for which the contact axis (the normal of the least deep edge) is being
// computed, and the intermediate results.
struct Job {
  FastPair* pair;
  const FastMover* mover;
  // bound of the error of a depth times the length of its edge
  double error;
  // least product of an edge's depth (how far the other polygon reaches past the edge) and its
  // length, among the edges of the fixed polygon, and among those of the mover
  double fixed_least, mover_least;
  Depths depths;

  std::span<const Vec2> ring() const { return pair->polygon().vertices(); }
  bool is_clockwise() const { return pair->is_clockwise(); }
  PointSet FixedPoints(size_t width) const { return {depths.x.data(), depths.y.data(), width}; }
  PointSet MoverPoints() const {
    return {mover->from_x.data(), mover->from_y.data(), WidthOf(mover->size)};
  }
};

// Pairs of polygons that are computed together: each step of the computation is done for all pairs
// before the next step begins. So the vectors that one step stores are written long before the next
// step loads them in a different grouping, and few branches are hard to predict.
struct Jobs {
  static constexpr size_t kMost = 16;

  std::array<Job, kMost> jobs;
  // Indices of the jobs, those with a fixed polygon of at most four vertices first.
  std::array<uint8_t, kMost> order;
  size_t count = 0;
};

// Begins a job: stores the fixed polygon relative to the mover's first vertex, and the error bound.
// With R the largest coordinate relative to that vertex and u = 2^-53, the depth of an edge (how
// far the other polygon reaches past the edge) times the length of the edge is within 48 u R^2 of
// its exact value, and the depth within 256 u R^2 / length (`DepthFilter` in separating_axis.cc).
// For an edge with a length that rounds to 0, the depth times the length is 0, so that the edge is
// a candidate for the least deep edge.
HWY_INLINE void Start(FastPair& pair, const FastMover& mover, Job& job) {
  job.pair = &pair;
  job.mover = &mover;
  const Polygon& polygon = pair.polygon();
  const Vec2 origin = mover.vertex(0);
  const Box& box = polygon.bounds();
  const double extent =
      std::max({mover.extent, std::abs(box.min.x - origin.x), std::abs(box.max.x - origin.x),
                std::abs(box.min.y - origin.y), std::abs(box.max.y - origin.y)});
  job.error = 256 * kFilterUnit * extent * extent;
  SetRing(polygon.vertices(), origin, job.depths);
}

// Sets the depths of all edges of both polygons (how far the other polygon reaches past the edge),
// times the lengths of the edges. Returns false if an edge certainly separates the polygons.
template <size_t kWidth>
HWY_INLINE bool SetAllDepths(Job& job) {
  const FastMover& mover = *job.mover;
  const size_t mover_width = WidthOf(mover.size);
  SetEdges(kWidth, job.is_clockwise(), job.depths);
  SetInverses(kWidth, job.depths.edges);
  job.mover_least = SetDepths(mover.edges, mover_width, job.FixedPoints(kWidth), job.depths.mover);
  job.fixed_least = SetDepths(job.depths.edges, kWidth, job.MoverPoints(), job.depths.fixed);
  return std::min(job.mover_least, job.fixed_least) >= -job.error;
}

// Returns the contact axis (the normal of the least deep edge) of a pair of polygons that may share
// a point. `SetAllDepths` must have set the depths of the job.
HWY_INLINE FastAxis AxisOf(Job& job) {
  Depths& depths = job.depths;
  FastAxis axis;
  const FastMover& mover = *job.mover;
  const std::span<const Vec2> ring = job.ring();
  const size_t n = ring.size();
  const double error = job.error;
  const double least = std::min(job.mover_least, job.fixed_least);
  if (!(least > 8 * error)) {
    const V bound = All(8 * error);
    const uint32_t shallow = UpTo(bound, depths.fixed, n) | UpTo(bound, depths.mover, mover.size)
                                                                << 8;
    return ResolveTies({shallow, true}, ring, job.is_clockwise(), mover);
  }
  const uint32_t near = ShallowestEdges(mover, n, error, least, depths);
  if (!std::has_single_bit(near)) {
    return ResolveTies({near, false}, ring, job.is_clockwise(), mover);
  }
  const auto place = static_cast<uint32_t>(std::countr_zero(near));
  axis.fixed_is_reference = place < 8;
  axis.edge = static_cast<uint8_t>(place & 7);
  const FastEdges& edges = axis.fixed_is_reference ? depths.edges : mover.edges;
  const Vec2 edge{edges.x[axis.edge], edges.y[axis.edge]};
  const PointSet points = axis.fixed_is_reference ? job.MoverPoints() : job.FixedPoints(WidthOf(n));
  const uint32_t far = Farthest(edge, points, axis.fixed_is_reference ? mover.size : n, error);
  if (!std::has_single_bit(far)) {
    return ResolveTies({near, false}, ring, job.is_clockwise(), mover);
  }
  axis.support = static_cast<uint8_t>(std::countr_zero(far));
  axis.verdict = AxisVerdict::kFound;
  return axis;
}

// Computes the contact axes of the pairs in `all`, and empties `all`.
void Finish(Jobs& all) {
  std::array<uint8_t, Jobs::kMost> touching;
  size_t count = 0;
  size_t narrow = 0;
  size_t wide = all.count;
  for (size_t i = 0; i < all.count; ++i) {
    const bool is_narrow = all.jobs[i].ring().size() <= 4;
    all.order[narrow] = static_cast<uint8_t>(i);
    all.order[wide - 1] = static_cast<uint8_t>(i);
    narrow += static_cast<size_t>(is_narrow);
    wide -= static_cast<size_t>(!is_narrow);
  }
  const auto set_depths = [&](size_t at, auto width) HWY_ATTR {
    const uint8_t i = all.order[at];
    const bool may_touch = SetAllDepths<decltype(width)::value>(all.jobs[i]);
    all.jobs[i].pair->axis.verdict = AxisVerdict::kApart;
    touching[count] = i;
    count += static_cast<size_t>(may_touch);
  };
  for (size_t i = 0; i < narrow; ++i) set_depths(i, std::integral_constant<size_t, 4>());
  for (size_t i = narrow; i < all.count; ++i) set_depths(i, std::integral_constant<size_t, 8>());
  for (size_t i = 0; i < count; ++i) {
    Job& job = all.jobs[touching[i]];
    job.pair->axis = AxisOf(job);
  }
  all.count = 0;
}

// Sets the contact axis (the normal of the least deep edge) of each pair that suits the fast path.
// There are at most 512 pairs with at most 16 vertices each, few enough to charge their work in one
// call.
bool FindAll(std::span<FastPair> pairs, const FastMover* movers, WorkMeter& meter) {
  uint64_t units = 0;
  Jobs all;
  for (FastPair& pair : pairs) {
    const FastMover& mover = movers[pair.mover];
    if (mover.size == 0 || !pair.suits_fast_path()) continue;
    units += pair.polygon().vertex_count() + mover.size;
    Start(pair, mover, all.jobs[all.count++]);
    if (all.count == Jobs::kMost) Finish(all);
  }
  Finish(all);
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

bool FindAxes(std::span<FastPair> pairs, const FastMover* movers, WorkMeter& meter) {
  return HWY_DYNAMIC_DISPATCH(FindAll)(pairs, movers, meter);
}

bool FindAxisByGeneralPath(const FastMover& mover, WorkMeter& meter, FastPair& pair) {
  std::array<Vec2, kMostFastVertices> ring;
  for (size_t i = 0; i < mover.size; ++i) ring[i] = mover.vertex(i);
  const ConvexCore fixed_core(pair.polygon().ring(0), pair.convexity());
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
