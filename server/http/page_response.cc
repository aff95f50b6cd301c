// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/page_response.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace carom::server {
namespace {

HttpResponse TextResponse(unsigned status, absl::string_view text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = absl::StrCat(text, "\n")};
}

// Whether the client takes gzip. A request without the header takes every encoding (RFC 9110,
// 12.5.3).
bool AcceptsGzip(absl::string_view accepted) {
  if (accepted.empty()) return true;
  for (const absl::string_view entry : absl::StrSplit(accepted, ',')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(entry, absl::ByAnyChar("; \t"), absl::SkipEmpty());
    if (parts.empty() || (!absl::EqualsIgnoreCase(parts[0], "gzip") && parts[0] != "*")) continue;
    return parts.size() < 2 || (parts[1] != "q=0" && !absl::StartsWith(parts[1], "q=0.000"));
  }
  return false;
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
  if (!AcceptsGzip(request.header("accept-encoding"))) {
    return TextResponse(406, "the page is compressed: Accept-Encoding must allow gzip");
  }
  const std::string tag = absl::StrCat("\"", std::string(file->tag), "\"");
  HttpResponse response;
  response.headers = {{"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", std::string(PagePolicy())},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"ETag", tag},
                      {"Referrer-Policy", "no-referrer"},
                      {"Vary", "Accept-Encoding"},
                      {"X-Content-Type-Options", "nosniff"}};
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
