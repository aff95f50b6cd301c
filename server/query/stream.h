// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `QueryService.Stream` call: a session.
//
// Frames are read ahead as bytes, evaluated one at a time, and answered in their order.
//
//   client --> queue_ --> frame_ --> ready_ --> being written --> client
//
// The memory that a client can take is bounded on both sides. Reading: `max_frames_in_flight`
// frames, above which a frame is refused, and no read is begun while twice as many are there, or
// `max_unread_bytes` wait in `queue_`: HTTP/2 flow control then stops the client. Writing: no frame
// is evaluated, and none read, while more than `max_unread_bytes` of answers wait for the client;
// one that reads none of them for `stalled_stream` loses its stream.
//
// A short answer beside which no frame is there is exchanged for the next frame
// (server/query/stream_messages.h), and counts as unread until that comes.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "server/query/query_call.h"
#include "server/query/stream_messages.h"
#include "server/transport/event_loop.h"
#include "server/transport/message_io.h"

namespace carom::server {

//   OnAccepted      a call is here; the next one is waited for. `ok` false: the server shuts down.
//                   A call above the limit or under a drain ends with that error.
//   OnMetadataSent  the client knows that its call is here. Counts as a write of one byte.
//   OnRead          a frame is here: it is queued, with the time, or its refusal is; or there is
//                   none, and the client has closed its side or is gone: no more reads; OK follows
//                   the last answer. Of an exchange: the answer is sent, too.
//   OnWritten       gRPC has sent an answer; the next one follows. `ok` false: the call is broken.
//   OnDone          the call is over. If it was cancelled (by the client, its deadline, a broken
//                   connection), possibly while a frame is evaluated: the evaluation stops at its
//                   next check, a parked frame is woken, and nothing more is answered.
//   OnFinished      the call's status is sent, or could not be.
//   OnResume        on an executor thread, before frame_ goes on there.
//   OnEvaluated     on an executor thread: frame_ is answered; the next one follows.
//   Drain           the server stops: no more reads; UNAVAILABLE follows the last answer.
//   CheckIdle       on the timer's thread: ABORTED after the idle time without a frame;
//                   RESOURCE_EXHAUSTED if an answer was not read for as long.
//   CheckStall      on the timer's thread: RESOURCE_EXHAUSTED for a client that reads no answers.
//
// A small frame is evaluated by the thread that read it, within a time slice; others, and those
// beyond the slice, by the executor, or by that thread too where nobody waits for the executor and
// another thread is left for events. A frame that is evaluated or parked takes its parsed message
// beside its bytes, until it is answered. Lifetime and threads: server/query/query_call.h.
class Stream final : public QueryCall {
 public:
  // Takes one call, and each that follows, until the server is shut down.
  static void Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime);

  void Drain() override;

 private:
  // Which thread may evaluate the next frame: the caller if the frame is small or the thread can be
  // reserved; the caller if it can be reserved; an executor thread.
  enum class Where { kHere, kIfReserved, kExecutor };

  Stream(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
      : QueryCall(service, loop, runtime) {}
  ~Stream() override = default;

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnMetadataSent(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void Prefetch() const;
  void OnDone(bool ok);
  void OnFinished(bool ok);
  void OnSuspend() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnResume() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnEvaluated() override;

  // Starts whatever the state allows: a write, an evaluation, a read, the end. Returns whether the
  // caller is to `EvaluateHere`, which it may be if `where` says so.
  bool Advance(Where where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Write(MessageBytes answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MaybeEvaluate(Where where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the next frame is left to the event loop by an executor thread that has answered the
  // one before: one frame that is interrupted does not take those behind it along for good.
  bool GoesBackToLoop() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void MaybeRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayRead() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void TakeWritten() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the call with `status`, after all that was written.
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The client is gone: drops what waits and cancels the evaluation.
  void Abandon() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Why a frame of `size` bytes is refused; OK if it is not.
  absl::Status CheckFlow(size_t size) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Queues a frame, or its refusal.
  void Enqueue(MessageBytes bytes, const FrameHead& head, Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has the next frame in `frame_`; false if the queue has none that is to be evaluated.
  // Refusals before it are answered on the way.
  bool TakeFrame() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsSuperseded(const ReceivedFrame& frame) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Answer(MessageBytes bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The limits, if it is the first response.
  void AddLimits(v1::StreamResponse& response);
  MessageBytes Refusal(uint64_t seq, const absl::Status& status);
  bool IsFull() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return unread_bytes_ > runtime_.limits.max_unread_bytes;
  }

  // Reserves the thread for frame_, which is not small, until it is answered or suspended. False if
  // others wait for the executor, or no thread would be left for events.
  bool ReserveThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Evaluates frame_, and more while the state allows and the time slice lasts. Ends the
  // evaluation's reference.
  void EvaluateHere(Clock::time_point now);
  // After an `Evaluate` that returned true: queues the answer, ends the evaluation, and goes on as
  // `Advance` does.
  bool TakeAnswer(Where where, Clock::time_point now) ABSL_LOCKS_EXCLUDED(mu_);

  void CheckIdle();
  void ScheduleIdleCheck(Clock::time_point when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CheckStall(uint64_t writes);
  void WatchStall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // No lock: given to gRPC, which allows a read beside a write; `reading_` and `writing_bytes_`
  // keep to one of each.
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> call_{&context_};
  EventOf<Stream, &Stream::OnAccepted> accepted_{this};
  EventOf<Stream, &Stream::OnMetadataSent> metadata_sent_{this};
  EventOf<Stream, &Stream::OnRead> read_{this};
  EventOf<Stream, &Stream::OnWritten> written_{this};
  StreamMessages messages_{context_, read_, written_};
  EventOf<Stream, &Stream::OnDone> done_{this};
  EventOf<Stream, &Stream::OnFinished> finished_{this};

  // No lock: of the evaluation's owner, as `frame_` is. `Advance` makes its caller that, or the
  // executor. A refusal is encoded while there is no evaluation.
  bool sent_limits_ = false;
  bool thread_reserved_ = false;

  size_t frames_ ABSL_GUARDED_BY(mu_) = 0;  // read, and their answers not given to gRPC
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<ReceivedFrame> queue_ ABSL_GUARDED_BY(mu_);
  size_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool evaluating_ ABSL_GUARDED_BY(mu_) = false;  // frame_ has an owner
  bool is_taken_ ABSL_GUARDED_BY(mu_) = false;    // frame_ is what `TakeFrame` is to take
  CostEstimate cost_ ABSL_GUARDED_BY(mu_);
  std::deque<MessageBytes> ready_ ABSL_GUARDED_BY(mu_);
  size_t unread_bytes_ ABSL_GUARDED_BY(mu_) = 0;   // of ready_ and of what is being written
  size_t writing_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // 0: nothing is being written
  bool exchanging_ ABSL_GUARDED_BY(mu_) = false;   // what is written and what is read is one
  uint64_t writes_ ABSL_GUARDED_BY(mu_) = 0;       // that are complete
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;  // the client sends no more
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;               // Finish is called
  Clock::time_point last_activity_ ABSL_GUARDED_BY(mu_);  // the last read or write
  Timer::Id idle_timer_ ABSL_GUARDED_BY(mu_) = 0;
  Timer::Id stall_timer_ ABSL_GUARDED_BY(mu_) = 0;  // while answers above the limit wait
};

}  // namespace carom::server
