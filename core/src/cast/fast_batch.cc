// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/fast_batch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "base/fallback_rate.h"
#include "base/thread_scratch.h"
#include "cast/fast_line.h"
#include "cells/grid_entrance.h"
#include "cells/grid_walk.h"
#include "index/line_interval.h"
#include "index/line_traversal.h"
#include "index/scene_index.h"

namespace carom::internal {
namespace {

constexpr size_t kSlots = LineDescent::kMaxLines;
// The number of lines in a window: consecutive lines of a batch that are cast together. The lines
// of a window, and their walks (`GridWalk`) from cell to cell of the scene's grid, fit in the
// second-level cache.
constexpr size_t kWindow = 256;
// The number of lines in a window (consecutive lines that are cast together) in cast mode ALL,
// which keeps all hits until the window ends.
constexpr size_t kWindowOfAll = 128;
// The fast path decides which polygons a line meets by floating-point filters, and the general path
// by exact arithmetic if necessary. The fast path is first tried on the first `kProbeWindow` lines
// of a large batch. If filters leave more than one in four lines of a window undecided, as they do
// where polygons form a lattice, the rest of the batch takes the general path, since casting so
// many lines on both paths would not pay. For a smaller batch, the share of undecided lines in
// earlier batches decides (base/fallback_rate.h).
constexpr size_t kProbeWindow = 32;
constexpr size_t kSmallBatch = 8 * kProbeWindow;
constexpr double kMostUndecided = 0.25;
// The number of zeroed hits that `Write` appends to the answer at once: a memset of less than 2 KB,
// for which glibc uses vector stores.
constexpr size_t kCleared = 16;

// The share of undecided lines (those that filters could not decide) in recent batches of this
// thread. The TLS model "initial-exec" saves a function call at each access.
[[gnu::tls_model("initial-exec")]] constinit thread_local FallbackRate recent_batches(
    kMostUndecided);

// Reserves room for `count` more values. If the capacity grows, at least doubles it, so that
// repeated calls move each element a few times at most.
template <class T>
void ReserveMore(size_t count, std::vector<T>& values) {
  const size_t needed = values.size() + count;
  if (needed > values.capacity()) values.reserve(std::max(needed, 2 * values.capacity()));
}

// The working memory of the fast path, for the lines of one window (consecutive lines of a batch).
// The thread keeps the memory from batch to batch, so that later batches allocate nothing.
struct FastScratch {
  LineDescent descent;
  std::array<FastSlot, kSlots> slots;
  std::array<FastLine, kWindow> lines;
  // The hits of the window, and a spare element, since `CollectFirst` writes one element too many.
  std::array<FastHit, kWindow + 1> hits;
  FastPassages all;  // the passages (intervals of a line inside a polygon), in cast mode ALL
  std::vector<FastHit> all_hits;
  std::array<GridWalk, kWindow> walks;
  GridWalks walking;
  std::array<uint16_t, GridPairs::kMostWalks> leaving;
  GridPairs pairs;
  // The indices of the undecided lines of the window, for which rounding errors could change the
  // answer, and a spare element as in `hits`.
  std::array<uint32_t, kWindow + 1> undecided;
  // Indices of the lines of the window that search the scene's bounding-box trees instead of its
  // grid.
  std::vector<uint32_t> by_trees;
  CastAnswers undecided_answers;
};

// Casts a batch of lines (the items of the batch) window by window; a window is a run of
// consecutive lines. A line walks over the cells of the scene's grid, or searches the bounding-box
// trees. The lines of a window finish in any order; at the end of the window their hits are
// measured and written in the order of the items.
class FastBatch final : public LineObserver {
 public:
  FastBatch(const Scene& scene, const CastOptions& options, const FastSource& source,
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

  // Casts all lines. Called once. Returns false once the meter stops the work.
  bool Run();
  // Returns the number of lines for which floating-point filters could not decide the answer, so
  // that the lines took the general path (`CastGeneral`).
  size_t undecided_count() const { return undecided_count_; }

 private:
  bool is_all() const { return options_.mode == CastMode::kAll; }
  // Returns the hits of the window (consecutive lines of the batch) except those of undecided
  // lines, for which rounding errors could change the answer.
  FastHit* hits() { return is_all() ? scratch_->all_hits.data() : scratch_->hits.data(); }

  void Visit(const Frontier& pairs) override { VisitFastPairs(pairs, visit_); }
  bool RunWindow();
  bool FallBackForWindow();
  bool WalkWindow();
  bool StartWalks();
  void EnterNextSquares(size_t count);
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
  bool CastUndecided();
  bool Write();
  void WriteReflections();

  const Scene& scene_;
  const FastSource& source_;
  const SceneIndex& index_;
  const CastOptions& options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<FastScratch> scratch_;
  const GridEntrance entrance_;
  const FastVisit visit_;
  const FastCells cells_;
  size_t begin_ = 0;  // first item (line) of the window: items [begin_, end_)
  size_t next_ = 0;
  size_t started_ = 0;  // the `FastLine`s of items before this item are set
  size_t end_ = 0;
  size_t next_tree_ = 0;  // index of the next item in `by_trees`
  size_t active_count_ = 0;
  size_t hit_count_ = 0;  // hits of the window, without the hits of undecided lines
  size_t window_undecided_ = 0;
  size_t undecided_count_ = 0;
  bool falls_back_ = false;  // whether the next window skips the fast path
};

bool FastBatch::Run() {
  out_.Clear();
  out_.counts.assign(source_.count, 0);
  const size_t window = is_all() ? kWindowOfAll : kWindow;
  const size_t first =
      source_.count > kSmallBatch || recent_batches.is_high() ? kProbeWindow : window;
  for (begin_ = 0; begin_ < source_.count; begin_ = end_) {
    next_ = started_ = begin_;
    end_ = begin_ + std::min(begin_ == 0 ? first : window, source_.count - begin_);
    if (!(falls_back_ ? FallBackForWindow() : RunWindow()) || !CastUndecided() || !Write())
      return false;
    const size_t count = end_ - begin_;
    if (!falls_back_) recent_batches.Add(window_undecided_, count);
    falls_back_ =
        !source_.always_tries_fast_path &&
        static_cast<double>(window_undecided_) > kMostUndecided * static_cast<double>(count);
  }
  std::sort(out_.truncated.begin(), out_.truncated.end());
  scratch_.Return();
  return true;
}

// Casts the lines of the current window (consecutive lines of the batch) by walks from cell to cell
// of the scene's grid, if the scene has a grid: squares, most of which are divided into small
// cells. Lines that enter a square that is not divided, or begin too far away from the grid,
// descend the bounding-box trees instead.
bool FastBatch::RunWindow() {
  scratch_->by_trees.clear();
  if (is_all()) scratch_->all.Clear();
  if (!index_.grid().empty()) return WalkWindow() && DescendWindow();
  for (size_t item = begin_; item < end_; ++item) {
    scratch_->by_trees.push_back(static_cast<uint32_t>(item));
  }
  return DescendWindow();
}

// Moves many lines of the window (consecutive lines of the batch) at a time over the cells of the
// scene's grid: squares, each divided into cells, which list polygons. Each step tests each line
// against the polygons of its current cell, and moves the line to its next cell.
bool FastBatch::WalkWindow() {
  GridWalks& walking = scratch_->walking;
  GridPairs& pairs = scratch_->pairs;
  walking.walks = scratch_->walks.data();
  pairs.count = 0;
  walking.count = 0;
  while (StartWalks() || walking.count > 0) {
    if (!meter_.Spend(GridCell::kWidth * walking.count)) return false;
    StepWalks(walking, pairs);
    VisitFastPairs(pairs, cells_);
    pairs.count = 0;
    size_t active = 0;
    size_t leaving = 0;
    for (size_t i = 0; i < walking.count; ++i) {
      const uint16_t at = walking.active[i];
      const GridWalk& walk = scratch_->walks[at];
      const auto continues = static_cast<size_t>(!(walk.at > walk.end));
      const auto leaves = static_cast<size_t>(walk.leaves_square());
      walking.active[active] = at;
      scratch_->leaving[leaving] = at;
      active += continues & ~leaves;
      leaving += continues & leaves;
    }
    walking.count = active;
    EnterNextSquares(leaving);
  }
  return !meter_.stopped();
}

// Starts the walks (`GridWalk`: a line that moves from cell to cell of the scene's grid) of further
// lines of the window (consecutive lines of the batch), while lines of the window remain and
// `scratch_->walking` has room. Returns false once no lines remain.
bool FastBatch::StartWalks() {
  // The number of blocks of lines, each of `GridEntrants::kMost` lines, that start at once, so that
  // the cache misses on the squares of the grid that the lines enter overlap.
  constexpr size_t kBlocks = 4;
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

// Sets the next `GridEntrants::kMost` lines of the window (consecutive lines of the batch), and
// finds the squares of the scene's grid (each divided into cells) that the lines enter first.
void FastBatch::PlaceBlock(GridEntrants& of) {
  const size_t first = started_ - begin_;
  StartBlock(of);
  const size_t count = started_ - begin_ - first;
  for (size_t i = 0; i < GridEntrants::kMost; ++i) {
    const bool is_line = i < count && !scratch_->lines[first + i].is_none;
    of.walks[i] = is_line ? &scratch_->walks[first + i] : nullptr;
  }
  entrance_.Place(of);
}

// Moves the first `count` walks (lines that move from cell to cell) of `scratch_->leaving`, which
// leave their squares of the grid, into the adjacent squares, and adds the walks that are not over
// to the active walks again.
void FastBatch::EnterNextSquares(size_t count) {
  const uint16_t* const leaving = scratch_->leaving.data();
  for (size_t i = 0; i < count; ++i) entrance_.NextSquare(scratch_->walks[leaving[i]]);
  for (size_t i = 0; i < count; i += GridEntrants::kMost) {
    entrance_.EnterNext(scratch_->walks.data(), leaving + i,
                        std::min(count - i, GridEntrants::kMost),
                        [this](uint16_t at) -> const Line& { return scratch_->lines[at].line; });
  }
  for (size_t i = 0; i < count; ++i) AddWalk(leaving[i]);
}

// Adds walk `at` (a line that moves from cell to cell), which has entered a square of the grid, to
// the active walks. If the square is not divided into cells, the line of the walk must descend the
// bounding-box trees instead.
inline void FastBatch::AddWalk(uint16_t at) {
  const GridWalk& walk = scratch_->walks[at];
  GridWalks& walking = scratch_->walking;
  if (!walk.is_over()) {
    walking.active[walking.count++] = at;
    if (walk.block->wide_count() > 0) AddWide(at);
  } else if (walk.falls_back_to_trees) {
    scratch_->by_trees.push_back(static_cast<uint32_t>(begin_ + at));
  }
}

void FastBatch::AddWide(uint16_t at) {
  const GridBlock& block = *scratch_->walks[at].block;
  for (size_t i = 0; i < block.wide_count(); ++i) {
    scratch_->pairs.Add(block.polygons().NumberOf(block.wide(i)), at);
  }
}

bool FastBatch::DescendWindow() {
  if (scratch_->by_trees.empty()) return true;
  next_tree_ = 0;
  active_count_ = 0;
  while (active_count_ < kSlots && StartNext(active_count_)) ++active_count_;
  while (active_count_ > 0) {
    scratch_->descent.Run(index_, active_count_, *this, meter_);
    if (meter_.stopped()) return false;
    for (size_t at = active_count_; at-- > 0;) {
      if (!Continue(at) && !StartNext(at)) Remove(at);
    }
  }
  return !meter_.stopped();
}

// Marks all lines of the window (consecutive lines of the batch) undecided, without the search by
// floating-point filters, so that they take the general path (`CastGeneral`), which counts the work
// for the lines.
bool FastBatch::FallBackForWindow() {
  if (is_all()) scratch_->all.Clear();
  for (size_t i = 0; i < end_ - begin_; ++i) scratch_->lines[i].is_undecided = true;
  return true;
}

// Starts the descent of the bounding-box trees for the next item (line of the batch) of `by_trees`,
// in slot `at` of `scratch_->slots`. Skips items without a valid line, which have no hit, and
// undecided lines (lines that floating-point filters could not decide). Returns false if no item of
// `by_trees` remains, or once the meter has stopped the work.
bool FastBatch::StartNext(size_t at) {
  while (next_tree_ < scratch_->by_trees.size()) {
    const size_t item = scratch_->by_trees[next_tree_++];
    if (item >= started_) {
      GridEntrants of;
      StartBlock(of);
    }
    if (!meter_.Spend(1)) return false;
    FastLine& line = scratch_->lines[item - begin_];
    LineCull& cull = scratch_->descent.lines[at];
    if (line.is_undecided || line.is_none) continue;
    FastSlot& slot = scratch_->slots[at];
    slot.line = &line;
    slot.interval.Start(line.line, index_, is_all());
    line.reach = slot.interval.bounds();
    cull = LineCull(line.line, line.reach, index_.magnitude());
    return true;
  }
  return false;
}

// Sets the next lines of the window (consecutive lines of the batch), at most
// `GridEntrants::kMost`, and the elements of `of` that describe these lines. Reads segments several
// at a time in the lanes of a vector. Records an error for an item that is no valid line.
void FastBatch::StartBlock(GridEntrants& of) {
  const size_t count = std::min(GridEntrants::kMost, end_ - started_);
  const std::span<FastLine> lines(&scratch_->lines[started_ - begin_], count);
  if (source_.segments != nullptr) {
    unsigned bad = StartSegments(*source_.segments, started_, lines, of);
    for (; bad != 0; bad &= bad - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(bad));
      source_.line_of(started_ + i, lines[i].line);
      lines[i].is_none = true;
    }
  } else {
    for (size_t i = 0; i < GridEntrants::kMost; ++i) {
      FastLine& line = lines[std::min(i, count - 1)];
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

// Advances the line in slot `at` of `scratch_->slots` to the next part of the line
// (`LineInterval`), after the search of a part has ended. Returns false if no later part can have a
// better hit.
bool FastBatch::Continue(size_t at) {
  auto& [line, interval] = scratch_->slots[at];
  if (line->is_undecided || interval.end() >= line->end()) return false;
  if (options_.mode == CastMode::kAny && !line->first.is_none()) return false;
  interval.Advance(line->line, line->end());
  line->reach = interval.bounds();
  scratch_->descent.lines[at].SetReach(line->reach);
  return true;
}

// Removes the line in slot `at` of `scratch_->slots`, whose search has ended: moves the line of the
// last used slot to this slot.
void FastBatch::Remove(size_t at) {
  --active_count_;
  if (at == active_count_) return;
  scratch_->slots[at] = scratch_->slots[active_count_];
  scratch_->descent.lines[at] = scratch_->descent.lines[active_count_];
}

// Collects the hits of the lines of the window (consecutive lines of the batch) in cast modes
// CLOSEST and ANY. Returns the number of undecided lines, for which rounding errors could change
// the answer.
size_t FastBatch::CollectFirst() {
  size_t undecided_count = 0;
  for (size_t item = begin_; item < end_; ++item) {
    const FastLine& line = scratch_->lines[item - begin_];
    const bool is_hit = !line.first.is_none() && !line.is_undecided;
    out_.counts[item] = static_cast<uint32_t>(is_hit);
    scratch_->hits[hit_count_] = {&line, &line.first, nullptr};
    scratch_->undecided[undecided_count] = static_cast<uint32_t>(item);
    hit_count_ += static_cast<size_t>(is_hit);
    undecided_count += static_cast<size_t>(line.is_undecided);
  }
  return undecided_count;
}

// Collects the hits of the lines of the window (consecutive lines of the batch) in cast mode ALL.
// Returns the number of undecided lines, for which rounding errors could change the answer.
size_t FastBatch::CollectAll() {
  FastPassages& all = scratch_->all;
  std::vector<FastHit>& hits = scratch_->all_hits;
  hits.clear();
  hits.reserve(FastPassages::kMost);
  all.Sort(meter_);
  size_t undecided_count = 0;
  size_t at = 0;
  for (size_t item = begin_; item < end_; ++item) {
    FastLine& line = scratch_->lines[item - begin_];
    std::span<const FastPassages::Entry> entries = all.Of(line, at);
    line.is_undecided = line.is_undecided || !AreInOrder(entries);
    if (line.is_undecided) {
      scratch_->undecided[undecided_count++] = static_cast<uint32_t>(item);
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
  return undecided_count;
}

// Sets the number of hits of each line of the window (consecutive lines of the batch), and casts
// the undecided lines, for which rounding errors could change the answer, on the general path
// (`CastGeneral`). Returns false once the meter stops the work.
bool FastBatch::CastUndecided() {
  hit_count_ = 0;
  const size_t undecided_count = is_all() ? CollectAll() : CollectFirst();
  window_undecided_ = undecided_count;
  if (undecided_count == 0) return true;
  undecided_count_ += undecided_count;
  const auto line_of = [&](size_t i, Line& line) {
    return source_.line_of(scratch_->undecided[i], line);
  };
  CastAnswers& undecided = scratch_->undecided_answers;
  if (!CastGeneral(scene_, options_, undecided_count, line_of, undecided, meter_)) return false;
  for (size_t i = 0; i < undecided_count; ++i)
    out_.counts[scratch_->undecided[i]] = undecided.counts[i];
  for (const uint32_t i : undecided.truncated) out_.truncated.push_back(scratch_->undecided[i]);
  return true;
}

// Writes the hits of the lines of the window (consecutive lines of the batch) in the order of the
// lines. Measuring a hit counts four units of work, for its fractions, point and normals. The hits
// of undecided lines (for which rounding errors could change the answer) come from the general path
// (`CastGeneral`), which has already counted them.
bool FastBatch::Write() {
  if (options_.mode == CastMode::kAny) return true;
  const std::vector<CastHit>& undecided = scratch_->undecided_answers.hits;
  const size_t undecided_hits = window_undecided_ == 0 ? 0 : undecided.size();
  if (!meter_.SpendRows(hit_count_) || !meter_.Spend(4 * hit_count_)) return false;
  ReserveMore(hit_count_ + undecided_hits, out_.hits);  // the pointers to hits below stay valid
  FastHit* const hits = this->hits();
  if (undecided_hits == 0) {
    for (size_t k = 0; k < hit_count_; k += kCleared) {
      const size_t count = std::min(kCleared, hit_count_ - k);
      CastHit* const first = out_.hits.data() + out_.hits.size();
      out_.hits.resize(out_.hits.size() + count);
      for (size_t i = 0; i < count; ++i) hits[k + i].hit = first + i;
    }
  } else {
    size_t k = 0;
    auto undecided_hit = undecided.begin();
    for (size_t item = begin_; item < end_; ++item) {
      const bool is_undecided = scratch_->lines[item - begin_].is_undecided;
      for (uint32_t left = out_.counts[item]; left > 0; --left) {
        if (is_undecided) {
          out_.hits.push_back(*undecided_hit++);
        } else {
          hits[k++].hit = &out_.hits.emplace_back();
        }
      }
    }
  }
  MeasureFastHits({hits, hit_count_}, options_.detail);
  if (options_.reflect) WriteReflections();
  return true;
}

// Writes the reflections of the window's lines (consecutive lines of the batch) in the order of
// their hits.
void FastBatch::WriteReflections() {
  const FastHit* hit = hits();
  auto undecided = scratch_->undecided_answers.reflections.begin();
  ReserveMore(out_.hits.size() - out_.reflections.size(), out_.reflections);
  for (size_t item = begin_; item < end_; ++item) {
    const bool is_undecided = scratch_->lines[item - begin_].is_undecided;
    for (uint32_t left = out_.counts[item]; left > 0; --left) {
      out_.reflections.push_back(is_undecided ? *undecided++ : ReflectionOf(*hit++));
    }
  }
}

// Tracks, among the recent batches of one line that took the fast path, whether floating-point
// filters left most of the lines undecided, as filters do where polygons form a lattice. If so,
// only one line in sixteen takes the fast path. The fast and the general path return identical
// answers.
class RecentLines {
 public:
  // Returns whether the next single line should skip the fast path.
  bool SkipsFastPath() { return surplus_ > kMost / 2 && ++skipped_ % 16 != 0; }
  void Add(bool is_undecided) {
    surplus_ = is_undecided ? std::min(surplus_ + 1, kMost) : std::max(surplus_ - 1, 0);
  }

 private:
  static constexpr int kMost = 8;

  int surplus_ = 0;  // undecided lines minus decided ones, in [0, kMost]
  unsigned skipped_ = 0;
};

// The TLS model "initial-exec" saves a function call at each access.
[[gnu::tls_model("initial-exec")]] thread_local RecentLines recent_lines;

bool CastOnGeneralPath(const Scene& scene, const CastOptions& options, const FastSource& source,
                       CastAnswers& out, WorkMeter& meter) {
  if (source.undecided_count != nullptr) *source.undecided_count += source.count;
  return CastGeneral(scene, options, source.count, source.line_of, out, meter);
}

// Not inlined, so that the code of `CastFast` for batches of one line stays short.
[[gnu::noinline]] bool CastMany(const Scene& scene, const CastOptions& options,
                                const FastSource& source, CastAnswers& out, WorkMeter& meter) {
  if (source.count <= kSmallBatch && !source.always_tries_fast_path &&
      recent_batches.SkipsFastPath()) {
    return CastOnGeneralPath(scene, options, source, out, meter);
  }
  FastBatch batch(scene, options, source, out, meter);
  const bool is_finished = batch.Run();
  if (source.undecided_count != nullptr) *source.undecided_count += batch.undecided_count();
  return is_finished;
}

}  // namespace

bool CastFast(const Scene& scene, const CastOptions& options, const FastSource& source,
              CastAnswers& out, WorkMeter& meter) {
  if (source.count != 1 || options.mode == CastMode::kAll || scene.index().grid().empty()) {
    return CastMany(scene, options, source, out, meter);
  }
  RecentLines& recent = recent_lines;
  if (recent.SkipsFastPath() && !source.always_tries_fast_path) {
    return CastOnGeneralPath(scene, options, source, out, meter);
  }
  const SingleEnd end = CastFastSingle(scene, options, source, out, meter);
  recent.Add(end == SingleEnd::kUndecided);
  if (end == SingleEnd::kUndecided) return CastOnGeneralPath(scene, options, source, out, meter);
  if (end == SingleEnd::kNeedsTrees) return CastMany(scene, options, source, out, meter);
  return !meter.stopped();
}

}  // namespace carom::internal
