// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds a small convex polygon for the fast path of contacts, which places it, checks that it is
// convex and measures it in lanes, without allocating memory.
//
// The vertices keep the order in which they are given. If that order is clockwise, the edges are
// reversed, so that the outer normal is on the right of every edge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "carom/shape.h"
#include "shape/convex_core.h"

namespace carom::internal {

inline constexpr size_t kMostFastVertices = 8;

// Columns of a ring of n <= 8 vertices. Entry i belongs to vertex i mod n, or to the edge that
// begins there. The repeated entries fill the lanes of a vector, and follow the last vertex, so
// that vertices i + 1 and i + 2 exist for every i.
using VertexColumn = std::array<double, 2 * kMostFastVertices>;
using EdgeColumn = std::array<double, kMostFastVertices>;

// Returns how many entries contain every vertex: 4 or 8, so that loops over them are easy to
// predict.
inline size_t WidthOf(size_t vertex_count) { return vertex_count <= 4 ? 4 : 8; }

// A shape as given, in the form of the fast path. Its size is 0 if the shape is not a strictly
// convex polygon of at most kMostFastVertices vertices.
struct alignas(32) FastShape {
  FastShape() = default;
  // `convexity` is the convexity of the shape: kNone if the shape is hollow.
  FastShape(const Shape& shape, Convexity convexity);

  EdgeColumn x, y;
  uint32_t size = 0;
  bool is_clockwise = false;
};

// The edges of a ring relative to some origin, directed counter-clockwise.
struct FastEdges {
  EdgeColumn x, y;
  EdgeColumn offset;   // edge x the vector from the origin to the edge's tail
  EdgeColumn inverse;  // 1 / |edge|^2
};

// A placed shape. The constructor leaves all members unset.
struct alignas(64) FastMover {
  VertexColumn x, y;
  EdgeColumn from_x, from_y;  // relative to the first vertex
  FastEdges edges;            // relative to the first vertex
  Box bounds;
  double extent;  // the largest magnitude of a coordinate relative to the first vertex
  uint32_t size;
  bool is_clockwise;

  Vec2 vertex(size_t i) const { return {x[i], y[i]}; }
};

// Functions that place shapes of a size above 0 at a normalised position: in one step (`all`), or
// in two steps, since many movers need the vertices only. A function returns false if the mover
// must not be used: `vertices` if a vertex may be out of range, `edges` if the polygon may no
// longer be strictly convex, `all` in both cases.
struct FastPlacing {
  using Vertices = bool (*)(const FastShape& shape, const Pose& pose, FastMover& mover);
  using Edges = bool (*)(FastMover& mover);

  Vertices all;
  Vertices vertices;  // sets the vertices as `Placed` does, their box and `extent`
  Edges edges;        // sets all other members
};

// Returns the functions for this machine. Callers that place many shapes keep the result.
FastPlacing PlaceFast();

}  // namespace carom::internal
