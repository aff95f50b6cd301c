// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// When is SQLite's write-ahead log copied to the database (checkpointed)?
//
// SQLite would checkpoint within the commit that makes the log long, so that the client of the
// commit, and the clients behind it, would wait for thousands of writes. A `LogKeeper` checkpoints
// most of the log on a thread of its own, while commits go on. Commits add few pages meanwhile; the
// writer checkpoints those pages between two commits, so that SQLite writes the log from its start
// again.
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
  // each transaction. Pages that cannot be copied, as on a full disk, are copied later or by the
  // next start.
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
  // length of the log after the last commit, in pages; the log restarts at its beginning now and
  // then
  int log_pages_ = 0;
  int checkpoint_from_ = 0;  // value of `log_pages_` from which on to checkpoint

  Database database_;  // connection of `thread_`, used only by it
  absl::Mutex mu_;
  bool is_checkpointing_ ABSL_GUARDED_BY(mu_) = false;
  // True after a checkpoint of the thread, until `AfterCommit` has checkpointed the pages that
  // commits added meanwhile, or the log is short again.
  bool was_checkpointed_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
