// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What a translating sweep must answer, by definition, in exact rationals. Polygons: every fraction
// at which a vertex may meet an edge is an event; contact is constant between events, so it is
// tested at each of them and half-way between. Capsules: "within the radius at some t of an
// interval" is the squared distance of an edge from the figure that the axis sweeps; nothing is
// solved.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tests/support/exact.h"
#include "tests/support/oracle.h"

namespace carom::testing {

/// A largest interval of fractions in [0, 1] in which both share a point.
struct OracleSweepPassage {
  Rational begin;
  Rational end;
};

/// The passages of `moving` displaced by t * d against `fixed`, in order.
std::vector<OracleSweepPassage> SweepPassages(const OracleShape& fixed, const OracleShape& moving,
                                              Xy d);

/// Two edges that share a point, by index.
struct OracleEdgePair {
  std::size_t fixed;
  std::size_t moving;
};
std::vector<OracleEdgePair> TouchingPairs(const OracleShape& fixed, const OracleShape& moving, Xy d,
                                          const Rational& t);

/// The least fixed edge that shares a point with the solid mover at t, if any.
std::optional<OracleEdge> FirstEdgeTouched(const OracleShape& fixed, const OracleShape& moving,
                                           Xy d, const Rational& t);

/// Whether the point is in the shape, or within `tolerance` of one of its edges.
bool IsNear(const OracleShape& shape, const RationalXy& point, const Rational& tolerance);

struct OracleCapsule {
  Xy a;
  Xy b;
  double radius;
};

/// Whether the edge is within the radius of the axis displaced by some t * d, t in [from, to].
bool IsReached(const OracleShape::Edge& edge, const OracleCapsule& mover, Xy d,
               const Rational& from, const Rational& to);

/// The least edge that is, if any.
std::optional<OracleEdge> FirstEdgeReached(const OracleShape& fixed, const OracleCapsule& mover,
                                           Xy d, const Rational& from, const Rational& to);

/// Whether the capsule shares a point with the solid shape at t.
bool IsInContact(const OracleShape& fixed, const OracleCapsule& mover, Xy d, const Rational& t);

/// The squared distance of a point from a segment.
Rational SquaredDistance(const RationalXy& point, const RationalXy& a, const RationalXy& b);

/// A number in [low, high], which are at most 2^-100 apart.
struct OracleBracket {
  Rational low;
  Rational high;
};

struct OracleRoundPassage {
  OracleBracket begin;
  OracleBracket end;
};

/// The passages of a capsule; nothing where brackets overlap, so that they decide nothing.
std::optional<std::vector<OracleRoundPassage>> RoundPassages(const OracleShape& fixed,
                                                             const OracleCapsule& mover, Xy d);

}  // namespace carom::testing
