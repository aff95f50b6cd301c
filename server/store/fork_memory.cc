// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/fork_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/refusals.h"

namespace carom::server {
absl::Status ForkMemory::Exhausted(bool of_peer) const {
  const std::string why =
      absl::StrCat(of_peer ? "your part of " : "", "the server's memory for forks, ", limit_,
                   " bytes, is used up");
  CountRefusal(Limit::kForkMemory, why);
  return WithRetryDelay(absl::ResourceExhaustedError(why), kMemoryRetryDelayUs);
}

// Counts the bytes both in `used_`, which `limit_` bounds for all forks, and in the memory share of
// scenes of `account_`; on an error in neither. Each of `offers` is a number of bytes, such as
// those of an old version, that the caller can free. Releases them one by one until `bytes` fit;
// holds `mu_` throughout, so that no other fork can take the released bytes.
absl::Status ForkMemory::Take(uint64_t bytes, MemoryPeer& peer, std::span<const uint64_t> offers,
                              size_t& accepted) {
  absl::MutexLock lock(&mu_);
  const auto known = of_peer_.find(&peer);
  const uint64_t of_peer = known == of_peer_.end() ? 0 : known->second;
  absl::Status status;
  uint64_t given = 0;
  for (accepted = 0;; given += offers[accepted++]) {
    const uint64_t left = limit_ - std::min(limit_, used_ - given);
    const bool has_room = bytes <= left && of_peer - given <= left - bytes;
    const bool is_last = accepted == offers.size();
    if (!has_room) {
      if (is_last) status = Exhausted(bytes <= left);
    } else if (is_last || account_.available(MemoryShare::kScenes, &peer) >= bytes) {
      status = account_.Take(MemoryShare::kScenes, bytes, &peer);
      if (status.ok()) break;
    }
    if (is_last) break;
    account_.Release(MemoryShare::kScenes, offers[accepted], &peer);
  }
  if (!status.ok()) {
    account_.TakePastLimit(MemoryShare::kScenes, given, &peer);
    return status;
  }
  used_ = used_ - given + bytes;
  of_peer_[&peer] = of_peer - given + bytes;
  return status;
}

void ForkMemory::TakePastLimit(uint64_t bytes, MemoryPeer& peer) {
  absl::MutexLock lock(&mu_);
  account_.TakePastLimit(MemoryShare::kScenes, bytes, &peer);
  used_ += bytes;
  of_peer_[&peer] += bytes;
}

// Removes the entry of `peer` from `of_peer_` when the forks of `peer` hold no more bytes, so that
// the map has entries only for peers that hold memory.
void ForkMemory::Release(uint64_t bytes, MemoryPeer& peer) {
  if (bytes == 0) return;
  absl::MutexLock lock(&mu_);
  account_.Release(MemoryShare::kScenes, bytes, &peer);
  used_ -= bytes;
  const auto known = of_peer_.find(&peer);
  known->second -= bytes;
  if (known->second == 0) of_peer_.erase(known);
}

uint64_t ForkMemory::used() const {
  absl::MutexLock lock(&mu_);
  return used_;
}

// If the charge cannot grow, `Add` returns an error and leaves the charge unchanged.
absl::Status ForkCharge::Set(uint64_t bytes) {
  size_t accepted = 0;
  if (bytes > bytes_) return Add(bytes - bytes_, {}, accepted);
  memory_.Release(bytes_ - bytes, *peer_);
  bytes_ = bytes;
  return absl::OkStatus();
}

absl::Status ForkCharge::Add(uint64_t bytes, std::span<const uint64_t> offers, size_t& accepted) {
  absl::Status status = memory_.Take(bytes, *peer_, offers, accepted);
  if (!status.ok()) return status;
  for (const uint64_t offer : offers.first(accepted)) bytes_ -= offer;
  bytes_ += bytes;
  return status;
}

void ForkCharge::GrowPastLimit(uint64_t bytes) {
  if (bytes <= bytes_) return;
  memory_.TakePastLimit(bytes - bytes_, *peer_);
  bytes_ = bytes;
}

void ForkCharge::MoveTo(ForkCharge& other, uint64_t bytes) {
  const uint64_t moved = std::min(bytes, bytes_);
  other.bytes_ += moved;
  bytes_ -= moved;
}

}  // namespace carom::server
