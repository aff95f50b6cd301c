// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/sqlite/sqlite_history.h"

#include <new>
#include <utility>

#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/store/version_record.h"
#include "server/transport/executor.h"

namespace carom::server {

absl::StatusOr<PageHash> RootOf(Statement& find_version, absl::string_view name, uint64_t version) {
  const absl::StatusOr<bool> row = find_version.BindText(1, TenantOfKey(name))
                                       .BindText(2, NameOfKey(name))
                                       .Bind(3, static_cast<int64_t>(version))
                                       .Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::OutOfRangeError("the version is not kept");
  VersionSummary summary;
  PageHash root;
  const absl::Status status =
      ReadRow(name, version, {find_version.Bytes(0), find_version.Bytes(1)}, summary, root);
  find_version.Reset();
  if (!status.ok()) return status;
  return root;
}

// Returns DATA_LOSS for a page that is missing or does not match its hash.
absl::StatusOr<std::string> ReadPage(Statement& read_page, const PageHash& hash) {
  const absl::StatusOr<bool> row = read_page.BindBlob(1, {hash.data(), hash.size()}).Step();
  if (!row.ok()) return row.status();
  if (!*row) return DamagedScene("a page is missing");
  std::string bytes = read_page.Bytes(0);
  read_page.Reset();
  if (absl::Status status = CheckPage(hash, bytes); !status.ok()) return status;
  return bytes;
}

// Opens a connection that cannot write, and prepares its statements.
absl::StatusOr<std::unique_ptr<SqliteHistory>> SqliteHistory::Open(const std::string& path,
                                                                   const char* vfs) {
  absl::StatusOr<Database> database = Database::Open(path, vfs);
  if (!database.ok()) return database.status();
  absl::Status status = database->Run("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;");
  if (!status.ok()) return status;
  std::unique_ptr<SqliteHistory> history(new SqliteHistory(*std::move(database)));
  absl::MutexLock lock(&history->mu_);
  const std::pair<Statement*, const char*> statements[] = {
      {&history->begin_, "BEGIN"},
      {&history->end_, "COMMIT"},
      {&history->find_version_, kFindVersion},
      {&history->read_page_, kReadPage},
  };
  for (const auto& [statement, sql] : statements) {
    absl::StatusOr<Statement> prepared = history->database_.Prepare(sql);
    if (!prepared.ok()) return prepared.status();
    *statement = *std::move(prepared);
  }
  return history;
}

// Uses one transaction for all pages that `work` reads, so that `work` reads one state of the file,
// whatever the writer commits meanwhile.
absl::Status SqliteHistory::Read(absl::FunctionRef<absl::Status()> work) {
  const Executor::Blocked blocked;
  absl::MutexLock lock(&mu_);
  absl::Status status = begin_.Run();
  if (!status.ok()) return status;
  try {
    status = work();
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
    find_version_.Reset();
    read_page_.Reset();
  }
  // After some errors SQLite has already ended the transaction, and COMMIT fails, too; `Update`
  // keeps the first error.
  status.Update(end_.Run());
  return status;
}

absl::Status SqliteHistory::Load(absl::string_view name, uint64_t version,
                                 absl::FunctionRef<absl::Status(Polygon)> visit) {
  return Read([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
    const absl::StatusOr<PageHash> root = RootOf(find_version_, name, version);
    if (!root.ok()) return root.status();
    const auto read = [this](const PageHash& hash)
                          ABSL_NO_THREAD_SAFETY_ANALYSIS { return ReadPage(read_page_, hash); };
    return ReadTree(*root, read, visit);
  });
}

absl::Status SqliteHistory::Compare(
    absl::string_view name, uint64_t before, uint64_t after,
    absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) {
  return Read([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
    const absl::StatusOr<PageHash> root_before = RootOf(find_version_, name, before);
    if (!root_before.ok()) return root_before.status();
    const absl::StatusOr<PageHash> root_after = RootOf(find_version_, name, after);
    if (!root_after.ok()) return root_after.status();
    const auto read = [this](const PageHash& hash)
                          ABSL_NO_THREAD_SAFETY_ANALYSIS { return ReadPage(read_page_, hash); };
    return CompareTrees(*root_before, *root_after, read, visit);
  });
}

// Holds `mu_`, which every `Read` holds, so no read of old versions runs or begins meanwhile.
void SqliteHistory::BetweenReads(absl::FunctionRef<void()> work) {
  absl::MutexLock lock(&mu_);
  work();
}

}  // namespace carom::server
