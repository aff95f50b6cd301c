// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do `Stream` and `Evaluate` calls have in common?
//
// A `QueryCall` evaluates one frame (a message with a batch of queries) at a time, in time slices.
// Between two time slices the frame is parked (waits for a version of a scene) or waits for an
// executor thread. The subclass decides when to read a frame and when to answer it:
// server/query/stream.h, server/query/evaluate_call.h.
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

// A call of QueryService, which evaluates one frame (a message with a batch of queries) at a time,
// in time slices; at most one thread owns the evaluation: the one that runs a time slice. The call
// begins with two references, for the events "accepted" and "done" of gRPC; an evaluation in
// progress holds another reference. `mu_` guards the state of the subclass, except for the members
// that the owner of the evaluation uses. Work units are visited polygons or edges.
class QueryCall : public AsyncCall {
 public:
  // Begins or continues the evaluation of the frame on an executor thread: after `Submit`, after
  // the frame waited for a version of a scene, or after `Cancel`.
  void Run() final;

 protected:
  QueryCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime, RpcMethod rpc);
  ~QueryCall() override = default;

  // Releases both references when the event "accepted" fails because the server is shut down: there
  // is no call then, and the event "done" never happens.
  void Discard();

  // Admits the call (`AsyncCall::Admit`), sets the tenant and the permissions of the session, and
  // from then on charges the memory of the call to its peer (client address or tenant).
  absl::Status AdmitQuery() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns RESOURCE_EXHAUSTED if the tenant has used up its share of work units per second; the
  // caller must then refuse the frame.
  absl::Status CheckWork() const {
    return caller().shares == nullptr ? absl::OkStatus() : caller().shares->CheckWork(Clock::now());
  }

  // Evaluates `frame_` for one time slice on the calling thread, which must own the evaluation and
  // the evaluation's reference to the call. Returns true if `run_` contains the answer or the call
  // is cancelled. Returns false if the frame waits for a version or was submitted to the executor:
  // the next `Run` then owns the evaluation and its reference, and the call may already be deleted.
  bool Evaluate(const SliceLimits& slice) ABSL_LOCKS_EXCLUDED(mu_);
  // Counts the answered frame `frame_` for the metrics, and logs it if it was slow. Must be called
  // before `run_` is returned to the cache `QueryRuntime::runs`.
  void RecordAnswer(Clock::time_point now);
  void LogSlowFrame(Clock::duration elapsed) const;
  // Returns the name of the scene of a group; empty if the group names none.
  std::string SceneOf(const v1::Group& group) const;

  // Queues the evaluation of `frame_` for an executor thread, which takes over the evaluation's
  // reference to the call.
  void Submit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Makes the evaluation stop the next time it checks `cancelled_`, and submits a frame that waits
  // for a version to the executor; the call answers nothing more.
  void Cancel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Functions for the subclass to override, in the order in which an evaluation calls them:

  // Called by the evaluation before the frame waits for a version of a scene or for an executor
  // thread.
  virtual void OnSuspend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // Called on an executor thread before the evaluation continues.
  virtual void OnResume() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {}
  // Called on an executor thread when `Evaluate` has returned true: the subclass answers the frame,
  // unless the call is cancelled. The evaluation's reference to the call is released afterwards.
  virtual void OnEvaluated() ABSL_LOCKS_EXCLUDED(mu_) = 0;

  // The next two references need no lock: the constructor sets them, and each object is
  // thread-safe.
  QueryService& service_;
  QueryRuntime& runtime_;

  // Only the thread that owns the evaluation (see `Evaluate`) uses the next three members, without
  // a lock: `mu_` or the lock of the executor synchronizes the transfer of ownership between
  // threads.
  ReceivedFrame frame_;
  // the evaluation of `frame_`, from its first time slice until its answer; else null
  std::unique_ptr<FrameRun> run_;
  Session session_;  // the scene handles and trackers that the call's frames have defined
  // memory of answers that the client has not read
  MemoryCharge unread_charge_ ABSL_GUARDED_BY(mu_);

  // Work units that threads of the event loop evaluated since the last `Submit`; the next `Submit`
  // charges them to the call's peer (client address or tenant) in the fair queue of the executor.
  uint64_t uncharged_work_ ABSL_GUARDED_BY(mu_) = 0;

 private:
  // Only the thread that owns the evaluation uses the next two members.
  MemoryCharge session_charge_;  // charge for the memory of `session_`
  uint64_t charged_work_ = 0;    // work units of `frame_` already charged to the tenant

  // Implements `Evaluate`, except that it throws std::bad_alloc if an allocation fails.
  bool Continue(const SliceLimits& slice) ABSL_LOCKS_EXCLUDED(mu_);

  // ticket of the frame in the version gate, while the frame waits for a version of a scene; 0: the
  // frame does not wait
  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
