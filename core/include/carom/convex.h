// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can one convex polygon answer faster than any polygon?
//
// `ConvexRing` is a ring that is known to be convex: it locates a point in O(log n) and clips a
// segment to its inside. To query many polygons, convex or not, put them in a scene (carom/cast.h).
//
//   const Vec2 corners[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
//   const ConvexRing ring = ConvexRing::Create(corners).value();
//   const Location at = ring.Locate({1, 4});  // kBoundary
//   const std::optional<Clip> clip = ring.ClipSegment({{-4, 1}, {4, 1}});
//   // clip: entry_fraction 0.5, entry_edge 3, entry_normal (-1, 0), exit_fraction 1
//
// Lengths are in the unit of the caller's coordinates. Touching counts as inside. Unit normals
// point out of the set. Error: verdicts are exact, fractions correctly rounded, normals within 1
// ulp. Cost: O(log n) to locate a point, O(n) to clip a segment, n the vertices of the ring.
// Thread-safe. Cheaper alternative: `ClipSegment` with a box. More powerful: carom/cast.h.
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

// Returns +1 if `p` is strictly inside the half-plane, 0 if it is on the line, -1 if it is outside.
// If `a` and `b` coincide, every point is on the line. Exact.
int Side(const HalfPlane& half_plane, Vec2 p);

// The part of a segment a->b inside a convex set: t in [entry_fraction, exit_fraction]. A segment
// of length zero has the one parameter 0, and both fractions are 0.
struct Clip {
  double entry_fraction = 0;  // 0 if the segment starts inside; correctly rounded
  double exit_fraction = 1;   // 1 if the segment ends inside; correctly rounded
  // The edges that the segment meets at the entry and at the exit, by index in the ring as given.
  // Of several edges, the least that is not parallel to the segment is taken, else the least, as
  // for a cast. The entry edge is absent if the segment starts strictly inside, the exit edge if it
  // ends strictly inside.
  std::optional<uint32_t> entry_edge;
  std::optional<uint32_t> exit_edge;
  // Unit normals out of the set, within 1 ulp: entry_normal . (b - a) < 0 and exit_normal . (b - a)
  // > 0. A normal is {0, 0} if there is no edge, if the segment runs along the edge, or if the
  // segment starts (for the entry) or ends (for the exit) on the edge.
  Vec2 entry_normal;
  Vec2 exit_normal;

  friend bool operator==(const Clip&, const Clip&) = default;
};

// Returns the part of `segment` in the closed box, or nothing. Edges are 0 (bottom), 1 (right), 2
// (top) and 3 (left), chosen as for the ring of the four corners. An empty box contains no part.
// Numbers are read as by `Normalized`; returns nothing if a number is not accepted. Exact, O(1).
std::optional<Clip> ClipSegment(const Segment& segment, const Box& box);

// A convex ring of at least one vertex. Immutable, hence thread-safe.
class ConvexRing {
 public:
  // Creates a convex ring. Reads coordinates as `Normalized` does. INVALID_ARGUMENT naming `ring`
  // if there is no vertex, if a coordinate is not accepted, or if the ring is not convex
  // (`IsConvex` of carom/ring.h). O(n).
  static absl::StatusOr<ConvexRing> Create(std::span<const Vec2> ring);

  // Returns the vertices as given, but read as by `Normalized`.
  std::span<const Vec2> vertices() const { return vertices_; }

  // Returns where `p` is; OUTSIDE if `p` is not accepted. Exact, O(log n).
  Location Locate(Vec2 p) const;

  // Returns the part of `segment` in the closed ring, or nothing: bit for bit what a cast answers
  // under REPORT_START (carom/cast.h). Numbers are read as by `Normalized`; returns nothing if a
  // number is not accepted. Exact, O(n).
  std::optional<Clip> ClipSegment(const Segment& segment) const;

 private:
  ConvexRing() = default;

  std::vector<Vec2> vertices_;
  // The strict corners, counter-clockwise from the lexicographically least corner; for a ring
  // without area, its two ends or its one point.
  std::vector<Vec2> corners_;
  size_t lower_count_ = 0;  // corners of the lower chain, including both ends
};

}  // namespace carom
