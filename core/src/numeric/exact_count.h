// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How often is exact arithmetic needed? Counted where CAROM_COUNT_EXACT is defined for a library
// and its users; otherwise nothing is.
#pragma once

#include <cstdint>

namespace carom::internal {

#ifdef CAROM_COUNT_EXACT
// Products of expansions and dyadics by this thread.
inline thread_local uint64_t exact_count = 0;
inline void CountExact() { ++exact_count; }
#else
inline void CountExact() {}
#endif

}  // namespace carom::internal
