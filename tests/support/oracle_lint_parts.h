// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Edges, rings, polygons and gaps of the oracle of lint (oracle_lint.h), in exact rationals.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/oracle.h"

namespace carom::testing {

Rational Square(const RationalXy& vector);
Xy Rounded(const RationalXy& point);
/// Returns the square root of the double nearest to `square`.
double NearestRoot(const Rational& square);

struct LintSegment {
  OracleEdge name;
  Xy a;
  Xy b;

  bool Proper() const { return !(a == b); }
  RationalXy Nearest(const RationalXy& point) const;
  Rational Distance2(const RationalXy& point) const { return Square(point - Nearest(point)); }
  /// What the edge adds to the winding number of a point that is on no edge.
  int Winding(const RationalXy& point) const;
};

/// Returns no point, the one common point, or the two ends of the common segment, the lesser (x, y)
/// first.
std::vector<RationalXy> SharedPoints(const LintSegment& a, const LintSegment& b);

struct LintBody {
  std::uint64_t id = 0;
  bool hollow = false;  // BOUNDARY
  OracleFill fill = OracleFill::kEvenOdd;
  std::uint64_t category = 1;
  Xy first;
  std::vector<LintSegment> edges;

  bool Fills(const RationalXy& point) const;
};

struct LintRing {
  const LintBody* of = nullptr;
  std::uint32_t number = 0;
  bool open = false;
  std::vector<Xy> points;
  std::vector<LintSegment> edges;

  OracleEdge Name(std::size_t vertex) const {
    return {of->id, number, static_cast<std::uint32_t>(vertex)};
  }
};

struct LintGap {
  OracleEdge at;
  OracleEdge other;
  Xy v;
  RationalXy q;
};

struct LintScenery {
  explicit LintScenery(const std::vector<OraclePolygon>& scene);

  bool AreConsecutive(const LintSegment& a, const LintSegment& b) const;
  bool IsInside(const LintBody& inner, const LintBody& outer) const;
  bool AreTwins(const LintBody& a, const LintBody& b) const;
  OracleEdge NameAt(Xy point) const { return places.at({point.x, point.y}); }
  /// By definition: each place, each edge, each third edge that may meet the disc between them.
  std::vector<LintGap> Gaps(double radius) const;

  std::vector<LintBody> bodies;  // by ascending id
  std::vector<LintRing> rings;
  std::vector<LintSegment> edges;  // by ascending name
  std::map<std::pair<double, double>, OracleEdge> places;
};

}  // namespace carom::testing
