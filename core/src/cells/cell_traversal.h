// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may meet a box, by the cells of the scene's grid?
//
// The squares of the grid are divided into cells, and each cell lists the polygons near it
// (index/grid_block.h). The functions here find what the functions of index/box_traversal.h find by
// bounding-box trees, for many boxes that each meet few cells: first the squares of all boxes, then
// the cells of the squares, then the polygons in the cells, so that each step prefetches the memory
// that the next step reads. Large boxes, and boxes in squares without cells, fall back to the
// trees.
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

// The result of `FindPairsInCells`, pairs of a query box and a polygon that the box may meet; and
// the buffers that the search uses. The scene's grid consists of squares, and each square is
// divided into cells, which list polygons. A query with more squares of the grid, cells or polygons
// than the limits below falls back to the bounding-box trees.
struct CellPairs {
  static constexpr size_t kMostQueries = BoxPairs::kMostQueries;
  static constexpr size_t kMostSquares = 4;                  // squares that one box meets
  static constexpr size_t kMostCells = 16;                   // cells that one box meets
  static constexpr size_t kMostOfOne = NearPolygons::kMost;  // polygons near one box

  struct Pair {
    const void* polygon;  // address of the polygon (`Polygon::memory`)
    uint32_t query;
  };
  // A square of the grid that the box of query number `query` may meet.
  struct Square {
    const GridBlock* block;
    uint32_t query;
  };
  // A cell of the grid that the box of query number `query` may meet, as `CellWalk`
  // (cell_traversal.cc) keeps it between two steps of the search. `limits` are the bounds of the
  // query's box in the cell, `flags` the flags that cell_traversal.cc defines.
  struct Cell {
    alignas(16) std::array<int32_t, 4> limits;
    const GridCell* cell;
    const GridBlock* block;
    uint32_t query;
    uint32_t flags;
  };

  // The pairs found, by ascending query, at most `kMostOfOne` of each query, without duplicates.
  std::array<Pair, kMostQueries * kMostOfOne> pairs;
  size_t count;
  // number of bounding boxes of polygons compared with query boxes, for the caller's `WorkMeter`
  size_t boxes;
  std::array<Square, kMostQueries * kMostSquares> squares;
  // The cells that the query boxes may meet; `items`, the numbers (`CellPolygons`) of the polygons
  // found in the cells; and `owners`, for each item the index of its cell in `cells`. All three
  // have spare room, since vector stores write a few elements beyond the last valid one, which
  // later stores overwrite: `cells` has room for four more cells of each query.
  std::array<Cell, kMostQueries*(kMostCells + 4) + 4> cells;
  std::array<uint32_t, kMostQueries * kMostOfOne + GridBlock::kMostWide + 2 * GridCell::kWidth>
      items;
  std::array<uint16_t, kMostQueries * kMostOfOne + GridBlock::kMostWide + 2 * GridCell::kWidth>
      owners;
};

// Sets `found` to the polygons that the boxes of the queries with `is_active` set may meet, for at
// most `CellPairs::kMostQueries` queries, and prefetches these polygons. The scene must have a
// grid: squares, each divided into cells, which list polygons. Builds the cells of the squares that
// no query has entered before, which counts as work in `meter`. Returns bit k for each query k that
// finds no pairs here, and for which the caller must search the bounding-box trees
// (index/box_traversal.h) instead.
uint32_t FindPairsInCells(const SceneIndex& scene, std::span<const BoxQuery> queries,
                          CellPairs& found, WorkMeter& meter);

// Makes all active queries fall back to the bounding-box trees: sets no pairs in `found`, and
// returns bit k for each active query k.
uint32_t FallBackToTrees(std::span<const BoxQuery> queries, CellPairs& found);

}  // namespace carom::internal
