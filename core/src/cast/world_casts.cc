// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/world_casts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "base/thread_scratch.h"
#include "cast/line_cast.h"
#include "cast/passages.h"
#include "index/body_set.h"
#include "index/scene_index.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// What lines work with, kept while it is small.
struct Scratch {
  static constexpr size_t kMaxCachedHits = 16384;

  bool IsWorthCaching() const {
    return scene.hits.capacity() + scene.counts.capacity() <= kMaxCachedHits &&
           finder.capacity() <= kMaxCachedHits;
  }

  CastAnswers scene;  // of all lines
  CastAnswers run;    // of a run of lines of one mask
  LineCast cast;
  PassageFinder finder;
  std::vector<ItemError> ignored;
};

template <class T>
void AppendTo(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Adds the answers of the lines from `begin` on.
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

class WorldCaster {
 public:
  WorldCaster(const WorldCasts& casts, CastAnswers& out, WorkMeter& meter)
      : casts_(casts), options_(casts.options), out_(out), meter_(meter) {
    // Polygons of the scene that come again were considered already, and bodies have `Considered`.
    options_.mask = kEveryCategory;
  }

  bool Run() {
    out_.Clear();
    const bool has_bodies = casts_.world.bodies != nullptr && casts_.world.bodies->size() > 0;
    const Against against = casts_.scope.against;
    // Lines that ask bodies alone are read all the same, for what is wrong with them.
    if (against == Against::kScene || (against == Against::kBoth && !has_bodies)) {
      return CastScene(out_) && Done();
    }
    if (!CastScene(scratch_->scene)) return false;
    out_.counts.assign(casts_.count, 0);
    const bool has_errors = casts_.scope.against == Against::kBodies;
    if (!has_errors) out_.errors = scratch_->scene.errors;
    std::vector<ItemError>& errors = has_errors ? out_.errors : scratch_->ignored;
    for (size_t begin = 0; begin < casts_.count; begin += 64) {
      const size_t count = std::min<size_t>(64, casts_.count - begin);
      if (!meter_.Spend(count)) return false;
      uint64_t lines = ~uint64_t{0} >> (64 - count);
      if (!has_errors) lines &= casts_.near(begin, count, casts_.world.bodies->set().raster());
      for (; lines != 0; lines &= lines - 1) {
        const size_t i = begin + static_cast<size_t>(std::countr_zero(lines));
        const bool is_near = casts_.line_of(i, scratch_->cast.line(), errors) && IsNearBody();
        if (is_near && (!CopyUpTo(i) || !CastLine(i))) return false;
      }
    }
    if (!CopyUpTo(casts_.count)) return false;
    scratch_->ignored.clear();
    return Done();
  }

 private:
  // Nothing else follows.
  bool Done() {
    if (scratch_->IsWorthCaching()) scratch_.Return();
    return true;
  }

  // Every line against the scene, by its own mask. Lines that do not ask it hit nothing there.
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

  // The same of the line that is set.
  bool IsNearBody() {
    if (casts_.world.bodies == nullptr) return false;
    const BoxTree& tree = casts_.world.bodies->set().tree();
    const MeetsBox meets{scratch_->cast.line().bounds};
    return !tree.Traverse(meter_, meets, [](size_t) { return false; });
  }

  // Line i, whose rows of the scene are the next ones. Three ends: no body is met, and the rows of
  // the scene stand; a body comes strictly before or after the one row of CLOSEST; or everything is
  // put in order once more.
  bool CastLine(size_t i) {
    const CastAnswers& scene = scratch_->scene;
    LineCast& cast = scratch_->cast;
    if (options_.mode == CastMode::kAny && scene.counts[i] != 0) return CopyUpTo(i + 1);
    const std::span<const CastHit> rows = RowsOf(i);
    cast.Start(options_, meter_);
    const bool is_closest = options_.mode == CastMode::kClosest;
    if (is_closest && !rows.empty()) EndAfter(rows[0].fraction);
    if (!AddBodies(i)) return false;
    if (!cast.has_hits()) return CopyUpTo(i + 1);
    if (is_closest && !rows.empty() && cast.BestRounded() != rows[0].fraction) {
      if (rows[0].fraction < cast.BestRounded()) return CopyUpTo(i + 1);
    } else {
      AddPolygons(rows);
    }
    next_row_ += rows.size();
    ++next_;
    return WriteLine(i, rows.size());
  }

  // The hits of line i in the scene, the next line to be written.
  std::span<const CastHit> RowsOf(size_t i) const {
    const CastAnswers& scene = scratch_->scene;
    if (options_.mode == CastMode::kAny) return {};
    return std::span(scene.hits).subspan(next_row_, scene.counts[i]);
  }

  // A fraction is rounded to the nearest double: what ties with it exactly may be a little later.
  void EndAfter(double fraction) {
    LineCast& cast = scratch_->cast;
    if (fraction < cast.end()) cast.EndAt(std::nextafter(fraction, HUGE_VAL));
  }

  // Boxes are tested twice, against the reach and against the line itself, before a body is.
  bool AddBodies(size_t i) {
    LineCast& cast = scratch_->cast;
    const Considered considered = Considered::Of(casts_.scope, i, casts_.options.mask);
    PassageFinder& finder = scratch_->finder;
    finder.Start(cast.line());
    VisitBodies(casts_.world, considered, meter_, MeetsBox{cast.reach()}, [&](Body& body) {
      if (finder.MayMeet(body.bounds())) cast.AddBody(body, finder);
      return !cast.is_done() && !meter_.stopped();
    });
    return !meter_.stopped();
  }

  // Collects what was hit in the scene once more.
  void AddPolygons(std::span<const CastHit> hits) {
    // Under ALL_PASSAGES one call adds every passage of a polygon, the hits of which are apart.
    absl::flat_hash_set<uint64_t> added;
    for (size_t k = 0; k < hits.size() && meter_.Spend(1); ++k) {
      const uint64_t id = hits[k].polygon_id;
      if (options_.mode == CastMode::kAllPassages && !added.insert(id).second) continue;
      const Polygon* const polygon = casts_.world.scene.index().Find(id);
      scratch_->cast.AddWithoutIndex(*polygon, scratch_->finder);
    }
  }

  // What the scene answered of the lines that are not written yet, up to line `end`, unchanged.
  bool CopyUpTo(size_t end) {
    const CastAnswers& scene = scratch_->scene;
    size_t rows = 0;
    for (; next_ < end; ++next_) {
      out_.counts[next_] = scene.counts[next_];
      if (options_.mode != CastMode::kAny) rows += scene.counts[next_];
    }
    const auto first = static_cast<std::ptrdiff_t>(next_row_);
    const auto last = first + static_cast<std::ptrdiff_t>(rows);
    out_.hits.insert(out_.hits.end(), scene.hits.begin() + first, scene.hits.begin() + last);
    if (options_.reflect) {
      out_.reflections.insert(out_.reflections.end(), scene.reflections.begin() + first,
                              scene.reflections.begin() + last);
    }
    for (; NextTruncated() < end; ++next_truncated_) out_.truncated.push_back(NextTruncated());
    next_row_ += rows;
    return meter_.Spend(rows);
  }

  // The first line with too many hits in the scene that is not written yet; they ascend.
  uint32_t NextTruncated() const {
    const std::vector<uint32_t>& truncated = scratch_->scene.truncated;
    return next_truncated_ < truncated.size() ? truncated[next_truncated_]
                                              : std::numeric_limits<uint32_t>::max();
  }

  // The rows of the scene are counted already.
  bool WriteLine(size_t i, size_t rows) {
    LineCast& cast = scratch_->cast;
    const size_t count = cast.Finish();
    if (meter_.stopped()) return false;
    out_.counts[i] = static_cast<uint32_t>(count);
    if (options_.mode == CastMode::kAny) return true;
    const bool was_truncated = NextTruncated() == i;
    next_truncated_ += was_truncated ? 1 : 0;
    if (cast.is_truncated() || was_truncated) out_.truncated.push_back(static_cast<uint32_t>(i));
    if (count > rows && !meter_.SpendRows(count - rows)) return false;
    for (size_t rank = 0; rank < count && meter_.Spend(4); ++rank) {
      Vec2 reflection;
      cast.Measure(rank, out_.hits.emplace_back(), reflection);
      if (options_.reflect) out_.reflections.push_back(reflection);
    }
    cast.Trim();
    return !meter_.stopped();
  }

  const WorldCasts& casts_;
  CastOptions options_;
  CastAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<Scratch> scratch_;
  // Of the scene's answers, what is not written yet.
  size_t next_ = 0;
  size_t next_row_ = 0;
  size_t next_truncated_ = 0;
};

}  // namespace

bool CastInWorld(const WorldCasts& casts, CastAnswers& out, WorkMeter& meter) {
  return WorldCaster(casts, out, meter).Run();
}

}  // namespace carom::internal
