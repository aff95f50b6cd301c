// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes contacts of any two shapes, convex or not.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "shape/convex_core.h"

namespace carom::internal {

// Returns the contact of a mover with a polygon of a scene: CONVEX if both shapes are convex, else
// FEATURE. A hollow polygon gives a FEATURE contact. Returns nullopt if the shapes share no point
// (exact). Charges its work to `meter`; the result is meaningless once `meter` has stopped.
std::optional<Contact> ContactOf(const IndexedPolygon& fixed, MovingShape& mover, WorkMeter& meter);
// Returns the contact of a mover with a polygon that has no index and at most
// `IndexedPolygon::kMaxEdgesWithoutIndex` edges, as the other `ContactOf` does. `convexity` is the
// polygon's.
std::optional<Contact> ContactOf(const Polygon& fixed, Convexity convexity, MovingShape& mover,
                                 WorkMeter& meter);

// Returns whether two shapes share a point. Exact. The core of each shape is a polygon
// (`MovingShape::RingView`).
bool SharePoint(const PlacedShape& a, const PlacedShape& b, WorkMeter& meter);

// Returns the FEATURE contact (carom/contact.h) of two shapes with polygons as cores
// (`MovingShape::RingView`), hollow ones included; nullopt if the shapes share no point (exact).
// The result is meaningless once `meter` has stopped.
std::optional<Contact> FeatureContact(const PlacedShape& fixed, const PlacedShape& mover,
                                      WorkMeter& meter);

}  // namespace carom::internal
