// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle's areas of sight, in exact rationals. Method: the directions from the eye to every
// vertex and to every point at which two edges cross, the sides of the sector and the axes cut the
// directions into gaps, in each of which one edge is hit first. A cast along the middle of a gap
// tells which; the circle then cuts the edge by a quadratic with rational coefficients. Every gap
// is cast anew: nothing is kept from one gap to the next. Start with `SeenArea`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/oracle.h"

namespace carom::testing {

/// The directions that a ray meets which turns counter-clockwise from `from` to `to`. Neither is
/// zero; equal directions are the empty sector.
struct OracleSector {
  Xy from;
  Xy to;
};

struct OracleEye {
  Xy at;
  double range = 0;
  std::optional<OracleSector> sector;  // empty: every direction
  OracleInside inside = OracleInside::kReportStart;
};

enum class OracleAreaKind { kEdge, kArc, kSight };

/// One piece of the boundary, from `start` to the start of the next one.
struct OracleAreaPiece {
  OracleAreaKind kind = OracleAreaKind::kEdge;
  bool is_body = false;
  OracleEdge edge;   // kEdge: of the first hit; `edge.polygon` is the index of a body if is_body
  RationalXy start;  // exact, or within 2^-200 of the exact one, relative to the range
  bool is_vertex = false;  // `start` is a vertex of what is considered
};

struct OracleArea {
  bool starts_inside = false;
  std::vector<OracleAreaPiece> pieces;
  Rational area;  // within 2^-200 of the exact one, relative to the square of the range
};

/// Returns the area that the eye sees past `scene` and `bodies`, whose ids are their indices.
OracleArea SeenArea(const std::vector<OracleShape>& scene, const std::vector<OracleShape>& bodies,
                    const OracleEye& eye);

}  // namespace carom::testing
