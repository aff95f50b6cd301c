// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/tenant.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::server {
namespace {

constexpr uint64_t kShareRetryUs = 1000000;
constexpr double kLongestDelayUs = 60e6;

absl::Status UsedUp(absl::string_view share, uint64_t limit, uint64_t delay_us = kShareRetryUs) {
  return WithRetryDelay(absl::ResourceExhaustedError(absl::StrCat("the tenant's share `", share,
                                                                  "`, ", limit, ", is used up")),
                        delay_us);
}

// Without overflow.
bool Exceeds(uint64_t used, uint64_t more, uint64_t limit) {
  return more > 0 && (used > limit || more > limit - used);
}

}  // namespace

// A tenant that had no limit of work begins with a full bucket; another limit keeps what is in it,
// so that a reload is no gift.
void Tenant::SetShares(const TenantShares& shares) {
  absl::MutexLock lock(&mu_);
  const bool had_none = shares_.work == TenantShares::kUnlimited;
  shares_ = shares;
  if (had_none) {
    refilled_ = Clock::now();
    units_ = static_cast<double>(shares.work);
  }
}

absl::Status Tenant::EnterStream() {
  absl::MutexLock lock(&mu_);
  if (streams_ >= shares_.streams) return UsedUp("streams", shares_.streams);
  ++streams_;
  return absl::OkStatus();
}

void Tenant::LeaveStream() {
  absl::MutexLock lock(&mu_);
  --streams_;
}

// Both shares are looked at before anything is taken.
absl::Status Tenant::Take(uint64_t scenes, uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  if (Exceeds(scenes_, scenes, shares_.scenes)) return UsedUp("scenes", shares_.scenes);
  if (Exceeds(bytes_, bytes, shares_.bytes)) return UsedUp("bytes", shares_.bytes);
  scenes_ += scenes;
  bytes_ += bytes;
  return absl::OkStatus();
}

void Tenant::TakeAnyway(uint64_t scenes, uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  scenes_ += scenes;
  bytes_ += bytes;
}

void Tenant::Give(uint64_t scenes, uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  scenes_ -= scenes;
  bytes_ -= bytes;
}

// A bucket that a second fills.
void Tenant::Refill(Clock::time_point now) {
  const double a_second = static_cast<double>(shares_.work);
  const double seconds = std::chrono::duration<double>(now - refilled_).count();
  if (seconds <= 0) return;
  refilled_ = now;
  units_ = std::min(a_second, units_ + a_second * seconds);
}

// What a frame will cost is not known before it is answered, so one may begin as long as there is
// anything, and those after it pay. The delay is when the debt is paid.
absl::Status Tenant::CheckWork(Clock::time_point now) {
  absl::MutexLock lock(&mu_);
  if (shares_.work == TenantShares::kUnlimited) return absl::OkStatus();
  Refill(now);
  if (units_ > 0) return absl::OkStatus();
  const double delay_us = 1e6 * (1 - units_) / static_cast<double>(shares_.work);
  return UsedUp("work", shares_.work,
                1 + static_cast<uint64_t>(std::min(delay_us, kLongestDelayUs)));
}

void Tenant::TakeWork(uint64_t units, Clock::time_point now) {
  absl::MutexLock lock(&mu_);
  if (shares_.work == TenantShares::kUnlimited) return;
  Refill(now);
  units_ -= static_cast<double>(units);
}

// Names come from the files of the operator alone, never from a client: their number is bounded.
std::shared_ptr<Tenant> Tenants::Find(absl::string_view name) {
  absl::MutexLock lock(&mu_);
  auto it = tenants_.find(name);
  if (it == tenants_.end()) {
    it = tenants_.emplace(std::string(name), std::make_shared<Tenant>()).first;
  }
  return it->second;
}

// Two steps, since `Find` takes the lock: a tenant that comes in between has no limits for a
// moment.
void Tenants::SetShares(const std::map<std::string, TenantShares>& shares) {
  for (const auto& [name, of_tenant] : shares) Find(name)->SetShares(of_tenant);
  absl::MutexLock lock(&mu_);
  for (const auto& [name, tenant] : tenants_) {
    if (shares.find(name) == shares.end()) tenant->SetShares({});
  }
}

}  // namespace carom::server
