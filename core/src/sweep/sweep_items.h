// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is the displacement of each item in a batch of translating sweeps?
#pragma once

#include <cstddef>
#include <optional>

#include "carom/geometry.h"
#include "carom/sweep.h"
#include "index/scene_traversal.h"
#include "numeric/double_lanes.h"

namespace carom::internal {

// Returns the displacement of item i: (dx[i], dy[i]), or without the column dx the difference of
// the end position (to_x[i], to_y[i]) and the start. If a value is invalid, records an error and
// returns nothing.
inline std::optional<Vec2> DisplacementOf(const SweepColumns& columns, size_t i,
                                          ItemChecker& check) {
  if (!columns.dx.empty()) {
    if (!check.Coordinate(ItemColumn::kDx, columns.dx[i]) ||
        !check.Coordinate(ItemColumn::kDy, columns.dy[i])) {
      return std::nullopt;
    }
    return NormalizedByLanes(Vec2{columns.dx[i], columns.dy[i]});
  }
  if (!check.Coordinate(ItemColumn::kToX, columns.to_x[i]) ||
      !check.Coordinate(ItemColumn::kToY, columns.to_y[i])) {
    return std::nullopt;
  }
  const Vec2 from = NormalizedByLanes(Vec2{columns.movers.x[i], columns.movers.y[i]});
  const Vec2 to = NormalizedByLanes(Vec2{columns.to_x[i], columns.to_y[i]});
  const Vec2 d = NormalizedByLanes(Vec2{to.x - from.x, to.y - from.y});
  if (!check.Coordinate(ItemColumn::kToX, d.x) || !check.Coordinate(ItemColumn::kToY, d.y)) {
    return std::nullopt;
  }
  return d;
}

}  // namespace carom::internal
