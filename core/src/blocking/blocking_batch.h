// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Batches of sweeps under the blocking policies.
#pragma once

#include <optional>
#include <span>

#include "blocking/blocking_sweep.h"
#include "carom/bodies.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"
#include "index/scene_traversal.h"

namespace carom::internal {

// `SweepShapes` under such a policy; `out` is cleared and has a count for each item.
bool SweepBlocking(const World& world, const SweepColumns& columns, const SweepOptions& options,
                   SweepAnswers& out, WorkMeter& meter);

// Places item i in `start`. Returns false with an error recorded, or with `meter` stopped.
bool PlaceBlocking(const ShapeColumns& columns, size_t i, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start);
// Likewise a shape at a pose that is accepted.
bool PlaceBlocking(const Shape& shape, const Pose& pose, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start);

// The skin of item i, or nothing and an error recorded.
std::optional<double> SkinOf(std::span<const double> skins, size_t i, ItemChecker& check);

}  // namespace carom::internal
