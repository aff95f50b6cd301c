// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/grid_block.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace carom::internal {
namespace {

// The scene's grid consists of squares, and each square is divided into cells, which list the
// polygons with boxes in the cell. `kPolygonsPerCell` is the number of polygons of a square per
// cell that gives the fastest queries, measured: with fewer, the line of a query passes more cells;
// with more, the polygons of a cell need additional, linked cells.
constexpr double kPolygonsPerCell = 3.2;
// The most cells of a square of the grid that may list one polygon. A polygon that more cells would
// list is wide: no cell lists the polygon, and a query tests it once for the whole square of the
// grid.
constexpr int kMostCellsOfOne = 24;
// The limit on the number of polygons in a cell, averaged over all pairs of a polygon and a cell
// that lists the polygon, so that a full cell weighs more. A square of the grid above the limit is
// not divided into cells, since its polygons are too unevenly spread.
constexpr size_t kMostSharing = 4 * GridCell::kWidth;

int CellsAlong(size_t polygons) {
  const double along = std::sqrt(static_cast<double>(polygons) / kPolygonsPerCell);
  return std::clamp(static_cast<int>(std::lround(along)), 1, GridBlock::kMostCells);
}

// Returns a coordinate within a cell, in units of 1/255 of the cell, clamped to [0, 255] and
// rounded down.
uint8_t ToByte(double units) {
  return static_cast<uint8_t>(std::clamp(units, 0.0, double{GridCell::kUnits}));
}

}  // namespace

CellPolygons::CellPolygons(std::span<const Unowned<Polygon>> polygons, uint32_t most) {
  if (polygons.empty()) return;
  const auto place = [](const Unowned<Polygon>& p) {
    return reinterpret_cast<uintptr_t>(p->memory());
  };
  const auto [first, last] = std::ranges::minmax(polygons, {}, place);
  first_ = place(first);
  const bool is_aligned = std::ranges::all_of(
      polygons, [&](const Unowned<Polygon>& p) { return (place(p) - first_) % kUnit == 0; });
  if (!is_aligned || (place(last) - first_) / kUnit > most) table_ = polygons.data();
}

uint32_t CellPolygons::NumberOf(const Unowned<Polygon>& polygon) const {
  if (table_ != nullptr) return static_cast<uint32_t>(&polygon - table_);
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(polygon->memory()) - first_) / kUnit);
}

GridBlock::GridBlock(Vec2 corner, double side, std::vector<Unowned<Polygon>> polygons)
    : along_(CellsAlong(polygons.size())),
      frame_{corner.x, corner.y, side / along_, along_ / side},
      units_per_length_(GridCell::kUnits * frame_.cells_per_length),
      last_unit_(double{GridCell::kUnits} * along_ - 1),
      polygons_(std::move(polygons)) {
  if (polygons_.size() <= kMostPolygons) {
    PutWideFirst();
    numbers_ = CellPolygons(polygons_);
    has_cells_ = wide_count_ <= kMostWide && MakeCells();
  }
  if (!has_cells_) {
    wide_count_ = 0;
    numbers_ = {};
  }
  if (numbers_.has_table()) return;
  polygons_.resize(wide_count_);
  polygons_.shrink_to_fit();
}

size_t GridBlock::memory() const {
  return sizeof(*this) + cells_.capacity() * sizeof(GridCell) +
         polygons_.capacity() * sizeof(polygons_[0]);
}

// Returns a polygon's box enlarged by the margin `kMargin`, in units of 1/255 of a cell from the
// lower left corner of the block's square of the grid. (A square is divided into cells.)
Box GridBlock::InUnits(const Box& box) const {
  const double units = units_per_length_;
  return {{(box.min.x - frame_.corner_x) * units - kMargin,
           (box.min.y - frame_.corner_y) * units - kMargin},
          {(box.max.x - frame_.corner_x) * units + kMargin,
           (box.max.y - frame_.corner_y) * units + kMargin}};
}

// Returns the range of cells of the block's square of the grid that list a box; `units` is the box
// in units of 1/255 of a cell from the corner of the square. A box that begins in the first unit of
// a cell along x, or y, is also in the adjacent cell to the left, or below.
GridBlock::Range GridBlock::RangeOf(const Box& units) const {
  const auto cell = [end = last_unit_](double at) {
    return static_cast<int>(std::clamp(at, 0.0, end)) / GridCell::kUnits;
  };
  return {cell(units.min.x - 1), cell(units.min.y - 1), cell(units.max.x), cell(units.max.y)};
}

void GridBlock::PutWideFirst() {
  const auto end = std::partition(polygons_.begin(), polygons_.end(), [this](const auto& p) {
    return RangeOf(InUnits(p->bounds())).count() > kMostCellsOfOne;
  });
  wide_count_ = static_cast<uint32_t>(end - polygons_.begin());
}

// Makes the cells of the block's square of the grid and returns true, or returns false if the
// polygons are too unevenly spread for cells. A `GridCell` lists seven polygons and links to an
// additional cell for more: a cell with many polygons is a long chain of linked cells, which is
// slow to search.
bool GridBlock::MakeCells() {
  const auto along = static_cast<size_t>(along_);
  std::vector<uint16_t> counts(along * along);
  for (size_t i = wide_count_; i < polygons_.size(); ++i) {
    const Range range = RangeOf(InUnits(polygons_[i]->bounds()));
    for (int y = range.min_y; y <= range.max_y; ++y) {
      for (int x = range.min_x; x <= range.max_x; ++x)
        ++counts[static_cast<size_t>(y) * along_ + x];
    }
  }
  size_t total = 0;
  size_t sharing = 0;
  size_t links = 0;
  for (const uint16_t count : counts) {
    total += count;
    sharing += size_t{count} * count;
    if (count > 0) links += (count - 1) / GridCell::kMost;
  }
  if (sharing > kMostSharing * total) return false;
  cells_.reserve(counts.size() + links);
  cells_.resize(counts.size());
  // For each cell of the square, the index of the last cell in the chain of cells linked to that
  // cell.
  std::vector<uint16_t>& last = counts;
  for (size_t i = 0; i < last.size(); ++i) last[i] = static_cast<uint16_t>(i);
  for (size_t i = wide_count_; i < polygons_.size(); ++i) {
    const Box units = InUnits(polygons_[i]->bounds());
    Put(units, RangeOf(units), numbers_.NumberOf(polygons_[i]), last);
  }
  return true;
}

// Adds the box of the polygon with the number `item` to the cells of `range`. `units` is the box in
// units of 1/255 of a cell; each cell stores the box's coordinates relative to the cell, as
// integers rounded outward. The parts of the box beyond the border of a cell are stored in the
// adjacent cells.
void GridBlock::Put(const Box& units, const Range& range, uint32_t item,
                    std::vector<uint16_t>& last) {
  for (int y = range.min_y; y <= range.max_y; ++y) {
    for (int x = range.min_x; x <= range.max_x; ++x) {
      GridCell& cell = CellWithRoom(static_cast<size_t>(y) * along_ + x, last);
      const double left = GridCell::kUnits * x;
      const double lower = GridCell::kUnits * y;
      const auto lane = static_cast<size_t>(std::countr_one(cell.present));
      cell.min_x[lane] = ToByte(units.min.x - left);
      cell.min_y[lane] = ToByte(units.min.y - lower);
      cell.below_x[lane] = ToByte(GridCell::kUnits - (units.max.x - left));
      cell.below_y[lane] = ToByte(GridCell::kUnits - (units.max.y - lower));
      cell.items[lane] = item;
      cell.present = static_cast<uint8_t>(cell.present | 1 << lane);
    }
  }
}

GridCell& GridBlock::CellWithRoom(size_t at, std::vector<uint16_t>& last) {
  GridCell& cell = cells_[last[at]];
  if (cell.present != (1 << GridCell::kMost) - 1) return cell;
  last[at] = cell.next = static_cast<uint16_t>(cells_.size());
  return cells_.emplace_back();
}

}  // namespace carom::internal
