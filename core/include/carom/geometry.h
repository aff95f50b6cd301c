// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a point, a segment, a pose, and which numbers are accepted?
//
// The plain values that every other header speaks of. Start with `Vec2`; read `IsAccepted` and
// `Normalized` to know what happens to a number on its way in. The rules are those of
// docs/conventions.md, sections "Space" and "Numbers". Polygons are in carom/polygon.h.
// Everything here is a value or a pure function.
//
//   const Pose pose{{2, 3}, 0, 1};              // a quarter turn counter-clockwise, then to (2, 3)
//   const Vec2 p = Placed(pose, {1, 0});        // (2, 4)
//   const Box box = BoundsOf({{0, 0}, p});      // from (0, 0) to (2, 4)
//   const bool contains = box.Contains({2, 1});  // true: its edges belong to it
//   const bool accepted = IsAccepted(0x1p54);   // false: above 2^53
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: comparisons are
// exact, placing rounds each operation once. Cost: O(1). Thread-safe; nothing allocates. Cheaper:
// none; richer: carom/predicates.h.
#pragma once

#include <cmath>
#include <cstdint>

namespace carom {

// The largest accepted magnitude of a coordinate, radius or displacement: 2^53.
inline constexpr double kMaxCoordinate = 9007199254740992.0;

// A magnitude in (0, kSmallestMagnitude) is read as 0: 2^-140. Every product of up to five
// accepted coordinates is then exact in expansions of doubles (no underflow below 2^-1074).
inline constexpr double kSmallestMagnitude = 0x1p-140;

// Whether `value` is a coordinate, radius or displacement that the library accepts: finite and
// at most 2^53 in magnitude. NaN is not.
constexpr bool IsAccepted(double value) {
  return value >= -kMaxCoordinate && value <= kMaxCoordinate;
}

// `value` as the library reads it: magnitudes below 2^-140 become 0, and -0 becomes 0.
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

// The closed segment from `a` to `b`. `a == b` is legal: it is a point.
struct Segment {
  Vec2 a;
  Vec2 b;
};

// The closed disc about `center`; `radius` is in [0, 2^53].
struct Circle {
  Vec2 center;
  double radius = 0;
};

// The closed set of points within `radius`, in [0, 2^53], of the segment `axis`. Equal ends make a
// circle; a radius of 0 makes a segment, or a point.
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

// Where a moving shape stands: its reference point and its rotation, counter-clockwise positive,
// as cosine and sine. The rotation is used as given, not renormalised; see `IsRotation`.
struct Pose {
  Vec2 position;
  double c = 1;
  double s = 0;
};

// Whether (c, s) is accepted as cosine and sine of an angle: |c^2 + s^2 - 1| <= 1e-6.
// A client that keeps angles turns them into (c, s) with `SinCos` of carom/sincos.h.
inline bool IsRotation(double c, double s) { return std::abs(c * c + s * s - 1) <= 1e-6; }

// `p`, given in the shape's own frame, in the world: x' = (c*x - s*y) + px, y' = (s*x + c*y) + py,
// each operation rounded once, where px and py are read as by `Normalized`, and so is the result.
// That is what batches place, and what verdicts take as exact. It may leave the accepted range: the
// caller checks.
inline Vec2 Placed(const Pose& pose, Vec2 p) {
  const Vec2 position = Normalized(pose.position);
  const Vec2 rotated{pose.c * p.x - pose.s * p.y, pose.s * p.x + pose.c * p.y};
  return Normalized({rotated.x + position.x, rotated.y + position.y});
}

// A closed axis-aligned box. The default one is empty and grows by `Extend`.
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

  // Touching counts. Comparisons only: exact.
  constexpr bool Intersects(const Box& other) const {
    return min.x <= other.max.x && other.min.x <= max.x && min.y <= other.max.y &&
           other.min.y <= max.y;
  }
  constexpr bool Contains(Vec2 p) const {
    return min.x <= p.x && p.x <= max.x && min.y <= p.y && p.y <= max.y;
  }
};

// The smallest box that holds `segment`.
constexpr Box BoundsOf(const Segment& segment) {
  Box box;
  box.Extend(segment.a);
  box.Extend(segment.b);
  return box;
}

}  // namespace carom
