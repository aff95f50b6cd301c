// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/passages.h"

#include <span>
#include <utility>

#include "carom/predicates.h"
#include "cast/fast_passage.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// Returns the change of the winding number, along a path just left of the line, where the path
// crosses an edge that runs from side `from` of the line to side `to`: +1 for an edge from left to
// right. A side is 1 left of the line, -1 right of it, and 0 on it.
int8_t WindingChange(int from, int to) {
  return static_cast<int8_t>((from > 0 ? 1 : 0) - (to > 0 ? 1 : 0));
}

void Prefer(PassageEdge& best, const PassageEdge& candidate) {
  if (IsPreferredEdge(candidate.index, candidate.parallel, best.index, best.parallel)) {
    best = candidate;
  }
}

}  // namespace

void PassageFinder::Start(const Line& line) {
  line_ = line;
  axis_ = DominantAxis(line);
}

// Decides only for solid polygons of one closed ring: in other polygons the part of the line
// between two crossings of edges may not be filled.
FastVerdict FindFastPassage(const Line& line, const Polygon& polygon, FastPassage& passage) {
  if (!SuitsFastPath(polygon)) return FastVerdict::kUncertain;
  return FindFast(line, polygon.vertices(), passage);
}

// A passage is an interval of the line inside the polygon. If the passage begins or ends without an
// edge (kNoEdge), the line starts or ends inside the polygon, and the passage begins or ends there.
// The edges that `FindFastPassage` finds are not parallel to the line, and cross it away from their
// ends.
Passage PassageOf(const Line& line, const Polygon& polygon, const FastPassage& fast) {
  Passage passage;
  if (fast.entry == kNoEdge) {
    passage.begin = Fraction::Start(line);
  } else {
    passage.begin = Fraction::OfCrossingAt(fast.begin, polygon.edge(fast.entry));
    passage.entry = {fast.entry, false, passage.begin};
  }
  if (fast.exit == kNoEdge) {
    passage.end = Fraction::End(line);
  } else {
    passage.end = Fraction::OfCrossingAt(fast.end, polygon.edge(fast.exit));
    passage.exit = {fast.exit, false, passage.end};
  }
  return passage;
}

// Finds the passages of the line (its largest intervals inside the polygon). Tries the cheapest
// method first: one passage by floating-point filters, then several passages by filters, then all
// passages by the exact touches of the line and the edges.
const std::vector<Passage>& PassageFinder::Find(const IndexedPolygon& polygon, WorkMeter& meter) {
  passages_.clear();
  if (!meter.Spend(std::min(polygon.polygon().vertex_count(), kMaxFastEdges))) return passages_;
  FastPassage fast;
  switch (FindFastPassage(line_, polygon.polygon(), fast)) {
    case FastVerdict::kNoPassage:
      return passages_;
    case FastVerdict::kPassage:
      passages_.push_back(PassageOf(line_, polygon.polygon(), fast));
      return passages_;
    case FastVerdict::kUncertain:
      break;
  }
  return FindSeveral(polygon, meter);
}

const std::vector<Passage>& PassageFinder::FindSeveral(const IndexedPolygon& polygon,
                                                       WorkMeter& meter) {
  if (FindConvex(polygon, meter)) return passages_;
  if (meter.Spend(std::min(polygon.polygon().vertex_count(), FastCrossings::kMaxEdges)) &&
      FindByCrossings(polygon.polygon())) {
    return passages_;
  }
  return FindByTouches(polygon, meter);
}

// Finds the passages (largest intervals of the line inside the polygon) from the crossings of the
// line and the edges, if floating-point filters determine all of them: the line is in the polygon
// between two crossings where the fill rule fills the winding number. Returns false if the filters
// cannot decide.
bool PassageFinder::FindByCrossings(const Polygon& polygon) {
  if (!SuitsFastPath(polygon)) return false;
  FastCrossings found;
  if (!FindFastCrossings(line_, polygon.vertices(), found)) return false;
  passages_.clear();
  int64_t winding = found.winding_at_start;
  bool is_inside = polygon.IsFilled(winding);
  Passage passage{Fraction::Start(line_), {}, {}, {}};
  for (size_t i = 0; i < found.count; ++i) {
    const FastCrossing& crossing = found.crossings[i];
    winding += crossing.winding_change;
    if (polygon.IsFilled(winding) == is_inside) continue;
    is_inside = !is_inside;
    const Fraction at = Fraction::OfCrossingAt(crossing.at, polygon.edge(crossing.edge));
    if (is_inside) {
      passage = {at, {}, {crossing.edge, false, at}, {}};
    } else {
      passage.end = at;
      passage.exit = {crossing.edge, false, at};
      passages_.push_back(passage);
    }
  }
  if (is_inside) {
    passage.end = Fraction::End(line_);
    passages_.push_back(passage);
  }
  return true;
}

// Finds the passages (intervals of the line inside the polygon) from the exact touches: the points
// or intervals at which the line meets an edge. If no edge touches the line, the whole line is
// inside or outside, as its start is.
const std::vector<Passage>& PassageFinder::FindByTouches(const IndexedPolygon& polygon,
                                                         WorkMeter& meter) {
  passages_.clear();
  if (line_.is_point()) {
    FindAtPoint(polygon, meter);
    return passages_;
  }
  CollectTouches(polygon, meter);
  const PointInPolygon start = AfterStart(polygon, meter);
  if (touches_.empty() && start.location == Location::kOutside) return passages_;
  if (meter.stopped()) return passages_;
  JoinTouches(polygon.polygon(), start, meter);
  return passages_;
}

// Returns the location of the line's start, and the winding number just after the start along the
// moved line (the line moved by an infinitesimal amount to its left). A start at t_min > 0 has no
// exact coordinates in doubles, so the touches at the start and the edges that the line's extension
// crosses behind the start decide.
PointInPolygon PassageFinder::AfterStart(const IndexedPolygon& polygon, WorkMeter& meter) const {
  PointInPolygon start;
  if (line_.t_min == 0) {
    start = LocateInPolygon(polygon, line_.origin, meter);
    if (start.location != Location::kBoundary) return start;
  } else if (!line_.BoundsUpTo(line_.t_min).Intersects(polygon.polygon().bounds())) {
    return start;
  } else if (!touches_.empty() && touches_[0].begin.is_start()) {
    start.location = Location::kBoundary;
  }
  start.winding = WindingAfterStart(polygon, meter);
  if (start.location == Location::kOutside && polygon.polygon().IsFilled(start.winding)) {
    start.location = Location::kInside;
  }
  return start;
}

// Adds the passage (the interval inside the polygon) of a segment of length zero, a single point
// with the parameter t = 0, if the point is in the polygon. The edge to report at both ends of the
// passage is the edge of least index that contains the point, if any.
void PassageFinder::FindAtPoint(const IndexedPolygon& polygon, WorkMeter& meter) {
  const Vec2 p = line_.origin;
  if (LocateInPolygon(polygon, p, meter).location == Location::kOutside) return;
  Passage passage;
  const auto meets = [p](const Box& box) { return box.Contains(p); };
  polygon.VisitEdges(meter, meets, [&](size_t index, const Segment& edge) {
    if (!IsOnSegment(p, edge)) return true;
    passage.entry = passage.exit = {static_cast<uint32_t>(index), true, {}};
    return false;
  });
  passages_.push_back(passage);
}

void PassageFinder::CollectTouches(const IndexedPolygon& polygon, WorkMeter& meter) {
  touches_.clear();
  polygon.VisitEdges(
      meter, [this](const Box& box) { return MayMeet(box); },
      [&](size_t index, const Segment& edge) {
        AddTouch(static_cast<uint32_t>(index), edge);
        return true;
      });
  SortTouches(
      touches_, [this](const Fraction& a, const Fraction& b) { return Compare(a, b); }, meter);
}

// Returns the line's parameter (`Meeting::at`) where the line's unbounded extension meets an edge
// that is not parallel to the line: at the end of the edge that is on the line, or between the
// ends. `Meeting::range` is -1, 0 or 1 if the parameter is before, in or after [t_min, t_max]; `at`
// is valid only if it is in this range. `side_a` and `side_b` are the sides of the ends
// (`Line::Side`).
Meeting PassageFinder::Meet(const Segment& edge, int side_a, int side_b) const {
  if (side_a == 0) return Fraction::OfVertex(line_, axis_, edge.a);
  if (side_b == 0) return Fraction::OfVertex(line_, axis_, edge.b);
  return Fraction::OfCrossing(line_, edge);
}

// Adds the touch of the line and an edge (the point or interval that they share), if they meet. An
// edge with both ends strictly on one side of the line has no touch. An edge with both ends on the
// line is parallel to the line.
void PassageFinder::AddTouch(uint32_t index, const Segment& edge) {
  const int side_a = line_.Side(edge.a);
  const int side_b = line_.Side(edge.b);
  if (side_a * side_b > 0) return;
  if (side_a == 0 && side_b == 0) return AddParallelTouch(index, edge);
  const Meeting met = Meet(edge, side_a, side_b);
  if (met.range != 0) return;
  touches_.push_back({met.at, met.at, index, WindingChange(side_a, side_b), false});
}

// Adds the touch of the line and an edge that lies on the line's extension (the interval that they
// share): the part of the edge within the line's [t_min, t_max]. The edge does not cross the moved
// line (the line moved by an infinitesimal amount to its left), so the winding number does not
// change.
void PassageFinder::AddParallelTouch(uint32_t index, const Segment& edge) {
  const bool in_order = axis_.Compare(edge.a, edge.b) <= 0;
  const Meeting first = Fraction::OfVertex(line_, axis_, in_order ? edge.a : edge.b);
  const Meeting last = Fraction::OfVertex(line_, axis_, in_order ? edge.b : edge.a);
  if (first.range > 0 || last.range < 0) return;
  touches_.push_back({first.range < 0 ? Fraction::Start(line_) : first.at,
                      last.range > 0 ? Fraction::End(line_) : last.at, index, 0, true});
}

// Returns the winding number just after the line's start, along the moved line (the line moved by
// an infinitesimal amount to its left): the sum of the changes at all edges that pass the line's
// unbounded extension at or behind the start.
int64_t PassageFinder::WindingAfterStart(const IndexedPolygon& polygon, WorkMeter& meter) const {
  if (polygon.polygon().solidity() == Solidity::kBoundary) return 0;
  int64_t winding = 0;
  const auto meets = [this](const Box& box) { return LineMayMeet(box); };
  polygon.VisitEdges(meter, meets, [&](size_t, const Segment& edge) {
    const int side_a = line_.Side(edge.a);
    const int side_b = line_.Side(edge.b);
    const int8_t change = WindingChange(side_a, side_b);
    if (change == 0) return true;
    const Meeting met = Meet(edge, side_a, side_b);
    if (met.range < 0 || (met.range == 0 && met.at.is_start())) winding += change;
    return true;
  });
  return winding;
}

// The template argument `Path` of `PassageMerge`: compares parameters of the line, and decides
// which gaps between the sorted touches of the line and the polygon's edges are inside the polygon.
// A gap is inside if the fill rule fills its winding number: `winding`, the number just after the
// line's start, plus the changes at all touches between the start and the gap. `winding` already
// includes touches at the start.
class PassageFinder::TouchPath {
 public:
  TouchPath(const PassageFinder& finder, const Polygon& polygon, int64_t winding)
      : finder_(finder), polygon_(polygon), winding_(winding) {}

  Fraction Start() const { return Fraction::Start(finder_.line_); }
  Fraction Limit() const { return Fraction::End(finder_.line_); }
  int Compare(const Fraction& a, const Fraction& b) const { return finder_.Compare(a, b); }
  bool IsGapInside(const Fraction&, size_t next) {
    for (; counted_ < next; ++counted_) {
      const Touch& touch = finder_.touches_[counted_];
      if (!touch.begin.is_start()) winding_ += touch.winding_change;
    }
    return polygon_.IsFilled(winding_);
  }

 private:
  const PassageFinder& finder_;
  const Polygon& polygon_;
  int64_t winding_;  // winding number after the first `counted_` touches
  size_t counted_ = 0;
};

void PassageFinder::JoinTouches(const Polygon& polygon, const PointInPolygon& start,
                                WorkMeter& meter) {
  TouchPath path(*this, polygon, start.winding);
  PassageMerge<Fraction, Touch, TouchPath> merge(touches_, start.location != Location::kOutside,
                                                 path, meter);
  while (const auto passage = merge.Next()) Report(*passage, meter);
}

// Adds a passage (largest interval of the line inside the polygon), and chooses the edges to report
// at its begin and end among the touches (points or intervals at which the line meets an edge) of
// the passage.
void PassageFinder::Report(const MergedPassage<Fraction>& merged, WorkMeter& meter) {
  Passage passage{merged.begin, merged.end, {}, {}};
  for (size_t i = merged.first; i < merged.last && meter.Spend(1); ++i) {
    const Touch& touch = touches_[i];
    if (Compare(touch.begin, passage.begin) == 0) {
      Prefer(passage.entry, {touch.edge, touch.parallel, touch.begin});
    }
    if (Compare(touch.end, passage.end) == 0) {
      Prefer(passage.exit, {touch.edge, touch.parallel, touch.end});
    }
  }
  passages_.push_back(passage);
}

}  // namespace carom::internal
