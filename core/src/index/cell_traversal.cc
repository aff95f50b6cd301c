// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/cell_traversal.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#ifndef CAROM_CORE_SRC_CELL_TRAVERSAL_CC_  // the first time this file is compiled
#define CAROM_CORE_SRC_CELL_TRAVERSAL_CC_
namespace carom::internal {
namespace {

uint32_t LeaveAll(std::span<const BoxQuery> queries, CellPairs& found) {
  found.count = found.boxes = 0;
  uint32_t left = 0;
  for (size_t k = 0; k < queries.size(); ++k) left |= uint32_t{queries[k].is_asked} << k;
  return left;
}

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/index/cell_traversal.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

// Without vectors trees do as well.
uint32_t FindAllInCells(const SceneIndex&, std::span<const BoxQuery> queries, CellPairs& found,
                        WorkMeter&) {
  return LeaveAll(queries, found);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 4>;
using Words = hn::FixedTag<int32_t, 4>;
using Bytes = hn::CappedTag<uint8_t, 4 * GridCell::kWidth>;  // the columns of a cell
using Corners = hn::Vec<Words>;  // of a box in whole units: minimum x and y, maximum x and y

// (box - corner) * scale, cut off to whole numbers from 0 to most(i), the lanes from i on. `corner`
// is x and y.
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

HWY_INLINE std::array<int32_t, 4> ArrayOf(Corners corners) {
  std::array<int32_t, 4> array;
  hn::StoreU(corners, Words(), array.data());
  return array;
}

// Whether the minimum is the maximum.
HWY_INLINE bool IsOne(Corners cells) {
  return hn::AllTrue(Words(), hn::Eq(cells, hn::Shuffle1032(cells)));
}

// Of units below 2^15 the cells: units / 255. And back, their first units.
HWY_INLINE Corners CellsOf(Corners units) {
  return hn::ShiftRight<23>(hn::Mul(units, hn::Set(Words(), 0x8081)));
}
HWY_INLINE Corners UnitsOf(Corners cells) { return hn::Sub(hn::ShiftLeft<8>(cells), cells); }

// What boxes of a cell are at most if they meet a reach in the units of the cell: 255 less its
// minimum, for `below_x` and `below_y`, and its maximum, for `min_x` and `min_y`.
HWY_INLINE Corners LimitsOf(Corners reach) {
  alignas(16) static constexpr int32_t kTurned[] = {GridCell::kUnits, GridCell::kUnits, 0, 0};
  const Words d;
  const auto cut = hn::Min(hn::Max(reach, hn::Zero(d)), hn::Set(d, GridCell::kUnits));
  return hn::Xor(cut, hn::Load(d, kTurned));
}

// The bytes of the columns of a cell that are at most their limits: bit i for byte i.
HWY_INLINE uint32_t Within(const GridCell& cell, const int32_t* limits) {
  using Bits = std::conditional_t<hn::MaxLanes(Bytes()) == 32, uint32_t, uint16_t>;
  // For each byte that of the limits: their words are below 2^8.
  alignas(32) static constexpr uint8_t kLimits[] = {8, 8, 8, 8, 8, 8, 8, 8, 12, 12, 12,
                                                    12, 12, 12, 12, 12, 0, 0, 0, 0, 0, 0,
                                                    0, 0, 4, 4, 4, 4, 4, 4, 4, 4};
  const Bytes d;
  const hn::Repartition<int32_t, Bytes> words;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&cell);
  const auto all = hn::BitCast(d, hn::LoadDup128(words, limits));
  uint32_t within = 0;
  for (size_t i = 0; i < sizeof(kLimits); i += hn::Lanes(d)) {
    const auto box = hn::Load(d, bytes + i);
    const auto limit = hn::TableLookupBytes(all, hn::Load(d, kLimits + i));
    uint8_t bits[8];
    hn::StoreMaskBits(d, hn::Eq(hn::Min(box, limit), box), bits);
    Bits some;
    std::memcpy(&some, bits, sizeof(some));
    within |= uint32_t{some} << i;
  }
  return within;
}

// The boxes of a cell that are within all limits: bit k for box k.
HWY_INLINE uint32_t Meeting(const GridCell& cell, const int32_t* limits) {
  uint32_t bits = Within(cell, limits);
  bits &= bits >> 16;
  return bits & bits >> 8 & cell.present;
}

// Flags of a cell: which of its boxes may have been seen in one before, of the same query. Those
// that begin at 0 along x or y, by the bytes of `min_x` and `min_y`, or any. And whether the wide
// polygons of the square come first.
constexpr uint32_t kSeenToTheLeft = 0xFF;
constexpr uint32_t kSeenBelow = 0xFF00;
constexpr uint32_t kSeen = 1 << 16;
constexpr uint32_t kHasWide = 1 << 17;

// The boxes of a cell that may have been seen: bit k for box k.
HWY_INLINE uint32_t SeenOf(const GridCell& cell, uint32_t flags) {
  alignas(16) static constexpr int32_t kZero[4] = {};
  if ((flags & kSeen) != 0) return UINT32_MAX;
  const uint32_t seen = Within(cell, kZero) & flags;
  return seen | seen >> 8;
}

// The walk of some boxes: their cells, then the polygons in these.
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

  // Returns the queries that are left to the trees.
  HWY_INLINE uint32_t Run() {
    const double last_x = grid_.size().x - 1;
    const double last_y = grid_.size().y - 1;
    alignas(32) const double last[] = {last_x, last_y, last_x, last_y};
    const auto most = [&](size_t i) HWY_ATTR { return hn::Load(Doubles(), &last[i]); };
    for (uint32_t k = 0; k < queries_.size(); ++k) {
      if (!queries_[k].is_asked) continue;
      const Corners squares = PlaceOf(queries_[k].reach, &grid_.corner().x,
                                      grid_.squares_per_length(), most);
      first_ = cells_;
      if (IsOne(squares)) [[likely]] {
        const auto at = ArrayOf(squares);
        if (AddSquare(at[0], at[1], k, 0)) continue;
      } else if (AddSquares(ArrayOf(squares), k)) {
        continue;
      }
      left_ |= uint32_t{1} << k;
      cells_ = first_;
    }
    FindPolygons();
    return left_;
  }

 private:
  // Adds the cells of a query in a square. Returns false where the box has many, or the square
  // none, or is not made as the meter stops.
  HWY_INLINE bool AddSquare(int32_t x, int32_t y, uint32_t k, uint32_t flags) {
    const GridBlock* const block = grid_.block(scene_, x, y, meter_);
    if (block == nullptr || !block->is_even()) return false;
    if (block->wide_count() > 0) flags |= kHasWide;
    const GridBlock::Frame& frame = block->frame();
    const auto last = hn::Set(Doubles(), GridCell::kUnits * block->cells_along() - 1);
    const Corners reach =
        PlaceOf(queries_[k].reach, &frame.corner_x, GridCell::kUnits * frame.cells_per_length,
                [&](size_t) HWY_ATTR { return last; });
    const Corners cells = CellsOf(reach);
    const auto at = ArrayOf(cells);
    CellPairs::Cell cell{.block = block, .query = k, .flags = flags};
    if (IsOne(cells)) {
      AddCell(at[0], at[1], hn::Sub(reach, UnitsOf(cells)), cell);
      return true;
    }
    const auto count = static_cast<size_t>((at[2] - at[0] + 1) * (at[3] - at[1] + 1));
    if (count + static_cast<size_t>(cells_ - first_) > CellPairs::kMostCells) return false;
    alignas(16) static constexpr int32_t kRight[] = {GridCell::kUnits, 0, GridCell::kUnits, 0};
    alignas(16) static constexpr int32_t kUp[] = {0, GridCell::kUnits, 0, GridCell::kUnits};
    Corners row = hn::Sub(reach, UnitsOf(hn::ConcatLowerLower(Words(), cells, cells)));
    for (int32_t y_of = at[1]; y_of <= at[3]; ++y_of) {
      Corners in_cell = row;
      for (int32_t x_of = at[0]; x_of <= at[2]; ++x_of) {
        AddCell(x_of, y_of, in_cell, cell);
        cell.flags = (cell.flags & ~kHasWide) | kSeenToTheLeft;
        in_cell = hn::Sub(in_cell, hn::Load(Words(), kRight));
      }
      cell.flags = (cell.flags & ~kSeenToTheLeft) | kSeenBelow;
      row = hn::Sub(row, hn::Load(Words(), kUp));
    }
    return true;
  }
  HWY_INLINE void AddCell(int32_t x, int32_t y, Corners reach, const CellPairs::Cell& of) {
    const GridCell* const cell = of.block->cells() + (y * of.block->cells_along() + x);
    __builtin_prefetch(cell);
    CellPairs::Cell& to = *cells_++;
    hn::Store(LimitsOf(reach), Words(), to.limits.data());
    to.cell = cell;
    to.block = of.block;
    to.query = of.query;
    to.flags = of.flags;
  }
  // The same of several squares, or false where these are many.
  HWY_NOINLINE bool AddSquares(const std::array<int32_t, 4>& at, uint32_t k) {
    if (std::max(at[2] - at[0], at[3] - at[1]) > 1) return false;
    uint32_t flags = 0;
    for (int32_t y = at[1]; y <= at[3]; ++y) {
      for (int32_t x = at[0]; x <= at[2]; ++x) {
        if (!AddSquare(x, y, k, flags)) return false;
        flags = kSeen;
      }
    }
    return true;
  }

  // In all cells.
  HWY_INLINE void FindPolygons() {
    CellPairs::Pair* end = found_.pairs.data();
    CellPairs::Pair* first = end;  // of the query
    uint32_t query = UINT32_MAX;
    size_t links = 0;
    for (const CellPairs::Cell* at = found_.cells.data(); at != cells_; ++at) {
      if (at->query != query) first = end;
      query = at->query;
      if ((at->flags & kHasWide) != 0) end = AddWide(*at, first, end);
      const GridCell* cell = at->cell;
      while (true) {
        uint32_t bits = Meeting(*cell, at->limits.data());
        if (bits != 0) {
          const uint32_t seen = at->flags != 0 ? SeenOf(*cell, at->flags) : 0;
          for (; bits != 0; bits &= bits - 1) {
            const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
            const void* const polygon = at->block->polygons().MemoryOf(cell->items[lane]);
            if ((seen >> lane & 1) == 0 || !IsFound(polygon, first, end)) {
              end = Add(polygon, query, end);
            }
          }
        }
        if (cell->next == 0 || end - first > kMost) break;
        cell = at->block->cells() + cell->next;
        ++links;
      }
      if (end - first <= kMost) continue;
      left_ |= uint32_t{1} << query;
      end = first;
      while (at + 1 != cells_ && at[1].query == query) ++at;
    }
    found_.count = static_cast<size_t>(end - found_.pairs.data());
    found_.boxes = GridCell::kWidth * (static_cast<size_t>(cells_ - found_.cells.data()) + links);
  }

  static constexpr ptrdiff_t kMost = CellPairs::kMostOfOne;

  static HWY_INLINE bool IsFound(const void* polygon, const CellPairs::Pair* first,
                                 const CellPairs::Pair* end) {
    for (; first != end; ++first) {
      if (first->polygon == polygon) return true;
    }
    return false;
  }
  static HWY_INLINE CellPairs::Pair* Add(const void* polygon, uint32_t query,
                                         CellPairs::Pair* end) {
    const auto* const memory = static_cast<const char*>(polygon);
    __builtin_prefetch(memory);
    __builtin_prefetch(memory + 64);
    __builtin_prefetch(memory + 128);
    *end = {polygon, query};
    return end + 1;
  }
  static HWY_NOINLINE CellPairs::Pair* AddWide(const CellPairs::Cell& at,
                                               const CellPairs::Pair* first,
                                               CellPairs::Pair* end) {
    for (size_t i = 0; i < at.block->wide_count(); ++i) {
      const void* const polygon = at.block->wide(i)->memory();
      if ((at.flags & kSeen) == 0 || !IsFound(polygon, first, end)) {
        end = Add(polygon, at.query, end);
      }
    }
    return end;
  }

  const SceneIndex& scene_;
  const SceneGrid& grid_;
  const std::span<const BoxQuery> queries_;
  CellPairs& found_;
  WorkMeter& meter_;
  CellPairs::Cell* cells_;  // where the next one goes
  CellPairs::Cell* first_;  // of the query
  uint32_t left_ = 0;
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

uint32_t FindPairsInCells(const SceneIndex& scene, std::span<const BoxQuery> queries,
                          CellPairs& found, WorkMeter& meter) {
  if (scene.grid().empty()) return LeaveAll(queries, found);
  return HWY_DYNAMIC_DISPATCH(FindAllInCells)(scene, queries, found, meter);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
