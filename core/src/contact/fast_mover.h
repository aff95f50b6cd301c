// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds a small convex polygon that moves (a mover), for the fast path of contacts. Places the
// polygon, checks that it is convex, and computes its edges in SIMD lanes, without allocating
// memory.
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

// Columns with a number for each vertex, or for each edge, of a ring of n <= 8 vertices. Entry i
// belongs to vertex i mod n, or to the edge that begins there. The repeated entries fill the lanes
// of a SIMD vector, and follow the last vertex, so that vertices i + 1 and i + 2 exist for every i.
using VertexColumn = std::array<double, 2 * kMostFastVertices>;
using EdgeColumn = std::array<double, kMostFastVertices>;

// Returns how many entries of a column a loop must visit to visit every vertex: 4 or 8, so that the
// branches of the loop are easy to predict.
inline size_t WidthOf(size_t vertex_count) { return vertex_count <= 4 ? 4 : 8; }

// A shape before it is placed at a pose, as columns of coordinates. Its size is 0 if the shape is
// not a strictly convex polygon of at most kMostFastVertices vertices.
struct alignas(32) FastShape {
  FastShape() = default;
  // `convexity` is the convexity of the shape: kNone if the shape is hollow (a boundary without
  // interior).
  FastShape(const Shape& shape, Convexity convexity);

  EdgeColumn x, y;
  uint32_t size = 0;
  bool is_clockwise = false;
};

// The edges of a polygon as vectors (x, y), directed counter-clockwise. The position of an edge is
// stored as `offset`, relative to an origin that the user of the struct chooses.
struct FastEdges {
  EdgeColumn x, y;
  EdgeColumn offset;   // cross product of the edge and the vector from the origin to its tail
  EdgeColumn inverse;  // 1 / squared length of the edge
};

// A small convex polygon placed at a pose. The constructor leaves all members unset.
struct alignas(64) FastMover {
  VertexColumn x, y;
  EdgeColumn from_x, from_y;  // vertices relative to the first vertex
  FastEdges edges;            // edges; the origin of their offsets is the first vertex
  Box bounds;
  double extent;  // the largest magnitude of a coordinate relative to the first vertex
  uint32_t size;
  bool is_clockwise;

  Vec2 vertex(size_t i) const { return {x[i], y[i]}; }
};

// Functions that place shapes (of a size above 0) at a pose with a normalised position: in one step
// (`all`), or in two steps (`vertices`, then `edges`), since many movers need the vertices only. A
// function returns false if the mover must not be used: `vertices` if a vertex may be out of range,
// `edges` if the placed polygon may not be strictly convex, `all` in both cases.
struct FastPlacing {
  using Vertices = bool (*)(const FastShape& shape, const Pose& pose, FastMover& mover);
  using Edges = bool (*)(FastMover& mover);

  Vertices all;
  // Sets the vertices (rounded as `Placed` rounds them), their bounding box, `extent`, `size` and
  // `is_clockwise`.
  Vertices vertices;
  Edges edges;  // sets `edges`, `from_x` and `from_y`
};

// Returns the functions compiled for the instruction set of this machine. Callers that place many
// shapes keep the result.
FastPlacing PlaceFast();

}  // namespace carom::internal
