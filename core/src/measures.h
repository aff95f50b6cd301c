// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Measures of exact verdicts: hit points and normals, with their error bounds.
#pragma once

#include "carom/geometry.h"

namespace carom::internal {

// a + t(b - a). With M the largest coordinate magnitude, t errs by 2^-54 at most (half an ulp, in
// [0, 1]), which moves the point by 2^-54 * 2M <= 1 ulp(M); the sum here is within half an ulp of
// its own, plus terms of order u^2: 1.5 ulp(M) in all.
Vec2 PointAt(const Segment& segment, double t);

// The unit vector perpendicular to `edge` (of length > 0) with normal . direction > 0, for a
// direction that is not parallel to it; `side` is the sign of (edge.b - edge.a) x direction.
// Computed in pairs of doubles (relative error below 2^-98) and rounded once: each component is
// within 1 ulp of exact. Never -0.
Vec2 UnitNormal(const Segment& edge, int side);

}  // namespace carom::internal
