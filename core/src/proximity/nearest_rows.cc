// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes distances and nearest points as the scalar functions of shape/approach.h do, operation
// by operation, with several points in the lanes of a vector. shape/approach.cc states the error
// bounds of these functions.

#include "proximity/nearest_rows.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "numeric/exact.h"
#include "shape/approach.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/proximity/nearest_rows.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "numeric/pair_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

struct Point {
  V x, y;
};

HWY_INLINE Point PointAt(const DoubleColumn& x, const DoubleColumn& y, size_t i) {
  return {At(x, i), At(y, i)};
}

// Returns the lanes in which the sign of (p - from) . (to - from) is certain, and sets `dot` to the
// product. Uses the error bound of the scalar function `DotSign`.
inline Mask HasSign(Point p, Point from, Point to, V& dot) {
  const V left = Mul(Sub(p.x, from.x), Sub(to.x, from.x));
  const V right = Mul(Sub(p.y, from.y), Sub(to.y, from.y));
  dot = Add(left, right);
  return hn::Ge(Abs(dot), Mul(All(kCrossError), Add(Abs(left), Abs(right))));
}

// Sets `rounded` to the double nearest to `distance`, the sum of two doubles. Returns the lanes in
// which all numbers within `error` of `distance` round to `rounded`.
inline Mask RoundDistance(Pair distance, V error, V& rounded) {
  rounded = distance.high;
  const V most = Add(distance.high, Add(distance.low, error));
  const V least = Add(distance.high, Sub(distance.low, error));
  return And(hn::Eq(most, distance.high), hn::Eq(least, distance.high));
}

constexpr double kLengthError = kHasFilters ? 0x1p-94 : 1;

// Computes the distances of points p from vertices a of polygons, where b and c are the ends of the
// two edges at a. The result of a lane is certain if p is certainly beyond the end a of both edges,
// so that a is the nearest point, and if the distance is certainly rounded correctly.
void MeasureVertices(NearestColumns& of) {
  of.certain = 0;
  for (size_t i = 0; i < NearestColumns::kMost; i += hn::Lanes(D())) {
    const Point p = PointAt(of.p_x, of.p_y, i);
    const Point a = PointAt(of.a_x, of.a_y, i);
    V dot_b = All(0), dot_c = dot_b, distance = dot_b;
    const Mask has_b = HasSign(p, a, PointAt(of.b_x, of.b_y, i), dot_b);
    const Mask has_c = HasSign(p, a, PointAt(of.c_x, of.c_y, i), dot_c);
    const Mask is_behind = hn::Le(hn::Max(dot_b, dot_c), All(0));
    const Pair x = TwoDiff(p.x, a.x);
    const Pair y = TwoDiff(p.y, a.y);
    const Pair length = SquareRoot(Plus(Multiply(x, x), Multiply(y, y)));
    const Mask certain = RoundDistance(length, Mul(All(kLengthError), length.high), distance);
    of.certain |= BitsOf(And(And(has_b, has_c), And(is_behind, certain))) << i;
    Put(distance, of.distance, i);
    Put(a.x, of.x, i);
    Put(a.y, of.y, i);
  }
}

// Returns one coordinate of the point from + t * d of a segment, rounded as the scalar `PointAt`
// (shape/measures.h) rounds it.
inline V PointAlong(V from, Pair d, V t) {
  const Pair step = TwoProduct(d.high, t);
  const Pair sum = TwoSum(from, step.high);
  return Add(Add(sum.high, Add(sum.low, Add(step.low, Mul(d.low, t)))), All(0));
}

// Computes the distances of points p from lines through a and b, edges that are not parallel to an
// axis. The result of a lane is certain if the nearest point certainly lies between a and b, and if
// the distance is certainly rounded correctly. Each of the two products of the cross product of the
// vectors from a to b and from a to p has a relative error of at most 2^-100, which adds at most
// 2^-98 of the sum of the products, divided by the length of the edge, to the error of the
// distance; `error` has 2^-96.
void MeasureLines(NearestColumns& of) {
  of.certain = 0;
  for (size_t i = 0; i < NearestColumns::kMost; i += hn::Lanes(D())) {
    const Point p = PointAt(of.p_x, of.p_y, i);
    const Point a = PointAt(of.a_x, of.a_y, i);
    const Point b = PointAt(of.b_x, of.b_y, i);
    V dot_a = All(0), dot_b = dot_a, distance = dot_a;
    const Mask has_a = HasSign(p, a, b, dot_a);
    const Mask has_b = HasSign(p, b, a, dot_b);
    const Mask is_between = hn::Gt(hn::Min(dot_a, dot_b), All(0));
    const Pair dx = TwoDiff(b.x, a.x);
    const Pair dy = TwoDiff(b.y, a.y);
    const Pair px = TwoDiff(p.x, a.x);
    const Pair py = TwoDiff(p.y, a.y);
    const Pair length2 = Plus(Multiply(dx, dx), Multiply(dy, dy));
    const Pair left = Multiply(dx, py);
    const Pair right = Multiply(dy, px);
    Pair cross = Minus(left, right);
    const V sign = hn::CopySign(All(1), cross.high);
    cross = {Mul(cross.high, sign), Mul(cross.low, sign)};
    const Pair length = SquareRoot(length2);
    const Pair quotient = Divide(cross, length);
    const V products = hn::Div(Add(Abs(left.high), Abs(right.high)), length.high);
    const V error = Add(Mul(All(kLengthError), quotient.high), Mul(All(0x1p-96), products));
    const Mask is_rounded = RoundDistance(quotient, error, distance);
    const Mask certain = And(is_rounded, hn::Gt(distance, All(0)));
    of.certain |= BitsOf(And(And(has_a, has_b), And(is_between, certain))) << i;
    Put(distance, of.distance, i);
    const Pair dot = Plus(Multiply(px, dx), Multiply(py, dy));
    const V t = hn::Min(hn::Max(Divide(dot, length2).high, All(0)), All(1));
    Put(PointAlong(a.x, dx, t), of.x, i);
    Put(PointAlong(a.y, dy, t), of.y, i);
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(MeasureVertices);
HWY_EXPORT(MeasureLines);

// Computes one answer row by scalar functions. If several edges of `pair` are at the least
// distance, the first one is the nearest.
void MeasureAlone(const NearestPair& pair, DistanceRow& row) {
  std::optional<Approach> nearest;
  for (uint64_t edges = pair.edges; edges != 0; edges &= edges - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(edges));
    const Approach approach(pair.point, pair.polygon->edge(i));
    if (nearest && Compare(approach, *nearest) >= 0) continue;
    nearest = approach;
    row.edge = {0, i};
  }
  row.distance = Clearance(*nearest, 0, 0);
  row.point = NearestPoint(*nearest);
}

void Write(NearestColumns& of, std::vector<DistanceRow>& rows) {
  for (size_t i = 0; i < of.count; ++i) {
    DistanceRow& row = rows[of.pairs[i].row];
    if ((of.certain >> i & 1) == 0) {
      MeasureAlone(of.pairs[i], row);
      continue;
    }
    row.distance = of.distance[i];
    row.point = {of.x[i], of.y[i]};
  }
  of.count = 0;
}

bool IsBetween(double value, double a, double b) {
  return std::min(a, b) <= value && value <= std::max(a, b);
}

}  // namespace

bool NearestRows::Add(const NearestPair& pair, std::vector<DistanceRow>& rows) {
  const auto ring = pair.polygon->vertices();
  const auto last = static_cast<uint32_t>(ring.size() - 1);
  const auto first = static_cast<uint32_t>(std::countr_zero(pair.edges));
  const uint64_t rest = pair.edges & (pair.edges - 1);
  if ((rest & (rest - 1)) != 0) return false;
  const Vec2 p = pair.point;
  const auto after = [&](uint32_t i) { return ring[i == last ? 0 : i + 1]; };
  if (rest != 0) {
    const auto second = static_cast<uint32_t>(std::countr_zero(rest));
    const bool wraps = first == 0 && second == last;
    if (second != first + 1 && !wraps) return false;
    const uint32_t shared = wraps ? 0 : second;
    vertices_.Add(ring[shared], ring[shared == 0 ? last : shared - 1], after(shared), pair);
  } else {
    const Vec2 a = ring[first];
    const Vec2 b = after(first);
    if (a.x == b.x || a.y == b.y) {
      // If the foot of p on an edge parallel to an axis lies on the edge, the foot has one
      // coordinate of p and one of the edge, both doubles, so the foot is measured like a vertex.
      // Otherwise this function returns false, and the caller answers the item by exact code.
      const bool is_upright = a.x == b.x;
      if (!(is_upright ? IsBetween(p.y, a.y, b.y) : IsBetween(p.x, a.x, b.x))) return false;
      const Vec2 foot = is_upright ? Vec2{a.x, p.y} : Vec2{p.x, a.y};
      vertices_.Add(foot, foot, foot, pair);
    } else {
      lines_.Add(a, b, a, pair);
    }
  }
  DistanceRow& row = rows.emplace_back();
  row.mover_point = p;
  row.has_edge = true;
  row.edge = {0, first};
  if (vertices_.count == NearestColumns::kMost) FlushVertices(rows);
  if (lines_.count == NearestColumns::kMost) FlushLines(rows);
  return true;
}

void NearestRows::FlushVertices(std::vector<DistanceRow>& rows) {
  if (vertices_.count == 0) return;
  HWY_DYNAMIC_DISPATCH(MeasureVertices)(vertices_);
  Write(vertices_, rows);
}

void NearestRows::FlushLines(std::vector<DistanceRow>& rows) {
  if (lines_.count == 0) return;
  HWY_DYNAMIC_DISPATCH(MeasureLines)(lines_);
  Write(lines_, rows);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
