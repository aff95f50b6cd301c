// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/tally.h"

namespace carom::load {
namespace {

// Adds the counts of `from` to those of `to`, code by code.
void Add(const std::map<int, uint64_t>& from, std::map<int, uint64_t>& to) {
  for (const auto& [code, count] : from) to[code] += count;
}

}  // namespace

// Every member is a count or a histogram, so the order of merging does not matter.
void Tally::Merge(const Tally& other) {
  frames_due += other.frames_due;
  frames_sent += other.frames_sent;
  send_delay_ns.Merge(other.send_delay_ns);
  frames_answered += other.frames_answered;
  frames_skipped += other.frames_skipped;
  frames_refused += other.frames_refused;
  Add(other.frame_errors, frame_errors);
  Add(other.group_errors, group_errors);
  Add(other.stream_ends, stream_ends);
  unexpected_answers += other.unexpected_answers;
  frames_late += other.frames_late;
  answer_bytes += other.answer_bytes;
  evaluate_ns += other.evaluate_ns;
  shadow_differences += other.shadow_differences;
  moves += other.moves;
  latency_ns.Merge(other.latency_ns);
  frames_answered_in_time += other.frames_answered_in_time;
}

}  // namespace carom::load
