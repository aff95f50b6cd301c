// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a polygon's edges block the sight of an eye in the polygon, if the passage that
// contains the eye does not?
//
// On each ray from the eye, the passage that contains the eye ends at the first point behind which
// the polygon is not filled; the next edge on the ray blocks. `Reentry` turns a ray about the eye
// and keeps the edges that it meets in order. From one event to the next (the begin or the end of
// an edge, a crossing, an edge through the eye) the order is constant, and so is the winding number
// in each gap between edges, which decides where the passage ends. Directions along edges through
// the eye are single directions, in which nothing visible has an area.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "area/envelope.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"

namespace carom::internal {

// Not thread-safe; used for one polygon after another.
class Reentry {
 public:
  // Adds the edges of `polygon`, which contains the eye, to the eye, under its last source, and
  // appends what blocks to `blockers`. Cost: O((n + k) w) for n edges near the eye, of which k
  // pairs cross and a ray meets at most w. Returns false once the meter stops the work.
  bool Add(const IndexedPolygon& polygon, Eye& eye, std::vector<Blocker>& blockers,
           WorkMeter& meter);
  // Returns the number of entries for which there is memory.
  size_t capacity() const { return events_.capacity() + active_.capacity() + parts_.capacity(); }

 private:
  // kLeave, kEnter: the ray leaves or enters an edge. kTurn: the winding number next to the eye
  // changes by `change`.
  enum class EventKind : uint8_t { kLeave, kEnter, kTurn };
  struct Event {
    EyeDirection at;
    uint32_t edge;
    EventKind kind;
    int8_t change;
  };

  bool Collect(const IndexedPolygon& polygon, Eye& eye, WorkMeter& meter);
  void AddTurns(const Segment& edge, Eye& eye);
  bool FindWinding(const IndexedPolygon& polygon, Vec2 eye, WorkMeter& meter);
  bool Sweep(const Polygon& polygon, const Eye& eye, std::vector<Blocker>& blockers,
             WorkMeter& meter);
  uint32_t BlockingEdge(const Polygon& polygon, const Eye& eye) const;
  EyeDirection NextCrossing(const Eye& eye, const EyeDirection& at, const EyeDirection& next) const;
  bool IsBefore(const Eye& eye, const EyeDirection& at, uint32_t e, uint32_t f) const;
  bool SortActive(const Eye& eye, const EyeDirection& at, WorkMeter& meter);
  bool Apply(const Eye& eye, const EyeDirection& at, size_t& event, WorkMeter& meter);

  std::vector<Event> events_;
  std::vector<uint32_t> active_;  // the edges that the ray meets, near ones first
  std::vector<uint32_t> entered_, left_, merged_;
  std::vector<Blocker> parts_;
  int64_t winding_ = 0;  // next to the eye, in the direction of the ray
};

}  // namespace carom::internal
