// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/sqlite/log_keeper.h"

#include <utility>

namespace carom::server {
namespace {

// Length of the log, in pages of 4 KiB, from which on it is checkpointed, as by SQLite itself.
constexpr int kCheckpointPages = 1000;
// Length that a log has only after a large transaction: the writer checkpoints it without the
// thread, so that the next commit can truncate it.
constexpr int kLargeTransactionPages = 2000;
// Length from which on the writer waits until no read is running, so that the log begins anew:
// otherwise overlapping reads would let the log grow.
constexpr int kLongLogPages = 16 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<LogKeeper>> LogKeeper::Open(const std::string& path, const char* vfs,
                                                           Database& writer,
                                                           SqliteHistory& history) {
  absl::StatusOr<Database> database = Database::Open(path, vfs);
  if (!database.ok()) return database.status();
  // The connection syncs as the writer does. The SELECT makes the connection open the log, without
  // which a checkpoint does nothing.
  absl::Status status =
      database->Run("PRAGMA synchronous = FULL; SELECT count(*) FROM sqlite_schema;");
  if (!status.ok()) return status;
  return std::unique_ptr<LogKeeper>(new LogKeeper(*std::move(database), writer, history));
}

LogKeeper::LogKeeper(Database database, Database& writer, SqliteHistory& history)
    : writer_(writer), history_(history), database_(std::move(database)) {
  writer_.CountLogPages(&log_pages_);
  thread_ = std::thread([this] { Loop(); });
}

LogKeeper::~LogKeeper() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

// The log begins anew with the first commit after a complete checkpoint, unless a reader uses the
// log. If a reader does, the writer tries again after each further 1000 pages.
void LogKeeper::AfterCommit() {
  absl::MutexLock lock(&mu_);
  if (log_pages_ < kCheckpointPages) {
    checkpoint_from_ = kCheckpointPages;
    was_checkpointed_ = false;
    return;
  }
  const bool is_long = log_pages_ >= kLongLogPages;
  if (is_long) mu_.Await(absl::Condition(this, &LogKeeper::IsIdle));
  if (is_checkpointing_ || (log_pages_ < checkpoint_from_ && !was_checkpointed_ && !is_long))
    return;
  if (!was_checkpointed_ && log_pages_ < kLargeTransactionPages) {
    is_checkpointing_ = true;
    return;
  }
  was_checkpointed_ = false;
  checkpoint_from_ = log_pages_ + kCheckpointPages;
  const auto move = [this] { writer_.CheckpointLog().IgnoreError(); };
  if (is_long) {
    history_.BetweenReads(move);
  } else {
    move();
  }
}

void LogKeeper::Loop() {
  absl::MutexLock lock(&mu_);
  for (;;) {
    mu_.Await(absl::Condition(this, &LogKeeper::HasWork));
    if (stopping_) return;
    mu_.Unlock();
    database_.CheckpointLog().IgnoreError();
    mu_.Lock();
    is_checkpointing_ = false;
    was_checkpointed_ = true;
  }
}

}  // namespace carom::server
