// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/rube.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/sincos.h"
#include "carom/status.h"
#include "client/maps/map_json.h"

namespace carom {
namespace {

using nlohmann::json;

// Returns a number: a JSON number, or the bits of a float in 8 hexadecimal digits.
absl::StatusOr<double> FloatOf(const json& value, const std::string& path) {
  if (!value.is_string()) return NumberOf(value, path);
  const std::string& text = value.get_ref<const std::string&>();
  uint32_t bits = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  // Fewer digits, or a sign, are no float of b2dJson.
  const bool is_whole = result.ec == std::errc() && result.ptr == text.data() + text.size();
  if (text.size() == 8 && is_whole) {
    const auto number = static_cast<double>(std::bit_cast<float>(bits));
    if (IsAccepted(number)) return Normalized(number);
  }
  return InvalidField(path, "must be a number, or 8 hexadecimal digits of a finite float");
}

// Returns a member by `FloatOf`, or 0 if there is none: b2dJson leaves out zeros.
absl::StatusOr<double> FloatMember(const json& object, const char* name, const std::string& path) {
  const json* value = Member(object, name);
  if (value == nullptr) return 0.0;
  return FloatOf(*value, PathOf(path, name));
}

// Returns a vector {"x": 1, "y": 2}; the number 0 stands for the zero vector.
absl::StatusOr<Vec2> VectorMember(const json& object, const char* name, const std::string& path) {
  const json* value = Member(object, name);
  if (value == nullptr || (value->is_number() && *value == 0)) return Vec2{0, 0};
  const std::string vector = PathOf(path, name);
  if (!value->is_object()) return InvalidField(vector, "must be a vector with x and y");
  const absl::StatusOr<double> x = FloatMember(*value, "x", vector);
  if (!x.ok()) return x.status();
  const absl::StatusOr<double> y = FloatMember(*value, "y", vector);
  if (!y.ok()) return y.status();
  return Vec2{*x, *y};
}

// Returns the member `vertices`, {"x": [1, ...], "y": [2, ...]}.
absl::StatusOr<std::vector<Vec2>> VerticesOf(const json& shape, const std::string& path) {
  const std::string where = PathOf(path, "vertices");
  const json* vertices = Member(shape, "vertices");
  const json* x = vertices == nullptr ? nullptr : Member(*vertices, "x");
  const json* y = vertices == nullptr ? nullptr : Member(*vertices, "y");
  if (x == nullptr || y == nullptr || !x->is_array() || !y->is_array() || x->size() != y->size()) {
    return InvalidField(where, "must have the arrays x and y, of one size");
  }
  std::vector<Vec2> points;
  points.reserve(x->size());
  for (size_t i = 0; i < x->size(); ++i) {
    const absl::StatusOr<double> px = FloatOf((*x)[i], absl::StrCat(where, ".x[", i, "]"));
    if (!px.ok()) return px.status();
    const absl::StatusOr<double> py = FloatOf((*y)[i], absl::StrCat(where, ".y[", i, "]"));
    if (!py.ok()) return py.status();
    points.push_back({*px, *py});
  }
  return points;
}

// Returns the value of a custom property: {"name": "kind", "int": 3}.
const json* CustomProperty(const json& object, const std::string& name) {
  const json* list = Member(object, "customProperties");
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const json& property : *list) {
    if (TextMember(property, "name") != name) continue;
    // The value is in the member that names its type.
    for (const char* type : {"int", "float", "string"}) {
      if (const json* value = Member(property, type)) return value;
    }
  }
  return nullptr;
}

// A body, with its place.
struct RubeBody {
  const json& value;
  std::string path;
  Affine place;
};

// Imports one world.
class RubeImport {
 public:
  explicit RubeImport(const ImportOptions& options)
      : options_(options), builder_("rube", options, /*y_down=*/false) {}

  absl::StatusOr<ImportedMap> Import(std::string_view bytes);

 private:
  absl::Status Body(const json& value, const std::string& path);
  absl::Status Fixture(const RubeBody& body, const json& fixture, const std::string& path);
  absl::StatusOr<MapShape> Shape(const RubeBody& body, const json& fixture,
                                 const std::string& path) const;
  absl::StatusOr<std::vector<Vec2>> Points(const json& fixture, const char* form,
                                           const std::string& path) const;
  absl::StatusOr<std::optional<uint64_t>> CategoryIn(const RubeBody& body, const json& fixture,
                                                     const std::string& path) const;

  const ImportOptions& options_;
  MapBuilder builder_;
};

// Adds the fixtures of each body while the file is parsed, so that only one body is in memory.
absl::StatusOr<ImportedMap> RubeImport::Import(std::string_view bytes) {
  JsonStream bodies;
  bodies.arrays = {"body"};
  bodies.element = [this](std::string_view array, size_t index, const json& body) {
    return Body(body, PathOf("", array, index));
  };
  const absl::StatusOr<json> world = StreamMapJson(bytes, bodies);
  if (!world.ok()) return world.status();
  const absl::StatusOr<const json*> list = ArrayMember(*world, "body", "");
  if (!list.ok()) return list.status();
  if (*list == nullptr) return InvalidField("body", "required");
  return builder_.Finish();
}

// Reads the place of a body, and adds its fixtures. Box2D turns by the angle, then moves.
absl::Status RubeImport::Body(const json& value, const std::string& path) {
  const absl::StatusOr<Vec2> position = VectorMember(value, "position", path);
  if (!position.ok()) return position.status();
  const absl::StatusOr<double> angle = FloatMember(value, "angle", path);
  if (!angle.ok()) return angle.status();
  if (std::abs(*angle) > kMaxAngle) {
    return InvalidField(PathOf(path, "angle"), "must be at most 2^20 in magnitude");
  }
  // Correctly rounded, so that the vertices are the same on every machine.
  const CosSin turn = SinCos(*angle);
  const RubeBody body{value, path, {{turn.c, turn.s}, {-turn.s, turn.c}, *position}};
  const absl::StatusOr<const json*> fixtures = ArrayMember(value, "fixture", path);
  if (!fixtures.ok()) return fixtures.status();
  for (size_t i = 0; *fixtures != nullptr && i < (*fixtures)->size(); ++i) {
    const absl::Status status = Fixture(body, (**fixtures)[i], PathOf(path, "fixture", i));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Adds one fixture, in the layer of its body.
absl::Status RubeImport::Fixture(const RubeBody& body, const json& fixture,
                                 const std::string& path) {
  // The types of bodies by their numbers in Box2D.
  constexpr std::array<const char*, 3> kTypes{"static", "kinematic", "dynamic"};
  const absl::StatusOr<int64_t> type = IntegerMember(body.value, "type", 0, {0, 2}, body.path);
  if (!type.ok()) return type.status();
  std::string name = TextMember(body.value, "name");
  std::vector<std::string> names{name.empty() ? "body" : std::move(name),
                                 TextMember(fixture, "name"), kTypes[static_cast<size_t>(*type)]};
  if (IsTrue(fixture, "sensor")) names.push_back("sensor");
  const LayerPlan plan = builder_.Plan(names);
  if (plan.use == LayerUse::kSkip) {
    builder_.SkipObject("fixture", plan.name, "the choice of its layer skips it");
    return absl::OkStatus();
  }
  absl::StatusOr<MapShape> shape = Shape(body, fixture, path);
  if (!shape.ok()) return shape.status();
  if (shape->rings.empty()) {
    builder_.SkipObject("fixture", plan.name, "it has no shape, or no vertices");
    return absl::OkStatus();
  }
  const absl::StatusOr<std::optional<uint64_t>> category = CategoryIn(body, fixture, path);
  if (!category.ok()) return category.status();
  shape->category = *category;
  return builder_.Add(plan, *std::move(shape));
}

// Returns the vertices of an edge, a polygon, a chain or a loop.
absl::StatusOr<std::vector<Vec2>> RubeImport::Points(const json& fixture, const char* form,
                                                     const std::string& path) const {
  const json& shape = *Member(fixture, form);
  if (std::string_view(form) != "edge") return VerticesOf(shape, path);
  const absl::StatusOr<Vec2> first = VectorMember(shape, "vertex1", path);
  if (!first.ok()) return first.status();
  const absl::StatusOr<Vec2> second = VectorMember(shape, "vertex2", path);
  if (!second.ok()) return second.status();
  return std::vector<Vec2>{*first, *second};
}

// Returns the placed shape, with no rings if there is none.
absl::StatusOr<MapShape> RubeImport::Shape(const RubeBody& body, const json& fixture,
                                           const std::string& path) const {
  MapShape shape;
  if (const json* circle = Member(fixture, "circle")) {
    shape.path = PathOf(path, "circle");
    const absl::StatusOr<Vec2> center = VectorMember(*circle, "center", shape.path);
    if (!center.ok()) return center.status();
    const absl::StatusOr<double> radius = FloatMember(*circle, "radius", shape.path);
    if (!radius.ok()) return radius.status();
    if (!(*radius > 0)) return shape;
    absl::StatusOr<std::vector<Vec2>> ring =
        EllipseRing(body.place(*center), {*radius, 0}, {0, *radius}, options_.chord);
    if (!ring.ok()) return InvalidField(shape.path, ring.status().message());
    shape.rings.push_back({*std::move(ring), false});
    return shape;
  }
  // A fixture has one of these members.
  for (const char* form : {"polygon", "edge", "chain", "loop"}) {
    if (Member(fixture, form) == nullptr) continue;
    const std::string_view name = form;
    shape.path = PathOf(path, form);
    absl::StatusOr<std::vector<Vec2>> points = Points(fixture, form, shape.path);
    if (!points.ok()) return points.status();
    if (points->empty()) return shape;
    // A chain that ends at its first vertex is a loop; a polygon of two vertices is an edge.
    const bool is_loop = name == "loop" || (name == "chain" && points->size() > 3 &&
                                            points->front() == points->back());
    if (is_loop && points->size() > 3 && points->front() == points->back()) points->pop_back();
    const bool is_polygon = name == "polygon" && points->size() > 2;
    for (Vec2& point : *points) point = body.place(point);
    shape.rings.push_back({*std::move(points), !is_polygon && !is_loop});
    shape.hollow = !is_polygon;
    return shape;
  }
  return shape;
}

// Returns the category by the property of the options: of the fixture, else of its body.
absl::StatusOr<std::optional<uint64_t>> RubeImport::CategoryIn(const RubeBody& body,
                                                               const json& fixture,
                                                               const std::string& path) const {
  const std::string& name = options_.property;
  if (name.empty()) return std::nullopt;
  const json* value = Member(fixture, name);
  if (value == nullptr) value = CustomProperty(fixture, name);
  if (value == nullptr) value = CustomProperty(body.value, name);
  if (value == nullptr) return std::nullopt;
  const absl::StatusOr<uint64_t> category = CategoryOf(*value, PathOf(path, name));
  if (!category.ok()) return category.status();
  return *category;
}

}  // namespace

bool LooksLikeRube(const Sniffed& file) {
  const auto body = file.members.find("body");
  return body != file.members.end() && body->second == "[" &&
         (file.Has("gravity") || file.Has("velocityIterations") || file.Has("stepsPerSecond"));
}

absl::StatusOr<ImportedMap> ImportRube(std::string_view bytes, const ImportOptions& options,
                                       const FileOpener& /*open*/) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  return RubeImport(options).Import(bytes);
}

}  // namespace carom
