// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// QueryService.Explain: agrees with Evaluate, and refuses bad requests with the field that is
// wrong.
#include <chrono>
#include <string>

#include "absl/strings/match.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using absl::StatusCode;

ServerOptions SmallExplanations() {
  ServerOptions options;
  options.max_queries_per_frame = 2000;
  options.max_answer_rows_per_frame = 100;
  return options;
}

class ExplainCallTest : public ::testing::Test {
 protected:
  ExplainCallTest() : server_(SmallExplanations()) {
    version_ = server_.Create("a", {Square(1, 0, 0), Square(2, 4, 0)});
  }

  grpc::Status Explain(const std::string& text, v1::ExplainResponse& response) {
    Context context;
    return server_.queries().Explain(&context, FromText<v1::ExplainRequest>(text), &response);
  }
  v1::Explanation Explained(const std::string& text) {
    v1::ExplainResponse response;
    const grpc::Status status = Explain(text, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_FALSE(response.text().empty());
    return response.explanation();
  }

  TestServer server_;
  uint64_t version_ = 0;
};

TEST_F(ExplainCallTest, AgreesWithEvaluate) {
  const std::string group = "segments { ax: -3 ay: 0 bx: 9 by: 0 }";
  const v1::FrameAnswer answer = server_.Ask("groups { scene: 'scenes/a' " + group + " }");
  const v1::Explanation explained = Explained("scene: 'scenes/a' group { " + group + " }");
  EXPECT_EQ(explained.kind(), "segments");
  EXPECT_EQ(explained.version(), version_);
  ASSERT_EQ(explained.stages_size(), 1);
  const v1::ExplainedStage& stage = explained.stages(0);
  ASSERT_EQ(stage.kept_size(), 1);
  EXPECT_EQ(stage.kept(0), answer.groups(0).segments().polygon_id(0));
  ASSERT_EQ(stage.candidates_size(), 2);
  EXPECT_EQ(stage.candidates(0).fate(), v1::CANDIDATE_FATE_KEPT);
  EXPECT_EQ(stage.candidates(0).key(), answer.groups(0).segments().fraction(0));
  EXPECT_EQ(stage.candidates(1).fate(), v1::CANDIDATE_FATE_LATER);
  EXPECT_EQ(stage.decision().second_id(), 2u);
  EXPECT_EQ(stage.candidates(0).edges_size(), 2);
  EXPECT_FALSE(stage.candidates(0).edges(0).signs().empty());
}

TEST_F(ExplainCallTest, ReadsAnOldVersionAndDraws) {
  ASSERT_TRUE(server_.Commit("name: 'scenes/a' edits { remove: 1 }").ok());
  const std::string group = "segments { ax: -3 ay: 0 bx: 9 by: 0 }";
  v1::ExplainResponse response;
  ASSERT_TRUE(Explain(absl::StrCat("scene: 'scenes/a' svg_width: 300 group { version: ", version_,
                                   " ", group, " }"),
                      response)
                  .ok());
  EXPECT_EQ(response.explanation().stages(0).kept(0), 1u);
  EXPECT_TRUE(absl::StartsWith(response.svg(), "<svg"));
  EXPECT_EQ(Explained("scene: 'scenes/a' group { " + group + " }").stages(0).kept(0), 2u);
}

TEST_F(ExplainCallTest, ExplainsTheLastMoveOfATracker) {
  const v1::Explanation explained = Explained(
      "scene: 'scenes/a' trackers { shapes { capsule { radius: 0.5 } } first_tracker: 7 } "
      "group { moves { tracker: [7, 7] x: [2, 2.1] y: [9, 9] } }");
  ASSERT_TRUE(explained.has_memory());
  EXPECT_EQ(explained.memory().tier(), v1::MOVE_TIER_QUIET);
  EXPECT_EQ(explained.memory().moves(), 1u);
  EXPECT_LT(explained.memory().distance2(), explained.memory().ball_radius2());
}

TEST_F(ExplainCallTest, ExplainsTheErrorOfAnItem) {
  const v1::Explanation explained = Explained("scene: 'scenes/a' group { points { x: nan y: 0 } }");
  EXPECT_EQ(explained.error().field(), "x");
  EXPECT_EQ(explained.stages_size(), 0);
}

TEST_F(ExplainCallTest, RefusesBadRequests) {
  struct Case {
    const char* request;
    StatusCode code;
    const char* field;
  };
  for (const Case& c : {
           Case{"", StatusCode::kInvalidArgument, "scene"},
           Case{"scene: 'a'", StatusCode::kInvalidArgument, "scene"},
           Case{"scene: 'scenes/a'", StatusCode::kInvalidArgument, "group"},
           Case{"scene: 'scenes/a' group { points { x: [1, 2] y: [1, 2] } }",
                StatusCode::kInvalidArgument, "group"},
           Case{"scene: 'scenes/a' group { points { x: 1 y: 1 } circles { x: 1 y: 1 radius: 1 } }",
                StatusCode::kInvalidArgument, "group"},
           Case{"scene: 'scenes/a' group { points { x: 1 } }", StatusCode::kInvalidArgument,
                "points.y"},
           Case{"scene: 'scenes/b' group { points { x: 1 y: 1 } }", StatusCode::kNotFound, "scene"},
           Case{"scene: 'scenes/a' group { version: 99 points { x: 1 y: 1 } }",
                StatusCode::kOutOfRange, "version"},
           Case{"scene: 'scenes/a' group { min_version: 1 points { x: 1 y: 1 } }",
                StatusCode::kInvalidArgument, "group.min_version"},
           Case{"scene: 'scenes/a' group { edits { edit_id: 'e' } points { x: 1 y: 1 } }",
                StatusCode::kInvalidArgument, "group.edits"},
           Case{"scene: 'scenes/a' max_candidates: 1001 group { points { x: 1 y: 1 } }",
                StatusCode::kInvalidArgument, "max_candidates"},
           Case{"scene: 'scenes/a' svg_width: 63 group { points { x: 1 y: 1 } }",
                StatusCode::kInvalidArgument, "svg_width"},
           Case{"scene: 'scenes/a' group { fans { x: 0 y: 0 angle: 0 step: 0.1 range: 1 beams: "
                "2001 } }",
                StatusCode::kResourceExhausted, "group"},
           Case{"scene: 'scenes/a' trackers { shapes { capsule { radius: -1 } } }",
                StatusCode::kInvalidArgument, "trackers[0].shapes[0].capsule.radius"},
       }) {
    v1::ExplainResponse response;
    EXPECT_TRUE(Refuses(Explain(c.request, response), c.code, c.field)) << c.request;
  }
}

TEST_F(ExplainCallTest, EndsAtTheLimitOfRows) {
  v1::ExplainResponse response;
  const grpc::Status status = Explain(
      "scene: 'scenes/a' group { fans { x: 9 y: 9 angle: 0 step: 0.1 range: 1 beams: 101 } }",
      response);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << status.error_message();
}

TEST_F(ExplainCallTest, EndsAtTheDeadline) {
  Context context;
  context.set_deadline(std::chrono::system_clock::now() - std::chrono::seconds(1));
  v1::ExplainResponse response;
  const grpc::Status status = server_.queries().Explain(
      &context, FromText<v1::ExplainRequest>("scene: 'scenes/a' group { points { x: 1 y: 1 } }"),
      &response);
  EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
}

}  // namespace
}  // namespace carom::server
