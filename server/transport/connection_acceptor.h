// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many connections may there be?
//
// Accepts connections and gives them to gRPC, within limits in all and by peer. Whoever is one too
// many is closed at once, and finds room again when others have gone.
#pragma once

#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/file_descriptor.h"
#include "server/base/timer.h"
#include "server/transport/listener.h"

namespace carom::server {

struct ConnectionLimits {
  size_t total = 16384;
  size_t by_peer = 1024;  // server/access/peer.h; those of this machine are not limited so
  // How long the other side may take nothing of what was sent to it. The connection is broken then:
  // gRPC ends no call whose last bytes its socket has not taken. Of Unix sockets a quarter longer.
  std::chrono::milliseconds unsent_time{60000};
};

// Counts connections against the limits. Not thread-safe.
class ConnectionCounts {
 public:
  explicit ConnectionCounts(const ConnectionLimits& limits) : limits_(limits) {}

  // Counts one more of a peer (empty: of none). False if there is no room for it.
  bool Enter(const std::string& peer);
  void Leave(const std::string& peer);

  size_t total() const { return total_; }

 private:
  const ConnectionLimits limits_;
  size_t total_ = 0;
  absl::flat_hash_map<std::string, size_t> by_peer_;
};

// gRPC closes a connection without a word, so a duplicate of its socket is watched: each connection
// takes two descriptors. `total` is lowered to what the process may have of them.
//
// One thread, from `Start` to `Stop`. Thread-safe.
class ConnectionAcceptor {
 public:
  using Grpc = grpc::experimental::ExternalConnectionAcceptor;

  // `grpc` belongs to a server that is built before `Start`.
  ConnectionAcceptor(Listener listener, std::unique_ptr<Grpc> grpc, const ConnectionLimits& limits);
  ~ConnectionAcceptor() { Stop(); }

  // UNAVAILABLE if the system has no descriptors for it.
  absl::Status Start();
  // Listens no more. Connections that there are go on.
  void Stop();

 private:
  void Run();
  bool IsListening(int fd) const;
  // Asks for events of the listening sockets, or of connections alone.
  void Listen(bool listens);
  // Accepts what waits on a socket. False if the system has no descriptor for it.
  bool AcceptFrom(int listening);
  // Watches a connection and gives it to gRPC. False if the system has no descriptor for it.
  bool Add(FileDescriptor connection, std::string peer);
  void Remove(int watched);
  // What TCP_USER_TIMEOUT does for TCP: breaks connections whose buffers are full and stay as they
  // are. Called now and then.
  void BreakUnread();

  Listener listener_;
  const std::unique_ptr<Grpc> grpc_;
  const std::chrono::milliseconds unsent_time_;
  const bool is_unix_;
  FileDescriptor epoll_;
  FileDescriptor stop_event_;
  std::thread thread_;
  // Of the thread alone.
  ConnectionCounts counts_;
  struct Connection {
    FileDescriptor watched;
    std::string peer;
    // Of a Unix socket that takes no more: its bytes when they were counted last, and since when
    // they are as many. Until it has room, which is watched for, or else 0.
    int unread_bytes = 0;
    Clock::time_point unread_since = {};
  };
  // Asks for the event that there is room, or no longer.
  void WatchRoom(Connection& connection, int unread_bytes);

  absl::flat_hash_map<int, Connection> connections_;  // by their watched descriptor
};

}  // namespace carom::server
