// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may meet a box, where they are few?
//
// What `SceneIndex::Traverse` finds by a `MeetsBox`, in two steps and without a visitor: tiles,
// then polygons of a tile. Whoever asks for many boxes does the first step for all of them, so that
// the memory of the tiles is there for the second. The eight boxes of a node are compared in as few
// vectors as the machine has for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "edges/indexed_polygon.h"
#include "index/scene_index.h"

namespace carom::internal {

// A box, and the tiles that it may meet.
struct BoxQuery {
  static constexpr size_t kMostTiles = 8;

  Box reach;
  bool is_asked;  // or else it is passed over
  bool has_few;   // whether `tiles` are all, and few boxes were in the way
  std::array<const Tile*, kMostTiles> tiles;
  size_t tile_count;
  size_t boxes;  // that were looked at, for a meter
};

// The first step: sets all but the reach of those that are asked.
void FindTiles(const SceneIndex& scene, std::span<BoxQuery> queries);

struct FewPolygons {
  static constexpr size_t kMost = 64;

  std::array<const IndexedPolygon*, kMost> polygons;
  size_t count;
  size_t boxes;
};

// The second step. Returns false, and only `boxes` is to be used, where there are more polygons
// than that, or very many boxes on the way.
using FindPolygonsFunction = bool (*)(const BoxQuery& query, FewPolygons& few);

// The one for this machine, to be kept by whoever asks often.
FindPolygonsFunction FindPolygons();

// Both steps for many boxes, level by level of the trees, so that they wait for memory together.
struct BoxPairs {
  static constexpr size_t kMostQueries = 32;
  // Of a box at each level. Each asks for the time of some polygons.
  static constexpr size_t kMostNodes = 32;

  struct Pair {
    const IndexedPolygon* polygon;
    uint32_t query;
  };
  // For whom, and where in the tree of its tile.
  struct Place {
    uint32_t query, level, index;
  };
  // A node that is to be looked at.
  struct Open {
    const Tile* tile;
    const BoxNode* node;
    Place place;
  };
  // With the tops of tiles that are less high than others.
  static constexpr size_t kMostOpen = kMostQueries * (kMostNodes + BoxQuery::kMostTiles);

  // By ascending query.
  std::array<Pair, kMostQueries * FewPolygons::kMost> pairs;
  size_t count;
  size_t boxes;  // that were looked at, for a meter
  std::array<std::array<Open, kMostOpen>, 2> open;
};

// Sets what boxes may meet, of those that are asked, at most `kMostQueries`. Where there are more
// polygons than `FewPolygons` takes, or very many boxes to look at, `has_few` is false, and what is
// found is not all.
void FindPairs(const SceneIndex& scene, std::span<BoxQuery> queries, BoxPairs& found);

}  // namespace carom::internal
