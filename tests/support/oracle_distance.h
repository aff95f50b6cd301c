// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Distances by definition, in rationals: the least value of the squared distance of two edges over
// the square of their parameters, for every pair of edges. Start with `Nearness`.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tests/support/exact.h"
#include "tests/support/oracle.h"

namespace carom::testing {

/// How near a polygon is to a mover, the core of which is a polygon or an axis (an open chain).
struct OracleNearness {
  /// For each edge of the polygon, its squared distance from the edges of the mover.
  std::vector<Rational> edges2;
  /// The squared distance of the closed sets; 0 where they share a point.
  Rational square;
  /// The first ring that starts in the other shape, where no edges share a point.
  std::optional<std::size_t> mover_ring;
  std::optional<std::size_t> polygon_ring;
};
OracleNearness Nearness(const OracleShape& polygon, const OracleShape& mover);

/// Returns the squared distance from a point to an edge, or to the closed set.
Rational SquaredDistance(const RationalXy& point, const OracleShape::Edge& edge);
Rational SquaredDistance(const RationalXy& point, const OracleShape& shape);

/// Returns the sign of √square − length, length ≥ 0.
int CompareRoot(const Rational& square, const Rational& length);

/// Returns whether `value` is a double nearest to √square − radii, which is above 0.
bool IsNearestToRoot(double value, const Rational& square, const Rational& radii);

}  // namespace carom::testing
