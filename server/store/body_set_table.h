// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which body sets (bodies with poses by tick) does a stream or a fork keep?
//
// A `BodySetTable` is a value: copies share the sets, so a change is made to a copy first, and then
// takes the place of the table, or not at all. `ForkBodySets` guards the table of a fork, which the
// streams of the fork share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  // For the set of a fork: each kept tick, ascending, and the version of the fork that was current
  // when the tick came. Else empty.
  std::vector<std::pair<uint64_t, uint64_t>> versions;

  // Returns an upper bound of the bytes of the set with all ticks that it may keep.
  uint64_t memory_bytes() const;
  // Returns the version of the fork at a kept tick; 0 if the set has none.
  uint64_t VersionAt(uint64_t tick) const;
};

// Body sets by handle. Not thread-safe; copies are independent.
class BodySetTable {
 public:
  // A limit of streams and of forks.
  static constexpr size_t kMaxSets = 1024;

  // Adds a set without ticks. A set of the same definition stays as it is. Errors: INVALID_ARGUMENT
  // naming `body_set` if the handle has a set of another definition; RESOURCE_EXHAUSTED for more
  // than `kMaxSets`.
  absl::Status Define(uint32_t handle, const BodySetDefinition& definition);
  // Adds a tick, for which `version` is the current version of the fork, 0 for a stream. Errors:
  // INVALID_ARGUMENT naming `body_set` for an unknown handle; those of `BodyHistory::Add`.
  absl::Status Add(uint32_t handle, const PoseColumns& poses, uint64_t version);
  void Remove(uint32_t handle) { sets_.erase(handle); }

  // Returns null for an unknown handle.
  std::shared_ptr<const KeptBodySet> Find(uint32_t handle) const;
  size_t size() const { return sets_.size(); }
  // Returns an upper bound of the bytes of the sets, with all ticks that they may keep.
  uint64_t memory_bytes() const;

 private:
  absl::flat_hash_map<uint32_t, std::shared_ptr<const KeptBodySet>> sets_;
};

// The body sets of a fork. Thread-safe. `memory` must outlive the object.
class ForkBodySets {
 public:
  ForkBodySets(ForkMemory& memory, std::shared_ptr<MemoryPeer> peer)
      : charge_(memory, std::move(peer)) {}

  // Returns a copy of the table, and its number, which every change increments.
  std::pair<BodySetTable, uint64_t> Copy() const ABSL_LOCKS_EXCLUDED(mu_);
  // Replaces the table if its number is still `number`; otherwise changes nothing and returns
  // ABORTED. RESOURCE_EXHAUSTED if memory for forks is short. The sets of a deleted fork stay
  // empty.
  absl::Status Replace(BodySetTable table, uint64_t number) ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<const KeptBodySet> Find(uint32_t handle) const ABSL_LOCKS_EXCLUDED(mu_);
  // Removes all sets, for good: the fork is deleted.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  bool is_closed() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  BodySetTable table_ ABSL_GUARDED_BY(mu_);
  uint64_t number_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  ForkCharge charge_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
