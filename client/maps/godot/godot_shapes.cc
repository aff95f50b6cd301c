// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/godot/godot_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/sincos.h"
#include "carom/status.h"

namespace carom {
namespace {

// Reads the properties of one resource; the first that has the wrong type is the error.
class GodotReader {
 public:
  explicit GodotReader(const GodotResource& resource) : resource_(resource) {}

  // Each of these returns `absent`, or nothing, where the resource does not have the property.
  double Number(std::string_view name, double absent) {
    const GodotProperty* property = resource_.section->properties.Find(name);
    if (property == nullptr) return absent;
    const std::optional<double> number = property->value.AsNumber();
    if (!number || !IsAccepted(*number)) Fail(*property, "must be a number");
    return number.value_or(absent);
  }
  Vec2 Vector(std::string_view name, Vec2 absent) {
    const GodotProperty* property = resource_.section->properties.Find(name);
    if (property == nullptr) return absent;
    const std::optional<Vec2> vector = property->value.AsVector2();
    if (!vector || !IsAccepted(*vector)) Fail(*property, "must be a Vector2");
    return vector.value_or(absent);
  }
  std::vector<Vec2> Points(std::string_view name) {
    const GodotProperty* property = resource_.section->properties.Find(name);
    if (property == nullptr) return {};
    std::optional<std::vector<Vec2>> points = property->value.AsPoints();
    if (!points) Fail(*property, "must be a PackedVector2Array");
    return points ? *std::move(points) : std::vector<Vec2>();
  }
  const absl::Status& status() const { return status_; }

 private:
  void Fail(const GodotProperty& property, std::string_view what) {
    if (!status_.ok()) return;
    status_ = InvalidField(resource_.file->Line(property.line),
                           absl::StrCat(property.name, " ", AbslView(what)));
  }

  const GodotResource& resource_;
  absl::Status status_ = absl::OkStatus();
};

// Returns the placed points as a ring or an open chain.
RingSpec PlacedRing(const Affine& place, std::vector<Vec2> points, bool open) {
  for (Vec2& point : points) point = place(point);
  return {std::move(points), open};
}

// Returns a capsule about the y axis: two half circles of the radius, and the sides between them.
absl::StatusOr<RingSpec> CapsuleRing(double radius, double height, const Affine& place,
                                     double chord) {
  // Half of the distance between the centres of the ends.
  const double half = height / 2 - radius;
  const Vec2 across = place.Linear({radius, 0}), along = place.Linear({0, radius});
  RingSpec ring;
  if (!(half > 0)) {
    absl::StatusOr<std::vector<Vec2>> circle = EllipseRing(place.origin, across, along, chord);
    if (!circle.ok()) return circle.status();
    ring.vertices = *std::move(circle);
    return ring;
  }
  // The ends of the half circles are exact.
  const Vec2 back{-across.x, -across.y}, up{-along.x, -along.y};
  const std::array<Arc, 2> ends{Arc{place({0, half}), across, along},
                                Arc{place({0, -half}), back, up}};
  for (Arc end : ends) {
    end.to = std::numbers::pi;
    const absl::Status status = AppendArc(end, chord, ring.vertices);
    if (!status.ok()) return status;
    ring.vertices.back() = {end.center.x - end.a.x, end.center.y - end.a.y};
  }
  return ring;
}

// Joins the segments, pairs of points, where one begins at the end of the one before. A chain that
// ends where it began is a closed ring.
std::vector<RingSpec> JoinedSegments(const std::vector<Vec2>& points, const Affine& place) {
  std::vector<RingSpec> rings;
  for (size_t i = 0; i + 1 < points.size(); i += 2) {
    const Vec2 from = place(points[i]), to = place(points[i + 1]);
    if (rings.empty() || !(rings.back().vertices.back() == from)) {
      rings.push_back({{from}, true});
    }
    rings.back().vertices.push_back(to);
  }
  // A ring of three edges or more; two edges there and back stay a chain.
  for (RingSpec& ring : rings) {
    if (ring.vertices.size() < 4 || !(ring.vertices.front() == ring.vertices.back())) continue;
    ring.vertices.pop_back();
    ring.open = false;
  }
  return rings;
}

// Reads a circle, or a capsule, whose height includes its round ends.
absl::StatusOr<GodotShape> RoundShape(GodotReader& reader, bool is_capsule, const Affine& place,
                                      double chord) {
  GodotShape shape;
  const double radius = reader.Number("radius", 10);
  const double height = is_capsule ? reader.Number("height", 30) : 0;
  if (!reader.status().ok()) return reader.status();
  if (!(radius > 0)) {
    shape.skipped = "its radius is not above 0";
    return shape;
  }
  absl::StatusOr<RingSpec> ring = CapsuleRing(radius, height, place, chord);
  if (!ring.ok()) return ring.status();
  shape.rings.push_back(*std::move(ring));
  return shape;
}

// Reads the shapes that have corners.
GodotShape AngularShape(GodotReader& reader, const std::string& type, const Affine& place) {
  GodotShape shape;
  if (type == "RectangleShape2D") {
    const Vec2 size = reader.Vector("size", {20, 20});
    const double x = size.x / 2, y = size.y / 2;
    shape.rings.push_back(PlacedRing(place, {{-x, -y}, {x, -y}, {x, y}, {-x, y}}, false));
  } else if (type == "ConvexPolygonShape2D") {
    std::vector<Vec2> points = reader.Points("points");
    if (!points.empty()) shape.rings.push_back(PlacedRing(place, std::move(points), false));
  } else if (type == "ConcavePolygonShape2D") {
    shape.rings = JoinedSegments(reader.Points("segments"), place);
    shape.hollow = true;
  } else if (type == "SegmentShape2D") {
    const Vec2 a = reader.Vector("a", {0, 0}), b = reader.Vector("b", {0, 10});
    shape.rings.push_back(PlacedRing(place, {a, b}, true));
    shape.hollow = true;
  } else if (type == "SeparationRayShape2D") {
    shape.rings.push_back(PlacedRing(place, {{0, 0}, {0, reader.Number("length", 20)}}, true));
    shape.hollow = true;
  } else if (type == "WorldBoundaryShape2D") {
    shape.skipped = "a world boundary has no end";
  } else {
    shape.skipped = absl::StrCat("the type ", type.substr(0, 40), " is not known");
  }
  if (shape.rings.empty() && shape.skipped.empty()) shape.skipped = "it has no points";
  return shape;
}

// Reads an optional property of a node with `read`, such as `&GodotValue::AsNumber`.
template <typename Value>
absl::Status ReadNodeProperty(const GodotNode& node, std::string_view name,
                              std::optional<Value> (GodotValue::*read)() const, Value& out) {
  const std::optional<GodotNodeProperty> found = node.Find(name);
  if (!found) return absl::OkStatus();
  const std::optional<Value> value = (found->value().*read)();
  if (!value) {
    return InvalidField(found->file->Line(found->property->line),
                        absl::StrCat(AbslView(name), " has the wrong type"));
  }
  out = *value;
  return absl::OkStatus();
}

}  // namespace

// Errors of a curve are those of the section; others name the line of the property.
absl::StatusOr<GodotShape> GodotShapeOf(const GodotResource& resource, const Affine& place,
                                        double chord) {
  GodotReader reader(resource);
  const std::string type = resource.Type();
  if (type == "CircleShape2D" || type == "CapsuleShape2D") {
    absl::StatusOr<GodotShape> shape = RoundShape(reader, type == "CapsuleShape2D", place, chord);
    if (shape.ok() || !reader.status().ok()) return shape;
    return InvalidField(resource.file->Line(resource.section->line), shape.status().message());
  }
  GodotShape shape = AngularShape(reader, type, place);
  if (!reader.status().ok()) return reader.status();
  return shape;
}

// The x axis is turned by the rotation, the y axis by the rotation and the skew; then both are
// scaled. Controls have offsets in place of a position, and turn about a pivot.
absl::StatusOr<Affine> GodotPlace(const GodotNode& node) {
  // Six numbers: the x axis, the y axis, the origin.
  if (const std::optional<GodotNodeProperty> transform = node.Find("transform")) {
    const GodotValue& value = transform->value();
    if (value.is_call("Transform2D") && value.numbers.size() == 6) {
      const std::vector<double>& n = value.numbers;
      return Affine{{n[0], n[1]}, {n[2], n[3]}, {n[4], n[5]}};
    }
  }
  Vec2 position, scale{1, 1}, pivot;
  double rotation = 0, skew = 0;
  absl::Status status = ReadNodeProperty(node, "position", &GodotValue::AsVector2, position);
  status.Update(ReadNodeProperty(node, "offset_left", &GodotValue::AsNumber, position.x));
  status.Update(ReadNodeProperty(node, "offset_top", &GodotValue::AsNumber, position.y));
  status.Update(ReadNodeProperty(node, "pivot_offset", &GodotValue::AsVector2, pivot));
  status.Update(ReadNodeProperty(node, "scale", &GodotValue::AsVector2, scale));
  status.Update(ReadNodeProperty(node, "rotation", &GodotValue::AsNumber, rotation));
  status.Update(ReadNodeProperty(node, "skew", &GodotValue::AsNumber, skew));
  if (!status.ok()) return status;
  if (!(std::abs(rotation) <= kMaxAngle / 2 && std::abs(skew) <= kMaxAngle / 2)) {
    return InvalidField(node.Line(), "an angle that is no number, or above 2^19");
  }
  const CosSin x = SinCos(rotation), y = SinCos(rotation + skew);
  Affine place{{x.c * scale.x, x.s * scale.x}, {-y.s * scale.y, y.c * scale.y}, position};
  const Vec2 turned = place.Linear(pivot);
  place.origin = {position.x + pivot.x - turned.x, position.y + pivot.y - turned.y};
  return place;
}

// Lists the types that are no CanvasItem: a type of a plugin is taken for one.
bool IsGodotCanvasItem(const GodotNode& node) {
  constexpr std::array<std::string_view, 17> kOther{"Node",
                                                    "CanvasLayer",
                                                    "ParallaxBackground",
                                                    "Timer",
                                                    "AnimationPlayer",
                                                    "AnimationTree",
                                                    "AudioStreamPlayer",
                                                    "HTTPRequest",
                                                    "Window",
                                                    "Viewport",
                                                    "SubViewport",
                                                    "NavigationAgent2D",
                                                    "WorldEnvironment",
                                                    "ResourcePreloader",
                                                    "MultiplayerSpawner",
                                                    "MultiplayerSynchronizer",
                                                    "InstancePlaceholder"};
  return std::find(kOther.begin(), kOther.end(), node.type) == kOther.end() &&
         !node.type.ends_with("3D");
}

}  // namespace carom
