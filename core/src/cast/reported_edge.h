// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which of the edges that meet one end of a passage is reported?
#pragma once

#include <cstdint>

namespace carom::internal {

// The index of an absent edge.
inline constexpr uint32_t kNoEdge = 0xffffffff;

// Returns whether to report `edge` rather than `best`, which may be kNoEdge. The preferred edge is
// the least edge that is not parallel to the path, since its normal is meaningful; else the least
// edge. Edges of length zero count as parallel.
inline bool IsPreferredEdge(uint32_t edge, bool is_parallel, uint32_t best, bool best_is_parallel) {
  if (best == kNoEdge) return true;
  return is_parallel != best_is_parallel ? best_is_parallel : edge < best;
}

}  // namespace carom::internal
