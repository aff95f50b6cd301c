// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes polygons, shapes, edits and scenes.

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "wire/columns.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/parts.h"

namespace carom::wire {
namespace {

// Returns the ring of a message whose `x` and `y` have equal length.
RingSpec DecodeRing(const v1::Ring& message) {
  RingSpec ring;
  ring.open = message.open();
  ring.vertices.resize(static_cast<size_t>(message.x_size()));
  const double* x = message.x().data();
  const double* y = message.y().data();
  for (size_t i = 0; i < ring.vertices.size(); ++i) ring.vertices[i] = {x[i], y[i]};
  return ring;
}

// Writes the vertices of a ring as two columns.
void EncodeRing(std::span<const Vec2> vertices, bool open, v1::Ring& ring) {
  // `Polygon::Create` drops one vertex at the end of a ring that equals the first. If the last
  // vertex still equals the first, writes the first vertex once more at the end, so that decoding,
  // which drops one, restores the ring.
  const bool closes = !open && vertices.size() >= 2 && vertices.front() == vertices.back();
  const size_t count = vertices.size() + (closes ? 1 : 0);
  double* x = Cells(ring.mutable_x(), count);
  double* y = Cells(ring.mutable_y(), count);
  for (size_t i = 0; i < vertices.size(); ++i) {
    x[i] = vertices[i].x;
    y[i] = vertices[i].y;
  }
  if (closes) {
    x[count - 1] = vertices.front().x;
    y[count - 1] = vertices.front().y;
  }
  ring.set_open(open);
}

// Returns the edit of a scene that a message describes. If the polygon of the edit is invalid,
// returns its violations, with field paths that begin with `add` or `replace`.
absl::StatusOr<SceneEdit> DecodeEdit(const v1::Edit& message, const PolygonLimits& limits) {
  ViolationList violation_list;
  switch (message.edit_case()) {
    case v1::Edit::kAdd: {
      absl::StatusOr<Polygon> polygon = DecodePolygon(message.add(), limits);
      if (polygon.ok()) return AddPolygon{*std::move(polygon)};
      violation_list.AddPart("add", polygon.status());
      break;
    }
    case v1::Edit::kReplace: {
      absl::StatusOr<Polygon> polygon = DecodePolygon(message.replace(), limits);
      if (polygon.ok()) return ReplacePolygon{*std::move(polygon)};
      violation_list.AddPart("replace", polygon.status());
      break;
    }
    case v1::Edit::kRemove:
      return RemovePolygon{message.remove()};
    case v1::Edit::EDIT_NOT_SET:
      violation_list.Add("", "must have one of add, replace and remove");
      break;
  }
  return violation_list.status();
}

}  // namespace

absl::StatusOr<PolygonSpec> DecodeSpec(const v1::Polygon& message) {
  ViolationList violation_list;
  PolygonSpec spec;
  spec.id = message.id();
  ReadEnum(message.fill_rule(), "", "fill_rule", spec.fill_rule, violation_list);
  ReadEnum(message.solidity(), "", "solidity", spec.solidity, violation_list);
  if (message.has_category()) spec.category = message.category();
  spec.user_data = message.user_data();
  spec.rings.reserve(static_cast<size_t>(message.rings_size()));
  for (int i = 0; i < message.rings_size(); ++i) {
    const v1::Ring& ring = message.rings(i);
    if (ring.x_size() != ring.y_size()) {
      violation_list.Add(absl::StrCat("rings[", i, "].y"), "must be as many as x");
    } else if (violation_list.empty()) {
      spec.rings.push_back(DecodeRing(ring));
    }
  }
  if (!violation_list.empty()) return violation_list.status();
  return spec;
}

absl::StatusOr<Polygon> DecodePolygon(const v1::Polygon& message, const PolygonLimits& limits) {
  absl::StatusOr<PolygonSpec> spec = DecodeSpec(message);
  if (!spec.ok()) return spec.status();
  return Polygon::Create(*std::move(spec), limits);
}

absl::Status DecodePolygons(const RepeatedPtrField<v1::Polygon>& messages, absl::string_view path,
                            size_t first_index, const PolygonLimits& limits,
                            std::vector<Polygon>& out) {
  const size_t size = out.size();
  ViolationList violation_list;
  const auto decode = [&](const v1::Polygon& message) { return DecodePolygon(message, limits); };
  DecodeEach(messages, ListPath{path, "", first_index}, decode, out, violation_list);
  if (violation_list.empty()) return absl::OkStatus();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(size), out.end());
  return violation_list.status();
}

absl::StatusOr<Shape> DecodeShape(const v1::Shape& message) {
  ViolationList violation_list;
  switch (message.kind_case()) {
    case v1::Shape::kPolygon: {
      absl::StatusOr<Polygon> polygon = DecodeMovingPolygon(message.polygon());
      if (polygon.ok()) return Shape(*std::move(polygon));
      violation_list.AddPart("polygon", polygon.status());
      break;
    }
    case v1::Shape::kCapsule: {
      const v1::Capsule& capsule = message.capsule();
      absl::StatusOr<Shape> shape = Shape::Create(
          {{{capsule.ax(), capsule.ay()}, {capsule.bx(), capsule.by()}}, capsule.radius()});
      if (shape.ok()) return shape;
      violation_list.AddPart("capsule", shape.status());
      break;
    }
    case v1::Shape::KIND_NOT_SET:
      violation_list.Add("", "must have one of polygon and capsule");
      break;
  }
  return violation_list.status();
}

absl::StatusOr<std::vector<SceneEdit>> DecodeEdits(const RepeatedPtrField<v1::Edit>& messages,
                                                   const PolygonLimits& limits) {
  ViolationList violation_list;
  std::vector<SceneEdit> edits;
  const auto decode = [&](const v1::Edit& message) { return DecodeEdit(message, limits); };
  DecodeEach(messages, ListPath{"", "edits"}, decode, edits, violation_list);
  if (!violation_list.empty()) return violation_list.status();
  return edits;
}

// Writes all members of a polygon but its rings. Omits the category if it is 1, since an absent
// category means 1, too.
void EncodeHead(const Polygon& polygon, v1::Polygon& message) {
  message.set_id(polygon.id());
  message.set_fill_rule(static_cast<v1::FillRule>(EnumToWire(polygon.fill_rule())));
  message.set_solidity(static_cast<v1::Solidity>(EnumToWire(polygon.solidity())));
  if (polygon.category() != 1) message.set_category(polygon.category());
  message.set_user_data(polygon.user_data());
}

// Writes the polygon. The written rings do not end with a copy of their first vertex, because
// `Polygon::Create` has dropped such a copy; for a ring that ended with two copies, see
// `EncodeRing`.
void EncodePolygon(const Polygon& polygon, v1::Polygon& message) {
  message.Clear();
  EncodeHead(polygon, message);
  for (size_t i = 0; i < polygon.ring_count(); ++i) {
    EncodeRing(polygon.ring(i), polygon.is_open(i), *message.add_rings());
  }
}

// Writes the shape as a polygon or as a capsule.
void EncodeShape(const Shape& shape, v1::Shape& message) {
  if (shape.polygon() != nullptr)
    return EncodePolygon(*shape.polygon(), *message.mutable_polygon());
  const Capsule& from = *shape.capsule();
  v1::Capsule& capsule = *message.mutable_capsule();
  capsule.set_ax(from.axis.a.x);
  capsule.set_ay(from.axis.a.y);
  capsule.set_bx(from.axis.b.x);
  capsule.set_by(from.axis.b.y);
  capsule.set_radius(from.radius);
}

// Writes an edit of a scene: an added polygon, a polygon that replaces another, or the id of a
// removed polygon.
void EncodeEdit(const SceneEdit& edit, v1::Edit& message) {
  if (const auto* add = std::get_if<AddPolygon>(&edit)) {
    EncodePolygon(add->polygon, *message.mutable_add());
  } else if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) {
    EncodePolygon(replace->polygon, *message.mutable_replace());
  } else {
    message.set_remove(std::get<RemovePolygon>(edit).id);
  }
}

void EncodeBounds(const Box& bounds, v1::Bounds& message) {
  message.set_min_x(bounds.min.x);
  message.set_min_y(bounds.min.y);
  message.set_max_x(bounds.max.x);
  message.set_max_y(bounds.max.y);
}

void EncodeScene(absl::string_view name, const Scene& scene, v1::Scene& message) {
  message.Clear();
  message.set_name(name.data(), name.size());
  message.set_version(scene.version());
  message.set_polygon_count(scene.polygon_count());
  message.set_vertex_count(scene.vertex_count());
  if (!scene.bounds().empty()) EncodeBounds(scene.bounds(), *message.mutable_bounds());
}

}  // namespace carom::wire
