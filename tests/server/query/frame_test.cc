// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Frames, one at a time: what Evaluate answers when all is well.
#include <map>
#include <mutex>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

class FrameTest : public ::testing::Test {
 protected:
  TestServer server_;
};

TEST_F(FrameTest, EmptyFrameIsAnswered) {
  const v1::FrameAnswer answer = server_.Ask("seq: 18446744073709551615");
  EXPECT_EQ(answer.seq(), 18446744073709551615u);
  EXPECT_FALSE(answer.has_status());
  EXPECT_EQ(answer.groups_size(), 0);
  EXPECT_TRUE(answer.has_stats());
}

TEST_F(FrameTest, AbsentFrameIsAnEmptyOne) {
  Context context;
  v1::EvaluateResponse response;
  EXPECT_TRUE(server_.queries().Evaluate(&context, {}, &response).ok());
  EXPECT_TRUE(response.has_answer());
}

TEST_F(FrameTest, EveryKindOfQuestion) {
  const uint64_t version = server_.Create("a", {Square(7, 0, 0)});
  const v1::FrameAnswer answer = server_.Ask(R"pb(
    seq: 3
    groups {
      scene: "scenes/a"
      segments {
        ax: [ -3, -3 ]
        ay: [ 0, 5 ]
        bx: [ 3, 3 ]
        by: [ 0, 5 ]
      }
      points {
        x: [ 0, 1, 2 ]
        y: [ 0, 0, 0 ]
      }
      circles { x: 3 y: 0 radius: 2 detail: OVERLAP_DETAIL_EDGES }
      polygons {
        shapes {
          rings {
            x: [ 0, 1, 0 ]
            y: [ 0, 0, 1 ]
          }
        }
        x: 0.5
        y: 0
      }
    })pb");
  EXPECT_EQ(answer.seq(), 3);
  ASSERT_EQ(answer.groups_size(), 1);
  const v1::GroupAnswer& group = answer.groups(0);
  EXPECT_FALSE(group.has_status());
  EXPECT_EQ(group.version(), version);
  EXPECT_THAT(group.segments().counts(), ::testing::ElementsAre(1, 0));
  EXPECT_THAT(group.segments().polygon_id(), ::testing::ElementsAre(7));
  EXPECT_EQ(group.segments().point_x(0), -1);
  EXPECT_EQ(group.segments().normal_x(0), -1);
  EXPECT_THAT(group.points().counts(), ::testing::ElementsAre(1, 1, 0));
  EXPECT_THAT(group.points().location(),
              ::testing::ElementsAre(v1::LOCATION_INSIDE, v1::LOCATION_BOUNDARY));
  EXPECT_THAT(group.circles().touching(), ::testing::ElementsAre(true));
  EXPECT_THAT(group.circles().edge(), ::testing::ElementsAre(1));
  EXPECT_THAT(group.polygons().counts(), ::testing::ElementsAre(1));
  EXPECT_GT(answer.stats().work_units(), 0);
  EXPECT_GE(answer.stats().elapsed_ns(), answer.stats().evaluate_ns());
}

TEST_F(FrameTest, SameFrameSameBytes) {
  server_.Create("a", {Square(7, 0, 0), Square(8, 0.5, 0.5)});
  const std::string frame = R"pb(
    groups {
      scene: "scenes/a"
      segments { ax: -3 ay: 0.25 bx: 3 by: 0.5 mode: CAST_MODE_ALL }
    })pb";
  v1::FrameAnswer first = server_.Ask(frame);
  v1::FrameAnswer second = server_.Ask(frame);
  first.clear_stats();
  second.clear_stats();
  EXPECT_EQ(first.SerializeAsString(), second.SerializeAsString());
}

TEST_F(FrameTest, SeveralScenesByNameAndHandle) {
  server_.Create("a", {Square(1, 0, 0)});
  server_.Create("b", {Square(2, 0, 0)});
  const v1::FrameAnswer answer = server_.Ask(R"pb(
    bindings { handle: 0 scene: "scenes/b" }
    groups {
      scene_handle: 0
      points { x: 0 y: 0 }
    }
    groups {
      scene: "scenes/a"
      points { x: 0 y: 0 }
    }
    groups { scene: "scenes/a" }
  )pb");
  ASSERT_EQ(answer.groups_size(), 3);
  EXPECT_THAT(answer.groups(0).points().polygon_id(), ::testing::ElementsAre(2));
  EXPECT_THAT(answer.groups(1).points().polygon_id(), ::testing::ElementsAre(1));
  EXPECT_FALSE(answer.groups(2).has_points());
  EXPECT_EQ(answer.groups(2).version(), answer.groups(1).version());
}

// A commit moves both polygons at once. A group that saw one of them moved and the other not would
// have read two versions.
TEST_F(FrameTest, EachGroupReadsOneVersionUnderCommits) {
  const auto both_at = [](int x) {
    return absl::StrCat("edits { replace {", Square(1, x, 0), "} } edits { replace {",
                        Square(2, x, 5), "} }");
  };
  std::mutex mutex;
  std::map<uint64_t, int> where;  // of each version
  where[server_.Create("a", {Square(1, 0, 0), Square(2, 0, 5)})] = 0;
  std::thread writer([&] {
    for (int i = 1; i <= 100; ++i) {
      v1::CommitEditsResponse response;
      const int x = i % 2 * 100;
      ASSERT_TRUE(server_.Commit("name: 'scenes/a' " + both_at(x), &response).ok());
      const std::lock_guard lock(mutex);
      where[response.scene().version()] = x;
    }
  });
  std::string group = "groups { scene: 'scenes/a' points {";
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&group, "x: ", i % 4 < 2 ? 0 : 100, " y: ", i % 2 * 5, " ");
  }
  group += "} }";
  std::vector<v1::FrameAnswer> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(server_.Ask(group + group + group));
  writer.join();
  for (const v1::FrameAnswer& answer : answers) {
    for (const v1::GroupAnswer& g : answer.groups()) {
      ASSERT_EQ(where.count(g.version()), 1);
      const int x = where[g.version()];
      for (int i = 0; i < 200; ++i) {
        ASSERT_EQ(g.points().counts(i), (i % 4 < 2 ? 0 : 100) == x ? 1 : 0);
      }
    }
  }
}

TEST_F(FrameTest, MinVersionThatIsThereIsNoWait) {
  const uint64_t version = server_.Create("a", {});
  const v1::FrameAnswer answer =
      server_.Ask(absl::StrCat("groups { scene: 'scenes/a' min_version: ", version, "}"));
  EXPECT_FALSE(answer.groups(0).has_status());
}

TEST_F(FrameTest, MinVersionWaitsForTheCommit) {
  const uint64_t version = server_.Create("a", {Square(1, 0, 0)});
  v1::FrameAnswer answer;
  std::thread client([&] {
    answer = server_.Ask(
        absl::StrCat("budget_us: 30000000 groups { scene: 'scenes/a' points { x: 0 y: 0 } } "
                     "groups { scene: 'scenes/a' min_version: ",
                     version + 3, " points { x: 0 y: 0 } }"));
  });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(server_.Commit("name: 'scenes/a'").ok());
  client.join();
  ASSERT_EQ(answer.groups_size(), 2);
  EXPECT_FALSE(answer.groups(0).has_status());
  EXPECT_FALSE(answer.groups(1).has_status());
  EXPECT_EQ(answer.groups(1).version(), version + 3);
  EXPECT_EQ(answer.groups(1).points().polygon_id_size(), 1);
}

// More waiting frames than threads: a wait holds none.
TEST_F(FrameTest, WaitingFramesHoldNoThread) {
  const uint64_t version = server_.Create("a", {});
  server_.Create("b", {});
  std::vector<std::unique_ptr<ClientStream>> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(std::make_unique<ClientStream>(server_));
    ASSERT_TRUE(waiting.back()->Send(absl::StrCat(
        "budget_us: 30000000 groups { scene: 'scenes/a' min_version: ", version + 5, "}")));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(server_.Ask("groups { scene: 'scenes/b' }").groups(0).has_status());
  }
  // Versions count over all scenes, so five commits are enough.
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(server_.Commit("name: 'scenes/a'").ok());
  for (auto& stream : waiting) EXPECT_FALSE(stream->Next().groups(0).has_status());
}

TEST_F(FrameTest, DeletionEndsTheWait) {
  const uint64_t version = server_.Create("a", {});
  ClientStream stream(server_);
  ASSERT_TRUE(stream.Send(absl::StrCat(
      "budget_us: 60000000 groups { scene: 'scenes/a' min_version: ", version + 9, "}")));
  v1::DeleteSceneRequest request;
  request.set_name("scenes/a");
  v1::DeleteSceneResponse response;
  Context context;
  ASSERT_TRUE(server_.scenes().DeleteScene(&context, request, &response).ok());
  EXPECT_EQ(stream.Next().groups(0).status().code(), grpc::NOT_FOUND);
}

}  // namespace
}  // namespace carom::server
