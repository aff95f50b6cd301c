// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Body sets as the client library has them: sent in frames, and sent again after a break.
#include <memory>
#include <string>
#include <vector>

#include "tests/client/fixture.h"

namespace carom {
namespace {

using ::testing::ElementsAre;

class BodySetsClientTest : public ::testing::Test {
 protected:
  void Start() {
    server::ServerOptions options;
    options.address = "unix:" + (folder_ / "socket");
    options.store = "sqlite";
    options.state_dir = folder_ / "state";
    options.threads = 2;
    options.drain_seconds = 1;
    options.max_queries_per_frame = max_queries_;
    auto started = server::Server::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    if (client_ == nullptr) client_ = *Client::Connect(server_->address());
  }

  // One disc of radius 1, which keeps `keep_ticks` ticks.
  static BodySet Disc(const std::string& fork = "", uint32_t keep_ticks = 4) {
    BodySet set{.body_set = 5, .fork = fork};
    set.bodies.shapes.push_back(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value());
    set.bodies.keep_ticks = keep_ticks;
    return set;
  }
  // Adds a tick with the disc at (x, 0) to a frame.
  void AddTick(uint64_t tick, double x, Frame& frame) {
    const double& kept = *owned_.emplace_back(std::make_unique<const double>(x));
    frame.poses.push_back({5, {.tick = tick, .x = {&kept, 1}, .y = {&zero_, 1}}});
  }
  // Adds a group that asks what is at (x, 0) at each of `moments_`.
  void AskAt(const std::string& scene, double x, std::vector<double> moments, Frame& frame) {
    moments_ = std::move(moments);
    x_.assign(moments_.size(), x);
    y_.assign(moments_.size(), 0);
    Group group;
    group.points = {x_, y_};
    group.points.scope = {Against::kBoth, {}, {}, moments_};
    frame.groups.push_back({.scene = scene, .group = group, .body_set = 5});
  }
  static absl::StatusOr<FrameAnswer> Exchange(Stream& stream, const Frame& frame) {
    const absl::Status sent = stream.Send(frame);
    if (!sent.ok()) return sent;
    return stream.Receive();
  }

  const ScratchFolder folder_;
  const double zero_ = 0;
  uint64_t max_queries_ = 65536;
  std::vector<std::unique_ptr<const double>> owned_;
  std::vector<double> moments_, x_, y_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(BodySetsClientTest, ItemsAreAsOfTheirMoments) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 100, 100)}).ok());
  Frame frame;
  frame.body_sets.push_back(Disc());
  AddTick(10, 0, frame);
  AddTick(11, 8, frame);
  AskAt("scenes/a", 4, {10, 10.5, 11, 12}, frame);
  const auto answer = client_->Evaluate(frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
  EXPECT_THAT(answer->groups[0].answers.points.counts, ElementsAre(0, 1, 0, 0));
  const ItemError error{3, ItemColumn::kAsOf, ItemFault::kNotKept};
  EXPECT_THAT(answer->groups[0].answers.points.errors, ElementsAre(error));
}

// Story: shots are judged by the same past after the server was restarted in the middle of a match.
TEST_F(BodySetsClientTest, AStreamSendsItsSetsAndTheirTicksAgain) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 100, 100)}).ok());
  const auto stream = client_->OpenStream();
  Frame definition;
  definition.body_sets.push_back(Disc());
  ASSERT_TRUE(Exchange(*stream, definition).ok());
  for (uint64_t tick = 1; tick <= 9; ++tick) {
    Frame frame;
    AddTick(tick, static_cast<double>(tick), frame);
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok() && answer->status.ok());
  }
  const auto asked = [&](uint64_t reconnects) {
    Frame frame;
    AskAt("scenes/a", 7.5, {5, 6, 6.5, 7.5, 9}, frame);
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    EXPECT_EQ(stream->reconnects(), reconnects);
    EXPECT_THAT(answer->groups[0].answers.points.counts, ElementsAre(0, 0, 1, 1, 0));
    EXPECT_EQ(answer->groups[0].answers.points.errors.size(), 1u);  // tick 5 was dropped
  };
  asked(0);
  server_.reset();
  Start();
  asked(1);
  // A set that was removed is not sent again.
  Frame removal;
  removal.removed_body_sets = {5};
  ASSERT_TRUE(Exchange(*stream, removal).ok());
  server_.reset();
  Start();
  Frame frame;
  AskAt("scenes/a", 7.5, {7}, frame);
  const auto answer = Exchange(*stream, frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(Refuses(answer->groups[0].status, absl::StatusCode::kInvalidArgument, "body_set"));
}

// Story: one fork was gone after a restart, and with it the stream ended, for the sets of which the
// server kept nothing could be sent again. Then the stream dropped these sets, also if the client
// that had made the fork made it again a moment later.
TEST_F(BodySetsClientTest, TheSetsOfAForkThatIsGoneWaitForTheFork) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 100, 100)}).ok());
  // Forks that this client did not make, and so does not make again.
  const auto host = *Client::Connect(server_->address());
  ASSERT_TRUE(host->ForkScene("scenes/a", {.name = "scenes/f"}).ok());
  ASSERT_TRUE(host->ForkScene("scenes/a", {.name = "scenes/g"}).ok());
  const auto stream = client_->OpenStream();
  Frame frame;
  BodySet of_f = Disc("scenes/f"), of_g = Disc("scenes/g");
  of_f.body_set = 4;
  of_g.body_set = 6;
  frame.body_sets = {of_f, Disc(), of_g};
  AddTick(1, 0, frame);
  frame.poses.push_back({4, frame.poses[0].poses});
  frame.poses.push_back({6, frame.poses[0].poses});
  auto answer = Exchange(*stream, frame);
  ASSERT_TRUE(answer.ok() && answer->status.ok());
  server_.reset();
  Start();
  ASSERT_TRUE(client_->ForkScene("scenes/a", {.name = "scenes/g"}).ok());
  const auto status_of = [&](uint32_t body_set, const std::string& scene) {
    Frame asked;
    AskAt(scene, 0, {1}, asked);
    asked.groups[0].body_set = body_set;
    const auto got = Exchange(*stream, asked);
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? got->groups[0].status : got.status();
  };
  EXPECT_TRUE(status_of(5, "scenes/a").ok());
  EXPECT_TRUE(Refuses(status_of(4, "scenes/a"), absl::StatusCode::kNotFound, "body_set"));
  EXPECT_EQ(stream->reconnects(), 1u);
  server_.reset();
  Start();
  EXPECT_TRUE(status_of(5, "scenes/a").ok());
  EXPECT_EQ(stream->reconnects(), 2u);
  const auto host_again = *Client::Connect(server_->address());
  ASSERT_TRUE(host_again->ForkScene("scenes/a", {.name = "scenes/f"}).ok());
  Frame asked;
  AskAt("scenes/f", 0, {1, 2}, asked);
  asked.groups[0].body_set = 4;
  answer = Exchange(*stream, asked);
  ASSERT_TRUE(answer.ok() && answer->groups[0].status.ok()) << answer->groups[0].status;
  EXPECT_THAT(answer->groups[0].answers.points.counts, ElementsAre(1, 0));  // tick 2 never came
}

// Story: the fork of a match was made anew for the next one, with another set. The stream sent the
// ticks of the match before with the definition of the match after.
TEST_F(BodySetsClientTest, AnotherDefinitionHasNoneOfTheEarlierTicks) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 100, 100)}).ok());
  const auto stream = client_->OpenStream();
  for (const uint32_t keep : {4u, 3u}) {
    ASSERT_TRUE(client_->ForkScene("scenes/a", {.name = "scenes/f"}).ok());
    Frame frame;
    frame.body_sets.push_back(Disc("scenes/f", keep));
    for (uint64_t tick = 1; tick < keep; ++tick) AddTick(tick, 10.0 * keep, frame);
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok() && answer->status.ok()) << answer->status;
    if (keep == 4) {
      ASSERT_TRUE(client_->DeleteScene("scenes/f").ok());
    }
  }
  for (int i = 0; i < 2; ++i) {
    Frame frame;
    AskAt("scenes/f", 30, {1, 2, 3}, frame);
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    EXPECT_THAT(answer->groups[0].answers.points.counts, ElementsAre(1, 1, 0));
    EXPECT_EQ(answer->groups[0].answers.points.errors.size(), 1u);  // tick 3 never came
    server_.reset();
    Start();
  }
}

// Story: after a restart, the set of a fork had the ticks of the match before, which had had a fork
// of the same name and the same set.
TEST_F(BodySetsClientTest, TheNextForkOfANameHasNoneOfTheEarlierTicks) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 100, 100)}).ok());
  const auto stream = client_->OpenStream();
  for (const uint64_t first : {997u, 1u}) {
    ASSERT_TRUE(client_->ForkScene("scenes/a", {.name = "scenes/f"}).ok());
    Frame frame;
    frame.body_sets.push_back(Disc("scenes/f"));
    for (uint64_t tick = first; tick < first + 4; ++tick) AddTick(tick, 30, frame);
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok() && answer->status.ok()) << answer->status;
    if (first != 1) {
      ASSERT_TRUE(client_->DeleteScene("scenes/f").ok());
    }
  }
  for (int i = 0; i < 2; ++i) {
    Frame frame;
    AskAt("scenes/f", 30, {1, 4, 997}, frame);
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    EXPECT_THAT(answer->groups[0].answers.points.counts, ElementsAre(1, 1, 0));
    EXPECT_EQ(answer->groups[0].answers.points.errors.size(), 1u);
    server_.reset();
    Start();
  }
}

// Story: a tick that arrived late was ignored by the server, until a restart made it an error.
TEST_F(BodySetsClientTest, ATickBelowTheOldestChangesNothingAfterARestartEither) {
  Start();
  const auto stream = client_->OpenStream();
  Frame frame;
  frame.body_sets.push_back(Disc());
  for (uint64_t tick = 1; tick <= 6; ++tick) AddTick(tick, 0, frame);
  for (int i = 0; i < 2; ++i) {
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(answer->status.ok()) << answer->status;
    frame = {};
    AddTick(1, 9, frame);
    server_.reset();
    Start();
  }
}

// Story: a server with a small limit of shapes a frame refused the definitions that a stream sent
// again in one frame, though it had accepted each in a frame of its own.
TEST_F(BodySetsClientTest, WhatIsSentAgainKeepsTheLimitOfShapes) {
  max_queries_ = 8;
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 100, 100)}).ok());
  const auto stream = client_->OpenStream();
  for (uint32_t handle = 5; handle < 10; ++handle) {
    Frame frame;
    BodySet set = Disc();
    set.body_set = handle;
    set.bodies.shapes.assign(6, set.bodies.shapes[0]);
    frame.body_sets = {set};
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok() && answer->status.ok());
  }
  server_.reset();
  Start();
  Frame frame;
  AskAt("scenes/a", 0, {1}, frame);
  const auto answer = Exchange(*stream, frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
}

TEST_F(BodySetsClientTest, SetsOfAForkComeBackWithTheFork) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 100, 100)}).ok());
  ASSERT_TRUE(client_->ForkScene("scenes/a", {.name = "scenes/f"}).ok());
  const auto stream = client_->OpenStream();
  Frame frame;
  frame.body_sets.push_back(Disc("scenes/f"));
  AddTick(1, 0, frame);
  AddTick(2, 4, frame);
  AskAt("scenes/f", 2, {1.5}, frame);
  frame.groups.push_back(frame.groups[0]);
  frame.groups[1].version_at_tick = 2;
  for (int i = 0; i < 2; ++i) {
    const auto answer = Exchange(*stream, frame);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->status.ok()) << answer->status;
    ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    EXPECT_THAT(answer->groups[0].answers.points.counts, ElementsAre(1));
    // The walls of the fork before it was lost are not those of the fork that was made again.
    const absl::Status& walls = answer->groups[1].status;
    EXPECT_TRUE(i == 0 ? walls.ok()
                       : Refuses(walls, absl::StatusCode::kOutOfRange, "version_at_tick"))
        << walls;
    frame.body_sets.clear();
    frame.poses.clear();
    server_.reset();
    Start();
  }
}

}  // namespace
}  // namespace carom
