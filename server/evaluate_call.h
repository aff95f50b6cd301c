// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `QueryService.Evaluate` call: a frame of its own.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/event_loop.h"
#include "server/query_runtime.h"

namespace carom::server {

class QueryService;

// Waits for a call and runs its frame: where it arrives if it is small, else on the executor.
//
//   OnAccepted  the request is here. `ok` false: the server is shut down and no call comes.
//   Run         on an executor thread, once more after each park. Finishes the call, or parks it.
//   OnDone      the call is over, or cancelled, possibly during a run: the evaluation stops at its
//               next check, and nobody hears its answer.
//   OnFinished  the answer is on its way.
//
// Owns itself by counted references: one for each event or task that is outstanding. Thread-safe as
// gRPC calls it.
class EvaluateCall final : public Task, public Drainable {
 public:
  static void Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime);

  void Run() override;
  // A unary call has been read as a whole: it is answered.
  void Drain() override {}

 private:
  EvaluateCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime);
  ~EvaluateCall() = default;

  void OnAccepted(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool ok);

  // Evaluates, and finishes the call or parks it. `is_here`: on a thread of the event loop, which
  // leaves what asks much to the executor.
  void Evaluate(bool is_here);
  void Finish(const absl::Status& status);
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  const EventLoop::User loop_user_;
  QueryService& service_;
  EventLoop& loop_;
  QueryRuntime& runtime_;
  grpc::ServerContext context_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
  grpc::ByteBuffer request_;
  EventOf<EvaluateCall, &EvaluateCall::OnAccepted> accepted_{this};
  EventOf<EvaluateCall, &EvaluateCall::OnDone> done_{this};
  EventOf<EvaluateCall, &EvaluateCall::OnFinished> finished_{this};
  std::atomic<int> references_{2};  // of `accepted_` and `done_`, in any order
  std::atomic<bool> cancelled_{false};
  bool registered_ = false;
  bool counted_ = false;
  Clock::time_point received_;

  // Of the outstanding task alone.
  Session session_;
  std::unique_ptr<FrameRun> run_;

  absl::Mutex mu_;  // between OnDone and a task that parks
  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
