// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A running caromd.
//
//   auto server = Server::Start(options);
//   if (!server.ok()) …
//   std::puts((*server)->address().c_str());
//   (*server)->Drain();
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/options.h"

namespace grpc {
class Channel;
class ChannelArguments;
}  // namespace grpc

namespace carom::server {

// Every part of the service, listening: scenes, queries, grpc.health.v1, and if asked reflection
// and channelz.
//
// Health: SERVING for the server as a whole (the empty name) and both carom services while they
// take calls; NOT_SERVING while `Start` reads the scenes that there were, and from `Drain` on.
// Thread-safe. One process may hold several.
class Server {
 public:
  // With an empty address it listens nowhere: calls come by `InProcessChannel` alone.
  //
  // Errors: INVALID_ARGUMENT naming an option out of range; UNAVAILABLE if the address cannot be
  // listened on, as when another process does, or the store cannot be used; what the store finds
  // (server/store/sqlite/sqlite_journal.h). Takes about 0.3 us for each vertex that the store has.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);

  // Drains if that is yet to be done.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens: `HOST:PORT` with the real port, `unix:PATH`, or empty.
  const std::string& address() const;

  // A channel to this server that takes no socket. Its calls end as those of others when the server
  // drains. No call may begin once `Drain` is called or the server destroyed: gRPC does not survive
  // it.
  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments);

  // Has the file of credentials read again, soon and on another thread.
  void Reload();

  // Shuts down gracefully and returns when all is over, after `drain_seconds` at most: health
  // turns NOT_SERVING, further calls and frames get UNAVAILABLE, what was read is answered; what
  // is not done by then is cancelled. Calls after the first wait for its end.
  void Drain();

 private:
  struct Parts;
  // Takes calls, and answers them once the scenes that there were are read.
  absl::Status Serve();
  absl::Status ReadScenes();
  void FollowOthers();
  explicit Server(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace carom::server
