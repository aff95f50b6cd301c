// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query_service.h"

#include "server/evaluate_call.h"
#include "server/rpc_status.h"
#include "server/stream.h"

namespace carom::server {

void QueryService::Accept(EventLoop& loop, QueryRuntime& runtime) {
  // Each waits for the next call as soon as it has one; more of them accept more at once.
  for (size_t i = 0; i < loop.thread_count(); ++i) {
    Stream::Accept(*this, loop, runtime);
    EvaluateCall::Accept(*this, loop, runtime);
  }
}

grpc::Status QueryService::Explain(grpc::ServerContext*, const v1::ExplainRequest*,
                                   v1::ExplainResponse*) {
  return ToGrpcStatus(absl::UnimplementedError("Explain is not part of this release"));
}

}  // namespace carom::server
