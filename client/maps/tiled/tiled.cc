// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/tiled/tiled.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/formats/json_text.h"
#include "client/maps/tiled/tiled_map.h"

namespace carom {
namespace {

constexpr double kNoParallax = 1;
// The number of columns in which the tiles of a collection of images are laid out.
constexpr uint32_t kCollectionColumns = 16;

// Returns `shape` with its points mapped by `map`, then moved by `offset`.
MapShape Mapped(MapShape shape, const Affine& map, Vec2 offset) {
  for (RingSpec& ring : shape.rings) {
    for (Vec2& vertex : ring.vertices) {
      const Vec2 mapped = map(vertex);
      vertex = {mapped.x + offset.x, mapped.y + offset.y};
    }
  }
  return shape;
}

// What the groups around a layer give to it.
struct Surroundings {
  Vec2 offset;
  std::string path;                  // the names of the groups, each with a `/` behind
  std::vector<std::string> groups;   // the names of the groups
  std::optional<uint64_t> category;  // by the property, of the innermost group that has it
  size_t depth = 0;
};

// A layer and how to import it.
struct LayerTask {
  TiledNode node;
  LayerPlan plan;
  Vec2 offset;
  std::optional<uint64_t> category;
};

// Imports one map: its tilesets, its lattice and its layers.
class MapImporter {
 public:
  MapImporter(TiledFiles& files, TiledGrid grid, TiledTilesets tilesets, size_t& budget)
      : files_(files),
        builder_(files.builder()),
        grid_(grid),
        tilesets_(std::move(tilesets)),
        budget_(budget) {}

  // Imports the layers of a map or group, in the order of the file.
  absl::Status AddLayers(const TiledNode& parent, const Surroundings& around) {
    const auto layers = parent.Layers();
    if (!layers.ok()) return layers.status();
    for (const TiledNode& layer : *layers) {
      layer.Report(builder_.options());
      const absl::Status added = AddLayer(layer, around);
      if (!added.ok()) return added;
    }
    return absl::OkStatus();
  }

  absl::Status AddObject(const LayerTask& layer, const TiledObject& object);
  // Adds the shapes of a tile in its own size, with the lower left corner of its image at `anchor`.
  absl::Status AddTile(const LayerTask& layer, const TiledTileRef& tile, Vec2 anchor);

 private:
  absl::Status AddLayer(const TiledNode& node, const Surroundings& around);
  absl::Status AddObjectLayer(const LayerTask& layer);
  absl::Status AddTileLayer(const LayerTask& layer);
  absl::Status AddTileObject(const LayerTask& layer, const TiledObject& object);
  // Adds a shape with the category of the layer if it has none.
  absl::Status AddShape(const LayerTask& layer, MapShape shape) {
    if (!shape.category) shape.category = layer.category;
    return builder_.Add(layer.plan, std::move(shape));
  }
  absl::StatusOr<std::vector<MapShape>> ShapesOfTile(const TiledTileRef& tile, Vec2 size) const;
  absl::StatusOr<const std::vector<MapShape>*> StampOf(uint32_t number);

  TiledFiles& files_;
  MapBuilder& builder_;
  TiledGrid grid_;
  TiledTilesets tilesets_;
  size_t& budget_;
  // The shapes of the tiles of cells, by the number in the file.
  std::unordered_map<uint32_t, std::vector<MapShape>> stamps_;
};

// Returns where a layer is, moved by its own offset.
absl::StatusOr<Vec2> OffsetOf(const TiledNode& node, Vec2 around) {
  const absl::StatusOr<double> x = node.Number("offsetx", 0);
  const absl::StatusOr<double> y = node.Number("offsety", 0);
  if (!x.ok()) return x.status();
  if (!y.ok()) return y.status();
  return Vec2{around.x + *x, around.y + *y};
}

// Returns whether a layer moves at another speed than the camera.
absl::StatusOr<bool> HasParallax(const TiledNode& node) {
  const absl::StatusOr<double> x = node.Number("parallaxx", kNoParallax);
  const absl::StatusOr<double> y = node.Number("parallaxy", kNoParallax);
  if (!x.ok()) return x.status();
  if (!y.ok()) return y.status();
  return *x != kNoParallax || *y != kNoParallax;
}

// Plans the layer under all of its names; a group only passes on what it gives to its layers.
absl::Status MapImporter::AddLayer(const TiledNode& node, const Surroundings& around) {
  const absl::StatusOr<std::string> name = node.Text("name");
  const absl::StatusOr<Vec2> offset = OffsetOf(node, around.offset);
  const absl::StatusOr<bool> has_parallax = HasParallax(node);
  auto category = node.Category(builder_.options().property);
  for (const absl::Status& status :
       {name.status(), offset.status(), has_parallax.status(), category.status()}) {
    if (!status.ok()) return status;
  }
  if (!*category) *category = around.category;
  if (*has_parallax) {
    builder_.Skip(absl::StrCat("the parallax of \"", *name, "\""),
                  "the layer is placed as if it had none");
  }
  const std::string kind = node.kind();
  std::vector<std::string> names = {*name};
  if (!around.path.empty()) names.push_back(around.path + *name);
  if (kind == "group") {
    if (around.depth >= kMaxDepth) return node.Error("", "groups are nested too deep");
    Surroundings inner{*offset, around.path + *name + "/", around.groups, *category,
                       around.depth + 1};
    inner.groups.insert(inner.groups.end(), names.begin(), names.end());
    return AddLayers(node, inner);
  }
  names.insert(names.end(), around.groups.begin(), around.groups.end());
  const LayerTask layer{node, builder_.Plan(names), *offset, *category};
  if (kind == "imagelayer") {
    builder_.Skip(absl::StrCat("image layer \"", *name, "\""), "an image has no shapes");
    return absl::OkStatus();
  }
  if (kind != "objectgroup" && kind != "tilelayer") {
    return node.Error("type", "must be the kind of a layer: \"tilelayer\", \"objectgroup\"");
  }
  if (layer.plan.use == LayerUse::kSkip) {
    builder_.SkipLayer(layer.plan, "");
    return absl::OkStatus();
  }
  return kind == "objectgroup" ? AddObjectLayer(layer) : AddTileLayer(layer);
}

// Reads one object at a time, as there may be millions.
absl::Status MapImporter::AddObjectLayer(const LayerTask& layer) {
  return layer.node.ForEach("object", "objects", [&](const TiledNode& node) -> absl::Status {
    node.Report(builder_.options());
    const auto object = ReadTiledObject(node, tilesets_, files_);
    if (!object.ok()) return object.status();
    if (*object) return AddObject(layer, **object);
    builder_.SkipObject("object", layer.plan.name, "the template cannot be opened");
    return absl::OkStatus();
  });
}

// An object without shape, or without extent, is counted in the report.
absl::Status MapImporter::AddObject(const LayerTask& layer, const TiledObject& object) {
  const std::string& name = layer.plan.name;
  if (object.tile) return AddTileObject(layer, object);
  if (object.form == TiledForm::kPoint || object.form == TiledForm::kText) {
    builder_.SkipObject(object.form == TiledForm::kPoint ? "point" : "text", name, "no area");
    return absl::OkStatus();
  }
  if (object.points.empty() && object.width == 0 && object.height == 0) {
    builder_.SkipObject("object", name, "the size is 0");
    return absl::OkStatus();
  }
  MapShape shape;
  const absl::Status status =
      AppendTiledRings(object, grid_.projection(), builder_.options().chord, shape.rings);
  if (!status.ok()) return status;
  shape.hollow = object.form == TiledForm::kPolyline;
  shape.id = object.id;
  shape.category = object.category;
  shape.path = object.where;
  return AddShape(layer, Mapped(std::move(shape), {}, layer.offset));
}

// The first shape of a tile object has its id. The image lies with its anchor at the position of
// the object, about which it turns.
absl::Status MapImporter::AddTileObject(const LayerTask& layer, const TiledObject& object) {
  const TiledTileRef& tile = *object.tile;
  if (tile.set == nullptr) {
    builder_.SkipObject("tile object", layer.plan.name, "the tileset cannot be opened");
    return absl::OkStatus();
  }
  const Vec2 size{object.width, object.height};
  absl::StatusOr<std::vector<MapShape>> shapes = ShapesOfTile(tile, size);
  if (!shapes.ok()) return shapes.status();
  if (shapes->empty() && !layer.plan.is_named) {
    builder_.SkipObject("tile object", layer.plan.name, "no collision shape in the tileset",
                        "--layer " + ShellWord(layer.plan.name));
    return absl::OkStatus();
  }
  if (shapes->empty()) {
    const Vec2 image = tile.set->SizeOf(tile.id);
    MapShape rectangle;
    rectangle.rings.push_back({{{0, 0}, {image.x, 0}, {image.x, image.y}, {0, image.y}}});
    shapes->push_back(Mapped(std::move(rectangle), grid_.Draw(tile, size), {0, 0}));
  }
  const Vec2 align = grid_.Alignment(*tile.set);
  const Vec2 anchor = grid_.projection()({object.x, object.y});
  const Affine turn = TurnDegrees(object.rotation) *
                      Affine{.origin = {-align.x * size.x, size.y - align.y * size.y}};
  for (size_t i = 0; i < shapes->size(); ++i) {
    MapShape shape = Mapped(std::move((*shapes)[i]), turn,
                            {anchor.x + layer.offset.x, anchor.y + layer.offset.y});
    if (i == 0) shape.id = object.id;
    if (object.category) shape.category = object.category;
    shape.path = object.where;
    const absl::Status added = AddShape(layer, std::move(shape));
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

// Returns the collision shapes of a tile that is drawn at the size `size`, from the lower left
// corner of its image.
absl::StatusOr<std::vector<MapShape>> MapImporter::ShapesOfTile(const TiledTileRef& tile,
                                                                Vec2 size) const {
  std::vector<MapShape> shapes;
  const TiledTile* found = tile.set == nullptr ? nullptr : tile.set->Find(tile.id);
  if (found == nullptr || found->shapes.empty()) return shapes;
  Affine draw = grid_.Draw(tile, size);
  // Curves are made before they are drawn, so their chords must be finer where drawing enlarges.
  const double stretch =
      std::max({std::hypot(draw.x.x, draw.x.y), std::hypot(draw.y.x, draw.y.y), 1e-9});
  TiledProjection projection;
  if (tile.set->isometric) {
    const Vec2 cell = *tile.set->isometric;
    projection = {cell, std::floor(cell.x / 2)};
    draw = draw * Affine{.origin = {0, found->size.y - cell.y}};
  }
  for (const TiledObject& object : found->shapes) {
    MapShape shape;
    const absl::Status status =
        AppendTiledRings(object, projection, builder_.options().chord / stretch, shape.rings);
    if (!status.ok()) return status;
    shape.hollow = object.form == TiledForm::kPolyline;
    shape.category = object.category ? object.category : found->category;
    shapes.push_back(Mapped(std::move(shape), draw, {0, 0}));
  }
  return shapes;
}

// Returns the shapes of a cell with a number, made once.
absl::StatusOr<const std::vector<MapShape>*> MapImporter::StampOf(uint32_t number) {
  const auto known = stamps_.find(number);
  if (known != stamps_.end()) return &known->second;
  const TiledTileRef tile = TileOf(tilesets_, number);
  absl::StatusOr<std::vector<MapShape>> shapes = ShapesOfTile(tile, grid_.DrawnSize(tile));
  if (!shapes.ok()) return shapes.status();
  return &(stamps_[number] = *std::move(shapes));
}

// A tile of a tileset that is imported alone.
absl::Status MapImporter::AddTile(const LayerTask& layer, const TiledTileRef& tile, Vec2 anchor) {
  absl::StatusOr<std::vector<MapShape>> shapes = ShapesOfTile(tile, tile.set->SizeOf(tile.id));
  if (!shapes.ok()) return shapes.status();
  for (MapShape& shape : *shapes) {
    shape.path = layer.node.where();
    const absl::Status added = AddShape(layer, Mapped(std::move(shape), {}, anchor));
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

// Calls `cell(column, row, number)` for each cell that is not empty, until it returns an error.
template <typename Function>
absl::Status ForEachCell(const std::vector<TiledChunk>& chunks, Function cell) {
  for (const TiledChunk& chunk : chunks) {
    size_t i = 0;
    for (int32_t row = chunk.y; row < chunk.y + chunk.height; ++row) {
      for (int32_t column = chunk.x; column < chunk.x + chunk.width; ++column, ++i) {
        if ((chunk.numbers[i] & ~kFlags) == 0) continue;
        const absl::Status status = cell(column, row, chunk.numbers[i]);
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

// Goes through the cells once for their shapes, and a second time for their outline if there are
// none.
absl::Status MapImporter::AddTileLayer(const LayerTask& layer) {
  const absl::StatusOr<std::vector<TiledChunk>> chunks = ReadTiledCells(layer.node, budget_);
  if (!chunks.ok()) return chunks.status();
  const std::string where = layer.node.where();
  size_t cell_count = 0;
  bool has_shapes = false;
  absl::Status status =
      ForEachCell(*chunks, [&](int32_t column, int32_t row, uint32_t number) -> absl::Status {
        ++cell_count;
        const absl::StatusOr<const std::vector<MapShape>*> stamp = StampOf(number);
        if (!stamp.ok()) return stamp.status();
        if ((*stamp)->empty()) return absl::OkStatus();
        has_shapes = true;
        const Vec2 anchor = grid_.Anchor(column, row);
        const Vec2 place{anchor.x + layer.offset.x, anchor.y + layer.offset.y};
        for (const MapShape& shape : **stamp) {
          MapShape moved = Mapped(shape, {}, place);
          moved.path = where;
          const absl::Status added = AddShape(layer, std::move(moved));
          if (!added.ok()) return added;
        }
        return absl::OkStatus();
      });
  if (!status.ok() || has_shapes) return status;
  if (!layer.plan.is_named) {
    builder_.SkipLayer(layer.plan, "no collision shapes in the tilesets");
    return absl::OkStatus();
  }
  std::vector<Cell> cells;
  cells.reserve(cell_count);
  status = ForEachCell(*chunks, [&](int32_t column, int32_t row, uint32_t /*number*/) {
    cells.push_back({column, row});
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  MapShape head;
  head.category = layer.category;
  head.path = where;
  return grid_.AddCells(std::move(cells), layer.offset, layer.plan, head, builder_);
}

// Imports any file of Tiled.
class TiledImporter {
 public:
  TiledImporter(const ImportOptions& options, const FileOpener& open)
      : builder_("tiled", options, /*y_down=*/true),
        files_(open, builder_),
        budget_(options.max_decompressed_bytes) {}

  absl::Status Add(const TiledNode& root) {
    const std::string kind = root.kind();
    // Old versions wrote no type into JSON files.
    if (kind == "tileset" || (kind.empty() && root.Has("tilecount"))) return AddTileset(root);
    if (kind == "template") return AddTemplate(root);
    return kind == "world" ? AddWorld(root) : AddMap(root, {0, 0});
  }
  absl::StatusOr<ImportedMap> Finish() { return builder_.Finish(); }

 private:
  // Adds a map whose origin is at `offset`.
  absl::Status AddMap(const TiledNode& map, Vec2 offset) {
    const absl::StatusOr<TiledGrid> grid = TiledGrid::Read(map);
    if (!grid.ok()) return grid.status();
    const auto nodes = map.List("tileset", "tilesets");
    if (!nodes.ok()) return nodes.status();
    absl::StatusOr<TiledTilesets> tilesets = files_.Tilesets(*nodes);
    if (!tilesets.ok()) return tilesets.status();
    MapImporter importer(files_, *grid, *std::move(tilesets), budget_);
    Surroundings around;
    around.offset = offset;
    return importer.AddLayers(map, around);
  }
  absl::Status AddWorld(const TiledNode& world);
  absl::Status AddTileset(const TiledNode& node);
  absl::Status AddTemplate(const TiledNode& node);

  // Returns the layer of a file that has no layers.
  LayerTask OnlyLayer(const TiledNode& node, std::string name) {
    return {node, builder_.Plan({&name, 1}), {0, 0}, std::nullopt};
  }

  MapBuilder builder_;
  TiledFiles files_;
  size_t budget_;
};

// A map that cannot be opened is reported; the others are imported at their places.
absl::Status TiledImporter::AddWorld(const TiledNode& world) {
  const auto maps = world.List("map", "maps");
  const auto patterns = world.List("pattern", "patterns");
  if (!maps.ok()) return maps.status();
  if (!patterns.ok()) return patterns.status();
  if (!patterns->empty()) {
    builder_.Skip("maps that a pattern of the world names", "a folder is not searched for them");
  }
  for (const TiledNode& entry : *maps) {
    const absl::StatusOr<std::string> name = entry.Text("fileName");
    const absl::StatusOr<double> x = entry.Number("x", 0);
    const absl::StatusOr<double> y = entry.Number("y", 0);
    for (const absl::Status& status : {name.status(), x.status(), y.status()}) {
      if (!status.ok()) return status;
    }
    if (name->empty()) return entry.Error("fileName", "required");
    const std::string path = TiledPath("", *name);
    const std::optional<std::string> bytes = files_.Open(path, "map");
    if (!bytes) continue;
    const auto document = TiledDocument::Parse(path, *bytes);
    if (!document.ok()) return document.status();
    const absl::Status added = AddMap((*document)->root(), {*x, *y});
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

// The tiles are laid out by their numbers, in rows, as in the image of the tileset.
absl::Status TiledImporter::AddTileset(const TiledNode& node) {
  const absl::StatusOr<const TiledTileset*> set = files_.ReadTileset(node);
  if (!set.ok()) return set.status();
  MapImporter importer(files_, TiledGrid(), {}, budget_);
  const LayerTask layer = OnlyLayer(node, "tileset");
  const uint32_t columns = (*set)->columns > 0 ? (*set)->columns : kCollectionColumns;
  for (const auto& [id, tile] : (*set)->tiles) {
    const uint32_t column = id % columns;
    const uint32_t row = id / columns + 1;
    const Vec2 anchor{column * (*set)->tile_size.x, row * (*set)->tile_size.y};
    const absl::Status added = importer.AddTile(layer, {*set, id, 0}, anchor);
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

// The object of a template is at the place that the template gives, mostly the origin.
absl::Status TiledImporter::AddTemplate(const TiledNode& node) {
  const absl::StatusOr<TiledObject> object = files_.ReadTemplate(node);
  if (!object.ok()) return object.status();
  MapImporter importer(files_, TiledGrid(), {}, budget_);
  return importer.AddObject(OnlyLayer(node, "template"), *object);
}

}  // namespace

// Compares the root element of XML, or the type and the members of JSON that all maps have.
bool LooksLikeTiled(const Sniffed& file) {
  if (!file.root.empty()) {
    return file.root == "map" || file.root == "tileset" || file.root == "template";
  }
  const auto type = file.members.find("type");
  const std::string_view kind = type == file.members.end() ? "" : type->second;
  if (kind == "\"map\"" || kind == "\"tileset\"" || kind == "\"template\"" || kind == "\"world\"") {
    return true;
  }
  // Old versions wrote no type.
  return file.Has("tilewidth") && (file.Has("layers") || file.Has("tilecount"));
}

absl::StatusOr<ImportedMap> ImportTiled(std::string_view bytes, const ImportOptions& options,
                                        const FileOpener& open) {
  const absl::Status checked = MapBuilder::Check(options);
  if (!checked.ok()) return checked;
  absl::StatusOr<std::unique_ptr<TiledDocument>> document =
      TiledDocument::Parse("", bytes, options.progress);
  if (!document.ok()) return document.status();
  TiledImporter importer(options, open);
  const absl::Status added = importer.Add((*document)->root());
  if (!added.ok()) return added;
  document->reset();  // the polygons take its place
  return importer.Finish();
}

}  // namespace carom
