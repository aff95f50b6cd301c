// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of Foundry scenes: the kind of each wall and its category, both scales of senses, what
// is reported, errors with paths.

#include "client/maps/foundry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace foundry_test {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(Foundry, MakesChainsOfWallsByKind) {
  const std::vector<std::pair<std::string, uint64_t>> walls = {
      {R"("move": 20, "sight": 20)", kWalls},
      {R"("_id": "a")", kWalls},
      {R"("door": 1, "ds": 2, "move": 20, "sight": 20)", kDoors},
      {R"("door": 2, "move": 20, "sight": 20)", kSecretDoors},
      {R"("move": 20, "sight": 30)", kWindows},
      {R"("move": 20, "sight": 40)", kWindows},
      {R"("move": 20, "sight": 10)", kTerrainWalls},
      {R"("move": 0, "sight": 20)", kCurtains},
      {R"("move": 20, "sight": 0)", kInvisibleWalls},
      {R"("move": 1, "sense": 1)", kWalls},
      {R"("move": 1, "sense": 2)", kTerrainWalls},
      {R"("move": 1, "sense": 0)", kInvisibleWalls},
      {R"("move": 0, "sense": 1)", kCurtains}};
  std::string text = R"({"name": "Inn", "walls": [)";
  for (size_t i = 0; i < walls.size(); ++i) {
    const std::string x = std::to_string(i);
    text +=
        (i == 0 ? "" : ",") + ("{\"c\": [" + x + ", 0.5, " + x + ", 100], ") + walls[i].first + "}";
  }
  const ImportedMap map = Imported(ImportFoundry, text + "]}", Unflipped());
  EXPECT_EQ(map.format, "foundry");
  ASSERT_EQ(map.polygons.size(), walls.size());
  for (size_t i = 0; i < walls.size(); ++i) {
    EXPECT_EQ(map.polygons[i].category(), walls[i].second) << walls[i].first;
    const auto x = static_cast<double>(i);
    ExpectRing(map.polygons[i], 0, {{x, 0.5}, {x, 100}});
    EXPECT_TRUE(map.polygons[i].is_open(0));
    EXPECT_EQ(map.polygons[i].id(), i + 1);
  }
}

TEST(Foundry, ReportsWhatWallsCannotSay) {
  const ImportedMap map = Imported(ImportFoundry, R"({"walls": [
    {"c": [0, 0, 1, 0], "dir": 1}, {"c": [0, 0, 1, 0], "dir": 2, "door": 1, "ds": 1},
    {"c": [0, 0, 0, 0]}, {"c": [0, 0, 1, 0], "move": 0, "sight": 0, "light": 20}]})");
  EXPECT_EQ(map.polygons.size(), 2u);
  EXPECT_THAT(SkippedOf(map),
              UnorderedElementsAre(HasSubstr("1 one-way side in layer \"doors\""),
                                   HasSubstr("1 one-way side in layer \"walls\""),
                                   HasSubstr("1 open state in layer \"doors\": the door is taken"),
                                   HasSubstr("1 wall in layer \"walls\": it blocks neither"),
                                   HasSubstr("1 wall in layer \"walls\": it has no length")));
}

TEST(Foundry, TakesLayersAndAProperty) {
  constexpr char kText[] = R"({"walls": [
    {"c": [0, 0, 1, 0], "door": 1, "flags": {"kind": 64}}, {"c": [0, 0, 1, 0], "kind": "1,2"}]})";
  ImportOptions options = WithLayer("doors", LayerUse::kSkip);
  EXPECT_EQ(Imported(ImportFoundry, kText, options).polygons.size(), 1u);
  options.layers = {};
  options.property = "kind";
  const ImportedMap map = Imported(ImportFoundry, kText, options);
  EXPECT_EQ(map.polygons[0].category(), 64u);
  EXPECT_EQ(map.polygons[1].category(), 6u);
  options.layers = {{"doors", 3, LayerUse::kDefault}};
  EXPECT_EQ(Imported(ImportFoundry, kText, options).polygons[0].category(), 3u);
}

TEST(Foundry, ErrorsNameThePath) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"walls\": [\n{]}", "line 2: not JSON"},
      {"{}", "walls: required"},
      {R"({"walls": {}})", "walls: must be an array"},
      {R"({"walls": [{"c": [1, 2, 3]}]})", "walls[0].c: must be [x1, y1, x2, y2]"},
      {R"({"walls": [{"c": [1, 2, 3, "4"]}]})", "walls[0].c: must be"},
      {R"({"walls": [{}]})", "walls[0].c: must be"},
      {R"({"walls": [{"c": [1, 2, 3, 1e99]}]})", "walls[0].c: must be"},
      {R"({"walls": [{"c": [1, 2, 3, 4], "door": "a"}]})", "walls[0].door: must be an integer"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(ImportFoundry, text), HasSubstr(message)) << text;
  }
}

TEST(Foundry, IsToldByItsWalls) {
  EXPECT_TRUE(LooksLikeFoundry(Sniff(R"({"name": "a", "walls": []})")));
  EXPECT_FALSE(LooksLikeFoundry(Sniff(R"({"walls": 3})")));
  EXPECT_FALSE(LooksLikeFoundry(Sniff(R"({"walls": [], "line_of_sight": []})")));
}

}  // namespace foundry_test
}  // namespace carom::testing
