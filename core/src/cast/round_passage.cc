// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/round_passage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "numeric/bounded.h"
#include "numeric/dyadic.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// A sign, and whether it is certainly the sign of the exact number.
struct Decision {
  int sign;
  bool is_certain;
};
Decision SignOf(const BoundedPair& value) {
  if (value.is_zero()) return {0, true};
  return {value.sign(), value.is_certain()};
}
Decision SignOf(const Dyadic& value) { return {value.sign(), true}; }

template <class N>
N NumberOf(TwoDoubles value);
template <>
BoundedPair NumberOf(TwoDoubles value) {
  return {value, 0};
}
template <>
Dyadic NumberOf(TwoDoubles value) {
  return Dyadic(value.high) + Dyadic(value.low);
}

// A vector of numbers of type N: pairs of doubles with an error bound (`BoundedPair`), or exact
// `Dyadic` numbers, which `Decide` uses if a sign of the pairs is uncertain.
template <class N>
struct Vector {
  N x;
  N y;

  friend Vector operator+(const Vector& a, const Vector& b) { return {a.x + b.x, a.y + b.y}; }
  friend Vector operator-(const Vector& a, const Vector& b) { return {a.x - b.x, a.y - b.y}; }
  friend Vector operator*(const Vector& a, const N& factor) { return {a.x * factor, a.y * factor}; }
  friend N Dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y; }
  friend N Cross(const Vector& a, const Vector& b) { return a.x * b.y - a.y * b.x; }
};

// The line and the capsule as numbers of type N, relative to the start of the capsule's axis.
template <class N>
struct Numbers {
  Numbers(const Line& line, const Capsule& capsule)
      : origin{Difference(line.origin.x, capsule.axis.a.x),
               Difference(line.origin.y, capsule.axis.a.y)},
        d{NumberOf<N>(line.dx), NumberOf<N>(line.dy)},
        s{Difference(capsule.axis.b.x, capsule.axis.a.x),
          Difference(capsule.axis.b.y, capsule.axis.a.y)},
        radius(Value(capsule.radius)) {}

  static N Value(double value) { return NumberOf<N>({value, 0}); }
  static N Difference(double a, double b) { return NumberOf<N>(TwoDiff(a, b)); }

  Vector<N> At(double t) const { return origin + d * Value(t); }

  Vector<N> origin;
  Vector<N> d;
  Vector<N> s;  // the vector from the start of the axis to its end
  N radius;
};

// The part of a capsule's axis that is nearest to a point, by the projection of the point: the
// start of the axis, a point between its ends, or its end.
enum class Nearest : uint8_t { kStart, kSide, kEnd };

// Decides how a line and a capsule (the points within a radius of a segment, its axis) lie relative
// to each other, by signs of polynomials in numbers of type N: pairs of doubles with error bounds,
// or exact `Dyadic` numbers.
template <class N>
class Predicates {
 public:
  Predicates(const Line& line, const Capsule& capsule)
      : numbers_(line, capsule),
        is_disc_(capsule.axis.a == capsule.axis.b),
        radius2_(numbers_.radius * numbers_.radius),
        length2_(Dot(numbers_.s, numbers_.s)) {}

  // Returns whether the signs in all decisions so far were certain. Signs of exact `Dyadic` numbers
  // always are.
  bool is_certain() const { return is_certain_; }

  // Returns the side of the capsule's axis on which the line is at parameter t: the sign of a cross
  // product.
  int SideAt(double t) { return Sign(Cross(numbers_.s, numbers_.At(t))); }

  bool IsWithin(double t) {
    const Vector<N> w = numbers_.At(t);
    switch (NearestTo(w)) {
      case Nearest::kStart:
        return Sign(Dot(w, w) - radius2_) <= 0;
      case Nearest::kEnd:
        return Sign(Dot(w - numbers_.s, w - numbers_.s) - radius2_) <= 0;
      case Nearest::kSide:
        break;
    }
    const N cross = Cross(numbers_.s, w);
    return Sign(cross * cross - radius2_ * length2_) <= 0;
  }

  // Returns whether the part of the line between the parameters `from` and `to` comes within the
  // radius of the capsule's axis. The part and the axis are segments, which are nearest at an end
  // of one of them, unless they cross. `to` may be infinite.
  bool Meets(double from, double to) {
    if (IsWithin(from) || (to < HUGE_VAL && IsWithin(to))) return true;
    const N d2 = Dot(numbers_.d, numbers_.d);
    const Vector<N> to_start = Vector<N>{} - numbers_.origin;
    if (PassesEnd(to_start, d2, from, to)) return true;
    if (is_disc_) return false;
    const Vector<N> to_end = numbers_.s - numbers_.origin;
    if (PassesEnd(to_end, d2, from, to)) return true;
    if (Sign(Cross(numbers_.d, to_start)) * Sign(Cross(numbers_.d, to_end)) > 0) return false;
    const int last = to < HUGE_VAL ? SideAt(to) : Sign(Cross(numbers_.s, numbers_.d));
    return SideAt(from) * last < 0;
  }

 private:
  int Sign(const N& value) {
    const auto [sign, is_certain] = SignOf(value);
    is_certain_ = is_certain_ && is_certain;
    return sign;
  }

  Nearest NearestTo(const Vector<N>& w) {
    if (is_disc_) return Nearest::kStart;
    const N along = Dot(w, numbers_.s);
    if (Sign(along) <= 0) return Nearest::kStart;
    return Sign(along - length2_) >= 0 ? Nearest::kEnd : Nearest::kSide;
  }

  // Returns whether the line passes an end of the axis within the capsule's radius, with its
  // nearest point at a parameter in [from, to]. `to_end` is the vector from the line's origin to
  // this end, and `d2` the squared length of the line's direction.
  bool PassesEnd(const Vector<N>& to_end, const N& d2, double from, double to) {
    const N along = Dot(to_end, numbers_.d);
    if (Sign(along - d2 * numbers_.Value(from)) < 0) return false;
    if (to < HUGE_VAL && Sign(along - d2 * numbers_.Value(to)) > 0) return false;
    const N cross = Cross(numbers_.d, to_end);
    return Sign(cross * cross - radius2_ * d2) <= 0;
  }

  const Numbers<N> numbers_;
  const bool is_disc_;
  const N radius2_;
  const N length2_;
  bool is_certain_ = true;
};

// Returns ask(predicates), computed with pairs of doubles, or with exact `Dyadic` numbers if the
// sign of a pair is uncertain.
template <class Ask>
auto Decide(const Line& line, const Capsule& capsule, const Ask& ask) {
  if (kHasFilters) {
    Predicates<BoundedPair> filter(line, capsule);
    const auto answer = ask(filter);
    if (filter.is_certain()) return answer;
  }
  Predicates<Dyadic> exact(line, capsule);
  return ask(exact);
}

// Returns whether the point of the line at parameter t is in the capsule.
bool IsWithin(const Line& line, const Capsule& capsule, double t) {
  return Decide(line, capsule, [t](auto& predicates) { return predicates.IsWithin(t); });
}

bool Meets(const Line& line, const Capsule& capsule, double from, double to) {
  return Decide(line, capsule, [&](auto& predicates) { return predicates.Meets(from, to); });
}

// Returns true only if the line certainly passes the capsule on one side without touching it, which
// a few operations on doubles can show. The relative errors of the cross products d x (c - origin),
// for the line's direction d and the ends c of the axis, and of the square root are below 16 u (u =
// `kFilterUnit`, 2^-53), by the derivation at `kCrossError`.
bool SurelyMisses(const Line& line, const Capsule& capsule) {
  const Vec2 d{line.dx.high, line.dy.high};
  const double reach = std::sqrt(d.x * d.x + d.y * d.y) * capsule.radius;
  const auto gap = [&](Vec2 c, double side) {
    const double x = d.x * (c.y - line.origin.y);
    const double y = d.y * (c.x - line.origin.x);
    return side * (x - y) - 16 * kFilterUnit * (std::abs(x) + std::abs(y));
  };
  const double enough = reach * (1 + 16 * kFilterUnit);
  const auto& [a, b] = capsule.axis;
  return kHasFilters &&
         (std::min(gap(a, 1), gap(b, 1)) > enough || std::min(gap(a, -1), gap(b, -1)) > enough);
}

// An interval of doubles that contains the rounded value of a number known within an error bound.
struct Bracket {
  double low = HUGE_VAL;
  double high = HUGE_VAL;
};

// A part of the boundary of a capsule: the circle about the start or the end of its axis, or the
// straight side right or left of the axis.
enum class Piece : uint8_t { kStart, kEnd, kRight, kLeft };

// The ends of the passage (interval) of the unbounded line inside a capsule: the least and the
// greatest parameter at which the line meets the capsule's boundary. The boundary consists of
// circles about the ends of the axis, and of two straight sides. If `is_certain()` is false, the
// numbers are estimates. The normal of a hit uses the `Piece` even then: a sign within its error
// bound means that the line is tangent, or passes where two pieces meet, so that the normals of
// both pieces agree to about 2^-50. A build without filters (`kHasFilters` is false) uses the
// piece, too, so builds with and without filters give identical bytes.
class BoundaryRoots {
 public:
  BoundaryRoots(const Line& line, const Capsule& capsule) : numbers_(line, capsule) {
    AddDisc({}, Piece::kStart);
    if (capsule.axis.a == capsule.axis.b) return;
    AddDisc(numbers_.s, Piece::kEnd);
    AddSides();
  }

  // An end of the passage, and the piece of the boundary there. The interval `at` contains a
  // number, rounded up: the least parameter t at which the line meets the boundary, or -t for the
  // greatest such t.
  struct End {
    Bracket at;
    Piece piece = Piece::kStart;
  };

  bool is_certain() const { return is_certain_; }
  bool empty() const { return first_.at.low == HUGE_VAL; }
  const End& first() const { return first_; }
  const End& minus_last() const { return minus_last_; }

 private:
  using Pair = BoundedPair;

  void Add(const Pair& begin, const Pair& end, Piece piece) {
    Lower(begin, piece, first_);
    Lower(-end, piece, minus_last_);
  }
  void Lower(const Pair& t, Piece piece, End& least) {
    Require(t.error < HUGE_VAL);
    const double low = RoundedUpEnd(t, -1) + 0.0;
    if (low < least.at.low) least.piece = piece;
    least.at.low = std::min(least.at.low, low);
    least.at.high = std::min(least.at.high, RoundedUpEnd(t, 1) + 0.0);
  }
  void Require(bool is_certain) { is_certain_ = is_certain_ && is_certain; }

  // Adds the parameters t at which the line crosses the circle about c, an end of the axis: the
  // solutions of |origin + t d - c| = radius, for the line's direction d.
  void AddDisc(const Vector<Pair>& c, Piece piece) {
    const Vector<Pair> z = c - numbers_.origin;
    const Vector<Pair>& d = numbers_.d;
    const Pair cross = Cross(z, d);
    const Pair d2 = Dot(d, d);
    const Pair discriminant = d2 * (numbers_.radius * numbers_.radius) - cross * cross;
    Require(discriminant.exceeds_error());
    if (discriminant.exceeds_error() && discriminant.sign() < 0) return;
    const Pair root = SquareRoot(discriminant);
    const Pair middle = Dot(z, d);
    Add((middle - root) / d2, (middle + root) / d2, piece);
  }

  // Adds the parameters t at which the line crosses a straight side of the capsule: the solutions
  // of (origin + t d) x s = +- radius |s| that project onto the axis, for the vector s of the axis.
  void AddSides() {
    const Vector<Pair>& s = numbers_.s;
    const Pair slope = Cross(numbers_.d, s);
    if (slope.is_zero()) return;
    Require(slope.exceeds_error());
    if (!slope.exceeds_error()) return;
    const Pair length2 = Dot(s, s);
    const Pair offset = numbers_.radius * SquareRoot(length2);
    const Pair start = Cross(numbers_.origin, s);
    for (const Piece piece : {Piece::kRight, Piece::kLeft}) {
      const Pair t = ((piece == Piece::kRight ? offset : -offset) - start) / slope;
      const Pair along = Dot(numbers_.origin, s) + t * Dot(numbers_.d, s);
      const Pair beyond = along - length2;
      Require(along.exceeds_error() && beyond.exceeds_error());
      if (along.sign() < 0 || beyond.sign() > 0) continue;
      Add(t, t, piece);
    }
  }

  const Numbers<Pair> numbers_;
  bool is_certain_ = true;
  End first_;
  End minus_last_;
};

// Returns the least double in [low, high] for which `holds` is true. `holds` is monotonic, from
// false to true, and true for `high`. Non-negative doubles are ordered like their bits.
template <class Holds>
double LeastDouble(double low, double high, const Holds& holds) {
  auto first = std::bit_cast<uint64_t>(low);
  auto last = std::bit_cast<uint64_t>(high);
  while (first < last) {
    const uint64_t middle = first + (last - first) / 2;
    if (holds(std::bit_cast<double>(middle))) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return std::bit_cast<double>(last);
}

// Returns the largest parameter to search: t_max, or the largest double for a ray without an end,
// since no capsule with accepted coordinates (at most 2^53) lies beyond this parameter.
double MostDouble(const Line& line) {
  return std::min(line.t_max, std::numeric_limits<double>::max());
}

// Returns the parameter, rounded up, at which a line enters the capsule. The line must start
// outside of the capsule and meet it.
double ExactBegin(const Line& line, const Capsule& capsule) {
  return LeastDouble(line.t_min, MostDouble(line),
                     [&](double t) { return Meets(line, capsule, line.t_min, t); });
}

// Returns the parameter, rounded down, at which a line leaves the capsule. The line must meet the
// capsule and end outside of it. The result is the double before the least parameter from which on
// the line does not meet the capsule.
double ExactEnd(const Line& line, const Capsule& capsule) {
  const double beyond = LeastDouble(line.t_min, MostDouble(line),
                                    [&](double t) { return !Meets(line, capsule, t, line.t_max); });
  return std::nextafter(beyond, -HUGE_VAL);
}

}  // namespace

bool ExactlyMeets(const Line& line, const Capsule& capsule, double from, double to) {
  return Predicates<Dyadic>(line, capsule).Meets(from, to);
}

std::optional<RoundPassage> FindRoundPassage(const Line& line, const Capsule& capsule) {
  RoundPassage passage;
  if (!line.is_point() && SurelyMisses(line, capsule)) return std::nullopt;
  passage.begin = line.t_min;
  passage.starts_inside = IsWithin(line, capsule, line.t_min);
  if (line.is_point()) {
    passage.end = line.t_min;
    passage.ends_inside = true;
    return passage.starts_inside ? std::optional(passage) : std::nullopt;
  }
  const BoundaryRoots roots(line, capsule);
  const bool is_known = kHasFilters && roots.is_certain();
  if (!passage.starts_inside) {
    if (is_known && (roots.empty() || roots.first().at.low > line.t_max)) return std::nullopt;
    if (is_known && roots.first().at.low == roots.first().at.high) {
      passage.begin = roots.first().at.high;
      if (passage.begin <= line.t_min || passage.begin > line.t_max) return std::nullopt;
    } else {
      if (!Meets(line, capsule, line.t_min, line.t_max)) return std::nullopt;
      passage.begin = ExactBegin(line, capsule);
    }
  }
  passage.ends_inside = line.t_max < HUGE_VAL && IsWithin(line, capsule, line.t_max);
  if (passage.ends_inside) {
    passage.end = line.t_max;
    return passage;
  }
  const Bracket& minus_last = roots.minus_last().at;
  passage.end = is_known && minus_last.low == minus_last.high ? -minus_last.high + 0.0
                                                              : ExactEnd(line, capsule);
  passage.end = std::max(passage.end, passage.begin);
  return passage;
}

namespace {

// Returns the unit normal of the capsule's boundary at the begin of the line's passage, its
// interval inside the capsule (`side` -1), or at the end of the passage (`side` 1). On a circle
// about c, let d be the line's direction, z = c - origin, and w = t d - z the vector from c to the
// hit point. Then w . d is `side` times the square root of |d|^2 radius^2 - (z x d)^2, and w x d =
// -(z x d). The products w . d and w x d together determine w, since d and (d.y, -d.x) are
// perpendicular; |w| is the radius.
Vec2 RoundNormalAt(const Line& line, const Capsule& capsule, int side) {
  using Pair = BoundedPair;
  const BoundaryRoots roots(line, capsule);
  const Piece piece = (side < 0 ? roots.first() : roots.minus_last()).piece;
  if (piece == Piece::kRight) return UnitNormal(capsule.axis, -1);
  if (piece == Piece::kLeft) return UnitNormal(capsule.axis, 1);
  const Numbers<Pair> numbers(line, capsule);
  const Vector<Pair> c = piece == Piece::kStart ? Vector<Pair>{} : numbers.s;
  const Vector<Pair> z = c - numbers.origin;
  const Vector<Pair>& d = numbers.d;
  const Pair cross = Cross(z, d);
  const Pair d2 = Dot(d, d);
  Pair along = SquareRoot(d2 * (numbers.radius * numbers.radius) - cross * cross);
  if (side < 0) along = -along;
  const Pair scale = d2 * numbers.radius;
  const Pair x = (along * d.x - cross * d.y) / scale;
  const Pair y = (along * d.y + cross * d.x) / scale;
  return {x.value.high + 0.0, y.value.high + 0.0};
}

}  // namespace

void MeasureRoundHit(const Line& line, const Capsule& capsule, const RoundPassage& passage,
                     const HitReport& report, CastHit& hit) {
  const auto [at_exit, detail] = report;
  hit.starts_inside = passage.starts_inside;
  hit.ends_inside = passage.ends_inside;
  hit.fraction = at_exit ? passage.end : passage.begin;
  const auto exit_normal = [&] {
    return passage.ends_inside ? Vec2{} : RoundNormalAt(line, capsule, 1);
  };
  if (detail >= CastDetail::kNormal) {
    hit.point = PointAt(line, hit.fraction);
    if (at_exit) {
      hit.normal = exit_normal();
    } else if (!passage.starts_inside) {
      hit.normal = RoundNormalAt(line, capsule, -1);
    }
  }
  if (detail < CastDetail::kExit) return;
  hit.exit_fraction = passage.end;
  hit.exit_normal = exit_normal();
}

}  // namespace carom::internal
