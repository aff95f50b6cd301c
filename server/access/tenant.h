// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many scenes, streams and units of work may a tenant use?
//
// A `Tenant` counts what the calls and scenes of one tenant use of the tenant's shares: the
// resource limits that the credentials file sets (server/access/credentials.h). Start with
// `Tenants::Find`.
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

// The shares of a tenant: the resource limits that the credentials file sets for the tenant.
struct TenantShares {
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

  uint64_t scenes = kUnlimited;
  uint64_t bytes = kUnlimited;    // memory of the tenant's scenes, as charged to the memory account
  uint64_t streams = kUnlimited;  // concurrent streams and Evaluate calls
  // work units a second, averaged over seconds; a work unit is a visit of a polygon, an edge or an
  // index node, or a comparison of two hits
  uint64_t work = kUnlimited;
};

// Counts what one tenant uses of its shares (its resource limits, `TenantShares`). A function that
// would exceed a share returns RESOURCE_EXHAUSTED naming the share, with a retry delay.
// Thread-safe.
class Tenant {
 public:
  // Replaces the shares. What the tenant already uses stays counted.
  void SetShares(const TenantShares& shares);

  // `EnterStream` counts a stream or Evaluate call; if the share of streams is used up,
  // `EnterStream` returns an error and counts nothing. `LeaveStream` removes a call that
  // `EnterStream` has counted.
  absl::Status EnterStream();
  void LeaveStream();

  // Charges scenes and bytes of scenes. On an error nothing is charged.
  absl::Status Take(uint64_t scenes, uint64_t bytes);
  // Charges scenes and bytes even beyond the shares, for scenes that already exist.
  void TakePastLimit(uint64_t scenes, uint64_t bytes);
  // Releases scenes and bytes that were charged.
  void Release(uint64_t scenes, uint64_t bytes);

  // What the tenant uses of its shares.
  struct Usage {
    uint64_t scenes = 0;
    uint64_t bytes = 0;
    uint64_t streams = 0;
  };
  Usage usage() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns OK if a frame (a batch of queries) may start: the token bucket of work units, whose
  // capacity is the work share of one second, is not empty. `TakeWork` may overdraw the bucket;
  // frames are then refused until the bucket refills.
  absl::Status CheckWork(Clock::time_point now);
  // Removes from the token bucket the work units that the evaluation of a frame took.
  void TakeWork(uint64_t units, Clock::time_point now);

 private:
  // Adds to the token bucket the work units that the share allows for the time since the last
  // refill.
  void Refill(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  TenantShares shares_ ABSL_GUARDED_BY(mu_);
  uint64_t streams_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t scenes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  double units_ ABSL_GUARDED_BY(mu_) = 0;  // work units in the token bucket; below 0: overdrawn
  Clock::time_point refilled_ ABSL_GUARDED_BY(mu_) = Clock::now();  // time of the last `Refill`
};

// Holds all tenants, from the first `Find` of their name on. Thread-safe.
class Tenants {
 public:
  // Returns the tenant with the name `name`; adds a tenant without limits if there is none.
  std::shared_ptr<Tenant> Find(absl::string_view name);
  // Returns what each tenant uses, by name.
  std::map<std::string, Tenant::Usage> usage() ABSL_LOCKS_EXCLUDED(mu_);
  // Sets the shares of all tenants. A tenant without an entry in `shares` becomes unlimited.
  void SetShares(const std::map<std::string, TenantShares>& shares);

 private:
  absl::Mutex mu_;  // acquired before the lock of each tenant
  std::map<std::string, std::shared_ptr<Tenant>, std::less<>> tenants_ ABSL_GUARDED_BY(mu_);
};

// Holds the scenes and bytes that a change of a scene charges to the tenant of the scene, and
// releases the charge unless `Keep` is called.
class TenantCharge {
 public:
  TenantCharge() = default;
  TenantCharge(std::shared_ptr<Tenant> tenant, uint64_t scenes, uint64_t bytes)
      : tenant_(std::move(tenant)), scenes_(scenes), bytes_(bytes) {}
  TenantCharge(TenantCharge&& other) noexcept = default;
  TenantCharge& operator=(TenantCharge&&) = delete;
  ~TenantCharge() {
    if (tenant_ != nullptr) tenant_->Release(scenes_, bytes_);
  }

  // Makes the charge permanent, so that the destructor does not release it; the caller has
  // committed the change of the scene. Releases `freed` bytes, which the change has freed.
  void Keep(uint64_t freed) {
    if (tenant_ != nullptr) std::exchange(tenant_, nullptr)->Release(0, freed);
  }

 private:
  std::shared_ptr<Tenant> tenant_;
  uint64_t scenes_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace carom::server
