// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Forks: how they begin and end, what their edits do and refuse, and which versions can be read.
#include <thread>

#include "tests/server/fixture.h"
#include "tests/support/random.h"

namespace carom::server {
namespace {

using absl::StatusCode;
using std::chrono::steady_clock;
using ::testing::ElementsAre;

class ForkTest : public ::testing::Test {
 protected:
  void Start(const ServerOptions& options = {}) { server_ = std::make_unique<TestServer>(options); }

  grpc::Status MakeFork(const std::string& request, v1::ForkSceneResponse& response) {
    Context context;
    return server_->scenes().ForkScene(&context, FromText<v1::ForkSceneRequest>(request),
                                       &response);
  }
  // The version of `scenes/f`, a fork of `scenes/a`.
  uint64_t Fork(const std::string& more = "") {
    v1::ForkSceneResponse response;
    const grpc::Status status = MakeFork("base: 'scenes/a' name: 'scenes/f' " + more, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.scene().version();
  }
  // The answer of a group of `scenes/f` with `more`, which asks what (0, 0) is in.
  v1::GroupAnswer Ask(const std::string& more, const std::string& scene = "scenes/f") {
    const v1::FrameAnswer answer = server_->Ask(
        absl::StrCat("groups { scene: '", scene, "' points { x: 0 y: 0 } ", more, " }"));
    EXPECT_EQ(answer.groups_size(), 1);
    return answer.groups(0);
  }
  static std::string Edits(const std::string& id, const std::string& edits,
                           uint64_t base_version = 0) {
    return absl::StrCat(" edits { edit_id: '", id, "' base_version: ", base_version, " ", edits,
                        " }");
  }
  static absl::Status StatusOf(const v1::GroupAnswer& answer) {
    return answer.has_status() ? wire::DecodeStatus(answer.status()) : absl::OkStatus();
  }

  std::unique_ptr<TestServer> server_;
};

TEST_F(ForkTest, BeginsAsItsBaseAndChangesApart) {
  Start();
  const uint64_t base = server_->Create("a", {Square(7, 0, 0)});
  v1::ForkSceneResponse made;
  ASSERT_TRUE(MakeFork("base: 'scenes/a' lease_seconds: 30", made).ok());
  EXPECT_THAT(made.scene().name(), ::testing::MatchesRegex("scenes/fork-[0-9a-f]{16}"));
  EXPECT_GT(made.scene().version(), base);
  EXPECT_EQ(made.scene().base(), "scenes/a");
  EXPECT_EQ(made.scene().base_version(), base);
  EXPECT_EQ(made.scene().polygon_count(), 1);
  EXPECT_EQ(made.lease_seconds(), 30);
  const std::string fork = made.scene().name();
  const v1::GroupAnswer answer = Ask(Edits("e", "edits { add { " + Square(9, 0, 0) + " } }"), fork);
  EXPECT_TRUE(StatusOf(answer).ok()) << StatusOf(answer);
  EXPECT_GT(answer.version(), made.scene().version());
  EXPECT_EQ(answer.edited_version(), answer.version());
  EXPECT_THAT(answer.points().polygon_id(), ElementsAre(7, 9));
  EXPECT_THAT(Ask("", "scenes/a").points().polygon_id(), ElementsAre(7));
  // The base changes apart, too, and may go.
  ASSERT_TRUE(server_->Commit("name: 'scenes/a' edits { remove: 7 }").ok());
  EXPECT_THAT(Ask("", fork).points().polygon_id(), ElementsAre(7, 9));
  Context context;
  v1::DeleteSceneRequest request;
  request.set_name("scenes/a");
  v1::DeleteSceneResponse ignored;
  ASSERT_TRUE(server_->scenes().DeleteScene(&context, request, &ignored).ok());
  EXPECT_THAT(Ask("", fork).points().polygon_id(), ElementsAre(7, 9));
}

TEST_F(ForkTest, IsListedWithItsBaseAndDeleted) {
  Start();
  const uint64_t base = server_->Create("a", {Square(7, 0, 0)});
  server_->Create("z", {});
  const uint64_t version = Fork();
  const auto list = [&](int size, const std::string& token) {
    Context context;
    v1::ListScenesRequest request;
    request.set_page_size(size);
    request.set_page_token(token);
    v1::ListScenesResponse response;
    EXPECT_TRUE(server_->scenes().ListScenes(&context, request, &response).ok());
    return response;
  };
  const v1::ListScenesResponse all = list(0, "");
  ASSERT_EQ(all.scenes_size(), 3);
  EXPECT_EQ(all.scenes(0).base(), "");
  EXPECT_EQ(all.scenes(1).name(), "scenes/f");
  EXPECT_EQ(all.scenes(1).base(), "scenes/a");
  EXPECT_EQ(all.scenes(1).base_version(), base);
  std::vector<std::string> names;
  std::string token;
  do {
    const v1::ListScenesResponse page = list(1, token);
    for (const v1::Scene& scene : page.scenes()) names.push_back(scene.name());
    token = page.next_page_token();
  } while (!token.empty());
  EXPECT_THAT(names, ElementsAre("scenes/a", "scenes/f", "scenes/z"));

  v1::DeleteSceneRequest request;
  request.set_name("scenes/f");
  request.set_version(version + 1);
  v1::DeleteSceneResponse ignored;
  Context stale, current;
  EXPECT_TRUE(Refuses(server_->scenes().DeleteScene(&stale, request, &ignored),
                      StatusCode::kAborted, "version"));
  request.set_version(version);
  EXPECT_TRUE(server_->scenes().DeleteScene(&current, request, &ignored).ok());
  EXPECT_TRUE(Refuses(StatusOf(Ask("")), StatusCode::kNotFound, "scene"));
  EXPECT_TRUE(Refuses(StatusOf(Ask(Edits("e", ""))), StatusCode::kNotFound, "scene"));
  EXPECT_GT(Fork(), version) << "versions of a name grow";
}

TEST_F(ForkTest, RefusesWhatCannotBegin) {
  ServerOptions options;
  options.max_fork_lease_seconds = 100;
  Start(options);
  const uint64_t base = server_->Create("a", {});
  Fork();
  v1::ForkSceneResponse response;
  EXPECT_TRUE(Refuses(MakeFork("base: 'a'", response), StatusCode::kInvalidArgument, "base"));
  EXPECT_TRUE(Refuses(MakeFork("base: 'scenes/a' name: 'f'", response),
                      StatusCode::kInvalidArgument, "name"));
  EXPECT_TRUE(Refuses(MakeFork("base: 'scenes/b'", response), StatusCode::kNotFound, "base"));
  EXPECT_TRUE(Refuses(MakeFork(absl::StrCat("base: 'scenes/a' version: ", base + 1), response),
                      StatusCode::kOutOfRange, "version"));
  EXPECT_TRUE(Refuses(MakeFork("base: 'scenes/f' version: 1", response), StatusCode::kOutOfRange,
                      "version"));
  EXPECT_TRUE(Refuses(MakeFork("base: 'scenes/a' lease_seconds: 101", response),
                      StatusCode::kInvalidArgument, "lease_seconds"));
  for (const char* name : {"scenes/a", "scenes/f"}) {
    EXPECT_TRUE(Refuses(MakeFork(absl::StrCat("base: 'scenes/a' name: '", name, "'"), response),
                        StatusCode::kAlreadyExists, "name"));
  }
  // Nor does a scene take the name of a fork.
  v1::CreateSceneRequest create;
  create.set_name("scenes/f");
  v1::CreateSceneResponse created;
  Context context;
  EXPECT_TRUE(Refuses(server_->scenes().CreateScene(&context, create, &created),
                      StatusCode::kAlreadyExists, "name"));
}

TEST_F(ForkTest, EditsThatComeAgainChangeNothing) {
  Start();
  server_->Create("a", {Square(7, 0, 0)});
  Fork();
  const std::string first = Edits("one", "edits { remove: 7 }");
  const v1::GroupAnswer made = Ask(first);
  const v1::GroupAnswer next = Ask(Edits("two", "edits { add { " + Square(7, 0, 0, 2) + " } }"));
  EXPECT_GT(next.version(), made.version());
  EXPECT_THAT(next.points().polygon_id(), ElementsAre(7));
  // Whatever base they name: they were made.
  const v1::GroupAnswer again = Ask(Edits("one", "edits { remove: 7 }", 1));
  EXPECT_EQ(again.SerializeAsString(), made.SerializeAsString());
  EXPECT_EQ(Ask("").version(), next.version());
  EXPECT_TRUE(Refuses(StatusOf(Ask(Edits("one", "edits { remove: 8 }"))),
                      StatusCode::kInvalidArgument, "edits.edit_id"));
  // CommitEdits knows them too.
  v1::CommitEditsResponse response;
  ASSERT_TRUE(
      server_->Commit("name: 'scenes/f' edit_id: 'one' edits { remove: 7 }", &response).ok());
  EXPECT_EQ(response.scene().version(), made.version());
  // And looks at them, as frames do.
  EXPECT_TRUE(Refuses(server_->Commit("name: 'scenes/f' edit_id: 'one' edits { remove: 8 }"),
                      StatusCode::kInvalidArgument, "edit_id"));
  EXPECT_EQ(Ask("").version(), next.version());
}

TEST_F(ForkTest, RefusesEditsAsAWhole) {
  Start();
  server_->Create("a", {Square(7, 0, 0)});
  const uint64_t version = Fork();
  struct Case {
    std::string group;
    StatusCode code;
    std::string field;
  };
  const std::string remove = "edits { remove: 7 }";
  const std::vector<Case> cases = {
      {"edits {}", StatusCode::kInvalidArgument, "edits.edit_id"},
      {Edits(std::string(65, 'x'), remove), StatusCode::kInvalidArgument, "edits.edit_id"},
      {Edits("e", remove + "edits {}"), StatusCode::kInvalidArgument, "edits.edits[1]"},
      {Edits("e", remove + "edits { add { id: 3 rings { x: 1 } } }"), StatusCode::kInvalidArgument,
       "edits.edits[1].add.rings[0].y"},
      {Edits("e", remove + remove), StatusCode::kInvalidArgument, "edits.edits[1].remove"},
      {Edits("e", remove + "edits { remove: 8 }"), StatusCode::kNotFound, "edits.edits[1].remove"},
      {Edits("e", "edits { add { " + Square(7, 0, 0) + " } }"), StatusCode::kAlreadyExists,
       "edits.edits[0].add.id"},
      {Edits("e", remove, version - 1), StatusCode::kAborted, "edits.base_version"},
      {absl::StrCat("version: ", version, Edits("e", remove)), StatusCode::kInvalidArgument,
       "version"},
      {absl::StrCat("min_version: 1 version: ", version), StatusCode::kInvalidArgument, "version"},
      // Questions that are malformed come first.
      {"segments { ax: 1 } " + Edits("e", remove), StatusCode::kInvalidArgument, "segments.ay"},
  };
  for (const Case& refused : cases) {
    const v1::GroupAnswer answer = Ask(refused.group);
    EXPECT_TRUE(Refuses(StatusOf(answer), refused.code, refused.field)) << refused.group;
    EXPECT_EQ(answer.edited_version(), 0) << refused.group;
  }
  EXPECT_EQ(Ask("").version(), version);
  EXPECT_TRUE(Refuses(StatusOf(Ask(Edits("e", remove), "scenes/a")),
                      StatusCode::kFailedPrecondition, "edits"));
}

TEST_F(ForkTest, EditsOfAFrameComeInTheOrderOfItsGroups) {
  Start();
  server_->Create("a", {Square(7, 0, 0)});
  Fork();
  const std::string points = "scene: 'scenes/f' points { x: 0 y: 0 } ";
  const v1::FrameAnswer answer = server_->Ask(absl::StrCat(
      "groups { ", points, "} groups { ", points, Edits("1", "edits { remove: 7 }"), "} groups { ",
      points, "} groups { ", points, Edits("2", "edits { add { " + Square(8, 0, 0) + " } }"), "}"));
  ASSERT_EQ(answer.groups_size(), 4);
  EXPECT_THAT(answer.groups(0).points().polygon_id(), ElementsAre(7));
  EXPECT_THAT(answer.groups(1).points().polygon_id(), ElementsAre());
  EXPECT_THAT(answer.groups(2).points().polygon_id(), ElementsAre());
  EXPECT_THAT(answer.groups(3).points().polygon_id(), ElementsAre(8));
  EXPECT_EQ(answer.groups(2).version(), answer.groups(1).edited_version());
  EXPECT_EQ(answer.groups(2).edited_version(), 0);
}

TEST_F(ForkTest, PinsReadOldVersions) {
  ServerOptions options;
  options.max_fork_versions = 4;
  options.pinned_versions = 3;
  Start(options);
  std::vector<uint64_t> of_base = {server_->Create("a", {})};
  std::vector<uint64_t> of_fork = {Fork()};
  for (uint64_t i = 1; i < 7; ++i) {
    const std::string edit = "edits { add { " + Square(i, 0, 0) + " } }";
    v1::CommitEditsResponse response;
    ASSERT_TRUE(server_->Commit("name: 'scenes/a' " + edit, &response).ok());
    of_base.push_back(response.scene().version());
    of_fork.push_back(Ask(Edits(absl::StrCat(i), edit)).version());
  }
  const auto expect = [&](const std::string& scene, const std::vector<uint64_t>& versions,
                          size_t first) {
    for (size_t i = 0; i < versions.size(); ++i) {
      const v1::GroupAnswer answer = Ask(absl::StrCat("version: ", versions[i]), scene);
      if (i >= first) {
        EXPECT_EQ(answer.version(), versions[i]);
        EXPECT_EQ(static_cast<size_t>(answer.points().polygon_id_size()), i);
      } else {
        EXPECT_TRUE(Refuses(StatusOf(answer), StatusCode::kOutOfRange, "version"));
      }
    }
    EXPECT_TRUE(
        Refuses(StatusOf(Ask("version: 99999", scene)), StatusCode::kOutOfRange, "version"));
  };
  expect("scenes/f", of_fork, 3);
  expect("scenes/a", of_base, 4);
  EXPECT_TRUE(Refuses(StatusOf(Ask("version: 1", "scenes/b")), StatusCode::kNotFound, "scene"));
  // Edits are remembered as long as their versions, and never made twice.
  EXPECT_TRUE(Refuses(StatusOf(Ask(Edits("1", "edits { add { " + Square(1, 0, 0) + " } }"))),
                      StatusCode::kOutOfRange, "edits.edit_id"));
  EXPECT_TRUE(Refuses(
      server_->Commit("name: 'scenes/f' edit_id: '1' edits { add { " + Square(1, 0, 0) + " } }"),
      StatusCode::kOutOfRange, "edit_id"));
  EXPECT_EQ(Ask("").version(), of_fork.back());
  // A fork may begin there, too.
  v1::ForkSceneResponse response;
  ASSERT_TRUE(MakeFork(absl::StrCat("base: 'scenes/a' version: ", of_base[4]), response).ok());
  EXPECT_EQ(response.scene().polygon_count(), 4);
  ASSERT_TRUE(MakeFork(absl::StrCat("base: 'scenes/f' version: ", of_fork[5]), response).ok());
  EXPECT_EQ(response.scene().polygon_count(), 5);
  EXPECT_EQ(response.scene().base(), "scenes/a");
}

// Whatever is edited, a fork answers as a scene that was edited alike.
TEST_F(ForkTest, AnswersAsASceneThatWasEditedAlike) {
  Start();
  carom::testing::SplitMix64 random(5);
  const auto place = [&] { return 60.0 * static_cast<double>(random.Next() % 1000) / 1000 - 30; };
  std::vector<std::string> squares;
  for (uint64_t i = 1; i <= 900; ++i) squares.push_back(Square(i, place(), place()));
  server_->Create("a", squares);
  Fork();
  std::string columns[4];
  for (int i = 0; i < 200; ++i) {
    for (std::string& column : columns) absl::StrAppend(&column, i == 0 ? "" : ", ", place());
  }
  const std::string questions =
      absl::StrCat("segments { mode: CAST_MODE_ALL ax: [", columns[0], "] ay: [", columns[1],
                   "] bx: [", columns[2], "] by: [", columns[3], "] }");
  for (uint64_t round = 0; round < 30; ++round) {
    std::string edits;
    // One that is far away makes the index anew.
    const double far = round % 10 == 9 ? 1000.0 * static_cast<double>(round) : 0;
    for (uint64_t i = 0; i < 12; ++i) {
      const uint64_t id = 1 + 12 * round + i;
      absl::StrAppend(&edits, "edits { ",
                      i % 3 == 0
                          ? absl::StrCat("remove: ", id)
                          : absl::StrCat("replace { ", Square(id, place() + far, place()), "}"),
                      " }");
    }
    absl::StrAppend(&edits, "edits { add { ", Square(1000 + round, place(), place()), " } }");
    ASSERT_TRUE(server_->Commit("name: 'scenes/a' " + edits).ok());
    v1::GroupAnswer of_fork = Ask(questions + Edits(absl::StrCat(round), edits));
    v1::GroupAnswer of_scene = Ask(questions, "scenes/a");
    ASSERT_TRUE(StatusOf(of_fork).ok()) << StatusOf(of_fork);
    of_fork.clear_version();
    of_fork.clear_edited_version();
    of_scene.clear_version();
    ASSERT_EQ(of_fork.SerializeAsString(), of_scene.SerializeAsString()) << round;
  }
}

TEST_F(ForkTest, LongEditsAreMadeOffTheEventLoop) {
  Start(OneThread());
  server_->Create("a", {});
  Fork();
  std::string edits;
  for (uint64_t i = 1; i <= 2000; ++i) {
    absl::StrAppend(&edits, "edits { add { ", Square(i, 3.0 * static_cast<double>(i), 0), " } }");
  }
  const v1::GroupAnswer answer = Ask(Edits("e", edits));
  EXPECT_TRUE(StatusOf(answer).ok()) << StatusOf(answer);
  EXPECT_NE(answer.edited_version(), 0);
  EXPECT_EQ(Ask(Edits("e", edits)).version(), answer.version());
}

TEST_F(ForkTest, EditsCountAsShapes) {
  ServerOptions options;
  options.max_queries_per_frame = 3;
  Start(options);
  server_->Create("a", {});
  Fork();
  v1::FrameAnswer answer;
  const v1::Frame frame = FromText<v1::Frame>(
      "groups { scene: 'scenes/f' edits { edit_id: 'e' edits { remove: 1 } edits { remove: 2 }"
      " edits { remove: 3 } edits { remove: 4 } } }");
  EXPECT_TRUE(Refuses(server_->Evaluate(frame, answer), StatusCode::kResourceExhausted, "groups"));
}

TEST_F(ForkTest, ABudgetThatEndsAfterTheEditsAnswersTheirVersion) {
  Start();
  server_->CreateHeavy("a");
  Fork();
  v1::Frame frame;
  frame.set_budget_us(100000);
  v1::Group& group = *frame.add_groups();
  group = TestServer::HeavyGroup("f");
  *group.mutable_edits() =
      FromText<v1::GroupEdits>("edit_id: 'e' edits { add { " + Square(9, 0, 50) + " } }");
  v1::FrameAnswer answer;
  ASSERT_TRUE(server_->Evaluate(frame, answer).ok());
  ASSERT_EQ(answer.groups_size(), 1);
  EXPECT_EQ(answer.groups(0).status().code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_NE(answer.groups(0).edited_version(), 0);
  EXPECT_EQ(Ask("").version(), answer.groups(0).edited_version());
}

TEST_F(ForkTest, FramesWithEditsAreNeverSuperseded) {
  Start(OneThread());
  server_->CreateHeavy("a");
  Fork();
  ClientStream stream(*server_);
  v1::Frame heavy;
  heavy.set_supersede(true);
  heavy.set_budget_us(300000);
  *heavy.add_groups() = TestServer::HeavyGroup("f");
  ASSERT_TRUE(stream.Send(heavy));
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(stream.Send(absl::StrCat(
        "seq: ", i + 1, " supersede: true groups { scene: 'scenes/f' ",
        i % 2 == 0 ? Edits(absl::StrCat(i), "edits { add { " + Square(i + 10, 0, 50) + " } }") : "",
        " }")));
  }
  stream.Next();
  for (int i = 0; i < 6; ++i) {
    const v1::FrameAnswer answer = stream.Next();
    if (i % 2 != 0) continue;
    EXPECT_FALSE(answer.skipped()) << i;
    EXPECT_NE(answer.groups(0).edited_version(), 0) << i;
  }
}

TEST_F(ForkTest, AWaitForAVersionEndsByAnEdit) {
  Start();
  server_->Create("a", {});
  const uint64_t version = Fork();
  ClientStream stream(*server_);
  ASSERT_TRUE(stream.Send(absl::StrCat(
      "budget_us: 60000000 groups { scene: 'scenes/f' min_version: ", version + 1, " }")));
  const v1::GroupAnswer edited = Ask(Edits("e", "edits { add { " + Square(1, 0, 0) + " } }"));
  const v1::FrameAnswer answer = stream.Next();
  ASSERT_EQ(answer.groups_size(), 1);
  EXPECT_EQ(answer.groups(0).version(), edited.version());
}

// Each stream adds one to what it read; of those that read the same, one succeeds.
TEST_F(ForkTest, StreamsWriteOneForkByBaseVersions) {
  Start();
  server_->Create("a", {});
  const uint64_t begin = Fork();
  constexpr int kStreams = 4, kEdits = 25;
  std::vector<std::thread> writers;
  for (int s = 0; s < kStreams; ++s) {
    writers.emplace_back([&, s] {
      ClientStream stream(*server_);
      uint64_t base = begin;
      for (int made = 0; made < kEdits;) {
        const uint64_t id = static_cast<uint64_t>(kEdits * s + made + 1);
        ASSERT_TRUE(stream.Send(absl::StrCat(
            "groups { scene: 'scenes/f' ",
            Edits(absl::StrCat(id), "edits { add { " + Square(id, 0, 0) + " } }", base), " }")));
        const v1::GroupAnswer answer = stream.Next().groups(0);
        if (StatusOf(answer).ok()) {
          base = answer.edited_version();
          ++made;
          continue;
        }
        ASSERT_TRUE(Refuses(StatusOf(answer), StatusCode::kAborted, "edits.base_version"));
        ASSERT_TRUE(stream.Send("groups { scene: 'scenes/f' }"));
        base = stream.Next().groups(0).version();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Ask("").points().polygon_id_size(), kStreams * kEdits);
}

// Where the host pauses, a short lease may end between two uses: a longer one is tried then.
TEST_F(ForkTest, LivesAsLongAsFramesUseIt) {
  for (const int seconds : {1, 4, 16}) {
    Start();
    server_->Create("a", {});
    const std::string lease = absl::StrCat("lease_seconds: ", seconds);
    auto last = steady_clock::now();
    Fork(lease);
    v1::ForkSceneResponse used;
    ASSERT_TRUE(MakeFork("base: 'scenes/a' name: 'scenes/u' " + lease, used).ok());
    bool is_alive = true;
    steady_clock::duration longest{};
    const auto use = [&] {
      const auto begin = steady_clock::now();
      is_alive = is_alive && StatusOf(Ask("", "scenes/u")).ok();
      longest = std::max(longest, steady_clock::now() - std::exchange(last, begin));
    };
    EXPECT_TRUE(Eventually([&] {
      use();
      // GetScene is no use of it.
      Context context;
      const auto request = FromText<v1::GetSceneRequest>("name: 'scenes/f'");
      v1::GetSceneResponse ignored;
      return server_->scenes().GetScene(&context, request, &ignored).error_code() ==
             grpc::NOT_FOUND;
    }));
    use();
    if (is_alive) return;
    ASSERT_GE(longest, std::chrono::seconds(seconds) / 2) << seconds;
  }
  FAIL() << "the host pauses for seconds";
}

TEST_F(ForkTest, IsASceneLikeOthers) {
  Start();
  server_->Create("a", {Square(7, 0, 0)});
  const uint64_t first = Fork();
  Context watching;
  auto watch = server_->scenes().WatchScene(
      &watching, FromText<v1::WatchSceneRequest>("name: 'scenes/f' polygons: true"));
  v1::WatchSceneResponse update;
  ASSERT_TRUE(watch->Read(&update));
  EXPECT_EQ(update.scene().version(), first);
  const v1::GroupAnswer edited = Ask(Edits("e", "edits { add { " + Square(9, 0, 0) + " } }"));
  ASSERT_TRUE(watch->Read(&update));
  EXPECT_EQ(update.scene().version(), edited.version());
  EXPECT_EQ(update.edit_id(), "e");
  EXPECT_THAT(update.polygon_id(), ElementsAre(9));
  EXPECT_EQ(update.polygons_size(), 1);

  Context rolling;
  v1::RollbackSceneRequest back;
  back.set_name("scenes/f");
  back.set_version(first);
  v1::RollbackSceneResponse rolled;
  ASSERT_TRUE(server_->scenes().RollbackScene(&rolling, back, &rolled).ok());
  EXPECT_EQ(rolled.scene().polygon_count(), 1);
  ASSERT_TRUE(watch->Read(&update));
  EXPECT_EQ(update.scene().version(), rolled.scene().version());
  EXPECT_THAT(update.change(), ElementsAre(v1::POLYGON_CHANGE_REMOVED));

  Context exporting;
  v1::ExportSceneRequest request;
  request.set_name("scenes/f");
  request.set_version(edited.version());
  auto parts = server_->scenes().ExportScene(&exporting, request);
  v1::ExportSceneResponse part;
  ASSERT_TRUE(parts->Read(&part));
  EXPECT_EQ(part.polygons_size(), 2);
  Context listing;
  v1::ListSceneVersionsRequest versions;
  versions.set_name("scenes/f");
  v1::ListSceneVersionsResponse known;
  ASSERT_TRUE(server_->scenes().ListSceneVersions(&listing, versions, &known).ok());
  EXPECT_EQ(known.versions_size(), 3);
  watching.TryCancel();
}

TEST_F(ForkTest, ThereAreNoMoreThanTheLimits) {
  ServerOptions options;
  options.max_forks = 16;
  options.max_forks_per_peer = 3;
  Start(options);
  server_->Create("a", {});
  v1::ForkSceneResponse response;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(MakeFork("base: 'scenes/a'", response).ok());
  const grpc::Status refused = MakeFork("base: 'scenes/a'", response);
  EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED) << refused.error_message();
  EXPECT_GT(RetryDelay(ToStatus(refused)), 0);
  // Another connection is another peer.
  const auto other = v1::SceneService::NewStub(server_->MakeChannel());
  Context context, deleting;
  EXPECT_TRUE(
      other->ForkScene(&context, FromText<v1::ForkSceneRequest>("base: 'scenes/a'"), &response)
          .ok());
  v1::DeleteSceneRequest request;
  request.set_name("scenes/f");
  v1::DeleteSceneResponse ignored;
  EXPECT_EQ(server_->scenes().DeleteScene(&deleting, request, &ignored).error_code(),
            grpc::NOT_FOUND);
}

TEST_F(ForkTest, OldVersionsMakeRoomAndWhatHasNoneIsRefused) {
  ServerOptions options;
  options.max_fork_bytes = 1 << 20;
  Start(options);
  server_->Create("a", {});
  const uint64_t first = Fork();
  // 40 KB each, half of what there is for one peer: only the last ones stay.
  std::string ring_x, ring_y;
  for (int i = 0; i < 1600; ++i) {
    absl::StrAppend(&ring_x, i == 0 ? "" : ", ", i);
    absl::StrAppend(&ring_y, i == 0 ? "" : ", ", i % 2);
  }
  const auto large = [&](const char* kind) {
    return absl::StrCat("edits { ", kind, " { id: 1 rings { x: [", ring_x, "] y: [", ring_y,
                        "] } } }");
  };
  uint64_t last = 0;
  for (int i = 0; i < 30; ++i) {
    const v1::GroupAnswer answer = Ask(Edits(absl::StrCat(i), large(i == 0 ? "add" : "replace")));
    ASSERT_TRUE(StatusOf(answer).ok()) << StatusOf(answer);
    last = answer.version();
  }
  EXPECT_TRUE(
      Refuses(StatusOf(Ask(absl::StrCat("version: ", first))), StatusCode::kOutOfRange, "version"));
  EXPECT_TRUE(StatusOf(Ask(absl::StrCat("version: ", last))).ok());
  // What is larger than all that there is changes nothing.
  std::string many;
  for (int i = 2; i < 2000; ++i) {
    absl::StrAppend(&many, "edits { add { ", Square(static_cast<uint64_t>(i), i, 0), " } }");
  }
  const v1::GroupAnswer answer = Ask(Edits("many", many));
  EXPECT_EQ(StatusOf(answer).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Ask("").version(), last);
}

TEST_F(ForkTest, IsNotDurable) {
  const TemporaryFolder folder;
  ServerOptions options;
  options.store = "sqlite";
  options.state_dir = folder / "state";
  options.pinned_versions = 1;
  Start(options);
  const uint64_t old = server_->Create("a", {Square(7, 0, 0)});
  ASSERT_TRUE(server_->Commit("name: 'scenes/a' edits { remove: 7 }").ok());
  Fork();
  EXPECT_TRUE(StatusOf(Ask(Edits("e", "edits { add { " + Square(9, 0, 0) + " } }"))).ok());
  // A version that the file alone has begins a fork all the same; frames do not wait for the file.
  v1::ForkSceneResponse response;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(MakeFork(absl::StrCat("base: 'scenes/a' version: ", old), response).ok());
    EXPECT_EQ(response.scene().polygon_count(), 1);
    EXPECT_EQ(response.scene().base_version(), old);
  }
  EXPECT_TRUE(Refuses(StatusOf(Ask(absl::StrCat("version: ", old), "scenes/a")),
                      StatusCode::kOutOfRange, "version"));
  server_.reset();
  Start(options);
  EXPECT_TRUE(Refuses(StatusOf(Ask("")), StatusCode::kNotFound, "scene"));
  EXPECT_TRUE(StatusOf(Ask("", "scenes/a")).ok());
}

}  // namespace
}  // namespace carom::server
