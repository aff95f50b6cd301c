// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of grid maps of the Moving AI benchmarks: which letters are solid, outlines, errors.

#include "client/maps/moving_ai.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace moving_ai_test {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kMap[] =
    "type octile\r\nheight 4\r\nwidth 5\r\nmap\r\n"
    "@@@@@\r\n"
    "@.GSO\r\n"
    "@.TW@\r\n"
    "@@@@@\r\n\r\n";

TEST(MovingAi, OutlinesWhatNobodyWalksOn) {
  const ImportedMap map = Imported(ImportMovingAi, kMap, Unflipped());
  EXPECT_EQ(map.format, "moving-ai");
  ASSERT_EQ(map.polygons.size(), 1u);
  ASSERT_EQ(map.polygons[0].ring_count(), 2u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {5, 0}, {5, 4}, {0, 4}});
  EXPECT_EQ(AreaOf(map.polygons), 20 - 4);
  EXPECT_THAT(SkippedOf(map), UnorderedElementsAre("layer \"S\": one can walk through it"));
  EXPECT_EQ(map.skipped[0].option, "--layer S");
  const ImportedMap up = Imported(ImportMovingAi, kMap);
  EXPECT_EQ(up.polygons[0].bounds().min, (Vec2{0, -4}));
}

TEST(MovingAi, TakesLettersByName) {
  // Swamp joins the union, or has a category of its own.
  EXPECT_EQ(AreaOf(Imported(ImportMovingAi, kMap, WithLayer("swamp")).polygons), 17);
  ImportOptions options = WithLayer("S");
  options.layers[0].category = 4;
  const ImportedMap map = Imported(ImportMovingAi, kMap, options);
  ASSERT_EQ(map.polygons.size(), 2u);
  EXPECT_EQ(map.polygons[1].category(), 4u);
  EXPECT_EQ(AreaOf(Imported(ImportMovingAi, kMap, WithLayer("T", LayerUse::kSkip)).polygons), 15);
  EXPECT_EQ(AreaOf(Imported(ImportMovingAi, kMap, WithLayer("ground")).polygons), 19);
  options = WithLayer("*");
  options.outline = false;
  EXPECT_EQ(Imported(ImportMovingAi, kMap, options).polygons.size(), 20u);
}

TEST(MovingAi, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"type octile\nheight 2\nwidth 2\nmap\n..\n.", "line 6: a row of 1 cells, not 2"},
      {"type octile\nheight 2\nwidth 2\nmap\n..\n", "line 5: only 1 of 2 rows"},
      {"type octile\nheight 1\nwidth 2\nmap\n.x\n", "line 5: the cell 2 is none of"},
      {"type octile\nheight 1\nwidth 2\nmap\n..\n\n..", "line 7: more rows"},
      {"type octile\nheight -1\n", "line 2: must be type, width or height"},
      {"type octile\nheight 99999999\n", "line 2: must be type, width or height"},
      {"type octile\nheight 1\n", "line 2: the line `map` is missing"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(ImportMovingAi, text), HasSubstr(message)) << text;
  }
  EXPECT_TRUE(Imported(ImportMovingAi, "type octile\nmap\n").polygons.empty());
}

TEST(MovingAi, IsToldByItsFirstLine) {
  EXPECT_TRUE(LooksLikeMovingAi(Sniff(kMap)));
  EXPECT_TRUE(LooksLikeMovingAi(Sniff("type tile\nheight 1")));
  EXPECT_FALSE(LooksLikeMovingAi(Sniff("height 1\nwidth 1\nmap")));
  EXPECT_FALSE(LooksLikeMovingAi(Sniff("type of a thing\n")));
}

}  // namespace moving_ai_test
}  // namespace carom::testing
