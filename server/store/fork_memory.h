// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much memory may forks take?
//
// The memory of a fork is charged (counted) three times: to the memory share of scenes
// (server/base/memory_account.h), to the peer (the client address) that made the fork, and against
// a limit of the memory of all forks. A peer gets more memory for its forks only if the memory that
// its forks already hold is at most what is left free below that limit, so that one peer alone can
// take about half of the limit.
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

// Accounts for the memory of all forks (temporary copies of scenes). A peer is a client address
// that has made forks. Memory is free if it is counted for no fork. Thread-safe; must outlive every
// `ForkCharge` that refers to it.
class ForkMemory {
 public:
  ForkMemory(uint64_t limit_bytes, MemoryAccount& account)
      : limit_(limit_bytes), account_(account) {}

  // Counts `bytes` of memory as used by forks of `peer`, or counts nothing and returns
  // RESOURCE_EXHAUSTED with a retry delay. Each element of `offers` is a number of bytes that the
  // caller has taken for `peer` earlier and is ready to free, such as the bytes of an old version.
  // If too few bytes are free, counts the first elements of `offers`, as few as suffice, as free.
  // On success, `accepted` is the number of these elements, whose memory the caller must free.
  absl::Status Take(uint64_t bytes, MemoryPeer& peer, std::span<const uint64_t> offers,
                    size_t& accepted) ABSL_LOCKS_EXCLUDED(mu_);
  // Counts `bytes` even above the limits, for memory that is already in use.
  void TakePastLimit(uint64_t bytes, MemoryPeer& peer) ABSL_LOCKS_EXCLUDED(mu_);
  // Counts `bytes` of memory that `peer` has taken as free again.
  void Release(uint64_t bytes, MemoryPeer& peer) ABSL_LOCKS_EXCLUDED(mu_);

  uint64_t used() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Status Exhausted(bool of_peer) const;

  const uint64_t limit_;
  MemoryAccount& account_;
  mutable absl::Mutex mu_;
  uint64_t used_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<const MemoryPeer*, uint64_t> of_peer_ ABSL_GUARDED_BY(mu_);
};

// Bytes taken from a `ForkMemory`; the destructor gives them back. Not thread-safe.
class ForkCharge {
 public:
  // `memory` outlives the charge.
  ForkCharge(ForkMemory& memory, std::shared_ptr<MemoryPeer> peer)
      : memory_(memory), peer_(std::move(peer)) {}
  ForkCharge(const ForkCharge&) = delete;
  ForkCharge& operator=(const ForkCharge&) = delete;
  ~ForkCharge() { memory_.Release(bytes_, *peer_); }

  // Sets the charge to `bytes`, or returns an error and leaves the charge unchanged. Lowering the
  // charge always succeeds.
  absl::Status Set(uint64_t bytes);
  // Adds `bytes` to the charge, or returns an error and leaves the charge unchanged. If memory is
  // short, releases as many of the first parts in `offers` as needed (each a number of bytes of
  // this charge), and sets `accepted` to the number of released parts; see `ForkMemory::Take`.
  absl::Status Add(uint64_t bytes, std::span<const uint64_t> offers, size_t& accepted);
  // Raises the charge to at least `bytes`, even above the limits.
  void GrowPastLimit(uint64_t bytes);
  // Moves `bytes` of this charge, or the whole charge if it has fewer bytes, to `other`, which must
  // be a charge of this charge's peer.
  void MoveTo(ForkCharge& other, uint64_t bytes);
  uint64_t bytes() const { return bytes_; }
  ForkMemory& memory() const { return memory_; }

 private:
  ForkMemory& memory_;
  const std::shared_ptr<MemoryPeer> peer_;
  uint64_t bytes_ = 0;
};

}  // namespace carom::server
