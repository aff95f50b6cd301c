// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/refusals.h"

#include <array>
#include <atomic>

#include "server/base/log.h"

namespace carom::server {
namespace {

struct Refusals {
  std::atomic<uint64_t> count{0};
  LogLimiter limiter;
};

std::array<Refusals, kLimitCount>& All() {
  static auto& all = *new std::array<Refusals, kLimitCount>;
  return all;
}

}  // namespace

const char* NameOf(Limit limit) {
  static constexpr std::array<const char*, kLimitCount> kNames = {
      "streams",        "scene_calls",     "watches",          "forks",  "tenant_share",
      "message_bytes",  "frame",           "frames_in_flight", "unread", "scene_memory",
      "tracker_memory", "message_memory",  "fork_memory",      "scenes", "store_bytes",
      "connections",    "http_connections"};
  return kNames[static_cast<size_t>(limit)];
}

void CountRefusal(Limit limit, absl::string_view detail) {
  Refusals& refusals = All()[static_cast<size_t>(limit)];
  refusals.count.fetch_add(1, std::memory_order_relaxed);
  uint64_t suppressed = 0;
  if (!IsLogged(LogLevel::kWarning) || !refusals.limiter.Allow(suppressed)) return;
  LogLine(LogLevel::kWarning, "limit_met")
      .With("limit", NameOf(limit))
      .With("detail", detail)
      .With("suppressed", suppressed);
}

uint64_t RefusalsBy(Limit limit) {
  return All()[static_cast<size_t>(limit)].count.load(std::memory_order_relaxed);
}

}  // namespace carom::server
