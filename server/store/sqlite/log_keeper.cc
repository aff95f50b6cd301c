// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/sqlite/log_keeper.h"

#include <utility>

namespace carom::server {
namespace {

// Pages of SQLite's, 4 KiB each. What SQLite itself takes for enough to be moved.
constexpr int kMovedPages = 1000;
// So many come of one large transaction: the next commit is to give back what it made of the log.
constexpr int kManyPages = 2000;
// From so many on a log is begun anew as soon as nobody reads: else reads without a gap between
// them would let it grow.
constexpr int kLongLogPages = 16 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<LogKeeper>> LogKeeper::Open(const std::string& path, const char* vfs,
                                                           Database& writer,
                                                           SqliteHistory& history) {
  absl::StatusOr<Database> database = Database::Open(path, vfs);
  if (!database.ok()) return database.status();
  // It syncs as the writer does; and a connection that has read nothing knows of no log.
  absl::Status status =
      database->Run("PRAGMA synchronous = FULL; SELECT count(*) FROM sqlite_schema;");
  if (!status.ok()) return status;
  return std::unique_ptr<LogKeeper>(new LogKeeper(*std::move(database), writer, history));
}

LogKeeper::LogKeeper(Database database, Database& writer, SqliteHistory& history)
    : writer_(writer), history_(history), database_(std::move(database)) {
  writer_.CountLog(&log_pages_);
  thread_ = std::thread([this] { Loop(); });
}

LogKeeper::~LogKeeper() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

// The log begins anew with the commit after all of it was moved, if nobody reads what is in it.
// Where somebody does, each thousand pages more are another attempt.
void LogKeeper::AfterCommit() {
  absl::MutexLock lock(&mu_);
  if (log_pages_ < kMovedPages) {
    move_from_ = kMovedPages;
    was_moved_ = false;
    return;
  }
  const bool is_long = log_pages_ >= kLongLogPages;
  if (is_long) mu_.Await(absl::Condition(this, &LogKeeper::IsIdle));
  if (is_moving_ || (log_pages_ < move_from_ && !was_moved_ && !is_long)) return;
  if (!was_moved_ && log_pages_ < kManyPages) {
    is_moving_ = true;
    return;
  }
  was_moved_ = false;
  move_from_ = log_pages_ + kMovedPages;
  const auto move = [this] { writer_.MoveLog().IgnoreError(); };
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
    database_.MoveLog().IgnoreError();
    mu_.Lock();
    is_moving_ = false;
    was_moved_ = true;
  }
}

}  // namespace carom::server
