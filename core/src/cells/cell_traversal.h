// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may meet a box, where its grid has cells?
//
// What index/box_traversal.h finds by trees, for many boxes that each come near few cells: first
// the squares of all boxes, then their cells, then the polygons in these, so that the memory of one
// step is on its way during the other. Boxes that are large, and squares without cells, are left to
// the trees.
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

// What boxes may meet, and room to find it.
struct CellPairs {
  static constexpr size_t kMostQueries = BoxPairs::kMostQueries;
  static constexpr size_t kMostSquares = 4;                 // of a box
  static constexpr size_t kMostCells = 16;                  // of a box
  static constexpr size_t kMostOfOne = FewPolygons::kMost;  // polygons of a box

  struct Pair {
    const void* polygon;  // where it lies (`Polygon::memory`)
    uint32_t query;
  };
  // A square that a box may come into.
  struct Square {
    const GridBlock* block;
    uint32_t query;
  };
  // A cell that a box may come into, as one of the steps leaves it to the next one
  // (cell_traversal.cc).
  struct Cell {
    alignas(16) std::array<int32_t, 4> limits;
    const GridCell* cell;
    const GridBlock* block;
    uint32_t query;
    uint32_t flags;
  };

  // By ascending query; of each at most `kMostOfOne`, none of them twice.
  std::array<Pair, kMostQueries * kMostOfOne> pairs;
  size_t count;
  size_t boxes;  // that were looked at, for a meter
  std::array<Square, kMostQueries * kMostSquares> squares;
  // Cells, of a query four more than may be while they are counted; then the polygons in these and,
  // by number, the cells that they are of, likewise.
  std::array<Cell, kMostQueries*(kMostCells + 4) + 4> cells;
  std::array<uint32_t, kMostQueries * kMostOfOne + GridBlock::kMostWide + 2 * GridCell::kWidth>
      items;
  std::array<uint16_t, kMostQueries * kMostOfOne + GridBlock::kMostWide + 2 * GridCell::kWidth>
      owners;
};

// Finds what the boxes may meet that are asked, at most `kMostQueries`, and asks for the memory of
// these polygons. The scene has a grid. Squares that are not made yet are, which counts on `meter`.
// Returns the queries that are left to the trees, bit k for query k: of these there are no pairs.
uint32_t FindPairsInCells(const SceneIndex& scene, std::span<const BoxQuery> queries,
                          CellPairs& found, WorkMeter& meter);

// The same, all of them.
uint32_t LeaveToTrees(std::span<const BoxQuery> queries, CellPairs& found);

}  // namespace carom::internal
