// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/web_socket_session.h"

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/v1/query_service.pb.h"
#include "server/base/rpc_status.h"
#include "server/http/json_messages.h"
#include "server/transport/message_bytes.h"

namespace carom::server {
namespace {

namespace websocket = boost::beast::websocket;

constexpr size_t kReadBytes = 16 << 10;  // at most so many bytes are read before they are charged
// Requests that wait for the server to accept them, from which on the session reads no further.
constexpr size_t kMaxUnsent = 2;
constexpr size_t kMaxReasonBytes = 123;  // RFC 6455, 5.5
constexpr uint16_t kFirstErrorCode = 4000;
constexpr size_t kMaxAuthorizationBytes = 8 << 10;
constexpr std::chrono::seconds kHandshakeTime{3};  // of the upgrade, and of a close
constexpr std::chrono::seconds kFirstMessageTime{10};
constexpr char kNoMessage[] = "\x07";  // bytes that are no protobuf message
// A socket without any message or pong for so long is closed; a ping is sent after half of it.
constexpr std::chrono::seconds kSilentTime{80};

uint16_t CloseCodeOf(const grpc::Status& status) {
  return status.ok() ? static_cast<uint16_t>(websocket::close_code::normal)
                     : static_cast<uint16_t>(kFirstErrorCode + status.error_code());
}

}  // namespace

WebSocketSession::WebSocketSession(SocketStream& stream, Settings settings, HttpRequest request,
                                   std::function<void()> close)
    : close_(std::move(close)),
      socket_(stream),
      settings_(std::move(settings)),
      request_(std::move(request)),
      write_timer_(stream.get_executor()),
      first_timer_(stream.get_executor()) {}

WebSocketSession::~WebSocketSession() { OnClosed(); }

void WebSocketSession::Start(const RequestHead& head) {
  websocket::stream_base::timeout times;
  times.handshake_timeout = kHandshakeTime;
  times.idle_timeout = kSilentTime;
  times.keep_alive_pings = true;
  socket_.set_option(times);
  socket_.set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
    response.set(boost::beast::http::field::sec_websocket_protocol, kWebSocketProtocol);
    response.erase(boost::beast::http::field::server);
  }));
  socket_.read_message_max(settings_.max_message_bytes);
  socket_.auto_fragment(false);
  const boost::beast::http::request<boost::beast::http::empty_body> request(head);
  socket_.async_accept(request,
                       [self = shared_from_this()](Error error) { self->OnAccepted(error); });
}

void WebSocketSession::OnAccepted(Error error) {
  if (is_closed_) return;
  if (error) return close_();
  SetDeadline(first_timer_, kFirstMessageTime);
  Read();
}

void WebSocketSession::SetDeadline(boost::asio::steady_timer& timer,
                                   std::chrono::milliseconds time) {
  timer.expires_after(time);
  timer.async_wait([self = shared_from_this(), &timer](Error stopped) {
    const bool is_over = timer.expiry() <= std::chrono::steady_clock::now();
    if (!stopped && is_over && !self->is_closed_) self->close_();
  });
}

void WebSocketSession::Drain() {
  if (call_ == nullptr) End(ToGrpcStatus(Draining()));
}

void WebSocketSession::OnClosed() {
  is_closed_ = true;
  write_timer_.cancel();
  first_timer_.cancel();
  if (call_ != nullptr) std::exchange(call_, nullptr)->Abandon();
}

// --- Requests -----------------------------------------------------------------------------------

void WebSocketSession::Read() {
  if (is_reading_ || is_ending_) return;
  is_reading_ = true;
  socket_.async_read_some(buffer_, kReadBytes, [self = shared_from_this()](Error error, size_t) {
    self->OnRead(error);
  });
}

void WebSocketSession::OnRead(Error error) {
  is_reading_ = false;
  if (is_closed_ || is_ending_) return;
  if (error == websocket::error::closed && call_ != nullptr && !is_ending_) {
    // The client has closed its side: the requests that have arrived are not answered any more, as
    // a web socket has no half-close.
    return close_();
  }
  if (error) return close_();
  if (absl::Status status = ChargeHeld(); !status.ok()) return End(ToGrpcStatus(status));
  if (!socket_.is_message_done()) return Read();
  const std::string message = boost::beast::buffers_to_string(buffer_.data());
  const bool is_text = socket_.got_text();
  buffer_ = {};
  ChargeHeld().IgnoreError();
  const bool is_first = std::exchange(is_first_, false);
  if (is_first) first_timer_.cancel();
  if (is_first && is_text && TakeAuthorization(message)) {
    if (StartCall()) Read();
    return;
  }
  if (call_ == nullptr && !StartCall()) return;
  Forward(message, is_text);
  if (call_ != nullptr && call_->unsent() < kMaxUnsent) Read();
}

bool WebSocketSession::TakeAuthorization(const std::string& text) {
  if (text.size() > kMaxAuthorizationBytes) return false;
  const auto message = nlohmann::json::parse(text, nullptr, false);
  if (!message.is_object() || message.size() != 1) return false;
  const auto token = message.find("authorization");
  if (token == message.end() || !token->is_string()) return false;
  request_.headers.emplace_back("authorization", token->get<std::string>());
  return true;
}

bool WebSocketSession::StartCall() {
  const std::weak_ptr<WebSocketSession> weak = weak_from_this();
  const auto executor = socket_.get_executor();
  const ForwardedHeaders headers{.client = request_.client,
                                 .authorization = std::string(request_.header("authorization")),
                                 .traceparent = std::string(request_.header("traceparent"))};
  call_ = settings_.calls.Start(kWebSocketPath, headers, [this, weak, executor] {
    if (is_posted_.exchange(true)) return;
    boost::asio::post(executor, [weak] {
      if (const auto self = weak.lock()) self->OnCallEvent();
    });
  });
  if (call_ == nullptr) End(ToGrpcStatus(Draining()));
  return call_ != nullptr;
}

// Text that is no request is sent on as bytes that are none, so that the server refuses it in its
// turn; `MaybeWrite` adds the reason to the answer.
void WebSocketSession::Forward(const std::string& message, bool is_text) {
  Pending request{.is_text = is_text, .fault = ""};
  std::string bytes = message;
  if (is_text) {
    MemoryCharge charge = settings_.memory.Another();
    absl::Status status = charge.Add(ConversionBytes(message.size()));
    if (!status.ok()) return End(ToGrpcStatus(status));
    absl::StatusOr<std::string> converted = JsonToBytes(*v1::StreamRequest::descriptor(), message);
    if (!converted.ok()) request.fault = std::string(converted.status().message());
    bytes = converted.ok() ? *std::move(converted) : kNoMessage;
  }
  pending_.push_back(std::move(request));
  const grpc::Slice slice(bytes);
  call_->Send(grpc::ByteBuffer(&slice, 1));
}

// --- Answers ------------------------------------------------------------------------------------

void WebSocketSession::OnCallEvent() {
  is_posted_ = false;
  if (is_closed_ || call_ == nullptr) return;
  MaybeWrite();
  if (call_ != nullptr && call_->unsent() < kMaxUnsent) Read();
}

void WebSocketSession::MaybeWrite() {
  if (is_writing_ || is_ending_ || call_ == nullptr) return;
  const std::optional<grpc::ByteBuffer> message = call_->Receive();
  if (!message.has_value()) {
    if (const std::optional<grpc::Status> status = call_->status()) End(*status);
    return;
  }
  MessageBytes bytes(*message);
  bytes.Join();
  const auto joined = bytes.joined();
  out_.assign(reinterpret_cast<const char*>(joined.data()), joined.size());
  Pending request;
  if (!pending_.empty()) {
    request = std::move(pending_.front());
    pending_.pop_front();
  }
  const bool is_text = request.is_text;
  if (!request.fault.empty()) {
    v1::StreamResponse response;
    if (response.ParseFromString(out_)) {
      response.mutable_answer()->mutable_status()->set_message(request.fault);
      out_ = response.SerializeAsString();
    }
  }
  if (is_text) {
    MemoryCharge charge = settings_.memory.Another();
    absl::Status status = charge.Add(ConversionBytes(out_.size()));
    if (!status.ok()) return End(ToGrpcStatus(status));
    absl::StatusOr<std::string> json = BytesToJson(*v1::StreamResponse::descriptor(), out_);
    if (!json.ok()) return End(ToGrpcStatus(json.status()));
    out_ = *std::move(json);
  }
  ChargeHeld().IgnoreError();
  is_writing_ = true;
  SetDeadline(write_timer_, settings_.stalled_time);
  socket_.text(is_text);
  socket_.async_write(boost::asio::buffer(out_),
                      [self = shared_from_this()](Error error, size_t) { self->OnWritten(error); });
}

void WebSocketSession::OnWritten(Error error) {
  is_writing_ = false;
  write_timer_.cancel();
  if (is_closed_) return;
  if (error) return close_();
  out_.clear();
  if (pending_end_.has_value()) {
    const auto [code, reason] = *std::exchange(pending_end_, std::nullopt);
    return SendClose(code, reason);
  }
  MaybeWrite();
}

// --- End and memory -----------------------------------------------------------------------------

void WebSocketSession::End(const grpc::Status& status) {
  if (std::exchange(is_ending_, true)) return;
  if (call_ != nullptr) std::exchange(call_, nullptr)->Abandon();
  const uint16_t code = CloseCodeOf(status);
  const std::string reason = ReasonOf(status.error_message());
  // Boost.Beast allows no close frame while a message is being written.
  if (is_writing_) {
    pending_end_.emplace(code, reason);
  } else {
    SendClose(code, reason);
  }
}

// Cuts the message of an error to what a close frame can hold, between two characters of UTF-8.
std::string WebSocketSession::ReasonOf(const std::string& message) {
  size_t size = std::min(message.size(), kMaxReasonBytes);
  if (size < message.size()) {
    while (size > 0 && (static_cast<uint8_t>(message[size]) & 0xC0) == 0x80) --size;
  }
  return message.substr(0, size);
}

void WebSocketSession::SendClose(uint16_t code, const std::string& reason) {
  websocket::close_reason close(code);
  close.reason.assign(reason.data(), reason.size());
  socket_.async_close(close, [self = shared_from_this()](Error) {
    if (!self->is_closed_) self->close_();
  });
}

// Charges the bytes that the session holds: a message that arrives in parts, and the message that
// is being written.
absl::Status WebSocketSession::ChargeHeld() {
  const size_t held = buffer_.size() + out_.size();
  if (held < settings_.memory.bytes()) settings_.memory.Set(held);
  return settings_.memory.GrowTo(held);
}

}  // namespace carom::server
