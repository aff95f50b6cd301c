// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Awkward questions on every shared scene, at up to five scales, answered by the library and by a
// server: both must print the same bytes, and these must be what the oracle says. One case for each
// file of scenes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/conformance/fixture.h"
#include "tests/support/expected.h"
#include "tests/support/jsonl.h"
#include "tests/support/nasty.h"

namespace carom::testing {
namespace {

constexpr std::size_t kLargeScene = 5000;  // vertices
constexpr int kQuestions = 500;
constexpr int kQuestionsOfLargeScene = 100;
constexpr std::size_t kMostShown = 10;

int Factor() {
  return std::max(1, std::atoi(EnvironmentOr("CAROM_CONFORMANCE_FACTOR", "1").c_str()));
}

// The questions put to one scene at one scale.
struct Batch {
  std::string title;
  std::string scene_line;
  std::vector<OraclePolygon> polygons;
  std::vector<std::string> questions;
};

Batch BatchOf(const SceneEntry& scene, double scale, int count) {
  Batch batch;
  batch.title = scene.id + " scaled by " + NumberText(scale);
  batch.polygons = Scaled(scene.polygons, scale);
  batch.scene_line = SceneLine(batch.polygons);
  for (const Query& query : NastyQueries(batch.polygons, SeedOf(batch.title), count)) {
    batch.questions.push_back(QueryLine(query));
  }
  return batch;
}

// Scale 1 comes twice with the same questions: by "load" and by an inline scene.
std::vector<Batch> BatchesOf(const std::string& file, const SceneEntry& scene) {
  const std::vector<double> scales = ScalesFor(scene.polygons);
  const int total =
      Factor() * (scene.vertex_count > kLargeScene ? kQuestionsOfLargeScene : kQuestions);
  const int count = (total + static_cast<int>(scales.size()) - 1) / static_cast<int>(scales.size());
  std::vector<Batch> batches;
  for (double scale : scales) {
    batches.push_back(BatchOf(scene, scale, count));
    if (scale != 1.0) continue;
    batches.push_back(batches.back());
    batches.front().scene_line = LoadLine("scenes/" + file, scene.id);
    batches.front().title += ", loaded";
  }
  return batches;
}

class ConformanceScenesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ConformanceScenesTest, AnswersEqualTheOracleLocallyAndRemotely) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::string file = std::string(GetParam()) + ".jsonl";
  std::vector<Batch> batches;
  std::vector<std::string> input;
  for (const SceneEntry& scene : ReadScenes(data + "/scenes/" + file)) {
    for (Batch& batch : BatchesOf(file, scene)) {
      input.push_back(batch.scene_line);
      input.insert(input.end(), batch.questions.begin(), batch.questions.end());
      batches.push_back(std::move(batch));
    }
  }
  const std::vector<std::string> output = EvalBothWays(input, data);
  ASSERT_EQ(output.size() + batches.size(), input.size());
  std::size_t answer = 0, wrong = 0;
  for (const Batch& batch : batches) {
    const Referee referee(batch.polygons);
    for (const std::string& question : batch.questions) {
      const std::vector<std::string> differences = referee.Differences(question, output[answer++]);
      if (differences.empty() || ++wrong > kMostShown) continue;
      for (const std::string& difference : differences)
        ADD_FAILURE() << batch.title << ": " << difference;
    }
  }
  EXPECT_EQ(wrong, 0U) << "of " << output.size()
                       << "; input: " << WriteLines("conformance_" + file, input);
}

INSTANTIATE_TEST_SUITE_P(Files, ConformanceScenesTest,
                         ::testing::Values("box2d", "clipper2", "earcut", "godot", "jts_wkt",
                                           "ldtk", "natural_earth", "polyanya", "world_geo"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ConformanceFilesTest, EveryFileOfScenesHasItsCase) {
  CAROM_NEEDS_SHARED_DIR(data);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/scenes")) {
    files += entry.path().extension() == ".jsonl" ? 1 : 0;
  }
  EXPECT_EQ(files, 9U);
}

}  // namespace
}  // namespace carom::testing
