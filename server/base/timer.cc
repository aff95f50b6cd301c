// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/timer.h"

#include "absl/time/time.h"

namespace carom::server {

Timer::Timer() : thread_([this] { Loop(); }) {}

Timer::~Timer() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    changed_.Signal();
  }
  thread_.join();
}

Timer::Id Timer::Schedule(Clock::time_point when, absl::AnyInvocable<void()> call) {
  absl::MutexLock lock(&mu_);
  const Id id = ++last_id_;
  calls_.emplace(std::pair(when, id), std::move(call));
  times_.emplace(id, when);
  if (when < wakes_at_) changed_.Signal();
  return id;
}

bool Timer::Cancel(Id id) {
  absl::MutexLock lock(&mu_);
  return Drop(id);
}

void Timer::CancelAndWait(Id id) {
  absl::MutexLock lock(&mu_);
  if (Drop(id)) return;
  while (running_ == id) ran_.Wait(&mu_);
}

bool Timer::Drop(Id id) {
  const auto it = times_.find(id);
  if (it == times_.end()) return false;
  // Calls of one time are distinguished by their number.
  calls_.erase({it->second, id});
  times_.erase(it);
  return true;
}

// A call that is dropped does not wake it, nor one that comes later than what it sleeps for: most
// calls are dropped, and a thread that wakes for each would take the processor from who scheduled.
bool Timer::AwaitDue() {
  while (!stopping_) {
    if (calls_.empty()) {
      wakes_at_ = Clock::time_point::max();
      changed_.Wait(&mu_);
    } else {
      const Clock::time_point first = calls_.begin()->first.first;
      const Clock::duration wait = first - Clock::now();
      if (wait <= Clock::duration::zero()) return true;
      wakes_at_ = first;
      changed_.WaitWithTimeout(&mu_, absl::FromChrono(wait));
    }
    wakes_at_ = Clock::time_point::min();
  }
  return false;
}

void Timer::Loop() {
  absl::MutexLock lock(&mu_);
  while (AwaitDue()) {
    auto first = calls_.extract(calls_.begin());
    // `Cancel` does not find it from here on; `CancelAndWait` waits for running_ to change.
    running_ = first.key().second;
    times_.erase(running_);
    // Without the lock: the call may schedule and cancel others.
    mu_.Unlock();
    first.mapped()();
    first = {};
    mu_.Lock();
    running_ = 0;
    ran_.SignalAll();
  }
}

}  // namespace carom::server
