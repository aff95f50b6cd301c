// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/free_offset.h"

#include <algorithm>
#include <cmath>

namespace carom::internal {
namespace {

double Dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
Vec2 Difference(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }

// Of length 1, or 0.
Vec2 UnitOf(Vec2 a) {
  const double length = std::sqrt(Dot(a, a));
  return length > 0 ? Vec2{a.x / length, a.y / length} : Vec2{};
}

// The point of the edge nearest to p.
Vec2 NearestOn(const Segment& edge, Vec2 p) {
  const Vec2 s = Difference(edge.b, edge.a);
  const double length2 = Dot(s, s);
  const double t = length2 > 0 ? Dot(Difference(p, edge.a), s) / length2 : 0;
  const double clamped = std::fmin(1, std::fmax(0, t));
  return {edge.a.x + clamped * s.x, edge.a.y + clamped * s.y};
}

// The middle of a sector.
Vec2 MiddleOf(const Sector& sector) {
  const Vec2 first = UnitOf(Difference(sector.first.to, sector.first.from));
  const Vec2 last = UnitOf(Difference(sector.last.to, sector.last.from));
  if (sector.turn == 0) return {-first.y, first.x};
  const Vec2 middle = UnitOf({first.x + last.x, first.y + last.y});
  return sector.turn > 0 ? middle : Vec2{-middle.x, -middle.y};
}

}  // namespace

// Along the line from the nearest point of the edge to the moving one, at each end of both.
void FreeOffset::AddRound(const Segment& moving, double radius, const Segment& edge) {
  for (const Vec2 p : {moving.a, moving.b}) {
    const Vec2 apart = Difference(p, NearestOn(edge, p));
    AddGap(UnitOf(apart), std::sqrt(Dot(apart, apart)) - radius);
  }
  for (const Vec2 q : {edge.a, edge.b}) {
    const Vec2 apart = Difference(NearestOn(moving, q), q);
    AddGap(UnitOf(apart), std::sqrt(Dot(apart, apart)) - radius);
  }
}

// A vertex beside an edge, whose sector says which side is free; an edge beside a vertex; and a
// vertex beside another, where neither is beside an edge. What is moved along an edge from there
// has that edge's normal: of those of the edges about two vertices, which are added all, one is
// across.
void FreeOffset::AddRing(const BlockingMover& mover, const Segment& edge, size_t j) {
  const Segment f = mover.shape().edge(j);
  const Vec2 p = f.a;
  const Vec2 foot = NearestOn(edge, p);
  const Vec2 middle = MiddleOf(mover.SectorAt(j));
  const bool is_beside = !(foot == edge.a) && !(foot == edge.b);
  const Vec2 apart = Difference(p, foot);
  if (is_beside || IsMovedFrom(apart)) {
    const Vec2 s = UnitOf(Difference(edge.b, edge.a));
    Vec2 n{-s.y, s.x};
    if (Dot(n, middle) < 0) n = {-n.x, -n.y};
    AddGap(n, Dot(Difference(p, edge.a), n));
  }
  if (!is_beside && IsWithinReach(apart)) AddGap(middle, Dot(apart, middle));
  const Vec2 s = UnitOf(Difference(f.b, f.a));
  const double side = mover.inner_side(j);
  const Vec2 inner{-s.y * side, s.x * side};
  for (const Vec2 q : {edge.a, edge.b}) {
    const Vec2 near = NearestOn(f, q);
    if ((near == f.a || near == f.b) && !IsMovedFrom(Difference(near, q))) continue;
    AddGap(inner, Dot(Difference(f.a, q), inner));
  }
}

// Equal normals are one gap, the smaller. Where there are too many, as with a large skin, those
// that are nearest stay: what is missing costs a better guess, not the proof.
void FreeOffset::AddGap(Vec2 n, double distance) {
  if (n == Vec2{} || std::abs(distance) > reach_ || !meter_.Spend(1)) return;
  distance += Dot(n, moved_);
  if (std::abs(distance) > reach_) return;
  for (Gap& gap : gaps_) {
    if (Dot(gap.n, n) < 1 - 0x1p-40) continue;
    gap.distance = std::fmin(gap.distance, distance);
    return;
  }
  if (gaps_.size() < kMostGaps) return gaps_.push_back({n, distance});
  const auto farthest =
      std::max_element(gaps_.begin(), gaps_.end(),
                       [](const Gap& a, const Gap& b) { return a.distance < b.distance; });
  if (distance < farthest->distance) *farthest = {n, distance};
}

// The shortest offset that leaves at least `gap` along all normals: along one of them, or to where
// the bounds of two meet.
std::optional<Vec2> FreeOffset::Offset(double gap) const {
  meter_.Spend(gaps_.size() * gaps_.size());
  const auto suffices = [&](Vec2 v) {
    return std::all_of(gaps_.begin(), gaps_.end(), [&](const Gap& g) {
      const double needed = gap - g.distance;
      return Dot(g.n, v) >= needed - std::abs(gap) * 0x1p-30;
    });
  };
  if (suffices({})) return Vec2{};
  std::optional<Vec2> best;
  const auto consider = [&](Vec2 v) {
    if (suffices(v) && (!best || Dot(v, v) < Dot(*best, *best))) best = v;
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
