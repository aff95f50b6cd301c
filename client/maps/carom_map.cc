// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/carom_map.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/bundle.h"
#include "carom/status.h"
#include "client/formats/scene_reader.h"
#include "client/maps/map_json.h"

namespace carom {
namespace {

using nlohmann::json;

// One scene of a file.
struct CaromScene {
  std::string id;
  std::vector<Polygon> polygons;
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

// Reads one scene; converts each polygon before the next one is parsed.
absl::StatusOr<CaromScene> SceneOfJson(std::string_view text) {
  CaromScene scene;
  JsonStream stream;
  stream.arrays = {"polygons"};
  stream.members = {"id"};
  stream.element = [&](std::string_view array, size_t index, const json& value) {
    absl::StatusOr<Polygon> polygon = ReadPolygon(value);
    if (!polygon.ok()) return Prefixed(polygon.status(), PathOf("", array, index));
    scene.polygons.push_back(*std::move(polygon));
    return absl::OkStatus();
  };
  const absl::StatusOr<json> rest = StreamMapJson(text, stream);
  if (!rest.ok()) return rest.status();
  const absl::StatusOr<const json*> polygons = ArrayMember(*rest, "polygons", "");
  if (!polygons.ok()) return polygons.status();
  if (*polygons == nullptr) return InvalidField("polygons", "required");
  scene.id = TextMember(*rest, "id");
  return scene;
}

// Reads one scene a line, or one document over several lines.
absl::StatusOr<std::vector<CaromScene>> ScenesOf(std::string_view bytes) {
  std::vector<CaromScene> scenes;
  if (IsBundle(AbslView(bytes))) {
    absl::StatusOr<CaromScene> scene = SceneOfBundle(bytes);
    if (!scene.ok()) return scene.status();
    scenes.push_back(*std::move(scene));
    return scenes;
  }
  // Several lines, the first of which is a document, are one document each.
  const size_t first_end = std::min(bytes.find('\n'), bytes.size());
  const bool is_lines = bytes.find_first_not_of(" \t\r\n", first_end) != std::string_view::npos &&
                        json::accept(bytes.substr(0, first_end));
  size_t line = 0;
  for (size_t begin = 0; begin < bytes.size(); ++line) {
    const size_t end = is_lines ? std::min(bytes.find('\n', begin), bytes.size()) : bytes.size();
    const std::string_view text = bytes.substr(begin, end - begin);
    begin = end + 1;
    // Blank lines may be between scenes.
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
    const std::string where = is_lines ? absl::StrCat("line ", line + 1) : "";
    absl::StatusOr<CaromScene> scene = SceneOfJson(text);
    if (!scene.ok()) {
      const std::vector<Violation> violations = Violations(scene.status());
      // A line is parsed on its own, so that its syntax error is on line 1.
      const bool is_syntax = !violations.empty() && violations[0].field == "line 1";
      if (is_lines && is_syntax) return InvalidField(where, violations[0].description);
      return Prefixed(scene.status(), where);
    }
    scenes.push_back(*std::move(scene));
  }
  return scenes;
}

// Returns the polygon with other user data.
Polygon WithUserData(const Polygon& polygon, const std::string& user_data) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  PolygonSpec spec = polygon.spec();
  spec.user_data = user_data;
  return Polygon::Create(std::move(spec), {.max_vertices = kAny, .max_user_data_bytes = kAny})
      .value();
}

}  // namespace

bool LooksLikeCarom(const Sniffed& file) {
  if (IsBundle(AbslView(file.bytes))) return true;
  const auto polygons = file.members.find("polygons");
  return polygons != file.members.end() && polygons->second == "[";
}

// Passes the polygons through a builder, which applies the options and numbers them. User data,
// which a builder does not know, is put back afterwards.
absl::StatusOr<ImportedMap> ImportCarom(std::string_view bytes, const ImportOptions& options,
                                        const FileOpener& /*open*/) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const absl::StatusOr<std::vector<CaromScene>> scenes = ScenesOf(bytes);
  if (!scenes.ok()) return scenes.status();
  if (scenes->empty()) return InvalidField("line 1", "the file has no scene");
  MapBuilder builder("carom", options, /*y_down=*/false);
  // The polygons in the order in which the builder gets them.
  std::vector<const Polygon*> taken;
  size_t named = 0;
  for (const CaromScene& scene : *scenes) {
    const std::array<std::string, 1> names{scene.id.empty() ? "scene" : scene.id};
    const LayerPlan plan = builder.Plan(names);
    if (plan.use == LayerUse::kSkip || (scenes->size() > 1 && !plan.is_named)) {
      builder.SkipLayer(plan, "the file has several scenes");
      continue;
    }
    ++named;
    for (const Polygon& polygon : scene.polygons) {
      PolygonSpec spec = polygon.spec();
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
      taken.push_back(&polygon);
    }
  }
  if (named == 0 && scenes->size() > 1) {
    return InvalidField("line 1", absl::StrCat("the file has ", scenes->size(),
                                               " scenes; name one with --layer, such as ",
                                               ShellWord(scenes->front().id)));
  }
  absl::StatusOr<ImportedMap> map = builder.Finish();
  // Polygons are in the order in which they were added, unless boxes were merged.
  for (size_t i = 0; map.ok() && !options.merge && i < taken.size(); ++i) {
    if (taken[i]->user_data().empty()) continue;
    map->polygons[i] = WithUserData(map->polygons[i], taken[i]->user_data());
  }
  return map;
}

}  // namespace carom
