// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Trackers of a stream: what they are asked and answer, how long they live, what they may take. The
// scene is the square of half side 1 about the origin, polygon 1, and another about (10, 0),
// polygon 2.
#include <map>
#include <mutex>

#include "tests/server/fixture.h"
#include "tests/support/random.h"

namespace carom::server {
namespace {

using absl::StatusCode;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A disc of radius 1 at handle 0.
constexpr char kDiscTracker[] = "trackers { shapes { capsule { radius: 1 } } } ";

class TrackersTest : public ::testing::Test {
 protected:
  void StartServer(ServerOptions options = {}) {
    server_ = std::make_unique<TestServer>(options);
    server_->Create("a", {Square(1, 0, 0), Square(2, 10, 0)});
  }
  void SetUp() override { StartServer(); }

  // A frame of moves.
  static std::string Moves(const std::string& moves, const std::string& rest = "") {
    return absl::StrCat(rest, "groups { scene: 'scenes/a' moves { ", moves, " } }");
  }
  // The answer to the only group, which is answered.
  static v1::MoveAnswers MovesOf(const v1::FrameAnswer& answer) {
    EXPECT_FALSE(answer.has_status()) << answer.status().message();
    EXPECT_EQ(answer.groups_size(), 1);
    if (answer.groups_size() != 1) return {};
    EXPECT_FALSE(answer.groups(0).has_status()) << answer.groups(0).status().message();
    return answer.groups(0).moves();
  }

  std::unique_ptr<TestServer> server_;
};

TEST_F(TrackersTest, DenseMovesAndMovesByHandle) {
  ClientStream stream(*server_);
  stream.Send(Moves("x: [0, 5, 10] y: [0, 0, 0]",
                    "trackers { shapes { capsule { radius: 1 } } shape: [0, 0, 0] } "));
  const v1::MoveAnswers dense = MovesOf(stream.Next());
  EXPECT_THAT(dense.clear(), ElementsAre(2));
  EXPECT_THAT(dense.counts(), ElementsAre(1, 1));
  EXPECT_THAT(dense.polygon_id(), ElementsAre(1, 2));
  EXPECT_THAT(dense.edge_counts(), SizeIs(0));

  stream.Send(Moves("tracker: [2, 7, 2] x: [0, 0, 2] y: [0, 0, 0] detail: OVERLAP_DETAIL_EDGES"));
  const v1::MoveAnswers by_handle = MovesOf(stream.Next());
  EXPECT_THAT(by_handle.clear(), ElementsAre(0));
  EXPECT_THAT(by_handle.counts(), ElementsAre(1, 0, 1));
  EXPECT_THAT(by_handle.polygon_id(), ElementsAre(1, 1));
  EXPECT_THAT(by_handle.edge_counts(), ElementsAre(4, 1));
  EXPECT_THAT(by_handle.edge(), ElementsAre(0, 1, 2, 3, 1));
  ASSERT_EQ(by_handle.errors_size(), 1);
  EXPECT_EQ(by_handle.errors(0).index(), 1);
  EXPECT_EQ(by_handle.errors(0).field(), "tracker");
  EXPECT_EQ(by_handle.errors(0).fault(), v1::ITEM_FAULT_UNKNOWN_TRACKER);

  stream.Send(Moves("first_tracker: 1 x: [5, 0, 0] y: [0, 0, 0]"));
  const v1::MoveAnswers part = MovesOf(stream.Next());
  EXPECT_THAT(part.clear(), ElementsAre(1));
  EXPECT_THAT(part.counts(), ElementsAre(1, 0));
  ASSERT_EQ(part.errors_size(), 1);
  EXPECT_EQ(part.errors(0).index(), 2);
}

TEST_F(TrackersTest, SweepsAndQuietRadii) {
  const v1::MoveAnswers moves = MovesOf(server_->Ask(
      Moves("tracker: [0, 0] x: [5, 5] y: [0, 9] from_x: [-5, 5] from_y: [0, 8] quiet_radii: true",
            kDiscTracker)));
  EXPECT_THAT(moves.clear(), ElementsAre(2));
  EXPECT_THAT(moves.counts(), ElementsAre(0));
  EXPECT_THAT(moves.touches(), ElementsAre(true));
  EXPECT_THAT(moves.first_polygon_id(), ElementsAre(1));
  EXPECT_THAT(moves.low(), ElementsAre(DoubleNear(0.3, 1e-15)));
  EXPECT_THAT(moves.high(), ElementsAre(moves.low(0)));
  EXPECT_THAT(moves.first_has_edge(), ElementsAre(true));
  EXPECT_THAT(moves.first_edge(), ElementsAre(3));
  EXPECT_THAT(moves.first_normal_x(), ElementsAre(-1));
  EXPECT_THAT(moves.first_normal_y(), ElementsAre(0));
  EXPECT_EQ(moves.quiet_radius_size(), 2);
  EXPECT_GT(moves.quiet_radius(0), 1);
  EXPECT_LE(moves.quiet_radius(0), 3);
}

TEST_F(TrackersTest, DistancesAndMasks) {
  const v1::MoveAnswers moves = MovesOf(server_->Ask(
      Moves("x: [0, 0, 0] y: [3.5, 3.5, 3.5]",
            "trackers { shapes { capsule { radius: 1 } } } "
            "trackers { shapes { capsule { radius: 1 } } first_tracker: 1 within: 1.5 } "
            "trackers { shapes { capsule { radius: 1 } } first_tracker: 2 within: 2 mask: 2 } ")));
  EXPECT_THAT(moves.clear(), ElementsAre(5));
  EXPECT_THAT(moves.polygon_id(), ElementsAre(1));
}

// Trackers live and die with their stream, and with the frame of `Evaluate`.
TEST_F(TrackersTest, LiveAndDieWithTheirStream) {
  ClientStream stream(*server_);
  stream.Send(std::string(kDiscTracker));
  EXPECT_FALSE(stream.Next().has_status());
  stream.Send(Moves("x: 0 y: 0"));
  EXPECT_THAT(MovesOf(stream.Next()).polygon_id(), ElementsAre(1));
  stream.Send(Moves("x: 0 y: 0", "removed_trackers: [0, 5] "));
  EXPECT_THAT(MovesOf(stream.Next()).errors(), SizeIs(1));
  ClientStream other(*server_);
  other.Send(Moves("x: 0 y: 0"));
  EXPECT_THAT(MovesOf(other.Next()).errors(), SizeIs(1));
  EXPECT_THAT(MovesOf(server_->Ask(Moves("x: 0 y: 0", kDiscTracker))).polygon_id(), ElementsAre(1));
  EXPECT_THAT(MovesOf(server_->Ask(Moves("x: 0 y: 0"))).errors(), SizeIs(1));
}

// Trackers remember where they were clear; another scene of the same name must not profit from it.
TEST_F(TrackersTest, TheSceneIsDeletedUnderAStream) {
  ClientStream stream(*server_);
  const std::string frame = "groups { scene_handle: 3 moves { x: 5 y: 0 } points { x: 5 y: 0 } }";
  stream.Send(absl::StrCat(kDiscTracker, "bindings { handle: 3 scene: 'scenes/a' }", frame));
  EXPECT_THAT(MovesOf(stream.Next()).clear(), ElementsAre(1));
  uint64_t version = 0;
  for (int i = 0; i < 5; ++i) {
    Context context;
    v1::DeleteSceneRequest request;
    request.set_name("scenes/a");
    v1::DeleteSceneResponse response;
    ASSERT_TRUE(server_->scenes().DeleteScene(&context, request, &response).ok());
    stream.Send(frame);
    const v1::FrameAnswer gone = stream.Next();
    EXPECT_FALSE(gone.has_status());
    ASSERT_EQ(gone.groups_size(), 1);
    EXPECT_TRUE(Refuses(wire::DecodeStatus(gone.groups(0).status()), StatusCode::kNotFound,
                        "scene_handle"));
    EXPECT_FALSE(gone.groups(0).has_moves());
    // The tracker's place is now full, then free again.
    server_->Create("a", {Square(7 + i, i % 2 == 0 ? 5 : 50, 0)});
    stream.Send(frame);
    const v1::FrameAnswer answer = stream.Next();
    EXPECT_GT(answer.groups(0).version(), version);
    version = answer.groups(0).version();
    const v1::MoveAnswers moves = MovesOf(answer);
    if (i % 2 == 0) {
      EXPECT_THAT(moves.polygon_id(), ElementsAre(7 + i));
      EXPECT_THAT(answer.groups(0).points().polygon_id(), ElementsAre(7 + i));
    } else {
      EXPECT_THAT(moves.clear(), ElementsAre(1));
      EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(0));
    }
  }
}

// A polygon comes and goes at the tracker's place while frames stream: each answer is that of the
// version it names, whatever the tracker remembers of others.
TEST_F(TrackersTest, VersionsChangeMidStream) {
  const uint64_t first = server_->Create("b", {});
  std::mutex mutex;
  std::map<uint64_t, bool> full{{first, false}};
  std::thread editor([&] {
    for (int i = 1; i <= 200; ++i) {
      v1::CommitEditsResponse response;
      const bool add = i % 2 == 1;
      const std::string edit =
          add ? absl::StrCat("edits { add {", Square(9, 5, 0), "} }") : "edits { remove: 9 }";
      ASSERT_TRUE(server_->Commit("name: 'scenes/b' " + edit, &response).ok());
      const std::lock_guard lock(mutex);
      full[response.scene().version()] = add;
    }
  });
  std::vector<v1::FrameAnswer> answers;
  {
    ClientStream stream(*server_);
    constexpr int kAhead = 8;
    for (int i = 0; i < 400; ++i) {
      const std::string group =
          "groups { scene: 'scenes/b' moves { x: 5 y: 0 } points { x: 5 y: 0 } }";
      stream.Send(absl::StrCat(i == 0 ? kDiscTracker : "", group, group));
      if (i >= kAhead) answers.push_back(stream.Next());
    }
    for (int i = 0; i < kAhead; ++i) answers.push_back(stream.Next());
  }
  editor.join();
  uint64_t last = 0;
  for (const v1::FrameAnswer& answer : answers) {
    ASSERT_EQ(answer.groups_size(), 2);
    for (const v1::GroupAnswer& group : answer.groups()) {
      EXPECT_GE(group.version(), last);
      last = group.version();
      ASSERT_EQ(full.count(last), 1);
      EXPECT_EQ(group.moves().polygon_id_size(), full[last] ? 1 : 0);
      EXPECT_EQ(group.points().counts(0), full[last] ? 1 : 0);
    }
  }
}

// A refused frame defines nothing, neither trackers nor handles.
TEST_F(TrackersTest, BadDefinitionsRefuseTheFrame) {
  struct Case {
    const char* frame;
    StatusCode code;
    const char* field;
  };
  ClientStream stream(*server_);
  stream.Send(absl::StrCat(kDiscTracker, "bindings { handle: 4 scene: 'scenes/a' }"));
  EXPECT_FALSE(stream.Next().has_status());
  for (const Case& c : {
           Case{"trackers { shapes {} }", StatusCode::kInvalidArgument, "trackers[0].shapes[0]"},
           Case{"trackers { shapes { capsule {} } shape: 1 }", StatusCode::kInvalidArgument,
                "trackers[0].shape[0]"},
           Case{"trackers { shapes { capsule {} } tracker: 1 } "
                "trackers { shapes { capsule {} } tracker: 1 }",
                StatusCode::kInvalidArgument, "trackers[1].tracker[0]"},
           Case{"trackers { shapes { capsule {} } within: nan }", StatusCode::kInvalidArgument,
                "trackers[0].within"},
           Case{"trackers { shapes { capsule {} } tracker: 65536 }", StatusCode::kResourceExhausted,
                "trackers[0].tracker[0]"},
           Case{"coherence: 3", StatusCode::kInvalidArgument, "coherence"},
           Case{"bindings { handle: 5 scene: 'scenes/a' } bindings { handle: 5 scene: 'x' }",
                StatusCode::kInvalidArgument, "bindings[2].handle"},
       }) {
    SCOPED_TRACE(c.frame);
    v1::Frame frame =
        FromText<v1::Frame>(absl::StrCat(Moves("x: 0 y: 0",
                                               "removed_trackers: 0 bindings { handle: 6 scene: "
                                               "'scenes/b' } "),
                                         c.frame));
    stream.Send(frame);
    const v1::FrameAnswer answer = stream.Next();
    EXPECT_EQ(answer.groups_size(), 0);
    EXPECT_TRUE(Refuses(wire::DecodeStatus(answer.status()), c.code, c.field));
    stream.Send("groups { scene_handle: 4 moves { x: 0 y: 0 } } groups { scene_handle: 6 }");
    const v1::FrameAnswer after = stream.Next();
    ASSERT_EQ(after.groups_size(), 2);
    EXPECT_THAT(after.groups(0).moves().polygon_id(), ElementsAre(1));
    EXPECT_EQ(after.groups(1).status().code(), grpc::INVALID_ARGUMENT);
  }
}

TEST_F(TrackersTest, LimitsOfAFrame) {
  StartServer({.max_queries_per_frame = 4, .max_groups_per_frame = 2});
  v1::FrameAnswer answer;
  const auto ask = [&](const std::string& frame) {
    return server_->Evaluate(FromText<v1::Frame>(frame), answer);
  };
  const auto shapes = [](int count) {
    std::string text = "trackers { ";
    for (int i = 0; i < count; ++i) text += "shapes { capsule {} } ";
    return text + "}";
  };
  EXPECT_TRUE(ask(shapes(4)).ok());
  EXPECT_TRUE(Refuses(ask(shapes(5)), StatusCode::kResourceExhausted, "groups"));
  EXPECT_TRUE(Refuses(ask("trackers {} trackers {} trackers {}"), StatusCode::kResourceExhausted,
                      "trackers"));
  EXPECT_TRUE(ask(Moves("x: [0, 0, 0, 0] y: [0, 0, 0, 0]")).ok());
  EXPECT_TRUE(Refuses(ask(Moves("x: [0, 0, 0, 0, 0] y: [0, 0, 0, 0, 0]")),
                      StatusCode::kResourceExhausted, "groups"));
}

TEST_F(TrackersTest, LimitsOfAStream) {
  StartServer({.max_trackers_per_stream = 3, .max_tracker_bytes_per_stream = 65536});
  ClientStream stream(*server_);
  v1::Frame frame;
  v1::TrackerDefinitions& definitions = *frame.add_trackers();
  definitions.set_first_tracker(2);
  v1::Ring& ring = *definitions.add_shapes()->mutable_polygon()->add_rings();
  for (int i = 0; i < 3000; ++i) {
    ring.add_x(i);
    ring.add_y(i * i);
  }
  stream.Send(frame);
  const v1::FrameAnswer large = stream.Next();
  EXPECT_TRUE(
      Refuses(wire::DecodeStatus(large.status()), StatusCode::kResourceExhausted, "trackers"));
  stream.Send("trackers { shapes { capsule {} } first_tracker: 3 }");
  EXPECT_TRUE(Refuses(wire::DecodeStatus(stream.Next().status()), StatusCode::kResourceExhausted,
                      "trackers[0].first_tracker"));
  stream.Send("trackers { shapes { capsule {} } first_tracker: 2 }");
  EXPECT_FALSE(stream.Next().has_status());
}

// What a frame holds beside advice.
std::string VerdictsOf(v1::FrameAnswer answer) {
  answer.clear_stats();
  return answer.SerializeAsString();
}

// Trackers that move at random through a scene of squares that is edited now and then.
class RandomWorld {
 public:
  static constexpr int kTrackers = 100;

  v1::CreateSceneRequest Scene() {
    v1::CreateSceneRequest scene;
    scene.set_name("scenes/world");
    for (int id = 0; id < 200; ++id) {
      *scene.add_polygons() = FromText<v1::Polygon>(
          Square(static_cast<uint64_t>(id), Number(60), Number(60), 1 + random_.Unit()));
    }
    return scene;
  }
  std::string Edit(uint64_t id) {
    return absl::StrCat("name: 'scenes/world' edits { replace { ",
                        Square(id, Number(60), Number(60), 2), "} }");
  }
  v1::Frame Definitions() {
    v1::Frame frame;
    for (int i = 0; i < kTrackers; ++i) {
      v1::TrackerDefinitions& definitions = *frame.add_trackers();
      definitions.set_first_tracker(static_cast<uint32_t>(i));
      *definitions.add_shapes() = FromText<v1::Shape>(
          i % 2 == 0
              ? absl::StrCat("capsule { ax: -1 bx: ", Number(2), " radius: ", random_.Unit(), "}")
              : absl::StrCat("polygon { ", Square(0, 0, 0, 1 + random_.Unit()), "}"));
      x_.push_back(Number(50));
      y_.push_back(Number(50));
    }
    return frame;
  }
  // Every tracker moves, as a sweep from where it was in one of three frames.
  v1::Frame Moves(int number) {
    v1::Frame frame;
    frame.set_seq(static_cast<uint64_t>(number));
    if (OneIn(8)) frame.set_coherence(v1::COHERENCE_OFF);
    v1::Group& group = *frame.add_groups();
    group.set_scene("scenes/world");
    v1::TrackerMoves& moves = *group.mutable_moves();
    const double speed = OneIn(3) ? 1 : 0.02;
    if (OneIn(3)) {
      *moves.mutable_from_x() = {x_.begin(), x_.end()};
      *moves.mutable_from_y() = {y_.begin(), y_.end()};
    }
    for (int i = 0; i < kTrackers; ++i) {
      moves.add_x(x_[i] += Number(speed));
      moves.add_y(y_[i] += Number(speed));
      moves.add_angle(0.01 * number);
    }
    if (OneIn(2)) moves.set_detail(v1::OVERLAP_DETAIL_EDGES);
    return frame;
  }

 private:
  bool OneIn(uint64_t n) { return random_.Next() % n == 0; }
  double Number(double size) { return size * (2 * random_.Unit() - 1); }

  carom::testing::SplitMix64 random_{11};
  std::vector<double> x_, y_;
};

// With edits, coherence switched off now and then and little memory: each frame is answered as it
// is by another server's fresh stream, and compared in the shadow.
TEST_F(TrackersTest, AnswersHaveNoHistory) {
  StartServer({.max_tracker_bytes_per_stream = 65536, .shadow_interval = 1});
  constexpr uint64_t kTrackers = RandomWorld::kTrackers;
  RandomWorld world;
  server_->Create(world.Scene());
  const v1::Frame definitions = world.Definitions();
  ClientStream stream(*server_);
  stream.Send(definitions);
  EXPECT_FALSE(stream.Next().has_status());
  uint64_t quiet = 0, near = 0, shadow_moves = 0;
  for (int frame = 0; frame < 150; ++frame) {
    if (frame % 10 == 9) {
      ASSERT_TRUE(server_->Commit(world.Edit(static_cast<uint64_t>(frame))).ok());
    }
    const v1::Frame moves = world.Moves(frame);
    stream.Send(moves);
    const v1::FrameAnswer warm = stream.Next();
    v1::Frame again = moves;
    again.set_coherence(v1::COHERENCE_UNSPECIFIED);
    *again.mutable_trackers() = definitions.trackers();
    v1::FrameAnswer fresh;
    ASSERT_TRUE(server_->Evaluate(again, fresh).ok());
    ASSERT_EQ(VerdictsOf(warm), VerdictsOf(fresh)) << frame;
    const v1::FrameStats& stats = warm.stats();
    EXPECT_LE(stats.tracker_bytes(), 65536 + 65536);
    EXPECT_EQ(stats.shadow_differences(), 0u);
    EXPECT_EQ(
        stats.quiet_moves() + stats.near_moves() + stats.refreshed_moves() + stats.cold_moves(),
        kTrackers);
    quiet += stats.quiet_moves();
    near += stats.near_moves();
    shadow_moves += stats.shadow_moves();
    if (moves.coherence() == v1::COHERENCE_OFF) {
      EXPECT_EQ(stats.cold_moves(), kTrackers);
      EXPECT_EQ(stats.shadow_moves(), 0u);
    }
  }
  EXPECT_GT(quiet, 0u);
  EXPECT_GT(near, 0u);
  EXPECT_GT(shadow_moves, 100u * kTrackers);
}

// Rows that are compared in the shadow do not count as the frame's.
TEST_F(TrackersTest, TheShadowTakesNoRows) {
  for (const uint64_t interval : {0, 1}) {
    StartServer({.max_answer_rows_per_frame = 2, .shadow_interval = interval});
    ClientStream stream(*server_);
    stream.Send(Moves("tracker: [0, 0] x: [0, 0] y: [0, 0]", kDiscTracker));
    const v1::FrameAnswer answer = stream.Next();
    EXPECT_THAT(MovesOf(answer).counts(), ElementsAre(1, 1));
    EXPECT_EQ(answer.stats().shadow_moves(), 2 * interval);
    stream.Send(Moves("tracker: [0, 0, 0] x: [0, 0, 0] y: [0, 0, 0]"));
    EXPECT_EQ(stream.Next().groups(0).status().code(), grpc::RESOURCE_EXHAUSTED);
    stream.Send(Moves("tracker: [0, 0] x: [0, 0] y: [0, 0]"));
    EXPECT_THAT(MovesOf(stream.Next()).counts(), ElementsAre(1, 1));
  }
}

// Eyes with numbers that walk through a scene that is edited now and then: each frame is answered
// as it is by another server's fresh stream, and as it is without numbers, and compared in the
// shadow.
TEST_F(TrackersTest, NumbersOfEyesChangeNoAnswer) {
  constexpr uint32_t kEyes = 40;
  for (const uint64_t most : {64u << 20, 1u << 16}) {
    StartServer({.max_tracker_bytes_per_stream = most, .shadow_interval = 2});
    RandomWorld world;
    server_->Create(world.Scene());
    ClientStream stream(*server_);
    carom::testing::SplitMix64 random(12);
    const auto number = [&](double size) { return size * (2 * random.Unit() - 1); };
    v1::Frame frame = FromText<v1::Frame>(
        "groups { scene: 'scenes/world' bodies { placed { shapes { capsule { radius: 0.5 } }"
        " shape: [0, 0, 0] x: [1, 9, -20] y: [1, -9, 5] } } }");
    v1::Areas& areas = *frame.mutable_groups(0)->mutable_areas();
    v1::Sees& sees = *frame.mutable_groups(0)->mutable_sees();
    for (uint32_t i = 0; i < kEyes; ++i) {
      areas.add_x(number(50));
      areas.add_y(number(50));
      areas.add_range(20);
      areas.add_eye(i == 3 ? ~i : 3 * i);
    }
    *sees.mutable_range() = areas.range();
    uint64_t quiet = 0;
    for (int k = 0; k < 60; ++k) {
      if (k % 10 == 9) {
        ASSERT_TRUE(server_->Commit(world.Edit(static_cast<uint64_t>(k))).ok());
      }
      for (int i = 0; i < static_cast<int>(kEyes); ++i) {
        areas.set_x(i, areas.x(i) + number(0.02));
        areas.set_y(i, areas.y(i) + number(0.02));
      }
      *sees.mutable_x() = areas.x();
      *sees.mutable_y() = areas.y();
      *sees.mutable_eye() = areas.eye();
      frame.set_coherence(k % 8 == 7 ? v1::COHERENCE_OFF : v1::COHERENCE_UNSPECIFIED);
      stream.Send(frame);
      const v1::FrameAnswer warm = stream.Next();
      v1::Frame without = frame;
      without.mutable_groups(0)->mutable_areas()->clear_eye();
      without.mutable_groups(0)->mutable_sees()->clear_eye();
      v1::FrameAnswer cold, fresh;
      ASSERT_TRUE(server_->Evaluate(without, cold).ok());
      ASSERT_TRUE(server_->Evaluate(frame, fresh).ok());
      ASSERT_EQ(VerdictsOf(warm), VerdictsOf(cold)) << k;
      ASSERT_EQ(VerdictsOf(warm), VerdictsOf(fresh)) << k;
      const v1::FrameStats& stats = warm.stats();
      EXPECT_EQ(cold.stats().cold_eyes(), 0u);
      const bool is_on = frame.coherence() != v1::COHERENCE_OFF;
      EXPECT_EQ(stats.quiet_eyes() + stats.refreshed_eyes() + stats.cold_eyes(), 2 * kEyes);
      if (!is_on) {
        EXPECT_EQ(stats.cold_eyes(), 2 * kEyes);
      }
      EXPECT_EQ(fresh.stats().cold_eyes(), 2 * kEyes);
      EXPECT_LE(stats.tracker_bytes(), most);
      EXPECT_EQ(stats.shadow_differences(), 0u);
      EXPECT_EQ(cold.stats().tracker_bytes(), 0u);
      quiet += stats.quiet_eyes();
    }
    EXPECT_GT(quiet, most > 1 << 20 ? 30 * kEyes : 10u);
  }
}

// Moves and areas of one group are compared, the areas in part.
TEST_F(TrackersTest, EyesAndMovesAreComparedInTheShadow) {
  StartServer({.shadow_interval = 1});
  ClientStream stream(*server_);
  v1::Frame frame = FromText<v1::Frame>(Moves("tracker: [0, 0] x: [0, 0] y: [0, 0]", kDiscTracker));
  v1::Areas& areas = *frame.mutable_groups(0)->mutable_areas();
  for (uint32_t i = 0; i < 64; ++i) {
    areas.add_x(5 + 0.01 * i);
    areas.add_y(3);
    areas.add_range(1);
    areas.add_eye(i);
  }
  for (int i = 0; i < 3; ++i) {
    stream.Send(frame);
    frame.clear_trackers();
    const v1::FrameStats stats = stream.Next().stats();
    EXPECT_EQ(stats.shadow_eyes(), 8u);
    EXPECT_EQ(stats.shadow_moves(), 2u);
    EXPECT_EQ(stats.shadow_differences(), 0u);
  }
}

// A comparison that takes more than some milliseconds is left out: here of an eye in a polygon
// whose edges cross each other thousands of times.
TEST_F(TrackersTest, DearQuestionsAreNotCompared) {
  StartServer({.shadow_interval = 1});
  carom::testing::SplitMix64 random(13);
  v1::CreateSceneRequest scene;
  scene.set_name("scenes/crossing");
  v1::Polygon& polygon = *scene.add_polygons();
  polygon.set_fill_rule(v1::FILL_RULE_NON_ZERO);
  v1::Ring& ring = *polygon.add_rings();
  for (int i = 0; i < 400; ++i) {
    ring.add_x(random.Unit());
    ring.add_y(random.Unit());
  }
  server_->Create(scene);
  ClientStream stream(*server_);
  stream.Send(
      "groups { scene: 'scenes/crossing' areas { inside_policy: INSIDE_POLICY_IGNORE"
      " x: 0.5 y: 0.5 range: 2 eye: 1 } }");
  const v1::FrameAnswer answer = stream.Next();
  EXPECT_EQ(answer.groups(0).areas().starts_inside_size(), 1) << answer.groups(0).DebugString();
  EXPECT_GT(answer.stats().work_units(), 1u << 24);
  EXPECT_EQ(answer.stats().shadow_eyes(), 0u);
}

// Every number below the limit of trackers may have a memory.
TEST_F(TrackersTest, GreatNumbersOfEyesHaveMemories) {
  ClientStream stream(*server_);
  v1::FrameStats stats;
  for (int frame = 0; frame < 4; ++frame) {
    stream.Send(
        "groups { scene: 'scenes/a' areas { x: [5, 5] y: [3, 3] range: [8, 8]"
        " eye: [65535, 65536] } }");
    stats = stream.Next().stats();
  }
  EXPECT_EQ(stats.quiet_eyes(), 1u);
  EXPECT_EQ(stats.cold_eyes(), 1u);
}

// A client that invents eyes makes the server hold no more than the limit of the stream.
TEST_F(TrackersTest, ManyEyesTakeNoMoreThanTheirPart) {
  constexpr uint64_t kMost = 1 << 16;
  StartServer({.max_tracker_bytes_per_stream = kMost});
  ClientStream stream(*server_);
  v1::Frame frame = FromText<v1::Frame>("groups { scene: 'scenes/a' areas {} }");
  v1::Areas& areas = *frame.mutable_groups(0)->mutable_areas();
  for (uint32_t k = 0; k < 40; ++k) {
    areas.Clear();
    for (uint32_t i = 0; i < 5000; ++i) {
      areas.add_x(-5 + 0.001 * i);
      areas.add_y(3 + 0.25 * (k % 3));
      areas.add_range(8);
      areas.add_eye(k / 3 * 5000 + i);
    }
    stream.Send(frame);
    const v1::FrameAnswer answer = stream.Next();
    ASSERT_EQ(answer.groups(0).areas().counts_size(), 5000);
    EXPECT_LE(answer.stats().tracker_bytes(), kMost / 4);
  }
  stream.Send("groups { scene: 'scenes/a' areas { x: 5 y: 3 range: 1 eye: [1, 2] } }");
  EXPECT_TRUE(Refuses(wire::DecodeStatus(stream.Next().groups(0).status()),
                      StatusCode::kInvalidArgument, "areas.eye"));
}

}  // namespace
}  // namespace carom::server
