// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Contacts of any two shapes, one of which may not be convex.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/shape.h"
#include "carom/work_meter.h"
#include "index/indexed_polygon.h"
#include "index/placed_items.h"
#include "shape/convex_core.h"

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

// A moving shape, placed, in the forms that contacts take it in. Placing it again reuses its
// memory. Not thread-safe.
class ContactMover {
 public:
  // Convexity is that of the shape as described (`IsConvexShape`). Returns false, and nothing else
  // may be asked, if a placed vertex is not accepted. O(n).
  bool Place(const Shape& shape, bool is_convex, const Pose& pose);

  // Valid until the next.
  const Shape& placed() const { return *placed_; }
  // Made when it is asked for first, as the core is. O(n log n).
  FeatureBody body();
  // Null if the shape is not convex.
  const ConvexCore* core();

 private:
  bool is_convex_ = false;
  Placer placer_;
  const Shape* placed_ = nullptr;
  std::optional<Polygon> axis_;  // of a capsule
  std::optional<IndexedPolygon> indexed_;
  std::optional<ConvexCore> core_;
};

// The contact with a polygon of a scene, CONVEX or FEATURE; hollow ones are taken as FEATURE.
// Nothing if they share no point (exact). Counts on `meter` as it goes; meaningless once that has
// stopped.
std::optional<Contact> ContactOf(const IndexedPolygon& fixed, ContactMover& mover,
                                 WorkMeter& meter);

// Whether the bodies share a point; at most one has a radius. Exact.
bool SharePoint(const FeatureBody& a, const FeatureBody& b, WorkMeter& meter);

// The FEATURE contact of carom/contact.h, for hollow polygons too; nothing if the bodies share no
// point (exact). Meaningless once `meter` has stopped.
std::optional<Contact> FeatureContact(const FeatureBody& fixed, const FeatureBody& mover,
                                      WorkMeter& meter);

}  // namespace carom::internal
