// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The same cosine and sine on every machine.
//
// libm differs between platforms in the last bit; an answer must not. `SinCos` uses only
// correctly rounded operations, so it returns the same bits everywhere.
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
