// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves one `QueryService.Explain` call: why is the answer to one query what it is?
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/v1/query_service.pb.h"
#include "carom/work_meter.h"
#include "server/query/query_runtime.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"
#include "server/transport/message_bytes.h"

namespace carom::server {

class QueryService;

// Explains the query of one call on the executor, since an explanation takes many times the work of
// its query. Each evaluation pauses after a time slice, checks periodically whether the call is
// cancelled or its deadline has passed, and ends after 10 seconds. A row is a hit, a beam, a
// polygon or an edge of an answer.
//
//   OnAccepted   The whole request has arrived; requests the next call from gRPC. `ok` false: the
//                server is shut down and no call arrives.
//   Run          Explains the query on an executor thread.
//   OnFinished   gRPC has sent the answer, or could not send it.
//   OnDone       The call is over. If it was cancelled, the evaluation stops at its next check.
//   CheckUnread  On the timer's thread: ends the call if the client does not read its answer within
//                `CallLimits::stalled_stream`.
//   Drain        Does nothing: the request has been read, so the call is answered.
class ExplainCall final : public AsyncCall {
 public:
  // Accepts Explain calls, one after the other, until the server is shut down.
  static void Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime);

  void Run() override;
  void Drain() override {}

 private:
  ExplainCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
      : AsyncCall(loop, runtime.calls, RpcMethod::kExplain, 2),
        service_(service),
        runtime_(runtime) {}
  ~ExplainCall() override = default;

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnFinished(bool ok);
  void OnDone(bool ok);
  void CheckUnread();

  // Parses the request and explains its query.
  absl::Status Answer(grpc::ByteBuffer& answer);
  absl::Status Explain(const v1::ExplainRequest& request, v1::ExplainResponse& response);
  // Returns whether the evaluation must stop: called about every 20 microseconds.
  bool MustStop(Clock::time_point end);
  // Returns why the evaluation was stopped.
  absl::Status StopStatus(const absl::Status& status) const;
  // Charges the tenant for the work of the evaluation since the last call.
  void TakeWork();
  void Finish(const absl::Status& status, const grpc::ByteBuffer& answer);

  QueryService& service_;
  QueryRuntime& runtime_;
  // The members from here to `finished_` need no lock: gRPC uses them for one operation at a time,
  // and after the operation only the thread that explains the query uses them.
  grpc::ByteBuffer request_;
  MessageBytes bytes_;
  MemoryCharge charge_;  // memory of the request, of the trackers and of the rows
  Clock::time_point slice_begin_;
  WorkMeter* meter_ = nullptr;  // of the evaluation that runs
  uint64_t charged_work_ = 0;   // work units already charged to the tenant
  uint64_t charged_rows_ = 0;
  absl::Status out_of_memory_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
  EventOf<ExplainCall, &ExplainCall::OnAccepted> accepted_{this};
  EventOf<ExplainCall, &ExplainCall::OnDone> done_{this};
  EventOf<ExplainCall, &ExplainCall::OnFinished> finished_{this};

  // memory of the answer, until gRPC has sent it
  MemoryCharge unread_charge_ ABSL_GUARDED_BY(mu_);
  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
