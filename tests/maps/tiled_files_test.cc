// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Files of Tiled (client/maps/tiled/tiled.h): tilesets, templates and worlds beside a map, old
// forms, the maps of the shared folder, and inputs that are refused.

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/maps/tiled/tiled.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace tiled_files_test {

using Files = std::map<std::string, std::string>;

std::string MapOf(const std::string& body) {
  return absl::StrCat(R"(<map version="1.10" width="2" height="2" tilewidth="16" tileheight="10">)",
                      "\n", body, "\n</map>");
}

ImportedMap Read(const std::string& map, const Files& files = {},
                 const ImportOptions& options = Unflipped()) {
  return Imported(ImportTiled, map, options, files);
}

constexpr char kXmlTileset[] = R"(<?xml version="1.0"?>
<tileset name="t" tilewidth="16" tileheight="10" tilecount="4" columns="2">
 <tile id="3"><objectgroup><object x="1" y="2" width="3" height="4"/></objectgroup></tile>
</tileset>)";
constexpr char kJsonTileset[] =
    R"({"type": "tileset", "name": "t", "tilewidth": 16, "tileheight": 10,
  "tilecount": 4, "columns": 2, "tiles": [{"id": 3, "objectgroup": {"type": "objectgroup",
  "objects": [{"x": 1, "y": 2, "width": 3, "height": 4}]}}]})";
constexpr char kTileLayer[] =
    R"(<layer name="l" width="2" height="2"><data encoding="csv">0,13,0,0</data></layer>)";

// --- Files beside a map ----------------------------------------------------------------------

TEST(TiledFilesTest, TilesetsAreOpenedInBothForms) {
  for (const char* tileset : {kXmlTileset, kJsonTileset}) {
    const ImportedMap map =
        Read(MapOf(std::string(R"(<tileset firstgid="10" source="sets/./a.tsx"/>)") + kTileLayer),
             {{"sets/a.tsx", tileset}});
    ExpectRing(map.polygons.at(0), 0, {{17, 2}, {20, 2}, {20, 6}, {17, 6}});
  }
}

TEST(TiledFilesTest, ATilesetThatCannotBeOpenedIsReported) {
  const ImportedMap map =
      Read(MapOf(std::string(R"(<tileset firstgid="10" source="a.tsx"/>)") + kTileLayer +
                 R"(<objectgroup name="o"><object gid="13"/></objectgroup>)"));
  EXPECT_TRUE(map.polygons.empty());
  EXPECT_EQ(SkippedOf(map),
            (std::vector<std::string>{
                "tileset a.tsx: no such file", "layer \"l\": no collision shapes in the tilesets",
                "1 tile object in layer \"o\": the tileset cannot be opened"}));
}

constexpr char kTemplate[] = R"(<template><tileset firstgid="1" source="../sets/a.tsx"/>
  <object name="x" gid="4" width="32" height="20" rotation="90"><properties>
   <property name="kind" value="2"/></properties></object></template>)";

// The tile of a template belongs to the template's tileset, whatever the map's tilesets are.
TEST(TiledFilesTest, TemplatesGiveWhatAnObjectLacks) {
  ImportOptions options = Unflipped();
  options.property = "kind";
  const ImportedMap map =
      Read(MapOf(R"(<objectgroup name="o">
    <object id="1" template="templates/t.tx" x="100" y="50"/>
    <object id="2" template="templates/t.tx" x="100" y="50" rotation="0" width="16" height="10"/>
    <object id="3" template="templates/u.tj" x="5" y="6" height="2"/>
    <object id="4" template="templates/none.tx" x="5" y="6"/></objectgroup>)"),
           {{"sets/a.tsx", kXmlTileset},
            {"templates/t.tx", kTemplate},
            {"templates/u.tj", R"({"type": "template", "object": {"width": 7, "height": 9}})"}},
           options);
  ASSERT_EQ(map.polygons.size(), 3u);
  // In the image, twice as large, above (100, 50): (2, -16) to (8, -8); then a quarter turn.
  ExpectRing(map.polygons[0], 0, {{116, 52}, {116, 58}, {108, 58}, {108, 52}});
  EXPECT_EQ(map.polygons[0].category(), 2u);
  ExpectRing(map.polygons[1], 0, {{101, 42}, {104, 42}, {104, 46}, {101, 46}});
  ExpectRing(map.polygons[2], 0, {{5, 6}, {12, 6}, {12, 8}, {5, 8}});
  EXPECT_EQ(map.polygons[2].id(), 3u);
  EXPECT_EQ(SkippedOf(map),
            (std::vector<std::string>{"template templates/none.tx: no such file",
                                      "1 object in layer \"o\": the template cannot be opened"}));
}

TEST(TiledFilesTest, WorldsPlaceTheirMaps) {
  const std::string map =
      MapOf(R"(<tileset firstgid="10" source="../sets/a.tsx"/>)" + std::string(kTileLayer) +
            R"(<objectgroup name="o"><object id="5" width="1" height="1"/></objectgroup>)");
  const ImportedMap world =
      Read(R"({"maps": [{"fileName": "maps/a.tmx", "x": 100, "y": -50},
      {"fileName": "maps/b.tmx", "x": 0, "y": 0}, {"fileName": "../c.tmx"}],
      "patterns": [{"regexp": "x"}], "type": "world"})",
           {{"maps/a.tmx", map}, {"maps/b.tmx", map}, {"sets/a.tsx", kXmlTileset}});
  ASSERT_EQ(world.polygons.size(), 4u);
  ExpectRing(world.polygons[0], 0, {{117, -48}, {120, -48}, {120, -44}, {117, -44}});
  ExpectRing(world.polygons[3], 0, {{0, 0}, {1, 0}, {1, 1}, {0, 1}});
  EXPECT_EQ(world.polygons[3].id(), 4u);  // both maps have an object 5
  EXPECT_EQ(SkippedOf(world),
            (std::vector<std::string>{
                "maps that a pattern of the world names: a folder is not searched for them",
                "map ../c.tmx: no such file"}));
}

// The tiles of a tileset are where they are in its image.
TEST(TiledFilesTest, TilesetsAndTemplatesAreImportedAlone) {
  for (const char* tileset : {kXmlTileset, kJsonTileset}) {
    const ImportedMap map = Read(tileset);
    ASSERT_EQ(map.polygons.size(), 1u);
    ExpectRing(map.polygons[0], 0, {{17, 12}, {20, 12}, {20, 16}, {17, 16}});
  }
  const ImportedMap map =
      Read(R"(<template><object width="3" height="4"><ellipse/></object></template>)");
  EXPECT_EQ(map.polygons.at(0).bounds().max, (Vec2{3, 4}));
}

TEST(TiledFilesTest, OldJsonIsRead) {
  ImportOptions options = Unflipped();
  options.property = "kind";
  const ImportedMap map = Read(R"({"width": 2, "height": 1, "tilewidth": 16, "tileheight": 10,
      "version": 1, "tilesets": [{"firstgid": 1, "tilewidth": 16, "tileheight": 10,
      "tiles": {"0": {"objectgroup": {"objects": [{"id": 1, "x": 0, "y": 0, "width": 16,
      "height": 10, "properties": {"kind": "3"}}]}}}}],
      "layers": [{"type": "tilelayer", "name": "l", "width": 2, "height": 1, "data": [0, 1]}]})",
                               {}, options);
  ExpectRing(map.polygons.at(0), 0, {{16, 0}, {32, 0}, {32, 10}, {16, 10}});
  EXPECT_EQ(map.polygons[0].category(), 3u);
}

TEST(TiledFilesTest, IsRecognizedByItsContent) {
  for (const char* text :
       {"<?xml version=\"1.0\"?>\n<!-- a > b --><!DOCTYPE map SYSTEM \"x.dtd\">\n<map>",
        "\xEF\xBB\xBF <tileset/>", "<template>", R"({"a": {"type": "x"}, "type":"map"})",
        R"({"type": "world"})", R"({"layers": [], "tilewidth": 3})"}) {
    EXPECT_TRUE(LooksLikeTiled(Sniff(text))) << text;
  }
  for (const char* text : {"", "{", "{\"type\"", "<svg>", "<", "[1]", R"({"maps": []})",
                           R"({"a": {"type": "map"}})", R"({"type": ["map"]})", "\"", "{\"\\"}) {
    EXPECT_FALSE(LooksLikeTiled(Sniff(text))) << text;
  }
}

// --- Refused inputs --------------------------------------------------------------------------

std::string WithObject(const std::string& object) {
  return MapOf("<objectgroup>\n" + object + "\n</objectgroup>");
}
std::string WithLayer2x2(const std::string& data, const std::string& size = "2") {
  return MapOf(absl::StrCat(R"(<layer name="l" width=")", size, R"(" height="2">)", "\n", data,
                            "\n</layer>"));
}

TEST(TiledErrors, InXmlNameTheLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"<map>\n<layer>\n</map>", "line 3: Start-end tags mismatch"},
      {"<map>", "line 1: Start-end tags mismatch"},
      {"<map/>", "line 1: tilewidth required"},
      {"<map tilewidth=\"8\"/>", "line 1: tileheight required"},
      {"<map tilewidth=\"-1\"/>", "line 1: tilewidth must be an integer from 1 to 1048576"},
      {"<map\n orientation=\"round\"/>",
       "line 1: orientation must be \"orthogonal\", \"isometric\", \"staggered\" or \"hexagonal\""},
      {WithObject(R"(<object x="a"/>)"), "line 3: x " + std::string(kNumberRange)},
      {WithObject(R"(<object x="nan"/>)"), "line 3: x " + std::string(kNumberRange)},
      {WithObject(R"(<object y="1e999"/>)"), "line 3: y " + std::string(kNumberRange)},
      {WithObject(R"(<object width="1e16"/>)"), "line 3: width " + std::string(kNumberRange)},
      {WithObject(R"(<object id="1.5"/>)"),
       "line 3: id must be an integer from 0 to 9007199254740992"},
      {WithObject(R"(<object gid="4294967296"/>)"),
       "line 3: gid must be an integer from 0 to 4294967295"},
      {WithObject(R"(<object><polygon points="0,0 1"/></object>)"),
       "line 3: points must be pairs \"x,y\" of numbers, at most 2^53 in magnitude"},
      {WithObject(R"(<object><polyline points=""/></object>)"),
       "line 3: polyline must have points"},
      {WithObject(R"(<object x="9007199254740992" width="2"/>)"),
       "line 3: has a point beyond 2^53 in magnitude, or no number"},
      {WithObject(R"(<object width="1e15" height="1e15"><ellipse/></object>)"),
       "line 3: needs more than 65536 chords; raise --chord"},
      {WithLayer2x2(R"(<data encoding="csv">1,2,3</data>)"),
       "line 3: data has 3 cells; its size is 2 x 2"},
      {WithLayer2x2(R"(<data encoding="csv">1,2,3,x</data>)"),
       "line 3: data must be unsigned 32-bit integers, separated by commas"},
      {WithLayer2x2(R"(<data encoding="csv">1,2,3,4294967296</data>)"),
       "line 3: data must be unsigned 32-bit integers, separated by commas"},
      {WithLayer2x2(R"(<data><tile gid="1"/><tile gid="-1"/></data>)"),
       "line 3: gid must be an unsigned 32-bit integer"},
      {WithLayer2x2(R"(<data encoding="hex">1</data>)"),
       "line 3: encoding must be \"csv\", \"base64\" or absent"},
      {WithLayer2x2(R"(<data encoding="base64" compression="lzma">1</data>)"),
       "line 3: compression must be \"gzip\", \"zlib\", \"zstd\" or absent"},
      {WithLayer2x2(R"(<data encoding="base64">AAA*</data>)"), "line 3: data must be base64"},
      {WithLayer2x2(R"(<data encoding="base64">AAAA</data>)"),
       "line 3: data has 3 bytes; its size in cells needs 16"},
      {WithLayer2x2(R"(<data encoding="base64" compression="zlib">AAAA</data>)"),
       "line 3: data is no compressed data, or damaged or cut"},
      {WithLayer2x2(R"(<data encoding="base64" compression="zstd">AAAA</data>)"),
       "line 3: data is no compressed data, or damaged or cut"},
      {WithLayer2x2(R"(<data encoding="csv"><chunk x="1e9" width="1" height="1">1</chunk></data>)"),
       "line 3: x must be an integer from -67108864 to 67108864"},
      {WithLayer2x2("<data encoding=\"csv\">1</data>", "67108864"),
       "line 3: data has 1 cells; its size is 67108864 x 2"},
      {WithLayer2x2("<data encoding=\"base64\" compression=\"zlib\">AAAA</data>", "67108864"),
       "line 3: data is beyond the limit of bytes of decompressed layers"},
      {MapOf(R"(<tileset firstgid="0"/>)"),
       "line 2: firstgid must be an integer from 1 to 268435455"},
      {MapOf(R"(<tileset firstgid="1"/>)"), "line 2: tilewidth required: this is no tileset"},
      {MapOf(R"(<tileset tilewidth="1" objectalignment="middle"/>)"),
       "line 2: objectalignment must be an alignment such as \"bottomleft\""},
      {MapOf(R"(<tileset tilewidth="1"><tile/></tileset>)"), "line 2: id required"},
      {"<template/>", "line 1: object required: this is no template"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(ImportTiled, text), error) << text;
}

TEST(TiledErrors, InJsonNameThePath) {
  const std::string head = R"({"type": "map", "tilewidth": 8, "tileheight": 8, )";
  const std::pair<std::string, std::string> cases[] = {
      {"{\"type\": \"map\",\n 1}", "line 2: not JSON"},
      {"[]", "tilewidth: required"},
      {head + R"("layers": 3})", "layers: must be an array"},
      {head + R"("layers": [3]})", "layers[0]: must be an object"},
      {head + R"("layers": [{}]})",
       "layers[0].type: must be the kind of a layer: \"tilelayer\", \"objectgroup\""},
      {head + R"("layers": [{"type": "tilelayer", "width": 1, "height": 1, "data": [1.5]}]})",
       "layers[0].data: must be a list of cell numbers, each an unsigned 32-bit integer"},
      {head + R"("layers": [{"type": "group", "layers": [{"type": "objectgroup",
          "objects": [{}, {"x": "1"}]}]}]})",
       "layers[0].layers[0].objects[1].x: " + std::string(kNumberRange)},
      {head + R"("layers": [{"type": "objectgroup", "objects": [{"polygon": [{"x": 1}]}]}]})",
       "layers[0].objects[0].polygon[0]: must be {\"x\": X, \"y\": Y}, numbers of at most 2^53 in "
       "magnitude"},
      {head + R"("layers": [{"type": "objectgroup", "objects": [{"polygon": []}]}]})",
       "layers[0].objects[0].polygon: must have points"},
      {head + R"("tilesets": [{"firstgid": 1, "tilewidth": 1, "tiles": [{"id": -1}]}]})",
       "tilesets[0].tiles[0].id: must be an integer from 0 to 268435455"},
      {R"({"type": "world", "maps": [{"x": 1}]})", "maps[0].fileName: required"},
  };
  for (const auto& [text, error] : cases) {
    const std::string found = ErrorOf(ImportTiled, text);
    EXPECT_EQ(found.substr(0, error.size()), error) << text;
  }
}

TEST(TiledErrors, InOtherFilesNameTheFile) {
  const std::string map = MapOf(R"(<tileset firstgid="1" source="a.tsx"/>)");
  const auto error = [&](const std::string& tileset) {
    return ErrorOf(ImportTiled, map, {}, {{"a.tsx", tileset}});
  };
  EXPECT_EQ(error("<tileset>\n<tile>\n"), "a.tsx, line 2: Start-end tags mismatch");
  EXPECT_EQ(error("<tileset tilewidth='1'>\n<tile id='x'/></tileset>"),
            "a.tsx, line 2: id must be an integer from 0 to 268435455");
  EXPECT_EQ(error("<map/>"), "a.tsx, line 1: tilewidth required: this is no tileset");
  EXPECT_EQ(error(R"({"tilewidth": "1"})"),
            "a.tsx, tilewidth: must be an integer from 0 to 1048576");
  EXPECT_EQ(error("\n{"), "a.tsx, line 2: not JSON");
}

TEST(TiledErrors, PropertiesMustBeCategories) {
  ImportOptions options;
  options.property = "kind";
  const std::string map = WithObject(
      R"(<object width="1"><properties><property name="kind" value="wall"/></properties></object>)");
  EXPECT_EQ(ErrorOf(ImportTiled, map, options),
            "line 3: property \"kind\" must be an unsigned 64-bit integer, or a comma-separated "
            "list of bit numbers from 0 to 63");
}

TEST(TiledErrors, OptionsAreChecked) {
  for (const double bad : {0.0, HUGE_VAL, std::nan("")}) {
    ImportOptions scale, origin, chord;
    scale.scale = bad;
    EXPECT_EQ(ErrorOf(ImportTiled, MapOf(""), scale).substr(0, 6), "scale:");
    chord.chord = bad == HUGE_VAL ? -1 : bad;
    EXPECT_EQ(ErrorOf(ImportTiled, MapOf(""), chord).substr(0, 6), "chord:");
    if (bad == 0) continue;
    origin.origin.y = bad;
    EXPECT_EQ(ErrorOf(ImportTiled, MapOf(""), origin).substr(0, 7), "origin:");
  }
}

// 16 MiB of zeros in 16 KiB: the layer's size in cells bounds what is decompressed.
TEST(TiledErrors, DecompressionIsBounded) {
  const std::string zeros(size_t{1} << 24, '\0');
  std::string packed(compressBound(zeros.size()), '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(zeros.data()), zeros.size()),
            Z_OK);
  const std::string data = absl::StrCat(R"(<data encoding="base64" compression="zlib">)",
                                        absl::Base64Escape(packed.substr(0, size)), "</data>");
  EXPECT_EQ(ErrorOf(ImportTiled, WithLayer2x2(data)),
            "line 3: data has more than 16 bytes when decompressed");
  ImportOptions options;
  options.max_decompressed_bytes = (size_t{1} << 24) - 1;
  EXPECT_EQ(ErrorOf(ImportTiled, WithLayer2x2(data, "2097152"), options),
            "line 3: data is beyond the limit of bytes of decompressed layers");
  // The bound is for all layers together.
  options.max_decompressed_bytes = size_t{1} << 24;
  const std::string layer =
      absl::StrCat(R"(<layer name="l" width="2097152" height="2">)", data, "</layer>");
  EXPECT_TRUE(Read(MapOf(layer), {}, options).polygons.empty());
  EXPECT_EQ(ErrorOf(ImportTiled, MapOf(layer + layer), options),
            "line 2: data is beyond the limit of bytes of decompressed layers");
}

TEST(TiledErrors, NestingIsBounded) {
  std::string xml, json;
  for (int i = 0; i < 300; ++i) {
    xml += "<group>";
    json += R"({"type": "group", "layers": [)";
  }
  for (int i = 0; i < 300; ++i) {
    xml += "</group>";
    json += "]}";
  }
  EXPECT_EQ(ErrorOf(ImportTiled, MapOf(xml)), "line 2: groups are nested too deep");
  EXPECT_EQ(ErrorOf(ImportTiled, R"({"tilewidth": 1, "tileheight": 1, "layers": [)" + json + "]}"),
            "arrays and objects are nested deeper than 256");
  const std::string loop = R"(<template><object template="t.tx"/></template>)";
  EXPECT_NE(ErrorOf(ImportTiled, WithObject(R"(<object template="t.tx"/>)"), {}, {{"t.tx", loop}}),
            "");
}

TEST(TiledErrors, EntitiesDoNotExpand) {
  const std::string text = R"(<!DOCTYPE map [<!ENTITY a "0000000000"><!ENTITY b "&a;&a;">
    <!ENTITY c SYSTEM "file:///etc/passwd">]>)" +
                           MapOf(R"(<objectgroup name="&b;&c;"><object/></objectgroup>)");
  EXPECT_EQ(SkippedOf(Read(text)),
            (std::vector<std::string>{"1 object in layer \"&b;&c;\": the size is 0"}));
}

// --- The maps of the shared folder ---------------------------------------------------------

// Files, and how many polygons all of their layers have: objects, and unions of cells. The counts
// are those of Tiled's own export (tiled_referee.py).
TEST(TiledShared, AllMapsAreImported) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::map<std::string, size_t> counts = {
      {"desert.tmx", 1},
      {"forest/forest.tmx", 16},
      {"hexagonal-mini.tmx", 1},
      {"isometric_staggered_grass_and_water.tmx", 1},
      {"orthogonal-outside.tmx", 53},
      {"rpg/island.tmx", 36},
      {"sticker-knight/map/sandbox.tmx", 114},
      {"sticker-knight/sticker-knight.world", 114},
  };
  const std::filesystem::path folder = data + "/raw/tiled";
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string bytes = ReadFile(entry.path().string());
    if (!LooksLikeTiled(Sniff(bytes))) continue;
    ++files;
    const absl::StatusOr<ImportedMap> map =
        ImportTiled(bytes, WithLayer("*"), OpenBeside(entry.path().string()));
    ASSERT_TRUE(map.ok()) << entry.path() << ": " << map.status();
    const auto count = counts.find(std::filesystem::relative(entry.path(), folder).string());
    EXPECT_EQ(map->polygons.size(), count == counts.end() ? 0 : count->second) << entry.path();
  }
  EXPECT_EQ(files, 15u);
}

}  // namespace tiled_files_test
}  // namespace carom::testing
