// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is there memory for a request, a scene or a tracker (a moving shape that a stream follows)?
//
// The server charges the memory that clients make it hold to one `MemoryAccount`, before it
// allocates the memory. Each kind of memory has a share of the memory limit of the process, so that
// the total is bounded for any number of clients, and no kind uses the memory of another kind. A
// charge is an upper estimate of the memory of one object. The rest of the limit is for memory that
// is not charged (HTTP/2, heap fragmentation, the program itself); if uncharged memory exceeds the
// rest (server/base/memory_watch.h), the shares shrink.
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
#include "server/base/log.h"
#include "server/base/loop_share.h"

namespace carom::server {

// The kinds of memory that are charged. Each kind has a share: a part of the process's memory
// limit.
enum class MemoryShare : uint8_t {
  kScenes,    // scenes, and imports in progress
  kTrackers,  // trackers, the moving shapes that streams follow: tables, shapes and caches
  kMessages,  // requests and answers that wait in the server, and parsed requests
};

// retry delay of a call that is refused for lack of memory
inline constexpr uint64_t kMemoryRetryDelayUs = 1000000;

// Holds what one peer (a client address or a tenant; server/access/peer.h) uses of each memory
// share and of the event loop.
struct MemoryPeer : std::enable_shared_from_this<MemoryPeer> {
  std::array<std::atomic<uint64_t>, 3> used{};  // bytes charged, indexed by `MemoryShare`
  LoopUse loop;                                 // time of the event loop's threads
  LogLimiter refused_credentials;               // limits the log lines about the peer's credentials
};

// Counts the memory that clients make the server hold, and refuses charges above the limits. A
// share is the part of the memory limit that one kind of memory (`MemoryShare`) may use.
//
// A peer (a client address or a tenant) may hold at most as many bytes of a share as are free: a
// single peer gets half of the share, and for any number of greedy peers some memory stays free for
// the next peer (dynamic thresholds; Choudhury and Hahne, 1998). Each peer gets its first 32 KiB
// even if less is free, enough for a call with a short request, until all peers together exceed the
// share by 1/32 of the memory limit.
//
// Thread-safe; the account must outlive its charges.
class MemoryAccount {
 public:
  explicit MemoryAccount(uint64_t limit_bytes);

  // Returns the counters of the peer with the name `name`, which all calls of the peer share. An
  // empty name gives separate counters in each call. The account keeps the counters for a while
  // after the peer's last call, so that the event loop time that the peer used still counts in its
  // next call.
  std::shared_ptr<MemoryPeer> Peer(const std::string& name);

  // Charges `bytes` to a share, and to `peer` if it is not null. Charges nothing and returns
  // RESOURCE_EXHAUSTED naming the share if the share, or the part of the share that `peer` may use,
  // is used up.
  absl::Status Take(MemoryShare share, uint64_t bytes, MemoryPeer* peer = nullptr);
  // Charges `bytes`, or as many as are free if that is less; returns the number of bytes charged.
  uint64_t TakeUpTo(MemoryShare share, uint64_t bytes, MemoryPeer* peer);
  // Charges `bytes` even beyond the limits, for memory that is already allocated.
  void TakePastLimit(MemoryShare share, uint64_t bytes, MemoryPeer* peer = nullptr);
  // Releases `bytes` that were charged to the share and to `peer`.
  void Release(MemoryShare share, uint64_t bytes, MemoryPeer* peer = nullptr);

  // Sets the function that `Take` calls when memory for scenes is used up. The function frees about
  // `bytes` of unused data, such as old versions of scenes, and returns false if it freed none. The
  // function runs on the thread that calls `Take`, which keeps all its locks meanwhile.
  // `set_reclaimer` must not be called while another thread may call `Take`.
  void set_reclaimer(std::function<bool(uint64_t bytes)> reclaim) { reclaim_ = std::move(reclaim); }

  // Returns how many bytes can still be charged to a share, and to `peer` if it is not null; 0 if
  // the share is exceeded.
  uint64_t available(MemoryShare share, const MemoryPeer* peer = nullptr) const;
  // Returns the bytes that are charged to a share.
  uint64_t used(MemoryShare share) const;
  // Returns the limit of a share, reduced by the part of the excess (`SetExcess`) that falls on the
  // share.
  uint64_t limit(MemoryShare share) const;
  uint64_t limit() const { return limit_; }

  // Returns the excess: the bytes by which uncharged memory exceeds the part of the limit that
  // belongs to no share. That is `held_bytes`, the memory of the process, minus the charged bytes
  // and that part of the limit; at least 0.
  uint64_t Excess(uint64_t held_bytes) const;
  // Sets the excess (see `Excess`) to `bytes`: the limits of all shares shrink by `bytes` in total,
  // each limit in proportion to its size.
  void SetExcess(uint64_t bytes) { excess_.store(bytes, std::memory_order_relaxed); }

 private:
  // Charges like `Take`, but does not call the reclaimer when the share is used up.
  absl::Status TakeNow(MemoryShare share, uint64_t bytes, MemoryPeer* peer);
  // Returns RESOURCE_EXHAUSTED naming the share, with a retry delay of one second. `of_peer` is
  // true if the share itself has room, and only the part of the share that the peer may use is used
  // up.
  absl::Status Exhausted(MemoryShare share, bool of_peer) const;

  absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<MemoryPeer>> peers_ ABSL_GUARDED_BY(mu_);
  // number of entries of `peers_` from which on `Peer` erases the entries that only `peers_` refers
  // to
  size_t next_purge_ ABSL_GUARDED_BY(mu_) = 1024;
  std::array<std::atomic<uint64_t>, 3> used_{};
  std::array<uint64_t, 3> limits_{};
  const uint64_t limit_;
  uint64_t shared_ = 0;  // the sum of `limits_`: what can be charged in total
  std::atomic<uint64_t> excess_{0};
  std::function<bool(uint64_t bytes)> reclaim_;
};

// Holds bytes charged to a share of a `MemoryAccount` (the limit of one kind of memory) and to a
// peer (a client address or a tenant), and releases the bytes when destroyed. Not thread-safe.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  // `account`, and `peer` if it is not null, must outlive the charge.
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

  // Charges `bytes` more. On an error the charge does not change. A charge without an account stays
  // 0 and returns OK.
  absl::Status Add(uint64_t bytes) {
    if (account_ == nullptr) return absl::OkStatus();
    absl::Status status = account_->Take(share_, bytes, peer_);
    if (status.ok()) bytes_ += bytes;
    return status;
  }
  // Charges `bytes` more, or as many as are free if that is less; returns the number of bytes
  // charged. A charge without an account stays 0 and returns `bytes`.
  uint64_t AddUpTo(uint64_t bytes) {
    const uint64_t added = account_ == nullptr ? 0 : account_->TakeUpTo(share_, bytes, peer_);
    bytes_ += added;
    return account_ == nullptr ? bytes : added;
  }
  // Raises the charge to at least `bytes`. On an error the charge does not change.
  absl::Status GrowTo(uint64_t bytes) {
    return bytes > bytes_ ? Add(bytes - bytes_) : absl::OkStatus();
  }
  // Sets the charge to `bytes`, even beyond the limit of the share.
  void Set(uint64_t bytes) {
    if (bytes > bytes_) account_->TakePastLimit(share_, bytes - bytes_, peer_);
    if (bytes < bytes_) account_->Release(share_, bytes_ - bytes, peer_);
    bytes_ = bytes;
  }
  void Clear() {
    if (bytes_ != 0) account_->Release(share_, std::exchange(bytes_, 0), peer_);
  }
  // Returns a charge of 0 bytes with the account, peer and share of this charge.
  MemoryCharge Another() const {
    MemoryCharge charge;
    charge.account_ = account_;
    charge.peer_ = peer_;
    charge.share_ = share_;
    return charge;
  }
  // Moves `bytes` of this charge, or all if it has fewer, to a charge that it returns.
  MemoryCharge Split(uint64_t bytes) {
    MemoryCharge charge = Another();
    charge.bytes_ = bytes < bytes_ ? bytes : bytes_;
    bytes_ -= charge.bytes_;
    return charge;
  }
  // Moves the bytes of `other`, which must have the peer and share of this charge, to this charge.
  void Join(MemoryCharge other) { bytes_ += std::exchange(other.bytes_, 0); }
  uint64_t bytes() const { return bytes_; }
  const MemoryPeer* peer() const { return peer_; }
  // Returns a shared reference to the peer, for objects that outlive the call; null without a peer.
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
