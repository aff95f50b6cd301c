// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes what `SinCos` computes (sincos.cc), operation by operation, for several angles in the
// lanes of a vector. The theorem at the top of sincos.cc bounds the error.

#include "numeric/sincos_column.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "carom/sincos.h"
#include "numeric/sincos_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/numeric/sincos_column.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

using Words = hn::Rebind<uint64_t, D>;
using Quadrants = hn::Vec<Words>;

// Returns the polynomial with these coefficients, the constant first, by Horner's rule.
template <size_t kCount>
HWY_INLINE V Polynomial(const double (&coefficients)[kCount], V z) {
  V sum = All(coefficients[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) sum = Add(All(coefficients[i]), Mul(z, sum));
  return sum;
}

// Returns the rest x - n pi/2 of each angle, as `Reduce` does. Sets the two lowest bits of
// `quadrant` to n mod 4: the sum with kRounder has n in its lowest bits.
HWY_INLINE Pair Reduced(V x, Quadrants& quadrant) {
  const V rounded = Add(Mul(x, All(kTwoOverPi)), All(kRounder));
  quadrant = hn::BitCast(Words(), rounded);
  const V n = Sub(rounded, All(kRounder));
  const Pair first = TwoDiff(Sub(x, Mul(n, All(kHalfPiPart[0]))), Mul(n, All(kHalfPiPart[1])));
  const Pair second = TwoDiff(first.high, Mul(n, All(kHalfPiPart[2])));
  const V rest = Sub(Add(first.low, second.low), Mul(n, All(kHalfPiPart[3])));
  return FastTwoSum(second.high, rest);
}

// Sets `c` and `s` to cos and sin of y.high + y.low, as `Series` computes them.
HWY_INLINE void Series(Pair y, V& c, V& s) {
  const V half = All(0.5);
  const Pair square = TwoProduct(y.high, y.high);
  const V z = square.high;
  const Pair cube = TwoProduct(y.high, z);
  const Pair cubic = TwoProduct(cube.high, All(kSixth));
  const V cubic_low = Add(cubic.low, Add(Mul(Add(cube.low, Mul(y.high, square.low)), All(kSixth)),
                                         Mul(cube.high, All(kSixth * 0x1p-54))));
  const Pair sin_head = FastTwoSum(y.high, hn::Neg(cubic.high));
  const V sin_tail = Mul(Mul(cube.high, z), Polynomial(kSinTail, z));
  const V half_square = Mul(half, z);
  const V sin_rest =
      Add(Sub(sin_head.low, cubic_low), Add(sin_tail, Mul(y.low, Sub(All(1), half_square))));
  const Pair cos_head = FastTwoSum(All(1), hn::Neg(half_square));
  const V cos_tail = Mul(Mul(z, z), Polynomial(kCosTail, z));
  const V cos_rest = Add(Sub(cos_head.low, Mul(half, square.low)),
                         Sub(cos_tail, Mul(y.low, Sub(y.high, cubic.high))));
  c = Add(cos_head.high, cos_rest);
  s = Add(sin_head.high, sin_rest);
}

// Returns `value` with its sign flipped in the lanes where bit 1 of `bits` is set. No value is 0.
HWY_INLINE V Flipped(V value, Quadrants bits) {
  const auto sign = hn::ShiftLeft<62>(hn::And(bits, hn::Set(Words(), 2)));
  return hn::Xor(value, hn::BitCast(D(), sign));
}

HWY_INLINE void SinCosOf(V x, V& c, V& s) {
  Quadrants quadrant;
  V even, odd;
  Series(Reduced(x, quadrant), even, odd);
  const auto one = hn::Set(Words(), 1);
  const Mask is_odd =
      hn::MaskFromVec(hn::BitCast(D(), hn::Sub(hn::Zero(Words()), hn::And(quadrant, one))));
  c = Flipped(IfThenElse(is_odd, odd, even), hn::Add(quadrant, one));
  s = Flipped(IfThenElse(is_odd, even, odd), quadrant);
  const V size = Abs(x);
  const Mask is_tiny = hn::Lt(size, All(kTinyAngle));
  const Mask is_angle = hn::Le(size, All(kMaxAngle));
  c = IfThenElse(is_angle, IfThenElse(is_tiny, All(1), c), All(1));
  s = hn::IfThenElseZero(is_angle, IfThenElse(is_tiny, Add(x, All(0)), s));
}

void SinCosOfColumn(const double* radians, size_t count, double* c, double* s) {
  const size_t lanes = hn::Lanes(D());
  V cosine, sine;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    SinCosOf(At(radians + i), cosine, sine);
    hn::StoreU(cosine, D(), c + i);
    hn::StoreU(sine, D(), s + i);
  }
  if (i == count) return;
  DoubleColumn last{};
  std::copy(radians + i, radians + count, last.begin());
  SinCosOf(At(last, 0), cosine, sine);
  Put(cosine, last, 0);
  std::copy_n(last.begin(), count - i, c + i);
  Put(sine, last, 0);
  std::copy_n(last.begin(), count - i, s + i);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(SinCosOfColumn);

}  // namespace

void SinCosOfAll(std::span<const double> radians, std::span<double> c, std::span<double> s) {
  HWY_DYNAMIC_DISPATCH(SinCosOfColumn)(radians.data(), radians.size(), c.data(), s.data());
}

}  // namespace carom::internal
#endif  // HWY_ONCE
