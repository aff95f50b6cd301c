// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/schedule.h"

#include <time.h>

namespace carom::load {
namespace {

constexpr int64_t kNsPerSecond = 1000000000;

}  // namespace

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

// Sleeps until an absolute time, so that a sleep that ends late does not delay the next one.
void SleepUntil(int64_t time_ns) {
  timespec until;
  until.tv_sec = static_cast<time_t>(time_ns / kNsPerSecond);
  until.tv_nsec = time_ns % kNsPerSecond;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

// Spreads the due times of the streams over a tick (the time from one frame of a stream to the
// next), as the frames of independent players would be. Computes each due time from the start time
// by one multiplication, so that rounding errors do not accumulate.
int64_t Schedule::TimeOf(uint32_t stream, uint64_t tick) const {
  const double ticks = static_cast<double>(tick) + static_cast<double>(stream) / streams_;
  return start_ns_ + static_cast<int64_t>(ticks * tick_ns_);
}

}  // namespace carom::load
