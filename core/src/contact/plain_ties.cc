// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/plain_ties.h"

#include <bit>

#include "contact/separating_axis.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// A strictly convex ring as it is given; what it says of it is counter-clockwise.
struct Outline {
  uint32_t After(uint32_t i) const { return i + 1 == ring.size() ? 0 : i + 1; }
  uint32_t Tail(uint32_t edge) const { return is_clockwise ? After(edge) : edge; }
  Segment Edge(uint32_t edge) const {
    const Vec2 a = ring[edge];
    const Vec2 b = ring[After(edge)];
    return is_clockwise ? Segment{b, a} : Segment{a, b};
  }
  // The vertex farthest to the left of an edge that no edge of the ring is parallel to.
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

bool RunAgainst(const Segment& e, const Segment& f) {
  const RoundedCross cross(e.a, e.b, f.a, f.b);
  if (std::abs(cross.value) > cross.error()) return false;
  return CrossSign(e.a, e.b, f.a, f.b) == 0 && DotSign(e.a, e.b, f.a, f.b) < 0;
}

// The edges of both polygons by their bits.
class Ties {
 public:
  Ties(const Outline& fixed, const Outline& mover) : fixed_(fixed), mover_(mover) {
    supports_.fill(kNone);
  }

  // Leaves out the edges of the mover that run against one of the fixed polygon, which comes first.
  // Two of a ring do not run the same way, so each has one such partner.
  uint32_t WithoutPartners(uint32_t edges) {
    uint32_t rest = edges;
    for (uint32_t of_mover = edges >> 8; of_mover != 0; of_mover &= of_mover - 1) {
      const auto m = static_cast<uint32_t>(std::countr_zero(of_mover));
      for (uint32_t of_fixed = edges & 0xff; of_fixed != 0; of_fixed &= of_fixed - 1) {
        const auto k = static_cast<uint32_t>(std::countr_zero(of_fixed));
        if (!RunAgainst(fixed_.Edge(k), mover_.Edge(m))) continue;
        // Of both ends the first, as `FarthestLeft` has it.
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

  const Outline& fixed_;
  const Outline& mover_;
  std::array<uint8_t, 2 * kMostPlainVertices> supports_;
};

constexpr uint32_t kNoPlace = 16;

// The first edge without depth; sets `is_apart` where one separates.
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

// The least deep edge; of equal ones the first.
uint32_t LeastDeep(uint32_t edges, Ties& ties) {
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

PlainAxis SettleTies(const NearEdges& near, std::span<const Vec2> fixed, bool is_clockwise,
                     const PlainMover& mover) {
  std::array<Vec2, kMostPlainVertices> ring;
  for (size_t i = 0; i < mover.size; ++i) ring[i] = mover.vertex(i);
  const Outline fixed_outline{fixed, is_clockwise};
  const Outline mover_outline{{ring.data(), mover.size}, mover.is_clockwise};
  Ties ties(fixed_outline, mover_outline);
  const uint32_t edges = ties.WithoutPartners(near.edges);
  PlainAxis axis;
  bool is_apart = false;
  const uint32_t place =
      near.may_touch ? FirstTouching(edges, ties, is_apart) : LeastDeep(edges, ties);
  if (is_apart) axis.verdict = AxisVerdict::kApart;
  if (is_apart || place == kNoPlace) return axis;
  axis.verdict = AxisVerdict::kFound;
  axis.fixed_is_reference = place < 8;
  axis.edge = static_cast<uint8_t>(place & 7);
  axis.support = static_cast<uint8_t>(ties.Support(place));
  return axis;
}

}  // namespace carom::internal
