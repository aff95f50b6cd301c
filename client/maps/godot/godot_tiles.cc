// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/godot/godot_tiles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/status.h"

namespace carom {
namespace {

// The most properties of all sources of a TileSet: one atlas may be the source of many numbers.
constexpr size_t kMaxGodotTileProperties = 4'000'000;

// Reads a whole string as an integer of at most `greatest` in magnitude.
std::optional<int32_t> GodotInteger(absl::string_view text, int32_t greatest = 32767) {
  int32_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  if (value > greatest || value < -greatest - 1) return std::nullopt;
  return value;
}

// Reads a name such as `physics_layer_3` with the prefix `physics_layer_`.
std::optional<size_t> GodotNumberAfter(absl::string_view name, absl::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  const std::optional<int32_t> number = GodotInteger(name.substr(prefix.size()), 1023);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<size_t>(*number);
}

// Adds one property of an atlas, such as `1:2/0/physics_layer_0/polygon_3/points`, to `tiles`.
absl::Status AddTileProperty(const GodotProperty& property, const std::string& line, int32_t source,
                             GodotTileSet& set) {
  const std::vector<absl::string_view> parts = absl::StrSplit(property.name, '/');
  // Other properties of an atlas, such as `texture`, have no place.
  const std::vector<absl::string_view> place = absl::StrSplit(parts[0], ':');
  if (place.size() != 2 || parts.size() < 2) return absl::OkStatus();
  const std::optional<int32_t> x = GodotInteger(place[0]), y = GodotInteger(place[1]);
  const std::optional<int32_t> alternative = GodotInteger(parts[1]);
  if (!x || !y || !alternative || *alternative < 0) return absl::OkStatus();
  GodotTile& tile = set.tiles[{source, *x, *y, static_cast<uint32_t>(*alternative)}];
  if (parts.size() == 3) {
    const std::optional<size_t> layer = GodotNumberAfter(parts[2], "custom_data_");
    if (layer) tile.custom[*layer] = &property;
    return absl::OkStatus();
  }
  if (parts.size() != 5) return absl::OkStatus();
  const std::optional<size_t> layer = GodotNumberAfter(parts[2], "physics_layer_");
  const std::optional<size_t> index = GodotNumberAfter(parts[3], "polygon_");
  if (!layer || !index) return absl::OkStatus();
  GodotTilePolygon& polygon = tile.polygons[{*layer, *index}];
  if (parts[4] == "points") {
    std::optional<std::vector<Vec2>> points = property.value.AsPoints();
    if (!points) return InvalidField(line, "must be a PackedVector2Array");
    polygon.points = *std::move(points);
  } else if (parts[4] == "one_way") {
    polygon.one_way = property.value.AsBool().value_or(false);
  }
  return absl::OkStatus();
}

// Reads the properties of the TileSet itself.
absl::Status ReadSetProperty(const GodotProperty& property, const std::string& line,
                             GodotTileSet& set) {
  const std::vector<absl::string_view> parts = absl::StrSplit(property.name, '/');
  const std::optional<double> number = property.value.AsNumber();
  if (property.name == "tile_size") {
    const std::optional<Vec2> size = property.value.AsVector2();
    if (!size || !(size->x > 0 && size->y > 0 && size->x <= 65536 && size->y <= 65536)) {
      return InvalidField(line, "tile_size must be two numbers above 0 and at most 65536");
    }
    set.tile_size = *size;
  } else if (property.name == "tile_shape" && number && *number >= 0 && *number <= 3) {
    set.shape = static_cast<GodotTileSet::Shape>(static_cast<int>(*number));
  } else if (property.name == "tile_layout" && number && *number >= 0 && *number <= 5) {
    set.layout = static_cast<int>(*number);
  } else if (property.name == "tile_offset_axis") {
    set.vertical = number == 1.0;
  } else if (parts.size() == 2 && parts[1] == "collision_layer") {
    const std::optional<size_t> layer = GodotNumberAfter(parts[0], "physics_layer_");
    if (layer && number && *number >= 0 && *number <= 4294967295.0) {
      set.layers[*layer] = static_cast<uint64_t>(*number);
    }
  } else if (parts.size() == 2 && parts[1] == "name") {
    const std::optional<size_t> layer = GodotNumberAfter(parts[0], "custom_data_layer_");
    if (layer) set.custom_layers[property.value.text] = *layer;
  }
  return absl::OkStatus();
}

// Appends the bytes of a PackedByteArray, which has base64 or numbers, or of a PackedInt32Array, in
// the order of little-endian machines. Returns whether `data` is one of them.
bool AppendBytes(const GodotValue& data, std::string& bytes) {
  const bool is_bytes = data.is_call("PackedByteArray");
  if (is_bytes && data.items.size() == 1) {
    return absl::Base64Unescape(data.items.front().text, &bytes);
  }
  const size_t width = is_bytes ? 1 : 4;
  if (!(is_bytes || data.is_call("PackedInt32Array")) || !data.items.empty()) return false;
  bytes.reserve(width * data.numbers.size());
  for (const double number : data.numbers) {
    const bool is_integer = number == std::floor(number) && std::abs(number) <= 4294967295.0;
    if (!is_integer) return false;
    const auto bits = static_cast<uint64_t>(static_cast<int64_t>(number));
    for (size_t i = 0; i < width; ++i) bytes += static_cast<char>((bits >> (8 * i)) & 255);
  }
  return true;
}

}  // namespace

// Rows (columns if `vertical`) of all shapes but squares are shifted by half a tile, as the layout
// says, and overlap by a half (isometric) or a quarter (hexagonal).
Vec2 GodotTileSet::Center(int cell_x, int cell_y) const {
  const double x = cell_x, y = cell_y;
  Vec2 place{x, y};
  if (shape != Shape::kSquare) {
    const double odd = std::abs(vertical ? cell_x : cell_y) % 2 * 0.5;
    const Vec2 rows[] = {{x + odd, y},       {x + 0.5 - odd, y},   {x + y / 2, y},
                         {x / 2, 2 * y + x}, {(x + y) / 2, y - x}, {(x - y) / 2, y + x}};
    const Vec2 columns[] = {{x, y + odd},   {x, y + 0.5 - odd},   {2 * x + y, y / 2},
                            {x, y + x / 2}, {x + y, (y - x) / 2}, {x - y, (y + x) / 2}};
    const double overlap = shape == Shape::kIsometric ? 0.5 : shape == Shape::kHexagon ? 0.75 : 1;
    place = vertical ? columns[layout] : rows[layout];
    (vertical ? place.x : place.y) *= overlap;
  }
  return {(place.x + 0.5) * tile_size.x, (place.y + 0.5) * tile_size.y};
}

// The bits that turn a cell are not part of the alternative.
const GodotTile* GodotTileSet::TileOf(const GodotCell& cell) const {
  GodotTileId id = cell.tile;
  id.alternative &= kGodotFlipH - 1;
  const auto tile = tiles.find(id);
  return tile == tiles.end() ? nullptr : &tile->second;
}

// A source is an atlas of tiles, or a collection of scenes.
absl::StatusOr<GodotTileSet> ReadGodotTileSet(const GodotResource& resource, GodotFiles& files) {
  GodotTileSet set;
  set.line = resource.file->Line(resource.section->line);
  size_t count = 0;
  for (const GodotProperty& property : resource.section->properties.list()) {
    absl::Status status = ReadSetProperty(property, resource.file->Line(property.line), set);
    if (!status.ok()) return status;
    const std::optional<int32_t> source =
        property.name.starts_with("sources/")
            ? GodotInteger(absl::string_view(property.name).substr(8))
            : std::nullopt;
    if (!source) continue;
    const absl::StatusOr<std::optional<GodotResource>> atlas =
        files.Resolve(*resource.file, property.value);
    if (!atlas.ok()) return atlas.status();
    if (!atlas->has_value()) continue;
    if ((*atlas)->Type() == "TileSetScenesCollectionSource") set.has_scenes = true;
    if ((*atlas)->Type() != "TileSetAtlasSource") continue;
    count += (*atlas)->section->properties.list().size();
    if (count > kMaxGodotTileProperties) {
      return InvalidField(set.line, absl::StrCat("the sources of a TileSet have more than ",
                                                 kMaxGodotTileProperties, " properties"));
    }
    for (const GodotProperty& tile : (*atlas)->section->properties.list()) {
      status = AddTileProperty(tile, (*atlas)->file->Line(tile.line), *source, set);
      if (!status.ok()) return status;
    }
  }
  return set;
}

// The order matters: transposed, then flipped.
Vec2 GodotTurned(Vec2 point, uint32_t alternative) {
  if ((alternative & kGodotTranspose) != 0) std::swap(point.x, point.y);
  if ((alternative & kGodotFlipH) != 0) point.x = -point.x;
  if ((alternative & kGodotFlipV) != 0) point.y = -point.y;
  return point;
}

// A cell has 12 bytes: x, y, source, x and y in the atlas, alternative, of 2 bytes each. Before the
// cells of a TileMapLayer are 2 bytes with the number of the form, 0.
absl::StatusOr<std::vector<GodotCell>> ReadGodotCells(const GodotValue& data,
                                                      const std::string& line) {
  constexpr size_t kCellBytes = 12;
  std::string bytes;
  if (!AppendBytes(data, bytes)) {
    return InvalidField(line,
                        "must be a PackedByteArray in base64 or numbers, or PackedInt32Array");
  }
  const size_t head = data.is_call("PackedByteArray") ? 2 : 0;
  // The number of two bytes, the lower one first.
  const auto at = [&](size_t offset) {
    const auto low = static_cast<uint8_t>(bytes[offset]);
    return static_cast<uint16_t>(low | static_cast<uint8_t>(bytes[offset + 1]) << 8);
  };
  if (bytes.empty()) return std::vector<GodotCell>();
  if (bytes.size() < head || (bytes.size() - head) % kCellBytes != 0) {
    return InvalidField(line, "must have 12 bytes for each cell");
  }
  if (head != 0 && at(0) != 0) return InvalidField(line, "has a form of cells that is not known");
  std::vector<GodotCell> cells;
  cells.reserve((bytes.size() - head) / kCellBytes);
  for (size_t i = head; i < bytes.size(); i += kCellBytes) {
    cells.push_back({static_cast<int16_t>(at(i)),
                     static_cast<int16_t>(at(i + 2)),
                     {at(i + 4), at(i + 6), at(i + 8), at(i + 10)}});
  }
  return cells;
}

}  // namespace carom
