// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which square of a scene's grid contains a point, and which block holds the cells of the square?
//
// The grid divides the box of the Hilbert curve that orders the scene's polygons into squares of
// one size. The first query that enters a square builds its `GridBlock`, which divides the square
// into cells (grid_block.h). Later versions of the scene share the block until an edit comes near
// the square. Queries use the trees of the scene index in squares that are too dense or too uneven
// for cells, and in scenes that are too sparse for squares.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "index/grid_block.h"

namespace carom::internal {

class SceneIndex;

// The grid of a scene: squares of one size, each divided into cells, which list the polygons with
// boxes in the cell. The block of a square has its cells, and is built when a query first enters
// the square. Pages have the blocks of 8 x 8 squares each. Thread-safe.
class SceneGrid {
 public:
  // Makes an empty grid.
  SceneGrid() = default;
  // Makes the grid of a scene with polygons within `frame`. `spacing` is about the distance between
  // neighbouring polygons. The grid is empty if it would take too many squares for the number of
  // polygons.
  SceneGrid(const Box& frame, double spacing, size_t polygon_count);
  // Makes the grid of a scene that differs from the scene of `base` only within the `touched`
  // boxes. Shares the blocks (cells and polygons) of squares that are not near these boxes with
  // `base`. Builds the grid anew if `base` is empty, if the spacing of `base` differs from
  // `spacing` by more than a factor of 1.5, or if too many squares are near the boxes.
  SceneGrid(const SceneGrid& base, const Box& frame, double spacing, size_t polygon_count,
            std::span<const Box> touched);

  bool empty() const { return pages_.empty(); }
  // Returns the lower left corner of the grid, by reference: a copy would be written by two stores
  // and read back by one wider load, which stalls.
  const Vec2& corner() const { return corner_; }
  double side() const { return side_; }  // length of a side of a square
  double squares_per_length() const { return squares_per_length_; }
  int width() const { return width_; }  // number of squares along x
  int height() const { return height_; }
  const Vec2& size() const { return size_; }  // width and height in squares
  // Returns the largest magnitude of a coordinate for which doubles are precise enough for a line
  // to walk from cell to cell.
  double farthest() const { return farthest_; }
  Vec2 CornerOf(int x, int y) const { return {corner_.x + x * side_, corner_.y + y * side_}; }

  // Returns the block (the cells and polygons) of the square in column x and row y, 0 <= x <
  // width() and 0 <= y < height(), and builds the block if necessary. `scene` is the scene of this
  // grid. Building counts 32 units of work on `meter` for each polygon of the square. Returns null
  // if the meter has stopped the work and the block is not built.
  const GridBlock* block(const SceneIndex& scene, int x, int y, WorkMeter& meter) const {
    const GridBlock* const made = SlotOf(x, y).load(std::memory_order_acquire);
    return made != nullptr ? made : MakeBlock(scene, x, y, meter);
  }
  // Returns the block of square (x, y) and prefetches it, or returns null if no query has built the
  // block yet.
  const GridBlock* Fetch(int x, int y) const {
    const GridBlock* const made = SlotOf(x, y).load(std::memory_order_acquire);
    if (made == nullptr) return nullptr;
    __builtin_prefetch(made);
    __builtin_prefetch(reinterpret_cast<const char*>(made) + sizeof(*made) - 1);
    return made;
  }
  // Returns the bytes of the grid and of the blocks that are built.
  size_t memory() const;
  // Returns about the bytes that this grid takes without the pages that it shares with `base`. The
  // sum includes each block (cells of a square) that exists in `base` and that this grid does not
  // share, since queries may build the block of this square in this grid, too. `polygon_count` is
  // the number of polygons of the scene.
  size_t BytesBeyond(const SceneGrid& base, size_t polygon_count) const;

 private:
  static constexpr int kPageBits = 3;
  static constexpr int kPageSide = 1 << kPageBits;
  using Slot = std::atomic<const GridBlock*>;

  // The columns (x) and rows (y) of a range of squares.
  struct Squares {
    double count() const { return (max_x - min_x + 1.0) * (max_y - min_y + 1.0); }

    int min_x, min_y, max_x, max_y;
  };
  // The blocks (cells and polygons) of 8 x 8 squares of the grid. Versions of a scene share a page
  // as long as no edit comes near one of its squares.
  struct Page {
    Page() = default;
    Page(const Page& other);
    Page& operator=(const Page&) = delete;
    ~Page();

    mutable std::array<Slot, size_t{kPageSide} * kPageSide> slots{};
  };

  Slot& SlotOf(int x, int y) const {
    const int page = (y >> kPageBits) * pages_along_ + (x >> kPageBits);
    const int slot = (y & (kPageSide - 1)) << kPageBits | (x & (kPageSide - 1));
    return pages_[static_cast<size_t>(page)]->slots[static_cast<size_t>(slot)];
  }
  const GridBlock* MakeBlock(const SceneIndex& scene, int x, int y, WorkMeter& meter) const;
  Squares SquaresNear(const Box& box) const;
  void Invalidate(const Squares& squares, std::vector<bool>& is_own);

  Vec2 corner_;
  double side_ = 0;
  double squares_per_length_ = 0;
  double spacing_ = 0;  // distance of neighbouring polygons that `side_` was chosen for
  double farthest_ = 0;
  Vec2 size_;
  int width_ = 0;
  int height_ = 0;
  int pages_along_ = 0;
  std::vector<std::shared_ptr<const Page>> pages_;
};

}  // namespace carom::internal
