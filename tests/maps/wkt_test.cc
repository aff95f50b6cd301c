// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of well-known text: every type of two dimensions, arcs within the stated chord, errors
// with lines, and the files of the shared folder against the scenes made of them.

#include "client/maps/wkt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace wkt_test {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(Wkt, ReadsPolygonsAndLinesExactly) {
  const ImportedMap map = Imported(ImportWkt, R"(SRID=4326;POLYGON ((0 0, 4 0, 4.1 4e0, 0 0),
      (1 1, 2 1, 2 2, 1 1))
    linestring z (0.1 .2 9, -3 +4 9); POINT (1 2)
    MultiPolygon(((0 0,1 0,1 1,0 0)),EMPTY,((5 5,6 5,6 6,5 5)))
    MULTILINESTRING M((0 0 7,1 1 7),(2 2 7,3 3 7))
    MULTIPOINT((1 2),3 4,EMPTY)
    LINESTRING EMPTY
    TRIANGLE((0 0,1 0,0 1,0 0)) POLYGONZM((0 0 1 1,1 0 1 1,0 1 1 1,0 0 1 1))
    TIN(((0 0,1 0,0 1,0 0)),((1 0,1 1,0 1,1 0)))
    GEOMETRYCOLLECTION(LINESTRING(7 7,8 8),GEOMETRYCOLLECTION(POLYGON((0 0,1 0,0 1,0 0))))
  )");
  EXPECT_EQ(map.format, "wkt");
  ASSERT_EQ(map.polygons.size(), 12u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {4, 0}, {4.1, 4}});
  ExpectRing(map.polygons[0], 1, {{1, 1}, {2, 1}, {2, 2}});
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kSolid);
  ExpectRing(map.polygons[1], 0, {{0.1, 0.2}, {-3, 4}});
  EXPECT_TRUE(map.polygons[1].is_open(0));
  ExpectRing(map.polygons[3], 0, {{5, 5}, {6, 5}, {6, 6}});
  ExpectRing(map.polygons[5], 0, {{2, 2}, {3, 3}});
  ExpectRing(map.polygons[7], 0, {{0, 0}, {1, 0}, {0, 1}});
  ExpectRing(map.polygons[9], 0, {{1, 0}, {1, 1}, {0, 1}});
  ExpectRing(map.polygons[10], 0, {{7, 7}, {8, 8}});
  EXPECT_THAT(SkippedOf(map),
              UnorderedElementsAre("1 LINESTRING in layer \"geometries\": it is empty",
                                   "1 MULTIPOINT in layer \"geometries\": points have no edges",
                                   "1 POINT in layer \"geometries\": points have no edges",
                                   "1 POLYGON in layer \"geometries\": it is empty"));
}

// Law: the vertices lie on the circle, and the middle of no chord is farther than `chord` from it.
TEST(Wkt, MakesArcsWithinTheChord) {
  ImportOptions options;
  options.chord = 1e-3;
  const ImportedMap map = Imported(ImportWkt, R"(
    CIRCULARSTRING(5 0, 3 4, 0 5, -5 0, 0 -5)
    CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(-5 0, 0 5, 5 0), (5 0, -5 0)),
                 CIRCULARSTRING(0 1, 0 3, 0 1))
    CIRCULARSTRING(0 0, 1 1, 2 2))",
                                   options);
  ASSERT_EQ(map.polygons.size(), 3u);
  const Ring arcs = RingOf(map.polygons[0]);
  for (const Vec2 given : {Vec2{5, 0}, Vec2{3, 4}, Vec2{0, 5}, Vec2{-5, 0}, Vec2{0, -5}}) {
    EXPECT_TRUE(std::find(arcs.begin(), arcs.end(), given) != arcs.end());
  }
  EXPECT_EQ(arcs.front(), (Vec2{5, 0}));
  EXPECT_EQ(arcs.back(), (Vec2{0, -5}));
  for (size_t i = 0; i < arcs.size(); ++i) {
    EXPECT_NEAR(std::hypot(arcs[i].x, arcs[i].y), 5, 1e-14);
    if (i == 0) continue;
    const Vec2 middle{(arcs[i].x + arcs[i - 1].x) / 2, (arcs[i].y + arcs[i - 1].y) / 2};
    EXPECT_LE(5 - std::hypot(middle.x, middle.y), 1e-3 * (1 + 1e-9));
    // The arc turns on in one sense: counter-clockwise from (5, 0) over (0, 5) to (0, -5).
    EXPECT_GT(arcs[i - 1].x * arcs[i].y - arcs[i - 1].y * arcs[i].x, 0);
  }
  ASSERT_EQ(map.polygons[1].ring_count(), 2u);
  EXPECT_EQ(map.polygons[1].solidity(), Solidity::kSolid);
  const double half = SignedArea(RingOf(map.polygons[1], 0));
  EXPECT_NEAR(std::abs(half), 12.5 * 3.14159265358979, 2e-2);
  EXPECT_NEAR(std::abs(SignedArea(RingOf(map.polygons[1], 1))), 3.14159265358979, 1e-2);
  ExpectRing(map.polygons[2], 0, {{0, 0}, {1, 1}, {2, 2}});
}

TEST(Wkt, TakesLayersByType) {
  constexpr char kText[] = "LINESTRING(0 0,1 1)\nPOLYGON((0 0,1 0,0 1,0 0))";
  const ImportedMap map = Imported(ImportWkt, kText, WithLayer("LINESTRING", LayerUse::kSkip));
  ASSERT_EQ(map.polygons.size(), 1u);
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kSolid);
  const ImportedMap none = Imported(ImportWkt, kText, WithLayer("POINT"));
  EXPECT_THAT(SkippedOf(none),
              UnorderedElementsAre(HasSubstr("--layer POINT: no layer has this name")));
}

TEST(Wkt, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"POINT(1 2)\nPOLYGON((0 0, 1 x))", "line 2: expected the two numbers"},
      {"\n\nPOLYGON((0 0, 1))", "line 3: expected the two numbers"},
      {"POLYGON((0 0, 1 nan))", "line 1: numbers must be finite"},
      {"POLYGON((0 0, 1 1e17))", "line 1: numbers must be finite"},
      {"POLYGON((0 0, 1 1e999))", "line 1: numbers must be finite"},
      {"POLYGON((0 0, 1 2 3 4 5))", "line 1: a point has at most 4 numbers"},
      {"CIRCLE(0 0)", "line 1: expected the name of a geometry"},
      {"LINESTRING(0 0,1 1", "line 1: expected `)`"},
      {"CIRCULARSTRING(0 0,1 1)", "line 1: a circular string has an odd number"},
      {"SRID;", "line 1: expected `=`"},
      {"MULTIPOLYGON(POINT(1 2", "line 1: expected"},
      {"CIRCULARSTRING(0 0,1e12 1e12,2e12 0)", "line 1: needs more than"},
  };
  for (const auto& [text, message] : cases) {
    ImportOptions options;
    options.chord = 1e-9;
    EXPECT_THAT(ErrorOf(ImportWkt, text, options), HasSubstr(message)) << text;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "GEOMETRYCOLLECTION(";
  EXPECT_THAT(ErrorOf(ImportWkt, deep), HasSubstr("nested too deep"));
}

TEST(Wkt, IsToldByTheNameOfAGeometry) {
  EXPECT_TRUE(LooksLikeWkt(Sniff("  \nPolygon((0 0,1 0,0 1,0 0))")));
  EXPECT_TRUE(LooksLikeWkt(Sniff("SRID=31467; LINESTRINGZ EMPTY")));
  EXPECT_FALSE(LooksLikeWkt(Sniff("SRID=31467")));
  EXPECT_FALSE(LooksLikeWkt(Sniff("type octile\nheight 4")));
  EXPECT_FALSE(LooksLikeWkt(Sniff("")));
}

// The converter of the scenes made one polygon of each part of a MULTIPOLYGON too.
TEST(Wkt, AgreesWithTheSharedScenes) {
  CAROM_NEEDS_SHARED_DIR(data);
  for (const char* file : {"africa.wkt", "europe.wkt", "usa-lower48.wkt"}) {
    SCOPED_TRACE(file);
    const std::string bytes = ReadFile(data + "/raw/jts_wkt/" + file);
    EXPECT_TRUE(LooksLikeWkt(Sniff(bytes)));
    const ImportedMap map = Imported(ImportWkt, bytes);
    ExpectSamePlaces(map.polygons, SharedScene(data, "jts_wkt", file));
  }
  // The scenes have no lines.
  const ImportedMap plane = Imported(ImportWkt, ReadFile(data + "/raw/jts_wkt/plane.wkt"));
  ASSERT_EQ(plane.polygons.size(), 1u);
  EXPECT_TRUE(plane.polygons[0].is_open(0));
  EXPECT_EQ(plane.polygons[0].vertices()[0], (Vec2{7787.609776069839, 5723.961632293637}));
}

}  // namespace wkt_test
}  // namespace carom::testing
