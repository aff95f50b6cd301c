// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Servers that are stopped and started under a client, as an upgrade does it.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/repeats.h"

namespace carom {
namespace {

using testing::ServerProcess;

constexpr char kScene[] = "scenes/a";

// A caromd at `address` with a scene of one triangle.
std::unique_ptr<ServerProcess> StartTriangleServer(const std::string& address) {
  const char* binary = std::getenv("CAROMD_BINARY");
  auto server = ServerProcess::Start(binary == nullptr ? "" : binary, {}, 20, address);
  if (server == nullptr) return nullptr;
  const auto client = Client::Connect(server->address(), {.own_connection = true});
  const auto triangle = Polygon::Create({.id = 7, .rings = {{{{-1, -1}, {1, -1}, {0, 1}}}}});
  const Polygon polygons[] = {triangle.value()};
  return (*client)->CreateScene(kScene, polygons).ok() ? std::move(server) : nullptr;
}

// Frame `seq` asks for the point (seq % 3, 0), which the triangle holds where that is 0.
class Talk {
 public:
  explicit Talk(Stream& stream) : stream_(stream), thread_([this] { Run(); }) {}

  // The number of answers, each checked.
  uint64_t Stop() {
    stop_ = true;
    thread_.join();
    return answers_;
  }
  uint64_t answers() const { return answers_; }

 private:
  void Run() {
    uint64_t sent = 0;
    while (!stop_) {
      const double x[] = {static_cast<double>(sent % 3)}, y[] = {0};
      Frame frame;
      frame.seq = sent++;
      frame.groups.push_back({kScene, 0, {}});
      frame.groups.back().group.points = {x, y};
      ASSERT_TRUE(stream_.Send(frame).ok());
      if (sent > 8) Receive();
    }
    while (answers_ < sent && !::testing::Test::HasFatalFailure()) Receive();
  }

  void Receive() {
    const absl::StatusOr<FrameAnswer> answer = stream_.Receive();
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->seq, answers_);
    ASSERT_TRUE(answer->status.ok()) << answer->status;
    ASSERT_EQ(answer->groups.size(), 1u);
    ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
    ASSERT_EQ(answer->groups[0].answers.points.counts.at(0), answers_ % 3 == 0 ? 1u : 0u);
    ++answers_;
  }

  Stream& stream_;
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> answers_ = 0;
  std::thread thread_;
};

TEST(DrainTest, NoAnswerIsLostOrDoubledWhileServersAreStoppedInTurns) {
  std::unique_ptr<ServerProcess> servers[2];
  for (auto& server : servers) {
    server = StartTriangleServer("127.0.0.1:0");
    ASSERT_NE(server, nullptr);
  }
  const std::string addresses[] = {servers[0]->address(), servers[1]->address()};
  const auto client = Client::Connect(absl::StrCat(addresses[0], ",", addresses[1]));
  ASSERT_TRUE(client.ok());
  const auto stream = (*client)->OpenStream({.max_in_flight = 9});
  Talk talk(*stream);
  const int drains = testing::Repeats(20, 100);
  for (int i = 0; i < drains; ++i) {
    const uint64_t before = talk.answers();
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (talk.answers() < before + 20 && std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(servers[i % 2]->Stop(), 0) << i;
    servers[i % 2] = StartTriangleServer(addresses[i % 2]);
    ASSERT_NE(servers[i % 2], nullptr) << i;
  }
  const uint64_t answers = talk.Stop();
  EXPECT_GE(answers, 20u * static_cast<uint64_t>(drains));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_GE(stream->reconnects(), static_cast<uint64_t>(drains) / 2);
}

}  // namespace
}  // namespace carom
