// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/slide.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "carom/predicates.h"
#include "sweep/blocking_batch.h"
#include "sweep/blocking_safe.h"

namespace carom {
namespace {

using internal::BlockedArcs;
using internal::BlockingContact;
using internal::BlockingHit;
using internal::BlockingMover;
using internal::BlockingPose;

double Dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }

// What of `push` a unit vector keeps.
Vec2 Along(Vec2 push, Vec2 ray) {
  const double length = Dot(push, ray);
  return Normalized(Vec2{length * ray.x, length * ray.y});
}

// `value`, so many doubles away from 0, or towards it.
double Stepped(double value, int steps) {
  const double towards = steps > 0 ? std::copysign(HUGE_VAL, value) : 0.0;
  for (int i = 0; i < std::abs(steps); ++i) value = std::nextafter(value, towards);
  return value;
}

// A vector that is not blocked, at most some ulps from `push`, or nothing. Along a slanted edge a
// rounded vector may point into it: a step of its lesser component turns it by less than an ulp.
std::optional<Vec2> NotBlocked(Vec2 push, const BlockedArcs& arcs) {
  for (const int greater : {0, 1, -1}) {
    for (const int lesser : {0, 1, -1, 2, -2}) {
      Vec2 v = push;
      const bool is_x_greater = std::abs(v.x) >= std::abs(v.y);
      v.x = Stepped(v.x, is_x_greater ? greater : lesser);
      v.y = Stepped(v.y, is_x_greater ? lesser : greater);
      v = Normalized(v);
      if (!(v == Vec2{}) && !arcs.Contains(v)) return v;
    }
  }
  return std::nullopt;
}

// Slides one shape after the other. Not thread-safe.
class Slider {
 public:
  Slider(const World& world, const SlideOptions& options, SlideAnswers& out, WorkMeter& meter)
      : obstacles_(world),
        options_(options),
        out_(out),
        meter_(meter),
        sweep_(obstacles_, meter),
        safe_(obstacles_, meter) {}

  // What the items that begin from here on consider.
  void Consider(const internal::Considered& considered) { obstacles_.Consider(considered); }
  // The item whose shape is placed in `start()`.
  BlockingPose& start() { return start_; }
  void Begin(const Shape& shape, double skin, SlideRow& row);
  void Push(Vec2 push, SlideRow& row);

 private:
  std::optional<BlockingHit> AddLeg(Vec2 d, SlideRow& row);
  std::optional<Vec2> Redirected(const BlockingHit& hit, Vec2 push, const SlideRow& row);
  std::optional<Vec2> AlongRay(const internal::ArcDirection& ray, Vec2 push, Vec2 left);
  void PlaceAt(Vec2 position);
  bool IsNear(const BlockingContact& contact) const;
  double ulp() const { return internal::UlpOf(start_.mover().shape().bounds()); }

  internal::Obstacles obstacles_;
  const SlideOptions& options_;
  SlideAnswers& out_;
  WorkMeter& meter_;
  internal::BlockingSweep sweep_;
  internal::SafePose safe_;
  BlockingPose start_;
  const Shape* shape_ = nullptr;
  double skin_ = 0;
  internal::BlockingSweep::Known known_{};  // of the shape in `start_`
  std::vector<BlockingContact> earlier_;
};

void Slider::Begin(const Shape& shape, double skin, SlideRow& row) {
  shape_ = &shape;
  skin_ = skin;
  known_ = internal::BlockingSweep::Known::kNothing;
  earlier_.clear();
  row.position = start_.pose().position;
}

// A safe pose: the shape has an interior there.
void Slider::PlaceAt(Vec2 position) {
  if (position == start_.pose().position) return;
  Pose pose = start_.pose();
  pose.position = position;
  start_.Place(*shape_, pose, meter_);
}

// The sweep of one leg, to its safe pose. That overlaps nothing if the start does not: all but what
// the sweep is clear of was looked at.
std::optional<BlockingHit> Slider::AddLeg(Vec2 d, SlideRow& row) {
  PlaceAt(row.position);
  sweep_.Start(start_, d, options_.inside_policy, known_);
  const std::optional<BlockingHit> hit = sweep_.First();
  if (meter_.stopped() || !meter_.SpendRows(1)) return std::nullopt;
  SlideLeg leg{row.position, d, hit.has_value(), {}};
  if (hit) leg.hit = sweep_.Measured(*hit);
  const double fraction = hit ? leg.hit.fraction : 1;
  row.position =
      safe_.Find({*shape_, start_, sweep_, options_.inside_policy, hit, fraction, skin_});
  known_ = sweep_.known();
  out_.legs.push_back(leg);
  ++row.legs;
  return hit;
}

// Until it is used up, or nothing is left that is not blocked. Along a slanted ray one coordinate
// may be more than it was: above 2^53 no sweep takes it. What is left is of the push as it
// was given, so that a corner that turned it from one wall to the other ends it.
void Slider::Push(Vec2 push, SlideRow& row) {
  row.left = push;
  double rest = 1;
  Vec2 d = push;
  for (uint32_t contacts = 0; !(d == Vec2{}) && !meter_.stopped();) {
    const std::optional<BlockingHit> hit = AddLeg(d, row);
    if (meter_.stopped()) return;
    if (!hit) {
      row.left = {};
      return;
    }
    rest *= 1 - out_.legs.back().hit.fraction;
    row.left = Normalized(Vec2{rest * push.x, rest * push.y});
    const std::optional<Vec2> next = Redirected(*hit, push, row);
    if (!next || !IsAccepted(*next) || ++contacts >= options_.max_contacts) return;
    if (std::sqrt(next->x * next->x + next->y * next->y) <= 8 * ulp()) return;
    d = *next;
  }
}

// What is left of the push, along the blocking ray; nothing if that keeps none of it. Leaves the
// shape placed where the leg has ended.
std::optional<Vec2> Slider::Redirected(const BlockingHit& hit, Vec2 push, const SlideRow& row) {
  const std::vector<BlockingContact>& met = sweep_.contacts();
  BlockedArcs& arcs = sweep_.arcs();
  PlaceAt(row.position);
  if (hit.starts_inside) return std::nullopt;
  std::erase_if(earlier_, [this](const BlockingContact& c) { return !IsNear(c); });
  for (const BlockingContact& contact : earlier_) arcs.Add(contact, start_.mover(), true);
  const bool is_alone = earlier_.empty() && push == sweep_.motion().d;
  earlier_.insert(earlier_.end(), met.begin(), met.end());
  if (is_alone && sweep_.ray()) return AlongRay(*sweep_.ray(), push, row.left);
  if (!arcs.Contains(push)) return NotBlocked(row.left, arcs);
  const std::optional<BlockedArcs::Ends> ends = arcs.EndsAbout(push);
  if (!ends) return std::nullopt;
  return AlongRay(arcs.Nearer(*ends, push), push, row.left);
}

std::optional<Vec2> Slider::AlongRay(const internal::ArcDirection& ray, Vec2 push, Vec2 left) {
  const BlockedArcs& arcs = sweep_.arcs();
  if (!arcs.IsAlong(ray, push)) return std::nullopt;
  return NotBlocked(Along(left, arcs.Unit(ray)), arcs);
}

// Of a contact met before, at the shape as it stands.
bool Slider::IsNear(const BlockingContact& contact) const {
  const BlockingMover& mover = start_.mover();
  const double radius = mover.shape().radius() + contact.fixed_radius;
  const double reach = radius + skin_ + 8 * ulp();
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

// The number of pushes of item i, or nothing and an error recorded.
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

// The displacements of an item are found behind those of the items before, which `CheckGroup` has
// added up; a column that is too short ends the batch.
bool SlideShapes(const World& world, const SlideColumns& columns, const SlideOptions& options,
                 SlideAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.rows.resize(columns.size());
  Slider slider(world, options, out, meter);
  size_t next = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const size_t first = next;
    next += columns.pushes.empty() ? 1 : columns.pushes[i];
    const std::optional<uint32_t> count = PushCount(columns, i, check);
    if (!count || !AreAccepted(columns, first, *count, check)) continue;
    const std::optional<double> skin = internal::SkinOf(columns.skin, i, check);
    if (!skin) continue;
    if (!internal::PlaceBlocking(columns.movers, i, check, meter, slider.start())) continue;
    const size_t shape = columns.movers.shape.empty() ? i : columns.movers.shape[i];
    slider.Consider(internal::Considered::Of(columns.movers.scope, i, options.mask));
    SlideRow& row = out.rows[i];
    slider.Begin(columns.movers.shapes[shape], *skin, row);
    for (size_t k = first; k < first + *count && !meter.stopped(); ++k) {
      slider.Push(Normalized(Vec2{columns.dx[k], columns.dy[k]}), row);
    }
    if (meter.stopped()) return false;
  }
  return !meter.stopped();
}

}  // namespace carom
