// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/curve.h"

#include <algorithm>
#include <array>

namespace carom::internal {
namespace {

// Returns the column (or row) of the curve's cells that contains the coordinate `value`, in [0,
// 2^Curve::kBits): the cells divide [min, max] evenly. A range without an extent has one cell.
// Values outside of [min, max] go to the nearest cell: the order along the curve is worse for such
// values, and no answer of a query changes.
uint32_t Cell(double value, double min, double max) {
  if (!(max > min)) return 0;
  constexpr double kCells = uint32_t{1} << Curve::kBits;
  return static_cast<uint32_t>(std::clamp((value - min) / (max - min) * kCells, 0.0, kCells - 1));
}

// The orientation of one quarter of Hilbert's curve (1891). The curve divides its square into
// quarters, each quarter into quarters, and so on for each level; the number of the quarter gives,
// for each level, two bits of a cell's place (the cell's index along the curve). The curve within a
// quarter is turned so that it begins where the curve of the previous quarter ends. A turn may
// exchange x and y (`swapped` is 1), and may complement the bits of x and y (`flipped` is 1).
struct CurveTurn {
  uint32_t swapped = 0;
  uint32_t flipped = 0;
};

// Returns the two bits that one level adds to the place of a cell (its index along the curve): `x`
// and `y` are the bits of the cell's coordinates at the level. `turn` is how the curve runs in the
// square that the level divides into quarters; the function replaces `turn` by how the curve runs
// in the quarter that contains the cell.
constexpr uint32_t TakeLevel(uint32_t x, uint32_t y, CurveTurn& turn) {
  const uint32_t right = (turn.swapped != 0 ? y : x) ^ turn.flipped;
  const uint32_t upper = (turn.swapped != 0 ? x : y) ^ turn.flipped;
  if (upper == 0) turn = {turn.swapped ^ 1, turn.flipped ^ right};
  return (3 * right) ^ upper;
}

// Tabulates four levels of Hilbert's curve at once (each level divides a square into quarters). For
// a turn (how the curve is turned within a quarter) and four bits each of a cell's coordinates x
// and y, an entry has the eight bits that the four levels add to a cell's place (its index along
// the curve), and the turn for the next level.
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

// Returns the place (the index along the curve) of the cell in column x and row y. Each level of
// the curve divides a square into quarters, and the turn is how the curve runs within a quarter. A
// level takes one bit of x and one of y, and an entry of the table covers four levels, so the
// function descends 32 levels, one more than x and y have bits. At the additional first level both
// bits are 0: this level adds nothing to the place and exchanges x and y, so the initial turn, 1,
// is one that exchanges x and y (`swapped`), which cancels the exchange.
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

// Returns the key of the polygon: the place along the curve of the cell with the center of its
// bounds, and its id.
CurveKey Curve::KeyOf(const Polygon& polygon) const {
  const Box& box = polygon.bounds();
  const uint32_t x = Cell(box.min.x / 2 + box.max.x / 2, frame_.min.x, frame_.max.x);
  const uint32_t y = Cell(box.min.y / 2 + box.max.y / 2, frame_.min.y, frame_.max.y);
  return {HilbertPlace(x, y), polygon.id()};
}

}  // namespace carom::internal
