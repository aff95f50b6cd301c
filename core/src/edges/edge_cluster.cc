// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "edges/edge_cluster.h"

#include <bit>
#include <cstdint>

#include "carom/predicates.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// Whether two points lie strictly on the same side of a line or strictly on opposite sides;
// kUncertain if a point is on the line or the floating-point filter is undecided.
enum class Sides : uint8_t { kUncertain, kSame, kOpposite };

// Returns whether the two ends of a segment lie on the same side of the line through `a` and `b`.
// Applies the floating-point filter of `CrossSign` (numeric/exact.h) to both ends at once.
Sides SidesOf(Vec2 a, Vec2 b, const Segment& ends) {
  const Double2 x{ends.a.x, ends.b.x};
  const Double2 y{ends.a.y, ends.b.y};
  const RoundedCrossLanes cross((a.x - x) * (b.y - y), (a.y - y) * (b.x - x));
  const Long2 left = cross.is_positive();
  const Long2 right = cross.is_negative();
  if (Both(left) || Both(right)) return Sides::kSame;
  return Both(left | right) ? Sides::kOpposite : Sides::kUncertain;
}

// Returns `Intersects(a, b)` for two segments with bounding boxes that meet. `SidesOf` decides most
// pairs of segments.
bool SegmentsIntersect(const Segment& a, const Segment& b) {
  const Sides of_a = SidesOf(a.a, a.b, b);
  if (of_a == Sides::kSame) return false;
  const Sides of_b = SidesOf(b.a, b.b, a);
  if (of_b == Sides::kSame) return false;
  return (of_a == Sides::kOpposite && of_b == Sides::kOpposite) || Intersects(a, b);
}

}  // namespace

std::optional<size_t> EdgeCluster::FirstMeetingNear(const Segment& edge, const LaneBox& box,
                                                    WorkMeter& meter) const {
  const Double2 min_x{box.min[0], box.min[0]}, min_y{box.min[1], box.min[1]};
  const Double2 max_x{box.max[0], box.max[0]}, max_y{box.max[1], box.max[1]};
  const auto meets = [&](size_t i) {
    return (LoadLanes(min_x_ + i) <= max_x) & (LoadLanes(min_y_ + i) <= max_y) &
           (LoadLanes(max_x_ + i) >= min_x) & (LoadLanes(max_y_ + i) >= min_y);
  };
  LaneBits near = Bits(meets(0), meets(2), meets(4), meets(6)) & ((1U << count_) - 1);
  if (near == 0) return std::nullopt;
  meter.Spend(static_cast<uint64_t>(Count(near)));
  for (; near != 0; near &= near - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(near));
    if (SegmentsIntersect(edge, this->edge(lane))) return lane;
  }
  return std::nullopt;
}

}  // namespace carom::internal
