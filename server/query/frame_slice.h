// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the groups of a frame (a message with queries, in groups of one scene each) answered?
//
// `FrameEvaluator::Continue` creates a `FrameSlice` and runs it: one pass over the groups that have
// no answer yet. The pass ends when every group is answered or waits for a version of its scene, or
// when the time slice has used up its work units or its CPU time. Neighboring groups that only cast
// a few segments each are cast as one joined batch (server/query/joined_casts.h); every other group
// is decoded, gets its scene, is evaluated and encoded alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/scene.h"
#include "carom/v1/query_service.pb.h"
#include "server/query/frame_evaluator.h"
#include "server/query/joined_casts.h"
#include "server/query/session.h"
#include "server/store/fork_store.h"

namespace carom::server {

// One time slice of the evaluation of a frame: one thread's pass over the pending groups, which are
// the groups of queries without an answer (their indices: `work.pending`). Neighboring pending
// groups that only cast a few segments become members of a joined batch: their segments are cast
// together. Work units are visited polygons or edges. Serves a single `Run`. Not thread-safe.
class FrameSlice {
 public:
  // The objects that a time slice works on. They must outlive the slice.
  struct Context {
    ForkStore& store;
    const FrameLimits& limits;
    FrameWork& work;
    Session& session;
    FrameScratch& scratch;
    const std::atomic<bool>& cancelled;
    Metrics& metrics;
  };

  // Begins the time slice. The time slice ends between two groups or within a group when it exceeds
  // `limits`.
  FrameSlice(const Context& context, const SliceLimits& limits);

  // Answers pending groups and removes each answered group from `work.pending`. Once `cancelled` is
  // true, returns kDone early.
  Progress Run();

 private:
  // Returns whether the evaluation must stop: the call is cancelled, memory is exhausted, a
  // deadline has passed, or the time slice has used up its CPU time. Also calls `limits_.pause`, so
  // that other tasks can run, if the slice has run for `Executor::kSlice` since the last pause.
  bool MustStop(Clock::time_point now);
  bool IsOutOfCpu(std::chrono::nanoseconds elapsed);
  // Charges the memory of the rows (such as hits) that the answer of the frame has so far. Returns
  // false if the memory is not available.
  bool ChargeRows();
  // Charges the memory of the fork's body set that the decoded group names, which the slice holds
  // while it pauses. Returns false if the memory is not available.
  bool ChargePast();
  // Releases the decoded group's body set, which no evaluation may use any more, and its charge.
  void ReleasePast();

  // The result and the cost of evaluating a group of queries. `Charge` adds the cost of an
  // evaluation to the cost of the frame; an evaluation that is discarded and repeated is not
  // charged.
  struct Evaluation {
    absl::Status status = {};  // OK: `scratch.answers` has the answers
    // True if the time slice ended within the evaluation; `status` is then unspecified.
    bool yields = false;
    // work units that count against the frame's limit `FrameLimits::max_work_units`
    uint64_t work_units = 0;
    // work units that count against the time slice: `work_units` plus those of shadow runs, which
    // answer some questions with and without memory
    uint64_t slice_units = 0;
    uint64_t rows = 0;  // rows of the answers
    MoveTiers tiers = {};
    EyeTiers eye_tiers = {};
    ShadowStats shadow = {};
  };

  size_t GroupIndex(size_t i) const { return static_cast<size_t>(work_.pending[i]); }
  const v1::Group& GroupAt(size_t i) const { return work_.frame->groups(work_.pending[i]); }
  v1::GroupAnswer& AnswerAt(size_t i) { return *work_.answer->mutable_groups(work_.pending[i]); }

  // Returns the key under which the store has the scene `name` of the session's tenant; the next
  // call may overwrite the result.
  absl::string_view KeyOf(absl::string_view name);

  // Answers the group work.pending[i], alone or as a member of a joined batch of casts.
  Progress Answer(size_t i);
  // Answers the group work.pending[i] alone: decodes it, finds its scene (`Resolve`), evaluates it
  // and encodes its answer.
  Progress AnswerAlone(size_t i);
  // Answers the group work.pending[i], which is the next member of the joined batch of casts.
  Progress AnswerMember(size_t i);

  // Returns the version of the fork with the key `name` that was current when the tick
  // `version_at_tick` of the group work.pending[i] came to its body set.
  absl::StatusOr<Scene::Ptr> ResolveAtTick(size_t i, absl::string_view name);
  // Returns the scene with the key `name` that the group work.pending[i] reads, after the edits of
  // that group. Returns null, with `progress` kWaits, if the group must wait for a version of the
  // scene; returns null, with `progress` kYields, if the next time slice must evaluate the group
  // from the beginning.
  absl::StatusOr<Scene::Ptr> Resolve(size_t i, absl::string_view name, Progress& progress);
  // Makes the edits of the group work.pending[i], only once even if several time slices evaluate
  // the group, and returns the edited scene. Returns null, with `progress` kYields, if the next
  // time slice must evaluate the group from the beginning.
  absl::StatusOr<Scene::Ptr> Edit(size_t i, absl::string_view name, Progress& progress);
  // Returns the scene that the edits of the group work.pending[i] made, or null if the edits are
  // not made yet.
  Scene::Ptr EditedScene(size_t i) const;

  // Joins the group work.pending[first] and the groups after it in a batch of casts, and evaluates
  // the batch if it has two members or more. Makes no batch if the scene, or the version of it that
  // the groups require, is missing: each group is then answered alone.
  void Join(size_t first);
  // Returns whether the groups work.pending[first] and work.pending[i], by what their messages
  // contain, may be members of one joined batch of casts.
  bool MayJoin(size_t first, size_t i) const;

  // Decodes the group work.pending[i] into `scratch.decoded`, unless `scratch.decoded` has the
  // group already, and returns the status of the decoding.
  const absl::Status& Decode(size_t i);

  // Evaluates `group` into `scratch.answers`, with at most `max_units` work units.
  Evaluation Evaluate(const Scene& scene, Group& group, uint64_t max_units);
  // Prepares the session's trackers (moving shapes) for the moves of `group`, and its memories of
  // eyes for the areas and observers. In every `shadow_interval`th batch of moves, and in every
  // `shadow_interval`th group with eyes, makes a shadow run: answers some of the questions with and
  // without memory, with at most `max_units` work units, compares the answers, and returns the
  // statistics of the comparison.
  ShadowStats BeginTrackers(const Scene& scene, Group& group, uint64_t max_units);
  ShadowStats ShadowOfEyes(const Scene& scene, Group& group, uint64_t max_units);
  ShadowStats ShadowOfMoves(const Scene& scene, Group& group, uint64_t max_units);
  // Returns a function by which a meter stops its work when the time slice or the frame must end.
  std::function<bool()> Stop();
  // Returns the error of a group whose evaluation `meter` stopped; the error names the limit that
  // was exceeded.
  absl::Status StopStatus(const WorkMeter& meter);
  // Counts the queries of `group`, which are of `kinds`, and the errors in `answers` for the
  // metrics.
  void Count(const Group& group, const GroupKindSet& kinds, const GroupAnswers& answers);
  // Adds the cost of `evaluation` to the frame and to the time slice.
  void Charge(const Evaluation& evaluation);
  // Charges the evaluation of `group`, which is work.pending[i] and has queries of `kinds`, and
  // encodes the answers or the error of the group. If the time slice ended within the evaluation,
  // does neither and returns kYields.
  Progress Conclude(const Evaluation& evaluation, const Group& group, const GroupKindSet& kinds,
                    size_t i);

  const Context context_;
  FrameWork& work_;
  const SliceLimits limits_;
  uint64_t units_left_;
  Clock::time_point slice_begin_;  // start of the time slice, or end of its last pause
  // the CPU time of the thread at which the time slice ends; 0: not computed yet
  int64_t cpu_end_ns_ = 0;
  bool is_out_of_cpu_ = false;  // the time slice has used up its CPU time
  // counts the work units and rows of the group that is evaluated at the moment; null: none is
  const WorkMeter* meter_ = nullptr;
  absl::Status out_of_memory_;
  std::string key_;

  // The index in the frame of the group that `scratch.decoded` contains; -1: none.
  int decoded_ = -1;
  absl::Status decode_status_;
  // The body set (bodies with poses by tick) that the decoded group names, if it names one.
  StreamBodySets::Found body_set_;
  MemoryCharge past_charge_;  // for `body_set_`, once the slice has paused

  // The members of the joined batch of casts are the groups work.pending[i] for each i from the
  // index that `Run` has reached up to `joined_end_` - 1; no batch exists if that index is
  // `joined_end_` or more.
  size_t joined_end_ = 0;
  Scene::Ptr joined_scene_;
  bool joined_answered_ = false;  // `scratch.answers` contains the answers of the whole batch
  bool may_join_ = true;          // false once the answers of a joined batch were discarded
};

}  // namespace carom::server
