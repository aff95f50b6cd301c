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

// Returns the contact of a moving shape with a polygon of a scene: CONVEX if both shapes are
// convex, else FEATURE (the values of `ContactKind`). A hollow polygon gives a FEATURE contact.
// Returns nullopt if the shapes share no point (exact). Charges its work to `meter`; the result is
// meaningless once `meter` has stopped.
std::optional<Contact> ContactOf(const IndexedPolygon& fixed, MovingShape& mover, WorkMeter& meter);
// Returns the contact of a moving shape with a polygon of a scene, as the `ContactOf` above does,
// for a polygon that has no edge index and at most `IndexedPolygon::kMaxEdgesWithoutIndex` edges.
// `convexity` is the convexity of the polygon.
std::optional<Contact> ContactOf(const Polygon& fixed, Convexity convexity, MovingShape& mover,
                                 WorkMeter& meter);

// Returns whether two shapes share a point. Exact. The core of each shape (the shape without its
// radius) must be a polygon, as in the views that `MovingShape::RingView` returns, where a closed
// ring of two edges stands for the axis of a capsule.
bool SharePoint(const PlacedShape& a, const PlacedShape& b, WorkMeter& meter);

// Returns the FEATURE contact (`ContactKind` in carom/contact.h) of two shapes, which may be
// hollow; nullopt if the shapes share no point (exact). The core of each shape (the shape without
// its radius) must be a polygon, as in the views that `MovingShape::RingView` returns. The result
// is meaningless once `meter` has stopped.
std::optional<Contact> FeatureContact(const PlacedShape& fixed, const PlacedShape& mover,
                                      WorkMeter& meter);

}  // namespace carom::internal
