// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves one connection of an HTTP port: reads requests one after the other, passes each to the
// handler, and writes the responses.
#pragma once

#include <array>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_message.h"
#include "server/http/http_server.h"
#include "server/http/socket_stream.h"

namespace carom::server {

class WebSocketSession;

// One connection. Its functions run on the thread of its I/O context; shared pointers in the
// handlers of its operations keep it alive.
class HttpConnection final : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Error = boost::system::error_code;

  // What the connection needs of the port that accepted it.
  struct Owner {
    virtual ~Owner() = default;
    // The connection begins or ends to wait for a request.
    virtual void SetIdle(HttpConnection& connection, bool is_idle) = 0;
    // The connection is closed.
    virtual void OnClosed(HttpConnection& connection) = 0;
  };

  // What all connections of a port share; must outlive the connections.
  struct Port {
    const HttpOptions& options;
    HttpHandler& handler;
    MemoryAccount& memory;
  };

  // `owner` must outlive the connection. `peer` is the name of the client address
  // (server/access/peer.h); `id` is unique among the connections of the port.
  HttpConnection(SocketStream stream, const Port& port, Owner& owner, std::string peer,
                 uint64_t id);
  ~HttpConnection();

  void Start();
  // Closes the connection after the response in progress, or at once if there is none.
  void CloseSoon();
  // Closes the connection when the client has closed its side, but after a short time at most.
  void CloseGently();
  // Closes the connection at once; a request in progress is told by `HttpCall::OnDisconnect`.
  void Close();

  const std::string& peer() const { return peer_; }

 private:
  class Responder;
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;

  void OnHandshake(Error error);
  void ReadHeader();
  void OnHeader(Error error);
  // Sets `request_` from the headers that `parser_` has.
  void TakeHeader();
  void ReadBody();
  void OnBody(Error error);
  // Passes the request to the handler.
  void Dispatch();
  // Reads while a request is in progress, to learn that the client has closed the connection. Bytes
  // that arrive belong to the next request; a close after them is noticed when the response is
  // sent.
  void WatchClient();
  void OnClientBytes(Error error, size_t bytes);
  void BecomeWebSocket();
  // Reads and drops bytes until the client closes its side.
  void Discard();

  // Refuses a request that HTTP does not allow, and closes the connection after the response.
  void Refuse(unsigned status, const char* why);
  void Reply(HttpResponse response);
  void BeginBody(const HttpResponse& head);
  void WriteBody(std::string part);
  void EndBody(std::string part);
  void AppendPart(std::string part);
  // Writes `head_` and `body_`, then calls `then`.
  void Write(void (HttpConnection::*then)());
  void OnPartWritten();
  void OnResponseWritten();
  // Formats the status line and the headers of a response into `head_`.
  void FormatHead(const HttpResponse& response, std::optional<size_t> length);

  // Closes the connection after `time`, unless `SetDeadline` or `ClearDeadline` is called before.
  void SetDeadline(std::chrono::milliseconds time);
  void ClearDeadline();

  SocketStream stream_;
  const HttpOptions& options_;
  HttpHandler& handler_;
  MemoryAccount& memory_;
  Owner& owner_;
  const std::string peer_;
  const uint64_t id_;
  boost::asio::steady_timer timer_;
  ForwardedClient client_;
  std::shared_ptr<MemoryPeer> memory_peer_;

  boost::beast::flat_buffer buffer_;  // received bytes that are not parsed yet
  std::optional<Parser> parser_;
  std::unique_ptr<std::array<char, 16384>> chunk_;  // a part of a body; null between bodies
  HttpRequest request_;
  MemoryCharge body_charge_;  // memory of the body of the request

  std::shared_ptr<HttpCall> call_;  // the request in progress; null: none, or it needs no events
  uint64_t requests_ = 0;           // requests so far; each `Responder` answers one of them
  bool keep_alive_ = true;
  bool is_head_ = false;       // the request has the method HEAD: the response has no body
  bool is_chunked_ = false;    // the body of the response is sent in chunks
  bool in_request_ = false;    // from the headers of a request to the end of its response
  bool is_watching_ = false;   // `WatchClient` has a read in progress
  bool awaits_watch_ = false;  // the next request is read after the read of `WatchClient`
  bool is_closed_ = false;
  std::string head_;
  std::string body_;
  std::string_view constant_body_;
  std::shared_ptr<WebSocketSession> web_socket_;
};

}  // namespace carom::server
