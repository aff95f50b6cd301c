// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many connections may clients open?
//
// Accepts connections and passes them on to gRPC, within a limit in total and one for each peer
// (client address). A connection beyond a limit is closed at once; clients can connect again when
// other connections have closed.
#pragma once

#include <grpcpp/server_builder.h>

#include <atomic>
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
  // connections of one client address (server/access/peer.h); loopback addresses have no such limit
  size_t by_peer = 1024;
  // Time after which a connection is shut down if its client accepts none of the bytes that wait to
  // be sent: otherwise gRPC never ends a call whose last bytes the socket has not accepted. On Unix
  // sockets the shutdown may come up to a quarter of the time later.
  std::chrono::milliseconds unsent_time{60000};
  // file descriptors that the acceptor leaves free for the connections of the HTTP ports, which
  // `total` and `by_peer` do not count
  size_t reserved_descriptors = 0;
};

// Counts connections against the limits. Not thread-safe.
class ConnectionCounts {
 public:
  explicit ConnectionCounts(const ConnectionLimits& limits) : limits_(limits) {}

  // Counts a connection of the client address `peer` (empty: only in total). Returns false, and
  // counts nothing, if a limit is reached.
  bool Enter(const std::string& peer);
  // Removes a connection that `Enter` has counted.
  void Leave(const std::string& peer);

  size_t total() const { return total_; }

 private:
  const ConnectionLimits limits_;
  size_t total_ = 0;
  absl::flat_hash_map<std::string, size_t> by_peer_;
};

// Accepts connections on one thread, from `Start` to `Stop`. gRPC does not report when it closes a
// connection, so the acceptor watches a duplicate of the socket: each connection takes two
// descriptors. The acceptor lowers `ConnectionLimits::total` so that two descriptors for each
// connection, and 64 for other files, are within the descriptor limit of the process. Thread-safe.
class ConnectionAcceptor {
 public:
  using Grpc = grpc::experimental::ExternalConnectionAcceptor;

  // `grpc` is the acceptor of a server, which must be built before `Start`.
  ConnectionAcceptor(Listener listener, std::unique_ptr<Grpc> grpc, const ConnectionLimits& limits);
  ~ConnectionAcceptor() { Stop(); }

  // Starts the thread. Returns UNAVAILABLE if the system has no free descriptors.
  absl::Status Start();
  // `open` is the number of connections; `refused` counts those that a limit has closed.
  size_t open() const { return open_.load(std::memory_order_relaxed); }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // Closes the listening sockets and ends the thread. Existing connections stay open.
  void Stop();

 private:
  void Run();
  bool IsListening(int fd) const;
  // Enables or disables events for new connections on the listening sockets; events of accepted
  // connections stay enabled.
  void Listen(bool listens);
  // Accepts the connections that wait on the socket `listening`, at most `kAcceptedAtOnce`. Returns
  // false if the system has no free descriptor.
  bool AcceptFrom(int listening);
  // Watches a connection and passes it on to gRPC. Returns false if the system has no free
  // descriptor.
  bool Add(FileDescriptor connection, std::string peer);
  // Removes the connection whose duplicate descriptor is `watched`, after gRPC or the client has
  // closed the connection.
  void Remove(int watched);
  // Does for Unix sockets what TCP_USER_TIMEOUT does for TCP: shuts down connections whose client
  // has read no bytes of a full buffer for `unsent_time`. The thread calls it periodically.
  void ShutDownStalled();

  Listener listener_;
  const std::unique_ptr<Grpc> grpc_;
  const std::chrono::milliseconds unsent_time_;
  const bool is_unix_;
  FileDescriptor epoll_;
  FileDescriptor stop_event_;
  std::thread thread_;
  // figures for the metrics, which `thread_` writes
  std::atomic<size_t> open_{0};
  std::atomic<uint64_t> refused_{0};
  ConnectionCounts counts_;  // used by `thread_` only
  struct Connection {
    FileDescriptor watched;  // duplicate of the descriptor that gRPC has for the connection
    std::string peer;
    // For a Unix socket with a full buffer, at the last check: the number of bytes in the buffer
    // that the client has not read, and the time since which that number has not changed. While the
    // socket is writable, `unread_bytes` is 0.
    int unread_bytes = 0;
    Clock::time_point unread_since = {};
  };
  // Sets `connection.unread_bytes`, and enables the event that the socket becomes writable if
  // `unread_bytes` is not 0, else disables the event.
  void WatchWritability(Connection& connection, int unread_bytes);

  // the accepted connections, by the descriptor `Connection::watched`; used by `thread_` only
  absl::flat_hash_map<int, Connection> connections_;
};

}  // namespace carom::server
