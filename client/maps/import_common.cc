// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/import_common.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/sincos.h"
#include "carom/status.h"
#include "client/formats/grouped.h"
#include "client/formats/json_text.h"
#include "client/formats/nearest_word.h"

namespace carom {
namespace {

constexpr double kPi = 3.14159265358979323846;
// The most pieces that a union of boxes may be cut into.
constexpr size_t kMaxMergePieces = size_t{1} << 25;
// No limits: each server enforces its own.
constexpr PolygonLimits kUnlimited{.max_vertices = std::numeric_limits<size_t>::max(),
                                   .max_user_data_bytes = std::numeric_limits<size_t>::max()};

constexpr char kCategoryForm[] =
    "must be an unsigned 64-bit integer, or a comma-separated list of bit numbers from 0 to 63";

// Returns the number of chords of an arc of `angle` radians on an ellipse whose greater half axis
// is `radius`. A chord over the angle t is at most radius * (1 - cos(t / 2)) from its arc on a
// circle; an affine map with the greatest stretch `radius` of the unit circle keeps this bound. A
// chord spans at most a quarter turn.
absl::StatusOr<size_t> ChordCount(double angle, double radius, double chord) {
  if (!std::isfinite(radius)) return absl::InvalidArgumentError("has a curve that is too large");
  const double part = std::min(1.0, chord / radius);
  const double step = std::min(kPi / 2, 4 * std::asin(std::sqrt(part / 2)));
  const double count = std::ceil(angle / step);
  if (!(count <= double{kMaxChords})) {
    return absl::InvalidArgumentError(
        absl::StrCat("needs more than ", kMaxChords, " chords; raise --chord"));
  }
  return static_cast<size_t>(std::max(count, 1.0));
}

// Returns the greater half axis of the ellipse cos(t) * a + sin(t) * b: the greater singular value
// of the matrix of a and b.
double GreaterHalfAxis(Vec2 a, Vec2 b) {
  const double sum = a.x * a.x + a.y * a.y + b.x * b.x + b.y * b.y;
  const double area = a.x * b.y - a.y * b.x;
  const double root = std::sqrt(std::max(0.0, (sum - 2 * area) * (sum + 2 * area)));
  return std::sqrt((sum + root) / 2);
}

// Returns the point of an ellipse at the angle whose cosine and sine are `t`.
Vec2 EllipsePoint(Vec2 center, Vec2 a, Vec2 b, CosSin t) {
  return {center.x + t.c * a.x + t.s * b.x, center.y + t.c * a.y + t.s * b.y};
}

// Returns the shortest text that is read as `value`.
std::string NumberText(double value) {
  std::string text;
  AppendNumber(value, text);
  return text;
}

// Returns how a plan is written on the command line: `Ground=4,hollow`.
std::string ChoiceText(const LayerPlan& plan) {
  std::string text = plan.name + "=" + std::to_string(plan.category.value_or(1));
  if (plan.use == LayerUse::kSolid) text += ",solid";
  if (plan.use == LayerUse::kHollow) text += ",hollow";
  if (plan.use == LayerUse::kSkip) text += ",skip";
  return text;
}

// Returns the box that a ring is, or nullopt if it is none or has no area.
std::optional<Box> BoxOfRing(const RingSpec& ring) {
  const std::vector<Vec2>& v = ring.vertices;
  if (ring.open || v.size() != 4) return std::nullopt;
  const bool first_is_level =
      v[0].y == v[1].y && v[1].x == v[2].x && v[2].y == v[3].y && v[3].x == v[0].x;
  const bool first_is_upright =
      v[0].x == v[1].x && v[1].y == v[2].y && v[2].x == v[3].x && v[3].y == v[0].y;
  if (!first_is_level && !first_is_upright) return std::nullopt;
  if (v[0].x == v[2].x || v[0].y == v[2].y) return std::nullopt;
  Box box;
  box.Extend(v[0]);
  box.Extend(v[2]);
  return box;
}

// The distinct values of a list, and the rank of each value: a union of boxes is made over ranks,
// so its vertices have exactly the coordinates of the boxes.
class RankedValues {
 public:
  explicit RankedValues(std::vector<double> values) : values_(std::move(values)) {
    std::ranges::sort(values_);
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  }
  int32_t Rank(double value) const {
    return static_cast<int32_t>(std::ranges::lower_bound(values_, value) - values_.begin());
  }
  double operator[](int32_t rank) const { return values_[static_cast<size_t>(rank)]; }
  size_t size() const { return values_.size(); }

 private:
  std::vector<double> values_;
};

}  // namespace

Affine operator*(const Affine& outer, const Affine& inner) {
  return {outer.Linear(inner.x), outer.Linear(inner.y), outer(inner.origin)};
}

// Quarter turns exchange and negate coordinates, which no cosine of a rounded angle does.
Affine TurnDegrees(double degrees, Vec2 center) {
  const double turn = std::fmod(degrees, 360.0);
  CosSin t = SinCos(turn / 180 * kPi);
  const double quarters = turn / 90;
  if (quarters == std::floor(quarters)) {
    const int quarter = (static_cast<int>(quarters) + 4) % 4;
    t = {quarter == 0   ? 1.0
         : quarter == 2 ? -1.0
                        : 0.0,
         quarter == 1   ? 1.0
         : quarter == 3 ? -1.0
                        : 0.0};
  }
  const Affine about_zero{{t.c, t.s}, {-t.s, t.c}, {0, 0}};
  const Vec2 turned = about_zero.Linear(center);
  return {about_zero.x, about_zero.y, {center.x - turned.x, center.y - turned.y}};
}

// Divides the arc at equal steps of its parameter.
absl::Status AppendArc(const Arc& arc, double chord, std::vector<Vec2>& out) {
  const double angle = arc.to - arc.from;
  if (!(std::abs(arc.from) <= kMaxAngle && std::abs(arc.to) <= kMaxAngle)) {
    return absl::InvalidArgumentError("has an angle that is no number, or above 2^20");
  }
  const absl::StatusOr<size_t> count =
      ChordCount(std::abs(angle), GreaterHalfAxis(arc.a, arc.b), chord);
  if (!count.ok()) return count.status();
  for (size_t i = 0; i <= *count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(*count);
    const double t = i == *count ? arc.to : arc.from + part * angle;
    out.push_back(EllipsePoint(arc.center, arc.a, arc.b, SinCos(t)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Vec2>> EllipseRing(Vec2 center, Vec2 a, Vec2 b, double chord) {
  const absl::StatusOr<size_t> count = ChordCount(kPi / 2, GreaterHalfAxis(a, b), chord);
  if (!count.ok()) return count.status();
  std::vector<Vec2> ring;
  ring.reserve(4 * *count);
  // The quarters are turned copies of the first one, so the ends of the axes are exact.
  for (int quarter = 0; quarter < 4; ++quarter) {
    for (size_t i = 0; i < *count; ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(*count);
      ring.push_back(EllipsePoint(center, a, b, SinCos(part * kPi / 2)));
    }
    const Vec2 next = b;
    b = {-a.x, -a.y};
    a = next;
  }
  return ring;
}

// A number with a fraction of 0, such as 3.0, counts as an integer: some programs write all numbers
// so.
absl::StatusOr<uint64_t> CategoryOf(const nlohmann::json& value, std::string_view path) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_string()) return CategoryOfText(value.get_ref<const std::string&>(), path);
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number >= 0 && number <= kMaxCoordinate && number == std::floor(number)) {
      return static_cast<uint64_t>(number);
    }
  }
  return InvalidField(AbslView(path), kCategoryForm);
}

absl::StatusOr<uint64_t> CategoryOfText(std::string_view value, std::string_view path) {
  const absl::string_view text = absl::StripAsciiWhitespace(AbslView(value));
  uint64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  uint64_t bits = 0;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    uint32_t bit = 0;
    if (!absl::SimpleAtoi(part, &bit) || bit > 63) {
      return InvalidField(AbslView(path), kCategoryForm);
    }
    bits |= uint64_t{1} << bit;
  }
  return bits;
}

MapBuilder::MapBuilder(std::string_view format, const ImportOptions& options, bool y_down)
    : options_(options),
      flip_(options.flip_y.value_or(y_down)),
      format_(format),
      met_(options.layers.size()) {}

absl::Status MapBuilder::Check(const ImportOptions& options) {
  if (!IsAccepted(options.scale) || Normalized(options.scale) == 0) {
    return InvalidField("scale", "must be a number other than 0, at most 2^53 in magnitude");
  }
  if (!IsAccepted(options.origin)) {
    return InvalidField("origin", "must be numbers of at most 2^53 in magnitude");
  }
  if (!(options.chord > 0)) return InvalidField("chord", "must be above 0");
  return absl::OkStatus();
}

// Adds 0 so that -0 becomes 0.
Vec2 MapBuilder::Placed(Vec2 p) const {
  const double y = (p.y - options_.origin.y) * options_.scale;
  return {(p.x - options_.origin.x) * options_.scale + 0.0, (flip_ ? -y : y) + 0.0};
}

// Keeps the names that it meets: a choice that met no layer is answered with the nearest of them.
LayerPlan MapBuilder::Plan(std::span<const std::string> names) {
  LayerPlan plan;
  if (!names.empty()) plan.name = names[0];
  for (size_t i = 0; i < options_.layers.size(); ++i) {
    const LayerChoice& choice = options_.layers[i];
    if (choice.name != "*" && std::ranges::find(names, choice.name) == names.end()) continue;
    met_[i] = true;
    plan.is_named = true;
    plan.use = choice.use;
    plan.category = choice.category;
  }
  const bool is_first = names_.insert(plan.name).second;
  if (plan.is_named && is_first) AddMapping("layer", ChoiceText(plan));
  return plan;
}

// Splits the open rings of a solid shape from its closed ones.
absl::Status MapBuilder::Add(const LayerPlan& plan, MapShape shape) {
  if (plan.use == LayerUse::kSkip) return absl::OkStatus();
  const bool hollow =
      plan.use == LayerUse::kHollow || (plan.use == LayerUse::kDefault && shape.hollow);
  for (RingSpec& ring : shape.rings) {
    if (ring.vertices.empty()) return InvalidField(shape.path, "has no points");
    for (Vec2& vertex : ring.vertices) vertex = Placed(vertex);
  }
  Pending polygon;
  polygon.id = shape.id.value_or(0);
  polygon.has_id = shape.id.has_value();
  polygon.category = plan.category.value_or(shape.category.value_or(1));
  polygon.hollow = hollow;
  polygon.fill_rule = shape.fill_rule;
  polygon.rings = std::move(shape.rings);
  std::vector<RingSpec> open;
  if (!hollow) {
    const auto split = std::stable_partition(polygon.rings.begin(), polygon.rings.end(),
                                             [](const RingSpec& ring) { return !ring.open; });
    open.assign(std::make_move_iterator(split), std::make_move_iterator(polygon.rings.end()));
    polygon.rings.erase(split, polygon.rings.end());
  }
  if (open.empty()) return AddPlaced(std::move(polygon), shape.path);
  Pending chains = polygon;
  chains.rings = std::move(open);
  chains.hollow = true;
  if (polygon.rings.empty()) return AddPlaced(std::move(chains), shape.path);
  chains.has_id = false;
  const absl::Status added = AddPlaced(std::move(polygon), shape.path);
  return added.ok() ? AddPlaced(std::move(chains), shape.path) : added;
}

// Counts a polygon as 4 vertices more than it has, since it takes memory of its own.
absl::Status MapBuilder::AddPlaced(Pending polygon, const std::string& path) {
  if (polygon.rings.empty()) return InvalidField(path, "has no rings");
  vertices_ += 4;
  for (const RingSpec& ring : polygon.rings) {
    vertices_ += ring.vertices.size();
    for (const Vec2 vertex : ring.vertices) {
      if (!IsAccepted(vertex)) {
        return InvalidField(path, "has a point beyond 2^53 in magnitude, or no number");
      }
    }
  }
  if (vertices_ > kMaxImportedVertices) {
    return InvalidField(path, absl::StrCat("is beyond the limit of ", Grouped(kMaxImportedVertices),
                                           " vertices in all"));
  }
  pending_.push_back(std::move(polygon));
  return absl::OkStatus();
}

// Reverses the rings where placing mirrors, so that outer rings are counter-clockwise.
absl::Status MapBuilder::AddOutlines(const LayerPlan& plan, const MapShape& shape,
                                     std::span<const Outline> outlines,
                                     const std::function<Vec2(LatticePoint)>& place) {
  for (const Outline& outline : outlines) {
    MapShape part;
    part.hollow = shape.hollow;
    part.category = shape.category;
    part.path = shape.path;
    if (outlines.size() == 1) part.id = shape.id;
    for (const std::vector<LatticePoint>& points : outline.rings) {
      RingSpec& ring = part.rings.emplace_back();
      ring.vertices.reserve(points.size());
      for (const LatticePoint point : points) ring.vertices.push_back(place(point));
      if (mirrors()) std::reverse(ring.vertices.begin() + 1, ring.vertices.end());
    }
    const absl::Status added = Add(plan, std::move(part));
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

// Bounds the report, since a hostile file may have a million parts.
void MapBuilder::Skip(std::string what, std::string why, std::string option) {
  if (skipped_.size() < kMaxSkipped) {
    skipped_.push_back({std::move(what), std::move(why), std::move(option)});
  } else {
    ++unlisted_;
  }
}

void MapBuilder::SkipObject(std::string_view kind, std::string_view layer, std::string_view why,
                            std::string_view option) {
  ++objects_[{std::string(layer), std::string(kind), std::string(why), std::string(option)}];
}

void MapBuilder::SkipLayer(const LayerPlan& plan, std::string why) {
  const std::string what = absl::StrCat("layer \"", plan.name, "\"");
  if (plan.use == LayerUse::kSkip) {
    Skip(what, "its choice skips it");
  } else {
    Skip(what, std::move(why), "--layer " + ShellWord(plan.name));
  }
}

void MapBuilder::AddMapping(std::string name, std::string value) {
  extra_.emplace_back(std::move(name), std::move(value));
}

// Merges the boxes of each category on their own.
void MapBuilder::Merge() {
  std::map<uint64_t, std::vector<size_t>> boxes;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Pending& polygon = pending_[i];
    if (!polygon.hollow && polygon.rings.size() == 1 && BoxOfRing(polygon.rings[0])) {
      boxes[polygon.category].push_back(i);
    }
  }
  for (const auto& [category, members] : boxes) {
    if (members.size() > 1) MergeBoxes(members);
  }
  std::erase_if(pending_, [](const Pending& polygon) { return polygon.rings.empty(); });
}

// The union of several boxes takes the place of the first of them; the others lose their rings.
void MapBuilder::MergeBoxes(const std::vector<size_t>& boxes) {
  std::vector<double> xs, ys;
  for (const size_t i : boxes) {
    for (const Vec2 vertex : pending_[i].rings[0].vertices) {
      xs.push_back(vertex.x);
      ys.push_back(vertex.y);
    }
  }
  const RankedValues x(std::move(xs)), y(std::move(ys));
  std::vector<LatticeBox> ranked;
  ranked.reserve(boxes.size());
  for (const size_t i : boxes) {
    const auto [min, max] = *BoxOfRing(pending_[i].rings[0]);
    ranked.push_back({{x.Rank(min.x), y.Rank(min.y)}, {x.Rank(max.x), y.Rank(max.y)}});
  }
  const std::optional<BoxUnion> united = OutlineBoxes(ranked, kMaxMergePieces);
  if (!united) {
    Skip(absl::StrCat("the union of ", Grouped(boxes.size()), " boxes"),
         absl::StrCat("it has more than ", Grouped(kMaxMergePieces), " pieces"));
    return;
  }
  std::vector<std::vector<size_t>> members(united->outlines.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    members[united->outline_of[i]].push_back(boxes[i]);
  }
  for (size_t outline = 0; outline < members.size(); ++outline) {
    if (members[outline].size() < 2) continue;
    Pending& first = pending_[members[outline].front()];
    for (const size_t i : members[outline]) {
      const Pending& box = pending_[i];
      if (box.has_id && (!first.has_id || box.id < first.id)) first.id = box.id;
      first.has_id = first.has_id || box.has_id;
      pending_[i].rings.clear();
    }
    for (const std::vector<LatticePoint>& points : united->outlines[outline].rings) {
      RingSpec& ring = first.rings.emplace_back();
      for (const auto [rank_x, rank_y] : points) ring.vertices.push_back({x[rank_x], y[rank_y]});
    }
  }
}

void MapBuilder::Number() {
  std::vector<uint64_t> ids;
  for (const Pending& polygon : pending_) {
    if (polygon.has_id) ids.push_back(polygon.id);
  }
  std::ranges::sort(ids);
  const bool distinct = std::ranges::adjacent_find(ids) == ids.end();
  // Beyond the greatest id there must be numbers for the polygons without one.
  const bool keeps =
      distinct && !ids.empty() &&
      ids.back() <= std::numeric_limits<uint64_t>::max() - (pending_.size() - ids.size());
  uint64_t next = keeps ? ids.back() + 1 : 1;
  for (Pending& polygon : pending_) {
    if (!keeps || !polygon.has_id) polygon.id = next++;
  }
  const char* chosen = "those of the file";
  if (keeps && ids.size() < pending_.size()) {
    chosen = "those of the file; the numbers after them where it has none";
  } else if (!keeps) {
    chosen = ids.empty() ? "numbers from 1" : "numbers from 1, as ids of the file are repeated";
  }
  AddMapping("ids", chosen);
}

// Adds the objects and choices that were counted to the list of what was skipped.
void MapBuilder::Report() {
  for (const auto& [key, count] : objects_) {
    const auto& [layer, kind, why, option] = key;
    Skip(
        absl::StrCat(Grouped(count), " ", kind, count == 1 ? "" : "s", " in layer \"", layer, "\""),
        why, option);
  }
  const std::vector<std::string> names(names_.begin(), names_.end());
  for (size_t i = 0; i < met_.size(); ++i) {
    const std::string& name = options_.layers[i].name;
    if (met_[i] || name == "*") continue;
    Skip(absl::StrCat("--layer ", ShellWord(name)),
         "no layer has this name" + Suggestion(name, names));
  }
  if (unlisted_ > 0) {
    skipped_.push_back({absl::StrCat(Grouped(unlisted_), " more parts"), "not listed", ""});
  }
}

// Creates the polygons last, when their ids are known, and frees the points of each on the way.
absl::StatusOr<ImportedMap> MapBuilder::Finish() {
  if (options_.merge) Merge();
  Number();
  Report();
  ImportedMap map;
  map.format = format_;
  map.mapping = {{"scale", NumberText(options_.scale)},
                 {"origin", NumberText(options_.origin.x) + "," + NumberText(options_.origin.y)},
                 {"flip-y", flip_ ? "on" : "off"},
                 {"property", options_.property},
                 {"outline", options_.outline ? "on" : "off"},
                 {"merge", options_.merge ? "on" : "off"},
                 {"chord", NumberText(options_.chord)}};
  map.mapping.insert(map.mapping.end(), extra_.begin(), extra_.end());
  map.polygons.reserve(pending_.size());
  for (Pending& polygon : pending_) {
    PolygonSpec spec;
    spec.id = polygon.id;
    spec.rings = std::move(polygon.rings);
    spec.fill_rule = polygon.fill_rule;
    spec.solidity = polygon.hollow ? Solidity::kBoundary : Solidity::kSolid;
    spec.category = polygon.category;
    absl::StatusOr<Polygon> created = Polygon::Create(std::move(spec), kUnlimited);
    if (!created.ok()) return created.status();
    map.polygons.push_back(*std::move(created));
  }
  map.skipped = std::move(skipped_);
  return map;
}

// Within single quotes a shell reads every character as it is, except the quote itself.
std::string KeptMapping(const nlohmann::json* value) {
  if (value == nullptr || !value->is_object() || value->empty()) return "";
  return value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ShellWord(std::string_view text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./:@%+,").find(c) != std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string PathOf(std::string_view parent, std::string_view member) {
  return absl::StrCat(AbslView(parent), parent.empty() ? "" : ".", AbslView(member));
}

std::string PathOf(std::string_view parent, std::string_view member, size_t index) {
  return absl::StrCat(PathOf(parent, member), "[", index, "]");
}

}  // namespace carom
