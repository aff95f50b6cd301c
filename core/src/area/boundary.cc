// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/boundary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "carom/predicates.h"
#include "numeric/bounded.h"
#include "numeric/double_double.h"

namespace carom::internal {
namespace {

// A point exactly: the coordinates (base + root sqrt(radicand)) / divisor.
struct ExactPoint {
  DyadicVec2 base;
  DyadicVec2 root;
  Dyadic radicand;
  Dyadic divisor;
};

DyadicVec2 Times(const DyadicVec2& v, const Dyadic& factor) { return {v.x * factor, v.y * factor}; }
DyadicVec2 Sum(const DyadicVec2& a, const DyadicVec2& b) { return {a.x + b.x, a.y + b.y}; }

// Returns the cross product of a direction u + v sqrt(r) with a vector, as the numbers a and b of a
// + b sqrt(r).
DyadicVec2 CrossOf(const ExactDirection& u, const DyadicVec2& along) {
  return {Cross(u.base, along), Cross(u.root, along)};
}

// Returns the point of an edge in a direction w: eye + w c / k with c = (a - eye) x (b - a) and k =
// w x (b - a). For w = u + v sqrt(r), k is k1 + k2 sqrt(r), and the fraction is expanded by the
// conjugate k1 - k2 sqrt(r). If that is 0, then w / k is (u k2 + v k1) / (2 k1 k2).
ExactPoint ExactOnEdge(const Eye& eye, const EyeEdge& edge, const EyeDirection& at) {
  const ExactDirection w = eye.ExactOf(at);
  const auto& [u, v, r] = w;
  const DyadicVec2 along = DyadicDifference(edge.b, edge.a);
  const Dyadic c = Cross(DyadicDifference(edge.a, eye.position()), along);
  const DyadicVec2 k = CrossOf(w, along);
  const DyadicVec2 p{eye.position().x, eye.position().y};
  if (r.sign() == 0) return {Sum(Times(p, k.x), Times(u, c)), {}, {}, k.x};
  const Dyadic norm = k.x * k.x - k.y * k.y * r;
  if (norm.sign() != 0) {
    const DyadicVec2 base = Sum(Times(u, k.x), Times(v, -(k.y * r)));
    const DyadicVec2 root = Sum(Times(v, k.x), Times(u, -k.y));
    return {Sum(Times(p, norm), Times(base, c)), Times(root, c), r, norm};
  }
  const Dyadic twice = Scaled(k.x * k.y, 1);
  return {Sum(Times(p, twice), Times(Sum(Times(u, k.y), Times(v, k.x)), c)), {}, {}, twice};
}

ExactPoint ExactOnCircle(const Eye& eye, const EyeEdge& edge, const EyeDirection& at) {
  const ExactDirection u = eye.ExactOf(at);
  const DyadicVec2 along = DyadicDifference(edge.b, edge.a);
  const Dyadic length2 = Dot(along, along);
  const DyadicVec2 p{eye.position().x, eye.position().y};
  return {Sum(Times(p, length2), u.base), u.root, u.radicand, length2};
}

// Returns the point of the circle in a rational direction u: eye + R u / sqrt(u^2).
ExactPoint ExactOnArc(const Eye& eye, const EyeDirection& at) {
  const DyadicVec2 u = eye.ExactOf(at).base;
  const Dyadic square = Dot(u, u);
  const DyadicVec2 p{eye.position().x, eye.position().y};
  return {Times(p, square), Times(u, eye.range()), square, square};
}

ExactPoint ExactOf(const Eye& eye, const Place& place) {
  switch (place.kind) {
    case PlaceKind::kCircle:
      return ExactOnCircle(eye, eye.edges()[place.edge], place.at);
    case PlaceKind::kEdge:
      return ExactOnEdge(eye, eye.edges()[place.edge], place.at);
    case PlaceKind::kArc:
      return ExactOnArc(eye, place.at);
    default:
      return {{eye.position().x, eye.position().y}, {}, {}, 1};
  }
}

// Numbers doubles in ascending order: neighbouring doubles have neighbouring numbers, and 0 is 0.
int64_t RankOf(double x) {
  const auto bits = std::bit_cast<int64_t>(x);
  return bits >= 0 ? bits : std::numeric_limits<int64_t>::min() - bits;
}
double OfRank(int64_t rank) {
  return std::bit_cast<double>(rank >= 0 ? rank : std::numeric_limits<int64_t>::min() - rank);
}

// Returns the double nearest to (a + b sqrt(r)) / d, ties to even. The search starts at `guess`:
// steps that double find two doubles with the number between them, and bisection brings them
// together. A double with an even rank has an even significand. Ranks are below 2^62.2 in magnitude
// here, so with steps of at most 2^61 no sum exceeds 2^63.
double Nearest(const Dyadic& a, const Dyadic& b, const Dyadic& r, const Dyadic& d, double guess) {
  if (r.sign() == 0 || b.sign() == 0) return a.sign() == 0 ? 0 : NearestQuotient(a, d);
  // Returns the sign of the number minus `t`.
  const auto side = [&](const Dyadic& t) { return d.sign() * SignWithRoot(a - t * d, b, r); };
  const int64_t most = RankOf(0x1p60);
  const auto next = [](int64_t step) { return std::min(2 * step, int64_t{1} << 61); };
  int64_t low = RankOf(guess), high = low;
  for (int64_t step = 1; side(OfRank(low)) < 0; step = next(step))
    low = std::max(low - step, -most);
  for (int64_t step = 1; side(OfRank(high)) >= 0; step = next(step)) {
    high = std::min(high + step, most);
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (side(OfRank(middle)) >= 0 ? low : high) = middle;
  }
  const Dyadic half = Scaled(Dyadic(OfRank(low)) + Dyadic(OfRank(high)), -1);
  const int past = side(half);
  const bool is_low = past < 0 || (past == 0 && low % 2 == 0);
  return OfRank(is_low ? low : high) + 0.0;
}

// Returns false only if `t` is not `rounded`, the double that is nearest to it.
bool MayBe(const BoundedPair& t, double rounded) {
  return !kHasFilters || !(std::abs((t.value.high - rounded) + t.value.low) > 2 * t.error);
}

// Rounds eye + v. The bound covers the sum and the error of v.
PlacedPoint Rounded(const Eye& eye, const Place& place, const PairVector& v) {
  const Vec2 p = eye.position();
  const BoundedPair x = BoundedPair{v.x, v.error} + ExactValue(p.x);
  const BoundedPair y = BoundedPair{v.y, v.error} + ExactValue(p.y);
  Vec2 rounded;
  const bool is_x_certain = RoundToNearest(x, 0, rounded.x);
  const bool is_y_certain = RoundToNearest(y, 0, rounded.y);
  const bool is_certain = is_x_certain && is_y_certain;
  if (is_certain && !(MayBe(x, rounded.x) && MayBe(y, rounded.y))) return {v, rounded, false};
  const auto& [base, root, r, divisor] = ExactOf(eye, place);
  if (!is_certain) {
    rounded = {Nearest(base.x, root.x, r, divisor, x.value.high),
               Nearest(base.y, root.y, r, divisor, y.value.high)};
  }
  return {v, rounded,
          SignWithRoot(base.x - Dyadic(rounded.x) * divisor, root.x, r) == 0 &&
              SignWithRoot(base.y - Dyadic(rounded.y) * divisor, root.y, r) == 0};
}

double Magnitude(const TwoDoubles& x, const TwoDoubles& y) {
  return std::abs(x.high) + std::abs(y.high);
}

// Returns the vector of a rational direction, with a relative error that `error` bounds.
PairVector VectorOf(const Eye& eye, const EyeDirection& at) {
  if (at.kind == DirectionKind::kCrossing) {
    return VectorToCrossing(eye, eye.edges()[at.edge], eye.edges()[at.other]);
  }
  if (at.kind == DirectionKind::kVertex) {
    const Vec2 v = eye.VertexOf(at), p = eye.position();
    return {TwoDiff(v.x, p.x), TwoDiff(v.y, p.y), 0};
  }
  const Vec2 v = at.kind == DirectionKind::kSide ? eye.side(at.edge) : Vec2{-1, 0};
  return {{v.x, 0}, {v.y, 0}, 0};
}

// Returns R u / |u|. With a relative error e of u below 2^-60, the quotient errs by 3 e and 2^-95.
PairVector VectorToArc(const Eye& eye, const EyeDirection& at) {
  const PairVector u = VectorOf(eye, at);
  const TwoDoubles square = Add(Multiply(u.x, u.x), Multiply(u.y, u.y));
  const TwoDoubles factor = Divide({eye.range(), 0}, SquareRoot(square));
  const double relative = 3 * u.error / std::abs(SquareRoot(square).high) + 0x1p-94;
  return {Multiply(u.x, factor), Multiply(u.y, factor), relative * eye.range()};
}

// Returns the vector to a place rounded to the nearest pairs of doubles.
PairVector NearestVector(const Eye& eye, const Place& place) {
  const ExactPoint exact = ExactOf(eye, place);
  const Dyadic& d = exact.divisor;
  const auto pair = [&](const Dyadic& base, const Dyadic& root, double from) {
    const Dyadic n = base - Dyadic(from) * d;
    const double high = Nearest(n, root, exact.radicand, d, 0);
    return TwoDoubles{high, Nearest(n - Dyadic(high) * d, root, exact.radicand, d, 0)};
  };
  const Vec2 p = eye.position();
  PairVector v{pair(exact.base.x, exact.root.x, p.x), pair(exact.base.y, exact.root.y, p.y), 0};
  v.error = 0x1p-100 * Magnitude(v.x, v.y);
  return v;
}

// Returns the vector to the point of an edge in a rational direction that is neither the one of an
// end of the edge nor of its crossing, from the exact cross products c and k of `ExactOnEdge`.
PairVector VectorToEdge(const Eye& eye, const EyeEdge& edge, const EyeDirection& at) {
  const Vec2 p = eye.position();
  if (at.kind == DirectionKind::kVertex || at.kind == DirectionKind::kSide) {
    const TwoDoubles c = PairCross(p, edge.a, edge.a, edge.b);
    const TwoDoubles k = at.kind == DirectionKind::kVertex
                             ? PairCross(p, eye.VertexOf(at), edge.a, edge.b)
                             : PairCross({0, 0}, eye.side(at.edge), edge.a, edge.b);
    const TwoDoubles t = Divide(c, k);
    const PairVector u = VectorOf(eye, at);
    PairVector v{Multiply(u.x, t), Multiply(u.y, t), 0};
    v.error = 0x1p-92 * Magnitude(v.x, v.y);
    return v;
  }
  const DyadicVec2 u = eye.ExactOf(at).base;
  const DyadicVec2 along = DyadicDifference(edge.b, edge.a);
  const Dyadic c = Cross(DyadicDifference(edge.a, p), along);
  const Dyadic k = Cross(u, along);
  const auto pair = [&](const Dyadic& n) {
    const double high = NearestQuotient(n, k);
    return TwoDoubles{high, NearestQuotient(n - Dyadic(high) * k, k)};
  };
  PairVector v{pair(u.x * c), pair(u.y * c), 0};
  v.error = 0x1p-92 * Magnitude(v.x, v.y);
  return v;
}

bool IsOnCrossing(const Place& place) {
  return place.at.kind == DirectionKind::kCrossing &&
         (place.at.edge == place.edge || place.at.other == place.edge);
}

// Returns whether the edges meet in the same point of a direction: with the numbers c and k of
// `ExactOnEdge`, whether c / k is equal for both edges.
bool MeetOneDirection(const Eye& eye, const Place& a, const Place& b) {
  const ExactDirection u = eye.ExactOf(a.at);
  const DyadicVec2 along_a = DyadicDifference(eye.edges()[a.edge].b, eye.edges()[a.edge].a);
  const DyadicVec2 along_b = DyadicDifference(eye.edges()[b.edge].b, eye.edges()[b.edge].a);
  const Vec2 p = eye.position();
  const Dyadic c_a = Cross(DyadicDifference(eye.edges()[a.edge].a, p), along_a);
  const Dyadic c_b = Cross(DyadicDifference(eye.edges()[b.edge].a, p), along_b);
  const DyadicVec2 k_a = CrossOf(u, along_a), k_b = CrossOf(u, along_b);
  return SignWithRoot(c_a * k_b.x - c_b * k_a.x, c_a * k_b.y - c_b * k_a.y, u.radicand) == 0;
}

bool IsOnCircle(const Eye& eye, const Place& place) {
  if (place.kind == PlaceKind::kCircle || place.kind == PlaceKind::kArc) return true;
  return place.kind == PlaceKind::kVertex &&
         CompareDistance(eye.VertexOf(place.at), eye.disc()) == 0;
}

}  // namespace

Place PlaceOf(const Eye& eye, uint32_t owner, const EyeDirection& at, uint8_t end) {
  if (owner >= kClosed) {
    const Place vertex{PlaceKind::kVertex, at.edge, at};
    if (owner == kClosed) return {};
    if (at.kind == DirectionKind::kCircle) return {PlaceKind::kCircle, at.edge, at};
    if (at.kind == DirectionKind::kVertex && IsOnCircle(eye, vertex)) return vertex;
    return {PlaceKind::kArc, 0, at};
  }
  const EyeEdge& edge = eye.edges()[owner];
  const EyeDirection& own = end == 0 ? edge.begin : edge.end;
  if (eye.Compare(own, at) != 0) return {PlaceKind::kEdge, owner, at};
  return {own.kind == DirectionKind::kCircle ? PlaceKind::kCircle : PlaceKind::kVertex, owner, own};
}

bool AreEqual(const Eye& eye, const Place& a, const Place& b) {
  if (a.kind == PlaceKind::kEye || b.kind == PlaceKind::kEye) return a.kind == b.kind;
  if (IsOnCircle(eye, a) || IsOnCircle(eye, b)) return IsOnCircle(eye, a) && IsOnCircle(eye, b);
  if (a.kind == PlaceKind::kVertex && b.kind == PlaceKind::kVertex) {
    return eye.VertexOf(a.at) == eye.VertexOf(b.at);
  }
  if (b.kind == PlaceKind::kVertex) return AreEqual(eye, b, a);
  const EyeEdge& edge = eye.edges()[b.edge];
  if (a.kind == PlaceKind::kVertex) return Orientation(edge.a, edge.b, eye.VertexOf(a.at)) == 0;
  if (IsOnCrossing(a) && IsOnCrossing(b)) return true;
  return MeetOneDirection(eye, a, b);
}

PlacedPoint PointOf(const Eye& eye, const Place& place) {
  if (place.kind == PlaceKind::kEye) return {{{0, 0}, {0, 0}, 0}, eye.position(), true};
  if (place.kind == PlaceKind::kVertex) {
    return {VectorOf(eye, place.at), eye.VertexOf(place.at), true};
  }
  PairVector v;
  const bool has_root = place.kind == PlaceKind::kEdge && place.at.kind == DirectionKind::kCircle;
  if (place.is_any || has_root) {
    v = NearestVector(eye, place);
  } else if (place.kind == PlaceKind::kCircle) {
    v = VectorToCircle(eye, eye.edges()[place.edge], place.at.end);
  } else if (place.kind == PlaceKind::kArc) {
    v = VectorToArc(eye, place.at);
  } else {
    v = IsOnCrossing(place) ? VectorOf(eye, place.at)
                            : VectorToEdge(eye, eye.edges()[place.edge], place.at);
  }
  return Rounded(eye, place, v);
}

}  // namespace carom::internal
