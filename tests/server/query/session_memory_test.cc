// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What frames make of their streams is charged before it is there.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/query/query_runtime.h"
#include "server/store/fork_store.h"
#include "server/store/memory_store.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

// A share of trackers of 2 MB, streams of one peer, and frames that are evaluated as far as a test
// says.
class SessionMemoryTest : public ::testing::Test {
 protected:
  struct Stream {
    explicit Stream(SessionMemoryTest& test)
        : charge(test.memory_, MemoryShare::kTrackers, test.peer_.get()) {}
    Session session{TrackerTableLimits{}};
    MemoryCharge charge;
    std::unique_ptr<FrameRun> run;
  };

  void Begin(Stream& stream, const v1::Frame& frame) {
    v1::StreamRequest request;
    *request.mutable_frame() = frame;
    ReceivedFrame received;
    received.bytes = Serialize(request);
    received.head = PeekFrame(received.bytes);
    received.arrival.received = Clock::now();
    received.charge = MemoryCharge(memory_, MemoryShare::kMessages, peer_.get());
    stream.run = runtime_.Begin(received, stream.session, stream.charge);
  }
  // Returns whether the frame was answered.
  bool End(Stream& stream) {
    const std::atomic<bool> cancelled{false};
    evaluator_.Continue(stream.run->work, stream.session, stream.run->scratch, cancelled);
    stream.charge.Set(stream.session.memory_bytes());
    const bool answered = stream.run->work.status.ok();
    runtime_.runs.Return(std::move(stream.run), 1);
    return answered;
  }
  uint64_t used() const {
    return memory_.limit(MemoryShare::kTrackers) - memory_.available(MemoryShare::kTrackers);
  }

  MemoryAccount memory_{20 << 20};
  std::shared_ptr<MemoryPeer> peer_ = memory_.Peer("somebody");
  MemoryStore store_{8, {}, memory_};
  Timer timer_;
  CallRegistry registry_;
  CallLimit limit_{8, 8, "calls", Limit::kStreams};
  Executor executor_{1};
  VersionGate gate_{store_, executor_, timer_};
  ForkStore forks_{store_, memory_, {}, timer_, executor_};
  LiveValue<FrameLimits> frame_limits_{FrameLimits()};
  LiveValue<CallLimits> call_limits_{CallLimits()};
  FrameEvaluator evaluator_{forks_, frame_limits_};
  QueryRuntime runtime_{.evaluator = evaluator_,
                        .executor = executor_,
                        .gate = gate_,
                        .calls = {timer_, registry_, limit_, memory_, false},
                        .limits = call_limits_};
};

// A frame that defines a tracker of a polygon of 4,000 vertices, about 110 KB.
v1::Frame LargeShape() {
  v1::Frame frame;
  v1::Ring& ring = *frame.add_trackers()->add_shapes()->mutable_polygon()->add_rings();
  for (int i = 0; i < 4000; ++i) {
    ring.add_x(std::cos(i * 0.00157));
    ring.add_y(std::sin(i * 0.00157));
  }
  return frame;
}

// Story: each frame looked at what was left of the share, and took it; frames that looked at the
// same time all took it.
TEST_F(SessionMemoryTest, DefinitionsAtTheSameTimeShareWhatIsLeft) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 40; ++i) {
    streams.push_back(std::make_unique<Stream>(*this));
    Begin(*streams.back(), LargeShape());
    EXPECT_LE(used(), memory_.limit(MemoryShare::kTrackers));
  }
  int answered = 0;
  uint64_t bytes = 0;
  for (const auto& stream : streams) {
    answered += End(*stream) ? 1 : 0;
    bytes += stream->session.memory_bytes();
  }
  EXPECT_EQ(used(), bytes);
  // A peer alone has half of the share.
  EXPECT_GE(answered, 4);
  EXPECT_LE(bytes, memory_.limit(MemoryShare::kTrackers) / 2);
}

// The same of what trackers learn: a frame has what was reserved for it and one tracker more.
TEST_F(SessionMemoryTest, MovesAtTheSameTimeShareWhatIsLeft) {
  std::vector<Polygon> polygons;
  for (int i = 0; i < 2500; ++i) {
    const double x = 1.5 * (i % 50), y = 1.5 * (i / 50);
    PolygonSpec square;
    square.id = static_cast<uint64_t>(i);
    square.rings.push_back({{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}});
    polygons.push_back(*Polygon::Create(std::move(square)));
  }
  ASSERT_TRUE(store_.Create("scenes/a", std::move(polygons)).ok());
  constexpr int kTrackers = 200;
  constexpr int kStreams = 16;
  v1::Frame define;
  v1::TrackerDefinitions& definitions = *define.add_trackers();
  definitions.add_shapes()->mutable_capsule()->set_radius(0.1);
  definitions.set_within(6);
  for (int i = 0; i < kTrackers; ++i) definitions.add_shape(0);
  v1::Frame move;
  v1::Group& group = *move.add_groups();
  group.set_scene("scenes/a");
  for (int i = 0; i < kTrackers; ++i) {
    group.mutable_moves()->add_x(10 + 0.25 * i);
    group.mutable_moves()->add_y(10 + 0.25 * (i % 100));
  }
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<Stream>(*this));
    Begin(*streams.back(), define);
    ASSERT_TRUE(End(*streams.back()));
  }
  const uint64_t defined = used();
  for (int round = 0; round < 4; ++round) {
    for (const auto& stream : streams) Begin(*stream, move);
    const uint64_t reserved = used();
    uint64_t bytes = 0;
    for (const auto& stream : streams) {
      EXPECT_TRUE(End(*stream));
      bytes += stream->session.memory_bytes();
    }
    EXPECT_EQ(used(), bytes);
    // Each stream may exceed its part by what one tracker learns.
    EXPECT_LE(bytes, reserved + kStreams * (8 << 10));
    EXPECT_LE(reserved, memory_.limit(MemoryShare::kTrackers));
  }
  EXPECT_GT(used(), defined);
}

// The bound that a frame is charged by before it is evaluated is one.
TEST_F(SessionMemoryTest, DefinitionsTakeNoMoreThanTheirBound) {
  uint64_t units = 0;
  ASSERT_TRUE(store_.Create("scenes/a", {}).ok());
  ASSERT_TRUE(
      forks_.MakeFork({.base = "scenes/a", .name = "scenes/f", .lease_seconds = 60}, peer_).ok());
  for (const char* text :
       {"trackers { shapes { capsule { radius: 1 } } }",
        "trackers { shapes { capsule { radius: 1 } } shape: [0, 0, 0] tracker: [9, 5, 1] }",
        "trackers { shapes { polygon { solidity: SOLIDITY_BOUNDARY"
        " rings { x: [0, 1, 2] y: [0, 1, 0] open: true } rings { x: 0 y: 5 open: true } } } }",
        "bindings { handle: 7 scene: 'scenes/a' }",
        "body_sets { shapes { capsule { radius: 1 } } keep_ticks: 256 }",
        "body_sets { shapes { capsule { radius: 1 } } keep_ticks: 256 scene: 'scenes/f' }",
        "body_sets { shapes { capsule { radius: 1 } } keep_ticks: 256 scene: 'scenes/none' }",
        "body_sets { shapes { polygon { rings { x: [0, 1, 0] y: [0, 0, 1] } } }"
        " shape: [0, 0, 0] owner: [1, 2, 3] category: [1, 1, 1] keep_ticks: 1 }"}) {
    const v1::Frame frame = FromText<v1::Frame>(text);
    Session session{TrackerTableLimits{}};
    const Session::Growth growth = session.GrowthBy(frame);
    EXPECT_NE(growth.handles + growth.trackers, 0u) << text;
    ASSERT_TRUE(session.Define(frame, forks_, units).ok()) << text;
    EXPECT_LE(session.memory_bytes(), growth.handles + growth.trackers) << text;
    EXPECT_NE(session.memory_bytes(), 0u) << text;
  }
  EXPECT_EQ(units, 0u);
  Session session{TrackerTableLimits{}};
  const v1::Frame frame = LargeShape();
  const Session::Growth growth = session.GrowthBy(frame);
  ASSERT_TRUE(session.Define(frame, forks_, units).ok());
  EXPECT_LE(session.memory_bytes(), growth.trackers);
  EXPECT_GE(3 * session.memory_bytes(), growth.trackers);
}

// Story: frames that changed the same fork at the same time began again up to 16 times, and their
// peers were served as if that were no work.
TEST_F(SessionMemoryTest, AttemptsThatBeginAgainAreWork) {
  ASSERT_TRUE(store_.Create("scenes/a", {}).ok());
  ASSERT_TRUE(
      forks_.MakeFork({.base = "scenes/a", .name = "scenes/f", .lease_seconds = 60}, peer_).ok());
  StreamBodySets others;
  int handle = 100;
  uint64_t no_units = 0;
  const auto fork = [](const v1::BodySet&) { return absl::StatusOr<std::string>("scenes/f"); };
  const auto set = [](int body_set) {
    return absl::StrCat("body_sets { body_set: ", body_set,
                        " scene: 'scenes/f' keep_ticks: 1 shapes { capsule { radius: 1 } } } ");
  };
  for (const int collisions : {0, 3, 16}) {
    StreamBodySets sets;
    const int first = 1 + 2 * collisions;
    int left = collisions;
    // Another stream changes the fork after the frame has read its sets.
    const auto key_of = [&](const v1::BodySet& message) {
      if (static_cast<int>(message.body_set()) != first && left-- > 0) {
        const auto other = FromText<v1::Frame>(set(handle++));
        EXPECT_TRUE(others.Define(other, {forks_, absl::OkStatus()}, fork, no_units).ok());
      }
      return fork(message);
    };
    const auto frame = FromText<v1::Frame>(set(first) + set(first + 1));
    uint64_t units = 0;
    const absl::Status status = sets.Define(frame, {forks_, absl::OkStatus()}, key_of, units);
    EXPECT_EQ(status.code(), collisions < 16 ? absl::StatusCode::kOk : absl::StatusCode::kAborted);
    EXPECT_GE(units, static_cast<uint64_t>(collisions) * 2048);
    EXPECT_LE(units, static_cast<uint64_t>(collisions) * 8192);
  }
  EXPECT_EQ(no_units, 0u);
}

// Story: while groups paused, other streams added ticks to the set of their fork: each group held
// the ticks of its time, which nobody was charged for.
TEST_F(SessionMemoryTest, AGroupThatPausesIsChargedForTheTicksThatItHolds) {
  ASSERT_TRUE(store_.Create("scenes/a", {}).ok());
  ASSERT_TRUE(
      forks_.MakeFork({.base = "scenes/a", .name = "scenes/f", .lease_seconds = 60}, peer_).ok());
  auto frame = FromText<v1::Frame>(
      "body_sets { scene: 'scenes/f' keep_ticks: 2 shapes { polygon { solidity: SOLIDITY_BOUNDARY "
      "rings { x: [-100, 100, 100, -100] y: [-100, -100, 100, 100] } } } } "
      "poses { tick: 1 } groups { scene: 'scenes/a' body_set: 0 segments { against: AGAINST_BOTH } "
      "}"
      "groups { scene: 'scenes/a' points { x: 0 y: 0 } }");
  for (int i = 0; i < 1000; ++i) {
    frame.mutable_body_sets(0)->add_shape(0);
    frame.mutable_poses(0)->add_x(0.001 * i);
    frame.mutable_poses(0)->add_y(0);
  }
  v1::SegmentCasts& segments = *frame.mutable_groups(0)->mutable_segments();
  for (int i = 0; i < 3000; ++i) {  // each in all hollow squares, and touches none
    segments.add_ax(0);
    segments.add_ay(0);
    segments.add_bx(1);
    segments.add_by(1);
  }
  const auto messages = [&] {
    return memory_.limit(MemoryShare::kMessages) - memory_.available(MemoryShare::kMessages);
  };
  for (const bool is_short : {false, true}) {
    Stream stream(*this);
    Begin(stream, frame);
    MemoryCharge rest(memory_, MemoryShare::kMessages);
    if (is_short) rest.AddUpTo(memory_.available(MemoryShare::kMessages));
    const uint64_t before = messages();
    uint64_t most = before;
    const std::function<void()> pause = [&] { most = std::max(most, messages()); };
    const std::atomic<bool> cancelled{false};
    evaluator_.Continue(stream.run->work, stream.session, stream.run->scratch, cancelled,
                        {.pause = &pause});
    EXPECT_EQ(most >= before + BodyHistory::TickBytes(1000, 3), !is_short);
    EXPECT_EQ(messages(), before);
    const v1::FrameAnswer& answer = *stream.run->work.answer;
    EXPECT_EQ(answer.groups(0).status().code(), is_short ? 8 : 0);  // RESOURCE_EXHAUSTED
    EXPECT_TRUE(answer.groups(1).has_points());
    runtime_.runs.Return(std::move(stream.run), 1);
  }
}

// Story: a frame that had waited was refused as a whole when there was no memory to parse it again,
// and its client did not get to know what its edits had made. And what was left of it served
// another frame as one that waits.
TEST_F(SessionMemoryTest, AFrameThatWaitedKeepsItsAnswersWhereThereIsNoMemory) {
  ASSERT_TRUE(store_.Create("scenes/a", {}).ok());
  ASSERT_TRUE(
      forks_.MakeFork({.base = "scenes/a", .name = "scenes/f", .lease_seconds = 60}, peer_).ok());
  v1::StreamRequest request = FromText<v1::StreamRequest>(
      "frame { seq: 7 budget_us: 60000000 groups { scene: 'scenes/f' points { x: 0 y: 0 }"
      " edits { edit_id: 'e' edits { add { " +
      Square(9, 0, 0) +
      " } } } }"
      " groups { scene: 'scenes/a' min_version: 99999999 } }");
  v1::Ring& ring =
      *request.mutable_frame()->mutable_groups(1)->mutable_polygons()->add_shapes()->add_rings();
  for (int i = 0; i < 4000; ++i) {
    ring.add_x(std::cos(i * 0.00157));
    ring.add_y(std::sin(i * 0.00157));
  }
  ReceivedFrame received;
  received.bytes = Serialize(request);
  received.head = PeekFrame(received.bytes);
  received.arrival.received = Clock::now();
  received.charge = MemoryCharge(memory_, MemoryShare::kMessages, peer_.get());
  Stream stream(*this);
  stream.run = runtime_.Begin(received, stream.session, stream.charge);
  FrameRun& run = *stream.run;
  const std::atomic<bool> cancelled{false};
  ASSERT_EQ(evaluator_.Continue(run.work, stream.session, run.scratch, cancelled),
            Progress::kWaits);
  runtime_.Park(run);
  memory_.TakePastLimit(MemoryShare::kMessages, 20 << 20);
  const absl::Status refused = runtime_.Resume(run, received);
  memory_.Release(MemoryShare::kMessages, 20 << 20);
  ASSERT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_FALSE(run.is_parked);
  evaluator_.RefusePending(refused, run.work);
  ASSERT_EQ(evaluator_.Continue(run.work, stream.session, run.scratch, cancelled), Progress::kDone);
  const v1::FrameAnswer& answer = run.response.answer();
  EXPECT_EQ(answer.seq(), 7);
  EXPECT_FALSE(answer.has_status());
  ASSERT_EQ(answer.groups_size(), 2);
  EXPECT_NE(answer.groups(0).edited_version(), 0);
  EXPECT_EQ(answer.groups(0).points().polygon_id(0), 9);
  EXPECT_EQ(answer.groups(1).status().code(), grpc::RESOURCE_EXHAUSTED);
  runtime_.runs.Return(std::move(stream.run), 1);
}

}  // namespace
}  // namespace carom::server
