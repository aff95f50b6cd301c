// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The instruction sets that vector code is compiled for: to be included before all of Highway.
//
// On x86 those are AVX2 and AVX-512, and plain C++ for what is older: SSE4 would serve few machines
// (most from before 2013), and each set adds its share to the time that a build takes. On arm64 it
// is NEON: vectors of SVE have no size, so that structs cannot have them.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
