// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes where two convex shapes touch along their contact axis.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/work_meter.h"
#include "contact/separating_axis.h"
#include "shape/convex_core.h"

namespace carom::internal {

// Returns the unit vector from a to b, which differ. Each component is within 1 ulp, and never -0.
Vec2 UnitVector(Vec2 a, Vec2 b);

// Compares the angles that the edges `a` and `b` make with the line of the edge `reference`:
// returns 1 if the angle of `a` is larger, -1 if it is smaller, 0 if both are equal. Compares the
// squared sines of the angles, which count as equal within a relative difference of 2^-90.
int CompareAngles(const Segment& reference, const Segment& a, const Segment& b);

// Returns the contact of two convex shapes; nullopt if they share no point (exact). Charges its
// work to `meter`; the result is meaningless once `meter` has stopped.
//
// Points: if the contact axis is the normal of an edge of one core (the reference edge), the facing
// edge of the other core is clipped to the side planes, the lines along the normal through the ends
// of the reference edge. The facing edge is the edge at the support vertex (the deepest vertex)
// that is more nearly parallel to the reference edge (squared sines of the angles count as equal
// within 2^-90), and among equals the edge with the lower index. The clipped edge has one end or
// two. Each end is a vertex of one core that faces an edge of the other core, and gives a contact
// point with this vertex and this edge as features. On the line along the normal through the end,
// the contact point lies midway between the surfaces of both shapes, radii included, and the depth
// of the point is how far the shapes overlap on this line. An end is dropped if the surface of the
// other shape is above the surface of the reference shape on this line. Two points are ordered
// along the direction that is the contact normal turned counter-clockwise by a right angle.
//
// Error: a point errs by at most 8 ulp of M, the largest coordinate or radius. The point is v +
// normal * shift, where v is the vertex on the line along the normal. From v to the surface of the
// other shape it is at most 2.83 M + M (the diagonal of all coordinates, and a radius), so |shift|,
// half of it, is at most 1.92 M. The four roundings of its terms (each of at most 3.9 M, so each
// errs by 2 ulp(M), which the division by 2 halves) err by 4 ulp(M). The error of the normal's
// components (2^-53) moves the point by at most 1.92 ulp(M), and rounding the product and the sum
// by 1 ulp(M) each.
std::optional<Contact> ConvexContact(const ConvexCore& fixed, const ConvexCore& mover,
                                     WorkMeter& meter);

}  // namespace carom::internal
