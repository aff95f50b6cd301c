// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom` as a process: questions of a server and of a file, tables and JSON, contexts,
// completions.
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_replace.h"
#include "tests/client/command_line.h"

namespace carom {
namespace {

using carom::testing::ProcessResult;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kMap[] =
    R"({"polygons":[{"id":7,"rings":[[[0,0],[10,0],[10,10],[0,10]]]},
                    {"id":8,"rings":[[[20,0],[30,0],[30,10]]]}]})";

class CliQuestionsTest : public CommandLineTest {
 protected:
  // Runs `carom arguments` on a terminal, whose line breaks are "\r\n".
  ProcessResult OnTerminal(const std::string& arguments) const {
    return carom::testing::RunProcess(
        {"env", "CAROM_ADDRESS=" + server_->address(), "script", "-qec",
         Environment("CAROM_BINARY") + " " + arguments, "/dev/null"},
        "", 60);
  }
};

// A question has one answer: by a server, from a file, and by `carom eval`.
TEST_F(CliQuestionsTest, AServerAndAFileAnswerAlike) {
  const std::string file = folder_.Write("map.json", kMap);
  ASSERT_EQ(Carom({"scene", "import", "arena", file}).exit_code, 0);
  const std::pair<std::vector<std::string>, std::string> kQuestions[] = {
      {{"cast", "-5", "5", "35", "5", "--mode", "all"},
       R"({"op":"segment","a":[-5,5],"b":[35,5]})"},
      {{"overlap", "10", "5", "--circle", "2"}, R"({"op":"circle","c":[10,5],"r":2})"},
      {{"overlap", "15", "5", "--box", "12", "2"},
       R"({"op":"polygon","rings":[[[9,4],[21,4],[21,6],[9,6]]]})"},
      {{"nearest", "15", "5"}, R"({"op":"distance","rings":[[[15,5]]]})"},
      {{"nearest", "15", "5", "--k", "3", "--max-distance", "9"},
       R"({"op":"distance","rings":[[[15,5]]],"k":3,"max_distance":9})"},
      {{"sweep", "-5", "5", "20", "0", "--circle", "1"},
       R"({"op":"sweep","shape":{"circle":1},"at":[-5,5,1,0],"d":[20,0],"inside":"report"})"},
      {{"slide", "-5", "5", "20", "3", "--box", "2", "2", "--skin", "0.5"},
       R"({"op":"slide","shape":{"rings":[[[-1,-1],[1,-1],[1,1],[-1,1]]]},"at":[-5,5,1,0],)"
       R"("d":[[20,3]],"skin":0.5})"},
      {{"bounce", "-5", "5", "35", "6"}, R"({"op":"bounce","a":[-5,5],"b":[35,6]})"},
      {{"area", "-5", "5", "--range", "30", "--cone", "-1", "1"},
       R"({"op":"area","p":[-5,5],"r":30,"cone":[-1,1]})"},
      {{"area", "5", "5", "--range", "30", "--inside", "ignore"},
       R"({"op":"area","p":[5,5],"r":30,"inside":"ignore"})"},
  };
  const std::string scene = R"({"op":"load","file":"map.json","id":""})";
  for (const auto& [words, line] : kQuestions) {
    std::vector<std::string> remote = words, local = words;
    remote.insert(remote.begin() + 1, "arena");
    local.insert(local.begin() + 1, {"--local", file});
    const ProcessResult by_server = Carom(remote), by_file = Carom(local);
    EXPECT_EQ(by_server.exit_code, 0) << by_server.standard_error;
    EXPECT_EQ(by_file.standard_output, by_server.standard_output) << by_file.standard_error;
    nlohmann::json map = nlohmann::json::parse(kMap);
    map["op"] = "scene";
    const ProcessResult eval = Carom({"eval"}, map.dump() + "\n" + line + "\n");
    // `cast` adds where the first hit is to the line of `carom eval`.
    const bool is_cast = words.front() == "cast";
    EXPECT_EQ(by_server.standard_output.substr(0, eval.standard_output.size() - 2),
              eval.standard_output.substr(0, eval.standard_output.size() - 2))
        << line;
    EXPECT_EQ(by_server.standard_output.size() > eval.standard_output.size(), is_cast) << line;
  }
}

TEST_F(CliQuestionsTest, SightsAndTracks) {
  const std::string file = folder_.Write("map.json", kMap);
  EXPECT_EQ(Carom({"sight", "--local", file, "-5", "5", "35", "5"}).standard_output,
            "{\"visible\":false}\n");
  EXPECT_EQ(Carom({"sight", "--local", file, "-5", "5", "35", "5", "--soft-mask", "1",
                   "--soft-count", "16"})
                .standard_output,
            "{\"visible\":true}\n");
  EXPECT_EQ(Carom({"sight", "--local", file, "-5", "15", "35", "15"}).standard_output,
            "{\"visible\":true}\n");
  ProcessResult result =
      Carom({"track", "--local", file, "--circle", "1"}, "5 5\n15 5\n10.5 5 0.25\n");
  EXPECT_EQ(result.standard_output,
            "{\"ids\":[7],\"edges\":[]}\n{\"ids\":[],\"edges\":[]}\n"
            "{\"ids\":[7],\"edges\":[[7,0,1]]}\n");
  result = Carom({"track", "--local", file, "--circle", "1", "--svg", "x.svg"}, "5 5\n");
  EXPECT_EQ(result.exit_code, 2)
      << result.standard_error;  // of several answers there is no picture
  result = Carom({"track", "--local", file, "--circle", "1"}, "5 five\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("line 1: must be `x y` or `x y angle`"));
}

// One line of each kind: the explanation of a server and of a file are equal, and keep something.
TEST_F(CliQuestionsTest, ExplainsEveryKind) {
  const std::string file = folder_.Write("map.json", kMap), svg = folder_ / "why.svg";
  ASSERT_EQ(Carom({"scene", "import", "arena", file}).exit_code, 0);
  const std::string square = R"("rings":[[[9,1],[12,1],[12,4],[9,4]]])";
  for (const std::string& line : {
           std::string(R"({"op":"point","p":[5,5]})"),
           std::string(R"({"op":"segment","a":[-5,5],"b":[35,5]})"),
           std::string(R"({"op":"ray","p":[-5,5],"d":[1,0]})"),
           std::string(R"({"op":"sight","a":[-5,5],"b":[35,5]})"),
           std::string(R"({"op":"fan","p":[-5,5],"angle":0,"step":0.1,"range":20,"beams":2})"),
           std::string(R"({"op":"area","p":[-5,5],"r":20})"),
           std::string(R"({"op":"arc","p":[-5,5],"v":[9,0],"acceleration":[0,-1],"duration":3})"),
           std::string(R"({"op":"circle","c":[5,5],"r":2})"),
           std::string(R"({"op":"capsule","a":[5,5],"b":[6,5],"r":2})"),
           std::string(R"({"op":"box","min":[5,5],"max":[6,6]})"),
           R"({"op":"polygon",)" + square + "}",
           R"({"op":"distance",)" + square + "}",
           R"({"op":"contact",)" + square + "}",
           std::string(R"({"op":"sweep","shape":{"circle":1},"at":[-5,5],"d":[20,0]})"),
           std::string(R"({"op":"slide","shape":{"circle":1},"at":[-5,5],"d":[[20,3]]})"),
           std::string(R"({"op":"rotating_sweep","shape":{"circle":1},"at":[-5,5,1,0],)") +
               R"("to":[5,5,0,1],"tolerance":0.01})",
           std::string(R"({"op":"depenetrate","shape":{"circle":1},"at":[0.5,5]})"),
           std::string(R"({"op":"bounce","a":[-5,5],"b":[35,6]})"),
           std::string(R"({"op":"ray_bounce","p":[-5,5],"d":[1,0.1]})"),
       }) {
    const ProcessResult local = Carom({"explain", "--local", file, line, "--svg", svg});
    ASSERT_EQ(local.exit_code, 0) << line << local.standard_error;
    const nlohmann::json explained = nlohmann::json::parse(local.standard_output);
    bool keeps = false;
    for (const auto& stage : explained["stages"]) keeps = keeps || !stage["kept"].empty();
    EXPECT_TRUE(keeps) << line << local.standard_output;
    std::ifstream picture(svg);
    EXPECT_THAT((std::string{std::istreambuf_iterator<char>(picture), {}}), StartsWith("<svg"));
    ProcessResult remote = Carom({"explain", "arena"}, line + "\n");
    nlohmann::json by_server = nlohmann::json::parse(remote.standard_output);
    by_server["version"] = explained["version"];
    EXPECT_EQ(by_server, explained) << line << remote.standard_error;
  }
}

TEST_F(CliQuestionsTest, ExplainsBodiesAndMoves) {
  const std::string file = folder_.Write("map.json", kMap);
  const std::string bodies = R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,20,5],[0,21,5]]})";
  ProcessResult result = Carom({"explain", "--local", file, bodies,
                                R"({"op":"segment","a":[15,5],"b":[35,5],"against":"bodies"})"});
  EXPECT_THAT(result.standard_output, HasSubstr(R"({"body":0,"fate":"kept")"));
  result = Carom({"explain", "--local", file, bodies, R"({"op":"body_contact","body":1})"});
  EXPECT_THAT(result.standard_output, HasSubstr(R"({"body":0,"fate":"kept")"));
  result = Carom({"explain", "--local", file},
                 R"({"op":"track","tracker":3,"rings":[[[0,0],[1,0],[1,1]]]})"
                 "\n"
                 R"({"op":"move","tracker":3,"x":15,"y":5})"
                 "\n"
                 R"({"op":"move","tracker":3,"x":15.25,"y":5})"
                 "\n");
  EXPECT_THAT(result.standard_output, HasSubstr(R"("tier":"quiet")")) << result.standard_error;
  EXPECT_THAT(
      OnTerminal("explain --local " + file + R"( '{"op":"point","p":[5,5]}')").standard_output,
      HasSubstr("polygon 7: kept"));
  for (const auto& [line, message] : {
           std::pair<const char*, const char*>{"{", "not JSON"},
           {R"({"op":"scene","polygons":[]})", "op: must be bodies, track, move or a question"},
           {R"({"op":"fan","p":[0,0]})", "angle"},
           {R"({"op":"move","tracker":4,"x":0,"y":0})", "tracker"},
           {"", "no line is a question"},
       }) {
    result = Carom({"explain", "--local", file}, std::string(line) + "\n");
    EXPECT_EQ(result.exit_code, 1) << line;
    EXPECT_THAT(result.standard_error, HasSubstr(message));
  }
}

// docs/explain.md shows what its command prints on a terminal.
TEST_F(CliQuestionsTest, TheDocumentOfExplainIsTrue) {
  std::ifstream in(Environment("CAROM_SOURCE_DIR") + "/docs/explain.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t command = text.find("$ carom explain "), end = text.find("\n```", command);
  ASSERT_NE(command, std::string::npos);
  const size_t output = text.find('\n', command) + 1;
  std::string words = text.substr(command + 8, output - command - 9);
  const std::string map = "client/examples";
  words.replace(words.find(map), map.size(), Environment("CAROM_SOURCE_DIR") + "/" + map);
  std::string printed = OnTerminal(words).standard_output;
  std::erase(printed, '\r');
  EXPECT_EQ(printed, text.substr(output, end + 1 - output));
}

TEST_F(CliQuestionsTest, PicturesAreDocuments) {
  const std::string file = folder_.Write("map.json", kMap), svg = folder_ / "picture.svg";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"cast", "--local", file, "-5", "5", "35", "5"},
        {"slide", "--local", file, "-5", "5", "20", "3", "--circle", "1"},
        {"area", "--local", file, "-5", "5", "--range", "30"},
        {"sight", "--local", file, "-5", "5", "35", "5"}}) {
    std::vector<std::string> drawn = words;
    drawn.insert(drawn.end(), {"--svg", svg});
    const ProcessResult result = Carom(drawn);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    std::ifstream picture(svg);
    const std::string text{std::istreambuf_iterator<char>(picture), {}};
    EXPECT_THAT(text, StartsWith("<svg"));
    EXPECT_THAT(text, ::testing::EndsWith("</svg>\n"));
  }
}

// On a terminal there is a table, in colours unless NO_COLOR or --color refuses them.
TEST_F(CliQuestionsTest, TablesOnATerminal) {
  const std::string file = folder_.Write("map.json", kMap);
  const std::string cast = "cast --local " + file + " -5 5 35 5";
  EXPECT_THAT(OnTerminal(cast + " --color never").standard_output,
              HasSubstr("point     0, 5\r\ndistance  5\r\n"));
  EXPECT_THAT(OnTerminal(cast).standard_output, HasSubstr("\x1b[1mhit"));
  EXPECT_THAT(OnTerminal(cast + " --json").standard_output, StartsWith(R"({"hit":true,"t":0.125)"));
  ASSERT_EQ(Carom({"scene", "import", "arena", file}).exit_code, 0);
  EXPECT_THAT(OnTerminal("scene list --color never").standard_output,
              StartsWith("name          version  polygon_count  vertex_count  bounds"));
}

TEST_F(CliQuestionsTest, Contexts) {
  const std::string folder = folder_ / "config";
  ASSERT_EQ(std::system(("mkdir -p " + folder + "/carom").c_str()), 0);
  folder_.Write("config/carom/config.toml",
                "current = \"here\"\n[contexts.here]\naddress = \"" + server_->address() +
                    "\"\n[contexts.nowhere]\naddress = \"unix:/nowhere\"\n");
  const std::vector<std::string> variables = {"XDG_CONFIG_HOME=" + folder, "CAROM_ADDRESS="};
  EXPECT_EQ(Carom({"scene", "list"}, "", variables).exit_code, 0);
  EXPECT_EQ(Carom({"--context", "here", "scene", "list"}, "", variables).exit_code, 0);
  ProcessResult result = Carom({"scene", "list", "--context", "nowhere"}, "", variables);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, StartsWith("carom: UNAVAILABLE: "));
  EXPECT_THAT(result.standard_error, HasSubstr("`caromd` starts a server"));
  result = Carom({"--context", "nowere", "scene", "list"}, "", variables);
  EXPECT_THAT(result.standard_error, HasSubstr("did you mean 'nowhere'?"));
  EXPECT_THAT(Carom({"context"}, "", variables).standard_output,
              HasSubstr(R"({"name":"nowhere","address":"unix:/nowhere","current":false})"));
  folder_.Write("config/carom/config.toml", "current = \n");
  result = Carom({"scene", "list"}, "", variables);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("config.toml:1: "));
}

// What is between two versions, and what a commit makes of a file.
TEST_F(CliQuestionsTest, DiffAndCommit) {
  const std::string file = folder_.Write("map.json", kMap);
  ASSERT_EQ(Carom({"scene", "import", "arena", file}).exit_code, 0);
  const std::string edits = folder_.Write(
      "edits.json",
      R"({"polygons":[{"id":7,"rings":[[[0,0],[5,0],[5,5]]]},{"id":9,"rings":[[[1,1]]]}]})");
  EXPECT_EQ(Carom({"scene", "diff", "arena", "--with", edits}).standard_output,
            "{\"id\":7,\"change\":\"replaced\",\"vertices\":3,\"bounds\":[[0,0],[5,5]]}\n"
            "{\"id\":8,\"change\":\"removed\",\"vertices\":3,\"bounds\":[[20,0],[30,10]]}\n"
            "{\"id\":9,\"change\":\"added\",\"vertices\":1,\"bounds\":[[1,1],[1,1]]}\n");
  const ProcessResult result = Carom({"scene", "commit", "arena", edits, "--remove", "8"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(Carom({"scene", "diff", "arena", "--with", edits}).standard_output, "");
}

// The misspelt scene has a suggestion.
TEST_F(CliQuestionsTest, ASceneThatIsNear) {
  ASSERT_EQ(Carom({"scene", "import", "arena", folder_.Write("map.json", kMap)}).exit_code, 0);
  const ProcessResult result = Carom({"cast", "arina", "0", "0", "1", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_error,
            "carom: NOT_FOUND: scenes/arina: no scene of this name\ncarom: there is a scene "
            "arena\n");
}

// The completion of bash offers commands and flags.
TEST_F(CliQuestionsTest, CompletionOfBash) {
  const std::string script =
      folder_.Write("carom.bash", Carom({"completion", "bash"}).standard_output);
  const std::string program = ". " + script +
                              "; COMP_WORDS=(carom scene im) COMP_CWORD=2; _carom; "
                              "printf '%s\\n' \"${COMPREPLY[@]}\"; "
                              "COMP_WORDS=(carom slide --max) COMP_CWORD=2; _carom; "
                              "printf '%s\\n' \"${COMPREPLY[@]}\"";
  const ProcessResult result = carom::testing::RunProcess({"bash", "-c", program}, "", 60);
  EXPECT_EQ(result.standard_output, "import\n--max-contacts\n") << result.standard_error;
}

// Runs the line of an example in the folder `folder`, with standard input for those that read it.
ProcessResult RunExample(const std::string& line, const std::string& folder,
                         const std::string& address) {
  // What watches does not end by itself.
  const std::string watch = line.find(" watch ") != std::string::npos ? "timeout 1 " : "";
  const std::string script = "cd '" + folder + "' && export CAROM_ADDRESS='" + address +
                             "' && PATH='" + folder + "/bin':$PATH && " + watch + line;
  return carom::testing::RunProcess({"bash", "-c", script}, "20 20\n", 60);
}

// A folder with `client/examples` of the project and the program as `bin/carom`.
void PrepareExamples(const ScratchFolder& folder) {
  const std::string script = "mkdir " + (folder / "client") + " " + (folder / "bin") +
                             " && ln -s " + Environment("CAROM_SOURCE_DIR") + "/client/examples " +
                             (folder / "client/examples") + " && ln -s " +
                             Environment("CAROM_BINARY") + " " + (folder / "bin/carom");
  ASSERT_EQ(std::system(script.c_str()), 0);
}

// The man page is that of the commands, and what it shows as examples works, in its order.
TEST_F(CliQuestionsTest, ExamplesOfTheManPage) {
  server::ServerOptions options;
  options.store = "sqlite";  // which keeps older versions
  options.state_dir = folder_ / "state";
  ASSERT_NO_FATAL_FAILURE(StartServer(options));
  PrepareExamples(folder_);
  std::string page = Carom({"manual"}).standard_output;
  EXPECT_THAT(page, HasSubstr("\n.SS carom scene import\n"));
  EXPECT_THAT(page, HasSubstr("\n.B \\-\\-max\\-contacts "));
  EXPECT_EQ(page.find("Exit status:"), std::string::npos);  // once, as a section
  page.resize(page.find(".SH ENVIRONMENT"));
  std::set<std::string> commands;
  for (size_t at = 0; (at = page.find(".EX\n", at)) != std::string::npos;) {
    at += 4;
    std::string line = page.substr(at, page.find('\n', at) - at);
    line = absl::StrReplaceAll(line, {{"\\-", "-"}, {"\\e", "\\"}});
    const bool is_watch = line.find(" watch ") != std::string::npos;
    const bool has_findings = line.find(" lint ") != std::string::npos;
    if (line.find(" rollback ") != std::string::npos) {
      // Stands for a version that the history prints.
      EXPECT_THAT(line, ::testing::EndsWith(" 1"));
      line.pop_back();
      absl::StrAppend(&line, client_->ListSceneVersions("scenes/arena")->front().scene.version);
    }
    const ProcessResult result = RunExample(line, folder_.path(), server_->address());
    EXPECT_EQ(result.exit_code, is_watch       ? 124
                                : has_findings ? 3
                                               : 0)
        << line << '\n'
        << result.standard_error;
    const bool is_silent = is_watch || line.find(" delete ") != std::string::npos;
    EXPECT_TRUE(is_silent || result.standard_output.starts_with("{")) << line;
    const size_t section = page.rfind(".SS ", at) + 4;
    commands.insert(page.substr(section, page.find('\n', section) - section));
  }
  for (const char* command :
       {"cast",         "overlap",     "nearest",       "sweep",        "slide",
        "bounce",       "sight",       "track",         "explain",      "bundle",
        "convert",      "eval",        "load",          "demo",         "demo match",
        "scene import", "scene list",  "scene get",     "scene export", "scene diff",
        "scene commit", "scene lint",  "scene history", "scene watch",  "scene rollback",
        "scene fork",   "scene delete"}) {
    EXPECT_EQ(commands.count(std::string("carom ") + command), 1u) << command;
  }
}

// The help of the commands that `--local` asks about files has examples of its own.
TEST_F(CliQuestionsTest, ExamplesAboutFiles) {
  PrepareExamples(folder_);
  for (const char* command : {"get", "list", "export", "diff", "commit"}) {
    const std::string help = Carom({"scene", command, "--local", "x", "--help"}).standard_output;
    const size_t at = help.find("Example:\n  ");
    ASSERT_NE(at, std::string::npos) << help;
    const std::string line = help.substr(at + 11, help.find('\n', at + 11) - at - 11);
    const ProcessResult result = RunExample(line, folder_.path(), "unix:/nowhere");
    EXPECT_EQ(result.exit_code, 0) << line << result.standard_error;
    EXPECT_THAT(result.standard_output, StartsWith("{")) << line;
  }
}

}  // namespace
}  // namespace carom
