// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When is SQLite's write-ahead log copied to the database (checkpointed)?
//
// SQLite would checkpoint within the commit that makes the log long, so that the client of that
// commit, and the clients whose commits come next, would wait for thousands of writes. A
// `LogKeeper` checkpoints most of the log on a thread of its own, while commits go on. Commits add
// few pages to the log meanwhile. The thread that commits checkpoints these pages between two
// commits, so that SQLite then writes the log from its beginning again.
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

// Checkpoints a write-ahead log (copies its pages to the database file), mostly on a thread of its
// own. Once all pages are copied and no reader uses the log, SQLite restarts the log: the next
// commit writes it from its beginning again.
class LogKeeper {
 public:
  // Begins to checkpoint the write-ahead log of the database at `path`. `writer` is the connection
  // that commits changes, `history` the one that reads old versions; both outlive the keeper. `vfs`
  // and errors as for `Database`.
  static absl::StatusOr<std::unique_ptr<LogKeeper>> Open(const std::string& path, const char* vfs,
                                                         Database& writer, SqliteHistory& history);
  // Waits for the thread to end.
  ~LogKeeper();
  LogKeeper(const LogKeeper&) = delete;
  LogKeeper& operator=(const LogKeeper&) = delete;

  // Checkpoints the log if it is long. The thread that owns the writing connection calls this after
  // each transaction. Pages of the log that cannot be copied to the database, as on a full disk,
  // are copied later, or when the server starts the next time.
  void AfterCommit() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  LogKeeper(Database database, Database& writer, SqliteHistory& history);
  // Runs on `thread_`: checkpoints the log whenever `AfterCommit` sets `is_checkpointing_`. Holds
  // `mu_` only while it waits.
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !is_checkpointing_; }
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return is_checkpointing_ || stopping_; }

  // Only the thread that owns the writing connection uses the next four members.
  Database& writer_;
  SqliteHistory& history_;
  // length of the log after the last commit, in pages; small again after SQLite has restarted the
  // log
  int log_pages_ = 0;
  int checkpoint_from_ = 0;  // value of `log_pages_` from which on the log is checkpointed

  Database database_;  // connection of `thread_`, used only by it
  absl::Mutex mu_;
  bool is_checkpointing_ ABSL_GUARDED_BY(mu_) = false;
  // True after a checkpoint by `thread_`, until `AfterCommit` has checkpointed the pages that
  // commits added meanwhile, or the log is short again.
  bool was_checkpointed_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
