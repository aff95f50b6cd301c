// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The checks of carom/lint.h that compare vertices of one ring: duplicate and nearly equal
// vertices, spikes, areas, windings; and vertices off the lattice.
#pragma once

#include "carom/lint.h"
#include "carom/work_meter.h"
#include "lint/finding_sink.h"
#include "lint/lint_map.h"

namespace carom::internal {

// Each returns false if the meter stopped the work.
bool FindInRings(const LintMap& map, double near_distance, LintWinding winding, FindingSink& sink,
                 WorkMeter& meter);
// `pitch` is above 0.
bool FindOffLattice(const LintMap& map, double pitch, FindingSink& sink, WorkMeter& meter);

// Returns the greatest power of two from 2^-20 to 2^20 of which nine of ten vertices are integer
// multiples; 0 if there is none.
double LatticePitch(const Scene& scene);

}  // namespace carom::internal
