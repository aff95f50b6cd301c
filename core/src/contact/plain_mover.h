// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A small convex polygon on its way through the fast path of contacts: placed, judged and measured
// in lanes, with nothing allocated.
//
// The vertices keep the order in which they were given; where that is clockwise, edges are turned
// around, so that the outer normal is on their right all the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "carom/shape.h"
#include "shape/convex_core.h"

namespace carom::internal {

inline constexpr size_t kMostPlainVertices = 8;

// Of a ring of n vertices, n <= 8, entry i is about vertex i mod n, or the edge that begins there.
// So lanes are always full, and the two vertices behind them are there as well.
using VertexColumn = std::array<double, 2 * kMostPlainVertices>;
using EdgeColumn = std::array<double, kMostPlainVertices>;

// How many entries hold every vertex: 4 or 8, so that what loops over them is easy to predict.
inline size_t WidthOf(size_t vertex_count) { return vertex_count <= 4 ? 4 : 8; }

// As described. Size 0 where it is no small polygon that is strictly convex.
struct alignas(32) PlainShape {
  PlainShape() = default;
  // `convexity` is that of the shape; a hollow one has none.
  PlainShape(const Shape& shape, Convexity convexity);

  EdgeColumn x, y;
  uint32_t size = 0;
  bool is_clockwise = false;
};

// The edges of a ring about some point, counter-clockwise.
struct PlainEdges {
  EdgeColumn x, y;
  EdgeColumn offset;   // edge x the way from that point to its begin
  EdgeColumn inverse;  // 1 / |edge|^2
};

// As placed. Not set by its constructor.
struct alignas(64) PlainMover {
  VertexColumn x, y;
  EdgeColumn from_x, from_y;  // about the first vertex
  PlainEdges edges;           // about it
  Box bounds;
  double extent;  // the largest coordinate about the first vertex
  uint32_t size;
  bool is_clockwise;

  Vec2 vertex(size_t i) const { return {x[i], y[i]}; }
};

// How shapes are placed: at once, or in two steps, of which many movers need only the first one.
// They return false, and the mover is not to be used, where it is uncertain that all vertices are
// accepted, respectively that the polygon is still strictly convex. The position is normalised, the
// size not 0.
struct PlainPlacing {
  using Vertices = bool (*)(const PlainShape& shape, const Pose& pose, PlainMover& mover);
  using Edges = bool (*)(PlainMover& mover);

  Vertices all;
  Vertices vertices;  // each as `Placed`, their box and `extent`
  Edges edges;        // the rest
};

// The ones for this machine, to be kept by whoever places often.
PlainPlacing PlacePlain();

}  // namespace carom::internal
