// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/fast_sweep_rows.h"

#include <cmath>

#include "numeric/exact.h"
#include "sweep/sweep_measures.h"
#include "sweep/sweep_time.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/sweep/fast_sweep_rows.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/pair_vectors.h"
#include "shape/normal_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Returns a b + c d as a pair of doubles, with an error bound. Leaves out the products of two low
// parts, at most u^2 = 2^-106 of each product (u = 2^-53), and adds the low parts with up to eight
// roundings, each 2^-53 of at most 4u of both products: 2^-100 in all, the bound `kPairError`.
HWY_INLINE Bound SumOfProducts(Pair a, Pair b, Pair c, Pair d) {
  const Pair left = TwoProduct(a.high, b.high);
  const Pair right = TwoProduct(c.high, d.high);
  const Pair sum = TwoSum(left.high, right.high);
  const V lows =
      Add(Add(Mul(a.high, b.low), Mul(a.low, b.high)), Add(Mul(c.high, d.low), Mul(c.low, d.high)));
  const V low = Add(sum.low, Add(Add(left.low, right.low), lows));
  const V scale = Add(Abs(left.high), Abs(right.high));
  return {FastTwoSum(sum.high, low), Mul(All(kPairError), scale)};
}

HWY_INLINE Pair AsPair(V value) { return {value, All(0)}; }

// Returns the lanes in which the exact number that t approximates is certainly not 0.
HWY_INLINE Mask IsCertain(const Bound& t) {
  return hn::Gt(Abs(t.value.high), Mul(All(2), t.error));
}

HWY_INLINE Bound TimesSign(const Bound& a, V sign) {
  return {{Mul(a.value.high, sign), Mul(a.value.low, sign)}, a.error};
}

// Computes one coordinate of `PointOnPath`: p + d t - step, rounded once.
HWY_INLINE V MovedCoordinate(V p, V d, V t, V step) {
  const Pair moved = TwoProduct(d, t);
  const Pair from = TwoSum(p, moved.high);
  const Pair sum = TwoSum(from.high, hn::Neg(step));
  return Add(Add(sum.high, Add(sum.low, Add(from.low, moved.low))), All(0));
}

HWY_INLINE void SetPoints(V t, size_t i, TouchColumns& touches) {
  const V radius = At(&touches.radius[i]);
  hn::StoreU(MovedCoordinate(At(&touches.moving_x[i]), At(&touches.d_x[i]), t,
                             Mul(radius, At(&touches.normal_x[i]))),
             D(), &touches.point_x[i]);
  hn::StoreU(MovedCoordinate(At(&touches.moving_y[i]), At(&touches.d_y[i]), t,
                             Mul(radius, At(&touches.normal_y[i]))),
             D(), &touches.point_y[i]);
}

// Computes fraction, normal and point of each touch of a vertex and an edge. Let s be the vector of
// the edge, turned so that d x s > 0 for the displacement d, z the vector from the moving vertex to
// the fixed one, and r the radius. The fraction is t = (z x s - r |s|) / (d x s) (sweep_time.h). It
// is rounded to the nearest double, but up if r is above 0.
void MeasureEdges(TouchColumns& touches) {
  touches.certain = 0;
  for (size_t i = 0; i < touches.count; i += hn::Lanes(D())) {
    const Pair s_x = TwoDiff(At(&touches.b_x[i]), At(&touches.a_x[i]));
    const Pair s_y = TwoDiff(At(&touches.b_y[i]), At(&touches.a_y[i]));
    const Pair z_x = TwoDiff(At(&touches.fixed_x[i]), At(&touches.moving_x[i]));
    const Pair z_y = TwoDiff(At(&touches.fixed_y[i]), At(&touches.moving_y[i]));
    const V d_y = At(&touches.d_y[i]);
    const Pair back = Negated(s_x);
    const Bound start = SumOfProducts(z_x, s_y, z_y, back);
    const Bound path = SumOfProducts(AsPair(At(&touches.d_x[i])), s_y, AsPair(d_y), back);
    const V side = hn::CopySign(All(1), path.value.high);
    const V radius = At(&touches.radius[i]);
    const Bound length = SquareRoot(SumOfProducts(s_x, s_x, s_y, s_y));
    const Bound reach = Multiply(ExactLanes(radius), length);
    const Mask is_round = hn::Gt(radius, All(0));
    Bound n = TimesSign(start, side);
    const Bound less = Minus(n, reach);
    n.value.high = IfThenElse(is_round, less.value.high, n.value.high);
    n.value.low = IfThenElse(is_round, less.value.low, n.value.low);
    n.error = IfThenElse(is_round, less.error, n.error);
    const Bound quotient = Divide(n, TimesSign(path, side));
    V up = All(0);
    V nearest = up;
    const Mask is_up = RoundUp(quotient, up);
    const Mask is_nearest = RoundToNearest(quotient, All(0), nearest);
    const V t = IfThenElse(is_round, up, nearest);
    Mask certain = hn::Or(And(is_round, is_up), hn::AndNot(is_round, is_nearest));
    V normal_x = All(0);
    V normal_y = normal_x;
    certain = And(certain, UnitNormals(s_x, s_y, side, normal_x, normal_y));
    touches.certain |= BitsOf(And(certain, IsCertain(path))) << i;
    hn::StoreU(t, D(), &touches.fraction[i]);
    hn::StoreU(normal_x, D(), &touches.normal_x[i]);
    hn::StoreU(normal_y, D(), &touches.normal_y[i]);
    SetPoints(t, i, touches);
  }
}

// Computes fraction and normal of the touches of an end of a capsule's axis, at a distance of the
// radius r, with a fixed vertex. Let d be the displacement, z the vector from the moving vertex to
// the fixed one, A = d . d and w = sqrt(A r^2 - (z x d)^2). The fraction is t = (d . z - w) / A,
// rounded up. The normal is (-w d - (z x d) (d.y, -d.x)) / (A r), as in `RoundNormal`, which errs
// by at most 2^-94; the terms are at most as large as A r. Stores NaN for a normal whose rounding
// is uncertain.
void MeasureVertices(TouchColumns& touches) {
  touches.certain = 0;
  for (size_t i = 0; i < touches.count; i += hn::Lanes(D())) {
    const Pair z_x = TwoDiff(At(&touches.fixed_x[i]), At(&touches.moving_x[i]));
    const Pair z_y = TwoDiff(At(&touches.fixed_y[i]), At(&touches.moving_y[i]));
    const V d_x = At(&touches.d_x[i]);
    const V d_y = At(&touches.d_y[i]);
    const Bound dot = SumOfProducts(z_x, AsPair(d_x), z_y, AsPair(d_y));
    const Bound cross = SumOfProducts(z_x, AsPair(d_y), z_y, AsPair(hn::Neg(d_x)));
    const Bound length2 = SumOfProducts(AsPair(d_x), AsPair(d_x), AsPair(d_y), AsPair(d_y));
    const Bound radius = ExactLanes(At(&touches.radius[i]));
    const Bound reach2 = Multiply(length2, Multiply(radius, radius));
    const Bound root = SquareRoot(Minus(reach2, Multiply(cross, cross)));
    V t = All(0);
    const Mask certain = RoundUp(Divide(Minus(dot, root), length2), t);
    const Bound scale = Multiply(length2, radius);
    Bound x = SumOfProducts(root.value, AsPair(hn::Neg(d_x)), cross.value, AsPair(hn::Neg(d_y)));
    Bound y = SumOfProducts(root.value, AsPair(hn::Neg(d_y)), cross.value, AsPair(d_x));
    const V passed = Mul(Add(root.error, cross.error), Add(Abs(d_x), Abs(d_y)));
    x.error = Add(x.error, passed);
    y.error = Add(y.error, passed);
    const V slack = All(0x1p-94);
    V normal_x = All(0);
    V normal_y = normal_x;
    const Mask is_normal = And(RoundToNearest(Divide(x, scale), slack, normal_x),
                               RoundToNearest(Divide(y, scale), slack, normal_y));
    touches.certain |= BitsOf(certain) << i;
    hn::StoreU(t, D(), &touches.fraction[i]);
    hn::StoreU(IfThenElse(is_normal, normal_x, hn::NaN(D())), D(), &touches.normal_x[i]);
    hn::StoreU(normal_y, D(), &touches.normal_y[i]);
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(MeasureEdges);
HWY_EXPORT(MeasureVertices);

// Returns the least index of an edge of the polygon that contains the point of touch: the index of
// the touching edge, or the lesser index of the two edges that share the touching vertex.
uint32_t FirstEdge(const FastTouch& touch) {
  if (touch.kind == TouchKind::kFixedEdge || touch.fixed == 0) return touch.fixed;
  return touch.fixed - uint32_t{1};
}

}  // namespace

void FastSweepRows::Add(size_t k, const Polygon& polygon, const SweptMover& mover,
                        const FastTouch& touch) {
  const FastMover& ring = mover.ring;
  const bool is_edge = touch.kind != TouchKind::kVertices;
  TouchColumns& to = is_edge ? edges_ : vertices_;
  const size_t i = to.count++;
  const Vec2 moving = ring.vertex(touch.moving);
  const Vec2 fixed = polygon.vertices()[touch.fixed];
  if (is_edge) {
    const Segment side = touch.kind == TouchKind::kFixedEdge
                             ? polygon.edge(touch.fixed)
                             : Segment{ring.vertex(touch.moving + size_t{1}), moving};
    to.a_x[i] = side.a.x;
    to.a_y[i] = side.a.y;
    to.b_x[i] = side.b.x;
    to.b_y[i] = side.b.y;
  }
  to.fixed_x[i] = fixed.x;
  to.fixed_y[i] = fixed.y;
  to.moving_x[i] = moving.x;
  to.moving_y[i] = moving.y;
  to.d_x[i] = mover.d.x;
  to.d_y[i] = mover.d.y;
  to.radius[i] = mover.radius;
  sources_[k] = {&polygon, &mover, &touch, i};
}

void FastSweepRows::Measure() {
  if (edges_.count > 0) HWY_DYNAMIC_DISPATCH(MeasureEdges)(edges_);
  if (vertices_.count > 0) HWY_DYNAMIC_DISPATCH(MeasureVertices)(vertices_);
}

// Sets the members of `hit` (polygon, edge, fraction, normal and point) that
// `Sweeper::MeasureTouch` sets in the exact search; returns false if the rounding of a number is
// not certain. The point is the one that `Measure` has computed if a vertex of the shape touches an
// edge of the polygon, else the touching vertex of the polygon.
bool FastSweepRows::Row(size_t k, SweepHit& hit) const {
  const Source& source = sources_[k];
  const FastTouch& touch = *source.touch;
  const bool meets_vertices = touch.kind == TouchKind::kVertices;
  const TouchColumns& from = meets_vertices ? vertices_ : edges_;
  const size_t i = source.at;
  if (!kHasFilters || (from.certain >> i & 1) == 0) return false;
  hit.polygon_id = source.polygon->id();
  hit.has_edge = true;
  hit.edge = {0, FirstEdge(touch)};
  hit.fraction = from.fraction[i];
  hit.normal = {from.normal_x[i], from.normal_y[i]};
  hit.point = {from.fixed_x[i], from.fixed_y[i]};
  if (touch.kind == TouchKind::kFixedEdge) hit.point = {from.point_x[i], from.point_y[i]};
  if (std::isnan(hit.normal.x)) {
    const auto meeting =
        EdgeMeeting::OfVertices(hit.point, source.mover->ring.vertex(touch.moving));
    hit.normal = RoundNormal({source.mover->d, source.mover->radius}, meeting, IntervalEnd::kBegin);
  }
  return true;
}

}  // namespace carom::internal
#endif  // HWY_ONCE
