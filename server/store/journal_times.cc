// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/journal_times.h"

#include "server/base/log.h"

namespace carom::server {

void NoteJournalWrite(const absl::Status& status, std::chrono::nanoseconds time, Metrics& metrics) {
  metrics.Measure(Distribution::kJournal, time);
  if (status.ok() || absl::IsAborted(status)) return;
  metrics.Add(Counter::kJournalFailures);
  static LogLimiter limiter;
  uint64_t suppressed = 0;
  if (!IsLogged(LogLevel::kError) || !limiter.Allow(suppressed)) return;
  LogLine(LogLevel::kError, "store_fault")
      .With("detail", status.message())
      .With("suppressed", suppressed);
}

}  // namespace carom::server
