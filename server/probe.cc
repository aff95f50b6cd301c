// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/probe.h"

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "server/settings.h"

namespace carom::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Error = boost::system::error_code;
using Stream = asio::generic::stream_protocol;

constexpr std::chrono::seconds kTimeout{5};

// Returns the endpoint of `address`, whose host may be a wildcard, on which the server of this
// machine listens.
Stream::endpoint EndpointOf(absl::string_view address, asio::io_context& context, Error& error) {
  if (absl::ConsumePrefix(&address, "unix:")) {
    return asio::local::stream_protocol::endpoint(std::string(address));
  }
  const size_t colon = address.rfind(':');
  std::string host(address.substr(0, colon));
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "[::]") host = "::1";
  host = std::string(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  asio::ip::tcp::resolver resolver(context);
  const auto found = resolver.resolve(host, std::string(address.substr(colon + 1)), error);
  return error ? Stream::endpoint() : Stream::endpoint(found.begin()->endpoint());
}

}  // namespace

absl::Status Probe(const std::string& address) {
  if (address == kOff) {
    return absl::InvalidArgumentError("--probe must name an address, or --admin-address be on");
  }
  asio::io_context context;
  Stream::socket socket(context);
  boost::beast::flat_buffer buffer;
  http::request<http::empty_body> request{http::verb::get, "/readyz", 11};
  request.set(http::field::host, "localhost");
  request.set(http::field::connection, "close");
  http::response<http::string_body> response;
  Error error;
  Error result = asio::error::timed_out;
  const Stream::endpoint endpoint = EndpointOf(address, context, error);
  if (error) return absl::UnavailableError(error.message());
  socket.async_connect(endpoint, [&](Error connected) {
    if (connected) return void(result = connected);
    http::async_write(socket, request, [&](Error written, size_t) {
      if (written) return void(result = written);
      http::async_read(socket, buffer, response, [&](Error read, size_t) { result = read; });
    });
  });
  context.run_for(kTimeout);
  if (result) return absl::UnavailableError(result.message());
  if (response.result() == http::status::ok) return absl::OkStatus();
  return absl::UnavailableError(absl::StripAsciiWhitespace(response.body()));
}

}  // namespace carom::server
