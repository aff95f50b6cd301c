// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which places are so close to an edge that a disc cannot pass between them, and which nearly meet
// an edge?
//
// A gap is defined at LintKind::kGap. It is a Gabriel edge (Gabriel and Sokal, "A New Statistical
// Approach to Geographic Variation Analysis", 1969) of places and edges instead of points.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/work_meter.h"
#include "lint/finding_sink.h"
#include "lint/lint_map.h"

namespace carom::internal {

// The gap between the place `v` and the nearest point of the edge `edge`, or the place `q`.
struct Gap {
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  uint32_t v = 0;
  uint32_t edge = 0;      // an edge that has the point
  uint32_t q = kNoPlace;  // the place at the end of the edge that is the point; none within
};

// Appends the gaps of a width below 2 * radius to `gaps`, in the order of their places. Returns
// false if the meter stopped the work.
bool FindGaps(const LintMap& map, double radius, std::vector<Gap>& gaps, WorkMeter& meter);
// Adds the gaps as findings.
void AddGaps(const LintMap& map, const std::vector<Gap>& gaps, FindingSink& sink);

// Returns false if the meter stopped the work.
bool FindNearJunctions(const LintMap& map, double near_distance, FindingSink& sink,
                       WorkMeter& meter);

}  // namespace carom::internal
