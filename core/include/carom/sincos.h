// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The same cosine and sine on every machine.
//
// libm differs between platforms in the last bit; an answer must not. `SinCos` uses only
// correctly rounded operations, so it returns the same bits everywhere.
//
//   const CosSin turn = SinCos(0.5);          // 0.877..., 0.479...
//   const Pose pose{{2, 3}, turn.c, turn.s};
//   const Vec2 p = Placed(pose, {1, 0});      // the same bits everywhere
//
// Angles are in radians, counter-clockwise. Error: within 1 ulp each. Cost: O(1). Thread-safe.
// Cheaper: none; richer: the `angle` column of carom/shape.h, which calls it.
#pragma once

namespace carom {

// The largest accepted magnitude of an angle, in radians: 2^20.
inline constexpr double kMaxAngle = 1048576.0;

struct CosSin {
  double c = 1;
  double s = 0;
};

// Cosine and sine of `radians` in [-2^20, 2^20], each within 1 ulp of the exact value; never -0.
// Outside that range, and for NaN, returns {1, 0}: callers check the range first.
CosSin SinCos(double radians);

}  // namespace carom
