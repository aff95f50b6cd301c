// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Columns of doubles, for what is computed four at a time.
#pragma once

#include <array>
#include <cstddef>

namespace carom::internal {

// As many lanes as vectors of doubles have at most; where the machine's are shorter, several
// vectors make a column.
inline constexpr size_t kMostLanes = 4;

// A number for each lane, aligned as a vector of all of them.
struct alignas(kMostLanes * sizeof(double)) DoubleColumn : std::array<double, kMostLanes> {};

}  // namespace carom::internal
