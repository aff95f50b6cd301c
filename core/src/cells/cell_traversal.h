// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may meet a box, by the cells of the scene's grid?
//
// Finds what index/box_traversal.h finds by trees, for many boxes that each come near few cells:
// first the squares of all boxes, then the cells of the squares, then the polygons in the cells, so
// that the memory for one step is fetched during the step before. Large boxes, and boxes in squares
// without cells, fall back to the trees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/work_meter.h"
#include "index/box_traversal.h"
#include "index/grid_block.h"
#include "index/scene_index.h"

namespace carom::internal {

// The polygons that boxes may meet, and buffers for finding them.
struct CellPairs {
  static constexpr size_t kMostQueries = BoxPairs::kMostQueries;
  static constexpr size_t kMostSquares = 4;                  // squares of a box
  static constexpr size_t kMostCells = 16;                   // cells of a box
  static constexpr size_t kMostOfOne = NearPolygons::kMost;  // polygons of a box

  struct Pair {
    const void* polygon;  // its address (`Polygon::memory`)
    uint32_t query;
  };
  // A square that a box may come into.
  struct Square {
    const GridBlock* block;
    uint32_t query;
  };
  // A cell that a box may come into, as one step stores it for the next step (cell_traversal.cc).
  struct Cell {
    alignas(16) std::array<int32_t, 4> limits;
    const GridCell* cell;
    const GridBlock* block;
    uint32_t query;
    uint32_t flags;
  };

  // Pairs by ascending query, at most `kMostOfOne` of each query, without duplicates.
  std::array<Pair, kMostQueries * kMostOfOne> pairs;
  size_t count;
  size_t boxes;  // boxes that were examined, for a meter
  std::array<Square, kMostQueries * kMostSquares> squares;
  // `cells` has room for four more cells of each query, which are written and then overwritten.
  // `items` are the polygons in the cells, and `owners` the numbers of their cells; both have spare
  // room, too.
  std::array<Cell, kMostQueries*(kMostCells + 4) + 4> cells;
  std::array<uint32_t, kMostQueries * kMostOfOne + GridBlock::kMostWide + 2 * GridCell::kWidth>
      items;
  std::array<uint16_t, kMostQueries * kMostOfOne + GridBlock::kMostWide + 2 * GridCell::kWidth>
      owners;
};

// Finds the polygons that the boxes of the active queries may meet, at most `kMostQueries` queries,
// and prefetches these polygons. The scene has a grid. Makes the squares that are not made yet,
// which charges `meter`. Returns the queries that fall back to the trees, bit k for query k; these
// queries get no pairs.
uint32_t FindPairsInCells(const SceneIndex& scene, std::span<const BoxQuery> queries,
                          CellPairs& found, WorkMeter& meter);

// Lets all active queries fall back to the trees: sets no pairs and returns these queries.
uint32_t FallBackToTrees(std::span<const BoxQuery> queries, CellPairs& found);

}  // namespace carom::internal
