// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What answers to moves change becomes events; and a stream with trackers from end to end.
#include "carom/tracker_events.h"

#include "carom/stream.h"
#include "tests/client/fixture.h"

namespace carom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = TrackerEvent::Kind;

// What one tracker, of handle 3, touches at its next move.
struct Touched {
  std::vector<uint64_t> ids = {};
  FirstTouch first = {};
  bool is_error = false;
};

class EventsOf {
 public:
  std::vector<TrackerEvent> operator()(const Touched& touched) {
    const double at = 0;
    MoveColumns moves{.x = {&at, 1}, .y = {&at, 1}, .first_tracker = 3};
    moves.from_x = moves.from_y = {&at, 1};
    MoveAnswers answers;
    answers.clear = {touched.ids.empty() && !touched.first.touches && !touched.is_error};
    if (answers.clear[0] == 0) {
      answers.counts = {static_cast<uint32_t>(touched.ids.size())};
      answers.first_touches = {touched.first};
    }
    if (touched.is_error) answers.errors = {{0, ItemColumn::kX, ItemFault::kNotAccepted}};
    answers.polygon_ids = touched.ids;
    std::vector<TrackerEvent> events;
    EXPECT_TRUE(state_.Update(moves, answers, events));
    return events;
  }
  TrackerEvents& state() { return state_; }

 private:
  TrackerEvents state_;
};

TEST(TrackerEventsTest, WhatIsTouchedEntersAndExits) {
  EventsOf events;
  EXPECT_THAT(events({}), IsEmpty());
  EXPECT_THAT(events({{5, 7}}),
              ElementsAre(TrackerEvent{Kind::kEnter, 3, 5}, TrackerEvent{Kind::kEnter, 3, 7}));
  EXPECT_THAT(events({{5, 7}}), IsEmpty());
  EXPECT_THAT(events.state().touched(3), ElementsAre(5, 7));
  EXPECT_THAT(events.state().touched(4), IsEmpty());
  EXPECT_THAT(events({{7, 9}}),
              ElementsAre(TrackerEvent{Kind::kExit, 3, 5}, TrackerEvent{Kind::kEnter, 3, 9}));
  EXPECT_THAT(events({.is_error = true}), IsEmpty());
  EXPECT_THAT(events({}),
              ElementsAre(TrackerEvent{Kind::kExit, 3, 7}, TrackerEvent{Kind::kExit, 3, 9}));
  EXPECT_THAT(events({{5}}), ElementsAre(TrackerEvent{Kind::kEnter, 3, 5}));
  events.state().Forget(3);
  events.state().Forget(1000);
  EXPECT_THAT(events({{5}}), ElementsAre(TrackerEvent{Kind::kEnter, 3, 5}));
}

TEST(TrackerEventsTest, ASweepTellsWhenItEnters) {
  EventsOf events;
  EXPECT_THAT(events({{5, 7}, {true, 7, 0.25, 0.5}}),
              ElementsAre(TrackerEvent{Kind::kEnter, 3, 5}, TrackerEvent{Kind::kEnter, 3, 7, 0.5}));
  // It starts where it was: nothing enters.
  EXPECT_THAT(events({{7}, {true, 5, 0, 0}}), ElementsAre(TrackerEvent{Kind::kExit, 3, 5}));
  // It passes through 8 in between, in the order of ids.
  EXPECT_THAT(events({{9}, {true, 8, 0.5, 0.5}}),
              ElementsAre(TrackerEvent{Kind::kExit, 3, 7}, TrackerEvent{Kind::kEnter, 3, 8, 0.5},
                          TrackerEvent{Kind::kExit, 3, 8}, TrackerEvent{Kind::kEnter, 3, 9}));
  EXPECT_THAT(events({{}, {true, 11, 0.5, 0.5}}),
              ElementsAre(TrackerEvent{Kind::kExit, 3, 9}, TrackerEvent{Kind::kEnter, 3, 11, 0.5},
                          TrackerEvent{Kind::kExit, 3, 11}));
  EXPECT_THAT(events({}), IsEmpty());
}

// As of a group that was not answered, or of other moves.
TEST(TrackerEventsTest, AnswersThatDoNotFitChangeNothing) {
  const std::vector<double> two{0, 0};
  const MoveColumns moves{.x = two, .y = two, .first_tracker = ~uint32_t{0}};
  TrackerEvents state;
  std::vector<TrackerEvent> events;
  MoveAnswers answers;
  EXPECT_FALSE(state.Update(moves, answers, events));
  answers.clear = {1};
  EXPECT_FALSE(state.Update(moves, answers, events));
  answers.counts = {1};
  answers.polygon_ids = {4};
  answers.first_touches.resize(1);
  EXPECT_FALSE(state.Update(moves, answers, events));
  EXPECT_THAT(events, IsEmpty());
  answers.first_touches.clear();
  EXPECT_TRUE(state.Update(moves, answers, events));
}

class TrackerStreamTest : public ClientTest {
 protected:
  void SetUp() override {
    StartServer();
    const std::vector<Polygon> polygons = Squares(3);  // [0, 1], [2, 3], [4, 5] by [0, 1]
    ASSERT_TRUE(client_->CreateScene("scenes/arena", polygons).ok());
  }
};

// A disc rolls along the squares, a bar stands still; the bullet of the last frame passes them all.
TEST_F(TrackerStreamTest, AStreamWithTrackers) {
  const auto stream = client_->OpenStream();
  const std::vector<Shape> shapes{Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.4}).value(),
                                  PolygonOf(0, {{-9, 0}, {9, 0}, {9, 0.1}, {-9, 0.1}})};
  TrackerEvents state;
  std::vector<TrackerEvent> events;
  std::vector<double> x{-5, 0}, y{0.5, 3}, from_x, from_y;
  for (int step = 0; step < 40; ++step) {
    Frame frame;
    if (step == 0) frame.trackers.push_back({.shapes = shapes});
    if (step % 7 == 3) frame.coherence = Coherence::kOff;
    from_x = x;
    from_y = y;
    x[0] += step == 39 ? -20 : 0.125;
    FrameGroup group{.scene = "scenes/arena"};
    group.group.moves = {.x = x, .y = y};
    group.group.moves.from_x = from_x;
    group.group.moves.from_y = from_y;
    group.group.move_options.quiet_radii = step % 2 == 0;
    frame.groups.push_back(group);
    ASSERT_TRUE(stream->Send(frame).ok());
    const absl::StatusOr<FrameAnswer> answer = stream->Receive();
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->status.ok()) << answer->status;
    ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    const MoveAnswers& moves = answer->groups[0].answers.moves;
    EXPECT_EQ(moves.quiet_radii.size(), step % 2 == 0 ? 2 : 0);
    EXPECT_TRUE(state.Update(group.group.moves, moves, events));
    const FrameStats& stats = answer->stats;
    EXPECT_EQ(stats.moves.quiet + stats.moves.near + stats.moves.refresh + stats.moves.cold, 2);
    if (frame.coherence == Coherence::kOff) {
      EXPECT_EQ(stats.moves.cold, 2);
    }
    EXPECT_GT(stats.tracker_bytes, 0);
    EXPECT_EQ(stats.shadow_differences, 0);
  }
  // x = -0.4 is a step 4.6 / 0.125 = 36.8 from the start: the 37th move enters, at 0.8 of its path.
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0].kind, Kind::kEnter);
  EXPECT_EQ(events[0].polygon_id, 0);
  EXPECT_NEAR(events[0].fraction.value_or(-1), 0.8, 1e-12);
  EXPECT_EQ(events[1], (TrackerEvent{Kind::kExit, 0, 0}));

  Frame last;
  last.removed_trackers = {0};
  FrameGroup group{.scene = "scenes/arena"};
  group.group.moves = {.x = x, .y = y};
  last.groups.push_back(group);
  ASSERT_TRUE(stream->Send(last).ok());
  const absl::StatusOr<FrameAnswer> answer = stream->Receive();
  ASSERT_TRUE(answer.ok() && answer->groups[0].status.ok());
  EXPECT_THAT(answer->groups[0].answers.moves.errors,
              ElementsAre(ItemError{0, ItemColumn::kTracker, ItemFault::kUnknownTracker}));
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace carom
