// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges are near a capsule during a slide, and which of these edges is the path of a leg (a
// straight move of the slide) certainly clear of?
//
// One query of the scene serves all legs of a push (a displacement that obstacles deflect): the
// edges near the shape are stored in columns, and each leg tests them in SIMD lanes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "shape/meets_box.h"
#include "sweep/obstacle.h"

namespace carom::internal {

// The end points a and b of up to `kMost` edges, in columns.
struct alignas(64) EdgePoints {
  // at most 32, because a set of edges is stored as the bits of a uint32_t
  static constexpr size_t kMost = 32;

  std::array<double, kMost> ax, ay, bx, by;
  size_t count = 0;
};

// The path of a capsule whose axis runs from `begin` to `begin + axis`, displaced by up to `d`. The
// radius is above 0. `margin` is a displacement, in each coordinate, against which a proof of no
// touch must hold: at least 16 ulp of the largest coordinate of the shape on its path.
struct RoundPath {
  Vec2 begin;
  Vec2 axis;
  double radius;
  Vec2 d;
  double margin;
};

// Returns the set of edges, as bits, that the shape may touch on its path. For an edge not in the
// set it is proven that the shape does not touch it, not even if displaced by the margin.
using UnclearEdgesFunction = uint32_t (*)(const EdgePoints& edges, const RoundPath& path);

// Returns the function compiled for this machine's instruction set. A caller that tests many paths
// stores the function pointer.
UnclearEdgesFunction UnclearEdges();

// The edges of polygons of the scene near a capsule: those with bounding boxes that meet the box
// `zone`, an argument of `Gather`. Not thread-safe.
class NearEdges {
 public:
  static constexpr size_t kMostPolygons = 24;

  // Collects the edges with boxes that meet `zone`. Returns false, and sets `zone_` to an empty
  // box, if `zone` meets a body, or too many edges or polygons.
  bool Gather(const Obstacles& obstacles, const Box& zone, WorkMeter& meter);

  void Clear() { zone_ = {}; }
  // Returns whether p is in the box `zone` of the last `Gather`: then the collected edges include
  // all edges at p.
  bool Covers(Vec2 p) const { return zone_.Contains(p); }
  // Returns whether p is outside of all polygons whose boxes meet the box `zone` of the last
  // `Gather`. Exact.
  bool IsOutside(Vec2 p, WorkMeter& meter) const;

  const EdgePoints& points() const { return points_; }
  Segment edge(size_t i) const {
    return {{points_.ax[i], points_.ay[i]}, {points_.bx[i], points_.by[i]}};
  }
  const IndexedPolygon& polygon(size_t i) const { return *polygons_[polygon_[i]]; }
  // Returns the index of edge i in the polygon `polygon(i)`.
  uint32_t number(size_t i) const { return number_[i]; }

 private:
  bool AddPolygon(const IndexedPolygon& polygon, const MeetsBox& meets, WorkMeter& meter);
  bool AddEdge(size_t number, const Segment& edge);

  // the box whose edges are collected; empty if `Gather` failed
  Box zone_;
  EdgePoints points_;
  std::array<const IndexedPolygon*, kMostPolygons> polygons_;
  size_t polygon_count_ = 0;
  std::array<uint8_t, EdgePoints::kMost> polygon_;
  std::array<uint32_t, EdgePoints::kMost> number_;
};

}  // namespace carom::internal
