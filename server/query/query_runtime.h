// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What every query call works with.
//
// `QueryRuntime` gathers the parts that unary and streaming calls share: the evaluator, the threads
// it runs on, and the registry through which a drain reaches the calls in progress. A `FrameRun`
// holds the messages and buffers of one frame's evaluation, from bytes to bytes; its memory comes
// from the runtime and goes back to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "carom/v1/query_service.pb.h"
#include "server/query/frame_evaluator.h"
#include "server/store/version_gate.h"
#include "server/transport/async_call.h"
#include "server/transport/executor.h"
#include "server/transport/message_io.h"

namespace carom::server {

// A frame as it was read: bytes that are parsed where the frame is evaluated.
struct ReceivedFrame {
  MessageBytes bytes;
  size_t size = 0;  // of `bytes`, or what a refusal counts
  FrameHead head;
  FrameArrival arrival;
  absl::Status refusal;  // not OK: the frame is over a limit, and `bytes` are gone
  MemoryCharge charge;   // of `bytes`

  // By which a `CostEstimate` judges it: an empty group is two bytes, and takes some microseconds
  // to be refused.
  size_t cost_bytes() const { return size + kBytesAPart * head.parts; }

  void Clear() {
    bytes.Clear();
    charge.Clear();
  }

 private:
  static constexpr size_t kBytesAPart = 64;
};

// Messages and buffers of one evaluation. Reused, they stop allocating once warm. Not thread-safe.
struct FrameRun {
  FrameRun() { work.bytes = &answers; }
  FrameRun(const FrameRun&) = delete;
  FrameRun& operator=(const FrameRun&) = delete;

  // The response and the answers beside it, as one message.
  MessageBytes Serialize();

  v1::StreamRequest request;
  v1::StreamResponse response;
  wire::AnswerBytes answers;  // of groups that have no message in `response`
  FrameScratch scratch;
  FrameWork work;
  bool is_parked = false;  // without its request, which is in the frame's bytes
  MemoryCharge parsed;     // of the request, if it is large
  size_t request_bytes = 0;
  size_t unmeasured_bytes = 0;  // of messages since their memory was measured
};

// A cache of runs for the next frames. Thread-safe.
class FrameRunPool {
 public:
  FrameRunPool() = default;
  ~FrameRunPool() { delete last_.load(); }
  FrameRunPool(const FrameRunPool&) = delete;
  FrameRunPool& operator=(const FrameRunPool&) = delete;

  // A cached run, or a fresh one.
  std::unique_ptr<FrameRun> Take();
  // Caches `run`, unless the cache is full, its frame was large and has no answer (`answer_bytes`
  // of 0: refused or cancelled), or its messages retain too much: protobuf frees no memory when a
  // message is cleared.
  void Return(std::unique_ptr<FrameRun> run, size_t answer_bytes);
  // Frees all that are cached.
  void Clear();

 private:
  // The one that was cached last, which a thread that answers frame after frame takes again.
  std::atomic<FrameRun*> last_{nullptr};
  absl::Mutex mu_;
  std::vector<std::unique_ptr<FrameRun>> free_ ABSL_GUARDED_BY(mu_);
};

// What a call may take of the server; see ServerOptions.
struct CallLimits {
  size_t max_frame_bytes = 4u << 20;
  size_t max_frames_in_flight = 16;
  size_t max_unread_bytes = 256u << 10;
  Clock::duration idle_stream = std::chrono::seconds(300);
  Clock::duration stalled_stream = std::chrono::seconds(30);
};

// Outlives every call. Thread-safe: each part is.
struct QueryRuntime {
  const FrameEvaluator& evaluator;
  Executor& executor;
  VersionGate& gate;
  const CallContext calls;
  const CallLimits limits;
  FrameRunPool runs{};

  // A run of `frame`, begun: parsed and checked, its definitions taken over. Clears its bytes,
  // unless it may have to wait for a version. Bytes that are no frame are the frame's
  // INVALID_ARGUMENT.
  // `session_charge`, of what the session takes, is charged as by the two that follow, and what the
  // session has not taken after the turn is to be given back.
  std::unique_ptr<FrameRun> Begin(ReceivedFrame& frame, Session& session,
                                  MemoryCharge& session_charge);
  // Frames that are evaluated at the same time cannot take the same memory: what a frame may make
  // of a session is charged before. Of what its definitions take, trackers have what there is, and
  // are refused beyond; RESOURCE_EXHAUSTED naming the share if handles have none.
  absl::Status ReserveDefinitions(const v1::Frame& frame, const Session& session,
                                  MemoryCharge& session_charge) const;
  // For each turn, what its trackers may learn.
  void ReserveMemories(const v1::Frame& frame, Session& session,
                       MemoryCharge& session_charge) const;
  // A frame that waits is its bytes and the answers that it has: a message takes much more than its
  // bytes.
  void Park(FrameRun& run) const;
  absl::Status Resume(FrameRun& run, const ReceivedFrame& frame) const;

  void EncodeLimits(v1::StreamLimits& message) const;

 private:
  // Charges a frame that is not short for what it becomes when it is parsed.
  absl::Status ChargeRequest(const ReceivedFrame& frame, FrameRun& run) const;
};

// Whether a frame is answered where it arrives. Frames of one call are alike, so the next one is
// expected to take as much work a byte as the last ones. Work and not time: that grows while other
// threads have the processor, and frames would be handed over when it is scarce.
class CostEstimate {
 public:
  // What a frame may be expected to take of a thread of the event loop: about 2,000 short segments,
  // up to 400 us.
  static constexpr uint64_t kSmallUnits = 60000;

  // The turn of a frame on such a thread. One that turns out to take more begins again elsewhere: a
  // fan is few bytes. The limits are far enough from what is small that a frame as it was expected
  // hardly meets them when the processor is busy: to go elsewhere costs more than 50 us.
  static TurnLimits Turn() {
    return {.max_units = 2 * kSmallUnits, .max_cpu = std::chrono::microseconds(600)};
  }
  // The same of a thread that is reserved, so that another one is left for events.
  static TurnLimits ReservedTurn() {
    return {.max_units = 32 * kSmallUnits, .max_cpu = std::chrono::milliseconds(10)};
  }

  bool IsSmall(size_t bytes) const {
    return static_cast<double>(bytes + kFrameBytes) * units_a_byte_ <=
           static_cast<double>(kSmallUnits);
  }
  // A frame of so many bytes took so much work.
  void Learn(size_t bytes, uint64_t work_units);

 private:
  // What a frame costs apart from its items, in bytes of items.
  static constexpr size_t kFrameBytes = 512;
  // A segment is 16 or 32 bytes and about 20 units; to read and write a byte is a part of one.
  double units_a_byte_ = 6;
};

}  // namespace carom::server
