// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The QueryService of proto/carom/v1/query_service.proto.
#pragma once

#include <grpcpp/grpcpp.h>

#include "carom/v1/query_service.grpc.pb.h"
#include "server/query/query_runtime.h"
#include "server/transport/event_loop.h"

namespace carom::server {

// Calls are asynchronous and take bytes (server/transport/message_io.h): none holds a thread while
// it waits, and none is parsed before it is counted. Thread-safe.
class QueryService final
    : public v1::QueryService::WithRawMethod_Evaluate<v1::QueryService::WithRawMethod_Stream<
          v1::QueryService::WithRawMethod_Explain<v1::QueryService::Service>>> {
 public:
  // Takes calls, one after the other, from here until the server is shut down. `loop` and `runtime`
  // outlive the last of them.
  void Accept(EventLoop& loop, QueryRuntime& runtime);
};

}  // namespace carom::server
