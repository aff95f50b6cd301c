// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Carom's own scenes and bundles as maps: nothing is lost, options apply, several scenes need a
// name.

#include "client/maps/carom_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "carom/bundle.h"
#include "carom/status.h"
#include "client/formats/scene_writer.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace carom_map_test {

using ::testing::HasSubstr;

constexpr char kScene[] = R"({"id": "arena", "polygons": [
  {"id": 18446744073709551615, "fill": "nonzero", "category": 6, "user_data": "AAEC",
   "rings": [[[0, 0], [4, 0], [4, 3]], [[1, 1], [2, 1], [2, 2], [1, 1], [1, 1]]]},
  {"id": 3, "solidity": "boundary", "rings": [{"points": [[0.1, 0], [4, 0]], "open": true}]}]})";

TEST(CaromMap, LosesNothing) {
  const ImportedMap map = Imported(ImportCarom, kScene);
  EXPECT_EQ(map.format, "carom");
  ASSERT_EQ(map.polygons.size(), 2u);
  const std::string text = WriteScene(map.polygons);
  EXPECT_EQ(text, WriteScene(Imported(ImportCarom, text).polygons));
  EXPECT_EQ(map.polygons[0].id(), 18446744073709551615u);
  EXPECT_EQ(map.polygons[0].user_data(), std::string("\0\1\2", 3));
  EXPECT_EQ(map.polygons[0].fill_rule(), FillRule::kNonZero);
  EXPECT_EQ(map.polygons[0].category(), 6u);
  EXPECT_EQ(map.polygons[0].ring(1).size(), 4u);
  EXPECT_TRUE(map.polygons[1].is_open(0));
  const Scene::Ptr scene = Scene::Create(map.polygons, 1).value();
  const std::string bundle = WriteBundle(*scene);
  EXPECT_TRUE(LooksLikeCarom(Sniff(bundle)));
  EXPECT_EQ(WriteScene(Imported(ImportCarom, bundle).polygons).size(), text.size());
}

TEST(CaromMap, AppliesOptions) {
  ImportOptions options = WithLayer("arena", LayerUse::kHollow);
  options.flip_y = true;
  options.scale = 2;
  const ImportedMap map = Imported(ImportCarom, kScene, options);
  ExpectRing(map.polygons[0], 0, {{0, 0}, {8, 0}, {8, -6}});
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kBoundary);
  EXPECT_EQ(map.polygons[0].user_data().size(), 3u);
}

TEST(CaromMap, TakesTheSceneThatIsChosen) {
  const std::string line = R"("polygons":[{"id":1,"rings":[[[0,0],[1,0],[0,1]]]}]})";
  const std::string lines = "{\"id\":\"a\"," + line + "\n\n{\"id\":\"b\"," + line + "\n";
  ImportOptions options;
  options.scene = "b";
  const ImportedMap map = Imported(ImportCarom, lines, options);
  EXPECT_EQ(map.scene, "b");
  EXPECT_EQ(map.polygons.size(), 1u);
  EXPECT_TRUE(map.mapping.empty());
  EXPECT_THAT(ErrorOf(ImportCarom, lines),
              HasSubstr("the file has 2 scenes: choose one of them with --id"));
  options.scene = "c";
  EXPECT_EQ(ImportCarom(lines, options, nullptr).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Imported(ImportCarom, "{" + line + "\n\n").polygons.size(), 1u);
}

// A misspelt member would be a polygon of another kind, in silence.
TEST(CaromMap, NamesUnknownMembers) {
  const std::string text = R"({"polygons": [{"id": 1, "solidty": 2, "rings": [[[0, 0]]]},
      {"idd": 1, "rings": [{"points": [[0, 0]], "opn": true}]}], "titel": ""})";
  const absl::Status refused = ImportCarom(text, {}, nullptr).status();
  std::vector<std::string> fields;
  for (const Violation& violation : Violations(refused)) fields.push_back(violation.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"polygons[1].id", "titel", "polygons[0].solidty",
                                              "polygons[1].idd", "polygons[1].rings[0].opn"}));
  const ImportedMap map = Imported(ImportCarom, R"({"polygons": [{"id": 1, "solidty": 2,
      "rings": [[[0, 0]]]}], "mapping": {}})");
  EXPECT_EQ(
      SkippedOf(map),
      (std::vector<std::string>{"polygons[0].solidty: unknown member; did you mean 'solidity'?"}));
}

TEST(CaromMap, ErrorsNameThePathOrTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"polygons\": [\n}", "line 2: not JSON"},
      {"{\"polygons\": []}\n{\"polygons\": [}\n", "line 2: not JSON"},
      {"{\"polygons\": 3}", "polygons: must be an array"},
      {R"({"polygons": [{"id": 1, "rings": [[[0, 1e99]]]}]})", "polygons[0].rings[0][0]"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(ImportCarom, text), HasSubstr(message)) << text;
  }
  const Scene::Ptr scene = Scene::Create({}, 1).value();
  const std::string bundle = WriteBundle(*scene);
  const auto cut = ImportCarom(bundle.substr(0, bundle.size() - 1), {}, OpenFrom({}));
  EXPECT_THAT(std::string(cut.status().message()), HasSubstr("header.file_size"));
}

TEST(CaromMap, IsToldByItsPolygons) {
  EXPECT_TRUE(LooksLikeCarom(Sniff(kScene)));
  EXPECT_FALSE(LooksLikeCarom(Sniff(R"({"layers": [{"polygons": []}]})")));
}

}  // namespace carom_map_test
}  // namespace carom::testing
