// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where may a blocked shape be set down?
//
// A pose is safe if the shape as placed there overlaps nothing in more than touch and still has an
// interior, and the sweep from the start to it is not blocked. All of that is decided exactly; how
// poses are found is not: from the exact pose, rounded, along the normals of what is near, by as
// little as will do; else back along the path; at worst the start, which is answered unseen.
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

// What is asked of a sweep that has found its first hit.
struct SafeRequest {
  const Shape& shape;
  const BlockingPose& start;
  const BlockingSweep& sweep;
  InsidePolicy policy;
  // The first hit, if any, and its fraction.
  const std::optional<BlockingHit>& hit;
  double fraction;
  double skin;
};

// Not thread-safe.
class SafePose {
 public:
  SafePose(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter), check_(obstacles, meter), offset_(meter) {}

  Vec2 Find(const SafeRequest& request);

 private:
  static bool IsStart(const SafeRequest& request, Vec2 position, double ulp);
  std::optional<Vec2> FindNear(const SafeRequest& request, Vec2 base, double ulp);
  std::optional<Vec2> FindOffset(const SafeRequest& request, Vec2 base, double ulp);
  bool IsSafe(const SafeRequest& request, Vec2 position, double fraction);
  void FindGaps(const BlockingMover& mover, double reach, Vec2 moved);
  void FindGapsTo(const Obstacle& fixed, const BlockingMover& mover, double reach);

  const Obstacles& obstacles_;
  WorkMeter& meter_;
  BlockingPose there_;
  BlockingSweep check_;
  std::vector<Obstacle> near_;
  FreeOffset offset_;
};

}  // namespace carom::internal
