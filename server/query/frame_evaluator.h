// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a frame become its answer?
//
// `FrameEvaluator::Begin` checks the frame and takes over its definitions; `Continue` answers group
// after group (server/query/frame_turn.h): decode, resolve the scene once, evaluate, encode. A
// group whose `min_version` is not there is left for a later `Continue`, after the others. Waiting
// itself is the caller's (server/store/version_gate.h), and so are threads.
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

struct FrameLimits {
  size_t max_groups = 1024;
  size_t max_queries = 65536;
  uint64_t max_answer_rows = 262144;
  uint64_t max_work_units = 0;  // 0: no limit
  PolygonLimits polygons;       // of edits
  TrackerTableLimits trackers;
  uint64_t shadow_interval = 1024;  // batches of moves a stream from one that is compared; 0: never
};

// Buffers of one evaluation; reused, they stop allocating once warm. Not thread-safe.
struct FrameScratch {
  wire::DecodedGroup decoded;
  GroupAnswers answers;
  JoinedCasts joined;
  ShadowRun shadow;

  // Whether the buffers are of ordinary size, so that the next frame may reuse them.
  bool IsWorthCaching() const;
};

// What becomes of a frame: SKIP takes over its definitions and answers no group.
enum class FrameUse { kAnswer, kSkip };

// How far `Continue` has come, the least first.
enum class Progress {
  kDone,    // the answer is complete
  kWaits,   // groups wait for versions, until `deadline` at most
  kYields,  // the turn is over; the groups that are left begin again
};

// When a frame came, and what for.
struct FrameArrival {
  Clock::time_point received;
  Clock::time_point call_deadline = Clock::time_point::max();
  FrameUse use = FrameUse::kAnswer;
};

// How long a turn may take. It ends soon after either limit, and what is not answered by then
// begins again in the next turn; a turn that pauses loses nothing.
struct TurnLimits {
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  uint64_t max_units = kNone;
  std::chrono::nanoseconds max_cpu = std::chrono::nanoseconds::max();  // of the calling thread
  // Called within the turn, once a slice of the executor; null: never.
  const std::function<void()>* pause = nullptr;
};

// The state of one frame's evaluation. `frame` and `answer` outlive it.
struct FrameWork {
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  const v1::Frame* frame = nullptr;
  v1::FrameAnswer* answer = nullptr;
  // Where answers of groups may be instead of in their messages, which are then empty; null: none.
  wire::AnswerBytes* bytes = nullptr;
  Clock::time_point received;                // where budget and elapsed time begin
  Clock::time_point deadline = kNever;       // the end of the budget
  Clock::time_point call_deadline = kNever;  // nobody reads an answer that comes later
  // Of the frame as a whole; OK unless it was refused.
  absl::Status status;
  std::vector<int> pending;        // groups without answer, ascending
  std::vector<VersionWait> waits;  // of the pending groups, after kWaits
  // What edits of pending groups made, by the group.
  std::vector<std::pair<int, Scene::Ptr>> edited;
  Coherence coherence = Coherence::kOn;
  uint64_t rows = 0;
  MemoryCharge rows_charge;  // of the answer while it is made
  uint64_t work_units = 0;
  MoveTiers tiers;
  ShadowStats shadow;
  Clock::duration evaluating{};
  uint64_t staleness_us = 0;  // of the store, when it began
};

// Stateless beside its limits: thread-safe for distinct arguments. The store outlives it.
class FrameEvaluator {
 public:
  FrameEvaluator(ForkStore& store, const FrameLimits& limits) : store_(store), limits_(limits) {}

  const FrameLimits& limits() const { return limits_; }

  // Sets `work` up for `frame`, and `answer`, whose memory is reused. A refused frame defines
  // nothing, has its status in `work.status` and in the answer, and nothing pending.
  void Begin(const v1::Frame& frame, const FrameArrival& arrival, Session& session,
             v1::FrameAnswer& answer, FrameWork& work) const;

  // RESOURCE_EXHAUSTED if a frame may not have so many groups, bindings and definitions in all.
  absl::Status CheckParts(size_t parts) const;

  // Sets both up for a frame that is refused before it is parsed.
  void Refuse(uint64_t seq, absl::Status status, v1::FrameAnswer& answer, FrameWork& work) const;

  // The groups without an answer are refused with `status`; those that have one, and what edits
  // have made, keep it.
  void RefusePending(const absl::Status& status, FrameWork& work) const;

  // Answers every pending group that need not wait, in one turn. Done early, with a meaningless
  // answer, once `cancelled`.
  Progress Continue(FrameWork& work, Session& session, FrameScratch& scratch,
                    const std::atomic<bool>& cancelled, const TurnLimits& turn = {}) const;

 private:
  absl::Status CheckFrame(const v1::Frame& frame) const;

  ForkStore& store_;
  const FrameLimits limits_;
};

}  // namespace carom::server
