// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One stream of the load: the engine says when a frame is sent, answers are timed as they come.
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

// The measured time; nanoseconds of CLOCK_MONOTONIC. Not begun: at the end of time.
struct MeasuredTime {
  std::atomic<int64_t> begin_ns = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> end_ns = std::numeric_limits<int64_t>::max();
};

// What the streams of a run share.
struct Run {
  const LoadOptions& options;
  const Frames& frames;
  Checker* checker = nullptr;  // null: nothing is checked
  MeasuredTime time = {};
  std::atomic<int64_t> waiting = 0;  // frames without their answer
};

// `Handle` is called by the one thread that takes events of the queue, all else by any.
class LoadStream {
 public:
  enum class Op : uint8_t { kStart, kWrite, kRead, kWritesDone, kFinish };
  // What an event of the queue points to.
  struct Tag {
    LoadStream* stream;
    Op op;
  };
  // What an event came to, beside what is counted.
  enum class Event : uint8_t { kNone, kOpened, kEnded };

  LoadStream(Run& run, uint32_t index, grpc::GenericStub& stub, grpc::CompletionQueue& queue);
  // All events came.
  ~LoadStream() = default;
  LoadStream(const LoadStream&) = delete;
  LoadStream& operator=(const LoadStream&) = delete;

  // Starts the call and sends the first frame; it is open once that is answered.
  void Open();
  // Sends the next frame, which is due at `due_ns`, or keeps it until the ones before are gone.
  void Send(int64_t due_ns, Tally& tally);
  // Treats an event.
  Event Handle(Op op, bool ok, Tally& tally);
  // Sends nothing more and asks the server to end the stream.
  void Close();
  // Ends at once.
  void Cancel() { context_.TryCancel(); }

  uint32_t index() const { return index_; }
  // Of the stream that ended, for `Handle`'s thread.
  const absl::Status& status() const { return status_; }

 private:
  struct Waiting {
    uint64_t tick;
    int64_t due_ns;
  };

  bool IsMeasured(int64_t due_ns) const { return due_ns >= run_.time.begin_ns.load(kRelaxed); }
  void WriteNext(Tally& tally) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HandleStart(bool ok);
  Event HandleRead(bool ok, Tally& tally);
  Event HandleFinish(Tally& tally);
  void HandleWrite(bool ok, Tally& tally);
  // Finds who waits for answer `seq`, and takes it out.
  bool Take(uint64_t seq, Waiting& waiting);
  void Count(const AnswerHead& head, const Waiting& waiting, int64_t now_ns, Tally& tally);
  void Finish();

  static constexpr auto kRelaxed = std::memory_order_relaxed;

  Run& run_;
  const uint32_t index_;
  Tag start_{this, Op::kStart}, write_{this, Op::kWrite}, read_{this, Op::kRead},
      writes_done_{this, Op::kWritesDone}, finish_{this, Op::kFinish};
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;

  // Of `Handle`'s thread.
  grpc::ByteBuffer answer_;
  bool is_open_ = false;
  uint64_t answers_ = 0;
  grpc::Status finish_status_;
  absl::Status status_;

  Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // due, by tick; the unsent ones last
  size_t unsent_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_tick_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = true;  // until it is started
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_dead_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace carom::load
