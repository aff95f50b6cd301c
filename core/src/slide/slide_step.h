// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which part of a push (a displacement) remains along a wall, as a rounded vector that does not
// point into the wall?
#pragma once

#include <cmath>
#include <cstdlib>
#include <optional>

#include "carom/geometry.h"

namespace carom::internal {

// Returns the component of `push` along the unit vector `ray`, as a vector.
inline Vec2 PartAlong(Vec2 push, Vec2 ray) {
  const double length = push.x * ray.x + push.y * ray.y;
  return Normalized(Vec2{length * ray.x, length * ray.y});
}

// Returns the double that is `steps` doubles farther from 0 than `value`; if `steps` is negative,
// the double that is -`steps` doubles nearer to 0.
inline double Stepped(double value, int steps) {
  const double towards = steps > 0 ? std::copysign(HUGE_VAL, value) : 0.0;
  for (int i = 0; i < std::abs(steps); ++i) value = std::nextafter(value, towards);
  return value;
}

// Returns a vector near the displacement `push` for which `is_blocked` is false, or nothing if none
// is found. The vector differs from `push` by at most 1 double in the greater component and 2
// doubles in the lesser one. Along a slanted edge, rounding may make the vector point into the
// edge; a step of its lesser component by one double turns it by less than an ulp.
template <class IsBlocked>
std::optional<Vec2> NotBlocked(Vec2 push, const IsBlocked& is_blocked) {
  for (const int greater : {0, 1, -1}) {
    for (const int lesser : {0, 1, -1, 2, -2}) {
      Vec2 v = push;
      const bool is_x_greater = std::abs(v.x) >= std::abs(v.y);
      v.x = Stepped(v.x, is_x_greater ? greater : lesser);
      v.y = Stepped(v.y, is_x_greater ? lesser : greater);
      v = Normalized(v);
      if (!(v == Vec2{}) && !is_blocked(v)) return v;
    }
  }
  return std::nullopt;
}

}  // namespace carom::internal
