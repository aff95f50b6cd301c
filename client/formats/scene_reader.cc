// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/formats/scene_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "carom/bundle_file.h"
#include "carom/shape.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/formats/nearest_word.h"

namespace carom {
namespace {

using nlohmann::json;

// No limits: files of any size are read, because each server enforces its own limits.
constexpr size_t kAny = std::numeric_limits<size_t>::max();
constexpr PolygonLimits kNoPolygonLimits{.max_vertices = kAny, .max_user_data_bytes = kAny};
constexpr SceneLimits kNoSceneLimits{.max_polygons = kAny, .max_vertices = kAny};

constexpr char kPointForm[] = "must be [x, y], numbers finite and at most 2^53 in magnitude";
constexpr char kRingForm[] = "must be an array of points, or {\"points\": [...], \"open\": true}";
constexpr char kUnsigned[] = "must be an unsigned 64-bit integer";

// Returns `text` as absl::string_view, which may be another type than std::string_view.
absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Returns the path of an array element, such as `rings[3]`.
std::string Indexed(const char* name, size_t index) { return absl::StrCat(name, "[", index, "]"); }

// Returns an unsigned 64-bit integer, or nullopt if `value` is none. Does not convert to double,
// which would map several large ids to one value.
std::optional<uint64_t> ReadUnsigned(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  // The JSON parser returns "-0" as a signed integer.
  if (value.is_number_integer() && value.get<int64_t>() == 0) return 0;
  return std::nullopt;
}

// Returns the point [x, y], or nullopt unless `value` is an array of exactly two numbers that
// `ReadNumber` accepts.
std::optional<Vec2> ReadPoint(const json& value) {
  if (!value.is_array() || value.size() != 2) return std::nullopt;
  const std::optional<double> x = ReadNumber(value[0]);
  const std::optional<double> y = ReadNumber(value[1]);
  if (!x || !y) return std::nullopt;
  return Vec2{*x, *y};
}

// Reads the ring `value` into `out`. Errors name fields by their paths within the ring, such as
// `[3]` or `points[3]`.
absl::Status ReadRing(const json& value, RingSpec& out) {
  const json* points = &value;
  std::string path;
  if (value.is_object()) {
    const auto member = value.find("points");
    if (member == value.end()) return InvalidField("points", "required");
    points = &*member;
    path = "points";
    const auto open = value.find("open");
    if (open != value.end()) {
      if (!open->is_boolean()) return InvalidField("open", "must be true or false");
      out.open = open->get<bool>();
    }
  }
  if (!points->is_array()) return InvalidField(path, kRingForm);
  if (points->empty()) return InvalidField(path, "must have at least one point");
  // Keeps a last point that equals the first point of a closed ring: `Polygon::Create` drops it.
  out.vertices.reserve(points->size());
  for (size_t i = 0; i < points->size(); ++i) {
    const std::optional<Vec2> point = ReadPoint((*points)[i]);
    if (!point) return InvalidField(Indexed(path.c_str(), i), kPointForm);
    out.vertices.push_back(*point);
  }
  return absl::OkStatus();
}

// Reads the member `rings` of the polygon `object` into `out`. Errors name fields by their paths
// within the polygon, such as `rings[0][3]`.
absl::Status ReadRings(const json& object, std::vector<RingSpec>& out) {
  const auto rings = object.find("rings");
  if (rings == object.end()) return InvalidField("rings", "required");
  if (!rings->is_array() || rings->empty()) {
    return InvalidField("rings", "must be an array of at least one ring");
  }
  for (size_t i = 0; i < rings->size(); ++i) {
    const absl::Status ring = ReadRing((*rings)[i], out.emplace_back());
    if (!ring.ok()) return Prefixed(ring, Indexed("rings", i));
  }
  return absl::OkStatus();
}

// A JSON member whose value is one of two words, and the values that the words stand for.
template <typename Value>
struct Choice {
  const char* name;
  std::pair<const char*, Value> first, second;
};

constexpr Choice<FillRule> kFill{
    "fill", {"evenodd", FillRule::kEvenOdd}, {"nonzero", FillRule::kNonZero}};
constexpr Choice<Solidity> kSolidity{
    "solidity", {"solid", Solidity::kSolid}, {"boundary", Solidity::kBoundary}};

// Reads the member `choice.name` of `object` into `out`; if `object` lacks the member, leaves `out`
// unchanged.
template <typename Value>
absl::Status ReadChoice(const json& object, const Choice<Value>& choice, Value& out) {
  const json::const_iterator member = object.find(choice.name);
  if (member == object.end()) return absl::OkStatus();
  for (const auto& [word, value] : {choice.first, choice.second}) {
    if (!member->is_string() || member->get_ref<const std::string&>() != word) continue;
    out = value;
    return absl::OkStatus();
  }
  return InvalidField(choice.name, absl::StrCat("must be \"", choice.first.first, "\" or \"",
                                                choice.second.first, "\""));
}

// Reads the short members before the rings, so that if several members are invalid, the error names
// a member that is easy to find in the file. `Polygon::Create` checks that the rings fit the
// solidity.
absl::StatusOr<Polygon> ReadPolygonWithId(const json& object, uint64_t id) {
  PolygonSpec spec;
  spec.id = id;
  absl::Status status = ReadChoice(object, kFill, spec.fill_rule);
  if (status.ok()) status = ReadChoice(object, kSolidity, spec.solidity);
  if (!status.ok()) return status;
  if (const auto category = object.find("category"); category != object.end()) {
    const std::optional<uint64_t> bits = ReadUnsigned(*category);
    if (!bits) return InvalidField("category", kUnsigned);
    spec.category = *bits;
  }
  if (const auto data = object.find("user_data"); data != object.end()) {
    if (!data->is_string() ||
        !absl::Base64Unescape(data->get_ref<const std::string&>(), &spec.user_data)) {
      return InvalidField("user_data", "must be a string in base64");
    }
  }
  status = ReadRings(object, spec.rings);
  if (!status.ok()) return status;
  absl::StatusOr<Polygon> polygon = Polygon::Create(std::move(spec), kNoPolygonLimits);
  if (!polygon.ok()) return Prefixed(polygon.status(), "");
  return polygon;
}

// Adds to `refusal` a violation for each member of `object` whose name is not in `known`.
void AddUnknown(const json& object, std::span<const std::string> known, const std::string& path,
                Refusal& refusal) {
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    refusal.Add(path.empty() ? name : absl::StrCat(path, ".", name),
                "unknown member" + Suggestion(name, known));
  }
}

// Returns whether a document is an object with the member `polygons`; does not read the polygons.
bool IsScene(const std::optional<JsonDocument>& document) {
  return document && document->value.is_object() && document->value.contains("polygons");
}

absl::Status NotAScene(size_t line) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, " is not a scene: a JSON object with \"polygons\""));
}

// Returns the first 8 bytes of the stream, or fewer if the stream is shorter; `IsBundle` needs 8
// bytes to identify a bundle (a scene in a binary format).
std::string ReadHead(std::istream& stream) {
  std::string head(8, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(stream.gcount()));
  return head;
}

// Returns the scenes of a JSON Lines file, one per line, or nullopt if its first line that is not
// blank is not a JSON document.
absl::StatusOr<std::optional<std::vector<json>>> ReadLines(std::string_view text) {
  std::vector<json> scenes;
  for (size_t line = 1, begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view content = text.substr(begin, end - begin);
    begin = end + 1;
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::optional<JsonDocument> scene = ParseJson(content);
    // If the first line is not a document, the file may be one document over several lines.
    if (!scene && scenes.empty()) return std::nullopt;
    if (!IsScene(scene)) return NotAScene(line);
    scenes.push_back(std::move(scene->value));
  }
  return scenes;
}

}  // namespace

// If `status` is an error without violations, such as one about a limit, the result has one
// violation with `prefix` as its path.
absl::Status Prefixed(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  Refusal refusal;
  for (const Violation& violation : Violations(status)) {
    const std::string field = LineField(violation.field);
    const bool joins = prefix.empty() || field.empty() || field.front() == '[';
    refusal.Add(absl::StrCat(View(prefix), joins ? "" : ".", field), violation.description);
  }
  if (refusal.empty()) refusal.Add(View(prefix), status.message());
  return refusal.status(status.code());
}

std::string LineField(std::string_view field) {
  std::string words;
  for (size_t i = 0; i < field.size(); ++i) {
    // `.x` or `.y` before an index or at the end of the path names a column of the service, which
    // the JSON form does not have.
    const bool is_column = field[i] == '.' && i + 1 < field.size() &&
                           (field[i + 1] == 'x' || field[i + 1] == 'y') &&
                           (i + 2 == field.size() || field[i + 2] == '[');
    if (is_column) {
      ++i;
    } else {
      words += field[i];
    }
  }
  return words;
}

std::optional<double> ReadNumber(const json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!IsAccepted(number)) return std::nullopt;
  return Normalized(number);
}

absl::StatusOr<Polygon> ReadShape(const json& object) {
  absl::StatusOr<Polygon> shape = ReadPolygonWithId(object, 0);
  if (!shape.ok()) return shape;
  const absl::Status size = CheckMovingVertices(shape->vertex_count(), "rings");
  if (!size.ok()) return size;
  return shape;
}

absl::StatusOr<Polygon> ReadPolygon(const json& object) {
  if (!object.is_object()) return InvalidField("", "must be an object");
  const auto id = object.find("id");
  if (id == object.end()) return InvalidField("id", "required");
  const std::optional<uint64_t> number = ReadUnsigned(*id);
  if (!number) return InvalidField("id", kUnsigned);
  return ReadPolygonWithId(object, *number);
}

void AddUnknownMembers(const json& polygon, const std::string& path, Refusal& unknown) {
  static const std::vector<std::string> kPolygon = {"category", "fill",     "id",
                                                    "rings",    "solidity", "user_data"};
  static const std::vector<std::string> kRing = {"open", "points"};
  if (!polygon.is_object()) return;
  AddUnknown(polygon, kPolygon, path, unknown);
  const auto rings = polygon.find("rings");
  if (rings == polygon.end() || !rings->is_array()) return;
  for (size_t i = 0; i < rings->size(); ++i) {
    const json& ring = (*rings)[i];
    if (!ring.is_object()) continue;
    AddUnknown(ring, kRing, absl::StrCat(path, ".", Indexed("rings", i)), unknown);
  }
}

absl::StatusOr<std::vector<Polygon>> ReadPolygons(const json& object) {
  const auto member = object.find("polygons");
  if (member == object.end()) return InvalidField("polygons", "required");
  if (!member->is_array()) return InvalidField("polygons", "must be an array");
  std::vector<Polygon> polygons;
  polygons.reserve(member->size());
  Refusal refusal;
  absl::StatusCode code = absl::StatusCode::kOk;
  for (size_t i = 0; i < member->size(); ++i) {
    absl::StatusOr<Polygon> polygon = ReadPolygon((*member)[i]);
    if (polygon.ok()) {
      polygons.push_back(*std::move(polygon));
      continue;
    }
    if (refusal.empty()) code = polygon.status().code();
    const absl::Status prefixed = Prefixed(polygon.status(), Indexed("polygons", i));
    // Adds only one violation per polygon, so that the listed violations belong to different
    // polygons.
    const Violation first = Violations(prefixed).front();
    refusal.Add(first.field, first.description);
  }
  if (!refusal.empty()) return refusal.status(code);
  return polygons;
}

// Maps a bundle (a scene in a binary format) that is a regular file into memory; reads any other
// file completely, because a JSON text is small compared with the index of its scene. Checks
// whether the path is a folder, because std::ifstream opens a folder without an error.
absl::StatusOr<SceneFile> SceneFile::Read(const std::string& path) {
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (is_directory || !stream) {
    return absl::NotFoundError(absl::StrCat("cannot read the file ", path));
  }
  std::string text = ReadHead(stream);
  SceneFile file;
  const bool is_bundle = IsBundle(text);
  const bool is_mapped = is_bundle && std::filesystem::is_regular_file(path, error);
  if (!is_mapped) {
    text.append(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  if (is_bundle) {
    const BundleReadOptions any{.limits = kNoSceneLimits, .polygon_limits = kNoPolygonLimits};
    absl::StatusOr<Scene::Ptr> scene = is_mapped ? OpenBundle(path, any) : ReadBundle(text, any);
    if (!scene.ok()) return scene.status();
    file.bundle_ = *std::move(scene);
    file.bundle_id_ = std::filesystem::path(path).stem().string();
    return file;
  }
  absl::StatusOr<std::optional<std::vector<json>>> lines = ReadLines(text);
  if (!lines.ok()) return lines.status();
  if (lines->has_value()) {
    file.scenes_ = std::move(**lines);
  } else {
    std::optional<JsonDocument> document = ParseJson(text);
    if (!IsScene(document)) return NotAScene(1);
    file.scenes_.push_back(std::move(document->value));
  }
  return file;
}

std::string SceneFile::id(size_t index) const {
  if (bundle_ != nullptr) return bundle_id_;
  const auto member = scenes_[index].find("id");
  return member != scenes_[index].end() && member->is_string() ? member->get<std::string>() : "";
}

std::optional<size_t> SceneFile::Find(std::string_view id) const {
  for (size_t i = 0; i < size(); ++i) {
    if (this->id(i) == id) return i;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<Polygon>> SceneFile::polygons(size_t index) const {
  if (bundle_ == nullptr) return ReadPolygons(scenes_[index]);
  std::vector<Polygon> polygons;
  polygons.reserve(bundle_->polygon_count());
  for (size_t i = 0; i < bundle_->polygon_count(); ++i) polygons.push_back(bundle_->polygon(i));
  return polygons;
}

absl::StatusOr<Scene::Ptr> SceneFile::scene(size_t index) const {
  if (bundle_ != nullptr) return bundle_;
  absl::StatusOr<std::vector<Polygon>> read = polygons(index);
  if (!read.ok()) return read.status();
  return Scene::Create(*std::move(read), 1, kNoSceneLimits);
}

absl::Status SceneFile::UnknownMembers(size_t index) const {
  static const std::vector<std::string> kScene = {"id", "mapping", "polygons"};
  Refusal refusal;
  if (bundle_ != nullptr) return absl::OkStatus();
  AddUnknown(scenes_[index], kScene, "", refusal);
  const json& polygons = scenes_[index].at("polygons");
  if (!polygons.is_array()) return refusal.status();
  for (size_t i = 0; i < polygons.size(); ++i) {
    AddUnknownMembers(polygons[i], Indexed("polygons", i), refusal);
  }
  return refusal.status();
}

}  // namespace carom
