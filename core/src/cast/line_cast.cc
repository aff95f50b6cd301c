// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/line_cast.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cast/hit_measures.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// The bounding box of `polygon` as a solid polygon of edges bottom, right, top and left.
Polygon BoxOf(const Polygon& polygon) {
  const auto& [min, max] = polygon.bounds();
  // The closing duplicate keeps the fourth edge where the box has no height.
  RingSpec ring{{min, {max.x, min.y}, max, {min.x, max.y}, min}};
  return *Polygon::Create({polygon.id(), {std::move(ring)}});
}

}  // namespace

// Keeps what the inside policy reports of the passages of one polygon.
inline bool LineCast::AddPassages(const Polygon& polygon, std::span<const Passage> passages) {
  if (passages.empty()) return false;
  const auto [first, at_exit] =
      ApplyInsidePolicy(options_->inside_policy, passages[0].begin.is_start());
  if (first == passages.size()) return false;
  const bool is_narrower = Keep(polygon, passages[first], at_exit);
  if (options_->mode != CastMode::kAllPassages) return is_narrower;
  for (const Passage& passage : passages.subspan(first + 1)) {
    if (meter_->stopped()) break;
    Keep(polygon, passage, false);
  }
  return false;
}

// Returns whether the reach became smaller. Lines of which all hits are wanted keep theirs: they
// are followed in one go.
bool LineCast::Keep(const Polygon& polygon, const Passage& passage, bool at_exit) {
  if (!hits_.Add({&polygon, passage, at_exit}, ByFraction(), *meter_)) return false;
  return options_->mode == CastMode::kClosest && Narrow(hits_.last().fraction());
}

// Narrows the reach to t <= best. Returns whether it did.
bool LineCast::Narrow(const Fraction& best) {
  const double t = best.high();
  if (t >= line_.t_max) return false;
  reach_ = line_.BoundsUpTo(t);
  end_ = t;
  return true;
}

// The box of the polygon is tested first, then the plain case (plain_passage.h), which settles most
// polygons without sorting anything; what it cannot decide goes to `finder`.
bool LineCast::Add(const IndexedPolygon& indexed, PassageFinder& finder) {
  const Polygon& polygon = indexed.polygon();
  if ((polygon.category() & options_->mask) == 0) return false;
  if (!reach_.Intersects(polygon.bounds())) return false;
  if (options_->target == CastTarget::kBounds) {
    finder.Start(line_);
    const IndexedPolygon box(BoxOf(polygon), IndexUse::kOneQuery);
    return AddPassages(polygon, finder.Find(box, *meter_));
  }
  PlainPassage plain;
  meter_->Spend(std::min(polygon.vertex_count(), kMaxPlainEdges));
  switch (FindPlainPassage(line_, polygon, plain)) {
    case PlainVerdict::kNoPassage:
      return false;
    case PlainVerdict::kPassage: {
      const bool comes_in = plain.entry != kNoEdge;
      if (comes_in && plain.begin.low > end_) return false;  // behind the best one
      const Passage passage = PassageOf(line_, polygon, plain);
      return AddPassages(polygon, {&passage, 1});
    }
    case PlainVerdict::kUncertain:
      break;
  }
  finder.Start(line_);
  return AddPassages(polygon, finder.FindSeveral(indexed, *meter_));
}

size_t LineCast::Finish() { return hits_.Finish(ByFraction(), *meter_); }

void LineCast::Measure(size_t rank, CastHit& hit, Vec2& reflection) const {
  const Candidate& candidate = hits_.hits()[rank];
  std::optional<Polygon> box;
  if (options_->target == CastTarget::kBounds) box = BoxOf(*candidate.polygon);
  const Polygon& polygon = box ? *box : *candidate.polygon;
  MeasureHit(line_, polygon, candidate.passage, {candidate.at_exit, options_->detail}, hit);
  if (options_->reflect && hit.normal != Vec2{}) {
    reflection = Reflected(line_, polygon.edge(candidate.reported().index));
  }
}

}  // namespace carom::internal
