// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does it allocate? Counted by this program's own operator new.
#pragma once

#include <cstdint>

namespace carom::testing {

// Calls of operator new by this thread.
uint64_t AllocationCount();

// Bytes that operator new has taken from the heap and not given back while an object of this class
// lives, the heap's own header of each block among them. One at a time.
class HeapMeter {
 public:
  HeapMeter();
  ~HeapMeter();
  HeapMeter(const HeapMeter&) = delete;
  HeapMeter& operator=(const HeapMeter&) = delete;

  int64_t bytes() const;
};

}  // namespace carom::testing
