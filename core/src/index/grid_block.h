// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons are in the cells of a square?
//
// A square of a scene's grid has cells of 64 bytes. A cell has the boxes of seven polygons, in
// bytes rounded outward, the addresses of these polygons, and a link to another cell with more. The
// number of cells depends on the number of polygons. scene_grid.h has the squares, and
// docs/adr/0017-grid-cells.md the reasons.
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

// The boxes of up to seven polygons, in units of 1/255 of the cell from the cell's lower corner,
// clamped to the cell. Maxima are stored as 255 minus the maximum, so that four comparisons of
// bytes by "at most" test a box against bounds. A box that begins at unit 0 along x or y is also in
// the cell before this one, unless the cell before belongs to another square.
struct alignas(64) GridCell {
  static constexpr size_t kWidth = 8;  // lanes that are compared; the last lane never has a box
  static constexpr size_t kMost = 7;   // the most boxes of a cell
  static constexpr int kUnits = 255;
  using Column = std::array<uint8_t, kWidth>;

  Column min_x{}, min_y{}, below_x{}, below_y{};  // below_x is kUnits - max x
  std::array<uint32_t, kMost> items{};            // numbers in `CellPolygons`
  uint16_t next = 0;    // the next cell of the block with more boxes; 0 for none
  uint8_t present = 0;  // bit i: lane i has a box
};
static_assert(sizeof(GridCell) == 64);

// Numbers the polygons of a square for its cells. A number is the distance of the polygon's address
// from the lowest address, so that no memory is read to find a polygon. Where the polygons are too
// far apart in memory, a number is an index in a table of polygons instead.
class CellPolygons {
 public:
  CellPolygons() = default;
  // Numbers `polygons`, which outlive this object. Uses the table if a distance exceeds `most`.
  explicit CellPolygons(std::span<const Unowned<Polygon>> polygons, uint32_t most = UINT32_MAX);

  // Returns the number of one of the polygons.
  uint32_t NumberOf(const Unowned<Polygon>& polygon) const;
  // Returns the address of polygon `number` (`Polygon::memory`).
  const void* MemoryOf(uint32_t number) const {
    if (table_ != nullptr) [[unlikely]]
      return table_[number]->memory();
    // Computes an address instead of a pointer offset, since the polygon at `first_` is another
    // object.
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
  // The position of the square, and the size of its cells.
  struct Frame {
    double corner_x, corner_y, cell_side, cells_per_length;
  };
  // The most cells along a side.
  static constexpr int kMostCells = 32;
  // The most polygons that are in no cell.
  static constexpr size_t kMostWide = 8;
  // The most polygons of a block. A square with more has no cells, and queries use the trees: to
  // build the cells of so many polygons takes half a millisecond.
  static constexpr size_t kMostPolygons = 4096;
  // A box is in each cell within this distance of the box, in units. So a walk from cell to cell
  // tolerates a position error of up to this margin.
  static constexpr double kMargin = 0.25;

  // Makes the block of the square with the lower corner `corner`. `polygons` are all polygons with
  // boxes that may meet the square, or only the first kMostPolygons + 1 if the square has more. The
  // block does not own the polygons: each scene that shares the block owns them, since an edit near
  // a square invalidates the square.
  GridBlock(Vec2 corner, double side, std::vector<Unowned<Polygon>> polygons);

  // Returns whether the block has cells. A block without cells has no polygons, and queries use the
  // trees, which are faster where polygons are too many, unevenly spread, or as large as the
  // square.
  bool has_cells() const { return has_cells_; }
  const Frame& frame() const { return frame_; }
  // Return the frame's values in units: units per length, and the last unit along a side.
  double units_per_length() const { return units_per_length_; }
  double last_unit() const { return last_unit_; }
  int cells_along() const { return along_; }
  // Returns the cells row by row, followed by the cells that `GridCell::next` links to.
  const GridCell* cells() const { return cells_.data(); }
  const CellPolygons& polygons() const { return numbers_; }
  // Return the wide polygons, which would be in many cells, and are in none.
  size_t wide_count() const { return wide_count_; }
  const Unowned<Polygon>& wide(size_t i) const { return polygons_[i]; }
  size_t memory() const;  // in bytes, without the polygons

  // Count the owners. The block has a count of its own, since `SceneGrid` holds blocks by atomic
  // pointers.
  void Share() const { owners_.fetch_add(1, std::memory_order_relaxed); }
  static void Release(const GridBlock* block) {
    if (block->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
  }

 private:
  // The range of cells that a box is in.
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
  std::vector<Unowned<Polygon>>
      polygons_;  // the wide polygons; all polygons if `numbers_` uses the table
  CellPolygons numbers_;
};

}  // namespace carom::internal
