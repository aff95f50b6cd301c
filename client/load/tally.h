// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The counts of one thread of a load.
#pragma once

#include <cstdint>
#include <map>

#include "carom/tracker.h"
#include "client/load/histogram.h"

namespace carom::load {

// Counts of frames (messages with the queries of one tick). A member counts frames that are due in
// the measured time, unless its comment states another set. In a closed loop, in which an answer
// triggers the next frame, a frame is due when it is sent. Not thread-safe.
struct Tally {
  // Counts of the thread that sends.
  uint64_t frames_due = 0;
  uint64_t frames_sent = 0;
  // time from the due time of a frame to its sending: the delay in `carom load` and its connections
  Histogram send_delay_ns;

  // Counts of the thread that receives answers. Each frame has one of the outcomes answered,
  // skipped, refused, frame error and group error, or is lost.
  uint64_t frames_answered = 0;
  uint64_t frames_skipped = 0;
  uint64_t frames_refused = 0;           // frames with the status RESOURCE_EXHAUSTED
  std::map<int, uint64_t> frame_errors;  // frames with another error status, by code
  // frames whose group of queries failed, by the error code of the group
  std::map<int, uint64_t> group_errors;
  std::map<int, uint64_t> stream_ends;  // streams that the server ended early, by code
  uint64_t unexpected_answers = 0;      // malformed messages, and answers to unknown frames
  uint64_t frames_late = 0;             // frames answered more than a tick after they were due
  uint64_t answer_bytes = 0;            // bytes of all answers that arrived in the measured time
  uint64_t evaluate_ns = 0;             // evaluation time of answered frames, by the server's clock
  uint64_t shadow_differences = 0;      // sum of FrameStats.shadow_differences of answered frames
  // tracker moves of answered frames, by how the server answered them (quiet, near, refreshed or
  // cold)
  MoveTiers moves;
  Histogram latency_ns;                  // latency of answered frames, from due to arrival
  uint64_t frames_answered_in_time = 0;  // frames answered in the measured time, due at any time

  // Adds the counts of `other`.
  void Merge(const Tally& other);
};

}  // namespace carom::load
