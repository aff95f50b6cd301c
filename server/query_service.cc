// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query_service.h"

#include "server/evaluate_call.h"
#include "server/rpc_status.h"
#include "server/stream.h"

namespace carom::server {

grpc::ServerUnaryReactor* QueryService::Evaluate(grpc::CallbackServerContext* context,
                                                 const v1::EvaluateRequest* request,
                                                 v1::EvaluateResponse* response) {
  return EvaluateCall::Start(*context, *request, *response, runtime_);
}

grpc::ServerBidiReactor<v1::StreamRequest, v1::StreamResponse>* QueryService::Stream(
    grpc::CallbackServerContext* context) {
  return server::Stream::Start(*context, runtime_);
}

grpc::ServerUnaryReactor* QueryService::Explain(grpc::CallbackServerContext* context,
                                                const v1::ExplainRequest*, v1::ExplainResponse*) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(absl::UnimplementedError("Explain is not part of this release")));
  return reactor;
}

}  // namespace carom::server
