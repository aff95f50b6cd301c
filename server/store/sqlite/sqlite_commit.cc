// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the journal in SQLite commit a transaction, and measure the commit?

#include <chrono>

#include "server/store/sqlite/sqlite_journal.h"

namespace carom::server {
namespace {

// Bytes of a page of the database file: SQLite's default, which the journal does not change.
constexpr uint64_t kPageBytes = 4096;

}  // namespace

absl::Status SqliteJournal::Commit(size_t jobs) {
  const auto begin = std::chrono::steady_clock::now();
  absl::Status status = commit_.Run();
  metrics_->Measure(Distribution::kSync, std::chrono::steady_clock::now() - begin);
  metrics_->Add(Counter::kJournalTransactions);
  metrics_->Add(Counter::kJournalChanges, jobs);
  metrics_->Add(Counter::kJournalBytes, kPageBytes * database_.TakeWrittenPages());
  return status;
}

}  // namespace carom::server
