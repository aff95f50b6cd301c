// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Finds the passage of a line in a strictly convex ring where floating-point filters cannot decide:
// where the line meets vertices, runs along an edge or ends on the ring, as is frequent on tile
// maps.
//
// Theorem. A strictly convex ring has at most two vertices on a line. The intersection of the ring
// with the line's unbounded extension is an interval. Each end of the interval is a vertex on the
// line, or a crossing of an edge that has its ends on different sides. If two neighbouring vertices
// are on the line, the edge between them is the interval. If only one vertex is on the line, with
// all others on one side, the vertex is both ends.
//
// So the exact sides of all vertices determine the passage and the edges to report. The result
// equals that of `FindByTouches`.

#include <bit>

#include "cast/passages.h"

namespace carom::internal {
namespace {

// An end of the interval in which the unbounded extension of a line is inside a convex ring.
// `met.range` is -1, 0 or 1 if the line's parameter t at this end is before, in or after the line's
// range [t_min, t_max]; `met.at` is t, valid only if it is in the range.
struct RingEnd {
  Meeting met;
  uint32_t edges[2];  // the two edges that meet at a vertex; at a crossing, the crossed edge twice
};

// Replaces `best` by an edge of `end.edges` if that edge is preferred for the report
// (`IsPreferredEdge`). Skips the edge `along`, which is parallel to the line.
void Prefer(const RingEnd& end, uint32_t along, PassageEdge& best) {
  for (const uint32_t edge : end.edges) {
    if (edge == along) continue;
    if (IsPreferredEdge(edge, false, best.index, best.parallel)) best = {edge, false, end.met.at};
  }
}

// Returns the passage of the line: the part within [t_min, t_max] of the interval from `first` to
// `last`, in which the line's unbounded extension is inside the ring. If the passage is a single
// point, since the interval is one point, or the line starts at `last` or ends at `first`, the
// edges at that point count at both ends of the passage. `along` is the edge on the line, or
// kNoEdge.
Passage PassageBetween(const Line& line, const RingEnd& first, const RingEnd& last,
                       uint32_t along) {
  const bool begins = first.met.range == 0;
  const bool ends = last.met.range == 0;
  Passage passage{begins ? first.met.at : Fraction::Start(line),
                  ends ? last.met.at : Fraction::End(line),
                  {},
                  {}};
  const bool is_point = first.edges[0] == last.edges[0] && first.edges[1] == last.edges[1];
  if (along != kNoEdge) {
    passage.entry = {along, true, passage.begin};
    passage.exit = {along, true, passage.end};
  }
  if (begins) Prefer(first, along, passage.entry);
  if (ends && (is_point || last.met.at.is_start())) Prefer(last, along, passage.entry);
  if (ends) Prefer(last, along, passage.exit);
  if (begins && (is_point || first.met.at.is_end())) Prefer(first, along, passage.exit);
  return passage;
}

}  // namespace

bool PassageFinder::FindConvex(const IndexedPolygon& polygon, WorkMeter& meter) {
  const Convexity convexity = polygon.convexity();
  const auto ring = polygon.polygon().vertices();
  const size_t n = ring.size();
  if (convexity != Convexity::kStrict && convexity != Convexity::kStrictClockwise) return false;
  if (n > kMaxFastEdges || line_.is_point() || !meter.Spend(n)) return false;
  CertainSides sides;
  for (size_t i = 0; i < n; ++i) {
    const int side = line_.Side(ring[i]);
    sides.left |= uint64_t{side > 0} << i;
    sides.right |= uint64_t{side < 0} << i;
  }
  passages_.clear();
  AddConvexPassage(ring, sides);
  return true;
}

// Adds the passage of the line (its interval inside a strictly convex ring), if any, given the
// exact sides of all vertices relative to the line.
void PassageFinder::AddConvexPassage(std::span<const Vec2> ring, const CertainSides& sides) {
  const auto last = static_cast<uint32_t>(ring.size() - 1);
  const auto after = [last](uint32_t i) { return i == last ? 0 : i + 1; };
  const auto before = [last](uint32_t i) { return i == 0 ? last : i - 1; };
  const auto rotated = [last](uint64_t bits) { return bits >> 1 | (bits & 1) << last; };
  const uint64_t all = (uint64_t{2} << last) - 1;
  const uint64_t on = all & ~(sides.left | sides.right);
  const uint64_t crossing =
      (sides.left & rotated(sides.right)) | (sides.right & rotated(sides.left));
  RingEnd ends[2];
  size_t count = 0;
  for (uint64_t bits = on; bits != 0 && count < 2; bits &= bits - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(bits));
    ends[count++] = {Fraction::OfVertex(line_, axis_, ring[i]), {before(i), i}};
  }
  for (uint64_t bits = crossing; bits != 0 && count < 2; bits &= bits - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(bits));
    ends[count++] = {Fraction::OfCrossing(line_, {ring[i], ring[after(i)]}), {i, i}};
  }
  if (count == 0) return;
  const uint64_t both = on & rotated(on);
  const uint32_t along = both == 0 ? kNoEdge : static_cast<uint32_t>(std::countr_zero(both));
  if (count == 1) ends[1] = ends[0];
  const bool is_in_order =
      ends[0].met.range != ends[1].met.range
          ? ends[0].met.range < ends[1].met.range
          : ends[0].met.range != 0 || Compare(ends[0].met.at, ends[1].met.at) <= 0;
  const RingEnd& first = ends[is_in_order ? 0 : 1];
  const RingEnd& second = ends[is_in_order ? 1 : 0];
  if (first.met.range > 0 || second.met.range < 0) return;
  passages_.push_back(PassageBetween(line_, first, second, along));
}

}  // namespace carom::internal
