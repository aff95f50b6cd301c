// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// LintScene: findings, errors by code and field, and what a call may cost.
#include <atomic>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>

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

// A chain of `edges` edges, each of which crosses all others that it does not touch.
v1::CreateSceneRequest Crossings(const std::string& name, int edges) {
  v1::CreateSceneRequest request;
  request.set_name("scenes/" + name);
  v1::Polygon& polygon = *request.add_polygons();
  polygon.set_id(1);
  polygon.set_solidity(v1::SOLIDITY_BOUNDARY);
  v1::Ring& ring = *polygon.add_rings();
  ring.set_open(true);
  for (int i = 0; i <= edges; ++i) {
    ring.add_x(i % 2 == 0 ? -1000 + i * 1e-3 : 1000 - i * 1e-3);
    ring.add_y(i % 2 == 0 ? -1e4 : 1e4);
  }
  return request;
}

// The number of seconds of processor time that this process has used.
double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// 2 * 10^8 crossings are more work than a call may cause. One executor thread is busy meanwhile,
// and the other one answers.
TEST_F(LintSceneTest, AHostileSceneIsRefusedWhileOtherCallsAreAnswered) {
  server_.Create(Crossings("hostile", 20000));
  server_.Create("small", {Square(1, 0, 0)});
  std::atomic<bool> is_done = false;
  const double before = ProcessorSeconds();
  std::thread hostile([&] {
    v1::LintSceneResponse response;
    const grpc::Status status = Lint(R"(name: "scenes/hostile")", response);
    is_done = true;
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_NE(status.error_message().find("more work"), std::string::npos);
  });
  int answered = 0;
  while (!is_done) {
    v1::LintSceneResponse response;
    EXPECT_TRUE(Lint(R"(name: "scenes/small")", response).ok());
    if (!is_done) ++answered;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  hostile.join();
  EXPECT_GT(answered, 3);
  EXPECT_LT(ProcessorSeconds() - before, 120);  // ten seconds, and a margin for slow builds
}

// A cancelled call stops its work: the only executor thread answers the next call at once.
TEST(LintSceneCancelTest, ACancelledCallStops) {
  TestServer server(OneThread());
  server.Create(Crossings("hostile", 20000));
  server.Create("small", {Square(1, 0, 0)});
  Context context;
  std::thread hostile([&] {
    v1::LintSceneResponse response;
    const grpc::Status status = server.scenes().LintScene(
        &context, FromText<v1::LintSceneRequest>(R"(name: "scenes/hostile")"), &response);
    EXPECT_EQ(status.error_code(), grpc::CANCELLED) << status.error_message();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  context.TryCancel();
  hostile.join();
  const double before = ProcessorSeconds();
  Context next;
  v1::LintSceneResponse response;
  EXPECT_TRUE(
      server.scenes()
          .LintScene(&next, FromText<v1::LintSceneRequest>(R"(name: "scenes/small")"), &response)
          .ok());
  EXPECT_LT(ProcessorSeconds() - before, 2);  // the refused work takes ten seconds
}

// A call whose deadline passes stops its work: the next call is answered.
TEST_F(LintSceneTest, ADeadlineStopsTheWork) {
  server_.Create(Crossings("hostile", 20000));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  v1::LintSceneResponse response;
  const grpc::Status status = server_.scenes().LintScene(
      &context, FromText<v1::LintSceneRequest>(R"(name: "scenes/hostile")"), &response);
  EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_EQ(CodeOf(R"(name: "scenes/none")"), grpc::NOT_FOUND);
}

}  // namespace
}  // namespace carom::server
