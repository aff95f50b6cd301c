// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a frame become its answer?
//
// `FrameEvaluator::Begin` checks the frame and adds its definitions to the session. `Continue`
// answers the groups one after the other (server/query/frame_slice.h): it decodes a group, resolves
// its scene once, evaluates the group and encodes the answer. A group whose `min_version` has not
// been committed yet is left for a later call of `Continue`. The caller waits for versions
// (server/store/version_gate.h) and chooses the threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/group.h"
#include "carom/v1/query_service.pb.h"
#include "server/base/memory_account.h"
#include "server/base/timer.h"
#include "server/query/joined_casts.h"
#include "server/query/session.h"
#include "server/query/shadow_run.h"
#include "server/store/fork_store.h"
#include "server/store/version_gate.h"
#include "wire/answer_bytes.h"
#include "wire/decode.h"

namespace carom::server {

// The limits of one frame.
struct FrameLimits {
  size_t max_groups = 1024;
  size_t max_queries = 65536;
  uint64_t max_answer_rows = 262144;
  uint64_t max_work_units = 0;  // 0: no limit
  PolygonLimits polygons;       // of the polygons that edits bring
  TrackerTableLimits trackers;
  // A `ShadowRun` compares one in so many batches of moves of a stream; 0: none.
  uint64_t shadow_interval = 1024;
};

// The buffers of the evaluation of one frame. Reused buffers stop allocating after some frames. Not
// thread-safe.
struct FrameScratch {
  wire::DecodedGroup decoded;
  GroupAnswers answers;
  JoinedCasts joined;
  ShadowRun shadow;

  // Returns whether the buffers are small enough to be kept for the next frame.
  bool IsWorthCaching() const;
};

// How a frame is evaluated: `kAnswer` answers its groups; `kSkip` makes its definitions and answers
// no group.
enum class FrameUse { kAnswer, kSkip };

// The result of `Continue`. The greatest of several results is the result of all.
enum class Progress {
  kDone,    // the answer is complete
  kWaits,   // some groups wait for versions, until `deadline` at most
  kYields,  // the time slice is over; the remaining groups begin again in the next one
};

// When a frame arrived, its deadline, and how it is evaluated.
struct FrameArrival {
  Clock::time_point received;
  Clock::time_point call_deadline = Clock::time_point::max();
  FrameUse use = FrameUse::kAnswer;
};

// The limits of a time slice. A time slice ends soon after it exceeds either limit, and a group
// without an answer begins again in the next time slice. A time slice that pauses instead repeats
// no work.
struct SliceLimits {
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  uint64_t max_units = kNone;
  std::chrono::nanoseconds max_cpu =
      std::chrono::nanoseconds::max();  // processor time of the thread
  // Called within the time slice whenever it has run for another `Executor::kSlice`; null: never.
  const std::function<void()>* pause = nullptr;
};

// The state of one frame's evaluation. `frame` and `answer` outlive it.
struct FrameWork {
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  const v1::Frame* frame = nullptr;
  v1::FrameAnswer* answer = nullptr;
  // Receives answers to groups as bytes; the messages of such groups are then empty. Null: every
  // answer is a message.
  wire::AnswerBytes* bytes = nullptr;
  Clock::time_point received;                // the start of the budget and of the elapsed time
  Clock::time_point deadline = kNever;       // the end of the budget
  Clock::time_point call_deadline = kNever;  // a later answer has no reader
  // The status of the frame as a whole: OK unless the frame was refused.
  absl::Status status;
  std::vector<int> pending;        // groups without answer, ascending
  std::vector<VersionWait> waits;  // of the pending groups, if `Continue` returned kWaits
  // The scenes after the edits of pending groups, with the index of each group.
  std::vector<std::pair<int, Scene::Ptr>> edited;
  Coherence coherence = Coherence::kOn;
  uint64_t rows = 0;
  MemoryCharge rows_charge;  // for the rows of the answer while it is built
  uint64_t work_units = 0;
  MoveTiers tiers;
  ShadowStats shadow;
  Clock::duration evaluating{};
  uint64_t staleness_us = 0;  // of the store when `Begin` was called
};

// Evaluates frames. Has no state except its limits, so it is thread-safe for distinct arguments.
// The store outlives the evaluator.
class FrameEvaluator {
 public:
  FrameEvaluator(ForkStore& store, const FrameLimits& limits) : store_(store), limits_(limits) {}

  const FrameLimits& limits() const { return limits_; }

  // Checks `frame`, adds its definitions to `session`, and initializes `work` and `answer`, whose
  // memory is reused. A refused frame makes no definitions and has no pending groups; its status is
  // in `work.status` and in `answer`.
  void Begin(const v1::Frame& frame, const FrameArrival& arrival, Session& session,
             v1::FrameAnswer& answer, FrameWork& work) const;

  // Returns RESOURCE_EXHAUSTED if a frame may not have `parts` groups, bindings and definitions of
  // trackers in all.
  absl::Status CheckParts(size_t parts) const;

  // Initializes `answer` and `work` for a frame that is refused before it is parsed.
  void Refuse(uint64_t seq, absl::Status status, v1::FrameAnswer& answer, FrameWork& work) const;

  // Refuses the pending groups with `status`. Groups that have an answer keep it, and refused
  // groups keep their `edited_version`.
  void RefusePending(const absl::Status& status, FrameWork& work) const;

  // Answers, in one time slice, every pending group that need not wait. Returns kDone early, with
  // an unspecified answer, once `cancelled` is true.
  Progress Continue(FrameWork& work, Session& session, FrameScratch& scratch,
                    const std::atomic<bool>& cancelled, const SliceLimits& slice = {}) const;

 private:
  absl::Status CheckFrame(const v1::Frame& frame) const;

  ForkStore& store_;
  const FrameLimits limits_;
};

}  // namespace carom::server
