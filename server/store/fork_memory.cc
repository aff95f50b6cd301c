// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/fork_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::server {
absl::Status ForkMemory::Exhausted(bool of_peer) const {
  return WithRetryDelay(absl::ResourceExhaustedError(absl::StrCat(of_peer ? "your part of " : "",
                                                                  "the server's memory for forks, ",
                                                                  limit_, " bytes, is used up")),
                        kMemoryRetryDelayUs);
}

// Counts the bytes both against the limit of all forks (`used_`) and in the memory share of scenes
// (`account_`), or in neither. Holds `mu_` throughout, so that no other fork takes the bytes that
// the released offers free.
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

// Removes a peer that holds no more bytes, so that `of_peer_` has entries only for peers with
// memory.
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

// `Add` changes nothing if it fails, so a charge that cannot grow stays as it was.
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
