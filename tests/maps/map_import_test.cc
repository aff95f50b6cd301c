// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which reader reads a file, and which files beside a map are opened (client/maps/map_import.h).

#include "client/maps/map_import.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace map_import_test {

namespace fs = std::filesystem;

TEST(ImportMap, ReadsAFileByItsContent) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(<?xml version="1.0"?><map tilewidth="1" tileheight="1"/>)", "tiled"},
      {"\xEF\xBB\xBF\n{\"type\": \"map\", \"tilewidth\": 1, \"tileheight\": 1}", "tiled"},
      {R"({"polygons": []})", "carom"},
      {R"({"type": "FeatureCollection", "features": []})", "geojson"},
      {R"(<svg xmlns="http://www.w3.org/2000/svg"/>)", "svg"},
      {"POLYGON ((0 0, 1 0, 0 1))", "wkt"},
      {"type octile\nheight 1\nwidth 1\nmap\n@\n", "moving-ai"},
      {"[gd_scene format=3]\n\n[node name=\"a\" type=\"Node2D\"]\n", "godot"},
  };
  for (const auto& [text, format] : cases) {
    const absl::StatusOr<ImportedMap> map = ImportMap(text, {}, nullptr);
    ASSERT_TRUE(map.ok()) << format << ": " << map.status();
    EXPECT_EQ(map->format, format);
  }
}

TEST(ImportMap, ListsTheFormatsIfNoneMatches) {
  for (const char* text : {"", "{", "{}", "<", "<a/>", "hello", "[1, 2]", "\xff\xfe{"}) {
    const absl::StatusOr<ImportedMap> map = ImportMap(text, {}, nullptr);
    ASSERT_FALSE(map.ok()) << text;
    EXPECT_EQ(map.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(map.status().message().substr(0, 43), "no map of a known format: Carom, Tiled, LDt");
  }
}

// Law: what is parsed of a long text never shrinks, and stays within it; every MiB has a report.
TEST(ImportMap, ReportsHowFarAJsonTextIsParsed) {
  const std::string blanks(size_t{3} << 20, ' ');
  const std::string texts[] = {
      R"({"polygons":[)" + blanks + "]}",
      R"({"type":"FeatureCollection","features":[)" + blanks + "]}",
      R"({"type":"map","tilewidth":1,"tileheight":1,"layers":[)" + blanks + "]}"};
  for (const std::string& text : texts) {
    std::vector<uint64_t> reports;
    const ReadProgress progress = [&](uint64_t done, uint64_t total) {
      EXPECT_EQ(total, text.size());
      reports.push_back(done);
    };
    ImportOptions options;
    options.progress = &progress;
    const absl::StatusOr<ImportedMap> map = ImportMap(text, options, nullptr);
    ASSERT_TRUE(map.ok()) << map.status();
    EXPECT_EQ(reports, (std::vector<uint64_t>{0, 1 << 20, 2 << 20, 3 << 20})) << map->format;
  }
}

// Law: what is read of a text of any other format never shrinks, and stays within it; what comes
// late in the text is reported.
TEST(ImportMap, ReportsHowFarOtherTextsAreRead) {
  std::string grid = "type octile\nheight 40\nwidth 10\nmap\n";
  std::string svg = "<svg>", tiled = R"(<map tilewidth="1" tileheight="1"><objectgroup name="A">)";
  std::string wkt = "LINESTRING(",
              godot = "[gd_scene format=3]\n[node name=\"A\" type=\"Node2D\"]\n";
  for (int i = 0; i < 40; ++i) {
    grid += "@@@@@.....\n";
    svg += "<rect width=\"1\" height=\"1\"/>";
    tiled += R"(<object id=")" + std::to_string(i + 1) + R"(" width="1" height="1"/>)";
    godot += "a" + std::to_string(i) + " = 1\n";
  }
  for (int i = 0; i < 4000; ++i) wkt += i == 0 ? "1 2" : ",1 2";
  for (const std::string& text :
       {grid, svg + "</svg>", tiled + "</objectgroup></map>", wkt + ")", godot}) {
    std::vector<uint64_t> reports;
    const ReadProgress progress = [&](uint64_t done, uint64_t total) {
      EXPECT_EQ(total, text.size());
      reports.push_back(done);
    };
    ImportOptions options;
    options.progress = &progress;
    const absl::StatusOr<ImportedMap> map = ImportMap(text, options, nullptr);
    ASSERT_TRUE(map.ok()) << map.status();
    ASSERT_GE(reports.size(), 3u) << map->format;
    EXPECT_TRUE(std::ranges::is_sorted(reports)) << map->format;
    EXPECT_GT(reports.back(), text.size() / 2) << map->format;
    EXPECT_LE(reports.back(), text.size()) << map->format;
  }
}

// A folder `maps` with files, and a file beside the folder.
class OpenBesideTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("open_beside_" + std::to_string(getpid()));
    fs::create_directories(root_ / "maps" / "sets");
    Write("maps/a.tmx", "map");
    Write("maps/sets/b.tsx", "tiles");
    Write("secret", "secret");
    fs::create_symlink("sets/b.tsx", root_ / "maps" / "inside");
    fs::create_symlink("../secret", root_ / "maps" / "outside");
    fs::create_directory_symlink("..", root_ / "maps" / "up");
    ASSERT_EQ(mkfifo((root_ / "maps" / "pipe").c_str(), 0600), 0);
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  FileOpener Opener(size_t files = 10, size_t bytes = 1000) {
    return OpenBeside((root_ / "maps" / "a.tmx").string(), files, bytes);
  }

  fs::path root_;
};

TEST_F(OpenBesideTest, OpensFilesOfTheFolder) {
  const FileOpener open = Opener();
  EXPECT_EQ(open("sets/b.tsx").value(), "tiles");
  EXPECT_EQ(open("./sets/../sets//b.tsx").value(), "tiles");
  EXPECT_EQ(open("inside").value(), "tiles");
  EXPECT_EQ(open("up/maps/a.tmx").value(), "map");
  EXPECT_EQ(open("none").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(OpenBesideTest, LeavesTheFolderNeither) {
  const FileOpener open = Opener();
  const std::string with_zero("sets/b.tsx\0x", 12);
  for (const std::string& path :
       {std::string(), std::string("../secret"), std::string("sets/../../secret"),
        std::string("outside"), std::string("up/secret"), (root_ / "secret").string(),
        (root_ / "maps" / "a.tmx").string(), std::string("/etc/passwd"), std::string(".."),
        std::string("sets"), std::string("pipe"), with_zero}) {
    EXPECT_EQ(open(path).status().code(), absl::StatusCode::kInvalidArgument) << path;
  }
}

TEST_F(OpenBesideTest, FilesAndBytesAreBounded) {
  const FileOpener two = Opener(2);
  const FileOpener copy = two;  // shares the bound
  EXPECT_TRUE(two("a.tmx").ok());
  EXPECT_TRUE(copy("a.tmx").ok());
  EXPECT_EQ(two("a.tmx").status().code(), absl::StatusCode::kResourceExhausted);
  const FileOpener small = Opener(10, 7);
  EXPECT_TRUE(small("sets/b.tsx").ok());
  EXPECT_EQ(small("a.tmx").status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(OpenBesideTest, AFileWithoutFolderIsInTheCurrentOne) {
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "maps");
  EXPECT_EQ(OpenBeside("a.tmx")("sets/b.tsx").value(), "tiles");
  fs::current_path(before);
}

// A map, its tileset and its template as files.
TEST_F(OpenBesideTest, AMapFindsItsTileset) {
  Write("maps/sets/b.tsx", R"(<tileset tilewidth="8" tileheight="8"><tile id="0"><objectgroup>
      <object width="8" height="8"/></objectgroup></tile></tileset>)");
  const absl::StatusOr<ImportedMap> map = ImportMap(
      R"(<map tilewidth="8" tileheight="8"><tileset firstgid="1" source="sets\b.tsx"/>
      <tileset firstgid="9" source="../secret"/>
      <layer name="l" width="1" height="1"><data encoding="csv">1</data></layer></map>)",
      {}, Opener());
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->polygons.size(), 1u);
  EXPECT_EQ(SkippedOf(*map),
            (std::vector<std::string>{"tileset ../secret: is outside of the folder of the map"}));
}

}  // namespace map_import_test
}  // namespace carom::testing
