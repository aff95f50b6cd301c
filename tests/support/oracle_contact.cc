// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_contact.h"

#include <algorithm>
#include <cstddef>

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
        sides.push_back({n, Overlap(fixed_, mover_, n)});
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

}  // namespace

std::optional<OracleContact> OracleContactOf(const OracleConvex& fixed, const OracleConvex& mover) {
  const Points a = PointsOf(fixed, {});
  const Points b = PointsOf(mover, {});
  const Rational reach = Exact(fixed.radius) + Exact(mover.radius);
  if (Apart(a, b)) {
    const RationalXy v = Shortest(a, b);
    if (Dot(v, v) > reach * reach) return std::nullopt;
    return OracleContact{v, -Dot(v, v)};
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

int CompareToQuotient(const Rational& x, const Rational& n, const Rational& d) {
  const int sign_x = Sign(x);
  const int sign_n = Sign(n);
  if (sign_x != sign_n) return sign_x > sign_n ? 1 : -1;
  return sign_x * Sign(x * x * d - n * n);
}

}  // namespace carom::testing
