// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Measures the changes that a store writes to its journal (server/store/scene_journal.h), for the
// metrics.
#pragma once

#include <chrono>
#include <type_traits>

#include "absl/status/status.h"
#include "server/base/metrics.h"

namespace carom::server {

// Adds to `metrics` that a write of a change to the journal took `time` and ended with `status`. If
// the write failed, counts and logs the failure. A conflict with another server (ABORTED) is no
// failure, because the store repeats the change.
void NoteJournalWrite(const absl::Status& status, std::chrono::nanoseconds time, Metrics& metrics);

// Calls `write`, which writes a change to the journal, returns its result, and adds the time that
// it took to `metrics`.
template <class Write>
auto MeasureWrite(Metrics& metrics, const Write& write) -> decltype(write()) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = write();
  const auto time = std::chrono::steady_clock::now() - begin;
  if constexpr (std::is_same_v<decltype(result), absl::Status>) {
    NoteJournalWrite(result, time, metrics);
  } else {
    NoteJournalWrite(result.status(), time, metrics);
  }
  return result;
}

}  // namespace carom::server
