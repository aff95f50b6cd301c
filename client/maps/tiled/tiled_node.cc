// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/tiled/tiled_node.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_reader.h"
#include "client/maps/import_common.h"
#include "client/maps/packed_json.h"

namespace carom {
namespace {

constexpr char kPointMembers[] =
    R"(must be {"x": X, "y": Y}, numbers of at most 2^53 in magnitude)";
constexpr char kCellForm[] = "must be a list of cell numbers, each an unsigned 32-bit integer";

// Returns a number that is accepted as a coordinate, or nullopt.
std::optional<double> NumberOfText(absl::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !IsAccepted(number)) return std::nullopt;
  return Normalized(number);
}

// Returns an integer, which may be written as `3` or `3.0`.
std::optional<int64_t> IntegerOf(double number) {
  if (number != std::floor(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TiledDocument>> TiledDocument::Parse(std::string file,
                                                                    std::string_view bytes,
                                                                    const ReadProgress* progress) {
  std::unique_ptr<TiledDocument> document(new TiledDocument);
  document->file_ = std::move(file);
  document->bytes_ = bytes;
  const size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  document->is_xml_ = first != bytes.npos && bytes[first] == '<';
  const absl::Status parsed =
      document->is_xml_ ? document->ParseXml() : document->ParseJson(progress);
  if (!parsed.ok()) return parsed;
  return document;
}

// pugixml skips document types and knows only the five entities of XML, so no text expands.
absl::Status TiledDocument::ParseXml() {
  const pugi::xml_parse_result result =
      xml_.load_buffer(bytes_.data(), bytes_.size(), pugi::parse_default, pugi::encoding_utf8);
  for (size_t end = bytes_.find('\n'); end != bytes_.npos; end = bytes_.find('\n', end + 1)) {
    line_ends_.push_back(end);
  }
  if (result) return absl::OkStatus();
  return InvalidField(LineOf(result.offset), result.description());
}

// The number of a line is that of the line breaks before it, plus one.
std::string TiledDocument::LineOf(ptrdiff_t offset) const {
  const size_t byte = static_cast<size_t>(std::max<ptrdiff_t>(offset, 0));
  const auto line = std::ranges::lower_bound(line_ends_, byte) - line_ends_.begin();
  return Place(absl::StrCat("line ", line + 1));
}

// Puts the name of the file before the line.
absl::Status TiledDocument::ParseJson(const ReadProgress* progress) {
  absl::StatusOr<PackedJson> value = PackedJson::Parse(bytes_, progress);
  if (!value.ok()) {
    const std::vector<Violation> violations = Violations(value.status());
    if (violations.empty()) return value.status();
    return InvalidField(Place(violations[0].field), violations[0].description);
  }
  json_ = *std::move(value);
  return absl::OkStatus();
}

// The root of an XML document is its only element, whatever its name.
TiledNode TiledDocument::root() const {
  return is_xml_ ? TiledNode(this, xml_.document_element()) : TiledNode(this, json_.root(), "");
}

std::string TiledDocument::Place(std::string_view place) const {
  if (file_.empty()) return std::string(place);
  return absl::StrCat(file_, place.empty() ? "" : ", ", AbslView(place));
}

std::string TiledNode::kind() const {
  if (is_json()) {
    return std::string(json_.Member("type").Text().value_or(""));
  }
  return std::strcmp(xml_.name(), "layer") == 0 ? "tilelayer" : xml_.name();
}

void TiledNode::Report(const ImportOptions& options) const {
  if (document_ == nullptr || is_json() || !document_->file().empty()) return;
  const auto offset = static_cast<size_t>(std::max<ptrdiff_t>(xml_.offset_debug(), 0));
  options.Report(offset, document_->bytes().size());
}

std::string TiledNode::where() const {
  if (document_ == nullptr) return "";
  if (is_json()) return document_->Place(path_);
  return document_->LineOf(xml_.offset_debug());
}

// A path in JSON goes on to the member; in XML the member follows the line.
absl::Status TiledNode::Error(std::string_view member, std::string_view description) const {
  if (is_json() && !member.empty()) {
    const std::string path =
        member.front() == '[' ? absl::StrCat(path_, AbslView(member)) : PathOf(path_, member);
    return InvalidField(document_->Place(path), AbslView(description));
  }
  if (member.empty()) return InvalidField(where(), AbslView(description));
  return InvalidField(where(), absl::StrCat(AbslView(member), " ", AbslView(description)));
}

// An attribute that is empty is there; a member that is null is not.
bool TiledNode::Has(const char* name) const {
  return is_json() ? static_cast<bool>(json_.Member(name)) : !xml_.attribute(name).empty();
}

absl::StatusOr<double> TiledNode::Number(const char* name, double absent) const {
  if (!Has(name)) return absent;
  const std::optional<double> number =
      is_json() ? json_.Member(name).Number() : NumberOfText(xml_.attribute(name).value());
  if (!number) return Error(name, kNumberRange);
  return *number;
}

// Reads `96.0` as 96, which some programs write.
absl::StatusOr<int64_t> TiledNode::Integer(const char* name, int64_t absent,
                                           TiledRange range) const {
  if (!Has(name)) return absent;
  const absl::StatusOr<double> number = Number(name, 0);
  const std::optional<int64_t> integer = number.ok() ? IntegerOf(*number) : std::nullopt;
  if (!integer || *integer < range.least || *integer > range.greatest) {
    return Error(name,
                 absl::StrCat("must be an integer from ", range.least, " to ", range.greatest));
  }
  return *integer;
}

absl::StatusOr<std::string> TiledNode::Text(const char* name) const {
  if (!Has(name)) return "";
  if (!is_json()) return xml_.attribute(name).value();
  const std::optional<std::string_view> text = json_.Member(name).Text();
  if (!text) return Error(name, "must be a string");
  return std::string(*text);
}

// A member that is no object counts as absent: old maps have other values there.
TiledNode TiledNode::Child(const char* name) const {
  if (!is_json()) return {document_, xml_.child(name)};
  const PackedValue value = json_.Member(name);
  if (!value.is_object()) return {};
  return {document_, value, PathOf(path_, name)};
}

// The name is the last part of the path.
std::optional<uint32_t> TiledNode::Key() const {
  const size_t dot = path_.rfind('.');
  uint32_t key = 0;
  if (dot == path_.npos || !absl::SimpleAtoi(path_.substr(dot + 1), &key)) return std::nullopt;
  return key;
}

// `"polygon": [...]` and `"text": {...}` are marks as `"ellipse": true` is.
bool TiledNode::IsMarked(const char* name) const {
  if (!is_json()) return !xml_.child(name).empty();
  const PackedValue value = json_.Member(name);
  return value.is_true() || value.is_structured();
}

// The path of an element has its index, or its name in an object that stands for an array.
absl::Status TiledNode::ForEach(const char* element, const char* member,
                                const Visitor& visit) const {
  if (!is_json()) {
    for (const pugi::xml_node child : xml_.children(element)) {
      const absl::Status visited = visit(TiledNode(document_, child));
      if (!visited.ok()) return visited;
    }
    return absl::OkStatus();
  }
  const PackedValue values = json_.Member(member);
  if (!values) return absl::OkStatus();
  if (!values.is_structured()) return Error(member, "must be an array");
  size_t index = 0;
  for (const PackedValue value : values) {
    std::string path = values.is_array() ? PathOf(path_, member, index)
                                         : PathOf(PathOf(path_, member), value.key());
    if (!value.is_object()) return InvalidField(document_->Place(path), "must be an object");
    const absl::Status visited = visit(TiledNode(document_, value, std::move(path)));
    if (!visited.ok()) return visited;
    ++index;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TiledNode>> TiledNode::List(const char* element,
                                                       const char* member) const {
  std::vector<TiledNode> list;
  const absl::Status visited = ForEach(element, member, [&](const TiledNode& node) {
    list.push_back(node);
    return absl::OkStatus();
  });
  if (!visited.ok()) return visited;
  return list;
}

// In XML layers of all kinds stand side by side, in the order in which they are drawn.
absl::StatusOr<std::vector<TiledNode>> TiledNode::Layers() const {
  if (is_json()) return List("", "layers");
  std::vector<TiledNode> layers;
  for (const pugi::xml_node child : xml_.children()) {
    const std::string_view name = child.name();
    if (name == "layer" || name == "objectgroup" || name == "imagelayer" || name == "group") {
      layers.emplace_back(document_, child);
    }
  }
  return layers;
}

// In XML the points are one text, with blanks between them.
absl::StatusOr<std::vector<Vec2>> TiledNode::Points(const char* name) const {
  std::vector<Vec2> points;
  if (is_json()) {
    const PackedValue values = json_.Member(name);
    if (!values.is_array()) return Error(name, "must be an array");
    for (const PackedValue value : values) {
      const std::optional<double> x = value.Member("x").Number();
      const std::optional<double> y = value.Member("y").Number();
      if (!x || !y) {
        return InvalidField(document_->Place(PathOf(path_, name, points.size())), kPointMembers);
      }
      points.push_back({*x, *y});
    }
    return points;
  }
  const TiledNode child(document_, xml_.child(name));
  const absl::string_view text = child.xml_.attribute("points").value();
  for (const absl::string_view pair : absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> xy = absl::StrSplit(pair, ',');
    const std::optional<double> x = xy.size() == 2 ? NumberOfText(xy[0]) : std::nullopt;
    const std::optional<double> y = xy.size() == 2 ? NumberOfText(xy[1]) : std::nullopt;
    if (!x || !y) {
      return child.Error("points", "must be pairs \"x,y\" of numbers, at most 2^53 in magnitude");
    }
    points.push_back({*x, *y});
  }
  return points;
}

// A property is {"name", "type", "value"} in an array, or a member of an object in old maps.
PackedValue TiledNode::PropertyValue(const std::string& name) const {
  const PackedValue properties = json_.Member("properties");
  if (properties.is_object()) return properties.Member(name);
  for (const PackedValue property : properties) {
    if (property.Member("name").Text() == name) return property.Member("value");
  }
  return {};
}

// Every value is a text in XML, whatever its type; in JSON it is a number or a text.
absl::StatusOr<std::optional<uint64_t>> TiledNode::Category(const std::string& property) const {
  if (property.empty()) return std::nullopt;
  absl::StatusOr<uint64_t> category = 0;
  if (is_json()) {
    const PackedValue value = PropertyValue(property);
    if (!value) return std::nullopt;
    const double number = value.Number().value_or(-1);
    if (value.Unsigned()) {
      category = *value.Unsigned();
    } else if (number >= 0 && number == std::floor(number)) {
      category = static_cast<uint64_t>(number);
    } else {
      category = CategoryOfText(value.Text().value_or(""), "");
    }
  } else {
    const pugi::xml_node found =
        xml_.child("properties").find_child_by_attribute("property", "name", property.c_str());
    if (found.empty()) return std::nullopt;
    const pugi::xml_attribute value = found.attribute("value");
    category = CategoryOfText(value.empty() ? found.child_value() : value.value(), "");
  }
  if (category.ok()) return *category;
  return Error(absl::StrCat("property \"", property, "\""),
               std::string(category.status().message()));
}

// An infinite map without chunks has an empty element `data`.
bool TiledNode::HasCells() const {
  if (is_json()) return static_cast<bool>(json_.Member("data"));
  return std::strcmp(xml_.name(), "layer") != 0 && !xml_.first_child().empty();
}

bool TiledNode::HasCellText() const {
  if (!is_json()) return xml_.child("tile").empty();
  return json_.Member("data").is_string();
}

std::string_view TiledNode::CellText() const {
  if (!is_json()) return xml_.child_value();
  return json_.Member("data").Text().value_or("");
}

// An element `tile` without a number is an empty cell.
absl::StatusOr<std::span<const uint32_t>> TiledNode::CellNumbers(
    std::vector<uint32_t>& buffer) const {
  if (is_json()) {
    const std::optional<std::span<const uint32_t>> numbers = json_.Member("data").Numbers(buffer);
    if (!numbers) return Error("data", kCellForm);
    return *numbers;
  }
  for (const pugi::xml_node tile : xml_.children("tile")) {
    uint32_t number = 0;
    const pugi::xml_attribute gid = tile.attribute("gid");
    if (!gid.empty() && !absl::SimpleAtoi(gid.value(), &number)) {
      return TiledNode(document_, tile).Error("gid", "must be an unsigned 32-bit integer");
    }
    buffer.push_back(number);
  }
  return buffer;
}

}  // namespace carom
