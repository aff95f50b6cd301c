// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves the RPCs of both services by HTTP/1.1, in the Connect protocol: the unary methods, and
// ExportScene and WatchScene as streams of the server. `curl`, `connect-es` and
// `buf curl --protocol connect` can use them. Beside them it serves the page of the viewer.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/page/page_files.h"
#include "server/http/forwarded_call.h"
#include "server/http/http_message.h"
#include "server/http/origin_policy.h"

namespace carom::server {

// Forwards each request to the gRPC server of the process. Thread-safe.
class ConnectService final : public HttpHandler {
 public:
  // `calls` must outlive the service. `allowed_origins` is the list of an `OriginPolicy`; `page`
  // are the files of the page.
  ConnectService(CallForwarder& calls, absl::string_view allowed_origins,
                 std::span<const PageFile> page)
      : calls_(calls), origins_(allowed_origins), page_(page) {}

  std::shared_ptr<HttpCall> Handle(HttpRequest request,
                                   std::shared_ptr<HttpResponder> responder) override;
  bool AcceptsBody(const HttpRequest& request) const override;
  std::optional<HttpResponse> RefuseUpgrade(const HttpRequest& request) const override;
  HttpResponse Refusal(const HttpRequest& request, unsigned status, const char* why) const override;

 private:
  CallForwarder& calls_;
  const OriginPolicy origins_;
  const std::span<const PageFile> page_;
};

}  // namespace carom::server
