// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server use SQLite?
//
// The classes of this file own the handles of SQLite, and return its errors as statuses.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// A prepared statement; the index of its first parameter is 1. Not thread-safe.
//
// `Step` returns errors as documented at `Database`. If a `Bind` function has failed to bind a
// value since the last step, `Step` returns that error.
class Statement {
 public:
  Statement() = default;

  Statement& Bind(int index, int64_t value);
  // `BindText` and `BindBlob` do not copy the text or the bytes, which must outlive the next
  // `Step`.
  Statement& BindText(int index, absl::string_view text);
  Statement& BindBlob(int index, absl::string_view bytes);

  // Returns true if the statement has produced a row. Otherwise the statement has ended, and other
  // values can be bound for its next execution.
  absl::StatusOr<bool> Step();
  // Executes a statement that has no rows.
  absl::Status Run();
  // Ends the execution of the statement, even before its last row, and clears the bound values.
  void Reset();

  int64_t Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  // Returns a copy of the text or the bytes of a column.
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
  int bind_error_ = SQLITE_OK;  // first error of a bind function since the last step
};

// A connection to a database. Not thread-safe.
//
// Errors: RESOURCE_EXHAUSTED for a full disk or no memory; UNAVAILABLE for other errors of the
// disk; INTERNAL for all other errors, such as a file that is damaged or is not a database. Never
// DATA_LOSS, which stands for damage of one scene.
class Database {
 public:
  // Opens the database at `path`, and creates it if it is missing. `vfs` is the name of the file
  // system module that SQLite uses, as in sqlite3_open_v2; null: the default one.
  static absl::StatusOr<Database> Open(const std::string& path, const char* vfs = nullptr);

  absl::StatusOr<Statement> Prepare(absl::string_view sql);
  // Executes statements without parameters, and ignores their rows.
  absl::Status Run(const char* sql);

  // Makes SQLite set `pages` to the length of the write-ahead log, in pages, after each commit, and
  // disables automatic checkpoints (copies of the log to the database). `pages` outlives the
  // connection.
  void CountLogPages(int* pages);
  // Checkpoints the log: copies as many of its pages to the database as possible without waiting
  // for other connections.
  absl::Status CheckpointLog();

  // Returns the number of pages that the connection has written since the last call.
  uint64_t TakeWrittenPages() {
    int pages = 0;
    int unused = 0;
    sqlite3_db_status(database_.get(), SQLITE_DBSTATUS_CACHE_WRITE, &pages, &unused, 1);
    return static_cast<uint64_t>(pages);
  }

  // Returns whether no transaction is open. After BEGIN this shows that SQLite has rolled the
  // transaction back, as it does after some errors.
  bool is_transaction_over() const { return sqlite3_get_autocommit(database_.get()) != 0; }

  // Returns the status of the last error.
  absl::Status Error() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace carom::server
