// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is a segment or a ray inside a disc or a capsule?
//
// A capsule is convex, so that its passage is one interval [b, e] of the line's parameter. Verdicts
// are exact; b is rounded up to a double, e down but not below that. The ends are roots of
// quadratics, found in pairs of doubles with a bound; where that does not decide, they are searched
// for by a predicate that is exact at every double (`ExactlyMeets`): whether the part of the line
// between two parameters comes within the radius of the axis, which is a matter of the signs of
// polynomials.
#pragma once

#include <optional>

#include "carom/cast.h"
#include "carom/geometry.h"
#include "cast/hit_measures.h"
#include "shape/line.h"

namespace carom::internal {

struct RoundPassage {
  double begin = 0;  // t_min where it starts inside
  double end = 0;    // t_max where it ends inside
  bool starts_inside = false;
  bool ends_inside = false;
};

// The passage of `line` in a capsule whose radius is above 0; nothing where they share no point.
std::optional<RoundPassage> FindRoundPassage(const Line& line, const Capsule& capsule);

// Whether the points of the line at parameters in [from, to], in its range, come within the radius.
// Exact, by dyadic numbers alone.
bool ExactlyMeets(const Line& line, const Capsule& capsule, double from, double to);

// Sets what `report` asks of `hit`, a default one, but for the id. There is no edge; the normal is
// from the axis to the hit point at the exact fraction, each component within 1 ulp + 2^-94, or
// 2^-45 where the line all but grazes an end.
void MeasureRoundHit(const Line& line, const Capsule& capsule, const RoundPassage& passage,
                     const HitReport& report, CastHit& hit);

}  // namespace carom::internal
