// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/foundry.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/maps/map_json.h"

namespace carom {
namespace {

using nlohmann::json;

// What a wall does to movement and to sight, in the numbers of version 9 and later.
constexpr int64_t kUnblocked = 0;
constexpr int64_t kLimited = 10;
constexpr int64_t kProximity = 30;
constexpr int64_t kReverse = 40;

// A layer, and the category of its walls.
struct WallKind {
  const char* layer;
  uint64_t category;
};

// The members of a wall that decide about its kind.
struct WallSenses {
  int64_t door = 0;
  int64_t state = 0;  // of the door: 1 if it stands open
  int64_t direction = 0;
  int64_t move = 20;
  int64_t sight = 20;
};

// Reads the members of a wall that decide about its kind. A member that is left out has the value
// of a new wall, which blocks everything.
absl::StatusOr<WallSenses> ReadSenses(const json& wall, const std::string& path) {
  WallSenses senses;
  const bool is_old = Member(wall, "sense") != nullptr && Member(wall, "sight") == nullptr;
  const std::array<std::pair<const char*, int64_t*>, 5> members{
      {{"door", &senses.door},
       {"ds", &senses.state},
       {"dir", &senses.direction},
       {"move", &senses.move},
       {is_old ? "sense" : "sight", &senses.sight}}};
  for (const auto& [name, value] : members) {
    const absl::StatusOr<int64_t> number = IntegerMember(wall, name, *value, {0, 100}, path);
    if (!number.ok()) return number.status();
    *value = *number;
  }
  // Before version 9, 1 stood for normal and 2 for limited.
  if (is_old && senses.sight == 1) senses.sight = 20;
  if (is_old && senses.sight == 2) senses.sight = kLimited;
  return senses;
}

// Returns the kind of a wall, or nullopt if it blocks neither movement nor sight.
std::optional<WallKind> KindOf(const WallSenses& senses) {
  if (senses.door == 1) return WallKind{"doors", kDoors};
  if (senses.door == 2) return WallKind{"secret-doors", kSecretDoors};
  if (senses.move == kUnblocked) {
    if (senses.sight == kUnblocked) return std::nullopt;
    return WallKind{"curtains", kCurtains};
  }
  if (senses.sight == kUnblocked) return WallKind{"invisible", kInvisibleWalls};
  if (senses.sight == kLimited) return WallKind{"terrain", kTerrainWalls};
  if (senses.sight == kProximity || senses.sight == kReverse) return WallKind{"windows", kWindows};
  return WallKind{"walls", kWalls};
}

// Imports one scene.
class FoundryImport {
 public:
  explicit FoundryImport(const ImportOptions& options)
      : options_(options), builder_("foundry", options, /*y_down=*/true) {}

  absl::StatusOr<ImportedMap> Import(std::string_view bytes);

 private:
  // Each of these names the path of the wall in its errors.
  absl::Status Wall(const json& wall, const std::string& path);
  absl::StatusOr<std::optional<uint64_t>> CategoryIn(const json& wall, const std::string& path);
  const LayerPlan& PlanOf(const std::string& layer);

  const ImportOptions& options_;
  MapBuilder builder_;
  std::map<std::string, LayerPlan> plans_;
};

// Adds each wall while the file is parsed, so that only one of them is in memory.
absl::StatusOr<ImportedMap> FoundryImport::Import(std::string_view bytes) {
  JsonStream walls;
  walls.arrays = {"walls"};
  walls.element = [this](std::string_view array, size_t index, const json& wall) {
    return Wall(wall, PathOf("", array, index));
  };
  const absl::StatusOr<json> scene = StreamMapJson(bytes, walls);
  if (!scene.ok()) return scene.status();
  // The array that was handed over is left empty; any other value is an error.
  const absl::StatusOr<const json*> list = ArrayMember(*scene, "walls", "");
  if (!list.ok()) return list.status();
  if (*list == nullptr) return InvalidField("walls", "required");
  return builder_.Finish();
}

// Returns the plan of the walls of one kind; reports it if it skips them.
const LayerPlan& FoundryImport::PlanOf(const std::string& layer) {
  const auto found = plans_.find(layer);
  if (found != plans_.end()) return found->second;
  const LayerPlan& plan =
      plans_.emplace(layer, builder_.Plan(std::array<std::string, 1>{layer})).first->second;
  if (plan.use == LayerUse::kSkip) builder_.SkipLayer(plan, "");
  return plan;
}

// Returns the category by the property of the options, which is a member of the wall or of its
// flags.
absl::StatusOr<std::optional<uint64_t>> FoundryImport::CategoryIn(const json& wall,
                                                                  const std::string& path) {
  if (options_.property.empty()) return std::nullopt;
  const json* value = Member(wall, options_.property);
  const json* flags = Member(wall, "flags");
  if (value == nullptr && flags != nullptr) value = Member(*flags, options_.property);
  if (value == nullptr) return std::nullopt;
  const absl::StatusOr<uint64_t> category = CategoryOf(*value, PathOf(path, options_.property));
  if (!category.ok()) return category.status();
  return *category;
}

// Adds a wall, and reports what a chain cannot express.
absl::Status FoundryImport::Wall(const json& wall, const std::string& path) {
  const absl::StatusOr<WallSenses> senses = ReadSenses(wall, path);
  if (!senses.ok()) return senses.status();
  const std::optional<WallKind> kind = KindOf(*senses);
  if (!kind) {
    builder_.SkipObject("wall", "walls", "it blocks neither movement nor sight");
    return absl::OkStatus();
  }
  const LayerPlan& plan = PlanOf(kind->layer);
  if (plan.use == LayerUse::kSkip) return absl::OkStatus();
  const json* c = Member(wall, "c");
  std::array<double, 4> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool is_given = c != nullptr && c->is_array() && c->size() == numbers.size();
    const absl::StatusOr<double> number =
        is_given ? NumberOf((*c)[i], path) : absl::StatusOr<double>(InvalidField(path, ""));
    if (!number.ok()) {
      return InvalidField(PathOf(path, "c"),
                          "must be [x1, y1, x2, y2], numbers of at most 2^53 in magnitude");
    }
    numbers[i] = *number;
  }
  const Vec2 from{numbers[0], numbers[1]}, to{numbers[2], numbers[3]};
  if (from == to) {
    builder_.SkipObject("wall", kind->layer, "it has no length");
    return absl::OkStatus();
  }
  if (senses->direction != 0) {
    builder_.SkipObject("one-way side", kind->layer, "the wall is taken, and blocks both ways");
  }
  if (senses->door != 0 && senses->state == 1) {
    builder_.SkipObject("open state", kind->layer, "the door is taken as if it were closed");
  }
  const absl::StatusOr<std::optional<uint64_t>> category = CategoryIn(wall, path);
  if (!category.ok()) return category.status();
  MapShape shape;
  shape.rings.push_back({{from, to}, true});
  shape.hollow = true;
  shape.category = category->value_or(kind->category);
  shape.path = PathOf(path, "c");
  return builder_.Add(plan, std::move(shape));
}

}  // namespace

bool LooksLikeFoundry(const Sniffed& file) {
  const auto walls = file.members.find("walls");
  return walls != file.members.end() && walls->second == "[" && !file.Has("line_of_sight");
}

absl::StatusOr<ImportedMap> ImportFoundry(std::string_view bytes, const ImportOptions& options,
                                          const FileOpener& /*open*/) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  return FoundryImport(options).Import(bytes);
}

}  // namespace carom
