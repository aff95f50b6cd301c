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

// Returns the unit vector that bisects a sector of directions.
Vec2 MiddleOf(const Sector& sector) {
  const Vec2 first = UnitOf(RoundedDifference(sector.first.to, sector.first.from));
  const Vec2 last = UnitOf(RoundedDifference(sector.last.to, sector.last.from));
  if (sector.turn == 0) return {-first.y, first.x};
  const Vec2 middle = UnitOf({first.x + last.x, first.y + last.y});
  return sector.turn > 0 ? middle : Vec2{-middle.x, -middle.y};
}

}  // namespace

// Adds four gaps: between each end of either edge and the nearest point of the other edge. The
// normal of a gap points from the fixed edge to the moving edge.
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

// Adds the gaps (distances along normals) of vertex j of the ring with the obstacle's edge, along
// the edge's normal on the side of the vertex's inner sector (the directions into the ring's
// interior); of edge j with the ends of the obstacle's edge; and, if vertex j is not beside the
// obstacle's edge, of vertex j with the nearer end of that edge, along the bisector of the inner
// sector. A vertex that the displacement of `Move` shifts along an edge may leave that edge, and
// still needs the gap along the edge's normal. Therefore, if `Move` has set a displacement, the
// gaps along the normals of all edges at both vertices are added; one of these normals is
// perpendicular to the displacement.
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

// Adds a gap: the distance of a feature of the shape from one of an obstacle along the normal n.
// Merges gaps of nearly equal normals into one, the smaller gap. Keeps the `kMostGaps` smallest
// gaps if there are more, as when a large skin (the gap to keep) makes `reach_` cover many
// polygons. When gaps are left out, the guess of the offset is worse, but the proof that the
// resulting pose is safe stays correct.
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

// Tries a zero offset, then offsets along one gap's normal, then offsets that enlarge two of the
// gaps to exactly `gap`.
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
