// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_contact.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace carom::testing {
namespace {

using Points = std::vector<RationalXy>;

Points PointsOf(const OracleConvex& shape, const RationalXy& shift) {
  Points points;
  for (const Xy p : shape.ring) points.push_back(Exact(p) + shift);
  return points;
}

RationalXy Negative(const RationalXy& v) { return {-v.x, -v.y}; }
RationalXy RightOf(const RationalXy& v) { return {v.y, -v.x}; }

Rational Highest(const Points& points, const RationalXy& n) {
  Rational best = Dot(n, points[0]);
  for (const RationalXy& p : points) best = std::max(best, Dot(n, p));
  return best;
}
Rational Lowest(const Points& points, const RationalXy& n) { return -Highest(points, Negative(n)); }

// How far the mover reaches below the top of the fixed shape along n.
Rational Overlap(const Points& fixed, const Points& mover, const RationalXy& n) {
  return Highest(fixed, n) - Lowest(mover, n);
}

RationalXy Mean(const Points& points) {
  RationalXy sum;
  for (const RationalXy& p : points) sum = sum + p;
  return Rational(1, static_cast<int>(points.size())) * sum;
}

// Directions that suffice to part any two convex sets of these vertices, and more.
Points PartingDirections(const Points& fixed, const Points& mover) {
  Points directions;
  const auto add = [&](const RationalXy& v) {
    for (const RationalXy& d : {v, Negative(v), RightOf(v), Negative(RightOf(v))}) {
      if (!IsZero(d)) directions.push_back(d);
    }
  };
  for (const Points* points : {&fixed, &mover}) {
    for (std::size_t i = 0; i < points->size(); ++i) {
      add((*points)[(i + 1) % points->size()] - (*points)[i]);
    }
  }
  // Two points have no edges.
  add(mover[0] - fixed[0]);
  return directions;
}

bool Apart(const Points& fixed, const Points& mover) {
  for (const RationalXy& n : PartingDirections(fixed, mover)) {
    if (Overlap(fixed, mover, n) < 0) return true;
  }
  return false;
}

// The shortest vector from a point of one edge to a point of the other, given that one is an end.
RationalXy FromEdge(const RationalXy& a, const RationalXy& b, const RationalXy& p) {
  const RationalXy e = b - a;
  if (IsZero(e)) return p - a;
  Rational t = Dot(p - a, e) / Dot(e, e);
  t = std::min(std::max(t, Rational(0)), Rational(1));
  return p - (a + t * e);
}

RationalXy Shortest(const Points& fixed, const Points& mover) {
  RationalXy best = mover[0] - fixed[0];
  const auto take = [&](const RationalXy& v) {
    if (Dot(v, v) < Dot(best, best)) best = v;
  };
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    for (std::size_t j = 0; j < mover.size(); ++j) {
      take(FromEdge(fixed[i], fixed[(i + 1) % fixed.size()], mover[j]));
      take(Negative(FromEdge(mover[j], mover[(j + 1) % mover.size()], fixed[i])));
    }
  }
  return best;
}

// The ends of a set of points on one line, along `direction`.
std::pair<RationalXy, RationalXy> EndsAlong(const Points& points, const RationalXy& direction) {
  const auto less = [&](const RationalXy& a, const RationalXy& b) {
    return Dot(direction, a) < Dot(direction, b);
  };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), less);
  return {*low, *high};
}

Points AllAtHeight(const Points& points, const RationalXy& up, const Rational& height) {
  Points found;
  for (const RationalXy& p : points) {
    if (Dot(up, p) == height) found.push_back(p);
  }
  return found;
}

// Whether a vertex of `other` is over the inside of an edge of `own`, at `v` from it. Vertices
// within the edge do not count.
bool FacesEdge(const Points& own, const Points& other, const RationalXy& v) {
  const auto [a, b] = EndsAlong(AllAtHeight(own, v, Highest(own, v)), RightOf(v));
  const auto [c, d] = EndsAlong(AllAtHeight(other, v, Lowest(other, v)), RightOf(v));
  for (const RationalXy& p : {c, d}) {
    const RationalXy foot = p - v;
    if (Dot(RightOf(v), foot - a) > 0 && Dot(RightOf(v), foot - b) < 0) {
      return true;
    }
  }
  return false;
}

OracleReference NearestReference(const Points& fixed, const Points& mover, const RationalXy& v) {
  if (FacesEdge(fixed, mover, v)) return OracleReference::kFixed;
  return FacesEdge(mover, fixed, Negative(v)) ? OracleReference::kMover : OracleReference::kNone;
}

// The least axis, by the contract's order of ties.
class Least {
 public:
  Least(const Points& fixed, const Points& mover) : fixed_(fixed), mover_(mover) {}

  // Tries both sides of each edge of `own` that has no vertex beyond it. `sign` turns the outer
  // normal into the direction from fixed to mover.
  void AddEdges(const Points& own, int sign) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      const RationalXy side = RightOf(own[(i + 1) % own.size()] - own[i]);
      if (IsZero(side)) continue;
      std::vector<OracleContact> sides;
      for (const RationalXy& outer : {side, Negative(side)}) {
        if (Highest(own, outer) != Dot(outer, own[i])) continue;
        const RationalXy n = Rational(sign) * outer;
        sides.push_back({n, Overlap(fixed_, mover_, n),
                         sign > 0 ? OracleReference::kFixed : OracleReference::kMover});
      }
      if (sides.size() == 2 && sides[0].core == sides[1].core) {
        sides = {IsPreferred(sides[0].normal) ? sides[0] : sides[1]};
      }
      for (const OracleContact& contact : sides) Add(contact);
    }
  }

  const std::optional<OracleContact>& best() const { return best_; }

 private:
  bool IsPreferred(const RationalXy& n) const {
    const Rational towards = Dot(n, Mean(mover_) - Mean(fixed_));
    if (towards != 0) return towards > 0;
    return n.x > 0 || (n.x == 0 && n.y > 0);
  }
  void Add(const OracleContact& contact) {
    if (best_ && contact.core * contact.core * Dot(best_->normal, best_->normal) >=
                     best_->core * best_->core * Dot(contact.normal, contact.normal)) {
      return;
    }
    best_ = contact;
  }

  const Points& fixed_;
  const Points& mover_;
  std::optional<OracleContact> best_;
};

Digits ToDigits(const Rational& value) {
  return Digits(numerator(value)) / Digits(denominator(value));
}

// The plane seen with a unit vector as up.
class Frame {
 public:
  explicit Frame(const RationalXy& up)
      : length_(sqrt(ToDigits(Dot(up, up)))),
        x_(ToDigits(up.x) / length_),
        y_(ToDigits(up.y) / length_) {}

  Digits Height(const RationalXy& v) const { return x_ * ToDigits(v.x) + y_ * ToDigits(v.y); }
  // To the left of up.
  Digits Across(const RationalXy& v) const { return x_ * ToDigits(v.y) - y_ * ToDigits(v.x); }
  const Digits& up_x() const { return x_; }
  const Digits& up_y() const { return y_; }

 private:
  Digits length_, x_, y_;
};

// The height of the lowest point of a shape on a line: of its vertices' discs and of the straight
// sides between them, all of them tried.
class LowestPoint {
 public:
  LowestPoint(const Frame& frame, const OracleConvex& shape, Digits across)
      : frame_(frame), across_(std::move(across)), radius_(shape.radius) {
    const Points points = PointsOf(shape, {});
    for (std::size_t i = 0; i < points.size(); ++i) {
      AddDisc(points[i]);
      AddSides(points[i], points[(i + 1) % points.size()]);
    }
  }

  Digits height() const { return *lowest_; }

 private:
  // The line passes through a corner of a core, of which its 400 digits may miss the last.
  Digits Slack() const { return (abs(across_) + radius_) * Digits("1e-380"); }

  void AddDisc(const RationalXy& centre) {
    const Digits away = abs(frame_.Across(centre) - across_);
    if (away > radius_ + Slack()) return;
    const Digits square = radius_ * radius_ - away * away;
    Add(frame_.Height(centre) - (square > 0 ? Digits(sqrt(square)) : Digits(0)));
  }

  void AddSides(const RationalXy& a, const RationalXy& b) {
    const Digits run = frame_.Across(b) - frame_.Across(a);
    const Digits rise = frame_.Height(b) - frame_.Height(a);
    if (Cross(b - a, {1, 0}) == 0 && Cross(b - a, {0, 1}) == 0) return;
    const Digits length = sqrt(run * run + rise * rise);
    for (const int side : {-1, 1}) {
      const Digits from = frame_.Across(a) - side * radius_ * rise / length;
      const Digits t = (across_ - from) * (run > 0 ? 1 : -1);
      if (abs(run) <= Slack() || t < -Slack() || t > abs(run) + Slack()) continue;
      Add(frame_.Height(a) + side * radius_ * run / length + (across_ - from) * rise / run);
    }
  }

  void Add(const Digits& height) {
    if (!lowest_ || height < *lowest_) lowest_ = height;
  }

  const Frame& frame_;
  Digits across_, radius_;
  std::optional<Digits> lowest_;
};

// The edge as given, of those on the line through s and v, that comes first.
std::size_t FirstEdgeOn(const Points& ring, const RationalXy& s, const RationalXy& v) {
  std::size_t i = 0;
  for (; i < ring.size(); ++i) {
    const RationalXy a = ring[i];
    const RationalXy b = ring[(i + 1) % ring.size()];
    if (!(a == b) && Cross(v - s, a - s) == 0 && Cross(v - s, b - s) == 0) break;
  }
  return i;
}

// The sign of a - b, where less than 2^-90 of both does not tell.
int CompareSteepness(const Rational& a, const Rational& b) {
  return abs(a - b) <= Exact(0x1p-90) * (a + b) ? 0 : Sign(a - b);
}

// The other end of the edge at the lowest vertex s that makes the lesser angle with the horizontal,
// of equal ones the one given first. No other vertex is as low; s itself where there is none. Sets
// `is_sliver` where two on one side of s are equally steep but for rounding.
RationalXy EndOfIncidentEdge(const Points& ring, const RationalXy& up, const RationalXy& s,
                             bool& is_sliver) {
  RationalXy best = s;
  for (const RationalXy& v : ring) {
    if (v == s) continue;
    const RationalXy to_v = v - s;
    const RationalXy to_best = best - s;
    bool is_better = best == s;
    if (!is_better && Cross(to_v, to_best) == 0) {
      is_better = Dot(to_v, to_v) > Dot(to_best, to_best);
    } else if (!is_better) {
      const Rational rise = Dot(up, to_v);
      const Rational best_rise = Dot(up, to_best);
      const int order = CompareSteepness(rise * rise * Dot(to_best, to_best),
                                         best_rise * best_rise * Dot(to_v, to_v));
      const RationalXy across = RightOf(up);
      if (order == 0 && Dot(across, to_v) * Dot(across, to_best) > 0) is_sliver = true;
      is_better = order < 0 || (order == 0 && FirstEdgeOn(ring, s, v) < FirstEdgeOn(ring, s, best));
    }
    if (is_better) best = v;
  }
  return best;
}

// The points of a contact with a reference, by its description: the ends of what the reference
// edge's side planes leave of the incident edge.
class PointsOfEdge {
 public:
  PointsOfEdge(const OracleConvex& fixed, const OracleConvex& mover, const OracleContact& contact)
      : fixed_(fixed),
        mover_(mover),
        is_fixed_(contact.reference == OracleReference::kFixed),
        frame_(contact.normal),
        outward_(is_fixed_ ? contact.normal : Negative(contact.normal)),
        along_(Negative(RightOf(outward_))) {}

  std::vector<OraclePoint> Find() {
    const Points reference = PointsOf(is_fixed_ ? fixed_ : mover_, {});
    const Points other = PointsOf(is_fixed_ ? mover_ : fixed_, {});
    const auto [p, q] =
        EndsAlong(AllAtHeight(reference, outward_, Highest(reference, outward_)), along_);
    auto [low, high] = EndsAlong(AllAtHeight(other, outward_, Lowest(other, outward_)), along_);
    const RationalXy support = low;
    bool is_sliver = false;
    if (low == high) {
      const RationalXy end = EndOfIncidentEdge(other, outward_, support, is_sliver);
      if (is_sliver) return {};
      (Dot(along_, end - support) < 0 ? low : high) = end;
    }
    if (Dot(along_, high - low) == 0) {
      AddCorner(false, support);
    } else if (Dot(along_, low - q) >= 0) {
      AddCorner(false, low);
    } else if (Dot(along_, high - p) <= 0) {
      AddCorner(false, high);
    } else {
      const bool low_is_own = Dot(along_, low - p) >= 0;
      const bool high_is_own = Dot(along_, high - q) <= 0;
      AddCorner(!low_is_own, low_is_own ? low : p);
      AddCorner(!high_is_own, high_is_own ? high : q);
    }
    if (!is_fixed_) std::reverse(points_.begin(), points_.end());
    return points_;
  }

 private:
  void AddCorner(bool is_of_reference, const RationalXy& corner) {
    // The highest point of the fixed shape is its lowest, upside down.
    const Frame down(Negative(RationalXy(is_fixed_ ? outward_ : Negative(outward_))));
    const Digits top = -LowestPoint(down, fixed_, down.Across(corner)).height();
    const Digits bottom = LowestPoint(frame_, mover_, frame_.Across(corner)).height();
    const Digits rise = (top + bottom) / 2 - frame_.Height(corner);
    points_.push_back({ToDigits(corner.x) + frame_.up_x() * rise,
                       ToDigits(corner.y) + frame_.up_y() * rise, top - bottom, is_of_reference,
                       corner});
  }

  const OracleConvex& fixed_;
  const OracleConvex& mover_;
  bool is_fixed_;
  Frame frame_;
  RationalXy outward_, along_;
  std::vector<OraclePoint> points_;
};

// A point between the discs about each two vertices that are `contact.normal` apart.
std::vector<OraclePoint> PointsOfVertices(const OracleConvex& fixed, const OracleConvex& mover,
                                          const OracleContact& contact) {
  std::vector<OraclePoint> points;
  const Frame frame(contact.normal);
  for (const RationalXy& p : PointsOf(fixed, {})) {
    for (const RationalXy& v : PointsOf(mover, {})) {
      if (contact.core != 0 ? !(v - p == contact.normal) : !(v == p)) continue;
      const Digits top = frame.Height(p) + fixed.radius;
      const Digits bottom = frame.Height(v) - mover.radius;
      const Digits rise = (top + bottom) / 2 - frame.Height(v);
      points.push_back({ToDigits(v.x) + frame.up_x() * rise, ToDigits(v.y) + frame.up_y() * rise,
                        top - bottom, false, v});
    }
  }
  return points;
}

}  // namespace

std::optional<OracleContact> OracleContactOf(const OracleConvex& fixed, const OracleConvex& mover) {
  const Points a = PointsOf(fixed, {});
  const Points b = PointsOf(mover, {});
  const Rational reach = Exact(fixed.radius) + Exact(mover.radius);
  if (Apart(a, b)) {
    const RationalXy v = Shortest(a, b);
    if (Dot(v, v) > reach * reach) return std::nullopt;
    return OracleContact{v, -Dot(v, v), NearestReference(a, b, v)};
  }
  Least least(a, b);
  least.AddEdges(a, 1);
  least.AddEdges(b, -1);
  if (!least.best()) return OracleContact{{1, 0}, 0};
  return least.best();
}

Rational OracleCoreDistance2(const OracleConvex& fixed, const OracleConvex& mover,
                             const RationalXy& shift) {
  const Points a = PointsOf(fixed, {});
  const Points b = PointsOf(mover, shift);
  if (!Apart(a, b)) return 0;
  const RationalXy v = Shortest(a, b);
  return Dot(v, v);
}

bool OracleCoresApart(const OracleConvex& fixed, const OracleConvex& mover,
                      const RationalXy& shift) {
  return Apart(PointsOf(fixed, {}), PointsOf(mover, shift));
}

std::vector<OraclePoint> OraclePointsOf(const OracleConvex& fixed, const OracleConvex& mover,
                                        const OracleContact& contact) {
  if (contact.reference == OracleReference::kNone) return PointsOfVertices(fixed, mover, contact);
  return PointsOfEdge(fixed, mover, contact).Find();
}

int CompareToQuotient(const Rational& x, const Rational& n, const Rational& d) {
  const int sign_x = Sign(x);
  const int sign_n = Sign(n);
  if (sign_x != sign_n) return sign_x > sign_n ? 1 : -1;
  return sign_x * Sign(x * x * d - n * n);
}

}  // namespace carom::testing
