// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sends the frames of one stream when the engine requests them, and measures when answers arrive.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "client/load/answer_head.h"
#include "client/load/checker.h"
#include "client/load/frames.h"
#include "client/load/options.h"
#include "client/load/tally.h"
#include "client/src/mutex.h"

namespace carom::load {

// The measured time, the part of a run whose frames the report counts, in nanoseconds of
// CLOCK_MONOTONIC. Its beginning and its end have the greatest int64 value until they are known.
struct MeasuredTime {
  std::atomic<int64_t> begin_ns = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> end_ns = std::numeric_limits<int64_t>::max();
};

// The state that all streams of a run share. Each stream sends frames (the queries of one tick).
struct Run {
  const LoadOptions& options;
  const Frames& frames;
  Checker* checker = nullptr;  // null: no answer is checked
  MeasuredTime time = {};
  std::atomic<int64_t> pending = 0;  // frames that are queued or sent, and not answered
};

// One stream of a run of `carom load`, which sends frames (the queries of one tick). Only the
// thread that polls the completion queue may call `Handle`; any thread may call the other
// functions, except `status`.
class LoadStream {
 public:
  enum class Op : uint8_t { kStart, kWrite, kRead, kWritesDone, kFinish };
  // Identifies the stream and the operation to which an event of the completion queue belongs.
  struct Tag {
    LoadStream* stream;
    Op op;
  };
  // How an event has changed the state of the stream.
  enum class Event : uint8_t { kNone, kOpened, kEnded };

  LoadStream(Run& run, uint32_t index, grpc::GenericStub& stub, grpc::CompletionQueue& queue);
  // The event of the operation kFinish must have been handled, unless the stream was never opened.
  ~LoadStream() = default;
  LoadStream(const LoadStream&) = delete;
  LoadStream& operator=(const LoadStream&) = delete;

  // Starts the call and sends the first frame; the stream is open once that frame is answered.
  void Open();
  // Sends the next frame, which is due at `due_ns`, or queues it until earlier frames are written.
  void Send(int64_t due_ns, Tally& tally);
  // Handles the event that operation `op` has ended, successfully if `ok`, counts into `tally`, and
  // returns how the state of the stream changed.
  Event Handle(Op op, bool ok, Tally& tally);
  // Drops the frames that are not written, and half-closes the call (tells the server that no frame
  // follows).
  void Close();
  // Cancels the call.
  void Cancel() { context_.TryCancel(); }

  uint32_t index() const { return index_; }
  // Returns the first error of the stream. Only the thread that calls `Handle` may call it.
  const absl::Status& status() const { return status_; }

 private:
  struct PendingFrame {
    uint64_t tick;
    int64_t due_ns;
  };

  bool IsMeasured(int64_t due_ns) const { return due_ns >= run_.time.begin_ns.load(kRelaxed); }
  void WriteNext(Tally& tally) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HandleStart(bool ok);
  Event HandleRead(bool ok, Tally& tally);
  Event HandleFinish(Tally& tally);
  void HandleWrite(bool ok, Tally& tally);
  // Moves the frame with the number `seq` from `pending_` to `pending`. Returns false if no frame
  // that was sent and not answered has this number.
  bool RemovePending(uint64_t seq, PendingFrame& pending);
  // Counts the answer to `pending`, which arrived at `now_ns`.
  void Count(const AnswerHead& head, const PendingFrame& pending, int64_t now_ns, Tally& tally);
  void Finish();

  static constexpr auto kRelaxed = std::memory_order_relaxed;

  Run& run_;
  const uint32_t index_;
  Tag start_{this, Op::kStart}, write_{this, Op::kWrite}, read_{this, Op::kRead},
      writes_done_{this, Op::kWritesDone}, finish_{this, Op::kFinish};
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;

  // Only the thread that calls `Handle` uses the five members from here to `status_`.
  grpc::ByteBuffer answer_;
  bool is_open_ = false;
  uint64_t answers_ = 0;  // answers without errors to frames of the measured time
  grpc::Status finish_status_;
  absl::Status status_;

  Mutex mutex_;
  // frames without an answer, in the order of ticks
  std::deque<PendingFrame> pending_ ABSL_GUARDED_BY(mutex_);
  // number of frames at the end of `pending_` whose write has not begun
  size_t unsent_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_tick_ ABSL_GUARDED_BY(mutex_) = 0;
  // whether a write is active, or the call has not started
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;  // `Finish` was called, so no write may begin
};

}  // namespace carom::load
