// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which web pages may use the HTTP port?
//
// A browser sends the header `Origin` with each request of a page to another site, and with each
// POST and web socket. Without a check, any page that a user visits could send requests to a server
// on the user's machine. The check of `Host` refuses pages that reach the server by a name of their
// own (DNS rebinding).
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http/http_message.h"

namespace carom::server {

// The list of origins (`https://game.example`, as browsers send them) whose pages may use the port.
// Immutable, and therefore thread-safe.
class OriginPolicy {
 public:
  // `origins`: origins, separated by commas; `*` allows all pages and host names.
  explicit OriginPolicy(absl::string_view origins);

  // Returns INVALID_ARGUMENT naming `--http-allowed-origins` if an entry is no origin.
  static absl::Status Check(absl::string_view origins);

  // Returns OK if `request` comes from no browser, from a page of this server or from a page of an
  // allowed origin, and its `Host` is an IP address, `localhost` or the host of an allowed origin;
  // else PERMISSION_DENIED.
  absl::Status Allow(const HttpRequest& request) const;

  // Returns the headers that let the page of the request read the response (CORS); none if the
  // request has no `Origin`. `Allow` must have accepted the request.
  HttpHeaders HeadersFor(const HttpRequest& request) const;
  // Returns the response to a preflight, the OPTIONS request that a browser sends first.
  HttpResponse Preflight(const HttpRequest& request) const;

 private:
  bool IsAllowedHost(absl::string_view host) const;

  bool allows_all_ = false;
  std::vector<std::string> origins_;
};

}  // namespace carom::server
