// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `Client::Evaluate`: the same answers as the library gives, and errors that stay small.
#include <limits>

#include "tests/client/fixture.h"

namespace carom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

constexpr char kQueryScene[] = "scenes/arena";

class ClientQueryTest : public ClientTest {
 protected:
  void SetUp() override {
    StartServer();
    const auto made = client_->CreateScene(kQueryScene, Squares(5));
    ASSERT_TRUE(made.ok()) << made.status();
    version_ = made->version;
  }

  // A frame of one group that asks the arena.
  static Frame FrameOf(const Group& group) {
    Frame frame;
    FrameGroup& asked = frame.groups.emplace_back();
    asked.scene = std::string(kQueryScene);
    asked.group = group;
    return frame;
  }

  // The result of one group.
  GroupResult Ask(const Group& group) {
    auto answer = client_->Evaluate(FrameOf(group));
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok() || answer->groups.size() != 1) return {answer.status(), {}};
    return std::move(answer->groups[0]);
  }

  uint64_t version_ = 0;
};

TEST_F(ClientQueryTest, ExplainsAsTheLibraryDoes) {
  const double ax[] = {-1}, ay[] = {0.5}, bx[] = {12}, by[] = {0.5};
  Group group;
  group.segments = {ax, ay, bx, by};
  const auto remote = client_->Explain(kQueryScene, group, {.max_candidates = 2, .svg_width = 200});
  ASSERT_TRUE(remote.ok()) << remote.status();
  const Scene::Ptr scene = Scene::Create(Squares(5), version_).value();
  WorkMeter meter;
  const Explanation local = Explain(*scene, group, {2, 200}, meter).value();
  EXPECT_EQ(remote->text, local.text);
  EXPECT_EQ(remote->svg, local.svg);
  EXPECT_EQ(remote->kind, "segments");
  ASSERT_EQ(remote->stages.size(), 1u);
  const ExplainedStage &a = remote->stages[0], &b = local.stages[0];
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.unlisted, b.unlisted);
  EXPECT_EQ(a.point, b.point);
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (size_t i = 0; i < a.candidates.size(); ++i) {
    EXPECT_EQ(a.candidates[i].fate, b.candidates[i].fate);
    EXPECT_EQ(a.candidates[i].key, b.candidates[i].key);
    EXPECT_EQ(a.candidates[i].edge, b.candidates[i].edge);
    ASSERT_EQ(a.candidates[i].edges.size(), b.candidates[i].edges.size());
    for (size_t k = 0; k < a.candidates[i].edges.size(); ++k) {
      EXPECT_EQ(a.candidates[i].edges[k].signs, b.candidates[i].edges[k].signs);
      EXPECT_EQ(a.candidates[i].edges[k].meets, b.candidates[i].edges[k].meets);
    }
  }
  const auto refused = client_->Explain("scenes/nowhere", group);
  EXPECT_EQ(refused.status().code(), StatusCode::kNotFound) << refused.status();
}

TEST_F(ClientQueryTest, AnswersAsTheLibraryDoes) {
  const std::vector<double> ax = {-1, 0.5, 20}, ay = {0.5, 0.5, 20}, bx = {12, 3, 21},
                            by = {0.5, 0.5, 21};
  const std::vector<double> x = {0.5, 2, 50}, y = {0.5, 0.5, 50}, radius = {0.25, 1, 3};
  const std::vector<Polygon> shapes = {Square(0, -1, -1, 2)};
  const std::vector<uint32_t> shape = {0, 0, 0};
  const std::vector<double> angle = {0, 0.5, 1};
  Group group;
  group.cast_options.mode = CastMode::kAll;
  group.segments = {ax, ay, bx, by};
  group.points = {x, y};
  group.circles = {x, y, radius};
  group.circle_options.detail = OverlapDetail::kEdges;
  group.polygons = {shapes, shape, x, y, {}, {}, angle};

  const GroupResult remote = Ask(group);
  ASSERT_TRUE(remote.status.ok()) << remote.status;
  const auto scene = Scene::Create(Squares(5), version_);
  ASSERT_TRUE(scene.ok());
  GroupAnswers local;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(**scene, group, local, meter).ok());

  EXPECT_EQ(remote.answers.version, version_);
  EXPECT_EQ(remote.answers.segments.counts, local.segments.counts);
  ASSERT_EQ(remote.answers.segments.hits.size(), local.segments.hits.size());
  for (size_t i = 0; i < local.segments.hits.size(); ++i) {
    const CastHit& a = remote.answers.segments.hits[i];
    const CastHit& b = local.segments.hits[i];
    EXPECT_EQ(a.polygon_id, b.polygon_id);
    EXPECT_EQ(a.edge, b.edge);
    EXPECT_EQ(a.feature, b.feature);
    EXPECT_EQ(a.fraction, b.fraction);
    EXPECT_EQ(a.exit_fraction, b.exit_fraction);
    EXPECT_EQ(a.point, b.point);
    EXPECT_EQ(a.normal, b.normal);
    EXPECT_EQ(a.starts_inside, b.starts_inside);
  }
  EXPECT_EQ(remote.answers.points.polygon_ids, local.points.polygon_ids);
  EXPECT_EQ(remote.answers.points.locations, local.points.locations);
  EXPECT_EQ(remote.answers.circles.polygon_ids, local.circles.polygon_ids);
  EXPECT_EQ(remote.answers.circles.touching, local.circles.touching);
  EXPECT_EQ(remote.answers.circles.edges, local.circles.edges);
  EXPECT_EQ(remote.answers.polygons.counts, local.polygons.counts);
  EXPECT_EQ(remote.answers.polygons.polygon_ids, local.polygons.polygon_ids);
}

TEST_F(ClientQueryTest, EchoesSequenceAndOrderOfGroups) {
  ASSERT_TRUE(client_->CreateScene("scenes/other", {}).ok());
  const std::vector<double> x = {0.5}, y = {0.5};
  Group group;
  group.points = {x, y};
  Frame frame;
  frame.seq = std::numeric_limits<uint64_t>::max();
  frame.bindings.push_back({7, "scenes/other"});
  frame.groups.resize(3);
  frame.groups[0].scene = std::string(kQueryScene);
  frame.groups[0].group = group;
  frame.groups[1].scene = uint64_t{7};
  frame.groups[1].group = group;
  frame.groups[2].scene = std::string("scenes/missing");
  frame.groups[2].group = group;
  const auto answer = client_->Evaluate(frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->seq, frame.seq);
  EXPECT_TRUE(answer->status.ok());
  ASSERT_EQ(answer->groups.size(), 3u);
  EXPECT_THAT(answer->groups[0].answers.points.polygon_ids, ElementsAre(0));
  EXPECT_THAT(answer->groups[1].answers.points.counts, ElementsAre(0));
  EXPECT_EQ(answer->groups[2].status.code(), StatusCode::kNotFound);
}

TEST_F(ClientQueryTest, ABadItemLeavesTheOthers) {
  const std::vector<double> x = {0.5, std::numeric_limits<double>::quiet_NaN(), 2.5};
  const std::vector<double> y = {0.5, 0.5, 1e300}, radius = {1, 1, 1};
  Group group;
  group.circles = {x, y, radius};
  const GroupResult result = Ask(group);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.answers.circles.counts, ElementsAre(1, 0, 0));
  EXPECT_THAT(result.answers.circles.errors,
              ElementsAre(ItemError{1, ItemColumn::kX, ItemFault::kNotAccepted},
                          ItemError{2, ItemColumn::kY, ItemFault::kNotAccepted}));
}

TEST_F(ClientQueryTest, ABadGroupNamesItsField) {
  const std::vector<double> one = {1}, two = {1, 2};
  Group group;
  group.segments = {two, two, two, one};
  EXPECT_TRUE(Refuses(Ask(group).status, StatusCode::kInvalidArgument, "segments.by"));
}

TEST_F(ClientQueryTest, ABadFrameIsTheStatusOfTheCall) {
  Frame frame;
  frame.bindings = {{7, kQueryScene}, {7, kQueryScene}};
  EXPECT_TRUE(Refuses(client_->Evaluate(frame).status(), StatusCode::kInvalidArgument,
                      "bindings[1].handle"));
}

TEST_F(ClientQueryTest, WaitsForAVersionWithinTheBudget) {
  Frame frame = FrameOf({});
  frame.groups[0].min_version = version_ + 1000;
  frame.budget_us = 1000;
  const auto answer = client_->Evaluate(frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->groups[0].status.code(), StatusCode::kUnavailable);
}

TEST_F(ClientQueryTest, ACallEndsAtItsDeadline) {
  Frame frame = FrameOf({});
  frame.groups[0].min_version = version_ + 1000;
  frame.budget_us = 60'000'000;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(client_->Evaluate(frame, {.timeout = std::chrono::milliseconds(50)}).status().code(),
            StatusCode::kDeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace carom
