// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bodies are nearest to one shape, or within a distance of it, together with the polygons of
// a scene?
#pragma once

#include <cmath>
#include <vector>

#include "carom/bodies.h"
#include "carom/distance.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"
#include "index/body_set.h"
#include "proximity/closest.h"
#include "proximity/distance_query.h"

namespace carom::internal {

// A body, and the features that determine its distance.
struct MeasuredBody {
  Body* body;
  Closest closest;
  bool is_touching;  // whether the shapes share a point: the distance is 0
  // The exact distance rounded up, for a round body that is apart from the mover. Round bodies are
  // compared by it, other bodies exactly.
  double rounded_up;
};

// Measures one shape at a time. The scene, the bodies, both vectors and the meter outlive it.
class BodyDistances {
 public:
  // Makes a query that fills `near`, and drops from `polygons` what is farther than the bodies
  // found.
  BodyDistances(const World& world, DistanceMode mode, std::vector<MeasuredPolygon>& polygons,
                std::vector<MeasuredBody>& near, WorkMeter& meter)
      : world_(world), mode_(mode), polygons_(polygons), near_(near), meter_(meter) {}

  // Replaces `near` by the bodies that the mode asks for, by ascending index. `polygons` has the
  // polygons that a `DistanceQuery` found for the mover. Returns false once the meter has stopped.
  bool Run(const PlacedShape& mover, double max_distance, const QueryFilter& query_filter);

 private:
  void Visit(const PlacedShape& mover, double max_distance, Body& body);
  void KeepNearest(const PlacedShape& mover, const MeasuredBody& found);

  const World world_;
  const DistanceMode mode_;
  std::vector<MeasuredPolygon>& polygons_;
  std::vector<MeasuredBody>& near_;
  WorkMeter& meter_;
  double best_ = HUGE_VAL;  // an upper bound of the least distance so far
};

}  // namespace carom::internal
