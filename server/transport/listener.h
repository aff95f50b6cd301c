// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where a server listens.
//
// caromd listens and accepts by itself: gRPC 1.51 counts no connections, stops accepting for good
// once descriptors have run out, says nothing of why it cannot listen, and takes a Unix socket from
// a server that listens on it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/file_descriptor.h"

namespace carom::server {

// Sockets that listen, without blocking. The file of a Unix socket goes with them.
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
  std::string address;    // `HOST:PORT` with the real port, or `unix:PATH`
  std::string unix_path;  // empty: none
};

// Listens on `address`, `HOST:PORT` (on every address of a host name, or those of them that the
// machine has; port 0: a free one) or `unix:PATH` (in place of a socket that nobody listens on).
//
// Errors: UNAVAILABLE with the reason: another process listens there, the port needs privileges,
// the host is not of this machine or has no address.
absl::StatusOr<Listener> Listen(absl::string_view address);

}  // namespace carom::server
