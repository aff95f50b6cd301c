// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves one `QueryService.Evaluate` call: how is a single frame (a message with a batch of
// queries) answered?
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include "absl/base/thread_annotations.h"
#include "server/query/query_call.h"
#include "server/transport/event_loop.h"

namespace carom::server {

// Evaluates the frame (the request: a message with a batch of queries) of one call: a small frame
// (little expected work, by `CostEstimate`) on the event loop thread that receives it, a larger
// frame on the executor. Each evaluation checks periodically whether the call is cancelled.
//
//   OnAccepted   The whole request has arrived; requests the next call from gRPC. `ok` false: the
//                server is shut down and no call arrives.
//   OnEvaluated  Passes the answer, or the error of the frame, to gRPC.
//   OnFinished   gRPC has sent the answer. `ok` false: gRPC did not send it, as the call is
//                cancelled.
//   OnDone       The call is over. If it was cancelled (by the client, its deadline or a broken
//                connection) while a thread evaluates the frame, the evaluation stops at its next
//                check.
//   CheckUnread  On the timer's thread: ends the call with RESOURCE_EXHAUSTED if the client has not
//                read the answer within a time limit; until then, flow control keeps the answer in
//                the memory of the server. The time limits are those of streams:
//                `CallLimits::stalled_stream` for an answer of more than `max_unread_bytes`, else
//                `CallLimits::idle_stream`.
//   Drain        The server shuts down gracefully. Does nothing: the whole request has been read,
//                so the call is answered.
class EvaluateCall final : public QueryCall {
 public:
  // Accepts Evaluate calls, one after the other, until the server is shut down.
  static void Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime);

  void Drain() override {}

 private:
  EvaluateCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
      : QueryCall(service, loop, runtime, RpcMethod::kEvaluate) {}
  ~EvaluateCall() override = default;

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnFinished(bool ok);
  void OnDone(bool ok);
  void OnEvaluated() override;
  void CheckUnread();

  // Ends the call with an error. Starts no timer: flow control does not delay an error, because
  // errors are short.
  void Fail(const absl::Status& status);
  // Ends the call with `answer`, and starts the timer of `CheckUnread`.
  void Answer(const grpc::ByteBuffer& answer);

  // The next two members need no lock: gRPC uses them for one operation at a time.
  grpc::ByteBuffer request_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
  EventOf<EvaluateCall, &EvaluateCall::OnAccepted> accepted_{this};
  EventOf<EvaluateCall, &EvaluateCall::OnDone> done_{this};
  EventOf<EvaluateCall, &EvaluateCall::OnFinished> finished_{this};

  // the timer of `CheckUnread`, set while gRPC sends an answer; 0: not set
  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
