// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Cosine and sine with equal bits on every machine.
//
// The results of libm differ between platforms in the last bit, which would make answers differ.
// `SinCos` uses only correctly rounded operations, so it returns the same bits everywhere.
//
//   const CosSin turn = SinCos(0.5);          // 0.877..., 0.479...
//   const Pose pose{{2, 3}, turn.c, turn.s};
//   const Vec2 p = Placed(pose, {1, 0});      // the same bits everywhere
//
// Angles are in radians, counter-clockwise. Error: each result is within 1 ulp. Cost: O(1).
// Thread-safe. More powerful: the `angle` column of carom/shape.h, which calls `SinCos`.
#pragma once

namespace carom {

// The largest accepted magnitude of an angle, in radians: 2^20.
inline constexpr double kMaxAngle = 1048576.0;

struct CosSin {
  double c = 1;
  double s = 0;
};

// Returns the cosine and sine of `radians` in [-2^20, 2^20], each within 1 ulp of the exact value;
// never -0. Returns {1, 0} outside of that range and for NaN: callers check the range first.
CosSin SinCos(double radians);

}  // namespace carom
