// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The QueryService of proto/carom/v1/query_service.proto.
#pragma once

#include <grpcpp/grpcpp.h>

#include "carom/v1/query_service.grpc.pb.h"
#include "server/event_loop.h"
#include "server/query_runtime.h"

namespace carom::server {

// `Evaluate` and `Stream` are asynchronous and take bytes (server/message_io.h); no call holds a
// thread while it waits. Thread-safe.
class QueryService final : public v1::QueryService::WithRawMethod_Evaluate<
                               v1::QueryService::WithRawMethod_Stream<v1::QueryService::Service>> {
 public:
  // Takes calls, one after the other, from here until the server is shut down. `loop` and `runtime`
  // outlive the last of them.
  void Accept(EventLoop& loop, QueryRuntime& runtime);

  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override;
};

}  // namespace carom::server
