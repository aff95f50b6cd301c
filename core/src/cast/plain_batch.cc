// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/plain_batch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "base/thread_scratch.h"
#include "cast/plain_line.h"
#include "index/line_interval.h"
#include "index/line_traversal.h"
#include "index/scene_index.h"

namespace carom::internal {
namespace {

constexpr size_t kSlots = LineDescent::kMaxLines;
constexpr size_t kWindow = 1024;
// The first lines of a large batch are tried. Where more than one in four of a window is hard, as
// on lattices, the rest of the batch is left to the general path: twice the work would not pay.
constexpr size_t kTried = 32;

// What the plain path works with, kept by the thread: a warm batch allocates nothing.
struct Scratch {
  LineDescent descent;
  std::array<PlainSlot, kSlots> slots;
  std::array<PlainLine, kWindow> lines;
  std::array<PlainHit, kWindow> hits;
  std::vector<uint32_t> hard;  // items of the window
  CastAnswers hard_answers;
  PlainStart start;
};

// Casts a batch window by window. Lines of a window are over in any order, and their hits are
// measured and written in that of the items at its end.
class PlainBatch final : public LineObserver {
 public:
  PlainBatch(const Scene& scene, const CastOptions& options, const PlainSource& source,
             CastAnswers& out, WorkMeter& meter)
      : scene_(scene),
        source_(source),
        index_(scene.index()),
        options_(options),
        out_(out),
        meter_(meter),
        visit_{index_, options, scratch_->slots.data(), scratch_->descent.lines.data(), meter} {}

  // Called once. Returns false once the meter stops.
  bool Run();
  size_t hard_count() const { return hard_count_; }

 private:
  void Visit(const Frontier& pairs) override { VisitPlainPairs(pairs, visit_); }
  bool RunWindow();
  bool LeaveWindow();
  bool StartNext(size_t at);
  void StartBlock();
  bool Continue(size_t at);
  void Remove(size_t at);
  bool CastHard();
  bool Write();

  const Scene& scene_;
  const PlainSource& source_;
  const SceneIndex& index_;
  const CastOptions& options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<Scratch> scratch_;
  const PlainVisit visit_;
  size_t begin_ = 0;  // of the window
  size_t next_ = 0;
  size_t started_ = 0;  // lines before this one are set
  size_t end_ = 0;
  size_t underway_ = 0;
  size_t hard_count_ = 0;
  bool is_left_ = false;  // whether the next window is left to the general path
};

bool PlainBatch::Run() {
  out_.Clear();
  out_.counts.assign(source_.count, 0);
  for (begin_ = 0; begin_ < source_.count; begin_ = end_) {
    next_ = started_ = begin_;
    const size_t left = source_.count - begin_;
    end_ = begin_ + (begin_ == 0 && left > 8 * kTried ? kTried : std::min(kWindow, left));
    if (!(is_left_ ? LeaveWindow() : RunWindow()) || !CastHard() || !Write()) return false;
    is_left_ = 4 * scratch_->hard.size() > end_ - begin_;
  }
  scratch_.Return();
  return true;
}

bool PlainBatch::RunWindow() {
  underway_ = 0;
  while (underway_ < kSlots && StartNext(underway_)) ++underway_;
  while (underway_ > 0) {
    scratch_->descent.Run(index_, underway_, *this, meter_);
    if (meter_.stopped()) return false;
    for (size_t at = underway_; at-- > 0;) {
      if (!Continue(at) && !StartNext(at)) Remove(at);
    }
  }
  return !meter_.stopped();
}

// Leaves all lines of the window to the general path, which counts their work.
bool PlainBatch::LeaveWindow() {
  for (size_t i = 0; i < end_ - begin_; ++i) scratch_->lines[i].is_hard = true;
  return true;
}

// Starts the next item that has a line; those that have none count as lines without a hit. Returns
// false at the end of the window, or once the meter has stopped.
bool PlainBatch::StartNext(size_t at) {
  while (next_ < end_) {
    if (next_ >= started_) StartBlock();
    const size_t item = next_++;
    if (!meter_.Spend(1)) return false;
    PlainLine& line = scratch_->lines[item - begin_];
    LineCull& cull = scratch_->descent.lines[at];
    const size_t in_block = (item - begin_) % PlainStart::kMost;
    if ((scratch_->start.bad >> in_block & 1) != 0) continue;
    cull = scratch_->start.culls[in_block];
    PlainSlot& slot = scratch_->slots[at];
    slot.line = &line;
    slot.interval.Start(line.line, index_, false);
    if (slot.interval.end() < line.line.t_max) {
      line.reach = slot.interval.bounds();
      cull.SetReach(line.reach);
    }
    return true;
  }
  return false;
}

// Sets the next lines, segments in lanes. Those that are none leave an error.
void PlainBatch::StartBlock() {
  const size_t count = std::min(PlainStart::kMost, end_ - started_);
  const std::span<PlainLine> lines(&scratch_->lines[started_ - begin_], count);
  PlainStart& start = scratch_->start;
  start.bad = 0;
  if (source_.segments != nullptr && count > 1) {
    StartSegments(*source_.segments, started_, lines, index_.magnitude(), start);
    for (uint64_t bad = start.bad; bad != 0; bad &= bad - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(bad));
      source_.line_of(started_ + i, lines[i].line);
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      Line& line = lines[i].line;
      start.bad |= uint64_t{!source_.line_of(started_ + i, line)} << i;
      lines[i].Start();
      start.culls[i] = LineCull(line, line.bounds, index_.magnitude());
    }
  }
  started_ += count;
}

// Whether there is more to look at of a line, which then is what comes next.
bool PlainBatch::Continue(size_t at) {
  auto& [line, interval] = scratch_->slots[at];
  if (line->is_hard || interval.end() >= line->end()) return false;
  if (options_.mode == CastMode::kAny && line->polygon != nullptr) return false;
  interval.Advance(line->line, line->end());
  line->reach = interval.bounds();
  scratch_->descent.lines[at].SetReach(line->reach);
  return true;
}

// Puts the last line in the place of one that is over.
void PlainBatch::Remove(size_t at) {
  --underway_;
  if (at == underway_) return;
  scratch_->slots[at] = scratch_->slots[underway_];
  scratch_->descent.lines[at] = scratch_->descent.lines[underway_];
}

// The lines of the window that are left to the general path.
bool PlainBatch::CastHard() {
  scratch_->hard.clear();
  for (size_t item = begin_; item < end_; ++item) {
    if (scratch_->lines[item - begin_].is_hard) {
      scratch_->hard.push_back(static_cast<uint32_t>(item));
    }
  }
  if (scratch_->hard.empty()) return true;
  hard_count_ += scratch_->hard.size();
  const auto line_of = [&](size_t i, Line& line) {
    return source_.line_of(scratch_->hard[i], line);
  };
  return CastInGeneral(scene_, options_, scratch_->hard.size(), line_of, scratch_->hard_answers,
                       meter_);
}

// Four units a hit, as ever: its fractions, point and normals. Those of hard lines are counted.
bool PlainBatch::Write() {
  const CastAnswers& hard = scratch_->hard_answers;
  const size_t hard_hits = scratch_->hard.empty() ? 0 : hard.hits.size();
  size_t plain_hits = 0;
  for (size_t item = begin_, k = 0; item < end_; ++item) {
    const PlainLine& line = scratch_->lines[item - begin_];
    out_.counts[item] = line.is_hard ? hard.counts[k++] : line.polygon != nullptr;
    plain_hits += !line.is_hard && line.polygon != nullptr;
  }
  if (options_.mode == CastMode::kAny || plain_hits + hard_hits == 0) return true;
  if (!meter_.SpendRows(plain_hits) || !meter_.Spend(4 * plain_hits)) return false;
  const size_t needed = out_.hits.size() + plain_hits + hard_hits;
  if (needed > out_.hits.capacity()) {
    out_.hits.reserve(std::max(needed, 2 * out_.hits.capacity()));  // no hit moves below
  }
  auto hard_hit = hard.hits.begin();
  size_t count = 0;
  for (size_t item = begin_; item < end_; ++item) {
    if (out_.counts[item] == 0) continue;
    const PlainLine& line = scratch_->lines[item - begin_];
    if (line.is_hard) {
      out_.hits.push_back(*hard_hit++);
    } else {
      scratch_->hits[count++] = {&line, &out_.hits.emplace_back()};
    }
  }
  MeasurePlainHits({scratch_->hits.data(), count}, options_.detail);
  return true;
}

}  // namespace

bool IsPlainQuestion(const CastOptions& options) {
  return (options.mode == CastMode::kClosest || options.mode == CastMode::kAny) &&
         options.inside_policy == InsidePolicy::kReportStart &&
         options.target == CastTarget::kPolygons && !options.reflect;
}

bool CastPlain(const Scene& scene, const CastOptions& options, const PlainSource& source,
               CastAnswers& out, WorkMeter& meter, size_t* hard_count) {
  PlainBatch batch(scene, options, source, out, meter);
  const bool is_finished = batch.Run();
  if (hard_count != nullptr) *hard_count += batch.hard_count();
  return is_finished;
}

}  // namespace carom::internal
