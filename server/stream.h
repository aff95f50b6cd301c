// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `QueryService.Stream` call: a session.
//
// Frames are read ahead as bytes, evaluated one at a time, and answered in their order.
//
//   client --> queue_ --> frame_ --> ready_ --> writing --> client
//
// What a client can make the server hold is bounded on both sides. Reading: `max_frames_in_flight`
// frames, above which a frame is refused, and no read is begun while `max_unread_bytes` wait in
// `queue_`: HTTP/2 flow control then stops the client. Writing: no frame is evaluated, and none
// read, while more than `max_unread_bytes` of answers wait for the client; one that takes none of
// them for `stalled_stream` loses its stream.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/event_loop.h"
#include "server/message_io.h"
#include "server/query_runtime.h"

namespace carom::server {

class QueryService;

//   OnAccepted  a call is here; the next one is waited for. `ok` false: the server is shut down.
//   OnGreeted   the client knows that its call is here.
//   OnRead      a frame is here: it is queued, with the time. `ok` false: the client has closed its
//               side or is gone: no more reads; OK follows the last answer.
//   OnWritten   an answer is on its way; the next one follows.
//   OnDone      the call is over. If it was cancelled (by the client, its deadline, a broken
//               connection), possibly while a frame is evaluated: the evaluation stops at its next
//               check, a parked frame is woken, and nothing more is answered.
//   OnFinished  the call's status is on its way.
//   Run         on an executor thread: evaluates frame_, or parks it until its versions are there.
//   Drain       the server stops: no more reads; UNAVAILABLE follows the last answer.
//   CheckIdle   on the timer's thread: ABORTED after the idle time without a frame;
//               RESOURCE_EXHAUSTED if an answer was not taken for as long.
//   CheckStall  on the timer's thread: RESOURCE_EXHAUSTED for a client that takes no answers.
//
// A small frame is evaluated by the thread that read it, within a budget of time a turn; others,
// and those beyond the budget, by the executor, or by that thread too where nobody waits for the
// executor and another thread is left for events. A frame that is at work or parked takes what it
// is parsed to beside that, until it is answered. Owns itself by counted references: one for each
// event, task and timer that is outstanding. Thread-safe as gRPC calls it; all state is under mu_,
// but what the evaluation owns.
class Stream final : public Task, public Drainable {
 public:
  static void Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime);

  void Run() override;
  void Drain() override;

 private:
  struct ReadFrame {
    grpc::ByteBuffer bytes;
    size_t size = 0;  // of `bytes`, or what a refusal counts
    Clock::time_point received;
    absl::Status refusal;  // not OK: the frame is over a limit, and `bytes` are gone
    FrameHead head;
    FrameUse use = FrameUse::kAnswer;
  };
  // Whether to evaluate here; kHeld: only if the thread may be held.
  enum class Where { kHere, kHeld, kElsewhere };

  Stream(QueryService& service, EventLoop& loop, QueryRuntime& runtime);
  ~Stream() = default;

  void OnAccepted(bool ok);
  void OnGreeted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool ok);

  // Starts whatever the state allows: a write, an evaluation, a read, the end. Returns whether the
  // caller is to `RunHere`, which it may be if `where` says so.
  bool Advance(Where where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MaybeEvaluate(Where where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Break() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Why a frame of `size` bytes is not taken; OK if it is.
  absl::Status CheckFlow(size_t size) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Enqueue(const FrameHead& head) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The next frame, or nothing if the queue has none that is to be evaluated; refusals before it
  // are answered on the way.
  bool TakeFrame() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsSuperseded(const ReadFrame& frame) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Answer(const grpc::ByteBuffer& bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The bytes of a response; those of the first one tell the limits.
  grpc::ByteBuffer Encoded(v1::StreamResponse& response);
  grpc::ByteBuffer Refusal(uint64_t seq, const absl::Status& status);
  bool IsFull() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return unread_bytes_ > runtime_.limits.max_unread_bytes;
  }

  // Holds the thread for frame_, which is not small, until that is evaluated or leaves. False if
  // others wait for the executor, or no thread would be left for events.
  bool HoldThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // frame_ goes on later or elsewhere; the stream reads on meanwhile.
  void Leave() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Evaluates frame_, and more while the state allows and its turn lasts. Ends its reference.
  void RunHere();
  // False: it is parked, or was left to the executor as it takes too much to be answered here.
  bool Evaluate(Where where);
  void Submit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void CheckIdle();
  void ScheduleIdleCheck(Clock::time_point when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CheckStall(uint64_t writes);
  // Ends the call although a write is outstanding, which `End` would wait for.
  void Cut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WatchStall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  const EventLoop::User loop_user_;
  QueryService& service_;
  EventLoop& loop_;
  QueryRuntime& runtime_;
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> call_{&context_};
  EventOf<Stream, &Stream::OnAccepted> accepted_{this};
  EventOf<Stream, &Stream::OnGreeted> greeted_{this};
  EventOf<Stream, &Stream::OnRead> read_{this};
  EventOf<Stream, &Stream::OnWritten> written_{this};
  EventOf<Stream, &Stream::OnDone> done_{this};
  EventOf<Stream, &Stream::OnFinished> finished_{this};
  std::atomic<int> references_{2};      // of `accepted_` and `done_`, in any order
  std::atomic<bool> cancelled_{false};  // written under mu_; read by the evaluation
  bool registered_ = false;             // written by OnAccepted alone

  // Of the evaluation alone, while evaluating_; of no one else. `Advance` makes its caller that.
  ReadFrame frame_;
  std::unique_ptr<FrameRun> run_;
  Session session_;
  bool limits_told_ = false;
  bool holds_thread_ = false;

  absl::Mutex mu_;                          // taken before the locks of gate, executor and timer
  size_t frames_ ABSL_GUARDED_BY(mu_) = 0;  // read, and their answers not given to gRPC
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  grpc::ByteBuffer read_bytes_;  // of gRPC while reading_, then of OnRead
  std::deque<ReadFrame> queue_ ABSL_GUARDED_BY(mu_);
  size_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool evaluating_ ABSL_GUARDED_BY(mu_) = false;
  CostEstimate cost_ ABSL_GUARDED_BY(mu_);
  uint64_t unpaid_work_ ABSL_GUARDED_BY(mu_) = 0;        // since the last Submit
  VersionGate::Ticket ticket_ ABSL_GUARDED_BY(mu_) = 0;  // of the park, if any
  std::deque<grpc::ByteBuffer> ready_ ABSL_GUARDED_BY(mu_);
  size_t unread_bytes_ ABSL_GUARDED_BY(mu_) = 0;   // of ready_ and of what is being written
  size_t writing_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // 0: nothing is being written
  uint64_t writes_ ABSL_GUARDED_BY(mu_) = 0;
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // Finish is called
  Clock::time_point last_activity_ ABSL_GUARDED_BY(mu_);
  Timer::Id idle_timer_ ABSL_GUARDED_BY(mu_) = 0;
  Timer::Id stall_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
