// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do `Stream` and `Evaluate` calls have in common?
//
// A `QueryCall` evaluates one frame at a time, in time slices. Between two time slices the frame is
// parked or waits for an executor thread. The subclass decides when to read a frame and when to
// answer it: server/query/stream.h, server/query/evaluate_call.h.
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

// A call of QueryService. Begins with two references, for the events "accepted" and "done"; an
// evaluation in progress holds another one. `mu_` guards the state of the subclass, except for the
// members that the thread of the evaluation owns.
class QueryCall : public AsyncCall {
 public:
  // Continues the evaluation of the frame on an executor thread: after `Submit`, after the frame
  // was parked, or after `Cancel`.
  void Run() final;

 protected:
  QueryCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime);
  ~QueryCall() override = default;

  // Releases both references when the event "accepted" fails because the server is shut down: there
  // is no call then, and the event "done" never happens.
  void Discard();

  // Admits the call (`Admit`), sets the tenant and the permissions of the session, and charges the
  // memory of the call to its peer from then on.
  absl::Status AdmitQuery() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns RESOURCE_EXHAUSTED if the tenant has used up its share of work; the caller must then
  // refuse the frame.
  absl::Status CheckWork() const {
    return caller().shares == nullptr ? absl::OkStatus() : caller().shares->CheckWork(Clock::now());
  }

  // Evaluates `frame_` for one time slice on the calling thread, which owns the evaluation and its
  // reference. Returns true if `run_` has the answer or the call is cancelled. Returns false if the
  // frame is parked or submitted: the next `Run` then owns the evaluation and its reference, and
  // the call may already be deleted.
  bool Evaluate(const SliceLimits& slice) ABSL_LOCKS_EXCLUDED(mu_);
  // Queues the evaluation for an executor thread, which takes over the reference of the evaluation.
  void Submit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Stops the evaluation at its next check and submits a parked frame; the call answers nothing
  // more.
  void Cancel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // --- Implemented by the subclass, in the order in which an evaluation calls them ---

  // Called before the evaluation waits for a version or an executor thread.
  virtual void OnSuspend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // Called on an executor thread before the evaluation continues.
  virtual void OnResume() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // Called on an executor thread when `Evaluate` has returned true: the subclass answers, unless
  // the call is cancelled. The reference of the evaluation is released afterwards.
  virtual void OnEvaluated() ABSL_LOCKS_EXCLUDED(mu_) = 0;

  // No lock: the constructor sets the next two references, and each object is thread-safe.
  QueryService& service_;
  QueryRuntime& runtime_;

  // Only the thread that owns the evaluation (see `Evaluate`) uses the next three members. No lock:
  // `mu_` or the lock of the executor synchronizes the transfer of ownership between threads.
  ReceivedFrame frame_;
  std::unique_ptr<FrameRun> run_;  // from the first time slice of a frame until its answer
  Session session_;
  MemoryCharge unread_charge_ ABSL_GUARDED_BY(mu_);  // for answers that the client has not read

  // Work units evaluated since the last `Submit`; the next `Submit` charges the executor's fair
  // queue for them.
  uint64_t uncharged_work_ ABSL_GUARDED_BY(mu_) = 0;

 private:
  // Only the owner of the evaluation uses the next two members.
  MemoryCharge session_charge_;  // for `session_`
  uint64_t charged_work_ = 0;    // work units of the frame that the tenant was charged for

  // Implements `Evaluate`, except that a failed allocation throws.
  bool Continue(const SliceLimits& slice) ABSL_LOCKS_EXCLUDED(mu_);

  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;  // of the parked frame; 0: it is not parked
};

}  // namespace carom::server
