// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/curve.h"

#include <algorithm>
#include <array>

namespace carom::internal {
namespace {

// Returns the cell of `value` between `min` and `max`, in [0, 2^Curve::kBits).
// A box without an extent has one cell. Values outside of [min, max] go to the nearest cell: the
// order along the curve is worse for them, and no answer changes.
uint32_t Cell(double value, double min, double max) {
  if (!(max > min)) return 0;
  constexpr double kCells = uint32_t{1} << Curve::kBits;
  return static_cast<uint32_t>(std::clamp((value - min) / (max - min) * kCells, 0.0, kCells - 1));
}

// The orientation of a quarter of Hilbert's curve (1891). The curve takes two bits of a place from
// each level, and turns each quarter so that its curve begins where the curve of the previous
// quarter ends. A turn exchanges x and y (`swapped`), complements both (`flipped`), or does both.
struct CurveTurn {
  uint32_t swapped = 0;
  uint32_t flipped = 0;
};

// Returns the two bits of the place for a cell that has the bits `x` and `y` at a level. Replaces
// `turn` by the turn of the quarter that contains the cell.
constexpr uint32_t TakeLevel(uint32_t x, uint32_t y, CurveTurn& turn) {
  const uint32_t right = (turn.swapped != 0 ? y : x) ^ turn.flipped;
  const uint32_t upper = (turn.swapped != 0 ? x : y) ^ turn.flipped;
  if (upper == 0) turn = {turn.swapped ^ 1, turn.flipped ^ right};
  return (3 * right) ^ upper;
}

// Four levels in one table entry: for a turn and four bits each of x and y, the table has the byte
// of the place and the next turn.
constexpr int kLevels = 4;
struct Levels {
  uint8_t place;
  uint8_t turn;
};
using LevelTable = std::array<std::array<Levels, 256>, 4>;

constexpr LevelTable MakeLevelTable() {
  LevelTable table{};
  for (uint32_t state = 0; state < 4; ++state) {
    for (uint32_t cell = 0; cell < 256; ++cell) {
      CurveTurn turn{state & 1, state >> 1};
      uint32_t place = 0;
      for (int bit = kLevels - 1; bit >= 0; --bit) {
        place = place << 2 | TakeLevel(cell >> (kLevels + bit) & 1, cell >> bit & 1, turn);
      }
      table[state][cell] = {static_cast<uint8_t>(place),
                            static_cast<uint8_t>(turn.swapped | turn.flipped << 1)};
    }
  }
  return table;
}

constexpr LevelTable kLevelTable = MakeLevelTable();

// Returns the place of a cell along the curve. The function takes 32 levels. The first level has
// the bits 0 and 0, which only swap, so the function starts with the swapped turn.
uint64_t HilbertPlace(uint32_t x, uint32_t y) {
  static_assert(Curve::kBits == 31);
  uint64_t place = 0;
  uint32_t turn = 1;
  for (int bit = 32 - kLevels; bit >= 0; bit -= kLevels) {
    const Levels levels = kLevelTable[turn][(x >> bit & 15) << kLevels | (y >> bit & 15)];
    place = place << (2 * kLevels) | levels.place;
    turn = levels.turn;
  }
  return place;
}

}  // namespace

// Returns the key of the center of the polygon's bounds.
CurveKey Curve::KeyOf(const Polygon& polygon) const {
  const Box& box = polygon.bounds();
  const uint32_t x = Cell(box.min.x / 2 + box.max.x / 2, frame_.min.x, frame_.max.x);
  const uint32_t y = Cell(box.min.y / 2 + box.max.y / 2, frame_.min.y, frame_.max.y);
  return {HilbertPlace(x, y), polygon.id()};
}

}  // namespace carom::internal
