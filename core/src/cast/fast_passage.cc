// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/fast_passage.h"

#include <algorithm>
#include <bit>

#include "cast/fast_crossing.h"
#include "cast/reported_edge.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// Returns the sides of all vertices of a ring relative to the line, computed eight vertices at a
// time, which is the most that `SidesOf` takes.
CertainSides SidesOfRing(const Line& line, std::span<const Vec2> ring) {
  CertainSides sides;
  for (size_t i = 0; i < ring.size(); i += 8) {
    const CertainSides more = SidesOf(line, ring.data() + i, std::min<size_t>(ring.size() - i, 8));
    sides.left |= more.left << i;
    sides.right |= more.right << i;
  }
  return sides;
}

}  // namespace

// Applies the floating-point filter of `Line::Side`, but leaves a cross product that equals its
// error bound undecided, which only matters for points on the line. Takes two points at a time,
// from the last to the first.
CertainSides SidesOf(const Line& line, const Vec2* points, size_t count) {
  const Lanes origin = ToLanes(line.origin);
  const Lanes across{line.dy.high, line.dx.high};
  uint32_t certain = 0;
  uint32_t negative = 0;
  const auto add = [&](const Vec2& p, const Vec2& q) {
    const Lanes a = (ToLanes(p) - origin) * across;
    const Lanes b = (ToLanes(q) - origin) * across;
    const RoundedCrossLanes cross(Highs(a, b), Lows(a, b));
    certain = certain << 2 | SignBits(cross.is_certain());
    negative = negative << 2 | SignBits(cross.value);
  };
  size_t i = count & ~size_t{1};
  if (i < count) {
    add(points[i], points[i]);
    certain &= 1;
  }
  while (i > 0) {
    i -= 2;
    add(points[i], points[i + 1]);
  }
  return {certain & ~negative, certain & negative};
}

FastVerdict FindFast(const Line& line, std::span<const Vec2> ring, FastPassage& passage) {
  const size_t n = ring.size();
  if (n == 0 || n > kMaxFastEdges) return FastVerdict::kUncertain;
  const CertainSides sides = SidesOfRing(line, ring);
  if (!sides.AreCertain(n)) return FastVerdict::kUncertain;
  const uint64_t crossing = sides.Crossings(n);
  if (crossing == 0) return FastVerdict::kNoPassage;
  const uint64_t rest = crossing & (crossing - 1);
  if ((rest & (rest - 1)) != 0) return FastVerdict::kUncertain;
  return FindTwoCrossings(line, ring, crossing, passage);
}

bool FindFastCrossings(const Line& line, std::span<const Vec2> ring, FastCrossings& found) {
  const size_t n = ring.size();
  if (n < 2 || n > FastCrossings::kMaxEdges) return false;
  const CertainSides sides = SidesOfRing(line, ring);
  return sides.AreCertain(n) && FindFastCrossings(line, ring, sides, found);
}

// Inserts each crossing of the line and an edge of the ring into the crossings sorted along the
// line, by strict comparisons of the intervals that contain the parameters t. Returns false if the
// intervals of two crossings overlap, or if an interval contains t_min or t_max of the line.
bool FindFastCrossings(const Line& line, std::span<const Vec2> ring, const CertainSides& sides,
                       FastCrossings& found) {
  const size_t last = ring.size() - 1;
  uint64_t crossing = sides.Crossings(ring.size());
  found.count = 0;
  found.winding_at_start = 0;
  // An even number of edges crosses the line, so the loop takes two edges at a time.
  const auto next = [&] {
    const auto edge = static_cast<size_t>(std::countr_zero(crossing));
    crossing &= crossing - 1;
    return edge;
  };
  while (crossing != 0) {
    const size_t edges[2] = {next(), next()};
    const LaneIntervals at =
        CrossingsOf(line, ring[edges[0]], ring[edges[0] == last ? 0 : edges[0] + 1], ring[edges[1]],
                    ring[edges[1] == last ? 0 : edges[1] + 1]);
    if (!at.are_certain) return false;
    for (size_t k = 0; k < 2; ++k) {
      const Interval t{at.low[k], at.high[k]};
      const auto change = static_cast<int8_t>((sides.left >> edges[k] & 1) != 0 ? 1 : -1);
      if (t.low > line.t_max) continue;
      if (t.high < line.t_min) {
        found.winding_at_start += change;
        continue;
      }
      if (!(t.low > line.t_min && t.high < line.t_max)) return false;
      if (found.count == FastCrossings::kMaxCount) return false;
      size_t place = found.count++;
      for (; place > 0 && !(found.crossings[place - 1].at.high < t.low); --place) {
        if (!(t.high < found.crossings[place - 1].at.low)) return false;
        found.crossings[place] = found.crossings[place - 1];
      }
      found.crossings[place] = {t, static_cast<uint32_t>(edges[k]), change};
    }
  }
  return true;
}

FastVerdict FirstPassage(const FastCrossings& found, FillRule rule, FastPassage& passage) {
  const auto is_filled = [rule](int winding) {
    return rule == FillRule::kEvenOdd ? winding % 2 != 0 : winding != 0;
  };
  int winding = found.winding_at_start;
  bool is_inside = is_filled(winding);
  bool is_found = is_inside;
  passage = {};
  passage.entry = passage.exit = kNoEdge;
  for (size_t i = 0; i < found.count; ++i) {
    const FastCrossing& crossing = found.crossings[i];
    winding += crossing.winding_change;
    if (is_filled(winding) == is_inside) continue;
    if (is_inside) {
      passage.exit = crossing.edge;
      passage.end = crossing.at;
      return FastVerdict::kPassage;
    }
    is_inside = is_found = true;
    passage.entry = crossing.edge;
    passage.begin = crossing.at;
  }
  return is_found ? FastVerdict::kPassage : FastVerdict::kNoPassage;
}

}  // namespace carom::internal
