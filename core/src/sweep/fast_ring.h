// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the vertices and edges of a small convex polygon get from its memory into vectors? Files
// that are compiled once per instruction set include this header behind hwy/foreach_target.h.
//
// Of n vertices, the first half of the lanes holds the vertices from 0 on, and the second half the
// last ones: so all lanes are full, and some vertices appear twice. Vertices are loaded straight
// from the polygon's memory, because a processor stalls when it loads what it has just stored at
// other offsets.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "contact/fast_mover.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

#if defined(CAROM_CORE_SRC_FAST_RING_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_FAST_RING_H_
#undef CAROM_CORE_SRC_FAST_RING_H_
#else
#define CAROM_CORE_SRC_FAST_RING_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

constexpr size_t kLaneCount = hn::MaxLanes(D());
static_assert(kLaneCount <= 4);
// The number of vectors that have a lane for each of two values.
constexpr size_t kVectorsOfTwo = kLaneCount == 1 ? 2 : 1;

// The x and y coordinates of one point per lane.
struct Points {
  V x, y;
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE V Alternating(V even, V odd, size_t vector) { return vector == 0 ? even : odd; }
#else
// Returns `even` in all even lanes and `odd` in all odd lanes.
HWY_INLINE V Alternating(V even, V odd, size_t /*vector*/) { return hn::OddEven(odd, even); }

// Splits points with alternating x and y in two vectors into a vector of x and a vector of y.
HWY_INLINE Points Deinterleave(V first, V second) {
  return {hn::ConcatEven(D(), second, first), hn::ConcatOdd(D(), second, first)};
}
HWY_INLINE V FromPoint(const Vec2* at) { return hn::LoadU(D(), &at->x); }

// Loads the vertices that follow the vertices of the last half vector; the first vertex follows the
// last one.
HWY_INLINE V WrapAround(std::span<const Vec2> ring) {
  const hn::Half<D> half;
  if constexpr (kLaneCount == 2) return FromPoint(ring.data());
  return hn::Combine(D(), hn::LoadU(half, &ring.front().x), hn::LoadU(half, &ring.back().x));
}
#endif

// Loads the vertices of a ring into `kWidth` lanes: 4 for 3 or 4 vertices, 8 for 5 to 8 vertices.
template <size_t kWidth>
class RingLanes {
 public:
  static constexpr size_t kGroups = kWidth / kLaneCount;  // vectors in all
  static constexpr size_t kHalf = kWidth / 2;

  explicit HWY_INLINE RingLanes(std::span<const Vec2> ring) : ring_(ring) {}

  // Maps a vertex to its lane; `VerticesOf` maps the bits of lanes to the bits of their vertices.
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
  // Loads the vertices in the lanes of vector `group`; `Next` loads the vertices that follow them.
  HWY_INLINE Points Vertices(size_t group) const {
    return Deinterleave(FromPoint(At(2 * group)), FromPoint(At(2 * group + 1)));
  }
  HWY_INLINE Points Next(size_t group) const {
    const V first = FromPoint(At(2 * group) + 1);
    if (group + 1 == kGroups) return Deinterleave(first, WrapAround(ring_));
    return Deinterleave(first, FromPoint(At(2 * group + 1) + 1));
  }

 private:
  // Returns the address of the first vertex in half vector `half`.
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

#endif  // once per instruction set
