// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds what a tracked shape touches at one pose: the answer to a move before it is written.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/polygon.h"

namespace carom::internal {

// A polygon that a tracked shape touches.
struct TouchedPolygon {
  uint64_t id;
  uint32_t edge_count;  // number of its edges in `Touched::edges`; 0 if only ids are requested
};

// The polygons and edges that a shape touches. Reused from move to move, so that moves that a
// tracker's memory answers allocate nothing.
struct Touched {
  std::vector<TouchedPolygon> polygons;  // sorted by polygon id
  // The touched edges, polygon after polygon; empty if only ids are requested
  // (OverlapDetail::kIds).
  std::vector<EdgeRef> edges;

  void Clear() {
    polygons.clear();
    edges.clear();
  }
};

}  // namespace carom::internal
