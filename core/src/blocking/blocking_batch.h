// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are batches of sweeps under the blocking policies answered?
#pragma once

#include <optional>
#include <span>

#include "blocking/blocking_sweep.h"
#include "carom/bodies.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"
#include "index/scene_traversal.h"

namespace carom::internal {

// Answers as `SweepShapes` does under a blocking policy; `out` must be cleared and have a count for
// each item. Returns false once `meter` stops.
bool SweepBlocking(const World& world, const SweepColumns& columns, const SweepOptions& options,
                   SweepAnswers& out, WorkMeter& meter);

// Places item i in `start`. Returns false if it records an error or `meter` stops.
bool PlaceBlocking(const ShapeColumns& columns, size_t i, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start);
// Places a shape at an accepted pose in `start`. Returns false if it records an error or `meter`
// stops.
bool PlaceBlocking(const Shape& shape, const Pose& pose, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start);

// Returns the skin of item i, or nothing and records an error.
std::optional<double> SkinOf(std::span<const double> skins, size_t i, ItemChecker& check);

}  // namespace carom::internal
