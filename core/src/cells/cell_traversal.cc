// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cells/cell_traversal.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cells/cell_traversal.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cells/set_items.h"
#include "hwy/highway.h"
#include "numeric/mask_bits.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

// Makes all queries fall back to the bounding-box trees: without vector instructions, the cells of
// the grid are no faster than the trees.
uint32_t FindAllInCells(const SceneIndex&, std::span<const BoxQuery> queries, CellPairs& found,
                        WorkMeter&) {
  return FallBackToTrees(queries, found);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 4>;
using Words = hn::FixedTag<int32_t, 4>;
using Bytes = hn::CappedTag<uint8_t, 4 * GridCell::kWidth>;  // the four columns of a GridCell
using Corners = hn::Vec<Words>;  // a box in whole numbers: minimum x and y, maximum x and y

// Returns the corners of `box` as (box - corner) * scale, truncated to whole numbers and clamped to
// [0, most(i)], where most(i) has the limits of the lanes from i on. `corner` points to the x and y
// of a point.
template <class Most>
HWY_INLINE Corners PlaceOf(const Box& box, const double* corner, double scale, const Most& most) {
  const Doubles d;
  const hn::Rebind<int32_t, Doubles> words;
  const double* const from = &box.min.x;
  const auto part = [&](size_t i) HWY_ATTR {
    const auto to = hn::Sub(hn::LoadU(d, from + i), hn::LoadDup128(d, corner));
    const auto at = hn::Max(hn::Mul(to, hn::Set(d, scale)), hn::Zero(d));
    return hn::DemoteTo(words, hn::Min(at, most(i)));
  };
  if constexpr (hn::MaxLanes(Doubles()) == 4) {
    return part(0);
  } else {
    return hn::Combine(Words(), part(2), part(0));
  }
}

// Returns whether `box` meets another box, which `sides` describes by its maximum x and y and its
// negated minimum x and y.
HWY_INLINE bool Meets(const Box& box, const double* sides) {
  alignas(32) static constexpr double kSigns[] = {0, 0, -0.0, -0.0};
  const Doubles d;
  for (size_t i = 0; i < 4; i += hn::Lanes(d)) {
    const auto negated = hn::Xor(hn::LoadU(d, &box.min.x + i), hn::Load(d, kSigns + i));
    if (!hn::AllTrue(d, hn::Le(negated, hn::Load(d, sides + i)))) return false;
  }
  return true;
}

HWY_INLINE std::array<int32_t, 4> ArrayOf(Corners corners) {
  std::array<int32_t, 4> array;
  hn::StoreU(corners, Words(), array.data());
  return array;
}

// Returns the indices of the cells of a square of the grid that contain coordinates in units of
// 1/255 of a cell's side: units / 255, for units below 2^15. `UnitsOf` returns the coordinates, in
// these units, at which the cells with given indices begin.
HWY_INLINE Corners CellsOf(Corners units) {
  return hn::ShiftRight<23>(hn::Mul(units, hn::Set(Words(), 0x8081)));
}
HWY_INLINE Corners UnitsOf(Corners cells) { return hn::Sub(hn::ShiftLeft<8>(cells), cells); }

// Returns four limits: a box in a `GridCell` meets `reach` if its values in the four columns of the
// cell are at most these limits. `reach` is in units of 1/255 of the cell's side. The limits are
// 255 minus the minimum of `reach` for the columns `below_x` and `below_y`, and the maximum of
// `reach` for `min_x` and `min_y`.
HWY_INLINE Corners LimitsOf(Corners reach) {
  alignas(16) static constexpr int32_t kTurned[] = {GridCell::kUnits, GridCell::kUnits, 0, 0};
  const Words d;
  const auto cut = hn::Min(hn::Max(reach, hn::Zero(d)), hn::Set(d, GridCell::kUnits));
  return hn::Xor(cut, hn::Load(d, kTurned));
}

// Returns the mask as bits: bit i for byte i.
HWY_INLINE uint32_t BitsOf(hn::Mask<Bytes> mask) { return MaskBits(Bytes(), mask); }

// Flags of a cell that a query searches (`CellPairs::Cell::flags`). The scene's grid consists of
// squares, and each square is divided into cells, which list the boxes of polygons. A box that
// begins at unit 0 of a cell along x, or y, is also listed in the cell to the left, or below.
// kSeenToTheLeft, kSeenBelow: the query has searched that neighbor cell, so it skips the boxes that
// begin at 0; the flags have the bits that `Meeting` uses for the bytes of the columns `min_x` and
// `min_y`. kSeen: the query may have found polygons of the cell in another square of the grid.
// kHasWide: the query must add the wide polygons of the square, which are in no cell.
constexpr uint32_t kSeenToTheLeft = 0xFF;
constexpr uint32_t kSeenBelow = 0xFF00;
constexpr uint32_t kSeenColumns = kSeenToTheLeft | kSeenBelow;
constexpr uint32_t kSeen = 1 << 16;
constexpr uint32_t kHasWide = 1 << 17;

// Returns bit k for each polygon's box k in `cell`, a cell of the scene's grid, that is within
// `at.limits`, that is, meets the query's box, and that the query has not found before in a
// neighbor cell (`at.flags`).
HWY_INLINE uint32_t Meeting(const GridCell& cell, const CellPairs::Cell& at) {
  // For each byte of the cell's four columns, the index of the byte of `at.limits` that bounds it.
  // The limits are 32-bit words below 2^8, so their lowest bytes suffice.
  alignas(32) static constexpr uint8_t kLimits[] = {8,  8,  8,  8,  8,  8, 8, 8, 12, 12, 12,
                                                    12, 12, 12, 12, 12, 0, 0, 0, 0,  0,  0,
                                                    0,  0,  4,  4,  4,  4, 4, 4, 4,  4};
  const Bytes d;
  const hn::Repartition<int32_t, Bytes> words;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&cell);
  const auto limits = hn::BitCast(d, hn::LoadDup128(words, at.limits.data()));
  uint32_t within = 0;
  uint32_t zeros = 0;
  for (size_t i = 0; i < sizeof(kLimits); i += hn::Lanes(d)) {
    const auto box = hn::Load(d, bytes + i);
    const auto limit = hn::TableLookupBytes(limits, hn::Load(d, kLimits + i));
    within |= BitsOf(hn::Eq(hn::Min(box, limit), box)) << i;
    zeros |= BitsOf(hn::Eq(box, hn::Zero(d))) << i;
  }
  uint32_t bits = within & ~(zeros & at.flags & kSeenColumns);
  bits &= bits >> 16;
  return bits & bits >> 8 & cell.present;
}

// Finds the polygons that the boxes of several queries may meet, by the scene's grid: it consists
// of squares, each square is divided into cells, and each cell lists the numbers (items) of the
// polygons in it. The block of a square has its cells, and its wide polygons: they would be in so
// many cells that no cell lists them. Performs each step (squares, cells, polygon numbers,
// polygons) for all boxes before the next step, so that cache misses of different boxes overlap.
class CellWalk {
 public:
  HWY_INLINE CellWalk(const SceneIndex& scene, std::span<const BoxQuery> queries, CellPairs& found,
                      WorkMeter& meter)
      : scene_(scene),
        grid_(scene.grid()),
        queries_(queries),
        found_(found),
        meter_(meter),
        cells_(found.cells.data()) {}

  // Finds all pairs of a query and a polygon. Returns bit k for each query k that falls back to the
  // bounding-box trees.
  HWY_INLINE uint32_t Run() {
    FindCells(FindSquares());
    FindPolygons(FindItems());
    return fallbacks_;
  }

 private:
  // Sets `found_.squares` to the squares of the grid that the boxes of the active queries meet.
  // Returns the number of these squares.
  HWY_INLINE size_t FindSquares() {
    const Box& bounds = scene_.bounds();
    alignas(32) const double sides[] = {bounds.max.x, bounds.max.y, -bounds.min.x, -bounds.min.y};
    const double last_x = grid_.size().x - 1;
    const double last_y = grid_.size().y - 1;
    alignas(32) const double last[] = {last_x, last_y, last_x, last_y};
    const auto most = [&](size_t i) HWY_ATTR { return hn::Load(Doubles(), &last[i]); };
    size_t count = 0;
    for (uint32_t k = 0; k < queries_.size(); ++k) {
      if (!queries_[k].is_active || !Meets(queries_[k].reach, sides)) continue;
      const auto at =
          ArrayOf(PlaceOf(queries_[k].reach, &grid_.corner().x, grid_.squares_per_length(), most));
      const bool is_one = ((at[0] ^ at[2]) | (at[1] ^ at[3])) == 0;
      const size_t first = count;
      if (is_one ? AddSquare(at[0], at[1], k, count) : AddSquares(at, k, count)) continue;
      FallBack(k);
      count = first;
    }
    return count;
  }
  // Adds square (x, y) of the grid for query k. Returns false if the cells of the square are not
  // built because the meter has stopped the work.
  HWY_INLINE bool AddSquare(int32_t x, int32_t y, uint32_t k, size_t& count) {
    const GridBlock* const block = grid_.block(scene_, x, y, meter_);
    if (block == nullptr) return false;
    __builtin_prefetch(block);
    __builtin_prefetch(reinterpret_cast<const char*>(block) + sizeof(*block) - 1);
    found_.squares[count++] = {block, k};
    return true;
  }
  // Adds the squares of the grid from (at[0], at[1]) to (at[2], at[3]) for query k. Returns false
  // if they are more than two along x or y, or if the cells of a square are not built because the
  // meter has stopped the work.
  HWY_NOINLINE bool AddSquares(const std::array<int32_t, 4>& at, uint32_t k, size_t& count) {
    if (std::max(at[2] - at[0], at[3] - at[1]) > 1) return false;
    for (int32_t y = at[1]; y <= at[3]; ++y) {
      for (int32_t x = at[0]; x <= at[2]; ++x) {
        if (!AddSquare(x, y, k, count)) return false;
      }
    }
    return true;
  }

  // Appends to `found_.cells` the cells that the boxes of the queries meet in the first `squares`
  // of `found_.squares`.
  HWY_INLINE void FindCells(size_t squares) {
    uint32_t query = UINT32_MAX;
    for (size_t i = 0; i < squares; ++i) {
      const CellPairs::Square& square = found_.squares[i];
      const bool is_first = square.query != query;
      if (is_first) first_ = cells_;
      query = square.query;
      if (AddCells(square, is_first ? 0 : kSeen)) continue;
      FallBack(query);
      cells_ = first_;
      while (i + 1 < squares && found_.squares[i + 1].query == query) ++i;
    }
  }
  // Adds the cells of a square of the grid that the box of the square's query meets. Returns false
  // if the box meets too many cells, or if the square has no cells.
  HWY_INLINE bool AddCells(const CellPairs::Square& square, uint32_t flags) {
    const GridBlock* const block = square.block;
    const uint32_t k = square.query;
    if (!block->has_cells()) return false;
    const auto last = hn::Set(Doubles(), block->last_unit());
    const Corners reach = PlaceOf(queries_[k].reach, &block->frame().corner_x,
                                  block->units_per_length(), [&](size_t) HWY_ATTR { return last; });
    const Corners cells = CellsOf(reach);
    const auto at = ArrayOf(cells);
    const int32_t right = at[2] - at[0];
    const int32_t up = at[3] - at[1];
    if ((right | up) > 1 || (block->wide_count() | flags) != 0) [[unlikely]] {
      return AddMany(reach, at, square, flags);
    }
    // The box meets at most two columns and two rows of cells. Writes up to four cells without a
    // branch; the next write overwrites a cell that the box does not meet.
    const Words d;
    const Corners corner = UnitsOf(cells);
    const Corners low = LimitsOf(hn::Sub(reach, hn::ConcatLowerLower(d, corner, corner)));
    const Corners high = LimitsOf(hn::Sub(reach, hn::ConcatUpperUpper(d, corner, corner)));
    const ptrdiff_t along = block->cells_along();
    const GridCell* const cell = block->cells() + (at[1] * along + at[0]);
    const GridCell* const above = cell + up * along;
    CellPairs::Cell* to = cells_;
    Put(cell, low, square, 0, to);
    Put(cell + right, hn::OddEven(low, high), square, kSeenToTheLeft, to + 1);
    to += 1 + right;
    Put(above, hn::OddEven(high, low), square, kSeenBelow, to);
    to += up;
    Put(above + right, high, square, kSeenColumns, to);
    cells_ = to + (right & up);
    return true;
  }
  static HWY_INLINE void Put(const GridCell* cell, Corners limits, const CellPairs::Square& square,
                             uint32_t flags, CellPairs::Cell* to) {
    __builtin_prefetch(cell);
    hn::Store(limits, Words(), to->limits.data());
    to->cell = cell;
    to->block = square.block;
    to->query = square.query;
    to->flags = flags;
  }
  // Adds cells as `AddCells` does, in the rarer cases: the box meets more than four cells or
  // several squares of the grid, or the square has wide polygons (`GridBlock::wide`), which are in
  // no cell.
  HWY_NOINLINE bool AddMany(Corners reach, const std::array<int32_t, 4>& at,
                            const CellPairs::Square& square, uint32_t flags) {
    const ptrdiff_t count = ptrdiff_t{at[2] - at[0] + 1} * (at[3] - at[1] + 1);
    if (cells_ - first_ + count > ptrdiff_t{CellPairs::kMostCells}) return false;
    if (square.block->wide_count() > 0) flags |= kHasWide;
    for (int32_t y = at[1]; y <= at[3]; ++y) {
      const GridCell* const row =
          square.block->cells() + ptrdiff_t{y} * square.block->cells_along();
      for (int32_t x = at[0]; x <= at[2]; ++x) {
        alignas(16) const int32_t cell[] = {x, y, x, y};
        const Corners in_cell = hn::Sub(reach, UnitsOf(hn::Load(Words(), cell)));
        Put(row + x, LimitsOf(in_cell), square, flags, cells_++);
        flags = (flags & ~kHasWide) | kSeenToTheLeft;
      }
      flags = (flags & ~kSeenToTheLeft) | kSeenBelow;
    }
    return true;
  }

  // Sets `found_.items` to the numbers of the polygons that the queries find in their cells, and
  // `found_.owners` to the indices of these cells. Returns the number of items. A query with more
  // than `CellPairs::kMostOfOne` items falls back to the bounding-box trees.
  HWY_INLINE size_t FindItems() {
    const CellPairs::Cell* const begin = found_.cells.data();
    size_t count = 0;
    size_t first = 0;  // index of the first item of the current query
    size_t links = 0;
    uint32_t query = UINT32_MAX;
    uint16_t number = 0;  // index of the cell in `found_.cells`
    for (const CellPairs::Cell* at = begin; at != cells_; ++at, ++number) {
      if (at->query != query) first = count;
      query = at->query;
      if ((at->flags & kHasWide) != 0) count = AddWide(*at, count);
      const GridCell* cell = at->cell;
      while (true) {
        count += WriteItems(*cell, Meeting(*cell, *at), number, &found_.items[count],
                            &found_.owners[count]);
        if (cell->next == 0 || count - first > CellPairs::kMostOfOne) break;
        cell = at->block->cells() + cell->next;
        ++links;
      }
      if (count - first <= CellPairs::kMostOfOne) continue;
      FallBack(query);
      count = first;
      for (; at + 1 != cells_ && at[1].query == query; ++at) ++number;
    }
    found_.boxes = GridCell::kWidth * (static_cast<size_t>(cells_ - begin) + links);
    return count;
  }
  HWY_NOINLINE size_t AddWide(const CellPairs::Cell& at, size_t count) {
    for (size_t i = 0; i < at.block->wide_count(); ++i) {
      found_.items[count] = at.block->polygons().NumberOf(at.block->wide(i));
      found_.owners[count++] = static_cast<uint16_t>(&at - found_.cells.data());
    }
    return count;
  }

  // Sets `found_.pairs` to the pairs of a polygon and a query that the first `count` elements of
  // `found_.items` and `found_.owners` describe, each pair once, and prefetches the polygons.
  HWY_INLINE void FindPolygons(size_t count) {
    CellPairs::Pair* end = found_.pairs.data();
    for (size_t i = 0; i < count; ++i) {
      const CellPairs::Cell& cell = found_.cells[found_.owners[i]];
      const void* const polygon = cell.block->polygons().MemoryOf(found_.items[i]);
      if ((cell.flags & kSeen) != 0 && IsFound({polygon, cell.query}, end)) continue;
      const auto* const memory = static_cast<const char*>(polygon);
      __builtin_prefetch(memory);
      __builtin_prefetch(memory + 64);
      __builtin_prefetch(memory + 128);
      *end++ = {polygon, cell.query};
    }
    found_.count = static_cast<size_t>(end - found_.pairs.data());
  }
  HWY_NOINLINE bool IsFound(const CellPairs::Pair& pair, const CellPairs::Pair* end) const {
    for (; end != found_.pairs.data() && end[-1].query == pair.query; --end) {
      if (end[-1].polygon == pair.polygon) return true;
    }
    return false;
  }

  HWY_INLINE void FallBack(uint32_t k) { fallbacks_ |= uint32_t{1} << k; }

  const SceneIndex& scene_;
  const SceneGrid& grid_;
  const std::span<const BoxQuery> queries_;
  CellPairs& found_;
  WorkMeter& meter_;
  CellPairs::Cell* cells_;  // the end of the cells in `found_.cells`
  CellPairs::Cell* first_;  // the first cell of the current query
  uint32_t fallbacks_ = 0;
};

uint32_t FindAllInCells(const SceneIndex& scene, std::span<const BoxQuery> queries,
                        CellPairs& found, WorkMeter& meter) {
  return CellWalk(scene, queries, found, meter).Run();
}

#endif

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(FindAllInCells);

}  // namespace

uint32_t FallBackToTrees(std::span<const BoxQuery> queries, CellPairs& found) {
  found.count = found.boxes = 0;
  uint32_t left = 0;
  for (size_t k = 0; k < queries.size(); ++k) left |= uint32_t{queries[k].is_active} << k;
  return left;
}

uint32_t FindPairsInCells(const SceneIndex& scene, std::span<const BoxQuery> queries,
                          CellPairs& found, WorkMeter& meter) {
  return HWY_DYNAMIC_DISPATCH(FindAllInCells)(scene, queries, found, meter);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
