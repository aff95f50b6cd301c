// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What blocks a moving shape, and where may it stand?
//
// `BlockingSweep` is one sweep of one shape under a blocking policy: what each obstacle does to it,
// the first hit with its normal, and the safe pose (carom/sweep.h). Sweeps and the legs of slides
// both are it, so that a leg asked again as a sweep gives the same bytes.
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

// Eight times this is how near a safe pose is, and how near counts as touching: an ulp of the
// largest magnitude of the box's coordinates.
double UlpOf(const Box& box);

// One polygon, or one body, that blocks.
struct BlockingHit {
  Obstacle fixed;
  SweepEvent event;
  bool starts_inside = false;  // at the start, by overlap in more than touch

  const SweepTime& time() const { return event.touch.time; }
  HitSource source() const { return fixed.source(); }
};

// A shape placed at one pose, as blocking takes it.
class BlockingPose {
 public:
  // Returns what is wrong with the shape there; PLACED_OUT_OF_RANGE among that.
  std::optional<ItemFault> Place(const Shape& shape, const Pose& pose, WorkMeter& meter);

  const BlockingMover& mover() const { return mover_; }
  const Pose& pose() const { return pose_; }

 private:
  Pose pose_;
  MovingShape placed_;
  std::optional<PlacedShape> view_;
  BlockingMover mover_;
};

// Reused from sweep to sweep. Not thread-safe.
class BlockingSweep {
 public:
  BlockingSweep(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter) {}

  // What is known of a start.
  enum class Known : uint8_t { kNothing, kOverlapsNothing };

  // The sweep of the calls that follow; keeps a reference. `policy` is one of the two.
  void Start(const BlockingPose& start, Vec2 d, InsidePolicy policy, Known known = Known::kNothing);

  const Motion& motion() const { return pair_.motion(); }

  // What an obstacle does; a hit that comes after `limit` may be left out.
  std::optional<BlockingHit> HitOf(const Obstacle& fixed, double limit);
  // The first in the total order.
  std::optional<BlockingHit> First();
  // Whether nothing blocks the sweep, respectively none of these.
  bool IsFree();
  bool IsFree(std::span<const Obstacle> obstacles);
  // What the path passes over, and a margin about it: all obstacles there are to be asked.
  SweptBox reach() const { return {Grown(pair_.bounds(), margin_), motion().d, 1}; }
  // Of those that were asked: all but those that the shape surely does not touch on the path, nor
  // displaced by the margin in each coordinate.
  std::span<const Obstacle> unclear() const { return unclear_; }
  // Whether what is not `unclear` is out of the way of a sweep by `d` from the same start, too, and
  // of the shape placed at its end: whether `d` is within 8 ulp of that fraction of this path.
  bool Covers(Vec2 d, double fraction) const;
  // The order of times: exact, but that of what a round shape or body meets rounded up.
  int CompareTimes(const BlockingHit& a, const BlockingHit& b) const;

  // Once all were asked.
  SweepHit Measured(const BlockingHit& hit);
  // Of the hit that was measured last: the contacts at its time with all that is considered, what
  // they block, and the end of that which is nearer to the motion, if there is one. None of one
  // that starts inside.
  const std::vector<BlockingContact>& contacts() const { return contacts_; }
  BlockedArcs& arcs() { return arcs_; }
  const std::optional<ArcDirection>& ray() const { return ray_; }

  // How far beside the path all that is not `unclear` is at least, in each coordinate.
  double margin() const { return margin_; }
  const SweepAxes& axes() const { return pair_.axes(); }
  // Whether the shape at the start overlaps none of those that were asked in more than touch.
  Known known() const { return overlaps_ ? Known::kNothing : Known::kOverlapsNothing; }
  // Of those that were asked: whether BLOCKING_LEAVE passes over it from the start to the end of
  // the sweep, for the overlap of the start lasts as long.
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
  BlockingPair round_;  // with the round body that is asked
  SweepPair touch_;     // for the place of a start inside
  Box reach_;           // of the path and the margin
  Known known_ = Known::kNothing;
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
