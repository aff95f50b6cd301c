// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Versions and their pages, read from a store's file beside whoever writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "carom/polygon.h"
#include "server/store/page_tree.h"
#include "server/store/sqlite/sqlite.h"

namespace carom::server {

// What reads a version on any connection to the file, prepared of the SQL beside it.
inline constexpr char kFindVersion[] =
    "SELECT record, checksum FROM versions WHERE version = ?3"
    " AND scene = (SELECT id FROM scenes WHERE tenant = ?1 AND name = ?2)";
inline constexpr char kReadPage[] = "SELECT bytes FROM pages WHERE hash = ?1";

// The tree of a version. OUT_OF_RANGE if it is not kept; DATA_LOSS if its row is damaged.
absl::StatusOr<PageHash> RootOf(Statement& find_version, absl::string_view name, uint64_t version);
// A page, as a `PageReader` has it.
absl::StatusOr<std::string> ReadPage(Statement& read_page, const PageHash& hash);

// A connection of its own. In WAL mode it has the file as it was when a read began, and neither
// waits for the connection that writes nor holds it up.
//
// Reads come one after the other, each on the thread of its caller. That thread leaves its place on
// the executor to another one, since a read may take seconds: so reads take one processor at most,
// whoever asks. Thread-safe.
class SqliteHistory {
 public:
  // Of a file whose tables are there; `vfs` as for Database. Errors are those of Database, here and
  // below.
  static absl::StatusOr<std::unique_ptr<SqliteHistory>> Open(const std::string& path,
                                                             const char* vfs);

  // As SceneJournal has them.
  absl::Status Load(absl::string_view name, uint64_t version,
                    absl::FunctionRef<absl::Status(Polygon)> visit);
  absl::Status Compare(
      absl::string_view name, uint64_t before, uint64_t after,
      absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit);

  // Runs `work` while nobody reads.
  void BetweenReads(absl::FunctionRef<void()> work);

 private:
  explicit SqliteHistory(Database database) : database_(std::move(database)) {}
  // Runs `work`, to which the file does not change.
  absl::Status Read(absl::FunctionRef<absl::Status()> work) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  Database database_ ABSL_GUARDED_BY(mu_);
  Statement begin_ ABSL_GUARDED_BY(mu_);
  Statement end_ ABSL_GUARDED_BY(mu_);
  Statement find_version_ ABSL_GUARDED_BY(mu_);
  Statement read_page_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
