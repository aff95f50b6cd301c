// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom eval` and bodies: the line that sets them, the members of questions that consider them,
// and what answers say of them, through the library and through a server.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/client/eval_fixture.h"

namespace carom::cli {
namespace {

class EvalBodiesTest : public EvalTest {
 protected:
  // One line a line, after the scene of the fixture.
  std::vector<std::string> Lines(const std::vector<std::string>& lines) const {
    std::string input = kScene;
    for (const std::string& line : lines) input += line + "\n";
    const Output output = Run(input);
    EXPECT_EQ(output.exit_status, 0) << output.err;
    std::istringstream in(output.out);
    std::vector<std::string> answers;
    for (std::string line; std::getline(in, line);) answers.push_back(line);
    return answers;
  }
};

// Between the squares of the scene: body 0, a circle about (15, 5), of owner 1; body 1, a box
// (12, 4)-(13, 6), of category 4.
constexpr char kBodies[] =
    R"({"op":"bodies","shapes":[{"circle":1},{"rings":[[[0,0],[1,0],[1,2],[0,2]]]}],)"
    R"("at":[[0,15,5,1,0,1],[1,12,4,1,0,2,4]]})";

struct Asked {
  const char* line;
  const char* answer;
};

const Asked kAsked[] = {
    // By default a question is about the scene, and its answer as if there were no bodies.
    {R"({"op":"point","p":[15,5]})", R"({"in":[],"on":[]})"},
    {R"({"op":"point","p":[15,5],"against":"scene"})", R"({"in":[],"on":[]})"},
    {R"({"op":"point","p":[15,5],"against":"bodies"})", R"({"in":[],"on":[],"bodies":[0]})"},
    {R"({"op":"point","p":[5,5],"against":"bodies"})", R"({"in":[],"on":[],"bodies":[]})"},
    {R"({"op":"point","p":[12,5],"against":"both","q":1})",
     R"({"q":1,"in":[],"on":[],"bodies":[1]})"},
    {R"({"op":"point","p":[5,5],"mask":2})", R"({"in":[],"on":[]})"},
    {R"({"op":"segment","a":[9,5],"b":[17,5],"against":"both"})",
     R"({"hit":true,"t":0,"poly":7,"edge":null,"normal":[0,0],"exit_t":0.125,"start_in":[7],)"
     R"("start_on":[],"bodies":[],"all":[[7,0],[null,0.375,1],[null,0.625,0]]})"},
    {R"({"op":"segment","a":[9,5],"b":[17,5],"against":"bodies"})",
     R"({"hit":true,"t":0.375,"body":1,"edge":[null,0,3],"normal":[-1,0],"exit_t":0.5,)"
     R"("start_in":[],"start_on":[],"bodies":[],"all":[[null,0.375,1],[null,0.625,0]]})"},
    {R"({"op":"segment","a":[17,5],"b":[9,5],"against":"bodies","mask":1})",
     R"({"hit":true,"t":0.125,"body":0,"edge":null,"normal":[1,0],"exit_t":0.375,)"
     R"("start_in":[],"start_on":[],"bodies":[],"all":[[null,0.125,0]]})"},
    {R"({"op":"segment","a":[15,5],"b":[7,5],"against":"bodies","ignore_owner":2})",
     R"({"hit":true,"t":0,"body":0,"edge":null,"normal":[0,0],"exit_t":0.125,)"
     R"("start_in":[],"start_on":[],"bodies":[0],"all":[[null,0,0]]})"},
    {R"({"op":"segment","a":[15,5],"b":[7,5],"against":"both","inside":"exit","ignore_owner":2})",
     R"({"hit":true,"t":0.125,"body":0,"edge":null,"normal":[-1,0],"exit_t":0.125,)"
     R"("start_in":[],"start_on":[],"bodies":[0],"all":[[null,0.125,0],[7,0.625]]})"},
    {R"({"op":"circle","c":[15,7],"r":1,"against":"both"})",
     R"({"ids":[],"touch":[],"bodies":[0]})"},
    {R"({"op":"circle","c":[11,5],"r":1,"against":"both"})",
     R"({"ids":[7],"touch":[7],"bodies":[1]})"},
    {R"({"op":"polygon","rings":[[[9,5],[16,5],[16,6]]],"against":"both"})",
     R"({"ids":[7],"bodies":[0,1]})"},
    {R"({"op":"polygon","rings":[[[9,5],[16,5],[16,6]]],"against":"bodies","mask":4})",
     R"({"ids":[],"bodies":[1]})"},
    {R"({"op":"distance","rings":[[[11,5]]],"against":"both"})",
     R"({"d":1,"ids":[7],"bodies":[1]})"},
    {R"({"op":"distance","rings":[[[11,5]]],"against":"bodies","ignore_owner":2})",
     R"({"d":3,"ids":[],"bodies":[0]})"},
    {R"({"op":"distance","rings":[[[11,5]]],"against":"bodies","mask":8})",
     R"({"d":null,"ids":[],"bodies":[]})"},
    {R"({"op":"polygon_cast","rings":[[[11,4],[11,6]]],"d":[-4,0],"against":"both"})",
     R"({"hit":true,"t":0.25,"polys":[7],"bodies":[]})"},
    {R"({"op":"polygon_cast","rings":[[[11,4],[11,6]]],"d":[4,0],"against":"both"})",
     R"({"hit":true,"t":0.25,"polys":[],"bodies":[1]})"},
    {R"({"op":"circle_cast","c":[15,10],"r":1,"d":[0,-6],"against":"bodies"})",
     R"({"hit":true,"t":0.5,"polys":[],"bodies":[0]})"},
    {R"({"op":"contact","rings":[[[9,4],[12.5,4],[12.5,6],[9,6]]],"against":"both"})",
     R"({"contacts":[[7,1,0,1],[null,-1,0,0.5,1]]})"},
    {R"({"op":"sweep","shape":{"circle":1},"at":[15,10],"d":[0,-6],"against":"both"})",
     R"({"hit":true,"t":0.5,"body":0,"edge":null,"normal":[0,1],"start_in":[],"bodies":[]})"},
    {R"({"op":"sweep","shape":{"circle":1},"at":[12,10],"d":[0,-6],"against":"both"})",
     R"({"hit":true,"t":0.5,"body":1,"edge":[null,0,2],"normal":[0,1],"start_in":[],"bodies":[]})"},
    {R"({"op":"sweep","shape":{"circle":3},"at":[12,5],"d":[1,0],"against":"both","mask":4})",
     R"({"hit":true,"t":0,"body":1,"edge":[null,0,0],"normal":[0,0],"start_in":[],"bodies":[1]})"},
    {R"({"op":"sweep","shape":{"circle":1},"at":[15,9],"d":[0,-6],"inside":"blocking","mask":2})",
     R"({"hit":false,"start_in":[],"safe":[15,3]})"},
    {R"({"op":"slide","shape":{"circle":1},"at":[12,5],"d":[[-6,0]],"mask":2,"ignore_owner":1})",
     R"({"at":[6,5],"legs":[{"from":[12,5],"d":[-6,0],"t":1,"poly":null,"normal":[0,0]}],)"
     R"("left":[0,0]})"},
    {R"({"op":"sweep","shape":{"circle":1},"at":[15,9],"d":[0,-6],"inside":"blocking",)"
     R"("against":"bodies"})",
     R"({"hit":true,"t":0.33333333333333337,"body":0,"edge":null,"normal":[0,1],"start_in":[],"bodies":[],)"
     R"("safe":[15,7]})"},
    {R"({"op":"sweep","shape":{"circle":1},"at":[15,6],"d":[0,-6],"inside":"blocking",)"
     R"("against":"both"})",
     R"({"hit":true,"t":0,"body":0,"edge":null,"normal":[0,0],"start_in":[],"bodies":[0],)"
     R"("safe":[15,6]})"},
    {R"({"op":"slide","shape":{"circle":1},"at":[12.5,9],"d":[[0,-6]],"against":"both"})",
     R"({"at":[12.5,7],"legs":[{"from":[12.5,9],"d":[0,-6],"t":0.33333333333333337,"body":1,)"
     R"("normal":[0,1]}],"left":[0,-4]})"},
    {R"({"op":"slide","shape":{"circle":1},"at":[12.5,9],"d":[[0,-6]],"against":"both",)"
     R"("ignore_owner":2})",
     R"({"at":[12.5,3],"legs":[{"from":[12.5,9],"d":[0,-6],"t":1,"poly":null,"normal":[0,0]}],)"
     R"("left":[0,0]})"},
    {R"({"op":"bounce","a":[12,5],"b":[6,5],"mask":2})",
     R"({"legs":[{"a":[12,5],"b":[6,5],"hit":false}],"stuck":false})"},
};

TEST_F(EvalBodiesTest, Answers) {
  std::vector<std::string> lines{kBodies};
  for (const Asked& asked : kAsked) lines.emplace_back(asked.line);
  const std::vector<std::string> answers = Lines(lines);
  ASSERT_EQ(answers.size(), std::size(kAsked));
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i], kAsked[i].answer) << kAsked[i].line;
  }
}

struct Refusal {
  const char* line;
  const char* field;
  const char* code = "INVALID_ARGUMENT";
};

const Refusal kRefusals[] = {
    {R"({"op":"bodies"})", "shapes"},
    {R"({"op":"bodies","shapes":{}})", "shapes"},
    {R"({"op":"bodies","shapes":[7],"at":[]})", "shapes[0]"},
    {R"({"op":"bodies","shapes":[{"circle":1},{"circle":-1}],"at":[]})", "shapes[1]"},
    {R"({"op":"bodies","shapes":[{"circle":"1"}],"at":[]})", "shapes[0].circle"},
    {R"({"op":"bodies","shapes":[{"capsule":[0,0,1,null,1]}],"at":[]})", "shapes[0].capsule[3]"},
    {R"({"op":"bodies","shapes":[{"rings":[[]]}],"at":[]})", "shapes[0].rings[0]"},
    {R"({"op":"bodies","shapes":[]})", "at"},
    {R"({"op":"bodies","shapes":[],"at":{}})", "at"},
    {R"({"op":"bodies","shapes":[],"at":[[0,0,0]]})", "at[0][0]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,0],[1,0,0]]})", "at[1][0]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0.5,0,0]]})", "at[0][0]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0]]})", "at[0]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,0,1]]})", "at[0]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,0,1,0,0,1,0]]})", "at[0]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[7]})", "at[0]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,"0"]]})", "at[0][2]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,1e999,0]]})", "at[0][1]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,0,1,1]]})", "at[0][3]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,0,1,0,-1]]})", "at[0][5]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,0,1,0,4294967296]]})", "at[0][5]"},
    {R"({"op":"bodies","shapes":[{"circle":1}],"at":[[0,0,0,1,0,0,18446744073709551616]]})",
     "at[0][6]"},
    {R"({"op":"bodies","shapes":[{"capsule":[0,0,9,0,1]}],"at":[[0,0,0],[0,9007199254740992,0]]})",
     "at[1][1]"},
    {R"({"op":"point","p":[1,2],"against":"Both"})", "against"},
    {R"({"op":"point","p":[1,2],"against":null})", "against"},
    {R"({"op":"point","p":[1,2],"ignore_owner":-1})", "ignore_owner"},
    {R"({"op":"point","p":[1,2],"ignore_owner":4294967296})", "ignore_owner"},
    {R"({"op":"point","p":[1,2],"mask":"all"})", "mask"},
    {R"({"op":"point","p":[1,2],"mask":1.5})", "mask"},
    {R"({"op":"point","p":[1,2],"mask":18446744073709551616})", "mask"},
    {R"({"op":"point","p":[1],"against":"Both"})", "p"},
    {R"({"op":"bounce","a":[0,0],"b":[1,0],"against":"both"})", "against"},
    {R"({"op":"slide","shape":{"circle":1},"at":[0,0],"d":[[1,0]],"against":"all"})", "against"},
    {R"({"op":"move","tracker":1,"x":0,"y":0,"against":"both"})", "against"},
    {R"({"op":"move","tracker":1,"x":0,"y":0,"mask":1})", "mask"},
};

// After each the bodies are those that were, and the run goes on.
TEST_F(EvalBodiesTest, BadLines) {
  const std::string question = R"({"op":"point","p":[15,5],"against":"bodies"})";
  std::vector<std::string> lines{kBodies};
  for (const Refusal& refusal : kRefusals) {
    lines.emplace_back(refusal.line);
    lines.push_back(question);
  }
  const std::vector<std::string> answers = Lines(lines);
  ASSERT_EQ(answers.size(), 2 * std::size(kRefusals));
  for (size_t i = 0; i < std::size(kRefusals); ++i) {
    const auto& [line, field, code] = kRefusals[i];
    EXPECT_THAT(answers[2 * i],
                ::testing::StartsWith(absl::StrCat(R"({"error":{"code":")", code, R"(","field":")",
                                                   field, R"(","message":")")))
        << line;
    EXPECT_EQ(answers[2 * i + 1], R"({"in":[],"on":[],"bodies":[0]})") << line;
  }
}

// A scene that is replaced takes its bodies with it; one that is not does not. Bodies are those of
// the line before a question, however many questions are in a frame.
TEST_F(EvalBodiesTest, LastUntilTheNextBodiesOrScene) {
  const std::string question = R"({"op":"point","p":[15,5],"against":"both"})";
  const std::string none = R"({"in":[],"on":[],"bodies":[]})";
  const std::string first = R"({"in":[],"on":[],"bodies":[0]})";
  folder_.Write("scenes.jsonl", R"({"id":"a","polygons":[]})");
  const std::vector<std::string> answers = Lines(
      {question, kBodies, question, R"({"op":"bodies","shapes":[],"at":[]})", question, kBodies,
       question, R"({"op":"scene","polygons":7})", question, R"({"op":"scene","polygons":[]})",
       question, kBodies, question, R"({"op":"load","file":"scenes.jsonl","id":"b"})", question,
       R"({"op":"load","file":"scenes.jsonl","id":"a"})", question});
  ASSERT_EQ(answers.size(), 11u);
  const std::vector<std::string> expected{none, first, none, first, "",  first,
                                          none, first, "",   first, none};
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].empty()) {
      EXPECT_THAT(answers[i], ::testing::StartsWith(R"({"error":)"));
    } else {
      EXPECT_EQ(answers[i], expected[i]) << i;
    }
  }
}

// As many bodies, and vertices of them, as a group takes, in frames that a server takes; one more
// is refused.
TEST_F(EvalBodiesTest, ManyBodies) {
  const auto circles = [](int count) {
    std::string line = R"({"op":"bodies","shapes":[{"circle":0.25}],"at":[)";
    for (int i = 0; i < count; ++i) absl::StrAppend(&line, i ? "," : "", "[0,", i, ",20]");
    return line + "]}";
  };
  const auto large = [](int vertices, int more) {
    std::string shape = R"({"rings":[[[0,0])";
    for (int i = 1; i < vertices; ++i) absl::StrAppend(&shape, ",[", i, ",", i % 2, "]");
    shape += "]]}";
    std::string line = R"({"op":"bodies","shapes":[)";
    for (int i = 0; i < 16; ++i) absl::StrAppend(&line, i ? "," : "", shape);
    for (int i = 0; i < more; ++i) line += R"(,{"circle":1})";
    line += R"(],"at":[)";
    for (int i = 0; i < 16; ++i) absl::StrAppend(&line, i ? "," : "", "[", i, ",0,", 30 + i, "]");
    return line + "]}";
  };
  std::vector<std::string> lines{circles(kMaxBodies)};
  std::vector<std::string> questions;
  for (int i = 0; i < 40; ++i) {
    for (const char* inside : {"report", "ignore", "exit"}) {
      questions.push_back(absl::StrCat(R"({"op":"segment","a":[-1,20],"b":[)", i,
                                       R"(,20],"against":"both","inside":")", inside, "\"}"));
    }
    questions.push_back(absl::StrCat(R"({"op":"sweep","shape":{"circle":1},"at":[0,33],"d":[)", i,
                                     R"(,1],"against":"bodies"})"));
    questions.emplace_back(R"({"op":"polygon","rings":[[[8,30]]],"against":"bodies"})");
  }
  lines.insert(lines.end(), questions.begin(), questions.end());
  lines.push_back(large(4096, 0));
  lines.insert(lines.end(), questions.begin(), questions.end());
  lines.push_back(circles(kMaxBodies + 1));
  lines.push_back(large(4096, 1));
  const std::vector<std::string> answers = Lines(lines);
  ASSERT_EQ(answers.size(), 2 * questions.size() + 2);
  const size_t answered = answers.size() - 2;
  for (size_t i = 0; i < answered; ++i) {
    EXPECT_THAT(answers[i], ::testing::Not(::testing::HasSubstr("error")));
  }
  EXPECT_THAT(answers[answered - 1], ::testing::HasSubstr(R"("bodies":[0])"));
  const char* const too_many[] = {"at", "shapes"};
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_THAT(answers[answered + i],
                ::testing::StartsWith(absl::StrCat(
                    R"({"error":{"code":"RESOURCE_EXHAUSTED","field":")", too_many[i], "\"")));
  }
}

}  // namespace
}  // namespace carom::cli
