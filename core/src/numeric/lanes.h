// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Comparisons of eight numbers at once, with the vector extensions that GCC and Clang share: plain
// IEEE operations on SIMD vectors of 16 bytes, which give the same bits on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace carom::internal {

inline constexpr size_t kLanes = 8;

// A subset of the eight SIMD lanes: bit i is set if lane i belongs to the subset.
using LaneBits = uint32_t;

using Float4 = float __attribute__((vector_size(16)));
using Int4 = int32_t __attribute__((vector_size(16)));
using Double2 = double __attribute__((vector_size(16)));
using Long2 = int64_t __attribute__((vector_size(16)));

// Eight floats in two vectors, and eight doubles in four vectors.
struct Floats {
  Float4 half[2];

  float operator[](size_t lane) const { return half[lane / 4][lane % 4]; }
  void Set(size_t lane, float value) { half[lane / 4][lane % 4] = value; }
};
struct Doubles {
  Double2 pair[4];

  void Set(size_t lane, double value) { pair[lane / 2][lane % 2] = value; }
};

// Return the set of the lanes that have all bits set, for the eight lanes of two or four vectors.
// Every lane must have all bits set or none, as in the result of a comparison.
inline LaneBits Bits(Int4 low, Int4 high) {
#ifdef __SSE2__
  return static_cast<LaneBits>(_mm_movemask_ps(reinterpret_cast<__m128>(low)) |
                               (_mm_movemask_ps(reinterpret_cast<__m128>(high)) << 4));
#else
  const Int4 either = (low & Int4{1, 2, 4, 8}) | (high & Int4{16, 32, 64, 128});
  const auto halves = reinterpret_cast<Long2>(either);
  const auto both = static_cast<uint64_t>(halves[0] | halves[1]);
  return static_cast<LaneBits>(both | (both >> 32)) & 0xff;
#endif
}
inline LaneBits Bits(Long2 first, Long2 second, Long2 third, Long2 fourth) {
#ifdef __SSE2__
  const auto bits = [](Long2 lanes) {
    return static_cast<LaneBits>(_mm_movemask_pd(reinterpret_cast<__m128d>(lanes)));
  };
  return bits(first) | (bits(second) << 2) | (bits(third) << 4) | (bits(fourth) << 6);
#else
  const Long2 either = (first & Long2{1, 2}) | (second & Long2{4, 8}) | (third & Long2{16, 32}) |
                       (fourth & Long2{64, 128});
  return static_cast<LaneBits>(either[0] | either[1]);
#endif
}

// Returns true if both lanes have all bits set. Every lane must have all bits set or none, as in
// the result of a comparison.
inline bool Both(Long2 lanes) {
#ifdef __SSE2__
  return _mm_movemask_pd(reinterpret_cast<__m128d>(lanes)) == 3;
#else
  return (lanes[0] & lanes[1]) != 0;
#endif
}

// Load two doubles, or four floats, from an address of any alignment.
inline Double2 LoadLanes(const double* from) {
  Double2 lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline Float4 LoadLanes(const float* from) {
  Float4 lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline Double2 Abs(Double2 v) {
  const Long2 magnitude{INT64_MAX, INT64_MAX};
  return reinterpret_cast<Double2>(reinterpret_cast<Long2>(v) & magnitude);
}

// Return the greater number of each lane; `b` where `a` is NaN.
inline Float4 Max(Float4 a, Float4 b) {
#ifdef __SSE2__
  return _mm_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}
inline Double2 Max(Double2 a, Double2 b) {
#ifdef __SSE2__
  return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}

// Return the lesser number of each lane; `b` where `a` is NaN.
inline Float4 Min(Float4 a, Float4 b) {
#ifdef __SSE2__
  return _mm_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}
inline Double2 Min(Double2 a, Double2 b) {
#ifdef __SSE2__
  return _mm_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}

// Returns the square root of each lane, correctly rounded on every machine.
inline Double2 SquareRoot(Double2 v) {
#ifdef __SSE2__
  return _mm_sqrt_pd(v);
#else
  return Double2{std::sqrt(v[0]), std::sqrt(v[1])};
#endif
}

// Returns the lanes with a value greater than `bound`.
inline LaneBits Above(const Doubles& values, double bound) {
  return Bits(values.pair[0] > bound, values.pair[1] > bound, values.pair[2] > bound,
              values.pair[3] > bound);
}

// Returns the number of set bits among the lowest eight bits, the only ones that may be set
// (Beeler, Gosper and Schroeppel, HAKMEM, 1972, item 169, by multiplication: the first product
// spreads the eight bits to nibbles, the second adds them up).
inline int Count(LaneBits bits) {
  return static_cast<int>((((bits * 0x08040201U) >> 3) & 0x11111111U) * 0x11111111U >> 28);
}

}  // namespace carom::internal
