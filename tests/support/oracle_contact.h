// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The contact of two convex shapes, by its definition, in exact rationals: every side of every edge
// is tried with every vertex. Start with `OracleContactOf`.
#pragma once

#include <optional>
#include <vector>

#include "tests/support/exact.h"

namespace carom::testing {

/// The points within `radius` of the hull of a convex ring. A capsule is the ring of its two ends,
/// or of one where they coincide.
struct OracleConvex {
  std::vector<Xy> ring;
  double radius = 0;
};

/// The signed depth along `normal` (of any length, from fixed to mover) is core / |normal| plus
/// both radii.
struct OracleContact {
  RationalXy normal;
  Rational core;
};

/// Nothing where the shapes share no point. Where both cores are one point: the normal (1, 0).
std::optional<OracleContact> OracleContactOf(const OracleConvex& fixed, const OracleConvex& mover);

/// Returns the least squared distance of the cores, the mover's being moved by `shift`; 0 where
/// they share a point.
Rational OracleCoreDistance2(const OracleConvex& fixed, const OracleConvex& mover,
                             const RationalXy& shift);

/// Returns whether the cores share no point once the mover is moved by `shift`.
bool OracleCoresApart(const OracleConvex& fixed, const OracleConvex& mover,
                      const RationalXy& shift);

/// Returns the sign of x - n / sqrt(d), d > 0.
int CompareToQuotient(const Rational& x, const Rational& n, const Rational& d);

}  // namespace carom::testing
