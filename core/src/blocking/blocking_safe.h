// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where may a blocked shape be set down?
//
// A pose is safe if the shape as placed at the pose overlaps nothing in more than touch and still
// has an interior, and if the sweep from the start to the pose is not blocked. Safety is decided
// exactly, but poses to test are guesses: the exact pose, rounded, and moved as little as possible
// along the normals of near obstacles; else a pose back along the path; at worst the start, which
// is returned without a test.
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

// A sweep with its first hit, and the skin for its safe pose.
struct SafeRequest {
  const Shape& shape;
  const BlockingPose& start;
  const BlockingSweep& sweep;
  InsidePolicy policy;
  // The first hit, if any; `fraction` is its fraction, or 1 without a hit.
  const std::optional<BlockingHit>& hit;
  double fraction;
  double skin;
};

// Finds safe poses. Not thread-safe.
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
