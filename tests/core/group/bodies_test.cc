// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Laws of bodies:
//   1. a body without radius is answered as the polygon that it is would be in the scene;
//   2. a round body is met where a capsule that moves towards what it meets would meet it;
//   3. an owner that is passed over, and a mask, answer as if its bodies were not there;
//   4. the mask of an item answers as the mask of a batch.

#include "carom/bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/distance.h"
#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/predicates.h"
#include "carom/status.h"
#include "cast/round_passage.h"
#include "numeric/expansion.h"
#include "tests/core/random_scene.h"
#include "tests/support/answer_words.h"
#include "tests/support/body_case.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"
#include "tests/support/repeats.h"

namespace carom::testing::bodies_test {
namespace {

using internal::TwoDiff;
using internal::TwoDoubles;
using internal::TwoSum;

std::vector<Words> Evaluated(const Scene& scene, const Group& group, uint64_t offset) {
  GroupAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CheckGroup(group).ok());
  EXPECT_TRUE(EvaluateGroup(scene, group, answers, meter).ok());
  ForEachKind([&](const auto& kind) { ReadAsPolygons(offset, answers.*kind.answers); });
  answers.version = 0;
  return WordsOf(answers);
}

TEST(BodiesTest, Law1PolygonsAreHitAsBodiesAsTheyAreInTheScene) {
  for (int seed = 1; seed <= Repeats(400, 20000); ++seed) {
    Choices choices(static_cast<uint64_t>(seed));
    const auto made = MakeGroupCase(choices, 12, BadNumbers::kSome);
    const size_t in_scene = static_cast<size_t>(seed) % (made->specs.size() + 1);
    const BodySplit split(made->specs, in_scene);
    std::vector<PolygonSpec> specs = split.specs;
    Group group = made->group;
    DropKindsWithoutBodies(group);
    group.sees = {};  // which polygons are bodies is all that it is about
    const auto expected = Evaluated(*SceneOf(specs), group, 0);
    specs.resize(in_scene);
    group.bodies = split.columns();
    SetScope({.against = Against::kBoth}, group);
    const auto words = Evaluated(*SceneOf(specs), group, in_scene);
    for (size_t k = 0; k < words.size(); ++k) {
      EXPECT_EQ(words[k], expected[k])
          << "seed " << seed << ", " << expected[k].batch << ", " << in_scene << " in the scene\n"
          << made->ToCode();
    }
    if (HasFailure()) return;
  }
}

// One body, a disc or a capsule of a radius above 0, and a scene that is empty.
struct RoundBody {
  explicit RoundBody(const Capsule& its_capsule)
      : capsule(its_capsule),
        shape(Shape::Create(capsule).value()),
        bodies(Bodies::Create({{{&shape, 1}, {}, {&zero, 1}, {&zero, 1}}}).value()) {}

  std::string ToCode() const {
    const auto& [a, b] = capsule.axis;
    return absl::StrFormat("Capsule{{{%a, %a}, {%a, %a}}, %a}", a.x, a.y, b.x, b.y, capsule.radius);
  }

  static constexpr double zero = 0;
  Capsule capsule;
  Shape shape;
  Bodies bodies;
};

Capsule RandomRound(Random& random, const Grid& grid) {
  const Vec2 a = Normalized(grid.Point(random));
  const Vec2 b = random.Below(3) == 0 ? a : Normalized(grid.Point(random));
  double radius = 0;
  while (radius < 0x1p-100) radius = std::abs(grid.Coordinate(random)) / (1 + random.Below(3));
  return {{a, b}, radius};
}

const Scene& EmptyScene() {
  static const Scene::Ptr scene = Scene::Create({}).value();
  return *scene;
}

SweepAnswers SweepOne(const World& world, const Shape& shape, Vec2 d, InsidePolicy policy) {
  const double zero = 0;
  SweepColumns columns{{{&shape, 1}, {}, {&zero, 1}, {&zero, 1}}, {&d.x, 1}, {&d.y, 1}};
  if (world.bodies != nullptr) columns.movers.scope.against = Against::kBodies;
  SweepOptions options;
  options.inside_policy = policy;
  SweepAnswers out;
  WorkMeter meter;
  EXPECT_TRUE(SweepShapes(world, columns, options, out, meter));
  return out;
}

// A point that moves by d meets a capsule when the capsule, moved by -d, meets the point.
TEST(BodiesTest, Law2SegmentsMeetRoundBodiesAsTheseMeetPoints) {
  constexpr InsidePolicy kPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kIgnore};
  size_t hits = 0;
  for (int seed = 1; seed <= Repeats(20000, 1000000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::ldexp(1, random.Below(7) - 3), seed % 3 == 0 ? 30 : 0};
    const RoundBody body(RandomRound(random, grid));
    const Vec2 a = grid.Point(random);
    const Vec2 b = grid.Point(random);
    const Vec2 d{b.x - a.x, b.y - a.y};
    if (TwoDiff(b.x, a.x).low != 0 || TwoDiff(b.y, a.y).low != 0) continue;
    const InsidePolicy policy = kPolicies[random.Below(2)];
    SegmentColumns segments{{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}};
    segments.scope.against = Against::kBodies;
    CastOptions options;
    options.inside_policy = policy;
    CastAnswers out;
    WorkMeter meter;
    ASSERT_TRUE(CastSegments({EmptyScene(), &body.bodies}, segments, options, out, meter));
    const Scene::Ptr point = SceneOf({{0, {{{a}}}}});
    const auto expected = SweepOne(*point, body.shape, {-d.x, -d.y}, policy);
    const std::string code =
        absl::StrCat(body.ToCode(), absl::StrFormat(" {%a, %a} {%a, %a}", a.x, a.y, b.x, b.y));
    ASSERT_EQ(out.counts[0], expected.counts[0]) << "seed " << seed << " " << code;
    if (out.counts[0] == 0) continue;
    ++hits;
    ASSERT_EQ(out.hits[0].fraction, expected.hits[0].fraction) << seed << " " << code;
    ASSERT_EQ(out.hits[0].starts_inside, expected.hits[0].starts_inside) << code;
    ASSERT_TRUE(out.hits[0].is_body);
    ASSERT_EQ(out.hits[0].feature, Feature::kNone);
    ASSERT_NEAR(out.hits[0].normal.x, -expected.hits[0].normal.x, 1e-13) << code;
    ASSERT_NEAR(out.hits[0].normal.y, -expected.hits[0].normal.y, 1e-13) << code;
    ASSERT_LE(out.hits[0].fraction, out.hits[0].exit_fraction) << code;
  }
  EXPECT_GT(hits, 1000u);
}

// The ends of a passage, rounded outward in time, are in the body or next to it: by the exact
// predicate at the doubles themselves.
TEST(BodiesTest, Law2PassagesOfRaysAreRoundedIntoTheBody) {
  for (int seed = 1; seed <= Repeats(4000, 200000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::ldexp(1, random.Below(7) - 3), 20};
    const Capsule capsule = RandomRound(random, grid);
    carom::Ray ray{Normalized(grid.Point(random)), Normalized(grid.Point(random))};
    if (ray.direction == Vec2{}) continue;
    if (random.Below(2) == 0) ray.t_min = random.Unit();
    if (random.Below(2) == 0) ray.t_max = ray.t_min + 3 * random.Unit() + 0.125;
    const internal::Line line(ray);
    const auto passage = internal::FindRoundPassage(line, capsule);
    const std::string code =
        absl::StrFormat("seed %d: {{%a, %a}, {%a, %a}, %a, %a}", seed, ray.origin.x, ray.origin.y,
                        ray.direction.x, ray.direction.y, ray.t_min, ray.t_max);
    const auto meets = [&](double from, double to) {
      return internal::ExactlyMeets(line, capsule, from, to);
    };
    ASSERT_EQ(passage.has_value(), meets(ray.t_min, ray.t_max)) << code;
    if (!passage) continue;
    ASSERT_TRUE(meets(ray.t_min, passage->begin)) << code;
    if (passage->starts_inside) {
      ASSERT_EQ(passage->begin, ray.t_min) << code;
    } else {
      ASSERT_FALSE(meets(ray.t_min, std::nextafter(passage->begin, -HUGE_VAL))) << code;
    }
    if (passage->ends_inside) {
      ASSERT_EQ(passage->end, ray.t_max) << code;
    } else {
      ASSERT_FALSE(meets(std::nextafter(passage->end, HUGE_VAL), ray.t_max)) << code;
      ASSERT_TRUE(passage->end == passage->begin || meets(passage->end, ray.t_max)) << code;
    }
  }
}

// Two capsules meet when the axis of one meets the other's grown by both radii; a polygon and a
// capsule meet whichever of the two moves.
TEST(BodiesTest, Law2MoversMeetRoundBodies) {
  size_t hits = 0;
  for (int seed = 1; seed <= Repeats(12000, 600000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::ldexp(1, random.Below(7) - 3), 0};
    const RoundBody body(RandomRound(random, grid));
    const Vec2 d = grid.Point(random);
    const bool is_round = random.Below(2) == 0;
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    const Capsule capsule = RandomRound(random, grid);
    const Shape mover =
        is_round ? Shape::Create(capsule).value() : Shape(Polygon::Create(spec).value());
    const auto out = SweepOne({EmptyScene(), &body.bodies}, mover, d, InsidePolicy::kReportStart);
    SweepAnswers expected;
    if (is_round) {
      const TwoDoubles sum = TwoSum(capsule.radius, body.capsule.radius);
      if (sum.low != 0) continue;
      const Capsule grown{capsule.axis, sum.high};
      const Scene::Ptr axis = SceneOf({{0,
                                        {{{body.capsule.axis.a, body.capsule.axis.b}, true}},
                                        FillRule::kEvenOdd,
                                        Solidity::kBoundary}});
      expected = SweepOne(*axis, Shape::Create(grown).value(), d, InsidePolicy::kReportStart);
    } else {
      expected = SweepOne(*SceneOf({spec}), body.shape, {-d.x, -d.y}, InsidePolicy::kReportStart);
    }
    const std::string code = absl::StrCat("seed ", seed, " ", body.ToCode(), ToCode(spec));
    ASSERT_EQ(out.counts[0], expected.counts[0]) << code;
    if (out.counts[0] == 0) continue;
    ++hits;
    const SweepHit& hit = out.hits[0];
    ASSERT_EQ(hit.fraction, expected.hits[0].fraction) << code;
    ASSERT_EQ(hit.starts_inside, expected.hits[0].starts_inside) << code;
    ASSERT_TRUE(hit.is_body && !hit.has_edge) << code;
    const double sign = is_round ? 1 : -1;
    ASSERT_NEAR(hit.normal.x, sign * expected.hits[0].normal.x, 1e-13) << code;
    ASSERT_NEAR(hit.normal.y, sign * expected.hits[0].normal.y, 1e-13) << code;
    // The point is of both, but for roundings.
    const Pose at{{hit.fraction * d.x, hit.fraction * d.y}};
    const Shape point = Shape::Create(Capsule{{hit.point, hit.point}, 0}).value();
    ASSERT_LE(Distance(point, body.shape).distance, 1e-12 * (1 + grid.scale)) << code;
    ASSERT_LE(Distance(point, Placed(mover, at).value()).distance, 1e-12 * (1 + grid.scale))
        << code;
  }
  EXPECT_GT(hits, 1000u);
}

// Overlaps, points, distances and contacts are those of two shapes.
TEST(BodiesTest, Law2PairsOfShapesDecide) {
  for (int seed = 1; seed <= Repeats(6000, 300000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::ldexp(1, random.Below(7) - 3), seed % 2 == 0 ? 20 : 0};
    const RoundBody body(RandomRound(random, grid));
    const World world(EmptyScene(), &body.bodies);
    const Capsule round = RandomRound(random, grid);
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    const Shape polygon(Polygon::Create(spec).value());
    const Shape capsule = Shape::Create(round).value();
    const std::string code = absl::StrCat("seed ", seed, " ", body.ToCode(), ToCode(spec));
    const Scope scope{.against = Against::kBodies};
    const double zero = 0;
    WorkMeter meter;
    OverlapAnswers overlaps;
    const auto& [a, b] = round.axis;
    ASSERT_TRUE(OverlapCapsules(
        world, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}, {&round.radius, 1}, scope}, {},
        overlaps, meter));
    ASSERT_EQ(overlaps.counts[0] != 0, IsWithin(body.shape, capsule, 0)) << code;
    ASSERT_TRUE(OverlapPolygons(
        world, {{polygon.polygon(), 1}, {}, {&zero, 1}, {&zero, 1}, {}, {}, {}, scope}, {},
        overlaps, meter));
    ASSERT_EQ(overlaps.counts[0] != 0, IsWithin(body.shape, polygon, 0)) << code;
    Box box;
    box.Extend(a);
    box.Extend(b);
    ASSERT_TRUE(OverlapBoxes(
        world, {{&box.min.x, 1}, {&box.min.y, 1}, {&box.max.x, 1}, {&box.max.y, 1}, scope}, {},
        overlaps, meter));
    const Shape corners(
        Polygon::Create({0, {{{box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}}}}})
            .value());
    ASSERT_EQ(overlaps.counts[0] != 0, IsWithin(body.shape, corners, 0)) << code;
    LocateAnswers located;
    ASSERT_TRUE(LocatePoints(world, {{&a.x, 1}, {&a.y, 1}, scope}, kEveryCategory, located, meter));
    const int order = CompareDistance(body.capsule.axis, Circle{a, body.capsule.radius});
    ASSERT_EQ(located.counts[0] != 0, order <= 0) << code;
    if (order <= 0) {
      ASSERT_EQ(located.locations[0], order == 0 ? Location::kBoundary : Location::kInside);
    }
    for (const Shape& mover : {capsule, polygon}) {
      ShapeColumns movers{{&mover, 1}, {}, {&zero, 1}, {&zero, 1}};
      movers.scope = scope;
      DistanceAnswers distances;
      ASSERT_TRUE(MeasureDistances(world, {movers, {}}, {}, distances, meter));
      ASSERT_EQ(distances.counts[0], 1u);
      ASSERT_EQ(distances.rows[0].distance, Distance(body.shape, mover).distance) << code;
      ASSERT_FALSE(distances.rows[0].has_edge);
      ContactAnswers contacts;
      ASSERT_TRUE(FindContacts(world, {movers, {}, {}}, {}, contacts, meter));
      const auto contact = Collide(body.shape, mover);
      ASSERT_EQ(contacts.counts[0] != 0, contact.has_value()) << code;
      if (!contact) continue;
      ASSERT_EQ(contacts.contacts[0].normal, contact->normal) << code;
      ASSERT_EQ(contacts.contacts[0].depth, contact->depth) << code;
      ASSERT_EQ(contacts.is_body[0], 1);
    }
  }
}

// Circles of two sums: 0.1 + 0.2 is no double, and a gap of one ulp decides.
TEST(BodiesTest, RadiiWhoseSumIsNoDoubleAreAddedExactly) {
  const RoundBody body({{{0, 0}, {0, 0}}, 0.1});
  const Shape mover = Shape::Create(Capsule{{{1, 0}, {1, 0}}, 0.2}).value();
  const auto out =
      SweepOne({EmptyScene(), &body.bodies}, mover, {-1, 0}, InsidePolicy::kReportStart);
  ASSERT_EQ(out.counts[0], 1u);
  // 0.1 + 0.2 is a little more than 0.3 as doubles have them: 1 - sum, rounded up.
  const double t = out.hits[0].fraction;
  EXPECT_TRUE(
      IsWithin(body.shape, Shape::Create(Capsule{{{1 - t, 0}, {1 - t, 0}}, 0.2}).value(), 0));
  const double before = std::nextafter(t, 0);
  const double x = 1 - before;
  if (1 - x == before) {
    EXPECT_FALSE(IsWithin(body.shape, Shape::Create(Capsule{{{x, 0}, {x, 0}}, 0.2}).value(), 0));
  }
}

// Law 3 and 4, for all kinds at once.
TEST(BodiesTest, Law3And4OwnersAndMasksOfItems) {
  for (int seed = 1; seed <= Repeats(200, 10000); ++seed) {
    SplitMix64 numbers(static_cast<uint64_t>(seed));
    Choices choices(static_cast<uint64_t>(seed));
    const auto made = MakeGroupCase(choices, 8, BadNumbers::kNone);
    Group group = made->group;
    DropKindsWithoutBodies(group);
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, std::clamp(made->numbers.scale, 0x1p-50, 0x1p50)};
    std::vector<Shape> shapes;
    for (const PolygonSpec& spec : made->specs) shapes.emplace_back(Polygon::Create(spec).value());
    for (int i = 0; i < 6; ++i) shapes.push_back(Shape::Create(RandomRound(random, grid)).value());
    const std::vector<double> zeros(shapes.size(), 0);
    std::vector<uint64_t> category(shapes.size());
    std::vector<uint32_t> owner(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      category[i] = 1 + numbers.Next() % 7;
      owner[i] = static_cast<uint32_t>(numbers.Next() % 3);
    }
    group.bodies = {{shapes, {}, zeros, zeros}, category, owner};
    const uint64_t mask = 1 + numbers.Next() % 7;
    const uint32_t ignored = 1 + static_cast<uint32_t>(numbers.Next() % 2);
    const std::vector<uint64_t> masks(64, mask);
    const std::vector<uint32_t> owners(64, ignored);
    Group by_item = group;
    ForEachKind([&](const auto& kind) {
      auto& columns = by_item.*kind.columns;
      if constexpr (kAsksBodies<decltype(kind)> &&
                    HasScope<std::remove_reference_t<decltype(columns)>>) {
        ScopeOf(columns) = {kAlwaysAsksBodies<decltype(kind)> ? Against::kScene : Against::kBoth,
                            std::span(masks).first(columns.size()),
                            std::span(owners).first(columns.size())};
      }
    });
    const auto words = Evaluated(*made->scene, by_item, 0);
    // By the masks of the batches, the bodies of that owner in no category.
    std::vector<uint64_t> without = category;
    for (size_t i = 0; i < without.size(); ++i) {
      if (owner[i] == ignored) without[i] = 0;
    }
    Group by_batch = group;
    by_batch.bodies.category = without;
    by_batch.bodies.owner = {};
    SetScope({.against = Against::kBoth}, by_batch);
    ForEachKind([&](const auto& kind) {
      auto& options = by_batch.*kind.options;
      if constexpr (requires { options.mask; }) {
        options.mask = mask;
      } else if constexpr (std::is_same_v<std::remove_reference_t<decltype(options)>, uint64_t>) {
        options = mask;
      }
    });
    const auto expected = Evaluated(*made->scene, by_batch, 0);
    for (size_t k = 0; k < words.size(); ++k) {
      EXPECT_EQ(words[k], expected[k]) << "seed " << seed << ", " << expected[k].batch << "\n"
                                       << made->ToCode();
    }
    if (HasFailure()) return;
  }
}

// Every pair once, as two shapes alone have it, split as their masses say.
TEST(BodiesTest, BodyContactsAreThoseOfEachPair) {
  for (int seed = 1; seed <= Repeats(200, 10000); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Grid grid{6, 1, 20};
    std::vector<Shape> shapes;
    for (int i = 0; i < 12; ++i) {
      if (random.Below(2) == 0) {
        shapes.push_back(Shape::Create(RandomRound(random, grid)).value());
      } else {
        shapes.emplace_back(Polygon::Create(RandomPolygon(random, grid, 0)).value());
      }
    }
    const std::vector<double> zeros(shapes.size(), 0);
    const std::vector<double> mass(shapes.size(), 2);
    std::vector<uint32_t> all(shapes.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    const Bodies bodies = Bodies::Create({{shapes, {}, zeros, zeros}}).value();
    ContactAnswers out;
    WorkMeter meter;
    ASSERT_TRUE(FindBodyContacts({EmptyScene(), &bodies}, {all, mass}, {}, out, meter));
    size_t row = 0;
    for (size_t i = 0; i < shapes.size(); ++i) {
      size_t count = 0;
      for (size_t j = 0; j < i; ++j) {
        const auto contact = Collide(shapes[j], shapes[i]);
        if (!contact) continue;
        ++count;
        ASSERT_LT(row, out.contacts.size());
        ASSERT_EQ(out.polygon_ids[row], j);
        ASSERT_EQ(out.contacts[row].normal, contact->normal) << "seed " << seed;
        ASSERT_EQ(out.contacts[row].depth, contact->depth);
        ASSERT_EQ(out.splits[row].mover, SplitByMass(*contact, 2, 2).mover);
        ++row;
      }
      ASSERT_EQ(out.counts[i], count) << "seed " << seed;
    }
    ASSERT_EQ(row, out.contacts.size());
  }
}

// A group of the digest ended the process: the box of a round body that stands out of the accepted
// range was made a polygon, which no coordinate above 2^53 can be part of.
TEST(BodiesTest, BoxesOfBodiesAreCutOffAtTheAcceptedRange) {
  constexpr double kMost = 0x1p53;
  const RoundBody body({{{0, 0}, {0, 0}}, kMost});
  const Shape shape = Shape::Create(Capsule{{{kMost, 0}, {kMost, 0}}, 1024}).value();
  const double zero = 0;
  const Bodies at_the_end = Bodies::Create({{{&shape, 1}, {}, {&zero, 1}, {&zero, 1}}}).value();
  const double ax = kMost - 4096, bx = kMost, y = 0;
  SegmentColumns segments{{&ax, 1}, {&y, 1}, {&bx, 1}, {&y, 1}};
  segments.scope.against = Against::kBodies;
  CastOptions options;
  options.target = CastTarget::kBounds;
  options.reflect = true;
  CastAnswers out;
  WorkMeter meter;
  ASSERT_TRUE(CastSegments({EmptyScene(), &body.bodies}, segments, options, out, meter));
  ASSERT_EQ(out.hits.size(), 1u);
  EXPECT_TRUE(out.hits[0].starts_inside && out.hits[0].ends_inside);
  ASSERT_TRUE(CastSegments({EmptyScene(), &at_the_end}, segments, options, out, meter));
  ASSERT_EQ(out.hits.size(), 1u);
  EXPECT_NEAR(out.hits[0].fraction, 0.75, 1e-3);  // rounded outward
  EXPECT_EQ(out.hits[0].normal, (Vec2{-1, 0}));
  EXPECT_EQ(out.hits[0].edge, (EdgeRef{0, 3}));
  EXPECT_TRUE(out.hits[0].ends_inside);
}

TEST(BodiesTest, ABodyThatIsNotToBePlacedRefusesTheGroup) {
  const Shape shape = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
  const std::vector<double> x{0, NAN}, y{0, 0};
  const std::vector<uint32_t> which{0, 0}, beyond{0, 7};
  const auto refused = Bodies::Create({{{&shape, 1}, which, x, y}});
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Violations(refused.status())[0].field, "bodies.placed.x[1]");
  const auto unknown = Bodies::Create({{{&shape, 1}, beyond, y, y}});
  EXPECT_EQ(Violations(unknown.status())[0].field, "bodies.placed.shape[1]");
  Group group;
  group.points = {y, y};
  group.points.scope.against = Against::kBodies;
  group.bodies = {{{&shape, 1}, which, x, y}};
  GroupAnswers answers;
  WorkMeter meter;
  const absl::Status status = EvaluateGroup(EmptyScene(), group, answers, meter);
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Violations(status)[0].field, "bodies.placed.x[1]");
  const std::vector<double> many(kMaxBodies + 1, 0);
  const std::vector<uint32_t> first(kMaxBodies + 1, 0);
  group.bodies = {{{&shape, 1}, first, many, many}};
  EXPECT_EQ(CheckGroup(group).code(), absl::StatusCode::kResourceExhausted);
  group.bodies = {};
  const std::vector<uint64_t> masks{1};
  group.points.scope.mask = masks;
  EXPECT_EQ(Violations(CheckGroup(group))[0].field, "points.masks");
  group.points = {};
  group.depenetrations.scope.against = Against::kBoth;
  EXPECT_EQ(Violations(CheckGroup(group))[0].field, "depenetrations.against");
}

}  // namespace
}  // namespace carom::testing::bodies_test
