// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes the members of a `CastHit` from the passage of a line in a polygon: correctly rounded
// fractions, points and normals, and edges and features.
#pragma once

#include "carom/cast.h"
#include "carom/polygon.h"
#include "cast/passages.h"
#include "shape/line.h"

namespace carom::internal {

// Which end of a passage (an interval of a line inside a polygon) is the hit, and which members of
// the hit are computed.
struct HitReport {
  bool at_exit = false;  // whether the passage's end is the hit
  CastDetail detail = CastDetail::kExit;
};

// Sets the members of `hit` that `report` asks for, from `passage`, an interval of `line` inside
// `polygon`. `hit` must be default-constructed.
void MeasureHit(const Line& line, const Polygon& polygon, const Passage& passage,
                const HitReport& report, CastHit& hit);

}  // namespace carom::internal
