// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds what a tracked shape touches at one pose: the answer to a move before it is written.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/polygon.h"

namespace carom::internal {

struct TouchedPolygon {
  uint64_t id;
  uint32_t edge_count;  // its entries in `Touched::edges`; 0 under IDS
};

// The polygons and edges that a shape touches. Reused from move to move, so that moves answered by
// memory allocate nothing.
struct Touched {
  std::vector<TouchedPolygon> polygons;  // polygons by ascending id
  std::vector<EdgeRef> edges;            // edges of the polygons in turn; empty under IDS

  void Clear() {
    polygons.clear();
    edges.clear();
  }
};

}  // namespace carom::internal
