// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/line_cast.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/metered_sort.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// The bounding box of `polygon` as a solid polygon of edges bottom, right, top and left.
Polygon BoxOf(const Polygon& polygon) {
  const auto& [min, max] = polygon.bounds();
  // The closing duplicate keeps the fourth edge where the box has no height.
  RingSpec ring{{min, {max.x, min.y}, max, {min.x, max.y}, min}};
  return *Polygon::Create({polygon.id(), {std::move(ring)}});
}

}  // namespace

void LineCast::Start(const CastOptions& options, WorkMeter& meter) {
  options_ = &options;
  meter_ = &meter;
  reach_ = line_.bounds;
  end_ = line_.t_max;
  candidates_.clear();
  is_truncated_ = false;
}

bool LineCast::Add(const IndexedPolygon& indexed, PassageFinder& finder) {
  const Polygon& polygon = indexed.polygon();
  if ((polygon.category() & options_->mask) == 0) return false;
  if (!reach_.Intersects(polygon.bounds())) return false;
  if (options_->target == CastTarget::kBounds) {
    finder.Start(line_);
    const IndexedPolygon box(BoxOf(polygon), IndexUse::kOneQuery);
    return ApplyInsidePolicy(polygon, finder.Find(box, *meter_));
  }
  PlainPassage plain;
  meter_->Spend(std::min(polygon.vertex_count(), kMaxPlainEdges));
  switch (FindPlainPassage(line_, polygon, plain)) {
    case PlainVerdict::kNoPassage:
      return false;
    case PlainVerdict::kPassage: {
      const bool comes_in = plain.entry != kNoEdge;
      if (comes_in && plain.begin.low > end_) return false;  // behind the best one
      const Passage passage = PassageOf(line_, polygon, plain);
      return ApplyInsidePolicy(polygon, {&passage, 1});
    }
    case PlainVerdict::kCannotTell:
      break;
  }
  finder.Start(line_);
  return ApplyInsidePolicy(polygon, finder.FindSeveral(indexed, *meter_));
}

// Applies the inside policy to the passages of one polygon.
bool LineCast::ApplyInsidePolicy(const Polygon& polygon, std::span<const Passage> passages) {
  bool at_exit = false;
  if (!passages.empty() && passages[0].begin.is_start()) {
    if (options_->inside_policy == InsidePolicy::kIgnore) passages = passages.subspan(1);
    at_exit = options_->inside_policy == InsidePolicy::kExit;
  }
  if (passages.empty()) return false;
  const bool is_narrower = Keep(polygon, passages[0], at_exit);
  if (options_->mode != CastMode::kAllPassages) return is_narrower;
  for (const Passage& passage : passages.subspan(1)) {
    if (meter_->stopped()) break;
    Keep(polygon, passage, false);
  }
  return false;
}

// Under ALL and ALL_PASSAGES the candidates are a heap with the last in the total order on top, and
// one more than is asked for: that one tells that there are more.
bool LineCast::Keep(const Polygon& polygon, const Passage& passage, bool at_exit) {
  const Candidate candidate{&polygon, passage, at_exit};
  const auto before = [this](const Candidate& a, const Candidate& b) {
    meter_->Spend(1);
    return ComesBefore(a, b);
  };
  if (is_ordered()) {
    candidates_.push_back(candidate);
    std::push_heap(candidates_.begin(), candidates_.end(), before);
    if (candidates_.size() <= size_t{options_->max_hits} + 1) return false;
    std::pop_heap(candidates_.begin(), candidates_.end(), before);
    candidates_.pop_back();
    return false;
  }
  if (candidates_.empty()) {
    candidates_.push_back(candidate);
  } else if (ComesBefore(candidate, candidates_[0])) {
    candidates_[0] = candidate;
  } else {
    return false;
  }
  return options_->mode == CastMode::kClosest && Narrow(candidates_[0].fraction());
}

// The total order. Passages of one polygon are apart, so (ring, edge) never decides.
bool LineCast::ComesBefore(const Candidate& a, const Candidate& b) const {
  const int order = Fraction::Compare(line_, a.fraction(), b.fraction());
  return order != 0 ? order < 0 : a.polygon->id() < b.polygon->id();
}

// Narrows the reach to t <= best. Returns whether it did.
bool LineCast::Narrow(const Fraction& best) {
  const double t = best.high();
  if (t >= line_.t_max) return false;
  reach_ = line_.BoundsUpTo(t);
  end_ = t;
  return true;
}

size_t LineCast::Finish() {
  const auto before = [this](const Candidate& a, const Candidate& b) { return ComesBefore(a, b); };
  if (is_ordered()) SortHeap(candidates_, *meter_, before);
  if (is_ordered() && candidates_.size() > options_->max_hits) {
    candidates_.pop_back();
    is_truncated_ = true;
  }
  return candidates_.size();
}

void LineCast::Measure(size_t rank, CastHit& hit, Vec2& reflection) const {
  const Candidate& candidate = candidates_[rank];
  std::optional<Polygon> box;
  if (options_->target == CastTarget::kBounds) box = BoxOf(*candidate.polygon);
  const Polygon& polygon = box ? *box : *candidate.polygon;
  Measure(polygon, candidate, hit);
  if (options_->reflect && hit.normal != Vec2{}) {
    reflection = Reflected(line_, polygon.edge(candidate.reported().index));
  }
}

// The unit normal of `edge` with the sign of normal . direction `towards`.
Vec2 LineCast::NormalOf(const Polygon& polygon, const PassageEdge& edge, int towards) const {
  if (edge.index == kNoEdge || edge.parallel) return {};
  const Segment e = polygon.edge(edge.index);
  return UnitNormal(e, line_.Cross(e) > 0 ? -towards : towards);
}

Feature LineCast::FeatureOf(const Polygon& polygon, const PassageEdge& edge) const {
  if (edge.index == kNoEdge) return Feature::kNone;
  if (edge.parallel) return Feature::kCollinear;
  if (edge.at.is_vertex()) return Feature::kVertex;
  if (!edge.at.is_start() && !edge.at.is_end()) return Feature::kEdge;
  // The line meets the edge in one point: that is an end of it if this end is on the line.
  const Segment e = polygon.edge(edge.index);
  return line_.Side(e.a) == 0 || line_.Side(e.b) == 0 ? Feature::kVertex : Feature::kEdge;
}

void LineCast::Measure(const Polygon& polygon, const Candidate& candidate, CastHit& hit) const {
  const Passage& passage = candidate.passage;
  const PassageEdge& reported = candidate.reported();
  hit.polygon_id = polygon.id();
  hit.starts_inside = passage.begin.is_start();
  hit.ends_inside = passage.end.is_end() || line_.is_point();
  hit.fraction = candidate.fraction().Rounded(line_);
  if (options_->detail >= CastDetail::kNormal) {
    // The reported edge defines the point, so that equal fractions of several edges do not matter.
    const bool has_edge = reported.index != kNoEdge;
    hit.point = (has_edge ? reported.at : candidate.fraction()).Point(line_, hit.fraction);
    if (candidate.at_exit) {
      if (!hit.ends_inside) hit.normal = NormalOf(polygon, reported, 1);
    } else if (!hit.starts_inside) {
      hit.normal = NormalOf(polygon, reported, -1);
    }
  }
  if (options_->detail >= CastDetail::kEdge) {
    hit.feature = FeatureOf(polygon, reported);
    if (hit.feature != Feature::kNone) hit.edge = polygon.edge_ref(reported.index);
  }
  if (options_->detail < CastDetail::kExit) return;
  hit.exit_fraction = candidate.at_exit ? hit.fraction : passage.end.Rounded(line_);
  if (passage.exit.index == kNoEdge) return;
  hit.has_exit_edge = true;
  hit.exit_edge = polygon.edge_ref(passage.exit.index);
  if (!hit.ends_inside) hit.exit_normal = NormalOf(polygon, passage.exit, 1);
}

}  // namespace carom::internal
