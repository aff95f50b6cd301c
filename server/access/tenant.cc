// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/tenant.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/refusals.h"

namespace carom::server {
namespace {

constexpr uint64_t kShareRetryUs = 1000000;
constexpr double kLongestDelayUs = 60e6;

absl::Status ShareExhausted(absl::string_view share, uint64_t limit,
                            uint64_t delay_us = kShareRetryUs) {
  const std::string why = absl::StrCat("the tenant's share `", share, "`, ", limit, ", is used up");
  CountRefusal(Limit::kTenantShare, why);
  return WithRetryDelay(absl::ResourceExhaustedError(why), delay_us);
}

// Returns whether `used + more` exceeds `limit`, computed without overflow. Returns false if `more`
// is 0, even if `used` exceeds `limit`.
bool Exceeds(uint64_t used, uint64_t more, uint64_t limit) {
  return more > 0 && (used > limit || more > limit - used);
}

}  // namespace

// Fills the token bucket of work units if the tenant's work was unlimited before. Otherwise the
// bucket keeps its units, so that a reload of the credentials file gives no extra work.
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
  if (streams_ >= shares_.streams) return ShareExhausted("streams", shares_.streams);
  ++streams_;
  return absl::OkStatus();
}

void Tenant::LeaveStream() {
  absl::MutexLock lock(&mu_);
  --streams_;
}

// Checks the shares of scenes and of bytes before it charges either.
absl::Status Tenant::Take(uint64_t scenes, uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  if (Exceeds(scenes_, scenes, shares_.scenes)) return ShareExhausted("scenes", shares_.scenes);
  if (Exceeds(bytes_, bytes, shares_.bytes)) return ShareExhausted("bytes", shares_.bytes);
  scenes_ += scenes;
  bytes_ += bytes;
  return absl::OkStatus();
}

void Tenant::TakePastLimit(uint64_t scenes, uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  scenes_ += scenes;
  bytes_ += bytes;
}

void Tenant::Release(uint64_t scenes, uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  scenes_ -= scenes;
  bytes_ -= bytes;
}

// Refills the token bucket of work units: an empty bucket is full after one second.
void Tenant::Refill(Clock::time_point now) {
  const double a_second = static_cast<double>(shares_.work);
  const double seconds = std::chrono::duration<double>(now - refilled_).count();
  if (seconds <= 0) return;
  refilled_ = now;
  units_ = std::min(a_second, units_ + a_second * seconds);
}

// Returns OK if the token bucket has any units: the cost of a frame (a batch of queries) is unknown
// until the frame is answered, so a frame may overdraw the bucket and later frames are refused. The
// retry delay is the time until the bucket has one unit.
absl::Status Tenant::CheckWork(Clock::time_point now) {
  absl::MutexLock lock(&mu_);
  if (shares_.work == TenantShares::kUnlimited) return absl::OkStatus();
  Refill(now);
  if (units_ > 0) return absl::OkStatus();
  const double delay_us = 1e6 * (1 - units_) / static_cast<double>(shares_.work);
  return ShareExhausted("work", shares_.work,
                        1 + static_cast<uint64_t>(std::min(delay_us, kLongestDelayUs)));
}

void Tenant::TakeWork(uint64_t units, Clock::time_point now) {
  absl::MutexLock lock(&mu_);
  if (shares_.work == TenantShares::kUnlimited) return;
  Refill(now);
  units_ -= static_cast<double>(units);
}

Tenant::Usage Tenant::usage() {
  absl::MutexLock lock(&mu_);
  return {scenes_, bytes_, streams_};
}

std::map<std::string, Tenant::Usage> Tenants::usage() {
  std::map<std::string, Tenant::Usage> all;
  absl::MutexLock lock(&mu_);
  for (const auto& [name, tenant] : tenants_) all[name] = tenant->usage();
  return all;
}

// `Tenants` never removes a tenant: names come only from the operator's files, not from clients, so
// that the number of tenants is bounded.
std::shared_ptr<Tenant> Tenants::Find(absl::string_view name) {
  absl::MutexLock lock(&mu_);
  auto it = tenants_.find(name);
  if (it == tenants_.end()) {
    it = tenants_.emplace(std::string(name), std::make_shared<Tenant>()).first;
  }
  return it->second;
}

// Acquires the lock once for each name in `shares`, in `Find`, and then once for the tenants
// without an entry in `shares`. If a call adds a tenant between two of these acquisitions, the
// tenant is unlimited until this function sets its shares.
void Tenants::SetShares(const std::map<std::string, TenantShares>& shares) {
  for (const auto& [name, of_tenant] : shares) Find(name)->SetShares(of_tenant);
  absl::MutexLock lock(&mu_);
  for (const auto& [name, tenant] : tenants_) {
    if (shares.find(name) == shares.end()) tenant->SetShares({});
  }
}

}  // namespace carom::server
