// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Listens for HTTP/1.1 and serves connections on threads of its own, apart from the event loop.
//
//   auto server = HttpServer::Start(std::move(listener), options, handler, memory);
//   (*server)->Drain(deadline);
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/tls.h"
#include "server/base/memory_account.h"
#include "server/http/http_message.h"
#include "server/transport/listener.h"

namespace carom::server {

class CallForwarder;

// Limits and settings of an HTTP port.
struct HttpOptions {
  size_t threads = 1;
  // Connections at once. When the limit is reached, a further connection replaces a connection that
  // waits without a request in progress, the oldest such one of a thread; if there is none, the
  // further connection is closed.
  size_t max_connections = 1024;
  size_t max_connections_per_peer = 1024;  // does not limit loopback and Unix sockets
  size_t max_body_bytes = 4u << 20;
  std::chrono::milliseconds handshake_time{10000};  // for the TLS handshake
  std::chrono::milliseconds header_time{10000};     // for the headers of the first request
  std::chrono::milliseconds idle_time{75000};  // between a response and the headers that follow
  std::chrono::milliseconds body_time{60000};  // for the whole body of a request
  // without progress of a write, after which the connection is closed
  std::chrono::milliseconds stalled_time{30000};
  TlsFiles tls;                      // `tls.certificate` empty: plaintext
  bool trust_forwarded_for = false;  // ServerOptions::trust_forwarded_for
  // makes the calls of web sockets; null: the port serves no web sockets
  CallForwarder* web_sockets = nullptr;
};

// Figures of a port, for its metrics.
struct HttpUsage {
  size_t connections = 0;  // open now
  uint64_t accepted = 0;   // connections accepted so far
  uint64_t refused = 0;    // connections closed by a limit so far
  uint64_t evicted = 0;    // idle connections closed to make room so far
};

// An HTTP port. Thread-safe.
class HttpServer {
 public:
  // Serves the connections of `listener`. `handler` and `memory` must outlive the server.
  //
  // Errors: INVALID_ARGUMENT naming a TLS file that cannot be used.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Listener listener,
                                                           const HttpOptions& options,
                                                           HttpHandler& handler,
                                                           MemoryAccount& memory);
  // Closes all connections and joins the threads.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns the address on which the port listens, with the port number actually bound.
  const std::string& address() const;
  HttpUsage usage() const;

  // Stops to accept connections, closes idle ones, and closes each other connection after its
  // response. Returns when all are closed; at `deadline`, closes those that are left.
  void Drain(absl::Time deadline);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom::server
