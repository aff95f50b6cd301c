// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `QueryService.Evaluate` call: a frame of its own.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include "absl/base/thread_annotations.h"
#include "server/query/query_call.h"
#include "server/transport/event_loop.h"

namespace carom::server {

// Waits for a call and evaluates its frame: where it arrives if it is small, else on the executor.
//
//   OnAccepted   the request is here, as a whole; the next call is waited for. `ok` false: the
//                server is shut down and no call comes.
//   OnEvaluated  the answer, or the frame's error, goes to gRPC.
//   OnFinished   the answer is sent. `ok` false: it was not, the call is cancelled.
//   OnDone       the call is over. If it was cancelled (by the client, its deadline, a broken
//                connection), possibly during a turn, the evaluation stops at its next check.
//   CheckUnread  on the timer's thread: RESOURCE_EXHAUSTED for a client that does not read its
//                answer, which flow control then keeps here: after the stalled time if the answer
//                has more than `max_unread_bytes`, else after the idle time, as of streams.
//   Drain        nothing: the request has been read as a whole, so it is answered.
class EvaluateCall final : public QueryCall {
 public:
  // Takes one call, and each that follows, until the server is shut down.
  static void Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime);

  void Drain() override {}

 private:
  EvaluateCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
      : QueryCall(service, loop, runtime) {}
  ~EvaluateCall() override = default;

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnFinished(bool ok);
  void OnDone(bool ok);
  void OnEvaluated() override;
  void CheckUnread();

  // Ends the call with an error, which is short: flow control does not apply to it.
  void Fail(const absl::Status& status);
  void Answer(const grpc::ByteBuffer& answer);

  // No lock: given to gRPC, one operation after the other.
  grpc::ByteBuffer request_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
  EventOf<EvaluateCall, &EvaluateCall::OnAccepted> accepted_{this};
  EventOf<EvaluateCall, &EvaluateCall::OnDone> done_{this};
  EventOf<EvaluateCall, &EvaluateCall::OnFinished> finished_{this};

  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;  // while an answer is being sent
};

}  // namespace carom::server
