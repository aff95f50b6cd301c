// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Moves the trackers of a batch, in three passes over the same columns. First, the sweeps find
// which paths touch nothing (tracker/tracker_sweeps.h). Then the quiet pass answers runs of moves
// that stay where the last answers of their trackers hold (tracker/quiet_pass.h). Each remaining
// move is answered by its tracker's memory, or by a query without memory (a cold query). The writer
// stores the answers in their columns (tracker/move_writer.h).

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/thread_scratch.h"
#include "carom/tracker.h"
#include "index/edit_history.h"
#include "index/placed_items.h"
#include "tracker/cold_query.h"
#include "tracker/move_writer.h"
#include "tracker/posed_shape.h"
#include "tracker/quiet_pass.h"
#include "tracker/tracked_shape.h"
#include "tracker/tracker_access.h"
#include "tracker/tracker_memory.h"
#include "tracker/tracker_sweeps.h"

namespace carom {
namespace internal {
namespace {

// Buffers of a batch of moves. The thread keeps them for its next batch if they are small
// (`IsWorthCaching`).
struct MoveScratch {
  static constexpr size_t kMaxCachedItems = 16384;

  bool IsWorthCaching() const {
    return neighbors.touched.edges.capacity() + neighbors.touched.polygons.capacity() <=
               kMaxCachedItems &&
           cold.IsWorthCaching(kMaxCachedItems) && sweeps.IsWorthCaching(kMaxCachedItems) &&
           largest <= kMaxMovingVertices;
  }

  NeighborScratch neighbors;
  Influence gathered;
  TrackerSweeps sweeps;
  ColdQuery cold;
  size_t largest = 0;  // most vertices of a shape that was moved
};

// Returns whether the column of tracker indices ascends strictly, which proves that each tracker
// moves only once in the batch.
bool AreDistinct(const MoveColumns& moves) {
  const std::span<const uint32_t> tracker = moves.tracker;
  return std::adjacent_find(tracker.begin(), tracker.end(), std::greater_equal<>()) ==
         tracker.end();
}

// Returns the square of `radius`, the radius of a quiet ball (the disc in which the last answer of
// a tracker holds), rounded so that a computed squared distance dx * dx + dy * dy below it proves
// that the distance is below `radius`. With u = 2^-53, the differences dx and dy have relative
// errors of u, their squares of 3u and the sum of 4u; a tiny coordinate is read as 0, which adds an
// error of up to 2^-140. Returns -1 if no radius remains.
double QuietSquare(double radius) {
  const double sure = radius - 0x1p-130;
  return sure > 0 ? sure * sure * (1 - 16 * kUnit) : -1;
}

// Answers a batch of moves and updates the trackers. A move gives a tracker (a moving shape)
// another pose, and asks what the shape touches there. A move is quiet if it stays in the disc in
// which the last answer of its tracker holds at any rotation. The memory of a tracker is an
// influence mask: the polygons and edges near its shape, kept from move to move.
class MoveBatch {
 public:
  MoveBatch(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
            MoveAnswers& out, WorkMeter& meter)
      : scene_(scene),
        moves_(moves),
        options_(options),
        out_(out),
        meter_(meter),
        scene_state_(scene.history().state()),
        uses_memory_(options.coherence == Coherence::kOn),
        classifies_by_word_(uses_memory_ && !options.quiet_radii && !moves.sweeps() &&
                            AreDistinct(moves)),
        quiet_(moves, options, scene_state_, scratch_->sweeps),
        writer_(moves, options, scratch_->sweeps, out) {}

  // Answers all moves. Returns false once the meter stops.
  bool Run();

 private:
  static constexpr size_t kWord = 64;  // number of moves that are classified together
  // A move that was classified ahead of time as not quiet, so that the last answer of its tracker
  // is not expected to hold.
  struct Expected {
    size_t move;
    Tracker* tracker;
    // Neighbors (near polygons) in the tracker's memory that the move is expected to read: bit k
    // for neighbor k, once `PrefetchNeighbors` has found them.
    uint64_t due;
  };

  bool RunInOrder();
  bool RunWord(size_t first);
  void AnswerOne(size_t i, bool is_quiet);
  void PrefetchAhead(size_t i);
  void ClassifyAhead();
  Expected& Ahead(size_t place) { return ahead_[place % ahead_.size()]; }
  void AnswerQuiet(Tracker& tracker, size_t i);
  void Answer(Tracker& tracker, size_t i);
  void AnswerWarm(Tracker& tracker, size_t i, PosedShape& posed);
  void AnswerCold(size_t i, PosedShape& posed);
  void DropIfEdited(Tracker& tracker) const;
  bool QueryMemory(Tracker& tracker, PosedShape& posed);
  bool PrepareMask(Tracker& tracker, const PosedShape& posed);
  bool MakeMask(Tracker& tracker, const PosedShape& posed);
  void SetBall(QuietBall& ball, const TrackerMemory::Radii& radii, Vec2 p) const;
  bool IsClearToEnd(size_t i) const { return moves_.sweeps() && scratch_->sweeps.IsClearToEnd(i); }

  const Scene& scene_;
  const MoveColumns& moves_;
  const MoveOptions& options_;
  MoveAnswers& out_;
  WorkMeter& meter_;
  const uint64_t scene_state_;
  ThreadScratch<MoveScratch> scratch_;
  const bool uses_memory_;
  // Whether moves are answered 64 at a time (`RunWord`). If true, a move that was classified as
  // quiet ahead of time is still quiet when it is answered.
  const bool classifies_by_word_;
  QuietPass quiet_;
  MoveWriter writer_;
  // The classes (quiet, clear, one: see `QuietPass::Word`) of the moves classified last, 64 moves
  // in each element: the classes of moves 64 n to 64 n + 63 are at index n modulo the size of the
  // array.
  std::array<QuietPass::Word, 8> words_;
  size_t classified_ = 0;  // number of moves classified so far
  // A ring buffer of moves that are expected not to be quiet: the entries from number `begin_` to
  // before number `end_`. `PrefetchAhead` has prefetched the memories of the trackers of the
  // entries before number `fetched_`.
  std::array<Expected, 2 * kWord> ahead_;
  size_t begin_ = 0;
  size_t fetched_ = 0;
  size_t end_ = 0;
};

bool MoveBatch::Run() {
  if (moves_.sweeps() && !scratch_->sweeps.Run(scene_, moves_, options_, meter_)) return false;
  if (classifies_by_word_) {
    for (size_t first = 0; first < moves_.size(); first += kWord) {
      if (!RunWord(first)) return false;
    }
  } else if (!RunInOrder()) {
    return false;
  }
  if (scratch_->IsWorthCaching()) scratch_.Return();
  return true;
}

bool MoveBatch::RunInOrder() {
  const bool passes = uses_memory_ && !options_.quiet_radii;
  for (size_t i = 0; i < moves_.size(); ++i) {
    if (passes) {
      const size_t first = i;
      i = quiet_.Run(first, writer_, meter_);
      if (!meter_.Spend(i - first)) return false;
      if (i == moves_.size()) break;
    }
    if (!meter_.Spend(1)) return false;
    Tracker* const tracker = TrackerOf(moves_, i);
    AnswerOne(i, uses_memory_ && tracker != nullptr && quiet_.IsQuiet(*tracker, i));
    if (meter_.stopped()) return false;
  }
  return true;
}

// Answers up to 64 moves, from `first` on, provided that each tracker moves once in the batch.
// `ClassifyAhead` has classified the moves, so one operation on bits answers all quiet moves (moves
// for which the last answer of the tracker holds) that touch nothing, and the loop visits only the
// other moves. Returns false once the meter stops.
bool MoveBatch::RunWord(size_t first) {
  while (classified_ <= first) ClassifyAhead();
  const QuietPass::Word word = words_[first / kWord % words_.size()];
  const size_t count = std::min(kWord, moves_.size() - first);
  const auto answered = static_cast<uint64_t>(std::popcount(word.clear | word.one));
  writer_.clear_words()[first / kWord] |= word.clear;
  out_.tiers.quiet += answered;
  meter_.SpendRows(static_cast<uint64_t>(std::popcount(word.one)));
  if (!meter_.Spend(answered)) return false;
  for (uint64_t left = ~word.clear & (~uint64_t{0} >> (kWord - count)); left != 0;
       left &= left - 1) {
    const auto k = static_cast<size_t>(std::countr_zero(left));
    const size_t i = first + k;
    if ((word.one >> k & 1) != 0) {
      const Tracker& tracker = moves_.trackers[TrackerIndexOf(moves_, i)];
      writer_.WriteOne(TrackerAccess::ball(tracker).touched_id);
      continue;
    }
    if (!meter_.Spend(1)) return false;
    AnswerOne(i, (word.quiet >> k & 1) != 0);
    if (meter_.stopped()) return false;
  }
  return true;
}

inline void MoveBatch::AnswerOne(size_t i, bool is_quiet) {
  if (uses_memory_) PrefetchAhead(i);
  Tracker* const tracker = TrackerOf(moves_, i);
  if (tracker == nullptr) {
    writer_.Check(i).Fail(ItemColumn::kTracker, ItemFault::kUnknownTracker);
    writer_.WriteFailed();
  } else if (is_quiet) {
    AnswerQuiet(*tracker, i);
  } else {
    Answer(*tracker, i);
  }
}

// Prefetches the memory that the moves after move i read if they are not quiet (if the last answers
// of their trackers do not hold), since thousands of trackers do not fit into a cache. Advances one
// step along the pointers at a time, as each step reads what the step before it prefetched: the
// tracker's memory with its verdicts, the neighbors, their polygons. If a tracker may move twice in
// the batch, whether a move is quiet is decided again when the move is answered.
inline void MoveBatch::PrefetchAhead(size_t i) {
  constexpr size_t kFarthest = 256;  // how many moves ahead moves are classified at most
  // number of moves ahead, among those that are not quiet, for which the memory of the tracker is
  // prefetched
  constexpr size_t kFetched = 16;
  if (moves_.trackers.size() < kWord) return;
  while (begin_ < end_ && Ahead(begin_).move <= i) ++begin_;
  while (end_ - begin_ < kFetched && classified_ < std::min(moves_.size(), i + kFarthest))
    ClassifyAhead();
  for (fetched_ = std::max(fetched_, begin_); fetched_ < std::min(end_, begin_ + kFetched);
       ++fetched_) {
    if (const auto& memory = TrackerAccess::memory(*Ahead(fetched_).tracker))
      memory->PrefetchSelf();
  }
  const auto expected = [&](size_t place, const auto& fetch) {
    if (end_ - begin_ <= place) return;
    Expected& next = Ahead(begin_ + place);
    // If the tracker also moved earlier in the batch, its memory may have changed or been dropped
    // after `ClassifyAhead` classified the move `next.move`.
    const auto& memory = TrackerAccess::memory(*next.tracker);
    if (memory != nullptr) fetch(*memory, next);
  };
  expected(8, [&](const TrackerMemory& memory, Expected& next) {
    next.due = memory.PrefetchNeighbors({moves_.x[next.move], moves_.y[next.move]});
  });
  expected(4,
           [](const TrackerMemory& memory, Expected& next) { memory.PrefetchPolygons(next.due); });
}

void MoveBatch::ClassifyAhead() {
  const QuietPass::Word word = quiet_.Classify(classified_, classifies_by_word_);
  words_[classified_ / kWord % words_.size()] = word;
  const size_t count = std::min(kWord, moves_.size() - classified_);
  for (uint64_t left = ~word.quiet & (~uint64_t{0} >> (kWord - count));
       left != 0 && moves_.trackers.size() >= kWord; left &= left - 1) {
    const size_t i = classified_ + static_cast<size_t>(std::countr_zero(left));
    Tracker* const tracker = TrackerOf(moves_, i);
    if (tracker != nullptr) Ahead(end_++) = {i, tracker, 0};
  }
  classified_ += count;
}

// Answers a quiet move (the last answer of its tracker holds) that the quiet pass does not answer:
// a move of a tracker that touches several polygons, a sweep that ends in contact, or any quiet
// move if the caller requests quiet radii (how far each shape may move while its answer holds).
void MoveBatch::AnswerQuiet(Tracker& tracker, size_t i) {
  QuietBall& ball = TrackerAccess::ball(tracker);
  ++out_.tiers.quiet;
  ++ball.moves;
  if (ball.touched_count == 0) {
    writer_.WriteClear(i);
  } else {
    Touched& touched = scratch_->neighbors.touched;
    touched.Clear();
    const TrackerMemory& memory = *TrackerAccess::memory(tracker);
    for (uint64_t left = memory.touched(); left != 0; left &= left - 1) {
      touched.polygons.push_back({memory.id(static_cast<size_t>(std::countr_zero(left))), 0});
    }
    meter_.SpendRows(touched.polygons.size());
    writer_.Write(i, touched);
  }
  if (options_.quiet_radii) writer_.WriteQuietRadius(i, ball);
}

void MoveBatch::Answer(Tracker& tracker, size_t i) {
  ItemChecker check = writer_.Check(i);
  const std::optional<Pose> pose = PoseOf(moves_, i, check, Turning::kLater);
  if (!pose) return writer_.WriteFailed();
  const TrackerSweeps& sweeps = scratch_->sweeps;
  if (moves_.sweeps() && !sweeps.IsClear(i) && sweeps.result(i).error) {
    out_.errors.push_back(*sweeps.result(i).error);
    return writer_.WriteFailed();
  }
  const TrackedShape& shape = TrackerAccess::shape(tracker);
  scratch_->largest = std::max(scratch_->largest, shape.shape.vertex_count());
  const double* const angle = moves_.angle.empty() ? nullptr : &moves_.angle[i];
  PosedShape posed(shape, *pose, scratch_->neighbors.pose, meter_, angle);
  if (!posed.IsAccepted()) {
    check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
    return writer_.WriteFailed();
  }
  scratch_->neighbors.touched.Clear();
  if (options_.coherence == Coherence::kOn) return AnswerWarm(tracker, i, posed);
  AnswerCold(i, posed);
  if (options_.quiet_radii) out_.quiet_radii.push_back(0);
}

// Answers move i by the tracker's memory, or by a query without memory (a cold query) if the
// tracker has no influence mask (the edges near the shape, kept from move to move) that covers the
// pose of this move.
void MoveBatch::AnswerWarm(Tracker& tracker, size_t i, PosedShape& posed) {
  QuietBall& ball = TrackerAccess::ball(tracker);
  if (ball.scene_state != scene_state_ && TrackerAccess::memory(tracker) != nullptr) {
    DropIfEdited(tracker);
    if (quiet_.IsQuiet(tracker, i)) return AnswerQuiet(tracker, i);
  }
  if (QueryMemory(tracker, posed)) {
    writer_.Write(i, scratch_->neighbors.touched);
  } else {
    if (meter_.stopped()) return;
    const uint64_t before = meter_.used();
    AnswerCold(i, posed);
    if (TrackerMemory* const memory = TrackerAccess::memory(tracker).get()) {
      memory->RecordColdMove(IsClearToEnd(i) ? std::nullopt
                                             : std::optional(meter_.used() - before));
    }
  }
  if (options_.quiet_radii) writer_.WriteQuietRadius(i, ball);
}

// Answers move i without the tracker's memory. A sweep (a move along a path) that was found to
// touch nothing on its path up to the end of the path touches nothing at its end and needs no
// query.
void MoveBatch::AnswerCold(size_t i, PosedShape& posed) {
  ++out_.tiers.cold;
  Touched& touched = scratch_->neighbors.touched;
  if (!IsClearToEnd(i)) {
    scratch_->cold.Run(scene_, options_.detail, posed, touched, meter_);
  }
  writer_.Write(i, touched);
}

// Clears the tracker's memory if an edit of the scene, since the version for which the memory was
// made, may have touched the disc that the memory describes: the disc about `center` with the
// radius `known_radius`. Otherwise marks the memory as valid for the current version of the scene.
void MoveBatch::DropIfEdited(Tracker& tracker) const {
  QuietBall& ball = TrackerAccess::ball(tracker);
  TrackerMemory& memory = *TrackerAccess::memory(tracker);
  if (scene_.history().MayHaveTouched(ball.scene_state, memory.center(), memory.known_radius())) {
    memory.Clear();
    ball.radius2[0] = ball.radius2[1] = -1;
  }
  ball.scene_state = scene_state_;
}

// Queries the tracker's influence mask (the edges near the shape, kept from move to move): fills
// `scratch_->neighbors.touched`, and sets the quiet ball, the disc in which this answer holds.
// Makes a mask first if the shape has left the region that the last mask covers. If the tracker
// gets no mask, and once the meter has stopped, leaves the tracker without a quiet ball and returns
// false.
bool MoveBatch::QueryMemory(Tracker& tracker, PosedShape& posed) {
  QuietBall& ball = TrackerAccess::ball(tracker);
  ball.radius2[0] = ball.radius2[1] = -1;
  ball.scene_state = scene_state_;
  const bool is_near =
      TrackerAccess::memory(tracker) != nullptr && TrackerAccess::memory(tracker)->Reaches(posed);
  if (!is_near && !PrepareMask(tracker, posed)) return false;
  TrackerMemory& memory = *TrackerAccess::memory(tracker);
  ++ball.moves;
  ++(is_near ? out_.tiers.near : out_.tiers.refresh);
  NeighborScratch& scratch = scratch_->neighbors;
  const auto needed = is_near && options_.detail == OverlapDetail::kIds && !options_.quiet_radii
                          ? TrackerMemory::NeededRadii::kTouch
                          : TrackerMemory::NeededRadii::kBoth;
  auto radii = memory.QueryNeighbors(posed, options_.detail, needed, scratch, meter_);
  if (!is_near && radii.is_limited && !meter_.stopped()) {
    memory.Widen(scene_, posed, meter_);
    radii = memory.QueryNeighbors(posed, options_.detail, needed, scratch, meter_);
  }
  if (meter_.stopped()) return false;
  for (uint64_t left = memory.touched(); left != 0; left &= left - 1) {
    const auto k = static_cast<size_t>(std::countr_zero(left));
    const uint32_t edges = options_.detail == OverlapDetail::kEdges ? scratch.edge_counts[k] : 0;
    scratch.touched.polygons.push_back({memory.id(k), edges});
  }
  meter_.SpendRows(scratch.touched.polygons.size());
  SetBall(ball, radii, posed.position());
  return true;
}

// Makes another influence mask about the shape, if the memory budget allows this and the mask is
// likely to save work; returns whether it made one. No other step of a batch changes the size of a
// tracker's memory.
bool MoveBatch::PrepareMask(Tracker& tracker, const PosedShape& posed) {
  const size_t before = tracker.memory_bytes();
  const bool is_made = MakeMask(tracker, posed);
  out_.memory_growth += static_cast<int64_t>(tracker.memory_bytes() - before);
  return is_made;
}

bool MoveBatch::MakeMask(Tracker& tracker, const PosedShape& posed) {
  if (out_.memory_growth >= options_.memory_budget) {
    tracker.Forget();
    return false;
  }
  std::unique_ptr<TrackerMemory>& memory = TrackerAccess::memory(tracker);
  if (memory == nullptr) memory = TrackerMemory::Create();
  uint32_t& moves = TrackerAccess::ball(tracker).moves;
  if (!memory->IsWorthwhile(moves)) return false;
  return TrackerMemory::Refresh(memory, scene_, posed, std::exchange(moves, 0), scratch_->gathered);
}

void MoveBatch::SetBall(QuietBall& ball, const TrackerMemory::Radii& radii, Vec2 p) const {
  const std::vector<TouchedPolygon>& polygons = scratch_->neighbors.touched.polygons;
  ball.center = p;
  ball.touched_count = static_cast<uint32_t>(polygons.size());
  ball.touched_id = polygons.empty() ? 0 : polygons[0].id;
  ball.radius2[0] = QuietSquare(radii.touch);
  ball.radius2[1] = QuietSquare(radii.clear);
}

}  // namespace
}  // namespace internal

bool MoveTrackers(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                  MoveAnswers& out, WorkMeter& meter) {
  out.Clear();
  if (moves.size() == 0) return true;
  out.clear.assign((moves.size() + 63) / 64, 0);
  return internal::MoveBatch(scene, moves, options, out, meter).Run();
}

}  // namespace carom
