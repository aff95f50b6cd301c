// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/maps/tiled/tiled_map.h"

namespace carom {
namespace {

// The greatest number of a tile: four bits of the 32 are flags.
constexpr int64_t kMaxTileNumber = 0x0FFFFFFF;
// The greatest size of a tile, in pixels.
constexpr int64_t kMaxTileSize = 1 << 20;
// The deepest nesting of templates in templates, which Tiled itself never makes.
constexpr int kMaxTemplateDepth = 8;

// The names of `objectalignment`, and where each is in the image.
struct NamedAlignment {
  std::string_view name;
  Vec2 place;
};
constexpr std::array<NamedAlignment, 9> kAlignments = {{{"topleft", {0, 0}},
                                                        {"top", {0.5, 0}},
                                                        {"topright", {1, 0}},
                                                        {"left", {0, 0.5}},
                                                        {"center", {0.5, 0.5}},
                                                        {"right", {1, 0.5}},
                                                        {"bottomleft", {0, 1}},
                                                        {"bottom", {0.5, 1}},
                                                        {"bottomright", {1, 1}}}};

// Returns where tile objects have their position in the image; nullopt for that of the orientation.
absl::StatusOr<std::optional<Vec2>> AlignmentOf(const TiledNode& node) {
  const absl::StatusOr<std::string> name = node.Text("objectalignment");
  if (!name.ok()) return name.status();
  if (name->empty() || *name == "unspecified") return std::nullopt;
  const auto found = std::ranges::find(kAlignments, *name, &NamedAlignment::name);
  if (found == kAlignments.end()) {
    return node.Error("objectalignment", "must be an alignment such as \"bottomleft\"");
  }
  return found->place;
}

// Returns two members as a point; `least` and `greatest` bound both.
absl::StatusOr<Vec2> IntegerPair(const TiledNode& node, const char* x, const char* y,
                                 TiledRange range, Vec2 absent) {
  const auto first = node.Integer(x, static_cast<int64_t>(absent.x), range);
  const auto second = node.Integer(y, static_cast<int64_t>(absent.y), range);
  if (!first.ok()) return first.status();
  if (!second.ok()) return second.status();
  return Vec2{static_cast<double>(*first), static_cast<double>(*second)};
}

// Reads what a tileset says about drawing its tiles.
absl::Status ReadDrawing(const TiledNode& node, TiledTileset& set) {
  const TiledRange any{-kMaxTileSize, kMaxTileSize};
  if (const TiledNode offset = node.Child("tileoffset")) {
    const absl::StatusOr<Vec2> pair = IntegerPair(offset, "x", "y", any, {0, 0});
    if (!pair.ok()) return pair.status();
    set.offset = *pair;
  }
  if (const TiledNode grid = node.Child("grid")) {
    const absl::StatusOr<std::string> orientation = grid.Text("orientation");
    if (!orientation.ok()) return orientation.status();
    const absl::StatusOr<Vec2> size =
        IntegerPair(grid, "width", "height", {1, kMaxTileSize}, set.tile_size);
    if (!size.ok()) return size.status();
    if (*orientation == "isometric") set.isometric = *size;
  }
  const absl::StatusOr<std::string> render_size = node.Text("tilerendersize");
  const absl::StatusOr<std::string> fill_mode = node.Text("fillmode");
  if (!render_size.ok()) return render_size.status();
  if (!fill_mode.ok()) return fill_mode.status();
  set.has_grid_size = *render_size == "grid";
  set.keeps_aspect = *fill_mode == "preserve-aspect-fit";
  absl::StatusOr<std::optional<Vec2>> alignment = AlignmentOf(node);
  if (!alignment.ok()) return alignment.status();
  set.alignment = *alignment;
  return absl::OkStatus();
}

// Returns the size of a tile's own image: of its part of an image, else of the image.
absl::StatusOr<Vec2> ImageSize(const TiledNode& tile, Vec2 absent) {
  const TiledRange range{0, kMaxTileSize};
  absl::StatusOr<Vec2> size = absent;
  if (const TiledNode image = tile.Child("image")) {
    size = IntegerPair(image, "width", "height", range, absent);
  } else if (tile.Has("imagewidth")) {
    size = IntegerPair(tile, "imagewidth", "imageheight", range, absent);
  }
  if (!size.ok()) return size;
  return IntegerPair(tile, "width", "height", range, *size);
}

// Returns why an object of a tile is no collision shape, or nullptr if it is one.
const char* WhyNoShape(const TiledObject& object) {
  if (object.tile) return "tile object";
  if (object.form == TiledForm::kPoint) return "point";
  if (object.form == TiledForm::kText) return "text";
  const bool has_size = object.width != 0 || object.height != 0 || !object.points.empty();
  return has_size ? nullptr : "object without a size";
}

}  // namespace

const TiledTile* TiledTileset::Find(uint32_t id) const {
  const auto found = tiles.find(id);
  return found == tiles.end() ? nullptr : &found->second;
}

Vec2 TiledTileset::SizeOf(uint32_t id) const {
  const TiledTile* tile = Find(id);
  return tile == nullptr ? tile_size : tile->size;
}

// The tileset of a number is the one with the greatest first number that is not above it.
TiledTileRef TileOf(const TiledTilesets& tilesets, uint32_t number) {
  TiledTileRef tile;
  tile.flags = number & kFlags;
  tile.id = number & ~kFlags;
  auto next = tilesets.upper_bound(tile.id);
  if (next == tilesets.begin()) return tile;
  --next;
  tile.set = next->second;
  tile.id -= next->first;
  return tile;
}

// Maps that were saved on Windows may have backslashes.
std::string TiledPath(std::string_view file, std::string_view source) {
  std::string text(source);
  std::ranges::replace(text, '\\', '/');
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return (folder / text).lexically_normal().generic_string();
}

// A file that is missing is no error: the map may still have shapes that need no other file.
std::optional<std::string> TiledFiles::Open(const std::string& path, std::string_view what) {
  absl::StatusOr<std::string> bytes = absl::NotFoundError("there is no folder to open it from");
  if (open_) bytes = open_(path);
  if (bytes.ok()) return *std::move(bytes);
  builder_.Skip(absl::StrCat(AbslView(what), " ", path), std::string(bytes.status().message()));
  return std::nullopt;
}

// Tilesets that have the same first number replace each other.
absl::StatusOr<TiledTilesets> TiledFiles::Tilesets(const std::vector<TiledNode>& nodes) {
  TiledTilesets tilesets;
  for (const TiledNode& node : nodes) {
    const absl::StatusOr<int64_t> first = node.Integer("firstgid", 1, {1, kMaxTileNumber});
    const absl::StatusOr<std::string> source = node.Text("source");
    if (!first.ok()) return first.status();
    if (!source.ok()) return source.status();
    const absl::StatusOr<const TiledTileset*> set =
        source->empty() ? ReadTileset(node)
                        : TilesetFile(TiledPath(node.document().file(), *source));
    if (!set.ok()) return set.status();
    tilesets[static_cast<uint32_t>(*first)] = *set;
  }
  return tilesets;
}

// Marks the file as known before it is opened, so that it is reported once.
absl::StatusOr<const TiledTileset*> TiledFiles::TilesetFile(const std::string& path) {
  const auto known = set_files_.find(path);
  if (known != set_files_.end()) return known->second;
  set_files_[path] = nullptr;
  const std::optional<std::string> bytes = Open(path, "tileset");
  if (!bytes) return nullptr;
  const auto document = TiledDocument::Parse(path, *bytes);
  if (!document.ok()) return document.status();
  const absl::StatusOr<const TiledTileset*> set = ReadTileset((*document)->root());
  if (set.ok()) set_files_[path] = *set;
  return set;
}

// The reader keeps its tilesets until the end: tiles of objects point to them.
absl::StatusOr<const TiledTileset*> TiledFiles::ReadTileset(const TiledNode& node) {
  if (!node.Has("tilewidth")) return node.Error("tilewidth", "required: this is no tileset");
  auto set = std::make_unique<TiledTileset>();
  const absl::StatusOr<Vec2> size =
      IntegerPair(node, "tilewidth", "tileheight", {0, kMaxTileSize}, {0, 0});
  const absl::StatusOr<int64_t> columns = node.Integer("columns", 0, {0, kMaxTileNumber});
  if (!size.ok()) return size.status();
  if (!columns.ok()) return columns.status();
  set->tile_size = *size;
  set->columns = static_cast<uint32_t>(*columns);
  absl::Status status = ReadDrawing(node, *set);
  if (!status.ok()) return status;
  const auto tiles = node.List("tile", "tiles");
  if (!tiles.ok()) return tiles.status();
  for (const TiledNode& tile : *tiles) {
    status = ReadTile(tile, *set);
    if (!status.ok()) return status;
  }
  sets_.push_back(std::move(set));
  return sets_.back().get();
}

// Objects that are no shapes are reported here, once for all cells with the tile.
absl::Status TiledFiles::ReadTile(const TiledNode& node, TiledTileset& set) {
  const int64_t key = node.Key() ? int64_t{*node.Key()} : -1;
  const absl::StatusOr<int64_t> id = node.Integer("id", key, {0, kMaxTileNumber});
  if (!id.ok()) return id.status();
  if (*id < 0 || *id > kMaxTileNumber) return node.Error("id", "required");
  TiledTile& tile = set.tiles[static_cast<uint32_t>(*id)];
  const absl::StatusOr<Vec2> size = ImageSize(node, set.tile_size);
  if (!size.ok()) return size.status();
  tile.size = *size;
  const auto category = node.Category(builder_.options().property);
  if (!category.ok()) return category.status();
  tile.category = *category;
  const TiledNode group = node.Child("objectgroup");
  if (!group) return absl::OkStatus();
  const auto objects = group.List("object", "objects");
  if (!objects.ok()) return objects.status();
  for (const TiledNode& child : *objects) {
    absl::StatusOr<std::optional<TiledObject>> object = ReadTiledObject(child, {}, *this);
    if (!object.ok()) return object.status();
    if (!*object) continue;
    if (const char* kind = WhyNoShape(**object)) {
      builder_.Skip(absl::StrCat("a ", kind, " of tile ", *id), "no collision shape");
    } else {
      tile.shapes.push_back(*std::move(*object));
    }
  }
  return absl::OkStatus();
}

// A template that names itself finds itself known and empty.
absl::StatusOr<const TiledObject*> TiledFiles::Template(const std::string& path) {
  auto known = templates_.find(path);
  if (known == templates_.end()) {
    known = templates_.emplace(path, std::nullopt).first;
    const std::optional<std::string> bytes = Open(path, "template");
    if (!bytes) return nullptr;
    const auto document = TiledDocument::Parse(path, *bytes);
    if (!document.ok()) return document.status();
    absl::StatusOr<TiledObject> object = ReadTemplate((*document)->root());
    if (!object.ok()) return object.status();
    known->second = *std::move(object);
  }
  return known->second ? &*known->second : nullptr;
}

// The number of a template's tile belongs to the tileset that the template names.
absl::StatusOr<TiledObject> TiledFiles::ReadTemplate(const TiledNode& node) {
  const TiledNode child = node.Child("object");
  if (!child) return node.Error("object", "required: this is no template");
  if (++depth_ > kMaxTemplateDepth) return node.Error("", "templates are nested too deep");
  std::vector<TiledNode> nodes;
  if (const TiledNode set = node.Child("tileset")) nodes.push_back(set);
  const absl::StatusOr<TiledTilesets> tilesets = Tilesets(nodes);
  if (!tilesets.ok()) return tilesets.status();
  absl::StatusOr<std::optional<TiledObject>> object = ReadTiledObject(child, *tilesets, *this);
  --depth_;
  if (!object.ok()) return object.status();
  if (!*object) return node.Error("object", "has a template that cannot be opened");
  return *std::move(*object);
}

}  // namespace carom
