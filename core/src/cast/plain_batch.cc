// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/plain_batch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "base/hard_share.h"
#include "base/thread_scratch.h"
#include "cast/plain_line.h"
#include "cells/grid_entrance.h"
#include "cells/grid_walk.h"
#include "index/line_interval.h"
#include "index/line_traversal.h"
#include "index/scene_index.h"

namespace carom::internal {
namespace {

constexpr size_t kSlots = LineDescent::kMaxLines;
constexpr size_t kWindow = 256;       // its lines and walks stay in the nearest cache but one
constexpr size_t kWindowOfAll = 128;  // the same under ALL, whose hits wait for its end
// The first lines of a large batch are tried. Where more than one in four of a window is hard, as
// on lattices, the rest of the batch is left to the general path: twice the work would not pay. A
// smaller batch goes by those before it (base/hard_share.h).
constexpr size_t kTried = 32;
constexpr size_t kSmallBatch = 8 * kTried;
constexpr double kMostHard = 0.25;
// Hits that are made at once: a memset of less than 2 KB, which glibc does in vectors.
constexpr size_t kCleared = 16;

// The model saves a call for each batch.
[[gnu::tls_model("initial-exec")]] constinit thread_local HardShare recent_batches(kMostHard);

// Makes room for so many more, and for as many as there are if there is none: window after window
// moves each element a few times at most.
template <class T>
void ReserveMore(size_t count, std::vector<T>& values) {
  const size_t needed = values.size() + count;
  if (needed > values.capacity()) values.reserve(std::max(needed, 2 * values.capacity()));
}

// What the plain path works with, kept by the thread: a warm batch allocates nothing.
struct Scratch {
  LineDescent descent;
  std::array<PlainSlot, kSlots> slots;
  std::array<PlainLine, kWindow> lines;
  std::array<PlainHit, kWindow + 1> hits;  // of the window, and room for one that is none
  PlainPassages all;                       // of the window, and its hits, under ALL
  std::vector<PlainHit> all_hits;
  std::array<GridWalk, kWindow> walks;
  GridWalks walking;
  std::array<uint16_t, GridPairs::kMostWalks> leaving;
  GridPairs pairs;
  std::array<uint32_t, kWindow + 1> hard;  // items of the window, likewise
  std::vector<uint32_t> by_trees;          // items of the window
  CastAnswers hard_answers;
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
        entrance_(index_, meter),
        visit_{index_, options,       scratch_->slots.data(), scratch_->descent.lines.data(),
               meter,  &scratch_->all},
        cells_{options, scratch_->lines.data(), scratch_->walks.data(), meter, &scratch_->all} {}

  // Called once. Returns false once the meter stops.
  bool Run();
  size_t hard_count() const { return hard_count_; }  // of what is left to the general path

 private:
  bool is_all() const { return options_.mode == CastMode::kAll; }
  // Of the window, but for hard lines.
  PlainHit* hits() { return is_all() ? scratch_->all_hits.data() : scratch_->hits.data(); }

  void Visit(const Frontier& pairs) override { VisitPlainPairs(pairs, visit_); }
  bool RunWindow();
  bool LeaveWindow();
  bool WalkWindow();
  bool StartWalks();
  void Leave(size_t count);
  void AddWalk(uint16_t at);
  void AddWide(uint16_t at);
  bool DescendWindow();
  bool StartNext(size_t at);
  void StartBlock(GridEntrants& of);
  void PlaceBlock(GridEntrants& of);
  bool Continue(size_t at);
  void Remove(size_t at);
  size_t CollectFirst();
  size_t CollectAll();
  bool CastHard();
  bool Write();
  void WriteReflections();

  const Scene& scene_;
  const PlainSource& source_;
  const SceneIndex& index_;
  const CastOptions& options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<Scratch> scratch_;
  const GridEntrance entrance_;
  const PlainVisit visit_;
  const PlainCells cells_;
  size_t begin_ = 0;  // of the window
  size_t next_ = 0;
  size_t started_ = 0;  // lines before this one are set
  size_t end_ = 0;
  size_t next_tree_ = 0;  // in by_trees
  size_t underway_ = 0;
  size_t hit_count_ = 0;  // of the window, but for hard lines
  size_t window_hard_ = 0;
  size_t hard_count_ = 0;
  bool is_left_ = false;  // whether the next window is left to the general path
};

bool PlainBatch::Run() {
  out_.Clear();
  out_.counts.assign(source_.count, 0);
  const size_t window = is_all() ? kWindowOfAll : kWindow;
  const size_t first = source_.count > kSmallBatch || recent_batches.is_high() ? kTried : window;
  for (begin_ = 0; begin_ < source_.count; begin_ = end_) {
    next_ = started_ = begin_;
    end_ = begin_ + std::min(begin_ == 0 ? first : window, source_.count - begin_);
    if (!(is_left_ ? LeaveWindow() : RunWindow()) || !CastHard() || !Write()) return false;
    const size_t count = end_ - begin_;
    if (!is_left_) recent_batches.Add(window_hard_, count);
    is_left_ = !source_.tries_all &&
               static_cast<double>(window_hard_) > kMostHard * static_cast<double>(count);
  }
  std::sort(out_.truncated.begin(), out_.truncated.end());
  scratch_.Return();
  return true;
}

// Lines that the grid does not take, or leaves, go down the trees.
bool PlainBatch::RunWindow() {
  scratch_->by_trees.clear();
  if (is_all()) scratch_->all.Clear();
  if (!index_.grid().empty()) return WalkWindow() && DescendWindow();
  for (size_t item = begin_; item < end_; ++item) {
    scratch_->by_trees.push_back(static_cast<uint32_t>(item));
  }
  return DescendWindow();
}

// Many lines at a time, each a cell further.
bool PlainBatch::WalkWindow() {
  GridWalks& walking = scratch_->walking;
  GridPairs& pairs = scratch_->pairs;
  walking.walks = scratch_->walks.data();
  pairs.count = 0;
  walking.count = 0;
  while (StartWalks() || walking.count > 0) {
    if (!meter_.Spend(GridCell::kWidth * walking.count)) return false;
    StepWalks(walking, pairs);
    VisitPlainPairs(pairs, cells_);
    pairs.count = 0;
    size_t live = 0;
    size_t leaving = 0;
    for (size_t i = 0; i < walking.count; ++i) {
      const uint16_t at = walking.live[i];
      const GridWalk& walk = scratch_->walks[at];
      const auto goes_on = static_cast<size_t>(!(walk.at > walk.end));
      const auto leaves = static_cast<size_t>(walk.leaves_square());
      walking.live[live] = at;
      scratch_->leaving[leaving] = at;
      live += goes_on & ~leaves;
      leaving += goes_on & leaves;
    }
    walking.count = live;
    Leave(leaving);
  }
  return !meter_.stopped();
}

// Starts lines while there are more and room for them. Returns false once there are no more.
bool PlainBatch::StartWalks() {
  constexpr size_t kBlocks = 4;  // at once: the memory of their squares is waited for together
  std::array<GridEntrants, kBlocks> blocks;
  while (next_ < end_ &&
         scratch_->walking.count + kBlocks * GridEntrants::kMost <= GridPairs::kMostWalks) {
    size_t count = 0;
    for (; count < kBlocks && started_ < end_; ++count) PlaceBlock(blocks[count]);
    if (!meter_.Spend(started_ - next_)) return false;
    for (size_t i = 0; i < count; ++i) entrance_.Enter(blocks[i]);
    const size_t end = started_ - begin_;
    for (size_t at = next_ - begin_; at < end; ++at) {
      if (!scratch_->lines[at].is_none) AddWalk(static_cast<uint16_t>(at));
    }
    next_ = started_;
  }
  return next_ < end_;
}

// Sets the next lines and finds their squares.
void PlainBatch::PlaceBlock(GridEntrants& of) {
  const size_t first = started_ - begin_;
  StartBlock(of);
  const size_t count = started_ - begin_ - first;
  for (size_t i = 0; i < GridEntrants::kMost; ++i) {
    const bool is_line = i < count && !scratch_->lines[first + i].is_none;
    of.walks[i] = is_line ? &scratch_->walks[first + i] : nullptr;
  }
  entrance_.Place(of);
}

// Takes the first walks of `leaving` into their next squares.
void PlainBatch::Leave(size_t count) {
  const uint16_t* const leaving = scratch_->leaving.data();
  for (size_t i = 0; i < count; ++i) entrance_.NextSquare(scratch_->walks[leaving[i]]);
  for (size_t i = 0; i < count; i += GridEntrants::kMost) {
    entrance_.EnterNext(scratch_->walks.data(), leaving + i,
                        std::min(count - i, GridEntrants::kMost),
                        [this](uint16_t at) -> const Line& { return scratch_->lines[at].line; });
  }
  for (size_t i = 0; i < count; ++i) AddWalk(leaving[i]);
}

// Takes a walk that entered a square under way.
inline void PlainBatch::AddWalk(uint16_t at) {
  const GridWalk& walk = scratch_->walks[at];
  GridWalks& walking = scratch_->walking;
  if (!walk.is_over()) {
    walking.live[walking.count++] = at;
    if (walk.block->wide_count() > 0) AddWide(at);
  } else if (walk.leaves_to_trees) {
    scratch_->by_trees.push_back(static_cast<uint32_t>(begin_ + at));
  }
}

void PlainBatch::AddWide(uint16_t at) {
  const GridBlock& block = *scratch_->walks[at].block;
  for (size_t i = 0; i < block.wide_count(); ++i) {
    scratch_->pairs.Add(block.polygons().NumberOf(block.wide(i)), at);
  }
}

bool PlainBatch::DescendWindow() {
  if (scratch_->by_trees.empty()) return true;
  next_tree_ = 0;
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
  if (is_all()) scratch_->all.Clear();
  for (size_t i = 0; i < end_ - begin_; ++i) scratch_->lines[i].is_hard = true;
  return true;
}

// Starts the next item that has a line; those that have none count as lines without a hit. Returns
// false at the end of the window, or once the meter has stopped.
bool PlainBatch::StartNext(size_t at) {
  while (next_tree_ < scratch_->by_trees.size()) {
    const size_t item = scratch_->by_trees[next_tree_++];
    if (item >= started_) {
      GridEntrants of;
      StartBlock(of);
    }
    if (!meter_.Spend(1)) return false;
    PlainLine& line = scratch_->lines[item - begin_];
    LineCull& cull = scratch_->descent.lines[at];
    if (line.is_hard || line.is_none) continue;
    PlainSlot& slot = scratch_->slots[at];
    slot.line = &line;
    slot.interval.Start(line.line, index_, is_all());
    line.reach = slot.interval.bounds();
    cull = LineCull(line.line, line.reach, index_.magnitude());
    return true;
  }
  return false;
}

// Sets the next lines, segments in lanes. Those that are none leave an error.
void PlainBatch::StartBlock(GridEntrants& of) {
  const size_t count = std::min(GridEntrants::kMost, end_ - started_);
  const std::span<PlainLine> lines(&scratch_->lines[started_ - begin_], count);
  if (source_.segments != nullptr) {
    unsigned bad = StartSegments(*source_.segments, started_, lines, of);
    for (; bad != 0; bad &= bad - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(bad));
      source_.line_of(started_ + i, lines[i].line);
      lines[i].is_none = true;
    }
  } else {
    for (size_t i = 0; i < GridEntrants::kMost; ++i) {
      PlainLine& line = lines[std::min(i, count - 1)];
      if (i < count) {
        const bool is_none = !source_.line_of(started_ + i, line.line);
        line.Start();
        line.is_none = is_none;
      }
      of.Set(i, line.line, line.line.t_min);
    }
  }
  started_ += count;
}

// Whether there is more to look at of a line, which then is what comes next.
bool PlainBatch::Continue(size_t at) {
  auto& [line, interval] = scratch_->slots[at];
  if (line->is_hard || interval.end() >= line->end()) return false;
  if (options_.mode == CastMode::kAny && !line->first.is_none()) return false;
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

// Counts the window's hits. Returns how many lines are hard.
size_t PlainBatch::CollectFirst() {
  size_t hard_count = 0;
  for (size_t item = begin_; item < end_; ++item) {
    const PlainLine& line = scratch_->lines[item - begin_];
    const bool is_hit = !line.first.is_none() && !line.is_hard;
    out_.counts[item] = static_cast<uint32_t>(is_hit);
    scratch_->hits[hit_count_] = {&line, &line.first, nullptr};
    scratch_->hard[hard_count] = static_cast<uint32_t>(item);
    hit_count_ += static_cast<size_t>(is_hit);
    hard_count += static_cast<size_t>(line.is_hard);
  }
  return hard_count;
}

// The same under ALL.
size_t PlainBatch::CollectAll() {
  PlainPassages& all = scratch_->all;
  std::vector<PlainHit>& hits = scratch_->all_hits;
  hits.clear();
  hits.reserve(PlainPassages::kMost);
  all.Sort(meter_);
  size_t hard_count = 0;
  size_t at = 0;
  for (size_t item = begin_; item < end_; ++item) {
    PlainLine& line = scratch_->lines[item - begin_];
    std::span<const PlainPassages::Entry> entries = all.Of(line, at);
    line.is_hard = line.is_hard || !AreInOrder(entries);
    if (line.is_hard) {
      scratch_->hard[hard_count++] = static_cast<uint32_t>(item);
      continue;
    }
    if (entries.size() > options_.max_hits) {
      entries = entries.first(options_.max_hits);
      out_.truncated.push_back(static_cast<uint32_t>(item));
    }
    out_.counts[item] = static_cast<uint32_t>(entries.size());
    for (const auto& entry : entries) hits.push_back({&line, &entry.found, nullptr});
  }
  hit_count_ = hits.size();
  return hard_count;
}

// Counts the window's hits, and leaves the hard lines to the general path.
bool PlainBatch::CastHard() {
  hit_count_ = 0;
  const size_t hard_count = is_all() ? CollectAll() : CollectFirst();
  window_hard_ = hard_count;
  if (hard_count == 0) return true;
  hard_count_ += hard_count;
  const auto line_of = [&](size_t i, Line& line) {
    return source_.line_of(scratch_->hard[i], line);
  };
  CastAnswers& hard = scratch_->hard_answers;
  if (!CastInGeneral(scene_, options_, hard_count, line_of, hard, meter_)) return false;
  for (size_t i = 0; i < hard_count; ++i) out_.counts[scratch_->hard[i]] = hard.counts[i];
  for (const uint32_t i : hard.truncated) out_.truncated.push_back(scratch_->hard[i]);
  return true;
}

// Four units a hit, as ever: its fractions, point and normals. Those of hard lines are counted.
bool PlainBatch::Write() {
  if (options_.mode == CastMode::kAny) return true;
  const std::vector<CastHit>& hard = scratch_->hard_answers.hits;
  const size_t hard_hits = window_hard_ == 0 ? 0 : hard.size();
  if (!meter_.SpendRows(hit_count_) || !meter_.Spend(4 * hit_count_)) return false;
  ReserveMore(hit_count_ + hard_hits, out_.hits);  // no hit moves below
  PlainHit* const hits = this->hits();
  if (hard_hits == 0) {
    for (size_t k = 0; k < hit_count_; k += kCleared) {
      const size_t count = std::min(kCleared, hit_count_ - k);
      CastHit* const first = out_.hits.data() + out_.hits.size();
      out_.hits.resize(out_.hits.size() + count);
      for (size_t i = 0; i < count; ++i) hits[k + i].hit = first + i;
    }
  } else {
    size_t k = 0;
    auto hard_hit = hard.begin();
    for (size_t item = begin_; item < end_; ++item) {
      const bool is_hard = scratch_->lines[item - begin_].is_hard;
      for (uint32_t left = out_.counts[item]; left > 0; --left) {
        if (is_hard) {
          out_.hits.push_back(*hard_hit++);
        } else {
          hits[k++].hit = &out_.hits.emplace_back();
        }
      }
    }
  }
  MeasurePlainHits({hits, hit_count_}, options_.detail);
  if (options_.reflect) WriteReflections();
  return true;
}

// In the order of the hits.
void PlainBatch::WriteReflections() {
  const PlainHit* hit = hits();
  auto hard = scratch_->hard_answers.reflections.begin();
  ReserveMore(out_.hits.size() - out_.reflections.size(), out_.reflections);
  for (size_t item = begin_; item < end_; ++item) {
    const bool is_hard = scratch_->lines[item - begin_].is_hard;
    for (uint32_t left = out_.counts[item]; left > 0; --left) {
      out_.reflections.push_back(is_hard ? *hard++ : ReflectionOf(*hit++));
    }
  }
}

// Whether most of the single lines that were tried of late were hard. Then, as on lattices, only
// one in sixteen is tried. Both paths have the same answers.
class RecentLines {
 public:
  // Whether the next one is to be left untried.
  bool AreHard() { return surplus_ > kMost / 2 && ++untried_ % 16 != 0; }
  void Add(bool is_hard) {
    surplus_ = is_hard ? std::min(surplus_ + 1, kMost) : std::max(surplus_ - 1, 0);
  }

 private:
  static constexpr int kMost = 8;

  int surplus_ = 0;  // of hard ones over others
  unsigned untried_ = 0;
};

// The model saves a call for each single line.
[[gnu::tls_model("initial-exec")]] thread_local RecentLines recent_lines;

bool CastUntried(const Scene& scene, const CastOptions& options, const PlainSource& source,
                 CastAnswers& out, WorkMeter& meter) {
  if (source.hard_count != nullptr) *source.hard_count += source.count;
  return CastInGeneral(scene, options, source.count, source.line_of, out, meter);
}

// Not inlined, for the sake of single lines.
[[gnu::noinline]] bool CastMany(const Scene& scene, const CastOptions& options,
                                const PlainSource& source, CastAnswers& out, WorkMeter& meter) {
  if (source.count <= kSmallBatch && !source.tries_all && recent_batches.LeavesNext()) {
    return CastUntried(scene, options, source, out, meter);
  }
  PlainBatch batch(scene, options, source, out, meter);
  const bool is_finished = batch.Run();
  if (source.hard_count != nullptr) *source.hard_count += batch.hard_count();
  return is_finished;
}

}  // namespace

bool CastPlain(const Scene& scene, const CastOptions& options, const PlainSource& source,
               CastAnswers& out, WorkMeter& meter) {
  if (source.count != 1 || options.mode == CastMode::kAll || scene.index().grid().empty()) {
    return CastMany(scene, options, source, out, meter);
  }
  RecentLines& recent = recent_lines;
  if (recent.AreHard() && !source.tries_all) {
    return CastUntried(scene, options, source, out, meter);
  }
  const SingleEnd end = CastPlainSingle(scene, options, source, out, meter);
  recent.Add(end == SingleEnd::kHard);
  if (end == SingleEnd::kHard) return CastUntried(scene, options, source, out, meter);
  if (end == SingleEnd::kByTrees) return CastMany(scene, options, source, out, meter);
  return !meter.stopped();
}

}  // namespace carom::internal
