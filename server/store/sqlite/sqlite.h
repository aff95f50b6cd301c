// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// SQLite with owners and statuses.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// A statement that is prepared, with its parameters bound from 1 on. Not thread-safe.
//
// Errors are those of `Database`, found by `Step`, also for what was bound.
class Statement {
 public:
  Statement() = default;

  Statement& Bind(int index, int64_t value);
  // `bytes` outlive the next step.
  Statement& BindText(int index, absl::string_view text);
  Statement& BindBlob(int index, absl::string_view bytes);

  // Whether there is a row; else the statement is done and ready for other values.
  absl::StatusOr<bool> Step();
  // A step of a statement without rows.
  absl::Status Run();
  // Ends it before its last row.
  void Reset();

  int64_t Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  // Text or bytes; copied.
  std::string Bytes(int column) const;

 private:
  friend class Database;
  void Note(int bind_result) {
    if (bind_error_ == SQLITE_OK) bind_error_ = bind_result;
  }
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_error_ = SQLITE_OK;  // the first since the last step
};

// A connection. Not thread-safe.
//
// Errors: RESOURCE_EXHAUSTED for a full disk or the end of memory; UNAVAILABLE for others of the
// disk; INTERNAL for the rest, a file that is damaged or no database among them. Never DATA_LOSS,
// which is of one scene.
class Database {
 public:
  // `vfs` as sqlite3_open_v2 takes it.
  static absl::StatusOr<Database> Open(const std::string& path, const char* vfs = nullptr);

  absl::StatusOr<Statement> Prepare(absl::string_view sql);
  // Statements without parameters and rows that matter.
  absl::Status Run(const char* sql);

  // From here on SQLite sets `pages` to what its log has after each commit, and no longer moves the
  // log to the database by itself. `pages` outlives the connection.
  void CountLog(int* pages);
  // Moves what it can of the log to the database, without waiting for anybody.
  absl::Status MoveLog();

  // Whether no transaction is open: some errors roll it back.
  bool is_transaction_over() const { return sqlite3_get_autocommit(database_.get()) != 0; }

  // The status of the last error.
  absl::Status Error() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace carom::server
