// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which body sets (bodies with poses by tick) does a stream or a fork keep?
//
// A `BodySetTable` is a value: copies share the sets. A `BodySetChange` is a copy of a table under
// change, which then takes the place of the table, or not at all. `ForkBodySets` guards the table
// of a fork, which the streams of the fork share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "carom/body_history.h"
#include "server/store/fork_memory.h"

namespace carom::server {

// The definition of a body set: the history without ticks, and bytes that are equal for equal
// definitions.
struct BodySetDefinition {
  std::shared_ptr<const std::string> bytes;
  BodyHistory history;
};

// A body set: bodies, and their poses at the ticks that are kept. Immutable.
struct KeptBodySet {
  std::shared_ptr<const std::string> definition;
  BodyHistory history;
  // For the set of a fork: the kept ticks that have a version, ascending, each with the version of
  // the fork that was current when the tick came. Else empty.
  std::vector<std::pair<uint64_t, uint64_t>> versions;

  // Returns an upper bound of the bytes of the set with all ticks that it may keep.
  uint64_t memory_bytes() const;
  // Returns the version of the fork at a tick; 0 if the tick has none, or is not kept.
  uint64_t VersionAt(uint64_t tick) const;
};

// Body sets by handle. Not thread-safe; copies are independent.
class BodySetTable {
 public:
  // A limit of streams and of forks.
  static constexpr size_t kMaxSets = 1024;

  // Returns null for an unknown handle.
  std::shared_ptr<const KeptBodySet> Find(uint32_t handle) const;
  size_t size() const { return sets_.size(); }
  // Returns an upper bound of the bytes of the sets, with all ticks that they may keep.
  uint64_t memory_bytes() const;

 private:
  friend class BodySetChange;

  absl::flat_hash_map<uint32_t, std::shared_ptr<const KeptBodySet>> sets_;
};

// A copy of a table that is being changed. A set is copied when it first changes, so that a change
// of many ticks costs O(ticks added and kept). Not thread-safe.
class BodySetChange {
 public:
  explicit BodySetChange(BodySetTable before) : table_(std::move(before)) {}

  // Adds a set without ticks. A set of the same definition stays as it is. Errors: INVALID_ARGUMENT
  // naming `body_set` if the handle has a set of another definition; RESOURCE_EXHAUSTED for more
  // than `kMaxSets`.
  absl::Status Define(uint32_t handle, const BodySetDefinition& definition);
  // Adds a tick, for which `version` is the current version of the fork; 0: the tick has no
  // version. Errors: INVALID_ARGUMENT naming `body_set` for an unknown handle; those of
  // `BodyHistory::Add`.
  absl::Status Add(uint32_t handle, const PoseColumns& poses, uint64_t version);
  // Adds the set `kept`, in place of a set of the handle. Errors: RESOURCE_EXHAUSTED for more than
  // `kMaxSets`.
  absl::Status Take(uint32_t handle, std::shared_ptr<const KeptBodySet> kept);
  void Remove(uint32_t handle);

  bool Has(uint32_t handle) const { return table_.sets_.contains(handle); }
  // Returns null for an unknown handle.
  std::shared_ptr<const KeptBodySet> Find(uint32_t handle) const { return table_.Find(handle); }
  // Returns whether the table differs from the one before.
  bool is_changed() const { return is_changed_; }
  size_t size() const { return table_.size(); }
  // Returns the changed table. The object must not be used afterwards.
  BodySetTable Finish() { return std::move(table_); }

 private:
  // RESOURCE_EXHAUSTED if the table has `kMaxSets` sets.
  absl::Status CheckRoom() const;

  BodySetTable table_;
  // the sets of `table_` that this object has made, and so may change
  absl::flat_hash_map<uint32_t, std::shared_ptr<KeptBodySet>> made_;
  bool is_changed_ = false;
};

// The body sets of a fork. Thread-safe. `memory` must outlive the object.
class ForkBodySets {
 public:
  // The table that is to replace the one with the number `number`.
  struct Replacement {
    std::shared_ptr<ForkBodySets> sets;
    BodySetTable table;
    uint64_t number = 0;
  };

  ForkBodySets(ForkMemory& memory, std::shared_ptr<MemoryPeer> peer)
      : charge_(memory, std::move(peer)) {}

  // Returns a copy of the table, and its number, which every change increments.
  std::pair<BodySetTable, uint64_t> Copy() const ABSL_LOCKS_EXCLUDED(mu_);
  // Replaces the tables of forks, each of another fork, or none of them if it returns an error:
  // ABORTED if a table has another number, RESOURCE_EXHAUSTED if memory for forks is short. The
  // sets of a deleted fork stay empty.
  static absl::Status Replace(std::vector<Replacement> replacements) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  std::shared_ptr<const KeptBodySet> Find(uint32_t handle) const ABSL_LOCKS_EXCLUDED(mu_);
  // Removes all sets, for good: the fork is deleted.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  bool is_closed() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Does the work of `Replace` under the locks of all forks.
  static absl::Status ReplaceLocked(std::span<Replacement> replacements)
      ABSL_NO_THREAD_SAFETY_ANALYSIS;

  mutable absl::Mutex mu_;
  BodySetTable table_ ABSL_GUARDED_BY(mu_);
  uint64_t number_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  ForkCharge charge_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
