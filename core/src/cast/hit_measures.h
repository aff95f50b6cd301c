// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a hit answers, once it is known which passage of which polygon it is: correctly rounded
// fractions, points and normals, edges and features.
#pragma once

#include "carom/cast.h"
#include "carom/polygon.h"
#include "cast/passages.h"
#include "shape/line.h"

namespace carom::internal {

// What of a passage is the hit, and how much of it is computed.
struct HitReport {
  bool at_exit = false;  // the passage's end is the hit
  CastDetail detail = CastDetail::kExit;
};

// Sets what `report` asks of `hit`, a default one.
void MeasureHit(const Line& line, const Polygon& polygon, const Passage& passage,
                const HitReport& report, CastHit& hit);

}  // namespace carom::internal
