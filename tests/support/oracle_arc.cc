// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_arc.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace carom::testing {
namespace {

// c[0] + c[1] t + c[2] t^2.
struct Poly {
  Rational c[3];

  int degree() const {
    return Sign(c[2]) != 0 ? 2 : Sign(c[1]) != 0 ? 1 : Sign(c[0]) != 0 ? 0 : -1;
  }
  Rational At(const Rational& t) const { return c[0] + t * (c[1] + t * c[2]); }
  Poly Derivative() const { return {{c[1], 2 * c[2], 0}}; }
};

Poly Remainder(Poly a, const Poly& b) {
  const int degree = b.degree();
  for (int i = a.degree(); i >= degree; i = a.degree()) {
    const Rational factor = a.c[i] / b.c[degree];
    for (int k = 0; k <= degree; ++k) a.c[i - degree + k] -= factor * b.c[k];
    a.c[i] = 0;
  }
  return a;
}

Poly CommonDivisor(Poly a, Poly b) {
  while (b.degree() >= 0) {
    Poly rest = Remainder(a, b);
    if (b.degree() == 0) return b;
    a = b;
    b = rest;
  }
  return a;
}

// The one root of `poly` in [low, high], where it changes its sign unless low == high.
struct Root {
  Poly poly;
  Rational low;
  Rational high;

  bool exact() const { return low == high; }
  void Halve() {
    const Rational middle = (low + high) / 2;
    const int sign = Sign(poly.At(middle));
    if (sign == 0) {
      low = high = middle;
    } else {
      (sign == Sign(poly.At(low)) ? low : high) = middle;
    }
  }
};

Root RootAt(const Rational& t) { return {{{-t, 1, 0}}, t, t}; }

// Shrinks the interval from a guess where the guess is good.
void Tighten(Root& root, double guess) {
  if (!std::isfinite(guess)) return;
  const Rational middle = Exact(guess);
  const Rational width = abs(middle) * Exact(0x1p-45);
  const Rational low = middle - width;
  const Rational high = middle + width;
  if (low <= root.low || high >= root.high) return;
  if (Sign(root.poly.At(low)) * Sign(root.poly.At(high)) >= 0) return;
  root.low = low;
  root.high = high;
}

// The root of a rational that is the square of one.
std::optional<Rational> RationalRoot(const Rational& square) {
  const Rational root(sqrt(numerator(square)), sqrt(denominator(square)));
  return root * root == square ? std::optional(root) : std::nullopt;
}

// A root that is not exact is irrational, so no rational number stays in its interval for ever.
std::vector<Root> RootsOf(const Poly& f) {
  if (f.degree() <= 0) return {};
  if (f.degree() == 1) return {RootAt(-f.c[0] / f.c[1])};
  const Rational discriminant = f.c[1] * f.c[1] - 4 * f.c[0] * f.c[2];
  if (Sign(discriminant) < 0) return {};
  const Rational middle = -f.c[1] / (2 * f.c[2]);
  if (Sign(discriminant) == 0) return {RootAt(middle)};
  const Rational half = discriminant / (4 * f.c[2] * f.c[2]);
  if (const std::optional<Rational> apart = RationalRoot(half)) {
    return {RootAt(middle - *apart), RootAt(middle + *apart)};
  }
  // Cauchy's bound.
  const Rational ratio0 = abs(f.c[0] / f.c[2]);
  const Rational ratio1 = abs(f.c[1] / f.c[2]);
  const Rational bound = 2 + std::max(ratio0, ratio1);
  std::vector<Root> roots{{f, -bound, middle}, {f, middle, bound}};
  const double spread = std::sqrt(NearestDouble(half));
  const double centre = NearestDouble(middle);
  const double product = NearestDouble(f.c[0] / f.c[2]);
  const double outer = centre < 0 ? centre - spread : centre + spread;
  Tighten(roots[centre < 0 ? 0 : 1], outer);
  Tighten(roots[centre < 0 ? 1 : 0], product / outer);
  return roots;
}

bool HasCommonRoot(const Root& a, const Root& b) {
  const Rational low = std::max(a.low, b.low);
  const Rational high = std::min(a.high, b.high);
  if (low > high) return false;
  if (a.exact()) return Sign(b.poly.At(a.low)) == 0;
  if (b.exact()) return Sign(a.poly.At(b.low)) == 0;
  const Poly common = CommonDivisor(a.poly, b.poly);
  if (common.degree() < 1) return false;
  return Sign(common.At(low)) * Sign(common.At(high)) <= 0;
}

int Compare(Root& a, Root& b) {
  if (HasCommonRoot(a, b)) return 0;
  while (!(a.high < b.low) && !(b.high < a.low)) {
    if (!a.exact()) a.Halve();
    if (!b.exact()) b.Halve();
    if (a.exact() && b.exact()) return a.low < b.low ? -1 : 1;
  }
  return a.high < b.low ? -1 : 1;
}

int CompareWith(Root& a, const Rational& t) {
  Root b = RootAt(t);
  return Compare(a, b);
}

// The sign of f at the root.
int SignAt(const Poly& f, Root& at) {
  if (at.exact()) return Sign(f.At(at.low));
  for (Root& root : [&] { return RootsOf(f); }()) {
    const int order = Compare(root, at);
    if (order == 0) return 0;
  }
  if (f.degree() <= 0) return Sign(f.c[0]);
  // Not a root: shrink until f has one sign at both ends and its vertex is not between.
  for (;;) {
    if (at.exact()) return Sign(f.At(at.low));
    const int low = Sign(f.At(at.low));
    const int high = Sign(f.At(at.high));
    const Poly slope = f.Derivative();
    if (low == high && low != 0 && Sign(slope.At(at.low)) * Sign(slope.At(at.high)) >= 0)
      return low;
    at.Halve();
  }
}

Poly Coordinate(const Rational& p, const Rational& v, const Rational& a) { return {{p, v, a / 2}}; }

// The motion, and what it is asked.
class Motion {
 public:
  explicit Motion(const OracleArc& arc)
      : x_(Coordinate(Exact(Flushed(arc.p.x)), Exact(Flushed(arc.v.x)), Exact(Flushed(arc.a.x)))),
        y_(Coordinate(Exact(Flushed(arc.p.y)), Exact(Flushed(arc.v.y)), Exact(Flushed(arc.a.y)))),
        duration_(Exact(Flushed(arc.duration))) {}

  const Rational& duration() const { return duration_; }
  RationalXy At(const Rational& t) const { return {x_.At(t), y_.At(t)}; }
  Poly X(double x) const { return {{x_.c[0] - Exact(x), x_.c[1], x_.c[2]}}; }
  Poly Y(double y) const { return {{y_.c[0] - Exact(y), y_.c[1], y_.c[2]}}; }
  Poly Side(const OracleShape::Edge& e) const {
    const RationalXy along = Exact(e.to) - Exact(e.from);
    const Poly x = X(e.from.x);
    const Poly y = Y(e.from.y);
    Poly side;
    for (int i = 0; i < 3; ++i) side.c[i] = along.x * y.c[i] - along.y * x.c[i];
    return side;
  }
  bool IsOn(const OracleShape::Edge& e, Root& t) const {
    return SignAt(Side(e), t) == 0 && SignAt(X(e.from.x), t) * SignAt(X(e.to.x), t) <= 0 &&
           SignAt(Y(e.from.y), t) * SignAt(Y(e.to.y), t) <= 0;
  }
  // The times at which the point may come on or off the edge.
  void AddCuts(const OracleShape::Edge& e, std::vector<Root>& cuts) const {
    const auto add = [&](const Poly& f) {
      for (const Root& root : RootsOf(f)) cuts.push_back(root);
    };
    const Poly side = Side(e);
    if (side.degree() >= 0) return add(side);
    for (const double x : {e.from.x, e.to.x}) add(X(x));
    for (const double y : {e.from.y, e.to.y}) add(Y(y));
  }

 private:
  Poly x_, y_;
  Rational duration_;
};

struct Passage {
  Root begin;
  Root end;
};

std::vector<Root> CutsOf(const Motion& motion, const OracleShape& shape) {
  std::vector<Root> all;
  for (const OracleShape::Edge& edge : shape.edges()) motion.AddCuts(edge, all);
  std::vector<Root> cuts{RootAt(0)};
  for (Root& cut : all) {
    if (CompareWith(cut, 0) > 0 && CompareWith(cut, motion.duration()) < 0) cuts.push_back(cut);
  }
  cuts.push_back(RootAt(motion.duration()));
  // Insertion: comparing sharpens both.
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    for (std::size_t k = i; k > 0 && Compare(cuts[k], cuts[k - 1]) < 0; --k) {
      std::swap(cuts[k], cuts[k - 1]);
    }
  }
  std::vector<Root> unique{cuts[0]};
  for (Root& cut : cuts) {
    if (Compare(unique.back(), cut) != 0) unique.push_back(cut);
  }
  return unique;
}

// A rational between two distinct roots.
Rational Between(Root& a, Root& b) {
  while (!(a.high < b.low)) {
    if (!a.exact()) a.Halve();
    if (!b.exact()) b.Halve();
  }
  return (a.high + b.low) / 2;
}

std::vector<Passage> PassagesOf(const Motion& motion, const OracleShape& shape) {
  std::vector<Root> cuts = CutsOf(motion, shape);
  std::vector<bool> gap_is_in(cuts.size(), false);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    gap_is_in[i] = shape.Locate(motion.At(Between(cuts[i], cuts[i + 1]))) != OraclePlace::kOutside;
  }
  const auto is_in = [&](std::size_t i) {
    if (gap_is_in[i] || (i > 0 && gap_is_in[i - 1])) return true;
    if (cuts[i].exact()) return shape.Locate(motion.At(cuts[i].low)) != OraclePlace::kOutside;
    for (const OracleShape::Edge& edge : shape.edges()) {
      if (motion.IsOn(edge, cuts[i])) return true;
    }
    return false;
  };
  std::vector<Passage> passages;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (!is_in(i)) continue;
    std::size_t last = i;
    while (last + 1 < cuts.size() && gap_is_in[last]) ++last;
    passages.push_back({cuts[i], cuts[last]});
    i = last;
  }
  return passages;
}

double RoundedUp(Root t) {
  for (int i = 0; i < 1200 && !t.exact(); ++i) {
    if (NearestDouble(t.low) == NearestDouble(t.high)) break;
    t.Halve();
  }
  double time = NearestDouble(t.high);
  while (CompareWith(t, Exact(time)) > 0) time = std::nextafter(time, kInf);
  while (time > 0 && CompareWith(t, Exact(std::nextafter(time, -kInf))) <= 0) {
    time = std::nextafter(time, -kInf);
  }
  return time + 0.0;
}

// `side`: -1 for an entry, 1 for an exit, 0 for no normal.
OracleArcHit HitAt(const Motion& motion, const OracleShape& shape, Root t, int side) {
  OracleArcHit hit;
  hit.polygon = shape.id();
  hit.time = RoundedUp(t);
  bool best_along = false;
  const OracleShape::Edge* best = nullptr;
  for (const OracleShape::Edge& edge : shape.edges()) {
    if (!motion.IsOn(edge, t)) continue;
    const bool along = SignAt(motion.Side(edge).Derivative(), t) == 0;
    if (best != nullptr && (along != best_along ? along : !(edge.name < best->name))) continue;
    best = &edge;
    best_along = along;
  }
  if (best != nullptr) {
    hit.edge = best->name;
    const int turn = SignAt(motion.Side(*best).Derivative(), t) * side;
    const RationalXy along = Exact(best->to) - Exact(best->from);
    if (turn != 0) hit.normal = Rational(turn) * RationalXy{-along.y, along.x};
  }
  for (int i = 0; i < 1200 && !t.exact(); ++i) {
    if (t.high - t.low <= abs(t.low) * Exact(0x1p-200)) break;
    t.Halve();
  }
  hit.point = motion.At(t.high);
  return hit;
}

}  // namespace

std::vector<OracleArcHit> CastArc(const Oracle& oracle, const OracleArc& arc, OracleInside inside) {
  const Motion motion(arc);
  std::vector<OracleArcHit> hits;
  for (const OracleShape& shape : oracle.shapes()) {
    std::vector<Passage> passages = PassagesOf(motion, shape);
    if (passages.empty()) continue;
    std::size_t pick = 0;
    const bool starts_inside = CompareWith(passages[0].begin, 0) == 0;
    if (starts_inside && inside == OracleInside::kIgnore) pick = 1;
    if (pick >= passages.size()) continue;
    const bool holds_start = starts_inside && pick == 0;
    if (holds_start && inside == OracleInside::kExit) {
      Root end = passages[0].end;
      hits.push_back(HitAt(motion, shape, end, CompareWith(end, motion.duration()) == 0 ? 0 : 1));
    } else {
      hits.push_back(HitAt(motion, shape, passages[pick].begin, holds_start ? 0 : -1));
    }
    hits.back().starts_inside = holds_start;
  }
  std::sort(hits.begin(), hits.end(), [](const OracleArcHit& a, const OracleArcHit& b) {
    return a.time != b.time ? a.time < b.time : a.polygon < b.polygon;
  });
  return hits;
}

}  // namespace carom::testing
