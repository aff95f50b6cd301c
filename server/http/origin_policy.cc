// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/origin_policy.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "carom/status.h"

namespace carom::server {
namespace {

constexpr char kAllowedHeaders[] =
    "Authorization, Connect-Protocol-Version, Connect-Timeout-Ms, Content-Type, Traceparent, "
    "X-User-Agent";
constexpr char kPreflightSeconds[] = "7200";

std::vector<std::string> Split(absl::string_view origins) {
  std::vector<std::string> list;
  for (const absl::string_view entry : absl::StrSplit(origins, ',', absl::SkipWhitespace())) {
    list.push_back(absl::AsciiStrToLower(absl::StripAsciiWhitespace(entry)));
  }
  return list;
}

// Returns the host of `HOST:PORT` or `[HOST]:PORT`, without brackets and port, in lower case.
std::string HostOf(absl::string_view authority) {
  if (absl::ConsumePrefix(&authority, "[")) {
    return absl::AsciiStrToLower(authority.substr(0, authority.find(']')));
  }
  return absl::AsciiStrToLower(authority.substr(0, authority.rfind(':')));
}

// Returns what follows the scheme of an origin, or an empty string if `origin` has no scheme of
// HTTP.
absl::string_view AuthorityOf(absl::string_view origin) {
  if (absl::ConsumePrefix(&origin, "https://") || absl::ConsumePrefix(&origin, "http://")) {
    return origin;
  }
  return {};
}

bool IsIpAddress(const std::string& host) {
  in_addr v4;
  in6_addr v6;
  return inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

}  // namespace

OriginPolicy::OriginPolicy(absl::string_view origins) : origins_(Split(origins)) {
  allows_all_ = std::find(origins_.begin(), origins_.end(), "*") != origins_.end();
}

absl::Status OriginPolicy::Check(absl::string_view origins) {
  for (const std::string& origin : Split(origins)) {
    const absl::string_view authority = AuthorityOf(origin);
    if (origin != "*" && (authority.empty() || absl::StrContains(authority, '/'))) {
      return InvalidField("--http-allowed-origins",
                          "must be * or origins such as https://game.example, separated by commas");
    }
  }
  return absl::OkStatus();
}

bool OriginPolicy::IsAllowedHost(absl::string_view authority) const {
  const std::string host = HostOf(authority);
  return allows_all_ || host == "localhost" || IsIpAddress(host) ||
         std::any_of(origins_.begin(), origins_.end(), [&](const std::string& origin) {
           return HostOf(AuthorityOf(origin)) == host;
         });
}

absl::Status OriginPolicy::Allow(const HttpRequest& request) const {
  const absl::string_view host = request.header("host");
  if (!IsAllowedHost(host)) {
    return absl::PermissionDeniedError(
        "the Host of the request is no IP address, not localhost, and not in "
        "--http-allowed-origins");
  }
  const std::string origin = absl::AsciiStrToLower(request.header("origin"));
  if (origin.empty() || allows_all_) return absl::OkStatus();
  const std::string own =
      absl::AsciiStrToLower(absl::StrCat(request.is_encrypted ? "https://" : "http://", host));
  if (origin == own || std::find(origins_.begin(), origins_.end(), origin) != origins_.end()) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError("the Origin of the request is not in --http-allowed-origins");
}

HttpHeaders OriginPolicy::HeadersFor(const HttpRequest& request) const {
  const absl::string_view origin = request.header("origin");
  if (origin.empty()) return {};
  return {{"Access-Control-Allow-Origin", std::string(origin)},
          {"Access-Control-Expose-Headers", "Retry-After"},
          {"Vary", "Origin"}};
}

HttpResponse OriginPolicy::Preflight(const HttpRequest& request) const {
  HttpResponse response{.status = 204, .headers = HeadersFor(request), .body = ""};
  response.headers.emplace_back("Access-Control-Allow-Methods", "POST");
  response.headers.emplace_back("Access-Control-Allow-Headers", kAllowedHeaders);
  response.headers.emplace_back("Access-Control-Max-Age", kPreflightSeconds);
  return response;
}

}  // namespace carom::server
