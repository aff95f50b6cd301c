// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/group.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "carom/status.h"
#include "random_scene.h"

namespace carom::testing {
namespace {

const std::vector<double> kOne{1};
const std::vector<double> kTwo{1, 2};

struct BadGroup {
  const char* name;
  std::function<void(Group&)> spoil;
  absl::StatusCode code;
  const char* field;
};

TEST(GroupTest, CheckGroupNamesTheFieldAndTheRange) {
  const Polygon shape = Polygon::Create({0, {{{{0, 0}}}}}).value();
  const Polygon large =
      Polygon::Create(
          {0, {{std::vector<Vec2>(kMaxMovingVertices + 1, Vec2{1, 1}), false}, {{{0, 0}}}}})
          .value();
  const auto invalid = absl::StatusCode::kInvalidArgument;
  const std::vector<uint32_t> which{0};
  const BadGroup cases[] = {
      {"ay",
       [](Group& g) {
         g.segments = {kTwo, kOne, kTwo, kTwo};
       },
       invalid, "segments.ay"},
      {"by",
       [](Group& g) {
         g.segments = {kTwo, kTwo, kTwo, {}};
       },
       invalid, "segments.by"},
      {"hits 0", [](Group& g) { g.cast_options.max_hits = 0; }, invalid, "segments.max_hits"},
      {"hits", [](Group& g) { g.cast_options.max_hits = 65537; }, invalid, "segments.max_hits"},
      {"points",
       [](Group& g) {
         g.points = {kTwo, kOne};
       },
       invalid, "points.y"},
      {"radius",
       [](Group& g) {
         g.circles = {kTwo, kTwo, kOne};
       },
       invalid, "circles.radius"},
      {"no shapes", [](Group& g) { g.polygons.x = g.polygons.y = kOne; }, invalid,
       "polygons.shapes"},
      {"shape",
       [&](Group& g) {
         g.polygons = {{&shape, 1}, which, kTwo, kTwo, {}, {}, {}};
       },
       invalid, "polygons.shape"},
      {"c without s",
       [&](Group& g) {
         g.polygons = {{&shape, 1}, which, kOne, kOne, kOne, {}, {}};
       },
       invalid, "polygons.s"},
      {"angle and c",
       [&](Group& g) {
         g.polygons = {{&shape, 1}, which, kOne, kOne, kOne, kOne, kOne};
       },
       invalid, "polygons.angle"},
      {"angle",
       [&](Group& g) {
         g.polygons = {{&shape, 1}, which, kOne, kOne, {}, {}, kTwo};
       },
       invalid, "polygons.angle"},
      {"large",
       [&](Group& g) {
         g.polygons = {{&large, 1}, which, kOne, kOne, {}, {}, {}};
       },
       absl::StatusCode::kResourceExhausted, "polygons.shapes[0]"},
  };
  for (const BadGroup& c : cases) {
    SCOPED_TRACE(c.name);
    Group group;
    c.spoil(group);
    const absl::Status status = CheckGroup(group);
    EXPECT_EQ(status.code(), c.code);
    ASSERT_FALSE(Violations(status).empty());
    EXPECT_EQ(Violations(status)[0].field, c.field);
    EXPECT_FALSE(Violations(status)[0].description.empty());
  }
  EXPECT_TRUE(CheckGroup({}).ok());
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
}  // namespace carom::testing
