// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Contacts of shapes of which one is not convex.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/shape.h"
#include "carom/work_meter.h"
#include "indexed_polygon.h"

namespace carom::internal {

// Any polygon with a radius about it: 0, or that of a capsule, whose axis is a ring of two.
struct FeatureBody {
  const IndexedPolygon& indexed;
  double radius = 0;

  const Polygon& polygon() const { return indexed.polygon(); }
};

// The axis of a capsule as a polygon; a polygon as it is.
Polygon PolygonOf(const Shape& shape);
// 0 for a polygon.
double RadiusOf(const Shape& shape);

// Whether the bodies share a point; at most one has a radius. Exact.
bool SharePoint(const FeatureBody& a, const FeatureBody& b, WorkMeter& meter);

// The FEATURE contact of carom/contact.h, for hollow polygons too; nothing if the bodies share no
// point (exact). Meaningless once `meter` has stopped.
std::optional<Contact> FeatureContact(const FeatureBody& fixed, const FeatureBody& mover,
                                      WorkMeter& meter);

}  // namespace carom::internal
