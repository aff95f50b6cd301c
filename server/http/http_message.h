// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The requests and responses of the HTTP ports, without the library that parses them.
//
// `HttpConnection` (server/http/http_connection.h) reads a request and passes it to an
// `HttpHandler`, which answers it by the `HttpResponder` of the request: at once, later, or in
// several parts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "server/access/forwarded_client.h"
#include "server/base/memory_account.h"

namespace carom::server {

// Names (in any case) and values of the fields of a message.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Returns the value of the first field with the name `name`, or an empty string.
inline absl::string_view FindHeader(const HttpHeaders& headers, absl::string_view name) {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

struct HttpRequest {
  std::string method;  // in upper case, as received
  std::string path;    // the target up to the first `?`
  HttpHeaders headers;
  std::string body;
  ForwardedClient client;
  bool is_encrypted = false;  // the connection uses TLS

  absl::string_view header(absl::string_view name) const { return FindHeader(headers, name); }
};

struct HttpResponse {
  unsigned status = 200;
  HttpHeaders headers;  // without Content-Length, Connection and Date, which the connection adds
  std::string body;
  // Follows `body`; its bytes outlive the server.
  std::string_view constant_body = {};
};

// Answers one request. Its functions run on the thread of the connection, except `Post`.
class HttpResponder {
 public:
  virtual ~HttpResponder() = default;

  // Answers the request with a whole response. Nothing else may follow.
  virtual void Reply(HttpResponse response) = 0;
  // Answers the request with a response whose body follows in parts; `head.body` is not used.
  virtual void BeginBody(HttpResponse head) = 0;
  // Sends a part of the body. The next part may be sent after `HttpCall::OnWritten`.
  virtual void WriteBody(std::string part) = 0;
  // Ends the body with a last part.
  virtual void EndBody(std::string part) = 0;
  // Runs `task` soon on the thread of the connection. Thread-safe.
  virtual void Post(std::function<void()> task) = 0;
  // Returns a charge of 0 bytes of messages for the memory of the client of the connection.
  virtual MemoryCharge NewCharge() = 0;
};

// A request in progress. The functions run on the thread of the connection.
class HttpCall {
 public:
  virtual ~HttpCall() = default;
  // A part of the body is sent.
  virtual void OnWritten() {}
  // The client has closed the connection, or the connection has failed: no answer can be sent.
  virtual void OnDisconnect() = 0;
};

// Answers requests. Thread-safe; must outlive the connections.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Answers `request` by `responder`, now or later. Returns the call if it is still in progress,
  // else null.
  virtual std::shared_ptr<HttpCall> Handle(HttpRequest request,
                                           std::shared_ptr<HttpResponder> responder) = 0;
  // Returns whether a request with these headers may have a body of up to the limit of the port.
  // If not, the body may have `kShortBodyBytes` at most.
  virtual bool AcceptsBody(const HttpRequest& request) const = 0;
  // Returns the refusal of a request to upgrade the connection to a web socket, or nullopt if the
  // connection may become one (server/http/web_socket_session.h).
  virtual std::optional<HttpResponse> RefuseUpgrade(const HttpRequest& request) const = 0;

  // Returns the response to a request that the port refuses for `why`: headers or a body that are
  // too long, or bytes that are no HTTP. `request` has what is known of the request.
  virtual HttpResponse Refusal(const HttpRequest&, unsigned status, const char* why) const {
    return {.status = status,
            .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
            .body = std::string(why) + "\n"};
  }

  static constexpr size_t kShortBodyBytes = 4096;
};

}  // namespace carom::server
