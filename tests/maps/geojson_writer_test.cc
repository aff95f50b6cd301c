// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// GeoJSON that Carom writes: its geometries, and that reading it back gives equal polygons.

#include "client/formats/geojson_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/formats/scene_writer.h"
#include "client/maps/geojson.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace geojson_writer_test {

using ::testing::HasSubstr;
using ::testing::Not;

Polygon Made(uint64_t id, std::vector<RingSpec> rings, Solidity solidity = Solidity::kSolid,
             FillRule fill = FillRule::kEvenOdd) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings = std::move(rings);
  spec.solidity = solidity;
  spec.fill_rule = fill;
  spec.category = 6;
  return Polygon::Create(std::move(spec)).value();
}

Ring Box4(double x, double y, double side) {
  return {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}};
}

std::vector<Polygon> ReadBack(const std::vector<Polygon>& polygons) {
  return Imported(ImportGeoJson, WriteGeoJson(polygons)).polygons;
}

TEST(GeoJsonWriter, GeometriesAndProperties) {
  EXPECT_EQ(WriteGeoJson({}), "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n");
  EXPECT_EQ(WriteGeoJson(
                std::vector<Polygon>{Made(7, {{Box4(0, 0, 8)}, {Box4(1, 1, 2)}}),
                                     Made(8, {{{{0, 0}, {0.1, 3}}, true}}, Solidity::kBoundary)}),
            R"({"type":"FeatureCollection","features":[
{"type":"Feature","id":7,"properties":{"category":6},"carom":{"category":6},"geometry":)"
            R"({"type":"Polygon","coordinates":[[[0,0],[8,0],[8,8],[0,8],[0,0]],)"
            R"([[1,1],[3,1],[3,3],[1,3],[1,1]]]}},
{"type":"Feature","id":8,"properties":{"category":6},"carom":{"category":6,"closed":[]},)"
            R"("geometry":{"type":"LineString","coordinates":[[0,0],[0.1,3]]}}
]}
)");
}

// An island in a lake is an outer ring, and holes follow the outer ring around them.
TEST(GeoJsonWriter, PartsOfRings) {
  const Polygon islands = Made(1, {{Box4(0, 0, 20)},
                                   {Box4(30, 0, 5)},
                                   {Box4(1, 1, 15)},
                                   {Box4(2, 2, 9)},
                                   {Box4(31, 1, 1)},
                                   {Box4(3, 3, 1)}});
  const std::string text = WriteGeoJson(std::vector<Polygon>{islands});
  EXPECT_THAT(text, HasSubstr(R"("type":"MultiPolygon","coordinates":[)"
                              R"([[[0,0],[20,0],[20,20],[0,20],[0,0]],[[1,1])"));
  EXPECT_THAT(text, HasSubstr(R"([[[30,0],[35,0],[35,5],[30,5],[30,0]],[[31,1])"));
  EXPECT_THAT(text, HasSubstr(R"([[[2,2],[11,2],[11,11],[2,11],[2,2]],[[3,3])"));
  const std::vector<Polygon> back = ReadBack({islands});
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].id(), 1u);
  EXPECT_EQ(back[0].ring_count(), 6u);
  EXPECT_EQ(Hits(back, BoxOf(back)), Hits({islands}, BoxOf(back)));
}

// A hole may touch its outer ring, in a vertex and along an edge.
TEST(GeoJsonWriter, HolesThatTouch) {
  const Polygon touching =
      Made(1, {{Box4(0, 0, 8)}, {{{0, 0}, {2, 1}, {1, 2}}}, {{{8, 4}, {8, 6}, {6, 5}}}});
  const std::string text = WriteGeoJson(std::vector<Polygon>{touching});
  EXPECT_THAT(text, Not(HasSubstr("MultiPolygon")));
  EXPECT_EQ(WriteScene(ReadBack({touching})), WriteScene(std::vector<Polygon>{touching}));
}

// Rings of every kind: what is read back has the same bytes in Carom's own form.
TEST(GeoJsonWriter, ReadsBackWhatWasWritten) {
  const std::vector<Polygon> polygons = {
      Made(18446744073709551615u, {{Box4(0, 0, 8)}, {Box4(1, 1, 2)}, {Box4(5, 5, 1)}}),
      Made(3, {{Box4(0, 0, 4)}, {{{0, 0}, {4, 4}}, true}, {Box4(1, 1, 1)}}, Solidity::kBoundary),
      // The chain ends where it begins, and is open.
      Made(4, {{{{0, 0}, {4, 0}, {4, 4}, {0, 0}}, true}}, Solidity::kBoundary),
      Made(5, {{Box4(0, 0, 4)}, {Box4(1, 1, 9)}}, Solidity::kSolid, FillRule::kNonZero),
      Made(6, {{{{1, 1}}}}), Made(7, {{{{1, 1}, {2, 2}}}}),
      // The last vertex equals the first, and is no closing duplicate.
      Made(8, {{{{0, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}}}})};
  EXPECT_EQ(WriteScene(ReadBack(polygons)), WriteScene(polygons));
}

// Law: random stars and chains come back with all bits.
TEST(GeoJsonWriter, RandomPolygons) {
  SplitMix64 random(71);
  std::vector<Polygon> polygons;
  for (uint64_t id = 1; id <= 300; ++id) {
    RingSpec ring;
    const size_t count = 1 + static_cast<size_t>(random.Unit() * 12);
    for (size_t i = 0; i < count; ++i) {
      ring.vertices.push_back({(random.Unit() - 0.5) * 1e9, (random.Unit() - 0.5) * 1e-9});
    }
    const bool is_hollow = random.Unit() < 0.5;
    ring.open = is_hollow && random.Unit() < 0.5;
    polygons.push_back(Made(id, {ring}, is_hollow ? Solidity::kBoundary : Solidity::kSolid,
                            random.Unit() < 0.5 ? FillRule::kEvenOdd : FillRule::kNonZero));
  }
  EXPECT_EQ(WriteScene(ReadBack(polygons)), WriteScene(polygons));
}

// The category of a property counts before that of the member; both are checked.
TEST(GeoJsonWriter, TheMemberIsChecked) {
  const std::string head = R"({"type":"Feature","properties":{"kind":4},"geometry":)"
                           R"({"type":"LineString","coordinates":[[0,0],[1,0]]},"carom":)";
  ImportOptions options;
  options.property = "kind";
  EXPECT_EQ(Imported(ImportGeoJson, head + R"({"category":2}})", options).polygons[0].category(),
            4u);
  EXPECT_EQ(Imported(ImportGeoJson, head + R"({"category":2}})").polygons[0].category(), 2u);
  EXPECT_EQ(Imported(ImportGeoJson, head + "3}").polygons[0].category(), 1u);
  EXPECT_THAT(ErrorOf(ImportGeoJson, head + R"({"category":-1}})"), HasSubstr("carom.category"));
  EXPECT_THAT(ErrorOf(ImportGeoJson, head + R"({"closed":[-1]}})"), HasSubstr("carom.closed[0]"));
  EXPECT_THAT(ErrorOf(ImportGeoJson, head + R"({"closed":3}})"), HasSubstr("carom.closed"));
}

}  // namespace geojson_writer_test
}  // namespace carom::testing
