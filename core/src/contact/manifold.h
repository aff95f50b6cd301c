// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where two convex shapes touch along their axis.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/work_meter.h"
#include "contact/separating_axis.h"
#include "shape/convex_core.h"

namespace carom::internal {

// The unit vector from a to b, which differ; each component within 1 ulp. Never -0.
Vec2 UnitVector(Vec2 a, Vec2 b);

// Whether `a` makes a larger angle with the line of `reference` than `b` (1), a smaller one (-1),
// or the same (0). Compares squared sines, which count as equal within 2^-90.
int CompareAngles(const Segment& reference, const Segment& a, const Segment& b);

// The contact of two convex shapes; nothing if they share no point (exact). Counts on `meter` as it
// goes; meaningless once that has stopped.
//
// Its points: under an EDGE axis the other core's edge at the support vertex (of two, the one more
// nearly parallel to the reference edge, then the lower index; squared sines of the angles count as
// equal within 2^-90) is cut to the reference edge's side planes. What is left has one end or two;
// each is a vertex of one core facing an edge of the other, after which its features are named. On
// the line along the normal through such an end, the point lies midway between the surfaces of the
// two shapes, radii included, and its depth is how far they overlap; ends where the other surface
// is above the reference surface are dropped. Two points are in the order of the normal turned
// counter-clockwise by a right angle.
//
// A point errs by at most 8 ulp of M, the largest coordinate or radius. It is the corner v on its
// line plus normal * shift, and v to the other surface is a chord of two points within 2.9 M + M of
// each other, so |shift| <= 1.92 M, and the four roundings of its terms (each of at most 3.9 M, two
// ulp(M), halved) err by 4 ulp(M). The normal's component (2^-53) moves it by 1.92 ulp(M) at most,
// rounding the product and the sum by one each.
std::optional<Contact> ConvexContact(const ConvexCore& fixed, const ConvexCore& mover,
                                     WorkMeter& meter);

}  // namespace carom::internal
