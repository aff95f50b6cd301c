// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Vectors with dyadic coordinates: sums, differences and products are exact.
#pragma once

#include "carom/geometry.h"
#include "numeric/dyadic.h"

namespace carom::internal {

// A vector with exact (dyadic) coordinates.
struct DyadicVec2 {
  Dyadic x;
  Dyadic y;

  friend DyadicVec2 operator-(const DyadicVec2& a, const DyadicVec2& b) {
    return {a.x - b.x, a.y - b.y};
  }
};

// Returns a - b, exactly.
inline DyadicVec2 DyadicDifference(Vec2 a, Vec2 b) {
  return {Dyadic(a.x) - Dyadic(b.x), Dyadic(a.y) - Dyadic(b.y)};
}

// Returns the cross product a.x b.y - a.y b.x, exactly.
inline Dyadic Cross(const DyadicVec2& a, const DyadicVec2& b) { return a.x * b.y - a.y * b.x; }
// Returns the dot product, exactly.
inline Dyadic Dot(const DyadicVec2& a, const DyadicVec2& b) { return a.x * b.x + a.y * b.y; }

}  // namespace carom::internal
