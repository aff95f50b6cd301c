// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Detail of one closed ring in exact rationals, by definition: area and centroid by a fan of
// triangles, convexity by the hull, the smallest circle by trying all pairs and triples of
// vertices. Start with `RingArea`. Shares no code with the core.
#pragma once

#include <optional>
#include <vector>

#include "tests/support/exact.h"

namespace carom::testing {

/// Returns the signed area: counter-clockwise is positive.
Rational RingArea(const std::vector<Xy>& ring);

/// Returns the mean of the vertices, of which there is one at least.
RationalXy RingMean(const std::vector<Xy>& ring);

/// Returns the centroid of the signed area; nothing where that is 0.
std::optional<RationalXy> RingCentroid(const std::vector<Xy>& ring);

/// Returns whether the ring goes round the boundary of the hull of its vertices once, in one
/// direction, or lies on one line.
bool RingIsConvex(const std::vector<Xy>& ring);

struct RationalCircle {
  RationalXy center;
  Rational squared_radius;
};

/// Returns the smallest circle that holds all vertices, of which there is one at least. O(n^4).
RationalCircle RingCircle(const std::vector<Xy>& ring);

}  // namespace carom::testing
