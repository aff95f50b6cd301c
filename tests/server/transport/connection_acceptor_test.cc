// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/connection_acceptor.h"

#include <sys/stat.h>

#include <fstream>

#include "server/transport/listener.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

TEST(ConnectionCountsTest, InAllAndByPeer) {
  ConnectionCounts counts({.total = 5, .by_peer = 2});
  EXPECT_TRUE(counts.Enter("a"));
  EXPECT_TRUE(counts.Enter("a"));
  EXPECT_FALSE(counts.Enter("a"));
  EXPECT_TRUE(counts.Enter("b"));
  counts.Leave("a");
  EXPECT_TRUE(counts.Enter("a"));
  EXPECT_FALSE(counts.Enter("a"));
  // Those of this machine have no peer.
  EXPECT_TRUE(counts.Enter(""));
  EXPECT_TRUE(counts.Enter(""));
  EXPECT_FALSE(counts.Enter(""));
  EXPECT_FALSE(counts.Enter("c"));
  EXPECT_EQ(counts.total(), 5u);
  for (const char* peer : {"a", "a", "b", "", ""}) counts.Leave(peer);
  EXPECT_EQ(counts.total(), 0u);
  EXPECT_TRUE(counts.Enter("c"));
}

TEST(ListenerTest, ReportsTheRealPort) {
  const auto listener = Listen("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_THAT(listener->address, ::testing::MatchesRegex("127.0.0.1:[1-9][0-9]*"));
  const auto second = Listen(listener->address);
  EXPECT_EQ(second.status(), absl::UnavailableError("cannot listen on " + listener->address +
                                                    ": another process does"));
}

TEST(ListenerTest, HostNames) {
  const auto local = Listen("localhost:0");
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_FALSE(local->sockets.empty());
  EXPECT_FALSE(Listen("no-such-host.invalid:0").ok());
}

TEST(ListenerTest, UnixSockets) {
  TemporaryFolder folder;
  const std::string path = folder / "socket";
  {
    const auto listener = Listen("unix:" + path);
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_FALSE(Listen("unix:" + path).ok());
  }
  // It goes with its listener.
  struct stat file;
  EXPECT_NE(stat(path.c_str(), &file), 0);
  // A file that is no socket is somebody's.
  std::ofstream(path) << "mine";
  EXPECT_FALSE(Listen("unix:" + path).ok());
  EXPECT_EQ(stat(path.c_str(), &file), 0);
}

}  // namespace
}  // namespace carom::server
