// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/fork_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::server {
// Both counts or none: the limit of all forks, and the share of scenes.
absl::Status ForkMemory::Take(uint64_t bytes, MemoryPeer& peer) {
  absl::MutexLock lock(&mu_);
  const uint64_t left = limit_ - std::min(limit_, used_);
  const auto known = of_peer_.find(&peer);
  const uint64_t of_peer = known == of_peer_.end() ? 0 : known->second;
  if (bytes > left || of_peer > left - bytes) {
    return WithRetryDelay(absl::ResourceExhaustedError(absl::StrCat(
                              bytes > left ? "" : "your part of ",
                              "the server's memory for forks, ", limit_, " bytes, is used up")),
                          kMemoryRetryDelayUs);
  }
  absl::Status status = account_.Take(MemoryShare::kScenes, bytes, &peer);
  if (!status.ok()) return status;
  used_ += bytes;
  of_peer_[&peer] += bytes;
  return status;
}

// Peers that have nothing left are forgotten: the table is no longer than there are holders.
void ForkMemory::Give(uint64_t bytes, MemoryPeer& peer) {
  if (bytes == 0) return;
  absl::MutexLock lock(&mu_);
  account_.Give(MemoryShare::kScenes, bytes, &peer);
  used_ -= bytes;
  const auto known = of_peer_.find(&peer);
  known->second -= bytes;
  if (known->second == 0) of_peer_.erase(known);
}

uint64_t ForkMemory::used() const {
  absl::MutexLock lock(&mu_);
  return used_;
}

// A charge that cannot grow stays as it was.
absl::Status ForkCharge::Set(uint64_t bytes) {
  if (bytes > bytes_) {
    if (absl::Status status = memory_.Take(bytes - bytes_, *peer_); !status.ok()) return status;
  } else {
    memory_.Give(bytes_ - bytes, *peer_);
  }
  bytes_ = bytes;
  return absl::OkStatus();
}

}  // namespace carom::server
