// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program have the whole service without a socket, as in a test or a single-player game?
//
// An `InProcessServer` is a server inside the process, and gives clients of it: the API of
// carom/client.h, the same bytes as over a network, limits, sessions and drain included. A program
// that needs no service is faster with the library (carom/group.h).
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

// Thread-safe. Clients and streams may outlive it: their calls then end with UNAVAILABLE.
class InProcessServer {
 public:
  // `options.address` is not read: the server listens nowhere.
  //
  // Errors: INVALID_ARGUMENT naming an option out of range.
  static absl::StatusOr<std::unique_ptr<InProcessServer>> Start(
      const server::ServerOptions& options = {});

  // Drains if that is yet to be done.
  ~InProcessServer();
  InProcessServer(const InProcessServer&) = delete;
  InProcessServer& operator=(const InProcessServer&) = delete;

  // A client of this server. `own_connection` and `keepalive_interval` have no effect.
  std::unique_ptr<Client> Connect(const ClientOptions& options = {});

  // Drains and stops, within `drain_seconds`, as a server does on SIGTERM. Streams break;
  // with nowhere else to go they end with UNAVAILABLE after their `reconnect_timeout`.
  void Drain();

 private:
  struct Parts;
  explicit InProcessServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace carom
