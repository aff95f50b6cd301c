// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves one `QueryService.Stream` call: how are the frames of a session answered?
//
// A frame is a message with a batch of queries. A `Stream` reads frames ahead as bytes, evaluates
// one frame at a time, and answers the frames in their order.
//
//   client --> queue_ --> frame_ --> ready_ --> being written --> client
//
// Two limits bound the memory that a client can take. Reading: a frame that arrives while
// `max_frames_in_flight` frames of the stream have no answer is refused, and no read begins while
// 2 `max_frames_in_flight` frames have no answer or `queue_` has more than `max_unread_bytes`
// bytes; HTTP/2 flow control then stops the client. Writing: while the answers that the client has
// not read have more than `max_unread_bytes` bytes, no frame is evaluated or read; if the client
// then reads no answer for the time `stalled_stream`, the call ends.
//
// If the stream has no other frame, a short answer is exchanged for the next frame: one gRPC
// operation sends the answer and receives the frame (server/query/stream_messages.h). The exchanged
// answer counts as unread until the next frame arrives.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "server/query/query_call.h"
#include "server/query/recorder.h"
#include "server/query/stream_messages.h"
#include "server/transport/event_loop.h"
#include "server/transport/message_io.h"

namespace carom::server {

// Answers the frames (messages with queries) of one stream. `queue_` has the frames that wait,
// `frame_` (of the base class) is the frame in evaluation, and `ready_` has the answers to be
// written. Events of a stream:
//
//   OnAccepted      A call has arrived; requests the next call from gRPC. `ok` false: the server is
//                   shut down. A call above the limit of calls or during a drain gets an error.
//   OnMetadataSent  gRPC has sent the initial metadata, which counts as a write of one byte.
//   OnRead          A frame has arrived: queues the frame, or the error of a refused frame. Without
//                   a frame the client has closed its side of the stream or has disconnected: the
//                   stream reads no more and ends with OK after the last answer. After
//                   `StreamMessages::Exchange`, which sends an answer and reads a frame: gRPC has
//                   also sent the answer.
//   OnWritten       gRPC has sent an answer; writes the next answer. `ok` false: the call is
//                   broken.
//   OnDone          The call is over. If it was cancelled (by the client, its deadline or a broken
//                   connection), possibly during an evaluation: the evaluation stops the next time
//                   it checks `cancelled_`, a frame that waits for a version is woken, and no more
//                   answers are written.
//   OnFinished      gRPC has sent the call's status, or could not send it.
//   OnResume        On an executor thread, before the evaluation of `frame_` continues.
//   OnEvaluated     On an executor thread: `frame_` has an answer; begins the next frame.
//   Drain           The server shuts down: the stream reads no more and ends with UNAVAILABLE after
//                   the last answer.
//   CheckIdle       On the timer's thread, if the stream has neither received a frame nor made or
//                   sent an answer for the time `CallLimits::idle_stream`: ends the call with
//                   RESOURCE_EXHAUSTED if an answer is still unread, or with ABORTED if every frame
//                   is answered.
//   CheckStall      On the timer's thread: ends the call with RESOURCE_EXHAUSTED if the client
//                   reads no answer for the time `CallLimits::stalled_stream`.
//
// The thread of the event loop that reads a small frame (little expected work, by `CostEstimate`)
// also evaluates the frame, within a time slice. A larger frame is evaluated by the executor, or by
// the thread that reads it if no task waits for the executor and another thread of the loop is left
// for gRPC's events. A frame that exceeds its time slice continues on the executor. A frame in
// evaluation holds its parsed message, and its bytes, too, if it may wait for a version of a scene;
// a frame that waits holds its bytes only. Lifetime and threads: server/query/query_call.h.
class Stream final : public QueryCall {
 public:
  // Accepts Stream calls, one after the other, until the server is shut down.
  static void Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime);

  void Drain() override;
  uint64_t unread_bytes() override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return unread_bytes_;
  }

 private:
  // Which thread may evaluate the next frame. kThisThread: the calling thread if the frame is small
  // or the thread can be reserved (`ReserveThread`); kThisThreadIfReserved: the calling thread only
  // if it can be reserved; kExecutor: an executor thread.
  enum class Where { kThisThread, kThisThreadIfReserved, kExecutor };

  Stream(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
      : QueryCall(service, loop, runtime, RpcMethod::kStream) {}
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

  // Starts the operations that the state allows: a write, an evaluation, a read, the end of the
  // call. Returns true if the caller must call `EvaluateOnThisThread`, which happens only if
  // `where` allows the calling thread.
  bool Advance(Where where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Write(MessageBytes answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MaybeEvaluate(Where where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns whether an executor thread that has answered a frame leaves the next frame to a thread
  // of the event loop: if it never did, one large frame would keep all later frames on the
  // executor.
  bool LeavesToLoop() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void MaybeRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayRead() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Counts the write in progress as complete.
  void FinishWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MaybeEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the call with `status`, which gRPC sends after all written answers.
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops all queued frames and answers and cancels the evaluation, after the client has
  // disconnected or cancelled the call.
  void Abandon() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Returns the error with which a frame of `size` bytes that has arrived must be refused, because
  // it is too large or too many frames have no answer; OK: the frame is accepted.
  absl::Status CheckFlow(size_t size) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Queues the frame with the bytes `bytes`, which has arrived. If a limit refuses the frame,
  // queues the error for its answer instead.
  void Enqueue(MessageBytes bytes, const FrameHead& head, Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves the next frame to evaluate from `queue_` to `frame_`. Returns false if `queue_` has no
  // such frame, or if the client has too many bytes of unread answers. Answers each refused frame
  // that precedes the moved frame in `queue_` with the error of the refused frame.
  bool TakeFrame() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsSuperseded(const ReceivedFrame& frame) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Answer(MessageBytes bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds the limits of the server to `response` if it is the first response of the stream.
  void AddLimits(v1::StreamResponse& response);
  MessageBytes Refusal(uint64_t seq, const absl::Status& status);
  bool IsFull() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return unread_bytes_ > runtime_.limits->max_unread_bytes;
  }

  // Reserves the calling thread of the event loop for `frame_`, which is not small (see
  // `CostEstimate`), until the frame is answered or suspended. Returns false if tasks wait for a
  // thread of the executor, or if no thread of the event loop would be left for gRPC's events.
  bool ReserveThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReleaseThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Evaluates `frame_` on the calling thread, and then each next frame that this thread may
  // evaluate (see `Where`): a small frame only before `kTimeSlice` has passed since `now`. Releases
  // the evaluation's reference to the call.
  void EvaluateOnThisThread(Clock::time_point now);
  // Must be called after `Evaluate` has returned true: queues the answer to `frame_`, ends the
  // evaluation, and returns the result of `Advance`.
  bool TakeAnswer(Where where, Clock::time_point now) ABSL_LOCKS_EXCLUDED(mu_);

  // Adds `frame_` and its answer to the recording of the stream, if the server records streams.
  void Record();

  void CheckIdle();
  void ScheduleIdleCheck(Clock::time_point when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CheckStall(uint64_t writes);
  void WatchStall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The next members need no lock: gRPC allows one read and one write at a time; `reading_` and
  // `writing_bytes_` prevent a second read or write.
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> call_{&context_};
  EventOf<Stream, &Stream::OnAccepted> accepted_{this};
  EventOf<Stream, &Stream::OnMetadataSent> metadata_sent_{this};
  EventOf<Stream, &Stream::OnRead> read_{this};
  EventOf<Stream, &Stream::OnWritten> written_{this};
  StreamMessages messages_{context_, read_, written_};
  EventOf<Stream, &Stream::OnDone> done_{this};
  EventOf<Stream, &Stream::OnFinished> finished_{this};

  // The next members need no lock: like `frame_`, only the thread that owns the evaluation uses
  // them. `Advance` makes its caller or the executor the owner. `Refusal`, which uses
  // `sent_limits_` to encode the error of a refused frame, runs only while no evaluation is in
  // progress.
  bool sent_limits_ = false;
  bool thread_reserved_ = false;
  bool asked_recording_ = false;  // `Recorder::Begin` was called
  std::shared_ptr<Recording> recording_;

  size_t frames_ ABSL_GUARDED_BY(mu_) = 0;  // frames read whose answers were not passed to gRPC yet
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<ReceivedFrame> queue_ ABSL_GUARDED_BY(mu_);
  size_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // `frame_` is being evaluated, or waits for a version of a scene or for an executor thread
  bool evaluating_ ABSL_GUARDED_BY(mu_) = false;
  // true: `frame_` already contains the frame that the next `TakeFrame` returns
  bool is_taken_ ABSL_GUARDED_BY(mu_) = false;
  CostEstimate cost_ ABSL_GUARDED_BY(mu_);
  std::deque<MessageBytes> ready_ ABSL_GUARDED_BY(mu_);
  size_t unread_bytes_ ABSL_GUARDED_BY(mu_) = 0;   // bytes of `ready_` and of the write in progress
  size_t writing_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // bytes of the write in progress; 0: none
  bool exchanging_ ABSL_GUARDED_BY(mu_) = false;   // the write in progress is part of an `Exchange`
  uint64_t writes_ ABSL_GUARDED_BY(mu_) = 0;       // number of complete writes
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;  // the client has closed its side of the stream
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // `End` was called
  // when a frame last arrived, was answered, or a write last completed
  Clock::time_point last_activity_ ABSL_GUARDED_BY(mu_);
  Timer::Id idle_timer_ ABSL_GUARDED_BY(mu_) = 0;
  // The timer of `CheckStall`; 0: not set. Set while a write is in progress and either the unread
  // answers exceed `max_unread_bytes` or `End` was called.
  Timer::Id stall_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
