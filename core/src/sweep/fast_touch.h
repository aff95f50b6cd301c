// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a small convex shape on a straight path first touch a small convex polygon, if filters
// in doubles can decide?
//
// All edges of both shapes are processed at once in SIMD lanes, as half-planes that the path enters
// and leaves (Cyrus and Beck, 1978): the edge that the path enters last is touched first. A round
// shape may touch a corner instead. Pairs of shapes that the filters cannot decide, such as ties
// and touches along an edge, fall back to the exact search (sweep_passage.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "contact/fast_mover.h"
#include "edges/indexed_polygon.h"

namespace carom::internal {

// A moving polygon or capsule with its displacement d. For a capsule, `ring` holds the axis: two
// vertices and two edges (forth and back), or one vertex if the axis is a point.
struct SweptMover {
  FastMover ring;
  uint32_t edge_count;  // 0 if the axis is a point
  double radius;
  Vec2 d;
  // For a capsule: the radius times the length of the axis, +inf if the axis is a point. The two
  // edges of the axis are moved outward by the radius, and the fast path multiplies each distance
  // from an edge by the edge's length.
  double axis_reach;

  // Sets `ring`, `edge_count` and `axis_reach` for a capsule with this axis; `radius` must be set
  // before the call.
  void SetAxis(const Segment& axis);
};

// kNone: the shapes do not touch. kTouch: they touch on the path. kOverlap: they overlap at the
// start. kUncertain: the filters cannot decide. `TouchFunctions::find` has the details.
enum class TouchVerdict : uint8_t { kNone, kTouch, kOverlap, kUncertain };

// The two features (edges or vertices) that touch first: kFixedEdge is an edge of the polygon and a
// vertex of the mover (the moving shape), kMovingEdge an edge of the mover and a vertex of the
// polygon, kVertices two vertices.
enum class TouchKind : uint8_t { kFixedEdge, kMovingEdge, kVertices };

// The answer of the fast path for the first touch of one mover (moving shape) and one polygon.
struct FastTouch {
  TouchVerdict verdict = TouchVerdict::kUncertain;
  TouchKind kind = TouchKind::kFixedEdge;
  uint8_t fixed = 0;   // index of the edge or vertex of the polygon
  uint8_t moving = 0;  // index of the edge or vertex of the mover
  // Proven bounds of the fraction of the path at which the shapes first touch. If the verdict is
  // kUncertain, only `low` is proven.
  double low = 0;
  double high = 1;
};

// Proven bounds of the interval of fractions t of the path at which a mover (moving shape) and a
// polygon overlap: at which the displacement t d is on the inner side of all edges of both shapes
// (of their Minkowski difference). The path enters an edge when t d comes to the edge's inner side.
struct PathBounds {
  // bounds of the fraction at which the path enters the edge that it enters last
  double enter_low, enter_high;
  // bounds of the fraction at which the path leaves the edge that it leaves first
  double leave_low, leave_high;
  // for the edges parallel to the path: bounds of the least distance of the path from an edge,
  // counted towards the edge's inner side and multiplied by the edge's length
  double along_low, along_high;
  // The edges that may be the one that the path enters last: bit k for edge k of the polygon, bit 8
  // + k for edge k of the mover.
  uint32_t last;

  // Returns whether the shapes certainly do not touch at fractions of the path up to `limit`.
  bool Misses(double limit) const {
    return along_high < 0 || enter_low > limit || leave_high < enter_low || leave_high < 0;
  }
};

// A polygon and a moving shape, with the bounds of the fractions of the path at which the two
// overlap.
struct FastPair {
  const IndexedPolygon* fixed;
  const SweptMover* mover;
  size_t item;  // index of the moving shape in the caller's batch
  PathBounds bounds;
};

// Returns whether the fast path of sweeps accepts this polygon: solid, strictly convex, and with at
// most `kMostFastVertices` vertices.
inline bool IsFastTarget(const IndexedPolygon& fixed) {
  return (fixed.convexity() == Convexity::kStrict ||
          fixed.convexity() == Convexity::kStrictClockwise) &&
         fixed.polygon().vertex_count() <= kMostFastVertices &&
         fixed.polygon().solidity() == Solidity::kSolid;
}

// The two steps of the search for touches, compiled for this machine's instruction set: `bound`,
// then `find`. `bound` processes all pairs alike, without branches, so that a processor executes
// many pairs at once. Callers that search often store the result of `FindTouch`.
struct TouchFunctions {
  // Sets `bounds` of all pairs.
  void (*bound)(std::span<FastPair> pairs);
  // Returns the first touch, up to the fraction `limit`, of a pair whose `bounds` are set.
  // kOverlap: the shapes share a point at the start. kTouch: they share no point at the start and
  // first touch at a fraction within (0, 1). At that fraction no other edge of the polygon touches,
  // except that a touching vertex belongs to two edges; for a capsule, no other edge touches within
  // 2^-50 after that fraction. Two polygons touch at one vertex of one of them and a point between
  // the ends of an edge of the other.
  FastTouch (*find)(const FastPair& pair, double limit);
};
TouchFunctions FindTouch();

}  // namespace carom::internal
