// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is there memory for that?
//
// What clients make the server hold is counted on one account before it is allocated, each kind
// against its share of the limit, so that the sum is bounded however many clients there are, and no
// kind takes the memory of the others. Counts are estimates from above of what a thing holds by
// itself; what escapes them (HTTP/2, fragments, the program) has the rest.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"

namespace carom::server {

enum class MemoryShare : uint8_t {
  kScenes,    // scenes, and imports in progress
  kTrackers,  // of streams: tables, shapes and what they remember
  kMessages,  // requests and answers that wait, and requests that are parsed
};

// Thread-safe; outlives its charges.
class MemoryAccount {
 public:
  explicit MemoryAccount(uint64_t limit_bytes);

  // Takes `bytes` of a share, or nothing and RESOURCE_EXHAUSTED naming the share.
  absl::Status Take(MemoryShare share, uint64_t bytes);
  // Takes them even above the share: of what is there already.
  void TakeAnyway(MemoryShare share, uint64_t bytes);
  void Give(MemoryShare share, uint64_t bytes);

  // What is left of a share; 0 above it.
  uint64_t available(MemoryShare share) const;
  uint64_t limit(MemoryShare share) const { return limits_[static_cast<size_t>(share)]; }
  // RESOURCE_EXHAUSTED naming the share, to be tried again in a second.
  absl::Status Exhausted(MemoryShare share) const;

 private:
  std::array<std::atomic<uint64_t>, 3> used_{};
  std::array<uint64_t, 3> limits_{};
};

// Bytes of a share that go back with it. Not thread-safe.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryAccount& account, MemoryShare share) : account_(&account), share_(share) {}
  MemoryCharge(MemoryCharge&& other) noexcept { *this = std::move(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(share_, other.share_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() { Clear(); }

  // Holds so many more bytes, or as many as before and an error.
  absl::Status Add(uint64_t bytes) {
    absl::Status status = account_->Take(share_, bytes);
    if (status.ok()) bytes_ += bytes;
    return status;
  }
  // Holds so many bytes, whatever the share has.
  void Set(uint64_t bytes) {
    if (bytes > bytes_) account_->TakeAnyway(share_, bytes - bytes_);
    if (bytes < bytes_) account_->Give(share_, bytes_ - bytes);
    bytes_ = bytes;
  }
  void Clear() {
    if (bytes_ != 0) account_->Give(share_, std::exchange(bytes_, 0));
  }
  uint64_t bytes() const { return bytes_; }

 private:
  MemoryAccount* account_ = nullptr;
  MemoryShare share_ = MemoryShare::kMessages;
  uint64_t bytes_ = 0;
};

}  // namespace carom::server
