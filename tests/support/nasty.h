// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Awkward questions about a scene: through its vertices, along its edges, tangent, one ulp off, of
// length zero, exactly touching. Start with `NastyQueries`. The same arguments give the same
// questions everywhere: no std distribution and no libm function but sqrt is used.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/support/oracle.h"
#include "tests/support/query.h"

namespace carom::testing {

/// Returns `count` questions about `scene`, which has at least one polygon. Each is named
/// KIND:NUMBER, so that a failing one says what it is about. About half are segments, whose
/// `inside` goes round report, ignore, exit. All coordinates are accepted ones (finite, |x| ≤
/// 2^53); some zeros are written −0 or as magnitudes below 2^-140.
std::vector<Query> NastyQueries(const std::vector<OraclePolygon>& scene, std::uint64_t seed,
                                int count);

/// Returns the scene, or the question, with every length multiplied by `factor` and rounded once.
/// Exact, and so without effect on any verdict, for a power of two as long as nothing leaves the
/// accepted range.
std::vector<OraclePolygon> Scaled(std::vector<OraclePolygon> scene, double factor);
Query Scaled(Query query, double factor);

/// Returns those of 1, 1e-9, 1e-3, 1e3, 1e9 at which all coordinates of the scene stay within
/// ±2^53.
std::vector<double> ScalesFor(const std::vector<OraclePolygon>& scene);

/// Returns a seed made of a name (64-bit FNV-1a).
std::uint64_t SeedOf(std::string_view name);

}  // namespace carom::testing
