// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/world_casts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/thread_scratch.h"
#include "cast/line_cast.h"
#include "cast/passages.h"
#include "index/body_set.h"
#include "index/scene_index.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// A line that meets bodies (moving shapes that were sent with the queries): the rows (hits) of the
// line in the answer of the cast against the scene, and the number of rows that replace these rows,
// at least as many.
struct Change {
  size_t first_row;  // index of the line's first row in the answer of the scene
  size_t scene_rows;
  size_t rows;
};

// Replaces rows of `all`, the answer of the cast against the scene, by the rows of `changed`, for
// each line of `changes`. Works in place, from the last line to the first.
template <class T>
void Splice(const std::vector<Change>& changes, const std::vector<T>& changed,
            std::vector<T>& all) {
  size_t from = all.size();
  size_t to = from + changed.size();
  for (const Change& change : changes) to -= change.scene_rows;
  all.resize(to);
  size_t row = changed.size();
  const auto at = [](auto& rows, size_t i) { return rows.begin() + static_cast<ptrdiff_t>(i); };
  for (auto change = changes.rbegin(); change != changes.rend() && row > 0; ++change) {
    const size_t end = change->first_row + change->scene_rows;
    if (to != from) std::move_backward(at(all, end), at(all, from), at(all, to));
    to -= from - end + change->rows;
    row -= change->rows;
    std::copy_n(at(changed, row), change->rows, at(all, to));
    from = change->first_row;
  }
}

// The working memory of `WorldCaster`, which the thread keeps from batch to batch while it is
// small.
struct WorldScratch {
  static constexpr size_t kMaxCachedHits = 16384;

  bool IsWorthCaching() const {
    return run.hits.capacity() + run.counts.capacity() <= kMaxCachedHits &&
           changed.hits.capacity() + changes.capacity() <= kMaxCachedHits &&
           finder.capacity() <= kMaxCachedHits;
  }

  CastAnswers run;      // answers of consecutive lines with equal masks
  CastAnswers changed;  // the hits of lines that meet bodies (moving shapes)
  std::vector<Change> changes;
  LineCast cast;
  PassageFinder finder;
  std::vector<ItemError> ignored;
};

template <class T>
void AppendTo(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Appends `run`, the answers of the lines from `begin` on, to `out`, the answers of the lines
// before `begin`.
void Append(size_t begin, const CastAnswers& run, CastAnswers& out) {
  const auto offset = static_cast<uint32_t>(begin);
  AppendTo(out.counts, run.counts);
  AppendTo(out.hits, run.hits);
  AppendTo(out.reflections, run.reflections);
  for (const uint32_t i : run.truncated) out.truncated.push_back(offset + i);
  for (ItemError error : run.errors) {
    error.index += offset;
    out.errors.push_back(error);
  }
}

// Casts the lines of a batch against the scene, and then the lines that are near bodies (moving
// shapes that are sent with the queries) against the bodies. A row of an answer is one hit of a
// line.
class WorldCaster {
 public:
  WorldCaster(const WorldCasts& casts, CastAnswers& out, WorkMeter& meter)
      : casts_(casts), options_(casts.options), out_(out), meter_(meter) {
    // `LineCast` need not test categories again: `AddPolygons` adds only polygons that the cast
    // against the scene hit, which tested their categories, and `AddBodies` adds only bodies that
    // pass the `QueryFilter`.
    options_.mask = kEveryCategory;
  }

  bool Run() {
    out_.Clear();
    const bool has_bodies = casts_.world.bodies != nullptr && casts_.world.bodies->size() > 0;
    const Against against = casts_.scope.against;
    if (!CastScene(out_)) return false;
    // If no line can meet a body, the answer of the cast against the scene is complete. Lines that
    // consider only bodies must be read even without bodies, so that the errors of invalid lines
    // are recorded.
    if (against == Against::kScene || (against == Against::kBoth && !has_bodies)) return Done();
    scratch_->changed.Clear();
    scratch_->changes.clear();
    const BoxRaster* const raster =
        has_bodies ? &casts_.world.bodies->set().RasterOf(casts_.scope, meter_) : nullptr;
    const bool has_errors = against == Against::kBodies;
    std::vector<ItemError>& errors = has_errors ? out_.errors : scratch_->ignored;
    for (size_t begin = 0; begin < casts_.count; begin += 64) {
      const size_t count = std::min<size_t>(64, casts_.count - begin);
      if (!meter_.Spend(count)) return false;
      uint64_t lines = ~uint64_t{0} >> (64 - count);
      if (!has_errors) lines &= casts_.near(begin, count, *raster);
      for (; lines != 0; lines &= lines - 1) {
        const size_t i = begin + static_cast<size_t>(std::countr_zero(lines));
        const bool is_near = casts_.line_of(i, scratch_->cast.line(), errors) && IsNearBody(i);
        if (is_near && !CastLine(i)) return false;
      }
    }
    scratch_->ignored.clear();
    ApplyChanges();
    return Done();
  }

 private:
  // Ends the batch: keeps the working memory for later batches if it is small. Returns true.
  bool Done() {
    if (scratch_->IsWorthCaching()) scratch_.Return();
    return true;
  }

  // Casts every line against the scene, with the mask of polygon categories of the line, or of the
  // batch if lines have no masks of their own. Lines that consider only bodies get no hits.
  bool CastScene(CastAnswers& out) {
    out.Clear();
    if (casts_.scope.against == Against::kBodies) {
      out.counts.assign(casts_.count, 0);
      return true;
    }
    const std::span<const uint64_t> masks = casts_.scope.mask;
    if (masks.empty()) return casts_.cast_scene(0, casts_.count, casts_.options, out);
    CastOptions options = casts_.options;
    for (size_t begin = 0; begin < casts_.count;) {
      size_t end = begin + 1;
      while (end < casts_.count && masks[end] == masks[begin]) ++end;
      options.mask = masks[begin];
      if (!casts_.cast_scene(begin, end - begin, options, scratch_->run)) return false;
      Append(begin, scratch_->run, out);
      begin = end;
    }
    return true;
  }

  // Returns whether the bounding box of line i, the current one, meets the box of a body.
  bool IsNearBody(size_t i) {
    if (casts_.world.bodies == nullptr) return false;
    const QueryFilter query_filter = QueryFilter::Of(casts_.scope, i, casts_.options.mask);
    const MeetsBox meets{scratch_->cast.line().bounds};
    return casts_.world.bodies->set().MayMeet(meets, query_filter, meter_);
  }

  // Casts line i against the bodies. If the line meets no body, its rows (hits) from the scene
  // stay. In mode CLOSEST, if the rounded fractions (parameters along the line) of the nearest hits
  // of the scene and of the bodies differ, the hit with the lesser fraction is the answer.
  // Otherwise the polygons that the line hits in the scene are added to `cast` again, and their
  // hits are ordered exactly with the hits of the bodies.
  bool CastLine(size_t i) {
    if (options_.mode == CastMode::kAny && out_.counts[i] != 0) return true;
    const std::span<const CastHit> rows = RowsOf(i);
    LineCast& cast = scratch_->cast;
    cast.Start(options_, meter_);
    const bool is_closest = options_.mode == CastMode::kClosest;
    if (is_closest && !rows.empty()) EndAfter(rows[0].fraction);
    if (!AddBodies(i)) return false;
    if (!cast.has_hits()) return true;
    if (is_closest && !rows.empty() && cast.BestRounded() != rows[0].fraction) {
      if (rows[0].fraction < cast.BestRounded()) return true;
    } else {
      AddPolygons(rows);
    }
    return WriteLine(i, rows.size());
  }

  // Returns the rows (hits) of line i in the answer of the scene. Calls must come in ascending
  // order of i.
  std::span<const CastHit> RowsOf(size_t i) {
    if (options_.mode == CastMode::kAny) return {};
    for (; next_ < i; ++next_) next_row_ += out_.counts[next_];
    return std::span(out_.hits).subspan(next_row_, out_.counts[i]);
  }

  // Makes the cast of the line ignore hits after `fraction`. The search ends one double later,
  // since `fraction` is rounded to the nearest double, and the exact fraction of the hit may be
  // slightly greater.
  void EndAfter(double fraction) {
    LineCast& cast = scratch_->cast;
    if (fraction < cast.end()) cast.EndAt(std::nextafter(fraction, HUGE_VAL));
  }

  // Adds the bodies near line i to the cast. Skips a body if its bounding box misses the line, or
  // the bounds of the part of the line that is still searched.
  bool AddBodies(size_t i) {
    LineCast& cast = scratch_->cast;
    const QueryFilter query_filter = QueryFilter::Of(casts_.scope, i, casts_.options.mask);
    PassageFinder& finder = scratch_->finder;
    finder.Start(cast.line());
    VisitBodies(casts_.world, query_filter, meter_, MeetsBox{cast.reach()}, [&](Body& body) {
      if (finder.MayMeet(body.bounds())) cast.AddBody(body, finder);
      return !cast.is_done() && !meter_.stopped();
    });
    return !meter_.stopped();
  }

  // Adds the polygons that the line has hit in the scene to the cast with the bodies.
  void AddPolygons(std::span<const CastHit> hits) {
    // In mode ALL_PASSAGES, one call of `AddWithoutIndex` adds all passages of a polygon, so each
    // polygon is added once. The hits of a polygon are not adjacent in `hits`.
    std::unordered_set<uint64_t> added;
    for (size_t k = 0; k < hits.size() && meter_.Spend(1); ++k) {
      const uint64_t id = hits[k].polygon_id;
      if (options_.mode == CastMode::kAllPassages && !added.insert(id).second) continue;
      const Polygon* const polygon = casts_.world.scene.index().Find(id);
      scratch_->cast.AddWithoutIndex(*polygon, scratch_->finder);
    }
  }

  // Writes the rows (hits) of line i in `changed`, where they replace the `scene_rows` rows of the
  // line in the answer of the scene. The meter has counted the rows of the scene already. Bodies
  // never reduce the number of a line's rows.
  bool WriteLine(size_t i, size_t scene_rows) {
    LineCast& cast = scratch_->cast;
    CastAnswers& changed = scratch_->changed;
    const size_t count = cast.Finish();
    if (meter_.stopped()) return false;
    out_.counts[i] = static_cast<uint32_t>(count);
    if (options_.mode == CastMode::kAny) return true;
    next_ = i + 1;
    scratch_->changes.push_back({next_row_, scene_rows, count});
    next_row_ += scene_rows;
    if (cast.is_truncated()) changed.truncated.push_back(static_cast<uint32_t>(i));
    if (count > scene_rows && !meter_.SpendRows(count - scene_rows)) return false;
    for (size_t rank = 0; rank < count && meter_.Spend(4); ++rank) {
      Vec2 reflection;
      cast.Measure(rank, changed.hits.emplace_back(), reflection);
      if (options_.reflect) changed.reflections.push_back(reflection);
    }
    cast.Trim();
    return !meter_.stopped();
  }

  void ApplyChanges() {
    const CastAnswers& changed = scratch_->changed;
    Splice(scratch_->changes, changed.hits, out_.hits);
    if (options_.reflect) Splice(scratch_->changes, changed.reflections, out_.reflections);
    if (changed.truncated.empty()) return;
    std::vector<uint32_t> all;
    std::set_union(out_.truncated.begin(), out_.truncated.end(), changed.truncated.begin(),
                   changed.truncated.end(), std::back_inserter(all));
    out_.truncated = std::move(all);
  }

  const WorldCasts& casts_;
  CastOptions options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<WorldScratch> scratch_;
  // A line, and the index of its first row (hit) in the answer of the scene; `RowsOf` advances
  // both.
  size_t next_ = 0;
  size_t next_row_ = 0;
};

}  // namespace

bool CastInWorld(const WorldCasts& casts, CastAnswers& out, WorkMeter& meter) {
  return WorldCaster(casts, out, meter).Run();
}

}  // namespace carom::internal
