// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which regions of free points can a disc not reach?
#pragma once

#include <vector>

#include "carom/lint.h"
#include "carom/work_meter.h"
#include "lint/finding_sink.h"
#include "lint/gaps.h"
#include "lint/lint_map.h"

namespace carom::internal {

// Adds a finding for each bounded region of free points, cut by `gaps`, that contains none of the
// points `options.from`. Returns false if the meter stopped the work, or if edges cross more often
// than about twice their number.
bool FindPockets(const LintMap& map, std::vector<Gap> gaps, const LintOptions& options,
                 FindingSink& sink, WorkMeter& meter);

}  // namespace carom::internal
