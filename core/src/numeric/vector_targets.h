// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The instruction sets that SIMD code is compiled for with the Highway library. Every file with
// such code includes this header before any header of Highway.
//
// On x86 the sets are AVX2 and AVX-512, and SSE2, the baseline, for older machines: SSE4 would
// serve few machines (most from before 2013), and each set adds its share to the build time. On
// arm64 the set is NEON: vectors of SVE have no fixed size, so they cannot be members of structs.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
