// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene does one shape overlap, and at which of their edges?
//
// `Overlap` are the kernels for one polygon; `OverlapQuery` asks all polygons of a scene, and
// bodies. Batches, trackers and rotating sweeps ask through them. Everything is exact, and touching
// counts. Once a meter has stopped, answers are meaningless.
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

struct PairOverlap {
  bool overlaps = false;
  bool touching = false;  // of circles and capsules: the distance to the core is the radius
};

// Whether the shape and the polygon share a point. With `edges`, the polygon's edges that share a
// point with the solid shape are appended, ascending.
PairOverlap Overlap(const IndexedPolygon& fixed, const Circle& circle, std::vector<EdgeRef>* edges,
                    WorkMeter& meter);
PairOverlap Overlap(const IndexedPolygon& fixed, const Capsule& capsule,
                    std::vector<EdgeRef>* edges, WorkMeter& meter);
PairOverlap Overlap(const IndexedPolygon& fixed, const Box& box, std::vector<EdgeRef>* edges,
                    WorkMeter& meter);
PairOverlap Overlap(const IndexedPolygon& fixed, MovingShape& mover, std::vector<EdgeRef>* edges,
                    WorkMeter& meter);

// One polygon, or body, that a shape overlaps.
struct OverlapRow {
  bool is_body;
  uint64_t id;
  bool touching;
  size_t first_edge;  // among those of the rows
  size_t edge_count;
};

struct OverlapRows {
  std::vector<OverlapRow> rows;  // by ascending id, bodies after the polygons
  std::vector<EdgeRef> edges;

  std::span<const EdgeRef> EdgesOf(const OverlapRow& row) const {
    return std::span(edges).subspan(row.first_edge, row.edge_count);
  }
  size_t capacity() const { return rows.capacity() + edges.capacity(); }
};

// One shape after the other. Borrows all that it is made of.
class OverlapQuery {
 public:
  // Fills `found`.
  OverlapQuery(const World& world, const OverlapOptions& options, OverlapRows& found,
               WorkMeter& meter)
      : world_(world),
        options_(options),
        found_(found),
        meter_(meter),
        considered_(Considered::Scene(options.mask)) {}

  // What the shapes that follow consider, in place of the scene by the mask of the options.
  void Consider(const Considered& considered) { considered_ = considered; }

  // Replaces what was found by the polygons that overlap the shape.
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
  Considered considered_;
};

}  // namespace carom::internal
