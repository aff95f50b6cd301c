// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// At which position near its first hit may a blocked shape be placed safely?
//
// A pose is safe if the shape, placed at the pose with rounded vertices, overlaps nothing in more
// than touch and still has an interior, and if no obstacle blocks the sweep from the start to the
// pose. Each candidate pose is a guess in doubles, and safety is then decided exactly. The
// candidates are the exact pose at the hit, rounded, and moved as little as possible along the
// normals of near obstacles; then poses back along the path; and last the start, which is returned
// without a test.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "blocking/blocking_sweep.h"
#include "blocking/free_offset.h"
#include "carom/geometry.h"
#include "carom/shape.h"
#include "carom/work_meter.h"

namespace carom::internal {

// A sweep with its first hit, and the skin: the gap that the safe pose keeps from obstacles.
// `policy` is BLOCKING or BLOCKING_LEAVE.
struct SafeRequest {
  const Shape& shape;
  const BlockingPose& start;
  const BlockingSweep& sweep;
  InsidePolicy policy;
  // `hit` is the first hit, if any; `fraction` is the time of the hit, in [0, 1] of the path, or 1
  // without a hit.
  const std::optional<BlockingHit>& hit;
  double fraction;
  double skin;
};

// Finds the safe pose at the end of a sweep: a pose at which the shape overlaps no obstacle in more
// than touch (the interior of one meets the other), and to which a sweep from the start is not
// blocked. Tries candidate poses: offsets from the pose at the hit that enlarge the gaps to near
// obstacles, then poses back along the path. Not thread-safe.
class SafePose {
 public:
  SafePose(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter), candidate_sweep_(obstacles, meter), offset_(meter) {}

  Vec2 Find(const SafeRequest& request);

 private:
  static bool IsAtStart(const SafeRequest& request, Vec2 position, double ulp);
  std::optional<Vec2> FindNear(const SafeRequest& request, Vec2 base, double ulp);
  std::optional<Vec2> FindOffset(const SafeRequest& request, Vec2 base, double ulp);
  bool IsSafe(const SafeRequest& request, Vec2 position, double fraction);
  void FindGaps(const BlockingMover& mover, double reach, Vec2 moved);
  void FindGapsTo(const Obstacle& fixed, const BlockingMover& mover, double reach);

  const Obstacles& obstacles_;
  WorkMeter& meter_;
  BlockingPose candidate_;
  BlockingSweep candidate_sweep_;
  std::vector<Obstacle> near_;
  FreeOffset offset_;
};

}  // namespace carom::internal
