// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/plain_sweep_row.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/bounded.h"
#include "numeric/double_lanes.h"
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

// Two numbers, each as a pair of doubles that errs by at most 2^-100 of `scale`.
struct TwoPairs {
  TwoLanes value;
  Lanes scale;
};

BoundedPair PairOf(const TwoPairs& of, size_t lane) {
  return {{of.value.high[lane], of.value.low[lane]}, kPairError * of.scale[lane]};
}

// a b + c d in both lanes, where what is negated is so beforehand. Left out are products of two
// lows, u^2 = 2^-106 of each product, and lows are summed up by up to eight roundings of 2^-53 of
// at most 4u of both.
TwoPairs SumOfProducts(const TwoLanes& a, const TwoLanes& b, const TwoLanes& c, const TwoLanes& d) {
  const TwoLanes left = TwoProduct(a.high, b.high);
  const TwoLanes right = TwoProduct(c.high, d.high);
  const TwoLanes sum = TwoSum(left.high, right.high);
  const Lanes lows = (a.high * b.low + a.low * b.high) + (c.high * d.low + c.low * d.high);
  const Lanes low = sum.low + ((left.low + right.low) + lows);
  const Lanes high = sum.high + low;
  return {{high, low - (high - sum.high)}, Abs(left.high) + Abs(right.high)};
}

TwoLanes Both(double high, double low) { return {Lanes{high, high}, Lanes{low, low}}; }
TwoLanes Both(double first, double second, double first_low) {
  return {Lanes{first, second}, Lanes{first_low, 0}};
}
TwoLanes Negated(const TwoLanes& a) { return {-a.high, -a.low}; }

// Of an edge s that is met, with z from the moving vertex to the fixed one: z x s and d x s.
struct EdgeProducts {
  EdgeProducts(const EdgeMeeting& meeting, Vec2 d) {
    const Segment side = meeting.side();
    s = TwoDiff(ToLanes(side.b), ToLanes(side.a));
    const TwoLanes z = TwoDiff(ToLanes(meeting.fixed.a), ToLanes(meeting.moving.a));
    crosses = SumOfProducts(Both(z.high[0], d.x, z.low[0]), Both(s.high[1], s.low[1]),
                            Both(z.high[1], d.y, z.low[1]), Negated(Both(s.high[0], s.low[0])));
  }

  BoundedPair of_start() const { return PairOf(crosses, 0); }
  BoundedPair of_path() const { return PairOf(crosses, 1); }

  TwoLanes s;
  TwoPairs crosses;
};

// A polygon's touch: t = (z x s) / (d x s), as sweep_time.h has it.
bool SetStraight(const EdgeMeeting& meeting, Vec2 d, SweepHit& hit) {
  const EdgeProducts products(meeting, d);
  const BoundedPair m = products.of_path();
  if (!m.is_certain() || !RoundToNearest(products.of_start() / m, 0, hit.fraction)) return false;
  // The side of a moving edge runs backward.
  hit.normal = meeting.is_on_fixed_edge() ? UnitNormal(meeting.fixed, m.sign())
                                          : UnitNormal(meeting.moving, -m.sign());
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
  const EdgeProducts products(meeting, motion.d);
  const TwoLanes& s = products.s;
  const TwoLanes x = Both(s.high[0], s.low[0]);
  const TwoLanes y = Both(s.high[1], s.low[1]);
  const BoundedPair length = SquareRoot(PairOf(SumOfProducts(x, x, y, y), 0));
  const BoundedPair n = products.of_start() - ExactValue(motion.radius) * length;
  if (!RoundUp(n / products.of_path(), hit.fraction)) return false;
  hit.normal = UnitNormal(meeting.side(), 1);
  return true;
}

// An end on a vertex: with A = d.d and w the root of A r^2 - (z x d)^2, t = (d.z - w) / A. The
// normal is (-w d - (z x d) (d.y, -d.x)) / (A r) (`RoundNormal`, which errs by 2^-94 at most).
bool SetOnVertex(const EdgeMeeting& meeting, const Motion& motion, SweepHit& hit) {
  const Vec2 d = motion.d;
  const TwoLanes z = TwoDiff(ToLanes(meeting.fixed.a), ToLanes(meeting.moving.a));
  const TwoLanes d_x = Both(d.x, 0.0);
  const TwoLanes d_y = Both(d.y, 0.0);
  // z.d and d.d, then z x d.
  const TwoLanes x = Both(z.high[0], d.x, z.low[0]);
  const TwoLanes y = Both(z.high[1], d.y, z.low[1]);
  const TwoPairs dots = SumOfProducts(x, d_x, y, d_y);
  const BoundedPair cross = PairOf(SumOfProducts(x, d_y, y, Negated(d_x)), 0);
  const BoundedPair length2 = PairOf(dots, 1);
  const BoundedPair radius = ExactValue(motion.radius);
  const BoundedPair root = SquareRoot(length2 * (radius * radius) - cross * cross);
  if (!RoundUp((PairOf(dots, 0) - root) / length2, hit.fraction)) return false;
  const BoundedPair scale = length2 * radius;
  // Both components, of terms that are at most as large as the scale.
  const TwoLanes w = Both(root.value.high, root.value.low);
  const TwoLanes c = Both(cross.value.high, cross.value.low);
  const TwoPairs sums = SumOfProducts(w, Both(-d.x, -d.y, 0), c, Both(-d.y, d.x, 0));
  const double passed =
      root.error * (std::abs(d.x) + std::abs(d.y)) + cross.error * (std::abs(d.x) + std::abs(d.y));
  BoundedPair normal_x = PairOf(sums, 0);
  BoundedPair normal_y = PairOf(sums, 1);
  normal_x.error += passed;
  normal_y.error += passed;
  constexpr double kSlack = 0x1p-94;
  if (!RoundToNearest(normal_x / scale, kSlack, hit.normal.x) ||
      !RoundToNearest(normal_y / scale, kSlack, hit.normal.y)) {
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
