// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The examples with which the client's headers open: each runs here, and the text between the
// marks is the text in the header.

#include <cstdint>
#include <vector>

#include "carom/body_sets.h"
#include "carom/recording.h"
#include "carom/stream.h"
#include "carom/tracker_events.h"
#include "carom/watch.h"
#include "tests/client/fixture.h"
#include "tests/support/header_examples.h"

namespace carom {
namespace {

// A point on the boundary of the square from (0, 0) to (4, 4), which "scenes/arena" has.
class ClientExampleTest : public ClientTest {
 protected:
  void SetUp() override {
    StartServer();
    const auto made = client_->CreateScene("scenes/arena", polygons);
    ASSERT_TRUE(made.ok()) << made.status();
  }

  void ExpectSeven(const absl::StatusOr<FrameAnswer>& answer) {
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->groups.size(), 1u);
    EXPECT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    EXPECT_EQ(answer->groups[0].answers.points.polygon_ids, std::vector<uint64_t>{7});
  }

  const std::vector<Polygon> polygons = {Square(7, 0, 0, 4)};
  const std::vector<double> x = {1}, y = {4};
};

TEST_F(ClientExampleTest, Client) {
  const auto address = server_->address();
  Group group;
  group.points = {x, y};
  // carom/client.h
  auto client = Client::Connect(address).value();  // such as "127.0.0.1:7420"
  auto scene = client->ImportScene("scenes/arena", polygons, ImportMode::kReplace);
  Frame frame;
  frame.groups.push_back({.scene = "scenes/arena", .group = group});
  auto answer = client->Evaluate(frame);
  // answer->groups[0].answers.points.polygon_ids[0] == 7
  // end
  ASSERT_TRUE(scene.ok()) << scene.status();
  ExpectSeven(answer);
}

TEST_F(ClientExampleTest, Options) {
  const auto address = server_->address();
  // carom/client_options.h
  ClientOptions options;
  options.call_timeout = std::chrono::seconds(5);
  const auto client = Client::Connect(address, options).value();
  const CallOptions minute{.timeout = std::chrono::seconds(60)};  // other calls may take 5 s
  const auto scene = client->GetScene("scenes/arena", minute);
  // scene->polygon_count == 1
  // end
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->polygon_count, 1u);
}

TEST_F(ClientExampleTest, Frame) {
  // carom/frame.h
  Group group;
  group.points = {x, y};  // columns that outlive the call that takes the frame
  Frame frame;
  frame.seq = 1;  // repeated in the answer
  frame.bindings.push_back({1, "scenes/arena"});
  frame.groups.push_back({.scene = uint64_t{1}, .group = group});
  // end
  ExpectSeven(client_->Evaluate(frame));
}

TEST_F(ClientExampleTest, BodySets) {
  BodyDefinition players;
  players.shapes = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  const std::vector<double> ax = {0}, ay = {10}, bx = {5}, by = {10}, as_of = {100};
  const SegmentColumns bullets{ax, ay, bx, by};
  const std::vector<double> x = {3}, y = {10};
  // carom/body_sets.h
  Frame frame;
  frame.body_sets.push_back({.body_set = 1, .bodies = players});
  frame.poses.push_back({1, {.tick = 100, .x = x, .y = y}});
  Group group;
  group.segments = bullets;
  group.segments.scope = {Against::kBoth, {}, {}, as_of};
  frame.groups.push_back({.scene = "scenes/arena", .group = group, .body_set = 1});
  // end
  const absl::StatusOr<FrameAnswer> answer = client_->Evaluate(frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
  ASSERT_EQ(answer->groups[0].answers.segments.hits.size(), 1u);
  EXPECT_EQ(answer->groups[0].answers.segments.hits[0].fraction, 0.4);
}

TEST_F(ClientExampleTest, Recording) {
  const std::string path = folder_ / "own.carec";
  {
    Group group;
    group.points = {x, y};
    Frame frame;
    frame.groups.push_back({.scene = "scenes/arena", .group = group});
    const auto stream = client_->OpenStream({.record = path});
    ASSERT_TRUE(stream->Send(frame).ok());
    ExpectSeven(stream->Receive());
    ASSERT_TRUE(stream->Finish().ok());
  }
  // carom/recording.h
  auto reader = RecordingReader::Open(path).value();
  auto entry = reader->Next();  // the header
  entry = reader->Next();       // nullopt after the last entry
  // std::get<RecordedFrame>(**entry).groups[0].scene == "scenes/arena"
  // end
  ASSERT_TRUE(entry.ok() && entry->has_value()) << entry.status();
  EXPECT_EQ(std::get<RecordedFrame>(**entry).groups[0].scene, "scenes/arena");
}

TEST_F(ClientExampleTest, Stream) {
  Group group;
  group.points = {x, y};
  Frame frame;
  frame.groups.push_back({.scene = "scenes/arena", .group = group});
  const auto& client = client_;
  // carom/stream.h
  auto stream = client->OpenStream();
  absl::Status status = stream->Send(frame);  // returns as soon as the frame is queued
  auto answer = stream->Receive();            // waits for the oldest answer
  status = stream->Finish();                  // waits for all other answers
  // end
  EXPECT_TRUE(status.ok()) << status;
  ExpectSeven(answer);
}

TEST_F(ClientExampleTest, Watch) {
  const auto& client = client_;
  // carom/watch.h
  auto watch = client->WatchScene("scenes/arena");
  auto update = watch->Next();  // the current version; the next call waits for a commit
  // update->scene.polygon_count == 1
  // end
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->scene.polygon_count, 1u);
}

TEST_F(ClientExampleTest, TrackerEvents) {
  const Scene::Ptr scene = Scene::Create(polygons).value();
  const Shape shape = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
  std::vector<Tracker> trackers = {Tracker::Create(shape).value()};
  const MoveColumns moves{.trackers = trackers, .x = x, .y = y};
  MoveAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(MoveTrackers(*scene, moves, {}, answers, meter));
  // carom/tracker_events.h
  TrackerEvents state;
  std::vector<TrackerEvent> events;
  const bool fits = state.Update(moves, answers, events);
  // events[0]: kind kEnter, tracker 0, polygon_id 7
  // end
  EXPECT_TRUE(fits);
  EXPECT_THAT(events, ::testing::ElementsAre(TrackerEvent{TrackerEvent::Kind::kEnter, 0, 7}));
}

TEST(ClientExamplesTest, EachHeaderHasTheTextThatRunsHere) {
  testing::CompareExamples("tests/client/client_examples_test.cc", "client/include/carom");
}

}  // namespace
}  // namespace carom
