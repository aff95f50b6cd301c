// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is there memory for that?
//
// What clients make the server hold is counted on one account before it is allocated, each kind
// against its share of the limit, so that the sum is bounded however many clients there are, and no
// kind takes the memory of the others. Counts are estimates from above of what a thing holds by
// itself; what escapes them (HTTP/2, fragments, the program) has the rest, and where it takes more
// (server/base/memory_watch.h) the shares have less.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/base/loop_share.h"

namespace carom::server {

enum class MemoryShare : uint8_t {
  kScenes,    // scenes, and imports in progress
  kTrackers,  // of streams: tables, shapes and what they remember
  kMessages,  // requests and answers that wait, and requests that are parsed
};

// When a client may ask again for memory that there was not.
inline constexpr uint64_t kMemoryRetryDelayUs = 1000000;

// What one peer (server/access/peer.h) has of each share.
struct MemoryPeer : std::enable_shared_from_this<MemoryPeer> {
  std::array<std::atomic<uint64_t>, 3> used{};
  LoopUse loop;  // of the event loop's time
};

// A peer may have as much of a share as the others have left: alone it gets half, and however many
// want all, there is some left for who comes next (dynamic thresholds; Choudhury and Hahne, 1998).
// The first 32 KiB, a call with a short request, it may have even so, as long as all peers together
// pass the share by no more than 1/32 of the limit.
//
// Thread-safe; outlives its charges.
class MemoryAccount {
 public:
  explicit MemoryAccount(uint64_t limit_bytes);

  // What calls of a peer take counts as that of the others of that name; without a name by itself.
  // A peer is known for a while after its last call: between short calls its use of the event loop
  // counts on.
  std::shared_ptr<MemoryPeer> Peer(const std::string& name);

  // Takes `bytes` of a share, for a peer if there is one, or nothing and RESOURCE_EXHAUSTED naming
  // the share.
  absl::Status Take(MemoryShare share, uint64_t bytes, MemoryPeer* peer = nullptr);
  // Takes as many of them as there are; returns how many.
  uint64_t TakeUpTo(MemoryShare share, uint64_t bytes, MemoryPeer* peer);
  // Takes them even above the share: of what is there already.
  void TakeAnyway(MemoryShare share, uint64_t bytes, MemoryPeer* peer = nullptr);
  void Give(MemoryShare share, uint64_t bytes, MemoryPeer* peer = nullptr);

  // Whom to ask where there is no memory for scenes: gives up so many bytes of what nobody needs,
  // on the thread that asks, with whatever locks it holds; false if nothing went. Not while others
  // take.
  void set_spare(std::function<bool(uint64_t bytes)> give_up) { give_up_ = std::move(give_up); }

  // What is left of a share, for a peer if there is one; 0 above it.
  uint64_t available(MemoryShare share, const MemoryPeer* peer = nullptr) const;
  uint64_t limit(MemoryShare share) const;
  uint64_t limit() const { return limit_; }

  // By how much the process, which holds so many bytes, passes what is counted and what no share
  // has.
  uint64_t Excess(uint64_t held_bytes) const;
  // Takes an excess from the limits of the shares, in proportion.
  void SetExcess(uint64_t bytes) { excess_.store(bytes, std::memory_order_relaxed); }

 private:
  // `Take` of what is there.
  absl::Status TakeNow(MemoryShare share, uint64_t bytes, MemoryPeer* peer);
  // RESOURCE_EXHAUSTED naming the share, to be tried again in a second.
  absl::Status Exhausted(MemoryShare share, bool of_peer) const;

  absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<MemoryPeer>> peers_ ABSL_GUARDED_BY(mu_);
  size_t next_purge_ ABSL_GUARDED_BY(mu_) = 1024;  // of peers that are gone, at so many names
  std::array<std::atomic<uint64_t>, 3> used_{};
  std::array<uint64_t, 3> limits_{};
  const uint64_t limit_;
  uint64_t shared_ = 0;  // the sum of the shares
  std::atomic<uint64_t> excess_{0};
  std::function<bool(uint64_t bytes)> give_up_;
};

// Bytes of a share that go back with it. Not thread-safe.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  // `peer`, if there is one, outlives the charge.
  MemoryCharge(MemoryAccount& account, MemoryShare share, MemoryPeer* peer = nullptr)
      : account_(&account), peer_(peer), share_(share) {}
  MemoryCharge(MemoryCharge&& other) noexcept { *this = std::move(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(peer_, other.peer_);
    std::swap(share_, other.share_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() { Clear(); }

  // Holds so many more bytes, or as many as before and an error. Without an account, none.
  absl::Status Add(uint64_t bytes) {
    if (account_ == nullptr) return absl::OkStatus();
    absl::Status status = account_->Take(share_, bytes, peer_);
    if (status.ok()) bytes_ += bytes;
    return status;
  }
  // Holds up to so many more bytes; returns how many there were.
  uint64_t AddUpTo(uint64_t bytes) {
    const uint64_t added = account_ == nullptr ? 0 : account_->TakeUpTo(share_, bytes, peer_);
    bytes_ += added;
    return account_ == nullptr ? bytes : added;
  }
  // Holds at least so many bytes, or as many as before and an error.
  absl::Status GrowTo(uint64_t bytes) {
    return bytes > bytes_ ? Add(bytes - bytes_) : absl::OkStatus();
  }
  // Holds so many bytes, whatever the share has.
  void Set(uint64_t bytes) {
    if (bytes > bytes_) account_->TakeAnyway(share_, bytes - bytes_, peer_);
    if (bytes < bytes_) account_->Give(share_, bytes_ - bytes, peer_);
    bytes_ = bytes;
  }
  void Clear() {
    if (bytes_ != 0) account_->Give(share_, std::exchange(bytes_, 0), peer_);
  }
  // An empty one of the same peer and share.
  MemoryCharge Another() const {
    MemoryCharge charge;
    charge.account_ = account_;
    charge.peer_ = peer_;
    charge.share_ = share_;
    return charge;
  }
  // One of them that has so many of these bytes, or all that there are.
  MemoryCharge Split(uint64_t bytes) {
    MemoryCharge charge = Another();
    charge.bytes_ = bytes < bytes_ ? bytes : bytes_;
    bytes_ -= charge.bytes_;
    return charge;
  }
  // Takes over what another one of the same peer and share has.
  void Join(MemoryCharge other) { bytes_ += std::exchange(other.bytes_, 0); }
  uint64_t bytes() const { return bytes_; }
  const MemoryPeer* peer() const { return peer_; }
  // For what outlives the call; null without a peer.
  std::shared_ptr<MemoryPeer> shared_peer() const {
    return peer_ == nullptr ? nullptr : peer_->shared_from_this();
  }

 private:
  MemoryAccount* account_ = nullptr;
  MemoryPeer* peer_ = nullptr;
  MemoryShare share_ = MemoryShare::kMessages;
  uint64_t bytes_ = 0;
};

}  // namespace carom::server
