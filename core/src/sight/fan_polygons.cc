// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sets the edges of a polygon near beams that start at one point (fan_lanes.h).

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "edges/indexed_polygon.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"
#include "sight/fan_lanes.h"

namespace carom::internal {
namespace {

// Sets a vertex and the edge from it to `next`. Beams start at `from`.
inline void Set(Vec2 from, const Vec2& at, const Vec2& next, FanPoint& to) {
  const Lanes vertex = ToLanes(at);
  const Lanes place = vertex - ToLanes(from);
  const Lanes edge = ToLanes(next) - vertex;
  const Lanes products = place * Swapped(edge);
  const RoundedCross n(products[0], products[1]);
  Store(place, to.place);
  Store(edge, to.edge);
  Store(vertex, to.at);
  to.n = n.value;
  to.n_error = n.error();
}

// A run of `count` edges of a ring, the first of which begins at vertex `first`.
struct Run {
  size_t first, count;
};

// Returns the edges of a strictly convex ring that do not certainly have the point where the beams
// start on their inner side; all edges if they are not one run. The inner side is the left side if
// `inner` is 1, and the right side if it is -1. `points` has the vertices of the ring.
Run OuterEdges(std::span<const FanPoint> points, double inner) {
  const size_t n = points.size();
  if (n > 64) return {0, n};
  uint64_t outer = 0;
  for (size_t k = 0; k < n; ++k) {
    outer |= uint64_t{!(inner * points[k].n > points[k].n_error)} << k;
  }
  const uint64_t before = (outer << 1 | outer >> (n - 1)) & (~uint64_t{0} >> (64 - n));
  const uint64_t begins = outer & ~before;
  if (begins == 0 || (begins & (begins - 1)) != 0) return {0, n};
  const auto begin = static_cast<size_t>(std::countr_zero(begins));
  const auto end = static_cast<size_t>(std::countr_zero(before & ~outer));
  return {begin, end > begin ? end - begin : end + n - begin};
}

}  // namespace

// Of a strictly convex polygon, keeps the run of edges that do not certainly have `from` on their
// inner side; step (1) of the proof in fan_lanes.cc says why these edges suffice. Of a ring of two
// vertices, which has one edge twice, keeps one edge.
void FanPolygons::SetEdges(size_t i, Vec2 from) {
  const Polygon& polygon = polygons[i].get();
  const Box& box = polygon.bounds();
  Edges& to = edges[i];
  to.is_set = true;
  to.is_too_large = polygon.edge_count() > kMostEdges;
  to.first = to.end = static_cast<uint32_t>(chains.size());
  to.reach_x = std::max(std::abs(box.min.x - from.x), std::abs(box.max.x - from.x));
  to.reach_y = std::max(std::abs(box.min.y - from.y), std::abs(box.max.y - from.y));
  if (to.is_too_large) return;
  const Convexity convexity = IndexedPolygon::ConvexityInScene(polygon);
  for (size_t ring = 0; ring < polygon.ring_count(); ++ring) {
    const std::span<const Vec2> vertices = polygon.ring(ring);
    const size_t n = vertices.size();
    const size_t first = point_count;
    // Makes room for the vertices twice, since a run of edges may begin at any vertex.
    if (points.size() < first + 2 * n) points.resize(2 * (first + 2 * n));
    FanPoint* const ours = &points[first];
    for (size_t k = 0; k + 1 < n; ++k) Set(from, vertices[k], vertices[k + 1], ours[k]);
    Set(from, vertices[n - 1], vertices[0], ours[n - 1]);
    Run run{0, n > 2 && !polygon.is_open(ring) ? n : n - 1};
    if (convexity == Convexity::kStrict || convexity == Convexity::kStrictClockwise) {
      run = OuterEdges({ours, n}, convexity == Convexity::kStrict ? 1 : -1);
    }
    for (size_t k = 0; k < n; ++k) ours[k].polygon = polygon.id();
    for (size_t k = n; k <= run.first + run.count; ++k) ours[k] = ours[k - n];
    const size_t begin = first + run.first;
    chains.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + run.count)});
    point_count = std::max(first + n, begin + run.count + 1);
  }
  to.end = static_cast<uint32_t>(chains.size());
}

}  // namespace carom::internal
