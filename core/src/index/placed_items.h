// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Checks the shape and the pose of an item of a batch of moving shapes, and places the shape.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/sincos.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"
#include "index/scene_traversal.h"

namespace carom::internal {

// The columns of a batch that give rotations, by cosine and sine (c, s) or by angle, each column
// empty or as long as the batch; and the names under which errors report a column.
struct RotationColumns {
  std::span<const double> c, s, angle;
  ItemColumn c_name = ItemColumn::kC;
  ItemColumn angle_name = ItemColumn::kAngle;
};

// Returns whether the angle of item i is accepted, and records an error if not. The column `angle`
// must not be empty.
inline bool CheckAngle(const RotationColumns& columns, size_t i, ItemChecker& check) {
  // The comparison is also false for NaN.
  return std::abs(columns.angle[i]) <= kMaxAngle ||
         check.Fail(columns.angle_name, ItemFault::kAngleOutOfRange);
}

// Sets the rotation of `pose` to that of item i: from the angle if the columns have angles, else
// from c and s if the columns have these; else leaves the rotation of `pose` unchanged. Returns
// false and records an error if the angle is too large, or if c and s are not a rotation.
inline bool ReadRotation(const RotationColumns& columns, size_t i, ItemChecker& check, Pose& pose) {
  if (!columns.angle.empty()) {
    if (!CheckAngle(columns, i, check)) return false;
    const CosSin rotation = SinCos(columns.angle[i]);
    pose.c = rotation.c;
    pose.s = rotation.s;
  } else if (!columns.c.empty()) {
    if (!IsRotation(columns.c[i], columns.s[i])) {
      return check.Fail(columns.c_name, ItemFault::kNotARotation);
    }
    pose.c = columns.c[i];
    pose.s = columns.s[i];
  }
  return true;
}

// Whether `ReadPose` computes the rotation of an angle (kNow), or only checks the angle (kLater).
enum class Turning : uint8_t { kNow, kLater };

// Sets `pose` to the pose of item i from the columns x, y, c, s and angle. Returns false and
// records an error if a coordinate is not accepted, or the rotation is invalid.
template <class Columns>
bool ReadPose(const Columns& columns, size_t i, ItemChecker& check, Pose& pose,
              Turning turning = Turning::kNow) {
  if (!check.Coordinate(ItemColumn::kX, columns.x[i]) ||
      !check.Coordinate(ItemColumn::kY, columns.y[i])) {
    return false;
  }
  pose = {Normalized(Vec2{columns.x[i], columns.y[i]})};
  const RotationColumns rotations{columns.c, columns.s, columns.angle};
  return turning == Turning::kLater && !columns.angle.empty()
             ? CheckAngle(rotations, i, check)
             : ReadRotation(rotations, i, check, pose);
}

// Returns the pose of item i as `ReadPose` sets it, or nullopt if `ReadPose` records an error.
template <class Columns>
std::optional<Pose> PoseOf(const Columns& columns, size_t i, ItemChecker& check,
                           Turning turning = Turning::kNow) {
  Pose pose;
  return ReadPose(columns, i, check, pose, turning) ? std::optional(pose) : std::nullopt;
}

// Returns the shape of item i. Records an error and returns null if the batch has no shape with the
// index that the column `shape` gives for item i.
template <class S>
const S* ShapeOf(const PlacedColumns<S>& columns, size_t i, ItemChecker& check) {
  const size_t shape = columns.shape.empty() ? i : columns.shape[i];
  if (shape < columns.shapes.size()) return &columns.shapes[shape];
  check.Fail(ItemColumn::kShape, ItemFault::kUnknownShape);
  return nullptr;
}

// Places the shape of item i at the pose of item i, in `mover`. Counts the shape's vertices on
// `meter` before it places the vertices. Returns false after recording an error, or if `meter` has
// stopped the work.
inline bool PlaceItem(const ShapeColumns& columns, size_t i, ItemChecker& check, WorkMeter& meter,
                      MovingShape& mover) {
  const Shape* const shape = ShapeOf(columns, i, check);
  if (shape == nullptr) return false;
  const std::optional<Pose> pose = PoseOf(columns, i, check);
  if (!pose || !meter.Spend(shape->vertex_count())) return false;
  return mover.Place(*shape, *pose) || check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
}

// Places the shape of each item, one after the other, in `mover`, and calls `visit(i, check)`,
// which returns false to end the batch. An item that cannot be placed records an error and is not
// visited. Returns false once `meter` or `visit` ends the batch.
template <class Visit>
bool VisitMovers(const ShapeColumns& columns, std::vector<ItemError>& errors, WorkMeter& meter,
                 MovingShape& mover, const Visit& visit) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, errors);
    const bool is_placed = PlaceItem(columns, i, check, meter, mover);
    if (meter.stopped() || (is_placed && !visit(i, check))) return false;
  }
  return true;
}

}  // namespace carom::internal
