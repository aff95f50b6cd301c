// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server answer a frame: a message with queries, in groups of one scene each?
//
// `FrameEvaluator::Begin` checks the frame and adds its definitions (of scene handles and trackers)
// to the session of the stream. `Continue` answers the groups one after the other
// (server/query/frame_slice.h): it decodes a group, looks up its scene once, evaluates the group
// and encodes the answer. If a group's `min_version` of its scene has not been committed yet, a
// later call of `Continue` answers the group. The caller waits for versions
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
#include "server/base/live_value.h"
#include "server/base/memory_account.h"
#include "server/base/metrics.h"
#include "server/base/timer.h"
#include "server/query/joined_casts.h"
#include "server/query/session.h"
#include "server/query/shadow_run.h"
#include "server/store/fork_store.h"
#include "server/store/version_gate.h"
#include "wire/decode.h"

namespace carom::server {

// The limits of one frame: a message with queries, in groups of one scene each. A row of an answer
// is one reported item, such as a hit; a work unit is a visited polygon or edge. A tracker is a
// moving shape, defined by the client, whose nearby polygons the server may cache between frames; a
// move asks what a tracker touches at a pose.
struct FrameLimits {
  size_t max_groups = 1024;
  size_t max_queries = 65536;
  uint64_t max_answer_rows = 262144;
  uint64_t max_work_units = 0;  // 0: no limit
  PolygonLimits polygons;       // limits of each polygon that the edits of a group add
  TrackerTableLimits trackers;
  // A `ShadowRun` checks one in `shadow_interval` batches of tracker moves of a stream, and one in
  // so many groups with numbered eyes: it compares answers with and without memory. 0: it checks
  // none.
  uint64_t shadow_interval = 1024;
};

// The buffers of the evaluation of one frame (a message with queries). Reused buffers stop
// allocating after some frames. Not thread-safe.
struct FrameScratch {
  wire::DecodedGroup decoded;
  GroupAnswers answers;
  JoinedCasts joined;
  ShadowRun shadow;

  // Returns whether the buffers are small enough to be kept for the next frame.
  bool IsWorthCaching() const;
};

// How a frame (a message with groups of queries) is evaluated. `kAnswer`: the server adds the
// frame's definitions of scene handles and trackers to the session (the state of the stream between
// frames) and answers the groups; `kSkip`: it adds the definitions and answers no group.
enum class FrameUse { kAnswer, kSkip };

// The result of one call of `FrameEvaluator::Continue` (a time slice), which evaluates the groups
// of queries of a frame, or the result of one of the groups. The result of several groups is the
// greatest of their results.
enum class Progress {
  kDone,  // every group of the frame is answered
  // some groups wait for versions of their scenes that do not exist yet, at most until
  // `FrameWork::deadline`
  kWaits,
  // the time slice is over; the next time slice evaluates each group that has no answer yet, from
  // the beginning of the group
  kYields,
};

// When a frame (a message with queries) arrived, the deadline of its call, and how it is evaluated.
struct FrameArrival {
  Clock::time_point received;
  Clock::time_point call_deadline = Clock::time_point::max();
  FrameUse use = FrameUse::kAnswer;
};

// The limits of a time slice: of one call of `FrameEvaluator::Continue` for a frame. A time slice
// ends soon after it exceeds `max_units` work units (visited polygons or edges) or `max_cpu`, and
// the next time slice evaluates the interrupted group of queries once more from the beginning. A
// time slice without these two limits that calls `pause` repeats no work.
struct SliceLimits {
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  uint64_t max_units = kNone;
  std::chrono::nanoseconds max_cpu = std::chrono::nanoseconds::max();  // CPU time of the thread
  // Called within the time slice each time the slice has run for another `Executor::kSlice`, so
  // that other tasks can run; null: never.
  const std::function<void()>* pause = nullptr;
};

// The state of the evaluation of one frame: a message with groups of queries of one scene each,
// some of which also edit the scene. Rows are the reported items of the answer, such as hits; work
// units are visited polygons or edges. The objects that `frame` and `answer` point to must outlive
// the `FrameWork`.
struct FrameWork {
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  const v1::Frame* frame = nullptr;
  v1::FrameAnswer* answer = nullptr;
  // when the frame arrived: start of the frame's time budget and of the elapsed time in its answer
  Clock::time_point received;
  Clock::time_point deadline = kNever;       // the end of the frame's time budget
  Clock::time_point call_deadline = kNever;  // deadline of the gRPC call
  // The status of the whole frame: OK unless the server refused the frame as a whole.
  absl::Status status;
  std::vector<int> pending;  // indices of the groups without an answer, ascending
  // the versions of scenes that pending groups wait for, if `Continue` returned kWaits
  std::vector<VersionWait> waits;
  // For each pending group whose edits are made: the index of the group, and the scene after the
  // edits.
  std::vector<std::pair<int, Scene::Ptr>> edited;
  Coherence coherence = Coherence::kOn;
  uint64_t rows = 0;
  MemoryCharge rows_charge;  // charge for the memory of the rows while the answer is built
  uint64_t work_units = 0;
  uint64_t time_slices = 0;  // calls of `FrameEvaluator::Continue` that evaluated groups
  MoveTiers tiers;
  EyeTiers eye_tiers;
  ShadowStats shadow;
  Clock::duration evaluating{};
  // by how many microseconds the server's copy of the scenes might lag behind the changes that
  // other servers had made when `FrameEvaluator::Begin` was called; 0: it did not lag
  uint64_t staleness_us = 0;
};

// Evaluates frames (messages with groups of queries of one scene each) in time slices: each call of
// `Continue` is one. A group is pending until it has an answer. A `Session` keeps the scene handles
// and trackers (moving shapes) that frames define for later frames. The evaluator has no state
// except its limits, so it is thread-safe for distinct arguments. The store must outlive it.
class FrameEvaluator {
 public:
  FrameEvaluator(ForkStore& store, const LiveValue<FrameLimits>& limits,
                 Metrics& metrics = Metrics::Unread())
      : store_(store), limits_(limits), metrics_(metrics) {}

  const FrameLimits& limits() const { return *limits_; }
  ForkStore& store() const { return store_; }

  // Checks `frame`, adds its definitions (of scene handles and trackers) to `session`, and
  // initializes `work` and `answer`, whose memory is reused. A refused frame adds no definitions
  // and has no pending groups; its status is in `work.status` and in `answer`.
  void Begin(const v1::Frame& frame, const FrameArrival& arrival, Session& session,
             v1::FrameAnswer& answer, FrameWork& work) const;

  // Returns RESOURCE_EXHAUSTED if `parts`, the total number of groups, scene bindings and tracker
  // definitions of a frame, exceeds what the limits allow.
  absl::Status CheckParts(size_t parts) const;

  // Returns the key in the store of the scene that a tenant calls `name`.
  std::string KeyOf(absl::string_view tenant, absl::string_view name) const {
    return store_.KeyOf(tenant, name);
  }
  // Returns the version `version` of the scene with the key `name`, or null if it is not kept.
  Scene::Ptr FindScene(absl::string_view name, uint64_t version) const;

  // Initializes `answer` and `work` for a frame that is refused before it is parsed.
  void Refuse(uint64_t seq, absl::Status status, v1::FrameAnswer& answer, FrameWork& work) const;

  // Answers the pending groups with the error `status`. Groups that have an answer keep it, and
  // refused groups keep their `edited_version` (the version that their edits made).
  void RefusePending(const absl::Status& status, FrameWork& work) const;

  // Runs one time slice with the limits `slice`: answers every pending group that need not wait for
  // a version of its scene, unless a limit ends the time slice before. Once `cancelled` is true,
  // returns kDone early, with an unspecified answer.
  Progress Continue(FrameWork& work, Session& session, FrameScratch& scratch,
                    const std::atomic<bool>& cancelled, const SliceLimits& slice = {}) const;

 private:
  absl::Status CheckFrame(const v1::Frame& frame) const;

  ForkStore& store_;
  const LiveValue<FrameLimits>& limits_;
  Metrics& metrics_;
};

}  // namespace carom::server
