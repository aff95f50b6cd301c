// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Opens the sockets on which a server listens.
//
// caromd listens and accepts connections itself, because gRPC 1.51 does not count connections,
// stops accepting for ever after descriptors have run out, gives no reason if it cannot listen, and
// takes over the path of a Unix socket from a server that still listens.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/file_descriptor.h"

namespace carom::server {

// Holds the non-blocking sockets on which a server listens. The destructor closes the sockets and
// deletes the file of a Unix socket.
struct Listener {
  Listener() = default;
  Listener(Listener&& other) noexcept { *this = std::move(other); }
  Listener& operator=(Listener&& other) noexcept {
    std::swap(sockets, other.sockets);
    std::swap(address, other.address);
    std::swap(unix_path, other.unix_path);
    return *this;
  }
  ~Listener();

  std::vector<FileDescriptor> sockets;
  std::string address;    // `HOST:PORT` with the port actually bound, or `unix:PATH`
  std::string unix_path;  // path of the Unix socket; empty: none
};

// Listens on `address`: `HOST:PORT` or `unix:PATH`. If HOST is a name, listens on every address of
// the host that belongs to this machine; port 0 is replaced by a free port. Replaces a Unix socket
// on which no process listens.
//
// Errors: UNAVAILABLE with the reason, for example that another process listens on the address, the
// port needs privileges, or the host has no address, or no address that belongs to this machine.
absl::StatusOr<Listener> Listen(absl::string_view address);

}  // namespace carom::server
