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
  move_.radius = capsule->radius;
  pose_ = pose;
  if (!Place(pose.position, move_.axis)) return false;
  bounds_ = Grown(BoundsOf(move_.axis), move_.radius);
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
  if (!Place(position, move_.axis)) return false;
  pose_.position = position;
  bounds_ = Grown(BoundsOf(move_.axis), move_.radius);
  return true;
}

PlainSlide::Verdict PlainSlide::Leg(Vec2 from, Vec2 d, BlockingSweep::Known known) {
  if (!MoveTo(from)) return Verdict::kLeft;
  move_.d = d;
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
  const Box path = MovedBox(bounds_, move_.d, 0, 1);
  move_.ulp = UlpOf(path);
  margin_ = 32 * move_.ulp + 8 * kSmallestMagnitude;
  const Box reach = Grown(path, margin_);
  if (!near_.Covers(reach)) {
    const bool is_short = std::abs(move_.d.x) <= bounds_.max.x - bounds_.min.x &&
                          std::abs(move_.d.y) <= bounds_.max.y - bounds_.min.y;
    const double length = std::sqrt(move_.d.x * move_.d.x + move_.d.y * move_.d.y);
    const Box zone = is_short ? Grown(bounds_, length * (1 + 0x1p-20) + 4 * margin_) : reach;
    if (!near_.Gather(obstacles_, zone, meter_) || !near_.Covers(reach)) return false;
  }
  if (known == BlockingSweep::Known::kNothing && !near_.IsOutside(move_.axis.a, meter_)) return false;
  meter_.Spend(near_.points().count);
  const Vec2 axis = Difference(move_.axis.b, move_.axis.a);
  unclear_ = unclear_edges_(near_.points(), {move_.axis.a, axis, move_.radius, move_.d, margin_});
  face_count_ = 0;
  return unclear_ == 0 || (LookAt() && FindFirst());
}

// Sets what becomes of the path at each edge that is not clear of it. Returns false unless the
// shape surely overlaps none of them at the start. An edge that it is not in front of, as that
// beyond a corner, may lie behind something else.
bool PlainSlide::LookAt() {
  behind_ = 0;
  for (uint32_t bits = unclear_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    if (face_count_ == kMostFaces || !AddEdge(i)) behind_ |= uint32_t{1} << i;
  }
  for (uint32_t bits = behind_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    if (IsBehindAny(i)) continue;
    if (face_count_ == kMostFaces || !(AddVertex(i) || AddCorner(i))) return false;
  }
  return true;
}

bool PlainSlide::AddEdge(size_t edge) {
  const RoundFace face(near_.edge(edge), move_);
  const PathSide path = face.SideOfPath();
  if (!path.is_in_front) return false;
  std::optional<FaceEntry> entry;
  if (!path.is_apart && !(entry = face.EntryOf())) return false;
  faces_[face_count_++] = Near{face, edge, uint32_t{1} << edge, path, entry, 0};
  return true;
}

// A line along the axis, through the end of the edge that is nearer to it.
bool PlainSlide::AddVertex(size_t edge) {
  const Segment& axis = move_.axis;
  if (axis.a == axis.b) return false;
  const Segment e = near_.edge(edge);
  const Vec2 f = Difference(axis.b, axis.a);
  const auto across = [&](Vec2 q) {
    return std::abs(f.x * (q.y - axis.a.y) - f.y * (q.x - axis.a.x));
  };
  const Vec2 q = across(e.a) <= across(e.b) ? e.a : e.b;
  const RoundFace face(q, move_);
  if (!face.IsBehind(e)) return false;
  const PathSide path = face.SideOfPath();
  if (!path.is_in_front) return false;
  std::optional<FaceEntry> entry;
  if (!path.is_apart && !(entry = face.EntryOf())) return false;
  return AddAtVertex({face, edge, 0, path, entry, 0}, q,
                     [&](Vec2 other) { return face.SideOf(other) < 0; });
}

// Of the ends of both, those that are nearest to each other.
bool PlainSlide::AddCorner(size_t edge) {
  const Segment e = near_.edge(edge);
  Vec2 vertex = e.a;
  uint32_t end = 0;
  double least = HUGE_VAL;
  for (const Vec2 q : {e.a, e.b}) {
    for (const uint32_t i : {0U, 1U}) {
      const Vec2 apart = Difference(move_.end(i), q);
      const double distance2 = apart.x * apart.x + apart.y * apart.y;
      if (!(distance2 < least)) continue;
      least = distance2, vertex = q, end = i;
    }
  }
  const RoundCorner corner(vertex, end, move_);
  const PathSide path = corner.side_of_path();
  if (!path.is_in_front || !(path.is_apart || corner.entry()) || !corner.IsBehind(e)) return false;
  return AddAtVertex({corner, edge, 0, path, corner.entry(), 0}, vertex,
                     [&](Vec2 other) { return corner.IsBehind({other, other}); });
}

// Where the vertex is met, so are all edges that end there: those of one polygon, all else of which
// lies strictly behind.
template <class IsBehind>
bool PlainSlide::AddAtVertex(Near near, Vec2 vertex, const IsBehind& is_behind) {
  const IndexedPolygon& polygon = near_.polygon(near.edge);
  for (uint32_t bits = near.path.is_apart ? 0 : unclear_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    const Segment other = near_.edge(i);
    const bool is_at_a = other.a == vertex;
    if (!is_at_a && !(other.b == vertex)) continue;
    if (&near_.polygon(i) != &polygon || !is_behind(is_at_a ? other.b : other.a)) return false;
    near.edge = std::min(near.edge, i);
    near.edges |= uint32_t{1} << i;
  }
  faces_[face_count_++] = near;
  return true;
}

bool PlainSlide::IsBehindAny(size_t edge) const {
  for (size_t i = 0; i < face_count_; ++i) {
    if (faces_[i]->IsBehind(near_.edge(edge))) return true;
  }
  return false;
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
    if (near.path.is_apart && !near.path.is_strict) return false;
    if (near.path.is_apart || near.entry->low > latest) continue;
    const auto* const face = std::get_if<RoundFace>(&near.front);
    const std::optional<double> time = face != nullptr
                                           ? face->RoundedUpEntry(near.entry->end)
                                           : std::get<RoundCorner>(near.front).RoundedUpEntry();
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
      is_behind_other = &*faces_[i] != first_ && faces_[i]->IsBehind(near_.edge(edge));
    }
    if (!is_behind_other) behind |= uint32_t{1} << edge;
  }
  if (behind == 0) return true;
  const Vec2 axis = Difference(move_.axis.b, move_.axis.a);
  const Vec2 by = Scaled(first_->entry->high, move_.d);
  const double margin = margin_ + 0x1p-46 * Largest(move_.d);
  meter_.Spend(near_.points().count);
  const RoundPath then{Sum(move_.axis.a, by), axis, move_.radius, {0, 0}, margin};
  return (unclear_edges_(near_.points(), then) & behind) == 0;
}

// As `BlockingSweep::Measured` has it: the arc that one edge blocks is half a turn, so its ends are
// along the edge, and the ray is that along which the motion goes on.
void PlainSlide::SetHit() {
  fraction_ = first_->time;
  const Polygon& polygon = near_.polygon(first_->edge).polygon();
  hit_ = {};
  hit_.polygon_id = polygon.id();
  hit_.fraction = fraction_;
  hit_.has_edge = true;
  hit_.edge = polygon.edge_ref(near_.number(first_->edge));
  const Motion motion{move_.d, move_.radius};
  const uint32_t end = first_->entry->end;
  using Kind = BlockingContact::Kind;
  if (const auto* const corner = std::get_if<RoundCorner>(&first_->front)) {
    hit_.normal = RoundNormal(motion, corner->meeting(), IntervalEnd::kBegin);
    hit_.point = corner->vertex();
    return AddContact(Kind::kVertexOnVertex, corner->meeting(), end);
  }
  const RoundFace& face = std::get<RoundFace>(first_->front);
  hit_.normal = UnitNormal(face.along(), 1);
  const EdgeMeeting meeting = face.MeetingOf(end);
  if (face.is_of_vertex()) {
    hit_.point = meeting.fixed.a;
    return AddContact(Kind::kEdgeOnVertex, meeting, meeting.moving.a == move_.axis.a ? 0 : 1);
  }
  const Vec2 step{move_.radius * hit_.normal.x, move_.radius * hit_.normal.y};
  hit_.point = PointOnPath(meeting.moving.a, move_.d, fraction_, step);
  AddContact(Kind::kVertexOnEdge, meeting, end);
  if (first_->entry->is_of_both) AddContact(Kind::kVertexOnEdge, face.MeetingOf(1), 1);
}

// The first one defines the time.
void PlainSlide::AddContact(BlockingContact::Kind kind, const EdgeMeeting& meeting,
                            uint32_t moving) {
  constexpr IntervalEnd kBegin = IntervalEnd::kBegin;
  if (contact_count_ == 0) time_ = SweepTime::OfRoundTouch(meeting, kBegin, fraction_);
  contacts_[contact_count_++] = {kind, meeting.fixed, moving, RoundTouch{meeting, kBegin}};
}

bool PlainSlide::IsAtStart(Vec2 position, double ulp) const {
  return first_ != nullptr && AreWithin(position, pose_.position, 8 * ulp);
}

// As `internal::SafePose` searches, without skin; nothing where that would go on to look back along
// the path, or where a proof fails.
std::optional<Vec2> PlainSlide::SafePose() {
  const Vec2 from = pose_.position;
  const double ulp = UlpOf(MovedBox(bounds_, move_.d, 0, fraction_));
  const Vec2 base = Normalized(PointOnPath(from, move_.d, fraction_));
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
  const Box near = Grown(Grown(BoundsOf(there), move_.radius), reach);
  offset_.Start(reach);
  for (uint32_t bits = unclear_; bits != 0; bits &= bits - 1) {
    const Segment edge = near_.edge(static_cast<size_t>(std::countr_zero(bits)));
    if (near.Intersects(BoundsOf(edge))) offset_.AddRound(there, move_.radius, edge);
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
  const Vec2 exact = Scaled(fraction_, move_.d);
  Segment there;
  if (!IsAccepted(position) || !IsAccepted(d) || !AreWithin(d, exact, 8 * move_.ulp) ||
      !Place(position, there)) {
    return Side::kUnknown;
  }
  for (size_t i = 0; i < face_count_; ++i) {
    const Near& near = *faces_[i];
    const Side side = std::visit(
        [&](const auto& front) { return front.SideOfMove(d, there); }, near.front);
    if (side != Side::kBeyond) return side;
  }
  return Side::kBeyond;
}

// The unit vector along the ray is the normal turned, whatever the order of its edge's ends.
std::optional<Vec2> PlainSlide::Redirected(Vec2 left) const {
  const RoundFace& face = std::get<RoundFace>(first_->front);
  const Segment& along = face.along();
  const bool is_forward = DotSign({along.a, along.b}, {{0, 0}, move_.d}) >= 0;
  const Vec2 n = hit_.normal;
  const Vec2 unit = is_forward ? Vec2{n.y + 0.0, 0.0 - n.x} : Vec2{0.0 - n.y, n.x + 0.0};
  return NotBlocked(PartAlong(left, unit), [&](Vec2 v) { return face.IsEnteredBy(v); });
}

}  // namespace carom::internal
