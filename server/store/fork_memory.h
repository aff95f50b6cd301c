// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much memory may forks take?
//
// What a fork takes is counted as memory of scenes (server/base/memory_account.h), for the peer
// that made it, and against a limit of all forks, of which a peer may have as much as the others
// have left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/base/memory_account.h"

namespace carom::server {

// Thread-safe; outlives what is taken.
class ForkMemory {
 public:
  ForkMemory(uint64_t limit_bytes, MemoryAccount& account)
      : limit_(limit_bytes), account_(account) {}

  // Takes so many bytes, or nothing and RESOURCE_EXHAUSTED with a retry delay. Where there are too
  // few, the first of the `offers`, as few as suffice, go back for them: `accepted` is how many.
  absl::Status Take(uint64_t bytes, MemoryPeer& peer, std::span<const uint64_t> offers,
                    size_t& accepted) ABSL_LOCKS_EXCLUDED(mu_);
  // Takes them even above the limits: of what is there already.
  void TakeAnyway(uint64_t bytes, MemoryPeer& peer) ABSL_LOCKS_EXCLUDED(mu_);
  void Give(uint64_t bytes, MemoryPeer& peer) ABSL_LOCKS_EXCLUDED(mu_);

  uint64_t used() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Status Exhausted(bool of_peer) const;

  const uint64_t limit_;
  MemoryAccount& account_;
  mutable absl::Mutex mu_;
  uint64_t used_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<const MemoryPeer*, uint64_t> of_peer_ ABSL_GUARDED_BY(mu_);
};

// Bytes that go back with it. Not thread-safe.
class ForkCharge {
 public:
  // `memory` outlives the charge.
  ForkCharge(ForkMemory& memory, std::shared_ptr<MemoryPeer> peer)
      : memory_(memory), peer_(std::move(peer)) {}
  ForkCharge(const ForkCharge&) = delete;
  ForkCharge& operator=(const ForkCharge&) = delete;
  ~ForkCharge() { memory_.Give(bytes_, *peer_); }

  // Has this many bytes, or as many as before and an error; fewer always succeed.
  absl::Status Set(uint64_t bytes);
  // Has so many more, or as many as before and an error; of its own it offers some, as
  // `ForkMemory::Take` does.
  absl::Status Add(uint64_t bytes, std::span<const uint64_t> offers, size_t& accepted);
  // Has at least so many, whatever the limits.
  void GrowAnyway(uint64_t bytes);
  // `other`, of the same peer, has so many of these, or all that there are.
  void MoveTo(ForkCharge& other, uint64_t bytes);
  uint64_t bytes() const { return bytes_; }
  ForkMemory& memory() const { return memory_; }

 private:
  ForkMemory& memory_;
  const std::shared_ptr<MemoryPeer> peer_;
  uint64_t bytes_ = 0;
};

}  // namespace carom::server
