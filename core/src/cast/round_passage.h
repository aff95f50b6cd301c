// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is a segment or a ray inside a disc or a capsule (the points within a radius of a segment,
// its axis)?
//
// A capsule is convex, so its passage is one interval [b, e] of the line's parameter. Whether the
// line meets the capsule is decided exactly. b is rounded up to a double, and e down, but not below
// b. The ends are roots of quadratics, computed as pairs of doubles with an error bound. Where the
// error bound does not determine the rounded root, a bisection finds it by a predicate that is
// exact at every double (`ExactlyMeets`): whether the part of the line between two parameters comes
// within the radius of the axis, which depends on signs of polynomials.
#pragma once

#include <optional>

#include "carom/cast.h"
#include "carom/geometry.h"
#include "cast/hit_measures.h"
#include "shape/line.h"

namespace carom::internal {

// The passage of a line in a capsule: the interval of the line inside the capsule.
struct RoundPassage {
  double begin = 0;  // the parameter where the passage begins: t_min if the line starts inside
  double end = 0;    // the parameter where the passage ends: t_max if the line ends inside
  bool starts_inside = false;
  bool ends_inside = false;
};

// Returns the passage (interval) of `line` inside a capsule with a radius above 0; nullopt if the
// line and the capsule share no point.
std::optional<RoundPassage> FindRoundPassage(const Line& line, const Capsule& capsule);

// Returns whether the part of the line between the parameters `from` and `to`, within the line's
// range, meets the capsule. The result is exact, computed with dyadic numbers alone.
bool ExactlyMeets(const Line& line, const Capsule& capsule, double from, double to);

// Sets the members of `hit` that `report` asks for, except the id. `hit` is default-constructed.
// The hit has no edge. The normal points from the capsule's axis to the hit point at the exact
// fraction. Each component of the normal errs by at most 1 ulp + 2^-94, or by 2^-45 where the line
// is almost tangent to the disc about an end of the axis.
void MeasureRoundHit(const Line& line, const Capsule& capsule, const RoundPassage& passage,
                     const HitReport& report, CastHit& hit);

}  // namespace carom::internal
