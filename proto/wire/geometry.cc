// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Polygons, shapes, edits and scenes, both ways.

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

// The ring with `x` and `y` of equal length.
RingSpec DecodeRing(const v1::Ring& message) {
  RingSpec ring;
  ring.open = message.open();
  ring.vertices.resize(static_cast<size_t>(message.x_size()));
  const double* x = message.x().data();
  const double* y = message.y().data();
  for (size_t i = 0; i < ring.vertices.size(); ++i) ring.vertices[i] = {x[i], y[i]};
  return ring;
}

// Two columns of the same length.
void EncodeRing(std::span<const Vec2> vertices, bool open, v1::Ring& ring) {
  // `Polygon::Create` drops one closing duplicate: a ring that still ends where it starts needs
  // another one to arrive the same.
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

// An edit, or what is wrong with the polygon below its member.
absl::StatusOr<SceneEdit> DecodeEdit(const v1::Edit& message, const PolygonLimits& limits) {
  Offences offences;
  switch (message.edit_case()) {
    case v1::Edit::kAdd: {
      absl::StatusOr<Polygon> polygon = DecodePolygon(message.add(), limits);
      if (polygon.ok()) return AddPolygon{*std::move(polygon)};
      offences.AddPart("add", polygon.status());
      break;
    }
    case v1::Edit::kReplace: {
      absl::StatusOr<Polygon> polygon = DecodePolygon(message.replace(), limits);
      if (polygon.ok()) return ReplacePolygon{*std::move(polygon)};
      offences.AddPart("replace", polygon.status());
      break;
    }
    case v1::Edit::kRemove:
      return RemovePolygon{message.remove()};
    case v1::Edit::EDIT_NOT_SET:
      offences.Add("", "must have one of add, replace and remove");
      break;
  }
  return offences.status();
}

}  // namespace

absl::StatusOr<PolygonSpec> DecodeSpec(const v1::Polygon& message) {
  Offences offences;
  PolygonSpec spec;
  spec.id = message.id();
  ReadEnum(message.fill_rule(), "", "fill_rule", spec.fill_rule, offences);
  ReadEnum(message.solidity(), "", "solidity", spec.solidity, offences);
  if (message.has_category()) spec.category = message.category();
  spec.user_data = message.user_data();
  spec.rings.reserve(static_cast<size_t>(message.rings_size()));
  for (int i = 0; i < message.rings_size(); ++i) {
    const v1::Ring& ring = message.rings(i);
    if (ring.x_size() != ring.y_size()) {
      offences.Add(absl::StrCat("rings[", i, "].y"), "must be as many as x");
    } else if (offences.empty()) {
      spec.rings.push_back(DecodeRing(ring));
    }
  }
  if (!offences.empty()) return offences.status();
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
  Offences offences;
  const auto decode = [&](const v1::Polygon& message) { return DecodePolygon(message, limits); };
  DecodeEach(messages, ListPath{path, "", first_index}, decode, out, offences);
  if (offences.empty()) return absl::OkStatus();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(size), out.end());
  return offences.status();
}

absl::StatusOr<Shape> DecodeShape(const v1::Shape& message) {
  Offences offences;
  switch (message.kind_case()) {
    case v1::Shape::kPolygon: {
      absl::StatusOr<Polygon> polygon = DecodeMovingPolygon(message.polygon());
      if (polygon.ok()) return Shape(*std::move(polygon));
      offences.AddPart("polygon", polygon.status());
      break;
    }
    case v1::Shape::kCapsule: {
      const v1::Capsule& capsule = message.capsule();
      absl::StatusOr<Shape> shape = Shape::Create(
          {{{capsule.ax(), capsule.ay()}, {capsule.bx(), capsule.by()}}, capsule.radius()});
      if (shape.ok()) return shape;
      offences.AddPart("capsule", shape.status());
      break;
    }
    case v1::Shape::KIND_NOT_SET:
      offences.Add("", "must have one of polygon and capsule");
      break;
  }
  return offences.status();
}

absl::StatusOr<std::vector<SceneEdit>> DecodeEdits(const RepeatedPtrField<v1::Edit>& messages,
                                                   const PolygonLimits& limits) {
  Offences offences;
  std::vector<SceneEdit> edits;
  const auto decode = [&](const v1::Edit& message) { return DecodeEdit(message, limits); };
  DecodeEach(messages, ListPath{"", "edits"}, decode, edits, offences);
  if (!offences.empty()) return offences.status();
  return edits;
}

// All but the rings. The default category is left absent, which says the same.
void EncodeHead(const Polygon& polygon, v1::Polygon& message) {
  message.set_id(polygon.id());
  message.set_fill_rule(static_cast<v1::FillRule>(EnumToWire(polygon.fill_rule())));
  message.set_solidity(static_cast<v1::Solidity>(EnumToWire(polygon.solidity())));
  if (polygon.category() != 1) message.set_category(polygon.category());
  message.set_user_data(polygon.user_data());
}

// Rings as the polygon keeps them: a closing duplicate that was dropped does not come back.
void EncodePolygon(const Polygon& polygon, v1::Polygon& message) {
  message.Clear();
  EncodeHead(polygon, message);
  for (size_t i = 0; i < polygon.ring_count(); ++i) {
    EncodeRing(polygon.ring(i), polygon.is_open(i), *message.add_rings());
  }
}

// One of the two members, whichever the shape is.
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

// A removal goes by the id alone.
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
