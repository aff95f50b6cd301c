// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// SIMD vectors of doubles, and pairs of doubles (`TwoDoubles` of expansion.h) in their lanes, for
// files that are compiled once for each instruction set. Such a file includes this header after
// hwy/foreach_target.h.
//
// Each lane of an operation is rounded as the operation on doubles is, so vectors and plain doubles
// give the same bits. The short functions here are always inlined; for longer functions that call
// these short ones, the compiler decides about inlining, which keeps compile times short.

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "numeric/double_column.h"
#include "numeric/expansion.h"
#include "numeric/mask_bits.h"

// Highway includes this header once for each instruction set. After each instruction set, Highway
// flips HWY_TARGET_TOGGLE (defines it if it is undefined, else undefines it), and each inclusion
// that passes the guard below flips the macro of the guard. So the guard skips only repeated
// inclusions for one instruction set.
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

using D = hn::CappedTag<double, kMaxLanes>;
using V = hn::Vec<D>;
using Mask = hn::Mask<D>;

HWY_INLINE V All(double value) { return hn::Set(D(), value); }
HWY_INLINE V At(const double* from) { return hn::LoadU(D(), from); }
HWY_INLINE V At(const DoubleColumn& column, size_t i) { return hn::Load(D(), &column[i]); }
HWY_INLINE void Put(V value, DoubleColumn& column, size_t i) { hn::Store(value, D(), &column[i]); }

// Returns a number with bit i set if lane i of `mask` is true.
HWY_INLINE uint32_t BitsOf(Mask mask) { return MaskBits(D(), mask); }

// A pair of doubles in each lane: `high` is a rounded result, and `low` its exact rounding error.
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

// Returns, in each lane, `a` as the exact sum of two numbers of 26 bits (Veltkamp's splitting).
HWY_INLINE Pair Split(V a) {
  const V scaled = Mul(All(kSplitter), a);
  const V high = Sub(scaled, Sub(scaled, a));
  return {high, Sub(a, high)};
}

// Returns a * b exactly, as a pair, in each lane. The rounding error of a product is a double, so
// the fused multiply-add of the first branch computes the same error as Dekker's product in the
// second branch.
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

#endif  // CAROM_CORE_SRC_DOUBLE_VECTORS_H_
