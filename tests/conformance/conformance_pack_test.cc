// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The public pack of awkward questions with exact answers, through the library and through a
// server, judged by the pack's own compare.py. The oracle then judges a part of the same output for
// what compare.py leaves out: normals, key sets, the text of numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/fixture.h"
#include "tests/support/expected.h"
#include "tests/support/jsonl.h"
#include "tests/support/process.h"

namespace carom::testing {
namespace {

constexpr std::size_t kRefereeStride = 5;
constexpr std::size_t kShown = 10;

constexpr std::size_t kPackQueries = 28085;

// All lines, with their answers.
struct Pack {
  std::vector<std::string> input;    // scenes, loads and questions
  std::vector<std::string> answers;  // one for each question
};

bool IsSceneLine(const Json& line) { return line.at("op") == "scene" || line.at("op") == "load"; }

Pack ReadPack(const std::string& data) {
  Pack pack{ReadLines(data + "/packs/queries.jsonl.xz"),
            ReadLines(data + "/packs/answers.jsonl.xz")};
  EXPECT_EQ(pack.answers.size(), kPackQueries);
  return pack;
}

std::unique_ptr<Referee> RefereeFor(const Json& line, const std::string& data) {
  if (line.at("op") == "scene") return std::make_unique<Referee>(PolygonsOf(line.at("polygons")));
  for (const SceneEntry& scene : ReadScenes(data + "/" + line.at("file").get<std::string>())) {
    if (scene.id == line.at("id")) return std::make_unique<Referee>(scene.polygons);
  }
  return nullptr;
}

void JudgeByOracle(const Pack& pack, const std::vector<std::string>& output,
                   const std::string& data) {
  std::unique_ptr<Referee> referee;
  std::size_t answer = 0, wrong = 0;
  for (const std::string& text : pack.input) {
    const Json line = Json::parse(text);
    if (IsSceneLine(line)) {
      referee = RefereeFor(line, data);
      ASSERT_NE(referee, nullptr) << text;
      continue;
    }
    const std::string& given = output[answer++];
    if (answer % kRefereeStride != 0 || !QueryOf(line)) continue;
    const std::vector<std::string> differences = referee->Differences(text, given);
    if (differences.empty() || ++wrong > kShown) continue;
    for (const std::string& difference : differences) ADD_FAILURE() << difference;
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(ConformancePackTest, AnswersEqualThePackLocallyAndRemotely) {
  CAROM_NEEDS_SHARED_DIR(data);
  const Pack pack = ReadPack(data);
  const std::vector<std::string> output = EvalBothWays(pack.input, data);
  const std::string pid = std::to_string(getpid());
  const std::string answers_file = WriteLines("conformance_pack_answers-" + pid, pack.answers);
  const std::string output_file = WriteLines("conformance_pack_output-" + pid, output);
  const ProcessResult compared =
      RunProcess({"python3", SharedDir() + "/compare.py", answers_file, output_file}, "", 120.0);
  std::filesystem::remove(answers_file);
  std::filesystem::remove(output_file);
  EXPECT_EQ(compared.exit_code, 0) << compared.standard_output << compared.standard_error;
  EXPECT_THAT(compared.standard_output, ::testing::HasSubstr("28085 compared, 0 wrong, 0 missing"));
  ASSERT_EQ(output.size(), pack.answers.size());
  JudgeByOracle(pack, output, data);
}

}  // namespace
}  // namespace carom::testing
