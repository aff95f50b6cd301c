// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "edges/shape_facts.h"

#include <algorithm>
#include <cmath>

#include "carom/predicates.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "numeric/exact.h"
#include "shape/convex_core.h"
#include "shape/point_distances.h"

namespace carom::internal {
namespace {

double Length(Vec2 v) { return std::sqrt(v.x * v.x + v.y * v.y); }

// Returns a lower bound of the distance from the origin to the nearest edge if the origin is
// strictly inside the polygon, else -1. All points nearer to the origin than the nearest edge are
// filled, because no edge separates them from the origin.
double RadiusInside(const Polygon& polygon) {
  const IndexedPolygon indexed(polygon, IndexUse::kFewLookups);
  WorkMeter meter;
  if (LocateInPolygon(indexed, {0, 0}, meter).location != Location::kInside) return -1;
  PointDistances distances(polygon, {0, 0});
  double least2 = HUGE_VAL;
  for (size_t first = 0; first < polygon.edge_count(); first += kLanes) {
    distances.Measure(first, std::min(first + kLanes, polygon.edge_count()));
    least2 = std::min(least2, distances.lower());
  }
  return std::sqrt(std::max(0.0, least2)) * kDown;
}

// Returns the capsule's radius minus the distance of the origin from the axis, rounded down. A
// rotation stretches the distance by less than 1e-6 of its value, but not the radius. The function
// subtracts 2e-6 of the distance instead, because `Tracker` also multiplies the result by
// `kMinStretch`, a factor slightly below 1. The foot of the perpendicular from the origin to the
// axis may be rounded, since each point of the axis gives an upper bound of the distance; the last
// term covers how far the rounded foot may be off the axis.
double RadiusInside(const Capsule& capsule) {
  const Segment& axis = capsule.axis;
  const Vec2 along{axis.b.x - axis.a.x, axis.b.y - axis.a.y};
  const double length2 = along.x * along.x + along.y * along.y;
  const double t = -(axis.a.x * along.x + axis.a.y * along.y) / length2;
  // `place` is 0 if t is NaN, which an axis of length 0 gives.
  const double place = t > 0 ? std::min(t, 1.0) : 0;
  const Vec2 foot{axis.a.x + place * along.x, axis.a.y + place * along.y};
  const double size = Length(axis.a) + Length(axis.b);
  return capsule.radius - (Length(foot) * (1 + 2e-6) + 16 * kUnit * size);
}

}  // namespace

bool IsConvexShape(const Shape& shape) {
  return shape.polygon() == nullptr || ConvexityOf(*shape.polygon()) != Convexity::kNone;
}

double BoundingRadius(const Shape& shape) {
  double radius = 0;
  if (const Capsule* capsule = shape.capsule()) {
    radius = std::max(Length(capsule->axis.a), Length(capsule->axis.b)) + capsule->radius;
  } else {
    for (const Vec2 v : shape.polygon()->vertices()) radius = std::max(radius, Length(v));
  }
  return radius * kUp;
}

double InscribedRadius(const Shape& shape) {
  return shape.capsule() != nullptr ? RadiusInside(*shape.capsule())
                                    : RadiusInside(*shape.polygon());
}

}  // namespace carom::internal
