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
  // Begins to checkpoint the log of `writer`, a connection to the file at `path` in WAL mode;
  // `history` reads the log. Both outlive the keeper. `vfs` and errors as for Database.
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
  // The body of the thread; holds the lock only while it waits.
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !is_checkpointing_; }
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return is_checkpointing_ || stopping_; }

  // The members below are used only by the writer.
  Database& writer_;
  SqliteHistory& history_;
  int log_pages_ = 0;        // length of the log since it last began anew
  int checkpoint_from_ = 0;  // length from which on the log is checkpointed

  Database database_;  // used only by the thread
  absl::Mutex mu_;
  bool is_checkpointing_ ABSL_GUARDED_BY(mu_) = false;
  // The thread has run a checkpoint since the last `AfterCommit`.
  bool was_checkpointed_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
