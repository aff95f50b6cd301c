// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/arc.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/metered_sort.h"
#include "carom/predicates.h"
#include "cast/arc_motion.h"
#include "index/scene_traversal.h"
#include "shape/measures.h"

namespace carom {
namespace {

using internal::ArcMotion;
using internal::ArcRoots;
using internal::ArcTime;
using internal::Quadratic;

constexpr uint32_t kNoEdge = 0xffffffff;

// When the point is on one edge: at one time, or throughout an interval.
struct Touch {
  ArcTime begin;
  ArcTime end;
  uint32_t edge = kNoEdge;
  // The velocity runs along the edge there, or the edge has no length.
  bool along = false;
};

// A hit before its measures are computed.
struct Candidate {
  const Polygon* polygon = nullptr;
  Touch touch;      // `end` is the hit at an exit, else `begin`
  double time = 0;  // that, rounded up
  bool holds_start = false;
  bool at_exit = false;

  const ArcTime& at() const { return at_exit ? touch.end : touch.begin; }
};

// The least edge along which the velocity does not run, else the least of all.
bool IsPreferred(const Touch& a, const Touch& b) {
  if (b.edge == kNoEdge) return true;
  return a.along != b.along ? b.along : a.edge < b.edge;
}

// One arc and one polygon at a time. Reused from polygon to polygon.
class PolygonArc {
 public:
  PolygonArc(const ArcMotion& motion, WorkMeter& meter) : motion_(motion), meter_(meter) {}

  // The hit in `polygon`, if there is one. Only what `reach` holds of the arc is looked at.
  // Meaningless once the meter has stopped.
  std::optional<Candidate> Find(const IndexedPolygon& polygon, const Box& reach,
                                InsidePolicy policy);

 private:
  void AddTouches(uint32_t index, const Segment& edge, std::vector<Touch>& touches) const;
  void AddPointTouches(uint32_t index, Vec2 point, std::vector<Touch>& touches) const;
  void AddSlidingTouches(uint32_t index, const Segment& edge, std::vector<Touch>& touches) const;
  void CollectTouches(const IndexedPolygon& polygon, const Box& reach);
  void SortTouches();
  Touch StartTouch(const IndexedPolygon& polygon);
  Touch FirstTouch(const IndexedPolygon& polygon, const Box& reach);
  std::optional<Candidate> Leave(const IndexedPolygon& polygon, InsidePolicy policy);
  bool IsFilledAfter(const IndexedPolygon& polygon, const ArcTime& t) const;

  const ArcMotion& motion_;
  WorkMeter& meter_;
  std::vector<Touch> touches_;
};

std::optional<Candidate> PolygonArc::Find(const IndexedPolygon& polygon, const Box& reach,
                                          InsidePolicy policy) {
  const Location start = polygon.polygon().bounds().Contains(motion_.start())
                             ? internal::LocateInPolygon(polygon, motion_.start(), meter_).location
                             : Location::kOutside;
  Candidate hit{&polygon.polygon(), {}, 0, start != Location::kOutside, false};
  if (hit.holds_start && policy != InsidePolicy::kReportStart) {
    CollectTouches(polygon, motion_.BoxUntil(motion_.duration()));
    return Leave(polygon, policy);
  }
  if (hit.holds_start) {
    hit.touch.begin = motion_.Start();
    if (start == Location::kBoundary) hit.touch = StartTouch(polygon);
    return hit;
  }
  hit.touch = FirstTouch(polygon, reach);
  if (hit.touch.edge == kNoEdge) return std::nullopt;
  return hit;
}

// The point is on the edge where it is on its line and between its ends along it.
void PolygonArc::AddTouches(uint32_t index, const Segment& edge,
                            std::vector<Touch>& touches) const {
  if (edge.a == edge.b) return AddPointTouches(index, edge.a, touches);
  const Quadratic side = motion_.SideOf(edge);
  if (motion_.IsZero(side)) return AddSlidingTouches(index, edge, touches);
  const ArcRoots roots = motion_.RootsOf(side);
  if (roots.count == 0) return;
  const Quadratic past_a = motion_.Past(edge, edge.a);
  const Quadratic past_b = motion_.Past(edge, edge.b);
  for (int i = 0; i < roots.count; ++i) {
    const ArcTime& t = roots.time[i];
    if (motion_.Sign(past_a, t) * motion_.Sign(past_b, t) > 0) continue;
    touches.push_back({t, t, index, roots.is_double});
  }
}

// An edge of length zero.
void PolygonArc::AddPointTouches(uint32_t index, Vec2 point, std::vector<Touch>& touches) const {
  const Quadratic x = motion_.PastX(point.x);
  const Quadratic y = motion_.PastY(point.y);
  const bool x_is_zero = motion_.IsZero(x);
  if (x_is_zero && motion_.IsZero(y)) {
    touches.push_back({motion_.Start(), motion_.End(), index, true});
    return;
  }
  const ArcRoots roots = motion_.RootsOf(x_is_zero ? y : x);
  for (int i = 0; i < roots.count; ++i) {
    const ArcTime& t = roots.time[i];
    if (motion_.Sign(x_is_zero ? x : y, t) == 0) touches.push_back({t, t, index, true});
  }
}

// The point moves along the line of the edge, and may turn back there. Its position against the
// edge's ends changes at the roots only: just after one tells for all of the gap up to the next.
void PolygonArc::AddSlidingTouches(uint32_t index, const Segment& edge,
                                   std::vector<Touch>& touches) const {
  const Quadratic past_a = motion_.Past(edge, edge.a);
  const Quadratic past_b = motion_.Past(edge, edge.b);
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
  bool open = false;  // the last touch reaches up to here
  for (int i = 0; i < count; ++i) {
    if (i > 0 && motion_.Compare(cuts[i - 1], cuts[i]) == 0) continue;
    const bool is_on = motion_.Sign(past_a, cuts[i]) * motion_.Sign(past_b, cuts[i]) <= 0;
    if (open) {
      touches.back().end = cuts[i];
    } else if (is_on) {
      touches.push_back({cuts[i], cuts[i], index, true});
    }
    open = is_on && motion_.SignAfter(past_a, cuts[i]) * motion_.SignAfter(past_b, cuts[i]) <= 0;
  }
}

void PolygonArc::CollectTouches(const IndexedPolygon& polygon, const Box& reach) {
  touches_.clear();
  polygon.VisitEdges(
      meter_, [&](const Box& box) { return reach.Intersects(box); },
      [&](size_t index, const Segment& edge) {
        AddTouches(static_cast<uint32_t>(index), edge, touches_);
        return true;
      });
  SortTouches();
}

void PolygonArc::SortTouches() {
  internal::Sort(touches_, meter_, [this](const Touch& a, const Touch& b) {
    const int order = motion_.Compare(a.begin, b.begin);
    return order != 0 ? order < 0 : a.edge < b.edge;
  });
}

// The edge to report for a start on the boundary.
Touch PolygonArc::StartTouch(const IndexedPolygon& polygon) {
  const ArcTime start = motion_.Start();
  Touch best{start, start, kNoEdge, false};
  const Vec2 p = motion_.start();
  polygon.VisitEdges(
      meter_, [p](const Box& box) { return box.Contains(p); },
      [&](size_t index, const Segment& edge) {
        if (!IsOnSegment(p, edge)) return true;
        const bool along = motion_.Sign(motion_.SideOf(edge), start, 1) == 0;
        const Touch touch{start, start, static_cast<uint32_t>(index), along};
        if (IsPreferred(touch, best)) best = touch;
        return true;
      });
  return best;
}

Touch PolygonArc::FirstTouch(const IndexedPolygon& polygon, const Box& reach) {
  Touch best;
  polygon.VisitEdges(
      meter_, [&](const Box& box) { return reach.Intersects(box); },
      [&](size_t index, const Segment& edge) {
        touches_.clear();
        AddTouches(static_cast<uint32_t>(index), edge, touches_);
        if (touches_.empty()) return true;
        const Touch& touch = touches_.front();
        const int order = best.edge == kNoEdge ? -1 : motion_.Compare(touch.begin, best.begin);
        if (order < 0 || (order == 0 && IsPreferred(touch, best))) best = touch;
        return true;
      });
  return best;
}

// Follows the passage that holds the start to its end: touches that overlap and filled gaps join.
std::optional<Candidate> PolygonArc::Leave(const IndexedPolygon& polygon, InsidePolicy policy) {
  ArcTime end = motion_.Start();
  size_t next = 0;
  while (!meter_.stopped()) {
    for (; next < touches_.size() && motion_.Compare(touches_[next].begin, end) <= 0; ++next) {
      if (motion_.Compare(touches_[next].end, end) > 0) end = touches_[next].end;
    }
    if (motion_.Compare(end, motion_.End()) >= 0 || !IsFilledAfter(polygon, end)) break;
    end = next < touches_.size() ? touches_[next].begin : motion_.End();
  }
  Candidate hit{&polygon.polygon(), {}, 0, false, false};
  if (policy == InsidePolicy::kIgnore) {
    if (next == touches_.size()) return std::nullopt;
    hit.touch = touches_[next];
    for (size_t i = next + 1; i < touches_.size() && meter_.Spend(1); ++i) {
      if (motion_.Compare(touches_[i].begin, touches_[next].begin) != 0) break;
      if (IsPreferred(touches_[i], hit.touch)) hit.touch = touches_[i];
    }
    return hit;
  }
  hit.holds_start = hit.at_exit = true;
  for (size_t i = 0; i < next && meter_.Spend(1); ++i) {
    if (motion_.Compare(touches_[i].end, end) != 0) continue;
    if (IsPreferred(touches_[i], hit.touch)) hit.touch = touches_[i];
  }
  if (hit.touch.edge == kNoEdge) hit.touch.end = end;
  return hit;
}

// Whether the polygon is filled just after t, where the point is on no edge: by the crossings of
// the horizontal ray to its right, as in `LocateInPolygon`, with each sign taken just after t.
// Until the next touch the point stays in the same face.
bool PolygonArc::IsFilledAfter(const IndexedPolygon& polygon, const ArcTime& t) const {
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

// Casts one arc at a time.
class ArcCaster {
 public:
  ArcCaster(const Scene& scene, const ArcOptions& options, ArcAnswers& out, WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of arc `index`. Returns false once the meter stops.
  bool Cast(size_t index, const ArcMotion& motion);

 private:
  void CollectCandidates(const ArcMotion& motion);
  bool Keep(const ArcMotion& motion, Candidate candidate);
  ArcHit Measured(const ArcMotion& motion, const Candidate& candidate) const;

  const Scene& scene_;
  const ArcOptions& options_;
  ArcAnswers& out_;
  WorkMeter& meter_;
  Box reach_;  // holds the part of the arc where a better hit may be
  std::vector<Candidate> candidates_;
};

// The total order. A polygon has one hit at most.
bool ComesBefore(const Candidate& a, const Candidate& b) {
  return a.time != b.time ? a.time < b.time : a.polygon->id() < b.polygon->id();
}

bool ArcCaster::Cast(size_t index, const ArcMotion& motion) {
  reach_ = motion.BoxUntil(motion.duration());
  candidates_.clear();
  CollectCandidates(motion);
  if (meter_.stopped()) return false;
  if (options_.mode == CastMode::kAny) {
    out_.counts[index] = candidates_.empty() ? 0 : 1;
    return true;
  }
  internal::SortHeap(candidates_, meter_, ComesBefore);
  if (meter_.stopped()) return false;
  if (options_.mode != CastMode::kClosest && candidates_.size() > options_.max_hits) {
    candidates_.pop_back();
    out_.truncated.push_back(static_cast<uint32_t>(index));
  }
  if (!meter_.SpendRows(candidates_.size())) return false;
  for (const Candidate& candidate : candidates_) {
    if (!meter_.Spend(8)) return false;
    out_.hits.push_back(Measured(motion, candidate));
  }
  out_.counts[index] = static_cast<uint32_t>(candidates_.size());
  return true;
}

void ArcCaster::CollectCandidates(const ArcMotion& motion) {
  PolygonArc finder(motion, meter_);
  internal::VisitPolygons(
      scene_, options_.mask, meter_, [this](const Box& box) { return reach_.Intersects(box); },
      [&](const IndexedPolygon& polygon) {
        const std::optional<Candidate> hit = finder.Find(polygon, reach_, options_.inside_policy);
        if (meter_.stopped()) return false;
        if (!hit) return true;
        if (options_.mode != CastMode::kAny) return Keep(motion, *hit);
        candidates_.push_back(*hit);
        return false;
      });
}

// The candidates are a heap with the last in the total order on top. CLOSEST keeps one; ALL one
// more than is asked for, which tells that there are more.
bool ArcCaster::Keep(const ArcMotion& motion, Candidate candidate) {
  const bool closest = options_.mode == CastMode::kClosest;
  const size_t most = closest ? 1 : size_t{options_.max_hits} + 1;
  const bool is_full = candidates_.size() >= most;
  if (is_full && candidate.at().low > candidates_.front().time) return true;
  candidate.time = motion.RoundedUp(candidate.at());
  if (is_full && !ComesBefore(candidate, candidates_.front())) return meter_.Spend(1);
  candidates_.push_back(candidate);
  std::push_heap(candidates_.begin(), candidates_.end(), ComesBefore);
  if (is_full) {
    std::pop_heap(candidates_.begin(), candidates_.end(), ComesBefore);
    candidates_.pop_back();
  }
  if (candidates_.size() >= most) reach_ = motion.BoxUntil(candidates_.front().time);
  return meter_.Spend(1);
}

ArcHit ArcCaster::Measured(const ArcMotion& motion, const Candidate& candidate) const {
  const Touch& touch = candidate.touch;
  ArcHit hit;
  hit.polygon_id = candidate.polygon->id();
  hit.time = candidate.time;
  hit.starts_inside = candidate.holds_start;
  hit.point = motion.PointAt(candidate.at());
  if (touch.edge == kNoEdge) return hit;
  hit.has_edge = true;
  hit.edge = candidate.polygon->edge_ref(touch.edge);
  const bool is_end =
      candidate.at_exit ? motion.Compare(candidate.at(), motion.End()) == 0 : candidate.holds_start;
  if (touch.along || is_end) return hit;
  const Segment edge = candidate.polygon->edge(touch.edge);
  const int side = motion.Sign(motion.SideOf(edge), candidate.at(), 1);
  hit.normal = internal::UnitNormal(edge, candidate.at_exit ? side : -side);
  return hit;
}

// The motion of arc i, or nothing and an error recorded.
std::optional<ArcMotion> MotionOf(const ArcColumns& arcs, size_t i, ItemChecker& check,
                                  WorkMeter& meter) {
  if (!check.Coordinate(ItemColumn::kX, arcs.x[i]) ||
      !check.Coordinate(ItemColumn::kY, arcs.y[i]) ||
      !check.Coordinate(ItemColumn::kVx, arcs.vx[i]) ||
      !check.Coordinate(ItemColumn::kVy, arcs.vy[i]) ||
      !check.Coordinate(ItemColumn::kAx, arcs.ax[i]) ||
      !check.Coordinate(ItemColumn::kAy, arcs.ay[i]) ||
      !check.Coordinate(ItemColumn::kDuration, arcs.duration[i])) {
    return std::nullopt;
  }
  if (arcs.duration[i] < 0) {
    check.Fail(ItemColumn::kDuration, ItemFault::kNegativeLength);
    return std::nullopt;
  }
  return ArcMotion(Normalized(Vec2{arcs.x[i], arcs.y[i]}), Normalized(Vec2{arcs.vx[i], arcs.vy[i]}),
                   Normalized(Vec2{arcs.ax[i], arcs.ay[i]}), Normalized(arcs.duration[i]), meter);
}

}  // namespace

void ArcAnswers::Clear() {
  counts.clear();
  hits.clear();
  truncated.clear();
  errors.clear();
}

bool CastArcs(const Scene& scene, const ArcColumns& arcs, const ArcOptions& options,
              ArcAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(arcs.size(), 0);
  ArcCaster caster(scene, options, out, meter);
  for (size_t i = 0; i < arcs.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const std::optional<ArcMotion> motion = MotionOf(arcs, i, check, meter);
    if (motion && !caster.Cast(i, *motion)) return false;
  }
  return true;
}

}  // namespace carom
