// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/memory_account.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/refusals.h"

namespace carom::server {
namespace {

struct NamedShare {
  const char* name;
  uint64_t percent;
  Limit limit;
};

// The shares in percent of the memory limit, indexed by `MemoryShare`. Another fifth of the memory
// limit is the quota of gRPC's buffers, which also hold messages. The rest of the limit is for
// uncharged memory.
constexpr std::array<NamedShare, 3> kShares = {{{"scenes", 50, Limit::kSceneMemory},
                                                {"trackers", 10, Limit::kTrackerMemory},
                                                {"messages", 15, Limit::kMessageMemory}}};

// bytes that each peer may charge even when a share is nearly used up, enough for a call with a
// short request
constexpr uint64_t kGuaranteedPeerBytes = 32 << 10;
// Guaranteed bytes may raise the charges of all peers together above a share by at most the memory
// limit of the process divided by `kGuaranteedLimitPart`.
constexpr uint64_t kGuaranteedLimitPart = 32;

size_t IndexOf(MemoryShare share) { return static_cast<size_t>(share); }

}  // namespace

MemoryAccount::MemoryAccount(uint64_t limit_bytes) : limit_(limit_bytes) {
  for (size_t i = 0; i < limits_.size(); ++i) {
    limits_[i] = limit_bytes / 100 * kShares[i].percent;
    shared_ += limits_[i];
  }
}

uint64_t MemoryAccount::limit(MemoryShare share) const {
  const uint64_t whole = limits_[IndexOf(share)];
  const uint64_t excess = std::min(excess_.load(std::memory_order_relaxed), shared_);
  if (excess == 0) return whole;
  const double part = static_cast<double>(whole) / static_cast<double>(shared_);
  return whole - std::min(whole, static_cast<uint64_t>(part * static_cast<double>(excess)));
}

uint64_t MemoryAccount::Excess(uint64_t held_bytes) const {
  uint64_t expected = limit_ - shared_;
  for (const std::atomic<uint64_t>& used : used_) expected += used.load(std::memory_order_relaxed);
  return held_bytes > expected ? held_bytes - expected : 0;
}

std::shared_ptr<MemoryPeer> MemoryAccount::Peer(const std::string& name) {
  if (name.empty()) return std::make_shared<MemoryPeer>();
  absl::MutexLock lock(&mu_);
  if (peers_.size() >= next_purge_) {
    absl::erase_if(peers_, [](const auto& entry) { return entry.second.use_count() == 1; });
    next_purge_ = 2 * peers_.size() + 1024;
  }
  std::shared_ptr<MemoryPeer>& peer = peers_[name];
  if (peer == nullptr) peer = std::make_shared<MemoryPeer>();
  return peer;
}

// If a charge for scenes is refused, calls the reclaimer, which frees old versions of scenes, and
// tries the charge once more.
absl::Status MemoryAccount::Take(MemoryShare share, uint64_t bytes, MemoryPeer* peer) {
  absl::Status status = TakeNow(share, bytes, peer);
  if (status.ok() || share != MemoryShare::kScenes || reclaim_ == nullptr) return status;
  const uint64_t left = available(share, peer);
  if (bytes > left && !reclaim_(bytes - left)) return status;
  return TakeNow(share, bytes, peer);
}

// Charges first, checks the limits afterwards and releases the charge if it is refused, so that
// concurrent charges cannot exceed a limit together. The drawback: a concurrent charge, which is
// then refused and released, may make this charge fail, although this charge would fit.
absl::Status MemoryAccount::TakeNow(MemoryShare share, uint64_t bytes, MemoryPeer* peer) {
  const size_t i = IndexOf(share);
  const uint64_t before = used_[i].fetch_add(bytes, std::memory_order_relaxed);
  const uint64_t of_peer =
      peer == nullptr ? 0 : peer->used[i].fetch_add(bytes, std::memory_order_relaxed);
  const uint64_t most = limit(share);
  const uint64_t left = most - std::min(most, before);
  const bool has_room = before <= most && bytes <= left;
  if (has_room && (peer == nullptr || bytes + of_peer <= left)) return absl::OkStatus();
  const bool is_little = bytes <= kGuaranteedPeerBytes && of_peer <= kGuaranteedPeerBytes - bytes;
  if (peer != nullptr && is_little && before + bytes <= most + limit_ / kGuaranteedLimitPart) {
    return absl::OkStatus();
  }
  Release(share, bytes, peer);
  return Exhausted(share, has_room);
}

// Tries up to 4 times to charge: between the calls of `available` and `Take`, another thread may
// charge the available bytes.
uint64_t MemoryAccount::TakeUpTo(MemoryShare share, uint64_t bytes, MemoryPeer* peer) {
  for (int tries = 0; tries < 4; ++tries) {
    bytes = std::min(bytes, available(share, peer));
    if (bytes == 0 || Take(share, bytes, peer).ok()) return bytes;
  }
  return 0;
}

void MemoryAccount::TakePastLimit(MemoryShare share, uint64_t bytes, MemoryPeer* peer) {
  used_[IndexOf(share)].fetch_add(bytes, std::memory_order_relaxed);
  if (peer != nullptr) peer->used[IndexOf(share)].fetch_add(bytes, std::memory_order_relaxed);
}

void MemoryAccount::Release(MemoryShare share, uint64_t bytes, MemoryPeer* peer) {
  used_[IndexOf(share)].fetch_sub(bytes, std::memory_order_relaxed);
  if (peer != nullptr) peer->used[IndexOf(share)].fetch_sub(bytes, std::memory_order_relaxed);
}

uint64_t MemoryAccount::used(MemoryShare share) const {
  return used_[IndexOf(share)].load(std::memory_order_relaxed);
}

uint64_t MemoryAccount::available(MemoryShare share, const MemoryPeer* peer) const {
  const size_t i = IndexOf(share);
  uint64_t used = used_[i].load(std::memory_order_relaxed);
  if (peer != nullptr) used += peer->used[i].load(std::memory_order_relaxed);
  const uint64_t most = limit(share);
  return most - std::min(most, used);
}

absl::Status MemoryAccount::Exhausted(MemoryShare share, bool of_peer) const {
  const std::string what = absl::StrCat("the server's memory for ", kShares[IndexOf(share)].name,
                                        ", ", limit(share), " bytes, is used up");
  CountRefusal(kShares[IndexOf(share)].limit, what);
  return WithRetryDelay(
      absl::ResourceExhaustedError(of_peer ? absl::StrCat("your part of ", what) : what),
      kMemoryRetryDelayUs);
}

}  // namespace carom::server
