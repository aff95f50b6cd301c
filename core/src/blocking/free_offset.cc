// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/free_offset.h"

#include <algorithm>
#include <cmath>

#include "numeric/rounded_vectors.h"

namespace carom::internal {
namespace {

// Returns the unit vector along a, or 0 if a is 0.
Vec2 UnitOf(Vec2 a) {
  const double length = std::sqrt(RoundedDot(a, a));
  return length > 0 ? Vec2{a.x / length, a.y / length} : Vec2{};
}

// Returns the point of the edge that is nearest to p.
Vec2 NearestOn(const Segment& edge, Vec2 p) {
  const Vec2 s = RoundedDifference(edge.b, edge.a);
  const double length2 = RoundedDot(s, s);
  const double t = length2 > 0 ? RoundedDot(RoundedDifference(p, edge.a), s) / length2 : 0;
  const double clamped = std::fmin(1, std::fmax(0, t));
  return {edge.a.x + clamped * s.x, edge.a.y + clamped * s.y};
}

// Returns the unit vector in the middle of a sector.
Vec2 MiddleOf(const Sector& sector) {
  const Vec2 first = UnitOf(RoundedDifference(sector.first.to, sector.first.from));
  const Vec2 last = UnitOf(RoundedDifference(sector.last.to, sector.last.from));
  if (sector.turn == 0) return {-first.y, first.x};
  const Vec2 middle = UnitOf({first.x + last.x, first.y + last.y});
  return sector.turn > 0 ? middle : Vec2{-middle.x, -middle.y};
}

}  // namespace

// Adds a gap at each end of both edges, along the line from the fixed edge's nearest point to the
// moving edge's.
void FreeOffset::AddRound(const Segment& moving, double radius, const Segment& edge) {
  for (const Vec2 p : {moving.a, moving.b}) {
    const Vec2 apart = RoundedDifference(p, NearestOn(edge, p));
    AddGap(UnitOf(apart), std::sqrt(RoundedDot(apart, apart)) - radius);
  }
  for (const Vec2 q : {edge.a, edge.b}) {
    const Vec2 apart = RoundedDifference(NearestOn(moving, q), q);
    AddGap(UnitOf(apart), std::sqrt(RoundedDot(apart, apart)) - radius);
  }
}

// Adds the gap of a vertex beside an edge, on the side on which the vertex's sector lies; of an
// edge beside a vertex; and of two vertices, if neither is beside an edge. A vertex that `Move`
// moves along an edge has that edge's normal: all edges about the two vertices are added, and one
// of them is across the motion.
void FreeOffset::AddRing(const BlockingMover& mover, const Segment& edge, size_t j) {
  const Segment f = mover.shape().edge(j);
  const Vec2 p = f.a;
  const Vec2 foot = NearestOn(edge, p);
  const Vec2 middle = MiddleOf(mover.SectorAt(j));
  const bool is_beside = !(foot == edge.a) && !(foot == edge.b);
  const Vec2 apart = RoundedDifference(p, foot);
  if (is_beside || IsMovedFrom(apart)) {
    const Vec2 s = UnitOf(RoundedDifference(edge.b, edge.a));
    Vec2 n{-s.y, s.x};
    if (RoundedDot(n, middle) < 0) n = {-n.x, -n.y};
    AddGap(n, RoundedDot(RoundedDifference(p, edge.a), n));
  }
  if (!is_beside && IsWithinReach(apart)) AddGap(middle, RoundedDot(apart, middle));
  const Vec2 s = UnitOf(RoundedDifference(f.b, f.a));
  const double side = mover.inner_side(j);
  const Vec2 inner{-s.y * side, s.x * side};
  for (const Vec2 q : {edge.a, edge.b}) {
    const Vec2 near = NearestOn(f, q);
    if ((near == f.a || near == f.b) && !IsMovedFrom(RoundedDifference(near, q))) continue;
    AddGap(inner, RoundedDot(RoundedDifference(f.a, q), inner));
  }
}

// Merges gaps of equal normals into one, the smaller. Among too many gaps, as with a large skin,
// the nearest ones stay: a missing gap costs a better guess, but not the proof.
void FreeOffset::AddGap(Vec2 n, double distance) {
  if (n == Vec2{} || std::abs(distance) > reach_ || !meter_.Spend(1)) return;
  distance += RoundedDot(n, moved_);
  if (std::abs(distance) > reach_) return;
  for (Gap& gap : gaps_) {
    if (RoundedDot(gap.n, n) < 1 - 0x1p-40) continue;
    gap.distance = std::fmin(gap.distance, distance);
    return;
  }
  if (gaps_.size() < kMostGaps) return gaps_.push_back({n, distance});
  const auto farthest =
      std::max_element(gaps_.begin(), gaps_.end(),
                       [](const Gap& a, const Gap& b) { return a.distance < b.distance; });
  if (distance < farthest->distance) *farthest = {n, distance};
}

// Tries a zero offset, then offsets along one normal, then offsets to where the bounds of two gaps
// meet.
std::optional<Vec2> FreeOffset::Offset(double gap) const {
  meter_.Spend(gaps_.size() * gaps_.size());
  const auto suffices = [&](Vec2 v) {
    return std::all_of(gaps_.begin(), gaps_.end(), [&](const Gap& g) {
      const double needed = gap - g.distance;
      return RoundedDot(g.n, v) >= needed - std::abs(gap) * 0x1p-30;
    });
  };
  if (suffices({})) return Vec2{};
  std::optional<Vec2> best;
  const auto consider = [&](Vec2 v) {
    if (suffices(v) && (!best || RoundedDot(v, v) < RoundedDot(*best, *best))) best = v;
  };
  for (const Gap& g : gaps_) {
    const double needed = gap - g.distance;
    consider({needed * g.n.x, needed * g.n.y});
  }
  for (size_t i = 0; i < gaps_.size() && !best; ++i) {
    for (size_t k = i + 1; k < gaps_.size(); ++k) {
      const Gap& a = gaps_[i];
      const Gap& b = gaps_[k];
      const double cross = a.n.x * b.n.y - a.n.y * b.n.x;
      if (std::abs(cross) < 0x1p-20) continue;
      const double need_a = gap - a.distance;
      const double need_b = gap - b.distance;
      consider(
          {(need_a * b.n.y - need_b * a.n.y) / cross, (need_b * a.n.x - need_a * b.n.x) / cross});
    }
  }
  return best;
}

}  // namespace carom::internal
