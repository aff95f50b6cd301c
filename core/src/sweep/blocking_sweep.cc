// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/blocking_sweep.h"

#include <algorithm>
#include <cmath>

#include "index/scene_traversal.h"
#include "shape/meets_box.h"
#include "sweep/blocking_overlap.h"
#include "sweep/sweep_measures.h"

namespace carom::internal {
// The distance to the next double.
double UlpOf(const Box& box) {
  const double largest = std::max({std::abs(box.min.x), std::abs(box.max.x), std::abs(box.min.y),
                                   std::abs(box.max.y), kSmallestMagnitude});
  return NextAbove(largest) - largest;
}

// Few polygons are found first, in the order of a traversal, and then visited.
void SceneObstacles::VisitNear(const SweptBox& reach, WorkMeter& meter, const Visit& visit) const {
  if (reach.is_short()) {
    const MeetsBox meets{reach.reach()};
    BoxQuery query;
    query.reach = meets.reach;
    query.is_asked = true;
    FindTiles(scene_.index(), {&query, 1});
    FewPolygons few;
    if (!find_polygons_(query, few)) return VisitPolygons(scene_, mask_, meter, meets, visit);
    if (!meter.Spend(query.boxes + few.boxes)) return;
    for (size_t i = 0; i < few.count; ++i) {
      const Polygon& polygon = few.polygons[i]->polygon();
      if ((polygon.category() & mask_) == 0 || !meets(polygon.bounds())) continue;
      if (!visit(*few.polygons[i]) || meter.stopped()) return;
    }
    return;
  }
  VisitPolygons(
      scene_, mask_, meter, [&](const Box& box) { return reach.MayMeet(box); }, visit);
}

// The vertices count as work before they are placed. What is wrong with a shape is found where it
// stands, since rounding may flatten a small one far from the origin.
std::optional<ItemFault> BlockingPose::Place(const Shape& shape, const Pose& pose,
                                             WorkMeter& meter) {
  pose_ = pose;
  meter.Spend(shape.vertex_count());
  if (!placed_.Place(shape, pose)) return ItemFault::kPlacedOutOfRange;
  view_ = placed_.View();
  return mover_.Take(*view_, meter);
}

// The axes serve to pass over polygons that are apart from the shape, as for other sweeps.
void BlockingSweep::Start(const BlockingPose& start, Vec2 d, InsidePolicy policy, Known known) {
  const PlacedShape& shape = start.mover().shape();
  policy_ = policy;
  known_ = known;
  overlaps_ = false;
  const Box path = MovedBox(shape.bounds(), d, 0, 1);
  ulp_ = UlpOf(path);
  margin_ = 32 * ulp_ + 8 * kSmallestMagnitude;
  reach_ = Grown(path, margin_);
  pair_.Start(start.mover(), {d, shape.radius()}, margin_);
  unclear_.clear();
  passed_over_.clear();
}

// No edge is near the path, and the shape does not start inside.
bool BlockingSweep::IsClear(const IndexedPolygon& fixed) {
  const auto is_near = [this](const Box& box) { return reach_.Intersects(box); };
  const auto visit = [this](size_t, const Segment& edge) { return pair_.axes().IsClear(edge); };
  if (!fixed.VisitEdges(meter_, is_near, visit)) return false;
  const Vec2 start = pair_.mover().shape().ring_start(0);
  return LocateInPolygon(fixed, start, meter_).location == Location::kOutside;
}

// That path is within 8 ulp and the roundings of these numbers, below 4 ulp, of a part of this one.
// The vertices of the shape placed at its end are rounded, within 2 ulp; and they, those at the
// start and `d` may have been read as 0. All of it is below the margin.
bool BlockingSweep::Covers(Vec2 d, double fraction) const {
  const Vec2 path = motion().d;
  return std::abs(d.x - fraction * path.x) <= 8 * ulp_ &&
         std::abs(d.y - fraction * path.y) <= 8 * ulp_;
}

// What is apart at the start for certain is not overlapped there. Small convex polygons, which
// are not apart as their axes have it, are near.
std::optional<BlockingHit> BlockingSweep::HitOf(const IndexedPolygon& fixed, double limit) {
  const std::optional<TouchBounds> bounds = pair_.axes().Bound(fixed);
  if (bounds) meter_.Spend(fixed.polygon().vertex_count());
  if (bounds ? bounds->is_clear : IsClear(fixed)) return std::nullopt;
  unclear_.push_back(&fixed);
  if (bounds && bounds->low > limit) return std::nullopt;
  std::optional<SweepTime> after = SweepTime::Zero();
  const bool may_overlap = !bounds && known_ == Known::kNothing;
  if (may_overlap && OverlapsInMoreThanTouch(pair_.mover(), fixed, meter_)) {
    overlaps_ = true;
    if (policy_ == InsidePolicy::kBlocking) return BlockingHit{&fixed, {}, true};
    after = pair_.EndOfOverlap(fixed, meter_);
    if (!after) passed_over_.push_back(&fixed);
  }
  if (!after || meter_.stopped()) return std::nullopt;
  const std::optional<SweepEvent> entry = pair_.Entry(fixed, limit, *after, meter_);
  return entry ? std::optional(BlockingHit{&fixed, *entry, false}) : std::nullopt;
}

// As the total order of sweeps has it.
int BlockingSweep::CompareTimes(const BlockingHit& a, const BlockingHit& b) const {
  if (pair_.mover().is_round()) {
    return (a.time().high() > b.time().high()) - (a.time().high() < b.time().high());
  }
  return SweepTime::Compare(motion(), a.time(), b.time());
}

std::optional<BlockingHit> BlockingSweep::First() {
  std::optional<BlockingHit> first;
  const auto visit = [&](const IndexedPolygon& fixed) {
    const double limit = first ? std::fmin(1, first->time().high()) : 1;
    const std::optional<BlockingHit> hit = HitOf(fixed, limit);
    if (!hit) return !meter_.stopped();
    const int order = first ? CompareTimes(*hit, *first) : -1;
    if (order < 0 || (order == 0 && hit->polygon_id() < first->polygon_id())) first = hit;
    return !meter_.stopped();
  };
  obstacles_.VisitNear(reach(), meter_, std::ref(visit));
  return first;
}

// Over with the first polygon that blocks.
bool BlockingSweep::IsFree() {
  bool is_free = true;
  const auto visit = [&](const IndexedPolygon& fixed) {
    is_free = !HitOf(fixed, 1) && !meter_.stopped();
    return is_free;
  };
  obstacles_.VisitNear(reach(), meter_, std::ref(visit));
  return is_free;
}

bool BlockingSweep::IsFree(std::span<const IndexedPolygon* const> polygons) {
  return std::all_of(polygons.begin(), polygons.end(), [this](const IndexedPolygon* fixed) {
    return !HitOf(*fixed, 1) && !meter_.stopped();
  });
}

// Few at a time: a shape overlaps few polygons.
bool BlockingSweep::PassesOver(const IndexedPolygon& fixed) const {
  return std::find(passed_over_.begin(), passed_over_.end(), &fixed) != passed_over_.end();
}

// Where U has no end, or none of them is on a side of the motion, the motion is the normal.
SweepHit BlockingSweep::Measured(const BlockingHit& hit) {
  const Polygon& polygon = hit.fixed->polygon();
  SweepHit measured;
  measured.polygon_id = polygon.id();
  measured.starts_inside = hit.starts_inside;
  contacts_.clear();
  arcs_.Start(motion(), hit.time());
  ray_.reset();
  if (hit.starts_inside) {
    touch_.Start(pair_.mover().shape(), motion());
    const SweepPair::Place start = touch_.AtStart(*hit.fixed, meter_);
    measured.point = start.point;
    measured.has_edge = start.edge.has_value();
    if (start.edge) measured.edge = polygon.edge_ref(*start.edge);
    return measured;
  }
  const Vec2 d = motion().d;
  const SweepTouch& touch = hit.event.touch;
  const EdgeMeeting& meeting = touch.time.meeting();
  measured.fraction = touch.time.Rounded(motion());
  measured.has_edge = true;
  measured.edge = polygon.edge_ref(hit.event.first_edge);
  measured.point = meeting.fixed.a;
  // A vertex of the polygon is the point, exactly; else a vertex of the shape is followed to the
  // fraction, and from the end of an axis the radius goes on against the normal of the touch.
  if (meeting.is_on_fixed_edge()) {
    Vec2 step{0, 0};
    if (motion().radius > 0) {
      const Vec2 n = RoundNormal(motion(), meeting, IntervalEnd::kBegin);
      step = {motion().radius * n.x, motion().radius * n.y};
    }
    measured.point = PointOnPath(meeting.moving.a, d, measured.fraction, step);
  }
  // What touches then is not clear of the path.
  for (const IndexedPolygon* const near : unclear_) {
    FindContacts(pair_, *near, touch.time, meter_, contacts_);
  }
  for (const BlockingContact& contact : contacts_) arcs_.Add(contact, pair_.mover());
  if (const auto ends = arcs_.EndsAbout(d)) ray_ = arcs_.Nearer(*ends, d);
  measured.normal = ray_ ? arcs_.NormalAgainst(*ray_, d) : NormalAgainst({}, d);
  return measured;
}

}  // namespace carom::internal
