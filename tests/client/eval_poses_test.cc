// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom eval` and the poses of bodies by tick: the line that adds a tick and the member "as_of" of
// questions, through the library and through a server.

#include <sstream>
#include <string>
#include <vector>

#include "tests/client/eval_fixture.h"

namespace carom::cli {
namespace {

using ::testing::ElementsAre;

class EvalPosesTest : public EvalTest {
 protected:
  // What is printed for the lines, after the scene of the fixture.
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

// A circle about (15, 5) and a box (12, 4)-(13, 6).
constexpr char kHistory[] =
    R"({"op":"bodies","shapes":[{"circle":1},{"rings":[[[0,0],[1,0],[1,2],[0,2]]]}],)"
    R"("at":[[0,15,5,1,0,1],[1,12,4,1,0,2,4]]})";
constexpr char kTick7[] = R"({"op":"poses","tick":7,"at":[[11,5],[18,4]]})";
constexpr char kTick8[] = R"({"op":"poses","tick":8,"at":[[15,5],[18,4,0,1]]})";

TEST_F(EvalPosesTest, QuestionsAreAsOfTheirMoments) {
  const std::string segment =
      R"({"op":"segment","a":[10.5,8],"b":[10.5,0],"against":"bodies","as_of":)";
  const std::string sweep =
      R"({"op":"sweep","shape":{"circle":1},"at":[13,11],"d":[0,-8],"against":"bodies","as_of":)";
  EXPECT_THAT(
      Lines({kHistory, kTick7, kTick8, R"({"op":"point","p":[13,5],"against":"both","as_of":7})",
             R"({"op":"point","p":[13,5],"against":"both","as_of":7.5})",
             R"({"op":"point","p":[13,5],"against":"both"})",
             R"({"op":"point","p":[17,4.5],"against":"both","as_of":7.5})",
             R"({"op":"point","p":[17,4.5],"against":"both","as_of":7.25})",
             R"({"op":"distance","rings":[[[13,9]]],"against":"bodies","as_of":7.5})",
             sweep + "7.5}", segment + "8}"}),
      ElementsAre(R"({"in":[],"on":[],"bodies":[]})", R"({"in":[],"on":[],"bodies":[0]})",
                  R"({"in":[],"on":[],"bodies":[1]})", R"({"in":[],"on":[],"bodies":[1]})",
                  R"({"in":[],"on":[],"bodies":[]})", R"({"d":3,"ids":[],"bodies":[0]})",
                  R"({"hit":true,"t":0.5,"body":0,"edge":null,"normal":[0,1],"start_in":[],)"
                  R"("bodies":[]})",
                  R"({"hit":false,"start_in":[],"start_on":[],"bodies":[],"all":[]})"));
}

TEST_F(EvalPosesTest, WhatIsNotKeptIsOutOfRange) {
  const std::vector<std::string> answers = Lines(
      {kHistory, R"({"op":"point","p":[13,5],"against":"both","as_of":7})", kTick7,
       R"({"op":"point","p":[13,5],"against":"both","as_of":6})",
       R"({"op":"segment","a":[13,5],"b":[14,5],"against":"both","as_of":7.5})",
       R"({"op":"slide","shape":{"circle":1},"at":[13,11],"d":[[0,-8]],"against":"both","as_of":9})",
       R"({"op":"point","p":[11,5],"against":"both","as_of":7})"});
  ASSERT_EQ(answers.size(), 5u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(answers[i], ::testing::HasSubstr(R"("OUT_OF_RANGE")")) << i;
    EXPECT_THAT(answers[i], ::testing::HasSubstr(R"("as_of")")) << i;
  }
  EXPECT_EQ(answers[4], R"({"in":[],"on":[],"bodies":[0]})");
}

TEST_F(EvalPosesTest, MalformedLinesAreRefused) {
  const std::vector<std::string> lines = {
      R"({"op":"poses","at":[[1,2],[3,4]],"q":"tick"})",
      R"({"op":"poses","tick":1,"q":"at"})",
      R"({"op":"poses","tick":1,"at":[[1,2]],"q":"at"})",
      R"({"op":"poses","tick":1,"at":[[1,2],[1,2,3]],"q":"at[1]"})",
      R"({"op":"poses","tick":1,"at":[[1,2],[1,2,1,1]],"q":"at[1][2]"})",
      R"({"op":"poses","tick":7,"at":[[1,2],[3,4]],"q":"tick"})",
      R"({"op":"poses","tick":-1,"at":[[1,2],[3,4]],"q":"tick"})",
      R"({"op":"point","p":[1,1],"as_of":7,"q":"as_of"})",
      R"({"op":"point","p":[1,1],"against":"both","as_of":"x","q":"as_of"})"};
  std::vector<std::string> all = {kHistory, kTick7};
  all.insert(all.end(), lines.begin(), lines.end());
  const std::vector<std::string> answers = Lines(all);
  ASSERT_EQ(answers.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t at = lines[i].find(R"("q":")") + 5;
    const std::string field = lines[i].substr(at, lines[i].size() - at - 2);
    EXPECT_THAT(answers[i], ::testing::HasSubstr("\"field\":\"" + field + "\"")) << lines[i] << "\n"
                                                                                 << answers[i];
    EXPECT_THAT(answers[i], ::testing::HasSubstr("INVALID_ARGUMENT")) << answers[i];
  }
}

}  // namespace
}  // namespace carom::cli
