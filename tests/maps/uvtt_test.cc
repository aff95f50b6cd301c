// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of Universal VTT maps: chains in cells of the grid, portals by category, errors.

#include "client/maps/uvtt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/maps/foundry.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace uvtt_test {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kMap[] = R"({"format": 0.3,
  "resolution": {"map_origin": {"x": 0, "y": 0}, "map_size": {"x": 4, "y": 3},
                 "pixels_per_grid": 140},
  "line_of_sight": [[{"x": 0, "y": 0}, {"x": 3.25, "y": 0.1}, {"x": 0, "y": 0}],
                    [{"x": 1, "y": 1}], []],
  "objects_line_of_sight": [[{"x": 1, "y": 1}, {"x": 2, "y": 1}]],
  "portals": [{"position": {"x": 1, "y": 0}, "bounds": [{"x": 0.5, "y": 0}, {"x": 1.5, "y": 0}],
               "rotation": 0, "closed": false, "freestanding": false},
              {"bounds": [{"x": 2, "y": 0}, {"x": 3, "y": 0}], "closed": true},
              {"bounds": [{"x": 4, "y": 0}, {"x": 5, "y": 0}]}],
  "image": "iVBORw0KGgo="})";

TEST(Uvtt, MakesChainsInCellsOfTheGrid) {
  const ImportedMap map = Imported(ImportUvtt, kMap, Unflipped());
  EXPECT_EQ(map.format, "universal-vtt");
  ASSERT_EQ(map.polygons.size(), 5u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {3.25, 0.1}, {0, 0}});
  EXPECT_TRUE(map.polygons[0].is_open(0));
  EXPECT_EQ(map.polygons[0].category(), kWalls);
  EXPECT_EQ(map.polygons[1].category(), kTerrainWalls);
  ExpectRing(map.polygons[2], 0, {{0.5, 0}, {1.5, 0}});
  EXPECT_EQ(map.polygons[2].category(), kWindows);
  ExpectRing(map.polygons[3], 0, {{2, 0}, {3, 0}});
  EXPECT_EQ(map.polygons[3].category(), kDoors);
  EXPECT_EQ(map.polygons[4].category(), kDoors);
  EXPECT_THAT(SkippedOf(map), UnorderedElementsAre("2 lines in layer \"walls\": it has no edge"));
  const auto pair = std::find_if(map.mapping.begin(), map.mapping.end(),
                                 [](const auto& p) { return p.first == "pixels of a unit"; });
  ASSERT_NE(pair, map.mapping.end());
  EXPECT_EQ(pair->second, "140");
}

TEST(Uvtt, ScalesToPixelsWithYUp) {
  ImportOptions options;
  options.scale = 140;
  const ImportedMap map = Imported(ImportUvtt, kMap, options);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {455, -14}, {0, 0}});
}

TEST(Uvtt, TakesLayersByName) {
  EXPECT_EQ(Imported(ImportUvtt, kMap, WithLayer("doors", LayerUse::kSkip)).polygons.size(), 3u);
  EXPECT_EQ(Imported(ImportUvtt, kMap, WithLayer("walls", LayerUse::kSkip)).polygons.size(), 4u);
}

TEST(Uvtt, ErrorsNameThePath) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[\n", "line 2: not JSON"},
      {R"({"line_of_sight": 5})", "line_of_sight: must be an array"},
      {R"({"line_of_sight": [5]})", "line_of_sight[0]: must be an array"},
      {R"({"line_of_sight": [[{"x": 1, "y": 2}, {"x": 1}]]})",
       "line_of_sight[0][1]: must be {\"x\": X, \"y\": Y}"},
      {R"({"line_of_sight": [[{"x": 1, "y": 1e17}]]})", "line_of_sight[0][0]: must be"},
      {R"({"portals": [{"closed": true}]})", "portals[0].bounds: required"},
      {R"({"resolution": {"pixels_per_grid": "many"}})", "resolution.pixels_per_grid"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(ImportUvtt, text), HasSubstr(message)) << text;
  }
}

TEST(Uvtt, IsToldByItsLines) {
  EXPECT_TRUE(LooksLikeUvtt(Sniff(kMap)));
  EXPECT_FALSE(LooksLikeUvtt(Sniff(R"({"walls": []})")));
}

}  // namespace uvtt_test
}  // namespace carom::testing
