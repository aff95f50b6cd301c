// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom scene` as a process: files in place of a server, forks, versions, findings; and what
// errors say about servers and names.
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "support/certificates.h"
#include "tests/client/command_line.h"

namespace carom {
namespace {

using carom::testing::Authority;
using carom::testing::KeyPair;
using carom::testing::ProcessResult;
using carom::testing::ServerProcess;
using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kLevel[] = R"({"id":"level","mapping":{"format":"tiled"},"polygons":[)"
                          R"({"id":8,"rings":[[[20,0],[30,0],[30,10]]]},)"
                          R"({"id":7,"rings":[[[0,0],[10,0],[10,10],[0,10]]]}]})";
constexpr char kEdits[] =
    R"({"polygons":[{"id":7,"rings":[[[0,0],[5,0],[5,5]]]},{"id":9,"rings":[[[1,1]]]}]})";
constexpr char kDifference[] =
    "{\"id\":7,\"change\":\"replaced\",\"vertices\":3,\"bounds\":[[0,0],[5,5]]}\n"
    "{\"id\":8,\"change\":\"removed\",\"vertices\":3,\"bounds\":[[20,0],[30,10]]}\n"
    "{\"id\":9,\"change\":\"added\",\"vertices\":1,\"bounds\":[[1,1],[1,1]]}\n";

class CliScenesTest : public CommandLineTest {
 protected:
  std::string Printed(const std::vector<std::string>& arguments) const {
    const ProcessResult result = Carom(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return result.standard_output;
  }

  const std::string map_ = folder_.Write("map.json", kLevel);
  const std::string edits_ = folder_.Write("edits.json", kEdits);
};

// Two files differ as two versions do.
TEST_F(CliScenesTest, DiffOfFiles) {
  EXPECT_EQ(Printed({"scene", "diff", "--local", map_, "--with", edits_}), kDifference);
  EXPECT_EQ(Printed({"scene", "diff", "--local", map_, "--with", map_}), "");
  EXPECT_THAT(Carom({"scene", "diff", "--local", map_}).standard_error,
              StartsWith("carom: --with is required"));
  EXPECT_EQ(Carom({"scene", "diff", "--local", map_, "--with", folder_ / "none"}).exit_code, 1);
}

// A commit replaces the file, with its id, its mapping and the order of its polygons.
TEST_F(CliScenesTest, CommitToAFile) {
  const std::string printed =
      Printed({"scene", "commit", "--local", map_, edits_, "--remove", "8"});
  EXPECT_EQ(printed,
            "{\"name\":\"level\",\"version\":1,\"polygon_count\":2,\"vertex_count\":4,"
            "\"bounds\":[[0,0],[5,5]]}\n");
  EXPECT_EQ(json::parse(Contents(map_)), json::parse(R"({"id":"level","mapping":{"format":"tiled"},
      "polygons":[{"id":7,"rings":[[[0,0],[5,0],[5,5]]]},{"id":9,"rings":[[[1,1]]]}]})"));
  EXPECT_EQ(Printed({"scene", "diff", "--local", map_, "--with", edits_}), "");
  // What cannot be committed leaves the file.
  const std::string before = Contents(map_);
  const ProcessResult result = Carom({"scene", "commit", "--local", map_, "--remove", "8"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, StartsWith("carom: NOT_FOUND: edits[0].remove"));
  EXPECT_EQ(Contents(map_), before);
  EXPECT_EQ(std::ifstream(map_ + ".new").good(), false);
}

TEST_F(CliScenesTest, CommitToAnotherFile) {
  const std::string before = Contents(map_), output = folder_ / "edited.geojson";
  Printed({"scene", "commit", "--local", map_, edits_, "--remove", "8", "-o", output});
  EXPECT_EQ(Contents(map_), before);
  EXPECT_EQ(Printed({"scene", "diff", "--local", output, "--with", edits_}), "");
  const std::string bundle = folder_ / "map.carom";
  Printed({"convert", map_, bundle});
  Printed({"scene", "commit", "--local", bundle, edits_, "--remove", "8"});
  EXPECT_THAT(Contents(bundle), StartsWith("\x89"
                                           "CAROM"));
  EXPECT_EQ(Printed({"scene", "diff", "--local", bundle, "--with", edits_}), "");
  // A file that carom cannot write again is not overwritten.
  const std::string svg = folder_.Write("map.svg", R"(<svg><rect width="4" height="4"/></svg>)");
  ProcessResult result = Carom({"scene", "commit", "--local", svg, "--remove", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error,
              HasSubstr("commit cannot write the format svg; --output FILE names another file"));
  EXPECT_THAT(Contents(svg), StartsWith("<svg><rect"));
  result = Carom({"scene", "commit", "--local", map_, "--remove", "8", "-o", folder_ / "a.txt"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("does not end in .json, .geojson, .svg or .carom"));
}

// What only a server has is an error of the command line that says what to do.
TEST_F(CliScenesTest, FilesHaveNoVersions) {
  const std::pair<std::vector<std::string>, std::string> kCommands[] = {
      {{"history"}, "a file has no versions: `carom scene import NAME FILE`"},
      {{"rollback", "7"}, "a file has no versions"},
      {{"watch"}, "a file has no versions"},
      {{"fork"}, "`cp` copies a file"},
      {{"delete"}, "`rm` deletes a file"},
      {{"import", "arena", "map.json"}, "`carom convert` writes a file in another form"},
  };
  for (const auto& [words, message] : kCommands) {
    std::vector<std::string> arguments = {"scene"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    arguments.insert(arguments.end(), {"--local", map_});
    const ProcessResult result = Carom(arguments);
    EXPECT_EQ(result.exit_code, 2) << words.front();
    EXPECT_THAT(result.standard_error, StartsWith("carom: --local: "));
    EXPECT_THAT(result.standard_error, HasSubstr(message));
  }
}

// The mapping of an import survives every form that has a place for it.
TEST_F(CliScenesTest, TheMappingIsKept) {
  const std::string tiled = Environment("CAROM_SOURCE_DIR") + "/client/examples/level.tmx";
  const json mapping = json::parse(Printed({"convert", tiled, "-"}))["mapping"];
  EXPECT_EQ(mapping["format"], "tiled");
  const std::string geojson = folder_ / "level.geojson", plain = folder_ / "level.json";
  Printed({"convert", tiled, geojson});
  Printed({"convert", tiled, plain});
  EXPECT_EQ(json::parse(Contents(geojson))["carom"]["mapping"], mapping);
  EXPECT_EQ(json::parse(Printed({"convert", geojson, "-"}))["mapping"]["from"], mapping);
  EXPECT_EQ(json::parse(Printed({"convert", plain, "-", "--scale", "2"}))["mapping"]["from"],
            mapping);
  // The version of a scene has it as its note, and an export has it again.
  Printed({"scene", "import", "level", plain});
  EXPECT_EQ(json::parse(Printed({"scene", "export", "level"}))["mapping"], mapping);
  Printed({"scene", "commit", "level", edits_});
  EXPECT_FALSE(json::parse(Printed({"scene", "export", "level"})).contains("mapping"));
}

TEST_F(CliScenesTest, ForksAndVersions) {
  server::ServerOptions options;
  options.store = "sqlite";
  options.state_dir = folder_ / "state";
  ASSERT_NO_FATAL_FAILURE(StartServer(options));
  const json first = json::parse(Printed({"scene", "import", "arena", map_}));
  const json second = json::parse(Printed({"scene", "commit", "arena", edits_, "--remove", "8"}));
  const std::string from = first["version"].dump(), to = second["version"].dump();
  EXPECT_EQ(Printed({"scene", "diff", "arena", from, to}), kDifference);
  EXPECT_EQ(Printed({"scene", "diff", "arena", from}), kDifference);
  EXPECT_EQ(Printed({"scene", "diff", "arena", to}), "");
  EXPECT_THAT(Printed({"scene", "diff", "arena", to, from}),
              HasSubstr(R"({"id":8,"change":"added")"));

  const json fork =
      json::parse(Printed({"scene", "fork", "arena", "rehearsal", "--version", from}));
  EXPECT_EQ(fork["name"], "scenes/rehearsal");
  EXPECT_EQ(fork["base"], "scenes/arena");
  EXPECT_EQ(fork["base_version"].dump(), from);
  Printed({"scene", "commit", "rehearsal", "--remove", "8"});
  EXPECT_EQ(json::parse(Printed({"scene", "get", "rehearsal"}))["polygon_count"], 1);
  EXPECT_EQ(json::parse(Printed({"scene", "get", "arena"}))["polygon_count"], 2);
  EXPECT_EQ(json::parse(Printed({"scene", "fork", "arena", "--lease", "5"}))["polygon_count"], 2);
  EXPECT_EQ(Carom({"scene", "fork", "arena", "rehearsal"}).exit_code, 1);
  EXPECT_EQ(Carom({"scene", "fork", "arena", "a", "--lease", "0"}).exit_code, 2);
}

// Names from all pages of the list: the nearest three, the nearest first.
TEST_F(CliScenesTest, NamesThatAreNear) {
  const std::vector<Polygon> none;
  for (int i = 0; i < 1010; ++i) {
    ASSERT_TRUE(client_->CreateScene(absl::StrCat("scenes/a", 1000 + i), none).ok()) << i;
  }
  EXPECT_EQ(Carom({"scene", "get", "harbour"}).standard_error,
            "carom: NOT_FOUND: scenes/harbour: no scene of this name\n");
  for (const char* name : {"harbours", "harbour-nw", "harbor", "herbour", "harpour"}) {
    ASSERT_TRUE(client_->CreateScene(absl::StrCat("scenes/", name), none).ok()) << name;
  }
  EXPECT_THAT(Carom({"scene", "get", "harbour"}).standard_error,
              EndsWith("carom: there are scenes harbor, harbours, harpour\n"));
  EXPECT_THAT(Carom({"scene", "get", "scenes/harbour-new"}).standard_error,
              EndsWith("carom: there are scenes harbour-nw, harbours\n"));
}

// A flag goes before `--context`, that before the environment, that before the current context.
TEST_F(CliScenesTest, WhichServerIsCalled) {
  ASSERT_EQ(std::system(("mkdir -p " + (folder_ / "config/carom")).c_str()), 0);
  const auto write = [&](const std::string& current, const std::string& named) {
    folder_.Write("config/carom/config.toml",
                  "current = \"current\"\n[contexts.current]\naddress = \"unix:" + current +
                      "\"\n[contexts.named]\naddress = \"unix:" + named + "\"\n");
  };
  const std::string folder = "XDG_CONFIG_HOME=" + (folder_ / "config");
  const auto reached = [&](const std::string& variable, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"scene", "list"});
    return Carom(flags, "", {folder, "CAROM_ADDRESS=" + variable}).standard_error;
  };
  write("/current", "/named");
  const std::vector<std::string> flag = {"--address", "unix:/flag"}, named = {"--context", "named"};
  std::vector<std::string> both = flag;
  both.insert(both.end(), named.begin(), named.end());
  EXPECT_THAT(reached("unix:/variable", both), HasSubstr("/flag"));
  EXPECT_THAT(reached("unix:/variable", named), HasSubstr("/named"));
  EXPECT_THAT(reached("unix:/variable", {}), HasSubstr("/variable"));
  EXPECT_THAT(reached("", {}), HasSubstr("/current"));
}

// A server and a client of which only one has TLS: the error names the flag.
TEST_F(CliScenesTest, PlainTextAndTls) {
  const Authority authority("all"), other("others");
  const KeyPair own =
      authority.Sign({.name = "caromd", .alternatives = "IP:127.0.0.1,DNS:localhost"});
  const std::string pem = folder_.Write("server.pem", own.certificate + own.key);
  const std::string ca = folder_.Write("ca.pem", authority.pem());
  const std::string other_ca = folder_.Write("other.pem", other.pem());
  const auto tls = ServerProcess::Start(Environment("CAROMD_BINARY"),
                                        {"--tls-certificate", pem, "--tls-key", pem});
  ASSERT_NE(tls, nullptr);
  const auto list = [&](const std::string& address, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"scene", "list", "--address", address});
    return Carom(flags);
  };
  EXPECT_EQ(list(tls->address(), {"--ca", ca}).exit_code, 0);
  ProcessResult result = list(tls->address(), {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, StartsWith("carom: UNAVAILABLE: "));
  EXPECT_THAT(result.standard_error, EndsWith("carom: " + tls->address() +
                                              " refuses plain text: --ca FILE, with the authority "
                                              "of its certificate, enables TLS\n"));
  result = list(tls->address(), {"--ca", other_ca});
  EXPECT_THAT(result.standard_error,
              HasSubstr("the handshake failed: --ca must be the authority of its certificate"));

  const auto plain = ServerProcess::Start(Environment("CAROMD_BINARY"));
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(list(plain->address(), {}).exit_code, 0);
  result = list(plain->address(), {"--ca", ca});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error,
              HasSubstr("carom: " + plain->address() + " speaks plain text: leave out --ca"));
  // The first server of a list that somebody answers for.
  result = list("127.0.0.1:1," + plain->address(), {"--ca", ca});
  EXPECT_THAT(result.standard_error, HasSubstr(plain->address() + " speaks plain text"));
}

// `--text` prints tables where there is no terminal; colours are there on request alone.
TEST_F(CliScenesTest, TextAndColors) {
  const std::vector<std::string> get = {"scene", "get", "--local", map_};
  const auto with = [&](const std::vector<std::string>& flags,
                        const std::vector<std::string>& environment = {}) {
    std::vector<std::string> arguments = get;
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Carom(arguments, "", environment);
  };
  EXPECT_THAT(with({}).standard_output, StartsWith("{"));
  EXPECT_THAT(with({"--text"}).standard_output, StartsWith("name           level\n"));
  EXPECT_THAT(with({"--text", "--color", "always"}, {"NO_COLOR=1"}).standard_output,
              StartsWith("\x1b[1mname"));
  EXPECT_EQ(with({"--text", "--json"}).exit_code, 2);
  const auto on_terminal = [&](const std::string& variable) {
    return carom::testing::RunProcess(
               {"env", variable, "script", "-qec",
                Environment("CAROM_BINARY") + " scene get --local " + map_, "/dev/null"},
               "", 60)
        .standard_output;
  };
  EXPECT_THAT(on_terminal("NO_COLOR=1"), StartsWith("name  "));
  EXPECT_THAT(on_terminal("NO_COLOR="), StartsWith("\x1b[1mname"));
  // Explanations obey the same flags.
  const std::vector<std::string> explain = {"explain", "--local", map_,
                                            R"({"op":"point","p":[5,5]})"};
  EXPECT_THAT(Printed(explain), StartsWith("{"));
  std::vector<std::string> as_text = explain;
  as_text.push_back("--text");
  EXPECT_THAT(Printed(as_text), HasSubstr("polygon 7: kept"));
  EXPECT_THAT(Printed({"bundle", map_, "--text"}), HasSubstr("polygon_count  2\n"));
}

// A room with a gap of 1 in its wall, and a pocket behind the wall: what the picture shows where.
TEST_F(CliScenesTest, PictureOfFindings) {
  const std::string room = folder_.Write("room.json", R"({"polygons":[
      {"id":1,"rings":[[[0,0],[100,0],[100,2],[0,2]]]},{"id":2,"rings":[[[0,98],[100,98],[100,100],[0,100]]]},
      {"id":3,"rings":[[[0,2],[2,2],[2,98],[0,98]]]},{"id":4,"rings":[[[98,2],[100,2],[100,98],[98,98]]]},
      {"id":5,"rings":[[[60,2],[62,2],[62,50],[60,50]]]},{"id":6,"rings":[[[60,51],[62,51],[62,98],[60,98]]]}]})");
  const std::string svg = folder_ / "room.svg";
  const ProcessResult result =
      Carom({"scene", "lint", "--local", room, "--radius", "2", "--mover", "2", "--from", "20,20",
             "--check", "gap", "pocket", "--svg", svg});
  EXPECT_EQ(result.exit_code, 3) << result.standard_error;
  const std::string picture = Contents(svg);
  // A unit of the map has 10.24 pixels, the margin 24: x = 24 + 10.24 X, y = 24 + 10.24 (100 - Y).
  const auto path_of = [&](const std::string& style) {
    const size_t at = picture.find("<path class=\"" + style + "\" d=\"");
    EXPECT_NE(at, std::string::npos) << style;
    const size_t begin = picture.find(" d=\"", at) + 4;
    return picture.substr(begin, picture.find('"', begin) - begin);
  };
  EXPECT_THAT(path_of("leak"), HasSubstr("638.4 536"));     // (60, 50), an end of the gap
  EXPECT_THAT(path_of("leak"), HasSubstr("638.4 525.76"));  // (60, 51), the other one
  const std::string pocket = path_of("pocket");
  EXPECT_THAT(pocket, HasSubstr("1027.52 1027.52"));     // (98, 2), a corner of the right room
  EXPECT_THAT(pocket, HasSubstr("1027.52 44.48"));       // (98, 98)
  EXPECT_THAT(pocket, Not(HasSubstr("44.48 1027.52")));  // the left room is no pocket
}

// A map of `side` times `side` squares, in Carom's JSON.
std::string MapOfSquares(int side) {
  std::string map = R"({"polygons":[)";
  for (int i = 0; i < side * side; ++i) {
    const int x = 4 * (i % side), y = 4 * (i / side);
    absl::StrAppend(&map, i == 0 ? "" : ",", R"({"id":)", i, R"(,"rings":[[[)", x, ",", y, "],[",
                    x + 3, ",", y, "],[", x + 3, ",", y + 3, "],[", x, ",", y + 3, "]]]}");
  }
  return map + "]}";
}

// A lint of over a second shows which check it is at, on a terminal alone; one by a server, for how
// long it lasts. A fast host needs a larger map for that.
TEST_F(CliScenesTest, ProgressOfALint) {
  const std::string flags = " --radius 1 --mover 1 --from 3.5,3.5 --max 1 --json";
  const auto on_terminal = [&](const std::string& what) {
    return carom::testing::RunProcess(
               {"env", "CAROM_ADDRESS=" + server_->address(), "script", "-qec",
                Environment("CAROM_BINARY") + " scene lint " + what + flags, "/dev/null"},
               "", 300)
        .standard_output;
  };
  const std::string shown = "\r\x1b[Kcarom: lint: ";
  std::string file, local, remote;
  for (const int side : {350, 700}) {
    file = folder_.Write("large.json", MapOfSquares(side));
    const ProcessResult imported = Carom({"scene", "import", "large", file, "--replace"});
    ASSERT_EQ(imported.exit_code, 0) << imported.standard_error;
    local = on_terminal("--local " + file);
    remote = on_terminal("large");
    if (absl::StrContains(local, shown) && absl::StrContains(remote, shown)) break;
  }
  EXPECT_THAT(local, HasSubstr(shown));
  EXPECT_THAT(local, HasSubstr(" of 8 checks, "));
  EXPECT_THAT(remote, ContainsRegex("\r\x1b\\[Kcarom: lint: [0-9]+ s"));
  const ProcessResult hidden = Carom({"scene", "lint", "--local", file, "--check", "winding"});
  EXPECT_EQ(hidden.standard_error, "");
}

// `--fix` snaps to the lattice and merges near vertices within --epsilon, and no farther.
TEST_F(CliScenesTest, RepairsWithinEpsilon) {
  std::string polygons;
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&polygons, R"({"id":)", i + 1, R"(,"rings":[[[)", 4 * i, ",0],[", 4 * i + 2,
                    ",0],[", 4 * i + 2, ",2]]]},");
  }
  const std::string map = folder_.Write(
      "lattice.json", R"({"polygons":[)" + polygons +
                          R"({"id":50,"rings":[[[100.001,0],[104,0.25],[104,4],[100,4]]]},)" +
                          R"({"id":51,"rings":[[[200,0],[204,0],[204,4],[204.001,4],[200,4]]]}]})");
  const std::string fixed = folder_ / "fixed.json";
  ProcessResult result =
      Carom({"scene", "lint", "--local", map, "--lattice", "1", "--near", "0.01", "--epsilon",
             "0.01", "--check", "off-lattice", "near-vertex", "--fix", fixed});
  EXPECT_EQ(result.exit_code, 3) << result.standard_error;
  const json repaired = json::parse(Contents(fixed))["polygons"];
  ASSERT_EQ(repaired.size(), 2u) << repaired;
  EXPECT_EQ(repaired[0]["rings"], json::parse("[[[100,0],[104,0.25],[104,4],[100,4]]]"));
  EXPECT_EQ(repaired[1]["rings"], json::parse("[[[200,0],[204,0],[204,4],[200,4]]]"));
  // The proposal is a commit, also of a file, and leaves what is beyond epsilon.
  Printed({"scene", "commit", "--local", map, fixed});
  result = Carom({"scene", "lint", "--local", map, "--lattice", "1", "--near", "0.01", "--check",
                  "off-lattice", "near-vertex"});
  EXPECT_EQ(std::count(result.standard_output.begin(), result.standard_output.end(), '\n'), 1);
  EXPECT_THAT(result.standard_output, HasSubstr(R"("polygon":50,"ring":0,"edge":1)"));
}

// The picture of every question shows its answer: a style that is there only with an answer.
TEST_F(CliScenesTest, PicturesOfQuestions) {
  const std::string svg = folder_ / "question.svg";
  const std::pair<std::vector<std::string>, std::string> kPictures[] = {
      {{"overlap", "10", "5", "--circle", "2"}, "class=\"over\""},
      {{"nearest", "15", "5"}, "class=\"gap\""},
      {{"sweep", "-5", "5", "20", "0", "--circle", "1"}, "class=\"over\""},
      {{"bounce", "-5", "5", "35", "6"}, "class=\"hit\""},
  };
  for (const auto& [words, style] : kPictures) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.begin() + 1, {"--local", map_});
    arguments.insert(arguments.end(), {"--svg", svg});
    Printed(arguments);
    const std::string picture = Contents(svg);
    EXPECT_THAT(picture, StartsWith("<svg")) << words.front();
    EXPECT_THAT(picture, EndsWith("</svg>\n")) << words.front();
    EXPECT_THAT(picture, HasSubstr(style)) << words.front();
  }
}

// An explanation shows the box of the question, and the edge that decides, at their places.
TEST_F(CliScenesTest, PictureOfAnExplanation) {
  const std::string svg = folder_ / "why.svg";
  Printed({"explain", "--local", map_, R"({"op":"segment","a":[-5,5],"b":[35,5]})", "--svg", svg});
  const std::string picture = Contents(svg);
  // A unit has 24.8 pixels; x = 16 + 24.8 (X + 5), y = 16 + 24.8 (10 - Y).
  EXPECT_THAT(picture, HasSubstr("class=\"reach\" d=\"M16 140L1008 140"));
  EXPECT_THAT(picture, HasSubstr("class=\"shot\" d=\"M16 140L140 140\""));
  EXPECT_THAT(picture, HasSubstr("class=\"kept\" d=\"M388 264L388 16M140 16L140 264\""));
}

}  // namespace
}  // namespace carom
