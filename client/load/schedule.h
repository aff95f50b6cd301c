// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When does each frame of an open loop leave, and who waits until then?
//
// Every time is computed from the start and the frame's number, so that nothing drifts, and does
// not depend on what happened before. Times are nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

namespace carom::load {

inline constexpr int64_t kMillisecondNs = 1000000;

// CLOCK_MONOTONIC.
int64_t NowNs();

// Returns at `time_ns`, or a few microseconds later.
void SleepUntil(int64_t time_ns);

// The times of all frames of `streams` streams, `rate_hz` > 0 a second each, the streams spread
// evenly over a tick: stream s sends its frame k at start + (k + s / streams) / rate_hz.
class Schedule {
 public:
  Schedule(int64_t start_ns, double rate_hz, uint32_t streams)
      : start_ns_(start_ns), tick_ns_(1e9 / rate_hz), streams_(streams) {}

  // Rounded down; exact to the nanosecond or two for years.
  int64_t TimeOf(uint32_t stream, uint64_t tick) const;
  double tick_ns() const { return tick_ns_; }

 private:
  int64_t start_ns_;
  double tick_ns_;
  uint32_t streams_;
};

}  // namespace carom::load
