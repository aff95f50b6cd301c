// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which instruction sets does the processor support?
//
// Defines the functions of Highway's targets.h, which choose among the versions of vector code when
// it first runs. Debian has Highway's library as a shared object only; with these functions nothing
// of it is linked, so that libcarom.so depends on no library but those of the compiler.

#include "numeric/vector_targets.h"
// Highway comes after the header that restricts the instruction sets.
#include <hwy/targets.h>

#include <atomic>
#include <cstdint>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace hwy {
namespace {

// What `SetSupportedTargetsForTest` and `DisableTargets` have set.
std::atomic<int64_t> targets_for_test{0};
std::atomic<int64_t> disabled_targets{0};

#if HWY_ARCH_X86

// Returns the register ecx of the CPUID leaf `leaf`; 0 if the processor has no such leaf.
unsigned Ecx(unsigned leaf) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(leaf, 0, &a, &b, &c, &d) != 0 ? c : 0;
}

// The requirements of the instruction sets are those of Highway 1.0.3. The compiler's function also
// tests whether the operating system saves the wide registers.
int64_t Detect() {
  const unsigned basic = Ecx(1), structured = Ecx(7), extended = Ecx(0x80000001);
  int64_t targets = HWY_ENABLED_BASELINE;
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        (basic & bit_F16C) != 0 && (extended & bit_LZCNT) != 0;
  if (!has_avx2) return targets;
  targets |= HWY_AVX2;
  const bool has_avx3 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  if (!has_avx3) return targets;
  targets |= HWY_AVX3;
  const bool has_avx3_dl =
      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("vpclmulqdq") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bitalg") &&
      (structured & bit_VAES) != 0;
  return has_avx3_dl ? targets | HWY_AVX3_DL : targets;
}

#else

int64_t Detect() { return HWY_ENABLED_BASELINE; }

#endif

}  // namespace

int64_t SupportedTargets() {
  int64_t targets = targets_for_test.load(std::memory_order_relaxed);
  if (targets == 0) {
    static const int64_t detected = Detect();
    targets = detected | HWY_ENABLED_BASELINE;
  }
  targets &= ~disabled_targets.load(std::memory_order_relaxed);
  return targets != 0 ? targets : HWY_STATIC_TARGET;
}

void DisableTargets(int64_t targets) {
  disabled_targets.store(targets, std::memory_order_relaxed);
  GetChosenTarget().DeInit();
}

void SetSupportedTargetsForTest(int64_t targets) {
  targets_for_test.store(targets, std::memory_order_relaxed);
  GetChosenTarget().DeInit();
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
