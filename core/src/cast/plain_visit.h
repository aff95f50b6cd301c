// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One line and one polygon, for files that are compiled once for each instruction set: to be
// included behind hwy/foreach_target.h, each time.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "cast/plain_crossing.h"
#include "cast/plain_line.h"
#include "cast/reported_edge.h"
#include "hwy/highway.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"

#ifndef CAROM_CORE_SRC_PLAIN_VISIT_ONCE_H_  // the same for all instruction sets
#define CAROM_CORE_SRC_PLAIN_VISIT_ONCE_H_
namespace carom::internal {

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
  Box part;
  Store((origin + Min(one, other)) - slack, part.min);
  Store((origin + Max(one, other)) + slack, part.max);
  return part;
}

inline bool Meets(const Box& a, const Box& b) {
  return SignBits((ToLanes(a.min) <= ToLanes(b.max)) & (ToLanes(b.min) <= ToLanes(a.max))) == 3;
}

// A line on its way down the trees, and what it asks for.
struct OfTrees {
  PlainLine& line() const { return *visit.slots[slot].line; }
  bool WasVisited(const Box& box) const { return visit.slots[slot].interval.WasVisited(box); }
  void Stop() const {
    line().reach = Box{};
    visit.culls[slot].Stop();
  }
  void Narrow(double end) const {
    const LineInterval& interval = visit.slots[slot].interval;
    if (end >= interval.end()) return;
    line().reach = PartBetween(line().line, interval.begin(), end);
    visit.culls[slot].SetReach(line().reach);
  }

  const PlainVisit& visit;
  size_t slot;
};

// The same of one that walks over cells.
struct OfCells {
  PlainLine& line() const { return visit.lines[slot]; }
  bool WasVisited(const Box&) const { return false; }
  void Stop() const {
    line().reach = Box{};
    visit.walks[slot].end = -HUGE_VAL;
  }
  void Narrow(double end) const {
    line().reach = PartBetween(line().line, line().line.t_min, end);
    visit.walks[slot].end = end;
  }

  const PlainCells& visit;
  size_t slot;
};

// Looks at nothing more of a line.
template <class Of>
void GiveUp(const Of& of) {
  of.line().is_hard = true;
  of.Stop();
}

// A line that starts inside a polygon, where such a start is no hit. Under IGNORE a polygon that
// the line crosses in two edges has nothing behind the passage that holds the start. `left` are the
// vertices on the left of the line.
template <class Of>
[[gnu::noinline, gnu::cold]] void LeaveStart(const Of& of, const Polygon& polygon, uint64_t left) {
  const uint64_t crossing = CertainSides{left, 0}.Crossings(polygon.vertex_count());
  const bool is_only = std::popcount(crossing) == 2;
  if (of.visit.options.inside_policy != InsidePolicy::kIgnore || !is_only) GiveUp(of);
}

// Under ANY the first passage is enough, under ALL there may be more.
template <class Of>
[[gnu::noinline, gnu::cold]] void KeepUnordered(const Of& of, const Polygon& polygon,
                                                const PlainPassage& found) {
  PlainLine& line = of.line();
  if (of.visit.options.mode == CastMode::kAll) {
    if (!of.visit.all->Add(line, polygon, found)) GiveUp(of);
    return;
  }
  line.first = {Unowned(polygon), found};
  of.Stop();
}

// Keeps a passage that begins before the one that is there. Both may begin at the line's start,
// where the polygon of the lesser id comes first; a crossing is certain to be behind the start.
template <class Of>
inline void Keep(const Of& of, const Polygon& polygon, uint64_t left, PlainPassage& found) {
  PlainLine& line = of.line();
  const bool is_inside = found.entry == kNoEdge;
  if (is_inside) {
    if (of.visit.options.inside_policy != InsidePolicy::kReportStart) {
      return LeaveStart(of, polygon, left);
    }
    found.begin = {line.line.t_min, line.line.t_min};
  }
  if (of.visit.options.mode != CastMode::kClosest) return KeepUnordered(of, polygon, found);
  const Interval& best = line.first.passage.begin;
  if (found.begin.low > best.high) return;
  if (found.begin.high >= best.low) {
    if (!is_inside || line.first.passage.entry != kNoEdge) return GiveUp(of);
    if (polygon.id() > line.first.polygon->id()) return;
  }
  line.first = {Unowned(polygon), found};
  of.Narrow(found.begin.high);
}

// The first passage of one of more, given the vertices on the left of the line.
inline PlainVerdict FirstOfMany(const Line& line, const Polygon& polygon, uint64_t left,
                                PlainPassage& found) {
  const auto ring = polygon.vertices();
  const CertainSides sides{left, ~left & ((uint64_t{2} << (ring.size() - 1)) - 1)};
  PlainCrossings crossings;
  if (!FindPlainCrossings(line, ring, sides, crossings)) return PlainVerdict::kUncertain;
  return FirstPassage(crossings, polygon.fill_rule(), found);
}

}  // namespace carom::internal
#endif

#if defined(CAROM_CORE_SRC_PLAIN_VISIT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_PLAIN_VISIT_H_
#undef CAROM_CORE_SRC_PLAIN_VISIT_H_
#else
#define CAROM_CORE_SRC_PLAIN_VISIT_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t kMostLanes = 4;

using Doubles = hn::CappedTag<double, kMostLanes>;
using D = hn::Vec<Doubles>;

// On which side of a line points are, as many at a time as there are lanes. Those that are not on
// its left are on its right: one minimum says whether all of that is certain.
struct Sides {
  HWY_INLINE Sides() : least(hn::Set(Doubles(), HUGE_VAL)) {}

  // Adds the points from `points` on, the first of which is point `at`. A side is certain beyond
  // error_of(left, right), the products of the cross product.
  template <class ErrorOf>
  HWY_INLINE void Add(const Line& line, const Vec2* points, size_t at, const ErrorOf& error_of) {
    const Doubles d;
    auto x = hn::Undefined(d);
    auto y = hn::Undefined(d);
    hn::LoadInterleaved2(d, &points->x, x, y);
    const auto left_of = hn::Mul(hn::Set(d, line.dx.high), hn::Sub(y, hn::Set(d, line.origin.y)));
    const auto right_of = hn::Mul(hn::Set(d, line.dy.high), hn::Sub(x, hn::Set(d, line.origin.x)));
    const auto cross = hn::Sub(left_of, right_of);
    least = hn::Min(least, hn::Sub(hn::Abs(cross), error_of(left_of, right_of)));
    uint8_t bits[8];
    hn::StoreMaskBits(d, hn::Gt(cross, hn::Zero(d)), bits);
    left |= uint64_t{bits[0]} << at;
  }

  HWY_INLINE bool AreCertain() const {
    const Doubles d;
    return hn::AllTrue(d, hn::Gt(least, hn::Zero(d)));
  }

  uint64_t left = 0;
  // In each lane the least by which a cross product is beyond its error.
  D least;
};

HWY_INLINE D ErrorOf(D left, D right) {
  return hn::Mul(hn::Set(Doubles(), kCrossError), hn::Add(hn::Abs(left), hn::Abs(right)));
}

// At least that of each point in the box: rounded differences, products and sums are no less where
// their operands are not.
HWY_INLINE double MostErrorIn(const Line& line, const Box& box) {
  const Lanes origin = ToLanes(line.origin);
  const Lanes reach = Max(Abs(ToLanes(box.min) - origin), Abs(ToLanes(box.max) - origin));
  const Lanes products = Abs(Lanes{line.dy.high, line.dx.high}) * reach;
  return kCrossError * (products[1] + products[0]);
}

// `SidesOf` for a whole ring of at most 64 points in a box. The last lanes overlap those before.
// Rings of many have one bound for all points, which is a little larger than those of each.
HWY_INLINE Sides SidesOfAll(const Line& line, std::span<const Vec2> ring, const Box& box) {
  constexpr size_t kMany = 16;
  const size_t lanes = hn::Lanes(Doubles());
  const size_t n = ring.size();
  Sides sides;
  if (n < lanes) {
    std::array<Vec2, kMostLanes> points;
    for (size_t i = 0; i < kMostLanes; ++i) points[i] = ring[std::min(i, n - 1)];
    sides.Add(line, points.data(), 0, ErrorOf);
    sides.left &= (uint64_t{1} << n) - 1;
    return sides;
  }
  size_t i = 0;
  if (n < kMany) {
    for (; i + lanes <= n; i += lanes) sides.Add(line, &ring[i], i, ErrorOf);
    if (i < n) sides.Add(line, &ring[n - lanes], n - lanes, ErrorOf);
    return sides;
  }
  const D most = hn::Set(Doubles(), MostErrorIn(line, box));
  const auto error_of = [most](D, D) HWY_ATTR { return most; };
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    sides.Add(line, &ring[i], i, error_of);
    sides.Add(line, &ring[i + lanes], i + lanes, error_of);
  }
  if (i + lanes <= n) sides.Add(line, &ring[i], i, error_of);
  if (n % lanes != 0) sides.Add(line, &ring[n - lanes], n - lanes, error_of);
  return sides;
}

// What a line, whose sides are certain, is to a polygon: `left` are the vertices on its left.
HWY_INLINE PlainVerdict FirstOf(const Line& line, const Polygon& polygon, uint64_t left,
                                PlainPassage& found) {
  const auto ring = polygon.vertices();
  const uint64_t crossing = CertainSides{left, 0}.Crossings(ring.size());
  if (crossing == 0) return PlainVerdict::kNoPassage;
  const uint64_t rest = crossing & (crossing - 1);
  if ((rest & (rest - 1)) == 0) return FindTwoCrossings(line, ring, crossing, found);
  return FirstOfMany(line, polygon, left, found);
}

// Looks at one polygon, again perhaps. Returns the units of work.
template <class Of>
HWY_INLINE size_t Visit(const Of& of, const Polygon& polygon) {
  const PlainLine& line = of.line();
  if ((polygon.category() & of.visit.options.mask) == 0 ||
      line.first.polygon->memory() == polygon.memory()) {
    return 0;
  }
  const Box& box = polygon.bounds();
  if (!Meets(line.reach, box) || of.WasVisited(box)) return 0;
  const auto ring = polygon.vertices();
  if (!IsPlain(polygon) || ring.size() > kMaxPlainEdges) {
    GiveUp(of);
    return 0;
  }
  const Sides sides = SidesOfAll(line.line, ring, box);
  if (!sides.AreCertain()) {
    GiveUp(of);
    return ring.size();
  }
  PlainPassage found;
  const PlainVerdict verdict = FirstOf(line.line, polygon, sides.left, found);
  if (verdict == PlainVerdict::kPassage) Keep(of, polygon, sides.left, found);
  if (verdict == PlainVerdict::kUncertain) GiveUp(of);
  return ring.size();
}

// Asks for the memory of a polygon of at most eight vertices: it begins anywhere in its first line.
HWY_INLINE void Fetch(const void* polygon) {
  const auto* const block = static_cast<const char*>(polygon);
  __builtin_prefetch(block);
  __builtin_prefetch(block + 64);
  __builtin_prefetch(block + 128);
  __builtin_prefetch(block + 192);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
