// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/reentry.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/metered_sort.h"
#include "carom/predicates.h"
#include "shape/meets_box.h"

namespace carom::internal {

bool Reentry::Add(const IndexedPolygon& polygon, Eye& eye, std::vector<Blocker>& blockers,
                  WorkMeter& meter) {
  parts_.clear();
  events_.clear();
  active_.clear();
  if (!Collect(polygon, eye, meter)) return false;
  if (polygon.polygon().solidity() == Solidity::kBoundary) {
    // The passage is the eye alone, but for directions along an edge.
    blockers.insert(blockers.end(), parts_.begin(), parts_.end());
    return true;
  }
  if (!FindWinding(polygon, eye.position(), meter)) return false;
  for (const Blocker& part : parts_) {
    events_.push_back({part.begin, part.edge, EventKind::kEnter, 0});
    events_.push_back({part.end, part.edge, EventKind::kLeave, 0});
  }
  Sort(events_, meter, [&](const Event& a, const Event& b) {
    const int order = eye.Compare(a.at, b.at);
    return order != 0 ? order < 0 : a.kind < b.kind;
  });
  return !meter.stopped() && Sweep(polygon.polygon(), eye, blockers, meter);
}

bool Reentry::Collect(const IndexedPolygon& polygon, Eye& eye, WorkMeter& meter) {
  const Vec2 p = eye.position();
  return polygon.VisitEdges(meter, MeetsBox{eye.bounds()}, [&](size_t i, const Segment& s) {
    if (eye.AddEdge(s, i)) {
      const auto edge = static_cast<uint32_t>(eye.edges().size() - 1);
      AddBlocker(eye.edges()[edge].begin, eye.edges()[edge].end, edge, parts_);
    } else if (IsOnSegment(p, s)) {
      AddTurns(s, eye);
    }
    return true;
  });
}

// The edge a->b goes through the eye. The polygon winds once more on its left than on its right. A
// ray that turns past the direction of `b` changes to the left side, and one that turns past the
// direction of `a` to the right side. An edge that ends at the eye has one of the two directions.
// At the cut nothing is added: `FindWinding` finds the number behind the cut.
void Reentry::AddTurns(const Segment& edge, Eye& eye) {
  const Vec2 p = eye.position();
  if (edge.a == edge.b) return;
  const uint32_t line = eye.AddLine(edge);
  const auto add = [&](Vec2 to, const EyeDirection& at, int8_t change) {
    if (to == p || (to.y == p.y && to.x < p.x)) return;
    events_.push_back({at, line, EventKind::kTurn, change});
  };
  add(edge.a, eye.edges()[line].begin, -1);
  add(edge.b, eye.edges()[line].end, 1);
}

// Sets the winding number next to the eye in the directions right behind the cut: of a point to the
// left of the eye and below it by infinitely less. A ray from there to the left meets the edges
// that have an end at or above the eye and the other end below it, and that pass the height of the
// eye on its left; edges through the eye pass this height on the right of the point.
bool Reentry::FindWinding(const IndexedPolygon& polygon, Vec2 eye, WorkMeter& meter) {
  winding_ = 0;
  const MeetsBox ray{{{-HUGE_VAL, eye.y}, eye}};
  return polygon.VisitEdges(meter, ray, [&](size_t, const Segment& s) {
    const bool is_a_above = s.a.y >= eye.y, is_b_above = s.b.y >= eye.y;
    if (is_a_above == is_b_above) return true;
    const int side = Orientation(s.a, s.b, eye);
    if (is_a_above && side > 0) ++winding_;
    if (is_b_above && side < 0) --winding_;
    return true;
  });
}

// Returns the edge that blocks a ray whose edges are in `active_`, or `kOpen`. Edges that coincide
// end the passage together or not at all.
uint32_t Reentry::BlockingEdge(const Polygon& polygon, const Eye& eye) const {
  int64_t winding = winding_;
  size_t i = 0;
  while (i < active_.size() && polygon.IsFilled(winding)) {
    do {
      winding += eye.edges()[active_[i]].is_reversed ? 1 : -1;
      ++i;
    } while (i < active_.size() && eye.AreOnOneLine(active_[i - 1], active_[i]));
  }
  return i < active_.size() ? active_[i] : kOpen;
}

// Returns whether edge e is nearer than edge f right behind the direction `at`.
bool Reentry::IsBefore(const Eye& eye, const EyeDirection& at, uint32_t e, uint32_t f) const {
  if (e == f) return false;
  Nearer nearer = eye.NearerOf(e, f);
  if (nearer == Nearer::kFirst || nearer == Nearer::kSecond) return nearer == Nearer::kFirst;
  const bool is_crossed = eye.PositionOf(eye.Crossing(e, f), at, kCutEnd) == Position::kBefore;
  return (nearer == Nearer::kFirstThenSecond) != is_crossed;
}

// Returns the first direction behind `at` in which two neighbours cross, or `next` if that is
// nearer. The first crossing is one of neighbours.
EyeDirection Reentry::NextCrossing(const Eye& eye, const EyeDirection& at,
                                   const EyeDirection& next) const {
  EyeDirection first = next;
  for (size_t i = 1; i < active_.size(); ++i) {
    const Nearer nearer = eye.NearerOf(active_[i - 1], active_[i]);
    if (nearer == Nearer::kFirst || nearer == Nearer::kSecond) continue;
    const EyeDirection crossing = eye.Crossing(active_[i - 1], active_[i]);
    if (eye.PositionOf(crossing, at, first) == Position::kInside) first = crossing;
  }
  return first;
}

// Sorts the edges that the ray met before by insertion, since few of them change places, and then
// merges them with those that it enters: edges may enter at one direction by the thousand.
bool Reentry::SortActive(const Eye& eye, const EyeDirection& at, WorkMeter& meter) {
  const auto is_before = [&](uint32_t e, uint32_t f) {
    meter.Count(1);
    return IsBefore(eye, at, e, f);
  };
  for (size_t i = 1; i < active_.size(); ++i) {
    if (!meter.Spend(1)) return false;
    for (size_t k = i; k > 0 && is_before(active_[k], active_[k - 1]); --k) {
      std::swap(active_[k], active_[k - 1]);
    }
  }
  if (entered_.empty()) return true;
  Sort(entered_, meter, is_before);
  if (meter.stopped()) return false;
  merged_.clear();
  std::merge(active_.begin(), active_.end(), entered_.begin(), entered_.end(),
             std::back_inserter(merged_), is_before);
  active_.swap(merged_);
  return true;
}

// Applies the events at the direction `at`, from number `event` on, and moves `event` behind them.
// Returns false once the meter stops the work.
bool Reentry::Apply(const Eye& eye, const EyeDirection& at, size_t& event, WorkMeter& meter) {
  entered_.clear();
  left_.clear();
  for (; event < events_.size() && eye.Compare(events_[event].at, at) <= 0; ++event) {
    const Event& e = events_[event];
    if (e.kind == EventKind::kTurn) winding_ += e.change;
    if (e.kind == EventKind::kEnter) entered_.push_back(e.edge);
    if (e.kind == EventKind::kLeave) left_.push_back(e.edge);
  }
  if (!left_.empty()) {
    if (!meter.Spend(active_.size())) return false;
    Sort(left_, meter, std::less<>());
    if (meter.stopped()) return false;
    std::erase_if(active_, [&](uint32_t edge) {
      return std::binary_search(left_.begin(), left_.end(), edge);
    });
  }
  return SortActive(eye, at, meter);
}

bool Reentry::Sweep(const Polygon& polygon, const Eye& eye, std::vector<Blocker>& blockers,
                    WorkMeter& meter) {
  EyeDirection at = kCutBegin;
  Blocker last{at, at, kOpen};
  size_t event = 0;
  if (!Apply(eye, at, event, meter)) return false;
  while (eye.Compare(at, kCutEnd) < 0) {
    if (!meter.Spend(1 + 4 * active_.size())) return false;
    const EyeDirection next =
        NextCrossing(eye, at, event < events_.size() ? events_[event].at : kCutEnd);
    const uint32_t edge = BlockingEdge(polygon, eye);
    if (edge != last.edge) {
      if (last.edge != kOpen) blockers.push_back(last);
      last = {at, next, edge};
    }
    last.end = next;
    at = next;
    if (!Apply(eye, at, event, meter)) return false;
  }
  if (last.edge != kOpen) blockers.push_back(last);
  return true;
}

}  // namespace carom::internal
