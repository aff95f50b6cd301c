// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `QueryService.Stream` call: a session.
//
// Frames are read ahead, evaluated one at a time on the executor, and answered in their order.
//
//   client --> reading_ --> queue_ --> frame_ (executor) --> ready_ --> writing_ --> client
//
// `frames_` counts the frames between the first and the last arrow. At `max_frames_in_flight` the
// stream stops reading, and HTTP/2 flow control stops the client. One answer may wait for the write
// before it (`ready_`); the next frame is evaluated once that place is free.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "carom/v1/query_service.pb.h"
#include "server/query_runtime.h"

namespace carom::server {

// The reactor of one stream.
//
//   OnReadDone   a frame is here: it is queued, with the time. Without one (`ok` false) the client
//                has closed its side or is gone: no more reads; OK follows the last answer.
//   OnWriteDone  an answer is on its way; the next one follows. `ok` false: as OnCancel.
//   OnCancel     the client cancelled, its deadline ended, or its connection broke; possibly while
//                a frame is evaluated. The evaluation stops at its next check, a parked frame is
//                woken, nothing more is answered, and the stream finishes with CANCELLED once no
//                task is outstanding.
//   OnDone       after Finish and every other callback. Drops the call's reference.
//   Run          on an executor thread: evaluates frame_, or parks it until its versions are there.
//   Drain        the server stops: no more reads; UNAVAILABLE follows the last answer.
//   CheckIdle    on the timer's thread: ABORTED after the idle time without a frame; a client that
//                takes no answers for as long is cancelled.
//
// Owns itself by counted references: the call's until OnDone, an outstanding task's until its run
// ends, the idle timer's until it has run or is cancelled. Thread-safe as gRPC calls it; all state
// is under mu_, but what the outstanding task owns.
class Stream final : public grpc::ServerBidiReactor<v1::StreamRequest, v1::StreamResponse>,
                     public Task,
                     public Drainable {
 public:
  static Stream* Start(grpc::CallbackServerContext& context, QueryRuntime& runtime);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void Run() override;
  void Drain() override;

 private:
  struct ReadFrame {
    std::unique_ptr<v1::StreamRequest> request;
    Clock::time_point received;
  };

  Stream(grpc::CallbackServerContext& context, QueryRuntime& runtime);
  ~Stream() override = default;

  // Starts whatever the state allows: a read, an evaluation, a write, the end.
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeEvaluate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Break() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void CheckIdle();
  void ScheduleIdleCheck(Clock::time_point when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void Recycle(std::unique_ptr<v1::StreamRequest> request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Recycle(std::unique_ptr<v1::StreamResponse> response) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  grpc::CallbackServerContext& context_;  // valid until OnDone
  QueryRuntime& runtime_;
  std::atomic<int> references_{1};
  std::atomic<bool> cancelled_{false};  // written under mu_; read by the evaluation

  // Of the outstanding task alone, while evaluating_; of no one else.
  ReadFrame frame_;
  std::unique_ptr<v1::StreamResponse> answer_;
  bool begun_ = false;
  Session session_;
  FrameWork work_;

  absl::Mutex mu_;  // taken before the locks of gate, executor and timer
  size_t frames_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<v1::StreamRequest> reading_ ABSL_GUARDED_BY(mu_);
  std::deque<ReadFrame> queue_ ABSL_GUARDED_BY(mu_);
  bool evaluating_ ABSL_GUARDED_BY(mu_) = false;
  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;  // of the park, if any
  std::unique_ptr<v1::StreamResponse> ready_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<v1::StreamResponse> writing_ ABSL_GUARDED_BY(mu_);
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // Finish is called
  Clock::time_point last_activity_ ABSL_GUARDED_BY(mu_);
  Timer::Id idle_timer_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::unique_ptr<v1::StreamRequest>> spare_requests_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<v1::StreamResponse>> spare_responses_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
