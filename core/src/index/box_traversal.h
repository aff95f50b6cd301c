// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may meet a box, for a box that few polygons meet?
//
// A scene keeps its polygons in tiles (groups of at most 1024 neighbouring polygons), with a tree
// of boxes over the tiles and a tree of boxes over the polygons of each tile. The functions here
// find the polygons that `SceneIndex::Traverse` finds for a `MeetsBox`, without a visitor and in
// two steps: first the tiles that may meet the box, then the polygons of each such tile. A caller
// with many boxes runs the first step for all boxes, so that the memory of the tiles has been
// prefetched when the second step reads it. The eight boxes of a tree node are compared in as few
// vectors as the instruction set allows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "edges/indexed_polygon.h"
#include "index/scene_index.h"

namespace carom::internal {

// A box, and the tiles of a scene (groups of at most 1024 neighbouring polygons) that the box may
// meet.
struct BoxQuery {
  static constexpr size_t kMostTiles = 8;

  Box reach;       // the box that polygons must meet
  bool is_active;  // false: the query is skipped
  // Whether the search found all tiles that `reach` may meet: the search gives up after about 128
  // tree nodes, and beyond `kMostTiles` tiles.
  bool is_complete;
  std::array<const Tile*, kMostTiles> tiles;
  size_t tile_count;
  size_t boxes;  // number of boxes compared, for the caller to count on its `WorkMeter`
};

// Finds, for each query with `is_active` set, the tiles (groups of neighbouring polygons) that its
// box `reach` may meet. Sets `is_complete`, `tiles`, `tile_count` and `boxes`.
void FindTiles(const SceneIndex& scene, std::span<BoxQuery> queries);

// The polygons that may meet the box of a query.
struct NearPolygons {
  static constexpr size_t kMost = 64;

  std::array<const IndexedPolygon*, kMost> polygons;
  size_t count;
  // number of boxes that the search compared, for the caller to count on its `WorkMeter`
  size_t boxes;
};

// Sets `few` to the polygons, in the tiles (groups of neighbouring polygons) that `FindTiles` set
// in `query`, that may meet the query's box. Returns false if there are more than
// `NearPolygons::kMost` polygons, or if the search would open more than 128 tree nodes: the caller
// may then use only `few.boxes`.
using FindPolygonsFunction = bool (*)(const BoxQuery& query, NearPolygons& few);

// Returns the function that finds the polygons in the tiles of a query (the groups of neighbouring
// polygons near the query's box), compiled for the instruction set of this machine. A caller that
// calls the returned function often keeps the pointer.
FindPolygonsFunction FindPolygons();

// Working memory and result of `FindPairs`, which finds the polygons that many boxes (queries) may
// meet. The search descends the trees of the tiles (groups of neighbouring polygons, each with a
// tree over their boxes) of all queries together, level by level, so that the cache misses of
// different queries overlap.
struct BoxPairs {
  static constexpr size_t kMostQueries = 32;
  // The most nodes of one level that the search opens for one query. To open a node is to compare
  // its eight boxes with the query's box, which takes about the time of testing some polygons.
  static constexpr size_t kMostNodes = 32;

  struct Pair {
    const IndexedPolygon* polygon;
    uint32_t query;
  };
  // The number of a query, and the position (level and index on the level) of a node in the tree of
  // the tile that the node belongs to.
  struct Place {
    uint32_t query, level, index;
  };
  // A node whose boxes the search has yet to compare with the box of a query.
  struct Open {
    const Tile* tile;
    const BoxNode* node;
    Place place;
  };
  // Room for the nodes of one level for all queries, and for the roots of tiles whose trees have
  // fewer levels than the tallest tree.
  static constexpr size_t kMostOpen = kMostQueries * (kMostNodes + BoxQuery::kMostTiles);

  // The pairs found, by ascending query.
  std::array<Pair, kMostQueries * NearPolygons::kMost> pairs;
  size_t count;
  size_t boxes;  // number of boxes compared, for the caller to count on its `WorkMeter`
  // One array has the open nodes of the current level, the other array the open nodes of the next
  // level; the arrays exchange roles from level to level.
  std::array<std::array<Open, kMostOpen>, 2> open;
};

// Sets `found.pairs` to the pairs of a query with `is_active` set and a polygon that the query's
// box may meet, for at most `BoxPairs::kMostQueries` queries. If the box of a query may meet more
// than `NearPolygons::kMost` polygons, or too many tiles (groups of polygons,
// `BoxQuery::kMostTiles`) or nodes (`BoxPairs::kMostNodes`), `is_complete` of the query becomes
// false, and the pairs found for the query are incomplete.
void FindPairs(const SceneIndex& scene, std::span<BoxQuery> queries, BoxPairs& found);

}  // namespace carom::internal
