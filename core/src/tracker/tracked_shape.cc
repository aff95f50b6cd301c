// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/tracked_shape.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "edges/shape_facts.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

double Length(Vec2 v) { return std::sqrt(v.x * v.x + v.y * v.y); }

// Returns a circle that contains `points`, about the middle of their bounding box; it is at most
// sqrt(2) times as large as the smallest such circle. Computed distances have a relative error of
// less than 4 * 2^-53, which the factor `kUp` covers. The terms that are added to the radius cover
// squares that underflow, and are small beside the error of placing a point at a pose.
OutlineNode CircleAbout(std::span<const Vec2> points) {
  Box box;
  for (const Vec2 p : points) box.Extend(p);
  OutlineNode node;
  node.center = {(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2};
  for (const Vec2 p : points) {
    node.radius = std::max(node.radius, Length({p.x - node.center.x, p.y - node.center.y}));
  }
  const double magnitude = std::max(std::abs(node.center.x), std::abs(node.center.y));
  node.radius = node.radius * kUp + 4 * kUnit * magnitude + kSmallestMagnitude;
  return node;
}

// Returns a circle that contains the circles of `children`: about the middle of their centres, and
// larger by the largest of their radii.
OutlineNode CircleAbout(std::span<const OutlineNode> children) {
  std::vector<Vec2> centers;
  double most = 0;
  for (const OutlineNode& child : children) {
    centers.push_back(child.center);
    most = std::max(most, child.radius);
  }
  OutlineNode node = CircleAbout(centers);
  node.radius = (node.radius + most) * kUp;
  return node;
}

// Returns the tree of bounding circles of the polygon: leaves for runs of up to eight consecutive
// edges of one ring, in order, then inner nodes for up to eight nodes each, level by level up to
// the root. Consecutive edges are near each other, so nothing must be sorted.
std::vector<OutlineNode> NodesOf(const Polygon& polygon) {
  std::vector<OutlineNode> nodes;
  const auto edges = static_cast<uint32_t>(polygon.edge_count());
  for (uint32_t first = 0; first < edges;) {
    const uint32_t ring = polygon.edge_ref(first).ring;
    uint32_t last = first;
    std::vector<Vec2> points;
    while (last < edges && last - first < kLanes && polygon.edge_ref(last).ring == ring) {
      const Segment edge = polygon.edge(last++);
      points.push_back(edge.a);
      points.push_back(edge.b);
    }
    OutlineNode node = CircleAbout(points);
    node.first = first;
    node.count = last - first;
    node.is_run = true;
    nodes.push_back(node);
    first = last;
  }
  for (size_t begin = 0; nodes.size() - begin > 1;) {
    const size_t end = nodes.size();
    for (size_t first = begin; first < end; first += kLanes) {
      const size_t count = std::min(kLanes, end - first);
      OutlineNode node = CircleAbout(std::span<const OutlineNode>(nodes).subspan(first, count));
      node.first = static_cast<uint32_t>(first);
      node.count = static_cast<uint32_t>(count);
      nodes.push_back(node);
    }
    begin = end;
  }
  return nodes;
}

}  // namespace

TrackedShape::TrackedShape(Shape its_shape, const TrackerOptions& its_options)
    : shape(std::move(its_shape)), options(its_options) {
  extent = BoundingRadius(shape);
  inscribed_radius = InscribedRadius(shape);
  if (shape.polygon() != nullptr) nodes = NodesOf(*shape.polygon());
}

// Counts this object, its tree of circles (`nodes`) and its polygon, without the overhead of the
// allocator. A polygon with several rings or an open ring also has tables: 16 bytes for each ring
// and 8 bytes for each edge.
size_t TrackedShape::memory_bytes() const {
  size_t bytes = sizeof(*this) + nodes.capacity() * sizeof(OutlineNode);
  if (const Polygon* polygon = shape.polygon()) {
    bytes += 128 + polygon->vertex_count() * sizeof(Vec2) + polygon->user_data().size();
    if (!polygon->is_one_closed_ring())
      bytes += 16 * polygon->ring_count() + 8 * polygon->edge_count();
  }
  return bytes;
}

}  // namespace carom::internal
