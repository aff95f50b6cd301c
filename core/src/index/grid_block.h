// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons have boxes in which cells of a square?
//
// A scene's grid (scene_grid.h) consists of squares, and each square is divided into cells: a
// square with more polygons has more cells. A cell takes 64 bytes: the boxes of up to seven
// polygons, in bytes rounded outward, the numbers of these polygons, and a link to an additional
// cell for further polygons. docs/adr/0017-grid-cells.md gives the reasons.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "index/unowned.h"

namespace carom::internal {

// The boxes of up to seven polygons in a cell of a square of the scene's grid. Coordinates are in
// units of 1/255 of the cell from the cell's lower left corner, clamped to the cell. Maxima are
// stored as 255 minus the maximum, so that four comparisons of bytes by "at most" test a box
// against bounds. A box that begins at unit 0 along x, or y, is also in the adjacent cell to the
// left, or below, unless the adjacent cell belongs to another square.
struct alignas(64) GridCell {
  static constexpr size_t kWidth = 8;  // boxes compared at a time; element 7 has no box
  static constexpr size_t kMost = 7;   // the most boxes of a cell
  static constexpr int kUnits = 255;
  using Column = std::array<uint8_t, kWidth>;

  Column min_x{}, min_y{}, below_x{}, below_y{};  // below_x is kUnits - max x
  std::array<uint32_t, kMost> items{};            // numbers of the polygons (`CellPolygons`)
  uint16_t next = 0;    // index of a cell with more boxes of this cell; 0 for none
  uint8_t present = 0;  // bit i: lane i has a box
};
static_assert(sizeof(GridCell) == 64);

// Numbers the polygons of a square of the grid with 32-bit numbers, which the square's cells store.
// A number is the distance of the polygon's address from the lowest address of a polygon of the
// square, in units of `kUnit` bytes, so that no memory is read to find a polygon. If the polygons
// are too far apart in memory, a number is an index in a table of polygons instead.
class CellPolygons {
 public:
  CellPolygons() = default;
  // Numbers `polygons`, which outlive this object. Uses the table if a distance between addresses
  // exceeds `most` units of `kUnit` bytes.
  explicit CellPolygons(std::span<const Unowned<Polygon>> polygons, uint32_t most = UINT32_MAX);

  // Returns the number of `polygon`, which must be one of the polygons given to the constructor.
  uint32_t NumberOf(const Unowned<Polygon>& polygon) const;
  // Returns the address of polygon `number` (`Polygon::memory`).
  const void* MemoryOf(uint32_t number) const {
    if (table_ != nullptr) [[unlikely]]
      return table_[number]->memory();
    // Adds integers, not an offset to a pointer, since pointer arithmetic between two polygons,
    // which are separate objects, is undefined.
    return reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr)
        first_ + kUnit * number);
  }
  bool has_table() const { return table_ != nullptr; }
  Unowned<Polygon> At(uint32_t number) const { return Unowned<Polygon>(MemoryOf(number)); }

 private:
  static constexpr uintptr_t kUnit = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  uintptr_t first_ = 0;
  const Unowned<Polygon>* table_ = nullptr;
};

// The scene's grid consists of squares, and each square is divided into cells, which list the
// polygons with boxes in the cell. A block holds the cells of one square. Immutable but for the
// count of its owners (pages of `SceneGrid`s that share the block), hence thread-safe.
class GridBlock {
 public:
  // The position of the square's lower left corner, the length of a side of a cell, and the
  // reciprocal of this length.
  struct Frame {
    double corner_x, corner_y, cell_side, cells_per_length;
  };
  // The most cells along a side of the square.
  static constexpr int kMostCells = 32;
  // The most wide polygons of a square with cells. A polygon is wide if it would be in more than 24
  // cells; no cell lists it.
  static constexpr size_t kMostWide = 8;
  // The most polygons of a square with cells. In a square with more, queries use the trees of the
  // scene index: to build the cells of more polygons would take over half a millisecond.
  static constexpr size_t kMostPolygons = 4096;
  // A margin in units of 1/255 of a cell: the box of a polygon is in each cell within this distance
  // of the box, so that a walk along a line from cell to cell tolerates an error of the position on
  // the line of up to the margin.
  static constexpr double kMargin = 0.25;

  // Makes the block of the square with the lower corner `corner`. `polygons` are all polygons with
  // boxes that may meet the square, or only kMostPolygons + 1 of them if there are more. The block
  // does not own the polygons: each version of the scene that shares the block owns them, since a
  // version made by an edit near the square does not share the block.
  GridBlock(Vec2 corner, double side, std::vector<Unowned<Polygon>> polygons);

  // Returns whether the block has cells. A block without cells has no polygons, and queries use the
  // trees of the scene index, which are faster where polygons are too many, unevenly spread, or as
  // large as the square.
  bool has_cells() const { return has_cells_; }
  const Frame& frame() const { return frame_; }
  // Return values in units of 1/255 of a cell: the number of units per length, and the last unit
  // along a side of the square.
  double units_per_length() const { return units_per_length_; }
  double last_unit() const { return last_unit_; }
  int cells_along() const { return along_; }
  // Returns the cells of the square row by row, followed by the additional cells that
  // `GridCell::next` links to.
  const GridCell* cells() const { return cells_.data(); }
  const CellPolygons& polygons() const { return numbers_; }
  // Return the number of wide polygons, which would be in more than 24 cells and which no cell
  // lists, and wide polygon `i`.
  size_t wide_count() const { return wide_count_; }
  const Unowned<Polygon>& wide(size_t i) const { return polygons_[i]; }
  size_t memory() const;  // in bytes, without the polygons

  // `Share` adds an owner of the block (a page of a `SceneGrid`). `Release` removes an owner, and
  // deletes the block if it was the last owner. The block counts its owners itself, since
  // `SceneGrid` holds blocks by atomic pointers, which cannot be `shared_ptr`.
  void Share() const { owners_.fetch_add(1, std::memory_order_relaxed); }
  static void Release(const GridBlock* block) {
    if (block->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
  }

 private:
  // The columns (x) and rows (y), from the least to the greatest, of the cells of the square that a
  // box is in.
  struct Range {
    int min_x, min_y, max_x, max_y;

    int count() const { return (max_x - min_x + 1) * (max_y - min_y + 1); }
  };

  Box InUnits(const Box& box) const;
  Range RangeOf(const Box& units) const;
  void PutWideFirst();
  bool MakeCells();
  void Put(const Box& units, const Range& range, uint32_t item, std::vector<uint16_t>& last);
  GridCell& CellWithRoom(size_t at, std::vector<uint16_t>& last);

  int along_ = 1;
  uint32_t wide_count_ = 0;
  mutable std::atomic<uint32_t> owners_ = 1;
  bool has_cells_ = false;
  Frame frame_;
  double units_per_length_;
  double last_unit_;
  std::vector<GridCell> cells_;
  // If `numbers_` uses a table: all polygons of the square, the wide polygons (see `wide`) first.
  // Otherwise: the wide polygons.
  std::vector<Unowned<Polygon>> polygons_;
  CellPolygons numbers_;
};

}  // namespace carom::internal
