// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges are near a round shape that is pushed about, and which of them does a path surely not
// come near?
//
// One lookup serves all legs of a push: the edges near by are kept in columns, and each leg looks
// at them in lanes.
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
  static constexpr size_t kMost = 32;  // a bit each

  std::array<double, kMost> ax, ay, bx, by;
  size_t count = 0;
};

// An axis from `begin` to `begin + axis` with a radius above 0, on the path by `d`. `margin` is in
// each coordinate, and at least 16 ulp of the largest coordinate of the shape on its path.
struct RoundPath {
  Vec2 begin;
  Vec2 axis;
  double radius;
  Vec2 d;
  double margin;
};

// Bit i for edge i, unless the shape surely does not touch it on its path, nor displaced by the
// margin.
using UnclearEdgesFunction = uint32_t (*)(const EdgePoints& edges, const RoundPath& path);

// The one for this machine, to be kept by whoever asks often.
UnclearEdgesFunction UnclearEdges();

// Not thread-safe.
class NearEdges {
 public:
  static constexpr size_t kMostPolygons = 24;

  // Takes the edges whose boxes meet `zone`. Returns false, and covers nothing, where they or their
  // polygons are too many, or there is a body.
  bool Gather(const Obstacles& obstacles, const Box& zone, WorkMeter& meter);

  void Clear() { zone_ = {}; }
  // Whether it is in the zone, all edges at which are among these.
  bool Covers(Vec2 p) const { return zone_.Contains(p); }
  // Whether p is in none of the polygons whose boxes meet the zone. Exact.
  bool IsOutside(Vec2 p, WorkMeter& meter) const;

  const EdgePoints& points() const { return points_; }
  Segment edge(size_t i) const {
    return {{points_.ax[i], points_.ay[i]}, {points_.bx[i], points_.by[i]}};
  }
  const IndexedPolygon& polygon(size_t i) const { return *polygons_[polygon_[i]]; }
  uint32_t number(size_t i) const { return number_[i]; }  // within its polygon

 private:
  bool AddPolygon(const IndexedPolygon& polygon, const MeetsBox& meets, WorkMeter& meter);
  bool AddEdge(size_t number, const Segment& edge);

  Box zone_;  // empty: nothing is covered
  EdgePoints points_;
  std::array<const IndexedPolygon*, kMostPolygons> polygons_;
  size_t polygon_count_ = 0;
  std::array<uint8_t, EdgePoints::kMost> polygon_;
  std::array<uint32_t, EdgePoints::kMost> number_;
};

}  // namespace carom::internal
