// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the groups of a frame answered?
//
// `FrameEvaluator::Continue` creates a `FrameSlice` and runs it: one pass over the groups that have
// no answer yet. The pass ends when every group is answered or waits for a version, or when the
// time slice has used up its work units or its processor time. Neighboring groups with a few
// segments each are cast as one batch (server/query/joined_casts.h); every other group is decoded,
// resolved, evaluated and encoded alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/group.h"
#include "carom/scene.h"
#include "carom/v1/query_service.pb.h"
#include "server/query/frame_evaluator.h"
#include "server/query/joined_casts.h"
#include "server/query/session.h"
#include "server/store/fork_store.h"

namespace carom::server {

// What one thread computes of a frame within one time slice: one pass over the pending groups.
// Serves a single `Run`. Not thread-safe.
class FrameSlice {
 public:
  // The objects that a time slice works on. They outlive the slice.
  struct Context {
    ForkStore& store;
    const FrameLimits& limits;
    FrameWork& work;
    Session& session;
    FrameScratch& scratch;
    const std::atomic<bool>& cancelled;
  };

  // Begins the time slice, which `limits` may end between two groups or within one.
  FrameSlice(const Context& context, const SliceLimits& limits);

  // Answers pending groups and removes each answered group from `work.pending`. Returns kDone early
  // once `cancelled` is true.
  Progress Run();

 private:
  // Returns whether the evaluation must stop: the call is cancelled, memory is exhausted, a
  // deadline has passed, or the time slice has used up its processor time. Also pauses when a pause
  // is due.
  bool MustStop(Clock::time_point now);
  bool IsOutOfCpu(std::chrono::nanoseconds elapsed);
  // Charges the memory of the answer rows so far. Returns false if the memory is not available.
  bool ChargeRows();

  // The result and the cost of evaluating a group. `Charge` adds the cost to that of the frame; an
  // evaluation that is discarded and repeated is not charged.
  struct Evaluation {
    absl::Status status = {};  // OK: `scratch.answers` has the answers
    bool yields = false;      // the time slice ended within the evaluation; `status` is unspecified
    uint64_t work_units = 0;  // that count against the limit of the frame
    uint64_t slice_units = 0;  // that count against the time slice: `work_units` and a shadow run's
    uint64_t rows = 0;         // of the answers
    MoveTiers tiers = {};
    ShadowStats shadow = {};
  };

  size_t GroupIndex(size_t i) const { return static_cast<size_t>(work_.pending[i]); }
  const v1::Group& GroupAt(size_t i) const { return work_.frame->groups(work_.pending[i]); }
  v1::GroupAnswer& AnswerAt(size_t i) { return *work_.answer->mutable_groups(work_.pending[i]); }

  // Returns the key of a scene of the session's tenant; the next call may overwrite it.
  absl::string_view KeyOf(absl::string_view name);

  // Answers pending[i], alone or as a member of a joined batch.
  Progress Answer(size_t i);
  // Decodes, resolves, evaluates and encodes pending[i] alone.
  Progress AnswerAlone(size_t i);
  // Answers pending[i], which is the next member of the joined batch.
  Progress AnswerMember(size_t i);

  // Returns the scene with the key `name` that pending[i] reads, after the edits of pending[i].
  // Returns null if the group must wait or begin again: `progress` is kWaits or kYields then.
  absl::StatusOr<Scene::Ptr> Resolve(size_t i, absl::string_view name, Progress& progress);
  // Makes the edits of pending[i], once in all time slices, and returns the edited scene. Null as
  // for `Resolve`.
  absl::StatusOr<Scene::Ptr> Edit(size_t i, absl::string_view name, Progress& progress);
  // Returns the scene that the edits of pending[i] made, or null if the edits are not made yet.
  Scene::Ptr EditedScene(size_t i) const;

  // Joins pending[first] and the groups after it in a batch, and evaluates the batch if it has two
  // members or more. Makes no batch if the scene or its version is missing: each group is then
  // answered alone.
  void Join(size_t first);
  // Returns whether the messages of pending[i] and pending[first] allow both in one batch.
  bool MayJoin(size_t first, size_t i) const;

  // Decodes pending[i] into `scratch.decoded`, unless `scratch.decoded` has it already, and returns
  // the status of the decoding.
  const absl::Status& Decode(size_t i);

  // Evaluates `group` into `scratch.answers`, with at most `max_units` work units.
  Evaluation Evaluate(const Scene& scene, Group& group, uint64_t max_units);
  // Prepares the trackers for the moves of `group`. If a shadow run is due, compares some moves
  // with and without memory, counts the work on `meter`, and returns the statistics of the
  // comparison.
  ShadowStats BeginMoves(const Scene& scene, Group& group, WorkMeter& meter);
  // Returns the error of a group whose evaluation `meter` stopped.
  absl::Status StopStatus(const WorkMeter& meter);
  // Adds the cost of `evaluation` to the frame and to the time slice.
  void Charge(const Evaluation& evaluation);
  // Charges an evaluation of `group`, which is pending[i], and encodes its answers or its error.
  // Returns kYields, and does neither, if the time slice ended within the evaluation.
  Progress Conclude(const Evaluation& evaluation, const Group& group, size_t i);
  // Returns whether the answers to the segments of `groups` groups can be written as bytes, and
  // reserves memory for the bytes if so.
  bool ReserveAnswerBytes(size_t groups) const;

  const Context context_;
  FrameWork& work_;
  const SliceLimits limits_;
  uint64_t units_left_;
  Clock::time_point slice_begin_;     // start of the time slice, or end of its last pause
  int64_t cpu_end_ns_ = 0;            // thread time when the slice ends; 0: not read yet
  bool is_out_of_cpu_ = false;        // the time slice has used up its processor time
  const WorkMeter* meter_ = nullptr;  // of the group in evaluation, or null
  absl::Status out_of_memory_;
  std::string key_;

  // The index in the frame of the group that `scratch.decoded` has; -1: none.
  int decoded_ = -1;
  absl::Status decode_status_;

  // The members of the joined batch are the pending groups from the current one to the one before
  // this index.
  size_t joined_end_ = 0;
  Scene::Ptr joined_scene_;
  bool joined_answered_ = false;  // `scratch.answers` has the answers of the whole batch
  bool joined_as_bytes_ = false;  // the answers of the batch are written as bytes
  bool may_join_ = true;          // false once the evaluation of a batch was discarded
};

}  // namespace carom::server
