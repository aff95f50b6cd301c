// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/plain_sweep_row.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/bounded.h"
#include "shape/measures.h"
#include "sweep/sweep_measures.h"
#include "sweep/sweep_time.h"

namespace carom::internal {
namespace {

// The edge that begins at a vertex of a ring.
Segment EdgeAt(const PlainMover& ring, size_t i) { return {ring.vertex(i), ring.vertex(i + 1)}; }

EdgeMeeting MeetingOf(const Polygon& polygon, const SweptMover& mover, const PlainTouch& touch) {
  const Vec2 moving = mover.ring.vertex(touch.moving);
  switch (touch.kind) {
    case TouchKind::kFixedEdge:
      return EdgeMeeting::OnFixedEdge(polygon.edge(touch.fixed), moving);
    case TouchKind::kMovingEdge:
      return EdgeMeeting::OnMovingEdge(polygon.vertices()[touch.fixed],
                                       EdgeAt(mover.ring, touch.moving));
    case TouchKind::kVertices:
      break;
  }
  return EdgeMeeting::OfVertices(polygon.vertices()[touch.fixed], moving);
}

// The least edge that touches: the one that is met, or of the two that share a vertex.
uint32_t FirstEdge(const PlainTouch& touch) {
  if (touch.kind == TouchKind::kFixedEdge || touch.fixed == 0) return touch.fixed;
  return touch.fixed - uint32_t{1};
}

// Sets the double nearest to a quotient, if that is certain.
bool RoundToNearest(const BoundedPair& t, double slack, double& rounded) {
  const double error = (t.error + slack) * (1 + 0x1p-40);
  const double least = t.value.high + (t.value.low - error);
  rounded = t.value.high + (t.value.low + error) + 0.0;
  return kHasFilters && least + 0.0 == rounded;
}

// A polygon's touch: t = (z x s) / (d x s), as sweep_time.h has it.
bool SetStraight(const EdgeMeeting& meeting, Vec2 d, SweepHit& hit) {
  const Segment side = meeting.side();
  const BoundedPairVec2 s = ExactDifference(side.b, side.a);
  const BoundedPair n = Cross(ExactDifference(meeting.fixed.a, meeting.moving.a), s);
  const BoundedPair t = n / Cross(ExactValue(d), s);
  if (!RoundToNearest(t, 0, hit.fraction)) return false;
  hit.normal = NormalAgainst(meeting.is_on_fixed_edge() ? meeting.fixed : meeting.moving, d);
  return true;
}

// Sets a number rounded up, if that is certain.
bool RoundUp(const BoundedPair& t, double& rounded) {
  if (!(t.error < HUGE_VAL)) return false;
  rounded = RoundedUpEnd(t, 1) + 0.0;
  return kHasFilters && RoundedUpEnd(t, -1) == rounded;
}

// A capsule's side or end on an edge: t = (z x s - r |s|) / (d x s), where d x s > 0.
bool SetOnEdge(EdgeMeeting meeting, const Motion& motion, SweepHit& hit) {
  const Segment given = meeting.side();
  const Vec2 s_given{given.b.x - given.a.x, given.b.y - given.a.y};
  if (motion.d.x * s_given.y - motion.d.y * s_given.x < 0) {
    std::swap(meeting.fixed.a, meeting.fixed.b);
    std::swap(meeting.moving.a, meeting.moving.b);
  }
  const Segment side = meeting.side();
  const BoundedPairVec2 s = ExactDifference(side.b, side.a);
  const BoundedPairVec2 z = ExactDifference(meeting.fixed.a, meeting.moving.a);
  const BoundedPair reach = ExactValue(motion.radius) * SquareRoot(Dot(s, s));
  if (!RoundUp((Cross(z, s) - reach) / Cross(ExactValue(motion.d), s), hit.fraction)) return false;
  hit.normal = RoundNormal(motion, meeting, IntervalEnd::kBegin);
  return true;
}

// An end on a vertex: with A = d.d and w the root of A r^2 - (z x d)^2, t = (d.z - w) / A. The normal
// is (-w d - (z x d) (d.y, -d.x)) / (A r) (`RoundNormal`, which errs by 2^-94 at most).
bool SetOnVertex(const EdgeMeeting& meeting, const Motion& motion, SweepHit& hit) {
  const BoundedPairVec2 d = ExactValue(motion.d);
  const BoundedPairVec2 z = ExactDifference(meeting.fixed.a, meeting.moving.a);
  const BoundedPair radius = ExactValue(motion.radius);
  const BoundedPair length2 = Dot(d, d);
  const BoundedPair cross = Cross(z, d);
  const BoundedPair root = SquareRoot(length2 * (radius * radius) - cross * cross);
  if (!RoundUp((Dot(d, z) - root) / length2, hit.fraction)) return false;
  const BoundedPair scale = length2 * radius;
  const BoundedPair x = -(root * d.x + cross * d.y) / scale;
  const BoundedPair y = (cross * d.x - root * d.y) / scale;
  const double slack = 0x1p-94;
  if (!RoundToNearest(x, slack, hit.normal.x) || !RoundToNearest(y, slack, hit.normal.y)) {
    hit.normal = RoundNormal(motion, meeting, IntervalEnd::kBegin);
  }
  return true;
}

}  // namespace

// As `Sweeper::MeasureTouch` has it.
bool SetPlainRow(const Polygon& polygon, const SweptMover& mover, const PlainTouch& touch,
                 SweepHit& hit) {
  const Motion motion{mover.d, mover.radius};
  const EdgeMeeting meeting = MeetingOf(polygon, mover, touch);
  bool is_certain = false;
  if (mover.radius == 0) {
    is_certain = SetStraight(meeting, mover.d, hit);
  } else if (touch.kind == TouchKind::kVertices) {
    is_certain = SetOnVertex(meeting, motion, hit);
  } else {
    is_certain = SetOnEdge(meeting, motion, hit);
  }
  if (!is_certain) return false;
  hit.polygon_id = polygon.id();
  hit.has_edge = true;
  hit.edge = polygon.edge_ref(FirstEdge(touch));
  hit.point = meeting.fixed.a;
  if (meeting.is_on_fixed_edge()) {
    const Vec2 step{motion.radius * hit.normal.x, motion.radius * hit.normal.y};
    hit.point = PointOnPath(meeting.moving.a, motion.d, hit.fraction, step);
  }
  return true;
}

}  // namespace carom::internal
