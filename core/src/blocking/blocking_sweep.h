// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What blocks a moving shape, and where may it stand?
//
// `BlockingSweep` is one sweep of one shape under a blocking policy (carom/sweep.h): the effect of
// each obstacle on the shape, and the first hit with its normal. `SafePose` then finds the safe
// pose. Both sweeps and the legs of slides use `BlockingSweep`, so a leg that is requested as a
// sweep gives the same bytes.
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

// Returns an ulp of the largest magnitude of the box's coordinates. A safe pose is within eight of
// these ulps of the exact one, and a shape within eight of them of an obstacle counts as touching
// it.
double UlpOf(const Box& box);

// A polygon or a body that blocks the sweep, and when it does.
struct BlockingHit {
  Obstacle fixed;
  SweepEvent event;
  bool starts_inside = false;  // they overlap in more than touch at the start

  const SweepTime& time() const { return event.touch.time; }
  HitSource source() const { return fixed.source(); }
};

// A shape placed at one pose, for the blocking policies.
class BlockingPose {
 public:
  // Places a shape. Returns its fault at the pose, if any, which may be PLACED_OUT_OF_RANGE.
  std::optional<ItemFault> Place(const Shape& shape, const Pose& pose, WorkMeter& meter);

  const BlockingMover& mover() const { return mover_; }
  const Pose& pose() const { return pose_; }

 private:
  Pose pose_;
  MovingShape placed_;
  std::optional<PlacedShape> view_;
  BlockingMover mover_;
};

// Finds what blocks one moving shape. Reused from sweep to sweep. Not thread-safe.
class BlockingSweep {
 public:
  BlockingSweep(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter) {}

  // Whether the shape overlaps anything in more than touch at the start: not tested yet, or proven
  // not to.
  enum class StartOverlap : uint8_t { kUnchecked, kNone };

  // Sets the sweep of later calls and keeps a reference to `start`. `policy` is BLOCKING or
  // BLOCKING_LEAVE.
  void Start(const BlockingPose& start, Vec2 d, InsidePolicy policy,
             StartOverlap start_overlap = StartOverlap::kUnchecked);

  const Motion& motion() const { return pair_.motion(); }

  // Returns the hit of an obstacle, if it blocks the sweep. A hit after `limit` may be left out.
  std::optional<BlockingHit> HitOf(const Obstacle& fixed, double limit);
  // Returns the first hit in the total order.
  std::optional<BlockingHit> First();
  // Returns whether no obstacle blocks the sweep, or none of `obstacles`.
  bool IsFree();
  bool IsFree(std::span<const Obstacle> obstacles);
  // Returns what the path passes over, with a margin about it: `HitOf` must test all obstacles in
  // this region.
  SweptBox reach() const { return {Grown(pair_.bounds(), margin_), motion().d, 1}; }
  // Returns the obstacles that `HitOf` tested, except obstacles that the shape on the path
  // certainly does not touch, not even displaced by the margin in each coordinate.
  std::span<const Obstacle> unclear() const { return unclear_; }
  // Returns whether obstacles that are not `unclear` are also clear of a sweep by `d` from the same
  // start, and of the shape placed at its end: whether `d` is within 8 ulp of `fraction` of this
  // path.
  bool Covers(Vec2 d, double fraction) const;
  // Returns the order of two hits in time: exact, but for the times of round shapes or bodies,
  // which are rounded up.
  int CompareTimes(const BlockingHit& a, const BlockingHit& b) const;

  // Returns the row of a hit, after `HitOf` has tested all obstacles in `reach`.
  SweepHit Measured(const BlockingHit& hit);
  // Returns the contacts, with all considered obstacles, at the time of the hit that was measured
  // last. `arcs` returns what these contacts block, and `ray` the end of the blocked arc that is
  // nearer to the motion, if any. All three are empty for a hit that starts inside.
  const std::vector<BlockingContact>& contacts() const { return contacts_; }
  BlockedArcs& arcs() { return arcs_; }
  const std::optional<ArcDirection>& ray() const { return ray_; }

  // Returns the least distance from the path, in each coordinate, of obstacles that are not
  // `unclear`.
  double margin() const { return margin_; }
  const SweepAxes& axes() const { return pair_.axes(); }
  // Returns kNone if the shape at the start overlaps none of the tested obstacles in more than
  // touch.
  StartOverlap start_overlap() const {
    return overlaps_ ? StartOverlap::kUnchecked : StartOverlap::kNone;
  }
  // Returns whether BLOCKING_LEAVE passes over a tested obstacle during the whole sweep, because
  // the overlap at the start lasts to the end of the sweep.
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
  BlockingPair round_;  // the pair with the round body tested last
  SweepPair touch_;     // finds the point of a start inside
  Box reach_;           // box of the path, grown by the margin
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
