// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How long does a moving shape certainly not touch a polygon?
//
// Shapes that are separated along an axis at the start cannot touch before they have closed that
// gap: separating axes of moving shapes (Eberly, Dynamic Collision Detection using Oriented
// Bounding Boxes, 1999). The axes are the normals of edges that face each other and the normals of
// the path. Gaps are computed in doubles, and their errors are added up, so the separation at the
// start and the earliest time of a touch are proven. Two convex polygons touch when the last of
// these gaps closes.
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

// When shapes that are separated at the start may first touch, in fractions of the path.
struct TouchBounds {
  double low = 0;         // they do not touch before `low`
  double high = 0;        // convex polygons touch by then, unless roundings bent them: a guess
  bool is_clear = false;  // they never touch, not even displaced by the margin
};

// Vertices less an origin, in columns that are padded to pairs.
class LocalVertices {
 public:
  static constexpr size_t kMost = 16;

  void Clear() { size_ = 0, reach_ = 0; }
  void Add(Vec2 p, Vec2 origin);
  // Pads the last pair.
  void Finish() { x_[size_] = x_[size_ - 1], y_[size_] = y_[size_ - 1]; }

  size_t size() const { return size_; }
  // Returns the largest magnitude of a coordinate.
  double reach() const { return reach_; }
  // Returns the least dot product n . p of all vertices; `Most` returns the greatest.
  double Least(Vec2 n) const;
  double Most(Vec2 n) const;

 private:
  std::array<double, kMost + 1> x_, y_;
  size_t size_ = 0;
  double reach_ = 0;
};

// The separating axes of one moving shape. Not thread-safe.
class SweepAxes {
 public:
  // Sets the shape of later calls. Without motion, separated shapes never touch. `margin` applies
  // to each coordinate: at least 16 ulp of the largest coordinate of the shape on its path, or 0
  // for callers that use neither `is_clear` nor `IsClear`.
  void Start(const PlacedShape& mover, const Motion& motion, double margin = 0);

  // Returns bounds of the first touch if the shape and the polygon are certainly separated at the
  // start, else nothing.
  std::optional<TouchBounds> Bound(const IndexedPolygon& fixed);
  // Returns whether the shape on its path, even displaced by the margin, certainly does not touch
  // `edge`.
  bool IsClear(const Segment& edge) const;

 private:
  // A direction n on which the motion does not increase n . p, and the least n . p of the shape's
  // vertices.
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
  Vec2 middle_;  // mean of the vertices, halfway along the path
  LocalVertices mover_;
  LocalVertices fixed_;
  std::array<Axis, LocalVertices::kMost + 2> axes_;  // normals of the shape's edges and path
  size_t axis_count_ = 0;
};

}  // namespace carom::internal
