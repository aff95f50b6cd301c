// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The constants by which `SinCos` computes, for one angle (sincos.cc) and for several angles in the
// lanes of a vector (sincos_column.cc). sincos.cc derives them.
#pragma once

namespace carom::internal {

// pi/2 as a sum of four parts: three of 33 bits, then a double. The sum differs from pi/2 by
// 2^-159.8.
inline constexpr double kHalfPiPart[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                         0x1.b839a252049c1p-104};
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

// Adding kRounder to a double of magnitude below 2^51, and then subtracting kRounder, rounds the
// double to the nearest integer, because doubles near kRounder are spaced by 1.
inline constexpr double kRounder = 0x1.8p52;

// For angles x of magnitude below kTinyAngle, sin x = x and cos x = 1 within 0.1 ulp; for greater
// angles no product of `SinCos` underflows.
inline constexpr double kTinyAngle = 0x1p-28;

// 1/6, rounded: the exact 1/6 is kSixth times 1 + 2^-54, with a relative error of 2^-108.
inline constexpr double kSixth = 1.0 / 6;

// The coefficients of the Taylor series after the first two terms, for powers of y^2. The compiler
// rounds each quotient correctly.
inline constexpr double kSinTail[] = {
    1.0 / 120,        -1.0 / 5040,          1.0 / 362880,         -1.0 / 39916800,
    1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
inline constexpr double kCosTail[] = {
    1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
    1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};

}  // namespace carom::internal
