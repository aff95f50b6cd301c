// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does `SweepShapes` answer a batch of sweeps under a blocking policy (BLOCKING or
// BLOCKING_LEAVE of carom/cast.h)?
#pragma once

#include <optional>
#include <span>

#include "blocking/blocking_sweep.h"
#include "carom/bodies.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"
#include "index/scene_traversal.h"

namespace carom::internal {

// Does the work of `SweepShapes` if `options.inside_policy` is BLOCKING or BLOCKING_LEAVE, under
// which a shape may touch obstacles but is stopped where it would overlap one. The caller must have
// cleared `out` and set `out.counts` to one count of 0 for each item. Returns false once `meter`
// stops.
bool SweepBlocking(const World& world, const SweepColumns& columns, const SweepOptions& options,
                   SweepAnswers& out, WorkMeter& meter);

// Reads the shape and the pose of item i (one query of the batch) and stores the placed shape in
// `start`. Returns false if it records an error or `meter` stops.
bool PlaceBlocking(const ShapeColumns& columns, size_t i, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start);
// Stores `shape` placed at `pose` in `start`; the caller has checked the range of `pose`. Returns
// false if it records an error or `meter` stops.
bool PlaceBlocking(const Shape& shape, const Pose& pose, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start);

// Returns the skin of item i of a batch (the gap that the shape keeps from obstacles where it
// stops), or records an error and returns nothing.
std::optional<double> SkinOf(std::span<const double> skins, size_t i, ItemChecker& check);

}  // namespace carom::internal
