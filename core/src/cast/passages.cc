// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/passages.h"

#include <span>
#include <utility>

#include "carom/predicates.h"
#include "cast/plain_passage.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// The change of the winding number where an edge passes the line from side `from` to side `to`
// (signs of `Orientation`), seen by a traveller just left of the line: +1 from left to right.
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

// Only solid polygons of one closed ring: elsewhere the two crossings may not be filled between.
PlainVerdict FindPlainPassage(const Line& line, const Polygon& polygon, PlainPassage& passage) {
  if (!IsPlain(polygon)) return PlainVerdict::kUncertain;
  return FindPlain(line, polygon.vertices(), passage);
}

// An end without an edge is that of the line, which lies inside. Crossings are away from vertices
// and not parallel, as the plain case demands.
Passage PassageOf(const Line& line, const Polygon& polygon, const PlainPassage& plain) {
  Passage passage;
  if (plain.entry == kNoEdge) {
    passage.begin = Fraction::Start(line);
  } else {
    passage.begin = Fraction::OfCrossingAt(plain.begin, polygon.edge(plain.entry));
    passage.entry = {plain.entry, false, passage.begin};
  }
  if (plain.exit == kNoEdge) {
    passage.end = Fraction::End(line);
  } else {
    passage.end = Fraction::OfCrossingAt(plain.end, polygon.edge(plain.exit));
    passage.exit = {plain.exit, false, passage.end};
  }
  return passage;
}

// The cheapest first: one passage by filters, several by filters, all by exact touches.
const std::vector<Passage>& PassageFinder::Find(const IndexedPolygon& polygon, WorkMeter& meter) {
  passages_.clear();
  if (!meter.Spend(std::min(polygon.polygon().vertex_count(), kMaxPlainEdges))) return passages_;
  PlainPassage plain;
  switch (FindPlainPassage(line_, polygon.polygon(), plain)) {
    case PlainVerdict::kNoPassage:
      return passages_;
    case PlainVerdict::kPassage:
      passages_.push_back(PassageOf(line_, polygon.polygon(), plain));
      return passages_;
    case PlainVerdict::kUncertain:
      break;
  }
  return FindSeveral(polygon, meter);
}

const std::vector<Passage>& PassageFinder::FindSeveral(const IndexedPolygon& polygon,
                                                       WorkMeter& meter) {
  if (FindConvex(polygon, meter)) return passages_;
  if (meter.Spend(std::min(polygon.polygon().vertex_count(), PlainCrossings::kMaxEdges)) &&
      FindByCrossings(polygon.polygon())) {
    return passages_;
  }
  return FindByTouches(polygon, meter);
}

// Between two crossings the line is in the polygon where it is filled.
bool PassageFinder::FindByCrossings(const Polygon& polygon) {
  if (!IsPlain(polygon)) return false;
  PlainCrossings found;
  if (!FindPlainCrossings(line_, polygon.vertices(), found)) return false;
  passages_.clear();
  int64_t winding = found.winding_at_start;
  bool is_inside = polygon.IsFilled(winding);
  Passage passage{Fraction::Start(line_), {}, {}, {}};
  for (size_t i = 0; i < found.count; ++i) {
    const PlainCrossing& crossing = found.crossings[i];
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

// Without a touch the line is inside all along or not at all: the start decides.
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

// Where the start is, and the winding number of the moved line just after it. A start at t_min > 0
// is no pair of doubles: the touches there and the edges behind decide.
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

// A segment of length zero has one parameter, t = 0.
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

// Where the line's unbounded extension meets an edge that is not parallel to it, given the sides of
// its ends: at the end that is on the line, or between them.
Meeting PassageFinder::Meet(const Segment& edge, int side_a, int side_b) const {
  if (side_a == 0) return Fraction::OfVertex(line_, axis_, edge.a);
  if (side_b == 0) return Fraction::OfVertex(line_, axis_, edge.b);
  return Fraction::OfCrossing(line_, edge);
}

// An edge with both ends strictly on one side is not met. One with both ends on the line runs along
// it.
void PassageFinder::AddTouch(uint32_t index, const Segment& edge) {
  const int side_a = line_.Side(edge.a);
  const int side_b = line_.Side(edge.b);
  if (side_a * side_b > 0) return;
  if (side_a == 0 && side_b == 0) return AddParallelTouch(index, edge);
  const Meeting met = Meet(edge, side_a, side_b);
  if (met.range != 0) return;
  touches_.push_back({met.at, met.at, index, WindingChange(side_a, side_b), false});
}

// The part of the edge that lies in [t_min, t_max]. It does not pass the moved line, so the winding
// number stays.
void PassageFinder::AddParallelTouch(uint32_t index, const Segment& edge) {
  const bool in_order = axis_.Compare(edge.a, edge.b) <= 0;
  const Meeting first = Fraction::OfVertex(line_, axis_, in_order ? edge.a : edge.b);
  const Meeting last = Fraction::OfVertex(line_, axis_, in_order ? edge.b : edge.a);
  if (first.range > 0 || last.range < 0) return;
  touches_.push_back({first.range < 0 ? Fraction::Start(line_) : first.at,
                      last.range > 0 ? Fraction::End(line_) : last.at, index, 0, true});
}

// The winding number of the moved line just after its start: the sum over all edges that pass the
// line's unbounded extension at or behind the start.
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

// The line along its sorted touches. A gap is inside where the moved line's winding number, that
// just after the start and the changes at all touches before the gap, is filled. (Touches at the
// start are part of the number given.)
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
  int64_t winding_;  // after the first `counted_` touches
  size_t counted_ = 0;
};

void PassageFinder::JoinTouches(const Polygon& polygon, const PointInPolygon& start,
                                WorkMeter& meter) {
  TouchPath path(*this, polygon, start.winding);
  PassageMerge<Fraction, Touch, TouchPath> merge(touches_, start.location != Location::kOutside,
                                                 path, meter);
  while (const auto passage = merge.Next()) Report(*passage, meter);
}

// Adds a passage, with the edges to report chosen among its touches.
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
