// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene does one shape overlap, and which edges of these polygons does the
// shape meet?
//
// `Overlap` tests one polygon. `OverlapQuery` tests all polygons of a scene, and the bodies of a
// group; batches, trackers and rotating sweeps use it. All results are exact, and touching counts
// as overlap. Once a `WorkMeter` has stopped the work, results are meaningless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "index/body_set.h"

namespace carom::internal {

// Whether a shape and a polygon (or body) overlap.
struct PairOverlap {
  bool overlaps = false;
  // For circles and capsules: whether the distance from the center or axis to the solid polygon
  // equals the radius.
  bool touching = false;
};

// Return whether the shape and the polygon share a point. Unless `edges` is null, the functions
// append the polygon's edges that share a point with the solid shape, ascending.
PairOverlap Overlap(const IndexedPolygon& fixed, const Circle& circle, std::vector<EdgeRef>* edges,
                    WorkMeter& meter);
PairOverlap Overlap(const IndexedPolygon& fixed, const Capsule& capsule,
                    std::vector<EdgeRef>* edges, WorkMeter& meter);
PairOverlap Overlap(const IndexedPolygon& fixed, const Box& box, std::vector<EdgeRef>* edges,
                    WorkMeter& meter);
PairOverlap Overlap(const IndexedPolygon& fixed, MovingShape& mover, std::vector<EdgeRef>* edges,
                    WorkMeter& meter);

// A polygon, or a body (a placed shape beside the scene), that a shape overlaps.
struct OverlapRow {
  bool is_body;
  uint64_t id;
  bool touching;
  size_t first_edge;  // index of the row's first edge in `OverlapRows::edges`
  size_t edge_count;
};

// The polygons and bodies (placed shapes beside the scene) that one shape overlaps, and, if they
// are requested, the edges that it meets, row after row.
struct OverlapRows {
  std::vector<OverlapRow> rows;  // polygons by ascending id, then bodies by ascending index
  std::vector<EdgeRef> edges;

  std::span<const EdgeRef> EdgesOf(const OverlapRow& row) const {
    return std::span(edges).subspan(row.first_edge, row.edge_count);
  }
  size_t capacity() const { return rows.capacity() + edges.capacity(); }
};

// Finds the polygons and bodies (placed shapes beside the scene) that overlap a shape, for one
// shape at a time. The scene, the bodies, `found` and the meter outlive this object.
class OverlapQuery {
 public:
  // Makes a query that fills `found`.
  OverlapQuery(const World& world, const OverlapOptions& options, OverlapRows& found,
               WorkMeter& meter)
      : world_(world),
        options_(options),
        found_(found),
        meter_(meter),
        query_filter_(QueryFilter::Scene(options.mask)) {}

  // Sets which polygons and bodies later calls of `Run` consider. Until then, `Run` considers the
  // polygons of the scene that pass the mask of the options, and no bodies.
  void SetFilter(const QueryFilter& query_filter) { query_filter_ = query_filter; }

  // Replaces the contents of `found` by the polygons and bodies that overlap the shape.
  void Run(const Circle& circle);
  void Run(const Capsule& capsule);
  void Run(const Box& box);
  void Run(MovingShape& mover);

 private:
  template <class Meets, class Shape>
  void Find(const Meets& meets, Shape& shape);

  const World world_;
  const OverlapOptions options_;
  OverlapRows& found_;
  WorkMeter& meter_;
  QueryFilter query_filter_;
};

}  // namespace carom::internal
