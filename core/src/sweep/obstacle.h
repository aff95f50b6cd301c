// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What may block a moving shape: a polygon of the scene, or a body.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/hit_collector.h"
#include "carom/bodies.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "index/body_set.h"
#include "index/box_traversal.h"
#include "sweep/sweep_passage.h"

namespace carom::internal {

// Borrows what it names.
struct Obstacle {
  const IndexedPolygon* core = nullptr;  // of a body with a radius its axis
  const Body* body = nullptr;            // null for a polygon of the scene

  double radius() const { return body == nullptr ? 0 : body->radius(); }
  bool is_round() const { return radius() > 0; }
  HitSource source() const {
    if (body != nullptr) return {true, body->index()};
    return {false, core->polygon().id()};
  }

  friend bool operator==(const Obstacle& a, const Obstacle& b) { return a.core == b.core; }
};

// In the order of ids and indices, for what must not depend on the order of visits.
void SortBySource(std::vector<Obstacle>& obstacles);

// What an item considers of a scene and of bodies. Not thread-safe.
class Obstacles {
 public:
  using Visit = std::function<bool(const Obstacle&)>;

  explicit Obstacles(const World& world) : world_(world) {}

  // What the calls that follow visit.
  void Consider(const Considered& considered) { considered_ = considered; }

  // Calls visit(obstacle) for at least those considered whose box may meet `reach`, each once,
  // while it returns true and the meter allows.
  void VisitNear(const SweptBox& reach, WorkMeter& meter, const Visit& visit) const;

 private:
  template <class Use>
  void VisitPolygonsAt(const Box& box, WorkMeter& meter, const Use& visit) const;

  const World world_;
  Considered considered_;
  const FindPolygonsFunction find_polygons_ = FindPolygons();
};

}  // namespace carom::internal
