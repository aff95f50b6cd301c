// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/general_batch.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/hit_collector.h"
#include "base/thread_scratch.h"
#include "cast/line_cast.h"
#include "cast/passages.h"
#include "index/line_interval.h"
#include "index/line_traversal.h"
#include "index/scene_index.h"
#include "shape/line.h"

namespace carom::internal {
namespace {

constexpr size_t kLines = LineDescent::kMaxLines;
constexpr size_t kGeneralWindow = 1024;
// The most hits that the lines cast at the same time (at most `kLines`) keep together in cast modes
// ALL and ALL_PASSAGES; a single line may keep more if `max_hits` is larger.
constexpr size_t kMostKept = 65536;

// The range of the hits of one item (line of the batch) in `GeneralScratch::hits`.
struct Slice {
  size_t begin = 0;
  size_t count = 0;
};

// A line of the batch with an unfinished search.
struct ActiveLine {
  size_t item;
  LineInterval interval;
  LineCast cast;
};

// The working memory of `CastBatch`. The thread keeps it from batch to batch while it is small, so
// that later batches allocate nothing.
struct GeneralScratch {
  // Returns whether the memory has room for at most 16,384 touches (of a line and an edge),
  // passages (intervals of a line inside a polygon) and hits in all.
  bool IsWorthCaching() const { return finder.capacity() + hits.capacity() <= 16 * kGeneralWindow; }

  PassageFinder finder;
  LineDescent descent;
  std::array<ActiveLine, kLines> lines;
  std::vector<Slice> slices;  // one for each item of the window (consecutive lines of a batch)
  std::vector<CastHit> hits;
  std::vector<Vec2> reflections;
};

// Casts a batch, many lines at a time. The searches of the lines end in any order. A window
// (consecutive items of the batch) ends when the searches of all its lines have ended; the hits of
// the window are then written in the order of the items.
class CastBatch final : public LineObserver {
 public:
  CastBatch(const Scene& scene, const CastOptions& options, CastAnswers& out, WorkMeter& meter)
      : scene_(scene.index()), options_(options), out_(out), meter_(meter) {}

  // Casts all lines. Called once. Returns false once the meter stops the work.
  bool Run(size_t count, const LineOf& line_of);

 private:
  void Visit(const Frontier& pairs) override;
  bool StartNext(size_t at);
  bool Continue(size_t at);
  void Remove(size_t at);
  void Report(ActiveLine& line);
  bool FlushWindow();

  const SceneIndex& scene_;
  const CastOptions& options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  const LineOf* line_of_ = nullptr;
  ThreadScratch<GeneralScratch> scratch_;
  size_t begin_ = 0;  // first item (line) of the window: the items [begin_, end_)
  size_t next_ = 0;
  size_t end_ = 0;
  size_t active_count_ = 0;
};

// Casts fewer lines at a time in modes ALL and ALL_PASSAGES, so that the lines cast at the same
// time keep at most kMostKept hits together (unless one line alone may have more). Writes the
// answers of a window (consecutive lines of the batch) once all lines of the window are finished.
bool CastBatch::Run(size_t count, const LineOf& line_of) {
  out_.Clear();
  out_.counts.assign(count, 0);
  line_of_ = &line_of;
  const bool is_ordered = IsOrdered(options_.mode);
  const size_t hits = is_ordered ? std::max<size_t>(options_.max_hits, 1) : 1;
  const size_t most = std::clamp<size_t>(kMostKept / hits, 1, kLines);
  for (begin_ = 0; begin_ < count; begin_ = end_) {
    next_ = begin_;
    end_ = std::min(begin_ + kGeneralWindow, count);
    scratch_->slices.assign(end_ - begin_, {});
    scratch_->hits.clear();
    scratch_->reflections.clear();
    active_count_ = 0;
    while (active_count_ < most && StartNext(active_count_)) ++active_count_;
    while (active_count_ > 0) {
      scratch_->descent.Run(scene_, active_count_, *this, meter_);
      if (meter_.stopped()) return false;
      for (size_t at = active_count_; at-- > 0;) {
        if (Continue(at)) continue;
        Report(scratch_->lines[at]);
        scratch_->lines[at].cast.Trim();
        if (!StartNext(at)) Remove(at);
      }
    }
    if (meter_.stopped() || !FlushWindow()) return false;
  }
  std::sort(out_.truncated.begin(), out_.truncated.end());
  if (scratch_->IsWorthCaching()) scratch_.Return();
  return true;
}

// Starts the search for the next valid line of the window (consecutive lines of the batch), in slot
// `at` of `scratch_->lines`. `line_of_` records an error for an item that is no valid line. Returns
// false at the end of the window, or once the meter has stopped the work.
bool CastBatch::StartNext(size_t at) {
  while (next_ < end_) {
    const size_t item = next_++;
    if (!meter_.Spend(1)) return false;
    auto& [its_item, interval, cast] = scratch_->lines[at];
    Line& line = cast.line();
    if (!(*line_of_)(item, line)) continue;
    its_item = item;
    cast.Start(options_, meter_);
    interval.Start(line, scene_, cast.is_ordered());
    scratch_->descent.lines[at] = LineCull(line, interval.bounds(), scene_.magnitude());
    return true;
  }
  return false;
}

// Advances the line in slot `at` of `scratch_->lines` to the next part of the line
// (`LineInterval`), after the search of a part has ended. Returns false if no later part can have a
// better hit.
bool CastBatch::Continue(size_t at) {
  auto& [item, interval, cast] = scratch_->lines[at];
  if (cast.is_done() || interval.end() >= cast.end()) return false;
  interval.Advance(cast.line(), cast.end());
  scratch_->descent.lines[at].SetReach(interval.bounds());
  return true;
}

// Removes the line in slot `at` of `scratch_->lines`, whose search has ended: moves the line in the
// last slot in use to this slot.
void CastBatch::Remove(size_t at) {
  --active_count_;
  if (at == active_count_) return;
  std::swap(scratch_->lines[at], scratch_->lines[active_count_]);
  scratch_->descent.lines[at] = scratch_->descent.lines[active_count_];
}

// Tests pairs of a line and a polygon that the line may meet, in groups: prefetches the entries
// (`IndexedPolygon`) of a group of pairs, then the polygons of the group, then tests the pairs.
void CastBatch::Visit(const Frontier& pairs) {
  constexpr size_t kGroup = 32;
  std::array<const IndexedPolygon*, kGroup> entries;
  for (size_t begin = 0; begin < pairs.count; begin += kGroup) {
    const size_t count = std::min(pairs.count - begin, kGroup);
    if (!meter_.Spend(count)) return;
    for (size_t i = 0; i < count; ++i) {
      const auto slot = Slot::Of(pairs.targets[begin + i]);
      entries[i] = &scene_.tile(slot.tile).entries()[slot.index];
      __builtin_prefetch(entries[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const auto* const block = static_cast<const char*>(entries[i]->polygon().memory());
      __builtin_prefetch(block);
      __builtin_prefetch(block + 64);
      __builtin_prefetch(block + 128);
    }
    for (size_t i = 0; i < count; ++i) {
      const uint16_t line = pairs.lines[begin + i];
      auto& [item, interval, cast] = scratch_->lines[line];
      if (cast.is_done() || interval.WasVisited(entries[i]->polygon().bounds())) continue;
      if (cast.Add(*entries[i], scratch_->finder)) {
        if (cast.end() < interval.end()) {
          scratch_->descent.lines[line].SetReach(interval.BoundsUpTo(cast.line(), cast.end()));
        }
      } else if (cast.is_done()) {
        scratch_->descent.lines[line].Stop();
      }
    }
  }
}

// Computes and stores the hits of a line whose search has ended. Each hit counts four units of
// work, for its fractions, point and normals.
void CastBatch::Report(ActiveLine& line) {
  auto& [item, interval, cast] = line;
  const size_t count = cast.Finish();
  out_.counts[item] = static_cast<uint32_t>(count);
  if (options_.mode == CastMode::kAny || count == 0 || !meter_.SpendRows(count)) return;
  if (cast.is_truncated()) out_.truncated.push_back(static_cast<uint32_t>(item));
  scratch_->slices[item - begin_] = {scratch_->hits.size(), count};
  for (size_t rank = 0; rank < count; ++rank) {
    if (!meter_.Spend(4)) return;
    Vec2 reflection;
    cast.Measure(rank, scratch_->hits.emplace_back(), reflection);
    if (options_.reflect) scratch_->reflections.push_back(reflection);
  }
}

// Copies the hits of the window (consecutive lines of the batch) to the answer in the order of the
// lines, since lines finish in any order.
bool CastBatch::FlushWindow() {
  const auto append = [](auto& to, const auto& from, const Slice& slice) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(slice.begin);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(slice.count));
  };
  for (const Slice& slice : scratch_->slices) {
    if (slice.count == 0) continue;
    // `Report` has counted the hits as rows of the answer, but copying many hits takes so long that
    // the copies count as work, too.
    if (slice.count > 1 && !meter_.Spend(slice.count)) return false;
    append(out_.hits, scratch_->hits, slice);
    if (options_.reflect) append(out_.reflections, scratch_->reflections, slice);
  }
  return true;
}

}  // namespace

bool CastGeneral(const Scene& scene, const CastOptions& options, size_t count,
                 const LineOf& line_of, CastAnswers& out, WorkMeter& meter) {
  return CastBatch(scene, options, out, meter).Run(count, line_of);
}

}  // namespace carom::internal
