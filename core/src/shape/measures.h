// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Measures of exact verdicts: hit points and normals, with their error bounds.
#pragma once

#include "carom/geometry.h"
#include "shape/line.h"

namespace carom::internal {

// The point of a line at t; at 0 and 1 exactly the ends of a segment. It errs, beside what t errs,
// by half an ulp of its own and terms of order u^2. With M the largest coordinate magnitude of both
// ends, t of a segment errs by 2^-54 at most (half an ulp, in [0, 1]), which moves the point by
// 2^-54 * 2M <= 1 ulp(M): 1.5 ulp(M) in all. A ray's t errs by 2^-53 t at most; with M the largest
// magnitude of the origin and of the exact point, |t * direction| <= 2M, which moves the point by
// 2 ulp(M): 2.5 ulp(M) in all.
Vec2 PointAt(const Line& line, double t);

// The unit vector perpendicular to `edge` (of length > 0) with normal . direction > 0, for a
// direction that is not parallel to it; `side` is the sign of (edge.b - edge.a) x direction.
// Never -0. Each component is the nearest double wherever rounding is certain, which fails once in
// 2^40 edges; there, and in every case within 1 ulp of exact, it is that of `UnitNormalOfPairs`.
Vec2 UnitNormal(const Segment& edge, int side);

// The same, computed in pairs of doubles (relative error below 2^-98) and rounded once.
Vec2 UnitNormalOfPairs(const Segment& edge, int side);

// The direction of the line, reflected about the normal of `edge` (of length > 0): with e the edge
// and d the direction, 2 (d . e) e / e^2 - d, as the quotient of
//     d.x (e.x^2 - e.y^2) + 2 d.y e.x e.y   and   2 d.x e.x e.y - d.y (e.x^2 - e.y^2)
// by e^2. In pairs of doubles each product and each sum errs by less than 2^-100 of the magnitudes
// of its terms, which are at most 2 |d| e^2: the quotient is rounded once and errs by half an ulp
// and 2^-96 |d|, less than 1 ulp of |d|. Exact zeros come out as 0 where the products fit pairs of
// doubles. Never -0.
Vec2 Reflected(const Line& line, const Segment& edge);

// The same about a unit normal, each component within 8 ulp of |d|: two units of the normal's own
// rounding count four times, and the product and the difference are rounded.
Vec2 Reflected(const Line& line, Vec2 normal);

}  // namespace carom::internal
