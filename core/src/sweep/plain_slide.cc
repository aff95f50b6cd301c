// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sweep/plain_slide.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "numeric/box_distance.h"
#include "shape/measures.h"
#include "shape/place_vertices.h"
#include "sweep/slide_step.h"
#include "sweep/sweep_measures.h"

namespace carom::internal {
namespace {

Vec2 Difference(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
Vec2 Sum(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
Vec2 Scaled(double t, Vec2 d) { return {t * d.x, t * d.y}; }
double Largest(Vec2 v) { return std::max(std::abs(v.x), std::abs(v.y)); }

bool AreWithin(Vec2 a, Vec2 b, double most) {
  return std::abs(a.x - b.x) <= most && std::abs(a.y - b.y) <= most;
}

}  // namespace

bool PlainSlide::Start(const Shape& shape, const Pose& pose) {
  const Capsule* const capsule = shape.capsule();
  if (!kHasFilters || capsule == nullptr || !(capsule->radius > 0)) return false;
  described_ = capsule->axis;
  radius_ = capsule->radius;
  pose_ = pose;
  if (!Place(pose.position, axis_)) return false;
  bounds_ = Grown(BoundsOf(axis_), radius_);
  return true;
}

bool PlainSlide::Place(Vec2 position, Segment& axis) const {
  const std::array<Vec2, 2> described{described_.a, described_.b};
  std::array<Vec2, 2> ends;
  PlaceVertices({position, pose_.c, pose_.s}, described, ends.data());
  axis = {ends[0], ends[1]};
  return IsAccepted(ends[0]) && IsAccepted(ends[1]);
}

bool PlainSlide::MoveTo(Vec2 position) {
  if (pose_.position == position) return true;
  if (!Place(position, axis_)) return false;
  pose_.position = position;
  bounds_ = Grown(BoundsOf(axis_), radius_);
  return true;
}

PlainSlide::Verdict PlainSlide::Leg(Vec2 from, Vec2 d, BlockingSweep::Known known) {
  if (!MoveTo(from)) return Verdict::kLeft;
  d_ = d;
  first_ = nullptr;
  fraction_ = 1;
  contact_count_ = 0;
  if (!Find(known) || meter_.stopped()) return Verdict::kLeft;
  if (first_ != nullptr) SetHit();
  const std::optional<Vec2> safe = SafePose();
  if (!safe || meter_.stopped()) return Verdict::kLeft;
  next_ = *safe;
  return first_ != nullptr ? Verdict::kHit : Verdict::kFree;
}

// Legs of one push start within its length of each other.
bool PlainSlide::Find(BlockingSweep::Known known) {
  const Box path = MovedBox(bounds_, d_, 0, 1);
  ulp_ = UlpOf(path);
  margin_ = 32 * ulp_ + 8 * kSmallestMagnitude;
  const Box reach = Grown(path, margin_);
  if (!near_.Covers(reach)) {
    const bool is_short = std::abs(d_.x) <= bounds_.max.x - bounds_.min.x &&
                          std::abs(d_.y) <= bounds_.max.y - bounds_.min.y;
    const double length = std::sqrt(d_.x * d_.x + d_.y * d_.y);
    const Box zone = is_short ? Grown(bounds_, length * (1 + 0x1p-20) + 4 * margin_) : reach;
    if (!near_.Gather(obstacles_, zone, meter_) || !near_.Covers(reach)) return false;
  }
  if (known == BlockingSweep::Known::kNothing && !near_.IsOutside(axis_.a, meter_)) return false;
  meter_.Spend(near_.points().count);
  const Vec2 axis = Difference(axis_.b, axis_.a);
  unclear_ = unclear_edges_(near_.points(), {axis_.a, axis, radius_, d_, margin_});
  face_count_ = 0;
  return unclear_ == 0 || (LookAt(unclear_) && FindFirst());
}

// Sets what becomes of the path at each edge that is not clear of it. Returns false unless the
// shape surely overlaps none of them at the start. An edge that it is not in front of, as that
// beyond a corner, may lie behind the face of another.
bool PlainSlide::LookAt(uint32_t unclear) {
  behind_ = 0;
  for (uint32_t bits = unclear; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    const std::optional<Near> near = NearOf(i, RoundFace(near_.edge(i), axis_, radius_));
    if (near && face_count_ < kMostFaces) {
      faces_[face_count_++] = near;
    } else {
      behind_ |= uint32_t{1} << i;
    }
  }
  for (uint32_t bits = behind_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    if (!IsBehindFace(i) && !AddVertex(i)) return false;
  }
  return true;
}

// Nothing of a face that the shape is not in front of, or comes to at an uncertain time, or beyond
// an end of it.
std::optional<PlainSlide::Near> PlainSlide::NearOf(size_t edge, const RoundFace& face) const {
  bool is_strict = true;
  const auto is_beyond = [&](Vec2 p, Vec2 d) {
    const Side side = face.SideOf(p, d);
    is_strict = is_strict && side == Side::kBeyond;
    return side == Side::kBeyond || side == Side::kOn;
  };
  if (!is_beyond(axis_.a, {}) || !is_beyond(axis_.b, {})) return std::nullopt;
  Near near{edge, uint32_t{1} << edge, face, is_strict, false, std::nullopt, 0};
  near.is_apart = is_beyond(axis_.a, d_) && is_beyond(axis_.b, d_);
  if (near.is_apart) return near;
  near.entry = face.EntryOf(d_);
  if (!near.entry || !IsBeside(face, *near.entry)) return std::nullopt;
  return near;
}

// A face of a vertex that the edge ends at, where the edge lies behind it; of a vertex that is met,
// all else there lies strictly behind.
bool PlainSlide::AddVertex(size_t edge) {
  if (face_count_ == kMostFaces || axis_.a == axis_.b) return false;
  const Segment e = near_.edge(edge);
  const Vec2 f = Difference(axis_.b, axis_.a);
  const auto across = [&](Vec2 q) {
    return std::abs(f.x * (q.y - axis_.a.y) - f.y * (q.x - axis_.a.x));
  };
  const Vec2 q = across(e.a) <= across(e.b) ? e.a : e.b;
  const RoundFace face(q, axis_, radius_);
  if (!face.IsBehind(e)) return false;
  std::optional<Near> near = NearOf(edge, face);
  if (!near) return false;
  const IndexedPolygon& polygon = near_.polygon(edge);
  for (uint32_t bits = near->is_apart ? 0 : unclear_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    const Segment other = near_.edge(i);
    const bool is_at_a = other.a == q;
    if (!is_at_a && !(other.b == q)) continue;
    if (&near_.polygon(i) != &polygon) return false;
    if (face.SideOf(is_at_a ? other.b : other.a) >= 0) return false;
    near->edge = std::min(near->edge, i);
    near->edges |= uint32_t{1} << i;
  }
  faces_[face_count_++] = near;
  return true;
}

bool PlainSlide::IsBehindFace(size_t edge) const {
  for (size_t i = 0; i < face_count_; ++i) {
    if (faces_[i]->face.IsBehind(near_.edge(edge))) return true;
  }
  return false;
}

// Whether the ends that come to the face meet the edge. The time is one of an interval.
bool PlainSlide::IsBeside(const RoundFace& face, const RoundFace::Entry& entry) const {
  const double slack = (entry.high - entry.low) * Largest(d_) + 64 * ulp_;
  const Vec2 by = Scaled(entry.high, d_);
  return face.IsBeside(entry.end, by, slack) && (!entry.is_of_both || face.IsBeside(1, by, slack));
}

// Sets the first hit, if any. Returns false unless nothing else touches then: a face that the shape
// stays beyond is touched at no time before the end of the path unless it is at the start, and one
// that it comes to is touched later if that is so when times are rounded up.
bool PlainSlide::FindFirst() {
  for (size_t i = 0; i < face_count_; ++i) {
    Near& near = *faces_[i];
    if (near.entry && (first_ == nullptr || near.entry->low < first_->entry->low)) first_ = &near;
  }
  if (first_ == nullptr) return true;
  const double latest = first_->entry->high + 0x1p-46;
  Near* first = nullptr;
  for (size_t i = 0; i < face_count_; ++i) {
    Near& near = *faces_[i];
    if (near.is_apart && !near.is_strict) return false;
    if (near.is_apart || near.entry->low > latest) continue;
    const std::optional<double> time = near.face.RoundedUpEntry(near.entry->end, d_);
    if (!time || (first != nullptr && *time == first->time)) return false;
    near.time = *time;
    if (first == nullptr || *time < first->time) first = &near;
  }
  first_ = first;
  return AreClearAtHit();
}

// Whether what is not behind another face than the first, if on which the shape is at no time up to
// the hit, is clear of the shape then: by so much that it comes later when times are rounded.
bool PlainSlide::AreClearAtHit() const {
  uint32_t behind = 0;
  for (uint32_t bits = behind_ & ~first_->edges; bits != 0; bits &= bits - 1) {
    const auto edge = static_cast<size_t>(std::countr_zero(bits));
    bool is_behind_other = false;
    for (size_t i = 0; i < face_count_ && !is_behind_other; ++i) {
      is_behind_other = &*faces_[i] != first_ && faces_[i]->face.IsBehind(near_.edge(edge));
    }
    if (!is_behind_other) behind |= uint32_t{1} << edge;
  }
  if (behind == 0) return true;
  const Vec2 axis = Difference(axis_.b, axis_.a);
  const Vec2 by = Scaled(first_->entry->high, d_);
  const double margin = margin_ + 0x1p-46 * Largest(d_);
  meter_.Spend(near_.points().count);
  const RoundPath then{Sum(axis_.a, by), axis, radius_, {0, 0}, margin};
  return (unclear_edges_(near_.points(), then) & behind) == 0;
}

// As `BlockingSweep::Measured` has it: the arc that one edge blocks is half a turn, so its ends are
// along the edge, and the ray is that along which the motion goes on.
void PlainSlide::SetHit() {
  const RoundFace& face = first_->face;
  const RoundFace::Entry& entry = *first_->entry;
  fraction_ = first_->time;
  const Polygon& polygon = near_.polygon(first_->edge).polygon();
  hit_ = {};
  hit_.polygon_id = polygon.id();
  hit_.fraction = fraction_;
  hit_.has_edge = true;
  hit_.edge = polygon.edge_ref(near_.number(first_->edge));
  hit_.normal = UnitNormal(face.along(), 1);
  const EdgeMeeting meeting = face.MeetingOf(entry.end);
  hit_.point = meeting.fixed.a;
  if (face.is_of_vertex()) {
    const uint32_t moving = meeting.moving.a == axis_.a ? 0 : 1;
    contacts_[contact_count_++] = {BlockingContact::Kind::kEdgeOnVertex, meeting.fixed, moving,
                                   RoundTouch{meeting, IntervalEnd::kBegin}};
    return;
  }
  const Vec2 step{radius_ * hit_.normal.x, radius_ * hit_.normal.y};
  hit_.point = PointOnPath(meeting.moving.a, d_, fraction_, step);
  for (uint32_t end = entry.end; end <= (entry.is_of_both ? 1 : entry.end); ++end) {
    const EdgeMeeting at_end = face.MeetingOf(end);
    contacts_[contact_count_++] = {BlockingContact::Kind::kVertexOnEdge, at_end.fixed, end,
                                   RoundTouch{at_end, IntervalEnd::kBegin}};
  }
}

SweepTime PlainSlide::time() const {
  return SweepTime::OfRoundTouch(first_->face.MeetingOf(first_->entry->end), IntervalEnd::kBegin,
                                 fraction_);
}

bool PlainSlide::IsAtStart(Vec2 position, double ulp) const {
  return first_ != nullptr && AreWithin(position, pose_.position, 8 * ulp);
}

// As `internal::SafePose` searches, without skin; nothing where that would go on to look back along
// the path, or where a proof fails.
std::optional<Vec2> PlainSlide::SafePose() {
  const Vec2 from = pose_.position;
  const double ulp = UlpOf(MovedBox(bounds_, d_, 0, fraction_));
  const Vec2 base = Normalized(PointOnPath(from, d_, fraction_));
  if (IsAtStart(base, ulp)) return from;
  switch (SafeAt(base)) {
    case Side::kBeyond:
    case Side::kOn:
      return base;
    case Side::kUnknown:
      return std::nullopt;
    case Side::kWithin:
      break;
  }
  return SafeOffset(base, ulp);
}

std::optional<Vec2> PlainSlide::SafeOffset(Vec2 base, double ulp) {
  Segment there;
  if (!Place(base, there)) return std::nullopt;
  const double reach = 16 * ulp;
  const Box near = Grown(Grown(BoundsOf(there), radius_), reach);
  offset_.Start(reach);
  for (uint32_t bits = unclear_; bits != 0; bits &= bits - 1) {
    const Segment edge = near_.edge(static_cast<size_t>(std::countr_zero(bits)));
    if (near.Intersects(BoundsOf(edge))) offset_.AddRound(there, radius_, edge);
  }
  for (const double steps : {0, 1, 2, 4, 6, 8}) {
    const std::optional<Vec2> offset = offset_.Offset(steps * ulp);
    if (!offset) continue;
    const Vec2 position = Normalized(Sum(base, *offset));
    if (IsAtStart(position, ulp)) return pose_.position;
    const Side side = SafeAt(position);
    if (side == Side::kUnknown) break;
    if (side == Side::kBeyond) return position;
  }
  return std::nullopt;
}

// Whether the pose is safe: kBeyond, or surely not: kWithin. The path there is within 8 ulp of a
// part of that of the leg, or nothing is known. What is clear of the leg is clear of it, too, and
// of the shape as it is placed there; the rest lies behind a face.
Side PlainSlide::SafeAt(Vec2 position) const {
  const Vec2 d = Normalized(Difference(position, pose_.position));
  const Vec2 exact = Scaled(fraction_, d_);
  Segment there;
  if (!IsAccepted(position) || !IsAccepted(d) || !AreWithin(d, exact, 8 * ulp_) ||
      !Place(position, there)) {
    return Side::kUnknown;
  }
  for (size_t i = 0; i < face_count_; ++i) {
    const Near& near = *faces_[i];
    const auto side_of = [&](uint32_t end, Vec2 p, Vec2 by) {
      const Side side = near.face.SideOf(p, by);
      if (side != Side::kWithin) return side;
      return near.face.IsBeside(end, d, 64 * ulp_) ? side : Side::kUnknown;
    };
    for (const Side side : {side_of(0, axis_.a, d), side_of(1, axis_.b, d),
                            side_of(0, there.a, {0, 0}), side_of(1, there.b, {0, 0})}) {
      if (side == Side::kUnknown || side == Side::kWithin) return side;
    }
  }
  return Side::kBeyond;
}

// The unit vector along the ray is the normal turned, whatever the order of its edge's ends.
std::optional<Vec2> PlainSlide::Redirected(Vec2 left) const {
  const RoundFace& face = first_->face;
  const Segment& along = face.along();
  const bool is_forward = DotSign({along.a, along.b}, {{0, 0}, d_}) >= 0;
  const Vec2 n = hit_.normal;
  const Vec2 unit = is_forward ? Vec2{n.y + 0.0, 0.0 - n.x} : Vec2{0.0 - n.y, n.x + 0.0};
  return NotBlocked(PartAlong(left, unit), [&](Vec2 v) { return face.IsEnteredBy(v); });
}

}  // namespace carom::internal
