// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the readers of maps share (client/maps/import_common.h): chords, turns, categories,
// plans, ids, unions and reports.

#include "client/maps/import_common.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace import_common_test {

// The greatest distance of a densely sampled arc from the chords of its points.
double DistanceFromChords(const Arc& arc, const std::vector<Vec2>& points) {
  double farthest = 0;
  for (int i = 0; i <= 2000; ++i) {
    const double t = arc.from + (arc.to - arc.from) * i / 2000;
    const Vec2 p{arc.center.x + std::cos(t) * arc.a.x + std::sin(t) * arc.b.x,
                 arc.center.y + std::cos(t) * arc.a.y + std::sin(t) * arc.b.y};
    double nearest = HUGE_VAL;
    for (size_t k = 1; k < points.size(); ++k) {
      const Vec2 d{points[k].x - points[k - 1].x, points[k].y - points[k - 1].y};
      const Vec2 q{p.x - points[k - 1].x, p.y - points[k - 1].y};
      const double s = std::clamp((q.x * d.x + q.y * d.y) / (d.x * d.x + d.y * d.y), 0.0, 1.0);
      nearest = std::min(nearest, std::hypot(q.x - s * d.x, q.y - s * d.y));
    }
    farthest = std::max(farthest, nearest);
  }
  return farthest;
}

TEST(ImportCommon, ArcsKeepTheErrorOfChords) {
  SplitMix64 random(421);
  const auto number = [&] { return 20 * random.Unit() - 10; };
  for (int round = 0; round < 40; ++round) {
    const Arc arc{
        {number(), number()}, {number(), number()}, {number(), number()}, number(), number()};
    const double chord = std::pow(10, -3 * random.Unit());
    std::vector<Vec2> points;
    ASSERT_TRUE(AppendArc(arc, chord, points).ok());
    ASSERT_GE(points.size(), 2u);
    EXPECT_LE(DistanceFromChords(arc, points), chord * (1 + 1e-9));
    for (const auto& [end, t] : {std::pair(points.front(), arc.from), {points.back(), arc.to}}) {
      EXPECT_NEAR(end.x, arc.center.x + std::cos(t) * arc.a.x + std::sin(t) * arc.b.x, 1e-13);
      EXPECT_NEAR(end.y, arc.center.y + std::cos(t) * arc.a.y + std::sin(t) * arc.b.y, 1e-13);
    }
  }
}

TEST(ImportCommon, ChordsAreBounded) {
  std::vector<Vec2> points;
  EXPECT_FALSE(EllipseRing({0, 0}, {1e15, 0}, {0, 1e15}, 1e-3).ok());
  EXPECT_FALSE(EllipseRing({0, 0}, {1, 0}, {0, 1}, 1e-300).ok());
  EXPECT_FALSE(EllipseRing({0, 0}, {HUGE_VAL, 0}, {0, 1}, 1).ok());
  EXPECT_FALSE(EllipseRing({0, 0}, {std::nan(""), 0}, {0, 1}, 1).ok());
  EXPECT_FALSE(AppendArc({{0, 0}, {1, 0}, {0, 1}, 0, std::nan("")}, 1, points).ok());
  EXPECT_FALSE(AppendArc({{0, 0}, {1, 0}, {0, 1}, 0, 1e300}, 1, points).ok());
  EXPECT_TRUE(points.empty());
  // A chord spans at most a quarter turn, however coarse.
  EXPECT_EQ(EllipseRing({1, 2}, {3, 0}, {0, 0}, HUGE_VAL).value(),
            (std::vector<Vec2>{{4, 2}, {1, 2}, {-2, 2}, {1, 2}}));
  EXPECT_EQ(EllipseRing({0, 0}, {0, 0}, {0, 0}, 1).value().size(), 4u);
}

TEST(ImportCommon, QuarterTurnsAreExact) {
  for (const double turns : {-8.0, -4.0, 0.0, 4.0, 400.0}) {
    for (const auto& [quarter, expected] :
         {std::pair(0, Vec2{3, 7}), {1, Vec2{-7, 3}}, {2, Vec2{-3, -7}}, {3, Vec2{7, -3}}}) {
      EXPECT_EQ(TurnDegrees(90 * (turns + quarter))({3, 7}), expected);
    }
  }
  const Vec2 p = TurnDegrees(30, {1, 2})({3, 2});
  EXPECT_NEAR(p.x, 1 + 2 * std::cos(M_PI / 6), 1e-15);
  EXPECT_NEAR(p.y, 3, 1e-15);
  EXPECT_EQ(TurnDegrees(90, {1, 2})({3, 2}), (Vec2{1, 4}));
}

TEST(ImportCommon, AffineMapsCompose) {
  const Affine a{{1, 2}, {3, 4}, {5, 6}}, b{{-1, 0}, {2, 7}, {1, -3}};
  const Vec2 p{11, -2};
  EXPECT_EQ((a * b)(p), a(b(p)));
  EXPECT_EQ((a * b).determinant(), a.determinant() * b.determinant());
}

TEST(ImportCommon, CategoriesAreNumbersOrLists) {
  const std::pair<const char*, uint64_t> good[] = {{"0", 0},   {"5", 5},
                                                   {" 7 ", 7}, {"18446744073709551615", UINT64_MAX},
                                                   {"0,3", 9}, {"3, 63", 8 | uint64_t{1} << 63}};
  for (const auto& [text, category] : good) EXPECT_EQ(CategoryOfText(text, "p").value(), category);
  for (const char* text :
       {"", "wall", "-1", "1.5", "64,1", "1,,2", "1,x", "18446744073709551616"}) {
    EXPECT_FALSE(CategoryOfText(text, "p").ok()) << text;
  }
  EXPECT_EQ(CategoryOf(nlohmann::json(9u), "p").value(), 9u);
  EXPECT_EQ(CategoryOf(nlohmann::json(9.0), "p").value(), 9u);
  EXPECT_EQ(CategoryOf(nlohmann::json("1,2"), "p").value(), 6u);
  for (const char* value : {"-1", "1.5", "1e300", "true", "[1]", "null"}) {
    EXPECT_FALSE(CategoryOf(nlohmann::json::parse(value), "p").ok()) << value;
  }
  EXPECT_EQ(CategoryOfText("x", "layers[1].k").status().message().substr(0, 12), "layers[1].k:");
}

TEST(ImportCommon, ShellWords) {
  EXPECT_EQ(ShellWord("Ground_1"), "Ground_1");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("*"), "'*'");
  EXPECT_EQ(ShellWord("it's a wall"), "'it'\\''s a wall'");
}

MapShape Square(double x, double y, std::optional<uint64_t> id = std::nullopt) {
  MapShape shape;
  shape.rings.push_back({{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}});
  shape.id = id;
  shape.path = "shape";
  return shape;
}

TEST(MapBuilder, TheLastChoiceCounts) {
  ImportOptions options;
  options.layers = {
      {"a", 2, LayerUse::kHollow}, {"*", 3, LayerUse::kDefault}, {"b", 4, LayerUse::kSkip}};
  MapBuilder builder("test", options, true);
  const std::string names[] = {"a", "group"};
  const LayerPlan a = builder.Plan(names);
  EXPECT_TRUE(a.is_named);
  EXPECT_EQ(a.category, 3u);
  EXPECT_EQ(a.use, LayerUse::kDefault);
  const std::string inner[] = {"c", "b"};
  EXPECT_EQ(builder.Plan(inner).use, LayerUse::kSkip);
}

TEST(MapBuilder, OpenRingsOfASolidShapeStandAlone) {
  const ImportOptions options;
  for (const LayerUse use : {LayerUse::kDefault, LayerUse::kSolid, LayerUse::kHollow}) {
    MapBuilder builder("test", options, false);
    MapShape shape = Square(0, 0, 5);
    shape.rings.insert(shape.rings.begin(), {{{7, 7}, {8, 8}}, true});
    ASSERT_TRUE(builder.Add({"l", true, use, std::nullopt}, shape).ok());
    const ImportedMap map = builder.Finish().value();
    if (use == LayerUse::kHollow) {
      ASSERT_EQ(map.polygons.size(), 1u);
      EXPECT_EQ(map.polygons[0].ring_count(), 2u);
      EXPECT_EQ(map.polygons[0].solidity(), Solidity::kBoundary);
      continue;
    }
    ASSERT_EQ(map.polygons.size(), 2u);
    EXPECT_EQ(map.polygons[0].id(), 5u);
    EXPECT_EQ(map.polygons[0].solidity(), Solidity::kSolid);
    EXPECT_EQ(map.polygons[1].id(), 6u);
    EXPECT_TRUE(map.polygons[1].is_open(0));
  }
}

TEST(MapBuilder, IdsNeedRoomAfterTheGreatest) {
  const ImportOptions options;
  for (const auto& [greatest, first] :
       {std::pair(UINT64_MAX - 5, UINT64_MAX - 5), {UINT64_MAX, uint64_t{1}}}) {
    MapBuilder builder("test", options, false);
    ASSERT_TRUE(builder.Add({}, Square(0, 0, greatest)).ok());
    ASSERT_TRUE(builder.Add({}, Square(0, 0)).ok());
    const ImportedMap map = builder.Finish().value();
    EXPECT_EQ(map.polygons[0].id(), first);
    EXPECT_EQ(map.polygons[1].id(), first + 1);
  }
}

// Boxes on the coordinates of the scene, in either direction, with any first vertex; shapes that
// are no boxes stay.
TEST(MapBuilder, MergeTakesOnlySolidBoxes) {
  ImportOptions options;
  options.merge = true;
  options.scale = 0.1;
  MapBuilder builder("test", options, true);
  MapShape turned = Square(1, 0);
  std::ranges::reverse(turned.rings[0].vertices);
  std::rotate(turned.rings[0].vertices.begin(), turned.rings[0].vertices.begin() + 1,
              turned.rings[0].vertices.end());
  MapShape hollow = Square(0, 0), triangle = Square(1, 0), slanted = Square(1, 0),
           flat = Square(1, 0);
  hollow.hollow = true;
  triangle.rings[0].vertices.pop_back();
  slanted.rings[0].vertices[0].x = 0.5;
  for (Vec2& vertex : flat.rings[0].vertices) vertex.y = 0;
  for (const MapShape& shape :
       {Square(0, 0), turned, hollow, triangle, slanted, flat, Square(2, 1)}) {
    ASSERT_TRUE(builder.Add({}, shape).ok());
  }
  const ImportedMap map = builder.Finish().value();
  ASSERT_EQ(map.polygons.size(), 6u);
  ExpectRing(map.polygons[0], 0, {{0, -0.1}, {0.2, -0.1}, {0.2, 0}, {0, 0}});
}

// The union of random boxes has the area of the cells that they cover.
TEST(MapBuilder, MergeIsTheUnion) {
  SplitMix64 random(422);
  ImportOptions options;
  options.merge = true;
  for (int round = 0; round < 50; ++round) {
    MapBuilder builder("test", options, false);
    std::vector<std::vector<bool>> filled(20, std::vector<bool>(20));
    for (int i = 0; i < 25; ++i) {
      const size_t x = random.Next() % 15, y = random.Next() % 15;
      const size_t w = 1 + random.Next() % 5, h = 1 + random.Next() % 5;
      MapShape box;
      // The lines are at thirds, which are no binary fractions.
      const auto third = [](size_t n) { return static_cast<double>(n) / 3; };
      box.rings.push_back({{{third(x), third(y)},
                            {third(x + w), third(y)},
                            {third(x + w), third(y + h)},
                            {third(x), third(y + h)}}});
      ASSERT_TRUE(builder.Add({}, box).ok());
      for (size_t r = y; r < y + h; ++r) {
        for (size_t c = x; c < x + w; ++c) filled[r][c] = true;
      }
    }
    double area = 0;
    for (const std::vector<bool>& row : filled)
      area += static_cast<double>(std::ranges::count(row, true)) / 9;
    EXPECT_NEAR(AreaOf(builder.Finish().value().polygons), area, 1e-12);
  }
}

TEST(MapBuilder, RefusesWhatNoPolygonMayHave) {
  const ImportOptions options;
  MapBuilder builder("test", options, false);
  MapShape shape = Square(0, 0);
  shape.rings.emplace_back();
  EXPECT_EQ(builder.Add({}, shape).message(), "shape: has no points");
  shape.rings.clear();
  EXPECT_EQ(builder.Add({}, shape).message(), "shape: has no rings");
  for (const double bad : {1e16, HUGE_VAL, std::nan("")}) {
    EXPECT_FALSE(builder.Add({}, Square(bad, 0)).ok());
  }
}

TEST(MapBuilder, TheReportIsBounded) {
  const ImportOptions options;
  MapBuilder builder("test", options, false);
  for (size_t i = 0; i < MapBuilder::kMaxSkipped + 1234; ++i) builder.Skip("a", "b");
  const ImportedMap map = builder.Finish().value();
  EXPECT_EQ(map.skipped.size(), MapBuilder::kMaxSkipped + 1);
  EXPECT_EQ(map.skipped.back().what, "1,234 more parts");
}

TEST(MapBuilder, TheMappingListsTheOptions) {
  ImportOptions options;
  options.scale = 0.5;
  options.origin = {1, -2.5};
  options.property = "kind";
  options.merge = true;
  MapBuilder builder("test", options, true);
  EXPECT_EQ(builder.Finish().value().mapping,
            (std::vector<std::pair<std::string, std::string>>{{"scale", "0.5"},
                                                              {"origin", "1,-2.5"},
                                                              {"flip-y", "on"},
                                                              {"property", "kind"},
                                                              {"outline", "on"},
                                                              {"merge", "on"},
                                                              {"chord", "0.25"},
                                                              {"ids", "numbers from 1"}}));
}

}  // namespace import_common_test
}  // namespace carom::testing
