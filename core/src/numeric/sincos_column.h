// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Cosines and sines of many angles, with the bits that `SinCos` (carom/sincos.h) returns.
#pragma once

#include <span>

namespace carom::internal {

// Sets c[i] and s[i] to the results of SinCos(radians[i]), bit by bit, for all angles. Computes
// several angles at a time in the lanes of a vector. The three columns are of one length.
void SinCosOfAll(std::span<const double> radians, std::span<double> c, std::span<double> s);

}  // namespace carom::internal
