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

// A hit before its measures are computed.
struct Candidate {
  internal::HitSource target;
  const Polygon* polygon;
  ArcContact contact;
  double time;  // of the hit, rounded up

  const internal::HitSource& source() const { return target; }
};

// Casts one arc at a time.
class ArcCaster {
 public:
  ArcCaster(const World& world, const ArcOptions& options, ArcAnswers& out, WorkMeter& meter)
      : world_(world), options_(options), out_(out), meter_(meter) {}

  // Adds the answer of arc `index`. Returns false once the meter stops.
  bool Cast(size_t index, const ArcMotion& motion, const internal::Considered& considered);

 private:
  void CollectHits(const ArcMotion& motion, const internal::Considered& considered);
  void Keep(const ArcMotion& motion, Candidate candidate);
  ArcHit Measured(const ArcMotion& motion, const Candidate& candidate) const;

  const World& world_;
  const ArcOptions& options_;
  ArcAnswers& out_;
  WorkMeter& meter_;
  Box reach_;  // holds the part of the arc where a better hit may be
  internal::HitCollector<Candidate> hits_;
};

// Times that round up to one double tie.
int CompareTimes(const Candidate& a, const Candidate& b) {
  return (a.time > b.time) - (a.time < b.time);
}

bool ArcCaster::Cast(size_t index, const ArcMotion& motion,
                     const internal::Considered& considered) {
  reach_ = motion.BoxUntil(motion.duration());
  hits_.Start(options_.mode, options_.max_hits);
  CollectHits(motion, considered);
  if (meter_.stopped()) return false;
  const auto measure = [&](size_t rank) {
    meter_.Spend(8);
    return Measured(motion, hits_.hits()[rank]);
  };
  return hits_.Write(index, out_, CompareTimes, measure, meter_);
}

void ArcCaster::CollectHits(const ArcMotion& motion, const internal::Considered& considered) {
  internal::ArcPassageFinder finder(motion, meter_);
  const auto meets = [this](const Box& box) { return reach_.Intersects(box); };
  const auto add = [&](const internal::HitSource& source, const IndexedPolygon& polygon) {
    const auto contact = finder.Find(polygon, reach_, options_.inside_policy);
    if (meter_.stopped()) return false;
    if (contact) Keep(motion, {source, &polygon.polygon(), *contact, 0});
    return !hits_.is_done();
  };
  if (considered.scene) {
    internal::VisitPolygons(world_.scene, considered.mask, meter_, meets,
                            [&](const IndexedPolygon& polygon) {
                              return add({false, polygon.polygon().id()}, polygon);
                            });
  }
  if (hits_.is_done()) return;
  internal::VisitBodies(world_, considered, meter_, meets, [&](internal::Body& body) {
    return body.is_round() || add({true, body.index()}, body.core());
  });
}

// Rounding a time up may take exact arithmetic, which a hit that is certainly too late is spared,
// and one of which nothing but its existence is wanted.
// While the collector is full, what comes after its last hit does not matter.
void ArcCaster::Keep(const ArcMotion& motion, Candidate candidate) {
  if (hits_.is_full() && candidate.contact.at().low > hits_.last().time) return;
  if (options_.mode != CastMode::kAny) candidate.time = motion.RoundedUp(candidate.contact.at());
  meter_.Spend(1);
  if (!hits_.Add(candidate, CompareTimes, meter_) || !hits_.is_full()) return;
  reach_ = motion.BoxUntil(hits_.last().time);
}

// The point is that of the exact time. The normal is against the velocity there at an entry, with
// it at an exit; there is none at the start and at the end of the duration, where nothing is
// crossed.
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

bool CastArcs(const World& world, const ArcColumns& arcs, const ArcOptions& options,
              ArcAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(arcs.size(), 0);
  ArcCaster caster(world, options, out, meter);
  for (size_t i = 0; i < arcs.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const std::optional<ArcMotion> motion = MotionOf(arcs, i, check, meter);
    const auto considered = internal::Considered::Of(arcs.scope, i, options.mask);
    if (motion && !caster.Cast(i, *motion, considered)) return false;
  }
  return true;
}

}  // namespace carom
