// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/geojson.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_reader.h"
#include "client/maps/counted_text.h"
#include "client/maps/map_json.h"

namespace carom {
namespace {

using nlohmann::json;

// The types of geometry, and how deep their coordinates are nested: a Point is one position.
struct GeometryType {
  std::string_view name;
  size_t depth;
};
constexpr std::array<GeometryType, 6> kGeometryTypes{{{"Point", 1},
                                                      {"MultiPoint", 2},
                                                      {"LineString", 2},
                                                      {"MultiLineString", 3},
                                                      {"Polygon", 3},
                                                      {"MultiPolygon", 4}}};

// The coordinates of one geometry, whatever its type is.
struct Coordinates {
  std::vector<Vec2> points;
  size_t depth = 0;  // how deep the positions are nested; 0 without positions
  // Where an array of positions or of arrays ends: how deep it is, and the points up to its end.
  struct End {
    size_t depth, points;
  };
  std::vector<End> ends;
  std::string error, error_path;  // what is wrong first, and where
};

// Builds a document of the members that the reader uses. In place of coordinates, the document has
// their index in `coordinates`, or null if they are no array. Hands over the elements of `features`
// one by one, if `feature` is set, and forgets them.
class GeoJsonHandler : public nlohmann::json_sax<json> {
 public:
  explicit GeoJsonHandler(std::string_view property) : property_(property) {}

  bool null() override { return Value(nullptr); }
  bool boolean(bool value) override { return Value(value); }
  bool number_integer(number_integer_t value) override { return Value(value); }
  bool number_unsigned(number_unsigned_t value) override { return Value(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return Value(value);
  }
  bool string(string_t& value) override { return Value(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return true; }
  bool key(string_t& name) override;
  bool start_object(size_t /*size*/) override { return Open(json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(size_t /*size*/) override { return Open(json::array()); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& /*error*/) override {
    offset = position;
    token = last_token;
    return false;
  }

  json root;
  std::vector<Coordinates> coordinates;
  std::function<absl::Status(const json& feature, size_t index)> feature;
  absl::Status status = absl::OkStatus();  // of `feature`
  size_t offset = 0;                       // where the parser stopped
  std::string token;
  bool is_too_deep = false;

 private:
  bool HandOver();

  struct OpenValue {
    json* value;
    bool is_properties;
    bool is_mapping;  // the mapping of a collection that Carom wrote, or a part of it
  };

  json* Place(json value);
  bool Value(json value);
  bool Open(json value);
  bool Close();
  void Number(const json& value);
  void OpenCoordinates();
  void CloseCoordinates();
  void Fail(std::string_view error);

  std::string property_;
  // The arrays and objects of the document that are open.
  std::vector<OpenValue> stack_;
  std::string key_;
  bool is_used_ = true;  // the value of `key_` is kept
  size_t skipped_ = 0;   // open arrays and objects that are not kept
  // The open arrays of coordinates: how many members they have, and whether these are numbers.
  struct Level {
    size_t count = 0;
    bool has_numbers = false, has_arrays = false;
  };
  std::vector<Level> levels_;
  Vec2 position_;
  size_t depth_ = 0;
  bool in_features_ = false;  // the array `features` of the document is open
  size_t index_ = 0;          // of its next element
};

// Decides whether the value of a member is kept: those that the reader uses, and of the properties
// the one of the options.
bool GeoJsonHandler::key(string_t& name) {
  constexpr std::array<std::string_view, 12> kUsed{
      "carom",      "category", "closed", "coordinates", "features",   "fill",
      "geometries", "geometry", "id",     "name",        "properties", "type"};
  if (skipped_ > 0) return true;
  const bool is_mapping = stack_.size() == 2 && name == "mapping" && !stack_.back().is_properties;
  is_used_ = stack_.back().is_mapping || is_mapping ? true
             : stack_.back().is_properties
                 ? name == property_
                 : std::find(kUsed.begin(), kUsed.end(), name) != kUsed.end();
  key_ = std::move(name);
  return true;
}

// Returns where `value` is in the document.
json* GeoJsonHandler::Place(json value) {
  if (stack_.empty()) {
    root = std::move(value);
    return &root;
  }
  return &AddValue(*stack_.back().value, key_, std::move(value));
}

// Takes a number, string, boolean or null: part of a position, or a value of the document.
bool GeoJsonHandler::Value(json value) {
  if (!levels_.empty()) {
    Number(value);
    return true;
  }
  if (skipped_ > 0 || !is_used_) {
    is_used_ = is_used_ || skipped_ == 0;
    return true;
  }
  const bool is_member = !stack_.empty() && stack_.back().value->is_object();
  const bool is_coordinates = is_member && key_ == "coordinates" && !stack_.back().is_properties &&
                              !stack_.back().is_mapping;
  Place(is_coordinates ? json(nullptr) : std::move(value));
  return true;
}

// Takes the begin of an array or object. What is skipped is only counted.
bool GeoJsonHandler::Open(json value) {
  if (++depth_ > kMaxDepth) {
    is_too_deep = true;
    return false;
  }
  if (!levels_.empty()) {
    if (value.is_object()) Fail("must be arrays of numbers");
    OpenCoordinates();
    return true;
  }
  if (skipped_ > 0 || !is_used_) {
    ++skipped_;
    is_used_ = true;
    return true;
  }
  const bool is_member = !stack_.empty() && stack_.back().value->is_object();
  const bool in_properties = !stack_.empty() && stack_.back().is_properties;
  const bool in_mapping = !stack_.empty() && stack_.back().is_mapping;
  if (is_member && key_ == "coordinates" && !in_properties && !in_mapping && value.is_array()) {
    Place(coordinates.size());
    coordinates.emplace_back();
    OpenCoordinates();
    return true;
  }
  const bool is_mapping = in_mapping || (is_member && stack_.size() == 2 && key_ == "mapping");
  const bool is_properties = !is_mapping && is_member && key_ == "properties" && value.is_object();
  if (stack_.size() == 1 && is_member) in_features_ = key_ == "features" && value.is_array();
  json* place = Place(std::move(value));
  stack_.push_back({place, is_properties, is_mapping});
  return true;
}

// Takes the end of an array or object; that of an element of `features` hands it over.
bool GeoJsonHandler::Close() {
  --depth_;
  if (!levels_.empty()) {
    CloseCoordinates();
  } else if (skipped_ > 0) {
    --skipped_;
  } else {
    stack_.pop_back();
    if (stack_.size() == 2 && in_features_ && feature) return HandOver();
  }
  return true;
}

// Passes the feature that has ended to `feature`, and forgets it with its coordinates.
bool GeoJsonHandler::HandOver() {
  json::array_t& features = stack_.back().value->get_ref<json::array_t&>();
  status = feature(features.back(), index_++);
  features.clear();
  coordinates.clear();
  return status.ok();
}

// Adds a number to the position that is open.
void GeoJsonHandler::Number(const json& value) {
  Level& level = levels_.back();
  const std::optional<double> number = ReadNumber(value);
  if (!number) Fail(kNumberRange);
  if (level.has_arrays) Fail("must not mix numbers and arrays");
  level.has_numbers = true;
  if (level.count == 0) position_.x = number.value_or(0);
  if (level.count == 1) position_.y = number.value_or(0);
  ++level.count;
}

// Begins an array within coordinates: a position, or a list of arrays.
void GeoJsonHandler::OpenCoordinates() {
  if (!levels_.empty()) {
    if (levels_.back().has_numbers) Fail("must not mix numbers and arrays");
    levels_.back().has_arrays = true;
  }
  levels_.emplace_back();
}

// Ends an array within coordinates. Positions that are nested differently have no geometry.
void GeoJsonHandler::CloseCoordinates() {
  Coordinates& block = coordinates.back();
  const Level level = levels_.back();
  const size_t depth = levels_.size();
  if (!level.has_numbers) {
    block.ends.push_back({depth, block.points.size()});
  } else if (level.count < 2) {
    Fail("must have two numbers");
  } else if (block.depth != 0 && block.depth != depth) {
    Fail("positions must be nested alike");
  } else {
    block.depth = depth;
    block.points.push_back(position_);
  }
  levels_.pop_back();
  if (!levels_.empty()) ++levels_.back().count;
}

// Keeps the first error of a geometry, with the path of the number or array that is open.
void GeoJsonHandler::Fail(std::string_view error) {
  Coordinates& block = coordinates.back();
  if (!block.error.empty()) return;
  block.error = error;
  for (const Level& level : levels_) absl::StrAppend(&block.error_path, "[", level.count, "]");
  if (!levels_.back().has_numbers && levels_.back().count == 0) {
    block.error_path.resize(block.error_path.rfind('['));
  }
}

// Returns the text of a JSON string, or "" if the value is none.
std::string TextOf(std::string_view value) {
  const json text = json::parse(value, nullptr, /*allow_exceptions=*/false);
  return text.is_string() ? text.get<std::string>() : "";
}

// Imports one document.
class GeoJsonImport {
 public:
  explicit GeoJsonImport(const ImportOptions& options)
      : options_(options),
        handler_(options.property),
        builder_("geojson", options, /*y_down=*/false) {}

  absl::StatusOr<ImportedMap> Import(const Sniffed& file);

 private:
  absl::Status AddRest();
  absl::Status AddFeature(const json& feature, const std::string& path);
  absl::Status AddWhole(const json& feature, const std::string& path, MapShape head);
  absl::Status AddGeometry(const json& geometry, const MapShape& head);
  absl::Status AddParts(const Coordinates& block, const GeometryType& type, const MapShape& head);
  const LayerPlan& PlanOf(const GeometryType& type);

  const ImportOptions& options_;
  GeoJsonHandler handler_;
  MapBuilder builder_;
  // A polygon whose parts belong together, and the numbers of its lines that are closed.
  struct Whole {
    MapShape shape;
    std::vector<size_t> closed;
    LayerPlan plan;

    void Append(MapShape part, const LayerPlan& of_part) {
      plan = of_part;
      shape.hollow = shape.hollow || part.hollow;
      for (RingSpec& ring : part.rings) {
        ring.open = ring.open && !std::ranges::binary_search(closed, shape.rings.size());
        shape.rings.push_back(std::move(ring));
      }
    }
  };

  std::string layer_;
  std::map<std::string_view, LayerPlan> plans_;
  std::optional<Whole> whole_;  // while its feature is read
};

// Returns the plan of the geometries of one type; reports it if it skips them.
const LayerPlan& GeoJsonImport::PlanOf(const GeometryType& type) {
  const auto found = plans_.find(type.name);
  if (found != plans_.end()) return found->second;
  const std::array<std::string, 2> names{layer_, std::string(type.name)};
  const LayerPlan& plan = plans_.emplace(type.name, builder_.Plan(names)).first->second;
  if (plan.use == LayerUse::kSkip) builder_.SkipLayer(plan, "the options skip it");
  return plan;
}

// The features of a collection are imported while the file is parsed, so that only one of them is
// in memory; the name and the type of the collection may come after them.
absl::StatusOr<ImportedMap> GeoJsonImport::Import(const Sniffed& file) {
  const auto name = file.members.find("name");
  layer_ = name == file.members.end() ? "" : TextOf(name->second);
  if (layer_.empty()) layer_ = "features";
  const auto type = file.members.find("type");
  if (type != file.members.end() && TextOf(type->second) == "FeatureCollection") {
    handler_.feature = [this](const json& feature, size_t index) {
      return AddFeature(feature, PathOf("", "features", index));
    };
  }
  if (!ParseCounted(file.bytes, options_.progress, &handler_)) {
    if (!handler_.status.ok()) return handler_.status;
    if (!handler_.is_too_deep) {
      return JsonSyntaxError(file.bytes, handler_.offset, handler_.token);
    }
    return InvalidField("", absl::StrCat("arrays are nested deeper than ", kMaxDepth));
  }
  const absl::Status status = AddRest();
  if (!status.ok()) return status;
  absl::StatusOr<ImportedMap> map = builder_.Finish();
  const json* carom = Member(handler_.root, "carom");
  if (map.ok() && carom != nullptr) map->kept_mapping = KeptMapping(Member(*carom, "mapping"));
  return map;
}

// Adds a document that is no collection; in a collection, what is no feature is left.
absl::Status GeoJsonImport::AddRest() {
  const json& root = handler_.root;
  if (!handler_.feature) {
    return TextMember(root, "type") == "Feature" ? AddFeature(root, "") : AddGeometry(root, {});
  }
  const absl::StatusOr<const json*> features = ArrayMember(root, "features", "");
  if (!features.ok()) return features.status();
  if (*features == nullptr) return InvalidField("features", "must be an array");
  if ((*features)->empty()) return absl::OkStatus();
  return InvalidField("features", "must be an array of features");
}

// Adds the geometry of a feature, with the id and the category of the feature.
absl::Status GeoJsonImport::AddFeature(const json& feature, const std::string& path) {
  MapShape head;
  head.path = PathOf(path, "geometry");
  if (const json* id = Member(feature, "id")) head.id = IdOf(*id);
  const json* properties = Member(feature, "properties");
  const json* value = properties == nullptr ? nullptr : Member(*properties, options_.property);
  if (!options_.property.empty() && value != nullptr) {
    const absl::StatusOr<uint64_t> category =
        CategoryOf(*value, PathOf(PathOf(path, "properties"), options_.property));
    if (!category.ok()) return category.status();
    head.category = *category;
  }
  const json* geometry = Member(feature, "geometry");
  if (geometry == nullptr) {
    builder_.SkipObject("feature", layer_, "it has no geometry");
    return absl::OkStatus();
  }
  const json* carom = Member(feature, "carom");
  if (carom != nullptr && carom->is_object()) return AddWhole(feature, path, std::move(head));
  return AddGeometry(*geometry, head);
}

// Adds a feature that client/formats/geojson_writer.h wrote: all of its parts are one polygon.
absl::Status GeoJsonImport::AddWhole(const json& feature, const std::string& path, MapShape head) {
  const json& carom = feature["carom"];
  const std::string here = PathOf(path, "carom");
  if (const json* value = Member(carom, "category"); value != nullptr && !head.category) {
    const absl::StatusOr<uint64_t> category = CategoryOf(*value, PathOf(here, "category"));
    if (!category.ok()) return category.status();
    head.category = *category;
  }
  if (TextMember(carom, "fill") == "nonzero") head.fill_rule = FillRule::kNonZero;
  Whole& whole = whole_.emplace();
  whole.shape = head;
  const absl::StatusOr<const json*> closed = ArrayMember(carom, "closed", here);
  if (!closed.ok()) return closed.status();
  for (size_t i = 0; *closed != nullptr && i < (*closed)->size(); ++i) {
    const json& line = (**closed)[i];
    if (!line.is_number_unsigned()) {
      return InvalidField(PathOf(here, "closed", i), "must be the number of a line");
    }
    whole.closed.push_back(line.get<size_t>());
  }
  std::ranges::sort(whole.closed);
  absl::Status status = AddGeometry(feature["geometry"], head);
  if (status.ok() && !whole.shape.rings.empty()) {
    status = builder_.Add(whole.plan, std::move(whole.shape));
  }
  whole_.reset();
  return status;
}

// Documents are at most `kMaxDepth` deep, which bounds the recursion.
absl::Status GeoJsonImport::AddGeometry(const json& geometry, const MapShape& head) {
  const std::string name = TextMember(geometry, "type");
  if (name == "GeometryCollection") {
    absl::StatusOr<const json*> parts = ArrayMember(geometry, "geometries", head.path);
    if (!parts.ok()) return parts.status();
    for (size_t i = 0; *parts != nullptr && i < (*parts)->size(); ++i) {
      MapShape part = head;
      if ((*parts)->size() > 1) part.id.reset();
      part.path = PathOf(head.path, "geometries", i);
      const absl::Status status = AddGeometry((**parts)[i], part);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  const auto type = std::find_if(kGeometryTypes.begin(), kGeometryTypes.end(),
                                 [&](const GeometryType& t) { return t.name == name; });
  if (type == kGeometryTypes.end()) {
    return InvalidField(PathOf(head.path, "type"), "must be a type of geometry, such as Polygon");
  }
  const std::string path = PathOf(head.path, "coordinates");
  // The document has the index of the coordinates in their place.
  const json* index = Member(geometry, "coordinates");
  if (index == nullptr) return InvalidField(path, "must be an array");
  const Coordinates& block = handler_.coordinates[index->get<size_t>()];
  if (!block.error.empty()) return InvalidField(path + block.error_path, block.error);
  if (block.depth != 0 && block.depth != type->depth) {
    return InvalidField(path, absl::StrCat("a ", name, " has positions nested ", type->depth,
                                           " arrays deep, not ", block.depth));
  }
  MapShape shape = head;
  shape.path = path;
  return AddParts(block, *type, shape);
}

// A part ends where an array of depth 1 ends, or of depth 2 if the type is a Multi type, whose last
// end, of depth 1, adds nothing. Its rings end one level deeper; a line is the ring of its part.
absl::Status GeoJsonImport::AddParts(const Coordinates& block, const GeometryType& type,
                                     const MapShape& head) {
  // A geometry without a position has no depth either.
  if (block.points.empty() || type.name.ends_with("Point")) {
    const bool is_empty = block.points.empty();
    builder_.SkipObject(type.name, layer_, is_empty ? "it is empty" : "points have no edges");
    return absl::OkStatus();
  }
  const LayerPlan& plan = PlanOf(type);
  if (plan.use == LayerUse::kSkip) return absl::OkStatus();
  const bool is_multi = type.name.starts_with("Multi");
  const bool is_line = type.name.ends_with("LineString");
  const size_t part_depth = is_multi ? 2 : 1;
  const auto is_part = [&](const Coordinates::End& end) { return end.depth == part_depth; };
  const auto parts = std::count_if(block.ends.begin(), block.ends.end(), is_part);
  MapShape part = head;
  size_t begin = 0;
  for (const Coordinates::End& end : block.ends) {
    const bool is_ring = end.depth == part_depth + (is_line ? 0 : 1);
    if (is_ring && end.points > begin) {
      RingSpec& ring = part.rings.emplace_back();
      ring.open = is_line;
      ring.vertices.assign(block.points.begin() + static_cast<ptrdiff_t>(begin),
                           block.points.begin() + static_cast<ptrdiff_t>(end.points));
      begin = end.points;
    }
    if (!is_part(end) || part.rings.empty()) continue;
    part.hollow = is_line;
    if (whole_) {
      whole_->Append(std::move(part), plan);
      part = head;
      continue;
    }
    // An id belongs to one polygon.
    if (parts > 1) part.id.reset();
    const absl::Status status = builder_.Add(plan, std::move(part));
    if (!status.ok()) return status;
    part = head;
  }
  return absl::OkStatus();
}

}  // namespace

// The type of the document is in quotes, as the file has it.
bool LooksLikeGeoJson(const Sniffed& file) {
  const auto type = file.members.find("type");
  if (type == file.members.end() || type->second.size() < 2) return false;
  const std::string_view name = type->second.substr(1, type->second.size() - 2);
  return name == "FeatureCollection" || name == "Feature" || name == "GeometryCollection" ||
         std::any_of(kGeometryTypes.begin(), kGeometryTypes.end(),
                     [&](const GeometryType& t) { return t.name == name; });
}

absl::StatusOr<ImportedMap> ImportGeoJson(std::string_view bytes, const ImportOptions& options,
                                          const FileOpener& open) {
  return ImportSniffedGeoJson(Sniff(bytes), options, open);
}

absl::StatusOr<ImportedMap> ImportSniffedGeoJson(const Sniffed& file, const ImportOptions& options,
                                                 const FileOpener& /*open*/) {
  absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  return GeoJsonImport(options).Import(file);
}

}  // namespace carom
