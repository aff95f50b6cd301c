// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do `Stream` and `Evaluate` calls have in common?
//
// A `QueryCall` is an asynchronous call of gRPC that evaluates one frame at a time: it owns itself
// by counted references, is registered so that a drain reaches it, and has its frame evaluated in
// turns, between which the frame is parked or waits for an executor thread. What is read and
// answered when is the subclass's: server/stream.h, server/evaluate_call.h.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/call_registry.h"
#include "server/event_loop.h"
#include "server/executor.h"
#include "server/query_runtime.h"
#include "server/session.h"
#include "server/timer.h"
#include "server/version_gate.h"

namespace carom::server {

class QueryService;

// Lifetime: each event, timer and evaluation that is outstanding holds a reference; who lets the
// last one go deletes the call. Made with two references, those of the events "accepted" and
// "done", which may come in any order. Thread-safe as gRPC calls it: state of the subclass is under
// `mu_`, but for what the evaluation owns.
class QueryCall : public Task, public Drainable {
 public:
  // On an executor thread: the frame goes on, after `Submit`, the end of a park, or `Cancel`.
  void Run() final;

 protected:
  QueryCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime);
  virtual ~QueryCall() = default;

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();
  // For an "accepted" that is not OK, because the server is shut down: there is no call, and "done"
  // does not come. Ends both references.
  void Discard();

  // Registers and counts the call, once, from "accepted". UNAVAILABLE if the server drains,
  // RESOURCE_EXHAUSTED if it has as many calls as it may: the call is then to be refused.
  absl::Status Admit();

  // Goes on with `frame_` for a turn of `turn_units`, on the calling thread, which owns the
  // evaluation and its reference. True: `run_` has the answer, or the call is cancelled. False: the
  // frame is parked or submitted; evaluation and reference are those of the next `Run`, and the
  // call may be gone already.
  bool Evaluate(uint64_t turn_units) ABSL_LOCKS_EXCLUDED(mu_);
  // Queues the evaluation for an executor thread, which takes over its reference.
  void Submit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The evaluation stops at its next check, a parked frame is woken, and nothing more is answered.
  void Cancel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has gRPC end the call with RESOURCE_EXHAUSTED although an answer is not sent yet, which
  // `Finish` would wait for. "Done" follows, cancelled.
  void CutOff() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Calls `check` at `when`, without a lock, unless `StopTimer` comes before; `check` begins by
  // setting the timer to 0. Holds a reference meanwhile.
  template <typename Check>
  void StartTimer(Timer::Id& timer, Clock::time_point when, Check check)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Ref();
    timer = runtime_.timer.Schedule(when, [this, check = std::move(check)] {
      check();
      Unref();
    });
  }
  // The caller holds a reference of its own.
  void StopTimer(Timer::Id& timer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // --- Of the subclass, in the order in which an evaluation meets them
  // ------------------------------ The evaluation is about to wait for a version or an executor
  // thread.
  virtual void OnSuspend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // It is about to go on, on an executor thread.
  virtual void OnResume() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // It is over, on an executor thread, as after an `Evaluate` that returns true: the subclass
  // answers, unless the call is cancelled. The evaluation's reference ends after it.
  virtual void OnEvaluated() ABSL_LOCKS_EXCLUDED(mu_) = 0;

 private:
  // The first member, so that the event loop outlives all others.
  const EventLoop::User loop_user_;

 protected:
  // No lock: set by the constructor; each is thread-safe by itself.
  QueryService& service_;
  EventLoop& loop_;
  QueryRuntime& runtime_;
  grpc::ServerContext context_;

  // Of whoever owns the evaluation, as `Evaluate` says, and of no one else. No lock: ownership goes
  // from thread to thread through `mu_` or the executor's lock.
  ReceivedFrame frame_;
  std::unique_ptr<FrameRun> run_;  // from the first turn of a frame until its answer
  Session session_;

  absl::Mutex mu_;                      // taken before the locks of gate, executor and timer
  std::atomic<bool> cancelled_{false};  // written under mu_; the evaluation reads it without
  // Work caused since the last `Submit`: what the executor's fair queue charges for.
  uint64_t unpaid_work_ ABSL_GUARDED_BY(mu_) = 0;

 private:
  std::atomic<int> references_{2};
  bool admitted_ = false;  // written by `Admit`, read by the last `Unref`
  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;  // of the park, if any
};

}  // namespace carom::server
