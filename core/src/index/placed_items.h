// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The shape and the pose of an item of a batch of moving shapes, checked and placed.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/sincos.h"
#include "carom/work_meter.h"
#include "index/placed_shape.h"
#include "index/scene_traversal.h"

namespace carom::internal {

// The rotation given by an angle, or by c and s, of which either may be absent; nothing and an
// error recorded where it is not one. `pose` keeps its position.
inline bool ReadRotation(std::span<const double> c, std::span<const double> s,
                         std::span<const double> angle, ItemColumn c_column,
                         ItemColumn angle_column, size_t i, ItemChecker& check, Pose& pose) {
  if (!angle.empty()) {
    if (!(std::abs(angle[i]) <= kMaxAngle)) {
      return check.Fail(angle_column, ItemFault::kAngleOutOfRange);
    }
    const CosSin rotation = SinCos(angle[i]);
    pose.c = rotation.c;
    pose.s = rotation.s;
  } else if (!c.empty()) {
    if (!IsRotation(c[i], s[i])) return check.Fail(c_column, ItemFault::kNotARotation);
    pose.c = c[i];
    pose.s = s[i];
  }
  return true;
}

// The pose of item i of columns x, y, c, s and angle, or nothing and an error recorded.
template <class Columns>
std::optional<Pose> PoseOf(const Columns& columns, size_t i, ItemChecker& check) {
  Pose pose;
  if (!check.Coordinate(ItemColumn::kX, columns.x[i]) ||
      !check.Coordinate(ItemColumn::kY, columns.y[i])) {
    return std::nullopt;
  }
  pose.position = Normalized(Vec2{columns.x[i], columns.y[i]});
  if (!ReadRotation(columns.c, columns.s, columns.angle, ItemColumn::kC, ItemColumn::kAngle, i,
                    check, pose)) {
    return std::nullopt;
  }
  return pose;
}

// The shape of item i as described, or null and an error recorded.
template <class S>
const S* ShapeOf(const PlacedColumns<S>& columns, size_t i, ItemChecker& check) {
  const size_t shape = columns.shape.empty() ? i : columns.shape[i];
  if (shape < columns.shapes.size()) return &columns.shapes[shape];
  check.Fail(ItemColumn::kShape, ItemFault::kUnknownShape);
  return nullptr;
}

// Places item i in `mover`. Returns false with an error recorded, or with `meter` stopped, on which
// the shape's vertices are counted before they are placed.
inline bool PlaceItem(const ShapeColumns& columns, size_t i, ItemChecker& check, WorkMeter& meter,
                      MovingShape& mover) {
  const Shape* const shape = ShapeOf(columns, i, check);
  if (shape == nullptr) return false;
  const std::optional<Pose> pose = PoseOf(columns, i, check);
  if (!pose || !meter.Spend(shape->vertex_count())) return false;
  return mover.Place(*shape, *pose) || check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
}

}  // namespace carom::internal
