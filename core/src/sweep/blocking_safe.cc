// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/blocking_safe.h"

#include <algorithm>
#include <cmath>

#include "numeric/box_distance.h"
#include "sweep/blocking_overlap.h"
#include "sweep/sweep_measures.h"

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

bool AreWithin(Vec2 a, Vec2 b, double most) {
  return std::abs(a.x - b.x) <= most && std::abs(a.y - b.y) <= most;
}

}  // namespace

// First about the exact pose, then back along the path by ever larger parts of it. What is no
// farther from the start than touching is not worth a try.
Vec2 SafePose::Find(const SafeRequest& request) {
  const Vec2 from = request.start.pose().position;
  const Vec2 d = request.sweep.motion().d;
  if (d == Vec2{} || (request.hit && request.hit->starts_inside)) return from;
  const Box at_start = request.start.mover().shape().bounds();
  const double ulp = UlpOf(MovedBox(at_start, d, 0, request.fraction));
  const Vec2 base = Normalized(PointOnPath(from, d, request.fraction));
  if (const std::optional<Vec2> near = FindNear(request, base, ulp)) return *near;
  for (const int power : {-44, -32, -20, -10, -5, -2, -1}) {
    const double t = request.fraction * (1 - std::ldexp(1, power));
    const Vec2 position = Normalized(PointOnPath(from, d, t));
    if (meter_.stopped() || AreWithin(position, from, 8 * ulp)) break;
    if (IsSafe(request, position, t)) return position;
  }
  return from;
}

// What is hit at once leaves the shape where it is, so that pushing on against it moves nothing.
std::optional<Vec2> SafePose::FindNear(const SafeRequest& request, Vec2 base, double ulp) {
  const Vec2 from = request.start.pose().position;
  const auto is_start = [&](Vec2 p) { return request.hit && AreWithin(p, from, 8 * ulp); };
  if (request.skin == 0) {
    if (is_start(base)) return from;
    if (IsSafe(request, base, request.fraction)) return base;
  }
  Pose pose = request.start.pose();
  pose.position = base;
  if (there_.Place(request.shape, pose, meter_)) return std::nullopt;
  FindGaps(there_.mover(), request.skin + 16 * ulp);
  for (const double skin : {request.skin, 0.0}) {
    for (const double steps : {0, 1, 2, 4, 6, 8}) {
      const std::optional<Vec2> offset = Offset(skin + steps * ulp);
      if (!offset) continue;
      const Vec2 position = Normalized(Vec2{base.x + offset->x, base.y + offset->y});
      if (meter_.stopped() || is_start(position)) return from;
      if (IsSafe(request, position, request.fraction)) return position;
    }
    if (request.skin == 0) break;
  }
  return std::nullopt;
}

// The proof. The shape is placed as it would be by whoever asks next, and the sweep to it is the
// one by the difference of positions. What the sweep that was asked is clear of needs no look.
bool SafePose::IsSafe(const SafeRequest& request, Vec2 position, double fraction) {
  const Vec2 from = request.start.pose().position;
  const Vec2 d = Normalized(Difference(position, from));
  Pose pose = request.start.pose();
  pose.position = position;
  if (!IsAccepted(position) || !IsAccepted(d)) return false;
  if (there_.Place(request.shape, pose, meter_)) return false;
  const bool is_covered = request.sweep.Covers(d, fraction);
  if (is_covered && request.sweep.unclear().empty()) return !meter_.stopped();
  check_.Start(request.start, d, request.policy, request.sweep.known());
  if (!(is_covered ? check_.IsFree(request.sweep.unclear()) : check_.IsFree())) return false;
  // One that was left on the way counts, as the shape stands there.
  const BlockingMover& mover = there_.mover();
  const bool is_round = mover.is_round() && mover.shape().radius() > 4 * check_.margin();
  const auto overlaps = [&](const Obstacle& fixed) {
    if (is_round && !fixed.is_round()) {
      return ComesCloser(mover, *fixed.core, check_.axes(), meter_);
    }
    return OverlapsInMoreThanTouch(mover, *fixed.core, meter_, fixed.radius());
  };
  const auto near = check_.unclear();
  return std::all_of(near.begin(), near.end(), [&](const Obstacle& fixed) {
    return (check_.PassesOver(fixed) || !overlaps(fixed)) && !meter_.stopped();
  });
}

// In plain doubles: a guess of where there is room. Of gaps that are nearly equal, and of too many,
// the order decides, so that it must not be that of visits.
void SafePose::FindGaps(const BlockingMover& mover, double reach) {
  gaps_.clear();
  near_.clear();
  const auto visit = [&](const Obstacle& fixed) {
    near_.push_back(fixed);
    return true;
  };
  const Box near = Grown(mover.shape().bounds(), reach);
  obstacles_.VisitNear(SweptBox(near, {}, 0), meter_, std::ref(visit));
  SortBySource(near_);
  for (const Obstacle& fixed : near_) FindGapsTo(fixed, mover, reach);
}

// Of all pairs of edges near each other.
void SafePose::FindGapsTo(const Obstacle& fixed, const BlockingMover& mover, double reach) {
  const PlacedShape& shape = mover.shape();
  const double radius = shape.radius() + fixed.radius();
  const Box near = Grown(Grown(shape.bounds(), reach), fixed.radius());
  fixed.core->VisitEdges(
      meter_, [&](const Box& box) { return near.Intersects(box); },
      [&](size_t, const Segment& edge) {
        if (mover.is_round()) {
          AddRoundGap(shape.edge(0), edge, radius, reach);
          return true;
        }
        const Box edge_box = Grown(BoundsOf(edge), reach + radius);
        return shape.VisitEdges(
            meter_, [&](const Box& box) { return edge_box.Intersects(box); },
            [&](size_t j, const Segment& moving) {
              if (radius > 0) {
                AddRoundGap(moving, edge, radius, reach);
              } else {
                AddRingGaps(mover, edge, j, reach);
              }
              return true;
            });
      });
}

// Along the line from the nearest point of the edge to the moving one, at each end of both.
void SafePose::AddRoundGap(const Segment& moving, const Segment& edge, double radius,
                           double reach) {
  for (const Vec2 p : {moving.a, moving.b}) {
    const Vec2 apart = Difference(p, NearestOn(edge, p));
    AddGap(UnitOf(apart), std::sqrt(Dot(apart, apart)) - radius, reach);
  }
  for (const Vec2 q : {edge.a, edge.b}) {
    const Vec2 apart = Difference(NearestOn(moving, q), q);
    AddGap(UnitOf(apart), std::sqrt(Dot(apart, apart)) - radius, reach);
  }
}

// A vertex beside an edge, whose sector says which side is free; an edge beside a vertex; and a
// vertex beside another, where neither is beside an edge.
void SafePose::AddRingGaps(const BlockingMover& mover, const Segment& edge, size_t j,
                           double reach) {
  const Segment f = mover.shape().edge(j);
  const Vec2 p = f.a;
  const Vec2 foot = NearestOn(edge, p);
  const Vec2 middle = MiddleOf(mover.SectorAt(j));
  if (!(foot == edge.a) && !(foot == edge.b)) {
    const Vec2 s = UnitOf(Difference(edge.b, edge.a));
    Vec2 n{-s.y, s.x};
    if (Dot(n, middle) < 0) n = {-n.x, -n.y};
    AddGap(n, Dot(Difference(p, edge.a), n), reach);
  } else {
    const Vec2 apart = Difference(p, foot);
    if (std::abs(apart.x) <= reach && std::abs(apart.y) <= reach) {
      AddGap(middle, Dot(apart, middle), reach);
    }
  }
  const Vec2 s = UnitOf(Difference(f.b, f.a));
  const double side = mover.inner_side(j);
  const Vec2 inner{-s.y * side, s.x * side};
  for (const Vec2 q : {edge.a, edge.b}) {
    const Vec2 near = NearestOn(f, q);
    if (near == f.a || near == f.b) continue;
    AddGap(inner, Dot(Difference(f.a, q), inner), reach);
  }
}

// Equal normals are one gap, the smaller. Where there are too many, as with a large skin, those
// that are nearest stay: what is missing costs a better guess, not the proof.
void SafePose::AddGap(Vec2 n, double distance, double reach) {
  if (n == Vec2{} || std::abs(distance) > reach || !meter_.Spend(1)) return;
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
std::optional<Vec2> SafePose::Offset(double gap) const {
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
