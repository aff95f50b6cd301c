// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What one thread counted.
#pragma once

#include <cstdint>
#include <map>

#include "carom/tracker.h"
#include "client/load/histogram.h"

namespace carom::load {

// Frames are those that fell due in the measured time, unless named otherwise. In a closed loop a
// frame is due when it is sent. Not thread-safe.
struct Tally {
  // Of who sends.
  uint64_t frames_due = 0;
  uint64_t frames_sent = 0;
  Histogram send_delay_ns;  // from due to sent: the generator's share, and that of full connections

  // Of who takes answers. `answered` are those with answers; a frame has one of these fates, or is
  // lost.
  uint64_t frames_answered = 0;
  uint64_t frames_skipped = 0;
  uint64_t frames_refused = 0;           // RESOURCE_EXHAUSTED
  std::map<int, uint64_t> frame_errors;  // other statuses of a frame, by code
  std::map<int, uint64_t> group_errors;  // by code; these frames are not `answered`
  std::map<int, uint64_t> stream_ends;   // streams that ended before they were to, by code
  uint64_t strange_answers = 0;          // that are no answer, or to no frame that waits for one
  uint64_t frames_late = 0;              // answered more than a tick after they were due
  uint64_t answer_bytes = 0;             // of all answers in the measured time
  uint64_t evaluate_ns = 0;              // the server's, of answered frames
  uint64_t shadow_differences = 0;       // that the server found
  MoveTiers moves;                       // of answered frames
  Histogram latency_ns;                  // of answered frames, from due to the answer's arrival
  uint64_t frames_answered_in_time = 0;  // answers that came in the measured time, of any frame

  void Merge(const Tally& other);
};

}  // namespace carom::load
