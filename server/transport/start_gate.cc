// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/start_gate.h"

#include <algorithm>

namespace carom::server {
namespace {

constexpr Clock::duration kLeastMargin = std::chrono::milliseconds(20);
constexpr Clock::duration kMostMargin = std::chrono::seconds(1);
// A deadline that is more than `kFarAway` in the future counts as no deadline: for a call without a
// deadline, gRPC reports a deadline in the far future.
constexpr std::chrono::hours kFarAway{24};

}  // namespace

void StartGate::Wait(std::chrono::system_clock::time_point deadline, Begin begin) {
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    if (!is_open()) {
      const uint64_t number = ++last_number_;
      Waiting& waiting = waiting_[number];
      waiting.begin = std::move(begin);
      const auto left = deadline - std::chrono::system_clock::now();
      if (left > kFarAway) return;
      const auto time = std::max(std::chrono::duration_cast<Clock::duration>(left), {});
      const auto margin = std::min(std::clamp(time / 10, kLeastMargin, kMostMargin), time / 2);
      waiting.timer =
          timer_.Schedule(Clock::now() + time - margin, [this, number] { Expire(number); });
      return;
    }
    status = status_;
  }
  begin(status);
}

void StartGate::Expire(uint64_t number) {
  Begin begin;
  {
    absl::MutexLock lock(&mu_);
    const auto it = waiting_.find(number);
    if (it == waiting_.end()) return;
    begin = std::move(it->second.begin);
    waiting_.erase(it);
  }
  begin(absl::UnavailableError("the server is starting and still reads its scenes"));
}

void StartGate::End(const absl::Status& status) {
  absl::flat_hash_map<uint64_t, Waiting> waiting;
  {
    absl::MutexLock lock(&mu_);
    if (is_open()) return;
    status_ = status;
    is_open_.store(true, std::memory_order_release);
    waiting.swap(waiting_);
  }
  for (auto& [number, call] : waiting) {
    // Cancels the timer of the call. If the timer's `Expire` is running, waits until it returns;
    // `Expire` has no effect, as `waiting_` no longer contains the call.
    if (call.timer != 0) timer_.CancelAndWait(call.timer);
    call.begin(status);
  }
}

}  // namespace carom::server
