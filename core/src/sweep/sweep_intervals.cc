// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/sweep_intervals.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "carom/predicates.h"
#include "numeric/bounded.h"
#include "numeric/exact.h"
#include "shape/approach.h"

namespace carom::internal {
namespace {

// Computes the interval of times in which a fixed and a moving edge touch, from the times of their
// meetings: a meeting is a vertex of one edge that touches the other edge or a vertex of it. The
// begin of the interval is the earliest time, its end the latest. Of meetings at equal times it
// keeps one of a moving vertex on the fixed edge, if there is one.
class Hull {
 public:
  explicit Hull(const Motion& motion) : motion_(motion) {}

  void Add(const EdgeMeeting& meeting) {
    const SweepTime t = SweepTime::OfTouch(motion_, meeting);
    if (!interval_) {
      interval_ = {t, t};
      return;
    }
    if (IsBetter(t, interval_->begin, -1)) interval_->begin = t;
    if (IsBetter(t, interval_->end, 1)) interval_->end = t;
  }

  const std::optional<SweepInterval>& interval() const { return interval_; }

  std::optional<SweepInterval> Clipped() const {
    if (!interval_) return std::nullopt;
    SweepInterval result = *interval_;
    const auto zero = SweepTime::Zero();
    const auto one = SweepTime::One();
    if (SweepTime::Compare(motion_, result.end, zero) < 0) return std::nullopt;
    if (SweepTime::Compare(motion_, result.begin, one) > 0) return std::nullopt;
    if (SweepTime::Compare(motion_, result.begin, zero) <= 0) result.begin = zero;
    if (SweepTime::Compare(motion_, result.end, one) >= 0) result.end = one;
    return result;
  }

 private:
  bool IsBetter(const SweepTime& t, const SweepTime& best, int direction) const {
    const int order = SweepTime::Compare(motion_, t, best) * direction;
    return order > 0 ||
           (order == 0 && t.meeting().is_on_fixed_edge() && !best.meeting().is_on_fixed_edge());
  }

  const Motion& motion_;
  std::optional<SweepInterval> interval_;
};

// The numbers, 0 to 7, of the eight meetings of a fixed and a moving edge (pairs of features that
// may touch): vertex p (0 or 1) of the moving edge on the fixed edge, vertex q of the fixed edge on
// the moving edge, or both vertices. They number the bits of a set of meetings.
constexpr size_t OnFixedEdge(size_t p) { return p; }
constexpr size_t OnMovingEdge(size_t q) { return 2 + q; }
constexpr size_t OfVertices(size_t q, size_t p) { return 4 + 2 * q + p; }

// The vector w from a moving vertex (p at the start, displaced by t d) to a fixed vertex q at time
// t, in doubles, and, for each component of w, the sum of the magnitudes of its terms. t errs by at
// most 2 rounding units (2^-53) of itself, and with the four roundings below each component of w
// errs by at most 5 units of its `magnitude`.
struct VertexOffset {
  VertexOffset(const Motion& motion, double t, Vec2 q, Vec2 p) {
    const Vec2 z{q.x - p.x, q.y - p.y};
    const Vec2 moved{t * motion.d.x, t * motion.d.y};
    w = {z.x - moved.x, z.y - moved.y};
    magnitude = {std::abs(z.x) + std::abs(moved.x), std::abs(z.y) + std::abs(moved.y)};
  }

  // Returns the cross product w x s, which errs by at most 8 rounding units (2^-53) of
  // `AcrossMagnitude(s)`.
  double Across(Vec2 s) const { return w.x * s.y - w.y * s.x; }
  double AcrossMagnitude(Vec2 s) const {
    return magnitude.x * std::abs(s.y) + magnitude.y * std::abs(s.x);
  }

  Vec2 w;
  Vec2 magnitude;
};

// A meeting of two features (a vertex of one edge, and the other edge or a vertex of it), whose
// distance becomes the sum of the radii, that filters do not rule out. For two vertices, `time`
// holds numerator and denominator of the time (p + sigma q sqrt(r)) / m of `ExactRoundTouch`, with
// sigma -1 for the begin of the meeting (they come that near) and +1 for its end. `time` is unset
// for a meeting at an edge, and for the meeting that defines the argument `t` of
// `RoundContact::RestrictTo`.
struct RoundCandidate {
  EdgeMeeting meeting;
  RoundQuotient time;
};

// Finds the meetings of a fixed edge and a moving edge (`axis`) of shapes whose radii have a sum
// above 0, called the radius. A meeting is a pair of features (a vertex of one edge, and the other
// edge or a vertex of it) whose distance becomes the radius: at its begin they come that near, at
// its end they go farther apart. `end` selects begins or ends. Times are fractions of the path.
class RoundContact {
 public:
  // Prepares the search for the begins or the ends (`end`) of the meetings of two edges.
  // `VisitMeetings` skips meetings that filters prove to be after `limit`.
  RoundContact(const Motion& motion, const Segment& fixed, const Segment& axis, IntervalEnd end,
               double limit)
      : motion_(motion),
        fixed_(fixed),
        axis_(axis),
        d_(ExactValue(motion.d)),
        radius_{TwoSum(motion.radius, motion.fixed_radius), 0},
        end_(end),
        limit_(limit) {}

  // Makes `VisitMeetings` skip pairs of vertices that come to the distance of the radius at a
  // single time but never closer.
  void IgnoreGrazes() { counts_grazes_ = false; }
  // Makes `VisitMeetings` visit only the meetings with bits set in `meetings`, in search of those
  // at time `t`. The meeting that defines `t` is visited without exact tests. `rounded` is `t`
  // rounded to a double.
  void RestrictTo(const SweepTime& t, double rounded, uint32_t meetings) {
    time_ = &t;
    rounded_ = rounded;
    meetings_ = meetings;
  }

  // Calls visit(candidate) for each meeting of the two edges on the path: first those of a vertex
  // and an edge, then those of two vertices.
  template <class Visit>
  void VisitMeetings(const Visit& visit) const {
    const Vec2 q[2] = {fixed_.a, fixed_.b};
    const Vec2 p[2] = {axis_.a, axis_.b};
    const size_t q_count = fixed_.a == fixed_.b ? 1 : 2;
    const size_t p_count = axis_.a == axis_.b ? 1 : 2;
    const auto is_active = [this](size_t meeting) { return (meetings_ >> meeting & 1) != 0; };
    for (size_t j = 0; j < p_count && q_count == 2; ++j) {
      if (is_active(OnFixedEdge(j))) MeetEdge(EdgeMeeting::OnFixedEdge(fixed_, p[j]), visit);
    }
    for (size_t i = 0; i < q_count && p_count == 2; ++i) {
      if (is_active(OnMovingEdge(i))) MeetEdge(EdgeMeeting::OnMovingEdge(q[i], axis_), visit);
    }
    for (size_t i = 0; i < q_count; ++i) {
      for (size_t j = 0; j < p_count; ++j) {
        if (!is_active(OfVertices(i, j))) continue;
        MeetVertex(EdgeMeeting::OfVertices(q[i], p[j]), visit);
      }
    }
  }

  // Returns the time of the candidate, rounded up. Returns nothing if the time is negative or
  // certainly above `limit`, and `SweepTime::One()` if it is above 1.
  std::optional<SweepTime> TimeOf(const RoundCandidate& candidate, double limit) const {
    const RoundQuotient time = QuotientOf(candidate);
    const BoundedPair& n = time.n;
    if (n.is_certain() && n.sign() < 0) return std::nullopt;
    if (!n.is_certain() && ExactSign(candidate.meeting) < 0) return std::nullopt;
    double low = 0;
    double high = HUGE_VAL;
    if (kHasFilters) Narrow(n / time.m, low, high);
    if (low > limit) return std::nullopt;
    if (low != high) {
      if (kHasFilters) Narrow(RoundTouchTime(motion_, candidate.meeting, end_), low, high);
      if (low > limit) return std::nullopt;
    }
    if (low != high) {
      const ExactRoot exact = ExactRoundTouch(motion_, candidate.meeting, end_);
      Narrow(ToBoundedPair(exact), low, high);
      if (low > limit) return std::nullopt;
      if (low != high) high = RoundedUp(exact, low, high);
    }
    if (high > 1) return high > limit ? std::nullopt : std::optional(SweepTime::One());
    return SweepTime::OfRoundTouch(motion_, candidate.meeting, end_, high);
  }

 private:
  bool at_end() const { return end_ == IntervalEnd::kEnd; }

  int ExactSign(const EdgeMeeting& meeting) const {
    const ExactRoot t = ExactRoundTouch(motion_, meeting, end_);
    return SignWithRoot(t.p, t.q, t.r);
  }

  // Narrows [low, high], an interval of doubles that contains t rounded up to a double, where t is
  // at least 0.
  static void Narrow(const BoundedPair& t, double& low, double& high) {
    if (!(t.error < HUGE_VAL)) return;
    low = std::fmax(low, RoundedUpEnd(t, -1));
    high = std::fmin(high, RoundedUpEnd(t, 1) + 0.0);
  }

  static Vec2 Rounded(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }

  // Returns whether the features of `meeting` are those that define the time given to `RestrictTo`.
  bool IsSource(const EdgeMeeting& meeting) const {
    return time_ != nullptr &&
           SweepTime::OfRoundTouch(motion_, meeting, end_, rounded_).HasSource(*time_);
  }

  // Returns whether the meeting is at the fixed edge that defines the time given to `RestrictTo`,
  // but with the other end of the axis, and at another time.
  bool IsBesideSource(const EdgeMeeting& meeting) const {
    if (time_ == nullptr) return false;
    const auto same = SweepTime::OfRoundTouch(motion_, meeting, end_, rounded_);
    return same.SharesSide(*time_) && SweepTime::CompareOnSide(same, *time_) != 0;
  }

  // Returns whether a meeting (of two vertices, or of a vertex and `side`) at the time `rounded_`
  // certainly is at the other end of its interval than `end_`. Let w be the vector from the moving
  // vertex p to the fixed one q at that time, and s the vector of `side`, with d x s > 0 for the
  // displacement d. At the begin of the interval the products w . d and w x s are at least 0, at
  // the end at most 0.
  bool IsOtherEnd(Vec2 q, Vec2 p) const {
    const VertexOffset apart(motion_, rounded_, q, p);
    const Vec2 d = motion_.d;
    const double along = apart.w.x * d.x + apart.w.y * d.y;
    const double error =
        16 * kFilterUnit * (apart.magnitude.x * std::abs(d.x) + apart.magnitude.y * std::abs(d.y));
    return at_end() ? along > error : along < -error;
  }
  bool IsOtherEnd(Vec2 q, Vec2 p, const Segment& side) const {
    const VertexOffset apart(motion_, rounded_, q, p);
    const Vec2 s = Rounded(side.b, side.a);
    const double across = apart.Across(s);
    const double error = 16 * kFilterUnit * apart.AcrossMagnitude(s);
    return at_end() ? across > error : across < -error;
  }

  // Returns whether the path certainly misses the circle about the fixed vertex whose radius is the
  // sum of the radii of `motion_`, or meets it before 0 or after the limit; computed in doubles. z
  // is the vector from the moving to the fixed vertex at the start, d the displacement. With R
  // (`reach`) = |d| times that sum, the path misses the circle if |z x d| > R, and enters it at t =
  // (z . d - R) / |d|^2 at the earliest.
  bool MissesVertex(Vec2 z) const {
    const Vec2 d = motion_.d;
    const double length2 = d.x * d.x + d.y * d.y;
    const double reach = std::sqrt(length2) * motion_.rounded_radius();
    const RoundedCross across(z.x * d.y, z.y * d.x);
    const RoundedCross along(z.x * d.x, -(z.y * d.y));
    const double slack = 16 * kFilterUnit * reach;
    if (!at_end() && along.value + along.error() < 0) return true;
    return std::abs(across.value) - across.error() > reach + slack ||
           along.value - along.error() - reach - slack > limit_ * length2 * (1 + 16 * kFilterUnit);
  }

  // The verdict of `FilterEdge`, in doubles, on the meeting of a vertex and an edge moved outward
  // by the radius. kMisses: the vertex certainly does not meet the moved edge between its ends, or
  // meets it only before 0 or after the limit. kCounts: the vertex certainly meets the moved edge
  // between its ends. kMayMiss: undecided.
  enum class SideVerdict : uint8_t { kMisses, kMayMiss, kCounts };
  SideVerdict FilterEdge(Vec2 z, Vec2 z_end, Vec2 s) const {
    const Vec2 d = motion_.d;
    const double length = std::sqrt(s.x * s.x + s.y * s.y);
    const double radius = motion_.rounded_radius();
    const double sign = at_end() ? radius : -radius;
    const double offset = sign * (d.x * s.x + d.y * s.y);
    const double slack = 16 * kFilterUnit * radius * (std::abs(d.x * s.x) + std::abs(d.y * s.y));
    const RoundedCross first(z.x * d.y, z.y * d.x);
    const RoundedCross last(z_end.x * d.y, z_end.y * d.x);
    const auto error = [&](const RoundedCross& cross) {
      return 16 * kFilterUnit * cross.magnitude * length + slack;
    };
    const double first_side = first.value * length + offset;
    const double last_side = last.value * length + offset;
    if (first_side < -error(first) || last_side > error(last)) return SideVerdict::kMisses;
    const RoundedCross n(z.x * s.y, z.y * s.x);
    const RoundedCross m(d.x * s.y, d.y * s.x);
    const double reach = sign * length;
    const double reach_error = 16 * kFilterUnit * std::abs(reach);
    if (n.value + n.error() + reach + reach_error < 0) return SideVerdict::kMisses;
    if (n.value - n.error() + reach - reach_error >
        limit_ * (m.value + m.error()) * (1 + 16 * kFilterUnit)) {
      return SideVerdict::kMisses;
    }
    const bool counts = first_side > error(first) && last_side < -error(last);
    return counts ? SideVerdict::kCounts : SideVerdict::kMayMiss;
  }

  // Visits the meeting of two vertices if they come within the radius of each other: if the
  // discriminant of the quadratic equation (distance of the vertices at time t) = radius is at
  // least 0. If the discriminant is 0, the path only grazes the circle of that radius about the
  // fixed vertex, at a single time.
  template <class Visit>
  void MeetVertex(const EdgeMeeting& meeting, const Visit& visit) const {
    if (time_ != nullptr && IsOtherEnd(meeting.fixed.a, meeting.moving.a)) return;
    if (IsSource(meeting)) return visit(RoundCandidate{meeting, {}});
    if (MissesVertex(Rounded(meeting.fixed.a, meeting.moving.a))) return;
    const BoundedPairVec2 z = ExactDifference(meeting.fixed.a, meeting.moving.a);
    const BoundedPair cross = Cross(z, d_);
    const BoundedPair length2 = Dot(d_, d_);
    const BoundedPair discriminant = length2 * (radius_ * radius_) - cross * cross;
    const int sign = discriminant.is_certain() ? discriminant.sign()
                                               : ExactRoundTouch(motion_, meeting, end_).r.sign();
    if (sign < 0 || (sign == 0 && !counts_grazes_)) return;
    const BoundedPair root = SquareRoot(discriminant);
    const BoundedPair middle = Dot(d_, z);
    visit(RoundCandidate{meeting, {at_end() ? middle + root : middle - root, length2}});
  }

  // Visits the meeting of a vertex with an edge moved outward by the radius, if the point of the
  // meeting lies between the ends of the edge. Let s be the vector of the edge and d the
  // displacement, with d x s > 0, and z the vector from the moving to the fixed vertex at the
  // edge's begin. The dot product of s and the vector from the edge's begin to the point is ((z x
  // d) |s| + sigma radius (d . s)) |s| / (d x s), where sigma is -1 for the begin and +1 for the
  // end of the interval. This follows from Lagrange's identity (z x s)(d . s) - (d x s)(z . s) = (z
  // x d)(s . s). The same expression at the edge's end, with the vector z' from that end to the
  // point, has the sign of the side of the end on which the point is.
  template <class Visit>
  void MeetEdge(EdgeMeeting meeting, const Visit& visit) const {
    const int sign = -SideOfPath(meeting.side().b, meeting.side().a, motion_.d);
    if (sign == 0) return;
    if (sign < 0) {
      std::swap(meeting.fixed.a, meeting.fixed.b);
      std::swap(meeting.moving.a, meeting.moving.b);
    }
    const Segment side = meeting.side();
    if (time_ != nullptr && IsOtherEnd(meeting.fixed.a, meeting.moving.a, side)) return;
    if (IsSource(meeting)) return visit(RoundCandidate{meeting, {}});
    if (IsBesideSource(meeting)) return;
    const SideVerdict verdict =
        FilterEdge(Rounded(meeting.fixed.a, meeting.moving.a),
                   Rounded(meeting.fixed.b, meeting.moving.b), Rounded(side.b, side.a));
    if (verdict == SideVerdict::kMisses ||
        (verdict == SideVerdict::kMayMiss && !IsWithinSide(meeting, side)))
      return;
    visit(RoundCandidate{meeting, {}});
  }

  // Returns whether the point at which a vertex meets `side` (moved outward by the radius) lies
  // between the ends of the side. Exact.
  bool IsWithinSide(const EdgeMeeting& meeting, const Segment& side) const {
    const BoundedPairVec2 s = ExactDifference(side.b, side.a);
    const BoundedPairVec2 z = ExactDifference(meeting.fixed.a, meeting.moving.a);
    const BoundedPairVec2 z_end = ExactDifference(meeting.fixed.b, meeting.moving.b);
    const BoundedPair length = SquareRoot(Dot(s, s));
    const BoundedPair reach = radius_ * Dot(d_, s);
    const BoundedPair offset = at_end() ? reach : -reach;
    return SideSign(Cross(z, d_) * length + offset, meeting.fixed.a, meeting.moving.a, side) >= 0 &&
           SideSign(Cross(z_end, d_) * length + offset, meeting.fixed.b, meeting.moving.b, side) <=
               0;
  }

  RoundQuotient QuotientOf(const RoundCandidate& candidate) const {
    const EdgeMeeting& meeting = candidate.meeting;
    if (!meeting.is_on_fixed_edge() && !meeting.is_on_moving_edge()) return candidate.time;
    const Segment side = meeting.side();
    if (side.a.x == side.b.x || side.a.y == side.b.y) {
      return AxisParallelTouch(motion_, meeting, end_);
    }
    const BoundedPairVec2 s = ExactDifference(side.b, side.a);
    const BoundedPairVec2 z = ExactDifference(meeting.fixed.a, meeting.moving.a);
    const BoundedPair reach = radius_ * SquareRoot(Dot(s, s));
    return {Cross(z, s) + (at_end() ? reach : -reach), Cross(d_, s)};
  }

  // Returns the sign of (z x d) |s| + sigma radius (d . s), a polynomial of degree 3, where z = q -
  // p runs from the moving vertex p to the fixed vertex q, d is the displacement, s the vector of
  // `side`, and sigma is -1 at the begin and +1 at the end of the interval of contact (`at_end`).
  // `filter` is the value in pairs of doubles with an error bound.
  int SideSign(const BoundedPair& filter, Vec2 q, Vec2 p, const Segment& side) const {
    if (filter.is_certain()) return filter.sign();
    const Dyadic dx = motion_.d.x;
    const Dyadic dy = motion_.d.y;
    const Dyadic sx = Dyadic(side.b.x) - side.a.x;
    const Dyadic sy = Dyadic(side.b.y) - side.a.y;
    const Dyadic cross = (Dyadic(q.x) - p.x) * dy - (Dyadic(q.y) - p.y) * dx;
    const Dyadic radius = at_end() ? motion_.ExactRadius() : -motion_.ExactRadius();
    return SignWithRoot(radius * (dx * sx + dy * sy), cross, sx * sx + sy * sy);
  }

  const Motion& motion_;
  const Segment& fixed_;
  const Segment& axis_;
  const BoundedPairVec2 d_;
  const BoundedPair radius_;
  const IntervalEnd end_;
  const double limit_;
  bool counts_grazes_ = true;
  const SweepTime* time_ = nullptr;
  double rounded_ = 0;
  uint32_t meetings_ = ~uint32_t{0};
};

// Returns, as bits, the meetings of the two edges (pairs of features at a distance of the sum of
// the radii, called the radius) that may be at the time t: the features of the other meetings
// certainly are not at that distance at t. Errors, in rounding units (2^-53): the length of the
// vector w of `VertexOffset` errs by 4 of itself and by the errors of its components, its cross
// product with the vector s of a side by 8 of the magnitudes of the terms, and the length of s by
// 4.
uint32_t MeetingsAt(const Motion& motion, const Segment& fixed, const Segment& axis, double t) {
  const Vec2 q[2] = {fixed.a, fixed.b};
  const Vec2 p[2] = {axis.a, axis.b};
  const double radius = motion.rounded_radius();
  uint32_t meetings = 0;
  const auto check_side = [&](const VertexOffset& apart, const Segment& side, size_t meeting) {
    const Vec2 s{side.b.x - side.a.x, side.b.y - side.a.y};
    const double reach = radius * std::sqrt(s.x * s.x + s.y * s.y);
    const double error = 16 * kFilterUnit * (apart.AcrossMagnitude(s) + reach);
    const bool may_be = !(std::abs(std::abs(apart.Across(s)) - reach) > error);
    meetings |= static_cast<uint32_t>(may_be) << meeting;
  };
  for (size_t i = 0; i < 2; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      const VertexOffset apart(motion, t, q[i], p[j]);
      const double length = std::sqrt(apart.w.x * apart.w.x + apart.w.y * apart.w.y);
      const double error =
          8 * kFilterUnit * (apart.magnitude.x + apart.magnitude.y + length + radius);
      const bool may_be = !(std::abs(length - radius) > error);
      meetings |= static_cast<uint32_t>(may_be) << OfVertices(i, j);
      if (i == 0) check_side(apart, fixed, OnFixedEdge(j));
      if (j == 0) check_side(apart, axis, OnMovingEdge(i));
    }
  }
  return meetings;
}

// Returns the first begin of all meetings of the two edges (the first time at which a pair of their
// features comes as near as the sum of the radii), or nothing if it is after `limit`. If a meeting
// at an edge and one of two vertices begin at exactly the same time, returns the begin of the
// meeting at the edge, which is visited first.
std::optional<SweepTime> FirstBegin(const Motion& motion, const RoundContact& contact,
                                    double limit) {
  std::optional<SweepTime> first;
  contact.VisitMeetings([&](const RoundCandidate& candidate) {
    // If `candidate` and `first` are at the same side of one edge, `CompareOnSide` orders their
    // times without computing them.
    const auto same = SweepTime::OfRoundTouch(motion, candidate.meeting, IntervalEnd::kBegin, 0);
    if (first && same.SharesSide(*first) && SweepTime::CompareOnSide(same, *first) >= 0) return;
    const std::optional<SweepTime> t = contact.TimeOf(candidate, limit);
    if (t && (!first || SweepTime::Compare(motion, *t, *first) < 0)) first = t;
  });
  return first;
}

// The parallelogram of all differences of a point of the fixed edge and a point of the moving edge,
// with its corners q_[i] - p_[i], and the side of the line of displacements t * d on which each
// corner lies.
class Parallelogram {
 public:
  Parallelogram(Vec2 d, const Segment& fixed, const Segment& moving)
      : fixed_(fixed),
        moving_(moving),
        q_{fixed.a, fixed.b, fixed.b, fixed.a},
        p_{moving.a, moving.a, moving.b, moving.b} {
    for (int i = 0; i < 4; ++i) {
      sign_[i] = SideOfPath(q_[i], p_[i], d);
      (sign_[i] > 0 ? left_ : right_) += sign_[i] != 0 ? 1 : 0;
    }
  }

  bool is_missed() const { return left_ == 4 || right_ == 4; }
  // Returns whether the line of displacements t * d has corners of the parallelogram (all
  // differences of points of the two edges) strictly on both sides.
  bool is_crossed() const { return left_ > 0 && right_ > 0; }

  // Returns the meetings at which the line of displacements t * d enters and leaves the
  // parallelogram: at corners on the line, and at sides with ends strictly on opposite sides of the
  // line.
  Hull MeetingsOf(const Motion& motion) const {
    Hull hull(motion);
    for (int i = 0; i < 4; ++i) {
      if (sign_[i] == 0) hull.Add(EdgeMeeting::OfVertices(q_[i], p_[i]));
      if (sign_[i] * sign_[(i + 1) % 4] >= 0) continue;
      hull.Add(i % 2 == 0 ? EdgeMeeting::OnFixedEdge(fixed_, p_[i])
                          : EdgeMeeting::OnMovingEdge(q_[i], moving_));
    }
    return hull;
  }

 private:
  const Segment& fixed_;
  const Segment& moving_;
  Vec2 q_[4];
  Vec2 p_[4];
  int sign_[4];
  int left_ = 0;
  int right_ = 0;
};

}  // namespace

// The filter computes two differences, two products and the difference of the two products. The
// error bound of `RoundedCross`, kCrossError times the magnitudes of the products, holds for the
// result.
int SideOfPath(Vec2 q, Vec2 p, Vec2 d) {
  const RoundedCross cross((q.x - p.x) * d.y, (q.y - p.y) * d.x);
  if (cross.is_certain()) return cross.sign();
  return (Difference(q.x, p.x) * d.y - Difference(q.y, p.y) * d.x).sign();
}

std::optional<SweepInterval> ContactInterval(const Motion& motion, const Segment& fixed,
                                             const Segment& moving) {
  const Parallelogram sum(motion.d, fixed, moving);
  if (sum.is_missed()) return std::nullopt;
  return sum.MeetingsOf(motion).Clipped();
}

std::optional<SweepInterval> CrossingInterval(const Motion& motion, const Segment& fixed,
                                              const Segment& moving) {
  const Parallelogram sum(motion.d, fixed, moving);
  if (!sum.is_crossed()) return std::nullopt;
  return sum.MeetingsOf(motion).interval();
}

bool AreWithin(const Segment& fixed, const Segment& moving, const Motion& motion) {
  if (motion.fixed_radius == 0) {
    return CompareDistance(fixed, Capsule{moving, motion.radius}) <= 0;
  }
  return CompareSegments(fixed, moving, {motion.radius, motion.fixed_radius, 0}) <= 0;
}

bool AreCloser(const Segment& fixed, const Segment& moving, double radius, double fixed_radius) {
  if (fixed_radius == 0) return CompareDistance(fixed, Capsule{moving, radius}) < 0;
  return CompareSegments(fixed, moving, {radius, fixed_radius, 0}) < 0;
}

std::optional<SweepTime> RoundContactBegin(const Motion& motion, const Segment& fixed,
                                           const Segment& axis, double limit) {
  if (AreWithin(fixed, axis, motion)) return SweepTime::Zero();
  const double last = std::fmin(limit, 1);
  return FirstBegin(motion, RoundContact(motion, fixed, axis, IntervalEnd::kBegin, last), last);
}

// The displacements for which the edges are closer than the radius form an open convex set with a
// smooth boundary. So a path that meets the boundary enters the set, unless it is tangent to the
// boundary.
std::optional<SweepTime> RoundEntry(const Motion& motion, const Segment& fixed, const Segment& axis,
                                    double limit) {
  const double last = std::fmin(limit, 1);
  RoundContact contact(motion, fixed, axis, IntervalEnd::kBegin, last);
  contact.IgnoreGrazes();
  return FirstBegin(motion, contact, last);
}

// The distance of the edges is at most the sum of the radii during one interval of times, so the
// end of that interval is the latest time at which a pair of their features (a meeting) goes
// farther apart than that sum.
SweepTime RoundContactEnd(const Motion& motion, const Segment& fixed, const Segment& axis) {
  const RoundContact contact(motion, fixed, axis, IntervalEnd::kEnd, HUGE_VAL);
  std::optional<SweepTime> last;
  contact.VisitMeetings([&](const RoundCandidate& candidate) {
    const std::optional<SweepTime> t = contact.TimeOf(candidate, HUGE_VAL);
    if (t && (!last || SweepTime::Compare(motion, *t, *last) > 0)) last = t;
  });
  return last.value_or(SweepTime::Zero());
}

// A meeting is a pair of features of the two edges whose distance becomes the sum of the radii. A
// meeting that has the features of `t`, or that shares the side of `t` after all tests of
// `VisitMeetings`, is exactly at `t`. Other meetings need an exact comparison, as `t` may come from
// a fixed shape with another radius, or with none.
void FindRoundTouches(const Motion& motion, const Segment& fixed, const Segment& axis,
                      const SweepTime& t, std::vector<RoundTouch>& touches) {
  const double rounded = t.Rounded(motion);
  const uint32_t meetings = MeetingsAt(motion, fixed, axis, rounded);
  if (meetings == 0) return;
  for (const IntervalEnd end : {IntervalEnd::kBegin, IntervalEnd::kEnd}) {
    RoundContact contact(motion, fixed, axis, end, HUGE_VAL);
    contact.RestrictTo(t, rounded, meetings);
    contact.VisitMeetings([&](const RoundCandidate& candidate) {
      const auto same = SweepTime::OfRoundTouch(motion, candidate.meeting, end, rounded);
      if (!same.HasSource(t) && !same.SharesSide(t)) {
        const std::optional<SweepTime> time = contact.TimeOf(candidate, HUGE_VAL);
        if (!time || time->is_one() || SweepTime::Compare(motion, *time, t) != 0) return;
      }
      touches.push_back({candidate.meeting, end, motion.fixed_radius});
    });
  }
}

}  // namespace carom::internal
