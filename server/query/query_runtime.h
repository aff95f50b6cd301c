// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which objects do all query calls share?
//
// A `QueryRuntime` holds the objects that unary and streaming calls share: the evaluator, the
// executor, and the registry through which a drain (a graceful shutdown) ends the calls in
// progress. A `FrameRun` holds the messages and buffers of the evaluation of one frame (a message
// with a batch of queries), from request bytes to answer bytes; the runtime caches it for later
// frames.
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
#include "server/base/live_value.h"
#include "server/query/frame_evaluator.h"
#include "server/store/version_gate.h"
#include "server/transport/async_call.h"
#include "server/transport/executor.h"
#include "server/transport/message_io.h"

namespace carom::server {

class Recorder;

// A frame (a message with a batch of queries) as received: the thread that evaluates the frame
// parses its bytes.
struct ReceivedFrame {
  MessageBytes bytes;
  // size of `bytes`; for a refused frame, whose `bytes` are empty, the bytes with which its error
  // counts against the limit of queued bytes
  size_t size = 0;
  FrameHead head;
  FrameArrival arrival;
  absl::Status refusal;  // not OK: the server refuses the frame, and `bytes` are empty
  MemoryCharge charge;   // charge for the memory of `bytes`

  // Returns the size from which a `CostEstimate` estimates the work of the frame. Each part (group,
  // scene binding or tracker definition) adds `kBytesPerPart`, since an empty group has two bytes
  // but takes some microseconds to refuse.
  size_t cost_bytes() const { return size + kBytesPerPart * head.parts; }

  void Clear() {
    bytes.Clear();
    charge.Clear();
  }

 private:
  static constexpr size_t kBytesPerPart = 64;
};

// The messages and buffers of the evaluation of one frame (a message with a batch of queries). A
// reused run stops allocating after some frames. Not thread-safe.
struct FrameRun {
  v1::StreamRequest request;
  v1::StreamResponse response;
  FrameScratch scratch;
  FrameWork work;
  // If true, the frame waits for a version of a scene: `request` is empty, and
  // `QueryRuntime::Resume` parses the frame again.
  bool is_parked = false;
  // charge for the memory of `request`; 0 bytes for a request of at most 16 KiB
  MemoryCharge parsed;
  size_t request_bytes = 0;
  // bytes of requests and answers since the last measurement of the memory that `request` and
  // `response` retain
  size_t unmeasured_bytes = 0;
};

// A cache of `FrameRun`s (messages and buffers of an evaluation) for later frames. Thread-safe.
class FrameRunPool {
 public:
  FrameRunPool() = default;
  ~FrameRunPool() { delete last_.load(); }
  FrameRunPool(const FrameRunPool&) = delete;
  FrameRunPool& operator=(const FrameRunPool&) = delete;

  // Returns a cached `FrameRun`, or a new one if the cache is empty.
  std::unique_ptr<FrameRun> Take();
  // Caches `run`. Deletes `run` instead if the cache is full, if its request had more than 64 KiB
  // and has no answer (`answer_bytes` of 0: refused or cancelled), or if its buffers or messages
  // retain too much memory: protobuf frees no memory when a message is cleared.
  void Return(std::unique_ptr<FrameRun> run, size_t answer_bytes);
  // Deletes all cached runs.
  void Clear();

 private:
  // The run that was cached last. A thread that answers one frame after the other reuses this run
  // without acquiring `mu_`.
  std::atomic<FrameRun*> last_{nullptr};
  absl::Mutex mu_;
  std::vector<std::unique_ptr<FrameRun>> free_ ABSL_GUARDED_BY(mu_);
};

// The limits of one query call; server/options.h describes each member at the option of
// `ServerOptions` with a similar name.
struct CallLimits {
  size_t max_frame_bytes = 4u << 20;
  size_t max_frames_in_flight = 16;
  size_t max_unread_bytes = 256u << 10;
  Clock::duration idle_stream = std::chrono::seconds(300);
  Clock::duration stalled_stream = std::chrono::seconds(30);
  Clock::duration slow_frame{};  // 0: no frame is logged as slow
};

// The objects and limits that all query calls share. Must outlive the calls. Thread-safe, as each
// member is. A frame is a message with a batch of queries; a session keeps the scene handles and
// the trackers (moving shapes) that the frames of one call define, and `session_charge` is the
// charge for the session's memory. A run is a `FrameRun`: the messages and buffers of an
// evaluation.
struct QueryRuntime {
  const FrameEvaluator& evaluator;
  Executor& executor;
  VersionGate& gate;
  const CallContext calls;
  const LiveValue<CallLimits>& limits;
  Recorder* const recorder = nullptr;  // null: streams are not recorded
  FrameRunPool runs{};

  // Returns a run that has parsed and checked `frame` and added the frame's definitions (of scene
  // handles and trackers) to `session`. Clears the bytes of the frame, unless the frame may wait
  // for a version of a scene. Bytes that are no valid message give the frame the error
  // INVALID_ARGUMENT. Charges `session_charge` as `ReserveDefinitions` and `ReserveMemories` do;
  // after the time slice the caller releases the part of the charge that the session has not used.
  std::unique_ptr<FrameRun> Begin(ReceivedFrame& frame, Session& session,
                                  MemoryCharge& session_charge);
  // Charges `session_charge` for the definitions of `frame` before they are made, so that
  // concurrent frames cannot take the same memory. Charges scene handles in full: returns
  // RESOURCE_EXHAUSTED naming the memory share if that is not possible. Charges trackers as far as
  // memory is available; the session refuses tracker definitions beyond the charge.
  absl::Status ReserveDefinitions(const v1::Frame& frame, const Session& session,
                                  MemoryCharge& session_charge) const;
  // Charges `session_charge`, before a time slice, for the memories (caches of nearby polygons)
  // that the frame's moves may add to the trackers, and sets the limit of the session's trackers to
  // the charged bytes.
  void ReserveMemories(const v1::Frame& frame, Session& session,
                       MemoryCharge& session_charge) const;
  // Frees the request message and the buffers of a frame that waits for a version, and marks `run`
  // as parked. A message takes much more memory than its bytes, so a waiting frame keeps only the
  // bytes of its request and its answers.
  void Park(FrameRun& run) const;
  // Parses once more the request of a run that `Park` has marked. Returns RESOURCE_EXHAUSTED if the
  // memory of the request cannot be charged.
  absl::Status Resume(FrameRun& run, const ReceivedFrame& frame) const;

  void EncodeLimits(v1::StreamLimits& message) const;

 private:
  // Charges `run.parsed` for the memory of the parsed request, unless the request has at most 16
  // KiB.
  absl::Status ChargeRequest(const ReceivedFrame& frame, FrameRun& run) const;
};

// Estimates whether a frame (a message with a batch of queries) is small enough that the event loop
// thread which receives it also evaluates it. The frames of one call are alike, so the next frame
// is expected to take as many work units per byte as the preceding ones. The estimate counts work
// units and not time: a frame takes longer while other threads use the CPU, and a time estimate
// would move frames to the executor when CPU time is scarce. A work unit is a visited polygon or
// edge.
class CostEstimate {
 public:
  // The most work units that a small frame is expected to take: about 2,000 short segments, up to
  // 400 us of a thread of the event loop.
  static constexpr uint64_t kSmallUnits = 60000;

  // Returns the limits of a time slice on a thread of the event loop. A frame that exceeds these
  // limits continues on the executor; a fan of beams (many rays from one point), for example, has
  // few bytes and much work. The limits are about twice the work and time of the largest small
  // frame, so that a frame with the expected work rarely exceeds them when the CPUs are busy:
  // moving a frame to the executor costs more than 50 us.
  static SliceLimits Slice() {
    return {.max_units = 2 * kSmallUnits, .max_cpu = std::chrono::microseconds(600)};
  }
  // Returns the limits of a time slice on a reserved thread of the event loop
  // (`EventLoop::ReserveThread`), while other threads of the loop handle gRPC's events.
  static SliceLimits ReservedSlice() {
    return {.max_units = 32 * kSmallUnits, .max_cpu = std::chrono::milliseconds(10)};
  }

  bool IsSmall(size_t bytes) const {
    return static_cast<double>(bytes + kFrameBytes) * units_per_byte_ <=
           static_cast<double>(kSmallUnits);
  }
  // Updates the estimate: a frame of `bytes` took `work_units`.
  void AddSample(size_t bytes, uint64_t work_units);

 private:
  // A frame without queries costs as much as queries of `kFrameBytes` bytes in another frame.
  static constexpr size_t kFrameBytes = 512;
  // The initial estimate of work units per byte, several times higher than the cost of casting
  // segments: a segment has 16 or 32 bytes and its cast takes about 20 units; reading and writing a
  // byte takes a fraction of a unit.
  double units_per_byte_ = 6;
};

}  // namespace carom::server
