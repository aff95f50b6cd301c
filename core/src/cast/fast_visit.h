// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Tests one line against one polygon on the fast path. Files that Highway compiles once for each
// instruction set include this header after hwy/foreach_target.h, once per instruction set.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "cast/fast_crossing.h"
#include "cast/fast_line.h"
#include "cast/reported_edge.h"
#include "hwy/highway.h"
#include "numeric/double_lanes.h"
#include "numeric/exact.h"
#include "numeric/mask_bits.h"

#ifndef CAROM_CORE_SRC_FAST_VISIT_ONCE_H_  // this part is identical for all instruction sets
#define CAROM_CORE_SRC_FAST_VISIT_ONCE_H_
namespace carom::internal {

// Returns a box that contains the part of the line between two finite parameters, as
// `Line::BoundsBetween` does. Relative rounding errors are at most 2u in direction * parameter, and
// u in each sum (u = 2^-53). Each product is clamped to 2^60, beyond all coordinates.
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

// A line that descends the scene's bounding-box trees, with the arguments of `VisitFastPairs`.
struct LineInTrees {
  FastLine& line() const { return *visit.slots[slot].line; }
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

  const FastVisit& visit;
  size_t slot;
};

// A line that walks over the cells of the scene's grid, with the arguments of `VisitFastPairs`.
struct LineInCells {
  FastLine& line() const { return visit.lines[slot]; }
  bool WasVisited(const Box&) const { return false; }
  void Stop() const {
    line().reach = Box{};
    visit.walks[slot].end = -HUGE_VAL;
  }
  void Narrow(double end) const {
    line().reach = PartBetween(line().line, line().line.t_min, end);
    visit.walks[slot].end = end;
  }

  const FastCells& visit;
  size_t slot;
};

// Stops the search of the line and marks the line undecided, so that `CastGeneral` casts it anew.
template <class Of>
void MarkUndecided(const Of& of) {
  of.line().is_undecided = true;
  of.Stop();
}

// Handles a line that starts inside a polygon, if the inside policy reports no hit at the start.
// Marks the line undecided, except for the policy IGNORE if the line crosses two edges: then no
// passage follows the one that contains the start. Bit i of `left`: vertex i is left of the line.
template <class Of>
[[gnu::noinline, gnu::cold]] void FallBackAtStart(const Of& of, const Polygon& polygon,
                                                  uint64_t left) {
  const uint64_t crossing = CertainSides{left, 0}.Crossings(polygon.vertex_count());
  const bool is_only = std::popcount(crossing) == 2;
  if (of.visit.options.inside_policy != InsidePolicy::kIgnore || !is_only) MarkUndecided(of);
}

// Keeps `found`, an interval of the line inside `polygon`: in cast mode ANY, where the first one
// found ends the search, or in cast mode ALL, where each one is a hit.
template <class Of>
[[gnu::noinline, gnu::cold]] void KeepUnordered(const Of& of, const Polygon& polygon,
                                                const FastPassage& found) {
  FastLine& line = of.line();
  if (of.visit.options.mode == CastMode::kAll) {
    if (!of.visit.all->Add(line, polygon, found)) MarkUndecided(of);
    return;
  }
  line.first = {Unowned(polygon), found};
  of.Stop();
}

// Keeps `found`, an interval of the line inside `polygon`, if it begins before the first interval
// so far. If both begin at the line's start, the lesser polygon id comes first. An interval that
// begins where the line crosses an edge certainly begins after the line's start.
template <class Of>
inline void Keep(const Of& of, const Polygon& polygon, uint64_t left, FastPassage& found) {
  FastLine& line = of.line();
  const bool is_inside = found.entry == kNoEdge;
  if (is_inside) {
    if (of.visit.options.inside_policy != InsidePolicy::kReportStart) {
      return FallBackAtStart(of, polygon, left);
    }
    found.begin = {line.line.t_min, line.line.t_min};
  }
  if (of.visit.options.mode != CastMode::kClosest) return KeepUnordered(of, polygon, found);
  const Interval& best = line.first.passage.begin;
  if (found.begin.low > best.high) return;
  if (found.begin.high >= best.low) {
    if (!is_inside || line.first.passage.entry != kNoEdge) return MarkUndecided(of);
    if (polygon.id() > line.first.polygon->id()) return;
  }
  line.first = {Unowned(polygon), found};
  of.Narrow(found.begin.high);
}

// Finds the first interval of the line inside a polygon that it crosses more than twice. Bit i of
// `left`: vertex i is left of the line; all other vertices are certainly right of the line.
inline FastVerdict FirstOfMany(const Line& line, const Polygon& polygon, uint64_t left,
                               FastPassage& found) {
  const auto ring = polygon.vertices();
  const CertainSides sides{left, ~left & ((uint64_t{2} << (ring.size() - 1)) - 1)};
  FastCrossings crossings;
  if (!FindFastCrossings(line, ring, sides, crossings)) return FastVerdict::kUncertain;
  return FirstPassage(crossings, polygon.fill_rule(), found);
}

}  // namespace carom::internal
#endif

// The guard macro toggles at each inclusion, so each instruction set gets the part below.
#if defined(CAROM_CORE_SRC_FAST_VISIT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_FAST_VISIT_H_
#undef CAROM_CORE_SRC_FAST_VISIT_H_
#else
#define CAROM_CORE_SRC_FAST_VISIT_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t kMaxLanes = 4;

using Doubles = hn::CappedTag<double, kMaxLanes>;
using D = hn::Vec<Doubles>;

// The sides of points relative to a line, computed for as many points at a time as a vector has
// lanes. A point that is not left of the line is right of it, if its side is certain. The minimum
// `least` is above 0 if and only if the sides of all points are certain.
struct Sides {
  HWY_INLINE Sides() : least(hn::Set(Doubles(), HUGE_VAL)) {}

  // Adds as many points as a vector has lanes, from `*points` on, which is point `at`. A side is
  // certain if the magnitude of its cross product exceeds error_of(the two terms of the product).
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
    left |= uint64_t{MaskBits(d, hn::Gt(cross, hn::Zero(d)))} << at;
  }

  HWY_INLINE bool AreCertain() const {
    const Doubles d;
    return hn::AllTrue(d, hn::Gt(least, hn::Zero(d)));
  }

  uint64_t left = 0;
  // In each lane, the least difference of a cross product's magnitude and its error bound.
  D least;
};

HWY_INLINE D ErrorOf(D left, D right) {
  return hn::Mul(hn::Set(Doubles(), kCrossError), hn::Add(hn::Abs(left), hn::Abs(right)));
}

// Returns a bound, for all points in `box`, of the error of the cross product in `Sides::Add`:
// rounded differences, products and sums are monotonic in the magnitudes of their operands.
HWY_INLINE double MostErrorIn(const Line& line, const Box& box) {
  const Lanes origin = ToLanes(line.origin);
  const Lanes reach = Max(Abs(ToLanes(box.min) - origin), Abs(ToLanes(box.max) - origin));
  const Lanes products = Abs(Lanes{line.dy.high, line.dx.high}) * reach;
  return kCrossError * (products[1] + products[0]);
}

// Returns the sides of all points of a ring, at most 64, relative to a line. `box` contains the
// ring. The last vector of points overlaps the previous one. For 16 points or more, one error
// bound, slightly larger, serves all points.
HWY_INLINE Sides SidesOfAll(const Line& line, std::span<const Vec2> ring, const Box& box) {
  constexpr size_t kMany = 16;
  const size_t lanes = hn::Lanes(Doubles());
  const size_t n = ring.size();
  Sides sides;
  if (n < lanes) {
    std::array<Vec2, kMaxLanes> points;
    for (size_t i = 0; i < kMaxLanes; ++i) points[i] = ring[std::min(i, n - 1)];
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

// Finds the first interval of a line inside a polygon whose vertices are all certainly left or
// right of the line. Bit i of `left`: vertex i is left of the line.
HWY_INLINE FastVerdict FirstOf(const Line& line, const Polygon& polygon, uint64_t left,
                               FastPassage& found) {
  const auto ring = polygon.vertices();
  const uint64_t crossing = CertainSides{left, 0}.Crossings(ring.size());
  if (crossing == 0) return FastVerdict::kNoPassage;
  const uint64_t rest = crossing & (crossing - 1);
  if ((rest & (rest - 1)) == 0) return FindTwoCrossings(line, ring, crossing, found);
  return FirstOfMany(line, polygon, left, found);
}

// Tests a line against one polygon, and keeps a hit. May be called repeatedly for one polygon.
// Returns the units of work, for the caller to count.
template <class Of>
HWY_INLINE size_t Visit(const Of& of, const Polygon& polygon) {
  const FastLine& line = of.line();
  if ((polygon.category() & of.visit.options.mask) == 0 ||
      line.first.polygon->memory() == polygon.memory()) {
    return 0;
  }
  const Box& box = polygon.bounds();
  if (!Meets(line.reach, box) || of.WasVisited(box)) return 0;
  const auto ring = polygon.vertices();
  if (!SuitsFastPath(polygon) || ring.size() > kMaxFastEdges) {
    MarkUndecided(of);
    return 0;
  }
  const Sides sides = SidesOfAll(line.line, ring, box);
  if (!sides.AreCertain()) {
    MarkUndecided(of);
    return ring.size();
  }
  FastPassage found;
  const FastVerdict verdict = FirstOf(line.line, polygon, sides.left, found);
  if (verdict == FastVerdict::kPassage) Keep(of, polygon, sides.left, found);
  if (verdict == FastVerdict::kUncertain) MarkUndecided(of);
  return ring.size();
}

// Prefetches four cache lines: a polygon of up to eight vertices that begins anywhere in the first.
HWY_INLINE void PrefetchPolygon(const void* polygon) {
  const auto* const block = static_cast<const char*>(polygon);
  __builtin_prefetch(block);
  __builtin_prefetch(block + 64);
  __builtin_prefetch(block + 128);
  __builtin_prefetch(block + 192);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET_TOGGLE
