// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/heap.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t t_allocations = 0;
// Off unless a HeapMeter lives, so that what is timed pays for one increment only.
std::atomic<bool> g_metering = false;
std::atomic<int64_t> g_bytes = 0;

// glibc keeps the size of a block in the word before it.
int64_t SizeOf(void* block) {
  return static_cast<int64_t>(malloc_usable_size(block) + sizeof(size_t));
}

void* Counted(void* block) {
  if (block == nullptr) std::abort();
  ++t_allocations;
  if (g_metering.load(std::memory_order_relaxed)) g_bytes += SizeOf(block);
  return block;
}

void Free(void* block) {
  if (block != nullptr && g_metering.load(std::memory_order_relaxed)) g_bytes -= SizeOf(block);
  std::free(block);
}

void* Aligned(size_t size, std::align_val_t alignment) {
  const size_t a = static_cast<size_t>(alignment);
  return std::aligned_alloc(a, (size + a - 1) / a * a);
}

}  // namespace

void* operator new(size_t size) { return Counted(std::malloc(size)); }
void* operator new[](size_t size) { return Counted(std::malloc(size)); }
void* operator new(size_t size, std::align_val_t a) { return Counted(Aligned(size, a)); }
void* operator new[](size_t size, std::align_val_t a) { return Counted(Aligned(size, a)); }
void operator delete(void* block) noexcept { Free(block); }
void operator delete[](void* block) noexcept { Free(block); }
void operator delete(void* block, size_t) noexcept { Free(block); }
void operator delete[](void* block, size_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { Free(block); }

namespace carom::testing {

uint64_t AllocationCount() { return t_allocations; }

HeapMeter::HeapMeter() {
  g_bytes = 0;
  g_metering = true;
}
HeapMeter::~HeapMeter() { g_metering = false; }

int64_t HeapMeter::bytes() const { return g_bytes; }

}  // namespace carom::testing
