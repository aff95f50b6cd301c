// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The checks of carom/lint.h that compare edges of one polygon, or polygons with one another:
// crossings, overlaps, polygons inside one another, duplicates.
#pragma once

#include "carom/work_meter.h"
#include "lint/finding_sink.h"
#include "lint/lint_map.h"

namespace carom::internal {

// Each returns false if the meter stopped the work.
bool FindCrossings(const LintMap& map, FindingSink& sink, WorkMeter& meter);
bool FindInside(const LintMap& map, FindingSink& sink, WorkMeter& meter);
bool FindDuplicates(const LintMap& map, FindingSink& sink, WorkMeter& meter);

}  // namespace carom::internal
