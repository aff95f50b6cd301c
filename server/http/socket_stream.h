// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One type for plaintext and TLS connections, so that the code of Boost.Beast, which is slow to
// compile, is instantiated once.
#pragma once

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace carom::server {

// A connected socket of any family, with TLS or without. Satisfies the requirements of Boost.Asio
// for an AsyncReadStream and AsyncWriteStream. Not thread-safe.
class SocketStream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using executor_type = Socket::executor_type;
  using Error = boost::system::error_code;

  // `tls` has the settings of a TLS connection; null for plaintext.
  SocketStream(Socket socket, std::shared_ptr<boost::asio::ssl::context> tls)
      : socket_(std::move(socket)), context_(std::move(tls)) {}
  // Must not be called after an operation has begun.
  SocketStream(SocketStream&& other) noexcept
      : socket_(std::move(other.socket_)), context_(std::move(other.context_)) {}

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  // Returns OpenSSL's state of the connection, from the begin of the handshake on; null without
  // TLS.
  SSL* ssl() { return tls_.has_value() ? tls_->native_handle() : nullptr; }

  // Calls `handler(Error)` after the TLS handshake, or at once without TLS.
  template <class Handler>
  void async_handshake(Handler handler) {
    if (context_ != nullptr) {
      tls_.emplace(socket_, *context_);
      tls_->async_handshake(boost::asio::ssl::stream_base::server, std::move(handler));
    } else {
      boost::asio::post(get_executor(),
                        [handler = std::move(handler)]() mutable { handler(Error()); });
    }
  }

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    return boost::asio::async_initiate<Handler, void(Error, size_t)>(
        [this](auto completion, const Buffers& to) {
          if (tls_.has_value()) {
            tls_->async_read_some(to, std::move(completion));
          } else {
            socket_.async_read_some(to, std::move(completion));
          }
        },
        handler, buffers);
  }

  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return boost::asio::async_initiate<Handler, void(Error, size_t)>(
        [this](auto completion, const Buffers& from) {
          if (tls_.has_value()) {
            tls_->async_write_some(from, std::move(completion));
          } else {
            socket_.async_write_some(from, std::move(completion));
          }
        },
        handler, buffers);
  }

  // Ends what the server sends; it can still read.
  void CloseWriting() {
    Error ignored;
    std::ignore = socket_.shutdown(Socket::shutdown_send, ignored);
  }
  // Ends the connection at once; operations in progress fail.
  void Close() {
    Error ignored;
    std::ignore = socket_.shutdown(Socket::shutdown_both, ignored);
    std::ignore = socket_.close(ignored);
  }

 private:
  Socket socket_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

// Boost.Beast calls these three to end the connection of a web socket, which `HttpConnection`
// closes afterwards.
inline void beast_close_socket(SocketStream& stream) { stream.Close(); }
inline void teardown(boost::beast::role_type, SocketStream& stream, SocketStream::Error& error) {
  error = {};
  stream.CloseWriting();
}
template <class Handler>
void async_teardown(boost::beast::role_type, SocketStream& stream, Handler&& handler) {
  stream.CloseWriting();
  boost::asio::post(stream.get_executor(), [done = std::forward<Handler>(handler)]() mutable {
    done(SocketStream::Error());
  });
}

}  // namespace carom::server
