// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/maps/svg_path.h"

namespace carom {
namespace {

// How deep elements may be nested, with those that `use` draws.
constexpr int kMaxSvgDepth = 200;

// Returns the name of an element without the prefix `svg:`.
std::string_view SvgName(pugi::xml_node node) {
  const std::string_view name = node.name();
  return name.starts_with("svg:") ? name.substr(4) : name;
}

// Returns the value of a property, by the inline style, else by the attribute; "" if neither has
// it.
std::string SvgProperty(pugi::xml_node node, std::string_view name) {
  std::string value = node.attribute(std::string(name).c_str()).value();
  for (const absl::string_view part : absl::StrSplit(node.attribute("style").value(), ';')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits(':', 1));
    if (absl::StripAsciiWhitespace(pair.first) == AbslView(name)) {
      value = std::string(absl::StripAsciiWhitespace(pair.second));
    }
  }
  return value;
}

// What a shape inherits from the elements around it.
struct SvgContext {
  Affine place;                // from the user units of the element to those of the outermost `svg`
  Vec2 viewport = {100, 100};  // what percentages are parts of
  bool fills = true;
  bool even_odd = false;
  bool visible = true;
  std::optional<uint64_t> category;
  size_t group = 0;  // index into the groups
  int depth = 0;
  bool copied = false;  // below a `use`
};

// A group, and its plan once a shape asks for it.
struct SvgGroup {
  std::vector<std::string> names;  // of the group, and of those around it
  std::optional<LayerPlan> plan;
};

// Imports one drawing. Methods return errors with the line.
class SvgImport {
 public:
  SvgImport(std::string_view bytes, const ImportOptions& options)
      : bytes_(bytes), options_(options), builder_("svg", options, /*y_down=*/true) {}

  absl::StatusOr<ImportedMap> Import();

 private:
  absl::Status At(pugi::xml_node node, const absl::Status& status) const {
    return status.ok() ? status : InvalidField(Line(node), status.message());
  }
  std::string Line(pugi::xml_node node) const;
  absl::StatusOr<double> Length(pugi::xml_node node, const char* name, double absent,
                                double whole) const;
  const LayerPlan& Plan(const SvgContext& context);
  void SkipElement(pugi::xml_node node, const SvgContext& context, std::string_view why);

  absl::Status Outermost(pugi::xml_node root);
  absl::Status Children(pugi::xml_node node, const SvgContext& context);
  absl::Status Element(pugi::xml_node node, SvgContext context);
  absl::Status Inherit(pugi::xml_node node, SvgContext& context);
  absl::Status Group(pugi::xml_node node, SvgContext context);
  absl::Status Viewport(pugi::xml_node node, pugi::xml_node use, SvgContext context);
  absl::Status Use(pugi::xml_node node, SvgContext context);
  absl::Status Shape(pugi::xml_node node, const SvgContext& context);
  absl::Status Path(pugi::xml_node node, const SvgContext& context, std::vector<RingSpec>& rings);
  absl::Status Rectangle(pugi::xml_node node, const SvgContext& context,
                         std::vector<RingSpec>& rings);
  absl::Status Ellipse(pugi::xml_node node, const SvgContext& context,
                       std::vector<RingSpec>& rings);
  absl::Status Points(pugi::xml_node node, const SvgContext& context, std::vector<RingSpec>& rings);
  void FindIds(pugi::xml_node root);

  std::string_view bytes_;
  const ImportOptions& options_;
  MapBuilder builder_;
  std::vector<size_t> lines_;  // the offsets of line ends
  size_t read_ = 0;            // the offset of the last element that is drawn
  std::vector<SvgGroup> groups_;
  // The first element with each id.
  std::unordered_map<std::string_view, pugi::xml_node> ids_;
  // The elements that `use` has drawn.
  size_t copies_ = 0;
};

// Returns how errors name the line of an element.
std::string SvgImport::Line(pugi::xml_node node) const {
  const size_t offset = static_cast<size_t>(std::max<ptrdiff_t>(0, node.offset_debug()));
  const auto line = std::lower_bound(lines_.begin(), lines_.end(), offset);
  return absl::StrCat("line ", line - lines_.begin() + 1);
}

// Returns an attribute that is a length, or `absent` if it is left out or `auto`.
absl::StatusOr<double> SvgImport::Length(pugi::xml_node node, const char* name, double absent,
                                         double whole) const {
  const pugi::xml_attribute attribute = node.attribute(name);
  if (attribute.empty() || std::string_view(attribute.value()) == "auto") return absent;
  absl::StatusOr<double> length = SvgLength(attribute.value(), whole);
  if (length.ok()) return length;
  return InvalidField(Line(node), absl::StrCat(name, ": ", length.status().message()));
}

// Returns the plan of the innermost group with a name; a group without shapes needs none.
const LayerPlan& SvgImport::Plan(const SvgContext& context) {
  SvgGroup& group = groups_[context.group];
  if (!group.plan) {
    group.plan = builder_.Plan(group.names);
    if (group.plan->use == LayerUse::kSkip) builder_.SkipLayer(*group.plan, "");
  }
  return *group.plan;
}

// Reports an element that is not drawn, or not as the file says.
void SvgImport::SkipElement(pugi::xml_node node, const SvgContext& context, std::string_view why) {
  builder_.SkipObject(absl::StrCat("element ", AbslView(SvgName(node))),
                      groups_[context.group].names.front(), why);
}

// Parses the file without a document type and its entities.
absl::StatusOr<ImportedMap> SvgImport::Import() {
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(bytes_.data(), bytes_.size(), pugi::parse_default);
  for (size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i] == '\n') lines_.push_back(i);
  }
  if (!result) {
    const auto line = std::lower_bound(lines_.begin(), lines_.end(),
                                       static_cast<size_t>(std::max<ptrdiff_t>(0, result.offset)));
    return InvalidField(absl::StrCat("line ", line - lines_.begin() + 1),
                        absl::StrCat("not XML: ", result.description()));
  }
  const pugi::xml_node root = document.document_element();
  if (SvgName(root) != "svg") return InvalidField("line 1", "the root element must be svg");
  groups_.push_back({{"svg"}, std::nullopt});
  FindIds(root);
  const absl::Status status = Outermost(root);
  if (!status.ok()) return status;
  return builder_.Finish();
}

// Walks without recursion: documents may be deep.
void SvgImport::FindIds(pugi::xml_node root) {
  pugi::xml_node node = root;
  while (node) {
    if (const pugi::xml_attribute id = node.attribute("id")) ids_.try_emplace(id.value(), node);
    if (node.first_child()) {
      node = node.first_child();
      continue;
    }
    while (node && node != root && !node.next_sibling()) node = node.parent();
    node = node == root ? pugi::xml_node() : node.next_sibling();
  }
}

// Keeps the user units of the outermost viewBox, and states their size.
absl::Status SvgImport::Outermost(pugi::xml_node root) {
  const std::optional<SvgBox> box = SvgViewBox(root.attribute("viewBox").value());
  const Vec2 whole = box ? Vec2{box->width, box->height} : Vec2{300, 150};
  const absl::StatusOr<double> width = Length(root, "width", whole.x, whole.x);
  if (!width.ok()) return width.status();
  const absl::StatusOr<double> height = Length(root, "height", whole.y, whole.y);
  if (!height.ok()) return height.status();
  Vec2 pixels{1, 1};
  if (box) {
    const Affine map =
        ViewBoxMap(*box, {*width, *height}, root.attribute("preserveAspectRatio").value());
    pixels = {map.x.x, map.y.y};
  }
  std::string unit;
  AppendNumber(pixels.x, unit);
  if (pixels.x != pixels.y) AppendNumber(pixels.y, unit += " x ");
  builder_.AddMapping("pixels of a unit", unit);
  SvgContext context;
  context.viewport = box ? whole : Vec2{*width, *height};
  absl::Status status = Inherit(root, context);
  return status.ok() ? Children(root, context) : status;
}

// Draws the elements in an element, in order.
absl::Status SvgImport::Children(pugi::xml_node node, const SvgContext& context) {
  for (const pugi::xml_node child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    // A `switch` draws the first of its elements that needs no extension.
    const bool is_choice = SvgName(node) == "switch";
    if (is_choice && child.attribute("requiredExtensions")) continue;
    // A copy by `use` is of an earlier place.
    read_ = std::max(read_, static_cast<size_t>(std::max<ptrdiff_t>(0, child.offset_debug())));
    options_.Report(read_, bytes_.size());
    const absl::Status status = Element(child, context);
    if (!status.ok() || is_choice) return status;
  }
  return absl::OkStatus();
}

// Draws a group, a viewport, a copy or a shape; other elements, such as definitions, draw nothing.
absl::Status SvgImport::Element(pugi::xml_node node, SvgContext context) {
  constexpr std::array<std::string_view, 7> kShapes{"path", "rect",     "circle", "ellipse",
                                                    "line", "polyline", "polygon"};
  constexpr std::array<std::string_view, 5> kOther{"text", "image", "foreignObject", "video",
                                                   "canvas"};
  const std::string_view name = SvgName(node);
  const auto is_one_of = [&](const auto& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if (++context.depth > kMaxSvgDepth) {
    return InvalidField(Line(node), absl::StrCat("elements are nested deeper than ", kMaxSvgDepth));
  }
  if (context.copied && ++copies_ > kMaxSvgCopies) {
    return InvalidField(Line(node),
                        absl::StrCat("`use` draws more than ", kMaxSvgCopies, " elements"));
  }
  if (is_one_of(kOther)) {
    SkipElement(node, context, "its form is not known");
    return absl::OkStatus();
  }
  if (name == "style") {
    builder_.Skip("style sheet", "only attributes and inline styles are read");
    return absl::OkStatus();
  }
  const bool is_group = name == "g" || name == "a" || name == "switch";
  const bool is_shape = is_one_of(kShapes);
  if (!is_group && !is_shape && name != "svg" && name != "use") return absl::OkStatus();
  if (SvgProperty(node, "display") == "none") {
    SkipElement(node, context, "it is not displayed");
    return absl::OkStatus();
  }
  const absl::Status status = Inherit(node, context);
  if (!status.ok()) return status;
  if (is_group) return Group(node, context);
  if (name == "svg") return Viewport(node, {}, context);
  return is_shape ? Shape(node, context) : Use(node, context);
}

// Applies the attributes that an element has for itself and those in it.
absl::Status SvgImport::Inherit(pugi::xml_node node, SvgContext& context) {
  const absl::StatusOr<Affine> map = SvgTransform(node.attribute("transform").value());
  if (!map.ok()) {
    return InvalidField(Line(node), absl::StrCat("transform: ", map.status().message()));
  }
  const bool is_outermost = node.parent().type() == pugi::node_document;
  if (!is_outermost) context.place = context.place * *map;
  const std::string fill = SvgProperty(node, "fill");
  if (!fill.empty() && fill != "inherit") context.fills = fill != "none";
  const std::string rule = SvgProperty(node, "fill-rule");
  if (!rule.empty() && rule != "inherit") context.even_odd = rule == "evenodd";
  const std::string visibility = SvgProperty(node, "visibility");
  if (!visibility.empty() && visibility != "inherit") context.visible = visibility == "visible";
  for (const char* name : {"clip-path", "mask"}) {
    const std::string value = SvgProperty(node, name);
    if (!value.empty() && value != "none") {
      SkipElement(node, context, absl::StrCat("it is drawn whole: ", name, " is not applied"));
    }
  }
  if (absl::StrContains(SvgProperty(node, "transform"), "deg")) {
    SkipElement(node, context, "the transform of its style is not applied");
  }
  const pugi::xml_attribute property = node.attribute(options_.property.c_str());
  if (!options_.property.empty() && property) {
    const absl::StatusOr<uint64_t> category = CategoryOfText(property.value(), Line(node));
    if (!category.ok()) return category.status();
    context.category = *category;
  }
  return absl::OkStatus();
}

// Draws a group; one with a name is a layer.
absl::Status SvgImport::Group(pugi::xml_node node, SvgContext context) {
  std::string name = node.attribute("inkscape:label").value();
  if (name.empty()) name = node.attribute("id").value();
  if (!name.empty()) {
    SvgGroup group;
    group.names.push_back(std::move(name));
    const std::vector<std::string>& outer = groups_[context.group].names;
    if (context.group != 0) group.names.insert(group.names.end(), outer.begin(), outer.end());
    context.group = groups_.size();
    groups_.push_back(std::move(group));
  }
  return Children(node, context);
}

// Draws a nested `svg`, or a `symbol`, in its viewport; `use` may give the size.
absl::Status SvgImport::Viewport(pugi::xml_node node, pugi::xml_node use, SvgContext context) {
  const Vec2 outer = context.viewport;
  std::array<double, 4> values{};  // x, y, width, height
  constexpr std::array<const char*, 4> kNames{"x", "y", "width", "height"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    const double whole = i % 2 == 0 ? outer.x : outer.y;
    // A `use` may state the size of the symbol.
    const bool is_given = i >= 2 && !use.attribute(kNames[i]).empty();
    const absl::StatusOr<double> value =
        Length(is_given ? use : node, kNames[i], i < 2 ? 0 : whole, whole);
    if (!value.ok()) return value.status();
    values[i] = *value;
  }
  const Vec2 size{values[2], values[3]};
  if (!(size.x > 0 && size.y > 0)) {
    SkipElement(node, context, "its viewport is empty");
    return absl::OkStatus();
  }
  context.place = context.place * Affine{{1, 0}, {0, 1}, {values[0], values[1]}};
  context.viewport = size;
  if (const std::optional<SvgBox> box = SvgViewBox(node.attribute("viewBox").value())) {
    context.place =
        context.place * ViewBoxMap(*box, size, node.attribute("preserveAspectRatio").value());
    context.viewport = {box->width, box->height};
  }
  return Children(node, context);
}

// Draws a copy of another element of the file, which may be in the definitions.
absl::Status SvgImport::Use(pugi::xml_node node, SvgContext context) {
  std::string_view reference = node.attribute("href").value();
  if (reference.empty()) reference = node.attribute("xlink:href").value();
  const auto found = reference.starts_with('#') ? ids_.find(reference.substr(1)) : ids_.end();
  if (found == ids_.end()) {
    SkipElement(node, context, "it refers to nothing in this file");
    return absl::OkStatus();
  }
  const absl::StatusOr<double> x = Length(node, "x", 0, context.viewport.x);
  if (!x.ok()) return x.status();
  const absl::StatusOr<double> y = Length(node, "y", 0, context.viewport.y);
  if (!y.ok()) return y.status();
  context.place = context.place * Affine{{1, 0}, {0, 1}, {*x, *y}};
  context.copied = true;
  const std::string_view name = SvgName(found->second);
  if (name != "symbol" && name != "svg") return Element(found->second, context);
  if (++context.depth > kMaxSvgDepth || ++copies_ > kMaxSvgCopies) {
    return InvalidField(Line(node), "`use` draws too many elements, or itself");
  }
  const absl::Status status = Inherit(found->second, context);
  return status.ok() ? Viewport(found->second, node, context) : status;
}

// Adds the polygon of a shape.
absl::Status SvgImport::Shape(pugi::xml_node node, const SvgContext& context) {
  if (!context.visible) {
    SkipElement(node, context, "it is not visible");
    return absl::OkStatus();
  }
  const LayerPlan& plan = Plan(context);
  if (plan.use == LayerUse::kSkip) return absl::OkStatus();
  const std::string_view name = SvgName(node);
  MapShape shape;
  const absl::Status status = name == "path"   ? Path(node, context, shape.rings)
                              : name == "rect" ? Rectangle(node, context, shape.rings)
                              : name == "circle" || name == "ellipse"
                                  ? Ellipse(node, context, shape.rings)
                                  : Points(node, context, shape.rings);
  if (!status.ok()) return At(node, status);
  if (shape.rings.empty()) {
    SkipElement(node, context, "it is empty");
    return absl::OkStatus();
  }
  shape.hollow = !context.fills || name == "line";  // a line has no inside
  for (RingSpec& ring : shape.rings) ring.open = ring.open && shape.hollow;
  shape.fill_rule = context.even_odd ? FillRule::kEvenOdd : FillRule::kNonZero;
  shape.category = context.category;
  shape.path = Line(node);
  return builder_.Add(plan, std::move(shape));
}

// Reads a path; its subpaths that no `Z` closes are open.
absl::Status SvgImport::Path(pugi::xml_node node, const SvgContext& context,
                             std::vector<RingSpec>& rings) {
  absl::StatusOr<std::vector<SvgSubpath>> subpaths =
      SvgPath(node.attribute("d").value(), context.place, options_.chord);
  if (!subpaths.ok()) return subpaths.status();
  for (SvgSubpath& subpath : *subpaths) {
    rings.push_back({std::move(subpath.points), !subpath.closed});
  }
  return absl::OkStatus();
}

// Begins at the upper left corner, or at the end of the arc that rounds it.
absl::Status SvgImport::Rectangle(pugi::xml_node node, const SvgContext& context,
                                  std::vector<RingSpec>& rings) {
  std::array<double, 6> v{};  // x, y, width, height, rx, ry
  constexpr std::array<const char*, 6> kNames{"x", "y", "width", "height", "rx", "ry"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    const double whole = i % 2 == 0 ? context.viewport.x : context.viewport.y;
    const absl::StatusOr<double> value = Length(node, kNames[i], i < 4 ? 0 : -1, whole);
    if (!value.ok()) return value.status();
    v[i] = *value;
  }
  const auto [x, y, width, height, given_rx, given_ry] = v;
  if (!(width > 0 && height > 0)) return absl::OkStatus();
  // A radius that is left out is the other one; none is greater than half of its side.
  const double rx = std::min(std::max(given_rx < 0 ? given_ry : given_rx, 0.0), width / 2);
  const double ry = std::min(std::max(given_ry < 0 ? given_rx : given_ry, 0.0), height / 2);
  std::vector<Vec2>& ring = rings.emplace_back().vertices;
  if (!(rx > 0 && ry > 0)) {
    for (const Vec2 corner :
         {Vec2{x, y}, Vec2{x + width, y}, Vec2{x + width, y + height}, Vec2{x, y + height}}) {
      ring.push_back(context.place(corner));
    }
    return absl::OkStatus();
  }
  // Each corner turns a quarter, from its half axis a to b; the ends are exact.
  const Vec2 across = context.place.Linear({rx, 0}), down = context.place.Linear({0, ry});
  const Vec2 back{-across.x, -across.y}, up{-down.x, -down.y};
  const double left = x + rx, right = 2 * rx == width ? left : x + width - rx;
  const double top = y + ry, bottom = 2 * ry == height ? top : y + height - ry;
  const std::array<Arc, 4> corners{Arc{context.place({left, top}), back, up},
                                   Arc{context.place({right, top}), up, across},
                                   Arc{context.place({right, bottom}), across, down},
                                   Arc{context.place({left, bottom}), down, back}};
  for (Arc corner : corners) {
    corner.to = std::numbers::pi / 2;
    const absl::Status status = AppendArc(corner, options_.chord, ring);
    if (!status.ok()) return status;
    ring.back() = {corner.center.x + corner.b.x, corner.center.y + corner.b.y};
  }
  // Corners meet at one point where no straight side is left between them.
  ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
  if (ring.front() == ring.back()) ring.pop_back();
  return absl::OkStatus();
}

// Reads a circle or an ellipse. A percentage of a radius of a circle is one of the diagonal.
absl::Status SvgImport::Ellipse(pugi::xml_node node, const SvgContext& context,
                                std::vector<RingSpec>& rings) {
  const Vec2 viewport = context.viewport;
  const double diagonal = std::hypot(viewport.x, viewport.y) / std::numbers::sqrt2;
  const bool is_circle = SvgName(node) == "circle";
  std::array<double, 4> v{};  // cx, cy, rx, ry
  const std::array<const char*, 4> names{"cx", "cy", is_circle ? "r" : "rx",
                                         is_circle ? "r" : "ry"};
  for (size_t i = 0; i < names.size(); ++i) {
    const double side = i % 2 == 0 ? viewport.x : viewport.y;
    const absl::StatusOr<double> value =
        Length(node, names[i], i < 2 ? 0 : -1, is_circle && i >= 2 ? diagonal : side);
    if (!value.ok()) return value.status();
    v[i] = *value;
  }
  // A radius that is left out is that of the other axis.
  const double rx = v[2] < 0 ? v[3] : v[2], ry = v[3] < 0 ? v[2] : v[3];
  if (!(rx > 0 && ry > 0)) return absl::OkStatus();
  absl::StatusOr<std::vector<Vec2>> ring =
      EllipseRing(context.place({v[0], v[1]}), context.place.Linear({rx, 0}),
                  context.place.Linear({0, ry}), options_.chord);
  if (!ring.ok()) return ring.status();
  rings.push_back({*std::move(ring), false});
  return absl::OkStatus();
}

// Reads a line, a polyline or a polygon.
absl::Status SvgImport::Points(pugi::xml_node node, const SvgContext& context,
                               std::vector<RingSpec>& rings) {
  const std::string_view name = SvgName(node);
  std::vector<double> numbers;
  if (name == "line") {
    for (const char* attribute : {"x1", "y1", "x2", "y2"}) {
      const double whole = attribute[0] == 'x' ? context.viewport.x : context.viewport.y;
      const absl::StatusOr<double> value = Length(node, attribute, 0, whole);
      if (!value.ok()) return value.status();
      numbers.push_back(*value);
    }
  } else {
    absl::StatusOr<std::vector<double>> read = SvgNumbers(node.attribute("points").value());
    if (!read.ok()) return InvalidField("", absl::StrCat("points: ", read.status().message()));
    if (read->size() % 2 != 0) return InvalidField("", "points: a number without its pair");
    numbers = *std::move(read);
  }
  if (numbers.size() < 4) return absl::OkStatus();
  RingSpec& ring = rings.emplace_back();
  ring.open = name != "polygon";
  for (size_t i = 0; i < numbers.size(); i += 2) {
    ring.vertices.push_back(context.place({numbers[i], numbers[i + 1]}));
  }
  return absl::OkStatus();
}

}  // namespace

// The prefix `svg` is the only one that programs write.
bool LooksLikeSvg(const Sniffed& file) { return file.root == "svg" || file.root == "svg:svg"; }

absl::StatusOr<ImportedMap> ImportSvg(std::string_view bytes, const ImportOptions& options,
                                      const FileOpener& /*open*/) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  return SvgImport(bytes, options).Import();
}

}  // namespace carom
