// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom` as a process: commands, exit statuses, and what is printed where.
#include <algorithm>
#include <thread>

#include "tests/client/command_line.h"

namespace carom {
namespace {

using carom::testing::ProcessResult;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kSquares[] =
    R"({"id":"one","polygons":[{"id":7,"rings":[[[0,0],[10,0],[10,10],[0,10]]]}]})"
    "\n"
    R"({"id":"two","polygons":[{"id":8,"rings":[[[20,0],[30,0],[30,10]]]}]})"
    "\n";

using CliTest = CommandLineTest;

TEST_F(CliTest, Scenes) {
  const std::string file = folder_.Write("squares.jsonl", kSquares);
  ProcessResult result = Carom({"scene", "import", "arena", file, "--id", "one"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_output, StartsWith(R"({"name":"scenes/arena","version":)"));
  EXPECT_THAT(result.standard_output,
              HasSubstr(R"("polygon_count":1,"vertex_count":4,"bounds":[[0,0],[10,10]]})"));

  result = Carom({"scene", "import", "scenes/arena", file, "--id", "two"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error,
            "carom: ALREADY_EXISTS: scenes/arena: a scene of this name exists; --replace "
            "replaces it\n");
  result = Carom({"scene", "import", "scenes/arena", file, "--id", "two", "--replace"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  result = Carom({"scene", "import", "void", "-"}, R"({"polygons":[]})");
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_output, HasSubstr(R"("bounds":null})"));

  result = Carom({"scene", "list"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::count(result.standard_output.begin(), result.standard_output.end(), '\n'), 2);
  result = Carom({"scene", "get", "arena"});
  EXPECT_THAT(result.standard_output, HasSubstr(R"("bounds":[[20,0],[30,10]])"));

  EXPECT_EQ(Carom({"scene", "delete", "arena"}).exit_code, 0);
  result = Carom({"scene", "get", "arena"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error, "carom: NOT_FOUND: scenes/arena: no scene of this name\n");
  EXPECT_EQ(Carom({"scene", "delete", "arena"}).standard_error, result.standard_error);
}

// What was imported comes out, with user data. A polygon of 400,000 vertices is larger than a
// message.
TEST_F(CliTest, ExportIsWhatWasImported) {
  std::string scene = R"({"polygons":[
{"id":7,"category":6,"user_data":"AP/+Cg==","rings":[[[0,0],[10,0],[10,10]]]},
{"id":8,"solidity":"boundary","rings":[{"points":[)";
  for (int i = 0; i < 400000; ++i) {
    absl::StrAppend(&scene, i == 0 ? "[" : ",[", i, ".5,", i % 2, "]");
  }
  scene += "],\"open\":true}]}\n]}\n";
  ProcessResult result = Carom({"scene", "import", "large", "-", "--strict"}, scene);
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  result = Carom({"scene", "export", "large"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_TRUE(result.standard_output == scene) << result.standard_output.substr(0, 200);
}

// Versions with what made them, one of them again, and what an older one had.
TEST_F(CliTest, History) {
  server::ServerOptions options;
  options.store = "sqlite";
  options.state_dir = folder_ / "state";
  ASSERT_NO_FATAL_FAILURE(StartServer(options));
  const uint64_t first = client_->CreateScene("scenes/arena", Squares(2))->version;
  const uint64_t second =
      client_->CommitEdits("scenes/arena", 0, std::vector<SceneEdit>{RemovePolygon{0}})->version;
  ProcessResult result = Carom({"scene", "rollback", "arena", std::to_string(first)});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const uint64_t third = client_->GetScene("scenes/arena")->version;
  EXPECT_GT(third, second);
  EXPECT_THAT(result.standard_output,
              StartsWith(absl::StrCat(R"({"name":"scenes/arena","version":)", third,
                                      R"(,"polygon_count":2,)")));

  result = Carom({"scene", "history", "arena"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(std::count(result.standard_output.begin(), result.standard_output.end(), '\n'), 3);
  size_t at = 0;
  for (const uint64_t version : {first, second, third}) {
    at = result.standard_output.find(absl::StrCat(R"("version":)", version, ","), at);
    EXPECT_NE(at, std::string::npos) << result.standard_output;
  }
  const std::string squares =
      R"({"polygons":[
{"id":0,"rings":[[[0,0],[1,0],[1,1],[0,1]]]},
{"id":1,"rings":[[[2,0],[3,0],[3,1],[2,1]]]}
]}
)";
  EXPECT_EQ(Carom({"scene", "export", "arena"}).standard_output, squares);
  result = Carom({"scene", "export", "arena", "--version", std::to_string(second)});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(result.standard_output,
            "{\"polygons\":[\n{\"id\":1,\"rings\":[[[2,0],[3,0],[3,1],[2,1]]]}\n]}\n");

  for (const std::vector<std::string>& unknown :
       {std::vector<std::string>{"scene", "export", "arena", "--version", "1000000"},
        {"scene", "rollback", "arena", "1000000"}}) {
    result = Carom(unknown);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.standard_error, StartsWith("carom: OUT_OF_RANGE: version: "));
  }
  for (const std::vector<std::string>& missing :
       {std::vector<std::string>{"scene", "export", "none"},
        {"scene", "history", "none"},
        {"scene", "rollback", "none", "1"}}) {
    result = Carom(missing);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.standard_error, "carom: NOT_FOUND: scenes/none: no scene of this name\n");
  }
}

// A line a version, until the scene is deleted.
TEST_F(CliTest, Watch) {
  ASSERT_TRUE(client_->CreateScene("scenes/arena", Squares(1)).ok());
  const std::string printed = folder_ / "printed";
  ProcessResult result;
  std::thread watcher([&] {
    result = carom::testing::RunProcess(
        {"env", "CAROM_ADDRESS=" + server_->address(), "sh", "-c", "exec \"$@\" >\"$0\"", printed,
         Environment("CAROM_BINARY"), "scene", "watch", "arena", "--from", "1", "--polygons"},
        "", 60);
  });
  const std::vector<SceneEdit> edits = {RemovePolygon{0}, AddPolygon{Square(5, 2, 3)}};
  ASSERT_TRUE(client_->CommitEdits("scenes/arena", 0, edits).ok());
  ASSERT_TRUE(client_->CommitEdits("scenes/arena", 0, {}).ok());
  // Two lines at the end of which the scene may go: they are kept for who comes later.
  const auto lines = [&] {
    const std::string text = Contents(printed);
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int i = 0; i < 5000 && lines() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(client_->DeleteScene("scenes/arena").ok());
  watcher.join();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error,
            "carom: NOT_FOUND: scenes/arena: the scene was deleted\n"
            "carom: `carom scene import NAME FILE` makes a scene\n");
  EXPECT_THAT(
      Contents(printed),
      HasSubstr(
          R"(,"base_version":1,"changes":[{"id":0,"change":"removed","bounds":[[0,0],[1,1]]},)"
          R"({"id":5,"change":"added","bounds":[[2,3],[3,4]]}],)"
          R"("polygons":[{"id":5,"rings":[[[2,3],[3,3],[3,4],[2,4]]]}]})"));
  EXPECT_EQ(lines(), 2);
  result = Carom({"scene", "watch", "none"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error,
              StartsWith("carom: NOT_FOUND: scenes/none: no scene of this name\n"));
}

TEST_F(CliTest, ImportRefusals) {
  const std::string several = folder_.Write("squares.jsonl", kSquares);
  EXPECT_THAT(Carom({"scene", "import", "a", several}).standard_error, HasSubstr("--id"));
  EXPECT_THAT(Carom({"scene", "import", "a", several, "--id", "x"}).standard_error,
              StartsWith("carom: NOT_FOUND: "));
  EXPECT_THAT(Carom({"scene", "import", "a", folder_ / "missing"}).standard_error,
              StartsWith("carom: NOT_FOUND: "));
  const std::string bad = folder_.Write("bad.json", R"({"polygons":[{"id":1,"rings":[[]]},{}]})");
  const ProcessResult result = Carom({"scene", "import", "a", bad});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("INVALID_ARGUMENT: polygons[0].rings[0]"));
  EXPECT_THAT(result.standard_error, HasSubstr("  polygons[1].id: required"));
  EXPECT_THAT(Carom({"scene", "get", "No Such"}).standard_error,
              StartsWith("carom: INVALID_ARGUMENT: scenes/No Such: must be scenes/{scene}"));
}

// A misspelt member would be a polygon of another kind than was meant, in silence.
TEST_F(CliTest, UnknownMembersOfAFile) {
  const std::string file = folder_.Write(
      "walls.json", R"({"polygons":[{"id":1,"solidty":"boundary","rings":[[[0,0],[4,0]]]}]})");
  const std::string unknown = "polygons[0].solidty: unknown member; did you mean 'solidity'?";
  ProcessResult result = Carom({"scene", "import", "a", file, "--strict"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error, "carom: INVALID_ARGUMENT: " + unknown + "\n");
  result = Carom({"scene", "import", "a", file});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "carom: warning: " + file + ": " + unknown + "\n");
  std::string many = R"({"polygons":[)";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&many, i == 0 ? "" : ",", R"({"note":"","rings":[[[0,0]]],"id":)", i, "}");
  }
  result = Carom({"scene", "import", "b", "-"}, many + "]}");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.standard_error, EndsWith("carom: warning: -: 4 more\n"));
}

// Findings are lines and an exit status; --fix writes polygons that commit accepts, and commits
// nothing.
TEST_F(CliTest, Lint) {
  const std::string file = folder_.Write(
      "map.json", R"({"polygons":[{"id":7,"rings":[[[0,0],[4,0],[4,0],[4,4],[0,4]]]},)"
                  R"({"id":8,"rings":[[[4.5,0],[8,0],[8,4],[4.5,4]]]}]})");
  const std::string fixed = folder_.path() + "/fixed.json";
  const std::string picture = folder_.path() + "/map.svg";
  ProcessResult result = Carom({"scene", "lint", "--local", file, "--radius", "1", "--check", "gap",
                                "duplicate-vertex", "--svg", picture});
  EXPECT_EQ(result.exit_code, 3) << result.standard_error;
  EXPECT_THAT(result.standard_output, HasSubstr(R"("kind":"duplicate-vertex","polygon":7)"));
  EXPECT_THAT(result.standard_output, HasSubstr(R"("kind":"gap","polygon":7,"ring":0,"edge":1)"));
  EXPECT_THAT(result.standard_output, HasSubstr(R"("measure":0.5,)"));
  EXPECT_THAT(carom::testing::RunProcess({"cat", picture}, "", 60).standard_output,
              EndsWith("</svg>\n"));

  ASSERT_EQ(Carom({"scene", "import", "arena", file}).exit_code, 0);
  result = Carom({"scene", "lint", "arena", "--check", "duplicate-vertex", "--fix", fixed});
  EXPECT_EQ(result.exit_code, 3) << result.standard_error;
  EXPECT_THAT(result.standard_error, HasSubstr("carom scene commit arena " + fixed));
  EXPECT_EQ(Carom({"scene", "lint", "arena", "--check", "duplicate-vertex"}).exit_code, 3);
  EXPECT_EQ(Carom({"scene", "commit", "arena", fixed}).exit_code, 0);
  result = Carom({"scene", "lint", "arena", "--check", "duplicate-vertex"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
  EXPECT_EQ(result.standard_output, "");

  EXPECT_EQ(Carom({"scene", "lint", "nowhere"}).exit_code, 1);
  EXPECT_EQ(Carom({"scene", "lint", "arena", "--check", "colour"}).exit_code, 2);
  EXPECT_EQ(Carom({"scene", "lint", "arena", "--from", "1;2"}).exit_code, 2);
}

TEST_F(CliTest, Cast) {
  ASSERT_TRUE(client_->CreateScene("scenes/a", {{Square(7, 0, 0, 10), Square(8, 20, 0, 10)}}).ok());
  ProcessResult result = Carom({"cast", "a", "-5", "5", "35", "5"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(result.standard_output,
            R"({"hit":true,"t":0.125,"poly":7,"edge":[7,0,3],"normal":[-1,0],"exit_t":0.375,)"
            R"("start_in":[],"start_on":[],"all":[[7,0.125]],"point":[0,5],"distance":5})"
            "\n");
  result = Carom({"cast", "scenes/a", "-5", "5", "35", "5", "--mode", "all"});
  EXPECT_THAT(result.standard_output,
              HasSubstr(R"("all":[[7,0.125],[8,0.625]],"point":[0,5],"distance":5})"));
  result = Carom({"cast", "a", "5", "5", "35", "5", "--mode", "any"});
  EXPECT_EQ(result.standard_output, "{\"hit\":true,\"start_in\":[7],\"start_on\":[]}\n");
  result = Carom({"cast", "a", "5", "5", "25", "5", "--inside", "exit"});
  EXPECT_THAT(result.standard_output, StartsWith(R"({"hit":true,"t":0.25,"poly":7,)"));

  // The numbers of a point that is no short decimal are read back as they are.
  result = Carom({"cast", "a", "-5", "5", "35", "5.7"});
  EXPECT_THAT(result.standard_output,
              HasSubstr(R"("point":[0,5.0875],"distance":5.00076556639081})"));

  result = Carom({"cast", "a", "5", "5", "1e300", "5"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, StartsWith("carom: X2: must be a number, finite"));
  result = Carom({"cast", "missing", "0", "0", "1", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error, "carom: NOT_FOUND: scenes/missing: no scene of this name\n");
}

TEST_F(CliTest, Usage) {
  const std::vector<std::string> kUsage[] = {
      {},
      {"fly"},
      {"scene"},
      {"scene", "import", "a"},
      {"cast", "a", "1", "2", "3"},
      {"cast", "a", "1", "2", "3", "four"},
      {"cast", "a", "1", "2", "3", "4", "--mode", "most"},
      {"eval", "--local", "--address", "localhost:1"},
      {"demo"},
      {"demo", "--map", "x", "--svg", "y", "--ticks", "0"},
  };
  for (const auto& arguments : kUsage) {
    EXPECT_EQ(Carom(arguments).exit_code, 2) << ::testing::PrintToString(arguments);
  }
  for (const char* help : {"--help", "help"}) {
    const ProcessResult printed = Carom({help});
    EXPECT_EQ(printed.exit_code, 0);
    EXPECT_THAT(printed.standard_output, HasSubstr("Exit status"));
  }
  const std::string cast_help = Carom({"cast", "--help"}).standard_output;
  EXPECT_EQ(Carom({"help", "cast"}).standard_output, cast_help);
  for (const char* coordinate :
       {"x of the start, in world units", "y of the start", "x of the end", "y of the end"}) {
    EXPECT_THAT(cast_help, HasSubstr(coordinate));
  }
  const ProcessResult version = Carom({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.standard_output,
              ::testing::ContainsRegex("^carom [0-9]+\\.[0-9]+\\.[0-9]+\n$"));
}

// A usage error names what was typed, and what may have been meant.
TEST_F(CliTest, UsageMessages) {
  const std::pair<std::vector<std::string>, std::string> kMessages[] = {
      {{},
       "a command is required: scene, cast, overlap, nearest, sweep, slide, bounce, "
       "sight, area, track, explain, bundle, convert, eval, demo, load, view, record, context, "
       "completion, manual"},
      {{"evl"}, "unknown command 'evl'; did you mean 'eval'?"},
      {{"fly"}, "unknown command 'fly'"},
      {{"--verison"}, "unknown option '--verison'; did you mean '--version'?"},
      {{"scene", "imprt", "a"}, "unknown command 'imprt'; did you mean 'import'?"},
      {{"cast", "a", "1", "2", "3"}, "Y2 is required"},
      {{"cast", "a", "four", "2", "3", "4"},
       "X1: must be a number, finite and at most 2^53 in magnitude, not 'four'"},
      {{"cast", "a", "1", "nan", "3", "4"},
       "Y1: must be a number, finite and at most 2^53 in magnitude, not 'nan'"},
      {{"cast", "a", "1", "2", "3", "4", "5"}, "unexpected argument '5'"},
      {{"--address", "localhost", "scene", "get", "a"},
       "option '--address' must come after the command"},
      {{"scene", "--adress=localhost", "get", "a"}, "unknown option '--adress'"},
      {{"fly", "scene", "get", "a"}, "unexpected argument 'fly'"},
      {{"cast", "a", "1", "2", "3", "4", "--mdoe=any"},
       "unknown option '--mdoe'; did you mean '--mode'?"},
  };
  for (const auto& [arguments, message] : kMessages) {
    const ProcessResult result = Carom(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.standard_error, StartsWith("carom: " + message + "\nRun `carom"));
  }
}

TEST_F(CliTest, Addresses) {
  const std::vector<std::string> nobody = {"CAROM_ADDRESS=unix:" + (folder_ / "nobody")};
  ProcessResult result = Carom({"scene", "list"}, "", nobody);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, StartsWith("carom: UNAVAILABLE: "));
  // The flag goes before the environment.
  EXPECT_EQ(Carom({"scene", "list", "--address", server_->address()}, "", nobody).exit_code, 0);
  result = Carom({"scene", "list", "--address", "nonsense"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, StartsWith("carom: INVALID_ARGUMENT: target"));
}

// Through the library by default: the address of the environment is for the other commands.
TEST_F(CliTest, Eval) {
  folder_.Write("squares.jsonl", kSquares);
  const std::string input = R"({"op":"load","file":"squares.jsonl","id":"one"})"
                            "\n"
                            R"({"op":"point","p":[1,1]})"
                            "\n"
                            "oops\n"
                            R"({"op":"point","p":[1e400,1]})"
                            "\n";
  const ProcessResult local = Carom({"eval", "--root", folder_.path()}, input,
                                    {"CAROM_ADDRESS=unix:" + (folder_ / "nobody")});
  EXPECT_EQ(local.exit_code, 1);
  EXPECT_EQ(local.standard_error, "carom: line 3: not JSON\n");
  EXPECT_THAT(local.standard_output, StartsWith("{\"in\":[7],\"on\":[]}\n{\"error\":{"));
  const ProcessResult remote =
      Carom({"eval", "--root", folder_.path(), "--address", server_->address()}, input);
  EXPECT_EQ(remote.exit_code, 1);
  EXPECT_EQ(remote.standard_output, local.standard_output);
  EXPECT_EQ(Carom({"eval", "--local"}, "").exit_code, 0);
}

// Whoever reads the answers goes away: eval ends, and leaves no scene on the server.
TEST_F(CliTest, EvalWithoutAReader) {
  const std::string script =
      "yes '{\"op\":\"point\",\"p\":[1,1]}' | head -n 200000 | \"$CAROM_BINARY\" eval --address " +
      server_->address() + " 2>&1 >/dev/full";
  const ProcessResult result = carom::testing::RunProcess({"bash", "-c", script}, "", 60);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_output, "carom: ABORTED: the answers cannot be written\n");
  const ProcessResult closed = carom::testing::RunProcess(
      {"bash", "-o", "pipefail", "-c", script.substr(0, script.find("2>&1")) + "| head -n 1"}, "",
      60);
  EXPECT_NE(closed.exit_code, 0);
  EXPECT_EQ(closed.standard_output, "{\"in\":[],\"on\":[]}\n");
  EXPECT_TRUE(client_->ListAllScenes()->empty());
}

}  // namespace
}  // namespace carom
