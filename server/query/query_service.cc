// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/query_service.h"

#include <grpcpp/support/async_unary_call.h>

#include "server/base/rpc_status.h"
#include "server/query/evaluate_call.h"
#include "server/query/stream.h"

namespace carom::server {
namespace {

// Answers one `Explain` call with UNIMPLEMENTED: the method is specified but not part of this
// release. Deletes itself.
class ExplainCall {
 public:
  static void Accept(QueryService& service, EventLoop& loop) {
    auto* call = new ExplainCall(service, loop);
    service.RequestExplain(&call->context_, &call->bytes_, &call->writer_, &loop.queue(),
                           &loop.queue(), &call->accepted_);
  }

 private:
  ExplainCall(QueryService& service, EventLoop& loop)
      : loop_user_(loop), service_(service), loop_(loop) {}

  void OnAccepted(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    Accept(service_, loop_);
    bytes_.Clear();
    const absl::Status status = absl::UnimplementedError("Explain is not part of this release");
    writer_.FinishWithError(ToGrpcStatus(status), &finished_);
  }
  void OnFinished(bool) { delete this; }

  const EventLoop::User loop_user_;
  QueryService& service_;
  EventLoop& loop_;
  grpc::ServerContext context_;
  grpc::ByteBuffer bytes_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
  EventOf<ExplainCall, &ExplainCall::OnAccepted> accepted_{this};
  EventOf<ExplainCall, &ExplainCall::OnFinished> finished_{this};
};

}  // namespace

void QueryService::Accept(EventLoop& loop, QueryRuntime& runtime) {
  // `Stream::Accept` and `EvaluateCall::Accept` each request one call from gRPC; when that call
  // arrives, its handler requests the next call. One requested call per thread lets all threads
  // accept calls at once.
  for (size_t i = 0; i < loop.thread_count(); ++i) {
    Stream::Accept(*this, loop, runtime);
    EvaluateCall::Accept(*this, loop, runtime);
  }
  ExplainCall::Accept(*this, loop);
}

}  // namespace carom::server
