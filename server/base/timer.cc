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
  // The key of `calls_` has the id beside the time, since several functions may be scheduled for
  // one time.
  calls_.erase({it->second, id});
  times_.erase(it);
  return true;
}

// Sleeps until the first scheduled function is due. The thread is woken neither when a function is
// cancelled nor when a function is scheduled for a time after the end of the sleep: most functions
// are cancelled before they are due, and waking the thread for each would take CPU time from the
// threads that schedule them.
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
    // From here on `Cancel` does not find the function; `CancelAndWait` waits until `running_`
    // changes.
    running_ = first.key().second;
    times_.erase(running_);
    // Runs the function without the lock, since the function may schedule and cancel functions.
    mu_.Unlock();
    first.mapped()();
    first = {};
    mu_.Lock();
    running_ = 0;
    ran_.SignalAll();
  }
}

}  // namespace carom::server
