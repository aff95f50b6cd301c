// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/scene_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "index/scene_index.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// A scene's grid consists of squares of one size, and each square is divided into cells, which list
// polygons. `kSide` is the side of a square, as a multiple of the distance of neighbouring
// polygons. A square has about 24^2 = 576 polygons, so that a line seldom leaves the square in
// which it starts, and an edit invalidates the cells of few polygons.
constexpr double kSide = 24;
// A grid has at most kMostSquares + kSquaresPerPolygon * (number of polygons) squares, since a
// square costs a pointer even if its cells are never built, and costs a line that passes the square
// one step of its walk from square to square.
constexpr double kMostSquares = 64;
constexpr double kSquaresPerPolygon = 1.0 / 64;
// The greatest distance of a grid from the origin, in sides of a square. Up to this distance the
// rounding error of a line's position in its square, including the errors of the additions by which
// a walk follows the line, stays below 2^-20 of a square, which is 0.01 of a unit (1/255 of a cell;
// cells/grid_walk.h).
constexpr double kFarthest = 0x1p26;
// The margin around a square of the grid, as a fraction of its side: the cells of a square also
// list polygons outside of the square with boxes within the margin.
constexpr double kMargin = 0x1p-8;
// The most bytes per polygon that the cells of a grid take when all squares are built.
constexpr size_t kBytesAPolygon = 32;
// The units that a work meter counts for each polygon of a square whose cells are built, which
// takes about 120 ns per polygon.
constexpr uint64_t kUnitsAPolygon = 32;

}  // namespace

SceneGrid::Page::Page(const Page& other) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const GridBlock* const block = other.slots[i].load(std::memory_order_acquire);
    if (block != nullptr) block->Share();
    slots[i].store(block, std::memory_order_relaxed);
  }
}

SceneGrid::Page::~Page() {
  for (Slot& slot : slots) {
    const GridBlock* const block = slot.load(std::memory_order_relaxed);
    if (block != nullptr) GridBlock::Release(block);
  }
}

// Makes the grid of squares extend beyond `frame`, the box of the scene, by at least a quarter of a
// square's side on each side, so that polygons on the border of `frame` are well inside the grid.
SceneGrid::SceneGrid(const Box& frame, double spacing, size_t polygon_count) {
  const double side = kSide * spacing;
  if (!(side > 0)) return;
  const double width = std::ceil((frame.max.x - frame.min.x) / side + 0.5);
  const double height = std::ceil((frame.max.y - frame.min.y) / side + 0.5);
  const double most = kMostSquares + kSquaresPerPolygon * static_cast<double>(polygon_count);
  const double far = kFarthest * side;
  if (!(width * height <= most) || !(std::abs(frame.min.x) <= far) ||
      !(std::abs(frame.min.y) <= far) || !(std::abs(frame.max.x) <= far) ||
      !(std::abs(frame.max.y) <= far)) {
    return;
  }
  corner_ = {frame.min.x - side / 4, frame.min.y - side / 4};
  side_ = side;
  squares_per_length_ = 1 / side;
  spacing_ = spacing;
  farthest_ = far;
  size_ = {width, height};
  width_ = static_cast<int>(width);
  height_ = static_cast<int>(height);
  pages_along_ = (width_ + kPageSide - 1) >> kPageBits;
  const int rows = (height_ + kPageSide - 1) >> kPageBits;
  pages_.resize(static_cast<size_t>(pages_along_) * rows);
  for (auto& page : pages_) page = std::make_shared<const Page>();
}

SceneGrid::SceneGrid(const SceneGrid& base, const Box& frame, double spacing, size_t polygon_count,
                     std::span<const Box> touched) {
  double squares = 0;
  if (!base.empty()) {
    for (const Box& box : touched) squares += base.SquaresNear(box).count();
  }
  // The scene differs from the scene of `base` only within the boxes `touched`. If `squares`, which
  // counts a square of the grid once for each of these boxes near it, exceeds the number of squares
  // of the grid, building the grid anew costs less than invalidating squares.
  if (base.empty() || spacing < base.spacing_ / 1.5 || spacing > base.spacing_ * 1.5 ||
      squares > base.size_.x * base.size_.y) {
    *this = SceneGrid(frame, spacing, polygon_count);
    return;
  }
  *this = base;
  std::vector<bool> is_own(pages_.size());
  for (const Box& box : touched) Invalidate(SquaresNear(box), is_own);
}

// Returns the squares of the grid near a box. The block of a square has all polygons within
// `kMargin` sides of the square. The function uses twice that margin, so that despite rounding
// errors the result includes every square in which `MakeBlock` puts a polygon with the bounds
// `box`.
SceneGrid::Squares SceneGrid::SquaresNear(const Box& box) const {
  const double margin = 2 * kMargin * side_;
  const auto square = [&](double at, double from, int count) {
    return static_cast<int>(std::clamp((at - from) * squares_per_length_, 0.0, count - 1.0));
  };
  return {square(box.min.x - margin, corner_.x, width_),
          square(box.min.y - margin, corner_.y, height_),
          square(box.max.x + margin, corner_.x, width_),
          square(box.max.y + margin, corner_.y, height_)};
}

void SceneGrid::Invalidate(const Squares& squares, std::vector<bool>& is_own) {
  for (int y = squares.min_y; y <= squares.max_y; ++y) {
    for (int x = squares.min_x; x <= squares.max_x; ++x) {
      const auto page = static_cast<size_t>(y >> kPageBits) * pages_along_ + (x >> kPageBits);
      if (!is_own[page]) pages_[page] = std::make_shared<const Page>(*pages_[page]);
      is_own[page] = true;
      const GridBlock* const block = SlotOf(x, y).exchange(nullptr, std::memory_order_acq_rel);
      if (block != nullptr) GridBlock::Release(block);
    }
  }
}

// Builds the block (the cells and polygons) of square (x, y). Two threads may build the block of
// one square at the same time: the grid keeps the block that is stored first, and the function
// deletes the other block.
const GridBlock* SceneGrid::MakeBlock(const SceneIndex& scene, int x, int y,
                                      WorkMeter& meter) const {
  if (meter.stopped()) return nullptr;
  const Vec2 corner = CornerOf(x, y);
  const double margin = kMargin * side_;
  const Box box{{corner.x - margin, corner.y - margin},
                {corner.x + side_ + margin, corner.y + side_ + margin}};
  std::vector<Unowned<Polygon>> polygons;
  WorkMeter unlimited;  // since kUnitsAPolygon on `meter` includes the work of the traversal
  scene.Traverse(unlimited, MeetsBox{box}, [&](const IndexedPolygon& indexed) {
    if (box.Intersects(indexed.polygon().bounds())) polygons.emplace_back(indexed.polygon());
    return polygons.size() <= GridBlock::kMostPolygons && meter.Spend(kUnitsAPolygon);
  });
  if (meter.stopped()) return nullptr;
  const auto* block = new GridBlock(corner, side_, std::move(polygons));
  const GridBlock* other = nullptr;
  if (SlotOf(x, y).compare_exchange_strong(other, block, std::memory_order_acq_rel)) return block;
  GridBlock::Release(block);
  return other;
}

size_t SceneGrid::memory() const {
  size_t bytes = pages_.capacity() * sizeof(pages_[0]);
  for (const auto& page : pages_) {
    bytes += sizeof(Page);
    for (const Slot& slot : page->slots) {
      const GridBlock* const block = slot.load(std::memory_order_acquire);
      if (block != nullptr) bytes += block->memory();
    }
  }
  return bytes;
}

size_t SceneGrid::BytesBeyond(const SceneGrid& base, size_t polygon_count) const {
  size_t bytes = pages_.capacity() * sizeof(pages_[0]);
  // Two grids whose squares differ in size share no blocks (a block has the cells of a square).
  if (base.pages_.size() != pages_.size() || base.side_ != side_) {
    return bytes + pages_.size() * sizeof(Page) + polygon_count * kBytesAPolygon;
  }
  for (size_t i = 0; i < pages_.size(); ++i) {
    if (pages_[i] == base.pages_[i]) continue;
    bytes += sizeof(Page);
    for (size_t k = 0; k < pages_[i]->slots.size(); ++k) {
      // Compares the addresses of the blocks of both grids, but reads only the block of `base`,
      // which `base` keeps alive.
      const GridBlock* const base_block = base.pages_[i]->slots[k].load(std::memory_order_acquire);
      const GridBlock* const own_block = pages_[i]->slots[k].load(std::memory_order_acquire);
      if (base_block != nullptr && base_block != own_block) bytes += base_block->memory();
    }
  }
  return bytes;
}

}  // namespace carom::internal
