// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Every statement of an explanation agrees with the answer, with the oracle of signs, and with the
// scene; of every kind of question, on scenes in which everything coincides.

#include "carom/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "carom/group_kinds.h"
#include "carom/status.h"
#include "explain/question.h"
#include "numeric/exact.h"
#include "tests/support/exact.h"
#include "tests/support/group_case.h"
#include "tests/support/repeats.h"

namespace carom::testing::explain_test {
namespace {

// The polygon 10 has the category 4, others 1.
Polygon BoxPolygon(uint64_t id, double x, double y, double width, double height) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings.push_back({{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}, false});
  spec.category = id == 10 ? 4 : 1;
  return Polygon::Create(std::move(spec)).value();
}

Scene::Ptr SceneOf(std::vector<Polygon> polygons) {
  return Scene::Create(std::move(polygons)).value();
}

Explanation ExplainOne(const Scene& scene, const Group& group, const ExplainOptions& options = {}) {
  WorkMeter meter;
  absl::StatusOr<Explanation> explanation = Explain(scene, group, options, meter);
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  return explanation.ok() ? *std::move(explanation) : Explanation();
}

std::span<const double> One(const double& value) { return {&value, 1}; }

Group SegmentGroup(const carom::Segment& s) {
  Group group;
  group.segments = {One(s.a.x), One(s.a.y), One(s.b.x), One(s.b.y), {}};
  return group;
}

const ExplainedCandidate* Find(const ExplainedStage& stage, uint64_t id, bool is_body = false) {
  for (const ExplainedCandidate& candidate : stage.candidates) {
    if (candidate.id == id && candidate.is_body == is_body) return &candidate;
  }
  return nullptr;
}

// --- Signs

// Returns the sign of a predicate as rational arithmetic gives it.
std::optional<int> ExactSign(const ExplainedSign& told) {
  const auto point = [&](size_t i) {
    return Exact(Xy{told.operands[2 * i], told.operands[2 * i + 1]});
  };
  if (absl::StartsWith(told.predicate, "Orientation")) {
    return Sign(Cross(point(1) - point(0), point(2) - point(0)));
  }
  if (absl::StartsWith(told.predicate, "Turn") || absl::StartsWith(told.predicate, "Side")) {
    return Sign(Cross(point(0), point(2) - point(1)));
  }
  return std::nullopt;
}

// Whether the filter decides this orientation or turn.
bool FilterDecides(const ExplainedSign& told) {
  const auto point = [&](size_t i) { return Vec2{told.operands[2 * i], told.operands[2 * i + 1]}; };
  if (absl::StartsWith(told.predicate, "Orientation")) {
    return internal::RoundedCross(point(2), point(0), point(2), point(1)).is_certain();
  }
  return internal::RoundedCross({}, point(0), point(1), point(2)).is_certain();
}

void CheckSigns(const ExplainedStage& stage) {
  for (const ExplainedCandidate& candidate : stage.candidates) {
    for (const ExplainedEdge& edge : candidate.edges) {
      for (const ExplainedSign& told : edge.signs) {
        const std::optional<int> exact = ExactSign(told);
        if (!exact) continue;
        EXPECT_EQ(told.sign, *exact) << told.predicate;
        EXPECT_EQ(told.by_filter, FilterDecides(told) && internal::kHasFilters) << told.predicate;
      }
    }
  }
}

// --- Stages

// The ids of the answer to each stage, where the answer of the kind has them.
void Expect(const CastAnswers& answers, const Explanation& e) {
  if (answers.counts[0] != 0 && answers.hits.empty()) {
    EXPECT_FALSE(e.stages[0].kept.empty());
    return;
  }
  std::vector<uint64_t> ids;
  for (const CastHit& hit : answers.hits) ids.push_back(hit.polygon_id);
  EXPECT_EQ(e.stages[0].kept, ids);
}
void Expect(const ArcAnswers& answers, const Explanation& e) {
  if (answers.counts[0] != 0 && answers.hits.empty()) return;
  std::vector<uint64_t> ids;
  for (const ArcHit& hit : answers.hits) ids.push_back(hit.polygon_id);
  EXPECT_EQ(e.stages[0].kept, ids);
}
void Expect(const SweepAnswers& answers, const Explanation& e) {
  if (answers.counts[0] != 0 && answers.hits.empty()) return;
  std::vector<uint64_t> ids;
  for (const SweepHit& hit : answers.hits) ids.push_back(hit.polygon_id);
  EXPECT_EQ(e.stages[0].kept, ids);
}
void Expect(const RotatingSweepAnswers& answers, const Explanation& e) {
  EXPECT_EQ(e.stages[0].kept.size(), answers.counts[0]);
  if (answers.counts[0] == 0) return;
  EXPECT_EQ(e.stages[0].kept.at(0), answers.hits[0].polygon_id);
}
template <class Answers>
requires requires(const Answers& answers) { answers.polygon_ids; }
void Expect(const Answers& answers, const Explanation& e) {
  EXPECT_EQ(e.stages[0].kept, answers.polygon_ids);
}
void Expect(const DepenetrateAnswers& answers, const Explanation& e) {
  ASSERT_EQ(e.stages.size(), 2u);
  EXPECT_EQ(e.stages[1].kept.empty(), answers.finished[0] != 0);
}
void Expect(const SightAnswers& answers, const Explanation& e) {
  EXPECT_EQ(e.stages[0].kept.empty(), answers.visible[0] != 0);
}
void Expect(const FanAnswers& answers, const Explanation& e) {
  ASSERT_EQ(e.stages.size() + e.unlisted_stages, answers.hits.size());
  for (size_t k = 0; k < e.stages.size(); ++k) {
    ASSERT_EQ(e.stages[k].kept.size(), answers.hits[k]) << "beam " << k;
    if (answers.hits[k] == 0) continue;
    EXPECT_EQ(e.stages[k].kept[0], answers.polygon_ids[k]);
  }
}
template <class Legs>
void ExpectLegs(const Legs& legs, const Explanation& e) {
  ASSERT_EQ(e.stages.size(), legs.size());
  for (size_t k = 0; k < legs.size(); ++k) {
    ASSERT_EQ(e.stages[k].kept.empty(), !legs[k].has_hit) << "leg " << k;
    if (!legs[k].has_hit) continue;
    EXPECT_EQ(e.stages[k].kept[0], legs[k].hit.polygon_id);
  }
}
void Expect(const BounceAnswers& answers, const Explanation& e) { ExpectLegs(answers.legs, e); }
void Expect(const RayBounceAnswers& answers, const Explanation& e) { ExpectLegs(answers.legs, e); }
// A stage is the cast along the middle of an edge piece, about, which that edge may miss by a
// rounding.
void Expect(const AreaAnswers& answers, const Explanation& e) {
  size_t edges = 0;
  for (const AreaPiece& piece : answers.pieces) edges += piece.kind == AreaPieceKind::kEdge;
  EXPECT_LE(e.stages.size() + e.unlisted_stages, edges);
}
// The stages are lines of sight to all bodies, seen or not.
void Expect(const SeeAnswers& answers, const Explanation& e) {
  EXPECT_LE(answers.counts[0], e.stages.size() + e.unlisted_stages);
}
void Expect(const SlideAnswers& answers, const Explanation& e) { ExpectLegs(answers.legs, e); }
void Expect(const MoveAnswers& answers, const Explanation& e) {
  EXPECT_EQ(e.stages.back().kept, answers.polygon_ids);
  if (answers.first_touches.empty() || !answers.first_touches[0].touches) return;
  ASSERT_EQ(e.stages.size(), 2u);
  ASSERT_EQ(e.stages[0].kept.size(), 1u);
  EXPECT_EQ(e.stages[0].kept[0], answers.first_touches[0].polygon_id);
}

// The candidates are those in the box, in order; those kept are those of the answer.
void CheckStage(const Scene& scene, const ExplainedStage& stage, bool considers_scene) {
  CheckSigns(stage);
  EXPECT_EQ(stage.unlisted, 0u);
  std::set<uint64_t> kept;
  std::vector<std::pair<bool, uint64_t>> order;
  size_t polygons = 0;
  for (const ExplainedCandidate& candidate : stage.candidates) {
    order.emplace_back(candidate.is_body, candidate.id);
    EXPECT_TRUE(candidate.bounds.Intersects(stage.reach));
    if (candidate.fate == CandidateFate::kKept) kept.insert(candidate.id);
    polygons += candidate.is_body ? 0 : 1;
  }
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(kept, std::set<uint64_t>(stage.kept.begin(), stage.kept.end()));
  size_t near = 0;
  for (size_t i = 0; i < scene.polygon_count(); ++i) {
    near += scene.polygon(i).bounds().Intersects(stage.reach) ? 1 : 0;
  }
  EXPECT_EQ(polygons, considers_scene ? near : 0);
  if (considers_scene) {
    EXPECT_GE(polygons + stage.beyond_reach, scene.polygon_count());
  }
  if (stage.decision) {
    EXPECT_LE(stage.decision->first_key, stage.decision->second_key);
    EXPECT_EQ(stage.decision->first_id, stage.kept[0]);
  }
}

template <class Kind>
void CheckKind(const GroupCase& made, const Kind& kind) {
  if ((made.group.*kind.columns).size() != 1) return;
  SCOPED_TRACE(kind.name);
  Group group;
  group.bodies = made.group.bodies;
  group.*kind.columns = made.group.*kind.columns;
  group.*kind.options = made.group.*kind.options;
  WorkMeter meter;
  GroupAnswers answers;
  const absl::Status status = EvaluateGroup(*made.scene, group, answers, meter);
  const absl::StatusOr<Explanation> e = Explain(*made.scene, group, {1000, 256}, meter);
  ASSERT_EQ(e.status().code(), status.code()) << e.status();
  if (!status.ok()) return;
  EXPECT_EQ(e->kind, kind.name);
  EXPECT_TRUE(absl::StrContains(e->text, kind.name));
  const auto& errors = (answers.*kind.answers).errors;
  ASSERT_EQ(e->error.has_value(), !errors.empty());
  if (e->error) {
    EXPECT_EQ(*e->error, errors[0]);
    EXPECT_TRUE(e->stages.empty());
    return;
  }
  EXPECT_TRUE(absl::StartsWith(e->svg, "<svg")) << e->svg;
  Expect(answers.*kind.answers, *e);
  bool considers_scene = true;
  const auto& columns = group.*kind.columns;
  if constexpr (HasScope<std::remove_cvref_t<decltype(columns)>>) {
    considers_scene = !kAsksBodies<Kind> || ScopeOf(columns).against != Against::kBodies;
  }
  if (group.body_contacts.size() != 0) considers_scene = false;
  for (const ExplainedStage& stage : e->stages) CheckStage(*made.scene, stage, considers_scene);
}

TEST(ExplainTest, EveryKindAgreesWithItsAnswer) {
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Repeats(400, 20000)); ++seed) {
    Choices choices(seed);
    const std::unique_ptr<GroupCase> made = MakeGroupCase(choices, 1, BadNumbers::kSome);
    if (seed % 2 == 1) AddBodies(choices, *made);
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ForEachKind([&](const auto& kind) { CheckKind(*made, kind); });
    if (::testing::Test::HasFailure()) {
      FAIL() << made->ToCode();
    }
  }
}

// --- Fates

TEST(ExplainTest, NamesTheFirstHitAndTheLaterOne) {
  const Scene::Ptr scene = SceneOf({BoxPolygon(7, 0, 0, 4, 3), BoxPolygon(8, 5, 0, 1, 3),
                                    BoxPolygon(9, 0, 9, 1, 1), BoxPolygon(10, 1, -1, 1, 9)});
  const carom::Segment bullet{{-2, 1}, {6, 1}};
  Group group = SegmentGroup(bullet);
  group.cast_options.mask = 3;
  const Explanation e = ExplainOne(*scene, group);
  ASSERT_EQ(e.stages.size(), 1u);
  const ExplainedStage& stage = e.stages[0];
  EXPECT_EQ(stage.kept, std::vector<uint64_t>{7});
  EXPECT_EQ(stage.beyond_reach, 1u);
  ASSERT_NE(Find(stage, 7), nullptr);
  EXPECT_EQ(Find(stage, 7)->fate, CandidateFate::kKept);
  EXPECT_EQ(Find(stage, 7)->key, 0.25);
  EXPECT_EQ(Find(stage, 7)->edge, (EdgeRef{0, 3}));
  EXPECT_EQ(Find(stage, 7)->exact_products, 0u);
  EXPECT_EQ(Find(stage, 8)->fate, CandidateFate::kLater);
  EXPECT_EQ(Find(stage, 8)->key, 0.875);
  EXPECT_EQ(Find(stage, 10)->fate, CandidateFate::kMask);
  ASSERT_TRUE(stage.decision.has_value());
  EXPECT_EQ(stage.decision->second_id, 8u);
  EXPECT_TRUE(absl::StrContains(e.text, "decisive: fraction 0.25 < 0.875")) << e.text;
  EXPECT_EQ(stage.point, (Vec2{0, 1}));
  EXPECT_EQ(stage.normal, (Vec2{-1, 0}));
}

TEST(ExplainTest, ComparesCrossingsOfEqualDoubles) {
  const Scene::Ptr scene = SceneOf({BoxPolygon(1, 0, 0, 1, 1), BoxPolygon(2, 0, 0, 2, 2)});
  const carom::Segment bullet{{-1, 0.5}, {3, 0.5}};
  const Explanation e = ExplainOne(*scene, SegmentGroup(bullet));
  ASSERT_TRUE(e.stages[0].decision.has_value());
  ASSERT_TRUE(e.stages[0].decision->sign.has_value());
  EXPECT_EQ(e.stages[0].decision->sign->sign, 0);
  EXPECT_FALSE(e.stages[0].decision->sign->by_filter);
}

TEST(ExplainTest, TellsWhichFilterCouldNotDecide) {
  // The segment passes exactly through a corner of the box.
  const Scene::Ptr scene = SceneOf({BoxPolygon(1, 0.1, 0.1, 1, 1)});
  const carom::Segment through{{-0.3, -0.3}, {0.7, 0.7}};
  const Explanation e = ExplainOne(*scene, SegmentGroup(through));
  const ExplainedCandidate& candidate = e.stages[0].candidates.at(0);
  EXPECT_EQ(candidate.fate, CandidateFate::kKept);
  EXPECT_GT(candidate.exact_products, 0u);
  const auto is_exact = [](const ExplainedEdge& edge) {
    return std::ranges::any_of(edge.signs, [](const ExplainedSign& s) { return !s.by_filter; });
  };
  EXPECT_TRUE(std::ranges::any_of(candidate.edges, is_exact));
  EXPECT_TRUE(absl::StrContains(e.text, "the filter could not decide")) << e.text;
  const carom::Segment clear{{-0.3, 0.5}, {0.7, 0.5}};
  const Explanation plain = ExplainOne(*scene, SegmentGroup(clear));
  EXPECT_FALSE(absl::StrContains(plain.text, "could not decide")) << plain.text;
}

TEST(ExplainTest, TellsBoxApartPolicyLimitAndOwner) {
  const Scene::Ptr scene =
      SceneOf({BoxPolygon(1, 0, 0, 1, 1), BoxPolygon(2, 4, 4, 1, 1), BoxPolygon(3, 0, 4, 1, 1)});
  const carom::Segment diagonal{{0.5, 0.5}, {8, 8.25}};
  Group group = SegmentGroup(diagonal);
  group.cast_options.inside_policy = InsidePolicy::kIgnore;
  const Explanation e = ExplainOne(*scene, group);
  EXPECT_EQ(Find(e.stages[0], 1)->fate, CandidateFate::kPolicy);
  EXPECT_EQ(Find(e.stages[0], 2)->fate, CandidateFate::kKept);
  EXPECT_EQ(Find(e.stages[0], 3)->fate, CandidateFate::kBox);
  group.cast_options = {.mode = CastMode::kAll, .max_hits = 1};
  const Explanation limited = ExplainOne(*scene, group);
  EXPECT_EQ(Find(limited.stages[0], 2)->fate, CandidateFate::kLimit);

  const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  const double x = 3, y = 3;
  const uint32_t owner = 5;
  group.cast_options = {};
  group.bodies.placed = {shapes, {}, One(x), One(y), {}, {}, {}, {}};
  group.bodies.owner = {&owner, 1};
  group.segments.scope = {Against::kBodies, {}, {&owner, 1}};
  const Explanation bodies = ExplainOne(*scene, group);
  ASSERT_NE(Find(bodies.stages[0], 0, true), nullptr);
  EXPECT_EQ(Find(bodies.stages[0], 0, true)->fate, CandidateFate::kOwner);
}

TEST(ExplainTest, TellsApartFarHollowAndTouchOnly) {
  PolygonSpec hollow;
  hollow.id = 2;
  hollow.solidity = Solidity::kBoundary;
  hollow.rings.push_back({{{0, 0}, {2, 2}}, true});
  const Scene::Ptr scene = SceneOf({BoxPolygon(1, 2, 0, 1, 1), Polygon::Create(hollow).value(),
                                    BoxPolygon(3, 0, 4, 1, 1), BoxPolygon(4, 2.25, 4.25, 1, 1)});
  const Shape disc = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
  const double x = 1, y = 0.5, none = 0, far = 0.5, down = -2;
  const auto place = [&](ShapeColumns& movers) {
    movers.shapes = {&disc, 1};
    movers.x = One(x);
    movers.y = One(y);
  };
  Group contacts;
  place(contacts.contacts.movers);
  const Explanation touching = ExplainOne(*scene, contacts);
  EXPECT_EQ(Find(touching.stages[0], 1)->fate, CandidateFate::kKept);
  EXPECT_EQ(Find(touching.stages[0], 1)->key, 0.0);
  EXPECT_EQ(Find(touching.stages[0], 2)->fate, CandidateFate::kHollow);
  Group distances;
  place(distances.distances.movers);
  distances.distances.max_distance = One(far);
  distances.distance_options.mode = DistanceMode::kAll;
  const double high = 3;
  distances.distances.movers.y = One(high);
  const Explanation apart = ExplainOne(*scene, distances);
  EXPECT_EQ(Find(apart.stages[0], 3)->fate, CandidateFate::kKept);
  EXPECT_EQ(Find(apart.stages[0], 2)->fate, CandidateFate::kKept);
  // Within the box around all that is at most 0.5 from the disc, but in its corner.
  ASSERT_NE(Find(apart.stages[0], 4), nullptr);
  EXPECT_EQ(Find(apart.stages[0], 4)->fate, CandidateFate::kFar);
  EXPECT_TRUE(absl::StrContains(apart.text, "polygon 4: dropped by far")) << apart.text;
  Group sweeps;
  place(sweeps.sweeps.movers);
  sweeps.sweeps.dx = One(none);
  sweeps.sweeps.dy = One(down);
  sweeps.sweep_options.inside_policy = InsidePolicy::kBlocking;
  const Explanation blocking = ExplainOne(*scene, sweeps);
  EXPECT_EQ(Find(blocking.stages[0], 1)->fate, CandidateFate::kTouchOnly);
}

// --- Trackers

TEST(ExplainTest, TellsWhyAMoveIsQuiet) {
  const Scene::Ptr scene = SceneOf({BoxPolygon(1, 10, 0, 1, 1)});
  Tracker tracker = Tracker::Create(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()).value();
  const double x[] = {0, 0.5, 9}, y[] = {0, 0, 0.5};
  const auto moves = [&](size_t count) {
    Group group;
    group.moves.trackers = {&tracker, 1};
    static constexpr uint32_t kFirst[] = {0, 0, 0};
    group.moves.tracker = std::span(kFirst).first(count);
    group.moves.x = std::span(x).first(count);
    group.moves.y = std::span(y).first(count);
    return group;
  };
  const Explanation first = ExplainOne(*scene, moves(1));
  ASSERT_TRUE(first.memory.has_value());
  EXPECT_NE(first.memory->tier, MoveTier::kQuiet);
  EXPECT_LT(first.memory->ball_radius2, 0);
  EXPECT_GT(first.memory->quiet_radius, 0.5);
  const Explanation quiet = ExplainOne(*scene, moves(2));
  EXPECT_EQ(quiet.memory->tier, MoveTier::kQuiet);
  EXPECT_EQ(quiet.memory->distance2, 0.25);
  EXPECT_LT(quiet.memory->distance2, quiet.memory->ball_radius2);
  EXPECT_TRUE(quiet.memory->same_scene);
  EXPECT_EQ(quiet.answer, "clear");
  EXPECT_TRUE(absl::StrContains(quiet.text, "quiet: squared distance")) << quiet.text;
  const Explanation loud = ExplainOne(*scene, moves(3));
  EXPECT_NE(loud.memory->tier, MoveTier::kQuiet);
  EXPECT_GE(loud.memory->distance2, loud.memory->ball_radius2);
  EXPECT_EQ(loud.stages.back().kept, std::vector<uint64_t>{1});
  // The trackers of the caller learn nothing.
  EXPECT_EQ(tracker.memory_bytes(), Tracker(tracker).memory_bytes());
}

// --- Limits and errors

TEST(ExplainTest, ListsTheAnswerFirstWhereCandidatesAreLimited) {
  std::vector<Polygon> polygons;
  for (uint64_t i = 0; i < 50; ++i) {
    polygons.push_back(BoxPolygon(100 + i, 100 - 2 * static_cast<double>(i), 0, 1, 1));
  }
  const Scene::Ptr scene = SceneOf(std::move(polygons));
  const carom::Segment bullet{{-1, 0.5}, {200, 0.5}};
  const Explanation e = ExplainOne(*scene, SegmentGroup(bullet), {.max_candidates = 3});
  EXPECT_EQ(e.stages[0].candidates.size(), 3u);
  EXPECT_EQ(e.stages[0].unlisted, 47u);
  EXPECT_EQ(e.stages[0].kept, std::vector<uint64_t>{149});
  EXPECT_EQ(Find(e.stages[0], 149)->fate, CandidateFate::kKept);
}

TEST(ExplainTest, RefusesOtherGroups) {
  const Scene::Ptr scene = SceneOf({BoxPolygon(1, 0, 0, 1, 1)});
  WorkMeter meter;
  const auto field_of = [&](const Group& group) {
    const absl::Status status = Explain(*scene, group, {}, meter).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    const std::vector<Violation> violations = Violations(status);
    return violations.empty() ? "" : violations[0].field;
  };
  EXPECT_EQ(field_of({}), "group");
  const double x[] = {0, 1}, y[] = {0, 1};
  Group two;
  two.points = {x, y, {}};
  EXPECT_EQ(field_of(two), "group");
  Group unequal;
  unequal.points = {x, One(y[0]), {}};
  EXPECT_EQ(field_of(unequal), "points.y");
  Tracker trackers[2];
  Group moves;
  moves.moves.trackers = trackers;
  moves.moves.x = x;
  moves.moves.y = y;
  EXPECT_EQ(field_of(moves), "moves.tracker");
}

TEST(ExplainTest, StopsWithItsMeter) {
  const Scene::Ptr scene = SceneOf({BoxPolygon(1, 0, 0, 1, 1)});
  const carom::Segment bullet{{-1, 0.5}, {2, 0.5}};
  const Group group = SegmentGroup(bullet);
  WorkMeter all;
  ASSERT_TRUE(Explain(*scene, group, {}, all).ok());
  for (uint64_t units = 0; units + WorkMeter::kInterval < all.used(); units += 7) {
    WorkMeter meter;
    meter.set_max_units(units);
    const absl::StatusOr<Explanation> e = Explain(*scene, group, {}, meter);
    EXPECT_EQ(e.status().code(), absl::StatusCode::kDeadlineExceeded) << units;
  }
  WorkMeter stopped([] { return true; });
  EXPECT_EQ(Explain(*scene, group, {}, stopped).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace carom::testing::explain_test
