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

#include "carom/geometry.h"
#include "contact/plain_mover.h"
#include "index/indexed_polygon.h"

namespace carom::internal {

// A polygon, or a capsule as the ring of its axis: of two vertices and edges, or of one vertex.
struct SweptMover {
  PlainMover ring;
  uint32_t edge_count;  // 0 for a disc
  double radius;
  Vec2 d;

  // Takes the place of `ring` by that of a capsule.
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

// Whether `TouchOf` takes the polygon.
inline bool IsPlainTarget(const IndexedPolygon& fixed) {
  return (fixed.convexity() == Convexity::kStrict ||
          fixed.convexity() == Convexity::kStrictClockwise) &&
         fixed.polygon().vertex_count() <= kMostPlainVertices &&
         fixed.polygon().solidity() == Solidity::kSolid;
}

// The first touch that is not after `limit`. kOverlap: they share a point at the start. kTouch:
// they do not, and touch first at a fraction within (0, 1), where no other edge of the polygon does
// but, at a vertex of it, the two that share it; of a round shape none that touches sooner than
// 2^-50 later. A touch of a polygon is within the edge, and with no other vertex.
using TouchFunction = PlainTouch (*)(const IndexedPolygon& fixed, const SweptMover& mover,
                                     double limit);

// The one for this machine, to be kept by whoever asks often.
TouchFunction FindTouch();

}  // namespace carom::internal
