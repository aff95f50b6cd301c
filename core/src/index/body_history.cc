// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/body_history.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "index/body_tick.h"

namespace carom {
namespace internal {
namespace {

// 2 pi, rounded to the nearest double: the whole turn of rule 3 of "Body sets".
constexpr double kTurn = 6.283185307179586;

}  // namespace

// The difference f = as_of - k is exact, since both numbers are below 2^53 and k has no fraction.
BodyMoment MomentOf(const BodyHistory& history, double as_of) {
  if (!(as_of >= 0 && as_of <= static_cast<double>(kMaxTick))) return {};
  const double whole = std::floor(as_of);
  const size_t index = history.Find(static_cast<uint64_t>(whole));
  if (index == history.tick_count()) return {};
  BodyMoment moment{&history.tick_at(index), nullptr, as_of - whole, index};
  if (moment.f == 0) return moment;
  if (index + 1 == history.tick_count()) return {};
  moment.b = &history.tick_at(index + 1);
  return moment.b->tick == moment.a->tick + 1 ? moment : BodyMoment{};
}

CosSin RotationBetween(double from, double to, double f) {
  double d = to - from;
  d -= kTurn * std::floor(d / kTurn + 0.5);
  if (d <= -kTurn / 2) d += kTurn;
  double angle = from + f * d;
  if (std::abs(angle) > kMaxAngle) angle -= std::copysign(kTurn, angle);
  return SinCos(angle);
}

Pose PoseAt(const BodyMoment& moment, size_t body, BodyRotation rotation) {
  const bool moves = moment.Moves(body);
  CosSin turned;
  if (moves && rotation == BodyRotation::kLinear && moment.a->form == RotationForm::kAngle) {
    turned = RotationBetween(moment.a->third(body), moment.b->third(body), moment.f);
  } else {
    turned = (moves && moment.f >= 0.5 ? moment.b : moment.a)->rotation(body);
  }
  return {PositionAt(moment, body), turned.c, turned.s};
}

}  // namespace internal

namespace {

using internal::BodyMoment;
using internal::BodyTick;
using internal::DefinedBodies;
using internal::RotationForm;
using internal::ShapeReach;

constexpr size_t kMaxBodyVertices = 16 * kMaxMovingVertices;
// What a tick takes beside its numbers and bits: the block, its counter and its vectors.
constexpr size_t kTickOverhead = 256;

// Returns how far the shape reaches from its reference point. The radius counts the accepted error
// of (c, s), 1e-6 of the squared length, and the rounding of this function and of placing.
ShapeReach ReachOf(const Shape& shape) {
  double radius = 0;
  const auto hold = [&](Vec2 p) { radius = std::max(radius, std::hypot(p.x, p.y)); };
  if (const Capsule* const capsule = shape.capsule()) {
    hold(capsule->axis.a);
    hold(capsule->axis.b);
    radius += capsule->radius;
  } else {
    const Polygon& polygon = *shape.polygon();
    for (size_t ring = 0; ring < polygon.ring_count(); ++ring) {
      for (const Vec2 p : polygon.ring(ring)) hold(p);
    }
  }
  return {shape.bounds(), radius * (1 + 0x1p-19) + 0x1p-138};
}

size_t WordsOf(size_t bits) { return (bits + 63) / 64; }

RotationForm FormOf(const PoseColumns& poses) {
  if (!poses.angle.empty()) return RotationForm::kAngle;
  return poses.c.empty() ? RotationForm::kNone : RotationForm::kCosSin;
}

// Checks the lengths of the columns of a tick of `bodies` bodies.
void CheckLengths(const PoseColumns& poses, size_t bodies, Refusal& refusal) {
  const auto check = [&](const char* name, size_t size, size_t expected, bool may_be_empty) {
    if (size == expected || (may_be_empty && size == 0)) return;
    refusal.Add(name, absl::StrCat("must have ", expected, " entries",
                                   may_be_empty ? ", or be absent" : ", one for each body"));
  };
  check("x", poses.x.size(), bodies, false);
  check("y", poses.y.size(), bodies, false);
  check("c", poses.c.size(), bodies, true);
  check("s", poses.s.size(), poses.c.size(), false);
  check("angle", poses.angle.size(), bodies, true);
  check("alive", poses.alive.size(), WordsOf(bodies), true);
  check("teleported", poses.teleported.size(), WordsOf(bodies), true);
  if (!poses.angle.empty() && !poses.c.empty()) {
    refusal.Add("angle", "must be absent where c and s are given");
  }
}

// Checks the numbers of a tick; its columns have the right lengths.
void CheckNumbers(const PoseColumns& poses, Refusal& refusal) {
  const auto check = [&](const char* name, std::span<const double> column, const auto& accepts,
                         const char* allowed) {
    for (size_t i = 0; i < column.size(); ++i) {
      if (!accepts(i)) refusal.Add(absl::StrCat(name, "[", i, "]"), allowed);
    }
  };
  const auto is_position = [](double value) { return std::abs(value) <= kMaxPastPosition; };
  constexpr char kPosition[] = "must be finite and at most 2^52 in magnitude";
  check(
      "x", poses.x, [&](size_t i) { return is_position(poses.x[i]); }, kPosition);
  check(
      "y", poses.y, [&](size_t i) { return is_position(poses.y[i]); }, kPosition);
  check(
      "c", poses.c, [&](size_t i) { return IsRotation(poses.c[i], poses.s[i]); },
      "must satisfy |c*c + s*s - 1| <= 1e-6");
  check(
      "angle", poses.angle, [&](size_t i) { return std::abs(poses.angle[i]) <= kMaxAngle; },
      "must be in [-2^20, 2^20] radians");
}

// Keeps bits, without those beyond the last body; nothing if every bit is `otherwise`.
std::vector<uint64_t> KeptBits(std::span<const uint64_t> words, size_t bodies, bool otherwise) {
  std::vector<uint64_t> kept(words.begin(), words.end());
  if (kept.empty()) return kept;
  const uint64_t last = bodies % 64 == 0 ? ~uint64_t{0} : (uint64_t{1} << bodies % 64) - 1;
  kept.back() &= last;
  bool is_plain = true;
  for (size_t w = 0; w < kept.size(); ++w) {
    const uint64_t all = w + 1 == kept.size() ? last : ~uint64_t{0};
    is_plain = is_plain && kept[w] == (otherwise ? all : 0);
  }
  if (is_plain) kept.clear();
  return kept;
}

std::shared_ptr<const BodyTick> MakeTick(const PoseColumns& poses) {
  auto made = std::make_shared<BodyTick>();
  BodyTick& tick = *made;
  tick.tick = poses.tick;
  tick.form = FormOf(poses);
  tick.bodies = poses.x.size();
  tick.numbers.reserve(2 * poses.x.size() + 2 * poses.c.size() + poses.angle.size());
  for (const double x : poses.x) tick.numbers.push_back(Normalized(x));
  for (const double y : poses.y) tick.numbers.push_back(Normalized(y));
  for (const std::span<const double> column : {poses.c, poses.s, poses.angle}) {
    for (const double number : column) tick.numbers.push_back(number + 0.0);  // -0 becomes 0
  }
  tick.alive = KeptBits(poses.alive, tick.bodies, true);
  tick.teleported = KeptBits(poses.teleported, tick.bodies, false);
  return made;
}

// Returns whether two ticks have the same poses, bit for bit.
bool IsSame(const BodyTick& a, const BodyTick& b) {
  return a.form == b.form && a.alive == b.alive && a.teleported == b.teleported &&
         a.numbers.size() == b.numbers.size() &&
         (a.numbers.empty() ||
          std::memcmp(a.numbers.data(), b.numbers.data(), a.numbers.size() * sizeof(double)) == 0);
}

absl::Status CheckDefinition(const BodyDefinition& definition) {
  Refusal refusal;
  const size_t bodies = definition.size();
  const auto check = [&](const char* name, size_t size) {
    if (size == 0 || size == bodies) return;
    refusal.Add(name, absl::StrCat("must be absent or have one entry per body, ", bodies));
  };
  check("category", definition.category.size());
  check("owner", definition.owner.size());
  for (size_t i = 0; i < definition.shape.size(); ++i) {
    if (definition.shape[i] < definition.shapes.size()) continue;
    refusal.Add(absl::StrCat("shape[", i, "]"), "must be an index into shapes");
  }
  if (definition.keep_ticks < 1 || definition.keep_ticks > kMaxKeepTicks) {
    refusal.Add("keep_ticks", absl::StrCat("must be in [1, ", kMaxKeepTicks, "]"));
  }
  return refusal.status();
}

absl::Status CheckSizes(const BodyDefinition& definition) {
  Refusal refusal;
  if (definition.size() > kMaxBodies) {
    refusal.Add("bodies", absl::StrCat("must be at most ", kMaxBodies, " bodies"));
  }
  if (definition.shapes.size() > kMaxBodies) {
    refusal.Add("shapes", absl::StrCat("must be at most ", kMaxBodies, " shapes"));
  }
  if (!refusal.empty()) return refusal.status(absl::StatusCode::kResourceExhausted);
  size_t vertices = 0;
  for (size_t i = 0; i < definition.size(); ++i) {
    vertices +=
        definition.shapes[definition.shape.empty() ? i : definition.shape[i]].vertex_count();
  }
  if (vertices > kMaxBodyVertices) {
    refusal.Add("bodies", absl::StrCat("must have at most ", kMaxBodyVertices, " vertices in all"));
  }
  for (size_t i = 0; i < definition.shapes.size(); ++i) {
    absl::Status status =
        CheckMovingVertices(definition.shapes[i].vertex_count(), absl::StrCat("shapes[", i, "]"));
    if (!status.ok()) return status;
  }
  return refusal.status(absl::StatusCode::kResourceExhausted);
}

std::shared_ptr<const DefinedBodies> NoBodies() {
  static const auto* const kNone =
      new std::shared_ptr<const DefinedBodies>(std::make_shared<DefinedBodies>());
  return *kNone;
}

}  // namespace

BodyColumns PastBodies::columns() const {
  BodyColumns columns = rest;
  columns.placed.x = x;
  columns.placed.y = y;
  columns.placed.c = c;
  columns.placed.s = s;
  columns.category = category;
  return columns;
}

BodyHistory::BodyHistory() : defined_(NoBodies()) {}
BodyHistory::BodyHistory(const BodyHistory&) = default;
BodyHistory::BodyHistory(BodyHistory&& other) noexcept
    : defined_(std::exchange(other.defined_, NoBodies())), ticks_(std::move(other.ticks_)) {}
BodyHistory& BodyHistory::operator=(const BodyHistory&) = default;
BodyHistory& BodyHistory::operator=(BodyHistory&& other) noexcept {
  defined_ = std::exchange(other.defined_, NoBodies());
  ticks_ = std::move(other.ticks_);
  return *this;
}
BodyHistory::~BodyHistory() = default;

absl::StatusOr<BodyHistory> BodyHistory::Create(BodyDefinition definition) {
  absl::Status status = CheckDefinition(definition);
  if (status.ok()) status = CheckSizes(definition);
  if (!status.ok()) return status;
  auto defined = std::make_shared<DefinedBodies>();
  Refusal refusal;
  size_t bytes = sizeof(DefinedBodies);
  for (size_t i = 0; i < definition.shapes.size(); ++i) {
    const Shape& shape = definition.shapes[i];
    defined->reaches.push_back(ReachOf(shape));
    if (!(defined->reaches.back().radius <= kMaxPastExtent * (1 + 0x1p-18))) {
      refusal.Add(absl::StrCat("shapes[", i, "]"),
                  "must be within 2^51 of the reference point of the shape");
    }
    bytes += sizeof(Shape) + sizeof(ShapeReach) + 256 + 40 * shape.vertex_count();
    if (shape.polygon() != nullptr) bytes += shape.polygon()->user_data().size();
  }
  if (!refusal.empty()) return refusal.status();
  bytes += 16 * definition.size();
  defined->definition = std::move(definition);
  defined->memory_bytes = bytes;
  BodyHistory history;
  history.defined_ = std::move(defined);
  return history;
}

absl::Status BodyHistory::Check(const PoseColumns& poses) const {
  Refusal refusal;
  CheckLengths(poses, size(), refusal);
  if (refusal.empty()) CheckNumbers(poses, refusal);
  if (poses.tick > kMaxTick) refusal.Add("tick", "must be in [0, 2^53]");
  if (refusal.empty() && !ticks_.empty() && FormOf(poses) != ticks_.back()->form) {
    refusal.Add("angle", "must be given as in the ticks before, as must c and s");
  }
  return refusal.status();
}

absl::Status BodyHistory::Add(const PoseColumns& poses) {
  absl::Status status = Check(poses);
  if (!status.ok()) return status;
  if (!ticks_.empty() && poses.tick <= newest_tick()) {
    if (poses.tick < oldest_tick()) return absl::OkStatus();
    const size_t index = Find(poses.tick);
    if (index == ticks_.size()) return InvalidField("tick", "must be above all earlier ticks");
    if (!IsSame(*ticks_[index], *MakeTick(poses))) {
      return InvalidField("tick", "must have the same poses where it is sent again");
    }
    return absl::OkStatus();
  }
  if (ticks_.size() == keep_ticks()) ticks_.erase(ticks_.begin());
  ticks_.push_back(MakeTick(poses));
  return absl::OkStatus();
}

size_t BodyHistory::size() const { return defined_->definition.size(); }
uint32_t BodyHistory::keep_ticks() const { return defined_->definition.keep_ticks; }
uint64_t BodyHistory::oldest_tick() const { return ticks_.empty() ? 0 : ticks_.front()->tick; }
uint64_t BodyHistory::newest_tick() const { return ticks_.empty() ? 0 : ticks_.back()->tick; }

bool BodyHistory::Has(double as_of) const { return internal::MomentOf(*this, as_of).is_kept(); }

bool BodyHistory::Allows(BodyRotation rotation) const {
  return rotation != BodyRotation::kLinear || ticks_.empty() ||
         ticks_.back()->form != RotationForm::kCosSin;
}

// Ticks without gaps are found by their distance from the oldest; others by bisection.
size_t BodyHistory::Find(uint64_t tick) const {
  if (ticks_.empty() || tick < oldest_tick() || tick > newest_tick()) return ticks_.size();
  const uint64_t guess = tick - oldest_tick();
  if (guess < ticks_.size() && ticks_[guess]->tick == tick) return guess;
  const auto found =
      std::lower_bound(ticks_.begin(), ticks_.end(), tick,
                       [](const auto& kept, uint64_t wanted) { return kept->tick < wanted; });
  return (*found)->tick == tick ? static_cast<size_t>(found - ticks_.begin()) : ticks_.size();
}

bool BodyHistory::At(double as_of, BodyRotation rotation, PastBodies& out) const {
  const BodyMoment moment = internal::MomentOf(*this, as_of);
  if (!moment.is_kept()) return false;
  const BodyDefinition& definition = defined_->definition;
  const bool has_rotations = moment.a->form != RotationForm::kNone;
  out.x.clear();
  out.y.clear();
  out.c.clear();
  out.s.clear();
  out.category.clear();
  for (size_t i = 0; i < size(); ++i) {
    const Pose pose = internal::PoseAt(moment, i, rotation);
    out.x.push_back(pose.position.x);
    out.y.push_back(pose.position.y);
    out.category.push_back(moment.a->is_alive(i) ? defined_->category(i) : 0);
    if (!has_rotations) continue;
    out.c.push_back(pose.c);
    out.s.push_back(pose.s);
  }
  out.rest.placed.shapes = definition.shapes;
  out.rest.placed.shape = definition.shape;
  out.rest.owner = definition.owner;
  return true;
}

size_t BodyHistory::TickBytes(size_t bodies, size_t ticks) {
  return ticks * (kTickOverhead + 4 * sizeof(double) * bodies + 16 * WordsOf(bodies));
}

size_t BodyHistory::defined_bytes() const { return defined_->memory_bytes; }
size_t BodyHistory::memory_bytes() const {
  return defined_bytes() + TickBytes(size(), ticks_.size());
}

}  // namespace carom
