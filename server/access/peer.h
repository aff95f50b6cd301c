// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who is behind a call or a connection?
//
// What clients share is shared by peer, so that many calls, streams or connections get no more than
// one. A peer is an IP address, of IPv6 the first 64 bits, since a host has as many addresses as it
// likes behind those; on this machine, where all have the same address, it is the connection.
#pragma once

#include <sys/socket.h>

#include <string>

#include "absl/strings/string_view.h"

namespace carom::server {

// Of a call, from gRPC's `uri` of the other side. Empty for Unix sockets and calls within the
// process, which have no address.
std::string PeerOfCall(const std::string& uri);

// Of a connection, from the address of its other side. Empty on this machine.
std::string PeerOfConnection(const sockaddr& address);

// Of a call that a proxy passes on, from the header `x-forwarded-for` as that proxy left it: it has
// added, last, the address that it saw.
std::string PeerOfForwarded(absl::string_view header);

}  // namespace carom::server
