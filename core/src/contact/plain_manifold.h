// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The points, depths and normals of contacts whose axes are known, four at a time.
//
// The contacts of polygons without radii, as `ConvexContact` measures them, with a contact in each
// lane of a vector. Lengths, cross products and quotients are pairs of doubles with a bound of
// their error. A number is taken only where all that is within the bound rounds to one double: the
// general path, which errs by less than that, then comes to the same. Otherwise the contact is left
// to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "carom/contact.h"
#include "carom/geometry.h"
#include "contact/plain_axis.h"
#include "contact/plain_mover.h"
#include "numeric/double_column.h"

namespace carom::internal {

// Contacts on their way; lane i of a column, and bit i of a mask, is about contact i.
struct alignas(64) ContactBlock {
  static constexpr size_t kSize = kMostLanes;
  using Column = DoubleColumn;
  struct Points {
    Vec2 at(size_t lane) const { return {x[lane], y[lane]}; }
    void Set(size_t lane, Vec2 p) {
      x[lane] = p.x;
      y[lane] = p.y;
    }
    Column x, y;
  };

  // Given: the reference edge runs from p to q, counter-clockwise as the other shape from `before`
  // by the support vertex s to `next`.
  Points p, q, s, next, before;

  // The edge of the other shape that faces the reference edge ends at s and at w: above 0 where w
  // is `next`, below where it is `before`.
  Column towards_next;
  // The positions of its ends along the reference edge, of which the signs are right.
  Column s_from_p, s_from_q, w_from_p, w_from_q;

  // The contact, and the ends of what both edges share along the reference edge.
  struct End {
    Points point;
    Column depth;
  };
  Points outward;  // the normal of the reference edge
  Column depth;
  End low, high;
  uint32_t has_low, has_high;              // whether the end is a point of the contact
  uint32_t low_is_vertex, high_is_vertex;  // or else the edge is cut there
  uint32_t s_is_low;
  uint32_t is_certain;  // whether all that is taken is

  // Numbers of vertices as given, and of the reference edge.
  struct Indices {
    uint8_t edge, p, q, s, next, before;
    bool fixed_is_reference, other_is_clockwise;

    uint32_t EdgeToNext() const { return other_is_clockwise ? next : s; }
    uint32_t EdgeToBefore() const { return other_is_clockwise ? s : before; }
  };
  std::array<Indices, kSize> indices;
};

// Gives lane `lane` a pair whose axis is known.
void SetLane(const PlainPair& pair, const PlainMover& mover, size_t lane, ContactBlock& block);

// Measures the first `count` contacts. What the other lanes hold does not matter.
void Measure(size_t count, ContactBlock& block);

// Writes what was measured to a default contact. It is certain.
void WriteLane(const ContactBlock& block, size_t lane, Contact& contact);

}  // namespace carom::internal
