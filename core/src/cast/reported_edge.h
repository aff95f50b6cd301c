// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A passage is an interval in which a line or an arc is inside a polygon. Which of the edges that
// meet one end of a passage is reported?
#pragma once

#include <cstdint>

namespace carom::internal {

// The index of an absent edge.
inline constexpr uint32_t kNoEdge = 0xffffffff;

// Returns whether to report `edge` rather than `best`, two edges that a path (a line or an arc)
// meets at one point; `best` may be kNoEdge. The preferred edge is the edge of least index that is
// not parallel to the path, since the normal of such an edge is meaningful; if all are parallel,
// the edge of least index. Edges of length zero count as parallel.
inline bool IsPreferredEdge(uint32_t edge, bool is_parallel, uint32_t best, bool best_is_parallel) {
  if (best == kNoEdge) return true;
  return is_parallel != best_is_parallel ? best_is_parallel : edge < best;
}

}  // namespace carom::internal
