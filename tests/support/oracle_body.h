// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Round bodies by definition, in rationals: what moves meets one where its core comes as near to
// the axis as both radii together, and nothing is solved: the first double at which that has
// happened is searched for. Start with `FirstMeeting`. Bodies without radius are polygons of an
// `Oracle`.
#pragma once

#include <optional>

#include "tests/support/exact.h"
#include "tests/support/oracle.h"

namespace carom::testing {

/// A disc or a capsule: all points within `radius` of the axis from `a` to `b`.
struct OracleRoundBody {
  Xy a;
  Xy b;
  double radius = 0;
};

/// A point that moves, or a shape; the core of a capsule is its axis, an open chain.
OracleShape PointShape(Xy p);

/// Returns the least squared distance of the closed core, displaced by t * d, from the axis over
/// all t in [from, to].
Rational SquaredReach(const OracleShape& core, const RationalXy& d, const Rational& from,
                      const Rational& to, const OracleRoundBody& body);

/// Returns the least double t in [0, 1] such that the core with `radius` meets the body at some
/// time in [0, t], displaced by that time * d; nothing where it does not in [0, 1].
std::optional<double> FirstMeeting(const OracleShape& core, double radius, const RationalXy& d,
                                   const OracleRoundBody& body);

/// Returns the greatest double t in [0, 1] such that it meets the body at some time in [t, 1]; it
/// meets it in [0, 1].
double LastMeeting(const OracleShape& core, double radius, const RationalXy& d,
                   const OracleRoundBody& body);

/// Returns the least double that is at least √square − radii, 0 where that is below 0.
double RootAtLeast(const Rational& square, const Rational& radii);

}  // namespace carom::testing
