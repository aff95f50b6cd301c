// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "slide/round_corner.h"

#include <algorithm>
#include <cmath>

#include "blocking/blocking_mover.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "numeric/rounded_vectors.h"

namespace carom::internal {
namespace {

Vec2 Plus(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }

}  // namespace

// `end` should be the index of the axis end that is nearer to the vertex: if the other end may be
// nearer, `is_in_front` stays false.
RoundCorner::RoundCorner(Vec2 vertex, uint32_t end, const RoundMove& move, double until)
    : move_(&move),
      vertex_(vertex),
      end_(end),
      p_(move.end(end)),
      w_(RoundedDifference(p_, vertex)),
      last_(Plus(w_, {until * move.d.x, until * move.d.y})) {
  const Side start = SideOf(p_, {});
  if (start != Side::kBeyond && start != Side::kOn) return;
  path_.is_apart = SideOfPath(move.d) == Side::kBeyond;
  path_.is_strict = path_.is_apart && start == Side::kBeyond;
  if (!path_.is_apart) FindEntry(until);
  const Vec2 other = move.end(1 - end);
  path_.is_in_front = p_ == other || IsBelow({other, p_});
}

// The dot product errs by less than 16 rounding units (2^-53) of the magnitudes of its terms. The
// term of 64 ulp allows for the moves that `SideOfMove` tests, which are within 64 ulp of this
// path.
bool RoundCorner::IsBelow(const Segment& v) const {
  const Vec2 along = RoundedDifference(v.b, v.a);
  const double magnitude = SumOfMagnitudes(w_) + SumOfMagnitudes(last_);
  const double error = SumOfMagnitudes(along) * (16 * kFilterUnit * magnitude + 64 * move_->ulp);
  return RoundedDot(along, w_) < -error && RoundedDot(along, last_) < -error;
}

// Decides by the sign of (p + d - q)^2 - r^2, with q the vertex and r the radius.
Side RoundCorner::SideOf(Vec2 p, Vec2 d) const {
  const auto side = [](int sign) { return sign > 0 ? Side::kBeyond : Side::kWithin; };
  const Vec2 apart = RoundedDifference(p, vertex_);
  const Vec2 at = Plus(apart, d);
  const double gap = RoundedDot(at, at) - move_->radius * move_->radius;
  const double reach = SumOfMagnitudes(apart) + SumOfMagnitudes(d) + move_->radius;
  if (std::abs(gap) > 16 * kFilterUnit * reach * reach) return side(Sign(gap));
  BoundedPairVec2 w = ExactDifference(p, vertex_);
  if (!(d == Vec2{})) w = {w.x + ExactValue(d.x), w.y + ExactValue(d.y)};
  const BoundedPair r = ExactValue(move_->radius);
  const BoundedPair exact = Dot(w, w) - r * r;
  if (!exact.is_certain()) return Side::kUnknown;
  return exact.sign() == 0 ? Side::kOn : side(exact.sign());
}

// The end of the axis is at least the radius away at the start, and comes nearer until w . d is 0,
// where w is the vector from the vertex to the moving end of the axis. With the value of w at the
// start and the radius r, the end of the axis never comes as near as r if (|w|^2 - r^2) |d|^2 > (w
// . d)^2.
Side RoundCorner::SideOfPath(Vec2 d) const {
  if (d == Vec2{} || DotSign({vertex_, p_}, {{0, 0}, d}) >= 0) return Side::kBeyond;
  const Vec2 last = Plus(w_, d);
  const double reach = SumOfMagnitudes(w_) + SumOfMagnitudes(d);
  const double at_end = RoundedDot(last, d);
  const double error = 16 * kFilterUnit * reach * SumOfMagnitudes(d);
  if (at_end < -error) {
    const Side side = SideOf(p_, d);
    return side == Side::kOn ? Side::kBeyond : side;
  }
  const BoundedPairVec2 exact_w = ExactDifference(p_, vertex_);
  const BoundedPairVec2 exact_d = ExactValue(d);
  const BoundedPair r = ExactValue(move_->radius);
  const BoundedPair along = Dot(exact_w, exact_d);
  const BoundedPair least = (Dot(exact_w, exact_w) - r * r) * Dot(exact_d, exact_d) - along * along;
  return least.is_certain() && least.sign() > 0 ? Side::kBeyond : Side::kUnknown;
}

Side RoundCorner::SideOfMove(Vec2 d, const Segment& end_axis) const {
  const Side moved = SideOfPath(d);
  if (moved != Side::kBeyond) return moved;
  const Side placed = SideOf(end_ == 0 ? end_axis.a : end_axis.b, {});
  return placed == Side::kOn ? Side::kBeyond : placed;
}

// Sets `entry_` to bounds of the time at which the end of the axis comes as near to the vertex as
// the radius, t = C / (B + sqrt(A r^2 - (z x d)^2)), where z = -w is the vector from the end of the
// axis to the vertex, d the displacement, r the radius, A = d . d, B = z . d and C = z . z - r^2.
// Leaves `entry_` empty if the time is not certainly within the path.
void RoundCorner::FindEntry(double until) {
  const Vec2 d = move_->d;
  const double reach = SumOfMagnitudes(w_) + move_->radius;
  const double along = -RoundedDot(w_, d);
  const RoundedCross across(w_.y * d.x, w_.x * d.y);
  const double length2 = RoundedDot(d, d);
  const double square = move_->radius * move_->radius;
  const double left = length2 * square;
  const double discriminant = left - across.value * across.value;
  const double error = 32 * kFilterUnit * (left + across.magnitude * across.magnitude);
  const double along_error = 16 * kFilterUnit * reach * SumOfMagnitudes(d);
  // The path must not nearly graze the circle about the vertex, so that the divisor is far from 0.
  if (!(discriminant > 0x1p-20 * left) || !(along > 2 * along_error)) return;
  const double root = std::sqrt(discriminant);
  const double root_error = error / root + 4 * kFilterUnit * root;
  const double gap = RoundedDot(w_, w_) - square;
  const double gap_error = 16 * kFilterUnit * reach * reach;
  const double divisor = along + root;
  const double divisor_error = along_error + root_error + 4 * kFilterUnit * divisor;
  FaceEntry entry;
  entry.low = std::fmax(0, gap - gap_error) / (divisor + divisor_error) * kDown;
  entry.high = (gap + gap_error) / (divisor - divisor_error) * kUp;
  entry.end = end_;
  if (!(entry.high < 1 - kFaceTieMargin)) return;
  const double last = std::fmin(entry.high, until);
  last_ = {w_.x + last * d.x, w_.y + last * d.y};
  entry_ = entry;
}

// Returns the rounded-up time at which the end of the axis comes as near to the vertex as the
// radius. Computes the normal as (-root d - (z x d) (d.y, -d.x)) / (|d|^2 r), as `RoundNormal`
// does, with z the vector from the end of the axis to the vertex, d the displacement, r the radius
// and root = sqrt(|d|^2 r^2 - (z x d)^2).
std::optional<double> RoundCorner::RoundedUpEntry(std::optional<Vec2>& normal) const {
  const Motion motion{move_->d, move_->radius};
  const auto zx = Difference(vertex_.x, p_.x);
  const auto zy = Difference(vertex_.y, p_.y);
  const BoundedPairVec2 z = ExactDifference(vertex_, p_);
  const BoundedPairVec2 d = ExactValue(motion.d);
  const BoundedPair r = ExactValue(move_->radius);
  const BoundedPair across = Cross(z, d);
  const BoundedPair length2 = Dot(d, d);
  const BoundedPair root = SquareRoot(length2 * (r * r) - across * across);
  const BoundedPair gap = ToBoundedPair(zx * zx + zy * zy - Square(move_->radius));
  time_ = gap / (Dot(z, d) + root);
  const BoundedPair scale = length2 * r;
  const BoundedPair x = (-(root * d.x) - across * d.y) / scale;
  const BoundedPair y = (across * d.x - root * d.y) / scale;
  Vec2 n;
  constexpr double kSlack = 0x1p-93;
  if (RoundToNearest(x, kSlack, n.x) && RoundToNearest(y, kSlack, n.y)) normal = n;
  if (const auto t = RoundedUp(time_)) return t;
  time_ = RoundTouchTime(motion, meeting(), IntervalEnd::kBegin);
  return RoundedUp(time_);
}

std::optional<bool> RoundCorner::IsEnteredBy(Vec2 v) const {
  const BoundedPairVec2 w = ExactDifference(p_, vertex_);
  const BoundedPairVec2 exact_v = ExactValue(v);
  const BoundedPair toward = Dot(w, exact_v) + time_ * Dot(ExactValue(move_->d), exact_v);
  if (!toward.is_certain()) return std::nullopt;
  return toward.sign() < 0;
}

}  // namespace carom::internal
