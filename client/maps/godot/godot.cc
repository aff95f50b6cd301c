// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/godot/godot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/maps/godot/godot_scene.h"
#include "client/maps/godot/godot_shapes.h"
#include "client/maps/godot/godot_tiles.h"

namespace carom {
namespace {

// One layer of cells.
struct GodotLayer {
  std::vector<std::string> names;
  size_t node = 0;
  MapShape head;  // with the category, and the line of the cells as its path
  std::vector<GodotCell> cells;
};

// Returns the category that a number or a text stands for.
absl::StatusOr<uint64_t> CategoryOfValue(const GodotValue& value, const std::string& line) {
  if (value.kind == GodotValue::Kind::kNumber) {
    return CategoryOf(nlohmann::json(value.number), line);
  }
  return CategoryOfText(value.text, line);
}

// Imports one file. Methods return errors with the line.
class GodotImport {
 public:
  GodotImport(const ImportOptions& options, const FileOpener& open)
      : options_(options), files_(options, open), builder_("godot", options, /*y_down=*/true) {}

  absl::StatusOr<ImportedMap> Import(std::string_view bytes);

 private:
  absl::Status Scene(const GodotFile& file);
  absl::Status Resource(const GodotFile& file);
  absl::Status PlaceNodes();
  absl::Status Node(size_t index);

  std::vector<std::string> NamesOf(size_t index) const;
  absl::StatusOr<std::optional<uint64_t>> CategoryAt(size_t index) const;
  absl::StatusOr<MapShape> Head(size_t index) const;
  absl::Status AddShape(size_t index, GodotShape shape);
  bool SkipsNode(size_t index, std::string_view property, bool skipping, std::string_view why);

  absl::Status CollisionShape(size_t index);
  absl::Status CollisionPolygon(size_t index);
  absl::Status DrawnPolygon(size_t index);
  absl::Status TileMapLayer(size_t index);
  absl::Status TileMap(size_t index);
  absl::StatusOr<const GodotTileSet*> TileSetOf(size_t index);
  absl::StatusOr<GodotLayer> LayerOf(std::vector<std::string> names, size_t node,
                                     const GodotNodeProperty& data) const;
  absl::Status AddLayer(std::vector<std::string> names, size_t node, const GodotNodeProperty& data);
  absl::Status AddTile(const LayerPlan& plan, const GodotTile& tile, const GodotTileSet& set,
                       const MapShape& head, const std::function<Vec2(Vec2)>& place);
  absl::Status OutlineLayer(const LayerPlan& plan, const GodotLayer& layer,
                            const GodotTileSet& set);

  const ImportOptions& options_;
  GodotFiles files_;
  MapBuilder builder_;
  std::vector<GodotNode> nodes_;
  std::vector<Affine> places_;  // of the nodes, in the plane
  // Those that were read, as several layers share one.
  std::map<const GodotSection*, GodotTileSet> tile_sets_;
  std::map<std::string, size_t> drawn_;  // nodes that are drawn and not taken, by type
};

// Reports what was counted on the way, after the shapes.
absl::StatusOr<ImportedMap> GodotImport::Import(std::string_view bytes) {
  const absl::StatusOr<const GodotFile*> file = files_.Parse(bytes);
  if (!file.ok()) return file.status();
  const absl::Status status =
      (*file)->sections.front().tag == "gd_scene" ? Scene(**file) : Resource(**file);
  if (!status.ok()) return status;
  for (const auto& [type, count] : drawn_) {
    builder_.Skip(absl::StrCat(count, " ", type, count == 1 ? " node" : " nodes"),
                  "nothing collides with it", absl::StrCat("--layer ", type));
  }
  for (const auto& [path, why] : files_.missing()) {
    builder_.Skip(absl::StrCat("file \"", path.substr(0, 100), "\""), why);
  }
  return builder_.Finish();
}

// Places all nodes, then adds their shapes in the order of the file.
absl::Status GodotImport::Scene(const GodotFile& file) {
  absl::StatusOr<std::vector<GodotNode>> nodes = GodotNodes(file, files_);
  if (!nodes.ok()) return nodes.status();
  nodes_ = *std::move(nodes);
  absl::Status status = PlaceNodes();
  for (size_t i = 0; status.ok() && i < nodes_.size(); ++i) status = Node(i);
  return status;
}

// Imports a TileSet, or a shape, on its own.
absl::Status GodotImport::Resource(const GodotFile& file) {
  const GodotResource resource{&file, &file.sections.back()};
  if (resource.section->tag != "resource") {
    return InvalidField(file.Line(resource.section->line), "the last section must be [resource]");
  }
  MapShape head;
  head.path = file.Line(resource.section->line);
  if (file.resource_type == "TileSet") {
    const std::array<std::string, 1> names{"tiles"};
    const LayerPlan plan = builder_.Plan(names);
    const absl::StatusOr<GodotTileSet> set = ReadGodotTileSet(resource, files_);
    if (!set.ok()) return set.status();
    for (const auto& [id, tile] : set->tiles) {
      const absl::Status status = AddTile(plan, tile, *set, head, [](Vec2 p) { return p; });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  if (!file.resource_type.ends_with("Shape2D")) {
    return InvalidField(file.Line(1),
                        absl::StrCat("a resource of the type ", file.resource_type.substr(0, 40),
                                     " has no shapes"));
  }
  absl::StatusOr<GodotShape> shape = GodotShapeOf(resource, {}, options_.chord);
  if (!shape.ok()) return shape.status();
  const std::array<std::string, 1> names{file.resource_type};
  const LayerPlan plan = builder_.Plan(names);
  if (shape->rings.empty()) {
    builder_.SkipObject(file.resource_type, plan.name, shape->skipped);
    return absl::OkStatus();
  }
  head.rings = std::move(shape->rings);
  head.hollow = shape->hollow;
  return builder_.Add(plan, std::move(head));
}

// A parent comes before its children, so that one pass is enough.
absl::Status GodotImport::PlaceNodes() {
  places_.resize(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const GodotNode& node = nodes_[i];
    if (!IsGodotCanvasItem(node)) continue;
    const absl::StatusOr<Affine> place = GodotPlace(node);
    if (!place.ok()) return place.status();
    const std::optional<GodotNodeProperty> top = node.Find("top_level");
    const bool is_top = top && top->value().AsBool().value_or(false);
    const bool has_parent = node.parent != GodotNode::kNoParent && !is_top;
    places_[i] = has_parent ? places_[node.parent] * *place : *place;
  }
  return absl::OkStatus();
}

// Adds the shapes of one node, by its type.
absl::Status GodotImport::Node(size_t index) {
  const std::string& type = nodes_[index].type;
  if (type == "CollisionShape2D") return CollisionShape(index);
  if (type == "CollisionPolygon2D") return CollisionPolygon(index);
  if (type == "TileMapLayer") return TileMapLayer(index);
  if (type == "TileMap") return TileMap(index);
  if (type == "Polygon2D" || type == "LightOccluder2D") return DrawnPolygon(index);
  return absl::OkStatus();
}

// Returns the names of a shape: its body, or itself if it has none; itself; the nodes around it;
// the type of the body.
std::vector<std::string> GodotImport::NamesOf(size_t index) const {
  constexpr std::array<std::string_view, 6> kBodies{"StaticBody2D",   "AnimatableBody2D",
                                                    "RigidBody2D",    "CharacterBody2D",
                                                    "PhysicalBone2D", "Area2D"};
  std::vector<std::string> names{nodes_[index].name};
  std::string body;
  for (size_t i = nodes_[index].parent; i != GodotNode::kNoParent; i = nodes_[i].parent) {
    const std::string& type = nodes_[i].type;
    const bool is_body =
        body.empty() && std::find(kBodies.begin(), kBodies.end(), type) != kBodies.end();
    const bool is_first = is_body && nodes_[index].type.starts_with("Collision");
    names.insert(is_first ? names.begin() : names.end(), nodes_[i].name);
    if (is_body) body = type;
  }
  names.push_back(body.empty() ? nodes_[index].type : body);
  return names;
}

// Returns the category by the property of the options, which the nearest node has.
absl::StatusOr<std::optional<uint64_t>> GodotImport::CategoryAt(size_t index) const {
  if (options_.property.empty()) return std::nullopt;
  for (size_t i = index; i != GodotNode::kNoParent; i = nodes_[i].parent) {
    std::optional<GodotNodeProperty> found = nodes_[i].Find(options_.property);
    if (!found) found = nodes_[i].Find("metadata/" + options_.property);
    if (!found) continue;
    const absl::StatusOr<uint64_t> category =
        CategoryOfValue(found->value(), found->file->Line(found->property->line));
    if (!category.ok()) return category.status();
    return *category;
  }
  return std::nullopt;
}

// Returns a shape of the node, without rings.
absl::StatusOr<MapShape> GodotImport::Head(size_t index) const {
  const GodotNode& node = nodes_[index];
  const absl::StatusOr<std::optional<uint64_t>> category = CategoryAt(index);
  if (!category.ok()) return category.status();
  MapShape head;
  head.category = *category;
  head.path = node.Line();
  // Copies of an instanced scene have the same ids.
  const auto& [file, section] = node.sources.front();
  const GodotValue* id = section->attributes.Value("unique_id");
  if (file->path.empty() && id != nullptr) {
    const double number = id->AsNumber().value_or(-1);
    if (number >= 0 && number <= kMaxCoordinate && number == std::floor(number)) {
      head.id = static_cast<uint64_t>(number);
    }
  }
  return head;
}

// Adds a shape of a node, or reports why it has none.
absl::Status GodotImport::AddShape(size_t index, GodotShape shape) {
  const LayerPlan plan = builder_.Plan(NamesOf(index));
  if (shape.rings.empty()) {
    builder_.SkipObject(nodes_[index].type, plan.name, shape.skipped);
    return absl::OkStatus();
  }
  if (plan.use == LayerUse::kSkip) {
    builder_.SkipObject(nodes_[index].type, plan.name, "the choice of its layer skips it");
    return absl::OkStatus();
  }
  const std::optional<GodotNodeProperty> one_way = nodes_[index].Find("one_way_collision");
  if (one_way && one_way->value().AsBool().value_or(false)) {
    builder_.SkipObject("one-way side", plan.name, "the shape is taken, and blocks every way");
  }
  absl::StatusOr<MapShape> head = Head(index);
  if (!head.ok()) return head.status();
  head->rings = std::move(shape.rings);
  head->hollow = shape.hollow;
  return builder_.Add(plan, *std::move(head));
}

// Returns whether a property has the value by which the node is skipped, and reports it then.
bool GodotImport::SkipsNode(size_t index, std::string_view property, bool skipping,
                            std::string_view why) {
  const std::optional<GodotNodeProperty> found = nodes_[index].Find(property);
  if (!found || found->value().AsBool() != skipping) return false;
  builder_.SkipObject(nodes_[index].type, NamesOf(index).front(), why);
  return true;
}

// Adds the shape of a resource.
absl::Status GodotImport::CollisionShape(size_t index) {
  if (SkipsNode(index, "disabled", true, "it is disabled")) return absl::OkStatus();
  GodotShape shape;
  shape.skipped = "it has no shape";
  if (const std::optional<GodotNodeProperty> found = nodes_[index].Find("shape")) {
    const absl::StatusOr<std::optional<GodotResource>> resource =
        files_.Resolve(*found->file, found->value());
    if (!resource.ok()) return resource.status();
    shape.skipped = "its shape is not found";
    if (resource->has_value()) {
      absl::StatusOr<GodotShape> read = GodotShapeOf(**resource, places_[index], options_.chord);
      if (!read.ok()) return read.status();
      shape = *std::move(read);
    }
  }
  return AddShape(index, std::move(shape));
}

// Adds the polygon of a node: solid, or its edges alone in the build mode 1. Godot cuts solid ones
// into convex parts, which cover the same area.
absl::Status GodotImport::CollisionPolygon(size_t index) {
  if (SkipsNode(index, "disabled", true, "it is disabled")) return absl::OkStatus();
  GodotShape shape;
  shape.skipped = "it has no polygon";
  if (const std::optional<GodotNodeProperty> found = nodes_[index].Find("polygon")) {
    std::optional<std::vector<Vec2>> points = found->value().AsPoints();
    if (!points) {
      return InvalidField(found->file->Line(found->property->line),
                          "polygon must be a PackedVector2Array");
    }
    for (Vec2& point : *points) point = places_[index](point);
    if (!points->empty()) shape.rings.push_back({*std::move(points), false});
  }
  // 0 or absent: solids; 1: segments.
  const std::optional<GodotNodeProperty> mode = nodes_[index].Find("build_mode");
  shape.hollow = mode && mode->value().AsNumber() == 1.0;
  return AddShape(index, std::move(shape));
}

// Takes a Polygon2D or LightOccluder2D if the options name its type or the node.
absl::Status GodotImport::DrawnPolygon(size_t index) {
  const GodotNode& node = nodes_[index];
  const std::array<std::string, 2> names{node.type, node.name};
  const LayerPlan plan = builder_.Plan(names);
  if (!plan.is_named || plan.use == LayerUse::kSkip) {
    ++drawn_[node.type];
    return absl::OkStatus();
  }
  absl::StatusOr<MapShape> head = Head(index);
  if (!head.ok()) return head.status();
  std::optional<std::vector<Vec2>> points;
  Vec2 offset;
  bool open = false;
  if (node.type == "Polygon2D") {
    if (const auto found = node.Find("polygon")) points = found->value().AsPoints();
    if (const auto found = node.Find("offset")) {
      offset = found->value().AsVector2().value_or(Vec2{0, 0});
    }
  } else if (const auto found = node.Find("occluder")) {
    const absl::StatusOr<std::optional<GodotResource>> occluder =
        files_.Resolve(*found->file, found->value());
    if (!occluder.ok()) return occluder.status();
    if (occluder->has_value()) {
      const GodotProperties& properties = (*occluder)->section->properties;
      const GodotValue* polygon = properties.Value("polygon");
      const GodotValue* closed = properties.Value("closed");
      if (polygon != nullptr) points = polygon->AsPoints();
      open = closed != nullptr && closed->AsBool() == false;
    }
  }
  if (!points || points->empty()) {
    builder_.SkipObject(node.type, plan.name, "it has no polygon");
    return absl::OkStatus();
  }
  for (Vec2& point : *points) point = places_[index]({point.x + offset.x, point.y + offset.y});
  head->rings.push_back({*std::move(points), open});
  head->hollow = open;
  return builder_.Add(plan, *std::move(head));
}

// Adds the cells of a layer that collides.
absl::Status GodotImport::TileMapLayer(size_t index) {
  if (SkipsNode(index, "enabled", false, "it is not enabled") ||
      SkipsNode(index, "collision_enabled", false, "its collisions are not enabled")) {
    return absl::OkStatus();
  }
  const std::optional<GodotNodeProperty> data = nodes_[index].Find("tile_map_data");
  if (!data) return absl::OkStatus();
  return AddLayer(NamesOf(index), index, *data);
}

// A TileMap has properties such as `layer_0/tile_data`, `layer_0/name` and `layer_0/enabled`.
absl::Status GodotImport::TileMap(size_t index) {
  const GodotNode& node = nodes_[index];
  const std::optional<GodotNodeProperty> format = node.Find("format");
  if (format && format->value().AsNumber() != 2.0) {
    builder_.SkipObject(node.type, node.name, "its cells have an old form: save it with Godot 4");
    return absl::OkStatus();
  }
  std::map<std::string, GodotNodeProperty> layers;
  for (const auto& [file, section] : node.sources) {
    for (const GodotProperty& property : section->properties.list()) {
      const std::string_view name = property.name;
      if (!name.starts_with("layer_") || !name.ends_with("/tile_data")) continue;
      layers[property.name.substr(0, name.size() - 9)] = {file, &property};
    }
  }
  for (const auto& [prefix, data] : layers) {
    const std::optional<GodotNodeProperty> name = node.Find(prefix + "name");
    std::vector<std::string> names = NamesOf(index);
    if (name && !name->value().text.empty()) names.insert(names.begin(), name->value().text);
    if (SkipsNode(index, prefix + "enabled", false, "a layer is not enabled")) continue;
    const absl::Status status = AddLayer(std::move(names), index, data);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Returns the TileSet of a node, or null if there is none.
absl::StatusOr<const GodotTileSet*> GodotImport::TileSetOf(size_t index) {
  const std::optional<GodotNodeProperty> found = nodes_[index].Find("tile_set");
  if (!found) return nullptr;
  const absl::StatusOr<std::optional<GodotResource>> resource =
      files_.Resolve(*found->file, found->value());
  if (!resource.ok()) return resource.status();
  if (!resource->has_value()) return nullptr;
  const auto known = tile_sets_.find((*resource)->section);
  if (known != tile_sets_.end()) return &known->second;
  absl::StatusOr<GodotTileSet> set = ReadGodotTileSet(**resource, files_);
  if (!set.ok()) return set.status();
  return &tile_sets_.emplace((*resource)->section, *std::move(set)).first->second;
}

// Reads the cells of a layer. The last cell of a place is the one that Godot keeps.
absl::StatusOr<GodotLayer> GodotImport::LayerOf(std::vector<std::string> names, size_t node,
                                                const GodotNodeProperty& data) const {
  absl::StatusOr<MapShape> head = Head(node);
  if (!head.ok()) return head.status();
  GodotLayer layer{std::move(names), node, *std::move(head), {}};
  layer.head.id.reset();
  layer.head.path = data.file->Line(data.property->line);
  absl::StatusOr<std::vector<GodotCell>> cells = ReadGodotCells(data.value(), layer.head.path);
  if (!cells.ok()) return cells.status();
  layer.cells = *std::move(cells);
  std::stable_sort(layer.cells.begin(), layer.cells.end(),
                   [](const GodotCell& a, const GodotCell& b) {
                     return std::pair(a.y, a.x) < std::pair(b.y, b.x);
                   });
  const auto rest =
      std::unique(layer.cells.rbegin(), layer.cells.rend(),
                  [](const GodotCell& a, const GodotCell& b) { return a.x == b.x && a.y == b.y; });
  layer.cells.erase(layer.cells.begin(), rest.base());
  return layer;
}

// Adds the polygons of all cells, or the outline of the cells if no tile has a polygon.
absl::Status GodotImport::AddLayer(std::vector<std::string> names, size_t node,
                                   const GodotNodeProperty& data) {
  const LayerPlan plan = builder_.Plan(names);
  if (plan.use == LayerUse::kSkip) {
    builder_.SkipLayer(plan, "");
    return absl::OkStatus();
  }
  const absl::StatusOr<const GodotTileSet*> set = TileSetOf(node);
  if (!set.ok()) return set.status();
  if (*set == nullptr) {
    builder_.Skip(absl::StrCat("layer \"", plan.name, "\""), "its TileSet is not found");
    return absl::OkStatus();
  }
  if ((*set)->has_scenes) {
    builder_.SkipObject("source of scenes", plan.name, "scenes that are tiles are not read");
  }
  const absl::StatusOr<GodotLayer> layer = LayerOf(std::move(names), node, data);
  if (!layer.ok()) return layer.status();
  const auto has_polygons = [&](const GodotCell& cell) {
    const GodotTile* tile = (*set)->TileOf(cell);
    return tile != nullptr && !tile->polygons.empty();
  };
  if (std::none_of(layer->cells.begin(), layer->cells.end(), has_polygons)) {
    if (plan.is_named) return OutlineLayer(plan, *layer, **set);
    builder_.SkipLayer(plan, "its tiles have no collision polygons");
    return absl::OkStatus();
  }
  const Affine& place = places_[node];
  for (const GodotCell& cell : layer->cells) {
    const GodotTile* tile = (*set)->TileOf(cell);
    if (tile == nullptr) continue;
    // Points of tiles are relative to the centre of the cell.
    const Vec2 center = (*set)->Center(cell.x, cell.y);
    const auto place_point = [&](Vec2 point) {
      const Vec2 turned = GodotTurned(point, cell.tile.alternative);
      return place({center.x + turned.x, center.y + turned.y});
    };
    const absl::Status status = AddTile(plan, *tile, **set, layer->head, place_point);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Adds the polygons of one tile; `place` maps their points. The category is that of the physics
// layer or of the custom data, if the property names them.
absl::Status GodotImport::AddTile(const LayerPlan& plan, const GodotTile& tile,
                                  const GodotTileSet& set, const MapShape& head,
                                  const std::function<Vec2(Vec2)>& place) {
  for (const auto& [key, polygon] : tile.polygons) {
    if (polygon.points.empty()) continue;
    MapShape shape = head;
    const auto layer = set.layers.find(key.first);
    const auto custom = set.custom_layers.find(options_.property);
    if (options_.property == "collision_layer" && layer != set.layers.end()) {
      shape.category = layer->second;
    } else if (custom != set.custom_layers.end() && tile.custom.contains(custom->second)) {
      const absl::StatusOr<uint64_t> category =
          CategoryOfValue(tile.custom.at(custom->second)->value, set.line);
      if (!category.ok()) return category.status();
      shape.category = *category;
    }
    RingSpec& ring = shape.rings.emplace_back();
    ring.vertices.reserve(polygon.points.size());
    for (const Vec2 point : polygon.points) ring.vertices.push_back(place(point));
    if (polygon.one_way) {
      builder_.SkipObject("one-way side", plan.name, "the polygon is taken, and blocks every way");
    }
    const absl::Status status = builder_.Add(plan, std::move(shape));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Outlines square cells, or isometric ones on the lattice of half tiles.
absl::Status GodotImport::OutlineLayer(const LayerPlan& plan, const GodotLayer& layer,
                                       const GodotTileSet& set) {
  const bool is_square = set.shape == GodotTileSet::Shape::kSquare;
  if (!is_square && set.shape != GodotTileSet::Shape::kIsometric) {
    builder_.Skip(absl::StrCat("layer \"", plan.name, "\""),
                  "its tiles have no collision polygons, and its cells cannot be outlined");
    return absl::OkStatus();
  }
  // Centres and corners of both forms are multiples of half a tile.
  const Vec2 half{set.tile_size.x / 2, set.tile_size.y / 2};
  std::vector<std::vector<LatticePoint>> rings;
  for (const GodotCell& cell : layer.cells) {
    const Vec2 center = set.Center(cell.x, cell.y);
    const auto x = static_cast<int32_t>(std::lround(center.x / half.x));
    const auto y = static_cast<int32_t>(std::lround(center.y / half.y));
    if (is_square) {
      rings.push_back({{x - 1, y - 1}, {x + 1, y - 1}, {x + 1, y + 1}, {x - 1, y + 1}});
    } else {
      rings.push_back({{x, y - 1}, {x + 1, y}, {x, y + 1}, {x - 1, y}});
    }
  }
  std::vector<Outline> outlines;
  if (options_.outline) {
    outlines = OutlineRings(rings);
  } else {
    for (std::vector<LatticePoint>& ring : rings) outlines.push_back({{std::move(ring)}});
  }
  const Affine& node = places_[layer.node];
  return builder_.AddOutlines(plan, layer.head, outlines, [&](LatticePoint point) {
    return node({point.x * half.x, point.y * half.y});
  });
}

}  // namespace

// Comments may be before the head.
bool LooksLikeGodot(const Sniffed& file) {
  std::string_view text = file.bytes.substr(0, 4096);
  while (!text.empty()) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (!text.starts_with(';')) break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return text.starts_with("[gd_scene") || text.starts_with("[gd_resource");
}

absl::StatusOr<ImportedMap> ImportGodot(std::string_view bytes, const ImportOptions& options,
                                        const FileOpener& open) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  return GodotImport(options, open).Import(bytes);
}

}  // namespace carom
