// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Vector arithmetic in doubles, each operation rounded once. Exact counterparts are in
// numeric/exact.h and numeric/dyadic_vec2.h.
#pragma once

#include <cmath>

#include "carom/geometry.h"

namespace carom::internal {

// Returns a - b, each coordinate rounded once.
inline Vec2 RoundedDifference(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }

// Returns the dot product of a and b, with an error of at most 2^-52 times the sum of the
// magnitudes of its two products.
inline double RoundedDot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }

// Returns |v.x| + |v.y|, rounded once. Apart from the rounding, it is an upper bound of the length
// of v.
inline double SumOfMagnitudes(Vec2 v) { return std::abs(v.x) + std::abs(v.y); }

}  // namespace carom::internal
