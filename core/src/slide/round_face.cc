// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "slide/round_face.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "carom/predicates.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "numeric/rounded_vectors.h"

namespace carom::internal {
namespace {

Side SideOfSign(int sign) {
  if (sign == 0) return Side::kOn;
  return sign > 0 ? Side::kBeyond : Side::kWithin;
}

Expansion<8> ProductOfDoubles(double a, double b) {
  Expansion<8> product;
  const TwoDoubles exact = TwoProduct(a, b);
  product.Append(exact.low);
  product.Append(exact.high);
  return product;
}

// Returns the exact product of a and b, two differences of doubles. If each difference is itself a
// double, as it is for nearby numbers, one product of doubles suffices.
Expansion<8> Product(const Expansion<2>& a, const Expansion<2>& b) {
  if (a.size != 1 || b.size != 1) return a * b;
  return ProductOfDoubles(a.part[0], b.part[0]);
}

}  // namespace

std::optional<double> RoundedUp(const BoundedPair& t) {
  if (!(t.error < HUGE_VAL)) return std::nullopt;
  const double high = RoundedUpEnd(t, 1) + 0.0;
  if (!kHasFilters || RoundedUpEnd(t, -1) + 0.0 != high) return std::nullopt;
  return high;
}

RoundFace::RoundFace(Vec2 on, const Segment& along, const RoundMove& move, bool is_of_vertex)
    : move_(&move), line_point_(on), along_(along), is_of_vertex_(is_of_vertex) {
  s_ = RoundedDifference(along.b, along.a);
  reach_ = move.radius * std::sqrt(RoundedDot(s_, s_));
  const Vec2 apart = RoundedDifference(move.axis.a, on);
  if (s_.x * apart.y - s_.y * apart.x < 0) {
    std::swap(along_.a, along_.b);
    s_ = {-s_.x, -s_.y};
  }
  const RoundedCross rate(s_.y * move.d.x, s_.x * move.d.y);
  rate_ = rate.value;
  rate_error_ = rate.error();
  for (const uint32_t end : {0U, 1U}) {
    const Vec2 from = RoundedDifference(move.end(end), on);
    const RoundedCross across(s_.x * from.y, s_.y * from.x);
    gap_[end] = across.value - reach_;
    error_[end] = 16 * kFilterUnit * (across.magnitude + reach_);
  }
}

// Decides by the sign of s x (p + d - a) - r |s|, where s is the vector of the line, a a point of
// the line and r the radius. In doubles the cross product errs by less than 8 rounding units
// (2^-53) of the magnitudes of its terms.
Side RoundFace::SideOf(Vec2 p, Vec2 d) const {
  const Vec2 apart = RoundedDifference(p, line_point_);
  const Vec2 at{apart.x + d.x, apart.y + d.y};
  const double gap = (s_.x * at.y - s_.y * at.x) - reach_;
  const double magnitude = std::abs(s_.x) * (std::abs(apart.y) + std::abs(d.y)) +
                           std::abs(s_.y) * (std::abs(apart.x) + std::abs(d.x));
  if (std::abs(gap) > 16 * kFilterUnit * (magnitude + reach_)) return SideOfSign(Sign(gap));
  if (is_upright() || is_level()) {
    if (s_ == Vec2{}) return Side::kUnknown;
    const bool is_up = is_upright();
    const bool is_positive = is_up ? s_.y < 0 : s_.x > 0;
    const double from = is_up ? line_point_.x : line_point_.y;
    const double to = is_up ? p.x : p.y;
    const double by = is_up ? d.x : d.y;
    const auto apart_by = is_positive ? Difference(to, from) : Difference(from, to);
    return SideOfSign((apart_by + Difference(is_positive ? by : -by, move_->radius)).sign());
  }
  BoundedPairVec2 z = ExactDifference(p, line_point_);
  if (!(d == Vec2{})) z = {z.x + ExactValue(d.x), z.y + ExactValue(d.y)};
  const BoundedPair exact = Cross(ExactDifference(along_.b, along_.a), z) - Reach();
  return exact.is_certain() ? SideOfSign(exact.sign()) : Side::kUnknown;
}

bool RoundFace::FindPath(PathSide& path) const {
  path = {false, true, true};
  for (const uint32_t end : {0U, 1U}) {
    if (!(gap_[end] > error_[end])) {
      const Side side = gap_[end] < -error_[end] ? Side::kWithin : SideOf(move_->end(end), {});
      if (side != Side::kBeyond && side != Side::kOn) return false;
      path.is_strict = path.is_strict && side == Side::kBeyond;
    }
    const double last = gap_[end] - rate_;
    const double error = (error_[end] + rate_error_) * (1 + 0x1p-20);
    if (last > error || !path.is_apart) continue;
    const Side side = last < -error ? Side::kWithin : SideOf(move_->end(end), move_->d);
    path.is_apart = side == Side::kBeyond || side == Side::kOn;
  }
  path.is_in_front = true;
  return true;
}

// An end of the axis that is nearer to the line than the radius and certainly beside the edge is
// nearer to the edge than the radius. For a line through a vertex, both ends must be nearer,
// because placing the axis may turn it slightly.
Side RoundFace::SideOfMove(Vec2 d, const Segment& end_axis) const {
  Side least = Side::kBeyond;
  for (const bool is_placed : {false, true}) {
    int within = 0;
    for (const uint32_t end : {0U, 1U}) {
      const Vec2 placed = end == 0 ? end_axis.a : end_axis.b;
      const Side side = is_placed ? SideOf(placed, {}) : SideOf(move_->end(end), d);
      if (side == Side::kBeyond || side == Side::kOn) continue;
      least = Side::kUnknown;
      if (side == Side::kWithin && PlaceOf(end, d, 64 * move_->ulp) == Place::kBeside) {
        ++within;
      }
    }
    if (within > (is_of_vertex_ ? 1 : 0)) return Side::kWithin;
  }
  return least;
}

BoundedPair RoundFace::Reach() const {
  if (!exact_reach_) {
    const BoundedPairVec2 s = ExactDifference(along_.b, along_.a);
    exact_reach_ = ExactValue(move_->radius) * SquareRoot(Dot(s, s));
  }
  return *exact_reach_;
}

// The moving shape is a capsule: its axis is the segment within it. If the face is that of an edge
// of a wall, decides where along that edge the end `end` of the axis lies after the displacement of
// the capsule by d. If the face is that of a vertex of a wall, decides where along the displaced
// axis the vertex lies.
RoundFace::Place RoundFace::PlaceOf(uint32_t end, Vec2 d, double slack) const {
  const Vec2 p = is_of_vertex_ ? line_point_ : move_->end(end);
  const Vec2 apart = RoundedDifference(p, along_.a);
  const Vec2 at = is_of_vertex_ ? RoundedDifference(apart, d) : Vec2{apart.x + d.x, apart.y + d.y};
  const double along = RoundedDot(s_, at);
  const double length2 = RoundedDot(s_, s_);
  const double magnitude = SumOfMagnitudes(apart) + SumOfMagnitudes(d) + SumOfMagnitudes(s_);
  const double error = SumOfMagnitudes(s_) * (16 * kFilterUnit * magnitude + slack);
  if (along > error && along < length2 - error) return Place::kBeside;
  if (along < -error) return Place::kBeforeBegin;
  return along > length2 + error ? Place::kBehindEnd : Place::kUnknown;
}

int RoundFace::SideOf(Vec2 q) const { return CrossSign(along_.a, along_.b, line_point_, q); }

bool RoundFace::IsEnteredBy(Vec2 v) const {
  const RoundedCross rounded(s_.x * v.y, s_.y * v.x);
  if (rounded.is_certain()) return rounded.value < 0;
  const BoundedPair exact = Cross(ExactDifference(along_.b, along_.a), ExactValue(v));
  if (exact.is_certain()) return exact.sign() < 0;
  return CrossSign(along_.a, along_.b, {0, 0}, v) < 0;
}

// The entry is when an end of the axis comes as near to the line as the radius: at the time
// gap_[end] / rate_, for each end.
bool RoundFace::FindEntry(FaceEntry& entry) const {
  const Vec2 d = move_->d;
  const Segment& axis = move_->axis;
  const double slowest = rate_ - rate_error_;
  if (!(slowest > rate_error_)) return false;
  double low[2];
  double high[2];
  for (const uint32_t end : {0U, 1U}) {
    low[end] = std::fmax(0, gap_[end] - error_[end]) / (rate_ + rate_error_) * kDown;
    high[end] = (gap_[end] + error_[end]) / slowest * kUp;
  }
  const bool is_point = axis.a == axis.b;
  const bool is_parallel =
      (axis.a.x == axis.b.x && is_upright()) || (axis.a.y == axis.b.y && is_level());
  entry.is_of_both = is_parallel && !is_of_vertex_ && !is_point;
  entry.vertex.reset();
  entry.end = is_parallel || is_of_vertex_ || is_point || high[0] <= high[1] ? 0 : 1;
  entry.low = low[entry.end];
  entry.high = high[entry.end];
  if (!is_parallel && !is_of_vertex_ && !is_point) {
    if (!(entry.high + kFaceTieMargin < low[1 - entry.end])) return false;
  }
  if (!(entry.high < 1 - kFaceTieMargin)) return false;
  // The exact time of the entry may be anywhere in [low, high].
  const double slack =
      (entry.high - entry.low) * std::max(std::abs(d.x), std::abs(d.y)) + 64 * move_->ulp;
  const Vec2 by{entry.high * d.x, entry.high * d.y};
  const Place place = PlaceOf(entry.end, by, slack);
  if (!entry.is_of_both) return place == Place::kBeside;
  const Place other = PlaceOf(1, by, slack);
  if (place == Place::kUnknown || other == Place::kUnknown) return false;
  if (place != Place::kBeside && other != Place::kBeside) return false;
  if (place == other) return true;
  // One end of the axis is beside the edge and the other end is beyond a vertex of the edge. The
  // axis is parallel to the edge, so the axis comes as near as the radius to that vertex and to the
  // edge at the same time.
  entry.is_of_both = false;
  entry.end = place == Place::kBeside ? 0 : 1;
  const bool is_at_begin = place == Place::kBeforeBegin || other == Place::kBeforeBegin;
  entry.vertex = is_at_begin ? along_.a : along_.b;
  return true;
}

// Returns the time, rounded up, at which the capsule comes to an edge that is parallel to a
// coordinate axis: the gap between capsule and edge divided by the speed at which the gap closes.
// The remainder gap - t * closing of a rounded quotient t is a double if the gap is a double; if
// the remainder is positive, t was rounded down, and the next double is the answer.
std::optional<double> RoundFace::RoundedUpParallelEntry(const EdgeMeeting& meeting) const {
  const bool is_up = is_upright();
  const bool is_positive = is_up ? s_.y < 0 : s_.x > 0;
  const TwoDoubles apart = is_up ? TwoDiff(meeting.moving.a.x, line_point_.x)
                                 : TwoDiff(meeting.moving.a.y, line_point_.y);
  const TwoDoubles gap = TwoDiff(is_positive ? apart.high : -apart.high, move_->radius);
  const double closing = (is_up ? move_->d.x : move_->d.y) * (is_positive ? -1 : 1);
  if (apart.low == 0 && gap.low == 0 && gap.high >= 0 && closing > 0) {
    const double t = gap.high / closing;
    const TwoDoubles back = TwoProduct(t, closing);
    return (gap.high - back.high) - back.low > 0 ? NextAbove(t) : t;
  }
  const RoundQuotient t =
      AxisParallelTouch({move_->d, move_->radius}, meeting, IntervalEnd::kBegin);
  return RoundedUp(t.n / t.m);
}

// Returns (z x s - r |s|) / (d x s) rounded up, where z is the vector from the end of the axis to a
// point of the line, s the vector of the line, r the radius and d the displacement. If the shape
// touches the edge at the start, the terms of the numerator cancel up to their last bits.
// Therefore, with c = z x s and a double l near |s|, the numerator is computed as ((c - r l) (c + r
// l) + r^2 (l^2 - |s|^2)) / (c + r |s|), where the differences c - r l and l^2 - |s|^2 are exact
// expansions.
std::optional<double> RoundFace::RoundedUpEntry(uint32_t end) const {
  const Motion motion{move_->d, move_->radius};
  const EdgeMeeting meeting = MeetingOf(end);
  if (is_upright() || is_level()) return RoundedUpParallelEntry(meeting);
  const Vec2 p = meeting.moving.a;
  const BoundedPairVec2 s = ExactDifference(along_.b, along_.a);
  const BoundedPair rate = Cross(ExactValue(motion.d), s);
  const BoundedPair rough = Cross(ExactDifference(line_point_, p), s) - Reach();
  if (rough.value.high > 0x1p-30 * reach_) {
    if (const auto t = RoundedUp(rough / rate)) return t;
  }
  const auto sx = Difference(along_.b.x, along_.a.x);
  const auto sy = Difference(along_.b.y, along_.a.y);
  const auto c =
      Product(Difference(line_point_.x, p.x), sy) - Product(Difference(line_point_.y, p.y), sx);
  const auto length2 = Product(sx, sx) + Product(sy, sy);
  const double l = std::sqrt(length2.estimate());
  const BoundedPair r = ExactValue(move_->radius);
  const BoundedPair across = ToBoundedPair(c);
  const BoundedPair first = ToBoundedPair(c - Expand(TwoProduct(move_->radius, l)));
  const BoundedPair second = ToBoundedPair(Square(l) - length2);
  const BoundedPair n =
      (first * (across + r * ExactValue(l)) + r * r * second) / (across + Reach());
  if (const auto t = RoundedUp(n / rate)) return t;
  return RoundedUp(RoundTouchTime(motion, meeting, IntervalEnd::kBegin));
}

}  // namespace carom::internal
