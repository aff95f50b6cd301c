// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/arc.h"

#include <optional>

#include "base/hit_collector.h"
#include "cast/arc_motion.h"
#include "cast/arc_passage.h"
#include "index/body_set.h"
#include "index/scene_traversal.h"
#include "shape/measures.h"

namespace carom {
namespace {

using internal::ArcContact;
using internal::ArcMotion;
using internal::ArcTouch;

// A hit without its measures (point, normal, edge), which are computed later.
struct Candidate {
  internal::HitSource target;
  const Polygon* polygon;
  ArcContact contact;
  double time;  // time of the hit, rounded up

  const internal::HitSource& source() const { return target; }
};

// Casts arcs (paths of points under constant acceleration), one at a time: finds the hits of an arc
// with the polygons of the scene, and with the bodies (moving shapes that are sent with the
// queries) that are polygons. Skips round bodies.
class ArcCaster {
 public:
  ArcCaster(const World& world, const ArcOptions& options, ArcAnswers& out, WorkMeter& meter)
      : world_(world), options_(options), out_(out), meter_(meter) {}

  // Appends the answer of arc `index`. Returns false once the meter stops the work.
  bool Cast(size_t index, const ArcMotion& motion, const internal::QueryFilter& query_filter);

 private:
  void CollectHits(const ArcMotion& motion, const internal::QueryFilter& query_filter);
  void Keep(const ArcMotion& motion, Candidate candidate);
  ArcHit Measured(const ArcMotion& motion, const Candidate& candidate) const;

  const World& world_;
  const ArcOptions& options_;
  ArcAnswers& out_;
  WorkMeter& meter_;
  Box reach_;  // bounds of the part of the arc in which a hit may still be kept
  internal::HitCollector<Candidate> hits_;
};

// Returns the order of two hits by their times, rounded up to doubles. Two exact times that round
// to one double tie; `HitSource` then decides the order.
int CompareTimes(const Candidate& a, const Candidate& b) {
  return (a.time > b.time) - (a.time < b.time);
}

bool ArcCaster::Cast(size_t index, const ArcMotion& motion,
                     const internal::QueryFilter& query_filter) {
  reach_ = motion.BoxUntil(motion.duration());
  hits_.Start(options_.mode, options_.max_hits);
  CollectHits(motion, query_filter);
  if (meter_.stopped()) return false;
  const auto measure = [&](size_t rank) {
    meter_.Spend(8);
    return Measured(motion, hits_.hits()[rank]);
  };
  return hits_.Write(index, out_, CompareTimes, measure, meter_);
}

void ArcCaster::CollectHits(const ArcMotion& motion, const internal::QueryFilter& query_filter) {
  internal::ArcPassageFinder finder(motion, meter_);
  const auto meets = [this](const Box& box) { return reach_.Intersects(box); };
  const auto add = [&](const internal::HitSource& source, const IndexedPolygon& polygon) {
    const auto contact = finder.Find(polygon, reach_, options_.inside_policy);
    if (meter_.stopped()) return false;
    if (contact) Keep(motion, {source, &polygon.polygon(), *contact, 0});
    return !hits_.is_done();
  };
  if (query_filter.scene) {
    internal::VisitPolygons(world_.scene, query_filter.mask, meter_, meets,
                            [&](const IndexedPolygon& polygon) {
                              return add({false, polygon.polygon().id()}, polygon);
                            });
  }
  if (hits_.is_done()) return;
  internal::VisitBodies(world_, query_filter, meter_, meets, [&](internal::Body& body) {
    return body.is_round() || add({true, body.index()}, body.core());
  });
}

// Adds `candidate` to the kept hits, unless these are as many as the cast mode needs (`is_full`)
// and `candidate` certainly comes after the last kept hit. In mode ANY, which reports no time, does
// not round the time up, since rounding may take exact arithmetic. If the kept hits are full after
// the addition, limits `reach_` to the part of the arc up to the last kept hit, since later hits do
// not matter.
void ArcCaster::Keep(const ArcMotion& motion, Candidate candidate) {
  if (hits_.is_full() && candidate.contact.at().low > hits_.last().time) return;
  if (options_.mode != CastMode::kAny) candidate.time = motion.RoundedUp(candidate.contact.at());
  meter_.Spend(1);
  if (!hits_.Add(candidate, CompareTimes, meter_) || !hits_.is_full()) return;
  reach_ = motion.BoxUntil(hits_.last().time);
}

// Returns the hit to report, with its point, edge and normal. The point is the position of the
// moving point at the exact time of the hit. The normal points against the velocity at an entry,
// and along the velocity at an exit. A hit at the start or at the end of the duration has no
// normal, since the arc crosses no edge.
ArcHit ArcCaster::Measured(const ArcMotion& motion, const Candidate& candidate) const {
  const ArcContact& contact = candidate.contact;
  const ArcTouch& touch = contact.touch;
  ArcHit hit;
  hit.polygon_id = candidate.target.id;
  hit.is_body = candidate.target.is_body;
  hit.time = candidate.time;
  hit.starts_inside = contact.holds_start;
  hit.point = motion.PointAt(contact.at());
  if (touch.edge == internal::kNoEdge) return hit;
  hit.has_edge = true;
  hit.edge = candidate.polygon->edge_ref(touch.edge);
  const bool is_end =
      contact.at_exit ? motion.Compare(contact.at(), motion.End()) == 0 : contact.holds_start;
  if (touch.along || is_end) return hit;
  const Segment edge = candidate.polygon->edge(touch.edge);
  const int side = motion.Sign(motion.SideOf(edge), contact.at(), 1);
  hit.normal = internal::UnitNormal(edge, contact.at_exit ? side : -side);
  return hit;
}

// Returns the motion of arc i; or, if the arc is invalid, records an error and returns nullopt.
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

bool CastArcs(const World& world, const ArcColumns& arcs, const ArcOptions& options,
              ArcAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(arcs.size(), 0);
  ArcCaster caster(world, options, out, meter);
  for (size_t i = 0; i < arcs.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const std::optional<ArcMotion> motion = MotionOf(arcs, i, check, meter);
    const auto query_filter = internal::QueryFilter::Of(arcs.scope, i, options.mask);
    if (motion && !caster.Cast(i, *motion, query_filter)) return false;
  }
  return true;
}

}  // namespace carom
