// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of RUBE worlds: every fixture at the place of its body, numbers in hexadecimal,
// categories, errors with paths.

#include "client/maps/rube.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace rube_test {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kWorld[] = R"({"gravity": {"x": 0, "y": -10}, "body": [
  {"name": "ground", "type": 0, "position": {"x": 10, "y": -5}, "angle": 0, "fixture": [
    {"name": "floor", "filter-categoryBits": 6,
     "polygon": {"vertices": {"x": [0, 4, 4], "y": [0, 0, 3]}}},
    {"chain": {"vertices": {"x": [0, 1, 2], "y": [0, 1, 0]}, "hasNextVertex": true,
               "nextVertex": {"x": 9, "y": 9}}},
    {"chain": {"vertices": {"x": [0, 4, 4, 0], "y": [0, 0, 3, 0]}}},
    {"loop": {"vertices": {"x": [0, 4, 4], "y": [0, 0, 3]}}},
    {"edge": {"vertex1": 0, "vertex2": {"x": 1, "y": 2}}},
    {"polygon": {"vertices": {"x": [0, 1], "y": [0, 1]}}},
    {"circle": {"radius": 2, "center": {"x": 1, "y": 0}}},
    {"sensor": true, "circle": {"radius": 1, "center": 0}},
    {"name": "odd"}, {"chain": {"vertices": {"x": [], "y": []}}}]},
  {"type": 2, "position": {"x": "3F800000", "y": "C0000000"}, "angle": 1.5707963267948966,
   "customProperties": [{"name": "kind", "int": 8}], "fixture": [
    {"polygon": {"vertices": {"x": ["3f000000", 4, 4], "y": [0, 0, "40400000"]}},
     "customProperties": [{"name": "other", "bool": true}]}]},
  {"type": 1, "position": 0}]})";

TEST(Rube, PlacesEveryFixture) {
  const ImportedMap map = Imported(ImportRube, kWorld);
  EXPECT_EQ(map.format, "rube");
  ASSERT_EQ(map.polygons.size(), 9u);
  ExpectRing(map.polygons[0], 0, {{10, -5}, {14, -5}, {14, -2}});
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kSolid);
  ExpectRing(map.polygons[1], 0, {{10, -5}, {11, -4}, {12, -5}});
  EXPECT_TRUE(map.polygons[1].is_open(0));
  ExpectRing(map.polygons[2], 0, {{10, -5}, {14, -5}, {14, -2}});
  EXPECT_FALSE(map.polygons[2].is_open(0));
  EXPECT_EQ(map.polygons[2].solidity(), Solidity::kBoundary);
  EXPECT_EQ(RingOf(map.polygons[3]), RingOf(map.polygons[2]));
  ExpectRing(map.polygons[4], 0, {{10, -5}, {11, -3}});
  ExpectRing(map.polygons[5], 0, {{10, -5}, {11, -4}});
  EXPECT_TRUE(map.polygons[5].is_open(0));
  EXPECT_EQ(map.polygons[6].bounds().min, (Vec2{9, -7}));
  EXPECT_EQ(map.polygons[6].bounds().max, (Vec2{13, -3}));
  const Ring turned = RingOf(map.polygons[8]);
  EXPECT_NEAR(turned[0].x, 1, 1e-15);
  EXPECT_NEAR(turned[0].y, -1.5, 1e-15);
  EXPECT_NEAR(turned[2].x, 1 - 3, 1e-15);
  EXPECT_NEAR(turned[2].y, -2 + 4, 1e-15);
  EXPECT_THAT(SkippedOf(map), UnorderedElementsAre(HasSubstr("2 fixtures in layer \"ground\"")));
}

TEST(Rube, TakesLayersAndProperties) {
  const auto count = [](const char* name) {
    return Imported(ImportRube, kWorld, WithLayer(name, LayerUse::kSkip)).polygons.size();
  };
  EXPECT_EQ(count("ground"), 1u);
  EXPECT_EQ(count("static"), 1u);
  EXPECT_EQ(count("dynamic"), 8u);
  EXPECT_EQ(count("sensor"), 8u);
  EXPECT_EQ(count("floor"), 8u);
  ImportOptions options;
  options.property = "filter-categoryBits";
  EXPECT_EQ(Imported(ImportRube, kWorld, options).polygons[0].category(), 6u);
  options.property = "kind";
  EXPECT_EQ(Imported(ImportRube, kWorld, options).polygons[8].category(), 8u);
}

TEST(Rube, ErrorsNameThePath) {
  const auto fixture = [](const std::string& text) {
    return R"({"body": [{"fixture": [)" + text + "]}]}";
  };
  const std::string where = "body[0].fixture[0].";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\n\n", "line 3: not JSON"},
      {"{}", "body: required"},
      {R"({"body": [{"type": 7}]})", "OK"},
      {R"({"body": [{"type": 7, "fixture": [{}]}]})", "body[0].type: must be an integer"},
      {R"({"body": [{"position": 3}]})", "body[0].position: must be a vector"},
      {R"({"body": [{"position": {"x": "7FC00000"}}]})",
       "body[0].position.x: must be a number, or"},
      {R"({"body": [{"angle": "3F80"}]})", "body[0].angle: must be a number, or"},
      {R"({"body": [{"angle": 1e7}]})", "body[0].angle: must be at most 2^20"},
      {fixture(R"({"polygon": {"vertices": {"x": [1], "y": []}}})"),
       where + "polygon.vertices: must have the arrays"},
      {fixture(R"({"chain": {"vertices": {"x": [1, null], "y": [1, 2]}}})"),
       where + "chain.vertices.x[1]: must be a number"},
      {fixture(R"({"edge": {"vertex1": {"y": []}}})"), where + "edge.vertex1.y: must be a number"},
      {fixture(R"({"circle": {"radius": 1e15}})"), where + "circle: needs more than"}};
  for (const auto& [text, message] : cases) {
    if (message == "OK") continue;
    EXPECT_THAT(ErrorOf(ImportRube, text), HasSubstr(message)) << text;
  }
}

TEST(Rube, IsToldByItsBodies) {
  EXPECT_TRUE(LooksLikeRube(Sniff(kWorld)));
  EXPECT_FALSE(LooksLikeRube(Sniff(R"({"body": []})")));
}

}  // namespace rube_test
}  // namespace carom::testing
