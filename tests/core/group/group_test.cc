// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/group.h"

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "carom/status.h"
#include "tests/core/random_scene.h"

namespace carom::testing::group_test {
namespace {

const std::vector<double> kOne{1};
const std::vector<double> kTwo{1, 2};

struct BadGroup {
  const char* name;
  std::function<void(Group&)> spoil;
  const char* field;
};

void ExpectRefused(std::span<const BadGroup> cases, absl::StatusCode code) {
  for (const BadGroup& c : cases) {
    SCOPED_TRACE(c.name);
    Group group;
    c.spoil(group);
    const absl::Status status = CheckGroup(group);
    EXPECT_EQ(status.code(), code);
    ASSERT_FALSE(Violations(status).empty());
    EXPECT_EQ(Violations(status)[0].field, c.field);
    EXPECT_FALSE(Violations(status)[0].description.empty());
  }
}

TEST(GroupTest, CheckGroupNamesTheFieldAndTheRange) {
  const BadGroup cases[] = {
      {"ay",
       [](Group& g) {
         g.segments = SegmentColumns{kTwo, kOne, kTwo, kTwo};
       },
       "segments.ay"},
      {"by",
       [](Group& g) {
         g.segments = SegmentColumns{kTwo, kTwo, kTwo, {}};
       },
       "segments.by"},
      {"hits 0", [](Group& g) { g.cast_options.max_hits = 0; }, "segments.max_hits"},
      {"hits", [](Group& g) { g.cast_options.max_hits = 65537; }, "segments.max_hits"},
      {"points",
       [](Group& g) {
         g.points = PointColumns{kTwo, kOne};
       },
       "points.y"},
      {"radius",
       [](Group& g) {
         g.circles = CircleColumns{kTwo, kTwo, kOne};
       },
       "circles.radius"},
      {"no shapes", [](Group& g) { g.polygons.x = g.polygons.y = kOne; }, "polygons.shapes"},
  };
  ExpectRefused(cases, absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(CheckGroup({}).ok());
}

TEST(GroupTest, CheckGroupNamesTheFieldOfAPose) {
  const Polygon shape = Polygon::Create({0, {{{{0, 0}}}}}).value();
  const std::span<const Polygon> shapes{&shape, 1};
  const std::vector<uint32_t> which{0};
  const std::span<const double> none;
  const auto with = [](const PolygonColumns& columns) {
    return [columns](Group& g) { g.polygons = columns; };
  };
  const BadGroup cases[] = {
      {"shape", with({shapes, which, kTwo, kTwo, none, none, none}), "polygons.shape"},
      {"c without s", with({shapes, which, kOne, kOne, kOne, none, none}), "polygons.s"},
      {"angle and c", with({shapes, which, kOne, kOne, kOne, kOne, kOne}), "polygons.angle"},
      {"angle", with({shapes, which, kOne, kOne, none, none, kTwo}), "polygons.angle"},
  };
  ExpectRefused(cases, absl::StatusCode::kInvalidArgument);
}

TEST(GroupTest, CheckGroupCountsTheVerticesOfAllRings) {
  PolygonSpec spec;
  spec.rings.resize(2);
  spec.rings[0].vertices.assign(kMaxMovingVertices - 1, Vec2{1, 1});
  spec.rings[0].vertices[0] = {2, 2};
  spec.rings[1].vertices = {{0, 0}};
  const Polygon largest = Polygon::Create(spec).value();
  Group accepted;
  accepted.polygons = PolygonColumns{{&largest, 1}, {}, kOne, kOne, {}, {}, {}};
  EXPECT_TRUE(CheckGroup(accepted).ok());
  spec.rings[1].vertices.push_back({0, 1});
  const Polygon large = Polygon::Create(spec).value();
  const auto spoil = [&](Group& g) {
    g.polygons = PolygonColumns{{&large, 1}, {}, kOne, kOne, {}, {}, {}};
  };
  const BadGroup cases[] = {{"large", spoil, "polygons.shapes[0]"}};
  ExpectRefused(cases, absl::StatusCode::kResourceExhausted);
}

// What is wrong with a group of one batch.
std::string FieldOf(const std::function<void(Group&)>& spoil) {
  Group group;
  spoil(group);
  const absl::Status status = CheckGroup(group);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::vector<Violation> violations = Violations(status);
  EXPECT_EQ(violations.size(), 1u);
  return violations.empty() ? "" : violations[0].field;
}

TEST(GroupTest, CheckGroupNamesColumnsOfRaysArcsSightsAndFans) {
  const std::span<const double> one = kOne, two = kTwo;
  const std::vector<uint32_t> beams{1};
  EXPECT_EQ(FieldOf([&](Group& g) { g.rays = {two, two, two, one, {}, {}}; }), "rays.dy");
  EXPECT_EQ(FieldOf([&](Group& g) { g.rays = {two, two, two, two, one, {}}; }), "rays.t_min");
  EXPECT_EQ(FieldOf([&](Group& g) { g.rays = {two, two, two, two, two, one}; }), "rays.t_max");
  EXPECT_EQ(FieldOf([](Group& g) { g.ray_options.max_hits = 0; }), "rays.max_hits");
  EXPECT_EQ(FieldOf([&](Group& g) { g.arcs = {two, two, two, two, two, two, one}; }),
            "arcs.duration");
  EXPECT_EQ(FieldOf([](Group& g) { g.arc_options.mode = CastMode::kAllPassages; }), "arcs.mode");
  EXPECT_EQ(FieldOf([](Group& g) { g.arc_options.max_hits = 65537; }), "arcs.max_hits");
  EXPECT_EQ(FieldOf([&](Group& g) { g.sights = {two, two, two, one}; }), "sights.by");
  EXPECT_EQ(FieldOf([&](Group& g) { g.fans = {two, two, two, two, two, beams}; }), "fans.beams");
}

TEST(GroupTest, CheckGroupNamesOptionsOfSoftWallsAndOfTheNearest) {
  EXPECT_EQ(FieldOf([](Group& g) { g.cast_options.soft_count = 17; }), "segments.soft_count");
  EXPECT_EQ(FieldOf([](Group& g) { g.ray_options.soft_count = 17; }), "rays.soft_count");
  EXPECT_EQ(FieldOf([](Group& g) { g.sight_options.soft_count = 17; }), "sights.soft_count");
  EXPECT_EQ(FieldOf([](Group& g) { g.fan_options.soft_count = 17; }), "fans.soft_count");
  for (const CastMode mode : {CastMode::kAll, CastMode::kAllPassages}) {
    const auto field = [&](uint64_t mask, uint32_t count, bool length) {
      return FieldOf([&](Group& g) {
        g.cast_options.mode = mode;
        g.cast_options.soft_mask = mask;
        g.cast_options.soft_count = count;
        g.cast_options.soft_length = length;
      });
    };
    EXPECT_EQ(field(1, 0, false), "segments.soft_mask");
    EXPECT_EQ(field(0, 1, false), "segments.soft_count");
    EXPECT_EQ(field(0, 0, true), "segments.soft_length");
  }
  Group group;
  group.ray_options.mode = CastMode::kAny;
  group.ray_options.soft_mask = 2;
  group.ray_options.soft_count = 16;
  EXPECT_TRUE(CheckGroup(group).ok());
  group.ray_options.soft_length = true;
  EXPECT_FALSE(CheckGroup(group).ok());
  EXPECT_EQ(FieldOf([](Group& g) { g.distance_options.k = 0; }), "distances.k");
  EXPECT_EQ(FieldOf([](Group& g) { g.distance_options.k = 1025; }), "distances.k");
}

TEST(GroupTest, CheckGroupNamesColumnsOfAreas) {
  const std::span<const double> one = kOne, two = kTwo;
  EXPECT_EQ(FieldOf([&](Group& g) { g.areas = {two, one, two}; }), "areas.y");
  EXPECT_EQ(FieldOf([&](Group& g) { g.areas = {two, two, one}; }), "areas.range");
  EXPECT_EQ(FieldOf([&](Group& g) { g.areas = {two, two, two, one, two}; }), "areas.from");
  EXPECT_EQ(FieldOf([&](Group& g) { g.areas = {two, two, two, two}; }), "areas.to");
  EXPECT_EQ(FieldOf([](Group& g) { g.area_options.max_rows = 0; }), "areas.max_rows");
  EXPECT_EQ(FieldOf([](Group& g) { g.area_options.max_rows = 65537; }), "areas.max_rows");
  for (const InsidePolicy policy :
       {InsidePolicy::kExit, InsidePolicy::kBlocking, InsidePolicy::kBlockingLeave}) {
    EXPECT_EQ(FieldOf([&](Group& g) { g.area_options.inside_policy = policy; }),
              "areas.inside_policy");
  }
}

TEST(GroupTest, CheckGroupNamesColumnsOfObservers) {
  const std::span<const double> one = kOne, two = kTwo;
  EXPECT_EQ(FieldOf([&](Group& g) { g.sees = {two, one, two}; }), "sees.y");
  EXPECT_EQ(FieldOf([&](Group& g) { g.sees = {two, two, one}; }), "sees.range");
  EXPECT_EQ(FieldOf([&](Group& g) { g.sees = {two, two, two, two}; }), "sees.to");
  EXPECT_EQ(FieldOf([](Group& g) { g.see_options.margin = -1; }), "sees.margin");
  EXPECT_EQ(FieldOf([](Group& g) { g.see_options.margin = 0x1.0000000000001p53; }), "sees.margin");
  EXPECT_EQ(FieldOf([](Group& g) { g.see_options.inside_policy = InsidePolicy::kExit; }),
            "sees.inside_policy");
  for (const Against against : {Against::kBodies, Against::kBoth}) {
    EXPECT_EQ(FieldOf([&](Group& g) { g.sees.scope.against = against; }), "sees.against");
  }
}

TEST(GroupTest, CheckGroupNamesColumnsOfShapes) {
  const std::span<const double> one = kOne, two = kTwo;
  const Shape shape = Shape::Create(Capsule{}).value();
  const std::vector<uint32_t> which{0, 0};
  const ShapeColumns movers{{&shape, 1}, which, two, two, {}, {}, {}};
  EXPECT_EQ(FieldOf([&](Group& g) { g.capsules = {two, two, two, two, one}; }), "capsules.radius");
  EXPECT_EQ(FieldOf([&](Group& g) { g.boxes = {two, two, two, one}; }), "boxes.max_y");
  EXPECT_EQ(FieldOf([&](Group& g) { g.distances = {movers, one}; }), "distances.max_distance");
  EXPECT_EQ(FieldOf([&](Group& g) { g.contacts = {movers, two, {}}; }), "contacts.polygon_mass");
  EXPECT_EQ(FieldOf([&](Group& g) { g.contacts = {movers, {}, two}; }), "contacts.mass");
  EXPECT_EQ(FieldOf([](Group& g) { g.depenetration_options.max_steps = 0; }),
            "depenetrations.max_steps");
  EXPECT_EQ(FieldOf([](Group& g) { g.depenetration_options.max_steps = 1025; }),
            "depenetrations.max_steps");
  EXPECT_EQ(FieldOf([&](Group& g) { g.sweeps = {movers, two, one}; }), "sweeps.to_y");
  EXPECT_EQ(FieldOf([](Group& g) { g.sweep_options.mode = CastMode::kAllPassages; }),
            "sweeps.mode");
  EXPECT_EQ(FieldOf([&](Group& g) { g.rotating_sweeps = {movers, two, two, two, {}, {}, two}; }),
            "rotating_sweeps.to_s");
  EXPECT_EQ(FieldOf([&](Group& g) { g.rotating_sweeps = {movers, two, two, two, two, two, two}; }),
            "rotating_sweeps.to_angle");
  EXPECT_EQ(FieldOf([&](Group& g) { g.rotating_sweeps = {movers, two, two, {}, {}, {}, {}}; }),
            "rotating_sweeps.tolerance");
  ShapeColumns short_of_s = movers;
  short_of_s.c = two;
  EXPECT_EQ(FieldOf([&](Group& g) { g.depenetrations = short_of_s; }), "depenetrations.movers.s");
}

TEST(GroupTest, CheckGroupNamesTheShapeThatIsTooLarge) {
  const Polygon polygon =
      Polygon::Create({0,
                       {{std::vector<Vec2>(kMaxMovingVertices + 1, Vec2{1, 2}), true}},
                       FillRule::kEvenOdd,
                       Solidity::kBoundary})
          .value();
  const std::vector<Shape> shapes{Shape::Create(Capsule{}).value(), Shape(polygon)};
  const ShapeColumns movers{shapes, {}, {}, {}, {}, {}, {}};
  const auto field = [](const std::function<void(Group&)>& put) {
    Group group;
    put(group);
    const absl::Status status = CheckGroup(group);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    const std::vector<Violation> violations = Violations(status);
    return violations.empty() ? "" : violations[0].field;
  };
  EXPECT_EQ(field([&](Group& g) { g.distances.movers = movers; }), "distances.movers.shapes[1]");
  EXPECT_EQ(field([&](Group& g) { g.contacts.movers = movers; }), "contacts.movers.shapes[1]");
  EXPECT_EQ(field([&](Group& g) { g.depenetrations = movers; }), "depenetrations.movers.shapes[1]");
  EXPECT_EQ(field([&](Group& g) { g.sweeps.movers = movers; }), "sweeps.movers.shapes[1]");
  EXPECT_EQ(field([&](Group& g) { g.rotating_sweeps.movers = movers; }),
            "rotating_sweeps.movers.shapes[1]");
}

// A fan is as many queries as it has beams; one that is refused is one.
TEST(GroupTest, FansCountTheirBeams) {
  EXPECT_EQ(FanQueryCount({}), 0u);
  EXPECT_EQ(FanQueryCount(std::vector<uint32_t>{1, 2, kMaxBeams}), 3u + kMaxBeams);
  EXPECT_EQ(FanQueryCount(std::vector<uint32_t>{0, kMaxBeams + 1, 4294967295}), 3u);
  Group group;
  const std::vector<uint32_t> beams{5, 0};
  group.fans = {kTwo, kTwo, kTwo, kTwo, kTwo, beams};
  group.sights.ax = kTwo;
  EXPECT_EQ(group.query_count(), 8u);
}

TEST(GroupTest, AnswersEveryBatchFromOneVersion) {
  const Scene::Ptr scene =
      Scene::Create({Polygon::Create({3, {{{{0, 0}, {4, 0}, {0, 4}}}}}).value()}, 17).value();
  const Polygon shape = Polygon::Create({0, {{{{0, 0}}}}}).value();
  Group group;
  group.segments = {kOne, kOne, kTwo, kOne};
  group.segments.bx = kOne;
  group.points = {kOne, kOne};
  group.circles = {kOne, kOne, kOne};
  group.polygons.shapes = {&shape, 1};
  group.polygons.x = group.polygons.y = kOne;
  ASSERT_TRUE(CheckGroup(group).ok());
  EXPECT_EQ(group.query_count(), 4u);
  GroupAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(*scene, group, answers, meter).ok());
  EXPECT_EQ(answers.version, 17u);
  EXPECT_EQ(answers.segments.hits[0].polygon_id, 3u);
  EXPECT_EQ(answers.points.locations[0], Location::kInside);
  EXPECT_EQ(answers.circles.polygon_ids[0], 3u);
  EXPECT_EQ(answers.polygons.polygon_ids[0], 3u);
  EXPECT_GT(meter.used(), 0u);
  EXPECT_EQ(meter.rows(), 4u);
}

TEST(GroupTest, TellsADeadlineFromTooManyRows) {
  const Scene::Ptr scene =
      Scene::Create({Polygon::Create({3, {{{{0, 0}, {4, 0}, {0, 4}}}}}).value()}).value();
  Group group;
  group.points = {kTwo, kTwo};
  GroupAnswers answers;
  WorkMeter stopped([] { return true; });
  EXPECT_EQ(EvaluateGroup(*scene, group, answers, stopped).code(),
            absl::StatusCode::kDeadlineExceeded);
  WorkMeter full;
  full.set_max_rows(1);
  EXPECT_EQ(EvaluateGroup(*scene, group, answers, full).code(),
            absl::StatusCode::kResourceExhausted);
  WorkMeter enough;
  enough.set_max_rows(2);
  EXPECT_TRUE(EvaluateGroup(*scene, group, answers, enough).ok());
}

}  // namespace
}  // namespace carom::testing::group_test
