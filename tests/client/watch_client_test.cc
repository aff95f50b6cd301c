// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `SceneWatch`: a program follows a scene, whatever its connection does.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/client/fixture.h"
#include "tests/support/cut_proxy.h"

namespace carom {
namespace {

using absl::StatusCode;
using std::chrono::milliseconds;
using testing::CutProxy;

class WatchClientTest : public ClientTest {
 protected:
  // Has the server listen on loopback, and returns the port.
  uint16_t Listen() {
    server::ServerOptions options;
    options.address = "127.0.0.1:0";
    options.threads = 2;
    server_ = *server::Server::Start(options);
    client_ = *Client::Connect(server_->address());
    const std::string& address = server_->address();
    return static_cast<uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
  }
  uint64_t Commit(uint64_t id) {
    const std::vector<SceneEdit> edits = {AddPolygon{Square(id, 2.0 * static_cast<double>(id), 0)}};
    const auto made = client_->CommitEdits("scenes/arena", 0, edits);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->version : 0;
  }
};

TEST_F(WatchClientTest, GivesEachVersion) {
  const auto made = client_->CreateScene("scenes/arena", Squares(2));
  const auto watch = client_->WatchScene("scenes/arena", {.polygons = true});
  auto update = watch->Next();
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->scene, *made);
  EXPECT_EQ(update->base_version, 0u);
  EXPECT_TRUE(update->changes.empty());
  EXPECT_EQ(update->polygons.size(), 2u);
  const uint64_t version = Commit(5);
  update = watch->Next();
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->scene.version, version);
  EXPECT_EQ(update->base_version, made->version);
  EXPECT_FALSE(update->edit_id.empty());
  ASSERT_EQ(update->changes.size(), 1u);
  EXPECT_EQ(update->changes[0].id, 5u);
  EXPECT_EQ(update->changes[0].change, PolygonChange::kAdded);
  EXPECT_EQ(update->changes[0].bounds.min, (Vec2{10, 0}));
  ASSERT_EQ(update->polygons.size(), 1u);
  EXPECT_EQ(update->polygons[0].id(), 5u);
}

// The thread in `Next` is let go, and what has ended stays so.
TEST_F(WatchClientTest, IsCancelledFromAnotherThread) {
  ASSERT_TRUE(client_->CreateScene("scenes/arena", {}).ok());
  const auto watch = client_->WatchScene("scenes/arena");
  ASSERT_TRUE(watch->Next().ok());
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(50));
    watch->Cancel();
  });
  EXPECT_EQ(watch->Next().status().code(), StatusCode::kCancelled);
  other.join();
  EXPECT_EQ(watch->Next().status().code(), StatusCode::kCancelled);
}

TEST_F(WatchClientTest, EndsWithAnError) {
  EXPECT_TRUE(
      Refuses(client_->WatchScene("scenes/arena")->Next().status(), StatusCode::kNotFound, "name"));
  EXPECT_TRUE(
      Refuses(client_->WatchScene("arena")->Next().status(), StatusCode::kInvalidArgument, "name"));
  ASSERT_TRUE(client_->CreateScene("scenes/arena", {}).ok());
  EXPECT_TRUE(Refuses(client_->WatchScene("scenes/arena", {.from_version = 77})->Next().status(),
                      StatusCode::kOutOfRange, "from_version"));
  const auto watch = client_->WatchScene("scenes/arena");
  ASSERT_TRUE(watch->Next().ok());
  ASSERT_TRUE(client_->DeleteScene("scenes/arena").ok());
  EXPECT_TRUE(Refuses(watch->Next().status(), StatusCode::kNotFound, "name"));
}

TEST_F(WatchClientTest, GivesUpWithoutAServer) {
  ASSERT_TRUE(client_->CreateScene("scenes/arena", {}).ok());
  const auto watch = client_->WatchScene("scenes/arena", {.reconnect_timeout = milliseconds(200)});
  ASSERT_TRUE(watch->Next().ok());
  server_.reset();
  EXPECT_EQ(watch->Next().status().code(), StatusCode::kUnavailable);
}

// The time to go on is that of each failure: a watch that nothing happens to outlives any number.
TEST_F(WatchClientTest, GoesOnAfterFailuresFarApart) {
  const auto proxy = CutProxy::Start(Listen(), [] { return CutProxy::Plan{}; });
  ASSERT_NE(proxy, nullptr);
  ASSERT_TRUE(client_->CreateScene("scenes/arena", {}).ok());
  const auto client = *Client::Connect(proxy->address(), {.own_connection = true});
  const auto watch = client->WatchScene("scenes/arena", {.reconnect_timeout = milliseconds(4000)});
  ASSERT_TRUE(watch->Next().ok());
  uint64_t version = 0;
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) {
      proxy->CutAll();
      std::this_thread::sleep_for(milliseconds(4500));
    }
    version = Commit(1);
  });
  const auto update = watch->Next();
  other.join();
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->scene.version, version);
}

// However often the connection is cut, no version is missed and none comes twice.
TEST_F(WatchClientTest, GoesOnAfterCuts) {
  uint64_t bytes = 300;
  const uint16_t port = Listen();
  const auto proxy = CutProxy::Start(port, [&] {
    bytes += 137;
    return CutProxy::Plan{.to_client = bytes};
  });
  ASSERT_NE(proxy, nullptr);
  ASSERT_TRUE(client_->CreateScene("scenes/arena", {}).ok());
  const auto client = *Client::Connect(proxy->address(), {.own_connection = true});
  const auto watch = client->WatchScene("scenes/arena", {.polygons = true});
  // The first one may take several connections, each of which carries a little more.
  auto update = watch->Next();
  ASSERT_TRUE(update.ok()) << update.status();
  uint64_t last = update->scene.version;
  for (uint64_t id = 0; id < 60; ++id) {
    const uint64_t version = Commit(id);
    update = watch->Next();
    ASSERT_TRUE(update.ok()) << update.status();
    EXPECT_EQ(update->scene.version, version);
    EXPECT_EQ(update->base_version, std::exchange(last, version));
  }
  EXPECT_GT(proxy->cuts(), 3u);
}

}  // namespace
}  // namespace carom
