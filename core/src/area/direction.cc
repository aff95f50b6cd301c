// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/direction.h"

#include <algorithm>
#include <utility>

#include "carom/predicates.h"
#include "numeric/double_double.h"

namespace carom::internal {
namespace {

TwoDoubles PairOf(const Dyadic& value) {
  const double high = NearestDouble(value);
  return {high, NearestDouble(value - Dyadic(high))};
}

TwoDoubles PairOfQuotient(const Dyadic& n, const Dyadic& d) {
  const double high = NearestQuotient(n, d);
  return {high, NearestQuotient(n - Dyadic(high) * d, d)};
}

double Length(double x, double y) { return std::abs(x) + std::abs(y); }

// Returns (f.a - e.a) x (f.b - f.a) and (e.b - e.a) x (f.b - f.a): the edges' lines meet at e.a + t
// (e.b - e.a), where t is the quotient of the two.
DyadicVec2 CrossingQuotient(const EyeEdge& e, const EyeEdge& f) {
  const DyadicVec2 along = DyadicDifference(f.b, f.a);
  return {Cross(DyadicDifference(f.a, e.a), along), Cross(DyadicDifference(e.b, e.a), along)};
}

// Returns, for t = n / d of `CrossingQuotient`, the vector d (e.a - eye) + n (e.b - e.a), which is
// d times the vector from the eye to the crossing.
DyadicVec2 CrossingVector(Vec2 eye, const EyeEdge& e, const DyadicVec2& quotient) {
  const DyadicVec2 to = DyadicDifference(e.a, eye);
  const DyadicVec2 along = DyadicDifference(e.b, e.a);
  return {to.x * quotient.y + along.x * quotient.x, to.y * quotient.y + along.y * quotient.x};
}

// Returns R^2 d^2 - c^2, where R is the range, d the length of the edge, and c the
// cross product of the edge with the vector to it; see `ExactCircle`.
Dyadic CircleRadicand(double range, const Dyadic& c, const DyadicVec2& along) {
  return Dyadic(range) * Dyadic(range) * Dot(along, along) - c * c;
}

// The edge's line has its foot, the point nearest to the eye, at c n / d^2, with d = b - a, n =
// (d.y, -d.x) and c = (a - eye) x d > 0. It meets the circle at the foot and +-d sqrt(R^2 d^2 -
// c^2) / d^2; the minus is the end near `a`.
ExactDirection ExactCircle(const Eye& eye, const EyeEdge& e, uint8_t end) {
  const DyadicVec2 along = DyadicDifference(e.b, e.a);
  const Dyadic c = Cross(DyadicDifference(e.a, eye.position()), along);
  const DyadicVec2 foot{c * along.y, -(c * along.x)};
  const DyadicVec2 root = end == 0 ? DyadicVec2{-along.x, -along.y} : along;
  return {foot, root, CircleRadicand(eye.range(), c, along)};
}

// Returns the sign of the cross product a x b. With a = a0 + a1 sqrt(p) and b = b0 + b1 sqrt(q), it
// is P + Q sqrt(q), where P and Q are numbers of the form x + y sqrt(p). If P and Q have unlike
// signs, P^2 and Q^2 q are compared, whose difference has that form, too.
int CrossSign(const ExactDirection& a, const ExactDirection& b) {
  const Dyadic& p = a.radicand;
  const Dyadic& q = b.radicand;
  const Dyadic p0 = Cross(a.base, b.base);
  if (a.is_rational() && b.is_rational()) return p0.sign();
  if (b.is_rational()) return SignWithRoot(p0, Cross(a.root, b.base), p);
  const Dyadic q0 = Cross(a.base, b.root);
  if (a.is_rational()) return SignWithRoot(p0, q0, q);
  const Dyadic p1 = Cross(a.root, b.base);
  const Dyadic q1 = Cross(a.root, b.root);
  const int sign_p = SignWithRoot(p0, p1, p);
  const int sign_q = SignWithRoot(q0, q1, p);
  if (sign_p == 0 || sign_q == 0 || sign_p == sign_q) return sign_p != 0 ? sign_p : sign_q;
  const Dyadic rest = p0 * p0 + p1 * p1 * p - (q0 * q0 + q1 * q1 * p) * q;
  return sign_p * SignWithRoot(rest, Scaled(p0 * p1 - q0 * q1 * q, 1), p);
}

}  // namespace

// With relative errors of 2^-97 of both cross products, t in [0, 1] errs by 2^-95, and each
// component of the vector by 2^-94 of the sum of the lengths. Where the vector is so short that
// this is much, the exact quotient is rounded instead.
PairVector VectorToCrossing(const Eye& eye, const EyeEdge& e, const EyeEdge& f) {
  const TwoDoubles t = Divide(PairCross(e.a, f.a, f.a, f.b), PairCross(e.a, e.b, f.a, f.b));
  const Vec2 p = eye.position();
  const TwoDoubles dx = TwoDiff(e.b.x, e.a.x), dy = TwoDiff(e.b.y, e.a.y);
  const TwoDoubles ax = TwoDiff(e.a.x, p.x), ay = TwoDiff(e.a.y, p.y);
  PairVector v{Add(ax, Multiply(dx, t)), Add(ay, Multiply(dy, t)), 0};
  v.error = 0x1p-94 * (Length(ax.high, ay.high) + Length(dx.high, dy.high));
  const double length = Length(v.x.high, v.y.high);
  if (v.error <= 0x1p-70 * length) return v;
  const DyadicVec2 quotient = CrossingQuotient(e, f);
  const DyadicVec2 exact = CrossingVector(p, e, quotient);
  v = {PairOfQuotient(exact.x, quotient.y), PairOfQuotient(exact.y, quotient.y), 0};
  v.error = 0x1p-100 * Length(v.x.high, v.y.high);
  return v;
}

// The radicand R^2 d^2 - c^2 has an error of less than 2^-94 R^2 d^2. If it is at least 2^-40 R^2
// d^2, its root errs by less than 2^-75 R d, and the vector by 2^-74 R. Otherwise the radicand is
// computed exactly.
PairVector VectorToCircle(const Eye& eye, const EyeEdge& e, uint8_t end) {
  const TwoDoubles dx = TwoDiff(e.b.x, e.a.x), dy = TwoDiff(e.b.y, e.a.y);
  const TwoDoubles c = PairCross(eye.position(), e.a, e.a, e.b);
  const TwoDoubles length2 = PairDot(e.a, e.b, e.a, e.b);
  const TwoDoubles range2 = TwoProduct(eye.range(), eye.range());
  const TwoDoubles all = Multiply(range2, length2);
  TwoDoubles radicand = Subtract(all, Multiply(c, c));
  if (!(radicand.high >= 0x1p-40 * all.high)) {
    const DyadicVec2 along = DyadicDifference(e.b, e.a);
    const Dyadic exact_c = Cross(DyadicDifference(e.a, eye.position()), along);
    radicand = PairOf(CircleRadicand(eye.range(), exact_c, along));
  }
  TwoDoubles root = SquareRoot(radicand);
  if (end == 0) root = {-root.high, -root.low};
  const TwoDoubles x = Add(Multiply(c, dy), Multiply(root, dx));
  const TwoDoubles y = Subtract(Multiply(root, dy), Multiply(c, dx));
  return {Divide(x, length2), Divide(y, length2), 0x1p-72 * eye.range()};
}

void Eye::Start(const Circle& disc) {
  disc_ = disc;
  sides_.clear();
  sources_.clear();
  edges_.clear();
}

Box Eye::bounds() const {
  const Vec2 p = disc_.center;
  const double r = disc_.radius;
  return {{NextBelow(p.x - r), NextBelow(p.y - r)}, {NextAbove(p.x + r), NextAbove(p.y + r)}};
}

uint32_t Eye::AddSource(const EyeSource& source) {
  sources_.push_back(source);
  return static_cast<uint32_t>(sources_.size() - 1);
}

EyeDirection Eye::AddSide(uint8_t end, Vec2 direction) {
  const auto number = static_cast<uint32_t>(sides_.size());
  sides_.push_back(direction);
  double key = KeyOf(direction.x, direction.y);
  if (end == 0 && direction.y == 0 && direction.x < 0) key = -2;
  return {key, number, 0, DirectionKind::kSide, end};
}

// An edge that begins at the cut begins at -pi, and one that ends there ends at pi.
EyeDirection Eye::ToVertex(Vec2 vertex, uint32_t edge, uint8_t end) const {
  const double x = vertex.x - disc_.center.x;
  const double y = vertex.y - disc_.center.y;
  const double key = y == 0 && x < 0 ? (end == 0 ? -2 : 2) : KeyOf(x, y);
  return {key, edge, 0, DirectionKind::kVertex, end};
}

EyeDirection Eye::ToCircle(uint32_t edge, uint8_t end) const {
  const PairVector v = VectorToCircle(*this, edges_[edge], end);
  EyeDirection to{0, edge, 0, DirectionKind::kCircle, end};
  to.key = KeyNearCut(to, KeyOf(v.x.high, v.y.high), end == 0 ? -2 : 2);
  return to;
}

// Rounding errors may not carry a key across the cut: where they could, the exact sign of y
// decides.
double Eye::KeyNearCut(const EyeDirection& direction, double key, double at_cut) const {
  if (std::abs(key) < 2 - 0x1p-30) return key;
  const ExactDirection exact = ExactOf(direction);
  const int sign = SignWithRoot(exact.base.y, exact.root.y, exact.radicand);
  return sign == 0 ? at_cut : sign * std::abs(key);
}

// Whether an edge has a point in the open disc is exact. The square of the distance is not: it only
// orders the work.
bool Eye::AddEdge(const Segment& edge, size_t index, int back) {
  const int side = Orientation(disc_.center, edge.a, edge.b);
  if (side == 0 || side == back) return false;
  EyeEdge added;
  added.a = side > 0 ? edge.a : edge.b;
  added.b = side > 0 ? edge.b : edge.a;
  const Vec2 p = disc_.center;
  const Vec2 a{added.a.x - p.x, added.a.y - p.y}, b{added.b.x - p.x, added.b.y - p.y};
  const Vec2 d{b.x - a.x, b.y - a.y};
  const double a2 = a.x * a.x + a.y * a.y, b2 = b.x * b.x + b.y * b.y;
  const double limit = disc_.radius * disc_.radius;
  bool is_a_in = true, is_b_in = true;
  if (!kHasFilters || !(std::max(a2, b2) < limit * (1 - 0x1p-48))) {
    is_a_in = CompareDistance(added.a, disc_) <= 0;
    is_b_in = CompareDistance(added.b, disc_) <= 0;
    if ((!is_a_in || !is_b_in) && CompareDistance(edge, disc_) >= 0) return false;
  }
  const double c = a.x * d.y - a.y * d.x, d2 = d.x * d.x + d.y * d.y;
  added.distance2 = std::min(a2, b2);
  added.farthest2 = std::max(a2, b2);
  if (a.x * d.x + a.y * d.y < 0 && b.x * d.x + b.y * d.y > 0) added.distance2 = c * c / d2;
  added.source = static_cast<uint32_t>(sources_.size() - 1);
  added.index = static_cast<uint32_t>(index);
  added.is_reversed = side < 0;
  const auto number = static_cast<uint32_t>(edges_.size());
  edges_.push_back(added);
  EyeEdge& last = edges_.back();
  last.begin = is_a_in ? ToVertex(added.a, number, 0) : ToCircle(number, 0);
  last.end = is_b_in ? ToVertex(added.b, number, 1) : ToCircle(number, 1);
  return true;
}

uint32_t Eye::AddLine(const Segment& edge) {
  const auto number = static_cast<uint32_t>(edges_.size());
  EyeEdge& added = edges_.emplace_back();
  added = {edge.a, edge.b, {}, {}, 0, 0, static_cast<uint32_t>(sources_.size() - 1), 0, false};
  added.begin = ToVertex(edge.a, number, 0);
  added.end = ToVertex(edge.b, number, 1);
  return number;
}

ExactDirection Eye::ExactOf(const EyeDirection& direction) const {
  switch (direction.kind) {
    case DirectionKind::kCut:
      break;
    case DirectionKind::kSide:
      return {{sides_[direction.edge].x, sides_[direction.edge].y}, {}, {}};
    case DirectionKind::kVertex:
      return {DyadicDifference(VertexOf(direction), disc_.center), {}, {}};
    case DirectionKind::kCircle:
      return ExactCircle(*this, edges_[direction.edge], direction.end);
    case DirectionKind::kCrossing: {
      const EyeEdge& e = edges_[direction.edge];
      const DyadicVec2 quotient = CrossingQuotient(e, edges_[direction.other]);
      const DyadicVec2 v = CrossingVector(disc_.center, e, quotient);
      if (quotient.y.sign() > 0) return {v, {}, {}};
      return {{-v.x, -v.y}, {}, {}};
    }
  }
  return {{-1, 0}, {}, {}};
}

// The angle between the directions is below a quarter turn, so the sign of their cross product is
// their order.
int Eye::CompareClose(const EyeDirection& a, const EyeDirection& b) const {
  if (a.kind == DirectionKind::kVertex && b.kind == DirectionKind::kVertex) {
    const Vec2 to_a = VertexOf(a), to_b = VertexOf(b);
    return to_a == to_b ? 0 : -Orientation(disc_.center, to_a, to_b);
  }
  if (a.kind == b.kind && a.edge == b.edge && a.other == b.other && a.end == b.end) return 0;
  return -CrossSign(ExactOf(a), ExactOf(b));
}

bool Eye::IsLess(uint32_t e, uint32_t f) const {
  const EyeEdge& a = edges_[e];
  const EyeEdge& b = edges_[f];
  if (a.source == b.source) return a.index < b.index;
  const EyeSource& of_a = sources_[a.source];
  const EyeSource& of_b = sources_[b.source];
  return of_a.is_body != of_b.is_body ? of_b.is_body : of_a.id < of_b.id;
}

// The eye is strictly on the left of each edge. An edge f whose ends are not on the eye's side of
// the line of e lies behind this line, and e is on it, so e is nearer. If neither edge is so placed
// about the line of the other, each has ends strictly on both sides of the line of the other: they
// cross, and before the crossing that one is nearer whose begin is on the eye's side of the other.
Nearer Eye::NearerOf(uint32_t e, uint32_t f) const {
  const EyeEdge& first = edges_[e];
  const EyeEdge& second = edges_[f];
  const int a = Orientation(first.a, first.b, second.a);
  const int b = Orientation(first.a, first.b, second.b);
  if (a >= 0 && b >= 0) {
    if (a != 0 || b != 0) return Nearer::kSecond;
    return IsLess(e, f) ? Nearer::kFirst : Nearer::kSecond;
  }
  if (a <= 0 && b <= 0) return Nearer::kFirst;
  const int c = Orientation(second.a, second.b, first.a);
  const int d = Orientation(second.a, second.b, first.b);
  if (c >= 0 && d >= 0) return Nearer::kFirst;
  if (c <= 0 && d <= 0) return Nearer::kSecond;
  return a > 0 ? Nearer::kSecondThenFirst : Nearer::kFirstThenSecond;
}

bool Eye::AreOnOneLine(uint32_t e, uint32_t f) const {
  const EyeEdge& first = edges_[e];
  const EyeEdge& second = edges_[f];
  return Orientation(first.a, first.b, second.a) == 0 &&
         Orientation(first.a, first.b, second.b) == 0;
}

EyeDirection Eye::Crossing(uint32_t e, uint32_t f) const {
  if (IsLess(f, e)) std::swap(e, f);
  const PairVector v = VectorToCrossing(*this, edges_[e], edges_[f]);
  EyeDirection to{0, e, f, DirectionKind::kCrossing, 0};
  to.key = KeyNearCut(to, KeyOf(v.x.high, v.y.high), 2);
  return to;
}

// Both edges span less than half a turn, so the crossing is less than half a turn from the
// interval, perhaps on the other side of the cut. Keys of directions less than half a turn apart
// differ by less than 2 if the cut is not between them, and else by more than 2; where keys leave
// this open, the sign of the cross product decides. A crossing at the cut has the key 2.
Position Eye::PositionOf(const EyeDirection& crossing, const EyeDirection& begin,
                         const EyeDirection& end) const {
  const double turn = crossing.key - begin.key;
  bool is_beyond_cut = std::abs(turn) > 2;
  if (std::abs(std::abs(turn) - 2) < 0x1p-40) {
    const bool is_after = CrossSign(ExactOf(begin), ExactOf(crossing)) > 0;
    is_beyond_cut = is_after == (turn < 0);
  }
  if (is_beyond_cut) return turn > 0 ? Position::kBefore : Position::kAfter;
  if (Compare(crossing, begin) <= 0) return Position::kBefore;
  return Compare(crossing, end) >= 0 ? Position::kAfter : Position::kInside;
}

}  // namespace carom::internal
