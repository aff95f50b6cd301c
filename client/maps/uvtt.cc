// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/uvtt.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/maps/foundry.h"
#include "client/maps/map_json.h"

namespace carom {
namespace {

using nlohmann::json;

// Returns whether light passes a portal.
bool IsWindow(const json& portal) {
  const json* closed = Member(portal, "closed");
  return closed != nullptr && closed->is_boolean() && !closed->get<bool>();
}

// Imports one map.
class UvttImport {
 public:
  explicit UvttImport(const ImportOptions& options)
      : builder_("universal-vtt", options, /*y_down=*/true) {}

  absl::StatusOr<ImportedMap> Import(std::string_view bytes);

 private:
  absl::Status Element(std::string_view array, const json& value, const std::string& path);
  absl::Status Chain(const json& points, const LayerPlan& plan, uint64_t category,
                     const std::string& path);
  const LayerPlan& Plan(const std::string& layer);

  MapBuilder builder_;
  // By the name of the layer.
  std::map<std::string, LayerPlan> plans_;
};

// Returns the plan of a layer; reports it if it skips the layer.
const LayerPlan& UvttImport::Plan(const std::string& layer) {
  const auto found = plans_.find(layer);
  if (found != plans_.end()) return found->second;
  const LayerPlan& plan =
      plans_.emplace(layer, builder_.Plan(std::array<std::string, 1>{layer})).first->second;
  if (plan.use == LayerUse::kSkip) builder_.SkipLayer(plan, "");
  return plan;
}

// Adds each line and portal while the file is parsed; of the rest only the resolution is kept, not
// the image.
absl::StatusOr<ImportedMap> UvttImport::Import(std::string_view bytes) {
  JsonStream stream;
  stream.arrays = {"line_of_sight", "objects_line_of_sight", "portals"};
  stream.members = {"resolution"};
  stream.element = [this](std::string_view array, size_t index, const json& value) {
    return Element(array, value, PathOf("", array, index));
  };
  const absl::StatusOr<json> map = StreamMapJson(bytes, stream);
  if (!map.ok()) return map.status();
  // The arrays that were handed over are left empty; any other value is an error.
  for (const std::string_view array : stream.arrays) {
    const absl::StatusOr<const json*> list = ArrayMember(*map, array, "");
    if (!list.ok()) return list.status();
  }
  builder_.AddMapping("unit", "cell of the grid");
  if (const json* resolution = Member(*map, "resolution")) {
    const absl::StatusOr<double> pixels =
        NumberMember(*resolution, "pixels_per_grid", 0, "resolution");
    if (!pixels.ok()) return pixels.status();
    std::string text;
    AppendNumber(*pixels, text);
    builder_.AddMapping("pixels of a unit", text);
  }
  return builder_.Finish();
}

// Adds an element of one of the three arrays.
absl::Status UvttImport::Element(std::string_view array, const json& value,
                                 const std::string& path) {
  if (array == "line_of_sight") return Chain(value, Plan("walls"), kWalls, path);
  if (array == "objects_line_of_sight") return Chain(value, Plan("objects"), kTerrainWalls, path);
  const json* bounds = Member(value, "bounds");
  const std::string where = PathOf(path, "bounds");
  if (bounds == nullptr) return InvalidField(where, "required");
  return IsWindow(value) ? Chain(*bounds, Plan("windows"), kWindows, where)
                         : Chain(*bounds, Plan("doors"), kDoors, where);
}

// Adds an open chain. A line that ends where it began stays one chain, as in the file.
absl::Status UvttImport::Chain(const json& points, const LayerPlan& plan, uint64_t category,
                               const std::string& path) {
  if (plan.use == LayerUse::kSkip) return absl::OkStatus();
  if (!points.is_array()) return InvalidField(path, "must be an array of points");
  MapShape shape;
  RingSpec& ring = shape.rings.emplace_back();
  ring.open = true;
  ring.vertices.reserve(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const absl::StatusOr<Vec2> point = PointOf(points[i], absl::StrCat(path, "[", i, "]"));
    if (!point.ok()) return point.status();
    ring.vertices.push_back(*point);
  }
  if (ring.vertices.size() < 2) {
    builder_.SkipObject("line", plan.name, "it has no edge");
    return absl::OkStatus();
  }
  shape.hollow = true;
  shape.category = category;
  shape.path = path;
  return builder_.Add(plan, std::move(shape));
}

}  // namespace

bool LooksLikeUvtt(const Sniffed& file) {
  return file.Has("line_of_sight") && (file.Has("resolution") || file.Has("portals"));
}

absl::StatusOr<ImportedMap> ImportUvtt(std::string_view bytes, const ImportOptions& options,
                                       const FileOpener& /*open*/) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  return UvttImport(options).Import(bytes);
}

}  // namespace carom
