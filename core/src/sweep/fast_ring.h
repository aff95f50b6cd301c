// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the vertices and edges of a small convex polygon loaded into SIMD vectors? Highway
// compiles files that include this header once per instruction set (hwy/foreach_target.h).
//
// The first half of the lanes holds the first vertices, from vertex 0 on, and the second half the
// last vertices: so all lanes are in use, and some vertices appear twice. Vertices are loaded
// directly from the polygon's memory, not from a padded copy, because a processor stalls if it
// loads recently stored bytes at other offsets.

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
// The number of SIMD vectors needed to have a lane for each of two values.
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

// Loads, for the last `kLaneCount` / 2 vertices of the ring, the vertices that follow each of them;
// the first vertex of the ring follows the last vertex.
HWY_INLINE V WrapAround(std::span<const Vec2> ring) {
  const hn::Half<D> half;
  if constexpr (kLaneCount == 2) return FromPoint(ring.data());
  return hn::Combine(D(), hn::LoadU(half, &ring.front().x), hn::LoadU(half, &ring.back().x));
}
#endif

// Loads the vertices of a ring (the closed outline of a polygon) into `kWidth` SIMD lanes: 4 for 3
// or 4 vertices, 8 for 5 to 8 vertices. The lanes make up `kGroups` vectors. The first half of the
// lanes holds the first vertices of the ring, and the second half the last vertices, so some
// vertices are in two lanes.
template <size_t kWidth>
class RingLanes {
 public:
  static constexpr size_t kGroups = kWidth / kLaneCount;  // number of SIMD vectors
  static constexpr size_t kHalf = kWidth / 2;

  explicit HWY_INLINE RingLanes(std::span<const Vec2> ring) : ring_(ring) {}

  // `LaneOf` returns a lane that holds the vertex; `VerticesOf` converts a set of lanes, as bits,
  // to the set of the vertices in these lanes.
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
  // `Vertices` loads the vertices in the lanes of vector `group`; `Next` loads, for each of these
  // vertices, the following vertex of the ring.
  HWY_INLINE Points Vertices(size_t group) const {
    return Deinterleave(FromPoint(At(2 * group)), FromPoint(At(2 * group + 1)));
  }
  HWY_INLINE Points Next(size_t group) const {
    const V first = FromPoint(At(2 * group) + 1);
    if (group + 1 == kGroups) return Deinterleave(first, WrapAround(ring_));
    return Deinterleave(first, FromPoint(At(2 * group + 1) + 1));
  }

 private:
  // Returns the address of the first vertex of half vector `half`: the `kLaneCount` / 2 successive
  // vertices whose coordinates one SIMD load reads.
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

#endif  // include guard of fast_ring.h, once per instruction set
