// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/memory_account.h"

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::server {
namespace {

struct ShareOf {
  const char* name;
  uint64_t percent;
};

// Messages lie in gRPC's buffers, whose own quota is a fifth. The rest is what no count sees.
constexpr std::array<ShareOf, 3> kShares = {{{"scenes", 50}, {"trackers", 15}, {"messages", 10}}};

constexpr uint64_t kRetryDelayUs = 1000000;

size_t IndexOf(MemoryShare share) { return static_cast<size_t>(share); }

}  // namespace

MemoryAccount::MemoryAccount(uint64_t limit_bytes) {
  for (size_t i = 0; i < limits_.size(); ++i) limits_[i] = limit_bytes / 100 * kShares[i].percent;
}

// What another thread takes and gives back meanwhile may refuse this one, never let too much pass.
absl::Status MemoryAccount::Take(MemoryShare share, uint64_t bytes) {
  std::atomic<uint64_t>& used = used_[IndexOf(share)];
  const uint64_t before = used.fetch_add(bytes, std::memory_order_relaxed);
  if (before <= limit(share) && bytes <= limit(share) - before) return absl::OkStatus();
  Give(share, bytes);
  return Exhausted(share);
}

void MemoryAccount::TakeAnyway(MemoryShare share, uint64_t bytes) {
  used_[IndexOf(share)].fetch_add(bytes, std::memory_order_relaxed);
}

void MemoryAccount::Give(MemoryShare share, uint64_t bytes) {
  used_[IndexOf(share)].fetch_sub(bytes, std::memory_order_relaxed);
}

uint64_t MemoryAccount::available(MemoryShare share) const {
  const uint64_t used = used_[IndexOf(share)].load(std::memory_order_relaxed);
  return used < limit(share) ? limit(share) - used : 0;
}

absl::Status MemoryAccount::Exhausted(MemoryShare share) const {
  return WithRetryDelay(absl::ResourceExhaustedError(
                            absl::StrCat("the server's memory for ", kShares[IndexOf(share)].name,
                                         ", ", limit(share), " bytes, is used up")),
                        kRetryDelayUs);
}

}  // namespace carom::server
