// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Layers of Tiled's maps (client/maps/tiled/tiled.h): encodings, chunks, outlines in the four
// orientations, choices of layers, categories, unions.

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/maps/outline.h"
#include "client/maps/tiled/tiled.h"
#include "tests/maps/deflate.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace tiled_layers_test {

constexpr char kPlainTiles[] = R"(<tileset firstgid="1" name="t" tilewidth="32" tileheight="24"/>)";

std::string MapOf(const std::string& body,
                  const std::string& attributes = R"(orientation="orthogonal")",
                  const std::string& tilesets = kPlainTiles) {
  return absl::StrCat(R"(<map version="1.10" )", attributes,
                      R"( width="12" height="12" tilewidth="32" tileheight="24">)", tilesets, body,
                      "</map>");
}

// Random numbers of 12 x 12 cells, some of them with flags.
std::vector<uint32_t> RandomNumbers(uint64_t seed, double density = 0.6) {
  SplitMix64 random(seed);
  std::vector<uint32_t> numbers(144);
  for (uint32_t& number : numbers) {
    if (random.Unit() < density) {
      number = static_cast<uint32_t>(1 + random.Next() % 9) |
               static_cast<uint32_t>(random.Next() % 16) << 28;
    }
  }
  return numbers;
}

std::string Bytes(const std::vector<uint32_t>& numbers) {
  std::string bytes;
  for (const uint32_t number : numbers) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 255);
  }
  return bytes;
}

std::string Zstd(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

std::string Base64(const std::string& bytes) { return absl::Base64Escape(bytes); }

std::string CsvData(const std::vector<uint32_t>& numbers) {
  return absl::StrCat(R"(<data encoding="csv">)", "\n", absl::StrJoin(numbers, ",\n"), "\n</data>");
}

std::string LayerOf(const std::string& data, const std::string& attributes = "") {
  return absl::StrCat(R"(<layer id="1" name="tiles" width="12" height="12" )", attributes, ">",
                      data, "</layer>");
}

ImportedMap Read(const std::string& map, const ImportOptions& options = WithLayer("*")) {
  return Imported(ImportTiled, map, options);
}

void ExpectSame(const std::vector<Polygon>& found, const std::vector<Polygon>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id(), expected[i].id());
    ASSERT_EQ(found[i].ring_count(), expected[i].ring_count());
    for (size_t r = 0; r < found[i].ring_count(); ++r) {
      ExpectRing(found[i], r, RingOf(expected[i], r));
    }
  }
}

TEST(TiledLayers, EncodingsAreAlike) {
  const std::vector<uint32_t> numbers = RandomNumbers(411);
  const ImportedMap expected = Read(MapOf(LayerOf(CsvData(numbers))));
  ASSERT_GT(expected.polygons.size(), 1u);
  std::string elements = "<data>";
  for (const uint32_t number : numbers) {
    elements += number == 0 ? "<tile/>" : absl::StrCat("<tile gid=\"", number, "\"/>");
  }
  const std::string bytes = Bytes(numbers);
  const auto packed = [](const char* compression, const std::string& data) {
    return absl::StrCat(R"(<data encoding="base64")", compression, ">\n   ", Base64(data),
                        "\n  </data>");
  };
  for (const std::string& data : {elements + "</data>", packed("", bytes),
                                  packed(R"( compression="zlib")", Deflated(bytes, 15)),
                                  packed(R"( compression="gzip")", Deflated(bytes, 31)),
                                  packed(R"( compression="zstd")", Zstd(bytes))}) {
    ExpectSame(Read(MapOf(LayerOf(data))).polygons, expected.polygons);
  }
  const auto in_json = [](const std::string& data) {
    return absl::StrCat(R"({"type": "map", "orientation": "orthogonal", "width": 12, "height": 12,
      "tilewidth": 32, "tileheight": 24, "tilesets": [], "layers": [{"type": "tilelayer",
      "name": "tiles", "width": 12, "height": 12, )",
                        data, "}]}");
  };
  for (const std::string& data :
       {absl::StrCat("\"data\": [", absl::StrJoin(numbers, ", "), "]"),
        absl::StrCat(R"("encoding": "base64", "data": ")", Base64(bytes), "\""),
        absl::StrCat(R"("encoding": "base64", "compression": "zstd", "data": ")",
                     Base64(Zstd(bytes)), "\"")}) {
    ExpectSame(Read(in_json(data)).polygons, expected.polygons);
  }
}

TEST(TiledLayers, OutlinesAreUnionsOfCellsOnTheLattice) {
  std::vector<uint32_t> numbers(144);
  for (const size_t cell : {13, 14, 15, 25, 27, 37, 38, 39, 52}) numbers[cell] = 3;
  const ImportedMap map =
      Read(MapOf(LayerOf(CsvData(numbers), R"(offsetx="0.5")")), WithLayer("tiles"));
  ASSERT_EQ(map.polygons.size(), 2u);
  ExpectRing(map.polygons[0], 0, {{32.5, 24}, {128.5, 24}, {128.5, 96}, {32.5, 96}});
  ExpectRing(map.polygons[0], 1, {{64.5, 48}, {64.5, 72}, {96.5, 72}, {96.5, 48}});
  // It touches the first in a corner.
  ExpectRing(map.polygons[1], 0, {{128.5, 96}, {160.5, 96}, {160.5, 120}, {128.5, 120}});
  EXPECT_EQ(map.polygons[0].id(), 1u);
}

TEST(TiledLayers, OutlinesWindTheSameWayWhenMirrored) {
  ImportOptions options;
  options.layers = {{"*", std::nullopt, LayerUse::kDefault}};
  for (const bool flips : {false, true}) {
    options.flip_y = flips;
    for (const char* orientation :
         {R"(orientation="orthogonal")", R"(orientation="isometric")",
          R"(orientation="hexagonal" hexsidelength="8" staggeraxis="x")"}) {
      const ImportedMap map =
          Read(MapOf(LayerOf(CsvData(RandomNumbers(412))), orientation), options);
      for (const Polygon& polygon : map.polygons) {
        for (size_t r = 0; r < polygon.ring_count(); ++r) {
          EXPECT_EQ(SignedArea(RingOf(polygon, r)) > 0, r == 0);
        }
      }
    }
  }
}

TEST(TiledLayers, WithoutOutlineEachCellIsAPolygon) {
  ImportOptions options = WithLayer("*");
  options.outline = false;
  const std::vector<uint32_t> numbers = RandomNumbers(413);
  const size_t filled = 144 - static_cast<size_t>(std::ranges::count(numbers, 0u));
  for (const char* orientation :
       {R"(orientation="orthogonal")", R"(orientation="isometric")", R"(orientation="staggered")",
        R"(orientation="hexagonal" hexsidelength="8")"}) {
    const ImportedMap map = Read(MapOf(LayerOf(CsvData(numbers)), orientation), options);
    EXPECT_EQ(map.polygons.size(), filled);
    options.outline = true;
    const double area =
        AreaOf(Read(MapOf(LayerOf(CsvData(numbers)), orientation), options).polygons);
    EXPECT_DOUBLE_EQ(AreaOf(map.polygons), area);
    options.outline = false;
  }
}

// --- Orientations -------------------------------------------------------------------------

// Returns the corners of a cell in half pixels, as Tiled's documentation places them.
std::vector<LatticePoint> CellCorners(const std::string& orientation, bool columns_stagger,
                                      bool even, int32_t side, Cell cell) {
  const int32_t w = 64, h = 48;  // in half pixels
  const int32_t c = cell.x, r = cell.y;
  if (orientation == "orthogonal") {
    return {{c * w, r * h}, {(c + 1) * w, r * h}, {(c + 1) * w, (r + 1) * h}, {c * w, (r + 1) * h}};
  }
  if (orientation == "isometric") {
    const int32_t x = (c - r + 12) * w / 2, y = (c + r) * h / 2;
    return {{x, y}, {x + w / 2, y + h / 2}, {x, y + h}, {x - w / 2, y + h / 2}};
  }
  side *= 2;
  const bool shifted = ((columns_stagger ? c : r) % 2 != 0) != even;
  if (columns_stagger) {
    const int32_t slope = (w - side) / 2, x = c * (slope + side);
    const int32_t y = r * h + (shifted ? h / 2 : 0);
    return {{x, y + h / 2},
            {x + slope, y},
            {x + slope + side, y},
            {x + w, y + h / 2},
            {x + slope + side, y + h},
            {x + slope, y + h}};
  }
  const int32_t slope = (h - side) / 2, y = r * (slope + side);
  const int32_t x = c * w + (shifted ? w / 2 : 0);
  return {{x, y + slope},     {x + w / 2, y},       {x + w, y + slope}, {x + w, y + slope + side},
          {x + w / 2, y + h}, {x, y + slope + side}};
}

using Edge = std::pair<LatticePoint, LatticePoint>;

// Adds the edge, cut at the steps of `period`-th parts, so that merged and unmerged edges are
// alike.
void AddEdge(Vec2 a, Vec2 b, std::multiset<Edge>& edges, const std::set<LatticePoint>& corners) {
  const auto key = [](Vec2 p) {
    return LatticePoint{static_cast<int32_t>(2 * p.x), static_cast<int32_t>(2 * p.y)};
  };
  const LatticePoint from = key(a), to = key(b);
  std::vector<LatticePoint> on;
  for (const LatticePoint p : corners) {
    const int64_t cross =
        int64_t{to.x - from.x} * (p.y - from.y) - int64_t{to.y - from.y} * (p.x - from.x);
    const bool between = std::min(from.x, to.x) <= p.x && p.x <= std::max(from.x, to.x) &&
                         std::min(from.y, to.y) <= p.y && p.y <= std::max(from.y, to.y);
    if (cross == 0 && between) on.push_back(p);
  }
  if (to < from) std::ranges::reverse(on);
  for (size_t i = 1; i < on.size(); ++i) edges.insert({on[i - 1], on[i]});
}

// The boundary of the importer is that of the cells' corners, edge by edge, and so is the number of
// polygons and holes.
void ExpectOutline(const std::string& orientation, bool columns_stagger, bool even, int32_t side) {
  const std::vector<uint32_t> numbers = RandomNumbers(414);
  const std::string attributes =
      absl::StrCat("orientation=\"", orientation, "\" hexsidelength=\"", side, "\" staggeraxis=\"",
                   columns_stagger ? "x" : "y", "\" staggerindex=\"", even ? "even" : "odd", "\"");
  const ImportedMap map = Read(MapOf(LayerOf(CsvData(numbers)), attributes));
  std::vector<std::vector<LatticePoint>> cells;
  std::set<LatticePoint> corners;
  for (int32_t i = 0; i < 144; ++i) {
    if (numbers[static_cast<size_t>(i)] == 0) continue;
    std::vector<LatticePoint> ring =
        CellCorners(orientation, columns_stagger, even, side, {i % 12, i / 12});
    ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
    if (ring.front() == ring.back()) ring.pop_back();
    corners.insert(ring.begin(), ring.end());
    cells.push_back(ring);
  }
  const std::vector<Outline> expected = OutlineRings(cells);
  std::multiset<Edge> expected_edges, found_edges;
  size_t expected_rings = 0, found_rings = 0;
  for (const Outline& outline : expected) {
    expected_rings += outline.rings.size();
    for (const auto& ring : outline.rings) {
      for (size_t i = 0; i < ring.size(); ++i) {
        const LatticePoint a = ring[i], b = ring[(i + 1) % ring.size()];
        AddEdge({a.x / 2.0, a.y / 2.0}, {b.x / 2.0, b.y / 2.0}, expected_edges, corners);
      }
    }
  }
  for (const Polygon& polygon : map.polygons) {
    found_rings += polygon.ring_count();
    for (size_t i = 0; i < polygon.edge_count(); ++i) {
      AddEdge(polygon.edge(i).a, polygon.edge(i).b, found_edges, corners);
    }
  }
  EXPECT_EQ(map.polygons.size(), expected.size());
  EXPECT_EQ(found_rings, expected_rings);
  EXPECT_EQ(found_edges, expected_edges);
}

TEST(TiledLayers, OutlinesOfAllOrientations) {
  ExpectOutline("orthogonal", false, false, 0);
  ExpectOutline("isometric", false, false, 0);
  for (const bool columns_stagger : {false, true}) {
    for (const bool even : {false, true}) {
      ExpectOutline("staggered", columns_stagger, even, 0);
      ExpectOutline("hexagonal", columns_stagger, even, 0);
      ExpectOutline("hexagonal", columns_stagger, even, 8);
    }
  }
}

// --- Chunks -------------------------------------------------------------------------------

// The chunks of an infinite map, moved by (-16, -4) cells, have the outline of the whole.
TEST(TiledLayers, ChunksJoin) {
  const std::vector<uint32_t> numbers = RandomNumbers(415);
  const ImportedMap whole = Read(MapOf(LayerOf(CsvData(numbers))));
  std::string chunks;
  for (size_t row = 0; row < 12; row += 4) {
    for (size_t column = 0; column < 12; column += 6) {
      std::vector<uint32_t> part;
      part.reserve(24);
      for (size_t i = 0; i < 24; ++i) part.push_back(numbers[12 * (row + i / 6) + column + i % 6]);
      absl::StrAppend(&chunks, R"(<chunk x=")", static_cast<int>(column) - 16, R"(" y=")",
                      static_cast<int>(row) - 4, R"(" width="6" height="4">)",
                      absl::StrJoin(part, ","), "</chunk>");
    }
  }
  ImportOptions options = WithLayer("*");
  options.origin = {-16 * 32, -4 * 24};
  const ImportedMap infinite = Read(
      MapOf(LayerOf(R"(<data encoding="csv">)" + chunks + "</data>"), R"(infinite="1")"), options);
  ExpectSame(infinite.polygons, whole.polygons);
}

TEST(TiledLayers, AnInfiniteMapMayBeEmpty) {
  EXPECT_TRUE(
      Read(MapOf(LayerOf("<data encoding=\"csv\">\n</data>"), R"(infinite="1")")).polygons.empty());
}

TEST(TiledLayers, ChunksInJsonAreReadAsInXml) {
  const ImportedMap map = Read(R"({"type": "map", "width": 4, "height": 4, "tilewidth": 10,
      "tileheight": 10, "infinite": true, "tilesets": [], "layers": [{"type": "tilelayer",
      "name": "a", "startx": -16, "starty": 0, "width": 16, "height": 16, "encoding": "base64",
      "compression": "", "chunks": [{"x": -16, "y": 0, "width": 2, "height": 1,
      "data": "AQAAAAEAAAA="}]}]})");
  ExpectRing(map.polygons.at(0), 0, {{-160, 0}, {-140, 0}, {-140, 10}, {-160, 10}});
}

// --- Choices, categories, unions ------------------------------------------------------------

constexpr char kTwoLayers[] = R"(
  <group name="level"><objectgroup name="walls"><properties><property name="kind" value="1,2"/>
    </properties>
    <object id="1" width="4" height="4"/>
    <object id="2" width="4" height="4"><properties><property name="kind" type="int" value="5"/>
      </properties></object></objectgroup></group>
  <objectgroup name="doors"><object id="3" width="4" height="4"/></objectgroup>)";

TEST(TiledLayers, CategoriesComeFromTheInnermostProperty) {
  ImportOptions options = Unflipped();
  options.property = "kind";
  const ImportedMap map = Read(MapOf(kTwoLayers), options);
  EXPECT_EQ(map.polygons.at(0).category(), 6u);  // bits 1 and 2, of the layer
  EXPECT_EQ(map.polygons.at(1).category(), 5u);  // a number, of the object
  EXPECT_EQ(map.polygons.at(2).category(), 1u);
}

TEST(TiledLayers, GroupsGiveTheirCategoryToLayersWithoutOne) {
  ImportOptions options = Unflipped();
  options.property = "kind";
  const char* group = R"(<group name="g"><properties><property name="kind" value="12"/></properties>
      <group name="h"><objectgroup name="o"><object width="1" height="1"/></objectgroup></group>
      </group><objectgroup name="p"><object width="1" height="1"/></objectgroup>)";
  const ImportedMap map = Read(MapOf(group), options);
  EXPECT_EQ(map.polygons.at(0).category(), 12u);
  EXPECT_EQ(map.polygons.at(1).category(), 1u);
}

TEST(TiledLayers, ChoicesGiveCategoryAndUse) {
  ImportOptions options = Unflipped();
  options.property = "kind";
  options.layers = {{"*", 7, LayerUse::kHollow}, {"doors", 9, LayerUse::kSkip}};
  const ImportedMap map = Read(MapOf(kTwoLayers), options);
  ASSERT_EQ(map.polygons.size(), 2u);
  EXPECT_EQ(map.polygons[0].category(), 7u);
  EXPECT_EQ(map.polygons[1].category(), 7u);
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kBoundary);
  EXPECT_EQ(SkippedOf(map), (std::vector<std::string>{"layer \"doors\": its choice skips it"}));
  EXPECT_NE(std::ranges::find(map.mapping,
                              std::pair<std::string, std::string>("layer", "walls=7,hollow")),
            map.mapping.end());
}

TEST(TiledLayers, ChoicesMayNameAPathOrAGroup) {
  for (const char* name : {"walls", "level/walls", "level"}) {
    const ImportedMap map = Read(MapOf(kTwoLayers), WithLayer(name, LayerUse::kSkip));
    EXPECT_EQ(map.polygons.size(), 1u) << name;
  }
  const ImportedMap map = Read(MapOf(kTwoLayers), WithLayer("wals"));
  EXPECT_EQ(
      SkippedOf(map),
      (std::vector<std::string>{"--layer wals: no layer has this name; did you mean 'walls'?"}));
}

constexpr char kCollisionTiles[] = R"(<tileset firstgid="1" name="t" tilewidth="32" tileheight="24">
  <properties/>
  <tile id="0"><properties><property name="kind" value="4"/></properties>
   <objectgroup><object width="32" height="24"/></objectgroup></tile>
  <tile id="1"><objectgroup>
   <object y="12" width="32" height="12"><properties><property name="kind" value="8"/></properties>
   </object></objectgroup></tile></tileset>)";

// A layer that has tiles with shapes is those shapes, named or not; other tiles are free.
TEST(TiledLayers, TilesWithShapesAreTakenByDefault) {
  std::vector<uint32_t> numbers(144);
  numbers[0] = numbers[1] = 1;
  numbers[2] = 2;
  numbers[5] = 3;
  const std::string text = MapOf(LayerOf(CsvData(numbers)), "", kCollisionTiles);
  ImportOptions options = Unflipped();
  options.property = "kind";
  for (const bool is_named : {false, true}) {
    if (is_named) options.layers = {{"tiles", std::nullopt, LayerUse::kDefault}};
    const ImportedMap map = Read(text, options);
    ASSERT_EQ(map.polygons.size(), 3u);
    ExpectRing(map.polygons[0], 0, {{0, 0}, {32, 0}, {32, 24}, {0, 24}});
    ExpectRing(map.polygons[2], 0, {{64, 12}, {96, 12}, {96, 24}, {64, 24}});
    EXPECT_EQ(map.polygons[0].category(), 4u);  // of the tile
    EXPECT_EQ(map.polygons[2].category(), 8u);  // of the shape
    EXPECT_TRUE(map.skipped.empty());
  }
}

TEST(TiledLayers, MergeUnitesTouchingBoxesOfACategory) {
  std::vector<uint32_t> numbers(144);
  numbers[0] = numbers[1] = numbers[13] = 1;
  numbers[2] = 2;
  numbers[26] = 1;  // touches in a corner
  const std::string text = MapOf(LayerOf(CsvData(numbers)) + R"(<objectgroup name="o">
        <object id="40" x="64" y="0" width="8" height="12"/>
        <object id="30" x="16" y="0" width="8" height="12"/></objectgroup>)",
                                 "", kCollisionTiles);
  ImportOptions options = Unflipped();
  options.merge = true;
  const ImportedMap map = Read(text, options);
  ASSERT_EQ(map.polygons.size(), 2u);
  EXPECT_EQ(map.polygons[0].id(), 30u);
  ExpectRing(map.polygons[0], 0,
             {{0, 0},
              {72, 0},
              {72, 12},
              {96, 12},
              {96, 24},
              {64, 24},
              {64, 48},
              {32, 48},
              {32, 24},
              {0, 24}});
  ExpectRing(map.polygons[1], 0, {{64, 48}, {96, 48}, {96, 72}, {64, 72}});
  options.property = "kind";
  EXPECT_EQ(Read(text, options).polygons.size(), 5u);
}

TEST(TiledLayers, ParallaxIsReported) {
  const ImportedMap map = Read(MapOf(
      R"(<objectgroup name="far" parallaxx="0.5"><object width="1" height="1"/></objectgroup>)"));
  EXPECT_EQ(map.polygons.size(), 1u);
  EXPECT_EQ(
      SkippedOf(map),
      (std::vector<std::string>{"the parallax of \"far\": the layer is placed as if it had none"}));
}

}  // namespace tiled_layers_test
}  // namespace carom::testing
