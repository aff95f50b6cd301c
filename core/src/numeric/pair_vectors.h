// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The functions of double_double.h and bounded.h, applied to several pairs of doubles in the lanes
// of SIMD vectors, for files that are compiled once for each instruction set. Such a file includes
// this header after hwy/foreach_target.h. Each function runs the operations of its counterpart in
// double_double.h or bounded.h, where its error bound is derived.

#include "hwy/highway.h"
#include "numeric/bounded.h"
#include "numeric/double_vectors.h"

// Highway includes this header once for each instruction set. After each instruction set, Highway
// flips HWY_TARGET_TOGGLE (defines it if it is undefined, else undefines it), and each inclusion
// that passes the guard below flips the macro of the guard. So the guard skips only repeated
// inclusions for one instruction set.
#if defined(CAROM_CORE_SRC_PAIR_VECTORS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_PAIR_VECTORS_H_
#undef CAROM_CORE_SRC_PAIR_VECTORS_H_
#else
#define CAROM_CORE_SRC_PAIR_VECTORS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

HWY_INLINE Pair Negated(Pair a) { return {hn::Neg(a.high), hn::Neg(a.low)}; }
HWY_INLINE Pair Multiply(Pair a, Pair b) {
  const Pair product = TwoProduct(a.high, b.high);
  const V mixed = Add(Mul(a.high, b.low), Mul(a.low, b.high));
  return FastTwoSum(product.high, Add(product.low, mixed));
}
HWY_INLINE Pair Plus(Pair a, Pair b) {
  const Pair high = TwoSum(a.high, b.high);
  const Pair low = TwoSum(a.low, b.low);
  const Pair sum = FastTwoSum(high.high, Add(high.low, low.high));
  return FastTwoSum(sum.high, Add(sum.low, low.low));
}
HWY_INLINE Pair Minus(Pair a, Pair b) { return Plus(a, Negated(b)); }
HWY_INLINE Pair Divide(Pair a, Pair b) {
  const V quotient = hn::Div(a.high, b.high);
  const Pair rest = Minus(a, Multiply({quotient, All(0)}, b));
  return FastTwoSum(quotient, hn::Div(rest.high, b.high));
}
// Returns the square root of each lane. All lanes must be above 0.
HWY_INLINE Pair SquareRoot(Pair a) {
  const V root = hn::Sqrt(a.high);
  const Pair square = TwoProduct(root, root);
  const V residual = Add(Sub(Sub(a.high, square.high), square.low), a.low);
  return FastTwoSum(root, hn::Div(residual, Mul(All(2), root)));
}

// A `BoundedPair` (bounded.h) in each lane: a pair of doubles and a bound of its error. An error
// that is not finite bounds nothing.
struct Bound {
  Pair value;
  V error;
};

HWY_INLINE Bound ExactLanes(V value) { return {{value, All(0)}, All(0)}; }

HWY_INLINE Bound Minus(const Bound& a, const Bound& b) {
  const V magnitudes = Add(Abs(a.value.high), Abs(b.value.high));
  return {Minus(a.value, b.value), Add(Add(a.error, b.error), Mul(All(kPairError), magnitudes))};
}
HWY_INLINE Bound Multiply(const Bound& a, const Bound& b) {
  const Pair value = Multiply(a.value, b.value);
  const V propagated = Add(Add(Mul(Abs(a.value.high), b.error), Mul(Abs(b.value.high), a.error)),
                           Mul(a.error, b.error));
  return {value, Add(Mul(propagated, All(1 + 0x1p-40)), Mul(All(kPairError), Abs(value.high)))};
}
// Returns the square root of each lane, with an infinite error where the exact argument may be 0.
HWY_INLINE Bound SquareRoot(const Bound& a) {
  const V root = hn::Sqrt(a.value.high);
  const V error = Add(Mul(hn::Div(a.error, root), All(1 + 0x1p-40)), Mul(All(kPairError), root));
  const Mask is_positive = hn::Gt(a.value.high, Mul(All(2), a.error));
  return {SquareRoot(a.value), IfThenElse(is_positive, error, All(HUGE_VAL))};
}
HWY_INLINE Bound Divide(const Bound& a, const Bound& b) {
  const V rest = Sub(Mul(Abs(b.value.high), All(1 - 0x1p-40)), b.error);
  const Pair value = Divide(a.value, b.value);
  const V magnitude = Abs(value.high);
  const V propagated = hn::Div(Add(a.error, Mul(magnitude, b.error)), rest);
  const V error = Add(Mul(propagated, All(1 + 0x1p-40)), Mul(All(kPairError), magnitude));
  return {value, IfThenElse(hn::Gt(rest, All(0)), error, All(HUGE_VAL))};
}

// Sets `rounded` to the doubles nearest to exact numbers that are within t.error + `slack` of
// t.value. Returns the lanes in which `rounded` is certain: both ends of the interval of these
// numbers round to it.
HWY_INLINE Mask RoundToNearest(const Bound& t, V slack, V& rounded) {
  const V error = Mul(Add(t.error, slack), All(1 + 0x1p-40));
  const V least = Add(Add(t.value.high, Sub(t.value.low, error)), All(0));
  rounded = Add(Add(t.value.high, Add(t.value.low, error)), All(0));
  return hn::Eq(least, rounded);
}

// Returns t + error, rounded up to a double, for t + error above 0. `RoundedUpEnd` of bounded.h is
// the counterpart for one number.
HWY_INLINE V RoundedUpEnd(const Pair& t, V error) {
  const Pair tail = TwoSum(t.low, error);
  const Pair sum = TwoSum(t.high, tail.high);
  const hn::RebindToSigned<D> bits;
  const V above = hn::BitCast(D(), hn::Add(hn::BitCast(bits, sum.high), hn::Set(bits, 1)));
  return IfThenElse(hn::Gt(sum.low, All(0)), above, sum.high);
}

// Sets `rounded` to the least doubles that are not below the exact numbers that `t` approximates.
// Returns the lanes in which `rounded` is certain and the exact number is above 0.
HWY_INLINE Mask RoundUp(const Bound& t, V& rounded) {
  const V error = Mul(Add(t.error, Mul(All(kPairError), Abs(t.value.high))), All(1 + 0x1p-40));
  rounded = RoundedUpEnd(t.value, error);
  const Mask is_certain = hn::Eq(RoundedUpEnd(t.value, hn::Neg(error)), rounded);
  const Mask is_positive = And(hn::Gt(t.value.high, All(0)), hn::Lt(error, All(HUGE_VAL)));
  return And(is_certain, is_positive);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // CAROM_CORE_SRC_PAIR_VECTORS_H_
