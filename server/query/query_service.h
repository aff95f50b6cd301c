// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves the QueryService of proto/carom/v1/query_service.proto.
#pragma once

#include <grpcpp/grpcpp.h>

#include "carom/v1/query_service.grpc.pb.h"
#include "server/query/query_runtime.h"
#include "server/transport/event_loop.h"

namespace carom::server {

// The asynchronous QueryService, whose methods receive the bytes of requests
// (server/transport/message_io.h). A waiting call holds no thread, and a request is parsed only
// after its call is counted against the limit of calls. Thread-safe.
class QueryService final
    : public v1::QueryService::WithRawMethod_Evaluate<v1::QueryService::WithRawMethod_Stream<
          v1::QueryService::WithRawMethod_Explain<v1::QueryService::Service>>> {
 public:
  // Accepts calls of all methods until the server is shut down. `loop` and `runtime` outlive the
  // last call.
  void Accept(EventLoop& loop, QueryRuntime& runtime);
};

}  // namespace carom::server
