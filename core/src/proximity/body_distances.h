// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bodies (placed shapes that exist for one group of queries) are nearest to one shape, or
// within a distance of it?
//
// A query may also consider the polygons of a scene: then the bodies compete for the least distance
// with the polygons that a `DistanceQuery` has found before.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "carom/bodies.h"
#include "carom/distance.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"
#include "index/body_set.h"
#include "proximity/distance_key.h"

namespace carom::internal {

// Finds the bodies (placed shapes beside the scene) that are near a shape, the mover, for one mover
// at a time. The scene, the bodies, both vectors and the meter outlive this object.
class BodyDistances {
 public:
  // Makes a query that fills `near`, and, under the mode NEAREST, removes the polygons from
  // `polygons` that are farther than the bodies found.
  BodyDistances(const World& world, const DistanceOptions& options,
                std::vector<MeasuredPolygon>& polygons, std::vector<MeasuredBody>& near,
                WorkMeter& meter)
      : world_(world), options_(options), polygons_(polygons), near_(near), meter_(meter) {}

  // Replaces `near` by the bodies that the mode asks for (the nearest, or all within
  // `max_distance`), by ascending index; under NEAREST_K by the k nearest, nearest first, without
  // those that k polygons precede (a caller still merges the two). `polygons` has the polygons that
  // a `DistanceQuery` found for the mover. Returns false once the meter has stopped.
  bool Run(const PlacedShape& mover, double max_distance, const QueryFilter& query_filter);

 private:
  bool IsNearest() const { return options_.mode == DistanceMode::kNearest; }
  std::optional<MeasuredBody> Measure(const PlacedShape& mover, double max_distance, Body& body);
  void Keep(const PlacedShape& mover, const MeasuredBody& found);
  void KeepNearest(const PlacedShape& mover, const MeasuredBody& found);
  template <class Measured>
  void LowerBest(const Measured& found, double radius, const PlacedShape& mover);

  const World world_;
  const DistanceOptions options_;
  std::vector<MeasuredPolygon>& polygons_;
  std::vector<MeasuredBody>& near_;
  WorkMeter& meter_;
  // Bodies farther than this are skipped: `max_distance` at first; under the modes NEAREST and
  // NEAREST_K later an upper bound of the distances that can still be part of the answer.
  double best_ = HUGE_VAL;
};

}  // namespace carom::internal
