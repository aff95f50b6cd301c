// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a small convex shape on a straight path first touch a small convex polygon, where
// filters can decide?
//
// All edges of both shapes are bounded at once, in lanes, as half-planes that the path enters and
// leaves (Cyrus and Beck, 1978): the edge that the path enters last is the one that is touched
// first. A round shape may touch a corner instead. Uncertain pairs, such as ties and touches along
// an edge, are undecided and fall back to the exact search (sweep_passage.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "contact/fast_mover.h"
#include "edges/indexed_polygon.h"

namespace carom::internal {

// A moving polygon, or a capsule with its axis as `ring`: two vertices and two edges, or one
// vertex.
struct SweptMover {
  FastMover ring;
  uint32_t edge_count;  // 0 for a disc
  double radius;
  Vec2 d;
  // For a capsule: the radius times the length of the axis, which is the depth of both edges of the
  // axis in the disc about an end, times their length. +inf for a disc.
  double axis_reach;

  // Sets `ring`, `edge_count` and `axis_reach` for a capsule with this axis; `radius` must be set
  // before.
  void SetAxis(const Segment& axis);
};

enum class TouchVerdict : uint8_t { kNone, kTouch, kOverlap, kUncertain };

// The features that touch first: an edge of the polygon and a vertex of the mover, an edge of the
// mover and a vertex of the polygon, or two vertices.
enum class TouchKind : uint8_t { kFixedEdge, kMovingEdge, kVertices };

struct FastTouch {
  TouchVerdict verdict = TouchVerdict::kUncertain;
  TouchKind kind = TouchKind::kFixedEdge;
  uint8_t fixed = 0;   // the edge or vertex of the polygon
  uint8_t moving = 0;  // the edge or vertex of the mover
  // Certain bounds of the fraction of the path at which the shapes touch. Under kUncertain only
  // `low` holds: the shapes do not touch before `low`.
  double low = 0;
  double high = 1;
};

// Certain bounds of the fractions between which the path is on the inner side of all edges.
struct PathBounds {
  double enter_low, enter_high;  // fraction at which the last edge is entered
  double leave_low, leave_high;  // fraction at which the first edge is left
  double along_low, along_high;  // least depth in edges parallel to the path, times length
  // The edges that may be the one entered last: bit k for edge k of the polygon, bit 8 + k for edge
  // k of the mover.
  uint32_t last;

  // Returns whether the shapes certainly do not touch up to `limit`.
  bool Misses(double limit) const {
    return along_high < 0 || enter_low > limit || leave_high < enter_low || leave_high < 0;
  }
};

// A polygon and a mover, with the bounds of the mover's path.
struct FastPair {
  const IndexedPolygon* fixed;
  const SweptMover* mover;
  size_t item;  // index of the item, for the caller
  PathBounds bounds;
};

// Returns whether the fast path of sweeps takes this polygon.
inline bool IsFastTarget(const IndexedPolygon& fixed) {
  return (fixed.convexity() == Convexity::kStrict ||
          fixed.convexity() == Convexity::kStrictClockwise) &&
         fixed.polygon().vertex_count() <= kMostFastVertices &&
         fixed.polygon().solidity() == Solidity::kSolid;
}

// The two steps of the search, compiled for this machine's instruction set. The first step treats
// all pairs alike, without a branch, so that a processor works on many at once. Callers that search
// often keep the result of `FindTouch`.
struct TouchFunctions {
  // Sets the bounds of all pairs.
  void (*bound)(std::span<FastPair> pairs);
  // Returns the first touch, up to `limit`, of a pair with bounds that are set. kOverlap: the
  // shapes share a point at the start. kTouch: they share none at the start and first touch at a
  // fraction within (0, 1), where no other edge of the polygon touches but, at a vertex, the two
  // edges that share the vertex; for a round shape no other edge touches sooner than 2^-50 later. A
  // moving polygon touches within an edge, with one vertex alone.
  FastTouch (*find)(const FastPair& pair, double limit);
};
TouchFunctions FindTouch();

}  // namespace carom::internal
