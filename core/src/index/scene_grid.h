// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which square of cells is where in a scene?
//
// Squares of one size over the frame of the scene's curve. A square is made when a query first
// comes to it (grid_block.h), and is shared by later versions of the scene until an edit comes near
// it. Squares that are too dense or too uneven for cells, and scenes that are too sparse for
// squares, are left to the trees.
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

// Thread-safe.
class SceneGrid {
 public:
  // None.
  SceneGrid() = default;
  // Of a scene whose polygons lie in `frame`. None if that would take too many squares.
  SceneGrid(const Box& frame, double spacing, size_t polygon_count);
  // That of a scene which differs from that of `base` only where `touched` boxes are. As made anew
  // where polygons are much closer together or farther apart than they were.
  SceneGrid(const SceneGrid& base, const Box& frame, double spacing, size_t polygon_count,
            std::span<const Box> touched);

  bool empty() const { return pages_.empty(); }
  // By reference: what is loaded in two parts, and stored, is waited for once more.
  const Vec2& corner() const { return corner_; }
  double side() const { return side_; }  // of a square
  double squares_per_length() const { return squares_per_length_; }
  int width() const { return width_; }  // in squares
  int height() const { return height_; }
  const Vec2& size() const { return size_; }  // in squares
  // Coordinates of larger magnitude are too coarse to walk by.
  double farthest() const { return farthest_; }
  Vec2 CornerOf(int x, int y) const { return {corner_.x + x * side_, corner_.y + y * side_}; }

  // Square (x, y), x in [0, width()). `scene` has this grid. To make one counts as work, which
  // takes as long as that of thousands of short casts: null if it is not made and the meter has
  // stopped.
  const GridBlock* block(const SceneIndex& scene, int x, int y, WorkMeter& meter) const {
    const GridBlock* const made = SlotOf(x, y).load(std::memory_order_acquire);
    return made != nullptr ? made : MakeBlock(scene, x, y, meter);
  }
  // The same, null if it is not made; its memory is asked for.
  const GridBlock* Fetch(int x, int y) const {
    const GridBlock* const made = SlotOf(x, y).load(std::memory_order_acquire);
    if (made == nullptr) return nullptr;
    __builtin_prefetch(made);
    __builtin_prefetch(reinterpret_cast<const char*>(made) + sizeof(*made) - 1);
    return made;
  }
  // Of the squares that are made, in bytes.
  size_t memory() const;
  // About what it takes beside what it shares with `base`, in bytes: also squares that `base` has
  // made and this one has not. Of a scene of so many polygons.
  size_t BytesBeyond(const SceneGrid& base, size_t polygon_count) const;

 private:
  static constexpr int kPageBits = 3;
  static constexpr int kPageSide = 1 << kPageBits;
  using Slot = std::atomic<const GridBlock*>;

  struct Squares {
    double count() const { return (max_x - min_x + 1.0) * (max_y - min_y + 1.0); }

    int min_x, min_y, max_x, max_y;
  };
  // Squares that versions of a scene share.
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
  void Forget(const Squares& squares, std::vector<bool>& is_own);

  Vec2 corner_;
  double side_ = 0;
  double squares_per_length_ = 0;
  double spacing_ = 0;  // that it was made for
  double farthest_ = 0;
  Vec2 size_;
  int width_ = 0;
  int height_ = 0;
  int pages_along_ = 0;
  std::vector<std::shared_ptr<const Page>> pages_;
};

}  // namespace carom::internal
