// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is special about one convex polygon?
//
// `ConvexRing` is a ring that is known to be convex: it locates a point in O(log n) and clips a
// segment to its inside. Many polygons, convex or not, are asked through a scene (carom/cast.h).
//
//   const Vec2 corners[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
//   const ConvexRing ring = ConvexRing::Create(corners).value();
//   const Location at = ring.Locate({1, 4});  // kBoundary
//   const std::optional<Clip> clip = ring.ClipSegment({{-4, 1}, {4, 1}});
//   // clip: entry_fraction 0.5, entry_edge 3, entry_normal (-1, 0), exit_fraction 1
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Normal: the unit normals
// are out of the set. Error: verdicts are exact, fractions correctly rounded, normals within 1 ulp.
// Cost: O(log n) to locate, O(n) to clip, n the vertices of the ring. Thread-safe. Cheaper:
// `ClipSegment` with a box; richer: carom/cast.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/locate.h"

namespace carom {

// The closed half-plane left of the directed line from `a` to `b`.
struct HalfPlane {
  Vec2 a;
  Vec2 b;
};

// +1 strictly inside of the half-plane, 0 on its line, -1 outside. A half-plane whose points
// coincide has every point on its line. Exact.
int Side(const HalfPlane& half_plane, Vec2 p);

// Where a segment a->b is inside of a convex set: t in [entry_fraction, exit_fraction]. A segment
// of length zero has the one parameter 0, and both fractions are 0.
struct Clip {
  double entry_fraction = 0;  // 0 where it starts inside; correctly rounded
  double exit_fraction = 1;   // 1 where it ends inside; correctly rounded
  // Edges met there, by index in the ring as given: as for a cast, the least that is not parallel
  // to the segment, else the least; absent where the segment starts or ends strictly inside.
  std::optional<uint32_t> entry_edge;
  std::optional<uint32_t> exit_edge;
  // Unit, out of the set: entry_normal . (b - a) < 0 and exit_normal . (b - a) > 0; {0, 0} where
  // there is no edge, where the segment runs along it, or starts or ends on it. Within 1 ulp.
  Vec2 entry_normal;
  Vec2 exit_normal;

  friend bool operator==(const Clip&, const Clip&) = default;
};

// The part of `segment` in the closed box, or nothing. Edges are 0 (bottom), 1 (right), 2 (top) and
// 3 (left), chosen as for the ring of the four corners. An empty box holds nothing. Numbers are
// read as by `Normalized`; where one is not accepted, there is no part. Exact, O(1).
std::optional<Clip> ClipSegment(const Segment& segment, const Box& box);

// A convex ring of one vertex or more. Immutable, hence thread-safe.
class ConvexRing {
 public:
  // INVALID_ARGUMENT naming `ring`: no vertex, a coordinate that is not accepted, or not convex
  // (`IsConvex` of carom/ring.h). Reads coordinates as `Normalized` does. O(n).
  static absl::StatusOr<ConvexRing> Create(std::span<const Vec2> ring);

  // As given, but read as by `Normalized`.
  std::span<const Vec2> vertices() const { return vertices_; }

  // OUTSIDE for a point that is not accepted. Exact, O(log n).
  Location Locate(Vec2 p) const;

  // The part of `segment` in the closed ring, or nothing: what a cast answers under REPORT_START
  // (carom/cast.h), bit for bit. Numbers as above. Exact, O(n).
  std::optional<Clip> ClipSegment(const Segment& segment) const;

 private:
  ConvexRing() = default;

  std::vector<Vec2> vertices_;
  // The strict corners, counter-clockwise, from the lexicographically least one; the two ends, or
  // the one point, of a ring without area.
  std::vector<Vec2> corners_;
  size_t lower_count_ = 0;  // corners of the lower chain, both ends included
};

}  // namespace carom
