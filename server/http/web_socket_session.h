// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves `QueryService.Stream` over a web socket: browsers and runtimes without gRPC get the
// session, trackers, limits and flow control of the gRPC stream.
//
// A binary message is one StreamRequest or StreamResponse; a text message is the same as JSON. Each
// response has the form of its request. A client that cannot set headers sends its token in the
// first message, as text: {"authorization": "Bearer TOKEN"}. The close code tells how the stream
// ended: 1000 for OK, 4000 plus the gRPC code for an error (docs/http.md has the table), with the
// message of the error, cut to 123 bytes, as the reason.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/base/memory_account.h"
#include "server/http/forwarded_call.h"
#include "server/http/http_message.h"
#include "server/http/socket_stream.h"

namespace carom::server {

inline constexpr char kWebSocketPath[] = "/carom.v1.QueryService/Stream";
inline constexpr char kWebSocketProtocol[] = "carom.v1";

// One web socket. Its functions run on the thread of the connection; shared pointers in the
// handlers of its operations keep it alive.
class WebSocketSession final : public std::enable_shared_from_this<WebSocketSession> {
 public:
  using Error = boost::system::error_code;
  using RequestHead = boost::beast::http::header<true, boost::beast::http::fields>;

  struct Settings {
    CallForwarder& calls;
    size_t max_message_bytes = 4u << 20;
    MemoryCharge memory;  // charge for the messages that the session holds
    // without progress of a write, after which the connection is closed
    std::chrono::milliseconds stalled_time{30000};
  };

  // `stream` must outlive the session's operations: `close` closes it, and `OnClosed` follows.
  WebSocketSession(SocketStream& stream, Settings settings, HttpRequest request,
                   std::function<void()> close);
  ~WebSocketSession();

  // Accepts the upgrade that `head` requests.
  void Start(const RequestHead& head);
  // Ends the session if its stream has not begun; a stream ends when the server drains.
  void Drain();
  // The connection is closed.
  void OnClosed();

 private:
  // A request that was sent to the server.
  struct Pending {
    bool is_text = false;
    // why the text is no request; empty: it is one
    std::string fault;
  };

  void OnAccepted(Error error);
  // Closes the connection after `time` unless `timer` is cancelled or set again.
  void SetDeadline(boost::asio::steady_timer& timer, std::chrono::milliseconds time);
  void Read();
  void OnRead(Error error);
  // Takes the token of a first message. Returns false if the message is no such message.
  bool TakeAuthorization(const std::string& text);
  // Starts the call, with the token of the headers or of the first message.
  bool StartCall();
  // Passes a message of the client on to the call.
  void Forward(const std::string& message, bool is_text);
  // Runs after each notification of the call: writes answers, ends the socket with the call.
  void OnCallEvent();
  void MaybeWrite();
  void OnWritten(Error error);
  // Ends the call and closes the socket with a close frame for `status`, after the message that is
  // being written.
  void End(const grpc::Status& status);
  static std::string ReasonOf(const std::string& message);
  void SendClose(uint16_t code, const std::string& reason);
  absl::Status ChargeHeld();

  // Keeps the connection alive, which owns the stream and the counters of `Settings::memory`: the
  // first member, destroyed last.
  const std::function<void()> close_;
  boost::beast::websocket::stream<SocketStream&> socket_;
  Settings settings_;
  HttpRequest request_;
  boost::beast::flat_buffer buffer_;
  std::shared_ptr<ForwardedCall> call_;
  std::deque<Pending> pending_;            // the requests without an answer
  std::string out_;                        // the message that is being written
  bool is_first_ = true;                   // no message has arrived yet
  boost::asio::steady_timer write_timer_;  // limits the time of one write
  boost::asio::steady_timer first_timer_;  // limits the time until the first message
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_ending_ = false;  // `End` was called
  // code and reason of the close frame that follows the message that is being written
  std::optional<std::pair<uint16_t, std::string>> pending_end_;
  std::atomic<bool> is_posted_{false};  // `OnCallEvent` will run
  bool is_closed_ = false;
};

}  // namespace carom::server
