// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The row of a first touch that filters found.
#pragma once

#include "carom/polygon.h"
#include "carom/sweep.h"
#include "sweep/plain_touch.h"

namespace carom::internal {

// Sets the hit of a touch, as `SweepShapes` has it. Returns false, and the hit is not to be used,
// where it is uncertain how the fraction is rounded.
bool SetPlainRow(const Polygon& polygon, const SweptMover& mover, const PlainTouch& touch,
                 SweepHit& hit);

}  // namespace carom::internal
