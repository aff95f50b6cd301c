// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "passages.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "carom/predicates.h"
#include "exact.h"

namespace carom::internal {
namespace {

// The change of the winding number where an edge passes the line from side `from` to side `to`
// (signs of `Orientation`), seen by a traveller just left of the line: +1 from left to right.
int8_t WindingChange(int from, int to) {
  return static_cast<int8_t>((from > 0 ? 1 : 0) - (to > 0 ? 1 : 0));
}

// The least edge that is not parallel, else the least of all.
void Prefer(PassageEdge& best, PassageEdge candidate) {
  if (best.index == kNoEdge || (best.parallel && !candidate.parallel) ||
      (best.parallel == candidate.parallel && candidate.index < best.index)) {
    best = candidate;
  }
}

}  // namespace

void PassageFinder::Start(const Segment& segment) {
  segment_ = segment;
  bounds_ = BoundsOf(segment);
  axis_ = DominantAxis(segment);
}

// The box misses the line when its four corners lie strictly on one side. Each product below has
// three roundings, their difference a fourth: 8u of the magnitudes covers them.
bool PassageFinder::LineMayMeet(const Box& box) const {
  const double dx = segment_.b.x - segment_.a.x;
  const double dy = segment_.b.y - segment_.a.y;
  const double y1 = dx * (box.min.y - segment_.a.y);
  const double y2 = dx * (box.max.y - segment_.a.y);
  const double x1 = dy * (box.min.x - segment_.a.x);
  const double x2 = dy * (box.max.x - segment_.a.x);
  const double error =
      8 * kUnit * (std::max(std::abs(y1), std::abs(y2)) + std::max(std::abs(x1), std::abs(x2)));
  return std::max(y1, y2) - std::min(x1, x2) >= -error &&
         std::min(y1, y2) - std::max(x1, x2) <= error;
}

bool PassageFinder::MayMeet(const Box& box) const {
  return bounds_.Intersects(box) && LineMayMeet(box);
}

const std::vector<Passage>& PassageFinder::Find(const IndexedPolygon& polygon, WorkMeter& meter) {
  passages_.clear();
  if (segment_.a == segment_.b) {
    FindAtPoint(polygon, meter);
    return passages_;
  }
  CollectTouches(polygon, meter);
  const PointInPolygon start = LocateInPolygon(polygon, segment_.a, meter);
  if (touches_.empty() && start.location == Location::kOutside) return passages_;
  const bool on_edge = start.location == Location::kBoundary;
  const int64_t winding = on_edge ? WindingAfterStart(polygon, meter) : start.winding;
  if (meter.stopped()) return passages_;
  JoinTouches(polygon.polygon(), start.location != Location::kOutside, winding, meter);
  return passages_;
}

// A segment of length zero has one parameter, t = 0.
void PassageFinder::FindAtPoint(const IndexedPolygon& polygon, WorkMeter& meter) {
  const Vec2 p = segment_.a;
  if (LocateInPolygon(polygon, p, meter).location == Location::kOutside) return;
  Passage passage;
  const auto meets = [p](const Box& box) { return box.Contains(p); };
  polygon.VisitEdges(meter, meets, [&](size_t index, const Segment& edge) {
    if (!IsOnSegment(p, edge)) return true;
    passage.entry = passage.exit = {static_cast<uint32_t>(index), true, Fraction::Zero()};
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
  SortTouches(meter);
}

// Above a few touches a heap sort, which stays within its range whatever the comparisons say: once
// the meter has stopped they look at edge numbers alone, and the sort ends soon.
void PassageFinder::SortTouches(WorkMeter& meter) {
  constexpr size_t kFew = 256;
  const auto before = [this](const Touch& a, const Touch& b) {
    const int order = Compare(a.begin, b.begin);
    return order != 0 ? order < 0 : a.edge < b.edge;
  };
  if (touches_.size() <= kFew) {
    std::sort(touches_.begin(), touches_.end(), before);
    return;
  }
  const auto metered = [&](const Touch& a, const Touch& b) {
    return meter.Spend(1) ? before(a, b) : a.edge < b.edge;
  };
  std::make_heap(touches_.begin(), touches_.end(), metered);
  std::sort_heap(touches_.begin(), touches_.end(), metered);
}

void PassageFinder::AddTouch(uint32_t index, const Segment& edge) {
  const int side_a = Orientation(segment_.a, segment_.b, edge.a);
  const int side_b = Orientation(segment_.a, segment_.b, edge.b);
  if (side_a * side_b > 0) return;
  if (side_a == 0 && side_b == 0) return AddParallelTouch(index, edge);
  const int8_t change = WindingChange(side_a, side_b);
  if (side_a == 0 || side_b == 0) {
    const Vec2 vertex = side_a == 0 ? edge.a : edge.b;
    if (!bounds_.Contains(vertex)) return;
    const Fraction t = Fraction::OfVertex(segment_, axis_, vertex);
    touches_.push_back({t, t, index, change, false});
    return;
  }
  const int side_of_start = Orientation(edge.a, edge.b, segment_.a);
  const int side_of_end = Orientation(edge.a, edge.b, segment_.b);
  if (side_of_start * side_of_end > 0) return;
  const Fraction t = side_of_start == 0 ? Fraction::Zero()
                     : side_of_end == 0 ? Fraction::One()
                                        : Fraction::OfCrossing(segment_, edge);
  touches_.push_back({t, t, index, change, false});
}

void PassageFinder::AddParallelTouch(uint32_t index, const Segment& edge) {
  const bool in_order = axis_.Compare(edge.a, edge.b) <= 0;
  Vec2 first = in_order ? edge.a : edge.b;
  Vec2 last = in_order ? edge.b : edge.a;
  if (axis_.Compare(first, segment_.a) < 0) first = segment_.a;
  if (axis_.Compare(last, segment_.b) > 0) last = segment_.b;
  if (axis_.Compare(first, last) > 0) return;
  touches_.push_back({Fraction::OfVertex(segment_, axis_, first),
                      Fraction::OfVertex(segment_, axis_, last), index, 0, true});
}

// The winding number of the moved segment just after its start, where the start is on an edge: the
// sum over all edges that pass the line at or behind the start. An edge passes the line where its
// vertex on the line is, or where the start and the edge's second vertex tell: with `ahead` the
// side of the edge on which the start lies, t has the sign of ahead * side_b.
int64_t PassageFinder::WindingAfterStart(const IndexedPolygon& polygon, WorkMeter& meter) const {
  if (polygon.polygon().solidity() == Solidity::kBoundary) return 0;
  int64_t winding = 0;
  const auto meets = [this](const Box& box) { return LineMayMeet(box); };
  polygon.VisitEdges(meter, meets, [&](size_t, const Segment& edge) {
    const int side_a = Orientation(segment_.a, segment_.b, edge.a);
    const int side_b = Orientation(segment_.a, segment_.b, edge.b);
    const int8_t change = WindingChange(side_a, side_b);
    if (change == 0) return true;
    int ahead = 0;
    if (side_a == 0 || side_b == 0) {
      ahead = axis_.Compare(side_a == 0 ? edge.a : edge.b, segment_.a);
    } else {
      ahead = Orientation(edge.a, edge.b, segment_.a) * side_b;
    }
    if (ahead <= 0) winding += change;
    return true;
  });
  return winding;
}

// Walks the touches in order. Between two of them the segment is in the polygon where the gap is
// filled, or where a parallel edge covers it.
void PassageFinder::JoinTouches(const Polygon& polygon, bool starts_inside, int64_t winding,
                                WorkMeter& meter) {
  bool open = starts_inside;
  size_t first_touch = 0;
  Passage passage;
  size_t i = 0;
  while (i < touches_.size() && meter.Spend(1)) {
    const Fraction at = touches_[i].begin;
    if (open && polygon.IsFilled(winding)) {
      if (Compare(passage.end, at) < 0) passage.end = at;
    } else if (open && Compare(passage.end, at) < 0) {
      Close(passage, first_touch, i, meter);
      open = false;
    }
    if (!open) {
      passage = {at, at, {}, {}};
      first_touch = i;
      open = true;
    }
    for (; i < touches_.size() && meter.Spend(1) && Compare(touches_[i].begin, at) == 0; ++i) {
      if (!at.is_zero()) winding += touches_[i].winding_change;
      if (Compare(passage.end, touches_[i].end) < 0) passage.end = touches_[i].end;
    }
  }
  if (!open) return;
  if (polygon.IsFilled(winding)) passage.end = Fraction::One();
  Close(passage, first_touch, touches_.size(), meter);
}

// Chooses the reported edges among the touches of the passage, and keeps it.
void PassageFinder::Close(Passage& passage, size_t first_touch, size_t last_touch,
                          WorkMeter& meter) {
  for (size_t i = first_touch; i < last_touch && meter.Spend(1); ++i) {
    const Touch& touch = touches_[i];
    if (Compare(touch.begin, passage.begin) == 0) {
      Prefer(passage.entry, {touch.edge, touch.parallel, touch.begin});
    }
    if (Compare(touch.end, passage.end) == 0) {
      Prefer(passage.exit, {touch.edge, touch.parallel, touch.end});
    }
  }
  passages_.push_back(passage);
  passage.entry = passage.exit = {};
}

}  // namespace carom::internal
