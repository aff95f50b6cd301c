// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "edges/outline.h"

#include <algorithm>
#include <cmath>

#include "numeric/exact.h"

namespace carom::internal {

// Returns the segment, transformed into the polygon's own frame (the coordinates before the pose
// transforms them), with a margin for the errors. `Placed` maps a vertex v to R v + p, off by at
// most e = `PlacingError` in each coordinate, where p is the position and R the rotation times a
// factor f with |f^2 - 1| <= 1e-6. So a point q of the placed edge is R w + p, off by less than
// 1.5e, with w on the edge before placing; and w is within 1.5e / f of R^-1 (q - p), which is R^T
// (q - p) / f^2. With d = q - p and u = 2^-53, the computed R^T d is off by less than 8u (|dx| +
// |dy|), and the omitted division by f^2 moves it by 1.0001e-6 |d| at most.
MeetsSegment LocalFrame::Meeting(const Segment& segment) const {
  double most = 0;
  const auto back = [&](Vec2 q) {
    const double dx = q.x - pose_.position.x;
    const double dy = q.y - pose_.position.y;
    most = std::max(most, std::abs(dx) + std::abs(dy));
    return Vec2{pose_.c * dx + pose_.s * dy, pose_.c * dy - pose_.s * dx};
  };
  MeetsSegment meets({back(segment.a), back(segment.b)});
  meets.margin = 1.1e-6 * most + error_;
  return meets;
}

const EdgeIndex& Outline::edges() {
  if (!edges_) edges_.emplace(*polygon_, EdgeIndex::Strips::kNone);
  return *edges_;
}

// The first call returns the bounds of the placed bounding box (transformed by the pose) alone,
// because a shape that has only one pose is not worth the O(n) to compute its bounding circle.
// Later calls intersect this box with the box of the placed circle, which most often is smaller if
// the pose is rotated.
Box Outline::PlacedBounds(const Pose& pose) {
  const Box& bounds = polygon_->bounds();
  const Box box = internal::PlacedBounds(pose, bounds);
  if (!is_used_) {
    is_used_ = true;
    return box;
  }
  if (radius_ < 0) {
    center_ = {bounds.min.x / 2 + bounds.max.x / 2, bounds.min.y / 2 + bounds.max.y / 2};
    double most2 = 0;
    for (const Vec2 v : polygon_->vertices()) {
      const double dx = v.x - center_.x;
      const double dy = v.y - center_.y;
      most2 = std::max(most2, dx * dx + dy * dy);
    }
    radius_ = std::sqrt(most2) * kUp;
  }
  const Vec2 c = Placed(pose, center_);
  const double magnitude = std::max(std::abs(pose.position.x), std::abs(pose.position.y));
  const double r = radius_ * kMaxStretch + 4 * PlacingError(magnitude, 2 * ExtentOf(*polygon_));
  return {{std::max(box.min.x, c.x - r), std::max(box.min.y, c.y - r)},
          {std::min(box.max.x, c.x + r), std::min(box.max.y, c.y + r)}};
}

}  // namespace carom::internal
