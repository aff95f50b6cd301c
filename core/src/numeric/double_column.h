// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Columns of doubles, one double for each SIMD lane, for code that computes four numbers at a time.
#pragma once

#include <array>
#include <cstddef>

namespace carom::internal {

// The largest number of lanes of a vector of doubles (double_vectors.h caps longer vectors). On a
// machine with shorter vectors, several vectors make up one column of `kMaxLanes` doubles.
inline constexpr size_t kMaxLanes = 4;

// Holds one double for each of `kMaxLanes` lanes, aligned so that a vector of all lanes can be
// loaded.
struct alignas(kMaxLanes * sizeof(double)) DoubleColumn : std::array<double, kMaxLanes> {};

}  // namespace carom::internal
