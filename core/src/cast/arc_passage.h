// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does an arc meet one polygon?
//
// `ArcPassageFinder` finds what the inside policy reports of a polygon: where the arc first touches
// it, or where it leaves the passage that holds its start, or where it comes back after that. From
// outside, the first touch of any edge is the answer. From inside, the touches of all edges are
// joined (base/passage_merge.h); a gap is filled or empty by the winding number just after it
// begins.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "cast/arc_motion.h"
#include "cast/reported_edge.h"
#include "edges/indexed_polygon.h"

namespace carom::internal {

// When the point is on one edge: at one time, or throughout an interval.
struct ArcTouch {
  ArcTime begin;
  ArcTime end;
  uint32_t edge = kNoEdge;
  // The velocity runs along the edge there, or the edge has no length.
  bool along = false;

  uint32_t source() const { return edge; }
};

// The hit of one polygon.
struct ArcContact {
  ArcTouch
      touch;  // of the reported edge, if there is one; `end` is the hit at an exit, else `begin`
  bool holds_start = false;
  bool at_exit = false;

  const ArcTime& at() const { return at_exit ? touch.end : touch.begin; }
};

// One arc and one polygon at a time. Reused from polygon to polygon. Keeps references to motion and
// meter. Not thread-safe.
class ArcPassageFinder {
 public:
  ArcPassageFinder(const ArcMotion& motion, WorkMeter& meter) : motion_(motion), meter_(meter) {}

  // The hit in `polygon`, if there is one. From outside, only what `reach` holds of the arc is
  // visited. Meaningless once the meter has stopped.
  std::optional<ArcContact> Find(const IndexedPolygon& polygon, const Box& reach,
                                 InsidePolicy policy);

 private:
  class TouchPath;

  void AddTouches(uint32_t index, const Segment& edge);
  void AddPointTouches(uint32_t index, Vec2 point);
  void AddSlidingTouches(uint32_t index, const Segment& edge);
  void CollectTouches(const IndexedPolygon& polygon, const Box& reach);
  ArcTouch StartTouch(const IndexedPolygon& polygon);
  ArcTouch FirstTouch(const IndexedPolygon& polygon, const Box& reach);
  std::optional<ArcContact> FromInside(const IndexedPolygon& polygon, bool at_exit);
  bool IsFilledAfter(const IndexedPolygon& polygon, const ArcTime& t) const;

  const ArcMotion& motion_;
  WorkMeter& meter_;
  std::vector<ArcTouch> touches_;
};

}  // namespace carom::internal
