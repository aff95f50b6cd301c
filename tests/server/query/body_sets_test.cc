// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Body sets of streams and of forks: what they live for, who shares them, what is refused, and
// which walls stood at a tick.
#include <memory>
#include <string>
#include <vector>

#include "support/certificates.h"
#include "support/tokens.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using absl::StatusCode;
using carom::testing::ReplaceFile;
using carom::testing::TokenLine;
using std::chrono::steady_clock;
using ::testing::ElementsAre;

// A stream of frames given as text.
class Asker {
 public:
  explicit Asker(TestServer& server) : Asker(server, "") {}
  // With a credential.
  Asker(TestServer& server, const std::string& token) {
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    stream_ = server.queries().Stream(&context_);
  }
  ~Asker() { context_.TryCancel(); }

  v1::FrameAnswer Ask(const std::string& frame) {
    v1::StreamResponse response;
    EXPECT_TRUE(stream_->Write(FromText<v1::StreamRequest>("frame { " + frame + " }")));
    EXPECT_TRUE(stream_->Read(&response));
    return response.answer();
  }
  // The status of a frame that is refused as a whole.
  absl::Status Refusal(const std::string& frame) { return wire::DecodeStatus(Ask(frame).status()); }

 private:
  Context context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
};

// One disc of radius 1, of set 5.
std::string Disc(const std::string& fork = "", int keep_ticks = 4) {
  return absl::StrCat("body_sets { body_set: 5 shapes { capsule { radius: 1 } } keep_ticks: ",
                      keep_ticks, fork.empty() ? "" : " scene: '" + fork + "'", " } ");
}
std::string At(int tick, double x) {
  return absl::StrCat("poses { body_set: 5 tick: ", tick, " x: ", x, " y: 0 } ");
}
// Which bodies are at (x, 0) at each moment.
std::string PointsAt(double x, const std::vector<double>& as_of,
                     const std::string& scene = "scenes/a", const std::string& more = "") {
  std::string points, moments;
  for (const double moment : as_of) {
    absl::StrAppend(&points, " x: ", x, " y: 0");
    absl::StrAppend(&moments, " as_of: ", moment);
  }
  return absl::StrCat("groups { scene: '", scene, "' body_set: 5 ", more,
                      " points { against: AGAINST_BOTH", points, moments, " } } ");
}

void Fork(TestServer& server, const std::string& name, int lease_seconds = 60) {
  Context context;
  v1::ForkSceneResponse fork;
  const auto request = FromText<v1::ForkSceneRequest>(
      absl::StrCat("base: 'scenes/a' name: 'scenes/", name, "' lease_seconds: ", lease_seconds));
  const grpc::Status status = server.scenes().ForkScene(&context, request, &fork);
  ASSERT_TRUE(status.ok()) << status.error_message();
}

void Delete(TestServer& server, const std::string& name) {
  Context context;
  v1::DeleteSceneResponse deleted;
  const auto request = FromText<v1::DeleteSceneRequest>(absl::StrCat("name: 'scenes/", name, "'"));
  ASSERT_TRUE(server.scenes().DeleteScene(&context, request, &deleted).ok());
}

// The status of the first group.
absl::Status StatusOf(const v1::FrameAnswer& answer) {
  if (answer.groups_size() == 0) return absl::InternalError(answer.DebugString());
  const v1::GroupAnswer& group = answer.groups(0);
  return group.has_status() ? wire::DecodeStatus(group.status()) : absl::OkStatus();
}

TEST(BodySetsTest, ItemsAreAnsweredAsOfTheirMoments) {
  TestServer server;
  server.Create("a", {});
  Asker stream(server);
  EXPECT_EQ(stream.Ask(Disc()).status().code(), 0);
  EXPECT_EQ(stream.Ask(At(7, 0) + At(8, 8)).status().code(), 0);
  const v1::FrameAnswer answer = stream.Ask(At(9, 20) + PointsAt(4, {7, 7.5, 8, 8.5, 9, 6, 9.5}));
  ASSERT_EQ(answer.groups_size(), 1) << answer.DebugString();
  const v1::LocateAnswers& points = answer.groups(0).points();
  EXPECT_THAT(points.counts(), ElementsAre(0, 1, 0, 0, 0, 0, 0));
  ASSERT_EQ(points.errors_size(), 2);
  EXPECT_EQ(points.errors(0).index(), 5u);
  EXPECT_EQ(points.errors(0).code(), static_cast<int>(StatusCode::kOutOfRange));
  EXPECT_EQ(points.errors(1).index(), 6u);
  // Without moments, the newest tick.
  const v1::FrameAnswer newest = stream.Ask(
      "groups { scene: 'scenes/a' body_set: 5 points { against: AGAINST_BOTH x: 20 y: 0 } }");
  EXPECT_THAT(newest.groups(0).points().counts(), ElementsAre(1));
}

TEST(BodySetsTest, ASetEndsWithItsStreamAndWhenItIsRemoved) {
  TestServer server;
  server.Create("a", {});
  Asker stream(server), other(server);
  stream.Ask(Disc() + At(7, 0));
  const auto refusal = [&](Asker& asker) {
    return wire::DecodeStatus(asker.Ask(PointsAt(0, {7})).groups(0).status());
  };
  EXPECT_TRUE(Refuses(refusal(other), StatusCode::kInvalidArgument, "body_set"));
  EXPECT_TRUE(stream.Ask(PointsAt(0, {7})).groups(0).has_points());
  stream.Ask("removed_body_sets: [5, 6]");
  EXPECT_TRUE(Refuses(refusal(stream), StatusCode::kInvalidArgument, "body_set"));
  // A set of one frame.
  EXPECT_THAT(server.Ask(Disc() + At(7, 0) + PointsAt(0, {7})).groups(0).points().counts(),
              ElementsAre(1));
}

TEST(BodySetsTest, RefusedFramesChangeNothing) {
  TestServer server;
  server.Create("a", {});
  Asker stream(server);
  stream.Ask(Disc() + At(7, 0));
  const auto invalid = [&](const std::string& frame, const std::string& field) {
    EXPECT_TRUE(Refuses(stream.Refusal(frame), StatusCode::kInvalidArgument, field)) << frame;
  };
  invalid(Disc("", 5), "body_sets[0].body_set");
  invalid(At(8, 1) + At(7, 1), "poses[1].tick");
  invalid(At(8, 1) + "poses { body_set: 6 tick: 1 }", "poses[1].body_set");
  invalid("poses { body_set: 5 tick: 8 x: 1 }", "poses[0].y");
  invalid("poses { body_set: 5 tick: 8 x: 1e300 y: 0 }", "poses[0].x[0]");
  invalid("body_sets { body_set: 65536 }", "body_sets[0].body_set");
  invalid("body_sets { body_set: 9 keep_ticks: 257 }", "body_sets[0].keep_ticks");
  invalid("body_sets { body_set: 9 shapes { } }", "body_sets[0].shapes[0]");
  invalid("body_sets { body_set: 9 scene_handle: 3 }", "body_sets[0].scene_handle");
  invalid("poses { body_set: 5 tick: 8 floats { x: 1 y: [0, 0] } }", "poses[0].floats.y");
  invalid("poses { body_set: 5 tick: 8 floats { x: inf y: 0 } }", "poses[0].floats.x[0]");
  invalid("poses { body_set: 5 tick: 7 floats { x: 1 y: 0 } }", "poses[0].tick");
  invalid("body_sets { body_set: 9 } trackers { shapes {} }", "trackers[0].shapes[0]");
  EXPECT_TRUE(Refuses(stream.Refusal("body_sets { body_set: 9 scene: 'scenes/a' }"),
                      StatusCode::kFailedPrecondition, "body_sets[0].scene"));
  const std::string bound = "bindings { handle: 4 scene: 'scenes/a' } ";
  EXPECT_TRUE(Refuses(stream.Refusal(bound + "body_sets { body_set: 9 scene_handle: 4 }"),
                      StatusCode::kFailedPrecondition, "body_sets[0].scene_handle"));
  std::string many;
  for (int i = 6; i < 1030; ++i) {
    absl::StrAppend(&many, "body_sets { keep_ticks: 1 body_set: ", i, " } ");
  }
  EXPECT_TRUE(
      Refuses(stream.Refusal(many), StatusCode::kResourceExhausted, "body_sets[1023].body_set"));
  // Tick 8 was never added; what was there can be sent again.
  const v1::FrameAnswer answer = stream.Ask(Disc() + At(7, 0) + At(7, 0) + PointsAt(0, {7, 8}));
  ASSERT_EQ(answer.groups_size(), 1) << answer.DebugString();
  EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(1, 0));
  EXPECT_EQ(answer.groups(0).points().errors_size(), 1);
}

TEST(BodySetsTest, GroupsAreRefusedForWhatDoesNotBelongTogether) {
  TestServer server;
  server.Create("a", {});
  Asker stream(server);
  stream.Ask(Disc() + At(7, 0));
  const auto refusal = [&](const std::string& group) {
    const v1::FrameAnswer answer = stream.Ask("groups { scene: 'scenes/a' " + group + " }");
    return answer.groups_size() == 1 ? wire::DecodeStatus(answer.groups(0).status())
                                     : absl::InternalError(answer.DebugString());
  };
  EXPECT_TRUE(Refuses(refusal("points { x: 1 y: 1 as_of: 7 }"), StatusCode::kInvalidArgument,
                      "points.as_of"));
  EXPECT_TRUE(Refuses(refusal("body_set: 5 bodies { placed { shapes { capsule {} } x: 1 y: 1 } }"),
                      StatusCode::kInvalidArgument, "bodies"));
  EXPECT_TRUE(Refuses(refusal("body_set: 5 version_at_tick: 7"), StatusCode::kInvalidArgument,
                      "version_at_tick"));
}

TEST(BodySetsTest, StreamsOfAForkShareItsSets) {
  TestServer server;
  server.Create("a", {});
  Fork(server, "f");
  Asker sender(server), asker(server);
  EXPECT_EQ(sender.Ask(Disc("scenes/f") + At(7, 0)).status().code(), 0);
  EXPECT_EQ(asker.Ask(Disc("scenes/f")).status().code(), 0);
  EXPECT_TRUE(Refuses(asker.Refusal(Disc("scenes/f", 9)), StatusCode::kInvalidArgument,
                      "body_sets[0].body_set"));
  sender.Ask(At(8, 8));
  const v1::FrameAnswer answer = asker.Ask(PointsAt(4, {7.5}, "scenes/f"));
  ASSERT_EQ(answer.groups_size(), 1) << answer.DebugString();
  EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(1));
  // The other sends the same tick, too.
  EXPECT_EQ(asker.Ask(At(8, 8) + At(9, 9)).status().code(), 0);
  EXPECT_TRUE(Refuses(sender.Refusal(At(9, 1)), StatusCode::kInvalidArgument, "poses[0].tick"));
  // With the fork the sets go.
  Delete(server, "f");
  EXPECT_EQ(sender.Ask(At(10, 1)).status().code(), 0);
  Fork(server, "f");
  EXPECT_TRUE(Refuses(StatusOf(sender.Ask(PointsAt(0, {8}, "scenes/f"))), StatusCode::kNotFound,
                      "body_set"));
  EXPECT_EQ(sender.Ask(Disc("scenes/f") + At(1, 0)).status().code(), 0);
  EXPECT_THAT(sender.Ask(PointsAt(0, {1}, "scenes/f")).groups(0).points().counts(), ElementsAre(1));
}

TEST(BodySetsTest, VersionAtTickReadsTheWallsOfTheTick) {
  TestServer server;
  server.Create("a", {});
  Fork(server, "f");
  Asker stream(server);
  const std::string shut = "groups { scene: 'scenes/f' edits { edit_id: 'shut' edits { add { " +
                           Square(3, 50, 0) + " } } } } ";
  const std::string open =
      "groups { scene: 'scenes/f' edits { edit_id: 'open' edits { remove: 3 } } } ";
  stream.Ask(
      "bindings { handle: 2 scene: 'scenes/f' } body_sets { body_set: 5 scene_handle: 2 "
      "shapes { capsule { radius: 1 } } } " +
      At(1, 0) + shut);
  stream.Ask(At(2, 0) + open);
  stream.Ask(At(3, 0));
  const auto doors_at = [&](int tick) {
    const v1::FrameAnswer answer =
        stream.Ask(PointsAt(50, {1}, "scenes/f", absl::StrCat("version_at_tick: ", tick)));
    EXPECT_EQ(answer.groups_size(), 1) << answer.DebugString();
    return answer.groups(0);
  };
  EXPECT_THAT(doors_at(1).points().counts(), ElementsAre(0));
  EXPECT_THAT(doors_at(2).points().counts(), ElementsAre(1));
  EXPECT_THAT(doors_at(3).points().counts(), ElementsAre(0));
  EXPECT_TRUE(Refuses(wire::DecodeStatus(doors_at(4).status()), StatusCode::kOutOfRange,
                      "version_at_tick"));
}

// Story: a frame whose trackers were refused had already changed the sets of a fork.
TEST(BodySetsTest, ARefusedFrameChangesNoFork) {
  TestServer server;
  server.Create("a", {});
  Fork(server, "f");
  Asker stream(server), other(server);
  EXPECT_EQ(stream.Ask(Disc("scenes/f") + At(7, 0)).status().code(), 0);
  const std::string bad = "trackers { shapes {} } ";
  for (const std::string& change :
       {At(8, 8), std::string("removed_body_sets: 5 "), Disc("scenes/f") + At(8, 8)}) {
    EXPECT_TRUE(Refuses(stream.Refusal(change + bad), StatusCode::kInvalidArgument,
                        "trackers[0].shapes[0]"))
        << change;
  }
  EXPECT_EQ(other.Ask(Disc("scenes/f")).status().code(), 0);
  for (Asker* const asker : {&stream, &other}) {
    const v1::FrameAnswer answer = asker->Ask(PointsAt(0, {7, 8}, "scenes/f"));
    EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(1, 0)) << answer.DebugString();
    EXPECT_EQ(answer.groups(0).points().errors_size(), 1);
  }
}

// Story: of a frame with sets of two forks, one fork had room for its set and changed, and the
// frame was refused for the other one.
TEST(BodySetsTest, AFrameChangesAllItsForksOrNone) {
  ServerOptions options;
  options.max_fork_bytes = 8 << 20;
  TestServer server(options);
  server.Create("a", {});
  Fork(server, "f");
  Fork(server, "g");
  std::string large = "body_sets { body_set: 6 keep_ticks: 256 shapes { capsule {} }";
  for (int i = 0; i < 4096; ++i) large += " shape: 0";
  for (const auto& [small, other] : {std::pair("scenes/f", "scenes/g"), {"scenes/g", "scenes/f"}}) {
    Asker stream(server);
    const absl::Status refusal =
        stream.Refusal(Disc(small) + At(7, 0) + large + " scene: '" + other + "' }");
    EXPECT_EQ(refusal.code(), StatusCode::kResourceExhausted) << refusal;
    // There is no set 5 yet, so another definition is as good.
    EXPECT_EQ(stream.Ask(Disc(small, 9) + At(6, 0)).status().code(), 0);
  }
}

// Story: a client that may only read removed the sets of a fork for all of its streams.
TEST(BodySetsTest, ReadersUseTheSetsOfForksAndDoNotChangeThem) {
  TemporaryFolder folder;
  ServerOptions options;
  options.credentials = folder / "credentials";
  ReplaceFile(options.credentials, TokenLine("game", "acme", "writer") +
                                       TokenLine("viewer", "acme", "reader") +
                                       TokenLine("host", "acme", "admin"));
  TestServer server(options);
  const auto call = [&](auto method, const auto& request, auto response) {
    Context context;
    context.AddMetadata("authorization", "Bearer host");
    const grpc::Status status = (server.scenes().*method)(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  };
  using Stub = v1::SceneService::Stub;
  call(&Stub::CreateScene, FromText<v1::CreateSceneRequest>("name: 'scenes/a'"),
       v1::CreateSceneResponse());
  call(&Stub::ForkScene, FromText<v1::ForkSceneRequest>("base: 'scenes/a' name: 'scenes/f'"),
       v1::ForkSceneResponse());
  Asker writer(server, "game"), reader(server, "viewer");
  const auto denied = [&](const std::string& frame) {
    EXPECT_EQ(reader.Refusal(frame).code(), StatusCode::kPermissionDenied) << frame;
  };
  denied(Disc("scenes/f"));
  EXPECT_EQ(writer.Ask(Disc("scenes/f") + At(7, 0)).status().code(), 0);
  EXPECT_EQ(reader.Ask(Disc("scenes/f")).status().code(), 0);
  denied(At(8, 8));
  denied("removed_body_sets: 5");
  for (Asker* const asker : {&writer, &reader}) {
    const v1::FrameAnswer answer = asker->Ask(PointsAt(0, {7, 8}, "scenes/f"));
    EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(1, 0)) << answer.DebugString();
    EXPECT_EQ(answer.groups(0).points().errors_size(), 1);
  }
  // What belongs to its own stream, a reader may change.
  EXPECT_EQ(reader
                .Ask("body_sets { body_set: 6 shapes { capsule {} } } "
                     "poses { body_set: 6 tick: 1 x: 0 y: 0 }")
                .status()
                .code(),
            0);
  EXPECT_EQ(reader.Ask("removed_body_sets: 6").status().code(), 0);
}

TEST(BodySetsTest, AFrameMayHaveAsManyTicksAsItsLimitSays) {
  TestServer server;
  server.Create("a", {});
  Asker stream(server);
  std::string ticks;
  for (int tick = 0; tick < 4096; ++tick) {
    absl::StrAppend(&ticks, "poses { body_set: 5 tick: ", tick, " x: 0 y: 0 } ");
  }
  const v1::FrameAnswer answer = stream.Ask(Disc() + ticks + PointsAt(0, {4095, 4091}));
  ASSERT_EQ(answer.groups_size(), 1) << answer.DebugString();
  EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(1, 0));
  EXPECT_TRUE(Refuses(stream.Refusal(ticks + "poses { body_set: 5 tick: 4096 x: 0 y: 0 }"),
                      StatusCode::kResourceExhausted, "poses"));
}

TEST(BodySetsTest, DefinitionsAreEqualByWhatTheySay) {
  TestServer server;
  server.Create("a", {});
  Asker stream(server);
  const auto set = [](const std::string& more) {
    return "body_sets { body_set: 5 shapes { capsule { radius: 1 } } "
           "shapes { polygon { rings { x: [0, 4, 0] y: [0, 0, 4] } } } " +
           more + " } ";
  };
  EXPECT_EQ(stream.Ask(set("")).status().code(), 0);
  for (const char* const same :
       {"keep_ticks: 64", "shape: [0, 1]", "category: [1, 1]", "owner: [0, 0]"}) {
    EXPECT_EQ(stream.Ask(set(same)).status().code(), 0) << same;
  }
  for (const char* const other :
       {"keep_ticks: 63", "shape: [1, 0]", "category: [1, 2]", "owner: [0, 1]", "shape: 0"}) {
    EXPECT_TRUE(
        Refuses(stream.Refusal(set(other)), StatusCode::kInvalidArgument, "body_sets[0].body_set"))
        << other;
  }
}

// Story: after a restart the client sends the ticks of a fork again. Their walls are lost, and
// those of today are others.
TEST(BodySetsTest, TicksThatWereSentAgainHaveNoWalls) {
  TestServer server;
  server.Create("a", {});
  Fork(server, "f");
  Asker stream(server), other(server);
  stream.Ask(Disc("scenes/f") + "poses { body_set: 5 tick: 7 x: 0 y: 0 resent: true } " + At(8, 0));
  other.Ask(Disc("scenes/f") + At(7, 0));  // the same tick: still without walls
  const auto walls_at = [&](int tick) {
    const v1::FrameAnswer answer =
        stream.Ask(PointsAt(0, {7}, "scenes/f", absl::StrCat("version_at_tick: ", tick)));
    const v1::GroupAnswer& group = answer.groups(0);
    return group.has_status() ? wire::DecodeStatus(group.status()) : absl::OkStatus();
  };
  EXPECT_TRUE(Refuses(walls_at(7), StatusCode::kOutOfRange, "version_at_tick"));
  EXPECT_EQ(walls_at(8), absl::OkStatus());
}

// Story: a match that sent poses and asked nothing for a while lost its fork.
TEST(BodySetsTest, TicksRenewTheLeaseOfTheFork) {
  TestServer server;
  server.Create("a", {});
  // Where the host pauses, a short lease may end between two ticks: a longer one is tried then.
  for (const int lease : {1, 4, 16}) {
    const std::string used = absl::StrCat("used-", lease), unused = absl::StrCat("unused-", lease);
    auto last = steady_clock::now();
    Fork(server, used, lease);
    Fork(server, unused, lease);
    Asker stream(server);
    bool is_alive = true;
    steady_clock::duration longest{};
    const auto ask = [&](const std::string& frame) {
      const auto begin = steady_clock::now();
      const v1::FrameAnswer answer = stream.Ask(frame);
      is_alive = is_alive && answer.status().code() == 0;
      longest = std::max(longest, steady_clock::now() - std::exchange(last, begin));
      return answer;
    };
    ask(Disc("scenes/" + used));
    int tick = 0;
    EXPECT_TRUE(Eventually([&] {
      ask(At(++tick, 0));
      Context context;
      v1::GetSceneRequest request;
      request.set_name("scenes/" + unused);
      v1::GetSceneResponse response;
      return server.scenes().GetScene(&context, request, &response).error_code() == grpc::NOT_FOUND;
    }));
    const v1::FrameAnswer answer = ask(PointsAt(0, {1.0 * tick}, "scenes/" + used));
    if (is_alive && answer.groups(0).has_points()) return;
    ASSERT_GE(longest, std::chrono::seconds(lease) / 2) << lease;
  }
  FAIL() << "the host pauses for seconds";
}

// Story: after a stream had removed the set of a fork and defined another one, the groups of the
// other streams were answered with its bodies.
TEST(BodySetsTest, EachStreamDefinesAnotherDefinitionItself) {
  TestServer server;
  server.Create("a", {});
  Fork(server, "f");
  Asker stream(server), other(server);
  stream.Ask(Disc("scenes/f") + At(7, 0));
  EXPECT_EQ(other.Ask(Disc("scenes/f")).status().code(), 0);
  stream.Ask("removed_body_sets: 5");
  stream.Ask(Disc("scenes/f", 9) + At(7, 0));
  const auto group = [&] { return other.Ask(PointsAt(0, {7}, "scenes/f")).groups(0); };
  EXPECT_TRUE(
      Refuses(wire::DecodeStatus(group().status()), StatusCode::kInvalidArgument, "body_set"));
  EXPECT_TRUE(Refuses(other.Refusal(At(8, 0)), StatusCode::kInvalidArgument, "poses[0].body_set"));
  EXPECT_EQ(other.Ask(Disc("scenes/f", 9)).status().code(), 0);
  EXPECT_TRUE(group().has_points());
}

// Story: a stream that used a fork for each match could define no set after 1,024 matches.
TEST(BodySetsTest, HandlesOfDeletedForksAreFree) {
  TestServer server;
  server.Create("a", {});
  Fork(server, "f");
  Asker stream(server);
  const auto small = [](int handle) {
    return absl::StrCat("body_sets { body_set: ", handle,
                        " keep_ticks: 1 shapes { capsule {} } } ");
  };
  std::string sets = Disc("scenes/f");
  for (int handle = 6; handle < 6 + 1023; ++handle) sets += small(handle);
  EXPECT_EQ(stream.Ask(sets).status().code(), 0);
  EXPECT_EQ(stream.Refusal(small(2000)).code(), StatusCode::kResourceExhausted);
  Delete(server, "f");
  EXPECT_EQ(stream.Ask(small(2000)).status().code(), 0);
}

// Story: a server process asked for all of its matches in one frame. After the fork of one match
// was deleted, each frame with poses of that match was refused, and no match had answers.
TEST(BodySetsTest, ADeletedForkIsAnErrorOfTheGroupsThatNameItsSet) {
  TestServer server;
  server.Create("a", {});
  Fork(server, "f");
  Fork(server, "g");
  Asker stream(server);
  const std::string of_g =
      "body_sets { body_set: 6 scene: 'scenes/g' shapes { capsule { radius: 1 } } } ";
  EXPECT_EQ(stream.Ask(Disc("scenes/f") + of_g + At(1, 0)).status().code(), 0);
  Delete(server, "f");
  int tick = 1;
  for (const std::string& more : {std::string(), Disc("scenes/f"), Disc("scenes/f")}) {
    const std::string groups =
        PointsAt(0, {1.0 * tick}, "scenes/a") +
        absl::StrCat("groups { scene: 'scenes/g' body_set: 6 points { against: AGAINST_BOTH x: 0 ",
                     "y: 0 as_of: ", tick,
                     " } } groups { scene: 'scenes/a' points { x: 0 y: 0 } }");
    const v1::FrameAnswer answer =
        stream.Ask(more + At(tick, 0) +
                   absl::StrCat("poses { body_set: 6 tick: ", tick, " x: 0 y: 0 } ") + groups);
    EXPECT_EQ(answer.status().code(), 0) << answer.DebugString();
    ASSERT_EQ(answer.groups_size(), 3) << answer.DebugString();
    EXPECT_TRUE(Refuses(StatusOf(answer), StatusCode::kNotFound, "body_set"));
    EXPECT_THAT(answer.groups(1).points().counts(), ElementsAre(1)) << answer.DebugString();
    EXPECT_TRUE(answer.groups(2).has_points());
    ++tick;
  }
  // What is wrong in itself refuses the frame as before.
  EXPECT_TRUE(Refuses(stream.Refusal("poses { body_set: 5 tick: 9 x: 1 }"),
                      StatusCode::kInvalidArgument, "poses[0].y"));
  EXPECT_TRUE(Refuses(stream.Refusal(Disc("scenes/a")), StatusCode::kFailedPrecondition,
                      "body_sets[0].scene"));
}

// Story: after a restart a client sent its sets again before another client had made the fork
// again, and the sets were lost.
TEST(BodySetsTest, TheStreamKeepsASetUntilItsForkExists) {
  TestServer server;
  server.Create("a", {});
  Asker sender(server), early(server), other(server);
  EXPECT_EQ(sender.Ask(Disc("scenes/f") + At(7, 0) + At(8, 8)).status().code(), 0);
  EXPECT_EQ(early.Ask(Disc("scenes/f")).status().code(), 0);
  EXPECT_EQ(other.Ask(Disc("scenes/f", 9)).status().code(), 0);
  EXPECT_TRUE(Refuses(StatusOf(sender.Ask(PointsAt(4, {7.5}))), StatusCode::kNotFound, "body_set"));
  Fork(server, "f");
  // A stream without ticks gives its set to the fork first.
  EXPECT_EQ(early.Ask(PointsAt(4, {7.5}, "scenes/f")).groups(0).points().errors_size(), 1);
  EXPECT_EQ(sender.Ask(At(9, 9)).status().code(), 0);
  for (Asker* const asker : {&early, &sender}) {
    const v1::FrameAnswer answer = asker->Ask(PointsAt(4, {7.5, 7, 8}, "scenes/f"));
    ASSERT_TRUE(answer.groups_size() == 1 && answer.groups(0).has_points()) << answer.DebugString();
    EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(1, 0, 0));
  }
  // The walls of the ticks that came before the fork are unknown, those of a later tick are known.
  const auto walls_at = [&](int tick) {
    return StatusOf(
        sender.Ask(PointsAt(0, {9}, "scenes/f", absl::StrCat("version_at_tick: ", tick))));
  };
  EXPECT_TRUE(Refuses(walls_at(8), StatusCode::kOutOfRange, "version_at_tick"));
  EXPECT_EQ(walls_at(9), absl::OkStatus());
  // The fork has another set of the handle.
  EXPECT_TRUE(Refuses(StatusOf(other.Ask(PointsAt(4, {7}, "scenes/f"))),
                      StatusCode::kInvalidArgument, "body_set"));
}

// A set that is defined again when its fork exists is a set of that fork, which begins anew.
TEST(BodySetsTest, ASetThatWaitsGivesWayToADefinition) {
  TestServer server;
  server.Create("a", {});
  Asker stream(server);
  EXPECT_EQ(stream.Ask(Disc("scenes/f") + At(997, 0)).status().code(), 0);
  EXPECT_EQ(stream.Ask(Disc("scenes/f")).status().code(), 0);  // changes nothing
  EXPECT_EQ(stream.Ask(Disc("scenes/g", 3)).status().code(), 0);
  EXPECT_EQ(stream.Ask(Disc("scenes/f") + At(997, 0)).status().code(), 0);
  Fork(server, "f");
  EXPECT_EQ(stream.Ask(Disc("scenes/f") + At(1, 0)).status().code(), 0);
  const v1::FrameAnswer answer = stream.Ask(PointsAt(0, {1, 997}, "scenes/f"));
  EXPECT_THAT(answer.groups(0).points().counts(), ElementsAre(1, 0)) << answer.DebugString();
  EXPECT_EQ(stream.Ask("removed_body_sets: 5").status().code(), 0);
  EXPECT_EQ(stream.Ask(Disc("scenes/h") + At(1, 0)).status().code(), 0);
  EXPECT_EQ(stream.Ask("removed_body_sets: 5").status().code(), 0);
  EXPECT_TRUE(
      Refuses(StatusOf(stream.Ask(PointsAt(0, {1}))), StatusCode::kInvalidArgument, "body_set"));
}

// What the server keeps for a stream is charged, and refused where there is no room for it.
TEST(BodySetsTest, MemoryIsBounded) {
  ServerOptions options = OneThread();
  TestServer server(options);
  server.Create("a", {});
  Asker stream(server);
  std::string large = "body_sets { body_set: 0 keep_ticks: 256 shapes { capsule {} }";
  for (int i = 0; i < 4096; ++i) large += " shape: 0";
  absl::Status status;
  int made = 0;
  for (; made < 64 && status.ok(); ++made) {
    std::string set = large + " }";
    set.replace(set.find("body_set: 0"), 11, absl::StrCat("body_set: ", made));
    const v1::FrameAnswer answer = stream.Ask(set);
    if (answer.has_status()) status = wire::DecodeStatus(answer.status());
  }
  // 35 MB each, of a share of some hundred: refused before there are 64.
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(stream.Ask("seq: 4").seq(), 4u);
}

}  // namespace
}  // namespace carom::server
