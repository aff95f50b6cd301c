// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which peer made a call or a connection?
//
// The server shares its resources fairly among peers, so that a client with many calls, streams or
// connections gets no more than a client with one. A peer is an IPv4 address or an IPv6 /64
// network, since a host can use any address of its network. All clients on this machine have one
// address; each of their connections is a peer.
#pragma once

#include <sys/socket.h>

#include <string>

#include "absl/strings/string_view.h"

namespace carom::server {

// Returns the peer of a call from the URI that gRPC has for the client (`ServerContext::peer`).
// Returns `uri` for loopback addresses, and an empty string for Unix sockets and calls within the
// process, which have no address.
std::string PeerOfCall(const std::string& uri);

// Returns the peer of a connection from the client's address; empty for a loopback address or a
// Unix socket.
std::string PeerOfConnection(const sockaddr& address);

// Returns the peer of a call that a proxy forwards, from its header `x-forwarded-for`: the last
// address in the header, which the proxy has appended. If the last entry is no address, returns its
// first 64 bytes.
std::string PeerOfForwarded(absl::string_view header);

}  // namespace carom::server
