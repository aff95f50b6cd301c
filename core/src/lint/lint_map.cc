// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/lint_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "index/curve.h"

namespace carom::internal {
namespace {

// Returns the numbers of the polygons along a Hilbert curve, so that edges that are close in the
// map's column are close in space.
std::vector<uint32_t> AlongCurve(const Scene& scene) {
  const Curve curve(scene.bounds());
  std::vector<std::pair<CurveKey, uint32_t>> keys;
  keys.reserve(scene.polygon_count());
  for (uint32_t i = 0; i < scene.polygon_count(); ++i) {
    keys.emplace_back(curve.KeyOf(scene.polygon(i)), i);
  }
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<uint32_t> order;
  order.reserve(keys.size());
  for (const auto& [key, polygon] : keys) order.push_back(polygon);
  return order;
}

}  // namespace

LintMap::LintMap(const Scene& scene, WorkMeter& meter) : scene_(&scene) {
  const Box& bounds = scene.bounds();
  if (!bounds.empty()) {
    magnitude_ = std::max({std::abs(bounds.min.x), std::abs(bounds.min.y), std::abs(bounds.max.x),
                           std::abs(bounds.max.y)});
  }
  first_edge_.resize(scene.polygon_count());
  edges_.reserve(scene.vertex_count());
  places_.reserve(scene.vertex_count());
  for (const uint32_t polygon : AlongCurve(scene)) {
    AddPolygon(polygon);
    if (!meter.Spend(8 * scene.polygon(polygon).vertex_count())) return;
  }
  FindPlaces();
  if (!meter.Spend(8 * edges_.size())) return;
  FindIncidences();
  tree_ = BoxTree(edges_.size(), [this](size_t i) { return BoundsOf(edges_[i].segment); });
}

void LintMap::AddPolygon(uint32_t polygon) {
  const Polygon& added = scene_->polygon(polygon);
  first_edge_[polygon] = static_cast<uint32_t>(edges_.size());
  for (uint32_t r = 0; r < added.ring_count(); ++r) {
    const std::span<const Vec2> ring = added.ring(r);
    const auto first = static_cast<uint32_t>(places_.size());
    const auto count = static_cast<uint32_t>(ring.size());
    const uint32_t edges = added.is_open(r) ? std::max(count - 1, 1U) : count;
    for (uint32_t i = 0; i < count; ++i) {
      places_.push_back({ring[i], {polygon, {r, i}}});
    }
    for (uint32_t i = 0; i < edges; ++i) {
      const uint32_t next = i + 1 == count ? 0 : i + 1;
      edges_.push_back({{ring[i], ring[next]}, {polygon, {r, i}}, first + i, first + next});
    }
  }
}

// Replaces the vertices in `places_` by the distinct points among them.
void LintMap::FindPlaces() {
  struct Vertex {
    Vec2 point;
    uint32_t index;
  };
  std::vector<Vertex> vertices;
  vertices.reserve(places_.size());
  for (uint32_t i = 0; i < places_.size(); ++i) vertices.push_back({places_[i].point, i});
  std::sort(vertices.begin(), vertices.end(), [](const Vertex& a, const Vertex& b) {
    return std::tie(a.point.x, a.point.y) < std::tie(b.point.x, b.point.y);
  });
  std::vector<uint32_t> place_of(vertices.size());
  std::vector<LintPlace> distinct;
  for (const Vertex& vertex : vertices) {
    const EdgeName& name = places_[vertex.index].name;
    if (distinct.empty() || !(distinct.back().point == vertex.point)) {
      distinct.push_back({vertex.point, name});
    }
    distinct.back().name = std::min(distinct.back().name, name);
    place_of[vertex.index] = static_cast<uint32_t>(distinct.size() - 1);
  }
  places_ = std::move(distinct);
  for (LintEdge& edge : edges_) {
    edge.place_a = place_of[edge.place_a];
    edge.place_b = place_of[edge.place_b];
  }
}

void LintMap::FindIncidences() {
  first_incident_.assign(places_.size() + 1, 0);
  for (const LintEdge& edge : edges_) {
    ++first_incident_[edge.place_a];
    if (edge.place_b != edge.place_a) ++first_incident_[edge.place_b];
  }
  std::partial_sum(first_incident_.begin(), first_incident_.end(), first_incident_.begin());
  incident_.resize(first_incident_.back());
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    incident_[--first_incident_[edges_[i].place_a]] = i;
    if (edges_[i].place_b != edges_[i].place_a) incident_[--first_incident_[edges_[i].place_b]] = i;
  }
}

}  // namespace carom::internal
