// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Parts of Abseil and of the compiler's run-time library, for the library that
// client/python/native/build.py makes.

#include <cstdint>

#include "absl/strings/internal/cordz_info.h"

// Cords of Abseil call these functions if they are sampled for profiles. core/abi/abseil_parts.cc
// says that none is. With the definitions here Abseil's mutexes, and what these need, are not
// linked.
namespace absl {
ABSL_NAMESPACE_BEGIN
namespace cord_internal {

void CordzInfo::TrackCord(InlineData&, MethodIdentifier) {}
void CordzInfo::MaybeTrackCordImpl(InlineData&, const InlineData&, MethodIdentifier) {}
void CordzInfo::Untrack() {}

}  // namespace cord_internal
ABSL_NAMESPACE_END
}  // namespace absl

// The instruction sets of the processor, from which __builtin_cpu_supports answers. Those in the
// run-time library of zig are a stub that has none, so the slowest code would always be chosen.
// Names, types and the numbers of bits are those of LLVM's and GCC's run-time libraries. Only bits
// that the core asks for are set.
#if defined(__x86_64__)
#include <cpuid.h>

namespace {

struct Leaf {
  explicit Leaf(unsigned number) { __get_cpuid_count(number, 0, &a, &b, &c, &d); }
  unsigned a = 0, b = 0, c = 0, d = 0;  // all 0 if the processor has no such leaf
};

// What the operating system saves when it changes threads: bits of the register XCR0.
uint32_t SavedRegisters() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint64_t Features() {
  const Leaf basic(1), structured(7);
  const uint32_t saved = (basic.c & bit_OSXSAVE) != 0 ? SavedRegisters() : 0;
  const bool saves_ymm = (saved & 0x6) == 0x6, saves_zmm = saves_ymm && (saved & 0xe0) == 0xe0;
  uint64_t features = 0;
  const auto set = [&](int bit, unsigned has) { features |= uint64_t{has != 0} << bit; };
  set(8, basic.c & bit_SSE4_2);
  set(16, structured.b & bit_BMI);
  set(17, structured.b & bit_BMI2);
  if (saves_ymm) {
    set(9, basic.c & bit_AVX);
    set(10, structured.b & bit_AVX2);
    set(14, basic.c & bit_FMA);
    set(33, structured.c & bit_VPCLMULQDQ);
  }
  if (saves_zmm) {
    set(15, structured.b & bit_AVX512F);
    set(20, structured.b & bit_AVX512VL);
    set(21, structured.b & bit_AVX512BW);
    set(22, structured.b & bit_AVX512DQ);
    set(26, structured.c & bit_AVX512VBMI);
    set(30, structured.c & bit_AVX512VPOPCNTDQ);
    set(31, structured.c & bit_AVX512VBMI2);
    set(34, structured.c & bit_AVX512VNNI);
    set(35, structured.c & bit_AVX512BITALG);
  }
  return features;
}

}  // namespace

extern "C" {

struct {
  unsigned vendor, type, subtype, features[1];
} __cpu_model;
unsigned __cpu_features2[4];

// Before all other constructors, which may ask.
__attribute__((constructor(101))) int __cpu_indicator_init() {
  const uint64_t features = Features();
  __cpu_model.features[0] = static_cast<unsigned>(features);
  __cpu_features2[0] = static_cast<unsigned>(features >> 32);
  return 0;
}

}  // extern "C"
#endif
