// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are old versions of scenes read from the SQLite file of a store while a writer changes the
// file?
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

// SQL statements that read the record of a version, and the bytes of a page. The connection that
// writes the file and the connection that reads old versions both use these statements.
inline constexpr char kFindVersion[] =
    "SELECT record, checksum FROM versions WHERE version = ?3"
    " AND scene = (SELECT id FROM scenes WHERE tenant = ?1 AND name = ?2)";
inline constexpr char kReadPage[] = "SELECT bytes FROM pages WHERE hash = ?1";

// Returns the hash of the root page of a version's tree of polygons (server/store/page_tree.h).
// OUT_OF_RANGE if the version is not kept; DATA_LOSS if its row is damaged.
absl::StatusOr<PageHash> RootOf(Statement& find_version, absl::string_view name, uint64_t version);
// Returns the bytes of the page with the hash `hash`; DATA_LOSS if the page is missing or damaged.
absl::StatusOr<std::string> ReadPage(Statement& read_page, const PageHash& hash);

// Reads old versions of scenes on a connection of its own to the SQLite file. In WAL mode a read
// uses the file as it was when the read began, and neither waits for the connection that writes nor
// delays it.
//
// One read runs at a time, each on its caller's thread. Because a read may take seconds, the
// caller's task does not count as running on the executor meanwhile. Reads occupy at most one
// processor, however many callers wait. Thread-safe.
class SqliteHistory {
 public:
  // Opens a store's file, in which the tables must exist; `vfs` as for `Database::Open`. All
  // functions return the errors of Database.
  static absl::StatusOr<std::unique_ptr<SqliteHistory>> Open(const std::string& path,
                                                             const char* vfs);

  // `Load` and `Compare` do what the functions of SceneJournal (server/store/scene_journal.h) with
  // these names do.
  absl::Status Load(absl::string_view name, uint64_t version,
                    absl::FunctionRef<absl::Status(Polygon)> visit);
  absl::Status Compare(
      absl::string_view name, uint64_t before, uint64_t after,
      absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit);

  // Runs `work` while no read is running.
  void BetweenReads(absl::FunctionRef<void()> work);

 private:
  explicit SqliteHistory(Database database) : database_(std::move(database)) {}
  // Runs `work` in a transaction, in which all reads use one state of the file.
  absl::Status Read(absl::FunctionRef<absl::Status()> work) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  Database database_ ABSL_GUARDED_BY(mu_);
  Statement begin_ ABSL_GUARDED_BY(mu_);
  Statement end_ ABSL_GUARDED_BY(mu_);
  Statement find_version_ ABSL_GUARDED_BY(mu_);
  Statement read_page_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
