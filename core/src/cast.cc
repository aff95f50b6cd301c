// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/cast.h"

#include <algorithm>
#include <cmath>

#include "carom/predicates.h"
#include "exact.h"
#include "fraction.h"
#include "measures.h"
#include "passages.h"
#include "scene_traversal.h"

namespace carom {
namespace {

using internal::Fraction;
using internal::Passage;
using internal::PassageEdge;

// A hit before its measures are computed.
struct Candidate {
  const Polygon* polygon;
  Passage passage;
  bool at_exit;  // the passage's end is the hit

  const Fraction& fraction() const { return at_exit ? passage.end : passage.begin; }
};

// Casts one segment at a time.
class Caster {
 public:
  Caster(const Scene& scene, const CastOptions& options, CastAnswers& out, WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of segment `index`. Returns false once the meter stops.
  bool Cast(size_t index, const Segment& segment);

 private:
  void CollectCandidates();
  bool PickHit(const Polygon& polygon, const std::vector<Passage>& passages);
  void Keep(const Candidate& candidate);
  bool ComesBefore(const Candidate& a, const Candidate& b) const;
  CastHit Measured(const Candidate& candidate) const;
  Vec2 NormalOf(const Polygon& polygon, const PassageEdge& edge, int towards) const;
  Feature FeatureOf(const Polygon& polygon, const PassageEdge& edge) const;
  void ShrinkReach(const Fraction& best);

  const Scene& scene_;
  const CastOptions& options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  Segment segment_;
  Box reach_;  // holds the part of the segment where a better hit may be
  internal::PassageFinder finder_;
  std::vector<Candidate> candidates_;
};

bool Caster::Cast(size_t index, const Segment& segment) {
  segment_ = segment;
  reach_ = BoundsOf(segment);
  finder_.Start(segment);
  candidates_.clear();
  CollectCandidates();
  if (meter_.stopped()) return false;
  if (options_.mode == CastMode::kAny) {
    out_.counts[index] = candidates_.empty() ? 0 : 1;
    return true;
  }
  // Stays within its range whatever the comparisons say, so that it may be cut short.
  std::sort_heap(candidates_.begin(), candidates_.end(),
                 [this](const Candidate& a, const Candidate& b) {
                   return meter_.Spend(1) && ComesBefore(a, b);
                 });
  if (meter_.stopped()) return false;
  if (options_.mode == CastMode::kAll && candidates_.size() > options_.max_hits) {
    candidates_.pop_back();
    out_.truncated.push_back(static_cast<uint32_t>(index));
  }
  for (const Candidate& candidate : candidates_) out_.hits.push_back(Measured(candidate));
  out_.counts[index] = static_cast<uint32_t>(candidates_.size());
  return meter_.SpendRows(candidates_.size());
}

void Caster::CollectCandidates() {
  internal::VisitPolygons(
      scene_, options_.mask, meter_,
      [this](const Box& box) { return reach_.Intersects(box) && finder_.MayMeet(box); },
      [this](const IndexedPolygon& indexed) {
        const bool hit = PickHit(indexed.polygon(), finder_.Find(indexed, meter_));
        return !meter_.stopped() && !(hit && options_.mode == CastMode::kAny);
      });
}

// Applies the inside policy to the passages of one polygon. Returns whether there is a hit.
bool Caster::PickHit(const Polygon& polygon, const std::vector<Passage>& passages) {
  if (passages.empty()) return false;
  size_t pick = 0;
  bool at_exit = false;
  if (passages[0].begin.is_zero()) {
    if (options_.inside_policy == InsidePolicy::kIgnore) pick = 1;
    at_exit = options_.inside_policy == InsidePolicy::kExit;
  }
  if (pick >= passages.size()) return false;
  Keep({&polygon, passages[pick], at_exit});
  return true;
}

// Under ALL the candidates are a heap with the last in the total order on top, and one more than is
// asked for: that one tells that there are more.
void Caster::Keep(const Candidate& candidate) {
  const auto before = [this](const Candidate& a, const Candidate& b) { return ComesBefore(a, b); };
  if (options_.mode == CastMode::kAll) {
    candidates_.push_back(candidate);
    std::push_heap(candidates_.begin(), candidates_.end(), before);
    if (candidates_.size() <= size_t{options_.max_hits} + 1) return;
    std::pop_heap(candidates_.begin(), candidates_.end(), before);
    candidates_.pop_back();
    return;
  }
  if (candidates_.empty()) {
    candidates_.push_back(candidate);
  } else if (ComesBefore(candidate, candidates_[0])) {
    candidates_[0] = candidate;
  }
  if (options_.mode == CastMode::kClosest) ShrinkReach(candidates_[0].fraction());
}

// The total order. A polygon has one hit at most, so (ring, edge) never decides.
bool Caster::ComesBefore(const Candidate& a, const Candidate& b) const {
  const int order = Fraction::Compare(segment_, a.fraction(), b.fraction());
  return order != 0 ? order < 0 : a.polygon->id() < b.polygon->id();
}

// Narrows the reach to t <= best. On each axis the far end is computed within 3u(|a| + |b|); the
// box is widened by 8u of that sum, which also covers the rounding of the widening.
void Caster::ShrinkReach(const Fraction& best) {
  const double t = best.high();
  if (!(t < 1)) return;
  const auto far_end = [t](double a, double b, double& min, double& max) {
    const double far = a + t * (b - a);
    const double slack = 8 * internal::kUnit * (std::abs(a) + std::abs(b));
    min = std::min(a, far - slack);
    max = std::max(a, far + slack);
  };
  far_end(segment_.a.x, segment_.b.x, reach_.min.x, reach_.max.x);
  far_end(segment_.a.y, segment_.b.y, reach_.min.y, reach_.max.y);
}

// The unit normal of `edge` with the sign of normal . (b - a) `towards`.
Vec2 Caster::NormalOf(const Polygon& polygon, const PassageEdge& edge, int towards) const {
  if (edge.index == internal::kNoEdge || edge.parallel) return {};
  const Segment e = polygon.edge(edge.index);
  // (e.b - e.a) x (b - a) = (b - a) x (e.a - e.b): positive where e.a lies further left than e.b.
  const int side_a = Orientation(segment_.a, segment_.b, e.a);
  const int side_b = Orientation(segment_.a, segment_.b, e.b);
  const int cross = side_a - side_b > 0 ? 1 : -1;
  return internal::UnitNormal(e, cross * towards);
}

Feature Caster::FeatureOf(const Polygon& polygon, const PassageEdge& edge) const {
  if (edge.index == internal::kNoEdge) return Feature::kNone;
  if (edge.parallel) return Feature::kCollinear;
  if (edge.at.is_vertex()) return Feature::kVertex;
  if (!edge.at.is_zero() && !edge.at.is_one()) return Feature::kEdge;
  const Vec2 point = edge.at.is_zero() ? segment_.a : segment_.b;
  const Segment e = polygon.edge(edge.index);
  return point == e.a || point == e.b ? Feature::kVertex : Feature::kEdge;
}

CastHit Caster::Measured(const Candidate& candidate) const {
  const Passage& passage = candidate.passage;
  const Polygon& polygon = *candidate.polygon;
  CastHit hit;
  hit.polygon_id = polygon.id();
  hit.starts_inside = passage.begin.is_zero();
  hit.ends_inside = passage.end.is_one() || segment_.a == segment_.b;
  hit.exit_fraction = passage.end.Rounded(segment_);
  if (passage.exit.index != internal::kNoEdge) {
    hit.has_exit_edge = true;
    hit.exit_edge = polygon.edge_ref(passage.exit.index);
    if (!hit.ends_inside) hit.exit_normal = NormalOf(polygon, passage.exit, 1);
  }
  const PassageEdge& reported = candidate.at_exit ? passage.exit : passage.entry;
  hit.fraction = candidate.at_exit ? hit.exit_fraction : candidate.fraction().Rounded(segment_);
  hit.feature = FeatureOf(polygon, reported);
  // The reported edge defines the point, so that equal fractions of several edges do not matter.
  const bool has_edge = hit.feature != Feature::kNone;
  hit.point = (has_edge ? reported.at : candidate.fraction()).Point(segment_, hit.fraction);
  if (has_edge) hit.edge = polygon.edge_ref(reported.index);
  if (candidate.at_exit) {
    hit.normal = hit.exit_normal;
  } else if (!hit.starts_inside) {
    hit.normal = NormalOf(polygon, reported, -1);
  }
  return hit;
}

}  // namespace

void CastAnswers::Clear() {
  counts.clear();
  hits.clear();
  truncated.clear();
  errors.clear();
}

bool CastSegments(const Scene& scene, const SegmentColumns& segments, const CastOptions& options,
                  CastAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(segments.size(), 0);
  Caster caster(scene, options, out, meter);
  for (size_t i = 0; i < segments.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    if (!check.Coordinate(ItemColumn::kAx, segments.ax[i]) ||
        !check.Coordinate(ItemColumn::kAy, segments.ay[i]) ||
        !check.Coordinate(ItemColumn::kBx, segments.bx[i]) ||
        !check.Coordinate(ItemColumn::kBy, segments.by[i])) {
      continue;
    }
    const Segment segment{Normalized(Vec2{segments.ax[i], segments.ay[i]}),
                          Normalized(Vec2{segments.bx[i], segments.by[i]})};
    if (!caster.Cast(i, segment)) return false;
  }
  return true;
}

}  // namespace carom
