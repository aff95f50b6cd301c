// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of Godot scenes: every shape, transforms of nested nodes, instanced scenes, tiles,
// what it skips, errors with lines, and the demo scenes of the shared folder.

#include "client/maps/godot/godot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>

#include "client/maps/godot/godot_text.h"
#include "client/maps/godot/godot_tiles.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace godot_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using Files = std::map<std::string, std::string>;

ImportedMap Scene(const std::string& text, ImportOptions options = {}, Files files = {}) {
  return Imported(ImportGodot, "[gd_scene format=3]\n" + text, Unflipped(std::move(options)),
                  std::move(files));
}

TEST(GodotText, ReadsValuesOfEveryKind) {
  const auto sections = ParseGodotText(R"(; a comment
[gd_scene load_steps=2 format=3]
[sub_resource type="A" id="1"]
number = -1.5e2
text = "a \"b\"\n[node]
c\u00e9"
name = &"Walls"
path = NodePath("../A:position")
flag = true
none = null
points = PackedVector2Array(0, 1, 2, 3.5)
mixed = [1, "a", Vector2(1, 2), [], {"k": 1, &"l": [2]}]
typed = Array[ExtResource("3")]([SubResource("2")])
map = {
"times": PackedFloat32Array(0, 1),
2: "two"
}
"quoted name" = 7
metadata/layer = Vector2i(3, 4)
object = Object(Node,"name":"a")
color = Color(0, 0.5, 1, 1)
far = inf
after = null

[node name="B"]
)");
  ASSERT_TRUE(sections.ok()) << sections.status();
  ASSERT_EQ(sections->size(), 3u);
  const GodotProperties& p = (*sections)[1].properties;
  EXPECT_EQ((*sections)[1].tag, "sub_resource");
  EXPECT_EQ((*sections)[1].attributes.Text("id"), "1");
  EXPECT_EQ(p.Value("number")->AsNumber(), -150);
  EXPECT_EQ(p.Text("text"), "a \"b\"\n[node]\nc\xC3\xA9");
  EXPECT_EQ(p.Text("name"), "Walls");
  EXPECT_EQ(p.Value("flag")->AsBool(), true);
  EXPECT_EQ(p.Value("none")->kind, GodotValue::Kind::kNull);
  EXPECT_THAT(*p.Value("points")->AsPoints(), ElementsAre(Vec2{0, 1}, Vec2{2, 3.5}));
  EXPECT_EQ(p.Value("mixed")->items.size(), 5u);
  EXPECT_EQ(p.Value("mixed")->items[4].items.size(), 4u);
  EXPECT_EQ(p.Value("typed")->items[0].AsReference("SubResource"), "2");
  EXPECT_EQ(p.Value("map")->items.size(), 4u);
  EXPECT_EQ(p.Value("quoted name")->AsNumber(), 7);
  EXPECT_EQ(p.Value("metadata/layer")->AsVector2(), (Vec2{3, 4}));
  EXPECT_EQ(p.Value("object")->items.size(), 3u);
  EXPECT_TRUE(std::isinf(p.Value("far")->number));
  EXPECT_EQ((*sections)[2].line, 25u);
}

TEST(GodotText, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a = 1", "line 1: expected a section"},
      {"[a\n b=", "line 2: expected a value"},
      {"[a]\nb = \"c\n\n", "line 4: a string without its closing quote"},
      {"[a]\nb = (", "line 2: expected a value"},
      {"[a]\nb = Vector2(1, 2\n[c]", "line 3: expected"},
      {"[a]\nb = -x", "line 2: not a number"},
      {"[a]\n= 3", "line 2: expected the name of a property"},
      {"[a]\nb 3", "line 2: expected `=`"},
      {"[]", "line 1: expected the name of a section"},
      {"[a]\nb = \"\\u12\"", "line 2: "},
      {"[a]\nb = " + std::string(1000, '['), "line 2: values are nested too deep"}};
  for (const auto& [text, message] : cases) {
    const auto sections = ParseGodotText(text);
    ASSERT_FALSE(sections.ok()) << text;
    EXPECT_THAT(std::string(sections.status().message()), HasSubstr(message));
  }
}

constexpr char kShapes[] = R"(
[sub_resource type="RectangleShape2D" id="box"]
size = Vector2(4, 6)
[sub_resource type="RectangleShape2D" id="default"]
[sub_resource type="CircleShape2D" id="disc"]
radius = 3.0
[sub_resource type="CapsuleShape2D" id="capsule"]
radius = 2.0
height = 10.0
[sub_resource type="SegmentShape2D" id="segment"]
b = Vector2(5, 1)
[sub_resource type="ConvexPolygonShape2D" id="convex"]
points = PackedVector2Array(0, 0, 4, 0, 4, 3)
[sub_resource type="ConcavePolygonShape2D" id="concave"]
segments = PackedVector2Array(0, 0, 4, 0, 4, 0, 4, 4, 4, 4, 0, 0, 9, 9, 8, 8)
[sub_resource type="SeparationRayShape2D" id="ray"]
length = 7.0
[sub_resource type="WorldBoundaryShape2D" id="world"]
[node name="Root" type="Node2D"]
[node name="Body" type="StaticBody2D" parent="."]
)";

std::string CollisionNode(const std::string& shape, const std::string& more = "") {
  return "[node name=\"" + shape +
         "\" type=\"CollisionShape2D\" parent=\"Body\"]\nshape = " + "SubResource(\"" + shape +
         "\")\n" + more + "\n";
}

TEST(Godot, ReadsEveryShape) {
  std::string text = kShapes;
  for (const char* shape : {"box", "default", "disc", "capsule", "segment", "convex", "concave",
                            "ray", "world", "absent"}) {
    text += CollisionNode(shape);
  }
  ImportOptions options;
  options.chord = 1e-3;
  const ImportedMap map = Scene(text, options);
  EXPECT_EQ(map.format, "godot");
  ASSERT_EQ(map.polygons.size(), 8u);
  ExpectRing(map.polygons[0], 0, {{-2, -3}, {2, -3}, {2, 3}, {-2, 3}});
  ExpectRing(map.polygons[1], 0, {{-10, -10}, {10, -10}, {10, 10}, {-10, 10}});
  EXPECT_NEAR(SignedArea(RingOf(map.polygons[2])), 9 * std::numbers::pi, 2e-2);
  EXPECT_EQ(map.polygons[2].bounds().max, (Vec2{3, 3}));
  EXPECT_NEAR(SignedArea(RingOf(map.polygons[3])), 4 * std::numbers::pi + 4 * 6, 2e-2);
  EXPECT_NEAR(map.polygons[3].bounds().max.y, 5, 1e-3);
  EXPECT_EQ(map.polygons[3].bounds().max.x, 2);
  ExpectRing(map.polygons[4], 0, {{0, 0}, {5, 1}});
  EXPECT_TRUE(map.polygons[4].is_open(0));
  ExpectRing(map.polygons[5], 0, {{0, 0}, {4, 0}, {4, 3}});
  ASSERT_EQ(map.polygons[6].ring_count(), 2u);
  ExpectRing(map.polygons[6], 0, {{0, 0}, {4, 0}, {4, 4}});
  EXPECT_FALSE(map.polygons[6].is_open(0));
  ExpectRing(map.polygons[6], 1, {{9, 9}, {8, 8}});
  EXPECT_EQ(map.polygons[6].solidity(), Solidity::kBoundary);
  ExpectRing(map.polygons[7], 0, {{0, 0}, {0, 7}});
  EXPECT_THAT(
      SkippedOf(map),
      UnorderedElementsAre("1 CollisionShape2D in layer \"Body\": a world boundary has no end",
                           "1 CollisionShape2D in layer \"Body\": its shape is not found"));
}

TEST(Godot, ReadsCollisionPolygonsInBothModes) {
  const ImportedMap map = Scene(R"(
[node name="Root" type="StaticBody2D" unique_id=5]
[node name="A" type="CollisionPolygon2D" parent="." unique_id=1989093701]
polygon = PackedVector2Array(0, 0, 4, 0, 4, 3)
one_way_collision = true
[node name="B" type="CollisionPolygon2D" parent="."]
build_mode = 1
polygon = PackedVector2Array(0, 0, 4, 0, 4, 3)
[node name="C" type="CollisionPolygon2D" parent="."]
disabled = true
polygon = PackedVector2Array(0, 0, 4, 0, 4, 3)
[node name="D" type="CollisionPolygon2D" parent="."]
)");
  ASSERT_EQ(map.polygons.size(), 2u);
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kSolid);
  EXPECT_EQ(map.polygons[0].id(), 1989093701u);
  EXPECT_EQ(map.polygons[1].solidity(), Solidity::kBoundary);
  EXPECT_FALSE(map.polygons[1].is_open(0));
  EXPECT_THAT(SkippedOf(map),
              UnorderedElementsAre("1 CollisionPolygon2D in layer \"Root\": it has no polygon",
                                   "1 CollisionPolygon2D in layer \"Root\": it is disabled",
                                   HasSubstr("1 one-way side in layer \"Root\"")));
}

constexpr char kUnit[] = "polygon = PackedVector2Array(0, 0, 1, 0, 0, 2)\n";

TEST(Godot, NestsTransforms) {
  const std::string text = std::string(R"(
[node name="Root" type="Node2D"]
position = Vector2(10, 20)
[node name="A" type="StaticBody2D" parent="."]
position = Vector2(1, 2)
scale = Vector2(2, 3)
[node name="Shape" type="CollisionPolygon2D" parent="A"]
position = Vector2(0.5, 0)
)") + kUnit + R"([node name="Turned" type="StaticBody2D" parent="."]
rotation = 0.5
skew = 0.25
scale = Vector2(2, 3)
[node name="Shape" type="CollisionPolygon2D" parent="Turned"]
)" + kUnit + R"([node name="Layer" type="CanvasLayer" parent="."]
[node name="Shape" type="CollisionPolygon2D" parent="Layer"]
position = Vector2(5, 5)
)" + kUnit + R"([node name="Top" type="CollisionPolygon2D" parent="A"]
top_level = true
)" + kUnit + R"([node name="Panel" type="Panel" parent="."]
offset_left = 100.0
offset_top = 50.0
[node name="Shape" type="CollisionPolygon2D" parent="Panel"]
transform = Transform2D(0, 1, -1, 0, 3, 4)
)" + kUnit;
  const ImportedMap map = Scene(text);
  ASSERT_EQ(map.polygons.size(), 5u);
  ExpectRing(map.polygons[0], 0, {{12, 22}, {14, 22}, {12, 28}});
  const Ring turned = RingOf(map.polygons[1]);
  EXPECT_NEAR(turned[1].x, 10 + 2 * std::cos(0.5), 1e-14);
  EXPECT_NEAR(turned[1].y, 20 + 2 * std::sin(0.5), 1e-14);
  EXPECT_NEAR(turned[2].x, 10 - 6 * std::sin(0.75), 1e-14);
  EXPECT_NEAR(turned[2].y, 20 + 6 * std::cos(0.75), 1e-14);
  // A CanvasLayer, as a node without a place, begins anew; so does `top_level`.
  ExpectRing(map.polygons[2], 0, {{5, 5}, {6, 5}, {5, 7}});
  ExpectRing(map.polygons[3], 0, {{0, 0}, {1, 0}, {0, 2}});
  ExpectRing(map.polygons[4], 0, {{113, 74}, {113, 75}, {111, 74}});
}

TEST(Godot, InstancesScenesWithOverrides) {
  const Files files = {
      {"wall.tscn", R"([gd_scene format=3 uid="uid://wall"]
[sub_resource type="RectangleShape2D" id="r"]
size = Vector2(2, 2)
[node name="Wall" type="StaticBody2D"]
position = Vector2(100, 0)
collision_layer = 4
[node name="Shape" type="CollisionShape2D" parent="."]
shape = SubResource("r")
)"},
      {"other.tscn", "[gd_scene format=3 uid=\"uid://b\"]\n[node name=\"X\" type=\"Node2D\"]\n"}};
  const std::string text = R"(
[ext_resource type="PackedScene" uid="uid://wall" path="res://level/wall.tscn" id="1"]
[ext_resource type="PackedScene" uid="uid://a" path="res://other.tscn" id="2"]
[ext_resource type="PackedScene" path="res://absent.tscn" id="3"]
[sub_resource type="CircleShape2D" id="r"]
[node name="Root" type="Node2D"]
[node name="First" parent="." instance=ExtResource("1")]
[node name="Second" parent="." instance=ExtResource("1")]
position = Vector2(0, 5)
collision_layer = 8
[node name="Shape" parent="Second" index="0"]
position = Vector2(0, 1)
[node name="Third" parent="." instance=ExtResource("1")]
[node name="Shape" parent="Third" index="0"]
shape = SubResource("r")
[node name="Fourth" parent="." instance=ExtResource("2")]
[node name="Fifth" parent="." instance=ExtResource("3")]
[node name="Gone" parent="Fifth/Below" index="0"]
)";
  ImportOptions options;
  options.property = "collision_layer";
  const ImportedMap map = Scene(text, options, files);
  ASSERT_EQ(map.polygons.size(), 3u);
  ExpectRing(map.polygons[0], 0, {{99, -1}, {101, -1}, {101, 1}, {99, 1}});
  EXPECT_EQ(map.polygons[0].category(), 4u);
  ExpectRing(map.polygons[1], 0, {{-1, 5}, {1, 5}, {1, 7}, {-1, 7}});
  EXPECT_EQ(map.polygons[1].category(), 8u);
  EXPECT_EQ(map.polygons[2].bounds().max, (Vec2{110, 10}));
  EXPECT_THAT(
      SkippedOf(map),
      UnorderedElementsAre("file \"res://absent.tscn\": not found in the folder of the map",
                           "file \"res://other.tscn\": a file of this name has another uid"));
  // The root of an inherited scene is an instance.
  const ImportedMap inherited = Scene(R"(
[ext_resource type="PackedScene" path="res://wall.tscn" id="1"]
[node name="Root" instance=ExtResource("1")]
[node name="Shape" parent="." index="0"]
disabled = true
)",
                                      {}, files);
  EXPECT_TRUE(inherited.polygons.empty());
  EXPECT_THAT(SkippedOf(inherited),
              UnorderedElementsAre(HasSubstr("in layer \"Root\": it is disabled")));
}

TEST(Godot, RefusesScenesThatInstanceThemselves) {
  const std::string text = R"([gd_scene format=3]
[ext_resource type="PackedScene" path="res://a.tscn" id="1"]
[node name="Root" type="Node2D"]
[node name="A" parent="." instance=ExtResource("1")]
[node name="B" parent="." instance=ExtResource("1")]
)";
  EXPECT_THAT(ErrorOf(ImportGodot, text, {}, {{"a.tscn", text}}),
              HasSubstr("a.tscn line 1: scenes instance each other too deep"));
  // Ten scenes, each ten times in the next one.
  Files files = {{"0.tscn", "[gd_scene format=3]\n[node name=\"R\" type=\"Node2D\"]\n"}};
  for (int level = 1; level <= 10; ++level) {
    std::string scene = "[gd_scene format=3]\n[ext_resource type=\"PackedScene\" path=\"" +
                        std::to_string(level - 1) + ".tscn\" id=\"1\"]\n" +
                        "[node name=\"R\" type=\"Node2D\"]\n";
    for (int i = 0; i < 10; ++i) {
      scene +=
          "[node name=\"" + std::to_string(i) + "\" parent=\".\" instance=ExtResource(\"1\")]\n";
    }
    files[std::to_string(level) + ".tscn"] = scene;
  }
  EXPECT_THAT(ErrorOf(ImportGodot, files["10.tscn"], {}, files),
              HasSubstr("instanced scenes have more than 1000000 nodes"));
}

constexpr char kTiles[] = R"([gd_resource type="TileSet" format=3]
[sub_resource type="TileSetAtlasSource" id="atlas"]
0:0/next_alternative_id = 8
0:0/0 = 0
0:0/0/physics_layer_0/polygon_0/points = PackedVector2Array(-8, -8, 8, -8, 8, 0)
0:0/0/custom_data_0 = 32
1:0/0 = 0
1:0/0/physics_layer_1/polygon_0/points = PackedVector2Array(-8, -8, 8, -8, 0, 8)
1:0/0/physics_layer_1/polygon_0/one_way = true
[resource]
physics_layer_0/collision_layer = 1
physics_layer_1/collision_layer = 6
custom_data_layer_0/name = "kind"
sources/0 = SubResource("atlas")
)";

constexpr char kLayer[] = R"(
[ext_resource type="TileSet" path="res://tiles.tres" id="1"]
[node name="Root" type="Node2D"]
position = Vector2(1000, 0)
[node name="Ground" type="TileMapLayer" parent="."]
tile_map_data = PackedByteArray("AAAAAAAAAAAAAAAAAAD//wIAAAAAAAAAABABAAAAAAABAAAAAGAFAAUAAAABAAAAAAA=")
tile_set = ExtResource("1")
)";

TEST(Godot, TurnsTilesWithTheirCells) {
  ImportOptions options;
  options.property = "collision_layer";
  const ImportedMap map = Scene(kLayer, options, {{"tiles.tres", kTiles}});
  ASSERT_EQ(map.polygons.size(), 4u);
  // Cell (0, 0); transposed and flipped (1, 0); flipped (-1, 2); another tile (5, 5).
  ExpectRing(map.polygons[0], 0, {{1000, 0}, {1016, 0}, {1016, 8}});
  ExpectRing(map.polygons[1], 0, {{1016, 16}, {1016, 0}, {1032, 8}});
  ExpectRing(map.polygons[2], 0, {{1000, 32}, {984, 32}, {984, 40}});
  ExpectRing(map.polygons[3], 0, {{1080, 80}, {1096, 80}, {1088, 96}});
  EXPECT_EQ(map.polygons[0].category(), 1u);
  EXPECT_EQ(map.polygons[1].category(), 6u);
  EXPECT_THAT(SkippedOf(map),
              UnorderedElementsAre(HasSubstr("2 one-way sides in layer \"Ground\"")));
  options.property = "kind";
  const ImportedMap kinds = Scene(kLayer, options, {{"tiles.tres", kTiles}});
  EXPECT_EQ(kinds.polygons[0].category(), 32u);
  EXPECT_EQ(kinds.polygons[1].category(), 1u);
  const ImportedMap skipped = Scene(kLayer, WithLayer("Ground", LayerUse::kSkip));
  EXPECT_TRUE(skipped.polygons.empty());
  const ImportedMap without = Scene(kLayer);
  EXPECT_THAT(SkippedOf(without), UnorderedElementsAre("layer \"Ground\": its TileSet is not found",
                                                       HasSubstr("file \"res://tiles.tres\"")));
}

TEST(Godot, ReadsLayersOfATileMap) {
  const ImportedMap map = Scene(R"(
[ext_resource type="TileSet" path="res://tiles.tres" id="1"]
[node name="Map" type="TileMap"]
tile_set = ExtResource("1")
format = 2
layer_0/name = "Ground"
layer_0/tile_data = PackedInt32Array(0, 0, 0, 196607, 0, 268435456)
layer_1/name = "Off"
layer_1/enabled = false
layer_1/tile_data = PackedInt32Array(0, 0, 0)
layer_2/tile_data = PackedInt32Array(0, 0, 0)
)",
                                WithLayer("Ground", LayerUse::kHollow), {{"tiles.tres", kTiles}});
  ASSERT_EQ(map.polygons.size(), 3u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {16, 0}, {16, 8}});
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kBoundary);
  ExpectRing(map.polygons[1], 0, {{0, 32}, {-16, 32}, {-16, 40}});
  EXPECT_EQ(map.polygons[2].solidity(), Solidity::kSolid);
  EXPECT_THAT(SkippedOf(map), UnorderedElementsAre(HasSubstr("a layer is not enabled")));
}

TEST(Godot, OutlinesLayersWithoutPolygonsThatAreNamed) {
  const auto layer = [](const std::string& set) {
    return "[sub_resource type=\"TileSet\" id=\"set\"]\n" + set + R"(
[node name="Cells" type="TileMapLayer"]
tile_map_data = PackedByteArray("AAAAAAAAAAAJAAkAAAABAAAAAAAJAAkAAAABAAEAAAAJAAkAAAA=")
tile_set = SubResource("set")
)";
  };
  const ImportedMap unnamed = Scene(layer(""));
  EXPECT_TRUE(unnamed.polygons.empty());
  ASSERT_EQ(unnamed.skipped.size(), 1u);
  EXPECT_EQ(unnamed.skipped[0].option, "--layer Cells");
  const ImportedMap map = Scene(layer("tile_size = Vector2i(10, 20)"), WithLayer("Cells"));
  ASSERT_EQ(map.polygons.size(), 1u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {20, 0}, {20, 40}, {10, 40}, {10, 20}, {0, 20}});
  ImportOptions apart = WithLayer("Cells");
  apart.outline = false;
  EXPECT_EQ(Scene(layer(""), apart).polygons.size(), 3u);
  // Isometric cells, diamond down: (0, 0), (1, 0) to its lower right, and (1, 1) below.
  const ImportedMap diamonds = Scene(
      layer("tile_shape = 1\ntile_layout = 5\ntile_size = Vector2i(20, 10)"), WithLayer("Cells"));
  ASSERT_EQ(diamonds.polygons.size(), 1u);
  EXPECT_NEAR(AreaOf(diamonds.polygons), 3 * 100, 1e-9);
  EXPECT_EQ(diamonds.polygons[0].bounds().min, (Vec2{0, 0}));
  EXPECT_EQ(diamonds.polygons[0].bounds().max, (Vec2{30, 20}));
}

// The places of cells as the documentation of TileSet draws them.
TEST(GodotTiles, PlacesCellsOfEveryLayout) {
  GodotTileSet set;
  set.tile_size = {16, 8};
  EXPECT_EQ(set.Center(2, -1), (Vec2{40, -4}));
  set.shape = GodotTileSet::Shape::kIsometric;
  EXPECT_EQ(set.Center(0, 1), (Vec2{16, 8}));
  EXPECT_EQ(set.Center(0, -1), (Vec2{16, 0}));
  set.layout = 1;
  EXPECT_EQ(set.Center(0, 0), (Vec2{16, 4}));
  set.layout = 2;
  EXPECT_EQ(set.Center(0, 2), (Vec2{24, 12}));
  set.layout = 3;
  EXPECT_EQ(set.Center(1, 1), (Vec2{16, 16}));
  set.layout = 4;
  EXPECT_EQ(set.Center(1, 0), (Vec2{16, 0}));
  set.layout = 5;
  EXPECT_EQ(set.Center(1, 0), (Vec2{16, 8}));
  EXPECT_EQ(set.Center(0, 1), (Vec2{0, 8}));
  set.vertical = true;
  EXPECT_EQ(set.Center(1, 0), (Vec2{16, 8}));
  set.layout = 0;
  set.shape = GodotTileSet::Shape::kHexagon;
  EXPECT_EQ(set.Center(1, 0), (Vec2{20, 8}));
  set.shape = GodotTileSet::Shape::kHalfOffset;
  EXPECT_EQ(set.Center(-1, 0), (Vec2{-8, 8}));
}

TEST(Godot, TakesDrawnPolygonsThatAreNamed) {
  const std::string text = R"(
[sub_resource type="OccluderPolygon2D" id="o"]
closed = false
polygon = PackedVector2Array(0, 0, 5, 5)
[node name="Root" type="Node2D"]
[node name="Art" type="Polygon2D" parent="."]
position = Vector2(3, 0)
offset = Vector2(0, 1)
polygon = PackedVector2Array(0, 0, 1, 0, 0, 2)
[node name="Shade" type="LightOccluder2D" parent="."]
occluder = SubResource("o")
)";
  const ImportedMap none = Scene(text);
  EXPECT_TRUE(none.polygons.empty());
  ASSERT_EQ(none.skipped.size(), 2u);
  EXPECT_EQ(none.skipped[1].option, "--layer Polygon2D");
  ImportOptions options = WithLayer("Polygon2D");
  options.layers.push_back({"Shade", std::nullopt, LayerUse::kDefault});
  const ImportedMap map = Scene(text, options);
  ASSERT_EQ(map.polygons.size(), 2u);
  ExpectRing(map.polygons[0], 0, {{3, 1}, {4, 1}, {3, 3}});
  EXPECT_TRUE(map.polygons[1].is_open(0));
}

TEST(Godot, NamesLayersByBodiesNodesAndTypes) {
  const std::string text = std::string(kShapes) + CollisionNode("box") + R"(
[node name="Coin" type="Area2D" parent="."]
[node name="Pick" type="CollisionShape2D" parent="Coin"]
shape = SubResource("disc")
)";
  EXPECT_EQ(Scene(text).polygons.size(), 2u);
  for (const char* name : {"Area2D", "Coin", "Pick"}) {
    const ImportedMap map = Scene(text, WithLayer(name, LayerUse::kSkip));
    EXPECT_EQ(map.polygons.size(), 1u) << name;
    EXPECT_THAT(SkippedOf(map), UnorderedElementsAre(HasSubstr("in layer \"Coin\": the choice")));
  }
  EXPECT_THAT(Scene(text, WithLayer("Root", LayerUse::kSkip)).polygons, IsEmpty());
}

TEST(Godot, ReadsResourcesAlone) {
  const ImportedMap tiles = Imported(ImportGodot, kTiles);
  ASSERT_EQ(tiles.polygons.size(), 2u);
  ExpectRing(tiles.polygons[0], 0, {{-8, 8}, {8, 8}, {8, 0}});  // y up
  const ImportedMap shape =
      Imported(ImportGodot, "[gd_resource type=\"RectangleShape2D\" format=3]\n[resource]\n");
  EXPECT_EQ(AreaOf(shape.polygons), 400);
}

TEST(Godot, ErrorsNameTheLine) {
  const auto scene = [](const std::string& text) { return "[gd_scene format=3]\n" + text; };
  const std::string node = "[node name=\"R\" type=\"CollisionPolygon2D\"]\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[node]", "line 1: must begin with [gd_scene]"},
      {"[gd_scene format=2]", "line 1: a file of Godot 3"},
      {scene(""), "line 1: a scene without a node"},
      {scene("[node name=\"A\" parent=\".\"]"), "line 2: a node with a parent before the root"},
      {scene("[node name=\"A\"]\n[node name=\"B\"]"), "line 3: a second root node"},
      {scene(node + "polygon = 7"), "line 3: polygon must be a PackedVector2Array"},
      {scene(node + "polygon = PackedVector2Array(0, 0, inf, 0)"), "line 2: has a point beyond"},
      {scene(node + "position = 3"), "line 3: position has the wrong type"},
      {scene(node + "rotation = 1e9"), "line 2: an angle"},
      {scene("[sub_resource type=\"CircleShape2D\" id=\"1\"]\nradius = Vector2(1, 2)\n" +
             std::string("[node name=\"R\" type=\"CollisionShape2D\"]\nshape=SubResource(\"1\")")),
       "line 3: radius must be a number"},
      {scene("[sub_resource type=\"CircleShape2D\" id=\"1\"]\nradius = 1e15\n" +
             std::string("[node name=\"R\" type=\"CollisionShape2D\"]\nshape=SubResource(\"1\")")),
       "line 2: needs more than"},
      {scene("[sub_resource type=\"TileSet\" id=\"1\"]\ntile_size = Vector2(0, 1)\n" +
             std::string("[node name=\"R\" type=\"TileMapLayer\"]\ntile_set = SubResource(\"1\")\n"
                         "tile_map_data = PackedByteArray(\"\")")),
       "line 3: tile_size must be"},
      {scene("[sub_resource type=\"TileSet\" id=\"1\"]\n"
             "[node name=\"R\" type=\"TileMapLayer\"]\ntile_set = SubResource(\"1\")\n"
             "tile_map_data = PackedByteArray(\"AAAA\")"),
       "line 5: must have 12 bytes for each cell"},
      {"[gd_resource type=\"Theme\" format=3]\n[resource]", "line 1: a resource of the type Theme"},
      {"[gd_resource type=\"TileSet\" format=3]\n", "the last section must be [resource]"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(ImportGodot, text), HasSubstr(message)) << text;
  }
  EXPECT_THAT(ErrorOf(ImportGodot, scene(kLayer), {}, {{"tiles.tres", "[gd_resource]\n\na = ("}}),
              HasSubstr("tiles.tres: line 3"));
}

TEST(Godot, IsToldByItsHead) {
  EXPECT_TRUE(LooksLikeGodot(Sniff("; made by hand\n[gd_scene format=3]")));
  EXPECT_TRUE(LooksLikeGodot(Sniff("[gd_resource type=\"TileSet\"]")));
  EXPECT_FALSE(LooksLikeGodot(Sniff("[section]\na = 1")));
  EXPECT_FALSE(LooksLikeGodot(Sniff("{\"a\": 1}")));
}

// What the scenes of the shared folder have, and how many polygons are collision shapes. Files that
// they instance are not in the folder; each of them is reported.
TEST(Godot, ImportsTheSharedScenes) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::map<std::string, size_t> counts = {
      {"2d__dodge_the_creeps__main.tscn", 0},
      {"2d__finite_state_machine__player__Player.tscn", 1},
      {"2d__instancing__scene_instancing.tscn", 1},
      {"2d__isometric__dungeon.tscn", 0},
      {"2d__isometric__tileset__tileset.tres", 24},
      {"2d__kinematic_character__world.tscn", 299},
      {"2d__navigation_mesh_chunks__navmesh_chunks_demo_2d.tscn", 3},
      {"2d__physics_platformer__platform__moving_platform.tscn", 1},
      {"2d__physics_platformer__tileset.tres", 104},
      {"2d__physics_tests__assets__tileset__tileset.tres", 2},
      {"2d__physics_tests__tests__functional__solver__test_bodies__concave_polygon.tscn", 1},
      {"2d__physics_tests__tests__functional__test_character_pixels.tscn", 11},
      {"2d__physics_tests__tests__functional__test_collision_pairs.tscn", 6},
      {"2d__physics_tests__tests__functional__test_shapes.tscn", 5},
      {"2d__physics_tests__tests__performance__test_perf_contacts.tscn", 5},
      {"2d__platformer__level__level.tscn", 1},
      {"2d__polygons_lines__polygons_lines.tscn", 0},
      {"2d__skeleton__player__player.tscn", 1}};
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/raw/godot")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".tscn") && !name.ends_with(".tres")) continue;
    SCOPED_TRACE(name);
    ++files;
    const std::string bytes = ReadFile(entry.path().string());
    EXPECT_TRUE(LooksLikeGodot(Sniff(bytes)));
    const ImportedMap map = Imported(ImportGodot, bytes);
    const auto count = counts.find(name);
    ASSERT_NE(count, counts.end());
    EXPECT_EQ(map.polygons.size(), count->second);
  }
  EXPECT_EQ(files, counts.size());
}

// The converter of the scenes took the arrays of points of all nodes (also of Polygon2D, Line2D and
// LightOccluder2D), moved by the position of the node alone. Where that is the same, or a shift,
// the polygons agree.
TEST(Godot, AgreesWithTheSharedScenesWhereTheRuleIsTheSame) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::map<std::string, Affine> files = {
      {"2d__finite_state_machine__player__Player.tscn", {}},
      {"2d__instancing__scene_instancing.tscn", {{1, 0}, {0, 1}, {184, 32}}},
      {"2d__isometric__tileset__tileset.tres", {}},
      {"2d__navigation_mesh_chunks__navmesh_chunks_demo_2d.tscn", {}},
      {"2d__physics_platformer__platform__moving_platform.tscn", {}},
      {"2d__physics_platformer__tileset.tres", {}},
      {"2d__physics_tests__assets__tileset__tileset.tres", {}},
      {"2d__physics_tests__tests__functional__solver__test_bodies__concave_polygon.tscn",
       {{0.2731092, 0}, {0, 0.27310926}, {0, 0}}}};
  for (const auto& [file, place] : files) {
    SCOPED_TRACE(file);
    const ImportedMap map =
        Imported(ImportGodot, ReadFile(data + "/raw/godot/" + file), WithLayer("Polygon2D"));
    ExpectSamePlaces(map.polygons, SharedScene(data, "godot", file, place));
  }
}

}  // namespace godot_test
}  // namespace carom::testing
