// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Starts, drains and stops the service within a process.
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

// A server that listens and serves scenes, queries, grpc.health.v1, and with `reflection` also
// reflection and channelz.
//
// Health is SERVING for the server as a whole (the empty name) and for both carom services while
// they answer calls; it is NOT_SERVING while `Start` reads the scenes of the store, and from
// `Drain` on. Thread-safe. A process may have several servers.
class Server {
 public:
  // Starts a server and returns it when it has read the scenes of its store, which takes about
  // 0.3 us for each vertex. With an empty address the server does not listen: it serves only calls
  // of `InProcessChannel`.
  //
  // Errors: INVALID_ARGUMENT naming an invalid option; UNAVAILABLE if the server cannot listen on
  // the address, for example because another process does, or cannot use the store; the errors of
  // the store (server/store/sqlite/sqlite_journal.h).
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);

  // Drains the server, unless `Drain` was called.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns the address on which the server listens: `HOST:PORT` with the port actually bound,
  // `unix:PATH`, or empty if it does not listen.
  const std::string& address() const;

  // Returns a channel to this server that needs no socket. When the server drains, calls of the
  // channel end like calls from outside. The caller must start no call after `Drain` was called or
  // the server destroyed: gRPC would crash.
  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments);

  // Makes another thread reload the credentials file soon.
  void Reload();

  // Shuts the server down gracefully and returns when it has stopped. Health becomes NOT_SERVING,
  // further calls and further frames (messages of query streams) get UNAVAILABLE, and frames that
  // the server has read are answered. Cancels calls that are not complete after
  // `ServerOptions::drain_seconds`. A second call of `Drain` waits until the first one returns.
  void Drain();

 private:
  struct Parts;
  // Accepts calls, which wait until `ReadScenes` has returned.
  absl::Status Serve();
  // Reads the scenes of the store and of the `preload` folder.
  absl::Status ReadScenes();
  // Starts to apply the changes that other servers write to etcd, if the store is in etcd.
  void FollowFleet();
  explicit Server(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace carom::server
