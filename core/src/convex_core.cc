// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "convex_core.h"

#include <algorithm>
#include <numeric>

#include "carom/predicates.h"
#include "carom/ring.h"
#include "exact.h"

namespace carom::internal {
namespace {

bool LexicallyLess(Vec2 a, Vec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }

// Indices of the strict hull, counter-clockwise from the lexically least vertex; of coinciding
// vertices the first given.
std::vector<uint32_t> Hull(std::span<const Vec2> p) {
  std::vector<uint32_t> order(p.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) {
    return p[i] == p[j] ? i < j : LexicallyLess(p[i], p[j]);
  });
  order.erase(
      std::unique(order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return p[i] == p[j]; }),
      order.end());
  if (order.size() <= 2) return order;
  std::vector<uint32_t> hull;
  const auto add = [&](uint32_t i, size_t base) {
    while (hull.size() >= base + 2 &&
           Orientation(p[hull[hull.size() - 2]], p[hull.back()], p[i]) <= 0) {
      hull.pop_back();
    }
    hull.push_back(i);
  };
  for (const uint32_t i : order) add(i, 0);
  const size_t base = hull.size() - 1;
  for (size_t k = order.size() - 1; k-- > 0;) add(order[k], base);
  hull.pop_back();
  return hull;
}

// The least edge of positive length on the way from vertex `from` to vertex `to` of the ring.
uint32_t LeastEdge(std::span<const Vec2> ring, uint32_t from, uint32_t to) {
  uint32_t least = from;
  bool found = false;
  const auto n = static_cast<uint32_t>(ring.size());
  for (uint32_t i = from; i != to; i = i + 1 == n ? 0 : i + 1) {
    if (ring[i] == ring[i + 1 == n ? 0 : i + 1]) continue;
    if (!found || i < least) least = i;
    found = true;
  }
  return least;
}

// The least edge that runs the way of a -> b.
uint32_t LeastEdgeAlong(std::span<const Vec2> ring, Vec2 a, Vec2 b) {
  const auto n = static_cast<uint32_t>(ring.size());
  for (uint32_t i = 0; i < n; ++i) {
    if (DotSign(ring[i], ring[i + 1 == n ? 0 : i + 1], a, b) > 0) return i;
  }
  return 0;
}

void NameEdges(std::span<const Vec2> ring, ConvexCore& core) {
  const size_t n = core.size();
  if (n == 2) {
    core.edge_index = {LeastEdgeAlong(ring, core.vertices[0], core.vertices[1]),
                       LeastEdgeAlong(ring, core.vertices[1], core.vertices[0])};
    const uint32_t first = std::min(core.edge_index[0], core.edge_index[1]);
    core.edge_order = {first, first};
    return;
  }
  // The hull's indices rise but once where the ring winds clockwise.
  size_t rises = 0;
  for (size_t k = 0; k < n; ++k) {
    rises += core.vertex_index[k] < core.vertex_index[core.Next(k)] ? 1 : 0;
  }
  const bool clockwise = rises == 1;
  core.edge_index.reserve(core.edge_count());
  for (size_t k = 0; k < core.edge_count(); ++k) {
    uint32_t from = core.vertex_index[k];
    uint32_t to = core.vertex_index[core.Next(k)];
    if (clockwise) std::swap(from, to);
    core.edge_index.push_back(LeastEdge(ring, from, to));
  }
  core.edge_order = core.edge_index;
}

}  // namespace

bool IsConvexPolygon(const Polygon& polygon) {
  return polygon.solidity() == Solidity::kSolid && polygon.ring_count() == 1 &&
         IsConvex(polygon.ring(0));
}

bool IsConvexShape(const Shape& shape) {
  return shape.polygon() == nullptr || IsConvexPolygon(*shape.polygon());
}

ConvexCore CoreOfRing(std::span<const Vec2> ring) {
  ConvexCore core;
  core.given = ring;
  core.vertex_index = Hull(ring);
  core.vertex_index.shrink_to_fit();
  core.vertices.reserve(core.vertex_index.size());
  for (const uint32_t i : core.vertex_index) core.vertices.push_back(ring[i]);
  NameEdges(ring, core);
  return core;
}

ConvexCore CoreOfSegment(const Segment& segment, double radius) {
  ConvexCore core;
  core.radius = radius;
  core.vertices = {segment.a};
  core.vertex_index = {0};
  if (segment.a == segment.b) return core;
  core.vertices.push_back(segment.b);
  core.vertex_index.push_back(1);
  core.edge_index = {0, 1};
  core.edge_order = {0, 0};
  return core;
}

ConvexCore CoreOf(const Shape& shape) {
  if (shape.polygon()) return CoreOfRing(shape.polygon()->ring(0));
  return CoreOfSegment(shape.capsule()->axis, shape.capsule()->radius);
}

}  // namespace carom::internal
