// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/distance_key.h"

namespace carom::internal {
namespace {

// Returns the sign of a - b: a is the exact distance between the mover (the shape of the query) and
// the shape of the key `exact`, which is not round; b is `rounded_up` of a round body (a disc or a
// capsule) with the key `rounded`.
int CompareToRounded(const DistanceKey& exact, const DistanceKey& rounded, double mover_radius) {
  return Compare(**exact.approach, LengthSum{mover_radius, 0, rounded.rounded_up});
}

}  // namespace

int CompareKeys(const DistanceKey& a, const DistanceKey& b, double mover_radius) {
  if (a.is_touching || b.is_touching) {
    return static_cast<int>(b.is_touching) - static_cast<int>(a.is_touching);
  }
  if (a.is_rounded && b.is_rounded) {
    return (a.rounded_up > b.rounded_up) - (a.rounded_up < b.rounded_up);
  }
  if (a.is_rounded) return -CompareToRounded(b, a, mover_radius);
  return b.is_rounded ? CompareToRounded(a, b, mover_radius) : Compare(**a.approach, **b.approach);
}

}  // namespace carom::internal
