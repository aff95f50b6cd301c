// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/sqlite/log_keeper.h"

#include <utility>

namespace carom::server {
namespace {

// Length of the log, in pages of 4 KiB, from which on the log is checkpointed (copied to the
// database). The value is SQLite's default for automatic checkpoints.
constexpr int kCheckpointPages = 1000;
// Length of the log, in pages, that mostly only a large transaction causes. From this length on the
// thread that commits checkpoints the log itself, instead of the thread of the `LogKeeper`, so that
// the next commit can truncate the log.
constexpr int kLargeTransactionPages = 2000;
// Length of the log, in pages, from which on the thread that commits waits until no read of old
// versions is running, so that SQLite can restart the log at its beginning: otherwise overlapping
// reads would let the log grow without bound.
constexpr int kLongLogPages = 16 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<LogKeeper>> LogKeeper::Open(const std::string& path, const char* vfs,
                                                           Database& writer,
                                                           SqliteHistory& history) {
  absl::StatusOr<Database> database = Database::Open(path, vfs);
  if (!database.ok()) return database.status();
  // `synchronous = FULL` makes this connection sync the disk as the connection of the writer does.
  // The SELECT makes the connection open the log: before that, a checkpoint on the connection does
  // nothing.
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

// The first commit after a complete checkpoint restarts the log at its beginning, unless a reader
// uses the log. In that case the log is checkpointed again whenever it has grown by
// `kCheckpointPages` more pages.
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
