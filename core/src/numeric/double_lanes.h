// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// SIMD vectors of two doubles, so that each operation computes both coordinates of a point at once.
//
// The vectors are a compiler extension (GCC's, which Clang shares). They have two lanes because
// every machine that the library is built for has vectors of two doubles. Each lane of an operation
// is rounded as the operation on doubles is, so vectors and plain doubles give the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "carom/geometry.h"
#include "numeric/expansion.h"
#include "numeric/lanes.h"

namespace carom::internal {

using Lanes = Double2;

inline Lanes ToLanes(const Vec2& p) {
  Lanes lanes;
  static_assert(sizeof(lanes) == sizeof(p));
  std::memcpy(&lanes, &p, sizeof(lanes));  // compiles to one load
  return lanes;
}
// Writes both coordinates with one store. If two stores wrote them, a later load of both
// coordinates at once would stall.
inline void Store(Lanes lanes, Vec2& p) { std::memcpy(static_cast<void*>(&p), &lanes, sizeof(p)); }
inline Lanes Swapped(Lanes a) { return Lanes{a[1], a[0]}; }
inline Lanes Lows(Lanes a, Lanes b) { return Lanes{a[0], b[0]}; }
inline Lanes Highs(Lanes a, Lanes b) { return Lanes{a[1], b[1]}; }

// Returns a number with the sign bit of lane i as its bit i, for `a`, a vector of numbers or the
// result of a comparison. To combine several comparisons, combine their `SignBits`: without AVX,
// GCC splits a combination of comparison results into scalars.
template <class L>
uint32_t SignBits(L a) {
#ifdef __SSE2__
  return static_cast<uint32_t>(__builtin_ia32_movmskpd(reinterpret_cast<Lanes>(a)));
#else
  using Bits = uint64_t __attribute__((vector_size(16)));
  const Bits bits = reinterpret_cast<Bits>(a) >> 63;
  return static_cast<uint32_t>(bits[0] | bits[1] << 1);
#endif
}

// Returns `Normalized(p)`, which replaces -0 and magnitudes below kSmallestMagnitude by 0. The
// function has no branch on the signs of the coordinates, which would be hard to predict.
inline Vec2 NormalizedByLanes(const Vec2& p) {
  const Lanes lanes = ToLanes(p);
  const Long2 kept = reinterpret_cast<Long2>(lanes) & (Abs(lanes) >= kSmallestMagnitude);
  const auto normal = reinterpret_cast<Lanes>(kept);
  return {normal[0], normal[1]};
}

// A pair of doubles (`TwoDoubles`: a rounded result and its rounding error) in each of the two
// lanes. The functions below compute, in each lane, what the functions of the same names in
// expansion.h compute.
struct TwoLanes {
  Lanes high;
  Lanes low;
};

inline TwoLanes ToLanes(TwoDoubles x, TwoDoubles y) {
  return {Lanes{x.high, y.high}, Lanes{x.low, y.low}};
}

inline TwoLanes TwoSum(Lanes a, Lanes b) {
  const Lanes high = a + b;
  const Lanes b_part = high - a;
  const Lanes a_part = high - b_part;
  return {high, (a - a_part) + (b - b_part)};
}
inline TwoLanes TwoDiff(Lanes a, Lanes b) { return TwoSum(a, -b); }

// Returns, in each lane, `a` as the exact sum of two numbers of 26 bits (Veltkamp's splitting).
inline TwoLanes Split(Lanes a) {
  const Lanes scaled = kSplitter * a;
  const Lanes high = scaled - (scaled - a);
  return {high, a - high};
}

// Returns a * b exactly in each lane, given the `Split` of both factors.
inline TwoLanes TwoProduct(Lanes a, TwoLanes a_parts, Lanes b, TwoLanes b_parts) {
  const Lanes high = a * b;
  const Lanes error = ((a_parts.high * b_parts.high - high) + a_parts.high * b_parts.low) +
                      a_parts.low * b_parts.high;
  return {high, error + a_parts.low * b_parts.low};
}
inline TwoLanes TwoProduct(Lanes a, Lanes b) { return TwoProduct(a, Split(a), b, Split(b)); }

}  // namespace carom::internal
