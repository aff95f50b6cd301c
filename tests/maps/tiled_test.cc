// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Objects and tiles of Tiled's maps (client/maps/tiled/tiled.h): where their shapes are. Layers and
// encodings are in tiled_layers_test.cc, files and errors in tiled_files_test.cc; what Tiled itself
// says about all of them is in tiled_referee.py.

#include "client/maps/tiled/tiled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace tiled_test {

// Returns a map of 4 x 4 cells of 32 x 24 pixels.
std::string MapOf(const std::string& body, const std::string& orientation = "orthogonal") {
  return absl::StrCat(R"(<?xml version="1.0" encoding="UTF-8"?>
<map version="1.10" orientation=")",
                      orientation, R"(" width="4" height="4" tilewidth="32"
 tileheight="24">
)",
                      body, "\n</map>\n");
}

std::string ObjectsOf(const std::string& objects) {
  return absl::StrCat(R"(<objectgroup id="2" name="objects">)", objects, "</objectgroup>");
}

ImportedMap Read(const std::string& map, const ImportOptions& options = Unflipped()) {
  return Imported(ImportTiled, map, options);
}

Polygon OnlyPolygon(const std::string& object, const std::string& orientation = "orthogonal",
                    const std::string& tilesets = "") {
  const ImportedMap map = Read(MapOf(tilesets + ObjectsOf(object), orientation));
  EXPECT_EQ(map.polygons.size(), 1u);
  return map.polygons.at(0);
}

void ExpectNear(const Polygon& polygon, const Ring& expected, double tolerance = 1e-12) {
  const Ring found = RingOf(polygon);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].x, expected[i].x, tolerance) << "vertex " << i;
    EXPECT_NEAR(found[i].y, expected[i].y, tolerance) << "vertex " << i;
  }
}

TEST(TiledObjects, RectanglesAndPolygonsAreSolid) {
  const ImportedMap map = Read(MapOf(ObjectsOf(R"(
    <object id="4" name="a" x="10.5" y="20" width="30" height="14"/>
    <object id="9" x="1" y="2"><polygon points="0,0 9,2.25 3,7"/></object>)")));
  ASSERT_EQ(map.polygons.size(), 2u);
  EXPECT_EQ(map.format, "tiled");
  EXPECT_EQ(map.polygons[0].id(), 4u);
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kSolid);
  EXPECT_EQ(map.polygons[0].category(), 1u);
  ExpectRing(map.polygons[0], 0, {{10.5, 20}, {40.5, 20}, {40.5, 34}, {10.5, 34}});
  EXPECT_EQ(map.polygons[1].id(), 9u);
  ExpectRing(map.polygons[1], 0, {{1, 2}, {10, 4.25}, {4, 9}});
  EXPECT_TRUE(map.skipped.empty());
}

TEST(TiledObjects, YPointsUpByDefault) {
  const ImportedMap map =
      Read(MapOf(ObjectsOf(R"(<object x="1" y="2" width="3" height="4"/>)")), {});
  ExpectRing(map.polygons.at(0), 0, {{1, -2}, {4, -2}, {4, -6}, {1, -6}});
}

TEST(TiledObjects, OptionsPlacePoints) {
  ImportOptions options;
  options.scale = 0.5;
  options.origin = {1, 10};
  const ImportedMap map =
      Read(MapOf(ObjectsOf(R"(<object x="1" y="2" width="3" height="4"/>)")), options);
  ExpectRing(map.polygons.at(0), 0, {{0, 4}, {1.5, 4}, {1.5, 2}, {0, 2}});
}

TEST(TiledObjects, PolylinesAreOpenChains) {
  const Polygon chain =
      OnlyPolygon(R"(<object id="1" x="1" y="2"><polyline points="0,0 9,2 0,0"/></object>)");
  EXPECT_EQ(chain.solidity(), Solidity::kBoundary);
  EXPECT_TRUE(chain.is_open(0));
  ExpectRing(chain, 0, {{1, 2}, {10, 4}, {1, 2}});
}

// Positive angles turn from the x axis to the y axis, which points down.
TEST(TiledObjects, RotateAboutTheirPosition) {
  const std::string size = R"(x="10" y="20" width="6" height="4" rotation=)";
  ExpectRing(OnlyPolygon("<object " + size + "\"90\"/>"), 0,
             {{10, 20}, {10, 26}, {6, 26}, {6, 20}});
  ExpectRing(OnlyPolygon("<object " + size + "\"-450\"/>"), 0,
             {{10, 20}, {10, 14}, {14, 14}, {14, 20}});
  ExpectRing(OnlyPolygon("<object " + size + "\"180\"/>"), 0,
             {{10, 20}, {4, 20}, {4, 16}, {10, 16}});
  const double c = std::cos(M_PI / 6), s = 0.5;
  ExpectNear(OnlyPolygon("<object " + size + "\"30\"/>"), {{10, 20},
                                                           {10 + 6 * c, 20 + 6 * s},
                                                           {10 + 6 * c - 4 * s, 20 + 6 * s + 4 * c},
                                                           {10 - 4 * s, 20 + 4 * c}});
}

TEST(TiledObjects, EllipsesKeepTheErrorOfChords) {
  for (const double chord : {4.0, 0.25, 0.001}) {
    ImportOptions options = Unflipped();
    options.chord = chord;
    const ImportedMap map = Read(
        MapOf(ObjectsOf(R"(<object x="10" y="20" width="60" height="40"><ellipse/></object>)")),
        options);
    const Ring ring = RingOf(map.polygons.at(0));
    double farthest = 0;
    for (size_t i = 0; i < ring.size(); ++i) {
      const Vec2 a = ring[i], b = ring[(i + 1) % ring.size()];
      EXPECT_NEAR(std::hypot((a.x - 40) / 30, (a.y - 40) / 20), 1, 1e-12);
      // The arc is farthest from its chord where its tangent is parallel to it: at the middle
      // angle.
      const double middle = std::atan2((a.y + b.y - 80) / 40, (a.x + b.x - 80) / 60);
      const Vec2 p{40 + 30 * std::cos(middle), 40 + 20 * std::sin(middle)};
      const double length = std::hypot(b.x - a.x, b.y - a.y);
      farthest = std::max(farthest,
                          std::abs((p.x - a.x) * (b.y - a.y) - (p.y - a.y) * (b.x - a.x)) / length);
    }
    EXPECT_LE(farthest, chord);
    EXPECT_GE(farthest, chord / 8);  // not many more chords than needed
    for (const Vec2 end : {Vec2{10, 40}, Vec2{70, 40}, Vec2{40, 20}, Vec2{40, 60}}) {
      EXPECT_NE(std::ranges::find(ring, end), ring.end());
    }
  }
}

// All points of a capsule are at the radius from its axis, in either direction.
TEST(TiledObjects, CapsulesAreRoundAtTheirShortSides) {
  for (const Vec2 size : {Vec2{20, 60}, Vec2{60, 20}, Vec2{20, 20}}) {
    const Polygon capsule =
        OnlyPolygon(absl::StrCat(R"(<object x="0" y="0" width=")", size.x, R"(" height=")", size.y,
                                 R"("><capsule/></object>)"));
    const double radius = 10;
    for (const Vec2 p : capsule.vertices()) {
      const Vec2 nearest{std::clamp(p.x, radius, size.x - radius),
                         std::clamp(p.y, radius, size.y - radius)};
      EXPECT_NEAR(std::hypot(p.x - nearest.x, p.y - nearest.y), radius, 1e-12);
    }
    EXPECT_EQ(capsule.bounds().max, size);
    const double straight = std::max(size.x, size.y) - 2 * radius;
    EXPECT_NEAR(SignedArea(RingOf(capsule)), M_PI * radius * radius + 2 * radius * straight,
                2 * M_PI * radius * 0.25);
    Ring ring = RingOf(capsule);
    std::ranges::sort(ring,
                      [](Vec2 a, Vec2 b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
    EXPECT_EQ(std::ranges::adjacent_find(ring), ring.end());
  }
}

TEST(TiledObjects, PartsWithoutAreaAreReported) {
  const ImportedMap map =
      Read(MapOf(ObjectsOf(R"(
    <object id="1" x="1" y="2"><point/></object> <object id="2" x="5" y="2"><point/></object>
    <object id="3" x="1" y="2" width="50" height="20"><text>wall</text></object>
    <object id="4" x="1" y="2"/>)") +
                 R"(<imagelayer name="sky"><image source="a.png"/></imagelayer>)"));
  EXPECT_TRUE(map.polygons.empty());
  EXPECT_EQ(SkippedOf(map),
            (std::vector<std::string>{"image layer \"sky\": an image has no shapes",
                                      "1 object in layer \"objects\": the size is 0",
                                      "2 points in layer \"objects\": no area",
                                      "1 text in layer \"objects\": no area"}));
}

// The position is projected along the axes of the cells, x to the right and down, y to the left and
// down; the origin is above the middle of the first row. Rotation is that of the picture.
TEST(TiledObjects, OfIsometricMapsAreProjected) {
  // Cells of 32 x 24: object units are 24 to a cell. The origin is at x = 4 * 32 / 2.
  ExpectRing(OnlyPolygon(R"(<object x="24" y="0" width="48" height="24"/>)", "isometric"), 0,
             {{80, 12}, {112, 36}, {96, 48}, {64, 24}});
  ExpectRing(
      OnlyPolygon(R"(<object x="24" y="24"><polyline points="0,0 0,24"/></object>)", "isometric"),
      0, {{64, 24}, {48, 36}});
  ExpectRing(
      OnlyPolygon(R"(<object x="24" y="24" width="24" height="24" rotation="90"/>)", "isometric"),
      0, {{64, 24}, {52, 40}, {40, 24}, {52, 8}});
  const Polygon circle = OnlyPolygon(
      R"(<object x="24" y="24" width="48" height="48"><ellipse/></object>)", "isometric");
  for (const Vec2 p : circle.vertices()) {
    const double column = (p.x - 64) / 32 + p.y / 24, row = p.y / 24 - (p.x - 64) / 32;
    EXPECT_NEAR(std::hypot(column - 2, row - 2), 1, 1e-12);
  }
}

// A tileset of one tile of 16 x 10 pixels, whose shapes are `shapes`.
std::string TilesetOf(const std::string& shapes, const std::string& attributes = "",
                      const std::string& children = "") {
  return absl::StrCat(R"(<tileset firstgid="1" name="t" tilewidth="40" tileheight="40" )",
                      attributes, ">", children,
                      R"(<tile id="5"><image width="16" height="10" source="a.png"/>
    <objectgroup>)",
                      shapes, "</objectgroup></tile></tileset>\n");
}
constexpr char kTriangle[] =
    R"(<object id="1" x="2" y="1"><polygon points="0,0 10,0 0,7"/></object>)";
constexpr Vec2 kTrianglePoints[] = {{2, 1}, {12, 1}, {2, 8}};

std::string TileLayerOf(uint32_t number, const std::string& attributes = "") {
  return absl::StrCat(R"(<layer id="1" name="tiles" width="4" height="4" )", attributes,
                      R"(><data encoding="csv">0,0,0,0,0,)", number,
                      ",0,0,0,0,0,0,0,0,0,0</data></layer>");
}

// Moves a point of an image of 16 x 10 as the format says: the diagonal flip exchanges x and y, the
// others mirror the resulting image. The second value is the size of the image afterwards.
std::pair<Vec2, Vec2> Flipped(Vec2 p, uint32_t flags) {
  Vec2 size{16, 10};
  if ((flags & 0x2) != 0) {
    std::swap(p.x, p.y);
    std::swap(size.x, size.y);
  }
  if ((flags & 0x8) != 0) p.x = size.x - p.x;
  if ((flags & 0x4) != 0) p.y = size.y - p.y;
  return {p, size};
}

// The image of a cell has its lower left corner in that of the cell. The fourth bit means nothing
// in maps that are not hexagonal.
TEST(TiledTiles, CellsFlipTheShapesOfTheirTiles) {
  for (uint32_t flags = 0; flags < 16; ++flags) {
    const ImportedMap map = Read(MapOf(TilesetOf(kTriangle) + TileLayerOf(6 | flags << 28)));
    ASSERT_EQ(map.polygons.size(), 1u);
    Ring expected;
    for (const Vec2 point : kTrianglePoints) {
      const auto [p, size] = Flipped(point, flags);
      expected.push_back({32 + p.x, 48 - size.y + p.y});
    }
    ExpectRing(map.polygons[0], 0, expected);
  }
}

TEST(TiledTiles, OffsetsOfTilesetsLayersAndGroupsAddUp) {
  const std::string tiles = TilesetOf(kTriangle, "", R"(<tileoffset x="3" y="-2"/>)");
  const ImportedMap map = Read(MapOf(
      tiles + R"(<group name="g" offsetx="100" offsety="0.5"><group name="h" offsetx="1000">)" +
      TileLayerOf(6, R"(offsety="0.25")") + "</group></group>"));
  ExpectRing(map.polygons.at(0), 0, {{1137, 37.75}, {1147, 37.75}, {1137, 44.75}});
}

// Image of 16 x 10 in a hexagonal map of 32 x 24: the diagonal flip turns by 60 degrees, the fourth
// bit by 120, about the center of the image, after the other flips.
TEST(TiledTiles, CellsOfHexagonalMapsTurn) {
  const std::string hexagonal = "hexagonal\" hexsidelength=\"8\" staggeraxis=\"y";
  for (uint32_t flags = 0; flags < 16; ++flags) {
    const ImportedMap map =
        Read(MapOf(TilesetOf(kTriangle) + TileLayerOf(6 | flags << 28), hexagonal));
    const double angle = ((flags & 2) != 0) * M_PI / 3 + ((flags & 1) != 0) * 2 * M_PI / 3;
    // Cell (1, 1): row 1 is shifted by 16; rows are 16 apart.
    const Vec2 center{48 + 8, 16 + 24 - 5};
    Ring expected;
    for (Vec2 p : kTrianglePoints) {
      p = {p.x - 8, p.y - 5};
      if ((flags & 8) != 0) p.x = -p.x;
      if ((flags & 4) != 0) p.y = -p.y;
      expected.push_back({center.x + std::cos(angle) * p.x - std::sin(angle) * p.y,
                          center.y + std::sin(angle) * p.x + std::cos(angle) * p.y});
    }
    ExpectNear(map.polygons.at(0), expected);
  }
}

TEST(TiledTiles, CellsOfIsometricMapsStandOnTheLowerCorner) {
  const ImportedMap map = Read(MapOf(TilesetOf(kTriangle) + TileLayerOf(6), "isometric"));
  // The upper corner of cell (1, 1) is at (64, 24), so its box begins at 48 and ends at 48 below.
  ExpectRing(map.polygons.at(0), 0, {{50, 39}, {60, 39}, {50, 46}});
}

// A tileset with an isometric grid stores its shapes in the projection of that grid, at the bottom
// of the image.
TEST(TiledTiles, ShapesOfAnIsometricTilesetAreProjected) {
  const std::string tiles = TilesetOf(R"(<object x="0" y="0" width="8" height="4"/>)", "",
                                      R"(<grid orientation="isometric" width="16" height="8"/>)");
  const ImportedMap map = Read(MapOf(tiles + TileLayerOf(6)));
  // In the image: (0, 0) is at (8, 2), x goes by (1, 0.5), y by (-1, 0.5). The image is at (32,
  // 38).
  ExpectRing(map.polygons.at(0), 0, {{40, 40}, {48, 44}, {44, 46}, {36, 42}});
}

TEST(TiledTiles, OfGridSizeFillTheCell) {
  const std::string stretched = TilesetOf(kTriangle, R"(tilerendersize="grid")");
  ExpectRing(Read(MapOf(stretched + TileLayerOf(6))).polygons.at(0), 0,
             {{36, 26.4}, {56, 26.4}, {36, 43.2}});
  const std::string kept =
      TilesetOf(kTriangle, R"(tilerendersize="grid" fillmode="preserve-aspect-fit")");
  // Twice the size, in the middle of the cell.
  ExpectRing(Read(MapOf(kept + TileLayerOf(6))).polygons.at(0), 0, {{36, 28}, {56, 28}, {36, 42}});
}

// The shapes take the object's size, flips, and rotation about its position.
TEST(TiledTiles, TileObjectsScaleFlipAndRotateTheirShapes) {
  const std::pair<const char*, Vec2> alignments[] = {
      {"unspecified", {0, 1}}, {"topleft", {0, 0}},    {"top", {0.5, 0}},   {"topright", {1, 0}},
      {"left", {0, 0.5}},      {"center", {0.5, 0.5}}, {"right", {1, 0.5}}, {"bottomleft", {0, 1}},
      {"bottom", {0.5, 1}},    {"bottomright", {1, 1}}};
  for (const auto& [name, align] : alignments) {
    for (uint32_t flags = 0; flags < 16; ++flags) {
      const std::string tiles =
          TilesetOf(kTriangle, absl::StrCat("objectalignment=\"", name, "\""));
      const Polygon polygon = OnlyPolygon(
          absl::StrCat(R"(<object id="7" x="50" y="60" width="32" height="40" rotation="90" gid=")",
                       6 | flags << 28, "\"/>"),
          "orthogonal", tiles);
      EXPECT_EQ(polygon.id(), 7u);
      Ring expected;
      for (const Vec2 point : kTrianglePoints) {
        // The image has the size 32 x 40 before the diagonal flip, which keeps its lower left
        // corner.
        const auto [p, size] = Flipped(point, flags);
        const bool is_diagonal = (flags & 2) != 0;
        const Vec2 scale = is_diagonal ? Vec2{4, 2} : Vec2{2, 4};
        const Vec2 drawn{p.x * scale.x - align.x * 32,
                         40 - (size.y - p.y) * scale.y - align.y * 40};
        expected.push_back({50 - drawn.y, 60 + drawn.x});
      }
      ExpectRing(polygon, 0, expected);
    }
  }
}

// The offset of the tileset is that of the image, so it grows with it.
TEST(TiledTiles, OffsetsScaleWithTileObjects) {
  const std::string tiles = TilesetOf(kTriangle, "", R"(<tileoffset x="3" y="-2"/>)");
  ExpectRing(
      OnlyPolygon(R"(<object gid="6" x="0" y="0" width="32" height="40"/>)", "orthogonal", tiles),
      0, {{10, -44}, {30, -44}, {10, -16}});
}

TEST(TiledTiles, TileObjectsOfIsometricMapsStandOnTheirCenter) {
  // (48, 24) is at (80, 36).
  ExpectRing(OnlyPolygon(R"(<object x="48" y="24" gid="6"/>)", "isometric", TilesetOf(kTriangle)),
             0, {{74, 27}, {84, 27}, {74, 34}});
}

TEST(TiledTiles, CurvesStayWithinTheChordWhenScaled) {
  const std::string tiles =
      TilesetOf(R"(<object x="0" y="0" width="10" height="10"><ellipse/></object>)");
  const auto vertices = [&](const char* size) {
    return OnlyPolygon(absl::StrCat(R"(<object gid="6" x="0" y="0" )", size, "/>"), "orthogonal",
                       tiles)
        .vertex_count();
  };
  EXPECT_EQ(vertices(R"(width="160" height="100")"),
            OnlyPolygon(R"(<object width="100" height="100"><ellipse/></object>)").vertex_count());
  EXPECT_LT(vertices(""), vertices(R"(width="160" height="100")"));
}

TEST(TiledTiles, SeveralShapesOfATileObjectShareItsId) {
  const std::string two = std::string(kTriangle) + R"(<object x="3" y="3" width="2" height="2"/>)" +
                          R"(<object x="3" y="3"><point/></object>)" +
                          R"(<object x="1" y="1"><polyline points="0,0 1,1"/></object>)";
  const ImportedMap map =
      Read(MapOf(TilesetOf(two) + ObjectsOf(R"(<object id="7" gid="6" x="0" y="10"/>
                                               <object id="3" x="0" y="0" width="1" height="1"/>)")));
  ASSERT_EQ(map.polygons.size(), 4u);
  EXPECT_EQ(map.polygons[0].id(), 7u);
  EXPECT_EQ(map.polygons[1].id(), 8u);
  EXPECT_EQ(map.polygons[2].id(), 9u);
  EXPECT_EQ(map.polygons[2].solidity(), Solidity::kBoundary);
  EXPECT_EQ(map.polygons[3].id(), 3u);
  EXPECT_EQ(SkippedOf(map), (std::vector<std::string>{"a point of tile 5: no collision shape"}));
}

TEST(TiledTiles, RepeatedIdsGiveWayToNumbers) {
  const ImportedMap map = Read(MapOf(ObjectsOf(R"(<object id="7" x="0" y="0" width="1" height="1"/>
                                                  <object id="7" x="5" y="0" width="1" height="1"/>)")));
  EXPECT_EQ(map.polygons.at(0).id(), 1u);
  EXPECT_EQ(map.polygons.at(1).id(), 2u);
  EXPECT_EQ(map.mapping.back().second, "numbers from 1, as ids of the file are repeated");
}

// A tile without shapes: the object is its image only if the layer is named.
TEST(TiledTiles, TileObjectsWithoutShapesNeedTheirLayer) {
  const std::string map = MapOf(TilesetOf("") + R"(<objectgroup name="my walls">
      <object id="7" gid="2147483654" x="10" y="50" rotation="-90"/></objectgroup>)");
  const ImportedMap skipped = Read(map);
  EXPECT_TRUE(skipped.polygons.empty());
  ASSERT_EQ(skipped.skipped.size(), 1u);
  EXPECT_EQ(skipped.skipped[0].what, "1 tile object in layer \"my walls\"");
  EXPECT_EQ(skipped.skipped[0].option, "--layer 'my walls'");
  const ImportedMap taken = Read(map, WithLayer("my walls"));
  ASSERT_EQ(taken.polygons.size(), 1u);
  // The upright rectangle from (10, 40) to (26, 50), mirrored, turned counter-clockwise.
  ExpectRing(taken.polygons[0], 0, {{0, 34}, {0, 50}, {10, 50}, {10, 34}});
  EXPECT_TRUE(taken.skipped.empty());
}

}  // namespace tiled_test
}  // namespace carom::testing
