// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// LintScene: findings, errors by code and field, and what a call may cost.
#include <cmath>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using absl::StatusCode;

class LintSceneTest : public ::testing::Test {
 protected:
  grpc::Status Lint(const std::string& request, v1::LintSceneResponse& response) {
    Context context;
    return server_.scenes().LintScene(&context, FromText<v1::LintSceneRequest>(request), &response);
  }
  grpc::StatusCode CodeOf(const std::string& request) {
    v1::LintSceneResponse response;
    return Lint(request, response).error_code();
  }

  TestServer server_;
};

TEST_F(LintSceneTest, AnswersFindings) {
  const uint64_t version =
      server_.Create("map", {Square(1, 0, 0), Square(2, 2.5, 0), Square(3, 2.5, 0)});
  v1::LintSceneResponse response;
  const grpc::Status status = Lint(R"(name: "scenes/map" gap_radius: 0.5)", response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.version(), version);
  EXPECT_FALSE(response.truncated());
  ASSERT_GE(response.findings_size(), 2);
  const v1::LintFinding& gap = response.findings(0);
  EXPECT_EQ(gap.kind(), v1::LINT_KIND_GAP);
  EXPECT_EQ(gap.polygon_id(), 1u);
  EXPECT_EQ(gap.other_polygon_id(), 2u);
  EXPECT_EQ(gap.measure(), 0.5);
  EXPECT_FALSE(gap.description().empty());
  uint64_t total = 0;
  for (const v1::LintCount& count : response.counts()) total += count.count();
  EXPECT_EQ(total, static_cast<uint64_t>(response.findings_size()));

  ASSERT_TRUE(
      Lint(R"(name: "scenes/map" kinds: LINT_KIND_DUPLICATE_POLYGON max_findings: 1)", response)
          .ok());
  ASSERT_EQ(response.findings_size(), 1);
  EXPECT_EQ(response.findings(0).polygon_id(), 3u);
}

TEST_F(LintSceneTest, AnswersPockets) {
  server_.Create("map", {"id: 5 solidity: SOLIDITY_BOUNDARY rings { open: true "
                         "x: [6, 10, 10, 0, 0, 4] y: [0, 0, 10, 10, 0, 0] }"});
  v1::LintSceneResponse response;
  ASSERT_TRUE(Lint(R"(name: "scenes/map" kinds: LINT_KIND_POCKET mover_radius: 1.5
                      from_x: -5 from_y: -5)",
                   response)
                  .ok());
  ASSERT_EQ(response.findings_size(), 1);
  EXPECT_EQ(response.findings(0).measure(), 100);
  EXPECT_EQ(response.findings(0).outline().x_size(), 6);
}

TEST_F(LintSceneTest, Errors) {
  server_.Create("map", {Square(1, 0, 0)});
  EXPECT_EQ(CodeOf(""), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf(R"(name: "scenes/none")"), grpc::NOT_FOUND);
  EXPECT_EQ(CodeOf(R"(name: "scenes/map" version: 999)"), grpc::OUT_OF_RANGE);
  for (const char* field : {"gap_radius: -1", "gap_radius: nan", "mover_radius: inf", "from_x: 1",
                            "winding: 9", "from_x: nan from_y: 0", "lattice_pitch: -1",
                            "near_distance: 1e300", "kinds: 99", "max_findings: 10001"}) {
    EXPECT_EQ(CodeOf(std::string(R"(name: "scenes/map" )") + field), grpc::INVALID_ARGUMENT)
        << field;
  }
}

// A star of edges that all cross one another: the number of findings is the square of that of the
// edges. The answer is bounded, and so are time and memory.
TEST_F(LintSceneTest, ManyCrossingsAreCountedAndNotSent) {
  std::string star = "id: 1 solidity: SOLIDITY_BOUNDARY rings { open: true ";
  for (int i = 0; i < 2000; ++i) {
    star += absl::StrCat("x: ", i % 2 == 0 ? -1000 + i : 1000 - i, " y: ", i % 2 == 0 ? -1e4 : 1e4,
                         " ");
  }
  server_.Create("star", {star + "}"});
  v1::LintSceneResponse response;
  ASSERT_TRUE(Lint(R"(name: "scenes/star" kinds: LINT_KIND_CROSSING)", response).ok());
  EXPECT_TRUE(response.truncated());
  EXPECT_EQ(response.findings_size(), 1000);
  ASSERT_EQ(response.counts_size(), 1);
  EXPECT_GT(response.counts(0).count(), 100000u);
  EXPECT_LT(response.ByteSizeLong(), size_t{1} << 20);
  // Pockets would need a point for each crossing.
  EXPECT_EQ(CodeOf(R"(name: "scenes/star" kinds: LINT_KIND_POCKET from_x: 0 from_y: 0)"),
            grpc::RESOURCE_EXHAUSTED);
}

// A call whose deadline passes stops its work: the server answers other calls meanwhile.
TEST_F(LintSceneTest, ADeadlineStopsTheWork) {
  server_.CreateHeavy("heavy", 20000);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(1));
  v1::LintSceneResponse response;
  const grpc::Status status = server_.scenes().LintScene(
      &context, FromText<v1::LintSceneRequest>(R"(name: "scenes/heavy" gap_radius: 1e6)"),
      &response);
  EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_EQ(CodeOf(R"(name: "scenes/none")"), grpc::NOT_FOUND);
}

}  // namespace
}  // namespace carom::server
