// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/oracle_lint_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

namespace carom::testing {

Rational Square(const RationalXy& vector) { return Dot(vector, vector); }

Xy Rounded(const RationalXy& point) { return {NearestDouble(point.x), NearestDouble(point.y)}; }

double NearestRoot(const Rational& square) { return std::sqrt(NearestDouble(square)); }

RationalXy LintSegment::Nearest(const RationalXy& point) const {
  const RationalXy from = Exact(a);
  const RationalXy along = Exact(b) - from;
  if (IsZero(along)) return from;
  const Rational t = Dot(point - from, along) / Dot(along, along);
  if (t <= 0) return from;
  if (t >= 1) return Exact(b);
  return from + t * along;
}

int LintSegment::Winding(const RationalXy& point) const {
  const RationalXy from = Exact(a);
  const RationalXy to = Exact(b);
  if ((from.y > point.y) == (to.y > point.y)) return 0;
  const Rational x = from.x + (point.y - from.y) / (to.y - from.y) * (to.x - from.x);
  if (x <= point.x) return 0;
  return to.y > from.y ? 1 : -1;
}

std::vector<RationalXy> SharedPoints(const LintSegment& a, const LintSegment& b) {
  const RationalXy p = Exact(a.a);
  const RationalXy d = Exact(a.b) - p;
  const RationalXy q = Exact(b.a);
  const RationalXy e = Exact(b.b) - q;
  const Rational cross = Cross(d, e);
  if (cross != 0) {
    const Rational t = Cross(q - p, e) / cross;
    const Rational u = Cross(q - p, d) / cross;
    if (t < 0 || t > 1 || u < 0 || u > 1) return {};
    return {p + t * d};
  }
  if (Cross(q - p, d) != 0 || Cross(q - p, e) != 0) return {};
  const auto less = [](const RationalXy& l, const RationalXy& r) {
    return l.x != r.x ? l.x < r.x : l.y < r.y;
  };
  const RationalXy low = std::max(std::min(p, p + d, less), std::min(q, q + e, less), less);
  const RationalXy high = std::min(std::max(p, p + d, less), std::max(q, q + e, less), less);
  if (less(high, low)) return {};
  if (low == high) return {low};
  return {low, high};
}

bool LintBody::Fills(const RationalXy& point) const {
  if (hollow) return false;
  int winding = 0;
  for (const LintSegment& edge : edges) {
    if (edge.Distance2(point) == 0) return false;
    winding += edge.Winding(point);
  }
  return fill == OracleFill::kEvenOdd ? winding % 2 != 0 : winding != 0;
}

LintScenery::LintScenery(const std::vector<OraclePolygon>& scene) {
  std::vector<OraclePolygon> sorted = scene;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  bodies.reserve(sorted.size());
  for (const OraclePolygon& polygon : sorted) {
    LintBody& body = bodies.emplace_back();
    body.id = polygon.id;
    body.hollow = polygon.solidity == OracleSolidity::kBoundary;
    body.fill = polygon.fill;
    body.category = polygon.category;
    body.first = Flushed(polygon.rings[0].points[0]);
    for (std::uint32_t r = 0; r < polygon.rings.size(); ++r) {
      LintRing& ring = rings.emplace_back();
      ring.of = &body;
      ring.number = r;
      ring.open = polygon.rings[r].open;
      for (const Xy p : polygon.rings[r].points) ring.points.push_back(Flushed(p));
      if (!ring.open && ring.points.size() > 1 && ring.points.front() == ring.points.back()) {
        ring.points.pop_back();
      }
      const std::size_t n = ring.points.size();
      const std::size_t count = ring.open && n > 1 ? n - 1 : n;
      for (std::size_t i = 0; i < count; ++i) {
        ring.edges.push_back({ring.Name(i), ring.points[i], ring.points[(i + 1) % n]});
        edges.push_back(ring.edges.back());
        body.edges.push_back(ring.edges.back());
      }
      for (std::size_t i = 0; i < n; ++i) {
        const OracleEdge name = ring.Name(i);
        const auto [at, added] =
            places.try_emplace({ring.points[i].x + 0.0, ring.points[i].y + 0.0}, name);
        at->second = std::min(at->second, name);
      }
    }
  }
}

bool LintScenery::AreConsecutive(const LintSegment& a, const LintSegment& b) const {
  for (const LintRing& ring : rings) {
    const std::size_t n = ring.edges.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + 1 == n && ring.open) continue;
      const OracleEdge& first = ring.edges[i].name;
      const OracleEdge& second = ring.edges[(i + 1) % n].name;
      if ((first == a.name && second == b.name) || (first == b.name && second == a.name)) {
        return true;
      }
    }
  }
  return false;
}

// Edges are connected, so if none meets an edge of the other polygon, one point of each decides.
bool LintScenery::IsInside(const LintBody& inner, const LintBody& outer) const {
  for (const LintSegment& a : inner.edges) {
    if (!outer.Fills(Exact(a.a))) return false;
    for (const LintSegment& b : outer.edges) {
      if (!SharedPoints(a, b).empty()) return false;
    }
  }
  for (const LintSegment& b : outer.edges) {
    if (inner.Fills(Exact(b.a))) return false;
  }
  return true;
}

bool LintScenery::AreTwins(const LintBody& a, const LintBody& b) const {
  using Edge = std::pair<std::pair<double, double>, std::pair<double, double>>;
  const auto edges_of = [](const LintBody& body) {
    std::multiset<Edge> result;
    for (const LintSegment& edge : body.edges) {
      const std::pair p(edge.a.x, edge.a.y);
      const std::pair q(edge.b.x, edge.b.y);
      result.emplace(std::min(p, q), std::max(p, q));
    }
    return result;
  };
  return a.hollow == b.hollow && a.fill == b.fill && a.category == b.category &&
         edges_of(a) == edges_of(b);
}

std::vector<LintGap> LintScenery::Gaps(double radius) const {
  std::vector<LintGap> gaps;
  std::set<std::pair<OracleEdge, OracleEdge>> pairs;
  const Rational limit = 4 * Exact(radius) * Exact(radius);
  for (const auto& [place, name] : places) {
    const Xy v{place.first, place.second};
    for (const LintSegment& edge : edges) {
      const RationalXy q = edge.Nearest(Exact(v));
      const Rational square = Square(q - Exact(v));
      if (square == 0 || square >= limit) continue;
      const RationalXy middle = Rational(1) / 2 * (Exact(v) + q);
      const bool blocked = std::any_of(edges.begin(), edges.end(), [&](const LintSegment& g) {
        return 4 * g.Distance2(middle) < square;
      });
      if (blocked) continue;
      if (std::any_of(bodies.begin(), bodies.end(),
                      [&](const LintBody& body) { return body.Fills(middle); })) {
        continue;
      }
      const auto end = places.find({NearestDouble(q.x) + 0.0, NearestDouble(q.y) + 0.0});
      if (end != places.end() && (q == Exact(edge.a) || q == Exact(edge.b))) {
        if (end->second < name || !pairs.emplace(name, end->second).second) continue;
        gaps.push_back({name, end->second, v, q});
      } else {
        gaps.push_back({name, edge.name, v, q});
      }
    }
  }
  return gaps;
}

}  // namespace carom::testing
