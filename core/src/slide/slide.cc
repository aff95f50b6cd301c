// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/slide.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "blocking/blocking_batch.h"
#include "blocking/blocking_safe.h"
#include "carom/predicates.h"
#include "index/placed_items.h"
#include "slide/fast_slide.h"
#include "slide/slide_batch.h"
#include "slide/slide_step.h"

namespace carom {
namespace {

using internal::BlockedArcs;
using internal::BlockingContact;
using internal::BlockingHit;
using internal::BlockingMover;
using internal::BlockingPose;

// Moves shapes by pushes (displacements that obstacles deflect), one push at a time. Each push
// becomes a sequence of straight legs, each after the first along a wall (an edge or vertex of an
// obstacle) that the leg before it hit. A leg is decided by filters (`fast_`), or else by the exact
// search (`sweep_`). At a hit, a contact is an edge or vertex of an obstacle that the shape
// touches; it blocks directions of motion. Not thread-safe.
class Slider {
 public:
  Slider(const internal::SlideRun& run, SlideAnswers& out, WorkMeter& meter)
      : obstacles_(run.world),
        options_(run.options),
        is_general_(run.search == internal::SlideSearch::kGeneral),
        out_(out),
        meter_(meter),
        sweep_(obstacles_, meter),
        safe_(obstacles_, meter),
        fast_(obstacles_, meter) {}

  // Reads the shape, the pose and the skin (the gap to keep from obstacles) of item i. Returns
  // false if it records an error or the meter stops.
  bool Begin(const SlideColumns& columns, size_t i, ItemChecker& check, SlideRow& row);
  void Push(Vec2 push, SlideRow& row);
  const internal::SlideCounts& counts() const { return counts_; }

 private:
  using StartOverlap = internal::BlockingSweep::StartOverlap;
  // How a leg ends: kFree without a hit, kHit at a hit, kStartsInside if the shape overlaps an
  // obstacle at the start of the leg.
  enum class End : uint8_t { kFree, kHit, kStartsInside };

  End AddLeg(Vec2 d, SlideRow& row);
  bool AddFastLeg(SlideLeg& leg, SlideRow& row);
  std::optional<Vec2> Redirected(Vec2 push, const SlideRow& row);
  void Gather(const SlideRow& row);
  std::optional<Vec2> AlongRay(const internal::ArcDirection& ray, Vec2 push, Vec2 left);
  void PlaceAt(Vec2 position);
  bool IsNear(const BlockingContact& contact) const;
  bool IsShort(Vec2 d, Vec2 position);

  internal::Obstacles obstacles_;
  const SlideOptions& options_;
  const bool is_general_;
  SlideAnswers& out_;
  WorkMeter& meter_;
  internal::BlockingSweep sweep_;
  internal::SafePose safe_;
  internal::FastSlide fast_;
  const Shape* shape_ = nullptr;
  Pose pose_;
  // the shape placed at `pose_`, for the exact search
  BlockingPose start_;
  // `start_` holds the shape of the current item (one slide of the batch)
  bool is_placed_ = false;
  // the fast path (`fast_`) accepts the shape of the current item
  bool may_be_fast_ = false;
  // the fast path decided the last leg
  bool is_fast_ = false;
  internal::SlideCounts counts_;
  double skin_ = 0;
  // kNone if the shape is proven to overlap nothing in more than touch at the start of the next leg
  StartOverlap start_overlap_{};
  // contacts at the hits of earlier legs, which may still block directions
  std::vector<BlockingContact> earlier_;
};

bool Slider::Begin(const SlideColumns& columns, size_t i, ItemChecker& check, SlideRow& row) {
  const std::optional<double> skin = internal::SkinOf(columns.skin, i, check);
  if (!skin) return false;
  shape_ = internal::ShapeOf(columns.movers, i, check);
  if (shape_ == nullptr) return false;
  const std::optional<Pose> pose = internal::PoseOf(columns.movers, i, check);
  if (!pose || !meter_.Spend(1)) return false;
  pose_ = *pose;
  skin_ = *skin;
  start_overlap_ = StartOverlap::kUnchecked;
  earlier_.clear();
  obstacles_.SetFilter(internal::QueryFilter::Of(columns.movers.scope, i, options_.mask));
  may_be_fast_ = !is_general_ && skin_ == 0 && fast_.Start(*shape_, pose_);
  is_placed_ = !may_be_fast_;
  if (is_placed_ && !internal::PlaceBlocking(*shape_, pose_, check, meter_, start_)) return false;
  row.position = pose_.position;
  return true;
}

// Sets `start_`, for the exact search, to the shape at `position`: the start of the slide, or the
// safe position at which a leg (a straight move of the slide) ended. The shape is known to have an
// interior there, so `Place` returns no fault.
void Slider::PlaceAt(Vec2 position) {
  if (is_placed_ && position == start_.pose().position) return;
  is_placed_ = true;
  pose_.position = position;
  start_.Place(*shape_, pose_, meter_);
}

// Returns whether a leg by the displacement d from `position` is at most 8 ulp long.
bool Slider::IsShort(Vec2 d, Vec2 position) {
  const double length = std::sqrt(d.x * d.x + d.y * d.y);
  if (is_fast_) {
    return length <= 8 * fast_.ulp() && length <= 8 * internal::UlpOf(fast_.BoundsAt(position));
  }
  PlaceAt(position);
  return length <= 8 * internal::UlpOf(start_.mover().shape().bounds());
}

bool Slider::AddFastLeg(SlideLeg& leg, SlideRow& row) {
  using Verdict = internal::FastSlide::Verdict;
  const Verdict verdict = fast_.Leg(leg.from, leg.d, start_overlap_);
  if (verdict == Verdict::kUndecided) return false;
  leg.has_hit = verdict == Verdict::kHit;
  if (leg.has_hit) fast_.SetHit(leg.hit);
  row.position = fast_.position();
  start_overlap_ = StartOverlap::kNone;
  ++(leg.has_hit ? counts_.hits : counts_.free);
  return true;
}

// Adds the leg (a straight move of the slide) by the displacement d: a sweep of the shape that ends
// at the safe pose of the sweep, from which the shape can go on. If the shape overlaps no obstacle
// in more than touch (the interior of one meets the other) at the start of the leg, it overlaps
// none so at the safe pose either, as `SafePose` proves against all obstacles that may touch the
// path. Therefore `start_overlap_` is also valid for the next leg, which starts at the safe pose.
Slider::End Slider::AddLeg(Vec2 d, SlideRow& row) {
  static constexpr SlideLeg kNoLeg;
  out_.legs.push_back(kNoLeg);  // copying a leg is faster than zeroing one
  SlideLeg& leg = out_.legs.back();
  leg.from = row.position;
  leg.d = d;
  is_fast_ = may_be_fast_ && AddFastLeg(leg, row);
  if (!is_fast_) {
    ++counts_.fallbacks;
    PlaceAt(row.position);
    sweep_.Start(start_, d, options_.inside_policy, start_overlap_);
    const std::optional<BlockingHit> hit = sweep_.First();
    leg.has_hit = hit.has_value();
    if (hit && !meter_.stopped()) leg.hit = sweep_.Measured(*hit);
    const double fraction = hit ? leg.hit.fraction : 1;
    if (meter_.stopped()) return End::kFree;
    row.position =
        safe_.Find({*shape_, start_, sweep_, options_.inside_policy, hit, fraction, skin_});
    start_overlap_ = sweep_.start_overlap();
  }
  if (!meter_.SpendRows(1)) return End::kFree;
  ++row.legs;
  if (!leg.has_hit) return End::kFree;
  return leg.hit.starts_inside ? End::kStartsInside : End::kHit;
}

// Adds legs (straight moves) until the push (the requested displacement) is used up, or no part of
// the push remains that is not blocked. A leg along a slanted wall may have a greater coordinate
// than the push; sweeps accept no coordinate above 2^53. `row.left`, the part of the push that
// remains, is a fraction of the argument `push`, not of the last leg, so that a corner that turns
// the motion from one wall to the other ends the push.
void Slider::Push(Vec2 push, SlideRow& row) {
  row.left = push;
  double rest = 1;
  Vec2 d = push;
  for (uint32_t contacts = 0; !(d == Vec2{}) && !meter_.stopped();) {
    const End end = AddLeg(d, row);
    if (meter_.stopped()) return;
    if (end == End::kFree) {
      row.left = {};
      return;
    }
    rest *= 1 - out_.legs.back().hit.fraction;
    row.left = Normalized(Vec2{rest * push.x, rest * push.y});
    if (end == End::kStartsInside) return;
    const std::optional<Vec2> next = Redirected(push, row);
    if (!next || !IsAccepted(*next) || ++contacts >= options_.max_contacts) return;
    if (IsShort(*next, row.position)) return;
    d = *next;
  }
}

// Returns the displacement of the next leg: the part of the remaining push along the blocking ray
// (the end, nearer to the push, of the arc of blocked directions), or nothing if no part remains.
std::optional<Vec2> Slider::Redirected(Vec2 push, const SlideRow& row) {
  const bool is_first = out_.legs.back().d == push;
  std::optional<Vec2> next;
  if (is_fast_ && is_first && earlier_.empty() && fast_.Redirect(row.left, next)) {
    earlier_.assign(fast_.contacts().begin(), fast_.contacts().end());
    return next;
  }
  if (is_fast_ && fast_.EndsInCorner(push, earlier_)) {
    earlier_.insert(earlier_.end(), fast_.contacts().begin(), fast_.contacts().end());
    return std::nullopt;
  }
  Gather(row);
  const std::span<const BlockingContact> met = is_fast_ ? fast_.contacts() : sweep_.contacts();
  const BlockedArcs& arcs = sweep_.arcs();
  const bool is_alone = earlier_.empty() && is_first;
  earlier_.insert(earlier_.end(), met.begin(), met.end());
  if (is_alone && !is_fast_ && sweep_.ray()) return AlongRay(*sweep_.ray(), push, row.left);
  const auto is_blocked = [&](Vec2 v) { return arcs.Contains(v); };
  if (!is_blocked(push)) return internal::NotBlocked(row.left, is_blocked);
  const std::optional<BlockedArcs::Ends> ends = arcs.EndsAbout(push);
  if (!ends) return std::nullopt;
  return AlongRay(arcs.Nearer(*ends, push), push, row.left);
}

// Collects in `sweep_.arcs()` all directions that are blocked at the end of the last leg (a
// straight move of the slide): those that the contacts of the leg's hit block, and those that
// contacts of earlier legs block, if the shape still touches at these contacts.
void Slider::Gather(const SlideRow& row) {
  BlockedArcs& arcs = sweep_.arcs();
  if (is_fast_) {
    const SlideLeg& leg = out_.legs.back();
    PlaceAt(leg.from);
    arcs.Start({leg.d, start_.mover().shape().radius()}, fast_.time());
    for (const BlockingContact& contact : fast_.contacts()) arcs.Add(contact, start_.mover());
  }
  PlaceAt(row.position);
  std::erase_if(earlier_, [this](const BlockingContact& c) { return !IsNear(c); });
  for (const BlockingContact& contact : earlier_) arcs.Add(contact, start_.mover(), true);
}

std::optional<Vec2> Slider::AlongRay(const internal::ArcDirection& ray, Vec2 push, Vec2 left) {
  const BlockedArcs& arcs = sweep_.arcs();
  if (!arcs.IsAlong(ray, push)) return std::nullopt;
  return internal::NotBlocked(internal::PartAlong(left, arcs.Unit(ray)),
                              [&](Vec2 v) { return arcs.Contains(v); });
}

// Returns whether the two features of `contact`, a contact of an earlier leg (straight move), are
// still nearly in touch, at most the skin plus 8 ulp apart, for the shape as placed in `start_`.
bool Slider::IsNear(const BlockingContact& contact) const {
  const BlockingMover& mover = start_.mover();
  const double radius = mover.shape().radius() + contact.fixed_radius;
  const double reach = radius + skin_ + 8 * internal::UlpOf(mover.shape().bounds());
  using Kind = BlockingContact::Kind;
  const Segment moving = contact.MovingEdge(mover);
  const Vec2 p = contact.MovingVertex(mover);
  if (contact.kind == Kind::kVertexOnEdge) {
    return CompareDistance(contact.fixed, Circle{p, reach}) <= 0;
  }
  const Vec2 q = contact.fixed.a;
  if (contact.kind == Kind::kEdgeOnVertex) return CompareDistance(moving, Circle{q, reach}) <= 0;
  return CompareDistance(p, Circle{q, reach}) <= 0;
}

// Returns the number of pushes of item i, or records an error and returns nothing.
std::optional<uint32_t> PushCount(const SlideColumns& columns, size_t i, ItemChecker& check) {
  const uint32_t count = columns.pushes.empty() ? 1 : columns.pushes[i];
  if (count >= 1 && count <= kMaxPushes) return count;
  check.Fail(ItemColumn::kPushes, ItemFault::kTooManyPushes);
  return std::nullopt;
}

bool AreAccepted(const SlideColumns& columns, size_t first, size_t count, ItemChecker& check) {
  for (size_t k = first; k < first + count; ++k) {
    if (!check.Coordinate(ItemColumn::kDx, columns.dx[k]) ||
        !check.Coordinate(ItemColumn::kDy, columns.dy[k])) {
      return false;
    }
  }
  return true;
}

}  // namespace

void SlideAnswers::Clear() {
  rows.clear();
  legs.clear();
  errors.clear();
}

// Reads the pushes (displacements) of all items from the columns dx and dy, which hold the pushes
// of item 0, then those of item 1, and so on. `CheckGroup` has added up the numbers of pushes and
// rejected a batch with too short columns.
bool internal::RunSlides(const SlideRun& run, SlideAnswers& out, WorkMeter& meter,
                         SlideCounts* counts) {
  const SlideColumns& columns = run.columns;
  out.Clear();
  out.rows.resize(columns.size());
  Slider slider(run, out, meter);
  size_t next = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const size_t first = next;
    next += columns.pushes.empty() ? 1 : columns.pushes[i];
    const std::optional<uint32_t> count = PushCount(columns, i, check);
    if (!count || !AreAccepted(columns, first, *count, check)) continue;
    SlideRow& row = out.rows[i];
    if (!slider.Begin(columns, i, check, row)) continue;
    for (size_t k = first; k < first + *count && !meter.stopped(); ++k) {
      slider.Push(Normalized(Vec2{columns.dx[k], columns.dy[k]}), row);
    }
    if (meter.stopped()) return false;
  }
  if (counts != nullptr) *counts = slider.counts();
  return !meter.stopped();
}

bool SlideShapes(const World& world, const SlideColumns& columns, const SlideOptions& options,
                 SlideAnswers& out, WorkMeter& meter) {
  return internal::RunSlides({world, columns, options}, out, meter);
}

}  // namespace carom
