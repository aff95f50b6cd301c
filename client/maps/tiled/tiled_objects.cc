// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <utility>

#include "carom/status.h"
#include "client/maps/tiled/tiled_map.h"

namespace carom {
namespace {

// The greatest id of an object; Tiled counts them in 31 bits.
constexpr int64_t kMaxObjectId = int64_t{1} << 53;

// The element or member that marks each form; an object without one is a rectangle.
struct MarkedForm {
  const char* mark;
  TiledForm form;
};
constexpr MarkedForm kMarkedForms[] = {
    {"ellipse", TiledForm::kEllipse}, {"capsule", TiledForm::kCapsule},
    {"polygon", TiledForm::kPolygon}, {"polyline", TiledForm::kPolyline},
    {"point", TiledForm::kPoint},     {"text", TiledForm::kText},
};

// Reads the form of an object, and its points if it has any.
absl::Status ReadForm(const TiledNode& node, TiledObject& object) {
  for (const auto& [mark, form] : kMarkedForms) {
    if (!node.IsMarked(mark)) continue;
    object.form = form;
    object.points.clear();
    if (form != TiledForm::kPolygon && form != TiledForm::kPolyline) return absl::OkStatus();
    absl::StatusOr<std::vector<Vec2>> points = node.Points(mark);
    if (!points.ok()) return points.status();
    if (points->empty()) return node.Error(mark, "must have points");
    object.points = *std::move(points);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Reads the place, size and rotation; what is absent stays as the template has it.
absl::Status ReadNumbers(const TiledNode& node, TiledObject& object) {
  const std::pair<const char*, double*> numbers[] = {{"x", &object.x},
                                                     {"y", &object.y},
                                                     {"width", &object.width},
                                                     {"height", &object.height},
                                                     {"rotation", &object.rotation}};
  for (const auto& [name, number] : numbers) {
    const absl::StatusOr<double> value = node.Number(name, *number);
    if (!value.ok()) return value.status();
    *number = *value;
  }
  return absl::OkStatus();
}

// Reads the number of a tile object's tile. A size of 0 stands for that of the tile, as in Tiled.
absl::Status ReadTileOfObject(const TiledNode& node, const TiledTilesets& tilesets,
                              TiledObject& object) {
  const absl::StatusOr<int64_t> number = node.Integer("gid", 0, {0, 0xFFFFFFFF});
  if (!number.ok()) return number.status();
  if (*number != 0) object.tile = TileOf(tilesets, static_cast<uint32_t>(*number));
  if (!object.tile || object.tile->set == nullptr) return absl::OkStatus();
  const Vec2 size = object.tile->set->SizeOf(object.tile->id);
  if (object.width == 0) object.width = size.x;
  if (object.height == 0) object.height = size.y;
  return absl::OkStatus();
}

// The points of an object from its position, before the projection and rotation. Arcs go around
// centers that are given by half the size.
std::vector<Vec2> RectanglePoints(const TiledObject& object) {
  return {{0, 0}, {object.width, 0}, {object.width, object.height}, {0, object.height}};
}

// Returns a capsule: a rectangle whose shorter sides are half circles.
absl::StatusOr<std::vector<Vec2>> CapsulePoints(const TiledObject& object, double chord) {
  const Vec2 half{object.width / 2, object.height / 2};
  const double radius = std::min(std::abs(half.x), std::abs(half.y));
  const absl::StatusOr<std::vector<Vec2>> circle =
      EllipseRing({0, 0}, {radius, 0}, {0, radius}, chord);
  if (!circle.ok()) return circle.status();
  // Half of the circle is around the center + shift, the other half around the center - shift.
  const bool is_upright = std::abs(half.y) > std::abs(half.x);
  const Vec2 shift =
      is_upright ? Vec2{0, std::abs(half.y) - radius} : Vec2{std::abs(half.x) - radius, 0};
  const size_t quarter = circle->size() / 4;
  // The first half is the lower one (angles 0 to 180) or the right one (angles -90 to 90).
  const size_t first = is_upright ? 0 : 3 * quarter;
  std::vector<Vec2> points;
  points.reserve(circle->size() + 2);
  for (size_t i = 0; i <= 4 * quarter; ++i) {
    const Vec2 p = (*circle)[(first + i) % circle->size()];
    if (i <= 2 * quarter) points.push_back({half.x + p.x + shift.x, half.y + p.y + shift.y});
    const bool repeats = shift == Vec2{0, 0} && (i == 2 * quarter || i == 4 * quarter);
    if (i >= 2 * quarter && !repeats) {
      points.push_back({half.x + p.x - shift.x, half.y + p.y - shift.y});
    }
  }
  return points;
}

}  // namespace

// The id of a template's object is not that of its instances.
absl::StatusOr<std::optional<TiledObject>> ReadTiledObject(const TiledNode& node,
                                                           const TiledTilesets& tilesets,
                                                           TiledFiles& files) {
  TiledObject object;
  const absl::StatusOr<std::string> source = node.Text("template");
  if (!source.ok()) return source.status();
  if (!source->empty()) {
    const absl::StatusOr<const TiledObject*> base =
        files.Template(TiledPath(node.document().file(), *source));
    if (!base.ok()) return base.status();
    if (*base == nullptr) return std::nullopt;
    object = **base;
  }
  object.where = node.where();
  const absl::StatusOr<int64_t> id = node.Integer("id", -1, {0, kMaxObjectId});
  if (!id.ok()) return id.status();
  object.id = std::nullopt;
  if (*id > 0) object.id = static_cast<uint64_t>(*id);
  absl::Status status = ReadNumbers(node, object);
  if (status.ok()) status = ReadForm(node, object);
  if (status.ok()) status = ReadTileOfObject(node, tilesets, object);
  if (!status.ok()) return status;
  const auto category = node.Category(files.builder().options().property);
  if (!category.ok()) return category.status();
  if (*category) object.category = *category;
  return object;
}

// Column and row are p.x / cell->y and p.y / cell->y. Multiplies before it divides, so that corners
// of cells are exact.
Vec2 TiledProjection::operator()(Vec2 p) const {
  if (!cell) return p;
  return {(p.x - p.y) * cell->x / (2 * cell->y) + origin_x, (p.x + p.y) / 2};
}

// Points are projected first, then turned about the projected position, as Tiled draws them.
absl::Status AppendTiledRings(const TiledObject& object, const TiledProjection& projection,
                              double chord, std::vector<RingSpec>& rings) {
  std::vector<Vec2> points;
  absl::StatusOr<std::vector<Vec2>> curve = points;
  // A projected circle is an ellipse; no length grows by more than the greater of these factors.
  const double stretch =
      projection.cell ? std::max(1.0, projection.cell->x / projection.cell->y) : 1.0;
  const Vec2 half{object.width / 2, object.height / 2};
  switch (object.form) {
    case TiledForm::kRectangle:
      points = RectanglePoints(object);
      break;
    case TiledForm::kEllipse:
      curve = EllipseRing(half, {half.x, 0}, {0, half.y}, chord / stretch);
      break;
    case TiledForm::kCapsule:
      curve = CapsulePoints(object, chord / stretch);
      break;
    case TiledForm::kPolygon:
    case TiledForm::kPolyline:
      points = object.points;
      break;
    case TiledForm::kPoint:
    case TiledForm::kText:
      return absl::OkStatus();
  }
  if (!curve.ok()) return InvalidField(object.where, curve.status().message());
  if (points.empty()) points = *std::move(curve);
  const Vec2 anchor = projection({object.x, object.y});
  const Affine turn = TurnDegrees(object.rotation);
  for (Vec2& point : points) {
    point = projection({object.x + point.x, object.y + point.y});
    if (object.rotation == 0) continue;
    const Vec2 turned = turn.Linear({point.x - anchor.x, point.y - anchor.y});
    point = {anchor.x + turned.x, anchor.y + turned.y};
  }
  rings.push_back({std::move(points), object.form == TiledForm::kPolyline});
  return absl::OkStatus();
}

}  // namespace carom
