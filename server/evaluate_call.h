// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `QueryService.Evaluate` call: a frame of its own.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "carom/v1/query_service.pb.h"
#include "server/query_runtime.h"

namespace carom::server {

// Runs its frame on the executor and finishes with the frame's status.
//
//   Run       on an executor thread, once more after each park. Finishes the call, or parks it.
//   OnCancel  when the client cancels, its deadline ends or it is gone, possibly during Run: the
//             evaluation stops at its next check and Run finishes the call with CANCELLED.
//   OnDone    after Finish and OnCancel: deletes this. Finish is the last thing Run does, so no
//             task is outstanding.
//
// Owns itself; the request and response outlive it. Thread-safe as gRPC calls it.
class EvaluateCall final : public grpc::ServerUnaryReactor, public Task, public Drainable {
 public:
  // The reactor of a call: an EvaluateCall, or one that finishes with UNAVAILABLE under a drain.
  static grpc::ServerUnaryReactor* Start(grpc::CallbackServerContext& context,
                                         const v1::EvaluateRequest& request,
                                         v1::EvaluateResponse& response, QueryRuntime& runtime);

  void Run() override;
  void OnCancel() override;
  void OnDone() override;
  // A unary call has been read as a whole: it is answered.
  void Drain() override {}

 private:
  EvaluateCall(const v1::EvaluateRequest& request, v1::EvaluateResponse& response,
               QueryRuntime& runtime);

  const v1::EvaluateRequest& request_;
  v1::EvaluateResponse& response_;
  QueryRuntime& runtime_;
  const Clock::time_point received_;
  std::atomic<bool> cancelled_{false};

  // Of the outstanding task alone.
  Session session_;
  FrameWork work_;

  absl::Mutex mu_;  // between OnCancel and a task that parks
  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
