// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Directions from an eye, in exact angular order.
//
// What is visible from an eye changes only in a finite number of directions: those of vertices, of
// points in which two edges cross, of points in which an edge crosses the circle of the range, and
// of the sides of a sector. Each of these is known exactly, as a vector with components a + b
// sqrt(d) in dyadic numbers. Angles are in (-pi, pi], so the circle of directions is cut at the
// direction (-1, 0), which is `kCut` as the begin of the circle, at -pi, and as its end, at pi.
//
// The *key* of a direction is a double that grows with the angle, the diamond angle: with q = y /
// (|x| + |y|), the key of (x, y) is q where x >= 0, and elsewhere 2 - q where y >= 0 and -2 - q
// where y < 0. Opposite directions have keys that differ by exactly 2. Keys differ from exact
// diamond angles by at most `kKeyError`, so keys that differ by more than `kKeyGap` decide the
// order; otherwise exact arithmetic decides.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "numeric/dyadic_vec2.h"
#include "numeric/exact.h"

namespace carom::internal {

// A bound of the error of a key. The components of a vector have relative errors of at most u =
// 2^-53 each, so the quotient q errs by less than 5u, and its difference to 2 by u more.
inline constexpr double kKeyError = 8 * kUnit;
// In a library without filters, keys decide nothing but which half of the circle is meant.
inline constexpr double kKeyGap = kHasFilters ? 4 * kKeyError : 0.5;

inline double KeyOf(double x, double y) {
  const double q = y / (std::abs(x) + std::abs(y));
  return x >= 0 ? q : (y >= 0 ? 2 - q : -2 - q);
}

// How a direction is known. kCut: the direction (-1, 0). kSide: a side of the sector. kVertex: to
// an end of an edge. kCircle: to the point where an edge crosses the circle of the range.
// kCrossing: to the point where two edges cross.
enum class DirectionKind : uint8_t { kCut, kSide, kVertex, kCircle, kCrossing };

struct EyeDirection {
  double key = 0;
  uint32_t edge = 0;   // kVertex, kCircle, kCrossing: the number of an edge (`EyeEdge`); kSide: of
                       // the side
  uint32_t other = 0;  // kCrossing: the number of the other edge
  DirectionKind kind = DirectionKind::kCut;
  uint8_t end = 0;  // kVertex, kCircle: which end of the edge
};

inline constexpr EyeDirection kCutBegin{-2, 0, 0, DirectionKind::kCut, 0};
inline constexpr EyeDirection kCutEnd{2, 0, 0, DirectionKind::kCut, 1};

// A direction exactly, up to a positive factor: base + root * sqrt(radicand).
struct ExactDirection {
  DyadicVec2 base;
  DyadicVec2 root;
  Dyadic radicand;

  bool is_rational() const { return radicand.sign() == 0; }
};

// A polygon or a body with edges near an eye.
struct EyeSource {
  const Polygon* polygon;
  uint64_t id;  // of the polygon; of a body, its index
  bool is_body;
};

// An edge near an eye, not on a line with it, from `a` counter-clockwise to `b`; the part of the
// edge in the disc of the range spans the directions from `begin` to `end`.
struct EyeEdge {
  Vec2 a, b;
  EyeDirection begin, end;
  double distance2;  // about the square of the distance from the eye
  double farthest2;  // that of the end that is farther
  uint32_t source;   // the index of its `EyeSource`
  uint32_t index;    // the index of the edge in its polygon
  bool is_reversed;  // the polygon's edge runs from `b` to `a`
};

// What is nearest to the eye in a direction (an owner) is the number of an edge, or one of these.
inline constexpr uint32_t kOpen = UINT32_MAX;        // no edge within the range
inline constexpr uint32_t kClosed = UINT32_MAX - 1;  // outside of the sector

// Which of two edges is nearer to the eye, in the directions in which both have points.
// kFirstThenSecond: the edges cross, and the first one is nearer in the directions before the one
// of the crossing. Where edges coincide, the lesser one in the order (scene before bodies, polygon
// id, ring, edge) counts as nearer.
enum class Nearer : uint8_t { kFirst, kSecond, kFirstThenSecond, kSecondThenFirst };

// Where a direction lies in an open interval of directions.
enum class Position : uint8_t { kBefore, kInside, kAfter };

// An eye with the edges near it, and the predicates on directions from it. Not thread-safe.
class Eye {
 public:
  // Starts anew, without edges, at the position of `disc`, with its radius as the range.
  void Start(const Circle& disc);
  Vec2 position() const { return disc_.center; }
  const Circle& disc() const { return disc_; }
  double range() const { return disc_.radius; }
  // Returns a box around the disc, rounded outward.
  Box bounds() const;

  // Adds a polygon or body whose edges `AddEdge` adds, and returns its index.
  uint32_t AddSource(const EyeSource& source);
  // Adds an edge of the last source. Returns false, and adds nothing, if the edge is on a line with
  // the eye, has no point in the open disc of the range, or turns by the sign `back` about the eye.
  bool AddEdge(const Segment& edge, size_t index, int back = 0);
  // Adds an edge that is on a line with the eye, for the sake of the directions of its ends.
  uint32_t AddLine(const Segment& edge);
  const std::vector<EyeEdge>& edges() const { return edges_; }
  size_t source_count() const { return sources_.size(); }
  // Removes the sources and the edges added since there were so many.
  void RemoveFrom(size_t sources, size_t edges) {
    sources_.resize(sources);
    edges_.resize(edges);
  }
  // Returns the number of entries for which there is memory.
  size_t capacity() const { return sources_.capacity() + edges_.capacity(); }
  const EyeSource& SourceOf(const EyeEdge& edge) const { return sources_[edge.source]; }
  const EyeSource& source(size_t index) const { return sources_[index]; }
  // Adds a side of a sector. `end` is 0 for the first side, 1 for the second one: a first side at
  // the cut has a key of -2, not 2.
  EyeDirection AddSide(uint8_t end, Vec2 direction);
  Vec2 side(size_t index) const { return sides_[index]; }

  // Returns the point that a direction of kind kVertex leads to.
  Vec2 VertexOf(const EyeDirection& direction) const {
    const EyeEdge& edge = edges_[direction.edge];
    return direction.end == 0 ? edge.a : edge.b;
  }
  // Compares angles in [-pi, pi]: returns the sign of the angle of `a` minus that of `b`. Exact.
  int Compare(const EyeDirection& a, const EyeDirection& b) const {
    const double difference = a.key - b.key;
    if (std::abs(difference) > kKeyGap) return difference > 0 ? 1 : -1;
    return CompareClose(a, b);
  }
  ExactDirection ExactOf(const EyeDirection& direction) const;

  // Returns whether edge `e` comes before edge `f` in the order (scene before bodies, polygon id,
  // ring, edge).
  bool IsLess(uint32_t e, uint32_t f) const;
  // Returns which of two different edges is nearer.
  Nearer NearerOf(uint32_t e, uint32_t f) const;
  // Returns whether two edges are on one line.
  bool AreOnOneLine(uint32_t e, uint32_t f) const;
  // Returns the direction of the point where the edges cross, for edges of which `NearerOf` returns
  // that they cross. The result does not depend on the order of the arguments.
  EyeDirection Crossing(uint32_t e, uint32_t f) const;
  // Returns where the crossing of two edges lies in an interval of directions in which both edges
  // have points.
  Position PositionOf(const EyeDirection& crossing, const EyeDirection& begin,
                      const EyeDirection& end) const;

 private:
  int CompareClose(const EyeDirection& a, const EyeDirection& b) const;
  EyeDirection ToVertex(Vec2 vertex, uint32_t edge, uint8_t end) const;
  EyeDirection ToCircle(uint32_t edge, uint8_t end) const;
  double KeyNearCut(const EyeDirection& direction, double key, double at_cut) const;

  Circle disc_;
  std::vector<Vec2> sides_;
  std::vector<EyeSource> sources_;
  std::vector<EyeEdge> edges_;
};

// A vector from the eye in pairs of doubles; `error` bounds the error of each component.
struct PairVector {
  TwoDoubles x, y;
  double error;
};

// Returns the vectors from the eye to the point where edges e and f cross, and to the point where
// edge e enters (`end` 0) or leaves (1) the disc counter-clockwise.
PairVector VectorToCrossing(const Eye& eye, const EyeEdge& e, const EyeEdge& f);
PairVector VectorToCircle(const Eye& eye, const EyeEdge& e, uint8_t end);

}  // namespace carom::internal
