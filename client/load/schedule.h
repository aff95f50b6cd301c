// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When is each frame (message with the queries of one tick) due in an open loop, in which frames do
// not wait for answers?
//
// A due time is computed from the start time and the number of the frame alone, so the schedule
// does not drift and does not depend on when earlier frames were sent. Times are nanoseconds of
// CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

namespace carom::load {

inline constexpr int64_t kMillisecondNs = 1000000;

// Returns the time of CLOCK_MONOTONIC.
int64_t NowNs();

// Sleeps until `time_ns`, or a few microseconds longer.
void SleepUntil(int64_t time_ns);

// The due times of all frames of `streams` streams, each of which sends `rate_hz` > 0 frames a
// second. The streams are spread evenly over a tick: frame k of stream s is due at
// start + (k + s / streams) / rate_hz.
class Schedule {
 public:
  Schedule(int64_t start_ns, double rate_hz, uint32_t streams)
      : start_ns_(start_ns), tick_ns_(1e9 / rate_hz), streams_(streams) {}

  // Returns the due time of frame `tick` of `stream`, rounded down; for runs of up to a month, the
  // error is below 2 ns.
  int64_t TimeOf(uint32_t stream, uint64_t tick) const;
  double tick_ns() const { return tick_ns_; }

 private:
  int64_t start_ns_;
  double tick_ns_;
  uint32_t streams_;
};

}  // namespace carom::load
