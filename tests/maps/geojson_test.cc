// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of GeoJSON: geometries of every type, ids, categories, errors with paths, and the
// files of the shared folder against the scenes that another converter made of them.

#include "client/maps/geojson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace geojson_test {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kCollection[] = R"({"type": "FeatureCollection", "name": "walls", "features": [
  {"type": "Feature", "id": 7, "properties": {"kind": 4, "note": {"deep": [1, 2]}},
   "geometry": {"type": "Polygon", "coordinates": [
     [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]],
     [[2, 2, 99], [2, 4, 99], [4, 4, 99], [2, 2, 99]]]}},
  {"type": "Feature", "id": "12", "properties": {"kind": "0,3"},
   "geometry": {"type": "LineString", "coordinates": [[0.1, -0.2], [1e-3, 5]]}},
  {"type": "Feature", "properties": null, "geometry": null},
  {"type": "Feature", "id": "wall", "properties": {"kind": null},
   "geometry": {"type": "MultiPolygon", "coordinates": [
     [[[20, 0], [21, 0], [20, 1], [20, 0]]],
     [[[30, 0], [31, 0], [30, 1], [30, 0]], [[30.1, 0.1], [30.2, 0.1], [30.1, 0.2], [30.1, 0.1]]]
   ]}},
  {"type": "Feature", "properties": {"kind": 2},
   "geometry": {"type": "GeometryCollection", "geometries": [
     {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]], [[2, 2], [3, 3], [4, 2]]]},
     {"type": "Point", "coordinates": [1, 2]},
     {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]},
     {"type": "Polygon", "coordinates": []}]}}]})";

TEST(GeoJson, KeepsVerticesRingsAndIds) {
  const ImportedMap map = Imported(ImportGeoJson, kCollection);
  EXPECT_EQ(map.format, "geojson");
  ASSERT_EQ(map.polygons.size(), 6u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {10, 0}, {10, 10}, {0, 10}});
  ExpectRing(map.polygons[0], 1, {{2, 2}, {2, 4}, {4, 4}});
  EXPECT_EQ(map.polygons[0].fill_rule(), FillRule::kEvenOdd);
  EXPECT_EQ(map.polygons[0].id(), 7u);
  ExpectRing(map.polygons[1], 0, {{0.1, -0.2}, {1e-3, 5}});
  EXPECT_TRUE(map.polygons[1].is_open(0));
  EXPECT_EQ(map.polygons[1].solidity(), Solidity::kBoundary);
  EXPECT_EQ(map.polygons[1].id(), 12u);
  ExpectRing(map.polygons[2], 0, {{20, 0}, {21, 0}, {20, 1}});
  ASSERT_EQ(map.polygons[3].ring_count(), 2u);
  ExpectRing(map.polygons[4], 0, {{0, 0}, {1, 1}});
  ExpectRing(map.polygons[5], 0, {{2, 2}, {3, 3}, {4, 2}});
  EXPECT_EQ(map.polygons[5].id(), 16u);  // after the greatest id of the file
}

TEST(GeoJson, ReportsWhatHasNoEdges) {
  const ImportedMap map = Imported(ImportGeoJson, kCollection);
  EXPECT_THAT(SkippedOf(map),
              UnorderedElementsAre("1 MultiPoint in layer \"walls\": points have no edges",
                                   "1 Point in layer \"walls\": points have no edges",
                                   "1 Polygon in layer \"walls\": it is empty",
                                   "1 feature in layer \"walls\": it has no geometry"));
}

TEST(GeoJson, TakesCategoriesFromAPropertyAndLayersByNameOrType) {
  ImportOptions options;
  options.property = "kind";
  const ImportedMap map = Imported(ImportGeoJson, kCollection, options);
  ASSERT_EQ(map.polygons.size(), 6u);
  EXPECT_EQ(map.polygons[0].category(), 4u);
  EXPECT_EQ(map.polygons[1].category(), 9u);
  EXPECT_EQ(map.polygons[2].category(), 1u);
  EXPECT_EQ(map.polygons[4].category(), 2u);

  options.layers = {{"walls", 32, LayerUse::kDefault},
                    {"LineString", std::nullopt, LayerUse::kSkip}};
  const ImportedMap without = Imported(ImportGeoJson, kCollection, options);
  ASSERT_EQ(without.polygons.size(), 5u);
  for (const Polygon& polygon : without.polygons) EXPECT_EQ(polygon.category(), 32u);
  EXPECT_EQ(Imported(ImportGeoJson, kCollection, WithLayer("walls", LayerUse::kHollow))
                .polygons[0]
                .solidity(),
            Solidity::kBoundary);
}

TEST(GeoJson, PlacesPointsByTheOptions) {
  ImportOptions options;
  options.scale = 2;
  options.origin = {1, 3};
  options.flip_y = true;
  const ImportedMap map =
      Imported(ImportGeoJson, R"({"type":"LineString","coordinates":[[1,3],[2,5]]})", options);
  ASSERT_EQ(map.polygons.size(), 1u);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {2, -4}});
}

TEST(GeoJson, IgnoresCoordinatesAmongProperties) {
  const ImportedMap map = Imported(ImportGeoJson, R"({"type": "Feature",
    "properties": {"coordinates": ["a", {"coordinates": [1]}]}, "bbox": [[{"type": 1}]],
    "geometry": {"coordinates": [[0, 0], [1, 0]], "type": "LineString"}})");
  EXPECT_EQ(map.polygons.size(), 1u);
}

TEST(GeoJson, ErrorsNameThePathOrTheLine) {
  const auto feature = [](std::string_view geometry) {
    return R"({"type":"FeatureCollection","features":[{"type":"Feature","geometry":)" +
           std::string(geometry) + "}]}";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\n\"type\": \"Feature\",\n]", "line 3: not JSON"},
      {"{\"type\":\"LineString\",\n\"coordinates\":[[0,1e999],[1,1]]}",
       "line 2: a number above every double"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,"a"],[1,1]]]})"),
       "features[0].geometry.coordinates[0][1][1]: must be a number"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,1e17],[1,1]]]})"),
       "features[0].geometry.coordinates[0][1][1]: must be a number"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1],[1,1]]]})"),
       "features[0].geometry.coordinates[0][1][1]: must have two numbers"},
      {feature(R"({"type":"Polygon","coordinates":[[0,0],[1,1]]})"),
       "features[0].geometry.coordinates: a Polygon has positions nested 3 arrays deep, not 2"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[[1,1]]]]})"), "nested alike"},
      {feature(R"({"type":"Polygon","coordinates":5})"), "must be an array"},
      {feature(R"({"type":"Cube","coordinates":[]})"), "features[0].geometry.type"},
      {R"({"type":"FeatureCollection","features":{}})", "features: must be an array"},
      {R"({"type":"FeatureCollection"})", "features: must be an array"},
      {"[1,2]", "type: must be a type of geometry"},
      {"", "line 1: not JSON"},
      {std::string(100000, '['), "nested deeper than 256"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(ImportGeoJson, text), HasSubstr(message)) << text.substr(0, 100);
  }
  ImportOptions options;
  options.property = "kind";
  EXPECT_THAT(
      ErrorOf(ImportGeoJson, R"({"type":"Feature","properties":{"kind":"wall"},"geometry":null})",
              options),
      HasSubstr("properties.kind: must be an unsigned"));
}

TEST(GeoJson, IsToldByTheTypeOfItsObject) {
  EXPECT_TRUE(LooksLikeGeoJson(Sniff(kCollection)));
  EXPECT_TRUE(LooksLikeGeoJson(Sniff(R"( {"a":[{"type":"x"}],"type":"MultiPolygon"})")));
  EXPECT_FALSE(LooksLikeGeoJson(Sniff(R"({"type":"map","layers":[]})")));
  EXPECT_FALSE(LooksLikeGeoJson(Sniff(R"({"geometry":{"type":"Polygon"}})")));
}

// The converter of the scenes made one polygon of each part too, and kept all numbers.
TEST(GeoJson, AgreesWithTheSharedScenes) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"natural_earth", "ne_10m_bathymetry_C_8000.json"},
      {"natural_earth", "ne_110m_admin_0_countries.json"},
      {"natural_earth", "ne_110m_lakes.json"},
      {"natural_earth", "ne_110m_land.json"},
      {"natural_earth", "ne_50m_lakes_historic.json"},
      {"world_geo", "countries.geo.json"}};
  for (const auto& [source, file] : files) {
    SCOPED_TRACE(file);
    const std::string bytes = ReadFile(data + "/raw/" + source + "/" + file);
    EXPECT_TRUE(LooksLikeGeoJson(Sniff(bytes)));
    const ImportedMap map = Imported(ImportGeoJson, bytes);
    ExpectSamePlaces(map.polygons, SharedScene(data, source, file));
  }
}

}  // namespace geojson_test
}  // namespace carom::testing
