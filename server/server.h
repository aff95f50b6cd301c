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
#include <vector>

#include "absl/status/statusor.h"
#include "server/options.h"

namespace grpc {
class Channel;
class ChannelArguments;
}  // namespace grpc

namespace carom::server {

struct Listener;
struct ServerFigures;

// What a reload of the settings has done: the flags of the settings that changed, and of those that
// change only when the server is started again.
struct ReloadResult {
  std::vector<std::string> changed;
  std::vector<std::string> needs_restart;
};

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
  // the address, for example because another process listens on it, or cannot use the store; the
  // errors of the store (server/store/sqlite/sqlite_journal.h).
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

  // Returns the address of the HTTP port for operators, and of the one for clients without gRPC,
  // with the port number actually bound; empty: the server has no such port.
  std::string admin_address() const;
  std::string http_address() const;

  // Applies the settings of `options` that may change in a running server, and makes another thread
  // reload the credentials file soon. `options` must be valid (`CheckServerOptions`).
  ReloadResult Reload(const ServerOptions& options);

  // Shuts the server down gracefully and returns when it has stopped. Health becomes NOT_SERVING,
  // further calls and further frames (messages of query streams) get UNAVAILABLE, and frames that
  // the server has read are answered. Cancels calls that are not complete after
  // `ServerOptions::drain_seconds`. A second call of `Drain` waits until the first one returns.
  void Drain();

 private:
  struct Parts;
  // Accepts calls, which wait until `ReadScenes` has returned. A listener without sockets: the
  // server has no such port.
  absl::Status Serve(Listener admin, Listener http);
  // Starts the HTTP ports.
  absl::Status ServeHttp(Listener admin, Listener http);
  // Reads the scenes of the store and of the `preload` folder.
  absl::Status ReadScenes();
  // Starts to apply the changes that other servers write to etcd, if the store is in etcd.
  void FollowFleet();
  explicit Server(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace carom::server
