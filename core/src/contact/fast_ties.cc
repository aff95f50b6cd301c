// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/fast_ties.h"

#include <bit>

#include "contact/separating_axis.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// A strictly convex polygon with its vertices in the given order, which may be clockwise. `Tail`
// and `Edge` direct its edges counter-clockwise.
struct EdgeOutline {
  uint32_t After(uint32_t i) const { return i + 1 == ring.size() ? 0 : i + 1; }
  uint32_t Tail(uint32_t edge) const { return is_clockwise ? After(edge) : edge; }
  Segment Edge(uint32_t edge) const {
    const Vec2 a = ring[edge];
    const Vec2 b = ring[After(edge)];
    return is_clockwise ? Segment{b, a} : Segment{a, b};
  }
  // Returns the vertex of the ring that is farthest to the left of `e`. No edge of the ring may be
  // antiparallel to `e`, so the vertex is unique.
  uint32_t FarthestLeft(const Segment& e) const {
    uint32_t best = 0;
    for (uint32_t i = 1; i < ring.size(); ++i) {
      if (CrossSign(e.a, e.b, ring[best], ring[i]) > 0) best = i;
    }
    return best;
  }

  std::span<const Vec2> ring;
  bool is_clockwise;
};

bool AreAntiparallel(const Segment& e, const Segment& f) {
  const RoundedCross cross(e.a, e.b, f.a, f.b);
  if (std::abs(cross.value) > cross.error()) return false;
  return CrossSign(e.a, e.b, f.a, f.b) == 0 && DotSign(e.a, e.b, f.a, f.b) < 0;
}

// The edges of two polygons, and for each edge its support vertex: the vertex of the other polygon
// that is farthest to the left of the edge. An edge is numbered by its bit in `CandidateEdges`: k
// for edge k of the fixed polygon, 8 + k for edge k of the mover.
class Ties {
 public:
  Ties(const EdgeOutline& fixed, const EdgeOutline& mover) : fixed_(fixed), mover_(mover) {
    supports_.fill(kNone);
  }

  // Returns the set `edges` without the mover's edges that are antiparallel to an edge of the fixed
  // polygon in `edges`: two antiparallel edges are equally deep, and the edge of the fixed polygon
  // wins ties. No two edges of a ring have the same direction, so an edge is antiparallel to at
  // most one edge of the other ring.
  uint32_t WithoutAntiparallel(uint32_t edges) {
    uint32_t rest = edges;
    for (uint32_t of_mover = edges >> 8; of_mover != 0; of_mover &= of_mover - 1) {
      const auto m = static_cast<uint32_t>(std::countr_zero(of_mover));
      for (uint32_t of_fixed = edges & 0xff; of_fixed != 0; of_fixed &= of_fixed - 1) {
        const auto k = static_cast<uint32_t>(std::countr_zero(of_fixed));
        if (!AreAntiparallel(fixed_.Edge(k), mover_.Edge(m))) continue;
        // If the edges are antiparallel, both ends of the mover's edge are farthest to the left of
        // the fixed edge. The tail becomes the support vertex, as `FarthestLeft` in
        // separating_axis.cc chooses.
        supports_[k] = static_cast<uint8_t>(mover_.Tail(m));
        rest &= ~(uint32_t{0x100} << m);
        break;
      }
    }
    return rest;
  }

  Segment Edge(uint32_t place) const {
    return place < 8 ? fixed_.Edge(place) : mover_.Edge(place - 8);
  }
  uint32_t Support(uint32_t place) {
    uint8_t& known = supports_[place];
    if (known == kNone) {
      known = static_cast<uint8_t>((place < 8 ? mover_ : fixed_).FarthestLeft(Edge(place)));
    }
    return known;
  }
  Vec2 SupportVertex(uint32_t place) { return (place < 8 ? mover_ : fixed_).ring[Support(place)]; }

 private:
  static constexpr uint8_t kNone = 0xff;

  const EdgeOutline& fixed_;
  const EdgeOutline& mover_;
  std::array<uint8_t, 2 * kMostFastVertices> supports_;
};

constexpr uint32_t kNoPlace = 16;

// Returns the first edge of the set `edges` that touches the other polygon, or kNoPlace. An edge
// touches if its support vertex (the other polygon's vertex farthest to its left) is on the line of
// the edge. Sets `is_apart` if an edge of the set separates the polygons (the support vertex is to
// the right of the edge).
uint32_t FirstTouching(uint32_t edges, Ties& ties, bool& is_apart) {
  uint32_t first = kNoPlace;
  for (; edges != 0; edges &= edges - 1) {
    const auto place = static_cast<uint32_t>(std::countr_zero(edges));
    const Segment e = ties.Edge(place);
    const int side = CrossSign(e.a, e.b, e.a, ties.SupportVertex(place));
    if (side == 0 && first == kNoPlace) first = place;
    is_apart |= side < 0;
  }
  return first;
}

// Returns the least deep edge of the set `edges`, the first one among equally deep edges. The depth
// of an edge is the distance between its line and its support vertex (the other polygon's vertex
// farthest to its left).
uint32_t Shallowest(uint32_t edges, Ties& ties) {
  auto least = static_cast<uint32_t>(std::countr_zero(edges));
  for (edges &= edges - 1; edges != 0; edges &= edges - 1) {
    const auto place = static_cast<uint32_t>(std::countr_zero(edges));
    const int order = CompareDepths(ties.Edge(place), ties.SupportVertex(place), ties.Edge(least),
                                    ties.SupportVertex(least));
    if (order < 0) least = place;
  }
  return least;
}

}  // namespace

FastAxis ResolveTies(const CandidateEdges& near, std::span<const Vec2> fixed, bool is_clockwise,
                     const FastMover& mover) {
  std::array<Vec2, kMostFastVertices> ring;
  for (size_t i = 0; i < mover.size; ++i) ring[i] = mover.vertex(i);
  const EdgeOutline fixed_outline{fixed, is_clockwise};
  const EdgeOutline mover_outline{{ring.data(), mover.size}, mover.is_clockwise};
  Ties ties(fixed_outline, mover_outline);
  const uint32_t edges = ties.WithoutAntiparallel(near.edges);
  FastAxis axis;
  bool is_apart = false;
  const uint32_t place =
      near.may_touch ? FirstTouching(edges, ties, is_apart) : Shallowest(edges, ties);
  if (is_apart) axis.verdict = AxisVerdict::kApart;
  if (is_apart || place == kNoPlace) return axis;
  axis.verdict = AxisVerdict::kFound;
  axis.fixed_is_reference = place < 8;
  axis.edge = static_cast<uint8_t>(place & 7);
  axis.support = static_cast<uint8_t>(ties.Support(place));
  return axis;
}

}  // namespace carom::internal
