// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the groups of a frame answered?
//
// `FrameEvaluator::Continue` makes a `FrameTurn` and runs it: a pass over the groups that have no
// answer yet, which ends when they are answered or wait for versions, or when the work units of the
// turn are used up. Neighboring groups of a few segments each are cast as one batch
// (server/query/joined_casts.h); every other group is decoded, resolved, evaluated and encoded by
// itself.
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

// One pass over the pending groups of a frame. Made for one `Run`. Not thread-safe.
class FrameTurn {
 public:
  // What a turn works on; all of it outlives the turn.
  struct Context {
    ForkStore& store;
    const FrameLimits& limits;
    FrameWork& work;
    Session& session;
    FrameScratch& scratch;
    const std::atomic<bool>& cancelled;
  };

  // The turn ends between two groups or within one.
  FrameTurn(const Context& context, const TurnLimits& limits);

  // Removes each group that it answers from `work.pending`. kDone early once `cancelled`.
  Progress Run();

 private:
  // Whether the evaluation is to stop: the call or its time is over, or the turn. Pauses.
  bool MustStop(Clock::time_point now);
  bool IsOutOfCpu(std::chrono::nanoseconds elapsed);
  // Charges the rows so far. False if there is no memory for them.
  bool ChargeRows();

  // How the evaluation of a group ended, and what it cost. Costs count only if `Charge` adds them
  // to the frame's: an evaluation that is discarded and repeated costs the frame nothing.
  struct Evaluation {
    absl::Status status = {};  // OK: `scratch.answers` are the group's
    bool yields = false;       // the turn's units did not suffice; `status` means nothing
    uint64_t work_units = 0;   // of the frame
    uint64_t turn_units = 0;   // of the turn: those, and a shadow run's
    uint64_t rows = 0;         // of the answers
    MoveTiers tiers = {};
    ShadowStats shadow = {};
  };

  size_t GroupIndex(size_t i) const { return static_cast<size_t>(work_.pending[i]); }
  const v1::Group& GroupAt(size_t i) const { return work_.frame->groups(work_.pending[i]); }
  v1::GroupAnswer& AnswerAt(size_t i) { return *work_.answer->mutable_groups(work_.pending[i]); }

  // The key of a scene of the session's tenant; until the next one.
  absl::string_view KeyOf(absl::string_view name);

  // Answers pending[i].
  Progress Answer(size_t i);
  Progress AnswerAlone(size_t i);
  // Answers pending[i], which is the next member of the joined batch.
  Progress AnswerMember(size_t i);

  // The scene that pending[i] asks, by its key, after its edits. Null: `progress` says why not yet.
  absl::StatusOr<Scene::Ptr> Resolve(size_t i, absl::string_view name, Progress& progress);
  // Makes the edits of pending[i], once for all turns.
  absl::StatusOr<Scene::Ptr> Edit(size_t i, absl::string_view name, Progress& progress);
  // What they made; null if they have not.
  Scene::Ptr EditedScene(size_t i) const;

  // Makes a batch of pending[first] and its neighbors and evaluates it if it has two members. Makes
  // none where the scene or its version is missing: then each group is answered alone.
  void Join(size_t first);
  // Whether pending[i] may be in one batch with pending[first], as far as the messages show.
  bool MayJoin(size_t first, size_t i) const;

  // Decodes pending[i] into `scratch.decoded`, unless that holds it already.
  const absl::Status& Decode(size_t i);

  // Evaluates `group` into `scratch.answers`, within `max_units`.
  Evaluation Evaluate(const Scene& scene, Group& group, uint64_t max_units);
  // Readies the trackers for the moves of the group, and compares a few of these with and without
  // memory where a shadow run is due, on a meter of its own. Returns what that found.
  ShadowStats BeginMoves(const Scene& scene, Group& group, WorkMeter& meter);
  // Why `meter` stopped the evaluation of a group.
  absl::Status Stopped(const WorkMeter& meter);
  void Charge(const Evaluation& evaluation);
  // Encodes the answers of an evaluation of `group`, which is pending[i], or its error.
  Progress Conclude(const Evaluation& evaluation, const Group& group, size_t i);
  // Whether the answers to segments, of so many groups, may be written as bytes: there is room.
  bool MayBeBytes(size_t groups) const;

  const Context context_;
  FrameWork& work_;
  const TurnLimits limits_;
  uint64_t units_left_;
  Clock::time_point slice_begin_;     // of the turn, or after its last pause
  int64_t cpu_end_ns_ = 0;            // of the thread's own time; 0: not known yet
  bool is_over_ = false;              // the thread's time is
  const WorkMeter* meter_ = nullptr;  // of the group that is evaluated
  absl::Status out_of_memory_;
  std::string key_;

  // The group that `scratch.decoded` holds, by its index in the frame; -1: none.
  int decoded_ = -1;
  absl::Status decode_status_;

  // The joined batch is that of the pending groups before this one, from the current one on.
  size_t joined_end_ = 0;
  Scene::Ptr joined_scene_;
  bool joined_answered_ = false;  // `scratch.answers` are those of the batch as a whole
  bool joined_as_bytes_ = false;  // and are written as bytes
  bool joins_ = true;             // false once a batch was given up
};

}  // namespace carom::server
