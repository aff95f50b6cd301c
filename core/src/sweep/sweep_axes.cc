// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/sweep_axes.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "numeric/exact.h"
#include "numeric/rounded_vectors.h"

namespace carom::internal {
namespace {

// Returns a normal of the edge from a to b that points to the right of the edge.
Vec2 RightOf(Vec2 a, Vec2 b) { return {b.y - a.y, a.x - b.x}; }

}  // namespace

void LocalVertices::Add(Vec2 p, Vec2 origin) {
  const Vec2 local{p.x - origin.x, p.y - origin.y};
  x_[size_] = local.x;
  y_[size_++] = local.y;
  reach_ = std::max({reach_, std::abs(local.x), std::abs(local.y)});
}

double LocalVertices::Least(Vec2 n) const {
  Double2 least = LoadLanes(x_.data()) * n.x + LoadLanes(y_.data()) * n.y;
  for (size_t i = 2; i < size_; i += 2) {
    least = Min(least, LoadLanes(&x_[i]) * n.x + LoadLanes(&y_[i]) * n.y);
  }
  return std::min(least[0], least[1]);
}

double LocalVertices::Most(Vec2 n) const { return -Least({-n.x, -n.y}); }

// The gap between the shapes along an axis n at the start, and how fast the motion closes it, with
// error bounds. Let u = 2^-53 be the rounding unit, N = |n.x| + |n.y|, and R (`reach`) the largest
// magnitude of a coordinate relative to the origin. A relative coordinate errs by u R, its product
// with a coordinate of n by another u of itself, and the sum of two products by u of itself: so a
// projection n . p errs by 3.1 u N R, and the difference of two projections by 8.3 u N R. If n is
// the rounded normal of an edge of a convex polygon, other vertices of the polygon may be ahead of
// the edge by 2 u N R. The sum of the radii is rounded, and |n| is the root of a rounded sum of
// squares, so the product of both errs by 5 u of itself.
struct SweepAxes::Gap {
  Gap(const Motion& motion, Vec2 n, double ahead, double reach)
      : error(16 * kUnit * SumOfMagnitudes(n) * reach),
        gap(ahead),
        closing(-RoundedDot(n, motion.d)),
        closing_error(4 * kUnit * (std::abs(n.x * motion.d.x) + std::abs(n.y * motion.d.y))) {
    if (!motion.is_round()) return;
    const double radius = motion.rounded_radius() * std::sqrt(RoundedDot(n, n));
    gap -= radius;
    error += 8 * kUnit * (radius + std::abs(ahead));
  }

  bool is_sure() const { return gap > error; }
  // Returns whether more than 2 `slack` of the gap remain at all times of the path. The first
  // `slack` is the margin; the second covers the rounding of this sum, since a margin is at least
  // 16 ulp of the largest coordinate on the path.
  bool is_clear(double slack) const {
    return gap - error - std::max(closing + closing_error, 0.0) > 2 * slack;
  }
  double low() const {
    const double fastest = closing + closing_error;
    return fastest > 0 ? (gap - error) / fastest * kDown : HUGE_VAL;
  }
  double high() const {
    const double slowest = closing - closing_error;
    return slowest > 0 ? (gap + error) / slowest * kUp : HUGE_VAL;
  }

  double error;
  double gap;
  double closing;
  double closing_error;
};

// Returns the axis along n or along -n: the one along which the displacement does not move the
// shape forward.
SweepAxes::Axis SweepAxes::AlongPath(Vec2 n) const {
  if (RoundedDot(n, motion_.d) > 0) n = {-n.x, -n.y};
  return {n, mover_.Least(n)};
}

void SweepAxes::Start(const PlacedShape& mover, const Motion& motion, double margin) {
  const IndexedPolygon* const polygon = mover.polygon();
  const Segment axis = mover.edge(0);
  const std::array<Vec2, 2> ends{axis.a, axis.b};
  const std::span<const Vec2> vertices =
      polygon != nullptr ? polygon->polygon().ring(0) : std::span<const Vec2>(ends);
  applies_ = kHasFilters && vertices.size() <= LocalVertices::kMost && mover.ring_count() == 1;
  if (!applies_) return;
  motion_ = motion;
  margin_ = margin;
  origin_ = vertices[0];
  mover_.Clear();
  Vec2 sum{0, 0};
  for (const Vec2 p : vertices) {
    mover_.Add(p, origin_);
    sum = {sum.x + (p.x - origin_.x), sum.y + (p.y - origin_.y)};
  }
  mover_.Finish();
  const double part = 1 / static_cast<double>(vertices.size());
  middle_ = {sum.x * part + motion.d.x / 2, sum.y * part + motion.d.y / 2};
  // The two normals of the path: along them the motion does not change the gap between the shapes.
  const Vec2 left{-motion.d.y, motion.d.x};
  axes_[0] = {left, mover_.Least(left)};
  axes_[1] = {{-left.x, -left.y}, -mover_.Most(left)};
  axis_count_ = 2;
  // Keeps the normals of the edges at the front of the shape: no vertex of the shape is farther in
  // the direction -`along.n` than such an edge, except by a rounding error.
  for (size_t i = 0; i < vertices.size(); ++i) {
    const Vec2 a = vertices[i];
    const Vec2 b = vertices[i + 1 < vertices.size() ? i + 1 : 0];
    const Axis along = AlongPath(RightOf(a, b));
    const double own = RoundedDot(along.n, {a.x - origin_.x, a.y - origin_.y});
    const double slack = 16 * kUnit * SumOfMagnitudes(along.n) * mover_.reach();
    if (along.least >= own - slack) axes_[axis_count_++] = along;
  }
}

// Tests the axes of the shape, and the normals of those edges of the convex polygon `fixed` that
// face the motion. A counter-clockwise polygon has the outer normals of its edges on their right,
// and no other vertex is farther out than an edge.
std::optional<TouchBounds> SweepAxes::Bound(const IndexedPolygon& fixed) {
  const bool is_clockwise = fixed.convexity() == Convexity::kStrictClockwise;
  if (!applies_ || (fixed.convexity() != Convexity::kStrict && !is_clockwise)) return std::nullopt;
  const std::span<const Vec2> vertices = fixed.polygon().ring(0);
  if (vertices.size() > LocalVertices::kMost) return std::nullopt;
  fixed_.Clear();
  for (const Vec2 p : vertices) fixed_.Add(p, origin_);
  fixed_.Finish();
  const double reach = std::max(mover_.reach(), fixed_.reach());
  TouchBounds bounds;
  bool is_apart = false;
  const auto add = [&](Vec2 n, double ahead) {
    const Gap gap(motion_, n, ahead, reach);
    if (gap.is_clear(margin_ * SumOfMagnitudes(n))) bounds.is_clear = true;
    if (gap.gap > -gap.error) bounds.high = std::max(bounds.high, gap.high());
    if (!gap.is_sure()) return;
    is_apart = true;
    bounds.low = std::max(bounds.low, gap.low());
  };
  for (size_t i = 0; i < axis_count_; ++i)
    add(axes_[i].n, axes_[i].least - fixed_.Most(axes_[i].n));
  const double turn = is_clockwise ? -1 : 1;
  for (size_t i = 0; i < vertices.size(); ++i) {
    const Vec2 a = vertices[i];
    const Vec2 right = RightOf(a, vertices[i + 1 < vertices.size() ? i + 1 : 0]);
    const Vec2 n{turn * right.x, turn * right.y};
    if (RoundedDot(n, motion_.d) >= 0) continue;
    add(n, mover_.Least(n) - RoundedDot(n, {a.x - origin_.x, a.y - origin_.y}));
  }
  return is_apart ? std::optional(bounds) : std::nullopt;
}

// Tests one axis: from the point of the edge nearest to `middle_` (the shape's mean vertex in the
// middle of the path) towards `middle_`. Any axis with a large enough gap is a proof, so the choice
// needs no exactness.
bool SweepAxes::IsClear(const Segment& edge) const {
  if (!applies_) return false;
  const Vec2 a{edge.a.x - origin_.x, edge.a.y - origin_.y};
  const Vec2 b{edge.b.x - origin_.x, edge.b.y - origin_.y};
  const Vec2 s{b.x - a.x, b.y - a.y};
  const Vec2 to_middle{middle_.x - a.x, middle_.y - a.y};
  const double length2 = RoundedDot(s, s);
  const double t =
      length2 > 0 ? std::min(std::max(RoundedDot(to_middle, s) / length2, 0.0), 1.0) : 0;
  const Vec2 n{to_middle.x - t * s.x, to_middle.y - t * s.y};
  const double reach =
      std::max({mover_.reach(), std::abs(a.x), std::abs(a.y), std::abs(b.x), std::abs(b.y)});
  const Gap gap(motion_, n, mover_.Least(n) - std::max(RoundedDot(n, a), RoundedDot(n, b)), reach);
  return gap.is_clear(margin_ * SumOfMagnitudes(n));
}

}  // namespace carom::internal
