// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz target of maps: any bytes are refused with a message, or are polygons that make a scene.
// Inputs are small valid files of every format, with some of their numbers, words and bytes
// changed; the files beside a map are examples too, and the map itself, which tries to contain
// itself.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "carom/bundle.h"
#include "carom/scene.h"
#include "client/formats/scene_writer.h"
#include "client/maps/map_import.h"
#include "tests/fuzz/target.h"
#include "tests/support/choices.h"

namespace carom {
namespace {

// A small valid file.
struct Example {
  std::string_view name;
  std::string_view text;
};

constexpr Example kExamples[] = {
    {"a.geojson", R"({"type":"FeatureCollection","name":"a","features":[{"type":"Feature","id":7,
"properties":{"kind":"0,3"},"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[9,0],[9,9],
[0,0]],[[1,1],[2,1],[2,2],[1,1]]],[[[20,0],[21,0],[20,1],[20,0]]]]}},{"type":"Feature","geometry":
{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[0,0],[1.5,1e1]]},
{"type":"Point","coordinates":[1,2]}]}}]})"},
    {"a.wkt", R"(SRID=4326;POLYGON((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))
MULTILINESTRING Z((0 0 7,1 1 7),(2 2 7,3 3 7)) POINT(1 2)
GEOMETRYCOLLECTION(CIRCULARSTRING(5 0,3 4,0 5),CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(-5 0,0 5,
5 0),(5 0,-5 0))),MULTIPOLYGON(((0 0,1 0,1 1,0 0)),EMPTY)))"},
    {"a.svg", R"svg(<svg width="20mm" viewBox="0 0 100 50"><defs><symbol id="s" viewBox="0 0 9 9">
<circle cx="4" cy="4" r="3"/></symbol><g id="g"><rect width="10%" height="2mm" rx="1"/></g></defs>
<g transform="translate(3 4) rotate(30) skewX(5)" inkscape:label="Walls"><path d="M1 2 3,4l1-1.5H10
h-1V7v1zm5 5C0 1 2 3 4 5S1 2 3 4Q1 2 3 4T5 6a5 3 20 0 1 9 9L9 9" style="fill:none"/></g>
<polygon points="0 0 4 0 4 3"/><use href="#g" x="4"/><use href="#s" width="20" height="9"/>
<ellipse cx="1" cy="2" rx="3" ry="4" transform="matrix(1 2 3 4 5 6)"/></svg>)svg"},
    {"a.tscn", R"([gd_scene format=3]
[ext_resource type="PackedScene" path="res://a.tscn" id="1"]
[ext_resource type="PackedScene" path="res://b.tscn" id="2"]
[ext_resource type="TileSet" path="res://tiles.tres" id="3"]
[sub_resource type="CapsuleShape2D" id="c"]
radius = 2.0
height = 10.0
[sub_resource type="ConcavePolygonShape2D" id="s"]
segments = PackedVector2Array(0, 0, 4, 0, 4, 0, 4, 4)
[node name="Root" type="StaticBody2D" unique_id=7]
position = Vector2(3, 4)
rotation = 0.5
skew = 0.25
collision_layer = 6
[node name="A" type="CollisionShape2D" parent="."]
shape = SubResource("c")
scale = Vector2(2, 1)
[node name="B" type="CollisionShape2D" parent="."]
shape = SubResource("s")
[node name="C" type="CollisionPolygon2D" parent="."]
polygon = PackedVector2Array(0, 0, 4, 0, 4, 3)
[node name="D" parent="." instance=ExtResource("2")]
[node name="S" parent="D" index="0"]
disabled = true
[node name="E" type="TileMapLayer" parent="."]
tile_map_data = PackedByteArray("AAAAAAAAAAAAAAAAAAD//wIAAAAAAAAAABABAAAAAAABAAAAAGAFAAUAAAABAAAAAAA=")
tile_set = ExtResource("3")
[node name="F" type="TileMap" parent="."]
tile_set = ExtResource("3")
format = 2
layer_0/tile_data = PackedInt32Array(0, 0, 0, 196607, 0, 268435456)
[node name="G" type="Polygon2D" parent="."]
polygon = PackedVector2Array(0, 0, 4, 0, 4, 3)
)"},
    {"b.tscn", R"([gd_scene format=3]
[sub_resource type="RectangleShape2D" id="r"]
size = Vector2(2, 2)
[node name="Wall" type="StaticBody2D"]
[node name="S" type="CollisionShape2D" parent="."]
shape = SubResource("r")
)"},
    {"tiles.tres", R"([gd_resource type="TileSet" format=3]
[sub_resource type="TileSetAtlasSource" id="a"]
0:0/0 = 0
0:0/0/physics_layer_0/polygon_0/points = PackedVector2Array(-8, -8, 8, -8, 8, 0)
1:0/0/physics_layer_1/polygon_0/points = PackedVector2Array(-8, -8, 8, -8, 0, 8)
1:0/0/custom_data_0 = 3
[resource]
tile_shape = 1
tile_layout = 5
tile_size = Vector2i(32, 16)
physics_layer_0/collision_layer = 1
custom_data_layer_0/name = "kind"
sources/0 = SubResource("a")
)"},
    {"a.ldtk",
     R"({"jsonVersion":"1.5.3","worldLayout":"Free","defs":{"layers":[{"identifier":"Walls",
"intGridValues":[{"value":1,"identifier":"stone"}]}],"entities":[{"identifier":"Box","renderMode":
"Rectangle"},{"identifier":"Pond","renderMode":"Ellipse","hollow":true}]},"levels":[{"identifier":
"A","worldX":100,"worldY":-20,"worldDepth":0,"pxWid":30,"pxHei":20,"layerInstances":[
{"__identifier":"Things","__type":"Entities","__gridSize":16,"entityInstances":[{"__identifier":
"Box","__pivot":[0,0.5],"px":[10,20],"width":4,"height":6,"fieldInstances":[{"__identifier":"kind",
"__value":5}]},{"__identifier":"Pond","__pivot":[0.5,1],"px":[10,20],"width":8,"height":4}]},
{"__identifier":"Walls","__type":"IntGrid","__gridSize":10,"__cWid":3,"__cHei":2,
"__pxTotalOffsetX":1,"intGridCsv":[1,1,2,0,1,2]},{"__identifier":"Rocks","__type":"Tiles",
"__gridSize":8,"gridTiles":[{"px":[0,0]},{"px":[8,0]}]}]},{"identifier":"B","externalRelPath":
"b.ldtkl","layerInstances":null}]})"},
    {"b.ldtkl", R"({"identifier":"B","layerInstances":[{"__identifier":"Walls","__type":"IntGrid",
"__gridSize":10,"__cWid":1,"__cHei":1,"intGridCsv":[1]}]})"},
    {"a.map", "type octile\nheight 3\nwidth 5\nmap\n@@@@@\n@.GSO\n@.TW@\n"},
    {"foundry.json", R"({"name":"a","walls":[{"c":[0,0,100,0],"move":20,"sight":20},{"c":[0,0,0,50],
"door":1,"ds":1,"dir":2},{"c":[1,2,3,4],"move":1,"sense":2,"flags":{"kind":3}}]})"},
    {"a.dd2vtt", R"({"resolution":{"pixels_per_grid":140},"line_of_sight":[[{"x":0,"y":0},{"x":3.25,
"y":0.1},{"x":0,"y":9}]],"objects_line_of_sight":[[{"x":1,"y":1},{"x":2,"y":1}]],"portals":[
{"bounds":[{"x":0.5,"y":0},{"x":1.5,"y":0}],"closed":false}]})"},
    {"rube.json", R"({"gravity":0,"body":[{"name":"a","type":2,"position":{"x":"3F800000","y":1},
"angle":0.5,"customProperties":[{"name":"kind","int":8}],"fixture":[{"polygon":{"vertices":{"x":
[0,4,4],"y":[0,0,3]}}},{"circle":{"radius":2,"center":{"x":1,"y":0}}},{"chain":{"vertices":{"x":
[0,1,2,0],"y":[0,1,0,0]}}},{"edge":{"vertex1":0,"vertex2":{"x":1,"y":2}}}]}]})"},
    {"carom.json",
     R"({"id":"a","polygons":[{"id":7,"fill":"nonzero","category":6,"user_data":"AAEC",
"rings":[[[0,0],[4,0],[4,3]],[[1,1],[2,1],[2,2]]]},{"id":3,"solidity":"boundary","rings":[{"points":
[[0.1,0],[4,0]],"open":true}]}]})"},
    {"a.tmx", R"(<?xml version="1.0"?><map version="1.10" orientation="orthogonal" width="3"
height="2" tilewidth="16" tileheight="16"><tileset firstgid="1" source="t.tsx"/><layer id="1"
name="Ground" width="3" height="2"><data encoding="csv">1,2,0,2147483649,1,3</data></layer><layer
id="3" name="Packed" width="2" height="1"><data encoding="base64">AQAAAAIAAAA=</data></layer><group
id="4" name="G" offsetx="5"><objectgroup id="2" name="Things"><object id="1" x="10" y="20" width="8"
height="4" rotation="30"><properties><property name="kind" type="int" value="4"/></properties>
</object><object id="2" x="1" y="2" width="8" height="4"><ellipse/></object><object id="3" x="0"
y="0"><polygon points="0,0 4,0 4,3"/></object><object id="4" x="5" y="5" gid="1073741825" width="32"
height="16"/><object id="5" x="0" y="0"><polyline points="0,0 9,9"/></object></objectgroup></group>
</map>)"},
    {"t.tsx", R"(<tileset name="t" tilewidth="16" tileheight="16" tilecount="2" columns="2"><tile
id="0"><objectgroup><object id="1" x="0" y="8" width="16" height="8"/></objectgroup></tile>
</tileset>)"},
    {"a.tmj", R"({"type":"map","orientation":"hexagonal","hexsidelength":6,"staggeraxis":"y",
"staggerindex":"odd","infinite":true,"width":2,"height":2,"tilewidth":14,"tileheight":12,"layers":[
{"type":"tilelayer","id":1,"name":"Ground","chunks":[{"x":-2,"y":0,"width":2,"height":2,"data":
[1,2,0,1]}]},{"type":"objectgroup","id":2,"name":"Things","objects":[{"id":1,"x":1,"y":2,"width":3,
"height":4,"rotation":90,"point":false}]}],"tilesets":[{"firstgid":1,"name":"t","tilewidth":14,
"tileheight":12,"tilecount":2,"columns":2,"tiles":[{"id":0,"objectgroup":{"objects":[{"id":1,"x":0,
"y":0,"width":14,"height":12,"ellipse":true}]}}]}]})"}};

void Require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN LAW: %s\n", law);
  std::abort();
}

ImportOptions OptionsOf(uint8_t choice) {
  ImportOptions options;
  if (choice & 1) options.layers.push_back({"*", std::nullopt, LayerUse::kDefault});
  if (choice & 2) options.outline = false;
  if (choice & 4) options.merge = true;
  if (choice & 8) options.property = "kind";
  if (choice & 16) options.scale = -0.1;
  if (choice & 32) options.flip_y = (choice & 64) != 0;
  if (choice & 128) options.layers.push_back({"Walls", 4, LayerUse::kHollow});
  options.max_decompressed_bytes = size_t{1} << 20;
  return options;
}

void CheckPolygons(const ImportedMap& map) {
  std::set<uint64_t> ids;
  for (const Polygon& polygon : map.polygons) {
    Require(ids.insert(polygon.id()).second, "ids are distinct");
    Require(polygon.vertex_count() > 0, "a polygon has vertices");
    for (const Vec2 vertex : polygon.vertices()) {
      Require(IsAccepted(vertex) && Normalized(vertex) == vertex, "vertices are accepted");
    }
    for (size_t ring = 0; ring < polygon.ring_count(); ++ring) {
      Require(!polygon.is_open(ring) || polygon.solidity() == Solidity::kBoundary,
              "only hollow polygons are open");
    }
  }
  const SceneLimits limits{.max_polygons = 1 << 24, .max_vertices = 1 << 26};
  Require(Scene::Create(map.polygons, 1, limits).ok(), "the polygons make a scene");
}

void Import(const std::string& bytes, const ImportOptions& options) {
  const FileOpener open = [&](std::string_view path) -> absl::StatusOr<std::string> {
    if (path == "a.tscn" || path == "a.tmx") return bytes;
    for (const Example& example : kExamples) {
      if (example.name == path) return std::string(example.text);
    }
    return absl::NotFoundError("no such file");
  };
  const absl::StatusOr<ImportedMap> map = ImportMap(bytes, options, open);
  if (!map.ok()) {
    Require(!map.status().message().empty(), "an error has a message");
    Require(map.status().code() == absl::StatusCode::kInvalidArgument || IsBundle(bytes),
            "a map that is refused is an invalid argument");
    return;
  }
  // A map of Carom's own may be taken as it is.
  Require(!map->format.empty() && (!map->mapping.empty() || map->format == "carom"),
          "the format and mapping are stated");
  for (const SkippedPart& part : map->skipped) {
    Require(!part.what.empty() && !part.why.empty(), "what is skipped has a reason");
  }
  CheckPolygons(*map);
  const absl::StatusOr<ImportedMap> again = ImportMap(bytes, options, open);
  Require(again.ok() && WriteScene(again->polygons) == WriteScene(map->polygons),
          "an import can be repeated");
}

// Changes one place of `text`: a number, a byte, or a span.
void Mutate(testing::Choices& choices, std::string& text) {
  constexpr std::array<std::string_view, 20> kNumbers{"0",
                                                      "-1",
                                                      "1",
                                                      "2",
                                                      "3",
                                                      "16",
                                                      "255",
                                                      "65536",
                                                      "2147483647",
                                                      "-2147483648",
                                                      "4294967295",
                                                      "1e15",
                                                      "9007199254740993",
                                                      "-1e308",
                                                      "1e999",
                                                      "1e-320",
                                                      "0.1",
                                                      "nan",
                                                      "inf",
                                                      ""};
  if (text.empty()) return;
  const auto place = [&] { return choices.Below(65536) % text.size(); };
  const size_t at = place();
  switch (choices.Below(8)) {
    case 0:
    case 1:
    case 2: {
      // The next number of the text.
      const size_t begin = text.find_first_of("0123456789", at);
      if (begin == std::string::npos) return;
      const size_t end = std::min(text.find_first_not_of("0123456789.e+-", begin), text.size());
      text.replace(begin, end - begin, kNumbers[choices.Below(kNumbers.size())]);
      return;
    }
    case 3:
      text[at] = static_cast<char>(choices.Below(256));
      return;
    case 4:
      text.erase(at, 1 + choices.Below(20));
      return;
    case 5:
      text.insert(place(), text.substr(at, 1 + choices.Below(60)));
      return;
    case 6: {
      const std::string_view other = kExamples[choices.Below(std::size(kExamples))].text;
      text.insert(at, other.substr(choices.Below(65536) % other.size(), 1 + choices.Below(40)));
      return;
    }
    default:
      if (choices.OneIn(4)) text.resize(at);
      return;
  }
}

}  // namespace
}  // namespace carom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  carom::Import(bytes, carom::OptionsOf(data[0]));
  return 0;
}

// An example, changed at up to four places in all but every eighth input.
std::vector<uint8_t> MakeInput(uint64_t seed) {
  carom::testing::Choices choices(seed);
  std::string text(carom::kExamples[choices.Below(std::size(carom::kExamples))].text);
  for (uint32_t i = choices.OneIn(8) ? 0 : 1 + choices.Below(4); i > 0; --i) {
    carom::Mutate(choices, text);
  }
  std::vector<uint8_t> bytes(1 + text.size());
  bytes[0] = static_cast<uint8_t>(choices.Below(256));
  std::copy(text.begin(), text.end(), bytes.begin() + 1);
  return bytes;
}
