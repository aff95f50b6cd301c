// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The vertices and edges of a small convex polygon in vectors, straight from its memory, for files
// that are compiled once for each instruction set: to be included behind hwy/foreach_target.h, each
// time.
//
// Of n vertices the first half of the lanes has those from 0 on, the second half the last ones. So
// all lanes are full, and some are there twice. Nothing is stored and loaded again at another
// place, which processors wait for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "contact/plain_mover.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

#if defined(CAROM_CORE_SRC_PLAIN_RING_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_PLAIN_RING_H_
#undef CAROM_CORE_SRC_PLAIN_RING_H_
#else
#define CAROM_CORE_SRC_PLAIN_RING_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

constexpr size_t kLaneCount = hn::MaxLanes(D());
static_assert(kLaneCount <= 4);
// Vectors that have a lane for each of two things.
constexpr size_t kVectorsOfTwo = kLaneCount == 1 ? 2 : 1;

// x and y of points.
struct Points {
  V x, y;
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE V InTurns(V even, V odd, size_t vector) { return vector == 0 ? even : odd; }
#else
// The same in all even lanes, and in all odd ones.
HWY_INLINE V InTurns(V even, V odd, size_t /*vector*/) { return hn::OddEven(odd, even); }

// Points of both vectors, x and y in turns.
HWY_INLINE Points Apart(V first, V second) {
  return {hn::ConcatEven(D(), second, first), hn::ConcatOdd(D(), second, first)};
}
HWY_INLINE V FromPoint(const Vec2* at) { return hn::LoadU(D(), &at->x); }

// From the last vertex, around the end.
HWY_INLINE V AroundTheEnd(std::span<const Vec2> ring) {
  const hn::Half<D> half;
  if constexpr (kLaneCount == 2) return FromPoint(ring.data());
  return hn::Combine(D(), hn::LoadU(half, &ring.front().x), hn::LoadU(half, &ring.back().x));
}
#endif

// Of `kWidth` lanes in all, 4 for 3 and 4 vertices, 8 for 5 to 8.
template <size_t kWidth>
class RingLanes {
 public:
  static constexpr size_t kGroups = kWidth / kLaneCount;  // vectors
  static constexpr size_t kHalf = kWidth / 2;

  explicit HWY_INLINE RingLanes(std::span<const Vec2> ring) : ring_(ring) {}

  // The lane of a vertex, and lanes to vertices, as bits.
  HWY_INLINE size_t LaneOf(size_t vertex) const {
    return vertex < kHalf ? vertex : vertex + kWidth - ring_.size();
  }
  HWY_INLINE uint32_t VerticesOf(uint32_t lanes) const {
    constexpr uint32_t kLow = (uint32_t{1} << kHalf) - 1;
    return (lanes & kLow) | (lanes >> kHalf) << (ring_.size() - kHalf);
  }

#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE Points Vertices(size_t group) const { return PointAt(group, 0); }
  HWY_INLINE Points Next(size_t group) const { return PointAt(group, 1); }

 private:
  HWY_INLINE Points PointAt(size_t lane, size_t ahead) const {
    const size_t vertex = (lane < kHalf ? lane : lane + ring_.size() - kWidth) + ahead;
    const Vec2& p = ring_[vertex == ring_.size() ? 0 : vertex];
    return {All(p.x), All(p.y)};
  }
#else
  // Those of a vector of lanes, and the vertices behind them.
  HWY_INLINE Points Vertices(size_t group) const {
    return Apart(FromPoint(At(2 * group)), FromPoint(At(2 * group + 1)));
  }
  HWY_INLINE Points Next(size_t group) const {
    const V first = FromPoint(At(2 * group) + 1);
    if (group + 1 == kGroups) return Apart(first, AroundTheEnd(ring_));
    return Apart(first, FromPoint(At(2 * group + 1) + 1));
  }

 private:
  // The first vertex of half a vector.
  HWY_INLINE const Vec2* At(size_t half) const {
    const size_t lane = half * (kLaneCount / 2);
    return ring_.data() + (lane < kHalf ? lane : lane + ring_.size() - kWidth);
  }
#endif

  std::span<const Vec2> ring_;
};

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
