// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does a small convex shape on a straight path first touch a small convex polygon, where
// filters can decide?
//
// All edges of both are bounded at once, in lanes, as half-planes that the path enters and leaves
// (Cyrus and Beck, 1978): what is touched first is the edge that is entered last. A round shape may
// meet a corner instead. What is uncertain, as ties and touches along an edge are, is left to the
// exact search (sweep_passage.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "carom/geometry.h"
#include "contact/plain_mover.h"
#include "edges/indexed_polygon.h"

namespace carom::internal {

// A polygon, or a capsule as the ring of its axis: of two vertices and edges, or of one vertex.
struct SweptMover {
  PlainMover ring;
  uint32_t edge_count;  // 0 for a disc
  double radius;
  Vec2 d;
  // Of a capsule, how deep both edges of the axis are in the disc about an end, times its length;
  // +inf for a disc.
  double axis_reach;

  // Takes the place of `ring` by that of a capsule of a radius that is set.
  void SetAxis(const Segment& axis);
};

enum class TouchVerdict : uint8_t { kNone, kTouch, kOverlap, kUncertain };

// What touches first: two of an edge and a vertex, or two vertices.
enum class TouchKind : uint8_t { kFixedEdge, kMovingEdge, kVertices };

struct PlainTouch {
  TouchVerdict verdict = TouchVerdict::kUncertain;
  TouchKind kind = TouchKind::kFixedEdge;
  uint8_t fixed = 0;   // the edge or vertex of the polygon
  uint8_t moving = 0;  // that of the shape
  // The fraction of the path at which they touch, for certain; of what is uncertain, nothing is
  // touched before `low`.
  double low = 0;
  double high = 1;
};

// Between which fractions the path is on the inner side of all edges, as far as that is certain.
struct PathBounds {
  double enter_low, enter_high;  // of the last edge that is entered
  double leave_low, leave_high;  // of the first that is left
  double along_low, along_high;  // how deep it is along those that it runs along, times lengths
  // The edges that are entered last, perhaps: bit k for edge k of the polygon, bit 8 + k for that
  // of the shape.
  uint32_t last;

  // Whether they certainly do not touch until `limit`.
  bool Misses(double limit) const {
    return along_high < 0 || enter_low > limit || leave_high < enter_low || leave_high < 0;
  }
};

// A polygon and a shape, and what is known of its path.
struct PlainPair {
  const IndexedPolygon* fixed;
  const SweptMover* mover;
  size_t item;  // of whoever asks
  PathBounds bounds;
};

// Whether pairs may be of this polygon.
inline bool IsPlainTarget(const IndexedPolygon& fixed) {
  return (fixed.convexity() == Convexity::kStrict ||
          fixed.convexity() == Convexity::kStrictClockwise) &&
         fixed.polygon().vertex_count() <= kMostPlainVertices &&
         fixed.polygon().solidity() == Solidity::kSolid;
}

// Two steps, the first of which does the same for all pairs without a branch, so that a processor
// works on many at once. For this machine, to be kept by whoever asks often.
struct TouchFunctions {
  // Sets the bounds of pairs.
  void (*bound)(std::span<PlainPair> pairs);
  // The first touch of a pair of which the bounds are set, that is not after `limit`. kOverlap:
  // they share a point at the start. kTouch: they do not, and touch first at a fraction within (0,
  // 1), where no other edge of the polygon does but, at a vertex of it, the two that share it; of a
  // round shape none that touches sooner than 2^-50 later. A touch of a polygon is within the edge,
  // and with no other vertex.
  PlainTouch (*find)(const PlainPair& pair, double limit);
};
TouchFunctions FindTouch();

}  // namespace carom::internal
