// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes the points, depths and normals of contacts of convex polygons from their contact axes,
// four contacts at a time.
//
// Computes the numbers that `ConvexContact` (the general path) computes for shapes without radii,
// with one contact in each lane of a SIMD vector. Lengths, cross products and quotients are pairs
// of doubles with an error bound. A number is used only if all values within its error bound round
// to one double. The error of the general path is below this bound, so that path computes the same
// double. If a number of a contact is not certain in this sense, the contact falls back to the
// general path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "carom/contact.h"
#include "carom/geometry.h"
#include "contact/fast_axis.h"
#include "contact/fast_mover.h"
#include "numeric/double_column.h"

namespace carom::internal {

// Holds up to four contacts that are computed together. The general path is `ConvexContact`, which
// computes one contact at a time. Lane i of a column, and bit i of a set of bits, belong to contact
// i.
struct alignas(64) ContactBlock {
  static constexpr size_t kSize = kMaxLanes;
  using Column = DoubleColumn;
  struct Points {
    Vec2 at(size_t lane) const { return {x[lane], y[lane]}; }
    void Set(size_t lane, Vec2 p) {
      x[lane] = p.x;
      y[lane] = p.y;
    }
    Column x, y;
  };

  // Input: the reference edge, which gives the normal of the contact, from p to q; and three
  // consecutive vertices of the other shape: `before`, s (the support vertex, which is deepest past
  // the reference edge) and `next`. Both shapes are counter-clockwise.
  Points p, q, s, next, before;

  // Selects the facing edge, the edge of the other shape at the support vertex s that faces the
  // reference edge: above 0 the edge between s and `next`, below 0 the edge between `before` and s.
  // w is the end of the facing edge that is not s.
  Column towards_next;
  // Dot products of the reference edge with the vectors from p and from q to s and to w (the ends
  // of the facing edge): the positions of s and w along the reference edge, times its length. Only
  // the signs are exact.
  Column s_from_p, s_from_q, w_from_p, w_from_q;

  // Output: the contact. `low` (towards p) and `high` (towards q) are the ends of the part of the
  // reference edge that the facing edge of the other shape covers.
  struct End {
    Points point;
    Column depth;
  };
  Points outward;  // outward unit normal of the reference edge
  Column depth;
  End low, high;
  // Bit i of `has_low`: whether contact i has a point at the end `low`; of `has_high`: at the end
  // `high`.
  uint32_t has_low, has_high;
  // Bit i: whether the end `low` (or `high`) of contact i is a vertex of the other shape (s or w),
  // not a point at which the facing edge is clipped.
  uint32_t low_is_vertex, high_is_vertex;
  uint32_t s_is_low;
  // Bit i: whether every number of contact i is certainly the double that the general path
  // computes.
  uint32_t is_certain;

  // Indices of the reference edge and of the vertices p, q, s, `next` and `before` in their
  // polygons as given, which may be clockwise.
  struct Indices {
    uint8_t edge, p, q, s, next, before;
    bool fixed_is_reference, other_is_clockwise;

    uint32_t EdgeToNext() const { return other_is_clockwise ? next : s; }
    uint32_t EdgeToBefore() const { return other_is_clockwise ? s : before; }
  };
  std::array<Indices, kSize> indices;
};

// Sets the input of lane `lane` of `block` (one pair of shapes in each lane) to a pair of polygons
// with a known contact axis: the edge that gives the normal of the contact, and the vertex of the
// other polygon that is deepest past this edge.
void SetLane(const FastPair& pair, const FastMover& mover, size_t lane, ContactBlock& block);

// Computes the contacts in the first `count` lanes. The other lanes may hold anything.
void Measure(size_t count, ContactBlock& block);

// Writes the contact of lane `lane` to `contact`, which must be default-constructed. All numbers of
// the lane must be certain (`is_certain`).
void WriteLane(const ContactBlock& block, size_t lane, Contact& contact);

}  // namespace carom::internal
