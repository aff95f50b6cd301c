// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/near_edges.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "numeric/exact.h"
#include "shape/meets_box.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/sweep/near_edges.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

HWY_INLINE V Dot(V ax, V ay, V bx, V by) { return Add(Mul(ax, bx), Mul(ay, by)); }

// As `SweepAxes::IsClear`: along the line from the point of the edge that is nearest to the middle
// of the path, any axis being as good for a proof. With N the sum of the magnitudes of n, and R no
// less than any coordinate about the begin of the axis and the radius, a projection errs by 3.1 u N
// R, and the gap, of four projections and the radius times |n|, by less than 32 u N R.
uint32_t UnclearEdgesOf(const EdgePoints& edges, const RoundPath& path) {
  const V fx = All(path.axis.x), fy = All(path.axis.y);
  const V dx = All(path.d.x), dy = All(path.d.y);
  const V middle_x = All((path.axis.x + path.d.x) / 2), middle_y = All((path.axis.y + path.d.y) / 2);
  const V begin_x = All(path.begin.x), begin_y = All(path.begin.y);
  const double own = std::max({std::abs(path.axis.x), std::abs(path.axis.y), path.radius}) +
                     std::max(std::abs(path.d.x), std::abs(path.d.y));
  const V zero = All(0);
  uint32_t bits = 0;
  for (size_t i = 0; i < edges.count; i += hn::Lanes(D())) {
    const V ax = Sub(At(&edges.ax[i]), begin_x), ay = Sub(At(&edges.ay[i]), begin_y);
    const V bx = Sub(At(&edges.bx[i]), begin_x), by = Sub(At(&edges.by[i]), begin_y);
    const V sx = Sub(bx, ax), sy = Sub(by, ay);
    const V mx = Sub(middle_x, ax), my = Sub(middle_y, ay);
    const V t = hn::Div(Dot(mx, my, sx, sy), Dot(sx, sy, sx, sy));
    // Of an edge of length 0 that is NaN, which leaves its begin.
    const V along = IfThenElse(hn::Gt(t, zero), Min(t, All(1)), zero);
    const V nx = Sub(mx, Mul(along, sx)), ny = Sub(my, Mul(along, sy));
    const V length = hn::Sqrt(Dot(nx, ny, nx, ny));
    const V least = Add(Min(zero, Dot(nx, ny, fx, fy)), Min(zero, Dot(nx, ny, dx, dy)));
    const V most = Max(Dot(nx, ny, ax, ay), Dot(nx, ny, bx, by));
    const V gap = Sub(Sub(least, most), Mul(All(path.radius), length));
    const V reach = Add(All(own), Max(Max(Abs(ax), Abs(ay)), Max(Abs(bx), Abs(by))));
    const V slack = Add(Mul(All(32 * kFilterUnit), reach), All(2 * path.margin));
    const Mask is_clear = hn::Gt(gap, Mul(Add(Abs(nx), Abs(ny)), slack));
    bits |= (~BitsOf(is_clear) & ((1U << hn::Lanes(D())) - 1)) << i;
  }
  return edges.count < EdgePoints::kMost ? bits & ((uint32_t{1} << edges.count) - 1) : bits;
}

UnclearEdgesFunction UnclearEdgesHere() { return &UnclearEdgesOf; }

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(UnclearEdgesHere);

}  // namespace

UnclearEdgesFunction UnclearEdges() { return HWY_DYNAMIC_DISPATCH(UnclearEdgesHere)(); }

bool NearEdges::Add(const IndexedPolygon& polygon, const MeetsBox& meets, WorkMeter& meter) {
  if (polygon_count_ == kMostPolygons) return false;
  const auto at = static_cast<uint8_t>(polygon_count_);
  polygons_[polygon_count_++] = &polygon;
  return polygon.VisitEdges(meter, meets, [&](size_t number, const Segment& edge) {
    if (points_.count == EdgePoints::kMost) return false;
    const size_t i = points_.count++;
    points_.ax[i] = edge.a.x, points_.ay[i] = edge.a.y;
    points_.bx[i] = edge.b.x, points_.by[i] = edge.b.y;
    polygon_[i] = at;
    number_[i] = static_cast<uint32_t>(number);
    return true;
  });
}

// Lanes behind the last edge compute with it.
bool NearEdges::Gather(const Obstacles& obstacles, const Box& zone, WorkMeter& meter) {
  points_.count = 0;
  polygon_count_ = 0;
  bool is_complete = true;
  const MeetsBox meets{zone};
  const auto visit = [&](const IndexedPolygon& polygon) {
    is_complete = Add(polygon, meets, meter);
    return is_complete;
  };
  obstacles.VisitNear(SweptBox(zone, {}, 0), meter, std::ref(visit));
  zone_ = is_complete && !meter.stopped() ? zone : Box{};
  return is_complete;
}

bool NearEdges::IsOutside(Vec2 p, WorkMeter& meter) const {
  for (size_t i = 0; i < polygon_count_; ++i) {
    const IndexedPolygon& polygon = *polygons_[i];
    if (!polygon.polygon().bounds().Contains(p)) continue;
    if (LocateInPolygon(polygon, p, meter).location != Location::kOutside) return false;
  }
  return true;
}

}  // namespace carom::internal
#endif  // HWY_ONCE
