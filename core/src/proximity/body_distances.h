// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bodies (placed shapes that exist for one group of queries) are nearest to one shape, or
// within a distance of it?
//
// A query may also consider the polygons of a scene: then the bodies compete for the least distance
// with the polygons that a `DistanceQuery` has found before.
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

// A body near a mover (the query's shape), and the edges or rings that determine the distance of
// the body from the mover.
struct MeasuredBody {
  Body* body;
  Closest closest;
  bool is_touching;  // whether body and mover share a point: the distance is 0
  // For a round body (a disc or a capsule) that is apart from the mover: the least double that is
  // at least the exact distance. Round bodies are compared by `rounded_up`, other bodies by their
  // exact distances.
  double rounded_up;
};

// Finds the bodies (placed shapes beside the scene) that are near a shape, the mover, for one mover
// at a time. The scene, the bodies, both vectors and the meter outlive this object.
class BodyDistances {
 public:
  // Makes a query that fills `near`, and, under the mode NEAREST, removes the polygons from
  // `polygons` that are farther than the bodies found.
  BodyDistances(const World& world, DistanceMode mode, std::vector<MeasuredPolygon>& polygons,
                std::vector<MeasuredBody>& near, WorkMeter& meter)
      : world_(world), mode_(mode), polygons_(polygons), near_(near), meter_(meter) {}

  // Replaces `near` by the bodies that the mode asks for (the nearest, or all within
  // `max_distance`), by ascending index. `polygons` has the polygons that a `DistanceQuery` found
  // for the mover. Returns false once the meter has stopped.
  bool Run(const PlacedShape& mover, double max_distance, const QueryFilter& query_filter);

 private:
  void Visit(const PlacedShape& mover, double max_distance, Body& body);
  void KeepNearest(const PlacedShape& mover, const MeasuredBody& found);

  const World world_;
  const DistanceMode mode_;
  std::vector<MeasuredPolygon>& polygons_;
  std::vector<MeasuredBody>& near_;
  WorkMeter& meter_;
  // Bodies farther than this are skipped: `max_distance` at first; under the mode NEAREST later an
  // upper bound of the least distance found so far.
  double best_ = HUGE_VAL;
};

}  // namespace carom::internal
