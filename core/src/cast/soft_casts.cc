// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/soft_casts.h"

#include "base/thread_scratch.h"
#include "cast/line_cast.h"
#include "cast/passages.h"
#include "index/body_set.h"
#include "index/scene_traversal.h"

namespace carom::internal {
namespace {

// The working memory of `SoftCaster`, which the thread keeps from batch to batch while it is small.
struct SoftScratch {
  static constexpr size_t kMaxCachedPassages = 16384;

  bool IsWorthCaching() const { return finder.capacity() <= kMaxCachedPassages; }

  LineCast cast;
  PassageFinder finder;
};

// Casts the lines of a batch one after the other.
class SoftCaster {
 public:
  SoftCaster(const SoftCasts& casts, CastAnswers& out, WorkMeter& meter)
      : casts_(casts), options_(casts.options), out_(out), meter_(meter) {
    options_.mode = CastMode::kAllPassages;
    options_.max_hits = casts.options.soft_count;
    soft_.mask = casts.options.soft_mask;
    soft_.stops_early = casts.options.mode == CastMode::kAny;
  }

  bool Run() {
    out_.Clear();
    out_.counts.assign(casts_.count, 0);
    AddSoftColumns(casts_.options, out_);
    for (size_t i = 0; i < casts_.count; ++i) {
      if (!meter_.Spend(1)) return false;
      if (!casts_.line_of(i, scratch_->cast.line(), out_.errors)) continue;
      if (!Search(i) || !Write(i)) return false;
    }
    if (scratch_->IsWorthCaching()) scratch_.Return();
    return true;
  }

 private:
  // Finds the events of line i: the begins of the passages that end the line or that it passes.
  bool Search(size_t i) {
    LineCast& cast = scratch_->cast;
    PassageFinder& finder = scratch_->finder;
    const QueryFilter query_filter = QueryFilter::Of(casts_.scope, i, casts_.options.mask);
    options_.mask = query_filter.mask;
    cast.StartSoft(options_, soft_, meter_);
    finder.Start(cast.line());
    const auto meets = [&](const Box& box) {
      return cast.reach().Intersects(box) && finder.MayMeet(box);
    };
    const auto goes_on = [&] { return !soft_.is_decided && !meter_.stopped(); };
    if (query_filter.scene) {
      VisitPolygons(casts_.world.scene, query_filter.mask, meter_, meets,
                    [&](const IndexedPolygon& indexed) {
                      cast.Add(indexed, finder);
                      return goes_on();
                    });
    }
    if (!goes_on()) return !meter_.stopped();
    VisitBodies(casts_.world, query_filter, meter_, meets, [&](Body& body) {
      cast.AddBody(body, finder);
      return goes_on();
    });
    return !meter_.stopped();
  }

  // Writes the answer of line i.
  bool Write(size_t i) {
    LineCast& cast = scratch_->cast;
    const LineCast::SoftEnd end = cast.FinishSoft();
    if (meter_.stopped()) return false;
    out_.counts[i] = end.has_hit ? 1 : 0;
    if (casts_.options.mode == CastMode::kAny) return true;
    out_.passed[i] = static_cast<uint32_t>(end.rank);
    if (casts_.options.soft_length && meter_.Spend(8)) out_.soft_lengths[i] = cast.SoftLength(end);
    if (!end.has_hit) return true;
    if (!meter_.SpendRows(1) || !meter_.Spend(4)) return false;
    Vec2 reflection;
    cast.Measure(end.rank, out_.hits.emplace_back(), reflection);
    if (options_.reflect) out_.reflections.push_back(reflection);
    return true;
  }

  const SoftCasts& casts_;
  CastOptions options_;
  LineCast::Soft soft_;
  CastAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<SoftScratch> scratch_;
};

}  // namespace

bool CastSoft(const SoftCasts& casts, CastAnswers& out, WorkMeter& meter) {
  return SoftCaster(casts, out, meter).Run();
}

void AddSoftColumns(const CastOptions& options, CastAnswers& out) {
  if (options.mode != CastMode::kClosest) return;
  if (MentionsSoft(options)) out.passed.assign(out.counts.size(), 0);
  if (options.soft_length) out.soft_lengths.assign(out.counts.size(), 0);
}

}  // namespace carom::internal
