// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/maps/tiled/tiled_map.h"

namespace carom {
namespace {

// The greatest size of a map's cell in pixels, and of a map in cells.
constexpr TiledRange kCellSizes{1, 1 << 20};
constexpr TiledRange kMapSizes{0, 1 << 27};

// A map that names no orientation is orthogonal.
absl::StatusOr<TiledGrid::Orientation> OrientationOf(const TiledNode& map) {
  using Orientation = TiledGrid::Orientation;
  const absl::StatusOr<std::string> name = map.Text("orientation");
  if (!name.ok()) return name.status();
  if (name->empty() || *name == "orthogonal") return Orientation::kOrthogonal;
  if (*name == "isometric") return Orientation::kIsometric;
  if (*name == "staggered") return Orientation::kStaggered;
  if (*name == "hexagonal") return Orientation::kHexagonal;
  return map.Error("orientation",
                   "must be \"orthogonal\", \"isometric\", \"staggered\" or \"hexagonal\"");
}

// Returns whether the member `name` is `second`; it must be `first` or `second`, or be absent.
absl::StatusOr<bool> IsSecondOf(const TiledNode& map, const char* name, std::string_view first,
                                std::string_view second) {
  const absl::StatusOr<std::string> text = map.Text(name);
  if (!text.ok()) return text.status();
  if (text->empty() || *text == first) return false;
  if (*text == second) return true;
  return map.Error(name,
                   absl::StrCat("must be \"", AbslView(first), "\" or \"", AbslView(second), "\""));
}

// Returns a point of whole pixels; products of sizes and places stay far below 2^53.
Vec2 PixelPoint(int64_t x, int64_t y) { return {static_cast<double>(x), static_cast<double>(y)}; }

// Returns a number of half pixels as pixels.
double HalfPixels(int64_t count) { return static_cast<double>(count) / 2; }

}  // namespace

absl::StatusOr<TiledGrid> TiledGrid::Read(const TiledNode& map) {
  TiledGrid grid;
  const absl::StatusOr<Orientation> orientation = OrientationOf(map);
  const auto width = map.Integer("tilewidth", 0, kCellSizes);
  const auto height = map.Integer("tileheight", 0, kCellSizes);
  const auto rows = map.Integer("height", 0, kMapSizes);
  const auto side = map.Integer("hexsidelength", 0, {0, kCellSizes.greatest});
  const absl::StatusOr<bool> staggers_rows = IsSecondOf(map, "staggeraxis", "x", "y");
  const absl::StatusOr<bool> even = IsSecondOf(map, "staggerindex", "odd", "even");
  for (const absl::Status& status :
       {orientation.status(), width.status(), height.status(), rows.status(), side.status(),
        staggers_rows.status(), even.status()}) {
    if (!status.ok()) return status;
  }
  if (*width == 0) return map.Error("tilewidth", "required");
  if (*height == 0) return map.Error("tileheight", "required");
  grid.orientation_ = *orientation;
  grid.tile_width_ = *width;
  grid.tile_height_ = *height;
  grid.map_height_ = *rows;
  if (*orientation == Orientation::kOrthogonal || *orientation == Orientation::kIsometric) {
    return grid;
  }
  // The axis of a map that does not name it is y.
  grid.staggers_columns_ = map.Has("staggeraxis") && !*staggers_rows;
  grid.even_is_shifted_ = *even;
  grid.tile_width_ &= ~int64_t{1};
  grid.tile_height_ &= ~int64_t{1};
  const int64_t across = grid.staggers_columns_ ? grid.tile_width_ : grid.tile_height_;
  if (*orientation == Orientation::kHexagonal) grid.side_ = *side;
  if (grid.side_ > across) return map.Error("hexsidelength", "must not exceed the size of a tile");
  if (grid.tile_width_ == 0 || grid.tile_height_ == 0) {
    return map.Error("tilewidth", "and \"tileheight\" must be at least 2 for this orientation");
  }
  return grid;
}

TiledProjection TiledGrid::projection() const {
  if (orientation_ != Orientation::kIsometric) return {};
  const int64_t origin_x = map_height_ * tile_width_ / 2;
  return {PixelPoint(tile_width_, tile_height_), static_cast<double>(origin_x)};
}

// The image of an isometric cell is centered on it, from half a cell left of its upper corner.
Vec2 TiledGrid::Anchor(int32_t column, int32_t row) const {
  const int64_t c = column;
  const int64_t r = row;
  switch (orientation_) {
    case Orientation::kOrthogonal:
      return PixelPoint(c * tile_width_, (r + 1) * tile_height_);
    case Orientation::kIsometric: {
      const int64_t half_width = tile_width_ / 2;
      const double left = HalfPixels((c - r) * tile_width_) - static_cast<double>(half_width);
      return {left + projection().origin_x,
              HalfPixels((c + r) * tile_height_) + static_cast<double>(tile_height_)};
    }
    case Orientation::kStaggered:
    case Orientation::kHexagonal:
      break;
  }
  if (staggers_columns_) {
    const int64_t shift = is_shifted(column) ? (tile_height_ / 2) : 0;
    return PixelPoint(c * pitch(), r * tile_height_ + shift + tile_height_);
  }
  const int64_t shift = is_shifted(row) ? (tile_width_ / 2) : 0;
  return PixelPoint(c * tile_width_ + shift, r * pitch() + tile_height_);
}

Vec2 TiledGrid::DrawnSize(const TiledTileRef& tile) const {
  if (tile.set == nullptr || tile.set->has_grid_size) return PixelPoint(tile_width_, tile_height_);
  return tile.set->SizeOf(tile.id);
}

Vec2 TiledGrid::Alignment(const TiledTileset& set) const {
  const Vec2 absent = orientation_ == Orientation::kIsometric ? Vec2{0.5, 1} : Vec2{0, 1};
  return set.alignment.value_or(absent);
}

// The image is scaled, flipped and turned about its center. A diagonal flip exchanges x and y
// before the other flips: a turn by a quarter with other flips. It exchanges the width and the
// height of the image, which keeps its lower left corner.
Affine TiledGrid::Draw(const TiledTileRef& tile, Vec2 size) const {
  const Vec2 image = tile.set->SizeOf(tile.id);
  Vec2 scale{image.x > 0 ? size.x / image.x : 1, image.y > 0 ? size.y / image.y : 1};
  if (tile.set->keeps_aspect) scale.x = scale.y = std::min(scale.x, scale.y);
  Vec2 center{size.x / 2 + tile.set->offset.x * scale.x,
              -size.y / 2 + tile.set->offset.y * scale.y};
  bool flips_x = (tile.flags & kFlipHorizontal) != 0;
  bool flips_y = (tile.flags & kFlipVertical) != 0;
  double degrees = 0;
  if (orientation_ == Orientation::kHexagonal) {
    if ((tile.flags & kFlipDiagonal) != 0) degrees += 60;
    if ((tile.flags & kTurnHexagonal) != 0) degrees += 120;
  } else if ((tile.flags & kFlipDiagonal) != 0) {
    degrees = 90;
    flips_x = std::exchange(flips_y, !flips_x);
    center.x += (size.y - size.x) / 2;
    center.y += (size.y - size.x) / 2;
  }
  if (flips_x) scale.x = -scale.x;
  if (flips_y) scale.y = -scale.y;
  Affine turn = TurnDegrees(degrees);
  turn.origin = center;
  return turn *
         Affine{{scale.x, 0}, {0, scale.y}, {-image.x / 2 * scale.x, -image.y / 2 * scale.y}};
}

// Diamonds of a staggered map are unit squares of a lattice along their sides. In half tiles, the
// upper corner of a diamond is at (x, y); x + y is odd for all of them, or even for all.
Cell TiledGrid::DiamondOf(Cell cell) const {
  const int32_t shift = is_shifted(staggers_columns_ ? cell.x : cell.y) ? 1 : 0;
  const int32_t x = staggers_columns_ ? cell.x + 1 : 2 * cell.x + shift + 1;
  const int32_t y = staggers_columns_ ? 2 * cell.y + shift : cell.y;
  const int32_t parity = even_is_shifted_ ? 0 : 1;
  return {(x + y - parity) / 2, (y - x + parity) / 2};
}

// A row of hexagons along the unstaggered axis is a row of bricks, each two half tiles long.
Cell TiledGrid::BrickOf(Cell cell) const {
  if (staggers_columns_) std::swap(cell.x, cell.y);
  return {2 * cell.x + (is_shifted(cell.y) ? 1 : 0), cell.y};
}

// Returns the place of a vertex of the lattice that `AddCells` uses.
Vec2 TiledGrid::PlaceOf(LatticePoint point) const {
  const int64_t x = point.x;
  const int64_t y = point.y;
  if (orientation_ == Orientation::kOrthogonal)
    return PixelPoint(x * tile_width_, y * tile_height_);
  if (orientation_ == Orientation::kIsometric) {
    return {HalfPixels((x - y) * tile_width_) + projection().origin_x,
            HalfPixels((x + y) * tile_height_)};
  }
  if (!has_bricks()) {
    const int64_t parity = even_is_shifted_ ? 0 : 1;
    return PixelPoint((x - y + parity) * (tile_width_ / 2), (x + y) * (tile_height_ / 2));
  }
  // Between two rows of bricks the sides of the hexagons go up and down: the vertices in the middle
  // of a brick's upper side are the upper ends of its hexagon, the others lie deeper.
  const bool is_deep = (((point.x & 1) != 0) == is_shifted(point.y));
  const int64_t along = y * pitch() + (is_deep ? slope() : 0);
  if (staggers_columns_) return PixelPoint(along, x * (tile_height_ / 2));
  return PixelPoint(x * (tile_width_ / 2), along);
}

// Unites the cells on the lattice of the orientation, and places its vertices.
absl::Status TiledGrid::AddCells(std::vector<Cell> cells, Vec2 offset, const LayerPlan& plan,
                                 const MapShape& head, MapBuilder& builder) const {
  const bool is_staggered =
      orientation_ == Orientation::kStaggered || orientation_ == Orientation::kHexagonal;
  for (Cell& cell : cells) {
    if (is_staggered) cell = has_bricks() ? BrickOf(cell) : DiamondOf(cell);
  }
  std::vector<Outline> outlines;
  if (has_bricks()) {
    outlines = builder.options().outline ? OutlineBricks(std::move(cells)) : SeparateBricks(cells);
  } else {
    outlines = builder.options().outline ? OutlineCells(std::move(cells)) : SeparateCells(cells);
  }
  // Exchanging the axes mirrors, so the rings are reversed before.
  if (has_bricks() && staggers_columns_) {
    for (Outline& outline : outlines) {
      for (auto& ring : outline.rings) std::reverse(ring.begin() + 1, ring.end());
    }
  }
  return builder.AddOutlines(plan, head, outlines, [&](LatticePoint point) {
    const Vec2 place = PlaceOf(point);
    return Vec2{place.x + offset.x, place.y + offset.y};
  });
}

}  // namespace carom
