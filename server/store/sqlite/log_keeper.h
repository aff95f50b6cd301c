// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who moves what SQLite's log has into the database?
//
// SQLite would do so within the commit that makes the log long, whose client, and those behind it,
// would wait for thousands of writes. Here a thread does most of it beside the commits. What they
// add meanwhile is little, and moved between two of them, so that the log begins anew.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/store/sqlite/sqlite.h"
#include "server/store/sqlite/sqlite_history.h"

namespace carom::server {

class LogKeeper {
 public:
  // Of the log that `writer` writes, a connection to the file at `path` in WAL mode; `history`
  // reads it. Both outlive the keeper. Errors as of Database; `vfs` too.
  static absl::StatusOr<std::unique_ptr<LogKeeper>> Open(const std::string& path, const char* vfs,
                                                         Database& writer, SqliteHistory& history);
  // Waits for the thread.
  ~LogKeeper();
  LogKeeper(const LogKeeper&) = delete;
  LogKeeper& operator=(const LogKeeper&) = delete;

  // After each transaction, on the thread that has the writing connection. What cannot be moved,
  // as on a disk that is full, is moved later, or by the next start.
  void AfterCommit() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  LogKeeper(Database database, Database& writer, SqliteHistory& history);
  // Of the thread, without the lock but while it waits.
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !is_moving_; }
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return is_moving_ || stopping_; }

  // Of the writer.
  Database& writer_;
  SqliteHistory& history_;
  int log_pages_ = 0;  // that the log has since it last began anew
  int move_from_ = 0;  // from so many on it is moved

  Database database_;  // of the thread
  absl::Mutex mu_;
  bool is_moving_ ABSL_GUARDED_BY(mu_) = false;
  bool was_moved_ ABSL_GUARDED_BY(mu_) = false;  // by the thread, since the writer last looked
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
