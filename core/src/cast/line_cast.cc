// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "cast/line_cast.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cast/hit_measures.h"
#include "cast/round_passage.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// A box as a solid polygon of edges bottom, right, top and left.
Polygon PolygonOf(const Box& box, uint64_t id) {
  const auto& [min, max] = box;
  // The closing duplicate keeps the fourth edge where the box has no height.
  RingSpec ring{{min, {max.x, min.y}, max, {min.x, max.y}, min}};
  return *Polygon::Create({id, {std::move(ring)}});
}

// That of a body. A round one may stand out of the accepted range, where no polygon can: what
// stands out is cut off, which no segment reaches.
Polygon BoxOf(const Body& body) {
  const auto cut = [](Vec2 p) {
    return Vec2{std::clamp(p.x, -kMaxCoordinate, kMaxCoordinate),
                std::clamp(p.y, -kMaxCoordinate, kMaxCoordinate)};
  };
  return PolygonOf({cut(body.bounds().min), cut(body.bounds().max)}, 0);
}

// The passage of a line in a round body, without edges.
Passage PassageOfRound(const Line& line, const RoundPassage& round) {
  Passage passage;
  passage.begin = round.starts_inside ? Fraction::Start(line) : Fraction::OfValue(round.begin);
  passage.end = line.is_point()     ? Fraction::Start(line)
                : round.ends_inside ? Fraction::End(line)
                                    : Fraction::OfValue(round.end);
  return passage;
}

}  // namespace

// Keeps what the inside policy reports of the passages of one polygon.
inline bool LineCast::AddPassages(const Target& target, std::span<const Passage> passages) {
  if (passages.empty()) return false;
  const auto [first, at_exit] =
      ApplyInsidePolicy(options_->inside_policy, passages[0].begin.is_start());
  if (first >= passages.size()) return false;
  const bool is_narrower = Keep(target, passages[first], at_exit);
  if (options_->mode != CastMode::kAllPassages) return is_narrower;
  for (const Passage& passage : passages.subspan(first + 1)) {
    if (meter_->stopped()) break;
    Keep(target, passage, false);
  }
  return false;
}

// Returns whether the reach became smaller. Lines of which all hits are wanted keep theirs: they
// are followed in one go.
bool LineCast::Keep(const Target& target, const Passage& passage, bool at_exit) {
  if (!hits_.Add({target, passage, at_exit}, ByFraction(), *meter_)) return false;
  return options_->mode == CastMode::kClosest && Narrow(hits_.last().fraction());
}

// Narrows the reach to t <= best. Returns whether it did.
bool LineCast::Narrow(const Fraction& best) {
  const double t = best.high();
  if (t >= end_) return false;
  EndAt(t);
  return true;
}

void LineCast::EndAt(double t) {
  reach_ = line_.BoundsUpTo(t);
  end_ = t;
}

bool LineCast::Add(const IndexedPolygon& indexed, PassageFinder& finder) {
  const Polygon& polygon = indexed.polygon();
  if ((polygon.category() & options_->mask) == 0) return false;
  return AddPolygon(indexed, {&polygon, nullptr}, finder);
}

// For a polygon that was found by its id: it is looked at once, so an index would not pay.
bool LineCast::AddWithoutIndex(const Polygon& polygon, PassageFinder& finder) {
  return AddPolygon(IndexedPolygon(polygon, IndexUse::kFewLookups), {&polygon, nullptr}, finder);
}

// Boxes and polygons take the path that those of the scene take; a round body is one interval.
bool LineCast::AddBody(Body& body, PassageFinder& finder) {
  if (!reach_.Intersects(body.bounds())) return false;
  if (options_->target == CastTarget::kBounds) {
    const Polygon box = BoxOf(body);
    finder.Start(line_);
    return AddPassages({nullptr, &body},
                       finder.Find(IndexedPolygon(box, IndexUse::kOneQuery), *meter_));
  }
  if (!body.is_round()) return AddPolygon(body.core(), {nullptr, &body}, finder);
  meter_->Spend(8);
  const std::optional<RoundPassage> round = FindRoundPassage(line_, body.capsule());
  if (!round) return false;
  const Passage passage = PassageOfRound(line_, *round);
  return AddPassages({nullptr, &body}, {&passage, 1});
}

// The box of the polygon is tested first, then the plain case (plain_passage.h), which settles most
// polygons without sorting anything; what it cannot decide goes to `finder`.
inline bool LineCast::AddPolygon(const IndexedPolygon& indexed, const Target& target,
                                 PassageFinder& finder) {
  const Polygon& polygon = indexed.polygon();
  if (!reach_.Intersects(polygon.bounds())) return false;
  if (options_->target == CastTarget::kBounds) {
    finder.Start(line_);
    const IndexedPolygon box(PolygonOf(polygon.bounds(), polygon.id()), IndexUse::kOneQuery);
    return AddPassages(target, finder.Find(box, *meter_));
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
      return AddPassages(target, {&passage, 1});
    }
    case PlainVerdict::kUncertain:
      break;
  }
  finder.Start(line_);
  return AddPassages(target, finder.FindSeveral(indexed, *meter_));
}

size_t LineCast::Finish() { return hits_.Finish(ByFraction(), *meter_); }

void LineCast::Measure(size_t rank, CastHit& hit, Vec2& reflection) const {
  const Candidate& candidate = hits_.hits()[rank];
  if (candidate.target.body != nullptr) return MeasureBody(candidate, hit, reflection);
  MeasurePolygon(candidate, *candidate.target.polygon, hit, reflection);
}

void LineCast::MeasurePolygon(const Candidate& candidate, const Polygon& target, CastHit& hit,
                              Vec2& reflection) const {
  std::optional<Polygon> box;
  if (options_->target == CastTarget::kBounds) box = PolygonOf(target.bounds(), target.id());
  const Polygon& polygon = box ? *box : target;
  MeasureHit(line_, polygon, candidate.passage, {candidate.at_exit, options_->detail}, hit);
  if (options_->reflect && hit.normal != Vec2{}) {
    reflection = Reflected(line_, polygon.edge(candidate.reported().index));
  }
}

// The id that a polygon was made with means nothing here: the index is what names a body.
void LineCast::MeasureBody(const Candidate& candidate, CastHit& hit, Vec2& reflection) const {
  Body& body = *candidate.target.body;
  if (options_->target == CastTarget::kBounds) {
    MeasurePolygon(candidate, BoxOf(body), hit, reflection);
  } else if (!body.is_round()) {
    MeasurePolygon(candidate, body.core().polygon(), hit, reflection);
  } else {
    const Passage& passage = candidate.passage;
    const bool starts_inside = passage.begin.is_start();
    const bool ends_inside = passage.end.is_end() || line_.is_point();
    const RoundPassage round{passage.begin.low(), passage.end.low(), starts_inside, ends_inside};
    MeasureRoundHit(line_, body.capsule(), round, {candidate.at_exit, options_->detail}, hit);
    if (options_->reflect && hit.normal != Vec2{}) reflection = Reflected(line_, hit.normal);
  }
  hit.polygon_id = body.index();
  hit.is_body = true;
}

}  // namespace carom::internal
