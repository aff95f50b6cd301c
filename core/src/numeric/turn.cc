// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "numeric/turn.h"

#include <algorithm>
#include <cmath>

#include "numeric/dyadic.h"

namespace carom::internal {

// A first guess within 0.005 (the arc tangent of m in [0, 1] as m (0.9724 - 0.1919 m^2)), then
// twice t += asin(e) with e = (y cos t - x sin t) / r = sin(angle - t), where asin(e) = e + e^3/6 +
// ... leaves 3/40 e^5: 3e-13, then nothing. What is left is rounding: of e below 4 * 2^-53, of the
// sum 2^-52 at most, as t < 4.
double AngleOf(double x, double y) {
  constexpr double kPi = 0x1.921fb54442d18p+1;
  const double width = std::abs(x);
  const double m = std::min(width, y) / std::max(width, y);
  double t = m * (0.9724 - 0.1919 * m * m);
  if (y > width) t = kPi / 2 - t;
  if (x < 0) t = kPi - t;
  const double r = std::sqrt(x * x + y * y);
  for (int i = 0; i < 2; ++i) {
    const CosSin at = SinCos(t);
    const double e = (y * at.c - x * at.s) / r;
    t += e + e * e * e / 6;
  }
  return t;
}

// The sign of the angle is exact. The cross and the dot product err by 2^-52 at most, and so turn
// the vector by less than 1.5 * 2^-52: the angle errs by less than 2^-49 in all. The growth is a
// quotient of two rounded roots, below 1 + 2e-6, minus 1: within 2^-50.
Turn::Turn(const Pose& from, const Pose& to)
    : from_{from.c, from.s}, to_{to.c, to.s}, is_none_(from.c == to.c && from.s == to.s) {
  if (is_none_) return;
  const Dyadic cross = Dyadic(from.c) * to.s - Dyadic(from.s) * to.c;
  const double x = from.c * to.c + from.s * to.s;
  const double y = from.c * to.s - from.s * to.c;
  if (cross.sign() != 0) {
    angle_ = cross.sign() * AngleOf(x, std::abs(y));
  } else if (x < 0) {
    angle_ = AngleOf(x, 0);
  }
  growth_ = std::sqrt((to.c * to.c + to.s * to.s) / (from.c * from.c + from.s * from.s)) - 1;
}

double Turn::path_angle() const {
  return is_none_ ? 0 : std::abs(angle_) + std::abs(growth_) + 0x1p-48;
}

CosSin Turn::At(double t) const {
  if (is_none_ || t == 0) return from_;
  if (t == 1) return to_;
  const CosSin turned = SinCos(t * angle_);
  const double scale = 1 + t * growth_;
  return {(from_.c * turned.c - from_.s * turned.s) * scale,
          (from_.c * turned.s + from_.s * turned.c) * scale};
}

}  // namespace carom::internal
