// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How often does a sequence of edges wind around a point?
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "carom/predicates.h"
#include "numeric/exact.h"
#include "numeric/lanes.h"

namespace carom::internal {

// Counts the signed crossings of edges with the horizontal ray from a point to the right. An edge
// counts if it passes the height of the point in the half-open sense (its lower end belongs to the
// edge, its upper end does not), so that no vertex counts twice.
class PointScan {
 public:
  explicit PointScan(Vec2 p) : p_(p) {}

  // Adds the signed crossing of `edge` with the ray (-1, 0 or 1) to `winding_`. Returns false if
  // the point is on the edge.
  bool Add(const Segment& edge) {
    const bool starts_above = edge.a.y > p_.y;
    if (starts_above == (edge.b.y > p_.y)) {
      // The edge does not pass the height of the point, but it may end at that height or lie along
      // it.
      return (edge.a.y != p_.y && edge.b.y != p_.y) || !IsOnSegment(p_, edge);
    }
    return AddPassing(edge.a, edge.b, starts_above);
  }

  // Adds the signed crossings of the eight edges of a chain of nine vertices. Returns false if the
  // point is on an edge.
  bool AddEight(const Vec2* vertices);

  // Adds the signed crossings of the edges of a ring. Returns false if the point is on an edge.
  bool AddRing(std::span<const Vec2> ring, bool open);

  // Adds the signed crossing of the ray with the chord of a chain of edges: the segment from the
  // chain's first vertex a to its last vertex b. The chord must not contain the point.
  void AddChord(Vec2 a, Vec2 b) {
    const bool starts_above = a.y > p_.y;
    if (starts_above != (b.y > p_.y)) AddPassing(a, b, starts_above);
  }

  void AddCrossings(int crossings) { winding_ += crossings; }

  int64_t winding() const { return winding_; }

 private:
  // Adds the crossing, if any, of an edge that passes the height of the point. Returns false if the
  // point is on the edge. As the edge passes that height, the point is on the edge exactly if it is
  // on the line of the edge.
  bool AddPassing(Vec2 a, Vec2 b, bool starts_above) {
    const RoundedCross cross(p_, a, p_, b);
    int side = cross.sign();
    if (!cross.is_certain() || side == 0) {
      side = CrossSign(p_, a, p_, b);
      if (side == 0) return false;
    }
    winding_ += starts_above ? -(side < 0) : side > 0;
    return true;
  }

  Vec2 p_;
  int64_t winding_ = 0;
};

// Adds the signed crossings of eight consecutive edges with the horizontal ray from the point to
// the right, two edges at a time. If an edge ends at the height of the point, or the floating-point
// filter leaves a sign undecided, `Add` handles all eight edges one by one.
inline bool PointScan::AddEight(const Vec2* vertices) {
  const auto from_p = [&](size_t i) {
    return Double2{vertices[i].x, vertices[i].y} - Double2{p_.x, p_.y};
  };
  Long2 crossings{0, 0};
  Long2 unclear{0, 0};
  Double2 first = from_p(0);
  for (size_t i = 0; i < kLanes; i += 2) {
    const Double2 middle = from_p(i + 1);
    const Double2 last = from_p(i + 2);
    const Double2 a_y{first[1], middle[1]};
    const Double2 b_y{middle[1], last[1]};
    const RoundedCrossLanes cross(Double2{first[0], middle[0]} * b_y,
                                  a_y * Double2{middle[0], last[0]});
    const Long2 starts_above = a_y > 0;
    const Long2 ends_above = b_y > 0;
    const Long2 passes = starts_above ^ ends_above;
    unclear |= (a_y == 0) | (b_y == 0) | (passes & ~cross.is_certain());
    crossings += passes & ((starts_above & (cross.value < 0)) - (ends_above & (cross.value > 0)));
    first = last;
  }
  if ((unclear[0] | unclear[1]) == 0) {
    winding_ += crossings[0] + crossings[1];
    return true;
  }
  for (size_t i = 0; i < kLanes; ++i) {
    if (!Add({vertices[i], vertices[i + 1]})) return false;
  }
  return true;
}

inline bool PointScan::AddRing(std::span<const Vec2> ring, bool open) {
  size_t i = 0;
  for (; i + kLanes < ring.size(); i += kLanes) {
    if (!AddEight(ring.data() + i)) return false;
  }
  for (; i + 1 < ring.size(); ++i) {
    if (!Add({ring[i], ring[i + 1]})) return false;
  }
  return (open && ring.size() > 1) || Add({ring.back(), ring.front()});
}

}  // namespace carom::internal
