// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "slide/fast_slide.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "carom/predicates.h"
#include "numeric/box_distance.h"
#include "numeric/exact.h"
#include "numeric/rounded_vectors.h"
#include "shape/measures.h"
#include "shape/place_vertices.h"
#include "slide/slide_step.h"
#include "sweep/sweep_measures.h"

namespace carom::internal {
namespace {

Vec2 Sum(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
Vec2 Scaled(double t, Vec2 d) { return {t * d.x, t * d.y}; }
double Largest(Vec2 v) { return std::max(std::abs(v.x), std::abs(v.y)); }

// Returns the squared distance of a point and a segment. The square root of the result errs by a
// few rounding units (2^-53) of the largest coordinate.
double Distance2(Vec2 p, const Segment& segment) {
  const Vec2 s = RoundedDifference(segment.b, segment.a);
  const Vec2 apart = RoundedDifference(p, segment.a);
  const double length2 = s.x * s.x + s.y * s.y;
  const double along = length2 > 0 ? (apart.x * s.x + apart.y * s.y) / length2 : 0;
  const double t = std::clamp(along, 0.0, 1.0);
  const Vec2 rest{apart.x - t * s.x, apart.y - t * s.y};
  return rest.x * rest.x + rest.y * rest.y;
}

bool AreWithin(Vec2 a, Vec2 b, double most) {
  return std::abs(a.x - b.x) <= most && std::abs(a.y - b.y) <= most;
}

}  // namespace

bool FastSlide::Start(const Shape& shape, const Pose& pose) {
  const Capsule* const capsule = shape.capsule();
  if (!kHasFilters || capsule == nullptr || !(capsule->radius > 0)) return false;
  described_ = capsule->axis;
  move_.radius = capsule->radius;
  pose_ = pose;
  near_.Clear();
  return Place(pose.position, move_.axis);
}

bool FastSlide::Place(Vec2 position, Segment& axis) const {
  const std::array<Vec2, 2> described{described_.a, described_.b};
  std::array<Vec2, 2> ends;
  PlaceVertices({position, pose_.c, pose_.s}, described, ends.data());
  axis = {ends[0], ends[1]};
  return IsAccepted(ends[0]) && IsAccepted(ends[1]);
}

bool FastSlide::MoveTo(Vec2 position) {
  if (pose_.position == position) return true;
  if (!Place(position, move_.axis)) return false;
  pose_.position = position;
  return true;
}

FastSlide::Verdict FastSlide::Leg(Vec2 from, Vec2 d, BlockingSweep::StartOverlap start_overlap) {
  if (!MoveTo(from)) return Verdict::kUndecided;
  move_.d = d;
  first_ = nullptr;
  fraction_ = 1;
  contact_count_ = 0;
  if (!FindHit(start_overlap) || meter_.stopped()) return Verdict::kUndecided;
  if (first_ != nullptr) FindContacts();
  const std::optional<Vec2> safe = SafePose();
  if (!safe || meter_.stopped()) return Verdict::kUndecided;
  next_ = *safe;
  return first_ != nullptr ? Verdict::kHit : Verdict::kFree;
}

bool FastSlide::FindHit(BlockingSweep::StartOverlap start_overlap) {
  const Segment& axis = move_.axis;
  const Vec2 d = move_.d;
  if (!near_.Covers(axis.a) || !IsCovered()) {
    if (!Gather()) return false;
  }
  if (start_overlap == BlockingSweep::StartOverlap::kUnchecked && !near_.IsOutside(axis.a, meter_))
    return false;
  face_count_ = 0;
  unclear_ = 0;
  if (near_.points().count == 0) return true;
  meter_.Spend(near_.points().count);
  unclear_ = unclear_edges_(near_.points(),
                            {axis.a, RoundedDifference(axis.b, axis.a), move_.radius, d, margin_});
  return unclear_ == 0 || (ClassifyEdges() && FindFirst());
}

bool FastSlide::IsCovered() const {
  const Box core = CoreBounds();
  const double around = move_.radius * (1 + 0x1p-50) + margin_;
  const Vec2 d = move_.d;
  return near_.Covers({core.min.x - around + std::min(d.x, 0.0),
                       core.min.y - around + std::min(d.y, 0.0)}) &&
         near_.Covers(
             {core.max.x + around + std::max(d.x, 0.0), core.max.y + around + std::max(d.y, 0.0)});
}

// Collects in `near_` the edges near the leg (a straight move). All legs of a push (a displacement
// that obstacles deflect) start within the push's length of each other, so if that length is at
// most the size of the shape, one box of edges (`zone`) serves all legs. The bounds of the
// coordinates in that box also bound the coordinates of the legs.
bool FastSlide::Gather() {
  const Box core = CoreBounds();
  const Vec2 d = move_.d;
  const double width = 2 * move_.radius;
  const bool is_short = std::abs(d.x) <= core.max.x - core.min.x + width &&
                        std::abs(d.y) <= core.max.y - core.min.y + width;
  const double length = std::sqrt(d.x * d.x + d.y * d.y) * (1 + 0x1p-20);
  const double ahead = move_.radius * (1 + 0x1p-20) + (is_short ? length : 0);
  Box zone{{core.min.x - ahead, core.min.y - ahead}, {core.max.x + ahead, core.max.y + ahead}};
  if (!is_short) zone = MovedBox(zone, d, 0, 1);
  move_.ulp = 4 * kUnit * std::max(Largest(zone.min), Largest(zone.max));
  margin_ = 32 * move_.ulp + 8 * kSmallestMagnitude;
  const double slack = 4 * margin_;
  zone = {{zone.min.x - slack, zone.min.y - slack}, {zone.max.x + slack, zone.max.y + slack}};
  return IsAccepted(zone.min) && IsAccepted(zone.max) && near_.Gather(obstacles_, zone, meter_);
}

// Finds, for each edge that the path is not proven clear of, a line (`RoundFace`) or a corner
// (`RoundCorner`: a vertex and an end of the axis) that separates the edge from the shape, so that
// the edge lies behind it. Returns false unless the shape certainly overlaps none of these edges at
// the start. If no line through the edge itself separates it from the shape, the edge may lie
// behind the line of another edge, a line through a vertex, or a corner. A corner only needs to
// separate the edge from the shape until the path ends at a hit.
bool FastSlide::ClassifyEdges() {
  behind_ = 0;
  for (uint32_t bits = unclear_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    if (face_count_ == kMostFaces || !AddEdge(i)) behind_ |= uint32_t{1} << i;
  }
  uint32_t left = 0;
  for (uint32_t bits = behind_; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    if (IsBehindAny(i)) continue;
    if (face_count_ == kMostFaces) return false;
    if (!AddVertex(i) && !AddCorner(i, 1)) left |= uint32_t{1} << i;
  }
  if (left == 0) return true;
  const double until = LatestEnd();
  if (until == 1) return false;
  for (; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    if (IsBehindAny(i)) continue;
    if (face_count_ == kMostFaces || !AddCorner(i, until)) return false;
  }
  return true;
}

// Returns an upper bound of the fraction of the path at which a hit ends it, given the entries
// (times at which the capsule comes to a line or corner in `faces_`) found so far.
double FastSlide::LatestEnd() const {
  double end = 1;
  for (size_t i = 0; i < face_count_; ++i) {
    if (faces_[i]->entry) end = std::fmin(end, faces_[i]->entry->high);
  }
  return end;
}

bool FastSlide::AddEdge(size_t edge) {
  Near& near =
      faces_[face_count_].emplace(std::in_place_type<RoundFace>, edge, near_.edge(edge), move_);
  const RoundFace& face = std::get<RoundFace>(near.front);
  if (!face.FindPath(near.path)) return false;
  if (!near.path.is_apart && !face.FindEntry(near.entry.emplace())) return false;
  near.edges = uint32_t{1} << edge;
  Add(near, near.entry ? near.entry->vertex : std::nullopt,
      [&](Vec2 other) { return face.SideOf(other) < 0; });
  return true;
}

// Adds to `faces_` the line that is parallel to the capsule's axis and passes through that end of
// the edge which is nearer to the line through the axis. Returns false if the edge is not behind
// that line (on the side away from the capsule), or if the filters cannot decide whether and when
// the capsule comes to the line on its path.
bool FastSlide::AddVertex(size_t edge) {
  const Segment& axis = move_.axis;
  if (axis.a == axis.b) return false;
  const Segment e = near_.edge(edge);
  const Vec2 f = RoundedDifference(axis.b, axis.a);
  const auto across = [&](Vec2 q) {
    return std::abs(f.x * (q.y - axis.a.y) - f.y * (q.x - axis.a.x));
  };
  const Vec2 q = across(e.a) <= across(e.b) ? e.a : e.b;
  Near& near = faces_[face_count_].emplace(std::in_place_type<RoundFace>, edge, q, move_);
  const RoundFace& face = std::get<RoundFace>(near.front);
  if (!face.IsBehind(e)) return false;
  if (!face.FindPath(near.path)) return false;
  if (!near.path.is_apart && !face.FindEntry(near.entry.emplace())) return false;
  Add(near, q, [&](Vec2 other) { return face.SideOf(other) < 0; });
  return true;
}

// Adds to `faces_` the corner formed by an end of the edge and an end of the capsule's axis: the
// two ends that are nearest to each other. Returns false if the edge is not behind the corner (on
// the side away from the capsule), or if the filters cannot decide whether and when the capsule
// comes to the corner on its path.
bool FastSlide::AddCorner(size_t edge, double until) {
  const Segment e = near_.edge(edge);
  Vec2 vertex = e.a;
  uint32_t end = 0;
  double least = HUGE_VAL;
  for (const Vec2 q : {e.a, e.b}) {
    for (const uint32_t i : {0U, 1U}) {
      const Vec2 apart = RoundedDifference(move_.end(i), q);
      const double distance2 = apart.x * apart.x + apart.y * apart.y;
      if (!(distance2 < least)) continue;
      least = distance2, vertex = q, end = i;
    }
  }
  Near& near =
      faces_[face_count_].emplace(std::in_place_type<RoundCorner>, edge, vertex, end, move_, until);
  const RoundCorner& corner = std::get<RoundCorner>(near.front);
  near.path = corner.side_of_path();
  near.entry = corner.entry();
  if (!near.path.is_in_front || !(near.path.is_apart || near.entry)) return false;
  if (!corner.IsBehind(e)) return false;
  Add(near, vertex, [&](Vec2 other) { return corner.IsBehind({other, other}); });
  return true;
}

// Counts `near`, a line or corner, as an element of `faces_`, and adds to `near.edges` the edges
// that the shape meets at the entry of `near`, when the shape comes to it: if the entry is at a
// vertex, all edges that end at the vertex. The shape meets nothing else if these edges are of one
// polygon and their other ends lie strictly behind `near`.
template <class IsBehind>
void FastSlide::Add(Near& near, const std::optional<Vec2>& vertex, const IsBehind& is_behind) {
  ++face_count_;
  if (near.path.is_apart || !vertex) return;
  const IndexedPolygon& polygon = near_.polygon(near.edge);
  for (uint32_t bits = unclear_ & ~near.edges; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    const Segment other = near_.edge(i);
    const bool is_at_a = other.a == *vertex;
    if (!is_at_a && !(other.b == *vertex)) continue;
    near.is_only_contact = near.is_only_contact && &near_.polygon(i) == &polygon &&
                           is_behind(is_at_a ? other.b : other.a);
    near.edges |= uint32_t{1} << i;
  }
}

bool FastSlide::IsBehindAny(size_t edge) const {
  for (size_t i = 0; i < face_count_; ++i) {
    if (faces_[i]->IsBehind(near_.edge(edge))) return true;
  }
  return false;
}

// Sets `first_` to the line or corner that is hit first, or to null without a hit. Returns false
// unless the shape certainly touches nothing else at the time of that hit. If `is_apart` is set for
// a line or corner (the axis stays at least the radius away from it), the shape can touch it before
// the end of the path only if it touches it at the start, which `is_strict` excludes. The shape
// meets the first line or corner before another one if the time of entry of the first one, rounded
// up, is less than that of the other one.
bool FastSlide::FindFirst() {
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
    const std::optional<double> time =
        face != nullptr ? face->RoundedUpEntry(near.entry->end)
                        : std::get<RoundCorner>(near.front).RoundedUpEntry(near.normal);
    if (!time || (first != nullptr && *time == first->time)) return false;
    near.time = *time;
    if (first == nullptr || *time < first->time) first = &near;
  }
  first_ = first;
  return first_->is_only_contact && AreClearAtHit();
}

// Returns whether the edges that lie behind no other line or corner than `first_` are clear of the
// shape at the hit. The required distance `apart` ensures that the shape meets these edges later
// than the hit even when times are rounded. Edges behind another line or corner need no test, since
// up to the hit the shape meets no line or corner but `first_`.
bool FastSlide::AreClearAtHit() const {
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
  const Vec2 by = Scaled(first_->entry->high, move_.d);
  const Segment then{Sum(move_.axis.a, by), Sum(move_.axis.b, by)};
  const double apart = move_.radius + 4 * (margin_ + 0x1p-46 * Largest(move_.d));
  for (; behind != 0; behind &= behind - 1) {
    const Segment edge = near_.edge(static_cast<size_t>(std::countr_zero(behind)));
    const double least2 = std::min({Distance2(then.a, edge), Distance2(then.b, edge),
                                    Distance2(edge.a, then), Distance2(edge.b, then)});
    if (!(least2 > apart * apart)) return false;
  }
  return true;
}

// Sets point, normal and contacts (features of the shape and of edges that touch) of the hit as
// `BlockingSweep::Measured` does. One edge blocks an arc of directions of half a turn; both ends of
// the arc are along the edge, so the normal is that of the edge. If the shape meets several edges
// at once, the edge with the least index in `near_` defines the touch.
void FastSlide::FindContacts() {
  fraction_ = first_->time;
  const FaceEntry& entry = *first_->entry;
  using Kind = BlockingContact::Kind;
  if (const auto* const corner = std::get_if<RoundCorner>(&first_->front)) {
    normal_ = first_->normal
                  ? *first_->normal
                  : RoundNormal({move_.d, move_.radius}, corner->meeting(), IntervalEnd::kBegin);
    point_ = corner->vertex();
    return AddContact(Kind::kVertexOnVertex, corner->meeting(), entry.end);
  }
  const RoundFace& face = std::get<RoundFace>(first_->front);
  normal_ = UnitNormal(face.along(), 1);
  const auto add_vertex = [&](const EdgeMeeting& meeting) {
    point_ = meeting.fixed.a;
    AddContact(Kind::kEdgeOnVertex, meeting, meeting.moving.a == move_.axis.a ? 0 : 1);
  };
  if (face.is_of_vertex()) return add_vertex(face.MeetingOf(0));
  const bool is_vertex_first = (first_->edges & ((uint32_t{1} << first_->edge) - 1)) != 0;
  if (is_vertex_first) add_vertex(RoundFace(*entry.vertex, move_).MeetingOf(0));
  const EdgeMeeting meeting = face.MeetingOf(entry.end);
  AddContact(Kind::kVertexOnEdge, meeting, entry.end);
  if (entry.is_of_both) AddContact(Kind::kVertexOnEdge, face.MeetingOf(1), 1);
  if (is_vertex_first) return;
  if (entry.vertex) add_vertex(RoundFace(*entry.vertex, move_).MeetingOf(0));
  const Vec2 step{move_.radius * normal_.x, move_.radius * normal_.y};
  point_ = PointOnPath(meeting.moving.a, move_.d, fraction_, step);
}

void FastSlide::SetHit(SweepHit& hit) const {
  const auto first = static_cast<size_t>(std::countr_zero(first_->edges));
  const Polygon& polygon = near_.polygon(first).polygon();
  hit.polygon_id = polygon.id();
  hit.fraction = fraction_;
  hit.has_edge = true;
  hit.edge = polygon.edge_ref(near_.number(first));
  hit.point = point_;
  hit.normal = normal_;
}

// Returns the time of the hit, defined by the features of the first contact.
SweepTime FastSlide::time() const {
  const EdgeMeeting& meeting = contacts_[0].touch->meeting;
  return SweepTime::OfRoundTouch({move_.d, move_.radius}, meeting, IntervalEnd::kBegin, fraction_);
}

void FastSlide::AddContact(BlockingContact::Kind kind, const EdgeMeeting& meeting,
                           uint32_t moving) {
  const RoundTouch touch{meeting, IntervalEnd::kBegin};
  contacts_[contact_count_++] = {kind, meeting.fixed, moving, touch};
}

bool FastSlide::IsAtStart(Vec2 position, double ulp) const {
  return first_ != nullptr && AreWithin(position, pose_.position, 8 * ulp);
}

// Searches for a safe position, where the shape overlaps no obstacle in more than touch, as the
// class `internal::SafePose` does for a skin (gap to keep from obstacles) of 0. Returns nothing if
// `internal::SafePose` would try poses back along the path, or if filters cannot decide whether a
// position is safe.
std::optional<Vec2> FastSlide::SafePose() {
  const Vec2 from = pose_.position;
  if (first_ == nullptr) {
    // The sum is rounded once, so it equals `PointOnPath` at the fraction 1.
    const Vec2 end = Normalized(Sum(from, move_.d));
    const Side side = SafeAt(end);
    if (side == Side::kBeyond) return end;
    return side == Side::kUnknown ? std::nullopt : SafeOffset(end, UlpOfPath());
  }
  const Vec2 base = Normalized(PointOnPath(from, move_.d, fraction_));
  if (base == from) return from;
  const double ulp = UlpOfPath();
  if (IsAtStart(base, ulp)) return from;
  const Side side = SafeAt(base);
  if (side == Side::kBeyond) return base;
  return side == Side::kUnknown ? std::nullopt : SafeOffset(base, ulp);
}

double FastSlide::UlpOfPath() const { return UlpOf(MovedBox(Bounds(), move_.d, 0, fraction_)); }

std::optional<Vec2> FastSlide::SafeOffset(Vec2 base, double ulp) {
  Segment end_axis;
  if (!Place(base, end_axis)) return std::nullopt;
  const double reach = 16 * ulp;
  const Box near = Grown(Grown(BoundsOf(end_axis), move_.radius), reach);
  offset_.Start(reach);
  // Sorts the edges by the ids of their polygons, so that the result does not depend on the order
  // of visits.
  std::array<size_t, EdgePoints::kMost> edges;
  size_t count = 0;
  for (uint32_t bits = unclear_; bits != 0; bits &= bits - 1) {
    edges[count++] = static_cast<size_t>(std::countr_zero(bits));
  }
  const auto source = [this](size_t i) {
    return std::pair(near_.polygon(i).polygon().id(), near_.number(i));
  };
  std::sort(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(count),
            [&](size_t a, size_t b) { return source(a) < source(b); });
  for (size_t i = 0; i < count; ++i) {
    const Segment edge = near_.edge(edges[i]);
    if (near.Intersects(BoundsOf(edge))) offset_.AddRound(end_axis, move_.radius, edge);
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

// Returns kBeyond if the shape can move from its position to `position` and be placed there without
// overlapping an obstacle in more than touch, kWithin if it certainly cannot, else kUnknown. The
// path to the position must be within 8 ulp of a part of the leg, else the result is kUnknown.
// Edges that are clear of the leg are also clear of that path and of the shape placed at the
// position; all other edges lie behind a line (`RoundFace`) or corner (`RoundCorner`) in `faces_`.
Side FastSlide::SafeAt(Vec2 position) const {
  const Vec2 d = Normalized(RoundedDifference(position, pose_.position));
  const Vec2 exact = Scaled(fraction_, move_.d);
  if (!IsAccepted(position) || !IsAccepted(d) || !AreWithin(d, exact, 8 * move_.ulp)) {
    return Side::kUnknown;
  }
  // If `faces_` has no line or corner, the position is safe: it is in the box that `near_` covers,
  // whose coordinates are all accepted.
  if (face_count_ == 0) return Side::kBeyond;
  Segment end_axis;
  if (!Place(position, end_axis)) return Side::kUnknown;
  for (size_t i = 0; i < face_count_; ++i) {
    const Near& near = *faces_[i];
    const Side side =
        std::visit([&](const auto& front) { return front.SideOfMove(d, end_axis); }, near.front);
    if (side != Side::kBeyond) return side;
  }
  return Side::kBeyond;
}

// The unit vector along the wall is the normal turned by a quarter turn. Turned to the left or to
// the right, the unit vector yields the same component of the remaining push `left` along the wall.
bool FastSlide::Redirect(Vec2 left, std::optional<Vec2>& next) const {
  const Vec2 part = PartAlong(left, {normal_.y, -normal_.x});
  if (const auto* const face = std::get_if<RoundFace>(&first_->front)) {
    next = NotBlocked(part, [&](Vec2 v) { return face->IsEnteredBy(v); });
    return true;
  }
  if (!first_->normal) return false;
  const auto& corner = std::get<RoundCorner>(first_->front);
  bool is_certain = true;
  next = NotBlocked(part, [&](Vec2 v) {
    const std::optional<bool> enters = corner.IsEnteredBy(v);
    is_certain = is_certain && enters.has_value();
    return enters.value_or(false);
  });
  return is_certain;
}

// Returns whether the shape is still at a contact with an edge: whether the touching end of the
// axis is beside the edge, on its left, and at most the radius plus `most` away from it. In doubles
// the products err by 8 rounding units (2^-53) of the magnitudes of their terms.
bool FastSlide::IsStillAt(const BlockingContact& contact, double most) const {
  const Segment edge = contact.touch->meeting.side();
  const Vec2 s = RoundedDifference(edge.b, edge.a);
  const Vec2 apart = RoundedDifference(move_.end(contact.moving), edge.a);
  const double length2 = s.x * s.x + s.y * s.y;
  const double length = std::sqrt(length2);
  const double along = s.x * apart.x + s.y * apart.y;
  const RoundedCross across(s.x * apart.y, s.y * apart.x);
  const double reach = move_.radius * length;
  const double error = 16 * kFilterUnit * (across.magnitude + reach);
  const double least = 0x1p-20 * length2;
  return along > least && length2 - along > least && across.value > error &&
         across.value - reach + error <= most * length;
}

// Each of two edges, the edge that this leg hit and the edge of the earlier contacts, blocks the
// half turn of directions to its right. Together they block the union of both half turns, which has
// two ends that lead away from the corner between the edges: one along an edge, one along the other
// edge reversed. If the push is more than a quarter turn from both ends, nothing of the push
// remains along the end nearer to the push.
bool FastSlide::EndsInCorner(Vec2 push, std::span<const BlockingContact> earlier) {
  const auto* const face = std::get_if<RoundFace>(&first_->front);
  const auto is_of_edge = [](const BlockingContact& contact) {
    return contact.kind == BlockingContact::Kind::kVertexOnEdge && contact.touch &&
           contact.touch->end == IntervalEnd::kBegin && contact.fixed_radius == 0;
  };
  const std::span<const BlockingContact> met = contacts();
  if (face == nullptr || earlier.empty() || !std::all_of(met.begin(), met.end(), is_of_edge) ||
      !std::all_of(earlier.begin(), earlier.end(), is_of_edge)) {
    return false;
  }
  const Segment hit = face->along();
  const Segment other = earlier[0].touch->meeting.side();
  const int turn = CrossSign({other.a, other.b}, {hit.a, hit.b});
  if (turn == 0) return false;
  const Segment& back = turn > 0 ? other : hit;
  const Segment& ahead = turn > 0 ? hit : other;
  const Direction along_push{{0, 0}, push};
  if (DotSign({back.a, back.b}, along_push) <= 0 || DotSign({ahead.a, ahead.b}, along_push) >= 0) {
    return false;
  }
  if (!MoveTo(next_)) return false;
  const double most = 7 * UlpOf(Bounds());
  return std::all_of(earlier.begin(), earlier.end(), [&](const BlockingContact& contact) {
    const Segment side = contact.touch->meeting.side();
    return side.a == other.a && side.b == other.b && IsStillAt(contact, most);
  });
}

}  // namespace carom::internal
