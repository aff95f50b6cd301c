// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may meet a box, where few do?
//
// Finds the polygons that `SceneIndex::Traverse` finds by a `MeetsBox`, in two steps and without a
// visitor: first tiles, then the polygons of each tile. A caller with many boxes runs the first
// step for all of them, so that the memory of the tiles has been prefetched when the second step
// reads it. The eight boxes of a node are compared in as few vectors as the instruction set allows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "edges/indexed_polygon.h"
#include "index/scene_index.h"

namespace carom::internal {

// A box, and the tiles that the box may meet.
struct BoxQuery {
  static constexpr size_t kMostTiles = 8;

  Box reach;
  bool is_active;    // false: the query is skipped
  bool is_complete;  // whether `tiles` has all tiles, found within the limit of nodes
  std::array<const Tile*, kMostTiles> tiles;
  size_t tile_count;
  size_t boxes;  // boxes compared, for a meter
};

// Runs the first step: sets all members but `reach` of the queries that are active.
void FindTiles(const SceneIndex& scene, std::span<BoxQuery> queries);

struct NearPolygons {
  static constexpr size_t kMost = 64;

  std::array<const IndexedPolygon*, kMost> polygons;
  size_t count;
  size_t boxes;
};

// Runs the second step: sets the polygons that may meet the box of a query. Returns false if there
// are more than `NearPolygons::kMost` polygons, or if the search compares too many boxes: the
// caller may then use only `boxes`.
using FindPolygonsFunction = bool (*)(const BoxQuery& query, NearPolygons& few);

// Returns the second step for the instruction set of this machine. A caller that runs the step
// often keeps the pointer.
FindPolygonsFunction FindPolygons();

// Working memory and result of both steps for many boxes. The search goes level by level through
// the trees of all boxes, so that their cache misses overlap.
struct BoxPairs {
  static constexpr size_t kMostQueries = 32;
  // The most nodes of one level that one query opens. A node takes about the time of some polygons.
  static constexpr size_t kMostNodes = 32;

  struct Pair {
    const IndexedPolygon* polygon;
    uint32_t query;
  };
  // A query, and the position of a node in the tree of its tile.
  struct Place {
    uint32_t query, level, index;
  };
  // A node that the search has yet to open.
  struct Open {
    const Tile* tile;
    const BoxNode* node;
    Place place;
  };
  // Room for the nodes of one level, and for the roots of tiles with fewer levels than others.
  static constexpr size_t kMostOpen = kMostQueries * (kMostNodes + BoxQuery::kMostTiles);

  // The pairs found, by ascending query.
  std::array<Pair, kMostQueries * NearPolygons::kMost> pairs;
  size_t count;
  size_t boxes;  // boxes compared, for a meter
  std::array<std::array<Open, kMostOpen>, 2> open;
};

// Sets in `found` the polygons that the boxes of the active queries may meet, for at most
// `kMostQueries` queries. If a query finds more polygons than `NearPolygons::kMost`, or compares
// too many boxes, its `is_complete` becomes false, and the pairs found for it are incomplete.
void FindPairs(const SceneIndex& scene, std::span<BoxQuery> queries, BoxPairs& found);

}  // namespace carom::internal
