// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "slide/near_edges.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "numeric/exact.h"
#include "shape/meets_box.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/slide/near_edges.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

struct Vectors {
  V x, y;
};

// Tests the path of a capsule against one SIMD vector of edges at a time. On its path the capsule's
// axis, with the vector f (`fx_`, `fy_`), is displaced by t d for t in [0, 1]. Coordinates are
// relative to the begin of the axis.
class PathLanes {
 public:
  HWY_INLINE explicit PathLanes(const RoundPath& path)
      : fx_(All(path.axis.x)),
        fy_(All(path.axis.y)),
        dx_(All(path.d.x)),
        dy_(All(path.d.y)),
        begin_{All(path.begin.x), All(path.begin.y)},
        middle_{All((path.axis.x + path.d.x) / 2), All((path.axis.y + path.d.y) / 2)},
        radius_(All(path.radius)),
        margin_(All(2 * path.margin)),
        own_(All(std::max({std::abs(path.axis.x), std::abs(path.axis.y), path.radius}) +
                 std::max(std::abs(path.d.x), std::abs(path.d.y)))),
        a_(begin_),  // `AreClear` sets a_, b_ and s_ for each SIMD vector of edges
        b_(begin_),
        s_(begin_) {}

  // Returns the lanes of edges that the path is certainly clear of, as `SweepAxes::IsClear` does.
  // Tests two separating axes, each the vector to a target from the point of the edge nearest to
  // that target. The targets are the middle of the path (the region that the capsule's axis passes
  // over), and the corner of the path that is nearest to the edge along the first separating axis.
  // Any separating axis with a large enough gap is a proof.
  HWY_INLINE Mask AreClear(const EdgePoints& edges, size_t i) {
    a_ = {Sub(At(&edges.ax[i]), begin_.x), Sub(At(&edges.ay[i]), begin_.y)};
    b_ = {Sub(At(&edges.bx[i]), begin_.x), Sub(At(&edges.by[i]), begin_.y)};
    s_ = {Sub(b_.x, a_.x), Sub(b_.y, a_.y)};
    length2_ = Dot(s_, s_);
    const V reach = Add(own_, Max(Max(Abs(a_.x), Abs(a_.y)), Max(Abs(b_.x), Abs(b_.y))));
    slack_ = hn::MulAdd(All(32 * kFilterUnit), reach, margin_);
    const Vectors n = FromEdge(middle_);
    const Mask along_f = hn::Lt(DotOf(n, fx_, fy_), All(0));
    const Mask along_d = hn::Lt(DotOf(n, dx_, dy_), All(0));
    const Vectors foremost = {
        Add(hn::IfThenElseZero(along_f, fx_), hn::IfThenElseZero(along_d, dx_)),
        Add(hn::IfThenElseZero(along_f, fy_), hn::IfThenElseZero(along_d, dy_))};
    return hn::Or(IsGap(n), IsGap(FromEdge(foremost)));
  }

 private:
  static HWY_INLINE V DotOf(const Vectors& a, V x, V y) { return Add(Mul(a.x, x), Mul(a.y, y)); }
  static HWY_INLINE V Dot(const Vectors& a, const Vectors& b) { return DotOf(a, b.x, b.y); }

  // Returns the vector to p from the nearest point of the edge. If the edge has length 0, the
  // quotient t is NaN, which selects the begin of the edge.
  HWY_INLINE Vectors FromEdge(const Vectors& p) const {
    const Vectors m = {Sub(p.x, a_.x), Sub(p.y, a_.y)};
    const V t = hn::Div(Dot(m, s_), length2_);
    const V along = hn::IfThenElseZero(hn::Gt(t, All(0)), Min(t, All(1)));
    return {Sub(m.x, Mul(along, s_.x)), Sub(m.y, Mul(along, s_.y))};
  }

  // Returns whether the gap between path and edge along n is certainly above 0, beyond the margin.
  // Let N = |n.x| + |n.y|, u = 2^-53, and R a bound of all coordinates and of the radius. A
  // projection on n errs by 3.1 u N R, and the gap, of four projections and the radius times |n|,
  // by less than 32 u N R.
  HWY_INLINE Mask IsGap(const Vectors& n) const {
    const V least = Add(Min(All(0), DotOf(n, fx_, fy_)), Min(All(0), DotOf(n, dx_, dy_)));
    const V most = Max(Dot(n, a_), Dot(n, b_));
    const V gap = Sub(Sub(least, most), Mul(radius_, hn::Sqrt(Dot(n, n))));
    return hn::Gt(gap, Mul(Add(Abs(n.x), Abs(n.y)), slack_));
  }

  V fx_, fy_, dx_, dy_;
  Vectors begin_, middle_;
  V radius_, margin_, own_;
  Vectors a_, b_, s_;
  V length2_, slack_;
};

uint32_t UnclearEdgesOf(const EdgePoints& edges, const RoundPath& path) {
  PathLanes lanes(path);
  uint32_t clear = 0;
  for (size_t i = 0; i < edges.count; i += hn::Lanes(D())) {
    clear |= BitsOf(lanes.AreClear(edges, i)) << i;
  }
  const uint32_t all =
      edges.count < EdgePoints::kMost ? (uint32_t{1} << edges.count) - 1 : ~uint32_t{0};
  return all & ~clear;
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

bool NearEdges::AddEdge(size_t number, const Segment& edge) {
  if (points_.count == EdgePoints::kMost) return false;
  const size_t i = points_.count++;
  points_.ax[i] = edge.a.x, points_.ay[i] = edge.a.y;
  points_.bx[i] = edge.b.x, points_.by[i] = edge.b.y;
  polygon_[i] = static_cast<uint8_t>(polygon_count_ - 1);
  number_[i] = static_cast<uint32_t>(number);
  return true;
}

// Adds those edges of a polygon that may meet the box `meets.reach`. For a small ring, classifies
// each vertex once instead of testing the box of each edge.
bool NearEdges::AddPolygon(const IndexedPolygon& polygon, const MeetsBox& meets, WorkMeter& meter) {
  if (polygon_count_ == kMostPolygons) return false;
  polygons_[polygon_count_++] = &polygon;
  const auto add = [this](size_t number, const Segment& edge) { return AddEdge(number, edge); };
  const Polygon& source = polygon.polygon();
  if (!source.is_one_closed_ring() || polygon.edge_index() != nullptr) {
    return polygon.VisitEdges(meter, meets, add);
  }
  const std::span<const Vec2> ring = source.vertices();
  if (!meter.Spend(ring.size())) return false;
  const Box& reach = meets.reach;
  // Returns, as bits, the set of sides of the box `reach` beyond which p lies. If both ends of an
  // edge lie beyond one side, the edge misses the box.
  const auto sides = [&](Vec2 p) {
    return static_cast<uint32_t>(p.x < reach.min.x) |
           static_cast<uint32_t>(p.x > reach.max.x) << 1 |
           static_cast<uint32_t>(p.y < reach.min.y) << 2 |
           static_cast<uint32_t>(p.y > reach.max.y) << 3;
  };
  uint32_t from = sides(ring[0]);
  for (size_t i = 0; i < ring.size(); ++i) {
    const Vec2 end = ring[i + 1 < ring.size() ? i + 1 : 0];
    const uint32_t to = sides(end);
    if ((from & to) == 0 && !AddEdge(i, {ring[i], end})) return false;
    from = to;
  }
  return true;
}

// Does not pad the columns of edges, because `UnclearEdgesOf` masks the results of SIMD lanes after
// the last edge.
bool NearEdges::Gather(const Obstacles& obstacles, const Box& zone, WorkMeter& meter) {
  points_.count = 0;
  polygon_count_ = 0;
  bool is_complete = true;
  const MeetsBox meets{zone};
  const auto visit = [&](const Obstacle& obstacle) {
    is_complete = obstacle.body == nullptr && AddPolygon(*obstacle.core, meets, meter);
    return is_complete;
  };
  obstacles.VisitNear(SweptBox(zone), meter, std::ref(visit));
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
