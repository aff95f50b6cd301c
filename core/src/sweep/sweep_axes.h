// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How long does a moving shape surely touch nothing of a polygon?
//
// Shapes that are apart along an axis at the start touch no sooner than they have closed that gap:
// separating axes of moving shapes (Eberly, Dynamic Collision Detection using Oriented Bounding
// Boxes, 1999). The axes are the normals of edges that face each other, and that of the path, in
// doubles whose errors are added up, so that what is said of the start and of the time before a
// touch is proven. Two convex polygons touch when the last of these gaps is closed.
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

// When shapes that are apart at the start may touch first, in fractions of the path.
struct TouchBounds {
  double low = 0;         // not before that
  double high = 0;        // convex polygons by then; a guess, as roundings may have bent them
  bool is_clear = false;  // never, not even displaced by the margin
};

// Vertices less an origin, in columns that are filled up to pairs.
class LocalVertices {
 public:
  static constexpr size_t kMost = 16;

  void Clear() { size_ = 0, reach_ = 0; }
  void Add(Vec2 p, Vec2 origin);
  // Fills the last pair up.
  void Finish() { x_[size_] = x_[size_ - 1], y_[size_] = y_[size_ - 1]; }

  size_t size() const { return size_; }
  // The largest magnitude of a coordinate.
  double reach() const { return reach_; }
  // The least, respectively greatest, n . p of all vertices.
  double Least(Vec2 n) const;
  double Most(Vec2 n) const;

 private:
  std::array<double, kMost + 1> x_, y_;
  size_t size_ = 0;
  double reach_ = 0;
};

// Not thread-safe.
class SweepAxes {
 public:
  // The shape of the calls that follow. Without motion, what is apart never touches. `margin` is in
  // each coordinate, and at least 16 ulp of the largest one of the shape on its path, or 0 for
  // callers that do not ask what is clear.
  void Start(const PlacedShape& mover, const Motion& motion, double margin = 0);

  // Nothing, unless the shape and the polygon are apart at the start for certain: then they share
  // no point there.
  std::optional<TouchBounds> Bound(const IndexedPolygon& fixed);
  // Whether the shape surely does not touch the edge on its path, nor displaced by the margin.
  bool IsClear(const Segment& edge) const;

 private:
  // A direction in which the shape comes nearer, and where its foremost point is.
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
  Vec2 middle_;  // of the vertices, halfway on the path
  LocalVertices mover_;
  LocalVertices fixed_;
  std::array<Axis, LocalVertices::kMost + 2> axes_;  // of the shape's own edges, and of the path
  size_t axis_count_ = 0;
};

}  // namespace carom::internal
