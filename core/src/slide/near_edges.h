// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges are near a round shape that is pushed around, and which of these edges is a path
// certainly clear of?
//
// One lookup serves all legs of a push: the edges near the shape are kept in columns, and each leg
// tests them in lanes.
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

// The end points of up to `kMost` edges.
struct alignas(64) EdgePoints {
  static constexpr size_t kMost = 32;  // one bit of a uint32_t each

  std::array<double, kMost> ax, ay, bx, by;
  size_t count = 0;
};

// The path by `d` of an axis from `begin` to `begin + axis` with a radius above 0. `margin` applies
// to each coordinate; it is at least 16 ulp of the largest coordinate of the shape on its path.
struct RoundPath {
  Vec2 begin;
  Vec2 axis;
  double radius;
  Vec2 d;
  double margin;
};

// Returns bit i for each edge i, unless the shape on its path, even displaced by the margin,
// certainly does not touch the edge.
using UnclearEdgesFunction = uint32_t (*)(const EdgePoints& edges, const RoundPath& path);

// Returns the function for this machine's instruction set, which callers that use it often keep.
UnclearEdgesFunction UnclearEdges();

// The edges with boxes that meet a zone. Not thread-safe.
class NearEdges {
 public:
  static constexpr size_t kMostPolygons = 24;

  // Collects the edges with boxes that meet `zone`. Returns false, and covers nothing, if it meets
  // a body, or too many edges or polygons.
  bool Gather(const Obstacles& obstacles, const Box& zone, WorkMeter& meter);

  void Clear() { zone_ = {}; }
  // Returns whether p is in the zone: then the collected edges include all edges at p.
  bool Covers(Vec2 p) const { return zone_.Contains(p); }
  // Returns whether p is outside of all polygons with boxes that meet the zone. Exact.
  bool IsOutside(Vec2 p, WorkMeter& meter) const;

  const EdgePoints& points() const { return points_; }
  Segment edge(size_t i) const {
    return {{points_.ax[i], points_.ay[i]}, {points_.bx[i], points_.by[i]}};
  }
  const IndexedPolygon& polygon(size_t i) const { return *polygons_[polygon_[i]]; }
  uint32_t number(size_t i) const { return number_[i]; }  // number within its polygon

 private:
  bool AddPolygon(const IndexedPolygon& polygon, const MeetsBox& meets, WorkMeter& meter);
  bool AddEdge(size_t number, const Segment& edge);

  Box zone_;  // empty if nothing is covered
  EdgePoints points_;
  std::array<const IndexedPolygon*, kMostPolygons> polygons_;
  size_t polygon_count_ = 0;
  std::array<uint8_t, EdgePoints::kMost> polygon_;
  std::array<uint32_t, EdgePoints::kMost> number_;
};

}  // namespace carom::internal
