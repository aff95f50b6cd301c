// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes `UnitNormal` (measures.cc) for several edges at once, one in each SIMD lane, with the
// same operations. Files that are compiled once for each instruction set include this header after
// hwy/foreach_target.h. The error bound is derived in measures.cc.

#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "numeric/exact.h"

// Highway includes this header once for each instruction set. After each instruction set, Highway
// flips HWY_TARGET_TOGGLE (defines it if it is undefined, else undefines it), and each inclusion
// that passes the guard below flips the macro of the guard. So the guard skips only repeated
// inclusions for one instruction set.
#if defined(CAROM_CORE_SRC_NORMAL_VECTORS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_NORMAL_VECTORS_H_
#undef CAROM_CORE_SRC_NORMAL_VECTORS_H_
#else
#define CAROM_CORE_SRC_NORMAL_VECTORS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Computes one of the two products of the cross product m x e, where m is the rounded unit
// direction of an edge and e the edge as a vector: a coordinate of m, split into halves, times the
// other coordinate of the edge. The cross product measures the angle between m and the edge. Sets
// `high` to the product of the high halves, and returns the sum of the smaller products.
HWY_INLINE V AnglePart(Pair m, Pair other, V& high) {
  const Pair e = Split(other.high);
  high = Mul(m.high, e.high);
  const V sum = Add(m.high, m.low);  // exact: the double that was split into `m`
  return Add(Add(Mul(m.high, e.low), Mul(m.low, e.high)),
             Add(Mul(m.low, e.low), Mul(sum, other.low)));
}

// Sets `normal` to one coordinate of a unit normal: `side` times `turned` (the rounded coordinate)
// plus `correction`. Returns the lanes in which the rounding is certain.
HWY_INLINE Mask CorrectedNormal(V turned, V correction, V side, V& normal) {
  const V bound = Mul(Abs(turned), All(kHasFilters ? 0x1p-74 : 1));
  const V least = Add(turned, Sub(correction, bound));
  normal = Add(Mul(side, least), All(0));
  return hn::Eq(least, Add(turned, Add(correction, bound)));
}

// Sets (x, y) to the unit normals of the edges with the vectors (e_x, e_y), on their left for
// `side` +1 and on their right for -1. Returns the lanes in which the rounding of both coordinates
// is certain.
HWY_INLINE Mask UnitNormals(Pair e_x, Pair e_y, V side, V& x, V& y) {
  const V length = hn::Sqrt(Add(Mul(e_x.high, e_x.high), Mul(e_y.high, e_y.high)));
  const V inverse = hn::Div(All(1), length);
  const V m_x = Mul(e_x.high, inverse);
  const V m_y = Mul(e_y.high, inverse);
  const Pair x_half = Split(m_x);
  const Pair y_half = Split(m_y);
  const Pair sum = TwoSum(Mul(x_half.high, x_half.high), Mul(y_half.high, y_half.high));
  const V mixed =
      Add(Mul(All(2), Mul(x_half.high, x_half.low)), Mul(All(2), Mul(y_half.high, y_half.low)));
  const V lows = Add(Mul(x_half.low, x_half.low), Mul(y_half.low, y_half.low));
  const V g = Add(Sub(sum.high, All(1)), Add(mixed, Add(sum.low, lows)));
  V f_x = All(0);
  V f_y = f_x;
  const V f_x_low = AnglePart(x_half, e_y, f_x);
  const V f_y_low = AnglePart(y_half, e_x, f_y);
  const V f = Mul(Add(Sub(f_x, f_y), Sub(f_x_low, f_y_low)), inverse);
  const V half = Mul(All(-0.5), g);
  const V turned = hn::Neg(m_y);
  const V x_correction = Sub(Mul(turned, half), Mul(m_x, f));
  const V y_correction = Sub(Mul(m_x, half), Mul(m_y, f));
  return And(CorrectedNormal(turned, x_correction, side, x),
             CorrectedNormal(m_x, y_correction, side, y));
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // CAROM_CORE_SRC_NORMAL_VECTORS_H_
