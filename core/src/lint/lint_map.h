// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The edges and vertices of a scene in the form that the checks of carom/lint.h share: edges in one
// column with a tree over their boxes, and places, which are the distinct points among the
// vertices.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "index/box_tree.h"

namespace carom::internal {

// Names a vertex or an edge of a scene. Polygons are numbered by ascending id, so that names are
// ordered as ids are.
struct EdgeName {
  uint32_t polygon = 0;
  EdgeRef ref = {};

  friend constexpr auto operator<=>(const EdgeName&, const EdgeName&) = default;
};

// One edge, with the places of its ends.
struct LintEdge {
  Segment segment;
  EdgeName name;
  uint32_t place_a = 0;
  uint32_t place_b = 0;

  bool is_proper() const { return !(segment.a == segment.b); }
};

// A point that is a vertex, with the least name of the vertices there.
struct LintPlace {
  Vec2 point;
  EdgeName name;
};

// The edges and places of a scene, which the map borrows. Immutable, hence thread-safe.
class LintMap {
 public:
  // Counts work on `meter`; once the meter has stopped the work, the map may be incomplete.
  LintMap(const Scene& scene, WorkMeter& meter);

  const Scene& scene() const { return *scene_; }
  const std::vector<LintEdge>& edges() const { return edges_; }
  const std::vector<LintPlace>& places() const { return places_; }
  const BoxTree& tree() const { return tree_; }
  // The edges of polygon `polygon`, ring after ring.
  std::span<const LintEdge> edges_of(uint32_t polygon) const {
    return std::span(edges_).subspan(first_edge_[polygon], scene_->polygon(polygon).edge_count());
  }
  // The indices of the edges that end at a place.
  std::span<const uint32_t> edges_at(uint32_t place) const {
    return std::span(incident_).subspan(first_incident_[place],
                                        first_incident_[place + 1] - first_incident_[place]);
  }
  // The greatest magnitude of a coordinate.
  double magnitude() const { return magnitude_; }
  // At least the distance between a point of an edge and the point that rounded arithmetic gives
  // for it: 32 roundings at `magnitude()`.
  double slack() const { return magnitude_ * 0x1p-47; }

 private:
  void AddPolygon(uint32_t polygon);
  void FindPlaces();
  void FindIncidences();

  const Scene* scene_;
  double magnitude_ = 0;
  std::vector<uint32_t> first_edge_;  // of each polygon
  std::vector<LintEdge> edges_;    // polygons along a curve; `place_a` is a vertex until FindPlaces
  std::vector<LintPlace> places_;  // of all vertices, until FindPlaces
  std::vector<uint32_t> first_incident_;
  std::vector<uint32_t> incident_;
  BoxTree tree_;
};

}  // namespace carom::internal
