// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/tracker.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "base/thread_scratch.h"
#include "carom/distance.h"
#include "carom/status.h"
#include "index/edit_history.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "numeric/exact.h"
#include "tracker/posed_shape.h"
#include "tracker/tracked_shape.h"
#include "tracker/tracker_memory.h"
#include "tracker/tracker_sweeps.h"

namespace carom {

using internal::NeighborScratch;
using internal::TrackedShape;
using internal::TrackerMemory;

namespace {

// A polygon that is touched, and how many of its edges are.
struct NearPolygon {
  uint64_t id;
  uint32_t edge_count;
};

// What batches of moves work with, kept while it is small.
struct Scratch {
  static constexpr size_t kMaxCachedItems = 16384;

  bool IsWorthCaching() const {
    return look.edges.capacity() + look.near.capacity() + overlaps.polygon_ids.capacity() +
                   overlaps.edges.capacity() <=
               kMaxCachedItems &&
           sweeps.IsWorthCaching(kMaxCachedItems) && largest <= kMaxMovingVertices;
  }

  NeighborScratch look;
  std::vector<NearPolygon> near;  // of an item
  internal::TrackerSweeps sweeps;
  size_t largest = 0;       // vertices of a shape
  OverlapAnswers overlaps;  // of one that is answered without memory
  DistanceAnswers distances;
};

// A squared radius within which a compare of squared distances proves to be within `radius`: the
// squares err by 4u, and what is read as 0 by 2^-140.
double QuietSquare(double radius) {
  const double sure = radius - 0x1p-130;
  return sure > 0 ? sure * sure * (1 - 16 * internal::kUnit) : -1;
}

}  // namespace

namespace internal {

// Moves the trackers of a batch.
class MoveBatch {
 public:
  MoveBatch(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
            MoveAnswers& out, WorkMeter& meter)
      : scene_(scene),
        moves_(moves),
        options_(options),
        out_(out),
        meter_(meter),
        state_(scene.history().state()),
        detail_(static_cast<size_t>(options.detail)),
        x_(moves.x.data()),
        y_(moves.y.data()),
        c_(moves.c.empty() || !moves.angle.empty() ? nullptr : moves.c.data()),
        s_(moves.s.data()),
        angle_(moves.angle.empty() ? nullptr : moves.angle.data()) {}

  // Returns false once the meter stops.
  bool Run();

 private:
  size_t PassQuiet(size_t first);
  Tracker* TrackerOf(size_t i) const;
  bool SweepWays();
  // In which no edge meets the shape. Also false for numbers that are not accepted.
  static bool IsInBall(const Tracker& tracker, double x, double y) {
    const double dx = x - tracker.anchor_.x;
    const double dy = y - tracker.anchor_.y;
    return dx * dx + dy * dy < tracker.quiet2_[1];
  }
  bool IsPathInQuietBall(const Tracker& tracker, const Pose& from, const Pose& to,
                         double tolerance) const;
  bool IsPathClear(size_t i) const { return scratch_->sweeps.IsClear(i); }
  bool IsClearToEnd(size_t i) const { return moves_.sweeps() && scratch_->sweeps.IsClearToEnd(i); }
  std::optional<Pose> StartOf(size_t i, const Pose& to, ItemChecker& check) const;
  void FetchAhead(size_t i) const;
  bool IsQuiet(const Tracker& tracker, size_t i) const;
  void AnswerQuiet(Tracker& tracker, size_t i);
  void Answer(Tracker& tracker, size_t i);
  void AnswerAt(Tracker& tracker, size_t i, const Pose& pose, PosedShape& posed);
  bool Remember(Tracker& tracker, PosedShape& posed, Vec2 p);
  void AnswerCold(const TrackedShape& shape, const Pose& pose, PosedShape& posed);
  void TakeOverlaps();
  void TakeDistances(PosedShape& posed, Vec2 p);
  void Append(size_t i);
  void Refuse();
  void AddQuietRadius(const Tracker& tracker, size_t i);

  const Scene& scene_;
  const MoveColumns& moves_;
  const MoveOptions& options_;
  MoveAnswers& out_;
  WorkMeter& meter_;
  const uint64_t state_;
  const size_t detail_;
  const double* const x_;
  const double* const y_;
  const double* const c_;  // null where there are none
  const double* const s_;
  const double* const angle_;  // null where there are none
  ThreadScratch<Scratch> scratch_;
};

bool MoveBatch::Run() {
  const bool remembers = options_.coherence == Coherence::kOn;
  if (moves_.sweeps() && !SweepWays()) return false;
  const bool passes = remembers && !options_.quiet_radii;
  for (size_t i = 0; i < moves_.size(); ++i) {
    if (passes) {
      const size_t first = i;
      i = PassQuiet(first);
      if (!meter_.Spend(i - first)) return false;
      if (i == moves_.size()) break;
    }
    if (!meter_.Spend(1)) return false;
    if (remembers) FetchAhead(i);
    Tracker* const tracker = TrackerOf(i);
    if (tracker == nullptr) {
      ItemChecker(i, out_.errors).Fail(ItemColumn::kTracker, ItemFault::kUnknownTracker);
      Refuse();
    } else if (remembers && IsQuiet(*tracker, i)) {
      AnswerQuiet(*tracker, i);
    } else {
      Answer(*tracker, i);
      if (meter_.stopped()) return false;
    }
  }
  if (scratch_->IsWorthCaching()) scratch_.Return();
  return true;
}

// Answers a run of quiet moves that touch one polygon at most (as sweeps, none), from `first` on;
// returns the first other one. Most moves of most batches are these.
size_t MoveBatch::PassQuiet(size_t first) {
  constexpr size_t kMost = 256;  // until the meter is asked
  const size_t end = std::min(moves_.size(), first + kMost);
  const double* const x = x_;
  const double* const y = y_;
  const double* const c = c_;
  const double* const s = s_;
  const double* const angle = angle_;
  const uint64_t state = state_;
  const size_t detail = detail_;
  const uint32_t* const index = moves_.tracker.empty() ? nullptr : moves_.tracker.data();
  const std::span<Tracker> trackers = moves_.trackers;
  const size_t first_tracker = moves_.first_tracker;
  uint64_t* const clear = out_.clear.data();
  const bool sweeps = moves_.sweeps();
  const uint32_t most = sweeps ? 0 : 1;  // polygons touched
  size_t i = first;
  uint64_t rows = 0;
  for (; i < end; ++i) {
    const size_t k = index == nullptr ? first_tracker + i : index[i];
    if (k >= trackers.size()) break;
    Tracker& tracker = trackers[k];
    const double dx = x[i] - tracker.anchor_.x;
    const double dy = y[i] - tracker.anchor_.y;
    if (!(dx * dx + dy * dy < tracker.quiet2_[detail])) break;
    if (tracker.state_ != state || tracker.touched_ > most) break;
    if (sweeps && !IsPathClear(i)) break;
    if (c != nullptr ? !IsRotation(c[i], s[i])
                     : angle != nullptr && !(std::abs(angle[i]) <= kMaxAngle)) {
      break;
    }
    ++tracker.moves_;
    if (tracker.touched_ == 0) {
      clear[i / 64] |= uint64_t{1} << (i % 64);
    } else {
      out_.counts.push_back(1);
      out_.polygon_ids.push_back(tracker.touched_id_);
      if (options_.detail == OverlapDetail::kEdges) out_.edge_counts.push_back(0);
      ++rows;
    }
  }
  meter_.SpendRows(rows);
  out_.tiers.quiet += i - first;
  return i;
}

inline Tracker* MoveBatch::TrackerOf(size_t i) const {
  const size_t index = moves_.tracker.empty() ? moves_.first_tracker + i : moves_.tracker[i];
  if (index >= moves_.trackers.size()) return nullptr;
  Tracker& tracker = moves_.trackers[index];
  return tracker.is_defined() ? &tracker : nullptr;
}

// Trackers by the thousand are in no cache: what a move will read is asked for some moves before,
// step by step along the pointers, for those that will not be quiet.
inline void MoveBatch::FetchAhead(size_t i) const {
  if (moves_.trackers.size() < 64) return;
  if (i + 16 < moves_.size()) {
    if (const Tracker* const tracker = TrackerOf(i + 16)) {
      __builtin_prefetch(tracker);
      __builtin_prefetch(&tracker->memory_);
    }
  }
  const auto memory_at = [&](size_t k) -> const TrackerMemory* {
    if (k >= moves_.size()) return nullptr;
    const Tracker* const tracker = TrackerOf(k);
    return tracker == nullptr || IsQuiet(*tracker, k) ? nullptr : tracker->memory_.get();
  };
  if (const TrackerMemory* const memory = memory_at(i + 12)) memory->FetchSelf();
  if (const TrackerMemory* const memory = memory_at(i + 8)) memory->FetchNeighbors();
  if (const TrackerMemory* const memory = memory_at(i + 4)) memory->FetchPolygons();
}

// A way whose ends are both in the quiet ball of a tracker that touches nothing is clear, for a
// ball is convex. One that turns is stopped where it comes within the tolerance, so there must be
// more room; and its tolerance must be in order without a closer look.
bool MoveBatch::IsPathInQuietBall(const Tracker& tracker, const Pose& from, const Pose& to,
                                  double tolerance) const {
  if (tracker.state_ != state_ || tracker.touched_ > 0 || !(tracker.quiet2_[1] > 0)) return false;
  double room = std::sqrt(tracker.quiet2_[1]) * kDown;
  const TrackedShape& shape = *tracker.shape_;
  if (shape.Turns(from, to)) {
    const double extent = 4 * shape.extent;
    const double magnitude =
        std::max(std::abs(tracker.anchor_.x), std::abs(tracker.anchor_.y)) + room + extent;
    if (!(tolerance >= 0x1p-19 * (2 * room + extent) && tolerance >= 0x1p-39 * magnitude &&
          tolerance >= 0x1p-129)) {
      return false;
    }
    room = (room - tolerance) * kDown;
  }
  const auto is_quiet = [&](Vec2 p) {
    const double dx = p.x - tracker.anchor_.x;
    const double dy = p.y - tracker.anchor_.y;
    return room > 0 && dx * dx + dy * dy < room * room * kDown;
  };
  return is_quiet(from.position) && is_quiet(to.position);
}

// Sweeps the ways that are not known to be clear. Returns false once the meter stops.
bool MoveBatch::SweepWays() {
  internal::TrackerSweeps& sweeps = scratch_->sweeps;
  sweeps.Clear(moves_.size());
  std::vector<ItemError> errors;
  const bool remembers = options_.coherence == Coherence::kOn;
  const bool may_turn = !moves_.from_c.empty() || !moves_.from_angle.empty();
  for (size_t i = 0; i < moves_.size(); ++i) {
    const Tracker* const tracker = TrackerOf(i);
    if (remembers && !may_turn && tracker != nullptr && tracker->state_ == state_ &&
        tracker->touched_ == 0 && IsInBall(*tracker, moves_.from_x[i], moves_.from_y[i]) &&
        IsInBall(*tracker, x_[i], y_[i])) {
      continue;
    }
    ItemChecker check(i, errors);
    const std::optional<Pose> to = tracker == nullptr ? std::nullopt : PoseOf(moves_, i, check);
    const std::optional<Pose> from = to ? StartOf(i, *to, check) : std::nullopt;
    if (!from) continue;
    const TrackedShape& shape = *tracker->shape_;
    const double tolerance = options_.tolerance == 0 ? 0x1p-10 * shape.extent : options_.tolerance;
    if (remembers && IsPathInQuietBall(*tracker, *from, *to, tolerance)) continue;
    if (!meter_.Spend(1)) return false;
    sweeps.Add(static_cast<uint32_t>(i), shape, *from, *to, tolerance);
  }
  for (const ItemError& error : errors) sweeps.Refuse(error);
  return sweeps.Sweep(scene_, meter_);
}

// Where the way of item i begins, or nothing and an error recorded.
std::optional<Pose> MoveBatch::StartOf(size_t i, const Pose& to, ItemChecker& check) const {
  Pose from = to;
  if (!check.Coordinate(ItemColumn::kFromX, moves_.from_x[i]) ||
      !check.Coordinate(ItemColumn::kFromY, moves_.from_y[i]) ||
      !ReadRotation(moves_.from_c, moves_.from_s, moves_.from_angle, ItemColumn::kFromC,
                    ItemColumn::kFromAngle, i, check, from)) {
    return std::nullopt;
  }
  from.position = Normalized(Vec2{moves_.from_x[i], moves_.from_y[i]});
  return from;
}

// Also false for numbers that are not accepted: they are not near anything.
inline bool MoveBatch::IsQuiet(const Tracker& tracker, size_t i) const {
  const double dx = x_[i] - tracker.anchor_.x;
  const double dy = y_[i] - tracker.anchor_.y;
  if (!(dx * dx + dy * dy < tracker.quiet2_[detail_]) || tracker.state_ != state_) return false;
  if (moves_.sweeps() && !IsPathClear(i)) return false;
  if (c_ != nullptr) return IsRotation(c_[i], s_[i]);
  return angle_ == nullptr || std::abs(angle_[i]) <= kMaxAngle;
}

void MoveBatch::AnswerQuiet(Tracker& tracker, size_t i) {
  ++out_.tiers.quiet;
  ++tracker.moves_;
  if (tracker.touched_ == 0) {
    out_.clear[i / 64] |= uint64_t{1} << (i % 64);
  } else {
    scratch_->near.clear();
    for (const Neighbor& neighbor : tracker.memory_->neighbors()) {
      if (neighbor.touches) scratch_->near.push_back({neighbor.polygon.polygon().id(), 0});
    }
    meter_.SpendRows(scratch_->near.size());
    scratch_->look.edges.clear();
    Append(i);
  }
  if (options_.quiet_radii) AddQuietRadius(tracker, i);
}

void MoveBatch::Answer(Tracker& tracker, size_t i) {
  ItemChecker check(i, out_.errors);
  const std::optional<Pose> pose = PoseOf(moves_, i, check);
  if (!pose) return Refuse();
  if (moves_.sweeps() && !IsPathClear(i) && scratch_->sweeps.result(i).error) {
    out_.errors.push_back(*scratch_->sweeps.result(i).error);
    return Refuse();
  }
  scratch_->largest = std::max(scratch_->largest, tracker.shape_->shape.vertex_count());
  PosedShape posed(*tracker.shape_, *pose, scratch_->look.pose, meter_);
  if (posed.IsAccepted()) return AnswerAt(tracker, i, *pose, posed);
  check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
  Refuse();
}

void MoveBatch::AnswerAt(Tracker& tracker, size_t i, const Pose& pose, PosedShape& posed) {
  scratch_->near.clear();
  scratch_->look.edges.clear();
  if (options_.coherence == Coherence::kOff) {
    ++out_.tiers.cold;
    if (!IsClearToEnd(i)) AnswerCold(*tracker.shape_, pose, posed);
    Append(i);
    if (options_.quiet_radii) out_.quiet_radii.push_back(0);
    return;
  }
  const size_t memory_bytes = tracker.memory_bytes();
  if (tracker.state_ != state_ && tracker.memory_ != nullptr) {
    const TrackerMemory& memory = *tracker.memory_;
    if (scene_.history().MayHaveTouched(tracker.state_, memory.center(), memory.known_radius())) {
      tracker.memory_->Clear();
      tracker.quiet2_[0] = tracker.quiet2_[1] = -1;
    }
    tracker.state_ = state_;
    if (IsQuiet(tracker, i)) return AnswerQuiet(tracker, i);
  }
  const bool remembers = Remember(tracker, posed, pose.position);
  out_.memory_growth += static_cast<int64_t>(tracker.memory_bytes() - memory_bytes);
  if (!remembers) {
    if (meter_.stopped()) return;
    ++out_.tiers.cold;
    std::optional<uint64_t> looked_up;
    if (!IsClearToEnd(i)) {
      const uint64_t before = meter_.used();
      AnswerCold(*tracker.shape_, pose, posed);
      looked_up = meter_.used() - before;
    }
    if (tracker.memory_ != nullptr) tracker.memory_->NoteColdMove(looked_up);
  }
  Append(i);
  if (options_.quiet_radii) AddQuietRadius(tracker, i);
}

// Answers by the memory, which learns. Returns false where there is no mask, and once the meter has
// stopped.
bool MoveBatch::Remember(Tracker& tracker, PosedShape& posed, Vec2 p) {
  tracker.quiet2_[0] = tracker.quiet2_[1] = -1;
  tracker.state_ = state_;
  const bool is_near = tracker.memory_ != nullptr && tracker.memory_->Reaches(p);
  if (!is_near && out_.memory_growth >= options_.memory_budget) {
    tracker.Forget();
    return false;
  }
  if (tracker.memory_ == nullptr) tracker.memory_ = std::make_unique<TrackerMemory>();
  TrackerMemory& memory = *tracker.memory_;
  if (!is_near) {
    if (!memory.IsWorthwhile(tracker.moves_)) return false;
    const uint32_t moves = std::exchange(tracker.moves_, 0);
    if (!memory.Refresh(scene_, *tracker.shape_, posed, p, moves, meter_)) return false;
  }
  ++tracker.moves_;
  ++(is_near ? out_.tiers.near : out_.tiers.refresh);
  memory.QueryNeighbors(p, posed, options_.detail, scratch_->look, meter_);
  if (!is_near && memory.IsLimited() && !meter_.stopped()) {
    memory.Widen(scene_, *tracker.shape_, posed, meter_);
    memory.QueryNeighbors(p, posed, options_.detail, scratch_->look, meter_);
  }
  if (meter_.stopped()) return false;
  for (size_t k = 0; k < memory.neighbors().size(); ++k) {
    const Neighbor& neighbor = memory.neighbors()[k];
    if (!neighbor.touches) continue;
    const uint32_t edges =
        options_.detail == OverlapDetail::kEdges ? scratch_->look.edge_counts[k] : 0;
    scratch_->near.push_back({neighbor.polygon.polygon().id(), edges});
  }
  meter_.SpendRows(scratch_->near.size());
  tracker.anchor_ = p;
  tracker.touched_ = static_cast<uint32_t>(scratch_->near.size());
  tracker.touched_id_ = scratch_->near.empty() ? 0 : scratch_->near[0].id;
  tracker.quiet2_[0] = QuietSquare(memory.touch_radius());
  tracker.quiet2_[1] = QuietSquare(memory.clear_radius());
  return true;
}

// Answers without memory, as the questions of the same kind do.
void MoveBatch::AnswerCold(const TrackedShape& shape, const Pose& pose, PosedShape& posed) {
  const Vec2 p = pose.position;
  const OverlapOptions options{options_.detail, shape.options.mask};
  if (shape.options.within > 0) {
    const DistanceColumns columns{
        {{&shape.shape, 1}, {}, {&p.x, 1}, {&p.y, 1}, {&pose.c, 1}, {&pose.s, 1}, {}},
        {&shape.options.within, 1}};
    if (MeasureDistances(scene_, columns, {DistanceMode::kWithin, shape.options.mask},
                         scratch_->distances, meter_)) {
      TakeDistances(posed, p);
    }
    return;
  }
  bool ran = false;
  if (const Polygon* polygon = shape.shape.polygon()) {
    const PolygonColumns columns{{polygon, 1}, {},           {&p.x, 1}, {&p.y, 1},
                                 {&pose.c, 1}, {&pose.s, 1}, {}};
    ran = OverlapPolygons(scene_, columns, options, scratch_->overlaps, meter_);
  } else {
    const Capsule capsule = posed.PlacedCapsule();
    const auto& [a, b] = capsule.axis;
    ran =
        OverlapCapsules(scene_, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}, {&capsule.radius, 1}},
                        options, scratch_->overlaps, meter_);
  }
  if (ran) TakeOverlaps();
}

void MoveBatch::TakeOverlaps() {
  const OverlapAnswers& overlaps = scratch_->overlaps;
  for (size_t k = 0; k < overlaps.polygon_ids.size(); ++k) {
    const uint32_t edges = overlaps.edge_counts.empty() ? 0 : overlaps.edge_counts[k];
    scratch_->near.push_back({overlaps.polygon_ids[k], edges});
  }
  scratch_->look.edges = overlaps.edges;
}

void MoveBatch::TakeDistances(PosedShape& posed, Vec2 p) {
  for (const uint64_t id : scratch_->distances.polygon_ids) {
    scratch_->near.push_back({id, 0});
    if (options_.detail == OverlapDetail::kIds) continue;
    const double r = posed.bounding_radius();
    const MeetsBox reach{{{p.x - r, p.y - r}, {p.x + r, p.y + r}}};
    const Polygon& polygon = *scene_.Find(id);
    const size_t before = scratch_->look.edges.size();
    for (size_t i = 0; i < polygon.edge_count(); ++i) {
      const Segment edge = polygon.edge(i);
      if (!meter_.Spend(1)) return;
      if (!reach(BoundsOf(edge)) || !posed.Meets(edge)) continue;
      scratch_->look.edges.push_back(polygon.edge_ref(i));
      if (!meter_.SpendRows(1)) return;
    }
    scratch_->near.back().edge_count = static_cast<uint32_t>(scratch_->look.edges.size() - before);
  }
}

// An item that is not answered.
void MoveBatch::Refuse() {
  out_.counts.push_back(0);
  if (moves_.sweeps()) out_.first_touches.push_back({});
  if (options_.quiet_radii) out_.quiet_radii.push_back(0);
}

void MoveBatch::Append(size_t i) {
  if (scratch_->near.empty() && (!moves_.sweeps() || IsPathClear(i))) {
    out_.clear[i / 64] |= uint64_t{1} << (i % 64);
    return;
  }
  if (moves_.sweeps()) {
    out_.first_touches.push_back(IsPathClear(i) ? FirstTouch{}
                                                : scratch_->sweeps.result(i).first_touch);
  }
  out_.counts.push_back(static_cast<uint32_t>(scratch_->near.size()));
  for (const NearPolygon& near : scratch_->near) {
    out_.polygon_ids.push_back(near.id);
    if (options_.detail == OverlapDetail::kEdges) out_.edge_counts.push_back(near.edge_count);
  }
  const std::vector<EdgeRef>& edges = scratch_->look.edges;
  out_.edges.insert(out_.edges.end(), edges.begin(), edges.end());
}

void MoveBatch::AddQuietRadius(const Tracker& tracker, size_t i) {
  const double dx = moves_.x[i] - tracker.anchor_.x;
  const double dy = moves_.y[i] - tracker.anchor_.y;
  const double radius = tracker.quiet2_[1] > 0 ? std::sqrt(tracker.quiet2_[1]) * kDown : 0;
  const double way = std::sqrt(dx * dx + dy * dy) * kUp;
  out_.quiet_radii.push_back(std::max(0.0, (radius - way) * kDown));
}

}  // namespace internal

absl::StatusOr<Tracker> Tracker::Create(Shape shape, const TrackerOptions& options) {
  if (!IsAccepted(options.within) || options.within < 0) {
    return InvalidField("within", "must be in [0, 2^53]");
  }
  TrackerOptions read = options;
  read.within = Normalized(options.within);
  Tracker tracker;
  tracker.shape_ = std::make_shared<const TrackedShape>(std::move(shape), read);
  return tracker;
}

Tracker::Tracker(const Tracker& other)
    : anchor_(other.anchor_),
      quiet2_{other.quiet2_[0], other.quiet2_[1]},
      state_(other.state_),
      moves_(other.moves_),
      touched_(other.touched_),
      touched_id_(other.touched_id_),
      shape_(other.shape_),
      memory_(other.memory_ ? std::make_unique<TrackerMemory>(*other.memory_) : nullptr) {}

Tracker::Tracker() = default;
Tracker::Tracker(Tracker&& other) noexcept = default;
Tracker& Tracker::operator=(Tracker&& other) noexcept = default;
Tracker& Tracker::operator=(const Tracker& other) { return *this = Tracker(other); }
Tracker::~Tracker() = default;

const Shape& Tracker::shape() const { return shape_->shape; }
const TrackerOptions& Tracker::options() const { return shape_->options; }

void Tracker::Forget() {
  quiet2_[0] = quiet2_[1] = -1;
  memory_.reset();
}

size_t Tracker::memory_bytes() const {
  return sizeof(*this) + (memory_ ? memory_->memory_bytes() : 0);
}

MoveTiers& MoveTiers::operator+=(const MoveTiers& other) {
  quiet += other.quiet;
  near += other.near;
  refresh += other.refresh;
  cold += other.cold;
  return *this;
}

void MoveAnswers::Clear() {
  clear.clear();
  counts.clear();
  polygon_ids.clear();
  edge_counts.clear();
  edges.clear();
  first_touches.clear();
  errors.clear();
  quiet_radii.clear();
  tiers = {};
  memory_growth = 0;
}

bool SameVerdicts(const MoveAnswers& a, const MoveAnswers& b) {
  return a.clear == b.clear && a.counts == b.counts && a.polygon_ids == b.polygon_ids &&
         a.edge_counts == b.edge_counts && a.edges == b.edges &&
         a.first_touches == b.first_touches && a.errors == b.errors;
}

bool Fits(const MoveColumns& moves, const MoveAnswers& answers) {
  size_t items = answers.counts.size();
  for (const uint64_t word : answers.clear) items += static_cast<size_t>(std::popcount(word));
  return items == moves.size() && answers.clear.size() == (items + 63) / 64 &&
         answers.first_touches.size() == (moves.sweeps() ? answers.counts.size() : 0);
}

bool MoveTrackers(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                  MoveAnswers& out, WorkMeter& meter) {
  out.Clear();
  if (moves.size() == 0) return true;
  out.clear.assign((moves.size() + 63) / 64, 0);
  return internal::MoveBatch(scene, moves, options, out, meter).Run();
}

}  // namespace carom
