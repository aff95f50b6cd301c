// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/gaps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "carom/locate.h"
#include "carom/predicates.h"
#include "lint/gap_search.h"
#include "lint/lint_exact.h"
#include "numeric/box_distance.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// Returns the place at the point q of a foot that is an end of the edge.
uint32_t PlaceOfEnd(const LintEdge& edge, const Foot& foot) {
  return foot.end() == edge.segment.a ? edge.place_a : edge.place_b;
}

// Whether the open disc of a gap, with the diameter vq, meets no edge.
class EmptyDisc {
 public:
  EmptyDisc(const LintMap& map, const Gap& gap, const Foot& foot)
      : map_(map), gap_(gap), foot_(foot) {
    const Vec2 q = foot.Near();
    middle_ = {(foot.v().x + q.x) / 2, (foot.v().y + q.y) / 2};
    const Vec2 d{q.x - foot.v().x, q.y - foot.v().y};
    radius_ = std::sqrt(d.x * d.x + d.y * d.y) / 2;
  }

  // An approximate middle, and whether it is certainly in the disc.
  Vec2 middle() const { return middle_; }
  bool is_middle_within() const { return radius_ > 8 * map_.slack(); }

  // Returns nullopt if the meter stopped the work.
  bool IsEmpty(WorkMeter& meter) const {
    const double reach = radius_ + 4 * map_.slack();
    const Box box{{middle_.x - reach, middle_.y - reach}, {middle_.x + reach, middle_.y + reach}};
    return map_.tree().Traverse(meter, MeetsBox{box}, [&](size_t i) {
      return meter.Spend(4) && !Meets(map_.edges()[i], meter);
    });
  }

 private:
  bool Meets(const LintEdge& g, WorkMeter& meter) const {
    // Edges at v or q touch the disc there, so that only their direction matters.
    for (const bool from_v : {true, false}) {
      const uint32_t place = from_v ? gap_.v : gap_.q;
      if (g.place_a == place) return foot_.TowardsFrom(from_v, g.segment.b) > 0;
      if (g.place_b == place) return foot_.TowardsFrom(from_v, g.segment.a) > 0;
    }
    const Vec2 nearest = NearestNear(middle_, g.segment);
    const Vec2 d{nearest.x - middle_.x, nearest.y - middle_.y};
    const double distance = std::sqrt(d.x * d.x + d.y * d.y);
    if (kHasFilters && std::abs(distance - radius_) > 8 * map_.slack()) return distance < radius_;
    // An edge on the line of the gap's edge touches the disc at most.
    const Segment& line = foot_.edge();
    if (!foot_.is_end() && Orientation(line.a, line.b, g.segment.a) == 0 &&
        Orientation(line.a, line.b, g.segment.b) == 0) {
      return false;
    }
    meter.Count(kExactUnits);
    return foot_.DiscMeets(g.segment);
  }

  const LintMap& map_;
  const Gap& gap_;
  const Foot& foot_;
  Vec2 middle_;
  double radius_ = 0;
};

// Whether a SOLID polygon fills the point, which is on no edge. `near` is within the slack of the
// point.
bool IsSolid(const LintMap& map, const ExactPoint& p, Vec2 near, WorkMeter& meter) {
  for (uint32_t i = 0; i < map.scene().polygon_count(); ++i) {
    const Polygon& polygon = map.scene().polygon(i);
    if (!meter.Spend(1)) return false;
    if (polygon.solidity() != Solidity::kSolid) continue;
    if (!Grown(polygon.bounds(), 4 * map.slack()).Contains(near)) continue;
    if (!meter.Spend(64 * polygon.edge_count())) return false;
    int64_t winding = 0;
    for (const LintEdge& edge : map.edges_of(i)) winding += ExactCrossing(p, edge.segment);
    if (polygon.IsFilled(winding)) return true;
  }
  return false;
}

// Takes gaps with empty discs, and keeps those in free space: all points of an empty disc are solid
// or all are free.
class FreeGaps {
 public:
  FreeGaps(const LintMap& map, std::vector<Gap>& gaps) : map_(map), gaps_(gaps) {}

  // Returns false if the meter stopped the work.
  bool Add(const Gap& gap, const Foot& foot, const EmptyDisc& disc, WorkMeter& meter) {
    if (!disc.is_middle_within()) {
      if (!IsSolid(map_, foot.Middle(), disc.middle(), meter) && !meter.stopped()) {
        gaps_.push_back(gap);
      }
      return !meter.stopped();
    }
    waiting_.push_back(gap);
    x_.push_back(disc.middle().x);
    y_.push_back(disc.middle().y);
    return waiting_.size() < 16 || Flush(meter);
  }

  bool Flush(WorkMeter& meter) {
    if (!LocatePoints(map_.scene(), {x_, y_}, kEveryCategory, located_, meter)) return false;
    size_t row = 0;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const size_t end = row + located_.counts[i];
      // Rows are of polygons that fill the point, which is on no edge.
      if (row == end) gaps_.push_back(waiting_[i]);
      row = end;
    }
    waiting_.clear();
    x_.clear();
    y_.clear();
    return true;
  }

 private:
  const LintMap& map_;
  std::vector<Gap>& gaps_;
  std::vector<Gap> waiting_;
  std::vector<double> x_;
  std::vector<double> y_;
  LocateAnswers located_;
};

EdgeName NameOfQ(const LintMap& map, const Gap& gap) {
  return gap.q == Gap::kNoPlace ? map.edges()[gap.edge].name : map.places()[gap.q].name;
}

// Sets the points and the measure of a finding about `gap`.
void Measure(const LintMap& map, const Gap& gap, LintFinding& finding) {
  finding.point = map.places()[gap.v].point;
  if (gap.q != Gap::kNoPlace) {
    finding.other_point = map.places()[gap.q].point;
    finding.measure = RoundedDistance(finding.point, finding.other_point);
    return;
  }
  const Foot foot(finding.point, map.edges()[gap.edge].segment);
  finding.other_point = foot.Rounded();
  finding.measure = foot.RoundedLength();
}

void AddPair(const LintMap& map, LintKind kind, const Gap& gap, FindingSink& sink) {
  sink.Add(NamedFinding(map.scene(), kind, map.places()[gap.v].name, NameOfQ(map, gap)),
           [&](LintFinding& finding) { Measure(map, gap, finding); });
}

}  // namespace

bool FindGaps(const LintMap& map, double radius, std::vector<Gap>& gaps, WorkMeter& meter) {
  GapSearch search(map, radius);
  FreeGaps free(map, gaps);
  std::vector<uint32_t> edges;
  std::vector<uint32_t> seen;
  for (uint32_t v = 0; v < map.places().size(); ++v) {
    if (!search.Run(v, edges, meter)) return false;
    seen.clear();
    for (const uint32_t i : edges) {
      const LintEdge& edge = map.edges()[i];
      const Foot foot(map.places()[v].point, edge.segment);
      Gap gap{v, i, Gap::kNoPlace};
      if (foot.is_end()) {
        // Of two places, the one with the lesser name finds the gap.
        gap.q = PlaceOfEnd(edge, foot);
        if (map.places()[gap.q].name < map.places()[v].name) continue;
        if (std::find(seen.begin(), seen.end(), gap.q) != seen.end()) continue;
        seen.push_back(gap.q);
      }
      const EmptyDisc disc(map, gap, foot);
      if (disc.IsEmpty(meter) && !free.Add(gap, foot, disc, meter)) return false;
      if (meter.stopped()) return false;
    }
  }
  return free.Flush(meter);
}

void AddGaps(const LintMap& map, const std::vector<Gap>& gaps, FindingSink& sink) {
  for (const Gap& gap : gaps) AddPair(map, LintKind::kGap, gap, sink);
}

namespace {

// Whether an edge joins the place to an end of `edge`, or `edge` ends at the place.
bool IsJoined(const LintMap& map, uint32_t place, const LintEdge& edge) {
  if (edge.place_a == place || edge.place_b == place) return true;
  return std::ranges::any_of(map.edges_at(place), [&](uint32_t i) {
    const LintEdge& at = map.edges()[i];
    const uint32_t end = at.place_a == place ? at.place_b : at.place_a;
    return end == edge.place_a || end == edge.place_b;
  });
}

// Whether the nearest point of a proper edge, which no edge joins to `from`, is the place `to`.
bool IsNearestFrom(const LintMap& map, uint32_t from, uint32_t to) {
  return std::ranges::any_of(map.edges_at(to), [&](uint32_t i) {
    const LintEdge& edge = map.edges()[i];
    if (!edge.is_proper() || IsJoined(map, from, edge)) return false;
    const Foot foot(map.places()[from].point, edge.segment);
    return foot.is_end() && PlaceOfEnd(edge, foot) == to;
  });
}

// Searches the edges near one place after another.
class NearSearch {
 public:
  NearSearch(const LintMap& map, double near_distance, FindingSink& sink, WorkMeter& meter)
      : map_(map), near_distance_(near_distance), sink_(sink), meter_(meter) {}

  bool Run(uint32_t v) {
    const Vec2 p = map_.places()[v].point;
    seen_.clear();
    const MeetsBox meets{Grown({p, p}, near_distance_)};
    return map_.tree().Traverse(meter_, meets, [&](size_t i) {
      const LintEdge& edge = map_.edges()[i];
      if (!edge.is_proper() || IsJoined(map_, v, edge) ||
          CompareDistance(edge.segment, Circle{p, near_distance_}) > 0 ||
          IsOnSegment(p, edge.segment)) {
        return meter_.Spend(4 + map_.edges_at(v).size());
      }
      Add(v, static_cast<uint32_t>(i));
      return meter_.Spend(64);
    });
  }

 private:
  void Add(uint32_t v, uint32_t i) {
    const LintEdge& edge = map_.edges()[i];
    const Foot foot(map_.places()[v].point, edge.segment);
    Gap pair{v, i, Gap::kNoPlace};
    if (foot.is_end()) {
      pair.q = PlaceOfEnd(edge, foot);
      if (std::find(seen_.begin(), seen_.end(), pair.q) != seen_.end()) return;
      seen_.push_back(pair.q);
      // If each of two places finds the other, the one with the lesser name counts.
      if (map_.places()[pair.q].name < map_.places()[v].name) {
        if (IsNearestFrom(map_, pair.q, v)) return;
        std::swap(pair.v, pair.q);
      }
    }
    AddPair(map_, LintKind::kNearJunction, pair, sink_);
  }

  const LintMap& map_;
  double near_distance_;
  FindingSink& sink_;
  WorkMeter& meter_;
  std::vector<uint32_t> seen_;  // the places that the search of one place has found
};

}  // namespace

bool FindNearJunctions(const LintMap& map, double near_distance, FindingSink& sink,
                       WorkMeter& meter) {
  NearSearch search(map, near_distance, sink, meter);
  for (uint32_t v = 0; v < map.places().size(); ++v) {
    if (!search.Run(v)) return false;
  }
  return true;
}

}  // namespace carom::internal
