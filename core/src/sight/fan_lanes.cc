// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Compares beams from one point with polygons, several beams at a time in the lanes of a vector.
//
// Theorem. Let o be the point that the beams start at, in no polygon and on no edge. If a beam is
// decided, the edge that it has is the first edge that it meets, of all edges of the polygons; if
// it has none, it meets none. Let u = 2^-53.
//
// (1) A polygon is a closed set, so a beam that starts outside of it first meets it at an edge,
//     whatever is filled. Of a convex polygon, the beam first meets an edge whose line separates o
//     from the polygon, or that is collinear with o: at a point of the polygon that belongs only to
//     edges with o strictly on the inner side, the beam has been in the polygon before. `SetEdges`
//     leaves out only edges with o certainly on the inner side.
// (2) The side of each vertex that is compared is certain: the cross product of the direction and
//     the vertex, relative to o, exceeds its error bound, `kCrossError` times the magnitudes of its
//     two terms (numeric/exact.h); `Compare` uses the greater magnitudes of `reach_x` and
//     `reach_y`. Else the beam is undecided. So a beam meets an edge only where the sides of both
//     ends differ, and between the ends.
// (3) `Cross` computes for such an edge the interval of t that `CrossingOf` (shape/fraction.h)
//     derives. The beam is undecided unless the interval is certainly below 0, or certainly after
//     the first crossing so far, or certainly above 0 and before the first crossing so far. Without
//     a crossing the interval is compared with 1, the end of the beam. So intervals alone decide
//     which crossing is first, and two crossings at one t leave the beam undecided.
// (4) A polygon that is not compared with a beam has no point on the beam up to the first crossing
//     so far. Either `nearest`, a lower bound of t in the polygon's box, is above `limit`; or the
//     box is outside of the cone of a group of beams, as (5) shows.
// (5) Let f and e be the first and the last direction of a group, counter-clockwise, l and r the
//     left and the right corner of a box, and let all computed f x d and d x e be at least 0 and
//     all f . d above 0 for the directions d of the group (else each box passes). The rounded cross
//     products err by 4u of their terms, so each d is between f and e, or within 16u radians of
//     them, and f and e are within a quarter of a turn and 16u. So are l and r. If d meets the box,
//     the angle from f to l is in [-16u, pi + 48u], so f x l >= -64u |f| |l|, and likewise
//     r x e >= -64u |r| |e|. With D the largest component of a direction and L the sum of the
//     components of l and r, |f| |l| <= 2 D L, and computed cross products err by 8u D L. So the
//     box passes if the computed f x l and r x e are at least -2^-44 D L.

#include "sight/fan_lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cast/crossing_columns.h"
#include "numeric/exact.h"
#include "shape/convex_core.h"
#include "shape/fraction.h"
#include "shape/line.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/sight/fan_lanes.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cast/crossing_vectors.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

using hn::Ge;
using hn::Gt;
using hn::Le;
using hn::Lt;
using hn::Or;

HWY_INLINE V NormalizedLanes(V value) {
  return IfThenElse(Lt(Abs(value), All(kSmallestMagnitude)), All(0), value);
}
HWY_INLINE V At(const FanBeams::Column& column, size_t i) { return hn::Load(D(), &column[i]); }
HWY_INLINE void Put(V value, FanBeams::Column& column, size_t i) {
  hn::Store(value, D(), &column[i]);
}
HWY_INLINE V Cross(V ax, V ay, V bx, V by) { return Sub(Mul(ax, by), Mul(ay, bx)); }
HWY_INLINE double Least(V v) { return hn::GetLane(hn::MinOfLanes(D(), v)); }
HWY_INLINE double Most(V v) { return hn::GetLane(hn::MaxOfLanes(D(), v)); }

// Sets the beams, of which the ends are in `dx` and `dy`, and starts the search.
Box Start(FanBeams& beams) {
  const V x = All(beams.from.x);
  const V y = All(beams.from.y);
  V min_x = x, min_y = y, max_x = x, max_y = y;
  for (size_t i = 0; i < beams.padded(); i += hn::Lanes(D())) {
    const V end_x = NormalizedLanes(At(beams.dx, i));
    const V end_y = NormalizedLanes(At(beams.dy, i));
    min_x = Min(min_x, end_x);
    min_y = Min(min_y, end_y);
    max_x = Max(max_x, end_x);
    max_y = Max(max_y, end_y);
    const Pair dx = TwoDiff(end_x, x);
    const Pair dy = TwoDiff(end_y, y);
    Put(dx.high, beams.dx, i);
    Put(dx.low, beams.dx_low, i);
    Put(dy.high, beams.dy, i);
    Put(dy.low, beams.dy_low, i);
    Put(All(1), beams.low, i);
    Put(All(1), beams.high, i);
    Put(All(1), beams.limit, i);
    Put(All(FanBeams::kNoEdge), beams.edge, i);
  }
  return {{Least(min_x), Least(min_y)}, {Most(max_x), Most(max_y)}};
}

// A group of beams, one in each lane: the members of `FanBeams` from beam `at` on, and the lanes
// in which filters cannot decide.
struct Group {
  HWY_INLINE Group(const FanBeams& beams, size_t at)
      : dx(At(beams.dx, at)),
        dy(At(beams.dy, at)),
        low(At(beams.low, at)),
        high(At(beams.high, at)),
        limit(At(beams.limit, at)),
        edge(At(beams.edge, at)),
        undecided(hn::MaskFromVec(hn::Zero(D()))) {}
  HWY_INLINE void Write(FanBeams& beams, size_t at) {
    Put(low, beams.low, at);
    Put(high, beams.high, at);
    Put(limit, beams.limit, at);
    Put(IfThenElse(undecided, All(FanBeams::kUndecided), edge), beams.edge, at);
  }
  HWY_INLINE void MarkUndecided(Mask lanes) {
    undecided = Or(undecided, lanes);
    limit = IfThenElse(lanes, All(-HUGE_VAL), limit);
  }

  V dx, dy, low, high, limit, edge;
  Mask undecided;
};

// The cone of the directions of a group, for step (5) of the proof: from (fx, fy) counter-clockwise
// to (ex, ey); all 0 if there is no cone, so that each box passes. `size` is 2^-44 D.
struct Cone {
  HWY_INLINE Cone(const FanBeams& beams, const Group& group, size_t at) {
    const size_t last = at + hn::Lanes(D()) - 1;
    V from_x = All(beams.dx[at]), from_y = All(beams.dy[at]);
    V to_x = All(beams.dx[last]), to_y = All(beams.dy[last]);
    if (hn::GetLane(Cross(from_x, from_y, to_x, to_y)) < 0) {
      std::swap(from_x, to_x);
      std::swap(from_y, to_y);
    }
    const Mask after = Ge(Cross(from_x, from_y, group.dx, group.dy), All(0));
    const Mask before = Ge(Cross(group.dx, group.dy, to_x, to_y), All(0));
    const Mask near = Gt(Add(Mul(from_x, group.dx), Mul(from_y, group.dy)), All(0));
    const bool is_cone = hn::AllTrue(D(), And(And(after, before), near));
    const V keep = All(is_cone ? 1 : 0);
    fx = Mul(from_x, keep);
    fy = Mul(from_y, keep);
    ex = Mul(to_x, keep);
    ey = Mul(to_y, keep);
    size = All(-0x1p-44 * Most(Max(Abs(group.dx), Abs(group.dy))));
  }
  // Returns bit i for each of the polygons from `at` on, as many as a vector has lanes, with a box
  // that the cone may meet and that is not beyond `limit`.
  HWY_INLINE uint32_t Meeting(const FanPolygons& polygons, size_t at, V limit) const {
    const auto column = [at](const FanPolygons::Column& from)
                            HWY_ATTR { return hn::Load(D(), &from[at]); };
    const V left_x = column(polygons.left_x), left_y = column(polygons.left_y);
    const V right_x = column(polygons.right_x), right_y = column(polygons.right_y);
    const V components = Add(Add(Abs(left_x), Abs(left_y)), Add(Abs(right_x), Abs(right_y)));
    const V least = Mul(size, components);
    const Mask meet =
        And(Ge(Cross(fx, fy, left_x, left_y), least), Ge(Cross(right_x, right_y, ex, ey), least));
    return BitsOf(And(meet, Le(column(polygons.nearest), limit)));
  }

  V fx, fy, ex, ey, size;
};

// Compares the crossings of beams with the edge that begins at point `index`, in the lanes `where`,
// with the first crossings so far: step (3) of the proof.
HWY_INLINE void Cross(const FanPoint& point, uint32_t index, Mask where, Group& group) {
  const V left = Mul(group.dx, All(point.edge.y));
  const V right = Mul(group.dy, All(point.edge.x));
  const V d = Sub(left, right);
  const V d_error = Mul(All(kCrossError), Add(Abs(left), Abs(right)));
  const V size = Abs(d);
  const V t = hn::Div(All(point.n), d);
  const V bound =
      Mul(Add(All(point.n_error), Mul(Abs(t), d_error)), hn::Div(All(1), Sub(size, d_error)));
  const V error = Add(Mul(bound, All(1 + 8 * kFilterUnit)), Mul(All(2 * kFilterUnit), Abs(t)));
  const V low = Sub(t, error);
  const V high = Add(t, error);
  const Mask sure = Gt(size, Mul(All(2), d_error));
  const Mask skip = And(sure, Or(Lt(high, All(0)), Gt(low, group.high)));
  const Mask is_first = And(And(sure, where), And(Gt(low, All(0)), Lt(high, group.low)));
  group.low = IfThenElse(is_first, low, group.low);
  group.high = IfThenElse(is_first, high, group.high);
  group.limit = IfThenElse(is_first, high, group.limit);
  group.edge = IfThenElse(is_first, All(static_cast<double>(index)), group.edge);
  group.MarkUndecided(hn::AndNot(Or(skip, is_first), where));
}

// Returns the lanes of a group in which the beam may meet the box of polygon i before its limit:
// steps (4) and (5) of the proof, for one direction as a cone.
HWY_INLINE Mask MayMeet(const FanPolygons& polygons, size_t i, V size, const Group& group) {
  const double left_x = polygons.left_x[i], left_y = polygons.left_y[i];
  const double right_x = polygons.right_x[i], right_y = polygons.right_y[i];
  const V least =
      Mul(size, All(std::abs(left_x) + std::abs(left_y) + std::abs(right_x) + std::abs(right_y)));
  const V left = Cross(group.dx, group.dy, All(left_x), All(left_y));
  const V right = Cross(All(right_x), All(right_y), group.dx, group.dy);
  return And(And(Ge(left, least), Ge(right, least)), Ge(group.limit, All(polygons.nearest[i])));
}

// Compares the beams of a group, in the lanes `where`, with the edges of a polygon. Returns the
// number of edges.
HWY_INLINE size_t Compare(const FanPolygons& polygons, const FanPolygons::Edges& edges, Mask where,
                          Group& group) {
  if (edges.is_too_large) {
    group.MarkUndecided(where);
    return 0;
  }
  const V error = Mul(All(kCrossError), Add(Mul(Abs(group.dx), All(edges.reach_y)),
                                            Mul(Abs(group.dy), All(edges.reach_x))));
  const auto side = [&](const FanPoint& point) HWY_ATTR {
    return Cross(group.dx, group.dy, All(point.place.x), All(point.place.y));
  };
  size_t units = 0;
  V least = All(HUGE_VAL);
  for (uint32_t k = edges.first; k < edges.end; ++k) {
    const auto [first, last] = polygons.chains[k];
    const FanPoint* const points = polygons.points.data();
    const V begin = side(points[first]);
    least = Min(least, Abs(begin));
    Mask was_left = Gt(begin, All(0));
    for (uint32_t i = first; i < last; ++i) {
      const V next = side(points[i + 1]);
      least = Min(least, Abs(next));
      const Mask is_left = Gt(next, All(0));
      const Mask crosses = And(where, hn::Xor(was_left, is_left));
      if (!hn::AllFalse(D(), crosses)) Cross(points[i], i, crosses, group);
      was_left = is_left;
    }
    units += last - first;
  }
  group.MarkUndecided(hn::AndNot(Gt(least, error), where));
  return units;
}

bool Scan(FanPolygons& polygons, FanBeams& beams, WorkMeter& meter) {
  const size_t lanes = hn::Lanes(D());
  for (size_t at = 0; at < beams.count; at += lanes) {
    Group group(beams, at);
    double most = Most(group.limit);
    if (!(most >= 0)) continue;
    const Cone cone(beams, group, at);
    size_t i = 0;
    for (; i < polygons.count && polygons.nearest[i] <= most; i += lanes) {
      uint32_t bits = cone.Meeting(polygons, i, All(most));
      for (; bits != 0; bits &= bits - 1) {
        const size_t k = i + static_cast<size_t>(std::countr_zero(bits));
        if (polygons.nearest[k] > most) break;
        const Mask where = MayMeet(polygons, k, cone.size, group);
        if (hn::AllFalse(D(), where)) continue;
        if (!polygons.edges[k].is_set) polygons.SetEdges(k, beams.from);
        const size_t units = Compare(polygons, polygons.edges[k], where, group);
        if (!meter.Spend(1 + units)) return false;
        most = Most(group.limit);
      }
    }
    group.Write(beams, at);
    if (!meter.Spend(i / lanes)) return false;
  }
  return true;
}

void Measure(Crossings& of) {
  of.certain = 0;
  for (size_t i = 0; i < kMaxLanes; i += hn::Lanes(D())) {
    SetEdges(of.x, i);
    SetEdges(of.y, i);
    V t;
    const Mask certain = Refined(of, i, t);
    hn::Store(t, D(), &of.fraction[i]);
    of.certain |= BitsOf(certain) << i;
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(Start);
HWY_EXPORT(Scan);
HWY_EXPORT(Measure);

}  // namespace

Box StartBeams(Vec2 from, std::span<const double> end_x, std::span<const double> end_y,
               FanBeams& beams) {
  beams.from = from;
  beams.count = end_x.size();
  std::copy(end_x.begin(), end_x.end(), beams.dx.begin());
  std::copy(end_y.begin(), end_y.end(), beams.dy.begin());
  for (size_t i = beams.count; i < beams.padded(); ++i) {
    beams.dx[i] = end_x.back();
    beams.dy[i] = end_y.back();
  }
  return HWY_DYNAMIC_DISPATCH(Start)(beams);
}

bool ScanPolygons(FanPolygons& polygons, FanBeams& beams, WorkMeter& meter) {
  return HWY_DYNAMIC_DISPATCH(Scan)(polygons, beams, meter);
}

void MeasureCrossings(const FanBeams& beams, const FanPolygons& polygons,
                      std::span<const uint32_t> which, double* fractions) {
  Crossings of;
  for (size_t begin = 0; begin < which.size(); begin += kMaxLanes) {
    const size_t count = std::min(kMaxLanes, which.size() - begin);
    for (size_t i = 0; i < kMaxLanes; ++i) {
      const size_t k = which[begin + std::min(i, count - 1)];
      const Segment edge = polygons.EdgeAt(beams.edge[k]);
      of.x.Set(i, beams.from.x, {beams.dx[k], beams.dx_low[k]}, edge.a.x, edge.b.x);
      of.y.Set(i, beams.from.y, {beams.dy[k], beams.dy_low[k]}, edge.a.y, edge.b.y);
      of.low[i] = beams.low[k];
      of.high[i] = beams.high[k];
    }
    HWY_DYNAMIC_DISPATCH(Measure)(of);
    for (size_t i = 0; i < count; ++i) {
      fractions[begin + i] = of.fraction[i];
      if ((of.certain >> i & 1) != 0) continue;
      const size_t k = which[begin + i];
      Line line(Segment{beams.from, beams.from});
      line.dx = {beams.dx[k], beams.dx_low[k]};
      line.dy = {beams.dy[k], beams.dy_low[k]};
      fractions[begin + i] =
          Fraction::OfCrossingAt({beams.low[k], beams.high[k]}, polygons.EdgeAt(beams.edge[k]))
              .Rounded(line);
    }
  }
}

}  // namespace carom::internal
#endif  // HWY_ONCE
