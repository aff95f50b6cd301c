// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/plain_line.h"

#include <algorithm>
#include <array>
#include <bit>

#include "cast/reported_edge.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"

#ifndef CAROM_CORE_SRC_PLAIN_LINE_CC_  // the first time this file is compiled
#define CAROM_CORE_SRC_PLAIN_LINE_CC_
namespace carom::internal {
namespace {

// A box that holds the part of the line between two finite parameters, as `Line::BoundsBetween` has
// it: the rounding of both steps is within 2u of them, and that of the sums within u. Steps beyond
// 2^60 are cut off there, where nothing accepted is.
inline Box PartBetween(const Line& line, double first, double last) {
  constexpr double kFar = 0x1p60;
  const Lanes far{kFar, kFar};
  const Lanes origin = ToLanes(line.origin);
  const Lanes direction{line.dx.high, line.dy.high};
  const Lanes one = Max(Min(direction * first, far), -far);
  const Lanes other = Max(Min(direction * last, far), -far);
  const Lanes slack = (8 * kUnit) * (Abs(origin) + Max(Abs(one), Abs(other)));
  const Lanes min = (origin + Min(one, other)) - slack;
  const Lanes max = (origin + Max(one, other)) + slack;
  return {{min[0], min[1]}, {max[0], max[1]}};
}

inline bool Meets(const Box& a, const Box& b) {
  return SignBits((ToLanes(a.min) <= ToLanes(b.max)) & (ToLanes(b.min) <= ToLanes(a.max))) == 3;
}

// Looks at nothing more of a line.
inline void Stop(const PlainVisit& visit, size_t slot) {
  visit.slots[slot].line->reach = Box{};
  visit.culls[slot].Stop();
}

void GiveUp(const PlainVisit& visit, size_t slot) {
  visit.slots[slot].line->is_hard = true;
  Stop(visit, slot);
}

// Keeps a passage that begins before the one that is there. Both may begin at the line's start,
// where the polygon of the lesser id comes first; a crossing is certain to be behind the start.
inline void Keep(const PlainVisit& visit, size_t slot, const Polygon& polygon,
                 PlainPassage& found) {
  const PlainSlot& at = visit.slots[slot];
  PlainLine& line = *at.line;
  const bool is_inside = found.entry == kNoEdge;
  if (is_inside) found.begin = {line.line.t_min, line.line.t_min};
  const Interval& best = line.passage.begin;
  if (found.begin.low > best.high) return;
  if (found.begin.high >= best.low) {
    if (!is_inside || line.passage.entry != kNoEdge) return GiveUp(visit, slot);
    if (polygon.id() > line.polygon->id()) return;
  }
  line.polygon = &polygon;
  line.passage = found;
  if (visit.options.mode == CastMode::kAny) return Stop(visit, slot);
  if (found.begin.high >= at.interval.end()) return;
  line.reach = PartBetween(line.line, at.interval.begin(), found.begin.high);
  visit.culls[slot].SetReach(line.reach);
}

// What a line, whose sides are certain, is to a polygon that it crosses.
inline PlainVerdict FirstOf(const Line& line, const Polygon& polygon, const CertainSides& sides,
                            PlainPassage& found) {
  const auto ring = polygon.vertices();
  const uint64_t crossing = sides.Crossings(ring.size());
  const uint64_t rest = crossing & (crossing - 1);
  if ((rest & (rest - 1)) == 0) return FindPlain(line, ring, crossing, found);
  PlainCrossings crossings;
  if (!FindPlainCrossings(line, ring, sides, crossings)) return PlainVerdict::kCannotTell;
  return FirstPassage(crossings, polygon.fill_rule(), found);
}

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/plain_line.cc"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kMostLanes = 4;

// Adds the sides of as many points as there are lanes, the first of which is point `at`.
HWY_INLINE void AddSides(const Line& line, const Vec2* points, size_t at, CertainSides& sides) {
  const hn::CappedTag<double, kMostLanes> d;
  auto x = hn::Undefined(d);
  auto y = hn::Undefined(d);
  hn::LoadInterleaved2(d, &points->x, x, y);
  const auto left = hn::Mul(hn::Set(d, line.dx.high), hn::Sub(y, hn::Set(d, line.origin.y)));
  const auto right = hn::Mul(hn::Set(d, line.dy.high), hn::Sub(x, hn::Set(d, line.origin.x)));
  const auto cross = hn::Sub(left, right);
  const auto error = hn::Mul(hn::Set(d, kCrossError), hn::Add(hn::Abs(left), hn::Abs(right)));
  uint8_t bits[8];
  hn::StoreMaskBits(d, hn::Gt(cross, error), bits);
  sides.left |= uint64_t{bits[0]} << at;
  hn::StoreMaskBits(d, hn::Lt(cross, hn::Neg(error)), bits);
  sides.right |= uint64_t{bits[0]} << at;
}

// `SidesOf` for a whole ring of at most 64 points. The last lanes overlap those before.
HWY_INLINE CertainSides SidesOfAll(const Line& line, std::span<const Vec2> ring) {
  const size_t lanes = hn::Lanes(hn::CappedTag<double, kMostLanes>());
  const size_t n = ring.size();
  CertainSides sides;
  if (n < lanes) {
    std::array<Vec2, kMostLanes> points;
    for (size_t i = 0; i < kMostLanes; ++i) points[i] = ring[std::min(i, n - 1)];
    AddSides(line, points.data(), 0, sides);
    const uint64_t all = (uint64_t{1} << n) - 1;
    return {sides.left & all, sides.right & all};
  }
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) AddSides(line, ring.data() + i, i, sides);
  if (i < n) AddSides(line, ring.data() + (n - lanes), n - lanes, sides);
  return sides;
}

// Looks at one polygon, again perhaps. Returns the units of work.
HWY_INLINE size_t Visit(const PlainVisit& visit, size_t slot, const Polygon& polygon) {
  const PlainSlot& at = visit.slots[slot];
  const PlainLine& line = *at.line;
  if ((polygon.category() & visit.options.mask) == 0 || line.polygon == &polygon) return 0;
  const Box& box = polygon.bounds();
  if (!Meets(line.reach, box) || at.interval.WasVisited(box)) return 0;
  const auto ring = polygon.vertices();
  if (!IsPlain(polygon) || ring.size() > kMaxPlainEdges) {
    GiveUp(visit, slot);
    return 0;
  }
  const CertainSides sides = SidesOfAll(line.line, ring);
  if (!sides.AreCertain(ring.size())) {
    GiveUp(visit, slot);
  } else if (sides.left != 0 && sides.right != 0) {
    PlainPassage found;
    const PlainVerdict verdict = FirstOf(line.line, polygon, sides, found);
    if (verdict == PlainVerdict::kPassage) Keep(visit, slot, polygon, found);
    if (verdict == PlainVerdict::kCannotTell) GiveUp(visit, slot);
  }
  return ring.size();
}

// Of a few pairs at a time the memory of the entries is asked for, then that of the polygons.
void VisitPairs(const Frontier& pairs, const PlainVisit& visit) {
  constexpr size_t kGroup = 32;
  std::array<const IndexedPolygon*, kGroup> entries;
  for (size_t begin = 0; begin < pairs.count; begin += kGroup) {
    const size_t count = std::min(pairs.count - begin, kGroup);
    for (size_t i = 0; i < count; ++i) {
      const auto slot = Slot::Of(pairs.targets[begin + i]);
      entries[i] = &visit.scene.tile(slot.tile).entries()[slot.index];
      __builtin_prefetch(entries[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const auto* const block = static_cast<const char*>(entries[i]->polygon().memory());
      __builtin_prefetch(block);
      __builtin_prefetch(block + 64);
      __builtin_prefetch(block + 128);
    }
    size_t units = count;
    for (size_t i = 0; i < count; ++i) {
      units += Visit(visit, pairs.lines[begin + i], entries[i]->polygon());
    }
    if (!visit.meter.Spend(units)) return;
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(VisitPairs);

}  // namespace

void VisitPlainPairs(const Frontier& pairs, const PlainVisit& visit) {
  HWY_DYNAMIC_DISPATCH(VisitPairs)(pairs, visit);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
