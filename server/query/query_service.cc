// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/query_service.h"

#include <grpcpp/support/async_unary_call.h>

#include "server/base/rpc_status.h"
#include "server/query/evaluate_call.h"
#include "server/query/stream.h"
#include "server/transport/one_answer_call.h"

namespace carom::server {
namespace {

// Answers one `Explain` call with UNIMPLEMENTED: the method is specified but not part of this
// release.
class ExplainCall : public OneAnswerCall<ExplainCall, QueryService> {
 public:
  using OneAnswerCall::OneAnswerCall;
  void Request() {
    service().RequestExplain(&context_, &bytes_, &writer_, &loop().queue(), &loop().queue(),
                             accepted());
  }
  void Answer() {
    bytes_.Clear();
    const absl::Status status = absl::UnimplementedError("Explain is not part of this release");
    writer_.FinishWithError(ToGrpcStatus(status), finished());
  }

 private:
  grpc::ServerContext context_;
  grpc::ByteBuffer bytes_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
};

}  // namespace

void QueryService::Accept(EventLoop& loop, QueryRuntime& runtime) {
  // `Stream::Accept` and `EvaluateCall::Accept` each request one call from gRPC; when that call
  // arrives, its handler requests the next call. One requested call per thread lets all threads
  // accept calls at the same time.
  for (size_t i = 0; i < loop.thread_count(); ++i) {
    Stream::Accept(*this, loop, runtime);
    EvaluateCall::Accept(*this, loop, runtime);
  }
  ExplainCall::Accept(*this, loop);
}

}  // namespace carom::server
