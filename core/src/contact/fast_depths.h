// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far does each of two small convex polygons reach past the edges of the other? Computes these
// depths in SIMD lanes.
//
// Files that Highway compiles once for each instruction set include this header after
// hwy/foreach_target.h, each time that they are compiled.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "contact/fast_mover.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

#ifndef CAROM_CORE_SRC_FAST_DEPTHS_ONCE_H_  // compiled once, for all instruction sets
#define CAROM_CORE_SRC_FAST_DEPTHS_ONCE_H_
namespace carom::internal {

// The vertices and edges of a fixed polygon, relative to the first vertex of a moving polygon (the
// mover), and for each edge of both polygons its depth: how far the other polygon reaches to the
// left of the edge, which is the inner side.
struct alignas(64) Depths {
  VertexColumn x, y;
  FastEdges edges;
  // For each edge of the fixed polygon and of the mover: first its depth times its length, later
  // its squared depth (`Square` in fast_axis.cc).
  EdgeColumn fixed, mover;
};

}  // namespace carom::internal
#endif

#if defined(CAROM_CORE_SRC_FAST_DEPTHS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_FAST_DEPTHS_H_
#undef CAROM_CORE_SRC_FAST_DEPTHS_H_
#else
#define CAROM_CORE_SRC_FAST_DEPTHS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Stores the vertices that begin at `from` in `depths`, from index `at` on, relative to the point
// (origin_x, origin_y): as many vertices as a SIMD vector has lanes.
HWY_INLINE void SetVertices(const Vec2* from, V origin_x, V origin_y, size_t at, Depths& depths) {
  V x = hn::Undefined(D());
  V y = hn::Undefined(D());
  hn::LoadInterleaved2(D(), &from->x, x, y);
  hn::StoreU(Sub(x, origin_x), D(), &depths.x[at]);
  hn::StoreU(Sub(y, origin_y), D(), &depths.y[at]);
}

// Stores the vertices of `ring` in `depths`, relative to `origin`, and repeats the first vertices
// behind the last one, so that code that reads whole vectors can read beyond the last vertex. The
// last vector overlaps the vector before it; a ring of fewer vertices than lanes is repeated to
// fill one vector.
HWY_INLINE void SetRing(std::span<const Vec2> ring, Vec2 origin, Depths& depths) {
  const size_t lanes = hn::Lanes(D());
  const size_t n = ring.size();
  const V origin_x = All(origin.x);
  const V origin_y = All(origin.y);
  if (n < lanes) {
    std::array<Vec2, kMaxLanes> points;
    for (size_t i = 0; i < kMaxLanes; ++i) points[i] = ring[i < n ? i : i - n];
    SetVertices(points.data(), origin_x, origin_y, 0, depths);
  } else {
    for (size_t i = 0; i + lanes < n; i += lanes) {
      SetVertices(&ring[i], origin_x, origin_y, i, depths);
    }
    SetVertices(&ring[n - lanes], origin_x, origin_y, n - lanes, depths);
  }
  for (size_t i = 0; i < kMaxLanes; i += lanes) {
    hn::StoreU(At(&depths.x[i]), D(), &depths.x[n + i]);
    hn::StoreU(At(&depths.y[i]), D(), &depths.y[n + i]);
  }
}

// Sets the directions of the edges (counter-clockwise), and their offsets: the cross product of the
// edge and the vector to its tail from the origin, the point that the stored vertices are relative
// to. `SetInverses` sets their inverse squared lengths.
HWY_INLINE void SetEdges(size_t width, bool is_clockwise, Depths& depths) {
  const V turn = All(is_clockwise ? -1 : 1);
  for (size_t i = 0; i < width; i += hn::Lanes(D())) {
    const V x = At(&depths.x[i]);
    const V y = At(&depths.y[i]);
    const V ex = Mul(turn, Sub(At(&depths.x[i + 1]), x));
    const V ey = Mul(turn, Sub(At(&depths.y[i + 1]), y));
    hn::Store(ex, D(), &depths.edges.x[i]);
    hn::Store(ey, D(), &depths.edges.y[i]);
    hn::Store(hn::MulSub(ex, y, Mul(ey, x)), D(), &depths.edges.offset[i]);
  }
}

HWY_INLINE void SetInverses(size_t width, FastEdges& edges) {
  for (size_t i = 0; i < width; i += hn::Lanes(D())) {
    const V ex = At(&edges.x[i]);
    const V ey = At(&edges.y[i]);
    hn::Store(hn::Div(All(1), hn::MulAdd(ex, ex, Mul(ey, ey))), D(), &edges.inverse[i]);
  }
}

// The x and y coordinates of `width` points, in two columns, relative to the same origin as the
// edges (`FastEdges`) that the points are compared with.
struct PointSet {
  const double* x;
  const double* y;
  size_t width;
};

// Returns in each lane the greatest cross product of the lane's edge (ex, ey) and one of the
// points.
HWY_INLINE V MaxCross(V ex, V ey, const PointSet& points) {
  V most = All(-HUGE_VAL);
  for (size_t j = 0; j < points.width; j += 4) {
    for (size_t k = j; k < j + 4; ++k) {
      most = Max(most, hn::MulSub(ex, All(points.y[k]), Mul(ey, All(points.x[k]))));
    }
  }
  return most;
}

// Sets `a` to `MaxCross` of the SIMD vector of edges that begins at index i, and `b` to `MaxCross`
// of the next vector of edges, in one pass over the points.
HWY_INLINE void MaxCrossOfTwo(const FastEdges& edges, size_t i, const PointSet& points, V& a,
                              V& b) {
  const size_t lanes = hn::Lanes(D());
  const V ax = At(&edges.x[i]);
  const V ay = At(&edges.y[i]);
  const V bx = At(&edges.x[i + lanes]);
  const V by = At(&edges.y[i + lanes]);
  a = All(-HUGE_VAL);
  b = a;
  for (size_t j = 0; j < points.width; j += 4) {
    for (size_t k = j; k < j + 4; ++k) {
      const V x = All(points.x[k]);
      const V y = All(points.y[k]);
      a = Max(a, hn::MulSub(ax, y, Mul(ay, x)));
      b = Max(b, hn::MulSub(bx, y, Mul(by, x)));
    }
  }
}

// Sets the depth of each edge times its length: the greatest cross product of the edge and the
// vector from its tail to one of the points, so the depth is how far the points reach to the left
// of the edge. Returns the least depth times length.
HWY_INLINE double SetDepths(const FastEdges& edges, size_t width, const PointSet& points,
                            EdgeColumn& depths) {
  const size_t lanes = hn::Lanes(D());
  V least = All(HUGE_VAL);
  if (lanes == width) {
    least = Sub(MaxCross(At(edges.x.data()), At(edges.y.data()), points), At(edges.offset.data()));
    hn::Store(least, D(), depths.data());
    return hn::GetLane(hn::MinOfLanes(D(), least));
  }
  for (size_t i = 0; i < width; i += 2 * lanes) {
    V a = hn::Undefined(D());
    V b = hn::Undefined(D());
    MaxCrossOfTwo(edges, i, points, a, b);
    a = Sub(a, At(&edges.offset[i]));
    b = Sub(b, At(&edges.offset[i + lanes]));
    hn::Store(a, D(), &depths[i]);
    hn::Store(b, D(), &depths[i + lanes]);
    least = Min(least, Min(a, b));
  }
  return hn::GetLane(hn::MinOfLanes(D(), least));
}

// Returns which of the first `n` entries of the column are at most `bound`: bit k for entry k.
HWY_INLINE uint32_t UpTo(V bound, const EdgeColumn& column, size_t n) {
  uint32_t bits = 0;
  for (size_t i = 0; i < WidthOf(n); i += hn::Lanes(D())) {
    bits |= BitsOf(hn::Le(At(&column[i]), bound)) << i;
  }
  return bits & ((uint32_t{1} << n) - 1);
}

// Returns which of the first `n` points may be farthest to the left of the edge: the points with a
// cross product (of the edge and the point) that is within `error` of the greatest one. Bit k is
// set for point k.
HWY_INLINE uint32_t Farthest(Vec2 edge, const PointSet& points, size_t n, double error) {
  const V ex = All(edge.x);
  const V ey = All(edge.y);
  alignas(64) EdgeColumn right;
  V least = All(HUGE_VAL);
  for (size_t i = 0; i < points.width; i += hn::Lanes(D())) {
    const V at = hn::MulSub(ey, At(points.x + i), Mul(ex, At(points.y + i)));
    hn::Store(at, D(), &right[i]);
    least = Min(least, at);
  }
  return UpTo(Add(hn::MinOfLanes(D(), least), All(error)), right, n);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET_TOGGLE
