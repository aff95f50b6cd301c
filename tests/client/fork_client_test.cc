// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Forks as the client library has them: made, edited in frames, and made again when their server is
// lost.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "tests/client/fixture.h"
#include "tests/support/cut_proxy.h"
#include "tests/support/random.h"

namespace carom {
namespace {

using ::testing::ElementsAre;

class ForkClientTest : public ::testing::Test {
 protected:
  void Start() {
    server::ServerOptions options;
    options.address = "unix:" + (folder_ / "socket");
    options.store = "sqlite";
    options.state_dir = folder_ / "state";
    options.threads = 2;
    options.drain_seconds = 1;
    auto started = server::Server::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    if (client_ == nullptr) client_ = *Client::Connect(server_->address());
  }

  // A frame that asks what is at (x, y) of a fork, after edits.
  Frame At(const std::string& fork, std::vector<SceneEdit> edits = {}, uint64_t base = 0) const {
    Group group;
    group.points = {x_, y_};
    Frame frame;
    frame.groups.push_back({.scene = fork, .group = group});
    if (!edits.empty()) {
      frame.groups[0].edits = GroupEdits{.edits = std::move(edits), .base_version = base};
    }
    return frame;
  }
  static GroupResult Ask(Stream& stream, const Frame& frame) {
    EXPECT_TRUE(stream.Send(frame).ok());
    absl::StatusOr<FrameAnswer> answer = stream.Receive();
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok() || answer->groups.size() != 1) return {};
    return answer->groups[0];
  }

  const std::vector<double> x_ = {0.5}, y_ = {0.5};
  const ScratchFolder folder_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(ForkClientTest, ForksAreMadeEditedPinnedAndDeleted) {
  Start();
  const auto base = client_->CreateScene("scenes/a", std::vector{Square(7, 0, 0)});
  ASSERT_TRUE(base.ok()) << base.status();
  const auto fork = client_->ForkScene("scenes/a");
  ASSERT_TRUE(fork.ok()) << fork.status();
  EXPECT_EQ(fork->base, "scenes/a");
  EXPECT_EQ(fork->base_version, base->version);
  EXPECT_TRUE(
      Refuses(client_->ForkScene("scenes/b").status(), absl::StatusCode::kNotFound, "base"));
  EXPECT_TRUE(Refuses(client_->ForkScene("scenes/a", {.name = fork->name}).status(),
                      absl::StatusCode::kAlreadyExists, "name"));
  const auto stream = client_->OpenStream();
  const GroupResult edited = Ask(*stream, At(fork->name, {AddPolygon{Square(9, 0, 0)}}));
  ASSERT_TRUE(edited.status.ok()) << edited.status;
  EXPECT_THAT(edited.answers.points.polygon_ids, ElementsAre(7, 9));
  EXPECT_EQ(edited.edited_version, edited.answers.version);
  EXPECT_TRUE(
      Refuses(Ask(*stream, At(fork->name, {AddPolygon{Square(10, 0, 0)}}, fork->version)).status,
              absl::StatusCode::kAborted, "edits.base_version"));
  Frame pinned = At(fork->name);
  pinned.groups[0].version = fork->version;
  EXPECT_THAT(Ask(*stream, pinned).answers.points.polygon_ids, ElementsAre(7));
  // One frame, one call.
  const auto answer = client_->Evaluate(At(fork->name, {RemovePolygon{7}}));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->groups[0].answers.points.polygon_ids, ElementsAre(9));
  EXPECT_TRUE(client_->DeleteScene(fork->name).ok());
  EXPECT_TRUE(Refuses(Ask(*stream, At(fork->name)).status, absl::StatusCode::kNotFound, "scene"));
}

// Story: a match whose server is restarted goes on with its doors as they were.
TEST_F(ForkClientTest, AForkThatItsServerHasLostIsMadeAgain) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", Squares(40)).ok());
  const auto fork = client_->ForkScene("scenes/a", {.name = "scenes/match-1"});
  ASSERT_TRUE(fork.ok()) << fork.status();
  // The base goes on; the fork begins where it began.
  ASSERT_TRUE(client_->CommitEdits("scenes/a", 0, std::vector<SceneEdit>{RemovePolygon{0}}).ok());
  const auto stream = client_->OpenStream();
  Frame bind = At(fork->name);
  bind.bindings.push_back({5, fork->name});
  Ask(*stream, bind);
  const auto edit = [&](std::vector<SceneEdit> edits) {
    Frame frame = At(fork->name, std::move(edits));
    frame.groups[0].scene = uint64_t{5};
    const GroupResult result = Ask(*stream, frame);
    EXPECT_TRUE(result.status.ok()) << result.status;
    return result;
  };
  edit({AddPolygon{Square(100, 0, 0)}, RemovePolygon{3}, ReplacePolygon{Square(4, 0, 50)}});
  edit({RemovePolygon{100}, AddPolygon{Square(101, 0, 0)}, RemovePolygon{4}});
  edit({AddPolygon{Square(4, 0, 60)}});
  ASSERT_TRUE(client_->CommitEdits(fork->name, 0, std::vector<SceneEdit>{RemovePolygon{5}}).ok());
  const auto before = client_->ExportScene(fork->name);
  ASSERT_TRUE(before.ok()) << before.status();

  server_.reset();
  Start();
  const GroupResult after = edit({AddPolygon{Square(102, 0, 0)}});
  EXPECT_EQ(stream->reconnects(), 1);
  EXPECT_THAT(after.answers.points.polygon_ids, ElementsAre(0, 101, 102));
  auto exported = client_->ExportScene(fork->name);
  ASSERT_TRUE(exported.ok()) << exported.status();
  ASSERT_EQ(exported->size(), before->size() + 1);
  for (size_t i = 0; i < before->size(); ++i) {
    EXPECT_EQ((*exported)[i].id(), (*before)[i].id());
    EXPECT_EQ((*exported)[i].bounds().min, (*before)[i].bounds().min);
  }
}

// Story: a server that is started again numbers the versions of a fork anew. The log took edits
// whose versions were below those before the restart for older ones, and the next restart lost
// them.
TEST_F(ForkClientTest, AForkIsMadeAgainAfterEachLoss) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", std::vector{Square(7, 0, 0)}).ok());
  const auto fork = client_->ForkScene("scenes/a", {.name = "scenes/match-1"});
  ASSERT_TRUE(fork.ok()) << fork.status();
  const auto stream = client_->OpenStream();
  for (int i = 0; i < 20; ++i) Ask(*stream, At(fork->name, {ReplacePolygon{Square(7, 9, 0)}}));
  ASSERT_TRUE(Ask(*stream, At(fork->name, {AddPolygon{Square(9, 9, 0)}})).status.ok());
  for (int i = 0; i < 4; ++i) {
    // The polygon 7 or 9 in turns moves to the point, and the other one away.
    std::vector<SceneEdit> edits{ReplacePolygon{Square(i % 2 == 0 ? 7 : 9, 0, 0)},
                                 ReplacePolygon{Square(i % 2 == 0 ? 9 : 7, 9, 0)}};
    server_.reset();
    Start();
    const GroupResult edited = Ask(*stream, At(fork->name, std::move(edits)));
    EXPECT_TRUE(edited.status.ok()) << edited.status;
    EXPECT_THAT(edited.answers.points.polygon_ids, ElementsAre(i % 2 == 0 ? 7 : 9));
    server_.reset();
    Start();
    EXPECT_THAT(Ask(*stream, At(fork->name)).answers.points.polygon_ids,
                ElementsAre(i % 2 == 0 ? 7 : 9));
  }
  EXPECT_EQ(stream->reconnects(), 8);
}

// Story: a stream whose connections fail goes to another server and comes back, while both servers
// live. The first one still had the fork as it was, without the edits made on the other one.
TEST_F(ForkClientTest, AForkThatWasLeftBehindIsReplaced) {
  std::vector<std::unique_ptr<server::Server>> servers;
  std::vector<std::unique_ptr<testing::CutProxy>> proxies;
  for (int i = 0; i < 2; ++i) {
    servers.push_back(*server::Server::Start({.address = "127.0.0.1:0", .threads = 2}));
    const std::string& address = servers.back()->address();
    ASSERT_TRUE((*Client::Connect(address))->CreateScene("scenes/a", {}).ok());
    const uint64_t port = std::stoull(address.substr(address.rfind(':') + 1));
    proxies.push_back(testing::CutProxy::Start(static_cast<uint16_t>(port),
                                               [] { return testing::CutProxy::Plan(); }));
    ASSERT_NE(proxies.back(), nullptr);
  }
  client_ = *Client::Connect(proxies[0]->address() + "," + proxies[1]->address());
  const auto fork = client_->ForkScene("scenes/a");
  ASSERT_TRUE(fork.ok()) << fork.status();
  const auto stream = client_->OpenStream();
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < 6; ++i) {
    ids.push_back(i);
    const GroupResult edited = Ask(*stream, At(fork->name, {AddPolygon{Square(i, 0, 0)}}));
    EXPECT_TRUE(edited.status.ok()) << edited.status;
    EXPECT_EQ(edited.answers.points.polygon_ids, ids);
    EXPECT_EQ(stream->reconnects(), i);
    proxies[i % 2]->CutAll();
  }
}

// Story: the log has edits alone, so a fork that was rolled back was made again with those that had
// gone back.
TEST_F(ForkClientTest, AForkThatWasRolledBackIsNotMadeAgain) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", {}).ok());
  const auto fork = client_->ForkScene("scenes/a");
  ASSERT_TRUE(fork.ok()) << fork.status();
  const auto stream = client_->OpenStream();
  ASSERT_TRUE(Ask(*stream, At(fork->name, {AddPolygon{Square(9, 0, 0)}})).status.ok());
  const auto back = client_->RollbackScene(fork->name, fork->version);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->polygon_count, 0u);
  const GroupResult after = Ask(*stream, At(fork->name, {AddPolygon{Square(10, 0, 0)}}));
  EXPECT_THAT(after.answers.points.polygon_ids, ElementsAre(10));
  server_.reset();
  Start();
  EXPECT_TRUE(Refuses(Ask(*stream, At(fork->name)).status, absl::StatusCode::kNotFound, "scene"));
}

TEST_F(ForkClientTest, WithoutItsBaseAForkIsGone) {
  Start();
  ASSERT_TRUE(client_->CreateScene("scenes/a", Squares(1)).ok());
  const auto fork = client_->ForkScene("scenes/a");
  ASSERT_TRUE(fork.ok()) << fork.status();
  const auto stream = client_->OpenStream();
  EXPECT_TRUE(Ask(*stream, At(fork->name)).status.ok());
  ASSERT_TRUE(client_->DeleteScene("scenes/a").ok());
  EXPECT_TRUE(Ask(*stream, At(fork->name)).status.ok());
  server_.reset();
  Start();
  EXPECT_TRUE(Refuses(Ask(*stream, At(fork->name)).status, absl::StatusCode::kNotFound, "scene"));
}

// Story: a stream waited at its end for the forks that another one was making again, and for a
// server that did not answer, 5 s a call.
TEST_F(ForkClientTest, AStreamThatEndsWaitsForNoFork) {
  // Takes connections, and says nothing.
  const std::string path = folder_ / "silent";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const absl::Cleanup closes = [listener] { close(listener); };
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 16), 0);
  Start();
  client_ = *Client::Connect(server_->address() + ",unix:" + path);
  ASSERT_TRUE(client_->CreateScene("scenes/a", {}).ok());
  const auto fork = client_->ForkScene("scenes/a");
  ASSERT_TRUE(fork.ok()) << fork.status();
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(client_->OpenStream());
    EXPECT_TRUE(Ask(*streams.back(), At(fork->name)).status.ok());
  }
  server_.reset();
  for (const auto& stream : streams) EXPECT_TRUE(stream->Send(At(fork->name)).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto begin = std::chrono::steady_clock::now();
  streams.clear();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

// Frames whose answers are lost are sent again, and their edits are made once.
TEST_F(ForkClientTest, ConnectionsThatBreakMakeNoEditTwice) {
  server::ServerOptions options;
  options.address = "127.0.0.1:0";
  options.threads = 2;
  server_ = *server::Server::Start(options);
  const auto direct = *Client::Connect(server_->address());
  ASSERT_TRUE(direct->CreateScene("scenes/a", {}).ok());
  testing::SplitMix64 random(3);
  const uint64_t port = std::stoull(server_->address().substr(server_->address().rfind(':') + 1));
  const auto proxy = testing::CutProxy::Start(static_cast<uint16_t>(port), [&random] {
    const uint64_t bytes = 400 + random.Next() % 3000;
    return random.Next() % 2 == 0 ? testing::CutProxy::Plan{.to_server = bytes}
                                  : testing::CutProxy::Plan{.to_client = bytes};
  });
  ASSERT_NE(proxy, nullptr);
  const auto fork = direct->ForkScene("scenes/a");
  ASSERT_TRUE(fork.ok()) << fork.status();
  client_ = *Client::Connect(proxy->address(), {.own_connection = true});
  const auto stream = client_->OpenStream();
  constexpr uint64_t kEdits = 150;
  std::thread sender([&] {
    for (uint64_t i = 0; i < kEdits; ++i) {
      EXPECT_TRUE(stream->Send(At(fork->name, {AddPolygon{Square(i, 0, 0)}})).ok());
    }
  });
  uint64_t last = 0;
  for (uint64_t i = 0; i < kEdits; ++i) {
    const absl::StatusOr<FrameAnswer> answer = stream->Receive();
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    EXPECT_GT(answer->groups[0].edited_version, last);
    EXPECT_EQ(answer->groups[0].answers.points.polygon_ids.size(), i + 1);
    last = answer->groups[0].edited_version;
  }
  sender.join();
  EXPECT_GT(stream->reconnects(), 3u);
}

}  // namespace
}  // namespace carom
