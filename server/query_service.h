// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The QueryService of proto/carom/v1/query_service.proto.
#pragma once

#include <grpcpp/grpcpp.h>

#include "carom/v1/query_service.grpc.pb.h"
#include "server/query_runtime.h"

namespace carom::server {

// Gives each call its reactor. Callback API: no call holds a thread while it waits.
// Thread-safe; `runtime` outlives it.
class QueryService final : public v1::QueryService::CallbackService {
 public:
  explicit QueryService(QueryRuntime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* Evaluate(grpc::CallbackServerContext* context,
                                     const v1::EvaluateRequest* request,
                                     v1::EvaluateResponse* response) override;
  grpc::ServerBidiReactor<v1::StreamRequest, v1::StreamResponse>* Stream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const v1::ExplainRequest* request,
                                    v1::ExplainResponse* response) override;

 private:
  QueryRuntime& runtime_;
};

}  // namespace carom::server
