// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Vectors of doubles, and pairs of them (expansion.h) in lanes, for files that are compiled once
// for each instruction set: to be included behind hwy/foreach_target.h, each time.
//
// Each lane of an operation is rounded as the operation on doubles is, so lanes and scalars give
// the same bits. The short functions must be inlined; whether longer ones are, the compiler
// decides, which keeps what is made of many of them quick to compile.

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "numeric/double_column.h"
#include "numeric/expansion.h"

#if defined(CAROM_CORE_SRC_DOUBLE_VECTORS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_DOUBLE_VECTORS_H_
#undef CAROM_CORE_SRC_DOUBLE_VECTORS_H_
#else
#define CAROM_CORE_SRC_DOUBLE_VECTORS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using hn::Abs;
using hn::Add;
using hn::And;
using hn::IfThenElse;
using hn::Max;
using hn::Min;
using hn::Mul;
using hn::Sub;

using D = hn::CappedTag<double, kMostLanes>;
using V = hn::Vec<D>;
using Mask = hn::Mask<D>;

HWY_INLINE V All(double value) { return hn::Set(D(), value); }
HWY_INLINE V At(const double* from) { return hn::LoadU(D(), from); }
HWY_INLINE V At(const DoubleColumn& column, size_t i) { return hn::Load(D(), &column[i]); }
HWY_INLINE void Put(V value, DoubleColumn& column, size_t i) { hn::Store(value, D(), &column[i]); }

// Bit i for lane i.
HWY_INLINE uint32_t BitsOf(Mask mask) {
  uint8_t bits[8];
  hn::StoreMaskBits(D(), mask, bits);
  return bits[0];
}

// `TwoDoubles` in lanes.
struct Pair {
  V high, low;
};

HWY_INLINE Pair TwoSum(V a, V b) {
  const V high = Add(a, b);
  const V b_part = Sub(high, a);
  const V a_part = Sub(high, b_part);
  return {high, Add(Sub(a, a_part), Sub(b, b_part))};
}
HWY_INLINE Pair TwoDiff(V a, V b) { return TwoSum(a, hn::Neg(b)); }
HWY_INLINE Pair FastTwoSum(V a, V b) {
  const V high = Add(a, b);
  return {high, Sub(b, Sub(high, a))};
}

// A factor as the sum of two of 26 bits.
HWY_INLINE Pair Split(V a) {
  const V scaled = Mul(All(kSplitter), a);
  const V high = Sub(scaled, Sub(scaled, a));
  return {high, Sub(a, high)};
}

// a * b exactly. The rounding error is a double, so a fused operation gives the same one.
HWY_INLINE Pair TwoProduct(V a, V b) {
  const V high = Mul(a, b);
#if HWY_NATIVE_FMA
  return {high, hn::MulSub(a, b, high)};
#else
  const Pair p = Split(a);
  const Pair q = Split(b);
  const V error = Add(Add(Sub(Mul(p.high, q.high), high), Mul(p.high, q.low)), Mul(p.low, q.high));
  return {high, Add(error, Mul(p.low, q.low))};
#endif
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
