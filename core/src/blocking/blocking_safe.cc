// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/blocking_safe.h"

#include <algorithm>
#include <cmath>

#include "blocking/blocking_overlap.h"
#include "numeric/box_distance.h"
#include "numeric/rounded_vectors.h"
#include "sweep/sweep_measures.h"

namespace carom::internal {
namespace {

bool AreWithin(Vec2 a, Vec2 b, double most) {
  return std::abs(a.x - b.x) <= most && std::abs(a.y - b.y) <= most;
}

}  // namespace

// Returns the position of a safe pose: one where the shape overlaps no obstacle in more than touch,
// and to which the sweep is not blocked. Tries poses near the exact pose at the hit first, then
// poses farther and farther back along the path. When these poses come within 8 ulp of the start,
// returns the start instead of testing them.
Vec2 SafePose::Find(const SafeRequest& request) {
  const Vec2 from = request.start.pose().position;
  const Vec2 d = request.sweep.motion().d;
  if (d == Vec2{} || (request.hit && request.hit->starts_inside)) return from;
  const Box at_start = request.start.mover().shape().bounds();
  const double ulp = UlpOf(MovedBox(at_start, d, 0, request.fraction));
  const Vec2 base = Normalized(PointOnPath(from, d, request.fraction));
  if (const std::optional<Vec2> near = FindNear(request, base, ulp)) return *near;
  for (const int power : {-44, -32, -20, -10, -5, -2, -1}) {
    const double t = request.fraction * (1 - std::ldexp(1, power));
    const Vec2 position = Normalized(PointOnPath(from, d, t));
    if (meter_.stopped() || AreWithin(position, from, 8 * ulp)) break;
    if (IsSafe(request, position, t)) return position;
  }
  return from;
}

// Returns whether the sweep has a hit and `position` is within 8 ulp of the start. The shape then
// stays at the start, so that repeated pushes against an obstacle move nothing.
bool SafePose::IsAtStart(const SafeRequest& request, Vec2 position, double ulp) {
  return request.hit && AreWithin(position, request.start.pose().position, 8 * ulp);
}

// Returns a safe position near `base`, the exact position at the hit, rounded; nothing if it finds
// none. If the skin (the gap to keep from obstacles) is 0, tries `base` itself. Then tries
// positions offset from `base` so that the gaps between the shape there and near obstacles grow.
// Such an offset may lead into an obstacle that the shape touches only at the start (such as a
// slanted wall whose end the shape passes). If no offset is safe, adds the gaps between the shape
// at the start and near obstacles, and tries offsets once more.
std::optional<Vec2> SafePose::FindNear(const SafeRequest& request, Vec2 base, double ulp) {
  const Vec2 from = request.start.pose().position;
  if (request.skin == 0) {
    if (IsAtStart(request, base, ulp)) return from;
    if (IsSafe(request, base, request.fraction)) return base;
  }
  Pose pose = request.start.pose();
  pose.position = base;
  if (candidate_.Place(request.shape, pose, meter_)) return std::nullopt;
  const double reach = request.skin + 16 * ulp;
  offset_.Start(reach);
  FindGaps(candidate_.mover(), reach, {});
  if (const std::optional<Vec2> position = FindOffset(request, base, ulp)) return position;
  FindGaps(request.start.mover(), reach, RoundedDifference(base, from));
  return FindOffset(request, base, ulp);
}

// Returns the first safe position among those that it tries, or the start if a tried position is
// within 8 ulp of the start; nothing if it finds none. Tries offsets from `base` that keep a gap of
// the skin (the requested gap to obstacles) plus k ulp, for k = 0, 1, 2, 4, 6 and 8, and then
// offsets that keep a gap of k ulp without the skin.
std::optional<Vec2> SafePose::FindOffset(const SafeRequest& request, Vec2 base, double ulp) {
  for (const double skin : {request.skin, 0.0}) {
    for (const double steps : {0, 1, 2, 4, 6, 8}) {
      const std::optional<Vec2> offset = offset_.Offset(skin + steps * ulp);
      if (!offset) continue;
      const Vec2 position = Normalized(Vec2{base.x + offset->x, base.y + offset->y});
      if (meter_.stopped() || IsAtStart(request, position, ulp)) {
        return request.start.pose().position;
      }
      if (IsSafe(request, position, request.fraction)) return position;
    }
    if (request.skin == 0) break;
  }
  return std::nullopt;
}

// Returns whether the pose at `position` is proven to be safe: the shape has an interior there and
// overlaps no obstacle in more than touch, and no obstacle blocks its way. Places the shape as a
// later call with that pose does, and sweeps the shape from the start by the difference of the
// positions. If `Covers` proves that this sweep cannot touch any obstacle but those in
// `request.sweep.unclear()`, tests only these.
bool SafePose::IsSafe(const SafeRequest& request, Vec2 position, double fraction) {
  const Vec2 from = request.start.pose().position;
  const Vec2 d = Normalized(RoundedDifference(position, from));
  Pose pose = request.start.pose();
  pose.position = position;
  if (!IsAccepted(position) || !IsAccepted(d)) return false;
  if (candidate_.Place(request.shape, pose, meter_)) return false;
  const bool is_covered = request.sweep.Covers(d, fraction);
  if (is_covered && request.sweep.unclear().empty()) return !meter_.stopped();
  candidate_sweep_.Start(request.start, d, request.policy, request.sweep.start_overlap());
  if (!(is_covered ? candidate_sweep_.IsFree(request.sweep.unclear()) : candidate_sweep_.IsFree()))
    return false;
  // The candidate sweep does not block at an obstacle that the shape overlaps at the start and then
  // leaves, but the pose must not overlap that obstacle either.
  const BlockingMover& mover = candidate_.mover();
  const bool is_round = mover.is_round() && mover.shape().radius() > 4 * candidate_sweep_.margin();
  const auto overlaps = [&](const Obstacle& fixed) {
    if (is_round && !fixed.is_round()) {
      return ComesCloser(mover, *fixed.core, candidate_sweep_.axes(), meter_);
    }
    return OverlapsInMoreThanTouch(mover, *fixed.core, meter_, fixed.radius());
  };
  const auto near = candidate_sweep_.unclear();
  return std::all_of(near.begin(), near.end(), [&](const Obstacle& fixed) {
    return (candidate_sweep_.PassesOver(fixed) || !overlaps(fixed)) && !meter_.stopped();
  });
}

// Adds to `offset_` the gaps (distances along normals) between the shape, displaced by `moved`, and
// all obstacles within `reach`. The order in which gaps are added matters if gaps are nearly equal
// or more than `offset_` stores, so the obstacles are sorted to make the result independent of the
// order of visits.
void SafePose::FindGaps(const BlockingMover& mover, double reach, Vec2 moved) {
  offset_.Move(moved);
  near_.clear();
  const auto visit = [&](const Obstacle& fixed) {
    near_.push_back(fixed);
    return true;
  };
  const Box near = Grown(mover.shape().bounds(), reach);
  obstacles_.VisitNear(SweptBox(near, {}, 0), meter_, std::ref(visit));
  SortBySource(near_);
  for (const Obstacle& fixed : near_) FindGapsTo(fixed, mover, reach);
}

// Adds to `offset_` the gaps (distances along normals) between the edges of one obstacle and the
// edges of the shape, for each pair of such edges that are near each other.
void SafePose::FindGapsTo(const Obstacle& fixed, const BlockingMover& mover, double reach) {
  const PlacedShape& shape = mover.shape();
  const double radius = shape.radius() + fixed.radius();
  const Box near = Grown(Grown(shape.bounds(), reach), fixed.radius());
  fixed.core->VisitEdges(
      meter_, [&](const Box& box) { return near.Intersects(box); },
      [&](size_t, const Segment& edge) {
        if (mover.is_round()) {
          offset_.AddRound(shape.edge(0), radius, edge);
          return true;
        }
        const Box edge_box = Grown(BoundsOf(edge), reach + radius);
        return shape.VisitEdges(
            meter_, [&](const Box& box) { return edge_box.Intersects(box); },
            [&](size_t j, const Segment& moving) {
              if (radius > 0) {
                offset_.AddRound(moving, radius, edge);
              } else {
                offset_.AddRing(mover, edge, j);
              }
              return true;
            });
      });
}

}  // namespace carom::internal
