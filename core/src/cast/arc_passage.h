// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does an arc, the path of a point under constant acceleration, meet one polygon?
//
// `ArcPassageFinder` finds the hit to report of a polygon: where the arc first touches the polygon;
// or, for an arc that starts inside, as the inside policy chooses, where the arc leaves the passage
// (interval of the arc inside the polygon) that contains its start, or where the arc enters again
// after that passage. For a start outside, the first touch of any edge is the hit. For a start
// inside, the touches of all edges (times at which the point is on an edge) are merged
// (base/passage_merge.h), and the winding number just after a gap between touches begins decides
// whether the polygon is filled in the gap.
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

// A time, or an interval of time, at which the moving point is on one edge of a polygon.
struct ArcTouch {
  ArcTime begin;
  ArcTime end;
  uint32_t edge = kNoEdge;
  // Whether the velocity of the point is parallel to the edge at the touch, or the edge has no
  // length.
  bool along = false;

  uint32_t source() const { return edge; }
};

// The hit of an arc in one polygon.
struct ArcContact {
  // The touch (time or interval at which the moving point is on an edge) of the reported edge, if
  // any. The time of the hit is `touch.end` if `at_exit`, else `touch.begin`.
  ArcTouch touch;
  bool holds_start = false;
  bool at_exit = false;

  const ArcTime& at() const { return at_exit ? touch.end : touch.begin; }
};

// Finds the hits of one arc (the path of a point under constant acceleration), in one polygon at a
// time, and reuses its memory between polygons. Keeps references to the motion and the meter. Not
// thread-safe.
class ArcPassageFinder {
 public:
  ArcPassageFinder(const ArcMotion& motion, WorkMeter& meter) : motion_(motion), meter_(meter) {}

  // Returns the hit that `policy` reports of `polygon`, or nullopt. If the arc starts outside,
  // `Find` considers only edges that meet `reach`, a box around the part of the arc to search. The
  // result is meaningless once the meter has stopped the work.
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
