// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene are nearest to one shape, or within a distance of it?
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "carom/distance.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "proximity/closest.h"
#include "proximity/distance_key.h"
#include "proximity/edge_bounds.h"
#include "shape/approach.h"

namespace carom::internal {

// Finds the polygons of a scene that are near a shape (the mover), for one mover at a time. Keeps
// references to `scene`, `near` and `meter`.
class DistanceQuery {
 public:
  // Makes a query that fills `near`.
  DistanceQuery(const Scene& scene, const DistanceOptions& options,
                std::vector<MeasuredPolygon>& near, WorkMeter& meter)
      : scene_(scene), options_(options), near_(near), meter_(meter), mask_(options.mask) {}

  // Sets the mask of later calls of `Run`, in place of the mask in the options: only polygons with
  // a category bit in the mask are found.
  void SetMask(uint64_t mask) { mask_ = mask; }

  // Replaces `near` by the polygons that the options ask for (the nearest, or all within
  // `max_distance`), by ascending id; under NEAREST_K nearest first. Returns false once the meter
  // has stopped.
  bool Run(const PlacedShape& mover, double max_distance);

 private:
  // A polygon that may be the nearest one to a point, and bounds of the distances of its edges.
  struct Candidate {
    const IndexedPolygon* fixed;
    EdgeBounds edges;
  };
  static constexpr size_t kMostCandidates = 16;

  void VisitByBounds(const PlacedShape& mover, const IndexedPolygon& fixed);
  void VisitCandidates(const PlacedShape& mover);
  void Visit(const PlacedShape& mover, const IndexedPolygon& fixed);
  void Keep(const IndexedPolygon& fixed, const Closest& closest);
  void KeepRanked(const MeasuredPolygon& found);
  bool MakeRoom(const Closest& closest, bool is_touching);
  // Lowers the limit of the search, `limit2_`, to the squared distance of a polygon. The limit
  // never excludes polygons that touch the mover.
  void LowerLimit(double distance2) {
    limit2_ = std::min(limit2_, std::max(distance2, touch2_.high));
  }

  const Scene& scene_;
  const DistanceOptions options_;
  std::vector<MeasuredPolygon>& near_;
  WorkMeter& meter_;
  uint64_t mask_;
  // The mover's radius: a polygon within this distance of the mover's core touches the mover.
  LengthSum touch_;
  // The mover's radius plus the greatest distance of a polygon that the query asks for.
  LengthSum reach_;
  Bounds2 touch2_;     // bounds of the square of `touch_`
  Bounds2 reach2_;     // bounds of the square of `reach_`
  double limit2_ = 0;  // polygons beyond this squared distance from the mover's core are skipped
  std::array<Candidate, kMostCandidates> candidates_;
  size_t candidate_count_ = 0;
  // The number of polygons at the least distance that `near_` lacks, since the meter allows no more
  // rows.
  size_t dropped_ties_ = 0;
};

}  // namespace carom::internal
