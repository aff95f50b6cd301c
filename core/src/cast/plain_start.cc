// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Segments from columns to lines: what the constructors of `Line` and `LineCull` compute, operation
// by operation, for several segments in the lanes of a vector.

#include <algorithm>
#include <span>

#include "cast/plain_line.h"

#ifndef CAROM_CORE_SRC_PLAIN_START_CC_  // the first time this file is compiled
#define CAROM_CORE_SRC_PLAIN_START_CC_
namespace carom::internal {
namespace {

constexpr size_t kBlock = 4;  // segments at a time, in as many lanes as there are

// Lines of as many segments, pairs of numbers in turns, and of each what `LineCull` has.
struct alignas(64) Started {
  using Pairs = double[2 * kBlock];
  using Floats = float[kBlock];

  static TwoDoubles Pair(const Pairs& pairs, size_t i) { return {pairs[2 * i], pairs[2 * i + 1]}; }
  static Vec2 Point(const Pairs& pairs, size_t i) { return {pairs[2 * i], pairs[2 * i + 1]}; }

  Pairs origin, dx, dy, min, max;
  double far[kBlock];
  Floats min_x, max_x, min_y, max_y, normal_x, normal_y, least, most;
  unsigned bad;
};

// The columns of a block, of which the last one may be shorter: there its last segment repeats.
struct Ends {
  Ends(const SegmentColumns& segments, size_t begin, size_t count) {
    const double* const from[4] = {&segments.ax[begin], &segments.ay[begin], &segments.bx[begin],
                                   &segments.by[begin]};
    for (size_t k = 0; k < 4; ++k) {
      column[k] = from[k];
      if (count >= kBlock) continue;
      for (size_t i = 0; i < kBlock; ++i) copy[k][i] = from[k][std::min(i, count - 1)];
      column[k] = copy[k];
    }
  }

  const double* column[4];  // ax, ay, bx, by
  double copy[4][kBlock];
};

// Not inlined, or g++ takes the loop over lines apart for each number and asks where they overlap.
[[gnu::noinline]] void SetLine(const Started& from, size_t i, PlainLine& to, LineCull& cull) {
  Line& line = to.line;
  line.origin = Started::Point(from.origin, i);
  line.dx = Started::Pair(from.dx, i);
  line.dy = Started::Pair(from.dy, i);
  line.t_min = 0;
  line.t_max = 1;
  line.bounds = {Started::Point(from.min, i), Started::Point(from.max, i)};
  to.Start();
  cull.min_x = from.min_x[i];
  cull.max_x = from.max_x[i];
  cull.min_y = from.min_y[i];
  cull.max_y = from.max_y[i];
  cull.least = from.least[i];
  cull.most = from.most[i];
  cull.far = from.far[i];
  cull.SetNormal(from.normal_x[i], from.normal_y[i]);
}

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/plain_start.cc"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using hn::Abs;
using hn::Add;
using hn::Max;
using hn::Min;
using hn::Mul;
using hn::Sub;

using D = hn::CappedTag<double, kBlock>;
using F = hn::Rebind<float, D>;
using V = hn::Vec<D>;

HWY_INLINE V All(double value) { return hn::Set(D(), value); }

// As `Normalized`.
HWY_INLINE V ReadAs(V value) {
  return hn::IfThenElse(hn::Lt(Abs(value), All(kSmallestMagnitude)), All(0), value);
}

// Writes b - a, and returns it rounded.
HWY_INLINE V Difference(V b, V a, double* to) {
  const V high = Sub(b, a);
  const V a_part = Sub(high, b);
  const V b_part = Sub(high, a_part);
  const V low = Sub(Sub(b, b_part), Add(a, a_part));
  hn::StoreInterleaved2(high, low, D(), to);
  return high;
}

HWY_INLINE void Put(V value, float* to) { hn::StoreU(hn::DemoteTo(F(), value), F(), to); }

void Start(const Ends& ends, double magnitude, Started& out) {
  out.bad = 0;
  for (size_t i = 0; i < kBlock; i += hn::Lanes(D())) {
    const V most = All(kMaxCoordinate);
    V ax = hn::LoadU(D(), ends.column[0] + i);
    V ay = hn::LoadU(D(), ends.column[1] + i);
    V bx = hn::LoadU(D(), ends.column[2] + i);
    V by = hn::LoadU(D(), ends.column[3] + i);
    const auto good = hn::And(hn::And(hn::Le(Abs(ax), most), hn::Le(Abs(ay), most)),
                              hn::And(hn::Le(Abs(bx), most), hn::Le(Abs(by), most)));
    uint8_t bits[8];
    hn::StoreMaskBits(D(), hn::Not(good), bits);
    out.bad |= static_cast<unsigned>(bits[0]) << i;
    ax = ReadAs(ax);
    ay = ReadAs(ay);
    bx = ReadAs(bx);
    by = ReadAs(by);
    hn::StoreInterleaved2(ax, ay, D(), out.origin + 2 * i);
    const V dx = Difference(bx, ax, out.dx + 2 * i);
    const V dy = Difference(by, ay, out.dy + 2 * i);
    const V min_x = Min(ax, bx);
    const V max_x = Max(ax, bx);
    const V min_y = Min(ay, by);
    const V max_y = Max(ay, by);
    hn::StoreInterleaved2(min_x, min_y, D(), out.min + 2 * i);
    hn::StoreInterleaved2(max_x, max_y, D(), out.max + 2 * i);

    // 2^-e for a longer side in [2^e, 2^(e+1)); anything for a point, whose normal is 0.
    const hn::RebindToUnsigned<D> bits_of;
    const auto exponent = hn::ShiftRight<52>(hn::BitCast(bits_of, Max(Abs(dx), Abs(dy))));
    const V scale =
        hn::BitCast(D(), hn::ShiftLeft<52>(hn::Sub(hn::Set(bits_of, uint64_t{2046}), exponent)));
    const auto normal_x = hn::DemoteTo(F(), Mul(hn::Neg(dy), scale));
    const auto normal_y = hn::DemoteTo(F(), Mul(dx, scale));
    hn::StoreU(normal_x, F(), &out.normal_x[i]);
    hn::StoreU(normal_y, F(), &out.normal_y[i]);
    const V offset =
        Add(Mul(hn::PromoteTo(D(), normal_x), ax), Mul(hn::PromoteTo(D(), normal_y), ay));
    const V size = Max(All(magnitude), Max(Abs(ax), Abs(ay)));
    const V slack = Add(Mul(size, All(0x1p-18)), All(0x1p-120));
    Put(Sub(offset, slack), out.least + i);
    Put(Add(offset, slack), out.most + i);
    const V far = Mul(All(2), size);
    hn::StoreU(far, D(), &out.far[i]);
    Put(Max(min_x, hn::Neg(far)), out.min_x + i);
    Put(Max(min_y, hn::Neg(far)), out.min_y + i);
    Put(Min(max_x, far), out.max_x + i);
    Put(Min(max_y, far), out.max_y + i);
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(Start);

}  // namespace

void StartSegments(const SegmentColumns& segments, size_t begin, std::span<PlainLine> lines,
                   double magnitude, PlainStart& start) {
  start.bad = 0;
  for (size_t i = 0; i < lines.size(); i += kBlock) {
    const size_t count = std::min(kBlock, lines.size() - i);
    Started started;
    HWY_DYNAMIC_DISPATCH(Start)(Ends(segments, begin + i, count), magnitude, started);
    start.bad |= uint64_t{started.bad & ((1u << count) - 1)} << i;
    for (size_t k = 0; k < count; ++k) SetLine(started, k, lines[i + k], start.culls[i + k]);
  }
}

}  // namespace carom::internal
#endif  // HWY_ONCE
