// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/plain_passage.h"

#include <algorithm>
#include <bit>

#include "cast/plain_crossing.h"
#include "cast/reported_edge.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// The sides of a whole ring: eight points at a time, the most that `SidesOf` takes.
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

// The filter of `Line::Side`, without the case of equality, which is that of points on the line.
// Two points at a time, from the last to the first.
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

PlainVerdict FindPlain(const Line& line, std::span<const Vec2> ring, PlainPassage& passage) {
  const size_t n = ring.size();
  if (n == 0 || n > kMaxPlainEdges) return PlainVerdict::kUncertain;
  const CertainSides sides = SidesOfRing(line, ring);
  if (!sides.AreCertain(n)) return PlainVerdict::kUncertain;
  const uint64_t crossing = sides.Crossings(n);
  if (crossing == 0) return PlainVerdict::kNoPassage;
  const uint64_t rest = crossing & (crossing - 1);
  if ((rest & (rest - 1)) != 0) return PlainVerdict::kUncertain;
  return FindTwoCrossings(line, ring, crossing, passage);
}

bool FindPlainCrossings(const Line& line, std::span<const Vec2> ring, PlainCrossings& found) {
  const size_t n = ring.size();
  if (n < 2 || n > PlainCrossings::kMaxEdges) return false;
  const CertainSides sides = SidesOfRing(line, ring);
  return sides.AreCertain(n) && FindPlainCrossings(line, ring, sides, found);
}

// Crossings must be certain to be apart, not only from the ends of the line but from one another:
// insertion into the sorted ones compares intervals strictly, and gives up where two overlap.
bool FindPlainCrossings(const Line& line, std::span<const Vec2> ring, const CertainSides& sides,
                        PlainCrossings& found) {
  const size_t last = ring.size() - 1;
  uint64_t crossing = sides.Crossings(ring.size());
  found.count = 0;
  found.winding_at_start = 0;
  // An even number of edges passes from one side to the other. Two at a time.
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
      if (found.count == PlainCrossings::kMaxCount) return false;
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

PlainVerdict FirstPassage(const PlainCrossings& found, FillRule rule, PlainPassage& passage) {
  const auto is_filled = [rule](int winding) {
    return rule == FillRule::kEvenOdd ? winding % 2 != 0 : winding != 0;
  };
  int winding = found.winding_at_start;
  bool is_inside = is_filled(winding);
  bool is_found = is_inside;
  passage = {};
  passage.entry = passage.exit = kNoEdge;
  for (size_t i = 0; i < found.count; ++i) {
    const PlainCrossing& crossing = found.crossings[i];
    winding += crossing.winding_change;
    if (is_filled(winding) == is_inside) continue;
    if (is_inside) {
      passage.exit = crossing.edge;
      passage.end = crossing.at;
      return PlainVerdict::kPassage;
    }
    is_inside = is_found = true;
    passage.entry = crossing.edge;
    passage.begin = crossing.at;
  }
  return is_found ? PlainVerdict::kPassage : PlainVerdict::kNoPassage;
}

}  // namespace carom::internal
