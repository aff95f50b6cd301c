// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What engines do faster than what the compiler and Highway make of the sources. build.py includes
// this file before the hot sources of the module with vectors.
#pragma once

// WebAssembly has no prefetch, and the compiler drops it. A load whose value nobody reads takes its
// place: nothing waits for it, so that the misses of a group of loads overlap. An address beyond
// the memory would be a trap.
inline __attribute__((always_inline)) void carom_touch(const volatile void* address, int = 0) {
  if (reinterpret_cast<__UINTPTR_TYPE__>(address) < __builtin_wasm_memory_size(0) << 16) {
    static_cast<void>(*static_cast<const volatile char*>(address));
  }
}
#define __builtin_prefetch(...) carom_touch(__VA_ARGS__)

// Highway's Min and Max of doubles follow IEEE 754, for which an engine takes several instructions.
// These are one, and have the results of x86-64's: the second operand where one is NaN or both are
// zeros.
#include <wasm_simd128.h>
#define wasm_f64x2_min(a, b) wasm_f64x2_pmin(b, a)
#define wasm_f64x2_max(a, b) wasm_f64x2_pmax(b, a)
