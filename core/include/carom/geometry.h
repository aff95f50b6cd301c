// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a point, a segment, a pose, and which numbers are accepted?
//
// Defines the plain values that all other headers use. Start with `Vec2`. `IsAccepted` returns
// which numbers are valid, `Normalized` how the library reads a valid number. The rules are stated
// in docs/conventions.md, sections "Space" and "Numbers". Polygons are in carom/polygon.h.
// Everything in this header is a value or a pure function.
//
//   const Pose pose{{2, 3}, 0, 1};              // a quarter turn counter-clockwise, then to (2, 3)
//   const Vec2 p = Placed(pose, {1, 0});        // (2, 4)
//   const Box box = BoundsOf({{0, 0}, p});      // from (0, 0) to (2, 4)
//   const bool contains = box.Contains({2, 1});  // true: a box contains its edges
//   const bool accepted = IsAccepted(0x1p54);   // false: above 2^53
//
// Lengths are in the unit of the caller's coordinates. Boxes are closed: boxes that only touch
// intersect. Error: comparisons are exact; placing rounds each operation once. Cost: O(1), without
// allocation. Thread-safe. More powerful: carom/predicates.h.
#pragma once

#include <cmath>
#include <cstdint>

namespace carom {

// The largest accepted magnitude of a coordinate, radius or displacement: 2^53.
inline constexpr double kMaxCoordinate = 9007199254740992.0;

// The least magnitude other than 0, 2^-140: the library reads a smaller magnitude as 0. Every
// product of up to five accepted coordinates is therefore exact in expansions of doubles (no term
// underflows below 2^-1074).
inline constexpr double kSmallestMagnitude = 0x1p-140;

// Returns whether the library accepts `value` as a coordinate, radius or displacement: finite and
// at most 2^53 in magnitude. NaN is not accepted.
constexpr bool IsAccepted(double value) {
  return value >= -kMaxCoordinate && value <= kMaxCoordinate;
}

// Returns `value` as the library reads it: a magnitude below 2^-140 becomes 0, and -0 becomes 0.
constexpr double Normalized(double value) {
  return value > -kSmallestMagnitude && value < kSmallestMagnitude ? 0.0 : value;
}

// A point or a vector in the plane: y up, lengths in the caller's unit.
struct Vec2 {
  double x = 0;
  double y = 0;

  friend constexpr bool operator==(Vec2 a, Vec2 b) { return a.x == b.x && a.y == b.y; }
};

constexpr bool IsAccepted(Vec2 p) { return IsAccepted(p.x) && IsAccepted(p.y); }
constexpr Vec2 Normalized(Vec2 p) { return {Normalized(p.x), Normalized(p.y)}; }

// The closed segment from `a` to `b`. `a == b` is legal: the segment is then a point.
struct Segment {
  Vec2 a;
  Vec2 b;
};

// The closed disc about `center`; `radius` is in [0, 2^53].
struct Circle {
  Vec2 center;
  double radius = 0;
};

// The closed set of points at a distance of at most `radius`, in [0, 2^53], from the segment
// `axis`. A capsule with equal ends is a circle; a capsule of radius 0 is a segment, or a point.
struct Capsule {
  Segment axis;
  double radius = 0;
};

// The points origin + t * direction for t in [t_min, t_max]. `direction` is of any length but 0;
// 0 <= t_min < t_max, and t_max may be infinite.
struct Ray {
  Vec2 origin;
  Vec2 direction;
  double t_min = 0;
  double t_max = HUGE_VAL;
};

// The position and rotation of a moving shape. `position` is where the reference point of the shape
// is; (c, s) are the cosine and sine of the angle, counter-clockwise positive. The rotation is used
// as given, not renormalised; see `IsRotation`.
struct Pose {
  Vec2 position;
  double c = 1;
  double s = 0;
};

// Returns whether (c, s) is accepted as the cosine and sine of an angle: |c^2 + s^2 - 1| <= 1e-6. A
// client that stores angles converts them to (c, s) with `SinCos` of carom/sincos.h.
inline bool IsRotation(double c, double s) { return std::abs(c * c + s * s - 1) <= 1e-6; }

// Returns the position in the world of `p`, a point in the frame of the shape: x' = (c*x - s*y) +
// px, y' = (s*x + c*y) + py, each operation rounded once, where (px, py) is the position of the
// pose. Position and result are read as by `Normalized`. Batches place vertices with this function,
// and verdicts take its result as exact. The result may leave the accepted range: the caller checks
// for that.
inline Vec2 Placed(const Pose& pose, Vec2 p) {
  const Vec2 position = Normalized(pose.position);
  const Vec2 rotated{pose.c * p.x - pose.s * p.y, pose.s * p.x + pose.c * p.y};
  return Normalized({rotated.x + position.x, rotated.y + position.y});
}

// A closed axis-aligned box. A default-constructed box is empty and grows by `Extend`.
struct Box {
  Vec2 min{HUGE_VAL, HUGE_VAL};
  Vec2 max{-HUGE_VAL, -HUGE_VAL};

  constexpr bool empty() const { return !(min.x <= max.x && min.y <= max.y); }

  constexpr void Extend(Vec2 p) {
    min = {p.x < min.x ? p.x : min.x, p.y < min.y ? p.y : min.y};
    max = {p.x > max.x ? p.x : max.x, p.y > max.y ? p.y : max.y};
  }
  constexpr void Extend(const Box& box) {
    if (!box.empty()) {
      Extend(box.min);
      Extend(box.max);
    }
  }

  // Returns whether the boxes share a point. Boxes that only touch intersect. Exact.
  constexpr bool Intersects(const Box& other) const {
    return min.x <= other.max.x && other.min.x <= max.x && min.y <= other.max.y &&
           other.min.y <= max.y;
  }
  constexpr bool Contains(Vec2 p) const {
    return min.x <= p.x && p.x <= max.x && min.y <= p.y && p.y <= max.y;
  }
};

// Returns the smallest box that contains `segment`.
constexpr Box BoundsOf(const Segment& segment) {
  Box box;
  box.Extend(segment.a);
  box.Extend(segment.b);
  return box;
}

}  // namespace carom
