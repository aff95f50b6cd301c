// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/eye_memory.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "area/boundary.h"

namespace carom {
namespace internal {
namespace {

// By how much of itself the radius is taken to be larger where a proof needs it: far more than all
// rounding of lengths and directions.
constexpr double kMargin = 0x1p-16;
// The least radius, as parts of the range and of the coordinates. With it, the angles by which
// edges are shortened, at least 2^-20 (1 + kMargin), are far above the rounding of directions.
constexpr double kLeastOfRange = 0x1p-19;
constexpr double kLeastOfCoordinate = 0x1p-40;
// A memory is made for about so many moves, if the walls are not nearer.
constexpr double kMoves = 8;
constexpr double kLeastMoves = 4;
// The part of the range that is the radius for an eye that does not move.
constexpr double kStanding = 0x1p-8;

double Length(Vec2 v) { return std::sqrt(v.x * v.x + v.y * v.y); }

Vec2 Difference(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }

// Returns a vector from the eye in a direction, rounded.
Vec2 VectorTo(const Eye& eye, const EyeDirection& direction) {
  const std::vector<EyeEdge>& edges = eye.edges();
  PairVector v{};
  switch (direction.kind) {
    case DirectionKind::kCut:
      return {-1, 0};
    case DirectionKind::kSide:
      return eye.side(direction.edge);
    case DirectionKind::kVertex:
      return Difference(eye.VertexOf(direction), eye.position());
    case DirectionKind::kCircle:
      v = VectorToCircle(eye, edges[direction.edge], direction.end);
      break;
    case DirectionKind::kCrossing:
      v = VectorToCrossing(eye, edges[direction.edge], edges[direction.other]);
      break;
  }
  return {v.x.high, v.y.high};
}

// Returns whether `b` is counter-clockwise of `a` for certain, by less than pi.
bool IsBefore(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x > 0x1p-40 * Length(a) * Length(b); }

// Turns a vector by the angle asin (r / length) for a radius r, counter-clockwise if `sign` is 1,
// clockwise if it is -1. Returns nothing if the angle is not below pi / 6.
std::optional<Vec2> Turned(Vec2 v, double radius, int sign) {
  const double s = radius * (1 + kMargin) / Length(v);
  if (!(s < 0.5)) return std::nullopt;
  const double c = std::sqrt(1 - s * s), turn = sign * s;
  return Vec2{c * v.x - turn * v.y, c * v.y + turn * v.x};
}

// The spans of an envelope as parts of chains, while these are shortened. Spans and what is between
// them are counted around the circle: what is before span 0 is at the cut.
class Chains {
 public:
  Chains(Eye& eye, const Envelope& envelope, double radius)
      : eye_(eye), spans_(envelope.spans()), count_(spans_.size() - 1), radius_(radius) {
    for (size_t i = 0; i < count_; ++i) {
      parts_.push_back({spans_[i].begin, spans_[i + 1].begin, spans_[i].owner});
      is_step_.push_back(!Meets(i));
    }
    is_left_.assign(count_, true);
  }

  // Shortens all chains. Returns false if an end is too near.
  bool Shorten() {
    for (size_t i = 0; i < count_; ++i) {
      if (IsEdge(i) && is_step_[i] && !ShortenFrom(i)) return false;
    }
    for (size_t i = 0; i < count_; ++i) {
      if (IsEdge(i) && is_step_[Next(i)] && !ShortenTo(i)) return false;
    }
    return true;
  }
  void AddTo(std::vector<Blocker>& parts) const {
    for (size_t i = 0; i < count_; ++i) {
      if (IsEdge(i) && is_left_[i]) parts.push_back(parts_[i]);
    }
  }

 private:
  bool IsEdge(size_t i) const { return spans_[i].owner < kClosed; }
  size_t Next(size_t i) const { return i + 1 < count_ ? i + 1 : 0; }
  size_t Before(size_t i) const { return i > 0 ? i - 1 : count_ - 1; }
  Place BeginOf(size_t i) const { return PlaceOf(eye_, spans_[i].owner, spans_[i].begin, 0); }
  Place EndOf(size_t i) const { return PlaceOf(eye_, spans_[i].owner, spans_[i + 1].begin, 1); }
  // Returns whether span i begins where the one before it ends.
  bool Meets(size_t i) const {
    return IsEdge(i) && IsEdge(Before(i)) && AreEqual(eye_, EndOf(Before(i)), BeginOf(i));
  }
  std::optional<Vec2> Turn(const Place& place, int sign) const {
    const PairVector v = PointOf(eye_, place).from_eye;
    return Turned({v.x.high, v.y.high}, radius_, sign);
  }

  // Shortens the chain that begins with span i. Of each span, what is left ends behind the new
  // begin of the chain.
  bool ShortenFrom(size_t i) {
    const std::optional<Vec2> begin = Turn(BeginOf(i), 1);
    if (!begin) return false;
    for (size_t k = i;; k = Next(k)) {
      if (IsBefore(*begin, VectorTo(eye_, parts_[k].end))) {
        parts_[k].begin = eye_.AddSide(0, *begin);
        return true;
      }
      is_left_[k] = false;
      if (is_step_[Next(k)]) return true;
    }
  }
  // Shortens the chain that ends with span i.
  bool ShortenTo(size_t i) {
    const std::optional<Vec2> end = Turn(EndOf(i), -1);
    if (!end) return false;
    for (size_t k = i;; k = Before(k)) {
      if (IsBefore(VectorTo(eye_, parts_[k].begin), *end)) {
        parts_[k].end = eye_.AddSide(1, *end);
        return true;
      }
      is_left_[k] = false;
      if (is_step_[k]) return true;
    }
  }

  Eye& eye_;
  const std::vector<Span>& spans_;
  const size_t count_;
  const double radius_;
  std::vector<Blocker> parts_;
  std::vector<bool> is_step_;  // the span does not begin where the one before it ends
  std::vector<bool> is_left_;
};

}  // namespace

bool EyeMemory::Covers(const EditHistory& history, uint64_t asked_mask, const Circle& asked) {
  is_used = true;
  if (disc.radius < 0) return false;
  if (scene_state != history.state()) {
    const double reach = (disc.radius + range) * (1 + kMargin);
    if (history.MayHaveTouched(scene_state, disc.center, reach)) {
      Drop();
      return false;
    }
    scene_state = history.state();
  }
  return mask == asked_mask && asked.radius <= range &&
         Length(Difference(asked.center, disc.center)) * (1 + kMargin) <= disc.radius;
}

double EyeMemory::RadiusFor(const Circle& asked) const {
  if (!has_last) return 0;
  const double step = Length(Difference(asked.center, last));
  const double most = (nearest - step) / 2;
  const double radius =
      std::min({std::max(kMoves * step, kStanding * asked.radius), most, asked.radius});
  const double coordinate = std::max(std::abs(asked.center.x), std::abs(asked.center.y));
  const double least =
      std::max({kLeastMoves * step, kLeastOfRange * asked.radius, kLeastOfCoordinate * coordinate});
  return radius >= least ? radius : 0;
}

bool EyeMemory::IsWorthwhile() {
  if (pause > 0 || cold_units == 0) return false;
  const bool has_paid = spent_units <= cold_units * questions;
  questions = 0;
  spent_units = 0;
  if (has_paid) {
    next_pause = kLeastPause;
    return true;
  }
  Pause();
  return false;
}

void EyeMemory::Pause() {
  pause = next_pause;
  next_pause = std::min(2 * next_pause, kMostPause);
}

void EyeMemory::Record(EyeTier tier, uint64_t units) {
  if (tier != EyeTier::kCold) {
    spent_units += units;
    ++questions;
  } else if (std::exchange(has_failed, false)) {
    Pause();
  } else {
    cold_units = units;
    if (pause > 0) --pause;
  }
}

void EyeMemory::Keep(std::vector<KeptEdge>& kept) {
  std::ranges::sort(kept, {},
                    [](const KeptEdge& edge) { return std::pair(edge.polygon->id(), edge.index); });
  const KeptEdge* last = nullptr;
  for (const KeptEdge& edge : kept) {
    const bool is_same = last != nullptr && last->polygon->id() == edge.polygon->id();
    if (is_same && last->index == edge.index) continue;
    if (edges.size() == kMaxEdges) return Drop();
    if (!is_same) polygons.push_back({*edge.polygon, 0});
    ++polygons.back().edge_count;
    edges.push_back(edge.index);
    last = &edge;
  }
}

void EyeMemory::Drop() {
  disc.radius = -1;
  polygons.clear();
  edges.clear();
}

void EyeMemory::Free() {
  Drop();
  polygons = std::vector<KeptPolygon>();
  edges = std::vector<uint32_t>();
  Pause();
}

size_t EyeMemory::memory_bytes() const {
  return sizeof *this + polygons.capacity() * sizeof(KeptPolygon) +
         edges.capacity() * sizeof(uint32_t);
}

EyeMemory* EyeMemories::Begin(size_t i) {
  memory_ = nullptr;
  const size_t number = eyes_.eye.empty() ? i : eyes_.eye[i];
  if (number >= eyes_.trackers.size()) return nullptr;
  memory_ = &EyeTrackerAccess::MemoryOf(eyes_.trackers[number]);
  bytes_ = 0;
  if (*memory_ != nullptr) {
    bytes_ = (*memory_)->memory_bytes();
  } else if (growth_ + static_cast<int64_t>(sizeof(EyeMemory)) <= eyes_.memory_budget) {
    *memory_ = std::make_unique<EyeMemory>();
  }
  return memory_->get();
}

void EyeMemories::End(const EyeMemory* used, EyeTier tier, uint64_t units, EyeTiers& tiers) {
  if (eyes_.trackers.empty() && eyes_.eye.empty()) return;
  ++(tier == EyeTier::kQuiet     ? tiers.quiet
     : tier == EyeTier::kRefresh ? tiers.refresh
                                 : tiers.cold);
  if (used != nullptr) (*memory_)->Record(tier, units);
  KeepBudget();
}

void EyeMemories::KeepBudget() {
  std::unique_ptr<EyeMemory>* const memory = std::exchange(memory_, nullptr);
  if (memory == nullptr || *memory == nullptr) return;
  const int64_t before = growth_ - static_cast<int64_t>(bytes_);
  const auto count = [&] { growth_ = before + static_cast<int64_t>((*memory)->memory_bytes()); };
  count();
  if (growth_ <= eyes_.memory_budget) return;
  (*memory)->Free();
  count();
  if (growth_ <= eyes_.memory_budget) return;
  *memory = nullptr;
  growth_ = before;
}

// The distance of the line is |c| / |d|, with c the cross product of the edge's vector d with that
// to one of its ends, which has an error of a few units in the last place of the product of the
// lengths.
bool EyeSpread::IsBeside(Vec2 eye, const Segment& edge) const {
  const Vec2 to = Difference(edge.a, eye), along = Difference(edge.b, edge.a);
  const double c = to.x * along.y - to.y * along.x, length = Length(along);
  return std::abs(c) > radius_ * (1 + kMargin) * length + 0x1p-48 * Length(to) * length;
}

// An edge is seen under an angle below pi, of which less than pi / 3 is left out.
void EyeSpread::AddUmbra(Eye& eye, uint32_t edge, std::vector<Blocker>& parts) const {
  const auto begin = Turned(VectorTo(eye, eye.edges()[edge].begin), radius_, 1);
  const auto end = Turned(VectorTo(eye, eye.edges()[edge].end), radius_, -1);
  if (!begin || !end || !IsBefore(*begin, *end)) return;
  const EyeDirection from = eye.AddSide(0, *begin);
  AddBlocker(from, eye.AddSide(1, *end), edge, parts);
}

bool EyeSpread::AddUmbras(Eye& eye, const Envelope& envelope, std::vector<Blocker>& parts) const {
  Chains chains(eye, envelope, radius_);
  if (!chains.Shorten()) return false;
  chains.AddTo(parts);
  return true;
}

}  // namespace internal

EyeTracker::EyeTracker() = default;
EyeTracker::EyeTracker(const EyeTracker& other) { *this = other; }
EyeTracker::EyeTracker(EyeTracker&& other) noexcept = default;
EyeTracker& EyeTracker::operator=(const EyeTracker& other) {
  if (this == &other) return *this;
  memory_ =
      other.memory_ == nullptr ? nullptr : std::make_unique<internal::EyeMemory>(*other.memory_);
  return *this;
}
EyeTracker& EyeTracker::operator=(EyeTracker&& other) noexcept = default;
EyeTracker::~EyeTracker() = default;

void EyeTracker::Forget() { memory_ = nullptr; }

size_t EyeTracker::memory_bytes() const {
  return sizeof *this + (memory_ == nullptr ? 0 : memory_->memory_bytes());
}

}  // namespace carom
