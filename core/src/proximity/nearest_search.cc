// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/nearest_search.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "numeric/box_distance.h"

// Highway includes this file once for each instruction set. The guard macro below limits the part
// up to `#endif` to the first time.
#ifndef CAROM_CORE_SRC_NEAREST_SEARCH_CC_
#define CAROM_CORE_SRC_NEAREST_SEARCH_CC_
namespace carom::internal {
namespace {

// A scene's grid has squares, which are divided into cells that list the polygons in them. This is
// the most cells that are searched on each side of the cell that contains the point. If the search
// would reach farther, the search in the scene's bounding-box trees is faster.
constexpr double kMostCells = 3;
// A bound of the error of a point's position in its cell, and of the boxes in the cell, in units of
// 1/255 of a cell (index/grid_block.h).
constexpr float kPlaceError = 0.25F;

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/proximity/nearest_search.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/mask_bits.h"
#include "proximity/measure_ring.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

using Floats = hn::CappedTag<float, GridCell::kWidth>;

HWY_INLINE hn::Vec<Floats> Column(const GridCell::Column& column, size_t lane) {
  const hn::Rebind<uint8_t, Floats> bytes;
  const hn::Rebind<int32_t, Floats> words;
  return hn::ConvertTo(Floats(), hn::PromoteTo(words, hn::LoadU(bytes, &column[lane])));
}

// A cell, a part of the scene's grid, lists the bounding boxes of polygons. Sets `distances2` to
// lower bounds of the squared distances of a cell's boxes from the position (x, y) relative to the
// cell's lower left corner, all in units of 1/255 of the cell. Returns the lanes that have a box
// within `limit2`.
HWY_INLINE unsigned WithinCell(const GridCell& cell, float x, float y, float limit2,
                               std::array<float, GridCell::kWidth>& distances2) {
  const Floats d;
  const auto zero = hn::Zero(d);
  const auto gap = [&](const GridCell::Column& min, const GridCell::Column& below, float at,
                       size_t i) {
    const auto before = hn::Sub(Column(min, i), hn::Set(d, at + kPlaceError));
    const auto max_less = hn::Sub(hn::Set(d, at - kPlaceError - GridCell::kUnits), zero);
    return hn::Max(hn::Max(before, hn::Add(Column(below, i), max_less)), zero);
  };
  unsigned bits = 0;
  for (size_t i = 0; i < GridCell::kWidth; i += hn::Lanes(d)) {
    const auto dx = gap(cell.min_x, cell.below_x, x, i);
    const auto dy = gap(cell.min_y, cell.below_y, y, i);
    const auto square = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
    hn::StoreU(square, d, &distances2[i]);
    bits |= MaskBits(d, hn::Le(square, hn::Set(d, limit2))) << i;
  }
  return bits & cell.present;
}

// Returns the lane with the least distance among the lanes in `bits`, which has at least one.
HWY_INLINE size_t NearestOf(unsigned bits, const std::array<float, GridCell::kWidth>& distances2) {
  auto nearest = static_cast<size_t>(std::countr_zero(bits));
  for (bits &= bits - 1; bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(bits));
    if (distances2[lane] < distances2[nearest]) nearest = lane;
  }
  return nearest;
}

HWY_INLINE float LimitInUnits(double limit2, double units2) {
  return static_cast<float>(std::min(limit2 * units2 * (1 + 0x1p-18), 0x1p100));
}

HWY_INLINE double Units2Of(const GridBlock& block) {
  const double units = GridCell::kUnits * block.frame().cells_per_length;
  return units * units;
}

// The boxes of a cell that are within the search limit of a point (bit i of `bits`: the box in lane
// i), lower bounds of the squared distances of all boxes from the point, and the lane of the
// nearest box if `bits` is not 0.
struct Lanes {
  std::array<float, GridCell::kWidth> distances2;
  unsigned bits;
  size_t nearest;
};

// The search for the nearest polygon of one point. The scene's grid has squares, and each square (a
// `GridBlock`) is divided into cells, which list the polygons with boxes in the cell. A point is
// undecided if this search cannot decide with certainty which polygon is nearest.
class Search {
 public:
  Search(uint64_t mask, const NearestItem& item)
      : mask_(mask), point_(item.point), limit2_(item.reach2.high) {}

  // Visits the cells of a square of the grid within the distance `reach` of the position (x, y) in
  // the square, except the cell `skipped_cell`. The unit of x, y and `reach` is the side of a cell.
  // Also visits the wide polygons of the square: polygons that would be in more than 24 cells,
  // which no cell lists. Returns false if the point is undecided.
  bool VisitSquare(const GridBlock& block, double x, double y, double reach, int skipped_cell) {
    for (size_t i = 0; i < block.wide_count(); ++i) {
      if (!TestPolygon(block.wide(i).get())) return false;
    }
    const int last = block.cells_along() - 1;
    const auto first_of = [](double at) { return at > 0 ? static_cast<int>(at) : 0; };
    const auto last_of = [last](double at) { return at < last ? static_cast<int>(at) : last; };
    const int min_x = first_of(x - reach);
    const int max_x = last_of(x + reach);
    const int max_y = last_of(y + reach);
    for (int cy = first_of(y - reach); cy <= max_y; ++cy) {
      for (int cx = min_x; cx <= max_x; ++cx) {
        const int at = cy * (last + 1) + cx;
        if (at != skipped_cell && !VisitCell(block, at, x - cx, y - cy)) return false;
      }
    }
    return true;
  }

  // Visits the cells within the search limit in all squares of the grid other than the point's own
  // square. Returns false if the point is undecided.
  bool VisitAround(const SceneIndex& scene, const NearestItem& place, WorkMeter& meter) {
    const SceneGrid& grid = scene.grid();
    const double squares = std::sqrt(limit2_) * grid.squares_per_length() + 0x1p-8;
    const Vec2 p{(place.point.x - grid.corner().x) * grid.squares_per_length(),
                 (place.point.y - grid.corner().y) * grid.squares_per_length()};
    const auto first_of = [&](double at) { return static_cast<int>(std::max(at - squares, 0.0)); };
    const auto last_of = [&](double at, int count) {
      return static_cast<int>(std::min(at + squares, count - 1.0));
    };
    const int max_x = last_of(p.x, grid.width());
    const int max_y = last_of(p.y, grid.height());
    for (int y = first_of(p.y); y <= max_y; ++y) {
      for (int x = first_of(p.x); x <= max_x; ++x) {
        if (x == place.square[0] && y == place.square[1]) continue;
        const GridBlock* const block = grid.block(scene, x, y, meter);
        if (block == nullptr || !block->has_cells()) return false;
        const GridBlock::Frame& frame = block->frame();
        const double scale = frame.cells_per_length;
        SetUnits(*block);
        if (!VisitSquare(*block, (place.point.x - frame.corner_x) * scale,
                         (place.point.y - frame.corner_y) * scale,
                         std::sqrt(limit2_) * scale + 0x1p-8, -1)) {
          return false;
        }
      }
    }
    return true;
  }

  // Visits the polygons of a cell and of the cells that `GridCell::next` links to it, which hold
  // the polygons for which the cell has no room. The position (x, y) of the point is relative to
  // the lower left corner of the cell, in sides of a cell.
  bool VisitCell(const GridBlock& block, int index, double x, double y) {
    return VisitLinks(block, block.cells() + index, x, y);
  }
  // Visits the polygons of the point's own cell. `lanes` has the boxes of the cell within the
  // limit, computed in advance.
  bool VisitOwn(const NearestItem& item, Lanes& lanes) {
    const GridBlock& block = *item.block;
    const GridCell& cell = block.cells()[item.cell];
    units += GridCell::kWidth;
    if (lanes.bits != 0 && !VisitLanes(block, cell, lanes)) return false;
    return cell.next == 0 || VisitLinks(block, block.cells() + cell.next, item.in_x, item.in_y);
  }

  void SetUnits(const GridBlock& block) { units2_ = Units2Of(block); }

  void Write(NearestItem& item) const {
    item.polygon = Unowned<Polygon>(best_);
    item.edges = edges_;
    if (!has_best()) {
      item.verdict = NearestVerdict::kNone;
    } else if (other_lower2_ <= upper2_ || (!is_inside_ && upper2_ > item.reach2.low)) {
      item.verdict = NearestVerdict::kUndecided;
    } else {
      item.verdict = is_inside_ ? NearestVerdict::kInside : NearestVerdict::kOutside;
    }
  }

  double limit2() const { return limit2_; }

  size_t units = 0;

 private:
  bool has_best() const { return best_ != nullptr; }
  float LimitInUnits() const { return HWY_NAMESPACE::LimitInUnits(limit2_, units2_); }

  bool VisitLinks(const GridBlock& block, const GridCell* cell, double x, double y) {
    const auto units_x = static_cast<float>(x * GridCell::kUnits);
    const auto units_y = static_cast<float>(y * GridCell::kUnits);
    while (true) {
      units += GridCell::kWidth;
      Lanes lanes;
      lanes.bits = WithinCell(*cell, units_x, units_y, LimitInUnits(), lanes.distances2);
      if (lanes.bits != 0) {
        lanes.nearest = NearestOf(lanes.bits, lanes.distances2);
        if (!VisitLanes(block, *cell, lanes)) return false;
      }
      if (cell->next == 0) return true;
      cell = block.cells() + cell->next;
    }
  }

  HWY_INLINE bool VisitLanes(const GridBlock& block, const GridCell& cell, const Lanes& lanes) {
    unsigned bits = lanes.bits;
    size_t nearest = lanes.nearest;
    while (lanes.distances2[nearest] <= LimitInUnits()) {
      if (!TestPolygon(block.polygons().At(cell.items[nearest]).get())) return false;
      bits &= ~(1u << nearest);
      if (bits == 0) break;
      nearest = NearestOf(bits, lanes.distances2);
    }
    return true;
  }

  // Computes bounds of the distance of a polygon from the point. Keeps the nearest polygon so far,
  // and a lower bound of the distances of all other polygons within the search limit. Returns false
  // if the point is undecided.
  HWY_INLINE bool TestPolygon(const Polygon& polygon) {
    const Box& box = polygon.bounds();
    if ((polygon.category() & mask_) == 0 || best_ == polygon.memory() ||
        LowerDistance2(box, {point_, point_}) > limit2_) {
      return true;
    }
    const auto ring = polygon.vertices();
    if (!polygon.is_one_closed_ring() || ring.size() > kMostBoundedEdges) return false;
    units += ring.size();
    EdgeBounds bounds;
    MeasureRing(ring, point_, bounds);
    if (!(bounds.lower2 > 0)) return false;
    int winding = 0;
    if (box.Contains(point_) && !WindsAround(ring, point_, winding)) return false;
    const bool is_inside = polygon.IsFilled(winding);
    if (is_inside) bounds = {0, 0, 0};
    if (bounds.lower2 > limit2_) return true;
    if (has_best() && bounds.lower2 >= lower2_) {
      other_lower2_ = std::min(other_lower2_, bounds.lower2);
      return true;
    }
    if (has_best()) other_lower2_ = std::min(other_lower2_, lower2_);
    best_ = polygon.memory();
    is_inside_ = is_inside;
    edges_ = bounds.nearest;
    lower2_ = bounds.lower2;
    upper2_ = bounds.upper2;
    limit2_ = std::min(limit2_, upper2_);
    return true;
  }

  const uint64_t mask_;
  const Vec2 point_;
  double limit2_;
  double units2_ = 0;
  // A lower bound of the squared distances of all polygons tested so far that are within the search
  // limit `limit2_`, except the nearest one.
  double other_lower2_ = HUGE_VAL;
  const void* best_ = nullptr;  // address of the nearest polygon so far; null for none
  bool is_inside_ = false;
  uint64_t edges_ = 0;
  double lower2_ = 0;  // bounds of the squared distance of `best_` from the point
  double upper2_ = 0;
};

// Returns whether the search by cells decides which polygon is nearest to a point. The scene's grid
// has squares, which are divided into cells. Searches the point's own cell, then the other cells of
// its square within the least distance found so far, then the cells of other squares within this
// distance.
bool SearchCells(const SceneIndex& scene, const NearestItem& place, Lanes& lanes, WorkMeter& meter,
                 Search& search) {
  const GridBlock& block = *place.block;
  search.SetUnits(block);
  if (!search.VisitOwn(place, lanes)) return false;
  const double reach = std::sqrt(search.limit2()) * block.frame().cells_per_length + 0x1p-8;
  const bool is_wide = block.wide_count() > 0;
  if (std::min(place.in_x, place.in_y) > reach && std::max(place.in_x, place.in_y) + reach < 1 &&
      !is_wide) {
    return true;
  }
  if (!(reach <= kMostCells)) return false;
  if (!search.VisitSquare(block, place.x, place.y, reach, place.cell)) return false;
  const bool is_within = std::min(place.x, place.y) > reach &&
                         std::max(place.x, place.y) + reach < block.cells_along();
  return is_within || search.VisitAround(scene, place, meter);
}

// Precomputes and prefetches what the searches of a window of items (points that are searched
// together) read first: the bounding boxes of polygons within the search distance in each point's
// own cell (the cell of the scene's grid that contains the point), the nearest of these boxes, and
// its polygon.
class CellPrefetch {
 public:
  explicit HWY_INLINE CellPrefetch(std::span<const NearestItem> items) {
    for (size_t k = 0; k < items.size(); ++k) {
      nearest_[k] = nullptr;
      if (items[k].block != nullptr) SetLanes(items[k], k);
    }
    for (size_t k = 0; k < items.size(); ++k) {
      if (nearest_[k] == nullptr) continue;
      const auto* const memory = static_cast<const char*>(nearest_[k]);
      __builtin_prefetch(memory);
      __builtin_prefetch(memory + 64);
      __builtin_prefetch(memory + 128);
    }
  }

  Lanes& lanes(size_t k) { return lanes_[k]; }

 private:
  HWY_INLINE void SetLanes(const NearestItem& item, size_t k) {
    const GridCell& cell = item.block->cells()[item.cell];
    const auto x = static_cast<float>(item.in_x * GridCell::kUnits);
    const auto y = static_cast<float>(item.in_y * GridCell::kUnits);
    Lanes& lanes = lanes_[k];
    const float limit2 = LimitInUnits(item.reach2.high, Units2Of(*item.block));
    lanes.bits = WithinCell(cell, x, y, limit2, lanes.distances2);
    if (lanes.bits == 0) return;
    lanes.nearest = NearestOf(lanes.bits, lanes.distances2);
    nearest_[k] = item.block->polygons().MemoryOf(cell.items[lanes.nearest]);
  }

  std::array<Lanes, kMostNearestItems> lanes_;
  // element k: address of the polygon whose box is nearest to point k; null if no box is near
  std::array<const void*, kMostNearestItems> nearest_;
};

size_t SearchAll(const SceneIndex& scene, uint64_t mask, std::span<NearestItem> items,
                 WorkMeter& meter) {
  CellPrefetch prefetched(items);
  size_t units = 0;
  for (size_t k = 0; k < items.size(); ++k) {
    NearestItem& item = items[k];
    item.verdict = NearestVerdict::kUndecided;
    if (item.block == nullptr) continue;
    Search search(mask, item);
    if (SearchCells(scene, item, prefetched.lanes(k), meter, search)) search.Write(item);
    units += search.units;
  }
  return units;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(SearchAll);

// The scene's grid has squares, which are divided into cells. Finds the cell that contains the
// point of an item, sets the position of the item in the square and in the cell, and prefetches the
// cell. Leaves `item.block` null if the point is outside of the grid or its square has no cells.
void FindCell(const SceneIndex& scene, WorkMeter& meter, NearestItem& item) {
  const SceneGrid& grid = scene.grid();
  item.block = nullptr;
  const double x = (item.point.x - grid.corner().x) * grid.squares_per_length();
  const double y = (item.point.y - grid.corner().y) * grid.squares_per_length();
  if (!(x >= 0 && y >= 0 && x < grid.size().x && y < grid.size().y)) return;
  item.square = {static_cast<int32_t>(x), static_cast<int32_t>(y)};
  const GridBlock* const block = grid.block(scene, item.square[0], item.square[1], meter);
  if (block == nullptr || !block->has_cells()) return;
  const GridBlock::Frame& frame = block->frame();
  const int count = block->cells_along();
  const auto most = static_cast<double>(count);
  item.block = block;
  item.x = std::min(std::max((item.point.x - frame.corner_x) * frame.cells_per_length, 0.0), most);
  item.y = std::min(std::max((item.point.y - frame.corner_y) * frame.cells_per_length, 0.0), most);
  const int cell_x = std::min(static_cast<int>(item.x), count - 1);
  const int cell_y = std::min(static_cast<int>(item.y), count - 1);
  item.cell = cell_y * count + cell_x;
  item.in_x = item.x - cell_x;
  item.in_y = item.y - cell_y;
  // The search next reads the neighbours of the cell on the nearer sides: beside it, above or below
  // it, and diagonally, if they are in the same square.
  const int beside = std::clamp(cell_x + (item.in_x > 0.5 ? 1 : -1), 0, count - 1);
  const int above = std::clamp(cell_y + (item.in_y > 0.5 ? 1 : -1), 0, count - 1);
  const GridCell* const row = block->cells() + ptrdiff_t{cell_y} * count;
  const GridCell* const other = block->cells() + ptrdiff_t{above} * count;
  __builtin_prefetch(row + cell_x);
  __builtin_prefetch(row + beside);
  __builtin_prefetch(other + cell_x);
  __builtin_prefetch(other + beside);
}

}  // namespace

void FindNearest(const SceneIndex& scene, uint64_t mask, std::span<NearestItem> items,
                 WorkMeter& meter) {
  for (NearestItem& item : items) FindCell(scene, meter, item);
  meter.Spend(HWY_DYNAMIC_DISPATCH(SearchAll)(scene, mask, items, meter));
}

}  // namespace carom::internal
#endif  // HWY_ONCE
