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

// Returns a box as a solid polygon with the edges bottom, right, top and left.
Polygon PolygonOf(const Box& box, uint64_t id) {
  const auto& [min, max] = box;
  // The duplicate of the first vertex keeps the fourth edge if the box has no height.
  RingSpec ring{{min, {max.x, min.y}, max, {min.x, max.y}, min}};
  return *Polygon::Create({id, {std::move(ring)}});
}

// Returns the bounding box of a body (a moving shape that was sent with the queries) as a polygon,
// clamped to the accepted coordinates (at most 2^53 in magnitude): a round body may extend beyond
// the accepted coordinates, but the vertices of a `Polygon` may not. Clamping loses no hit, because
// no segment reaches beyond the accepted coordinates.
Polygon BoxOf(const Body& body) {
  const auto cut = [](Vec2 p) {
    return Vec2{std::clamp(p.x, -kMaxCoordinate, kMaxCoordinate),
                std::clamp(p.y, -kMaxCoordinate, kMaxCoordinate)};
  };
  return PolygonOf({cut(body.bounds().min), cut(body.bounds().max)}, 0);
}

// Returns `round`, the interval of a line inside a round body (a disc or capsule), as a `Passage`.
// The `Passage` has no edges.
Passage PassageOfRound(const Line& line, const RoundPassage& round) {
  Passage passage;
  passage.begin = round.starts_inside ? Fraction::Start(line) : Fraction::OfValue(round.begin);
  passage.end = line.is_point()     ? Fraction::Start(line)
                : round.ends_inside ? Fraction::End(line)
                                    : Fraction::OfValue(round.end);
  return passage;
}

}  // namespace

// Adds the hits of `passages`, the intervals of the line inside one polygon or body (a moving shape
// that was sent with the queries). If the line starts inside, the inside policy decides which ends
// of passages are hits. Returns whether `reach()`, the bounds of the part of the line that is still
// searched, became smaller.
inline bool LineCast::AddPassages(const Target& target, std::span<const Passage> passages) {
  if (passages.empty()) return false;
  const auto [first, at_exit] =
      ApplyInsidePolicy(options_->inside_policy, passages[0].begin.is_start());
  if (first >= passages.size()) {
    if (soft_ != nullptr) NoteStart(target, passages[0]);
    return false;
  }
  const bool is_narrower = Keep(target, passages[first], at_exit);
  if (options_->mode != CastMode::kAllPassages) return is_narrower;
  if (soft_ != nullptr) return AddSoft(target, passages, {first, at_exit});
  for (const Passage& passage : passages.subspan(first + 1)) {
    if (meter_->stopped()) break;
    Keep(target, passage, false);
  }
  return false;
}

// Adds a hit of `passage` (an interval of the line inside the target): its end if `at_exit`, else
// its begin. Returns whether `reach()`, the bounds of the part of the line that is still searched,
// became smaller. In modes ALL and ALL_PASSAGES `reach()` stays, since all hits of the line are
// needed.
bool LineCast::Keep(const Target& target, const Passage& passage, bool at_exit) {
  if (!hits_.Add({target, passage, at_exit}, ByFraction(), *meter_)) return false;
  return options_->mode == CastMode::kClosest && Narrow(hits_.last().fraction());
}

// Limits the search to the part of the line with parameters t <= best.high(), an upper bound of
// `best`. Returns whether the searched part became smaller.
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

// Tests the polygon without building an index of its edges, which would not pay for one test.
bool LineCast::AddWithoutIndex(const Polygon& polygon, PassageFinder& finder) {
  return AddPolygon(IndexedPolygon(polygon, IndexUse::kFewLookups), {&polygon, nullptr}, finder);
}

// Adds the hits of the line with a body (a moving shape that was sent with the queries). Tests the
// body's bounding box for the target kBounds, else the body's polygon, as `AddPolygon` tests a
// polygon of the scene. A round body (a disc or capsule) is convex, so the line is inside the body
// in at most one interval.
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

// Tests the bounding box of the polygon first. Then tries `FindFastPassage`, whose floating-point
// filters decide most polygons. If the filters cannot decide, `finder` does, by exact arithmetic if
// necessary.
inline bool LineCast::AddPolygon(const IndexedPolygon& indexed, const Target& target,
                                 PassageFinder& finder) {
  const Polygon& polygon = indexed.polygon();
  if (!reach_.Intersects(polygon.bounds())) return false;
  if (options_->target == CastTarget::kBounds) {
    finder.Start(line_);
    const IndexedPolygon box(PolygonOf(polygon.bounds(), polygon.id()), IndexUse::kOneQuery);
    return AddPassages(target, finder.Find(box, *meter_));
  }
  FastPassage fast;
  meter_->Spend(std::min(polygon.vertex_count(), kMaxFastEdges));
  switch (FindFastPassage(line_, polygon, fast)) {
    case FastVerdict::kNoPassage:
      return false;
    case FastVerdict::kPassage: {
      const bool comes_in = fast.entry != kNoEdge;
      if (comes_in && fast.begin.low > end_) return false;  // certainly after the best hit
      const Passage passage = PassageOf(line_, polygon, fast);
      return AddPassages(target, {&passage, 1});
    }
    case FastVerdict::kUncertain:
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

// Computes the members of a hit of a body (a moving shape that was sent with the queries). Sets the
// id of the hit to the body's index, in place of the id of the polygon that the body consists of.
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
