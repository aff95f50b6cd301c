// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves the HTTP port for operators: `/metrics`, `/healthz`, `/readyz`, `/version` and `/config`.
// Nothing here changes the server, and nothing shows a secret.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/http/http_message.h"

namespace carom::server {

// Where the pages come from. The functions are thread-safe.
struct AdminPages {
  // Returns the page of `/metrics`; the argument: whether in OpenMetrics.
  std::function<std::string(bool)> metrics;
  // Returns OK if the server is ready for queries, else UNAVAILABLE with the reason.
  std::function<absl::Status()> readiness;
  std::string version;
  std::function<std::string()> config;  // the effective settings, in TOML
};

// Answers each request at once. Thread-safe.
class AdminService final : public HttpHandler {
 public:
  explicit AdminService(AdminPages pages) : pages_(std::move(pages)) {}

  std::shared_ptr<HttpCall> Handle(HttpRequest request,
                                   std::shared_ptr<HttpResponder> responder) override;
  bool AcceptsBody(const HttpRequest&) const override { return false; }
  std::optional<HttpResponse> RefuseUpgrade(const HttpRequest& request) const override;

 private:
  HttpResponse Answer(const HttpRequest& request) const;

  const AdminPages pages_;
};

}  // namespace carom::server
