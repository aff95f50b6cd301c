// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/arc_passage.h"

#include "base/hit_collector.h"
#include "base/passage_merge.h"
#include "carom/predicates.h"

namespace carom::internal {
namespace {

bool IsPreferred(const ArcTouch& a, const ArcTouch& best) {
  return IsPreferredEdge(a.edge, a.along, best.edge, best.along);
}

}  // namespace

// If the arc starts inside and the inside policy is IGNORE or EXIT, ignores `reach` and follows the
// arc over the whole duration, since `reach` may not cover all of the passage (interval of the arc
// inside the polygon) that contains the start.
std::optional<ArcContact> ArcPassageFinder::Find(const IndexedPolygon& polygon, const Box& reach,
                                                 InsidePolicy policy) {
  const Location start = polygon.polygon().bounds().Contains(motion_.start())
                             ? LocateInPolygon(polygon, motion_.start(), meter_).location
                             : Location::kOutside;
  ArcContact hit;
  if (start == Location::kOutside) {
    hit.touch = FirstTouch(polygon, reach);
    return hit.touch.edge == kNoEdge ? std::nullopt : std::optional(hit);
  }
  const ReportedPassage reported = ApplyInsidePolicy(policy, true);
  if (reported.index > 0 || reported.at_exit) return FromInside(polygon, reported.at_exit);
  hit.holds_start = true;
  hit.touch.begin = motion_.Start();
  if (start == Location::kBoundary) hit.touch = StartTouch(polygon);
  return hit;
}

// Adds the touches of an edge: the times at which the point is on the edge's line and between the
// edge's ends.
void ArcPassageFinder::AddTouches(uint32_t index, const Segment& edge) {
  if (edge.a == edge.b) return AddPointTouches(index, edge.a);
  const Quadratic side = motion_.SideOf(edge);
  if (motion_.IsZero(side)) return AddSlidingTouches(index, edge);
  const ArcRoots roots = motion_.RootsOf(side);
  if (roots.count == 0) return;
  const Quadratic past_a = motion_.Past(edge, edge.a);
  const Quadratic past_b = motion_.Past(edge, edge.b);
  for (int i = 0; i < roots.count; ++i) {
    const ArcTime& t = roots.time[i];
    if (motion_.Sign(past_a, t) * motion_.Sign(past_b, t) > 0) continue;
    touches_.push_back({t, t, index, roots.is_double});
  }
}

// Adds the touches of an edge of length zero: the times at which both coordinates equal the edge's
// point. Such an edge counts as parallel to the velocity.
void ArcPassageFinder::AddPointTouches(uint32_t index, Vec2 point) {
  const Quadratic x = motion_.PastX(point.x);
  const Quadratic y = motion_.PastY(point.y);
  const bool x_is_zero = motion_.IsZero(x);
  if (x_is_zero && motion_.IsZero(y)) {
    touches_.push_back({motion_.Start(), motion_.End(), index, true});
    return;
  }
  const ArcRoots roots = motion_.RootsOf(x_is_zero ? y : x);
  for (int i = 0; i < roots.count; ++i) {
    const ArcTime& t = roots.time[i];
    if (motion_.Sign(x_is_zero ? x : y, t) == 0) touches_.push_back({t, t, index, true});
  }
}

// Adds the touches of an edge (intervals of time in which the point is on the edge) for a point
// that moves along the line of the edge, forth and perhaps back. The point passes an end of the
// edge only at a root of `past_a` or `past_b`, so the signs of `past_a` and `past_b` just after a
// root hold until the next root.
void ArcPassageFinder::AddSlidingTouches(uint32_t index, const Segment& edge) {
  const Quadratic past_a = motion_.Past(edge, edge.a);
  const Quadratic past_b = motion_.Past(edge, edge.b);
  // The cuts are times, in order: the start and the end of the motion, and up to two roots each of
  // `past_a` and `past_b`.
  ArcTime cuts[6] = {motion_.Start()};
  int count = 1;
  for (const Quadratic& past : {past_a, past_b}) {
    if (motion_.IsZero(past)) continue;
    const ArcRoots roots = motion_.RootsOf(past);
    for (int i = 0; i < roots.count; ++i, ++count) {
      int k = count;
      for (; k > 0 && motion_.Compare(roots.time[i], cuts[k - 1]) < 0; --k) cuts[k] = cuts[k - 1];
      cuts[k] = roots.time[i];
    }
  }
  cuts[count++] = motion_.End();
  bool open = false;  // whether the last touch lasts until the next cut
  for (int i = 0; i < count; ++i) {
    if (i > 0 && motion_.Compare(cuts[i - 1], cuts[i]) == 0) continue;
    const bool is_on = motion_.Sign(past_a, cuts[i]) * motion_.Sign(past_b, cuts[i]) <= 0;
    if (open) {
      touches_.back().end = cuts[i];
    } else if (is_on) {
      touches_.push_back({cuts[i], cuts[i], index, true});
    }
    open = is_on && motion_.SignAfter(past_a, cuts[i]) * motion_.SignAfter(past_b, cuts[i]) <= 0;
  }
}

void ArcPassageFinder::CollectTouches(const IndexedPolygon& polygon, const Box& reach) {
  touches_.clear();
  polygon.VisitEdges(
      meter_, [&](const Box& box) { return reach.Intersects(box); },
      [&](size_t index, const Segment& edge) {
        AddTouches(static_cast<uint32_t>(index), edge);
        return true;
      });
  SortTouches(
      touches_, [this](const ArcTime& a, const ArcTime& b) { return motion_.Compare(a, b); },
      meter_);
}

// Returns the touch at time 0 (the moving point is on an edge) of the edge to report, which
// `IsPreferred` chooses, for an arc that starts on the boundary of the polygon.
ArcTouch ArcPassageFinder::StartTouch(const IndexedPolygon& polygon) {
  const ArcTime start = motion_.Start();
  ArcTouch best{start, start, kNoEdge, false};
  const Vec2 p = motion_.start();
  polygon.VisitEdges(
      meter_, [p](const Box& box) { return box.Contains(p); },
      [&](size_t index, const Segment& edge) {
        if (!IsOnSegment(p, edge)) return true;
        const bool along = motion_.Sign(motion_.SideOf(edge), start, 1) == 0;
        const ArcTouch touch{start, start, static_cast<uint32_t>(index), along};
        if (IsPreferred(touch, best)) best = touch;
        return true;
      });
  return best;
}

// Returns the first touch (time at which the moving point is on an edge) of the edges with boxes
// that meet `reach`; of several edges touched first at the same time, the touch of the edge that
// `IsPreferred` prefers. The edge of the result is kNoEdge if the arc touches no edge. `AddTouches`
// adds up to two touches of an edge, in order of time.
ArcTouch ArcPassageFinder::FirstTouch(const IndexedPolygon& polygon, const Box& reach) {
  ArcTouch best;
  polygon.VisitEdges(
      meter_, [&](const Box& box) { return reach.Intersects(box); },
      [&](size_t index, const Segment& edge) {
        touches_.clear();
        AddTouches(static_cast<uint32_t>(index), edge);
        if (touches_.empty()) return true;
        const ArcTouch& touch = touches_.front();
        const int order = best.edge == kNoEdge ? -1 : motion_.Compare(touch.begin, best.begin);
        if (order < 0 || (order == 0 && IsPreferred(touch, best))) best = touch;
        return true;
      });
  return best;
}

// The template argument `Path` of `PassageMerge`: compares times of the arc, and decides whether
// the arc is inside the polygon in each gap between the sorted touches (times at which the moving
// point is on an edge).
class ArcPassageFinder::TouchPath {
 public:
  TouchPath(const ArcPassageFinder& finder, const IndexedPolygon& polygon)
      : finder_(finder), polygon_(polygon) {}

  ArcTime Start() const { return finder_.motion_.Start(); }
  ArcTime Limit() const { return finder_.motion_.End(); }
  int Compare(const ArcTime& a, const ArcTime& b) const { return finder_.motion_.Compare(a, b); }
  // Returns whether the moving point is inside the polygon in the gap that begins at time `begin`.
  // A gap is an interval of time in which the point is on no edge, so the point stays in one face
  // of the polygon until the gap ends.
  bool IsGapInside(const ArcTime& begin, size_t) const {
    return finder_.IsFilledAfter(polygon_, begin);
  }

 private:
  const ArcPassageFinder& finder_;
  const IndexedPolygon& polygon_;
};

// Returns the hit of an arc that starts inside the polygon: the end of the passage (interval of the
// arc inside the polygon) that contains the start if `at_exit`, else the first touch after that
// passage, where the arc enters again.
std::optional<ArcContact> ArcPassageFinder::FromInside(const IndexedPolygon& polygon,
                                                       bool at_exit) {
  CollectTouches(polygon, motion_.BoxUntil(motion_.duration()));
  TouchPath path(*this, polygon);
  const auto passage =
      PassageMerge<ArcTime, ArcTouch, TouchPath>(touches_, true, path, meter_).Next();
  if (!passage) return std::nullopt;
  ArcContact hit;
  if (at_exit) {
    hit.holds_start = hit.at_exit = true;
    for (size_t i = passage->first; i < passage->last && meter_.Spend(1); ++i) {
      if (motion_.Compare(touches_[i].end, passage->end) != 0) continue;
      if (IsPreferred(touches_[i], hit.touch)) hit.touch = touches_[i];
    }
    if (hit.touch.edge == kNoEdge) hit.touch.end = passage->end;
    return hit;
  }
  if (passage->last == touches_.size()) return std::nullopt;
  const ArcTouch& re_entry = touches_[passage->last];
  for (size_t i = passage->last; i < touches_.size() && meter_.Spend(1); ++i) {
    if (motion_.Compare(touches_[i].begin, re_entry.begin) != 0) break;
    if (IsPreferred(touches_[i], hit.touch)) hit.touch = touches_[i];
  }
  return hit;
}

// Returns whether the polygon is filled at the moving point just after t, when the point is on no
// edge. Counts the edges that cross the horizontal ray from the point to the right, as
// `LocateInPolygon` does, with each sign taken just after t. The point stays in one face of the
// polygon until its next touch of an edge.
bool ArcPassageFinder::IsFilledAfter(const IndexedPolygon& polygon, const ArcTime& t) const {
  if (polygon.polygon().solidity() == Solidity::kBoundary) return false;
  const Box at = motion_.BoxAt(t);
  int64_t winding = 0;
  polygon.VisitEdges(
      meter_,
      [&](const Box& box) {
        return box.max.x >= at.min.x && box.min.y <= at.max.y && box.max.y >= at.min.y;
      },
      [&](size_t, const Segment& edge) {
        const bool passes_a = motion_.SignAfter(motion_.PastY(edge.a.y), t) >= 0;
        const bool passes_b = motion_.SignAfter(motion_.PastY(edge.b.y), t) >= 0;
        if (passes_a == passes_b) return true;
        const int upward = passes_a ? 1 : -1;
        if (motion_.SignAfter(motion_.SideOf(edge), t) == upward) winding += upward;
        return true;
      });
  return polygon.polygon().IsFilled(winding);
}

}  // namespace carom::internal
