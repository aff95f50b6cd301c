// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Turns one rotation into another, the shorter way round and at a constant rate.
//
// A rotation (c, s), the cosine and sine of an angle, is used as given, so c^2 + s^2 may differ
// slightly from 1. Let r0 and r1 be the square roots of c^2 + s^2 of the two rotations, and D the
// angle from (c0, s0) to (c1, s1), in (-pi, pi]. The turn at t is (c0, s0) rotated by t D and
// scaled by 1 + t (r1/r0 - 1); at 0 and 1 it is exactly the given rotations.
#pragma once

#include "carom/geometry.h"
#include "carom/sincos.h"

namespace carom::internal {

// A turn from one rotation to another, with a parameter t in [0, 1]. Immutable, hence thread-safe.
// Uses only correctly rounded operations and `SinCos`, so that results are the same bits on every
// machine.
class Turn {
 public:
  // The vector (c, s) that `At` returns is within kError of the exact vector. The angle errs by at
  // most 2^-49 (turn.cc), its product with t by 2^-52 more, and `SinCos` by 2^-53. With r0 and r1
  // the lengths of (c, s) at the start and the end, the growth r1/r0 - 1 errs by 2^-50. Eight
  // roundings of numbers below 1.1 err by less than 2^-49 together.
  static constexpr double kError = 0x1p-47;

  // Makes the turn between the rotations (c, s) of two poses; ignores their positions.
  Turn(const Pose& from, const Pose& to);

  // Returns true if both rotations are equal, so that (c, s) is constant.
  bool is_none() const { return is_none_; }
  // Returns at least |D| + |r1/r0 - 1|, with D the angle of the turn, and r0 and r1 the lengths of
  // the vectors (c, s) at its start and end. This sum bounds the length of the path on which the
  // turn moves a point at distance 1 from the centre, apart from the factors r0 and
  // 1 + t (r1/r0 - 1), which are below 1 + 2e-6 each.
  double path_angle() const;
  // Returns the rotation (c, s) at the parameter t in [0, 1].
  CosSin At(double t) const;

 private:
  CosSin from_;
  CosSin to_;
  bool is_none_;
  double angle_ = 0;
  double growth_ = 0;
};

// Returns the angle in [0, pi] between the x axis and the vector (x, y), which has y >= 0 and a
// length within 1e-5 of 1. Errs by at most 2^-50.
double AngleOf(double x, double y);

}  // namespace carom::internal
