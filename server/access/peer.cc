// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace carom::server {
namespace {

// maximum bytes of a peer name that is taken from an entry of the header `x-forwarded-for` that is
// no address
constexpr size_t kMaxForwardedBytes = 64;

// An IPv4 address or an IPv6 /64 network, as text.
struct Network {
  std::string text;
  bool is_loopback;
};

Network NetworkOf(const in_addr& v4) {
  char text[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &v4, text, sizeof(text));
  return {text, ntohl(v4.s_addr) >> 24 == 127};
}

Network NetworkOf(const in6_addr& v6) {
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    in_addr v4;
    std::memcpy(&v4, v6.s6_addr + 12, sizeof(v4));
    return NetworkOf(v4);
  }
  in6_addr network = v6;
  std::fill_n(network.s6_addr + 8, 8, 0);
  char text[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, &network, text, sizeof(text));
  return {absl::StrCat(text, "/64"), IN6_IS_ADDR_LOOPBACK(&v6) != 0};
}

// Returns the network of the address `host`, which may have a zone, such as `fe80::1%eth0`; nullopt
// if `host` is no address.
std::optional<Network> ParseNetwork(absl::string_view host) {
  const std::string text(host.substr(0, host.find('%')));
  in_addr v4;
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return NetworkOf(v4);
  in6_addr v6;
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return NetworkOf(v6);
  return std::nullopt;
}

// Returns `address` without `:PORT` and without brackets.
absl::string_view HostOf(absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (address.substr(0, 1) == "[") return address.substr(1, address.find(']') - 1);
  // An address with several colons and no brackets is an IPv6 address without a port.
  return address.find(':') == colon ? address.substr(0, colon) : address;
}

}  // namespace

// Parses the URIs of gRPC: `ipv4:HOST:PORT`, `ipv6:[HOST]:PORT` with the brackets as %5B and %5D;
// other schemes have no address.
std::string PeerOfCall(const std::string& uri) {
  absl::string_view rest = uri;
  if (!absl::ConsumePrefix(&rest, "ipv4:") && !absl::ConsumePrefix(&rest, "ipv6:")) return "";
  const std::string address = absl::StrReplaceAll(rest, {{"%5B", "["}, {"%5D", "]"}});
  const std::optional<Network> network = ParseNetwork(HostOf(address));
  return network.has_value() && !network->is_loopback ? network->text : uri;
}

std::string PeerOfConnection(const sockaddr& address) {
  Network network;
  if (address.sa_family == AF_INET) {
    network = NetworkOf(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  } else if (address.sa_family == AF_INET6) {
    network = NetworkOf(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  } else {
    return "";
  }
  return network.is_loopback ? "" : network.text;
}

std::string PeerOfForwarded(absl::string_view header) {
  const size_t comma = header.rfind(',');
  const absl::string_view last =
      absl::StripAsciiWhitespace(comma == header.npos ? header : header.substr(comma + 1));
  const std::optional<Network> network = ParseNetwork(HostOf(last));
  return network.has_value() ? network->text : std::string(last.substr(0, kMaxForwardedBytes));
}

}  // namespace carom::server
