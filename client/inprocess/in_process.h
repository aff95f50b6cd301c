// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program run the whole service without a socket, as in a test or a single-player game?
//
// An `InProcessServer` is a server inside the process, and makes clients of that server. The
// clients have the API of carom/client.h and get the bytes that a server on the network would send.
// Limits, stream sessions and shutdown (drain) are those of a server on the network. A program that
// needs no service is faster with the library (carom/group.h).
//
//   auto server = carom::InProcessServer::Start();
//   auto client = (*server)->Connect();
//   auto scene = client->CreateScene("scenes/arena", polygons);
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "carom/client.h"
#include "server/options.h"

namespace carom {

// A server inside the process. Thread-safe. Its clients and their streams may outlive the server:
// their calls then end with UNAVAILABLE.
class InProcessServer {
 public:
  // Starts a server that does not listen on an address; it ignores `options.address`.
  //
  // Errors: INVALID_ARGUMENT naming an option out of range.
  static absl::StatusOr<std::unique_ptr<InProcessServer>> Start(
      const server::ServerOptions& options = {});

  // Drains and stops the server, unless `Drain` has already done so.
  ~InProcessServer();
  InProcessServer(const InProcessServer&) = delete;
  InProcessServer& operator=(const InProcessServer&) = delete;

  // Returns a client of this server. `ClientOptions::own_connection` and `keepalive_interval` have
  // no effect.
  std::unique_ptr<Client> Connect(const ClientOptions& options = {});

  // Drains and stops the server within `ServerOptions::drain_seconds`, as caromd does on SIGTERM.
  // Streams break, have no other server to reconnect to, and end with UNAVAILABLE after their
  // `reconnect_timeout`.
  void Drain();

 private:
  struct Parts;
  explicit InProcessServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace carom
