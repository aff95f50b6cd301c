// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Every map of the shared folder through `carom convert`: it prints what the library imports, which
// the suites of the formats compare with scenes that another converter made, and bundles and
// GeoJSON keep it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "client/formats/scene_writer.h"
#include "tests/maps/map_checks.h"
#include "tests/support/process.h"

namespace carom::testing {
namespace convert_test {

namespace fs = std::filesystem;

// Runs `carom convert arguments…` and returns what it prints.
std::string Convert(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {EnvironmentOr("CAROM_BINARY", "carom"), "convert"});
  const ProcessResult result = RunProcess(arguments, input, 120);
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  return result.standard_output;
}

// Returns the polygons of a scene in JSON, as text without the mapping.
std::string PolygonsOf(const std::string& scene) {
  const size_t begin = scene.find("\"polygons\":");
  return begin == std::string::npos ? scene : scene.substr(begin);
}

TEST(Convert, TheMapsOfTheSharedFolder) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::map<std::string, size_t> counts = {{"tiled", 15},   {"ldtk", 3},  {"godot", 18},
                                                {"jts_wkt", 4},  {"box2d", 3}, {"natural_earth", 5},
                                                {"world_geo", 1}};
  for (const auto& [folder, count] : counts) {
    size_t files = 0, polygons = 0;
    for (const auto& entry : fs::recursive_directory_iterator(data + "/raw/" + folder)) {
      const std::string path = entry.path().string(), name = entry.path().filename().string();
      if (!entry.is_regular_file() || name == "README.md" || name.starts_with("LICENSE")) continue;
      SCOPED_TRACE(path);
      const absl::StatusOr<ImportedMap> map =
          ImportMap(ReadFile(path), WithLayer("*"), OpenBeside(path));
      ASSERT_TRUE(map.ok()) << map.status();
      ++files;
      polygons += map->polygons.size();
      const std::string scene = Convert({path, "-", "--layer", "*", "--no-flip-y"});
      EXPECT_EQ(PolygonsOf(scene), PolygonsOf(WriteScene(map->polygons)));
      const std::string bundle = Convert({"-", "-", "--to", "bundle"}, scene);
      EXPECT_EQ(Convert({"-", "-", "--to", "bundle"}, Convert({"-", "-"}, bundle)), bundle);
      const std::string back = Convert({"-", "-"}, Convert({"-", "-", "--to", "geojson"}, scene));
      EXPECT_EQ(PolygonsOf(back), PolygonsOf(scene));
    }
    EXPECT_EQ(files, count) << folder;
    EXPECT_GT(polygons, 0u) << folder;
  }
}

}  // namespace convert_test
}  // namespace carom::testing
