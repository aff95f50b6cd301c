// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads segments from columns into lines. Computes what the constructor of `Line` computes,
// operation by operation, for several segments in the lanes of a vector.

#include <algorithm>
#include <cstring>
#include <span>

#include "cast/fast_line.h"

// Highway compiles this file once for each instruction set; the part up to `#endif` only once.
#ifndef CAROM_CORE_SRC_FAST_START_CC_
#define CAROM_CORE_SRC_FAST_START_CC_
namespace carom::internal {
namespace {

constexpr size_t kBlock = GridEntrants::kMost;
// How many segments ahead of the current one the columns are prefetched by software, since the
// hardware prefetcher does not follow four columns at once.
constexpr size_t kAhead = 64;

// The first members of `Line` for up to kBlock segments. Each array has four consecutive doubles of
// a `Line` for each segment, so that `Start` copies them to the line by one memcpy.
struct alignas(64) Started {
  using Groups = double[4 * kBlock];

  Groups origin_dx;  // origin x and y, then the high and the low part of dx
  Groups dy_range;   // the high and the low part of dy, then t_min = 0 and t_max = 1
  Groups bounds;
};

// The columns of the ends (ax, ay) and (bx, by) of up to kBlock segments. If there are fewer than
// kBlock segments, the last segment fills the remaining elements.
struct Ends {
  Ends(const SegmentColumns& segments, size_t begin, size_t count) {
    const double* const from[4] = {&segments.ax[begin], &segments.ay[begin], &segments.bx[begin],
                                   &segments.by[begin]};
    const size_t ahead = std::min(kAhead, segments.size() - 1 - begin);
    for (size_t k = 0; k < 4; ++k) {
      column[k] = from[k];
      __builtin_prefetch(from[k] + ahead);
      if (count >= kBlock) continue;
      for (size_t i = 0; i < kBlock; ++i) copy[k][i] = from[k][std::min(i, count - 1)];
      column[k] = copy[k];
    }
  }

  const double* column[4];  // ax, ay, bx, by
  double copy[4][kBlock];
};

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/fast_start.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Returns `value` with 0 in place of magnitudes below kSmallestMagnitude, as `Normalized` for
// doubles does.
HWY_INLINE V NormalizedLanes(V value) {
  return IfThenElse(hn::Lt(Abs(value), All(kSmallestMagnitude)), All(0), value);
}

// Returns b - a as a pair of doubles: the high part, and `low`.
HWY_INLINE V Difference(V b, V a, V& low) {
  const V high = Sub(b, a);
  const V a_part = Sub(high, b);
  const V b_part = Sub(high, a_part);
  low = Sub(Sub(b, b_part), Add(a, a_part));
  return high;
}

HWY_INLINE unsigned SetColumns(const Ends& ends, size_t i, GridEntrants& of, Started& to) {
  const V most = All(kMaxCoordinate);
  V ax = At(ends.column[0] + i);
  V ay = At(ends.column[1] + i);
  V bx = At(ends.column[2] + i);
  V by = At(ends.column[3] + i);
  const auto good = And(And(hn::Le(Abs(ax), most), hn::Le(Abs(ay), most)),
                        And(hn::Le(Abs(bx), most), hn::Le(Abs(by), most)));
  ax = NormalizedLanes(ax);
  ay = NormalizedLanes(ay);
  bx = NormalizedLanes(bx);
  by = NormalizedLanes(by);
  V dx_low, dy_low;
  const V dx = Difference(bx, ax, dx_low);
  const V dy = Difference(by, ay, dy_low);
  const V min_x = Min(ax, bx);
  const V min_y = Min(ay, by);
  const V max_x = Max(ax, bx);
  const V max_y = Max(ay, by);
  hn::StoreInterleaved4(ax, ay, dx, dx_low, D(), to.origin_dx + 4 * i);
  hn::StoreInterleaved4(dy, dy_low, All(0), All(1), D(), to.dy_range + 4 * i);
  hn::StoreInterleaved4(min_x, min_y, max_x, max_y, D(), to.bounds + 4 * i);
  Put(ax, of.x, i);
  Put(ay, of.y, i);
  Put(dx, of.dx, i);
  Put(dy, of.dy, i);
  Put(min_x, of.min_x, i);
  Put(min_y, of.min_y, i);
  Put(max_x, of.max_x, i);
  Put(max_y, of.max_y, i);
  Put(All(0), of.at, i);
  Put(All(1), of.end, i);
  return BitsOf(hn::Not(good));
}

// Sets `lines` to the segments of `ends`, and the columns of `of` to the values of the lines.
// Returns bit i for each segment i with a coordinate that is not accepted (not finite, or above
// 2^53 in magnitude).
unsigned Start(const Ends& ends, std::span<FastLine> lines, GridEntrants& of) {
  static_assert(offsetof(Line, dx) == offsetof(Line, origin) + 16 &&
                offsetof(Line, dy) == offsetof(Line, dx) + 16 &&
                offsetof(Line, t_min) == offsetof(Line, dy) + 16 &&
                offsetof(Line, t_max) == offsetof(Line, t_min) + 8 &&
                offsetof(Line, bounds) == offsetof(Line, t_max) + 8);
  Started started;
  unsigned bad = 0;
  for (size_t i = 0; i < kBlock; i += hn::Lanes(D())) bad |= SetColumns(ends, i, of, started) << i;
  for (size_t i = 0; i < lines.size(); ++i) {
    Line& line = lines[i].line;
    std::memcpy(&line.origin.x, started.origin_dx + 4 * i, 32);
    std::memcpy(&line.dy.high, started.dy_range + 4 * i, 32);
    std::memcpy(&line.bounds.min.x, started.bounds + 4 * i, 32);
    lines[i].Start();
  }
  return bad & ((1u << lines.size()) - 1);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(Start);

}  // namespace

unsigned StartSegments(const SegmentColumns& segments, size_t begin, std::span<FastLine> lines,
                       GridEntrants& of) {
  return HWY_DYNAMIC_DISPATCH(Start)(Ends(segments, begin, lines.size()), lines, of);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
