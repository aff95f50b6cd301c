// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which obstacle blocks a moving shape first, and with which normal?
//
// `BlockingSweep` is one sweep of one shape under a blocking policy (carom/sweep.h): it finds the
// hit of each obstacle that blocks the shape, and the first hit with its normal. `SafePose`
// (blocking_safe.h) then finds the safe pose. The batches of sweeps and the legs (straight moves)
// of slides both use `BlockingSweep`, so a leg of a slide and a sweep with the same input have the
// same answer, byte for byte.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/hit_collector.h"
#include "blocking/blocking_arcs.h"
#include "blocking/blocking_mover.h"
#include "blocking/blocking_pair.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"
#include "edges/placed_shape.h"
#include "numeric/box_distance.h"
#include "sweep/obstacle.h"
#include "sweep/sweep_passage.h"

namespace carom::internal {

// Returns an ulp of the largest magnitude among the coordinates of `box`. A safe pose is within
// eight such ulps of the exact one, and a shape within eight such ulps of an obstacle counts as
// touching the obstacle.
double UlpOf(const Box& box);

// The hit of a sweep: a polygon or a body that blocks the sweep, and the time at which it does (a
// fraction of the path).
struct BlockingHit {
  Obstacle fixed;
  SweepEvent event;
  bool starts_inside = false;  // shape and obstacle overlap in more than touch at the start

  const SweepTime& time() const { return event.touch.time; }
  HitSource source() const { return fixed.source(); }
};

// A moving shape placed at one pose, with its view as a `BlockingMover`, which tests whether
// obstacles meet the shape's interior.
class BlockingPose {
 public:
  // Places `shape` at `pose`. Returns the fault of the placed shape, if any, which may be
  // PLACED_OUT_OF_RANGE.
  std::optional<ItemFault> Place(const Shape& shape, const Pose& pose, WorkMeter& meter);

  const BlockingMover& mover() const { return mover_; }
  const Pose& pose() const { return pose_; }

 private:
  Pose pose_;
  MovingShape placed_;
  std::optional<PlacedShape> view_;
  BlockingMover mover_;
};

// Finds the obstacles that block one shape on its path, a displacement by t d for t in [0, 1].
// Under the inside policy BLOCKING an obstacle blocks the shape where they begin to overlap in more
// than touch (the interior of one meets the other). BLOCKING_LEAVE ignores an obstacle that
// overlaps the shape so at the start until the shape has left it. At a hit, each contact (an edge
// or vertex of the shape that touches one of an obstacle) blocks an arc of directions. An object is
// reused for many sweeps. Not thread-safe.
class BlockingSweep {
 public:
  BlockingSweep(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter) {}

  // States whether it is known that the shape overlaps no obstacle in more than touch at the start
  // of the sweep. kUnchecked: it is not known, and `HitOf` tests each obstacle. kNone: it is proven
  // that the shape overlaps none.
  enum class StartOverlap : uint8_t { kUnchecked, kNone };

  // Sets the sweep of later calls: the shape `start` displaced by d. Keeps a reference to `start`.
  // `policy` is BLOCKING or BLOCKING_LEAVE.
  void Start(const BlockingPose& start, Vec2 d, InsidePolicy policy,
             StartOverlap start_overlap = StartOverlap::kUnchecked);

  const Motion& motion() const { return pair_.motion(); }

  // Returns the hit of `fixed`, if `fixed` blocks the sweep. May return nothing for a hit after the
  // time `limit`.
  std::optional<BlockingHit> HitOf(const Obstacle& fixed, double limit);
  // Returns the first hit of all obstacles in the total order of hits (carom/sweep.h): by time,
  // then scene polygons before bodies, then by id or index.
  std::optional<BlockingHit> First();
  // `IsFree` returns whether no obstacle blocks the sweep; with an argument, whether none of the
  // given obstacles does.
  bool IsFree();
  bool IsFree(std::span<const Obstacle> obstacles);
  // Returns the region that the shape passes over, enlarged by a margin. Callers of `Measured` must
  // have called `HitOf` for all obstacles in this region.
  SweptBox reach() const { return {Grown(pair_.bounds(), margin_), motion().d, 1}; }
  // Returns the obstacles that `HitOf` tested and did not prove clear. A clear obstacle does not
  // touch the shape anywhere on the path, not even if the shape is displaced by `margin()` in each
  // coordinate.
  std::span<const Obstacle> unclear() const { return unclear_; }
  // Returns whether obstacles that are proven clear of this path (those tested but not in
  // `unclear`) are also clear of a sweep by `d` from the start of this path, and of the shape
  // placed at the end of that sweep. Tests whether `d` differs from `fraction` times the
  // displacement of this path by at most 8 ulp.
  bool Covers(Vec2 d, double fraction) const;
  // Returns the order of two hits in time: -1, 0 or 1. Compares exact times, but for round shapes
  // or bodies the times rounded up to doubles.
  int CompareTimes(const BlockingHit& a, const BlockingHit& b) const;

  // Returns the answer row of a hit. The caller must have called `HitOf` for all obstacles in
  // `reach`.
  SweepHit Measured(const BlockingHit& hit);
  // `contacts` returns the contacts, with all considered obstacles, at the time of the hit that
  // `Measured` measured last. `arcs` returns the directions that these contacts block, and `ray`
  // that end of the arc of blocked directions around the motion's direction which is at the smaller
  // angle from it, if any. All three are empty for a hit with `starts_inside`.
  const std::vector<BlockingContact>& contacts() const { return contacts_; }
  BlockedArcs& arcs() { return arcs_; }
  const std::optional<ArcDirection>& ray() const { return ray_; }

  // Returns the margin, in each coordinate, by which the obstacles that were tested and are not in
  // `unclear` keep away from the path.
  double margin() const { return margin_; }
  const SweepAxes& axes() const { return pair_.axes(); }
  // Returns kNone if the shape at the start overlaps none of the obstacles tested by `HitOf` in
  // more than touch, else kUnchecked.
  StartOverlap start_overlap() const {
    return overlaps_ ? StartOverlap::kUnchecked : StartOverlap::kNone;
  }
  // Returns whether the policy BLOCKING_LEAVE ignores the tested obstacle `fixed` during the whole
  // sweep, because their overlap at the start lasts to the end of the sweep.
  bool PassesOver(const Obstacle& fixed) const;

 private:
  Motion MotionTo(const Obstacle& fixed) const {
    return {motion().d, motion().radius, fixed.radius()};
  }
  BlockingPair& PairWith(const Obstacle& fixed);
  bool IsClear(const Obstacle& fixed, const SweepAxes& axes);
  bool IsRound(const BlockingHit& hit) const { return MotionTo(hit.fixed).is_round(); }
  void MeasureStart(const Obstacle& fixed, SweepHit& measured);
  Vec2 PointOf(const BlockingHit& hit, double fraction) const;

  const Obstacles& obstacles_;
  WorkMeter& meter_;
  InsidePolicy policy_ = InsidePolicy::kBlocking;
  BlockingPair pair_;
  // like `pair_`, but for the round body tested last: its motion includes the body's radius
  BlockingPair round_;
  // finds a point that shape and obstacle share, for a hit with `starts_inside`
  SweepPair touch_;
  // bounding box of the whole path, grown by `margin_`
  Box reach_;
  StartOverlap start_overlap_ = StartOverlap::kUnchecked;
  bool overlaps_ = false;
  double ulp_ = 0;
  double margin_ = 0;
  std::vector<Obstacle> unclear_;
  std::vector<Obstacle> passed_over_;
  std::vector<BlockingContact> contacts_;
  BlockedArcs arcs_{{}, SweepTime::Zero()};
  std::optional<ArcDirection> ray_;
};

}  // namespace carom::internal
