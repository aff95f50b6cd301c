// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes hit points, normals and reflected directions, with error bounds, after exact predicates
// have decided that there is a hit.
#pragma once

#include "carom/geometry.h"
#include "shape/line.h"

namespace carom::internal {

// Returns the point of a line at the parameter t; at 0 and 1 exactly the ends of a segment. Apart
// from the error of t, the point errs by half an ulp of each coordinate and terms of order u^2 (u =
// 2^-53). For a segment, t errs by 2^-54 at most (half an ulp, in [0, 1]). With M the largest
// coordinate magnitude of both ends, this moves the point by 2^-54 * 2M <= 1 ulp(M), so the error
// is 1.5 ulp(M) in all. For a ray, t errs by 2^-53 t at most. With M the largest coordinate
// magnitude of the origin and of the exact point, |t * direction| <= 2M, so the error of t moves
// the point by 2 ulp(M), and the error is 2.5 ulp(M) in all.
Vec2 PointAt(const Line& line, double t);

// Returns the unit vector perpendicular to `edge` (of length > 0) on the side of a direction that
// is not parallel to the edge: normal . direction > 0. `side` is the sign of (edge.b - edge.a) x
// direction. Never -0. Each component is the nearest double where its rounding is certain; for
// about one edge in 2^40 the rounding is not certain, and the result is that of
// `UnitNormalOfPairs`. Each component is always within 1 ulp of the exact one.
Vec2 UnitNormal(const Segment& edge, int side);

// Returns the result of `UnitNormal` computed in pairs of doubles (relative error below 2^-98) and
// rounded once.
Vec2 UnitNormalOfPairs(const Segment& edge, int side);

// Returns the direction of the line, reflected about the normal of `edge` (of length > 0). With e
// the edge as a vector and d the direction of the line, it is 2 (d . e) e / e^2 - d, computed as
// the quotient of
//     d.x (e.x^2 - e.y^2) + 2 d.y e.x e.y   and   2 d.x e.x e.y - d.y (e.x^2 - e.y^2)
// by e^2. In pairs of doubles, each product and each sum errs by less than 2^-100 of the magnitudes
// of its terms, which are at most 2 |d| e^2. The quotient is rounded once, so it errs by half an
// ulp and 2^-96 |d|, which is less than 1 ulp of |d|. A component that is exactly 0 is returned as
// 0 if the products fit into pairs of doubles. Never -0.
Vec2 Reflected(const Line& line, const Segment& edge);

// Returns the direction d of the line, reflected about a unit normal: d - 2 (d . normal) normal.
// Each component is within 8 ulp of |d|: the rounding error of the given normal, up to two units of
// 2^-53, counts four times, and the product and the difference are rounded.
Vec2 Reflected(const Line& line, Vec2 normal);

}  // namespace carom::internal
