// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which peer made a call or a connection?
//
// The server shares its resources fairly among peers, so that a client with many calls, streams or
// connections gets no more than a client with one. A peer is an IPv4 address or an IPv6 /64
// network, since a host can use any address of its network. All clients on the machine of the
// server have one address, so there each connection is a peer.
#pragma once

#include <sys/socket.h>

#include <string>

#include "absl/strings/string_view.h"

namespace carom::server {

// Returns the peer of a call from `uri`, the URI that gRPC has for the client
// (`ServerContext::peer`): the client's IPv4 address or IPv6 /64 network as text. Returns `uri` for
// loopback addresses, and an empty string for Unix sockets and calls within the process, which have
// no address.
std::string PeerOfCall(const std::string& uri);

// Returns the peer of a connection from the client's address `address`: the IPv4 address or IPv6
// /64 network as text, by which limits count connections; empty for a loopback address or a Unix
// socket.
std::string PeerOfConnection(const sockaddr& address);

// Returns the peer of a call that a proxy forwards, from its header `x-forwarded-for`: the last
// address in the header, which the proxy has appended. If the last entry of the header is no
// address, returns the first 64 bytes of the entry.
std::string PeerOfForwarded(absl::string_view header);

}  // namespace carom::server
