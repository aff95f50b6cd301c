// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "numeric/turn.h"

#include <algorithm>
#include <cmath>

#include "numeric/dyadic.h"

namespace carom::internal {

// The first guess t of the angle is within 0.005 of it: the arc tangent of m in [0, 1] is about m
// (0.9724 - 0.1919 m^2), with m the lesser of |x| and y divided by the greater. Two steps then
// correct t by asin(e), with e = (y cos t - x sin t) / r = sin(angle - t). Each step uses asin(e) =
// e + e^3/6 and omits 3/40 e^5 and smaller terms: the omitted terms are about 3e-13 in the first
// step, and far below the rounding errors in the second. The remaining errors are roundings: of e
// below 4 * 2^-53, and of the last sum 2^-52 at most, because t < 4.
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

// Computes the angle of the turn and its growth r1/r0 - 1, with r0 and r1 the lengths of the
// vectors (c, s) of the poses `from` and `to`. The sign of the angle is exact. The cross and the
// dot product err by 2^-52 at most and thereby turn the vector (x, y) by less than 1.5 * 2^-52, so
// the angle errs by less than 2^-49 in all. The growth is the rounded root of a quotient, below 1 +
// 2e-6, minus 1: it errs by at most 2^-50.
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
