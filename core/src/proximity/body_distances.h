// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bodies are nearest to one shape, or within a bound of it, beside the polygons of a scene?
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

// A body and what decides its distance.
struct MeasuredBody {
  Body* body;
  Closest closest;
  bool is_touching;  // the shapes share a point: the distance is 0
  // Of a round body that is apart: the exact distance rounded up, by which it is compared. Others
  // are compared exactly.
  double rounded_up;
};

// One shape after the other. Borrows all that it is made of.
class BodyDistances {
 public:
  // Fills `near`, and drops what is farther from the polygons that are near.
  BodyDistances(const World& world, DistanceMode mode, std::vector<MeasuredPolygon>& polygons,
                std::vector<MeasuredBody>& near, WorkMeter& meter)
      : world_(world), mode_(mode), polygons_(polygons), near_(near), meter_(meter) {}

  // Replaces `near` by the bodies that are asked for, by ascending index, beside the polygons that
  // a `DistanceQuery` found. Returns false once the meter has stopped.
  bool Run(const PlacedShape& mover, double max_distance, const Considered& considered);

 private:
  void Visit(const PlacedShape& mover, double max_distance, Body& body);
  void KeepNearest(const PlacedShape& mover, const MeasuredBody& found);

  const World world_;
  const DistanceMode mode_;
  std::vector<MeasuredPolygon>& polygons_;
  std::vector<MeasuredBody>& near_;
  WorkMeter& meter_;
  double best_ = HUGE_VAL;  // at least the least distance so far
};

}  // namespace carom::internal
