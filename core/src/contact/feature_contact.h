// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Contacts of any two shapes, one of which may not be convex.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "shape/convex_core.h"

namespace carom::internal {

// The contact with a polygon of a scene, CONVEX or FEATURE; hollow ones are taken as FEATURE.
// Nothing if they share no point (exact). Counts on `meter` as it goes; meaningless once that has
// stopped.
std::optional<Contact> ContactOf(const IndexedPolygon& fixed, MovingShape& mover, WorkMeter& meter);
// The same of a polygon of at most `IndexedPolygon::kMaxScanned` edges, which has no index, and its
// convexity.
std::optional<Contact> ContactOf(const Polygon& fixed, Convexity convexity, MovingShape& mover,
                                 WorkMeter& meter);

// The rest takes shapes whose core is a polygon (`MovingShape::RingView`). Whether they share a
// point. Exact.
bool SharePoint(const PlacedShape& a, const PlacedShape& b, WorkMeter& meter);

// The FEATURE contact of carom/contact.h, for hollow polygons too; nothing if they share no point
// (exact). Meaningless once `meter` has stopped.
std::optional<Contact> FeatureContact(const PlacedShape& fixed, const PlacedShape& mover,
                                      WorkMeter& meter);

}  // namespace carom::internal
