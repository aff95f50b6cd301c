// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "gtest/gtest.h"

namespace carom::server {
namespace {

// A peer is an address; on loopback, where all have one, a connection.
TEST(PeerTest, OfACall) {
  EXPECT_EQ(PeerOfCall("ipv4:192.0.2.7:4711"), "192.0.2.7");
  EXPECT_EQ(PeerOfCall("ipv6:%5B::ffff:192.0.2.7%5D:4711"), "192.0.2.7");
  for (const char* local : {"ipv4:127.0.0.1:4711", "ipv4:127.9.0.1:4711", "ipv6:%5B::1%5D:4711",
                            "ipv6:[::1]:4711", "ipv6:%5B::ffff:127.0.0.1%5D:4711"}) {
    EXPECT_EQ(PeerOfCall(local), local);
  }
  EXPECT_EQ(PeerOfCall("unix:"), "");
  EXPECT_EQ(PeerOfCall("inproc"), "");
  EXPECT_EQ(PeerOfCall("ipv4:nonsense"), "ipv4:nonsense");
}

// Story: a host with a /64 of IPv6 addresses was as many peers as it liked.
TEST(PeerTest, OfIpv6IsItsNetwork) {
  EXPECT_EQ(PeerOfCall("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:4711"), "2001:db8:1:2::/64");
  EXPECT_EQ(PeerOfCall("ipv6:[2001:db8:1:2::9]:4711"), "2001:db8:1:2::/64");
  EXPECT_EQ(PeerOfCall("ipv6:[fe80::1%25eth0]:4711"), "fe80::/64");
  EXPECT_NE(PeerOfCall("ipv6:[2001:db8:1:3::9]:4711"), "2001:db8:1:2::/64");
}

TEST(PeerTest, OfAConnection) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  ASSERT_EQ(inet_pton(AF_INET, "192.0.2.7", &v4.sin_addr), 1);
  EXPECT_EQ(PeerOfConnection(reinterpret_cast<const sockaddr&>(v4)), "192.0.2.7");
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(PeerOfConnection(reinterpret_cast<const sockaddr&>(v4)), "");
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  ASSERT_EQ(inet_pton(AF_INET6, "2001:db8:1:2:3::4", &v6.sin6_addr), 1);
  EXPECT_EQ(PeerOfConnection(reinterpret_cast<const sockaddr&>(v6)), "2001:db8:1:2::/64");
  const sockaddr unix_socket{.sa_family = AF_UNIX, .sa_data = {}};
  EXPECT_EQ(PeerOfConnection(unix_socket), "");
}

// What the client sent comes first and is not believed.
TEST(PeerTest, OfAForwardedCall) {
  EXPECT_EQ(PeerOfForwarded("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(PeerOfForwarded("203.0.113.5, 192.0.2.7 "), "192.0.2.7");
  EXPECT_EQ(PeerOfForwarded("192.0.2.7:4711"), "192.0.2.7");
  EXPECT_EQ(PeerOfForwarded("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(PeerOfForwarded("[2001:db8:1:2::9]:4711"), "2001:db8:1:2::/64");
  EXPECT_EQ(PeerOfForwarded(""), "");
  EXPECT_EQ(PeerOfForwarded(std::string(1000, 'x')).size(), 64u);
}

}  // namespace
}  // namespace carom::server
