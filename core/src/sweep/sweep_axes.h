// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Until which time does a moving shape certainly not touch a polygon?
//
// Shapes that are separated along an axis at the start cannot touch before the motion has closed
// the gap along that axis (Eberly, Dynamic Collision Detection using Oriented Bounding Boxes,
// 1999). The axes tested are the normals of those edges of either shape that face the other shape,
// and the normals of the path. Gaps are computed in doubles with bounds of their errors, so the
// separation at the start and the earliest time of a touch are proven. Two convex polygons touch
// when the last of these gaps closes.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "carom/geometry.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "numeric/lanes.h"
#include "sweep/sweep_time.h"

namespace carom::internal {

// Bounds of the time of the first touch of a moving shape and an obstacle that are separated at the
// start. Times are fractions of the path.
struct TouchBounds {
  // the shapes do not touch before this time
  double low = 0;
  // an estimate: convex polygons touch by this time, unless rounding made them concave
  double high = 0;
  // the shapes never touch on the path, not even if displaced by the argument `margin` of
  // `SweepAxes::Start`
  bool is_clear = false;
};

// The vertices of a polygon relative to an origin, in columns of x and y. The columns are padded to
// an even size, for SIMD of two lanes.
class LocalVertices {
 public:
  static constexpr size_t kMost = 16;

  void Clear() { size_ = 0, reach_ = 0; }
  void Add(Vec2 p, Vec2 origin);
  // Repeats the last vertex once, so that a SIMD load of the last pair is defined.
  void Finish() { x_[size_] = x_[size_ - 1], y_[size_] = y_[size_ - 1]; }

  size_t size() const { return size_; }
  // Returns the largest magnitude of a coordinate of the vertices, relative to the origin.
  double reach() const { return reach_; }
  // `Least` returns the least dot product n . p of all vertices p; `Most` returns the greatest.
  double Least(Vec2 n) const;
  double Most(Vec2 n) const;

 private:
  std::array<double, kMost + 1> x_, y_;
  size_t size_ = 0;
  double reach_ = 0;
};

// Separating axes of one shape that moves by d on a straight path: directions n along which a gap
// between the shape and an obstacle, which is wider than the motion closes, proves that the shape
// does not touch the obstacle. Not thread-safe.
class SweepAxes {
 public:
  // Sets the moving shape of later calls. If `motion.d` is 0, separated shapes never touch.
  // `margin` is a displacement, in each coordinate, against which `is_clear` and `IsClear` still
  // prove that there is no touch: at least 16 ulp of the largest coordinate of the shape on its
  // path, or 0 for callers that use neither.
  void Start(const PlacedShape& mover, const Motion& motion, double margin = 0);

  // Returns bounds of the time of the first touch if the shape and the convex polygon `fixed` are
  // certainly separated at the start, else nothing.
  std::optional<TouchBounds> Bound(const IndexedPolygon& fixed);
  // Returns whether the shape certainly does not touch `edge` anywhere on its path, not even if
  // displaced by the margin of `Start`.
  bool IsClear(const Segment& edge) const;

 private:
  // A direction n along which the motion does not move the shape forward (n . d <= 0), and the
  // least dot product n . p of the shape's vertices p at the start.
  struct Axis {
    Vec2 n;
    double least;
  };
  struct Gap;

  Axis AlongPath(Vec2 n) const;

  bool applies_ = false;
  Motion motion_;
  double margin_ = 0;
  Vec2 origin_;
  // mean of the shape's vertices at the middle of the path, relative to `origin_`
  Vec2 middle_;
  LocalVertices mover_;
  LocalVertices fixed_;
  // the normals of the shape's edges, and the two normals of the path
  std::array<Axis, LocalVertices::kMost + 2> axes_;
  size_t axis_count_ = 0;
};

}  // namespace carom::internal
