// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Of the edges that meet one end of a passage, which is reported?
#pragma once

#include <cstdint>

namespace carom::internal {

// No edge.
inline constexpr uint32_t kNoEdge = 0xffffffff;

// Whether `edge` is to be reported rather than `best`, which may be no edge: the least edge that is
// not parallel to the path there (its normal means something), else the least of all. Edges of
// length zero count as parallel.
inline bool IsPreferredEdge(uint32_t edge, bool is_parallel, uint32_t best, bool best_is_parallel) {
  if (best == kNoEdge) return true;
  return is_parallel != best_is_parallel ? best_is_parallel : edge < best;
}

}  // namespace carom::internal
