// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Maps of other programs on the command line: `carom convert`, the flags about maps, and the report
// of how a map was read.
#include <nlohmann/json.hpp>

#include "tests/client/command_line.h"

namespace carom {
namespace {

using carom::testing::ProcessResult;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A map of Tiled: two objects, and a layer of tiles without shapes.
constexpr char kTiledMap[] = R"(<?xml version="1.0"?>
<map orientation="orthogonal" width="2" height="1" tilewidth="8" tileheight="8">
 <tileset firstgid="1" name="t" tilewidth="8" tileheight="8" tilecount="1" columns="1"/>
 <layer name="Ground" width="2" height="1"><data encoding="csv">1,1</data></layer>
 <objectgroup name="Walls">
  <object id="3" x="0" y="0" width="10" height="10"/>
  <object id="4" x="20" y="0"><polyline points="0,0 10,0"/></object>
  <object id="5" x="5" y="5"><point/></object>
 </objectgroup>
</map>
)";

constexpr char kCaromMap[] = R"({"polygons":[
{"id":18446744073709551615,"fill":"nonzero","category":6,"user_data":"AAEC","rings":[[[0,0],[4,0],[4,3]]]},
{"id":3,"solidity":"boundary","rings":[{"points":[[0.1,0],[4,0]],"open":true},[[0,0],[1,0],[1,1]]]},
{"id":4,"rings":[[[0,0],[8,0],[8,8]],[[4,1],[5,1],[5,2]]]}
]}
)";

class CliMapsTest : public CommandLineTest {
 protected:
  // Returns what `carom convert` prints for a map, in JSON unless the arguments choose a format.
  std::string Converted(const std::string& input, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"convert", "-", "-"});
    const ProcessResult result = Carom(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return result.standard_output;
  }
  nlohmann::json Json(const std::string& input, std::vector<std::string> arguments = {}) const {
    return nlohmann::json::parse(Converted(input, std::move(arguments)));
  }

  const std::string tiled_ = folder_.Write("level.tmx", kTiledMap);
};

TEST_F(CliMapsTest, RoundTrips) {
  EXPECT_EQ(Converted(kCaromMap), kCaromMap);
  const std::string bundle = Converted(kCaromMap, {"--to", "bundle"});
  // A bundle has its polygons by their ids.
  const std::string by_id = Converted(bundle);
  EXPECT_THAT(by_id, HasSubstr(R"("user_data":"AAEC")"));
  EXPECT_EQ(Converted(by_id), by_id);
  EXPECT_EQ(Converted(by_id, {"--to", "bundle"}), bundle);
  std::string without_data = kCaromMap;
  const std::string data = R"(,"user_data":"AAEC")";
  without_data.erase(without_data.find(data), data.size());
  EXPECT_EQ(nlohmann::json::parse(Converted(Converted(kCaromMap, {"--to", "geojson"})))["polygons"],
            nlohmann::json::parse(without_data)["polygons"]);
}

// The suffix of the file decides, unless --to does.
TEST_F(CliMapsTest, FormatsBySuffix) {
  const std::pair<const char*, const char*> kStarts[] = {
      {"a.json", "{\"mapping\":{\"format\":\"tiled\""},
      {"a.geojson", "{\"type\":\"FeatureCollection\""},
      {"a.svg", "<svg"},
      {"a.carom",
       "\x89"
       "CAROM"}};
  for (const auto& [name, start] : kStarts) {
    const ProcessResult result = Carom({"convert", tiled_, folder_ / name});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    EXPECT_EQ(result.standard_output, "");
    EXPECT_THAT(Contents(folder_ / name), StartsWith(start)) << name;
    EXPECT_EQ(Carom({"scene", "get", "--local", folder_ / name}).exit_code, 0) << name;
  }
  EXPECT_EQ(Carom({"convert", tiled_, folder_ / "b.carom", "--to", "svg"}).exit_code, 0);
  EXPECT_THAT(Contents(folder_ / "b.carom"), StartsWith("<svg"));
  const ProcessResult unknown = Carom({"convert", tiled_, folder_ / "b.txt"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.standard_error, HasSubstr("--to is required"));
  EXPECT_EQ(Carom({"convert", tiled_, "-", "--to", "txt"}).exit_code, 2);
  EXPECT_EQ(Carom({"convert", tiled_, folder_ / "no/such/folder.json"}).exit_code, 1);
}

TEST_F(CliMapsTest, OptionsOfMaps) {
  const nlohmann::json plain = Json(kTiledMap);
  ASSERT_EQ(plain["polygons"].size(), 2u);
  EXPECT_EQ(plain["polygons"][0]["rings"][0][2], nlohmann::json::parse("[10,-10]"));
  const nlohmann::json placed =
      Json(kTiledMap, {"--scale", "0.5", "--no-flip-y", "--origin", "2,4", "--layer",
                       "Walls=6,hollow", "--layer", "Ground=3"});
  ASSERT_EQ(placed["polygons"].size(), 3u);
  const nlohmann::json expected = nlohmann::json::parse(
      R"({"id":3,"category":6,"solidity":"boundary","rings":[[[-1,-2],[4,-2],[4,3],[-1,3]]]})");
  bool is_found = false;
  for (const nlohmann::json& polygon : placed["polygons"]) is_found |= polygon == expected;
  EXPECT_TRUE(is_found) << placed.dump();
  EXPECT_EQ(placed["mapping"]["scale"], "0.5");
  EXPECT_EQ(placed["mapping"]["flip-y"], "off");
  EXPECT_EQ(placed["mapping"]["layers"].size(), 2u);
  EXPECT_EQ(Json(kTiledMap, {"--layer", "*=2,skip"})["polygons"].size(), 0u);
  // Two cells: their union, or one box for each.
  EXPECT_EQ(Json(kTiledMap, {"--layer", "Ground"})["polygons"].size(), 3u);
  EXPECT_EQ(Json(kTiledMap, {"--layer", "Ground", "--outline", "off"})["polygons"].size(), 4u);
  EXPECT_EQ(
      Json(kTiledMap, {"--layer", "Ground", "--outline", "off", "--merge"})["polygons"].size(), 2u);
  const std::string circle = R"(<svg><circle r="100" data-kind="5"/></svg>)";
  const nlohmann::json coarse = Json(circle, {"--chord", "20", "--property", "data-kind"});
  EXPECT_EQ(coarse["polygons"][0]["category"], 5);
  EXPECT_LT(coarse["polygons"][0]["rings"][0].size(),
            Json(circle)["polygons"][0]["rings"][0].size());
  // Carom's own form has the same options.
  EXPECT_EQ(Json(kCaromMap, {"--scale", "2"})["polygons"][0]["rings"][0][2],
            nlohmann::json::parse("[8,6]"));
}

// A malformed value is an error of the command line that names its flag.
TEST_F(CliMapsTest, ErrorsNameTheFlag) {
  const std::pair<std::vector<std::string>, std::string> kErrors[] = {
      {{"--scale", "0"}, "--scale: must be a number other than 0"},
      {{"--scale", "big"}, "--scale: must be a number other than 0, not 'big'"},
      {{"--scale", "nan"}, "--scale: must be a number other than 0, not 'nan'"},
      {{"--origin", "1"}, "--origin: must be X,Y"},
      {{"--origin", "1,1e300"}, "--origin: must be X,Y"},
      {{"--chord", "-1"}, "--chord: must be a number above 0"},
      {{"--outline", "maybe"}, "--outline: maybe not in {on,off}"},
      {{"--layer", "=3"}, "--layer: has no name of a layer"},
      {{"--layer", "Walls=solidd"}, "--layer: after the last = must come a category"},
      {{"--layer", "Walls=3,4"}, "--layer: after the last = must come a category"},
      {{"--layer", "Walls=solid,3"}, "--layer: after the last = must come a category"},
      {{"--layer", "Walls=18446744073709551616"}, "--layer: after the last ="},
      {{"--scal", "1"}, "unknown option '--scal'; did you mean '--scale'?"},
  };
  for (const auto& [flags, message] : kErrors) {
    std::vector<std::string> arguments = {"convert", tiled_, "-"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProcessResult result = Carom(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.standard_error, StartsWith("carom: " + message));
  }
}

// The flags are a group of their own in the help of every command that reads a map.
TEST_F(CliMapsTest, FlagsInTheHelp) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"convert"},
                                                  {"scene", "import"},
                                                  {"scene", "diff"},
                                                  {"scene", "commit"},
                                                  {"bundle"},
                                                  {"demo"},
                                                  {"demo", "match"},
                                                  {"load"},
                                                  {"cast", "--local", "a"},
                                                  {"slide", "--local", "a"},
                                                  {"scene", "get", "--local", "a"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const std::string help = Carom(arguments).standard_output;
    const size_t group = help.find("\nMap:\n");
    ASSERT_NE(group, std::string::npos) << ::testing::PrintToString(command);
    for (const char* flag : {"--scale", "--flip-y", "--no-flip-y", "--origin", "--layer",
                             "--property", "--chord", "--outline", "--merge", "--id", "--strict"}) {
      EXPECT_NE(help.find(flag, group), std::string::npos) << flag;
    }
  }
}

// What is skipped, with the option that takes it, and the mapping: as members or as text.
TEST_F(CliMapsTest, ReportOfAnImport) {
  const ProcessResult result = Carom({"scene", "import", "arena", tiled_});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const nlohmann::json answer = nlohmann::json::parse(result.standard_output);
  EXPECT_EQ(answer["polygon_count"], 2);
  EXPECT_EQ(answer["mapping"]["format"], "tiled");
  ASSERT_EQ(answer["skipped"].size(), 2u);
  EXPECT_EQ(answer["skipped"][0]["what"], "layer \"Ground\"");
  EXPECT_EQ(answer["skipped"][0]["option"], "--layer Ground");
  // The version keeps the mapping.
  const nlohmann::json kept =
      nlohmann::json::parse(Carom({"scene", "history", "arena"}).standard_output);
  EXPECT_EQ(nlohmann::json::parse(kept["note"].get<std::string>()), answer["mapping"]);
  const ProcessResult cast = Carom({"cast", "arena", "-5", "-5", "35", "-5"});
  EXPECT_EQ(cast.standard_output,
            Carom({"cast", "--local", tiled_, "-5", "-5", "35", "-5"}).standard_output);
  EXPECT_THAT(cast.standard_output, StartsWith(R"({"hit":true,"t":0.125,"poly":3)"));
  const ProcessResult local = Carom({"scene", "get", "--local", tiled_});
  EXPECT_THAT(local.standard_output, StartsWith(R"({"name":"level","version":1,)"));
  EXPECT_EQ(local.standard_error, result.standard_error);
  EXPECT_EQ(local.standard_error,
            "carom: " + tiled_ +
                ": tiled, 2 polygons; scale 1; origin 0,0; flip-y on; outline on; merge off; "
                "chord 0.25; ids those of the file\n"
                "carom: warning: " +
                tiled_ +
                ": layer \"Ground\": no collision shapes in the tilesets; --layer Ground takes it\n"
                "carom: warning: " +
                tiled_ + ": 1 point in layer \"Walls\": no area\n");
  // The exported scene is that of the file, whose mapping is in the document.
  EXPECT_EQ(Carom({"scene", "export", "arena"}).standard_output,
            Carom({"scene", "export", "--local", tiled_}).standard_output);
  const ProcessResult strict = Carom({"scene", "import", "b", tiled_, "--strict"});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_THAT(strict.standard_error, HasSubstr("INVALID_ARGUMENT: layer \"Ground\": "));
}

// Names of a file do not control the terminal, and many skipped parts are counted.
TEST_F(CliMapsTest, HostileNames) {
  std::string map = R"({"type":"map","tilewidth":1,"tileheight":1,"layers":[)";
  for (int i = 0; i < 40; ++i) {
    absl::StrAppend(&map, i == 0 ? "" : ",", R"({"type":"imagelayer","name":"\u001b[2J\n)", i,
                    "\"}");
  }
  const ProcessResult result = Carom({"convert", "-", "-"}, map + "]}");
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(result.standard_error.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(result.standard_error.begin(), result.standard_error.end(), '\n'), 18);
  EXPECT_THAT(result.standard_error, EndsWith("carom: warning: -: 24 more\n"));
}

// The scene of a file, or the name of the file.
TEST_F(CliMapsTest, IdsOfScenes) {
  EXPECT_EQ(Carom({"convert", tiled_, "-", "--id", "level"}).exit_code, 0);
  const ProcessResult other = Carom({"convert", tiled_, "-", "--id", "other"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.standard_error, HasSubstr("NOT_FOUND"));
  const std::string lines =
      "{\"id\":\"a\",\"polygons\":[]}\n{\"id\":\"b\",\"polygons\":[{\"id\":1,\"rings\":[[[0,0]]]}]}"
      "\n";
  EXPECT_THAT(Converted(lines, {"--id", "b"}), HasSubstr("[[[0,0]]]"));
  EXPECT_THAT(Carom({"convert", "-", "-"}, lines).standard_error,
              HasSubstr("2 scenes: choose one of them with --id"));
  EXPECT_THAT(Carom({"convert", "-", "-", "--id", "a"}, lines + "{\n").standard_error,
              HasSubstr("line 3: not JSON"));
}

// A line {"op":"load"} of `carom eval` reads what other commands read, and takes their options.
TEST_F(CliMapsTest, EvalLoadsMaps) {
  const auto eval = [this](const std::string& file, const std::string& id,
                           std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"eval", "--root", folder_.path()});
    return Carom(flags, R"({"op":"load","file":")" + file + R"(","id":")" + id +
                            "\"}\n{\"op\":\"point\",\"p\":[5,-5]}\n");
  };
  const ProcessResult tiled = eval("level.tmx", "level", {});
  EXPECT_EQ(tiled.standard_output, "{\"in\":[3],\"on\":[]}\n");
  EXPECT_THAT(tiled.standard_error, HasSubstr("layer \"Ground\""));
  EXPECT_EQ(eval("level.tmx", "level", {"--scale", "0.5"}).standard_output,
            "{\"in\":[],\"on\":[3]}\n");
  folder_.Write("own.json", R"({"id":"a","polygons":[{"id":7,"rings":[[[0,0],[4,0],[4,-4]]]}]})");
  EXPECT_EQ(eval("own.json", "a", {}).standard_output, "{\"in\":[],\"on\":[]}\n");
  EXPECT_EQ(eval("own.json", "a", {"--scale", "2"}).standard_output, "{\"in\":[],\"on\":[7]}\n");
  EXPECT_THAT(eval("level.tmx", "other", {}).standard_output,
              StartsWith(R"({"error":{"code":"NOT_FOUND","field":"id")"));
  folder_.Write("none.txt", "no map");
  EXPECT_THAT(eval("none.txt", "none", {}).standard_output,
              StartsWith(R"({"error":{"code":"INVALID_ARGUMENT","field":"file")"));
  EXPECT_THAT(eval("missing", "a", {"--scale", "2"}).standard_output,
              StartsWith(R"({"error":{"code":"NOT_FOUND","field":"file")"));
}

// The line of progress appears after a second on a terminal, and is erased.
TEST_F(CliMapsTest, Progress) {
  const std::string command =
      Environment("CAROM_BINARY") +
      " load --polygons 100 --streams 1 --warmup 0 --duration 2.5 --address " + server_->address();
  const ProcessResult shown =
      carom::testing::RunProcess({"script", "-qec", command, "/dev/null"}, "", 60);
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.standard_output,
              ::testing::ContainsRegex(
                  "\r\x1b\\[Kcarom: load: (1 of 3 seconds, 33|2 of 3 seconds, 66) %, "));
  const size_t last = shown.standard_output.rfind("\r\x1b[K");
  EXPECT_EQ(shown.standard_output.substr(last, 10).find("carom:"), std::string::npos);
  const ProcessResult hidden = carom::testing::RunProcess({"bash", "-c", command}, "", 60);
  EXPECT_EQ(hidden.standard_error, "");
}

TEST_F(CliMapsTest, Refusals) {
  for (const char* text : {"", "no map", "{}", "<html/>"}) {
    const ProcessResult result = Carom({"convert", "-", "-"}, text);
    EXPECT_EQ(result.exit_code, 1) << text;
    EXPECT_THAT(result.standard_error, HasSubstr("no map of a known format: Carom, Tiled"));
  }
  EXPECT_THAT(Carom({"convert", folder_.path(), "-"}).standard_error,
              StartsWith("carom: NOT_FOUND"));
  EXPECT_THAT(Carom({"convert", folder_ / "none", "-"}).standard_error,
              StartsWith("carom: NOT_FOUND"));
  const ProcessResult full = carom::testing::RunProcess(
      {"bash", "-c", "\"$CAROM_BINARY\" convert " + tiled_ + " - 2>&1 >/dev/full | tail -n 1"}, "",
      60);
  EXPECT_EQ(full.standard_output, "carom: UNKNOWN: cannot write to standard output\n");
}

}  // namespace
}  // namespace carom
