// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which body sets (bodies with poses by tick) can the groups of a stream name?
//
// A stream has sets of its own, and may use sets of forks, which all streams of the fork share. A
// frame's definitions and poses are checked on copies of the tables first; then the copies take
// their place, all of them, or the frame is refused. The stream keeps the set of a fork that does
// not exist, and gives it to the fork when a frame uses the set and the fork exists.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/v1/query_service.pb.h"
#include "server/store/body_set_table.h"

namespace carom::server {

class ForkStore;

// The body sets of a stream, by handle. Not thread-safe.
class StreamBodySets {
 public:
  // A limit of frames.
  static constexpr size_t kMaxTicksOfFrame = 4096;

  // What the sets of forks depend on: the forks, and OK if the client may change them, else the
  // error with which changes are refused.
  struct Forks {
    ForkStore& store;
    absl::Status may_change;
  };
  // Returns the store's key of the scene that a body set of the frame names.
  using KeyOf = absl::FunctionRef<absl::StatusOr<std::string>(const v1::BodySet&)>;

  // The body set of a handle.
  struct Found {
    std::shared_ptr<const KeptBodySet> set;  // null: the stream has no set of the handle
    std::string fork;     // key of the fork that keeps the set; empty: the stream
    absl::Status status;  // NOT_FOUND naming `body_set` if the fork of the set does not exist
  };

  // Gives the sets that `frame` uses, and whose forks did not exist before, to forks that exist.
  // Then makes the removals, definitions and ticks of `frame`, or none of them if it returns an
  // error. The ticks of a set whose fork is deleted change nothing. Errors: those of BodySet and
  // BodyPoses (proto/carom/v1/body_sets.proto), with field paths that begin with `body_sets[i]` or
  // `poses[i]`. Increases `work_units` by the work of giving sets to forks, and of each attempt
  // that began again because other streams changed the sets of a fork.
  absl::Status Define(const v1::Frame& frame, const Forks& forks, KeyOf key_of,
                      uint64_t& work_units);

  Found Find(uint32_t handle) const;
  // Returns whether the stream keeps sets of forks that do not exist, or did not when they were
  // last used.
  bool has_waiting() const { return !waiting_.empty(); }
  // Returns an upper bound of the bytes of the sets that the stream keeps, and of its definitions
  // of sets of forks. Cost O(sets).
  uint64_t memory_bytes() const;
  // Returns an upper bound of the bytes by which `frame` may increase `memory_bytes`.
  static uint64_t GrowthBy(const v1::Frame& frame);

 private:
  // A set of a fork.
  struct Shared {
    std::string fork;
    std::shared_ptr<ForkBodySets> sets;
    // The definition that the stream gave, in bytes. Another stream may have removed the set and
    // defined another one under the handle, which this stream then has to define, too.
    std::shared_ptr<const std::string> definition;

    // Returns whether `set`, which may be null, has this definition.
    bool IsDefinitionOf(const KeptBodySet* set) const;
  };
  using SharedSets = absl::flat_hash_map<uint32_t, Shared>;
  // A set that the stream keeps for a fork.
  struct Wait {
    std::string fork;  // key of the fork
    absl::Status why;  // the error of the groups that name the set
  };
  using Waiting = absl::flat_hash_map<uint32_t, Wait>;
  // The tables as they are after a frame.
  struct Staged {
    BodySetChange own;
    SharedSets shared;
    Waiting waiting;
    // The table of each fork that changes, and the number of the table that it began as.
    std::map<std::shared_ptr<ForkBodySets>, std::pair<BodySetChange, uint64_t>> forks;

    BodySetChange& ChangeOf(const std::shared_ptr<ForkBodySets>& sets);
    // Makes the handle free if its fork is deleted, or if the stream keeps the set for a fork.
    void Free(uint32_t handle);
    // Makes room for one more set, if need be by making the handles of deleted forks free.
    absl::Status MakeRoom();
  };

  // Gives the set of the handle, which the stream keeps for the fork of `sets`, to the fork. If it
  // returns an error, the stream keeps the set. Errors: ABORTED if another stream changed the sets
  // of the fork meanwhile; `may_change`; RESOURCE_EXHAUSTED.
  absl::Status Give(uint32_t handle, const std::shared_ptr<ForkBodySets>& sets,
                    const absl::Status& may_change, uint64_t& work_units);
  // Gives the sets that `frame` uses to the forks that exist.
  void GiveUsed(const v1::Frame& frame, const Forks& forks, uint64_t& work_units);
  static absl::Status StageRemoval(uint32_t handle, const Forks& forks, Staged& staged);
  static absl::Status StageSet(const v1::BodySet& message, const Forks& forks, KeyOf key_of,
                               Staged& staged);
  // Defines a set of a fork that does not exist.
  static absl::Status StageWaiting(uint32_t handle, const BodySetDefinition& definition,
                                   const std::string& key, Staged& staged);
  static absl::Status StagePoses(const v1::BodyPoses& message, const Forks& forks, Staged& staged);
  static absl::Status Stage(const v1::Frame& frame, const Forks& forks, KeyOf key_of,
                            Staged& staged);
  absl::Status Commit(Staged& staged);

  BodySetTable own_;  // also the sets of `waiting_`
  SharedSets shared_;
  Waiting waiting_;
};

}  // namespace carom::server
