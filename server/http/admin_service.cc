// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/admin_service.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace carom::server {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kOpenMetrics[] = "application/openmetrics-text";
constexpr char kOpenMetricsType[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

HttpResponse Text(unsigned status, std::string body, const char* type = kText) {
  return {.status = status,
          .headers = {{"Content-Type", type}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

}  // namespace

std::shared_ptr<HttpCall> AdminService::Handle(HttpRequest request,
                                               std::shared_ptr<HttpResponder> responder) {
  responder->Reply(Answer(request));
  return nullptr;
}

HttpResponse AdminService::Answer(const HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse response = Text(405, "the method must be GET\n");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  if (request.path == "/healthz") return Text(200, "ok\n");
  if (request.path == "/readyz") {
    const absl::Status status = pages_.readiness();
    return status.ok() ? Text(200, "ready\n") : Text(503, absl::StrCat(status.message(), "\n"));
  }
  if (request.path == "/version") return Text(200, absl::StrCat(pages_.version, "\n"));
  if (request.path == "/config") return Text(200, pages_.config(), "application/toml");
  if (request.path == "/metrics") {
    const bool is_open_metrics = absl::StrContains(request.header("accept"), kOpenMetrics);
    return Text(200, pages_.metrics(is_open_metrics),
                is_open_metrics ? kOpenMetricsType : kPrometheusText);
  }
  return Text(404, "the paths are /metrics, /healthz, /readyz, /version and /config\n");
}

std::optional<HttpResponse> AdminService::RefuseUpgrade(const HttpRequest&) const {
  return Text(400, "this port has no web sockets\n");
}

}  // namespace carom::server
