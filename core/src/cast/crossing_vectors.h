// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// At which parameter does a line cross an edge, rounded once? For several lines in the lanes of a
// vector. Computes what `Fraction::Refined` computes, operation by operation; the error bounds are
// derived there.
//
// Highway compiles some .cc files once for each instruction set (target). These files include this
// header after hwy/foreach_target.h, once per target; the macro of the guard toggles between
// defined and undefined, so that the guard lets the header through each time.

#include <cstddef>

#include "cast/crossing_columns.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "numeric/exact.h"

#if defined(CAROM_CORE_SRC_CROSSING_VECTORS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_CROSSING_VECTORS_H_
#undef CAROM_CORE_SRC_CROSSING_VECTORS_H_
#else
#define CAROM_CORE_SRC_CROSSING_VECTORS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

HWY_INLINE void SetEdges(Axis& axis, size_t i) {
  const Pair e = TwoDiff(At(axis.b, i), At(axis.a, i));
  Put(e.high, axis.e, i);
  Put(e.low, axis.e_low, i);
}

// Multiplies p, a difference of x or of y, by the edge's component e + e_low in the coordinate that
// p is not of, `other`. Sets `high` to the exact product of the upper 26 bits of p and of e, and
// returns the sum of all other partial products of p and e + e_low.
inline V HalfProducts(Pair p, const Axis& other, size_t i, V& high) {
  const V e = At(other.e, i);
  const Pair p_half = Split(p.high);
  const Pair e_half = Split(e);
  high = Mul(p_half.high, e_half.high);
  const V mixed = Add(Mul(p_half.high, e_half.low), Mul(p_half.low, e_half.high));
  const V lows = Add(Mul(p_half.low, e_half.low), Mul(p.high, At(other.e_low, i)));
  return Add(mixed, Add(Mul(p.low, e), lows));
}

// Returns (a - origin) - q * direction in one coordinate, as a pair of doubles, where a is the
// first end of the edge and q approximates the line's parameter at the crossing. Sets `scale` to
// the magnitude to which the rounding error is proportional.
inline Pair Residue(const Axis& axis, size_t i, V q, V& scale) {
  const Pair to_a = TwoDiff(At(axis.a, i), At(axis.origin, i));
  const Pair half = Split(At(axis.d, i));
  const V step = Mul(half.high, q);
  scale = Add(Abs(to_a.high), Abs(step));
  const Pair p = TwoDiff(to_a.high, step);
  const V lows = Sub(Sub(to_a.low, Mul(half.low, q)), Mul(At(axis.d_low, i), q));
  return {p.high, Add(p.low, lows)};
}

// Sets `t` to the parameters of the crossings from i on, as many as a vector has lanes, as
// `Fraction::Refined` computes them. Returns the lanes in which the interval that `Refined`
// computes is a single double, so that `t` is certainly correctly rounded.
inline Mask Refined(const Crossings& of, size_t i, V& t) {
  const V middle = Mul(All(0.5), Add(At(of.low, i), At(of.high, i)));
  Mask certain = And(hn::Gt(middle, All(0x1p-200)), hn::Lt(middle, All(0x1p200)));
  const V q = Split(middle).high;
  V x_high, y_high, scale_x, scale_y;
  const Pair p_x = Residue(of.x, i, q, scale_x);
  const Pair p_y = Residue(of.y, i, q, scale_y);
  const V e_x = At(of.x.e, i);
  const V e_y = At(of.y.e, i);
  const V left = Mul(At(of.x.d, i), e_y);
  const V right = Mul(At(of.y.d, i), e_x);
  const V d = Sub(left, right);
  const V d_scale = Add(Abs(left), Abs(right));
  certain = And(certain, hn::Gt(Abs(d), Mul(All(16 * kCrossError), d_scale)));
  const V inverse = hn::Div(All(1), d);
  const V x_low = HalfProducts(p_x, of.y, i, x_high);
  const V y_low = HalfProducts(p_y, of.x, i, y_high);
  const V r = Add(Sub(x_high, y_high), Sub(x_low, y_low));
  const V r_scale = Add(Mul(scale_x, Abs(e_y)), Mul(scale_y, Abs(e_x)));
  const V c = Mul(r, inverse);
  const V bound = Mul(Abs(inverse), Add(Mul(Mul(All(16 * kFilterUnit), d_scale), Abs(c)),
                                        Mul(All(32 * kFilterUnit * 0x1p-26), r_scale)));
  t = Add(q, Sub(c, bound));
  return And(certain, hn::Eq(t, Add(q, Add(c, bound))));
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET_TOGGLE
