// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a tracked shape touches at one pose: the answer to a move before it is written.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/polygon.h"

namespace carom::internal {

struct TouchedPolygon {
  uint64_t id;
  uint32_t edge_count;  // of those in `Touched::edges`; 0 under IDS
};

// Reused from move to move, so that warm moves allocate nothing.
struct Touched {
  std::vector<TouchedPolygon> polygons;  // by ascending id
  std::vector<EdgeRef> edges;            // polygon after polygon; empty under IDS

  void Clear() {
    polygons.clear();
    edges.clear();
  }
};

}  // namespace carom::internal
