// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/carom_map.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/bundle.h"
#include "carom/status.h"
#include "client/formats/nearest_word.h"
#include "client/formats/scene_reader.h"
#include "client/maps/map_json.h"

namespace carom {
namespace {

using nlohmann::json;

// A scene of a file as text.
struct SceneText {
  std::string where;  // `line 3` in a file with a scene a line, else empty
  std::string_view text;
};

// The polygons of one scene.
struct CaromScene {
  std::string id;
  std::string mapping;  // of an earlier import; empty: none
  std::vector<Polygon> polygons;
  std::vector<SkippedPart> unknown;  // its unknown members
};

// Reads a bundle without limits: the server that gets the polygons has its own.
absl::StatusOr<CaromScene> SceneOfBundle(std::string_view bytes) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  BundleReadOptions any;
  any.limits = {.max_polygons = kAny, .max_vertices = kAny};
  any.polygon_limits = {.max_vertices = kAny, .max_user_data_bytes = kAny};
  const absl::StatusOr<Scene::Ptr> scene = ReadBundle(AbslView(bytes), any);
  if (!scene.ok()) return scene.status();
  CaromScene read;
  read.polygons.reserve((*scene)->polygon_count());
  for (size_t i = 0; i < (*scene)->polygon_count(); ++i) {
    read.polygons.push_back((*scene)->polygon(i));
  }
  return read;
}

// Returns the id of a scene, which may come after its polygons.
std::string IdOfScene(const Sniffed& file) {
  const auto id = file.members.find("id");
  if (id == file.members.end()) return "";
  const json value = json::parse(id->second, nullptr, /*allow_exceptions=*/false);
  return value.is_string() ? value.get<std::string>() : "";
}

// Adds the members of a scene that it does not have to `unknown`.
void AddUnknownOfScene(const Sniffed& file, Refusal& unknown) {
  static const std::vector<std::string> kScene = {"id", "mapping", "polygons"};
  for (const auto& [name, value] : file.members) {
    if (std::find(kScene.begin(), kScene.end(), name) != kScene.end()) continue;
    unknown.Add(name, "unknown member" + Suggestion(name, kScene));
  }
}

// What is wrong with the polygons of a scene.
struct Faults {
  Refusal refused, unknown;
  absl::StatusCode code = absl::StatusCode::kOk;  // of the first polygon that is refused

  // Keeps one violation of a polygon, so that those listed belong to different polygons.
  void Refuse(const absl::Status& status) {
    if (refused.empty()) code = status.code();
    const Violation first = Violations(status).front();
    refused.Add(first.field, first.description);
  }
  // An unknown member may be the reason why a polygon is refused, so both are listed.
  absl::Status status() const {
    Refusal both = refused;
    const absl::Status rest = unknown.status();
    for (const Violation& violation : Violations(rest)) {
      both.Add(violation.field, violation.description);
    }
    both.AddUnlisted(ViolationCount(rest) - Violations(rest).size());
    return both.status(code);
  }
};

// Reads one scene; converts each polygon before the next one is parsed.
absl::StatusOr<CaromScene> SceneOfJson(const Sniffed& file, const ReadProgress* progress) {
  CaromScene scene;
  Faults faults;
  AddUnknownOfScene(file, faults.unknown);
  JsonStream stream;
  stream.arrays = {"polygons"};
  stream.members = {"mapping"};
  stream.progress = progress;
  stream.element = [&](std::string_view array, size_t index, const json& value) {
    const std::string path = PathOf("", array, index);
    AddUnknownMembers(value, path, faults.unknown);
    absl::StatusOr<Polygon> polygon = ReadPolygon(value);
    if (!polygon.ok()) {
      faults.Refuse(Prefixed(polygon.status(), path));
    } else if (faults.refused.empty()) {
      scene.polygons.push_back(*std::move(polygon));
    }
    return absl::OkStatus();
  };
  const absl::StatusOr<json> rest = StreamMapJson(file.bytes, stream);
  if (!rest.ok()) return rest.status();
  const absl::StatusOr<const json*> polygons = ArrayMember(*rest, "polygons", "");
  if (!polygons.ok()) return polygons.status();
  if (*polygons == nullptr) return InvalidField("polygons", "required");
  if (!faults.refused.empty()) return faults.status();
  const absl::Status unknown = faults.unknown.status();
  for (const Violation& violation : Violations(unknown)) {
    scene.unknown.push_back({violation.field, violation.description, ""});
  }
  const size_t count = std::min(ViolationCount(unknown), MapBuilder::kMaxSkipped);
  for (size_t i = scene.unknown.size(); i < count; ++i) {
    scene.unknown.push_back({"another member", "unknown member", ""});
  }
  scene.id = IdOfScene(file);
  scene.mapping = KeptMapping(Member(*rest, "mapping"));
  return scene;
}

// Splits a file into scenes: one a line, or one document over several lines. Several lines, the
// first of which is a document, are one document each.
std::vector<SceneText> TextsOf(std::string_view bytes) {
  constexpr const char* kBlank = " \t\r\n";
  const size_t first_end = std::min(bytes.find('\n'), bytes.size());
  const bool is_lines = bytes.find_first_not_of(kBlank, first_end) != std::string_view::npos &&
                        json::accept(bytes.substr(0, first_end));
  if (!is_lines) return {{"", bytes}};
  std::vector<SceneText> scenes;
  size_t line = 1;
  for (size_t begin = 0; begin < bytes.size(); ++line) {
    const size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view text = bytes.substr(begin, end - begin);
    begin = end + 1;
    // Blank lines may be between scenes.
    if (text.find_first_not_of(kBlank) == std::string_view::npos) continue;
    scenes.push_back({absl::StrCat("line ", line), text});
  }
  return scenes;
}

// Returns the scene with the id `id`, or the only one if `id` is empty.
absl::StatusOr<SceneText> Chosen(const std::vector<SceneText>& scenes, const std::string& id) {
  if (id.empty() && scenes.size() == 1) return scenes.front();
  for (const SceneText& scene : scenes) {
    if (!scene.where.empty() && !json::accept(scene.text)) {
      return InvalidField(scene.where, "not JSON");
    }
  }
  if (id.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has ", scenes.size(), " scenes: choose one of them with --id"));
  }
  const auto found = std::find_if(scenes.begin(), scenes.end(), [&id](const SceneText& scene) {
    return IdOfScene(Sniff(scene.text)) == id;
  });
  if (found == scenes.end()) return absl::NotFoundError(absl::StrCat("the file has no scene ", id));
  return *found;
}

// Reads the scene of a file that the options choose.
absl::StatusOr<CaromScene> SceneOfFile(const Sniffed& file, const ImportOptions& options) {
  if (IsBundle(AbslView(file.bytes))) return SceneOfBundle(file.bytes);
  const absl::StatusOr<SceneText> chosen = Chosen(TextsOf(file.bytes), options.scene);
  if (!chosen.ok()) return chosen.status();
  absl::StatusOr<CaromScene> scene =
      SceneOfJson(chosen->where.empty() ? file : Sniff(chosen->text), options.progress);
  if (scene.ok() || chosen->where.empty()) return scene;
  const std::vector<Violation> violations = Violations(scene.status());
  // A line is parsed on its own, so that its syntax error is on line 1.
  const bool is_syntax = !violations.empty() && violations[0].field == "line 1";
  if (is_syntax) return InvalidField(chosen->where, violations[0].description);
  return Prefixed(scene.status(), chosen->where);
}

// Returns the polygon with other user data.
Polygon WithUserData(const Polygon& polygon, const std::string& user_data) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  PolygonSpec spec = polygon.spec();
  spec.user_data = user_data;
  return Polygon::Create(std::move(spec), {.max_vertices = kAny, .max_user_data_bytes = kAny})
      .value();
}

// Passes the polygons through a builder, which applies the options. User data, which a builder does
// not know, is put back afterwards. Frees each polygon on the way.
absl::StatusOr<ImportedMap> Placed(CaromScene scene, const ImportOptions& options) {
  MapBuilder builder("carom", options, /*y_down=*/false);
  const std::array<std::string, 1> names{scene.id.empty() ? "scene" : scene.id};
  const LayerPlan plan = builder.Plan(names);
  if (plan.use == LayerUse::kSkip) builder.SkipLayer(plan, "");
  std::vector<std::string> user_data;
  for (Polygon& polygon : scene.polygons) {
    PolygonSpec spec = Polygon(std::move(polygon)).spec();
    MapShape shape;
    shape.rings = std::move(spec.rings);
    shape.hollow = spec.solidity == Solidity::kBoundary;
    shape.fill_rule = spec.fill_rule;
    shape.id = spec.id;
    shape.category = spec.category;
    // Errors, such as a vertex that leaves the range by `scale`, name the polygon.
    shape.path = absl::StrCat("polygon ", spec.id);
    const absl::Status added = builder.Add(plan, std::move(shape));
    if (!added.ok()) return added;
    user_data.push_back(std::move(spec.user_data));
  }
  absl::StatusOr<ImportedMap> map = builder.Finish();
  // Polygons are in the order in which they were added, unless boxes were merged.
  const size_t count = map.ok() && !options.merge ? map->polygons.size() : 0;
  for (size_t i = 0; i < count; ++i) {
    if (user_data[i].empty()) continue;
    map->polygons[i] = WithUserData(map->polygons[i], user_data[i]);
  }
  return map;
}

}  // namespace

bool LeavesAll(const ImportOptions& options) {
  return options.scale == 1 && options.origin == Vec2{0, 0} && !options.flip_y.value_or(false) &&
         options.layers.empty() && !options.merge;
}

bool LooksLikeCarom(const Sniffed& file) {
  if (IsBundle(AbslView(file.bytes))) return true;
  const auto polygons = file.members.find("polygons");
  return polygons != file.members.end() && polygons->second == "[";
}

absl::StatusOr<ImportedMap> ImportCarom(std::string_view bytes, const ImportOptions& options,
                                        const FileOpener& open) {
  return ImportSniffedCarom(Sniff(bytes), options, open);
}

absl::StatusOr<ImportedMap> ImportSniffedCarom(const Sniffed& file, const ImportOptions& options,
                                               const FileOpener& /*open*/) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  absl::StatusOr<CaromScene> scene = SceneOfFile(file, options);
  if (!scene.ok()) return scene.status();
  std::vector<SkippedPart> unknown = std::move(scene->unknown);
  std::string id = scene->id;
  std::string mapping = std::move(scene->mapping);
  absl::StatusOr<ImportedMap> map;
  if (LeavesAll(options)) {
    map = ImportedMap{.format = "carom", .polygons = std::move(scene->polygons)};
  } else {
    map = Placed(*std::move(scene), options);
  }
  if (!map.ok()) return map;
  map->skipped.insert(map->skipped.begin(), std::make_move_iterator(unknown.begin()),
                      std::make_move_iterator(unknown.end()));
  map->scene = std::move(id);
  map->kept_mapping = std::move(mapping);
  return map;
}

}  // namespace carom
