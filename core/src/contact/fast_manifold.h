// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes the points, depths and normals of contacts from their axes, four contacts at a time.
//
// Measures contacts of polygons without radii as `ConvexContact` does, with one contact in each
// lane of a vector. Lengths, cross products and quotients are pairs of doubles with an error bound.
// A number is used only if all values within its error bound round to one double. The general path
// has an error below this bound and then computes this double, too. Otherwise the contact is
// undecided and falls back to the general path.
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

// Holds contacts in progress. Lane i of a column, and bit i of a mask, belong to contact i.
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

  // Input: the reference edge from p to q, and of the other shape the vertices `before`, s (the
  // support vertex) and `next`, which follow each other. Both shapes are counter-clockwise.
  Points p, q, s, next, before;

  // Selects the edge of the other shape that faces the reference edge: above 0 the edge between s
  // and `next`, below 0 the edge between `before` and s. w is the end of the facing edge that is
  // not s.
  Column towards_next;
  // Positions of s and w along the reference edge, relative to p and to q. Only the signs are
  // exact.
  Column s_from_p, s_from_q, w_from_p, w_from_q;

  // Output: the contact, and both ends of the part of the reference edge that the facing edge
  // covers.
  struct End {
    Points point;
    Column depth;
  };
  Points outward;  // the unit normal of the reference edge
  Column depth;
  End low, high;
  uint32_t has_low, has_high;              // whether the contact has a point at this end
  uint32_t low_is_vertex, high_is_vertex;  // whether this end is a vertex, not a clip point
  uint32_t s_is_low;
  uint32_t is_certain;  // whether every number of the contact is certain

  // Indices of the vertices and of the reference edge in the rings as given.
  struct Indices {
    uint8_t edge, p, q, s, next, before;
    bool fixed_is_reference, other_is_clockwise;

    uint32_t EdgeToNext() const { return other_is_clockwise ? next : s; }
    uint32_t EdgeToBefore() const { return other_is_clockwise ? s : before; }
  };
  std::array<Indices, kSize> indices;
};

// Sets the input of lane `lane` to a pair with a known axis.
void SetLane(const FastPair& pair, const FastMover& mover, size_t lane, ContactBlock& block);

// Measures the contacts in the first `count` lanes. The other lanes may hold anything.
void Measure(size_t count, ContactBlock& block);

// Writes the contact of lane `lane`, which is certain, to a default-constructed contact.
void WriteLane(const ContactBlock& block, size_t lane, Contact& contact);

}  // namespace carom::internal
