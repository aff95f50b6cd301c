// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of LDtk projects: IntGrids by value and as a whole, entities, places of levels,
// external levels, errors with paths, and the projects of the shared folder against the scenes made
// of them.

#include "client/maps/ldtk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numbers>
#include <string>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace ldtk_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kDefs[] = R"({"layers": [
    {"identifier": "Walls", "intGridValues": [{"value": 1, "identifier": "stone"},
                                              {"value": 2, "identifier": null}]}],
  "entities": [
    {"identifier": "Box", "renderMode": "Rectangle", "hollow": false},
    {"identifier": "Pond", "renderMode": "Ellipse", "hollow": true},
    {"identifier": "Hero", "renderMode": "Tile"}, {"identifier": "Spot", "renderMode": "Cross"}]})";

json IntGrid(int width, int height, std::vector<int> cells, int offset_x = 0) {
  return {{"__identifier", "Walls"}, {"__type", "IntGrid"}, {"__gridSize", 10},
          {"__cWid", width},         {"__cHei", height},    {"__pxTotalOffsetX", offset_x},
          {"__pxTotalOffsetY", 0},   {"intGridCsv", cells}};
}

json Level(const std::string& name, int x, int y, std::vector<json> layers) {
  return {{"identifier", name}, {"worldX", x}, {"worldY", y},
          {"pxWid", 20},        {"pxHei", 20}, {"layerInstances", layers}};
}

std::string Project(std::vector<json> levels, const std::string& layout = "Free") {
  return json{{"jsonVersion", "1.5.3"},
              {"worldLayout", layout},
              {"defs", json::parse(kDefs)},
              {"levels", levels}}
      .dump();
}

TEST(Ldtk, TakesValuesOfAnIntGridThatAreNamed) {
  const std::string text = Project({Level("A", 100, -20, {IntGrid(3, 2, {1, 1, 2, 0, 1, 2})})});
  const ImportedMap none = Imported(ImportLdtk, text);
  EXPECT_EQ(none.format, "ldtk");
  EXPECT_TRUE(none.polygons.empty());
  ASSERT_EQ(none.skipped.size(), 2u);
  EXPECT_EQ(none.skipped[0].what, "layer \"Walls:1\"");
  EXPECT_EQ(none.skipped[0].option, "--layer Walls:1");
  for (const char* name : {"Walls:1", "Walls:stone"}) {
    const ImportedMap map = Imported(ImportLdtk, text, WithLayer(name));
    ASSERT_EQ(map.polygons.size(), 1u);
    ExpectRing(map.polygons[0], 0,
               {{100, -20}, {120, -20}, {120, 0}, {110, 0}, {110, -10}, {100, -10}});
  }
  // The whole layer is one union; `*` names each value.
  EXPECT_EQ(Imported(ImportLdtk, text, WithLayer("Walls")).polygons.size(), 1u);
  EXPECT_EQ(Imported(ImportLdtk, text, WithLayer("A")).polygons.size(), 1u);
  EXPECT_EQ(Imported(ImportLdtk, text, WithLayer("*")).polygons.size(), 2u);
  ImportOptions options = WithLayer("Walls");
  options.layers.push_back({"Walls:2", std::nullopt, LayerUse::kSkip});
  EXPECT_EQ(AreaOf(Imported(ImportLdtk, text, options).polygons), 300);
  options.outline = false;
  EXPECT_EQ(Imported(ImportLdtk, text, options).polygons.size(), 3u);
}

TEST(Ldtk, PointsYUpByDefault) {
  ImportOptions options = WithLayer("Walls");
  options.flip_y.reset();
  const ImportedMap map =
      Imported(ImportLdtk, Project({Level("A", 0, 0, {IntGrid(1, 1, {1})})}), options);
  ASSERT_EQ(map.polygons.size(), 1u);
  EXPECT_EQ(map.polygons[0].bounds().min, (Vec2{0, -10}));
  EXPECT_EQ(map.polygons[0].bounds().max, (Vec2{10, 0}));
  EXPECT_GT(SignedArea(RingOf(map.polygons[0])), 0);
}

// No edge lies between two levels whose cells are on one lattice; others stay apart.
TEST(Ldtk, UnitesCellsOfLevelsInPlace) {
  const auto count = [](const std::vector<json>& levels, const std::string& layout) {
    return Imported(ImportLdtk, Project(levels, layout), WithLayer("Walls")).polygons.size();
  };
  const json full = IntGrid(2, 2, {1, 1, 1, 1});
  EXPECT_EQ(count({Level("A", 0, 0, {full}), Level("B", 20, 0, {full})}, "GridVania"), 1u);
  EXPECT_EQ(count({Level("A", 0, 0, {full}), Level("B", 25, 0, {full})}, "Free"), 2u);
  EXPECT_EQ(count({Level("A", 0, 0, {full}), Level("B", 20, 0, {IntGrid(2, 2, {1, 1, 1, 1}, 3)})},
                  "Free"),
            2u);
  json below = Level("B", 20, 0, {full});
  below["worldDepth"] = -1;
  EXPECT_EQ(count({Level("A", 0, 0, {full}), below}, "Free"), 2u);
  // Linear worlds do not state places.
  const ImportedMap row = Imported(
      ImportLdtk,
      Project({Level("A", -1, -1, {full}), Level("B", -1, -1, {full})}, "LinearHorizontal"),
      WithLayer("Walls"));
  ASSERT_EQ(row.polygons.size(), 1u);
  EXPECT_EQ(row.polygons[0].bounds().max, (Vec2{40, 20}));
  const ImportedMap column =
      Imported(ImportLdtk,
               Project({Level("A", -1, -1, {full}), Level("B", -1, -1, {full})}, "LinearVertical"),
               WithLayer("Walls"));
  EXPECT_EQ(column.polygons[0].bounds().max, (Vec2{20, 40}));
}

TEST(Ldtk, TakesEntitiesThatHaveShapes) {
  const json layer = json::parse(R"({"__identifier": "Things", "__type": "Entities",
    "__gridSize": 16, "__pxTotalOffsetX": 1, "__pxTotalOffsetY": 2, "entityInstances": [
      {"__identifier": "Box", "__pivot": [0, 0], "px": [10, 20], "width": 4, "height": 6,
       "fieldInstances": [{"__identifier": "kind", "__value": 5}]},
      {"__identifier": "Pond", "__pivot": [0.5, 1], "px": [10, 20], "width": 8, "height": 4,
       "fieldInstances": [{"__identifier": "kind", "__value": null}]},
      {"__identifier": "Hero", "__pivot": [0.5, 1], "px": [0, 0], "width": 16, "height": 16},
      {"__identifier": "Hero", "__pivot": [0.5, 1], "px": [50, 0], "width": 16, "height": 16},
      {"__identifier": "Spot", "__pivot": [0, 0], "px": [0, 0], "width": 16, "height": 16}]})");
  json level = Level("A", 100, 0, {layer});
  level["fieldInstances"] = json::parse(R"([{"__identifier": "kind", "__value": "3"}])");
  ImportOptions options = Unflipped();
  options.property = "kind";
  const ImportedMap map = Imported(ImportLdtk, Project({level}), options);
  ASSERT_EQ(map.polygons.size(), 2u);
  ExpectRing(map.polygons[0], 0, {{111, 22}, {115, 22}, {115, 28}, {111, 28}});
  EXPECT_EQ(map.polygons[0].category(), 5u);
  EXPECT_EQ(map.polygons[1].bounds().min, (Vec2{107, 18}));
  EXPECT_EQ(map.polygons[1].bounds().max, (Vec2{115, 22}));
  EXPECT_EQ(map.polygons[1].solidity(), Solidity::kBoundary);
  EXPECT_EQ(map.polygons[1].category(), 3u);
  EXPECT_THAT(SkippedOf(map),
              UnorderedElementsAre("layer \"Hero\": its entities are drawn as tiles",
                                   HasSubstr("1 entity Spot in layer \"Things\"")));
  const ImportedMap heroes = Imported(ImportLdtk, Project({level}), WithLayer("Hero"));
  ASSERT_EQ(heroes.polygons.size(), 4u);
  ExpectRing(heroes.polygons[2], 0, {{93, -14}, {109, -14}, {109, 2}, {93, 2}});
  const ImportedMap without =
      Imported(ImportLdtk, Project({level}), WithLayer("Things", LayerUse::kSkip));
  EXPECT_THAT(without.polygons, IsEmpty());
}

TEST(Ldtk, TakesTilesThatAreNamed) {
  const json layer = json::parse(R"({"__identifier": "Rocks", "__type": "Tiles", "__gridSize": 8,
    "gridTiles": [{"px": [0, 0]}, {"px": [8, 0]}, {"px": [8, 0]}], "autoLayerTiles": []})");
  const std::string text = Project({Level("A", 0, 0, {layer})});
  EXPECT_THAT(SkippedOf(Imported(ImportLdtk, text)),
              UnorderedElementsAre("layer \"Rocks\": its tiles have no collision shapes"));
  const ImportedMap map = Imported(ImportLdtk, text, WithLayer("Rocks", LayerUse::kHollow));
  ASSERT_EQ(map.polygons.size(), 1u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {16, 0}, {16, 8}, {0, 8}});
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kBoundary);
}

TEST(Ldtk, OpensExternalLevelsAndTheFirstWorld) {
  json level = Level("A", 50, 0, {});
  level["layerInstances"] = nullptr;
  level["externalRelPath"] = "world/A.ldtkl";
  const std::string content = Level("A", 50, 0, {IntGrid(1, 1, {1})}).dump();
  const ImportedMap map =
      Imported(ImportLdtk, Project({level}), WithLayer("Walls"), {{"world/A.ldtkl", content}});
  ASSERT_EQ(map.polygons.size(), 1u);
  EXPECT_EQ(map.polygons[0].bounds().min, (Vec2{50, 0}));
  EXPECT_THAT(SkippedOf(Imported(ImportLdtk, Project({level}))),
              UnorderedElementsAre(HasSubstr("level \"A\": its file cannot be opened")));
  EXPECT_THAT(ErrorOf(ImportLdtk, Project({level}), {}, {{"world/A.ldtkl", "{\n}}"}}),
              HasSubstr("world/A.ldtkl: line 2: not JSON"));
  json project = json::parse(Project({}));
  project["worlds"] = {
      {{"identifier", "W"},
       {"worldLayout", "Free"},
       {"levels", {Level("B", 0, 0, {IntGrid(1, 1, {1})})}}},
      {{"identifier", "X"}, {"levels", {Level("C", 400, 0, {IntGrid(1, 1, {1})})}}}};
  ImportOptions options = WithLayer("Walls");
  const ImportedMap first = Imported(ImportLdtk, project.dump(), options);
  ASSERT_EQ(first.polygons.size(), 1u);
  EXPECT_EQ(first.polygons[0].bounds().min.x, 0);
  EXPECT_EQ(first.scene, "");
  EXPECT_THAT(SkippedOf(first),
              UnorderedElementsAre("world \"X\": worlds have coordinates of their own"));
  EXPECT_EQ(first.skipped[0].option, "--id X");
  options.scene = "X";
  const ImportedMap second = Imported(ImportLdtk, project.dump(), options);
  ASSERT_EQ(second.polygons.size(), 1u);
  EXPECT_EQ(second.polygons[0].bounds().min.x, 400);
  EXPECT_EQ(second.scene, "X");
  EXPECT_THAT(SkippedOf(second),
              UnorderedElementsAre("world \"W\": worlds have coordinates of their own"));
}

TEST(Ldtk, ErrorsNameThePath) {
  const auto grid = [](const std::string& changes) {
    json layer = IntGrid(2, 1, {0, 1});
    layer.merge_patch(json::parse(changes));
    return Project({Level("A", 0, 0, {layer})});
  };
  const std::string where = "levels[0].layerInstances[0].";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\n\"defs\": 1,,}", "line 2: not JSON"},
      {"{}", "defs: required"},
      {R"({"defs": {}})", "levels: required"},
      {R"({"defs": {"layers": 3}, "levels": []})", "defs.layers: must be an array"},
      {R"({"defs": {}, "levels": [{"worldX": 1e99}]})", "levels[0].worldX: must be an integer"},
      {R"({"defs": {}, "levels": [{"worldX": 0.5}]})", "levels[0].worldX: must be an integer"},
      {grid(R"({"intGridCsv": [1]})"), where + "intGridCsv: must have __cWid x __cHei values"},
      {grid(R"({"intGridCsv": null})"), where + "intGridCsv: required"},
      {grid(R"({"intGridCsv": [1, "a"]})"), where + "intGridCsv: must be an array of integers"},
      {grid(R"({"__cWid": 134217728, "__cHei": 134217728})"), where + "intGridCsv: must have"},
      {grid(R"({"__gridSize": 0})"), where + "__gridSize: must be an integer"},
      {grid(R"({"__type": "Grid"})"), where + "__type"},
      {grid(R"({"__type": "Tiles", "gridTiles": [{"px": [1]}]})"), "OK"},
      {grid(R"({"__type": "Entities", "entityInstances": [{"__identifier": "Box"}]})"),
       where + "entityInstances[0]: must have px, __pivot"},
      {std::string(1000, '[') + std::string(1000, ']'), "nested deeper than 256"}};
  for (const auto& [text, message] : cases) {
    if (message == "OK") continue;
    EXPECT_THAT(ErrorOf(ImportLdtk, text), HasSubstr(message)) << text.substr(0, 100);
  }
  EXPECT_THAT(ErrorOf(ImportLdtk, grid(R"({"__type": "Tiles", "gridTiles": [{"px": [1]}]})"),
                      WithLayer("Walls")),
              HasSubstr(where + "gridTiles[0]: px must be two numbers"));
}

TEST(Ldtk, IsToldByItsMembers) {
  EXPECT_TRUE(LooksLikeLdtk(Sniff(Project({}))));
  EXPECT_FALSE(LooksLikeLdtk(Sniff(R"({"type": "map", "layers": []})")));
}

// The converter of the scenes made the union of all values, level by level, at the place (0, 0).
TEST(Ldtk, AgreesWithTheSharedScenes) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::map<std::string, std::string> layers = {
      {"AutoLayers_5_Advanced.ldtk", "IntGrid_layer"},
      {"Typical_2D_platformer_example.ldtk", "Collisions"},
      {"Typical_TopDown_example.ldtk", "Collisions"}};
  size_t levels = 0;
  for (const auto& [file, layer] : layers) {
    SCOPED_TRACE(file);
    const std::string bytes = ReadFile(data + "/raw/ldtk/" + file);
    EXPECT_TRUE(LooksLikeLdtk(Sniff(bytes)));
    const json project = json::parse(bytes);
    double area = 0;
    for (const json& level : project["levels"]) {
      json one = project;
      one["levels"] = {level};
      one["levels"][0]["worldX"] = 0;
      one["levels"][0]["worldY"] = 0;
      const std::string scene = file + "#" + level["identifier"].get<std::string>() + "." + layer;
      const ImportedMap map = Imported(ImportLdtk, one.dump(), WithLayer(layer));
      ExpectSamePlaces(map.polygons, SharedScene(data, "ldtk", scene));
      area += AreaOf(map.polygons);
      ++levels;
    }
    // The world has the area of its levels, as they do not overlap; so have the values one by one.
    EXPECT_EQ(AreaOf(Imported(ImportLdtk, bytes, WithLayer(layer)).polygons), area);
    EXPECT_EQ(AreaOf(Imported(ImportLdtk, bytes, WithLayer("*")).polygons) >= area, true);
    // By default no cells are taken, and no entity has a shape of its own.
    EXPECT_THAT(Imported(ImportLdtk, bytes).polygons, IsEmpty());
  }
  EXPECT_EQ(levels, 8u);
}

}  // namespace ldtk_test
}  // namespace carom::testing
