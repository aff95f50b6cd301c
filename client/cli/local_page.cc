// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/local_page.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace carom::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Error = boost::system::error_code;
// The body refers to memory of the page.
using Response = http::response<http::span_body<const char>>;

constexpr auto kRequestTime = std::chrono::seconds(10);
// How long a response may take: a large scene to a slow reader.
constexpr auto kResponseTime = std::chrono::seconds(300);
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr size_t kMaxConnections = 64;
constexpr size_t kMaxLocalHeaderBytes = 16 << 10;

// Percent-encodes what may not stand in the query of an address.
std::string QueryEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_') {
      escaped += c;
    } else {
      absl::StrAppend(&escaped, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return escaped;
}

bool IsLocalHost(std::string_view host) {
  host = host.substr(0, host.rfind(':'));
  return host == "127.0.0.1" || host == "localhost";
}

}  // namespace

// All handlers run on the thread of `Serve`.
class LocalPage::Impl {
 public:
  Impl(LocalScene scene, std::span<const PageFile> files)
      : scene_(std::move(scene)), files_(files) {}

  Error Open(uint16_t port) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    Error error;
    if (acceptor_.open(endpoint.protocol(), error) ||
        acceptor_.set_option(tcp::acceptor::reuse_address(true), error) ||
        acceptor_.bind(endpoint, error) ||
        acceptor_.listen(asio::socket_base::max_listen_connections, error)) {
      return error;
    }
    return {};
  }
  std::string address() const {
    return absl::StrCat("http://127.0.0.1:", acceptor_.local_endpoint().port(),
                        "/?local=", QueryEscaped(scene_.name));
  }
  void Serve() {
    signals_.async_wait([this](Error error, int) {
      if (!error) context_.stop();
    });
    Accept();
    context_.run();
  }
  void Stop() { context_.stop(); }

 private:
  struct Connection {
    explicit Connection(tcp::socket socket) : stream(std::move(socket)) {
      parser.header_limit(kMaxLocalHeaderBytes);
    }

    beast::tcp_stream stream;
    beast::flat_buffer buffer;
    http::request_parser<http::empty_body> parser;
    Response response;
  };

  void Accept();
  void Answer(const std::shared_ptr<Connection>& connection);
  // Returns the response without its version; its body is memory of the page.
  Response ResponseTo(const http::request<http::empty_body>& request) const;

  const LocalScene scene_;
  const std::span<const PageFile> files_;
  size_t connections_ = 0;  // before `context_`, whose handlers use it when they are destroyed
  asio::io_context context_;
  tcp::acceptor acceptor_{context_};
  asio::signal_set signals_{context_, SIGINT, SIGTERM};
  asio::steady_timer pause_{context_};
};

void LocalPage::Impl::Accept() {
  acceptor_.async_accept([this](Error error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error && connections_ < kMaxConnections) {
      ++connections_;
      const std::shared_ptr<Connection> connection(new Connection(std::move(socket)),
                                                   [this](Connection* closed) {
                                                     --connections_;
                                                     delete closed;
                                                   });
      connection->stream.expires_after(kRequestTime);
      http::async_read(connection->stream, connection->buffer, connection->parser,
                       [this, connection](Error failed, size_t) {
                         if (!failed) Answer(connection);
                       });
    }
    if (!error) return Accept();
    // Without a free descriptor the next attempt would fail at once, too.
    pause_.expires_after(kPause);
    pause_.async_wait([this](Error stopped) {
      if (!stopped) Accept();
    });
  });
}

Response LocalPage::Impl::ResponseTo(const http::request<http::empty_body>& request) const {
  Response response;
  const auto send = [&](http::status status, std::string_view type, std::string_view body) {
    response.result(status);
    response.set(http::field::content_type, beast::string_view(type.data(), type.size()));
    response.body() = {body.data(), body.size()};
  };
  const auto host = request[http::field::host];
  const std::string_view path(request.target().data(),
                              std::min(request.target().size(), request.target().find('?')));
  const PageFile* const file = FindPageFile(files_, path);
  for (const PageHeader& header : kPageHeaders) {
    response.set(std::string(header.name), std::string(header.value));
  }
  if (!IsLocalHost({host.data(), host.size()})) {
    send(http::status::forbidden, "text/plain", "the Host must be 127.0.0.1 or localhost\n");
  } else if (request.method() != http::verb::get && request.method() != http::verb::head) {
    send(http::status::method_not_allowed, "text/plain", "the method must be GET\n");
  } else if (path == "/local/scene.carom") {
    send(http::status::ok, "application/octet-stream", scene_.bundle);
  } else if (path == "/local/scene.json") {
    send(http::status::ok, "application/json", scene_.report);
  } else if (file == nullptr) {
    send(http::status::not_found, "text/plain", "no such file\n");
  } else {
    send(http::status::ok, file->type, file->gzip);
    response.set(http::field::content_encoding, "gzip");
  }
  return response;
}

void LocalPage::Impl::Answer(const std::shared_ptr<Connection>& connection) {
  const auto& request = connection->parser.get();
  connection->response = ResponseTo(request);
  connection->response.version(request.version());
  connection->response.keep_alive(false);
  connection->response.content_length(connection->response.body().size());
  if (request.method() == http::verb::head) connection->response.body() = {};
  connection->stream.expires_after(kResponseTime);
  http::async_write(connection->stream, connection->response, [connection](Error, size_t) {
    Error ignored;
    ignored = connection->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  });
}

absl::StatusOr<LocalPage> LocalPage::Listen(uint16_t port, LocalScene scene,
                                            std::span<const PageFile> files) {
  if (files.empty()) {
    return absl::FailedPreconditionError(
        "this build of carom does not contain the viewer; ./dev viewer builds one that does");
  }
  auto impl = std::make_unique<Impl>(std::move(scene), files);
  if (const Error error = impl->Open(port)) {
    return absl::UnavailableError(
        absl::StrCat("port ", port, " of 127.0.0.1 cannot be used: ", error.message()));
  }
  return LocalPage(std::move(impl));
}

LocalPage::LocalPage(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalPage::LocalPage(LocalPage&&) noexcept = default;
LocalPage& LocalPage::operator=(LocalPage&&) noexcept = default;
LocalPage::~LocalPage() = default;
std::string LocalPage::address() const { return impl_->address(); }
void LocalPage::Serve() { impl_->Serve(); }
void LocalPage::Stop() { impl_->Stop(); }

}  // namespace carom::cli
