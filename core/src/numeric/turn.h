// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// From one rotation to another, the shorter way, at a constant rate.
//
// A rotation (c, s) is used as given, so that its length c^2 + s^2 may differ a little from 1. With
// r0, r1 the lengths' roots and D the angle from (c0, s0) to (c1, s1), in (-pi, pi], the turn at t
// is (c0, s0) rotated by t D and scaled by 1 + t (r1/r0 - 1): exactly the given rotations at 0
// and 1.
#pragma once

#include "carom/geometry.h"
#include "carom/sincos.h"

namespace carom::internal {

// Immutable; thread-safe. Correctly rounded operations and `SinCos` only: the same everywhere.
class Turn {
 public:
  // `At` errs by at most this, as a vector. The angle errs by at most 2^-49 (turn.cc), t times it
  // by 2^-52 more, `SinCos` by 2^-53, the growth by 2^-50; eight roundings of numbers below 1.1 are
  // below 2^-49 together.
  static constexpr double kError = 0x1p-47;

  // The rotations of two poses; their positions play no part.
  Turn(const Pose& from, const Pose& to);

  // Nothing turns or grows: (c, s) is the same throughout.
  bool is_none() const { return is_none_; }
  // At least |D| + |r1/r0 - 1|: what a point at distance 1 goes at most, but for r0 and 1 + t
  // (...), which are below 1 + 2e-6 each.
  double path_angle() const;
  // (c, s) at t in [0, 1].
  CosSin At(double t) const;

 private:
  CosSin from_;
  CosSin to_;
  bool is_none_;
  double angle_ = 0;
  double growth_ = 0;
};

// The angle in [0, pi] of the vector (x, y) with y >= 0 and a length within 1e-5 of 1; errs by at
// most 2^-50.
double AngleOf(double x, double y);

}  // namespace carom::internal
