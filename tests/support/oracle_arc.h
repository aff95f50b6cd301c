// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle's arcs: points under constant acceleration, in exact rationals. Method: every time at
// which the point may come on or off an edge is a root of a quadratic with rational coefficients,
// kept as that quadratic and an interval of rationals with that root alone. Two are equal if a
// common divisor of their quadratics has a root in both intervals, else bisection parts them. These
// times cut the duration into points and gaps; a gap is judged by locating the point at a rational
// time inside it. Start with `CastArc`.
#pragma once

#include <optional>
#include <vector>

#include "tests/support/oracle.h"

namespace carom::testing {

struct OracleArc {
  Xy p;
  Xy v;
  Xy a;
  double duration = 0.0;
};

/// One hit as the core should report it. `normal` is exact, of any length; zero where there is
/// none. `point` is within 2^-200 of the exact one, relative to the ways that make it up.
struct OracleArcHit {
  std::uint64_t polygon = 0;
  double time = 0.0;  // rounded up
  bool starts_inside = false;
  std::optional<OracleEdge> edge;
  RationalXy normal;
  RationalXy point;
};

/// Returns one hit for each polygon that is hit, ordered by (time, polygon id).
std::vector<OracleArcHit> CastArc(const Oracle& oracle, const OracleArc& arc, OracleInside inside);

}  // namespace carom::testing
