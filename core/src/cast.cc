// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/cast.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "fraction.h"
#include "line.h"
#include "measures.h"
#include "metered_sort.h"
#include "passages.h"
#include "scene_traversal.h"

namespace carom {
namespace {

using internal::Fraction;
using internal::Line;
using internal::Passage;
using internal::PassageEdge;

// A hit before its measures are computed.
struct Candidate {
  const Polygon* polygon;
  Passage passage;
  bool at_exit;  // the passage's end is the hit

  const Fraction& fraction() const { return at_exit ? passage.end : passage.begin; }
};

// The bounding box of `polygon` as a solid polygon of edges bottom, right, top and left.
Polygon BoxOf(const Polygon& polygon) {
  const auto& [min, max] = polygon.bounds();
  // The closing duplicate keeps the fourth edge where the box has no height.
  RingSpec ring{{min, {max.x, min.y}, max, {min.x, max.y}, min}};
  return *Polygon::Create({polygon.id(), {std::move(ring)}});
}

// Casts one line at a time.
class Caster {
 public:
  Caster(const Scene& scene, const CastOptions& options, CastAnswers& out, WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of item `index`. Returns false once the meter stops.
  bool Cast(size_t index, const Line& line);

 private:
  void CollectCandidates();
  bool is_ordered() const {
    return options_.mode == CastMode::kAll || options_.mode == CastMode::kAllPassages;
  }
  bool PickHits(const Polygon& polygon, std::span<const Passage> passages);
  void Keep(const Candidate& candidate);
  bool ComesBefore(const Candidate& a, const Candidate& b) const;
  void Report(const Candidate& candidate);
  CastHit Measured(const Polygon& polygon, const Candidate& candidate) const;
  Vec2 NormalOf(const Polygon& polygon, const PassageEdge& edge, int towards) const;
  Feature FeatureOf(const Polygon& polygon, const PassageEdge& edge) const;
  void ShrinkReach(const Fraction& best);

  const Scene& scene_;
  const CastOptions& options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  Line line_{Segment{}};
  Box reach_;  // holds the part of the line where a better hit may be
  internal::PassageFinder finder_;
  std::vector<Candidate> candidates_;
};

bool Caster::Cast(size_t index, const Line& line) {
  line_ = line;
  reach_ = line.bounds;
  finder_.Start(line);
  candidates_.clear();
  CollectCandidates();
  if (meter_.stopped()) return false;
  if (options_.mode == CastMode::kAny) {
    out_.counts[index] = candidates_.empty() ? 0 : 1;
    return true;
  }
  internal::SortHeap(candidates_, meter_,
                     [this](const Candidate& a, const Candidate& b) { return ComesBefore(a, b); });
  if (meter_.stopped()) return false;
  if (is_ordered() && candidates_.size() > options_.max_hits) {
    candidates_.pop_back();
    out_.truncated.push_back(static_cast<uint32_t>(index));
  }
  if (!meter_.SpendRows(candidates_.size())) return false;
  for (const Candidate& candidate : candidates_) {
    if (!meter_.Spend(4)) return false;
    Report(candidate);
  }
  out_.counts[index] = static_cast<uint32_t>(candidates_.size());
  return true;
}

void Caster::CollectCandidates() {
  internal::VisitPolygons(
      scene_, options_.mask, meter_,
      [this](const Box& box) { return reach_.Intersects(box) && finder_.MayMeet(box); },
      [this](const IndexedPolygon& indexed) {
        const Polygon& polygon = indexed.polygon();
        const bool hit = PickHits(
            polygon,
            options_.target == CastTarget::kPolygons
                ? finder_.Find(indexed, meter_)
                : finder_.Find(IndexedPolygon(BoxOf(polygon), IndexUse::kOneQuery), meter_));
        return !meter_.stopped() && !(hit && options_.mode == CastMode::kAny);
      });
}

// Applies the inside policy to the passages of one polygon. Returns whether there is a hit.
bool Caster::PickHits(const Polygon& polygon, std::span<const Passage> passages) {
  bool at_exit = false;
  if (!passages.empty() && passages[0].begin.is_start()) {
    if (options_.inside_policy == InsidePolicy::kIgnore) passages = passages.subspan(1);
    at_exit = options_.inside_policy == InsidePolicy::kExit;
  }
  if (passages.empty()) return false;
  Keep({&polygon, passages[0], at_exit});
  if (options_.mode == CastMode::kAllPassages) {
    for (const Passage& passage : passages.subspan(1)) {
      if (meter_.stopped()) break;
      Keep({&polygon, passage, false});
    }
  }
  return true;
}

// Under ALL and ALL_PASSAGES the candidates are a heap with the last in the total order on top, and
// one more than is asked for: that one tells that there are more.
void Caster::Keep(const Candidate& candidate) {
  const auto before = [this](const Candidate& a, const Candidate& b) {
    meter_.Spend(1);
    return ComesBefore(a, b);
  };
  if (is_ordered()) {
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

// The total order. Passages of one polygon are apart, so (ring, edge) never decides.
bool Caster::ComesBefore(const Candidate& a, const Candidate& b) const {
  const int order = Fraction::Compare(line_, a.fraction(), b.fraction());
  return order != 0 ? order < 0 : a.polygon->id() < b.polygon->id();
}

// Narrows the reach to t <= best.
void Caster::ShrinkReach(const Fraction& best) {
  const double t = best.high();
  if (t < line_.t_max) reach_ = line_.BoundsUpTo(t);
}

// The unit normal of `edge` with the sign of normal . direction `towards`.
Vec2 Caster::NormalOf(const Polygon& polygon, const PassageEdge& edge, int towards) const {
  if (edge.index == internal::kNoEdge || edge.parallel) return {};
  const Segment e = polygon.edge(edge.index);
  // (e.b - e.a) x direction = direction x (e.a - e.b): positive where e.a lies further left.
  const int cross = line_.Side(e.a) - line_.Side(e.b) > 0 ? 1 : -1;
  return internal::UnitNormal(e, cross * towards);
}

Feature Caster::FeatureOf(const Polygon& polygon, const PassageEdge& edge) const {
  if (edge.index == internal::kNoEdge) return Feature::kNone;
  if (edge.parallel) return Feature::kCollinear;
  if (edge.at.is_vertex()) return Feature::kVertex;
  if (!edge.at.is_start() && !edge.at.is_end()) return Feature::kEdge;
  // The line meets the edge in one point: that is an end of it if this end is on the line.
  const Segment e = polygon.edge(edge.index);
  return line_.Side(e.a) == 0 || line_.Side(e.b) == 0 ? Feature::kVertex : Feature::kEdge;
}

void Caster::Report(const Candidate& candidate) {
  std::optional<Polygon> box;
  if (options_.target == CastTarget::kBounds) box = BoxOf(*candidate.polygon);
  const Polygon& polygon = box ? *box : *candidate.polygon;
  out_.hits.push_back(Measured(polygon, candidate));
  if (!options_.reflect) return;
  const CastHit& hit = out_.hits.back();
  const PassageEdge& edge = candidate.at_exit ? candidate.passage.exit : candidate.passage.entry;
  out_.reflections.push_back(
      hit.normal == Vec2{} ? Vec2{} : internal::Reflected(line_, polygon.edge(edge.index)));
}

CastHit Caster::Measured(const Polygon& polygon, const Candidate& candidate) const {
  const Passage& passage = candidate.passage;
  CastHit hit;
  hit.polygon_id = polygon.id();
  hit.starts_inside = passage.begin.is_start();
  hit.ends_inside = passage.end.is_end() || line_.is_point();
  hit.exit_fraction = passage.end.Rounded(line_);
  if (passage.exit.index != internal::kNoEdge) {
    hit.has_exit_edge = true;
    hit.exit_edge = polygon.edge_ref(passage.exit.index);
    if (!hit.ends_inside) hit.exit_normal = NormalOf(polygon, passage.exit, 1);
  }
  const PassageEdge& reported = candidate.at_exit ? passage.exit : passage.entry;
  hit.fraction = candidate.at_exit ? hit.exit_fraction : candidate.fraction().Rounded(line_);
  hit.feature = FeatureOf(polygon, reported);
  // The reported edge defines the point, so that equal fractions of several edges do not matter.
  const bool has_edge = hit.feature != Feature::kNone;
  hit.point = (has_edge ? reported.at : candidate.fraction()).Point(line_, hit.fraction);
  if (has_edge) hit.edge = polygon.edge_ref(reported.index);
  if (candidate.at_exit) {
    hit.normal = hit.exit_normal;
  } else if (!hit.starts_inside) {
    hit.normal = NormalOf(polygon, reported, -1);
  }
  return hit;
}

// Ray i, or nothing and an error recorded.
std::optional<Ray> ReadRay(const RayColumns& rays, size_t i, std::vector<ItemError>& errors) {
  ItemChecker check(i, errors);
  const auto fail = [&check](ItemColumn column, ItemFault fault) {
    check.Fail(column, fault);
    return std::nullopt;
  };
  if (!check.Coordinate(ItemColumn::kX, rays.x[i]) ||
      !check.Coordinate(ItemColumn::kY, rays.y[i]) ||
      !check.Coordinate(ItemColumn::kDx, rays.dx[i]) ||
      !check.Coordinate(ItemColumn::kDy, rays.dy[i])) {
    return std::nullopt;
  }
  Ray ray{Normalized(Vec2{rays.x[i], rays.y[i]}), Normalized(Vec2{rays.dx[i], rays.dy[i]})};
  if (ray.direction == Vec2{}) return fail(ItemColumn::kDx, ItemFault::kZeroDirection);
  if (!rays.t_min.empty()) ray.t_min = rays.t_min[i] + 0.0;  // + 0.0 turns -0 into 0
  if (!rays.t_max.empty()) ray.t_max = rays.t_max[i];
  if (!(ray.t_min >= 0 && ray.t_min < HUGE_VAL)) {
    return fail(ItemColumn::kTMin, ItemFault::kNotARange);
  }
  if (!(ray.t_min < ray.t_max)) return fail(ItemColumn::kTMax, ItemFault::kNotARange);
  return ray;
}

}  // namespace

void CastAnswers::Clear() {
  counts.clear();
  hits.clear();
  reflections.clear();
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

bool CastRays(const Scene& scene, const RayColumns& rays, const CastOptions& options,
              CastAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(rays.size(), 0);
  Caster caster(scene, options, out, meter);
  for (size_t i = 0; i < rays.size(); ++i) {
    if (!meter.Spend(1)) return false;
    const std::optional<Ray> ray = ReadRay(rays, i, out.errors);
    if (ray && !caster.Cast(i, Line(*ray))) return false;
  }
  return true;
}

}  // namespace carom
