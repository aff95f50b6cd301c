// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do `Stream` and `Evaluate` calls have in common?
//
// A `QueryCall` evaluates one frame at a time, in turns, between which the frame is parked or waits
// for an executor thread. What is read and
// answered when is the subclass's: server/query/stream.h, server/query/evaluate_call.h.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/query/query_runtime.h"
#include "server/query/session.h"
#include "server/store/version_gate.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"
#include "server/transport/executor.h"

namespace carom::server {

class QueryService;

// Made with the references of the events "accepted" and "done". State of the subclass is under
// `mu_`, but for what the evaluation owns; the evaluation holds a reference.
class QueryCall : public AsyncCall {
 public:
  // On an executor thread: the frame goes on, after `Submit`, the end of a park, or `Cancel`.
  void Run() final;

 protected:
  QueryCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime);
  ~QueryCall() override = default;

  // For an "accepted" that is not OK, because the server is shut down: there is no call, and "done"
  // does not come. Ends both references.
  void Discard();

  // `Admit`, and what the call takes is charged to its peer from here on.
  // The session is that of the caller.
  absl::Status AdmitQuery() ABSL_LOCKS_EXCLUDED(mu_);

  // RESOURCE_EXHAUSTED if the tenant's share of work is used up: the frame is then to be refused.
  absl::Status CheckWork() const {
    return caller().shares == nullptr ? absl::OkStatus() : caller().shares->CheckWork(Clock::now());
  }

  // Goes on with `frame_` for a turn, on the calling thread, which owns the
  // evaluation and its reference. True: `run_` has the answer, or the call is cancelled. False: the
  // frame is parked or submitted; evaluation and reference are those of the next `Run`, and the
  // call may be gone already.
  bool Evaluate(const TurnLimits& turn) ABSL_LOCKS_EXCLUDED(mu_);
  // Queues the evaluation for an executor thread, which takes over its reference.
  void Submit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The evaluation stops at its next check, a parked frame is woken, and nothing more is answered.
  void Cancel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // --- Of the subclass, in the order in which an evaluation meets them ---

  // The evaluation is about to wait for a version or an executor thread.
  virtual void OnSuspend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // It is about to go on, on an executor thread.
  virtual void OnResume() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // It is over, on an executor thread, as after an `Evaluate` that returns true: the subclass
  // answers, unless the call is cancelled. The evaluation's reference ends after it.
  virtual void OnEvaluated() ABSL_LOCKS_EXCLUDED(mu_) = 0;

  // No lock: set by the constructor; each is thread-safe by itself.
  QueryService& service_;
  QueryRuntime& runtime_;

  // Of whoever owns the evaluation, as `Evaluate` says, and of no one else. No lock: ownership goes
  // from thread to thread through `mu_` or the executor's lock.
  ReceivedFrame frame_;
  std::unique_ptr<FrameRun> run_;  // from the first turn of a frame until its answer
  Session session_;
  MemoryCharge unread_charge_ ABSL_GUARDED_BY(mu_);  // of answers that wait for the client

  // Work caused since the last `Submit`: what the executor's fair queue charges for.
  uint64_t unpaid_work_ ABSL_GUARDED_BY(mu_) = 0;

 private:
  MemoryCharge session_charge_;  // owned as the session is
  uint64_t taken_work_ = 0;      // likewise: of the frame, by the tenant

  // `Evaluate`, but for the end of memory.
  bool Continue(const TurnLimits& turn) ABSL_LOCKS_EXCLUDED(mu_);

  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;  // of the park, if any
};

}  // namespace carom::server
