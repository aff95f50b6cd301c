// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Frames: every documented error of a frame, a group and an item, each as small as it can be.
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using absl::StatusCode;

ServerOptions SmallFrames() {
  ServerOptions options;
  options.max_groups_per_frame = 8;
  options.max_queries_per_frame = 20;
  options.max_answer_rows_per_frame = 10;
  options.max_message_bytes = 262144;
  return options;
}

class FrameErrorTest : public ::testing::Test {
 protected:
  FrameErrorTest() : server_(SmallFrames()) {
    server_.Create("a", {Square(1, 0, 0), Square(2, 0.5, 0)});
  }

  // Evaluates and streams a frame that is refused as a whole; both refuse it alike.
  void ExpectRefused(const v1::Frame& frame, StatusCode code, const std::string& field) {
    v1::FrameAnswer ignored;
    EXPECT_TRUE(Refuses(server_.Evaluate(frame, ignored), code, field));
    ClientStream stream(server_);
    ASSERT_TRUE(stream.Send(frame));
    const v1::FrameAnswer answer = stream.Next();
    EXPECT_TRUE(Refuses(wire::DecodeStatus(answer.status()), code, field));
    EXPECT_EQ(answer.seq(), frame.seq());
    EXPECT_EQ(answer.groups_size(), 0);
    // The stream lives on.
    ASSERT_TRUE(stream.Send("seq: 5 groups { scene: 'scenes/a' points { x: 0 y: 0 } }"));
    EXPECT_EQ(stream.Next().groups(0).points().counts(0), 2);
    stream.CloseSide();
    EXPECT_TRUE(stream.Finish().ok());
  }

  TestServer server_;
};

TEST_F(FrameErrorTest, FramesAreRefusedAsAWhole) {
  struct Case {
    const char* frame;
    StatusCode code;
    const char* field;
  };
  for (const Case& c : {
           Case{"seq: 9 budget_us: 60000001", StatusCode::kInvalidArgument, "budget_us"},
           Case{"bindings { handle: 1 scene: 'scenes/a' } bindings { handle: 1 scene: 'scenes/b' }",
                StatusCode::kInvalidArgument, "bindings[1].handle"},
           Case{"bindings { handle: 1 scene: 'a' }", StatusCode::kInvalidArgument,
                "bindings[0].scene"},
           Case{"bindings { handle: 1 }", StatusCode::kInvalidArgument, "bindings[0].scene"},
           Case{"groups {} groups {} groups {} groups {} groups {} groups {} groups {} groups {} "
                "groups {}",
                StatusCode::kResourceExhausted, "groups"},
           Case{"groups { segments { ax: [1,2,3,4,5,6,7,8,9,10] } points { x: [1,2,3,4,5] } } "
                "groups { circles { x: [1,2,3] } polygons { x: [1,2,3] } }",
                StatusCode::kResourceExhausted, "groups"},
       }) {
    ExpectRefused(FromText<v1::Frame>(c.frame), c.code, c.field);
  }
}

TEST_F(FrameErrorTest, LimitsThemselvesAreAccepted) {
  const v1::FrameAnswer answer = server_.Ask(
      "budget_us: 60000000 groups {} groups {} groups {} groups {} groups {} groups {} groups {} "
      "groups { scene: 'scenes/a' points { x: [9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9] "
      "y: [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0] } }");
  ASSERT_EQ(answer.groups_size(), 8);
  EXPECT_EQ(answer.groups(7).points().counts_size(), 20);
}

TEST_F(FrameErrorTest, HandlesOfAStreamAreLimited) {
  v1::Frame frame;
  for (int i = 0; i < 1025; ++i) {
    v1::SceneBinding& binding = *frame.add_bindings();
    binding.set_handle(i);
    binding.set_scene("scenes/a");
  }
  ExpectRefused(frame, StatusCode::kResourceExhausted, "bindings");
  // The refused frame bound nothing: all of the room is there, and binding again takes none.
  frame.mutable_bindings()->RemoveLast();
  ClientStream stream(server_);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(stream.Send(frame));
    EXPECT_FALSE(stream.Next().has_status());
  }
  ASSERT_TRUE(stream.Send("bindings { handle: 5000 scene: 'scenes/a' }"));
  EXPECT_EQ(stream.Next().status().code(), grpc::RESOURCE_EXHAUSTED);
}

TEST_F(FrameErrorTest, GroupsAreRefusedOneByOne) {
  struct Case {
    const char* group;
    StatusCode code;
    const char* field;
  };
  for (const Case& c : {
           Case{"points { x: 0 y: 0 }", StatusCode::kInvalidArgument, "scene"},
           Case{"scene: 'a'", StatusCode::kInvalidArgument, "scene"},
           Case{"scene: ''", StatusCode::kInvalidArgument, "scene"},
           Case{"scene: 'scenes/A'", StatusCode::kInvalidArgument, "scene"},
           Case{"scene_handle: 7", StatusCode::kInvalidArgument, "scene_handle"},
           Case{"scene: 'scenes/missing'", StatusCode::kNotFound, "scene"},
           Case{"scene_handle: 1", StatusCode::kNotFound, "scene_handle"},
           Case{"scene: 'scenes/a' min_version: 99999", StatusCode::kUnavailable, "min_version"},
           Case{"scene: 'scenes/a' segments { ax: 0 ay: 0 bx: 0 }", StatusCode::kInvalidArgument,
                "segments.by"},
           Case{"scene: 'scenes/a' segments { ay: 0 }", StatusCode::kInvalidArgument,
                "segments.ay"},
           Case{"scene: 'scenes/a' segments { mode: 5 }", StatusCode::kInvalidArgument,
                "segments.mode"},
           Case{"scene: 'scenes/a' segments { inside_policy: -1 }", StatusCode::kInvalidArgument,
                "segments.inside_policy"},
           Case{"scene: 'scenes/a' segments { max_hits: 65537 }", StatusCode::kInvalidArgument,
                "segments.max_hits"},
           Case{"scene: 'scenes/a' points { x: [0, 1] y: 0 }", StatusCode::kInvalidArgument,
                "points.y"},
           Case{"scene: 'scenes/a' circles { x: 0 y: 0 }", StatusCode::kInvalidArgument,
                "circles.radius"},
           Case{"scene: 'scenes/a' circles { detail: 3 }", StatusCode::kInvalidArgument,
                "circles.detail"},
           Case{"scene: 'scenes/a' polygons { x: 0 y: 0 }", StatusCode::kInvalidArgument,
                "polygons.shapes"},
           Case{"scene: 'scenes/a' polygons { shapes { rings { x: 0 y: 0 } } x: 0 y: 0 c: 1 }",
                StatusCode::kInvalidArgument, "polygons.s"},
           Case{"scene: 'scenes/a' polygons { shapes { rings { x: 0 y: 0 } } x: 0 y: 0 c: 1 s: 0 "
                "angle: 0 }",
                StatusCode::kInvalidArgument, "polygons.angle"},
           Case{"scene: 'scenes/a' polygons { shapes { rings { x: nan y: 0 } } x: 0 y: 0 }",
                StatusCode::kInvalidArgument, "polygons.shapes[0].rings[0].x[0]"},
           Case{"scene: 'scenes/a' polygons { shapes {} }", StatusCode::kInvalidArgument,
                "polygons.shapes[0].rings"},
           Case{"scene: 'scenes/a' points { x: [0,0,0,0,0,0] y: [0,0,0,0,0,0] }",
                StatusCode::kResourceExhausted, ""},
       }) {
    const v1::FrameAnswer answer =
        server_.Ask(absl::StrCat("bindings { handle: 1 scene: 'scenes/missing' } groups {", c.group,
                                 "} groups { scene: 'scenes/a' points { x: 0 y: 0 } }"));
    ASSERT_EQ(answer.groups_size(), 2) << c.group;
    EXPECT_TRUE(Refuses(wire::DecodeStatus(answer.groups(0).status()), c.code, c.field)) << c.group;
    EXPECT_FALSE(answer.groups(0).has_points());
    EXPECT_EQ(answer.groups(0).version(), 0);
    // Its neighbour is answered.
    EXPECT_FALSE(answer.groups(1).has_status()) << c.group;
    EXPECT_EQ(answer.groups(1).points().counts(0), 2);
  }
}

TEST_F(FrameErrorTest, ShapesAreLimited) {
  v1::Frame frame;
  v1::Group& group = *frame.add_groups();
  group.set_scene("scenes/a");
  v1::PolygonOverlaps& polygons = *group.mutable_polygons();
  v1::Ring& ring = *polygons.add_shapes()->add_rings();
  for (int i = 0; i < 4097; ++i) {
    ring.add_x(i);
    ring.add_y(i * i % 5);
  }
  polygons.add_x(0);
  polygons.add_y(0);
  v1::FrameAnswer answer;
  ASSERT_TRUE(server_.Evaluate(frame, answer).ok());
  EXPECT_EQ(answer.groups(0).status().code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(answer.groups(0).status().violations(0).field(),
              ::testing::StartsWith("polygons.shapes[0]"));
}

TEST_F(FrameErrorTest, RowsAreLimitedOverTheFrame) {
  // Two rows a point: five points make ten rows, the limit; one more in any later group is over it.
  const std::string five = "groups { scene: 'scenes/a' points { x: [0,0,0,0,0] y: [0,0,0,0,0] } } ";
  const std::string one = "groups { scene: 'scenes/a' points { x: 0 y: 0 } } ";
  const std::string miss = "groups { scene: 'scenes/a' points { x: 50 y: 0 } } ";
  const v1::FrameAnswer answer = server_.Ask(five + one + miss);
  EXPECT_EQ(answer.groups(0).points().polygon_id_size(), 10);
  EXPECT_EQ(answer.groups(1).status().code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(answer.groups(1).status().message(), ::testing::HasSubstr("10"));
  EXPECT_FALSE(answer.groups(2).has_status());
}

TEST_F(FrameErrorTest, ItemsAreRefusedOneByOne) {
  struct Case {
    const char* questions;
    const char* field;
  };
  for (const Case& c : {
           Case{"segments { ax: [-3, nan] ay: [0, 0] bx: [3, 3] by: [0, 0] }", "ax"},
           Case{"segments { ax: [-3, 0] ay: [0, 0] bx: [3, 3] by: [0, inf] }", "by"},
           Case{"points { x: [0, 0] y: [0, 9007199254740994] }", "y"},
           Case{"circles { x: [0, 0] y: [0, 0] radius: [1, -1] }", "radius"},
           Case{"polygons { shapes { rings { x: 0 y: 0 } } shape: [0, 1] x: [0, 0] y: [0, 0] }",
                "shape"},
           Case{"polygons { shapes { rings { x: 0 y: 0 } } shape: [0, 0] x: [0, 0] y: [0, 0] "
                "c: [1, 2] s: [0, 0] }",
                "c"},
           Case{"polygons { shapes { rings { x: 0 y: 0 } } shape: [0, 0] x: [0, 0] y: [0, 0] "
                "angle: [0, 1048577] }",
                "angle"},
           Case{"polygons { shapes { rings { x: 9007199254740992 y: 0 } "
                "rings { x: 0 y: 0 } } shape: [0, 0] x: [0, 4] y: [0, 0] }",
                nullptr},
       }) {
    const v1::FrameAnswer answer =
        server_.Ask(absl::StrCat("groups { scene: 'scenes/a' ", c.questions, "}"));
    const v1::GroupAnswer& group = answer.groups(0);
    ASSERT_FALSE(group.has_status()) << group.status().message();
    const auto expect_second_refused = [&](const auto& answers) {
      ASSERT_EQ(answers.counts_size(), 2) << c.questions;
      EXPECT_GT(answers.counts(0), 0) << c.questions;
      EXPECT_EQ(answers.counts(1), 0);
      ASSERT_EQ(answers.errors_size(), 1) << c.questions;
      EXPECT_EQ(answers.errors(0).index(), 1);
      EXPECT_EQ(answers.errors(0).code(), grpc::INVALID_ARGUMENT);
      if (c.field != nullptr) {
        EXPECT_EQ(answers.errors(0).field(), c.field);
      }
      EXPECT_NE(answers.errors(0).message(), "");
    };
    if (group.has_segments()) expect_second_refused(group.segments());
    if (group.has_points()) expect_second_refused(group.points());
    if (group.has_circles()) expect_second_refused(group.circles());
    if (group.has_polygons()) expect_second_refused(group.polygons());
  }
}

TEST_F(FrameErrorTest, MinVersionWithoutBudgetDoesNotWait) {
  const v1::FrameAnswer answer =
      server_.Ask("groups { scene: 'scenes/a' min_version: 18446744073709551615 }");
  EXPECT_EQ(answer.groups(0).status().code(), grpc::UNAVAILABLE);
}

TEST_F(FrameErrorTest, MinVersionThatDoesNotComeIsUnavailableAtTheBudgetsEnd) {
  const auto start = std::chrono::steady_clock::now();
  const v1::FrameAnswer answer = server_.Ask(
      "budget_us: 500000 groups { scene: 'scenes/a' min_version: 99999 } "
      "groups { scene: 'scenes/a' points { x: 0 y: 0 } }");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  EXPECT_EQ(answer.groups(0).status().code(), grpc::UNAVAILABLE);
  EXPECT_FALSE(answer.groups(1).has_status());
  EXPECT_GE(answer.stats().elapsed_ns(), 500000000);
}

TEST_F(FrameErrorTest, MessageAboveTheLimit) {
  v1::Frame frame;
  v1::PointLocations& points = *frame.add_groups()->mutable_points();
  for (int i = 0; i < 40000; ++i) points.add_x(i);
  v1::FrameAnswer answer;
  EXPECT_EQ(server_.Evaluate(frame, answer).error_code(), grpc::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace carom::server
