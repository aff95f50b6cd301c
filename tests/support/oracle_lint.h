// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The findings of carom/lint.h in exact rationals, by their definitions: every pair of edges, every
// place with every edge, every slab of the plane. Start with `OracleLint`. O(n^3); shares no code
// with the core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/oracle.h"

namespace carom::testing {

struct OracleLintOptions {
  double gap_radius = 0;
  double near_distance = 0;
  /// 0: any; 1: outer rings are counter-clockwise; -1: clockwise.
  int winding = 0;
  /// Above 0.
  double lattice_pitch = 1;
};

/// Returns one line for each finding other than pockets, sorted: kind, names, points and measure,
/// doubles in hexadecimal.
std::vector<std::string> OracleLint(const std::vector<OraclePolygon>& scene,
                                    const OracleLintOptions& options);

/// A finding, and its line of text in `OracleLint`.
struct OracleFinding {
  std::string kind;
  OracleEdge at;
  OracleEdge other;
  Xy p;
  Xy q;
  double measure = 0;
};
std::string LintLine(const OracleFinding& finding);

/// Returns the areas, ascending, of the pockets of a mover that starts at `from`: of the bounded
/// regions of free points, cut by the gaps of a width below 2 * radius, that contain none of
/// `from`.
std::vector<Rational> OraclePockets(const std::vector<OraclePolygon>& scene, double radius,
                                    const std::vector<Xy>& from);

}  // namespace carom::testing
