// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/query_service.h"

#include "server/query/evaluate_call.h"
#include "server/query/explain_call.h"
#include "server/query/stream.h"

namespace carom::server {

void QueryService::Accept(EventLoop& loop, QueryRuntime& runtime) {
  // `Stream::Accept` and `EvaluateCall::Accept` each request one call from gRPC; when that call
  // arrives, its handler requests the next call. One requested call per thread lets all threads
  // accept calls at the same time.
  for (size_t i = 0; i < loop.thread_count(); ++i) {
    Stream::Accept(*this, loop, runtime);
    EvaluateCall::Accept(*this, loop, runtime);
  }
  ExplainCall::Accept(*this, loop, runtime);
}

}  // namespace carom::server
