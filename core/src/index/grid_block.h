// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons are in the cells of a square?
//
// A square of a scene's grid has cells of 64 bytes: the boxes of seven polygons, in bytes rounded
// outward, where these polygons lie in memory, and a link to more. As many cells as are good for
// the polygons there are. scene_grid.h has the squares. docs/adr/0017-grid-cells.md says why.
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

// Boxes in units of 1/255 of the cell from its lower corner, cut off at its border. Those above are
// kept as 255 minus them, so that a box is within bounds if four bytes are each at most another.
// One that begins at 0 along x or y is in the cell before this one, too, unless that is of another
// square.
struct alignas(64) GridCell {
  static constexpr size_t kWidth = 8;  // lanes that are looked at, the last one without a box
  static constexpr size_t kMost = 7;   // boxes
  static constexpr int kUnits = 255;
  using Column = std::array<uint8_t, kWidth>;

  Column min_x{}, min_y{}, below_x{}, below_y{};  // below_x: kUnits - max x
  std::array<uint32_t, kMost> items{};            // polygons, as `CellPolygons` has them
  uint16_t next = 0;                              // the cell of the block with more; 0 for none
  uint8_t present = 0;                            // bit i: lane i has a box
};
static_assert(sizeof(GridCell) == 64);

// The polygons of a square by the numbers that its cells have for them: where they lie, from the
// first of them on, so that nothing is read on the way to a polygon. Where they are too far apart
// in memory, numbers are places in a table of them.
class CellPolygons {
 public:
  CellPolygons() = default;
  // `polygons` outlive it. With a table where one of them has a number above `most`.
  explicit CellPolygons(std::span<const Unowned<Polygon>> polygons, uint32_t most = UINT32_MAX);

  // Of one of these polygons.
  uint32_t NumberOf(const Unowned<Polygon>& polygon) const;
  // Where polygon `number` lies (`Polygon::memory`).
  const void* MemoryOf(uint32_t number) const {
    if (table_ != nullptr) [[unlikely]]
      return table_[number]->memory();
    // Not by a pointer to the first one: it is of another object.
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

// A square and its polygons. Immutable but for the count of its owners, hence thread-safe.
class GridBlock {
 public:
  // Where the square is, and its cells.
  struct Frame {
    double corner_x, corner_y, cell_side, cells_per_length;
  };
  // Cells along a side, at most.
  static constexpr int kMostCells = 32;
  // Polygons that are in no cell, at most.
  static constexpr size_t kMostWide = 8;
  // More are left to the trees: to make a square of so many takes half a millisecond.
  static constexpr size_t kMostPolygons = 4096;
  // A box is in each cell that is no farther from it than this, in units. Whoever walks from cell
  // to cell may be so far off.
  static constexpr double kMargin = 0.25;

  // The square from `corner`, and all polygons whose boxes may meet it, or more than kMostPolygons
  // of them. They are owned by the scenes that have the square: an edit forgets it that comes near.
  GridBlock(Vec2 corner, double side, std::vector<Unowned<Polygon>> polygons);

  // Whether its cells are worth looking at. If not, it has neither cells nor polygons, and trees do
  // better: there are too many polygons, in few places or as large as the square.
  bool is_even() const { return is_even_; }
  const Frame& frame() const { return frame_; }
  // The same in units of cells: how many there are to a length, and the last one along a side.
  double units_per_length() const { return units_per_length_; }
  double last_unit() const { return last_unit_; }
  int cells_along() const { return along_; }
  // Row by row, then those that links lead to.
  const GridCell* cells() const { return cells_.data(); }
  const CellPolygons& polygons() const { return numbers_; }
  // So many polygons are larger than many cells, and in none; and those.
  size_t wide_count() const { return wide_count_; }
  const Unowned<Polygon>& wide(size_t i) const { return polygons_[i]; }
  size_t memory() const;  // in bytes, but for the polygons

  // Owners are counted here, as blocks are taken out of atomic pointers.
  void Share() const { owners_.fetch_add(1, std::memory_order_relaxed); }
  static void Release(const GridBlock* block) {
    if (block->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
  }

 private:
  // The cells that a box is in.
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
  bool is_even_ = false;
  Frame frame_;
  double units_per_length_;
  double last_unit_;
  std::vector<GridCell> cells_;
  std::vector<Unowned<Polygon>> polygons_;  // the wide ones; all of them for a table
  CellPolygons numbers_;
};

}  // namespace carom::internal
