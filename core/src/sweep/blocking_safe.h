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

#include "carom/geometry.h"
#include "carom/shape.h"
#include "carom/work_meter.h"
#include "sweep/blocking_sweep.h"

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
      : obstacles_(obstacles), meter_(meter), check_(obstacles, meter) {}

  Vec2 Find(const SafeRequest& request);

 private:
  // A half-plane n . v >= needed that an offset is to lie in.
  struct Gap {
    Vec2 n;
    double distance;  // that there is along n
  };

  static constexpr size_t kMostGaps = 16;

  std::optional<Vec2> FindNear(const SafeRequest& request, Vec2 base, double ulp);
  bool IsSafe(const SafeRequest& request, Vec2 position, double fraction);
  void FindGaps(const BlockingMover& mover, double reach);
  void FindGapsTo(const Obstacle& fixed, const BlockingMover& mover, double reach);
  void AddRoundGap(const Segment& moving, const Segment& edge, double radius, double reach);
  void AddRingGaps(const BlockingMover& mover, const Segment& edge, size_t j, double reach);
  void AddGap(Vec2 n, double distance, double reach);
  std::optional<Vec2> Offset(double gap) const;

  const Obstacles& obstacles_;
  WorkMeter& meter_;
  BlockingPose there_;
  BlockingSweep check_;
  std::vector<Obstacle> near_;
  std::vector<Gap> gaps_;
};

}  // namespace carom::internal
