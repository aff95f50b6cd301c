// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom demo`: its figures and picture are the server's answers about the map it was given.
#include <nlohmann/json.hpp>

#include "tests/client/fixture.h"
#include "tests/support/process.h"

namespace carom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Outcome {
  json figures;
  std::string svg;
};

class DemoTest : public ClientTest {
 protected:
  static std::string ArenaPath() {
    return Environment("CAROM_SOURCE_DIR") + "/client/examples/arena.json";
  }

  Outcome Demo(const std::string& map, int ticks = 30) const { return Run({"demo"}, map, ticks); }

  Outcome Match(const std::string& map, int ticks) const {
    return Run({"demo", "match"}, map, ticks);
  }

  Outcome Run(const std::vector<std::string>& command, const std::string& map, int ticks) const {
    const std::string svg = folder_ / "demo.svg";
    std::vector<std::string> arguments = {Environment("CAROM_BINARY")};
    arguments.insert(arguments.end(), command.begin(), command.end());
    for (const std::string& argument :
         {std::string("--address"), server_->address(), std::string("--map"), map,
          std::string("--svg"), svg, std::string("--ticks"), std::to_string(ticks)}) {
      arguments.push_back(argument);
    }
    const auto result = carom::testing::RunProcess(arguments, "", 100);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    EXPECT_EQ(result.standard_error, "");
    Outcome outcome;
    outcome.svg = Contents(svg);
    outcome.figures = json::parse(result.standard_output);
    EXPECT_EQ(outcome.figures["picture"], svg);
    return outcome;
  }
};

TEST_F(DemoTest, TheArenaIsARichMap) {
  const json arena = json::parse(Contents(ArenaPath()));
  EXPECT_GE(arena["polygons"].size(), 60u);
  size_t holed = 0, hollow = 0, open = 0, nonzero = 0;
  for (const json& polygon : arena["polygons"]) {
    holed += polygon["rings"].size() > 1;
    hollow += polygon.value("solidity", "solid") == "boundary";
    open += polygon["rings"][0].is_object();
    nonzero += polygon.value("fill", "evenodd") == "nonzero";
  }
  EXPECT_GE(holed, 2u);
  EXPECT_GE(hollow, 2u);
  EXPECT_GE(open, 1u);
  EXPECT_GE(nonzero, 1u);
}

TEST_F(DemoTest, TellsWhatHappened) {
  const Outcome outcome = Demo(ArenaPath());
  const json& figures = outcome.figures;
  for (const char* name : {"hits", "overlapping_pairs", "latency_p50_ms", "latency_p99_ms",
                           "evaluate_ns_per_query", "queries_per_second"}) {
    EXPECT_GT(figures.at(name).get<double>(), 0) << name;
  }
  EXPECT_EQ(figures["polygon_count"], 82);
  EXPECT_EQ(figures["moving_shapes"], 200);
  EXPECT_EQ(figures["ticks"], 30);
  EXPECT_EQ(figures["queries"], 72000);  // 2,000 bullets, 200 feelers, 200 shapes
  EXPECT_EQ(figures["bullets"], 60000);
  EXPECT_THAT(outcome.svg, HasSubstr("</svg>"));
  EXPECT_LT(outcome.svg.size(), 1500000u);
  const auto scenes = client_->ListAllScenes();
  ASSERT_TRUE(scenes.ok());
  EXPECT_TRUE(scenes->empty());
}

TEST_F(DemoTest, TheSameMapGivesTheSameRun) {
  const Outcome first = Demo(ArenaPath());
  const Outcome second = Demo(ArenaPath());
  for (const char* name : {"vertex_count", "ticks", "queries", "hits", "overlapping_pairs"}) {
    EXPECT_EQ(first.figures.at(name), second.figures.at(name)) << name;
  }
  EXPECT_EQ(first.svg, second.svg);
}

// One vertex of the central window, moved: a map with as many polygons and vertices as before.
TEST_F(DemoTest, OneVertexChangesTableAndPicture) {
  json arena = json::parse(Contents(ArenaPath()));
  arena["polygons"][1]["rings"][0][0] = {270, 155};
  const std::string changed_map = folder_.Write("arena.json", arena.dump());
  const Outcome arena_run = Demo(ArenaPath());
  const Outcome changed = Demo(changed_map);
  EXPECT_EQ(arena_run.figures["vertex_count"], changed.figures["vertex_count"]);
  EXPECT_NE(arena_run.figures["hits"], changed.figures["hits"]);
  EXPECT_NE(arena_run.svg, changed.svg);
  // Not only the map is drawn otherwise: so are the bullets.
  const auto paths = [](const std::string& svg, const std::string& style) {
    const size_t begin = svg.find("<path class=\"" + style + "\"");
    return svg.substr(begin, svg.find('\n', begin) - begin);
  };
  EXPECT_NE(paths(arena_run.svg, "hit"), paths(changed.svg, "hit"));
  EXPECT_NE(paths(arena_run.svg, "normal"), paths(changed.svg, "normal"));
}

// A match of some seconds: whatever bots can do has happened, and nothing is left on the server.
TEST_F(DemoTest, MatchIsPlayed) {
  const Outcome outcome = Match(ArenaPath(), 300);
  const json& figures = outcome.figures;
  EXPECT_EQ(figures["bots"], 16);
  EXPECT_EQ(figures["ticks"], 300);
  for (const char* name : {"pairs", "seen", "moves", "slid", "doors", "doors_opened", "doors_shut",
                           "bullets", "bot_hits", "missed_at_present", "wall_hits", "deaths",
                           "latency_p50_ms", "queries_per_second"}) {
    EXPECT_GT(figures.at(name).get<double>(), 0) << name;
  }
  EXPECT_LE(figures["missed_at_present"], figures["bot_hits"]);
  EXPECT_LE(figures["seen"], figures["pairs"]);
  EXPECT_THAT(outcome.svg, HasSubstr("<animateTransform"));
  for (const char* team : {"eastsight", "westsight"}) {
    EXPECT_THAT(outcome.svg, HasSubstr("class=\"" + std::string(team) + "\" d=\"M"));
  }
  EXPECT_THAT(outcome.svg, HasSubstr("</svg>"));
  EXPECT_LT(outcome.svg.size(), 500000u);
  EXPECT_TRUE(client_->ListAllScenes()->empty());
}

TEST_F(DemoTest, TheSameMapGivesTheSameMatch) {
  const Outcome first = Match(ArenaPath(), 60);
  const Outcome second = Match(ArenaPath(), 60);
  EXPECT_EQ(first.figures["bot_hits"], second.figures["bot_hits"]);
  EXPECT_EQ(first.svg, second.svg);
}

TEST_F(DemoTest, Refusals) {
  const auto run = [&](const std::string& map, const std::string& svg) {
    return carom::testing::RunProcess(
        {Environment("CAROM_BINARY"), "demo", "--address", server_->address(), "--map", map,
         "--svg", svg, "--ticks", "2"},
        "", 60);
  };
  EXPECT_EQ(run(folder_ / "missing", folder_ / "a.svg").exit_code, 1);
  EXPECT_EQ(run(folder_.Write("void.json", R"({"polygons":[]})"), folder_ / "a.svg").exit_code, 1);
  EXPECT_EQ(run(ArenaPath(), folder_ / "no/such/folder.svg").exit_code, 1);
  // What is required is so without a match alone.
  const auto demo = carom::testing::RunProcess({Environment("CAROM_BINARY"), "demo"}, "", 60);
  EXPECT_EQ(demo.exit_code, 2);
  EXPECT_THAT(demo.standard_error, HasSubstr("--map"));
  const auto match =
      carom::testing::RunProcess({Environment("CAROM_BINARY"), "demo", "match"}, "", 60);
  EXPECT_EQ(match.exit_code, 2);
  EXPECT_THAT(match.standard_error, HasSubstr("--map"));
  EXPECT_TRUE(client_->ListAllScenes()->empty());
}

}  // namespace
}  // namespace carom
