// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/shape.h"

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "numeric/box_distance.h"

namespace carom {
namespace {

constexpr const char* kCoordinateRange = "must be finite and at most 2^53 in magnitude";

}  // namespace

absl::Status CheckMovingVertices(size_t vertex_count, absl::string_view field) {
  if (vertex_count <= kMaxMovingVertices) return absl::OkStatus();
  return Refused(absl::StatusCode::kResourceExhausted, field,
                 absl::StrCat("must have at most ", kMaxMovingVertices,
                              " vertices (vertices a moving shape)"));
}

absl::StatusOr<Shape> Shape::Create(const Capsule& capsule) {
  Refusal refusal;
  const auto check = [&](const char* field, double value) {
    if (!IsAccepted(value)) refusal.Add(field, kCoordinateRange);
  };
  check("ax", capsule.axis.a.x);
  check("ay", capsule.axis.a.y);
  check("bx", capsule.axis.b.x);
  check("by", capsule.axis.b.y);
  if (!IsAccepted(capsule.radius) || capsule.radius < 0) {
    refusal.Add("radius", "must be in [0, 2^53]");
  }
  if (!refusal.empty()) return refusal.status();
  return Shape(Capsule{{Normalized(capsule.axis.a), Normalized(capsule.axis.b)},
                       Normalized(capsule.radius)});
}

// The box of a capsule is the box of its axis, grown by the radius and rounded outward.
Box Shape::bounds() const {
  if (polygon()) return polygon()->bounds();
  return internal::Grown(BoundsOf(capsule()->axis), capsule()->radius);
}

absl::StatusOr<Shape> Placed(const Shape& shape, const Pose& pose) {
  std::optional<Shape> placed;
  if (PlaceInto(shape, pose, placed)) return *std::move(placed);
  return InvalidField("pose", "must place every vertex within the accepted range");
}

// Reuses the memory of the polygon in `placed`, if there is one. A capsule has no memory to reuse.
// Its axis is placed and its radius stays unchanged, although an accepted rotation may stretch
// lengths a little. If `placed` holds `shape` itself, `shape` is copied first.
bool PlaceInto(const Shape& shape, const Pose& pose, std::optional<Shape>& placed) {
  if (placed && &*placed == &shape) return PlaceInto(Shape(shape), pose, placed);
  if (shape.polygon()) {
    std::optional<Polygon> polygon;
    if (placed && placed->polygon()) {
      polygon = std::move(std::get<Polygon>(placed->value_));
    }
    placed.reset();
    if (PlaceInto(*shape.polygon(), pose, polygon)) placed = Shape(*std::move(polygon));
    return placed.has_value();
  }
  placed.reset();
  const Capsule& capsule = *shape.capsule();
  const Segment axis{Placed(pose, capsule.axis.a), Placed(pose, capsule.axis.b)};
  if (!IsAccepted(axis.a) || !IsAccepted(axis.b)) return false;
  placed = Shape(Capsule{axis, capsule.radius});
  return true;
}

}  // namespace carom
