// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Columns of doubles, one double a lane, for code that computes four numbers at a time.
#pragma once

#include <array>
#include <cstddef>

namespace carom::internal {

// The most lanes of a vector of doubles (double_vectors.h caps longer vectors). On a machine with
// shorter vectors, several vectors make up a column.
inline constexpr size_t kMaxLanes = 4;

// Holds one double for each lane, aligned as a vector of all lanes.
struct alignas(kMaxLanes * sizeof(double)) DoubleColumn : std::array<double, kMaxLanes> {};

}  // namespace carom::internal
