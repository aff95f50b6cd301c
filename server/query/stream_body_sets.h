// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which body sets (bodies with poses by tick) can the groups of a stream name?
//
// A stream has sets of its own, and may use sets of forks, which all streams of the fork share. A
// frame's definitions and poses are checked on copies of the tables first; then the copies take
// their place, all of them, or the frame is refused.
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
    std::string fork;  // key of the fork that keeps the set; empty: the stream
  };

  // Makes the removals, definitions and ticks of `frame`, or none of them if it returns an error.
  // Errors: those of BodySet and BodyPoses (proto/carom/v1/body_sets.proto), with field paths that
  // begin with `body_sets[i]` or `poses[i]`.
  absl::Status Define(const v1::Frame& frame, const Forks& forks, KeyOf key_of);

  Found Find(uint32_t handle) const;
  // Returns an upper bound of the bytes of the stream's own sets.
  uint64_t memory_bytes() const { return own_.memory_bytes(); }
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
  // The tables as they are after a frame.
  struct Staged {
    BodySetChange own;
    absl::flat_hash_map<uint32_t, Shared> shared;
    // The table of each fork that changes, and the number of the table that it began as.
    std::map<std::shared_ptr<ForkBodySets>, std::pair<BodySetChange, uint64_t>> forks;

    BodySetChange& ChangeOf(const std::shared_ptr<ForkBodySets>& sets);
  };

  static absl::Status StageRemoval(uint32_t handle, const Forks& forks, Staged& staged);
  static absl::Status StageSet(const v1::BodySet& message, const Forks& forks, KeyOf key_of,
                               Staged& staged);
  static absl::Status StagePoses(const v1::BodyPoses& message, const Forks& forks, Staged& staged);
  static absl::Status Stage(const v1::Frame& frame, const Forks& forks, KeyOf key_of,
                            Staged& staged);
  absl::Status Commit(Staged& staged);

  BodySetTable own_;
  absl::flat_hash_map<uint32_t, Shared> shared_;
};

}  // namespace carom::server
