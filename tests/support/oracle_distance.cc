// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_distance.h"

#include <cmath>

namespace carom::testing {
namespace {

// Returns the parameter in [0, 1] of the point of from + t along that is nearest to `point`.
Rational NearestParameter(const RationalXy& point, const RationalXy& from,
                          const RationalXy& along) {
  if (IsZero(along)) return 0;
  const Rational t = Dot(point - from, along) / Dot(along, along);
  return t < 0 ? Rational(0) : t > 1 ? Rational(1) : t;
}

// The squared distance is a convex quadratic of the two parameters: its least value is 0 where the
// lines cross within both edges, else it is taken where one parameter is 0 or 1.
Rational SquaredDistance(const OracleShape::Edge& e, const OracleShape::Edge& f) {
  const RationalXy e_from = Exact(e.from);
  const RationalXy f_from = Exact(f.from);
  const RationalXy e_along = Exact(e.to) - e_from;
  const RationalXy f_along = Exact(f.to) - f_from;
  const Rational turn = Cross(e_along, f_along);
  if (Sign(turn) != 0) {
    const Rational s = Cross(f_from - e_from, f_along) / turn;
    const Rational t = Cross(f_from - e_from, e_along) / turn;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) return 0;
  }
  Rational least = SquaredDistance(e_from, f);
  for (const Rational& other :
       {carom::testing::SquaredDistance(Exact(e.to), f), carom::testing::SquaredDistance(f_from, e),
        carom::testing::SquaredDistance(Exact(f.to), e)}) {
    if (other < least) least = other;
  }
  return least;
}

std::optional<std::size_t> FirstRingIn(const OracleShape& outer, const OracleShape& inner) {
  for (std::size_t ring = 0; ring < inner.ring_starts().size(); ++ring) {
    if (outer.Locate(inner.ring_starts()[ring]) != OraclePlace::kOutside) return ring;
  }
  return std::nullopt;
}

}  // namespace

Rational SquaredDistance(const RationalXy& point, const OracleShape::Edge& edge) {
  const RationalXy from = Exact(edge.from);
  const RationalXy along = Exact(edge.to) - from;
  const RationalXy gap = from + NearestParameter(point, from, along) * along - point;
  return Dot(gap, gap);
}

Rational SquaredDistance(const RationalXy& point, const OracleShape& shape) {
  if (shape.Locate(point) != OraclePlace::kOutside) return 0;
  Rational least = SquaredDistance(point, shape.edges()[0]);
  for (const OracleShape::Edge& edge : shape.edges()) {
    const Rational square = SquaredDistance(point, edge);
    if (square < least) least = square;
  }
  return least;
}

OracleNearness Nearness(const OracleShape& polygon, const OracleShape& mover) {
  OracleNearness result;
  for (const OracleShape::Edge& edge : polygon.edges()) {
    Rational least = SquaredDistance(edge, mover.edges()[0]);
    for (const OracleShape::Edge& other : mover.edges()) {
      const Rational square = SquaredDistance(edge, other);
      if (square < least) least = square;
    }
    if (result.edges2.empty() || least < result.square) result.square = least;
    result.edges2.push_back(least);
  }
  if (Sign(result.square) == 0) return result;
  result.mover_ring = FirstRingIn(polygon, mover);
  result.polygon_ring = FirstRingIn(mover, polygon);
  if (result.mover_ring || result.polygon_ring) result.square = 0;
  return result;
}

int CompareRoot(const Rational& square, const Rational& length) {
  return Sign(square - length * length);
}

bool IsNearestToRoot(double value, const Rational& square, const Rational& radii) {
  const Rational exact = Exact(value);
  const Rational low = (exact + Exact(std::nextafter(value, 0))) / 2;
  const Rational high = (exact + Exact(std::nextafter(value, kInf))) / 2;
  return value > 0 && CompareRoot(square, radii + low) >= 0 &&
         CompareRoot(square, radii + high) <= 0;
}

}  // namespace carom::testing
