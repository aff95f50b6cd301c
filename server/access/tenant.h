// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much may a tenant have?
//
// A `Tenant` counts what one has of the shares that the file of credentials gives it, across its
// calls and scenes. Start with `Tenants::Find`.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/base/timer.h"

namespace carom::server {

struct TenantShares {
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

  uint64_t scenes = kUnlimited;
  uint64_t bytes = kUnlimited;    // of its scenes, as they count on the account of memory
  uint64_t streams = kUnlimited;  // and Evaluate calls, at once
  uint64_t work = kUnlimited;     // units a second, on average over some seconds
};

// Thread-safe. What is over a share is RESOURCE_EXHAUSTED naming the share, with a retry delay.
class Tenant {
 public:
  void SetShares(const TenantShares& shares);

  absl::Status EnterStream();
  void LeaveStream();

  // Takes so much for scenes, or nothing and an error.
  absl::Status Take(uint64_t scenes, uint64_t bytes);
  // The same whatever the shares are: of what is there.
  void TakeAnyway(uint64_t scenes, uint64_t bytes);
  void Give(uint64_t scenes, uint64_t bytes);

  // Whether work may begin: a second's share is there to be used at once, and what was taken beyond
  // it is waited for.
  absl::Status CheckWork(Clock::time_point now);
  void TakeWork(uint64_t units, Clock::time_point now);

 private:
  void Refill(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  TenantShares shares_ ABSL_GUARDED_BY(mu_);
  uint64_t streams_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t scenes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  double units_ ABSL_GUARDED_BY(mu_) = 0;  // of the bucket; below 0: taken beforehand
  Clock::time_point refilled_ ABSL_GUARDED_BY(mu_) = Clock::now();
};

// All tenants that were named, which stay. Thread-safe.
class Tenants {
 public:
  std::shared_ptr<Tenant> Find(absl::string_view name);
  // Of all tenants; those that are not named have no limits.
  void SetShares(const std::map<std::string, TenantShares>& shares);

 private:
  absl::Mutex mu_;  // before a tenant's
  std::map<std::string, std::shared_ptr<Tenant>, std::less<>> tenants_ ABSL_GUARDED_BY(mu_);
};

// What a change of a scene adds to its tenant's shares; goes back unless it is kept.
class TenantCharge {
 public:
  TenantCharge() = default;
  TenantCharge(std::shared_ptr<Tenant> tenant, uint64_t scenes, uint64_t bytes)
      : tenant_(std::move(tenant)), scenes_(scenes), bytes_(bytes) {}
  TenantCharge(TenantCharge&& other) noexcept = default;
  TenantCharge& operator=(TenantCharge&&) = delete;
  ~TenantCharge() {
    if (tenant_ != nullptr) tenant_->Give(scenes_, bytes_);
  }

  // The change has come about, and has made `freed` bytes free.
  void Keep(uint64_t freed) {
    if (tenant_ != nullptr) std::exchange(tenant_, nullptr)->Give(0, freed);
  }

 private:
  std::shared_ptr<Tenant> tenant_;
  uint64_t scenes_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace carom::server
