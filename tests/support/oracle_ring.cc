// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_ring.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace carom::testing {
namespace {

Rational FanTriangle(const std::vector<Xy>& ring, std::size_t i) {
  const RationalXy corner = Exact(ring[0]);
  return Cross(Exact(ring[i]) - corner, Exact(ring[i + 1]) - corner) / 2;
}

bool IsSmaller(const RationalXy& a, const RationalXy& b) {
  return a.x < b.x || (a.x == b.x && a.y < b.y);
}

// Wraps the hull counter-clockwise: from each corner to the point that has all others on its left,
// the farthest of those.
std::vector<RationalXy> HullOf(const std::vector<RationalXy>& points) {
  std::vector<RationalXy> hull{*std::min_element(points.begin(), points.end(), IsSmaller)};
  for (;;) {
    const RationalXy from = hull.back();
    RationalXy next = from;
    for (const RationalXy& p : points) {
      const RationalXy best = next - from, candidate = p - from;
      const int side = Sign(Cross(best, candidate));
      if (IsZero(best) || side < 0 ||
          (side == 0 && Dot(candidate, candidate) > Dot(best, best) && Dot(candidate, best) > 0)) {
        if (!IsZero(candidate)) next = p;
      }
    }
    if (next == hull.front() || next == from) return hull;
    hull.push_back(next);
  }
}

// Where a point is along the boundary of the hull: an edge's number and the part of it passed.
using Position = std::pair<std::size_t, Rational>;

std::optional<Position> PositionOn(const std::vector<RationalXy>& hull, const RationalXy& p) {
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const RationalXy from = hull[i], along = hull[(i + 1) % hull.size()] - from;
    const RationalXy to_p = p - from;
    if (Sign(Cross(along, to_p)) != 0) continue;
    const Rational part = Dot(to_p, along) / Dot(along, along);
    if (part >= 0 && part < 1) return Position{i, part};
  }
  return std::nullopt;
}

bool Holds(const RationalCircle& circle, const std::vector<RationalXy>& points) {
  return std::all_of(points.begin(), points.end(), [&](const RationalXy& p) {
    return Dot(p - circle.center, p - circle.center) <= circle.squared_radius;
  });
}

// The centre has the same distance to a, b and c: two linear equations, by Cramer's rule.
std::optional<RationalXy> CenterThrough(const RationalXy& a, const RationalXy& b,
                                        const RationalXy& c) {
  const RationalXy first = b - a, second = c - a;
  const Rational determinant = Cross(first, second);
  if (Sign(determinant) == 0) return std::nullopt;
  const Rational right_1 = (Dot(b, b) - Dot(a, a)) / 2, right_2 = (Dot(c, c) - Dot(a, a)) / 2;
  return RationalXy{(right_1 * second.y - right_2 * first.y) / determinant,
                    (first.x * right_2 - second.x * right_1) / determinant};
}

}  // namespace

Rational RingArea(const std::vector<Xy>& ring) {
  Rational sum = 0;
  for (std::size_t i = 1; i + 1 < ring.size(); ++i) sum += FanTriangle(ring, i);
  return sum;
}

RationalXy RingMean(const std::vector<Xy>& ring) {
  RationalXy sum{0, 0};
  for (Xy p : ring) sum = sum + Exact(p);
  return Rational(1) / Rational(ring.size()) * sum;
}

std::optional<RationalXy> RingCentroid(const std::vector<Xy>& ring) {
  const Rational area = RingArea(ring);
  if (Sign(area) == 0) return std::nullopt;
  RationalXy sum{0, 0};
  for (std::size_t i = 1; i + 1 < ring.size(); ++i) {
    const RationalXy corners = Exact(ring[0]) + Exact(ring[i]) + Exact(ring[i + 1]);
    sum = sum + FanTriangle(ring, i) * corners;
  }
  return Rational(1) / (3 * area) * sum;
}

bool RingIsConvex(const std::vector<Xy>& ring) {
  std::vector<RationalXy> points;
  for (Xy p : ring) points.push_back(Exact(p));
  if (points.empty()) return false;
  const std::vector<RationalXy> hull = HullOf(points);
  if (hull.size() < 3) return true;
  std::vector<Position> positions;
  for (const RationalXy& p : points) {
    const std::optional<Position> position = PositionOn(hull, p);
    if (!position) return false;
    positions.push_back(*position);
  }
  int falls = 0, rises = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Position& next = positions[(i + 1) % positions.size()];
    falls += next < positions[i];
    rises += positions[i] < next;
  }
  return falls == 1 || rises == 1;
}

RationalCircle RingCircle(const std::vector<Xy>& ring) {
  std::vector<RationalXy> points;
  for (Xy p : ring) points.push_back(Exact(p));
  std::optional<RationalCircle> best;
  const auto consider = [&](const RationalXy& center, const RationalXy& on_it) {
    const RationalCircle circle{center, Dot(on_it - center, on_it - center)};
    if (best && best->squared_radius <= circle.squared_radius) return;
    if (Holds(circle, points)) best = circle;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i; j < points.size(); ++j) {
      consider(Rational(1) / 2 * (points[i] + points[j]), points[i]);
      for (std::size_t k = j + 1; k < points.size(); ++k) {
        const auto center = CenterThrough(points[i], points[j], points[k]);
        if (center) consider(*center, points[i]);
      }
    }
  }
  return *best;
}

}  // namespace carom::testing
