// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The contact of two convex shapes, by its definition, in exact rationals: every side of every edge
// is tried with every vertex; and its points, in 400 digits. Start with `OracleContactOf`.
#pragma once

#include <boost/multiprecision/gmp.hpp>
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

/// Whose edge the axis is perpendicular to; NONE where it joins a vertex of each.
enum class OracleReference { kNone, kFixed, kMover };

/// The signed depth along `normal` (of any length, from fixed to mover) is core / |normal| plus
/// both radii.
struct OracleContact {
  RationalXy normal;
  Rational core;
  OracleReference reference = OracleReference::kNone;
};

/// Nothing where the shapes share no point. Where both cores are one point: the normal (1, 0).
std::optional<OracleContact> OracleContactOf(const OracleConvex& fixed, const OracleConvex& mover);

/// A number with 400 digits: for points, whose coordinates have roots.
using Digits = boost::multiprecision::number<boost::multiprecision::gmp_float<400>,
                                             boost::multiprecision::et_off>;

/// A point of contact. On the line along the normal that holds it, the mover's lowest point lies
/// `depth` below the highest of the fixed shape, up being the normal; the point is in the middle.
struct OraclePoint {
  Digits x, y, depth;
  /// The corner of a core on that line, of the reference or of the other shape. Where the axis has
  /// no reference, the vertex of the mover.
  bool is_of_reference = false;
  RationalXy corner;
};

/// Returns the points of a contact in order, one that is not below the surface (depth < 0) too. Of
/// a contact without a reference all pairs of vertices at the least distance, each of which may be
/// its one point. Nothing where two edges of one shape meet at so narrow an angle that rounding
/// chooses which of them faces the other shape's edge.
std::vector<OraclePoint> OraclePointsOf(const OracleConvex& fixed, const OracleConvex& mover,
                                        const OracleContact& contact);

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
