// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/page_response.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace carom::server {
namespace {

HttpResponse TextResponse(unsigned status, absl::string_view text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = absl::StrCat(text, "\n")};
}

// Whether the client takes gzip, by a list such as `br, gzip;q=0.5` (RFC 9110, 12.5.3): an entry
// with a weight above 0, which names gzip, or else `*`. A request without the header takes every
// encoding.
bool AcceptsGzip(const HttpRequest& request) {
  const auto is_header = [](const auto& header) {
    return absl::EqualsIgnoreCase(header.first, "accept-encoding");
  };
  if (std::none_of(request.headers.begin(), request.headers.end(), is_header)) return true;
  bool accepts = false;
  for (const absl::string_view entry : absl::StrSplit(request.header("accept-encoding"), ',')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(entry, absl::ByAnyChar("; \t="), absl::SkipEmpty());
    if (parts.empty()) continue;
    double weight = 1;
    if (parts.size() > 2 && !absl::SimpleAtod(parts[2], &weight)) weight = 0;
    if (absl::EqualsIgnoreCase(parts[0], "gzip")) return weight > 0;
    if (parts[0] == "*") accepts = weight > 0;
  }
  return accepts;
}

}  // namespace

std::optional<HttpResponse> PageResponse(const HttpRequest& request,
                                         std::span<const PageFile> files) {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  const PageFile* const file = FindPageFile(files, request.path);
  if (file == nullptr) {
    if (request.path != "/") return std::nullopt;
    return TextResponse(404,
                        "this build of caromd does not contain the viewer; "
                        "./dev viewer builds one that does");
  }
  if (!AcceptsGzip(request)) {
    return TextResponse(406, "the page is compressed: Accept-Encoding must allow gzip");
  }
  const std::string tag = absl::StrCat("\"", std::string(file->tag), "\"");
  HttpResponse response;
  response.headers = {{"ETag", tag}, {"Vary", "Accept-Encoding"}};
  for (const PageHeader& header : kPageHeaders) {
    response.headers.emplace_back(std::string(header.name), std::string(header.value));
  }
  if (absl::StrContains(request.header("if-none-match"), tag)) {
    response.status = 304;
    return response;
  }
  response.headers.emplace_back("Content-Type", std::string(file->type));
  response.headers.emplace_back("Content-Encoding", "gzip");
  response.constant_body = file->gzip;
  return response;
}

}  // namespace carom::server
