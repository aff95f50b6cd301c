// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/http_connection.h"

#include <boost/asio.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/access/peer.h"
#include "server/http/tls_context.h"
#include "server/http/web_socket_session.h"

namespace carom::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr size_t kMaxHeaderBytes = 16 << 10;
// bytes that the connection reads ahead, such as the headers of pipelined requests
constexpr size_t kMaxBufferBytes = 32 << 10;
constexpr size_t kWatchBytes = 1024;
// time in which the client of a connection that the server closes can read the last response
constexpr std::chrono::milliseconds kLingerTime{2000};
constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";

// Returns the reason phrase of a status; 499 is no status of the standard, but of Connect.
std::string ReasonOf(unsigned status) {
  if (status == 499) return "Client Closed Request";
  return std::string(http::obsolete_reason(http::int_to_status(status)));
}

}  // namespace

// Answers one request. A call after the connection has gone on to another request, or is closed,
// has no effect.
class HttpConnection::Responder final : public HttpResponder {
 public:
  explicit Responder(const std::shared_ptr<HttpConnection>& connection)
      : connection_(connection), request_(connection->requests_) {}

  void Reply(HttpResponse response) override {
    if (IsCurrent()) connection_->Reply(std::move(response));
  }
  void BeginBody(HttpResponse head) override {
    if (IsCurrent()) connection_->BeginBody(head);
  }
  void WriteBody(std::string part) override {
    if (IsCurrent()) connection_->WriteBody(std::move(part));
  }
  void EndBody(std::string part) override {
    if (IsCurrent()) connection_->EndBody(std::move(part));
  }
  void Post(std::function<void()> task) override {
    asio::post(connection_->stream_.get_executor(), std::move(task));
  }
  MemoryCharge NewCharge() override {
    return {connection_->memory_, MemoryShare::kMessages, connection_->memory_peer_.get()};
  }

 private:
  bool IsCurrent() const {
    return !connection_->is_closed_ && connection_->in_request_ &&
           connection_->requests_ == request_;
  }

  const std::shared_ptr<HttpConnection> connection_;
  const uint64_t request_;
};

HttpConnection::HttpConnection(SocketStream stream, const Port& port, Owner& owner,
                               std::string peer, uint64_t id)
    : stream_(std::move(stream)),
      options_(port.options),
      handler_(port.handler),
      memory_(port.memory),
      owner_(owner),
      peer_(std::move(peer)),
      id_(id),
      timer_(stream_.get_executor()),
      buffer_(kMaxBufferBytes) {}

HttpConnection::~HttpConnection() = default;

// --- Requests -----------------------------------------------------------------------------------

void HttpConnection::Start() {
  SetDeadline(options_.handshake_time);
  stream_.async_handshake([self = shared_from_this()](Error error) { self->OnHandshake(error); });
}

void HttpConnection::OnHandshake(Error error) {
  if (error || is_closed_) return Close();
  client_.peer = peer_.empty() ? absl::StrCat("http connection ", id_) : peer_;
  if (SSL* const ssl = stream_.ssl()) {
    client_.certificate_names = CertificateNamesOf(*ssl);
    client_.certificate_expiry = CertificateExpiryOf(*ssl);
  }
  memory_peer_ = memory_.Peer(client_.peer);
  SetDeadline(options_.header_time);
  ReadHeader();
}

void HttpConnection::ReadHeader() {
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(options_.max_body_bytes);
  owner_.SetIdle(*this, true);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](Error error, size_t) { self->OnHeader(error); });
}

void HttpConnection::OnHeader(Error error) {
  if (is_closed_) return;
  owner_.SetIdle(*this, false);
  if (error == http::error::end_of_stream ||
      (error && error.category() != make_error_code(http::error::bad_method).category())) {
    return Close();
  }
  in_request_ = true;
  ++requests_;
  keep_alive_ = false;
  request_ = HttpRequest();
  if (error == http::error::header_limit) return Refuse(431, "the headers have more than 16 KiB");
  if (error == http::error::body_limit) return Refuse(413, "the body is too long");
  if (error) return Refuse(400, "the request is not valid HTTP");
  TakeHeader();
  if (is_chunked_ && parser_->get().count(http::field::host) != 1) {
    return Refuse(400, "the request must have one Host");
  }
  if (beast::websocket::is_upgrade(parser_->get())) return BecomeWebSocket();
  SetDeadline(options_.body_time);
  if (!absl::EqualsIgnoreCase(request_.header("expect"), "100-continue")) return ReadBody();
  asio::async_write(stream_, asio::buffer(kContinue, sizeof(kContinue) - 1),
                    [self = shared_from_this()](Error failed, size_t) {
                      if (failed || self->is_closed_) return self->Close();
                      self->ReadBody();
                    });
}

void HttpConnection::TakeHeader() {
  const auto& message = parser_->get();
  keep_alive_ = parser_->keep_alive();
  is_chunked_ = message.version() >= 11;
  request_ = HttpRequest();
  request_.method = std::string(message.method_string());
  is_head_ = request_.method == "HEAD";
  const auto target = message.target();
  request_.path = std::string(target.substr(0, target.find('?')));
  for (const auto& field : message) {
    request_.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request_.client = client_;
  request_.is_encrypted = stream_.ssl() != nullptr;
  // A proxy on a trusted Unix socket names the address of its client.
  const absl::string_view forwarded = request_.header("x-forwarded-for");
  if (options_.trust_forwarded_for && !forwarded.empty()) {
    request_.client.peer = PeerOfForwarded(forwarded);
  }
  body_charge_ = MemoryCharge(memory_, MemoryShare::kMessages, memory_peer_.get());
}

// Reads the body part by part, and charges the memory of each part before it is kept.
void HttpConnection::ReadBody() {
  if (parser_->is_done()) return Dispatch();
  if (chunk_ == nullptr) chunk_ = std::make_unique<std::array<char, 16384>>();
  parser_->get().body().data = chunk_->data();
  parser_->get().body().size = chunk_->size();
  http::async_read_some(stream_, buffer_, *parser_,
                        [self = shared_from_this()](Error error, size_t) { self->OnBody(error); });
}

void HttpConnection::OnBody(Error error) {
  if (is_closed_) return;
  if (error == http::error::need_buffer) error = {};
  const size_t size = chunk_->size() - parser_->get().body().size;
  const size_t limit =
      handler_.AcceptsBody(request_) ? options_.max_body_bytes : HttpHandler::kShortBodyBytes;
  if (error == http::error::body_limit || request_.body.size() + size > limit) {
    return Refuse(413, "the body is too long");
  }
  if (error && error.category() != make_error_code(http::error::bad_method).category())
    return Close();
  if (error) return Refuse(400, "the request is not valid HTTP");
  if (!body_charge_.Add(size).ok()) return Refuse(429, "the server has no memory for the body");
  request_.body.append(chunk_->data(), size);
  ReadBody();
}

void HttpConnection::Dispatch() {
  ClearDeadline();
  chunk_.reset();
  parser_.reset();
  const uint64_t number = requests_;
  std::shared_ptr<HttpCall> call =
      handler_.Handle(std::move(request_), std::make_shared<Responder>(shared_from_this()));
  body_charge_.Clear();
  if (is_closed_ || call == nullptr || number != requests_) return;
  call_ = std::move(call);
  WatchClient();
}

void HttpConnection::WatchClient() {
  if (is_watching_ || !in_request_ || buffer_.size() != 0) return;
  is_watching_ = true;
  stream_.async_read_some(buffer_.prepare(kWatchBytes),
                          [self = shared_from_this()](Error error, size_t bytes) {
                            self->OnClientBytes(error, bytes);
                          });
}

void HttpConnection::OnClientBytes(Error error, size_t bytes) {
  is_watching_ = false;
  if (is_closed_) return;
  if (error) return Close();
  if (!keep_alive_ && !in_request_) return Discard();
  buffer_.commit(bytes);
  if (std::exchange(awaits_watch_, false)) ReadHeader();
}

void HttpConnection::BecomeWebSocket() {
  if (options_.web_sockets == nullptr) return Refuse(400, "this path is no web socket");
  if (std::optional<HttpResponse> refusal = handler_.RefuseUpgrade(request_)) {
    keep_alive_ = false;
    return Reply(*std::move(refusal));
  }
  ClearDeadline();
  auto upgrade = parser_->get();
  web_socket_ = std::make_shared<WebSocketSession>(
      stream_,
      WebSocketSession::Settings{
          .calls = *options_.web_sockets,
          .max_message_bytes = options_.max_body_bytes,
          .memory = MemoryCharge(memory_, MemoryShare::kMessages, memory_peer_.get()),
          .stalled_time = options_.stalled_time},
      std::move(request_), [self = shared_from_this()] { self->CloseGently(); });
  web_socket_->Start(upgrade.base());
}

// --- Responses ----------------------------------------------------------------------------------

void HttpConnection::Refuse(unsigned status, const char* why) {
  keep_alive_ = false;
  Reply(handler_.Refusal(request_, status, why));
}

void HttpConnection::Reply(HttpResponse response) {
  FormatHead(response, response.body.size() + response.constant_body.size());
  body_ = is_head_ ? std::string() : std::move(response.body);
  constant_body_ = is_head_ ? std::string_view() : response.constant_body;
  Write(&HttpConnection::OnResponseWritten);
}

void HttpConnection::BeginBody(const HttpResponse& head) {
  if (!is_chunked_) keep_alive_ = false;  // the end of the connection ends the body
  FormatHead(head, std::nullopt);
}

// Sets `body_` to a part of the body, in the form of a chunk if the response has chunks.
void HttpConnection::AppendPart(std::string part) {
  if (is_chunked_) absl::StrAppend(&head_, absl::Hex(part.size()), "\r\n");
  body_ = std::move(part);
  if (is_chunked_) body_ += "\r\n";
}

void HttpConnection::WriteBody(std::string part) {
  AppendPart(std::move(part));
  Write(&HttpConnection::OnPartWritten);
}

void HttpConnection::EndBody(std::string part) {
  AppendPart(std::move(part));
  if (is_chunked_) body_ += "0\r\n\r\n";
  Write(&HttpConnection::OnResponseWritten);
}

void HttpConnection::Write(void (HttpConnection::*then)()) {
  SetDeadline(options_.stalled_time);
  const std::array<asio::const_buffer, 3> buffers = {
      asio::buffer(head_), asio::buffer(body_),
      asio::buffer(constant_body_.data(), constant_body_.size())};
  asio::async_write(stream_, buffers, [self = shared_from_this(), then](Error error, size_t) {
    if (self->is_closed_) return;
    if (error) return self->Close();
    self->head_.clear();
    self->body_.clear();
    self->constant_body_ = {};
    (*self.*then)();
  });
}

void HttpConnection::OnPartWritten() {
  ClearDeadline();
  if (call_ != nullptr) std::shared_ptr<HttpCall>(call_)->OnWritten();
}

void HttpConnection::OnResponseWritten() {
  call_.reset();
  in_request_ = false;
  body_.shrink_to_fit();
  if (!keep_alive_) return CloseGently();
  SetDeadline(options_.idle_time);
  if (is_watching_) {
    awaits_watch_ = true;
    owner_.SetIdle(*this, true);
  } else {
    ReadHeader();
  }
}

void HttpConnection::FormatHead(const HttpResponse& response, std::optional<size_t> length) {
  absl::StrAppend(&head_, "HTTP/1.1 ", response.status, " ", ReasonOf(response.status), "\r\n");
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(&head_, name, ": ", value, "\r\n");
  }
  absl::StrAppend(&head_, "Date: ",
                  absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", absl::Now(), absl::UTCTimeZone()),
                  "\r\n");
  if (length.has_value() && response.status != 204 && response.status != 304) {
    absl::StrAppend(&head_, "Content-Length: ", *length, "\r\n");
  } else if (!length.has_value() && is_chunked_) {
    absl::StrAppend(&head_, "Transfer-Encoding: chunked\r\n");
  }
  if (!keep_alive_) absl::StrAppend(&head_, "Connection: close\r\n");
  absl::StrAppend(&head_, "\r\n");
}

// --- End ----------------------------------------------------------------------------------------

void HttpConnection::CloseSoon() {
  keep_alive_ = false;
  if (web_socket_ != nullptr) web_socket_->Drain();
  if (!in_request_) Close();
}

// A close with received bytes that nobody has read resets the connection, and the client loses the
// response. So the server closes its side, and drops what still arrives, for a short time.
void HttpConnection::CloseGently() {
  if (is_closed_) return;
  SetDeadline(kLingerTime);
  stream_.CloseWriting();
  if (!is_watching_) Discard();
}

void HttpConnection::Discard() {
  is_watching_ = true;
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kMaxBufferBytes),
                          [self = shared_from_this()](Error error, size_t) {
                            self->is_watching_ = false;
                            if (self->is_closed_) return;
                            error ? self->Close() : self->Discard();
                          });
}

void HttpConnection::Close() {
  if (std::exchange(is_closed_, true)) return;
  const std::shared_ptr<HttpConnection> self = shared_from_this();
  timer_.cancel();
  owner_.SetIdle(*this, false);
  if (std::shared_ptr<HttpCall> call = std::move(call_)) call->OnDisconnect();
  if (std::shared_ptr<WebSocketSession> session = std::move(web_socket_)) session->OnClosed();
  stream_.Close();
  owner_.OnClosed(*this);
}

void HttpConnection::SetDeadline(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this()](Error error) {
    // The timer may have been set anew after it expired and before this handler runs.
    if (!error && self->timer_.expiry() <= std::chrono::steady_clock::now()) self->Close();
  });
}

void HttpConnection::ClearDeadline() { timer_.cancel(); }

}  // namespace carom::server
