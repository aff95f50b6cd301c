// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/ldtk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/maps/packed_json.h"

namespace carom {
namespace {

// The greatest magnitude of places and sizes in pixels: below the lattice of `OutlineCells`.
struct LdtkRange {
  int64_t least = 0;
  int64_t greatest = 0;
};
constexpr LdtkRange kLdtkPixels{-(1 << 28), 1 << 28};
// The greatest size of a layer in cells.
constexpr int64_t kMaxLdtkCells = int64_t{1} << 27;

// How an entity is drawn.
struct LdtkEntity {
  std::string mode;
  bool hollow = false;
};

// A level at its place.
struct LdtkLevel {
  PackedValue value;
  std::string path;
  std::string name;
  int64_t x = 0, y = 0;
  int64_t depth = 0;
};

// A layer of a level, with the place of its cell (0, 0) in the world.
struct LdtkLayer {
  const LdtkLevel& level;
  PackedValue value;
  std::string path;
  std::string name;
  int64_t grid = 1;
  int64_t x = 0, y = 0;
};

// The cells of all levels that make one union: those of a plan that share a lattice.
struct LdtkUnion {
  LayerPlan plan;
  int64_t grid = 0;
  int64_t x = 0, y = 0;  // the place of the lattice point (0, 0)
  std::vector<Cell> cells;
};

// Divides and rounds down; `b` is above 0.
int64_t FloorDivided(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Returns a member that is a string, or "" if it is none.
std::string LdtkText(PackedValue object, std::string_view name) {
  return std::string(object.Member(name).Text().value_or(""));
}

// Returns a member that is an array, or nothing if there is none.
absl::StatusOr<PackedValue> LdtkArray(PackedValue object, std::string_view name,
                                      std::string_view path) {
  const PackedValue value = object.Member(name);
  if (value && !value.is_array()) return InvalidField(PathOf(path, name), "must be an array");
  return value;
}

// Returns a member that is an integer in a range, or `absent` if there is none.
absl::StatusOr<int64_t> LdtkInteger(PackedValue object, std::string_view name, int64_t absent,
                                    LdtkRange range, std::string_view path) {
  const PackedValue value = object.Member(name);
  if (!value) return absent;
  const std::optional<double> number = value.Number();
  if (!number || *number != std::floor(*number) || *number < static_cast<double>(range.least) ||
      *number > static_cast<double>(range.greatest)) {
    return InvalidField(PathOf(path, name), absl::StrCat("must be an integer from ", range.least,
                                                         " to ", range.greatest));
  }
  return static_cast<int64_t>(*number);
}

// Returns a pair of numbers such as `px`, or nullopt if the member is none.
std::optional<Vec2> LdtkPair(PackedValue object, std::string_view name) {
  const PackedValue pair = object.Member(name);
  if (!pair.is_array()) return std::nullopt;
  std::array<double, 2> numbers{};
  size_t count = 0;
  for (const PackedValue value : pair) {
    const std::optional<double> number = value.Number();
    if (!number || count == numbers.size()) return std::nullopt;
    numbers[count++] = *number;
  }
  if (count != numbers.size()) return std::nullopt;
  return Vec2{numbers[0], numbers[1]};
}

// Imports one project.
class LdtkImport {
 public:
  LdtkImport(const ImportOptions& options, const FileOpener& open)
      : options_(options), open_(open), builder_("ldtk", options, /*y_down=*/true) {}

  absl::StatusOr<ImportedMap> Import(PackedValue project);

 private:
  absl::Status ReadDefinitions(PackedValue project);
  absl::Status Levels(PackedValue world, const std::string& path);
  absl::Status OpenLevel(LdtkLevel level, const std::string& file);
  absl::Status Level(const LdtkLevel& level);
  absl::Status Layer(const LdtkLayer& layer);
  absl::Status IntGrid(const LdtkLayer& layer);
  absl::Status Tiles(const LdtkLayer& layer);
  absl::Status Entities(const LdtkLayer& layer);
  absl::Status Entity(const LdtkLayer& layer, PackedValue entity, const std::string& path);
  absl::StatusOr<std::optional<uint64_t>> CategoryIn(PackedValue value, const std::string& path);
  std::optional<LayerPlan> Taken(LayerPlan plan, std::string_view why);
  std::optional<LayerPlan> ValuePlan(const LdtkLayer& layer, int64_t value, const LayerPlan& whole);
  LdtkUnion& UnionOf(const LayerPlan& plan, const LdtkLayer& layer);
  static void AddCell(const LdtkLayer& layer, int64_t x, int64_t y, LdtkUnion& all);
  absl::Status AddUnions();

  const ImportOptions& options_;
  const FileOpener& open_;
  MapBuilder builder_;
  // By the name of the entity.
  std::map<std::string, LdtkEntity> entities_;
  std::map<std::pair<std::string, int64_t>, std::string> values_;  // names, by layer and value
  std::set<std::string> reported_;  // the layers of cells that are skipped
  std::map<std::tuple<std::string, int64_t, int64_t, int64_t, int64_t>, LdtkUnion> unions_;
};

// A project has levels, or several worlds with levels, of which one is read: the one that the
// options name, else the first.
absl::StatusOr<ImportedMap> LdtkImport::Import(PackedValue project) {
  absl::Status status = ReadDefinitions(project);
  if (!status.ok()) return status;
  const absl::StatusOr<PackedValue> worlds = LdtkArray(project, "worlds", "");
  if (!worlds.ok()) return worlds.status();
  size_t count = 0, chosen = 0;
  bool is_named = false;
  for (const PackedValue world : *worlds) {
    if (!is_named && !options_.scene.empty() && LdtkText(world, "identifier") == options_.scene) {
      is_named = true;
      chosen = count;
    }
    ++count;
  }
  size_t index = 0;
  for (const PackedValue world : *worlds) {
    const std::string name = LdtkText(world, "identifier");
    if (index == chosen) {
      status = Levels(world, PathOf("", "worlds", index));
      if (!status.ok()) return status;
    } else {
      builder_.Skip(absl::StrCat("world \"", name, "\""), "worlds have coordinates of their own",
                    absl::StrCat("--id ", ShellWord(name)));
    }
    ++index;
  }
  if (count == 0) status = Levels(project, "");
  if (status.ok()) status = AddUnions();
  if (!status.ok()) return status;
  absl::StatusOr<ImportedMap> map = builder_.Finish();
  if (map.ok() && is_named) map->scene = options_.scene;
  return map;
}

// Reads how entities are drawn, and the names of the values of layers.
absl::Status LdtkImport::ReadDefinitions(PackedValue project) {
  const PackedValue defs = project.Member("defs");
  if (!defs) return InvalidField("defs", "required");
  const absl::StatusOr<PackedValue> entities = LdtkArray(defs, "entities", "defs");
  if (!entities.ok()) return entities.status();
  for (const PackedValue entity : *entities) {
    entities_[LdtkText(entity, "identifier")] = {LdtkText(entity, "renderMode"),
                                                 entity.Member("hollow").is_true()};
  }
  const absl::StatusOr<PackedValue> layers = LdtkArray(defs, "layers", "defs");
  if (!layers.ok()) return layers.status();
  size_t index = 0;
  for (const PackedValue layer : *layers) {
    const std::string path = PathOf("defs", "layers", index++);
    const absl::StatusOr<PackedValue> values = LdtkArray(layer, "intGridValues", path);
    if (!values.ok()) return values.status();
    size_t place = 0;
    for (const PackedValue value : *values) {
      const auto number =
          LdtkInteger(value, "value", 0, {0, 1 << 30}, PathOf(path, "intGridValues", place++));
      if (!number.ok()) return number.status();
      values_[{LdtkText(layer, "identifier"), *number}] = LdtkText(value, "identifier");
    }
  }
  return absl::OkStatus();
}

// Places the levels of a world. In linear worlds the places are those of the levels before.
absl::Status LdtkImport::Levels(PackedValue world, const std::string& path) {
  const absl::StatusOr<PackedValue> levels = LdtkArray(world, "levels", path);
  if (!levels.ok()) return levels.status();
  if (!*levels) return InvalidField(PathOf(path, "levels"), "required");
  const std::string layout = LdtkText(world, "worldLayout");
  int64_t next = 0;
  size_t index = 0;
  for (const PackedValue value : *levels) {
    LdtkLevel level{value, PathOf(path, "levels", index++), LdtkText(value, "identifier"), 0, 0, 0};
    const auto x = LdtkInteger(value, "worldX", 0, kLdtkPixels, level.path);
    const auto y = LdtkInteger(value, "worldY", 0, kLdtkPixels, level.path);
    const auto depth = LdtkInteger(value, "worldDepth", 0, kLdtkPixels, level.path);
    const char* side = layout == "LinearVertical" ? "pxHei" : "pxWid";
    const auto size = LdtkInteger(value, side, 0, {0, kLdtkPixels.greatest}, level.path);
    for (const auto& number : {x, y, depth, size}) {
      if (!number.ok()) return number.status();
    }
    level.x = layout == "LinearHorizontal" ? next : layout == "LinearVertical" ? 0 : *x;
    level.y = layout == "LinearVertical" ? next : layout == "LinearHorizontal" ? 0 : *y;
    level.depth = *depth;
    next = std::min(next + *size, kLdtkPixels.greatest);
    const std::string file = LdtkText(value, "externalRelPath");
    const absl::Status status = file.empty() ? Level(level) : OpenLevel(level, file);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Reads a level from its own file, which has the layers.
absl::Status LdtkImport::OpenLevel(LdtkLevel level, const std::string& file) {
  const absl::StatusOr<std::string> bytes = open_(file);
  if (!bytes.ok()) {
    builder_.Skip(absl::StrCat("level \"", level.name, "\""),
                  absl::StrCat("its file cannot be opened: ", bytes.status().message()));
    return absl::OkStatus();
  }
  const absl::StatusOr<PackedJson> value = PackedJson::Parse(*bytes);
  if (!value.ok()) return InvalidField(file, value.status().message());
  level.value = value->root();
  level.path = file;
  return Level(level);
}

// Places the layers of a level, and adds their shapes.
absl::Status LdtkImport::Level(const LdtkLevel& level) {
  const absl::StatusOr<PackedValue> layers = LdtkArray(level.value, "layerInstances", level.path);
  if (!layers.ok()) return layers.status();
  size_t index = 0;
  for (const PackedValue value : *layers) {
    LdtkLayer layer{level, value, PathOf(level.path, "layerInstances", index++),
                    LdtkText(value, "__identifier")};
    const auto grid = LdtkInteger(value, "__gridSize", 1, {1, 1 << 16}, layer.path);
    const auto x = LdtkInteger(value, "__pxTotalOffsetX", 0, kLdtkPixels, layer.path);
    const auto y = LdtkInteger(value, "__pxTotalOffsetY", 0, kLdtkPixels, layer.path);
    for (const auto& number : {grid, x, y}) {
      if (!number.ok()) return number.status();
    }
    layer.grid = *grid;
    layer.x = level.x + *x;
    layer.y = level.y + *y;
    const absl::Status status = Layer(layer);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Adds the shapes of a layer, by its type.
absl::Status LdtkImport::Layer(const LdtkLayer& layer) {
  const std::string type = LdtkText(layer.value, "__type");
  if (type == "IntGrid") return IntGrid(layer);
  if (type == "Entities") return Entities(layer);
  if (type == "Tiles" || type == "AutoLayer") return Tiles(layer);
  return InvalidField(PathOf(layer.path, "__type"), "must be a type of layer, such as IntGrid");
}

// Returns the plan of a layer of cells if it is taken; reports it once if it is not.
std::optional<LayerPlan> LdtkImport::Taken(LayerPlan plan, std::string_view why) {
  if (plan.is_named && plan.use != LayerUse::kSkip) return plan;
  if (reported_.insert(plan.name).second) builder_.SkipLayer(plan, std::string(why));
  return std::nullopt;
}

// Returns the plan of a value, by a choice that names it, else by one that names the whole layer.
std::optional<LayerPlan> LdtkImport::ValuePlan(const LdtkLayer& layer, int64_t value,
                                               const LayerPlan& whole) {
  std::vector<std::string> names{absl::StrCat(layer.name, ":", value)};
  const auto name = values_.find({layer.name, value});
  if (name != values_.end() && !name->second.empty()) {
    names.push_back(layer.name + ":" + name->second);
  }
  LayerPlan plan = builder_.Plan(names);
  if (!plan.is_named && whole.is_named) plan = whole;
  return Taken(std::move(plan), "the cells of an IntGrid are taken if they are named");
}

// Takes the cells of each value that the options name.
absl::Status LdtkImport::IntGrid(const LdtkLayer& layer) {
  const auto width = LdtkInteger(layer.value, "__cWid", 0, {0, kMaxLdtkCells}, layer.path);
  const auto height = LdtkInteger(layer.value, "__cHei", 0, {0, kMaxLdtkCells}, layer.path);
  for (const auto& number : {width, height}) {
    if (!number.ok()) return number.status();
  }
  const std::string path = PathOf(layer.path, "intGridCsv");
  const PackedValue csv = layer.value.Member("intGridCsv");
  if (!csv) return InvalidField(path, "required");
  std::vector<uint32_t> buffer;
  const std::optional<std::span<const uint32_t>> cells = csv.Numbers(buffer);
  if (!cells) return InvalidField(path, "must be an array of integers of at least 0");
  // The first comparison keeps the product small.
  if (*width > kMaxLdtkCells / std::max<int64_t>(1, *height) ||
      cells->size() != static_cast<size_t>(*width * *height)) {
    return InvalidField(path, "must have __cWid x __cHei values");
  }
  const LayerPlan whole = builder_.Plan(std::vector<std::string>{layer.name, layer.level.name});
  std::map<uint32_t, LdtkUnion*> unions;  // by value; null: not taken
  for (size_t i = 0; i < cells->size(); ++i) {
    const uint32_t value = (*cells)[i];
    if (value == 0) continue;
    auto found = unions.find(value);
    if (found == unions.end()) {
      const std::optional<LayerPlan> plan = ValuePlan(layer, value, whole);
      found = unions.emplace(value, plan ? &UnionOf(*plan, layer) : nullptr).first;
    }
    if (found->second == nullptr) continue;
    const auto at = static_cast<int64_t>(i);
    AddCell(layer, at % *width, at / *width, *found->second);
  }
  return absl::OkStatus();
}

// Takes the cells of the tiles of a layer that the options name.
absl::Status LdtkImport::Tiles(const LdtkLayer& layer) {
  const bool is_painted = LdtkText(layer.value, "__type") == "Tiles";
  const char* member = is_painted ? "gridTiles" : "autoLayerTiles";
  const absl::StatusOr<PackedValue> tiles = LdtkArray(layer.value, member, layer.path);
  if (!tiles.ok()) return tiles.status();
  std::optional<LayerPlan> plan;
  LdtkUnion* all = nullptr;
  size_t index = 0;
  for (const PackedValue tile : *tiles) {
    if (all == nullptr) {
      plan = Taken(builder_.Plan(std::vector<std::string>{layer.name, layer.level.name}),
                   "its tiles have no collision shapes");
      if (!plan) return absl::OkStatus();
      all = &UnionOf(*plan, layer);
    }
    const std::optional<Vec2> px = LdtkPair(tile, "px");
    const auto greatest = static_cast<double>(kLdtkPixels.greatest);
    if (!px || !(std::max(std::abs(px->x), std::abs(px->y)) <= greatest)) {
      return InvalidField(PathOf(layer.path, member, index), "px must be two numbers of pixels");
    }
    ++index;
    AddCell(layer, FloorDivided(static_cast<int64_t>(px->x), layer.grid),
            FloorDivided(static_cast<int64_t>(px->y), layer.grid), *all);
  }
  return absl::OkStatus();
}

// Returns the union that has the cells of a layer under this plan. Its lattice begins at the
// remainder of the place, so that layers that are aligned share it.
LdtkUnion& LdtkImport::UnionOf(const LayerPlan& plan, const LdtkLayer& layer) {
  const int64_t x = layer.x - FloorDivided(layer.x, layer.grid) * layer.grid;
  const int64_t y = layer.y - FloorDivided(layer.y, layer.grid) * layer.grid;
  const auto key = std::tuple(plan.name, layer.grid, x, y, layer.level.depth);
  const auto found = unions_.find(key);
  if (found != unions_.end()) return found->second;
  return unions_.emplace(key, LdtkUnion{plan, layer.grid, x, y, {}}).first->second;
}

// Adds the cell (x, y) of a layer. Places are at most 2^29, so that cells are below 2^30.
void LdtkImport::AddCell(const LdtkLayer& layer, int64_t x, int64_t y, LdtkUnion& all) {
  all.cells.push_back({static_cast<int32_t>(FloorDivided(layer.x, layer.grid) + x),
                       static_cast<int32_t>(FloorDivided(layer.y, layer.grid) + y)});
}

// Outlines the cells that were collected from all levels.
absl::Status LdtkImport::AddUnions() {
  for (auto& [key, all] : unions_) {
    MapShape head;
    head.path = absl::StrCat("layer ", all.plan.name);
    const std::vector<Outline> outlines =
        options_.outline ? OutlineCells(std::move(all.cells)) : SeparateCells(all.cells);
    const auto grid = static_cast<double>(all.grid);
    const Vec2 origin{static_cast<double>(all.x), static_cast<double>(all.y)};
    const absl::Status status =
        builder_.AddOutlines(all.plan, head, outlines, [&](LatticePoint point) {
          return Vec2{origin.x + point.x * grid, origin.y + point.y * grid};
        });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Adds the entities of a layer, in order.
absl::Status LdtkImport::Entities(const LdtkLayer& layer) {
  const absl::StatusOr<PackedValue> entities =
      LdtkArray(layer.value, "entityInstances", layer.path);
  if (!entities.ok()) return entities.status();
  size_t index = 0;
  for (const PackedValue entity : *entities) {
    const absl::Status status =
        Entity(layer, entity, PathOf(layer.path, "entityInstances", index++));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Adds one entity that has a shape, or is named. Its place is that of its pivot, a part of its size
// from the upper left corner.
absl::Status LdtkImport::Entity(const LdtkLayer& layer, PackedValue entity,
                                const std::string& path) {
  const std::string name = LdtkText(entity, "__identifier");
  const LayerPlan plan =
      builder_.Plan(std::vector<std::string>{name, layer.name, layer.level.name});
  const LdtkEntity& drawn = entities_[name];
  // Other entities are pictures, such as a player, or points.
  const bool is_shape = drawn.mode == "Rectangle" || drawn.mode == "Ellipse";
  if (plan.use == LayerUse::kSkip || (!is_shape && !plan.is_named) || drawn.mode == "Cross") {
    const bool is_cross = drawn.mode == "Cross";
    const bool is_skipped = plan.use == LayerUse::kSkip;
    if (is_cross && !is_skipped) {
      builder_.SkipObject("entity " + name, layer.name, "it is a cross, which has no size");
    } else if (reported_.insert("entity " + name).second) {
      builder_.SkipLayer(plan, "its entities are drawn as tiles");
    }
    return absl::OkStatus();
  }
  const std::optional<Vec2> px = LdtkPair(entity, "px"), pivot = LdtkPair(entity, "__pivot");
  const std::optional<double> width = entity.Member("width").Number();
  const std::optional<double> height = entity.Member("height").Number();
  if (!px || !pivot || !width || !height) {
    return InvalidField(path, "must have px, __pivot, width and height, in numbers");
  }
  absl::StatusOr<std::optional<uint64_t>> category = CategoryIn(entity, path);
  if (category.ok() && !*category) category = CategoryIn(layer.level.value, layer.level.path);
  if (!category.ok()) return category.status();
  MapShape shape;
  shape.path = path;
  shape.hollow = drawn.hollow;
  shape.category = *category;
  const double x = static_cast<double>(layer.x) + px->x - pivot->x * *width;
  const double y = static_cast<double>(layer.y) + px->y - pivot->y * *height;
  if (drawn.mode == "Ellipse") {
    absl::StatusOr<std::vector<Vec2>> ring = EllipseRing(
        {x + *width / 2, y + *height / 2}, {*width / 2, 0}, {0, *height / 2}, options_.chord);
    if (!ring.ok()) return InvalidField(path, ring.status().message());
    shape.rings.push_back({*std::move(ring), false});
  } else {
    shape.rings.push_back(
        {{{x, y}, {x + *width, y}, {x + *width, y + *height}, {x, y + *height}}, false});
  }
  return builder_.Add(plan, std::move(shape));
}

// Returns the category by a field of an entity or a level.
absl::StatusOr<std::optional<uint64_t>> LdtkImport::CategoryIn(PackedValue value,
                                                               const std::string& path) {
  if (options_.property.empty()) return std::nullopt;
  const absl::StatusOr<PackedValue> fields = LdtkArray(value, "fieldInstances", path);
  if (!fields.ok()) return fields.status();
  size_t index = 0;
  for (const PackedValue field : *fields) {
    const std::string where = PathOf(PathOf(path, "fieldInstances", index++), "__value");
    const PackedValue content = field.Member("__value");
    if (!content || LdtkText(field, "__identifier") != options_.property) continue;
    const std::optional<uint64_t> number = content.Unsigned();
    const absl::StatusOr<uint64_t> category =
        number ? absl::StatusOr<uint64_t>(*number)
               : CategoryOfText(content.Text().value_or(""), where);
    if (!category.ok()) return category.status();
    return *category;
  }
  return std::nullopt;
}

}  // namespace

// A project states the version of its form.
bool LooksLikeLdtk(const Sniffed& file) {
  return file.Has("jsonVersion") && file.Has("defs") && (file.Has("levels") || file.Has("worlds"));
}

absl::StatusOr<ImportedMap> ImportLdtk(std::string_view bytes, const ImportOptions& options,
                                       const FileOpener& open) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  const absl::StatusOr<PackedJson> project = PackedJson::Parse(bytes, options.progress);
  if (!project.ok()) return project.status();
  return LdtkImport(options, open).Import(project->root());
}

}  // namespace carom
