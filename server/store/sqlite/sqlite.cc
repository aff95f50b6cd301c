// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/sqlite/sqlite.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace carom::server {
namespace {

// Returns the status code for an extended result code of SQLite, which has the primary result code
// in its low byte, and for `errno`, which may give the cause of a failed write.
absl::StatusCode CodeOf(int error, int system_error) {
  switch (error & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_IOERR:
      // A write that extends the log can report a full disk as a failed write.
      return system_error == ENOSPC || system_error == EDQUOT ? absl::StatusCode::kResourceExhausted
                                                              : absl::StatusCode::kUnavailable;
    case SQLITE_BUSY:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status ErrorOf(sqlite3* database) {
  const int error = sqlite3_extended_errcode(database);
  const int system_error = sqlite3_system_errno(database);
  return {CodeOf(error, system_error),
          absl::StrCat("the store's file: ", sqlite3_errmsg(database))};
}

}  // namespace

Statement& Statement::Bind(int index, int64_t value) {
  Note(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

// If the value cannot be bound, `Step` returns the error.
Statement& Statement::BindText(int index, absl::string_view text) {
  Note(sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_STATIC,
                           SQLITE_UTF8));
  return *this;
}

Statement& Statement::BindBlob(int index, absl::string_view bytes) {
  Note(sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

absl::StatusOr<bool> Statement::Step() {
  if (const int error = std::exchange(bind_error_, SQLITE_OK); error != SQLITE_OK) {
    Reset();
    return absl::Status(CodeOf(error, 0),
                        absl::StrCat("the store's file: ", sqlite3_errstr(error)));
  }
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  absl::Status status = absl::OkStatus();
  if (result != SQLITE_DONE) status = ErrorOf(sqlite3_db_handle(statement_.get()));
  Reset();
  if (!status.ok()) return status;
  return false;
}

absl::Status Statement::Run() {
  const absl::StatusOr<bool> row = Step();
  if (row.ok() && *row) Reset();
  return row.status();
}

// Clears the bound values, too, because the caller may free their bytes before the next step, and
// SQLite has no copy of them.
void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::string Statement::Bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? "" : std::string(static_cast<const char*>(bytes), size);
}

absl::StatusOr<Database> Database::Open(const std::string& path, const char* vfs) {
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(
      path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, vfs);
  Database database;
  database.database_.reset(opened);
  if (result != SQLITE_OK) return database.Error();
  sqlite3_extended_result_codes(opened, 1);
  return database;
}

absl::StatusOr<Statement> Database::Prepare(absl::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int result = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (result != SQLITE_OK) return Error();
  Statement statement;
  statement.statement_.reset(prepared);
  return statement;
}

absl::Status Database::Run(const char* sql) {
  return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK
             ? absl::OkStatus()
             : Error();
}

// Replaces SQLite's own hook after commits, which would checkpoint the log as a part of the commit.
void Database::CountLogPages(int* pages) {
  const auto count = +[](void* counter, sqlite3*, const char*, int log_pages) {
    *static_cast<int*>(counter) = log_pages;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(database_.get(), count, pages);
}

absl::Status Database::CheckpointLog() {
  const int result = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                               nullptr, nullptr);
  return result == SQLITE_OK ? absl::OkStatus() : Error();
}

absl::Status Database::Error() const {
  return database_ == nullptr ? absl::ResourceExhaustedError("the store's file: out of memory")
                              : ErrorOf(database_.get());
}

}  // namespace carom::server
