// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Points and overlaps of the oracle. Two closed shapes whose edges do not meet share a point iff a
// ring of one lies in the other: walking from a shared point until some edge is met ends on a ring
// that is wholly inside. So edges against edges and then one vertex of each ring is a complete
// test.
#include "tests/support/oracle.h"

#include <algorithm>
#include <cmath>

#include "tests/support/oracle_distance.h"

namespace carom::testing {
namespace {

// Returns whether two closed segments share a point: a proper crossing, or an end of one on the
// other.
bool EdgesMeet(const OracleShape::Edge& a, const OracleShape::Edge& b) {
  const RationalXy p = Exact(a.from), q = Exact(a.to), r = Exact(b.from), s = Exact(b.to);
  const auto side = [](const RationalXy& from, const RationalXy& to, const RationalXy& point) {
    return Sign(Cross(to - from, point - from));
  };
  const auto between = [](const RationalXy& from, const RationalXy& to, const RationalXy& point) {
    return Sign(Dot(from - point, to - point)) <= 0;
  };
  const int r_side = side(p, q, r), s_side = side(p, q, s), p_side = side(r, s, p),
            q_side = side(r, s, q);
  if (r_side * s_side < 0 && p_side * q_side < 0) return true;
  return (r_side == 0 && between(p, q, r)) || (s_side == 0 && between(p, q, s)) ||
         (p_side == 0 && between(r, s, p)) || (q_side == 0 && between(r, s, q));
}

// Returns whether the static edge meets an edge of `mover`, or lies in its filled part.
bool EdgeMeetsShape(const OracleShape::Edge& edge, const OracleShape& mover) {
  if (!BoxesMeet(edge.box, mover.box())) return false;
  for (const OracleShape::Edge& other : mover.edges()) {
    if (BoxesMeet(edge.box, other.box) && EdgesMeet(edge, other)) return true;
  }
  return mover.Locate(edge.from) != OraclePlace::kOutside;
}

bool HoldsRingOf(const OracleShape& outer, const OracleShape& inner) {
  return std::any_of(inner.ring_starts().begin(), inner.ring_starts().end(),
                     [&](Xy start) { return outer.Locate(start) != OraclePlace::kOutside; });
}

// Returns a box of doubles around the disc.
OracleBox BoxOfDisc(Xy centre, double radius) {
  const auto down = [](double value) { return std::nextafter(value, -kInf); };
  const auto up = [](double value) { return std::nextafter(value, kInf); };
  return {{down(centre.x - radius), down(centre.y - radius)},
          {up(centre.x + radius), up(centre.y + radius)}};
}

}  // namespace

Oracle::Oracle(const std::vector<OraclePolygon>& polygons) {
  for (const OraclePolygon& polygon : polygons) shapes_.emplace_back(polygon);
  std::sort(shapes_.begin(), shapes_.end(),
            [](const OracleShape& a, const OracleShape& b) { return a.id() < b.id(); });
}

OraclePointAnswer Oracle::Point(Xy p, std::uint64_t mask) const {
  OraclePointAnswer answer;
  for (const OracleShape& shape : shapes_) {
    if ((shape.category() & mask) == 0) continue;
    const OraclePlace place = shape.Locate(p);
    if (place == OraclePlace::kInside) answer.in.push_back(shape.id());
    if (place == OraclePlace::kBoundary) answer.on.push_back(shape.id());
  }
  return answer;
}

OracleOverlapAnswer Oracle::Circle(Xy centre, double radius, std::uint64_t mask) const {
  const Xy at = Flushed(centre);
  const double reach = Flushed(radius);
  const RationalXy exact_at = Exact(at);
  const Rational exact_squared_radius = Exact(reach) * Exact(reach);
  const OracleBox box = BoxOfDisc(at, reach);
  OracleOverlapAnswer answer;
  for (const OracleShape& shape : shapes_) {
    if ((shape.category() & mask) == 0 || !BoxesMeet(box, shape.box())) continue;
    bool overlaps = false, comes_closer = false;
    for (const OracleShape::Edge& edge : shape.edges()) {
      if (!BoxesMeet(box, edge.box)) continue;
      const Rational squared = SquaredDistance(exact_at, edge);
      if (squared > exact_squared_radius) continue;
      answer.edges.push_back(edge.name);
      overlaps = true;
      comes_closer |= squared < exact_squared_radius;
    }
    if (shape.Locate(at) != OraclePlace::kOutside) {
      overlaps = true;
      comes_closer = reach > 0.0;
    }
    if (overlaps) answer.ids.push_back(shape.id());
    if (overlaps && !comes_closer) answer.touch.push_back(shape.id());
  }
  return answer;
}

OracleOverlapAnswer Oracle::Overlap(const OraclePolygon& mover, std::uint64_t mask) const {
  const OracleShape moving(mover);
  OracleOverlapAnswer answer;
  for (const OracleShape& shape : shapes_) {
    if ((shape.category() & mask) == 0 || !BoxesMeet(moving.box(), shape.box())) continue;
    bool overlaps = false;
    for (const OracleShape::Edge& edge : shape.edges()) {
      if (!EdgeMeetsShape(edge, moving)) continue;
      answer.edges.push_back(edge.name);
      overlaps = true;
    }
    if (overlaps || HoldsRingOf(shape, moving)) answer.ids.push_back(shape.id());
  }
  return answer;
}

}  // namespace carom::testing
