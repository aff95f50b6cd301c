// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/sqlite/sqlite_journal.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/store/sqlite/log_check.h"
#include "server/store/version_record.h"
#include "server/transport/executor.h"

namespace carom::server {
namespace {

// Maximum number of jobs (scene changes) in a transaction, so that the first does not wait long.
constexpr size_t kMaxJobs = 256;

// SQL that creates the tables, and migrates them release by release. `refs` counts the versions
// that added a page and have not dropped it; `dropped` has the hashes of pages that the next
// version lacks; `record` is a VersionRecord (server/store/version_record.h).
constexpr const char* kMigrations[] = {
    "CREATE TABLE scenes(id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL,"
    "  UNIQUE(tenant, name));"
    "CREATE TABLE versions(scene INTEGER NOT NULL, version INTEGER NOT NULL, record BLOB NOT NULL,"
    "  checksum BLOB NOT NULL, dropped_bytes INTEGER NOT NULL DEFAULT 0, dropped BLOB,"
    "  PRIMARY KEY(scene, version));"
    "CREATE TABLE pages(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, refs INTEGER NOT NULL,"
    "  bytes BLOB NOT NULL);"
    "CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO counters VALUES('last_version', 0);",
    // Corrects `dropped_bytes`, which counted 4 KiB for each page, to the real sizes of the pages.
    "UPDATE versions SET dropped_bytes = (WITH RECURSIVE at(i) AS (VALUES(1) UNION ALL"
    "  SELECT i + 20 FROM at WHERE i + 20 < length(dropped))"
    "  SELECT coalesce(sum(length(bytes)), 0) FROM at JOIN pages ON hash = substr(dropped, i, 20))"
    " WHERE length(dropped) > 0;",
    // Adds the complement of `last_version`, by which `CheckTables` detects a damaged counter.
    "INSERT INTO counters SELECT 'last_version_complement', -1 - value FROM counters;",
};

absl::string_view BytesOf(const PageHash& hash) { return {hash.data(), hash.size()}; }

std::string FileIn(absl::string_view folder) { return absl::StrCat(folder, "/scenes.sqlite"); }

// Returns an error of one line, even if the message of SQLite has line breaks.
absl::Status CannotUse(absl::string_view folder, const absl::Status& why) {
  return absl::Status(
      why.code(),
      absl::StrReplaceAll(absl::StrCat("the store in ", folder, " cannot be used: ", why.message()),
                          {{"\n", " "}}));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteJournal>> SqliteJournal::Open(
    const SqliteJournalOptions& options) {
  const auto cannot = [&](absl::string_view why) {
    return absl::UnavailableError(absl::StrCat("the store in ", options.folder, " ", why));
  };
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return cannot(absl::StrCat("cannot be made: ", error.message()));
  FileDescriptor lock(open((options.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0) return cannot(absl::StrCat("cannot be opened: ", std::strerror(errno)));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return cannot("is used by another process");
  absl::StatusOr<Database> database = Database::Open(FileIn(options.folder), options.vfs);
  absl::Status status = database.status();
  std::unique_ptr<SqliteJournal> journal;
  if (status.ok()) {
    journal.reset(new SqliteJournal(options, std::move(lock), *std::move(database)));
    status = journal->Prepare();
  }
  if (status.ok()) return journal;
  return CannotUse(options.folder, status);
}

// Returns the number of the last of `kMigrations` that was applied to the file; 0 for a new file.
absl::StatusOr<int64_t> SqliteJournal::Schema() {
  absl::StatusOr<Statement> table = database_.Prepare(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'");
  if (!table.ok()) return table.status();
  absl::StatusOr<bool> row = table->Step();
  if (!row.ok()) return row.status();
  if (table->Int(0) == 0) return 0;
  table->Reset();
  absl::StatusOr<Statement> number =
      database_.Prepare("SELECT coalesce(max(number), 0) FROM migrations");
  if (!number.ok()) return number.status();
  row = number->Step();
  if (!row.ok()) return row.status();
  return number->Int(0);
}

// Runs each migration and records its number in one transaction, so that a migration is atomic.
absl::Status SqliteJournal::Migrate() {
  const absl::StatusOr<int64_t> schema = Schema();
  if (!schema.ok()) return schema.status();
  constexpr auto kLatest = static_cast<int64_t>(std::size(kMigrations));
  if (*schema > kLatest) {
    return absl::FailedPreconditionError(absl::StrCat("it was written by a newer caromd (schema ",
                                                      *schema, ", this one knows ", kLatest, ")"));
  }
  for (int64_t number = *schema; number < kLatest; ++number) {
    const std::string sql = absl::StrCat(
        "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS migrations(number INTEGER PRIMARY KEY,"
        " applied_us INTEGER NOT NULL);",
        kMigrations[number], "INSERT INTO migrations VALUES(", number + 1, ",",
        absl::GetCurrentTimeNanos() / 1000, "); COMMIT;");
    if (absl::Status status = database_.Run(sql.c_str()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Checks the rows and indices of all tables but `pages`: a wrong row would hide a scene or show an
// older version. The checked tables are small compared with `pages`; the bytes of a page are
// checked against the hash of the page when the page is read.
absl::Status SqliteJournal::CheckTables() {
  for (const char* table : {"migrations", "counters", "scenes", "versions"}) {
    absl::StatusOr<Statement> check =
        database_.Prepare(absl::StrCat("PRAGMA integrity_check(", table, ")"));
    if (!check.ok()) return check.status();
    const absl::StatusOr<bool> row = check->Step();
    if (!row.ok()) return row.status();
    if (!*row || check->Bytes(0) != "ok") {
      return absl::InternalError(absl::StrCat("the table ", table, " is damaged"));
    }
  }
  absl::StatusOr<Statement> counter = database_.Prepare(
      "SELECT a.value FROM counters AS a, counters AS b WHERE a.name = 'last_version'"
      " AND b.name = 'last_version_complement' AND a.value >= 0 AND b.value = -1 - a.value");
  if (!counter.ok()) return counter.status();
  const absl::StatusOr<bool> row = counter->Step();
  if (row.ok() && !*row) return absl::InternalError("the counter of versions is damaged");
  if (!row.ok()) return row.status();
  last_version_ = static_cast<uint64_t>(counter->Int(0));
  return absl::OkStatus();
}

// A commit waits only for the sync of the log. SQLite copies the log to the database in
// checkpoints, and orders their syncs itself. A later commit shortens a log above the size limit.
//
// While a job runs, SQLite keeps in memory (`temp_store`) the earlier content of the pages that the
// job changes: a folder for temporary files may be missing, as in the container image. With
// `secure_delete`, Debian's default, it would keep freed pages, too; without it, an import that
// frees 40 MB of pages takes 0.5 MB of memory.
absl::Status SqliteJournal::Prepare() {
  absl::Status status = CheckLog(FileIn(options_.folder) + "-wal");
  if (!status.ok()) return status;
  status = database_.Run(
      "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "PRAGMA foreign_keys = OFF; PRAGMA secure_delete = OFF; PRAGMA cache_size = -16384;"
      "PRAGMA journal_size_limit = 8388608;");
  if (status.ok()) status = Migrate();
  if (status.ok()) status = CheckTables();
  if (!status.ok()) return status;
  const std::pair<Statement*, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&rollback_, "ROLLBACK"},
      {&begin_job_, "SAVEPOINT job"},
      {&end_job_, "RELEASE job"},
      {&undo_job_, "ROLLBACK TO job"},
      {&read_page_, kReadPage},
      // Overwrites the bytes of a page that exists, because they may be damaged.
      {&add_page_,
       "INSERT INTO pages(hash, refs, bytes) VALUES(?1, 1, ?2)"
       " ON CONFLICT(hash) DO UPDATE SET refs = refs + 1, bytes = excluded.bytes"},
      {&page_size_, "SELECT length(bytes) FROM pages WHERE hash = ?1"},
      {&drop_page_, "DELETE FROM pages WHERE hash = ?1 AND refs <= 1 RETURNING 1"},
      {&retain_page_, "UPDATE pages SET refs = refs + 1 WHERE hash = ?1"},
      {&release_page_, "UPDATE pages SET refs = refs - 1 WHERE hash = ?1"},
      {&add_scene_, "INSERT INTO scenes(tenant, name) VALUES(?1, ?2) RETURNING id"},
      {&delete_scene_, "DELETE FROM scenes WHERE id = ?1"},
      {&add_version_,
       "INSERT INTO versions(scene, version, record, checksum) VALUES(?1, ?2, ?3, ?4)"},
      {&read_versions_,
       "SELECT version, record, checksum, dropped, dropped_bytes, dropped IS NULL FROM versions"
       " WHERE scene = ?1 ORDER BY version"},
      {&find_version_, kFindVersion},
      {&drop_version_, "DELETE FROM versions WHERE scene = ?1 AND version = ?2"},
      {&oldest_version_,
       "SELECT version, dropped_bytes, dropped FROM versions WHERE scene = ?1"
       " ORDER BY version LIMIT 1"},
      {&set_dropped_,
       "UPDATE versions SET dropped_bytes = ?3, dropped = ?4 WHERE scene = ?1 AND version = ?2"},
      {&delete_versions_, "DELETE FROM versions WHERE scene = ?1"},
      {&set_last_version_,
       "UPDATE counters SET value = CASE name WHEN 'last_version' THEN max(value, ?1)"
       " ELSE min(value, -1 - ?1) END"},
  };
  for (const auto& [statement, sql] : statements) {
    absl::StatusOr<Statement> prepared = database_.Prepare(sql);
    if (!prepared.ok()) return prepared.status();
    *statement = *std::move(prepared);
    statements_.push_back(statement);
  }
  return OpenConnections();
}

// Opens the connection that reads old versions, and the one that checkpoints the log.
absl::Status SqliteJournal::OpenConnections() {
  absl::StatusOr<std::unique_ptr<SqliteHistory>> history =
      SqliteHistory::Open(FileIn(options_.folder), options_.vfs);
  if (!history.ok()) return history.status();
  history_ = *std::move(history);
  absl::StatusOr<std::unique_ptr<LogKeeper>> log =
      LogKeeper::Open(FileIn(options_.folder), options_.vfs, database_, *history_);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  return absl::OkStatus();
}

// --- Reading ------------------------------------------------------------------------------------

// The current version is the row whose `dropped` is NULL. If that row is missing, the scene is
// damaged, because the last remaining row is an older version.
absl::Status SqliteJournal::RecoverVersions(int64_t id, SavedScene& scene, Current& current) {
  absl::StatusOr<bool> row = read_versions_.Bind(1, id).Step();
  bool follows_damage = false, is_current = false;
  for (; row.ok() && *row; row = read_versions_.Step()) {
    VersionSummary summary;
    current.version = static_cast<uint64_t>(read_versions_.Int(0));
    scene.status =
        ReadRow(scene.name, current.version, {read_versions_.Bytes(1), read_versions_.Bytes(2)},
                summary, current.root);
    // Leaves a damaged version out of `scene.versions`: if it is not current, only WatchScene calls
    // need it.
    is_current = read_versions_.Int(5) != 0;
    ++current.versions;
    current.history_bytes += static_cast<uint64_t>(read_versions_.Int(4));
    summary.follows_damage = std::exchange(follows_damage, !scene.status.ok());
    if (scene.status.ok()) scene.versions.push_back(std::move(summary));
  }
  if (!is_current) {
    current.version = 0;
    scene.status = DamagedScene("its current version is missing");
  }
  return row.status();
}

// Reports damage of the scene in `SavedScene::status`; fails only for errors of the whole file.
absl::StatusOr<SavedScene> SqliteJournal::RecoverScene(int64_t id, const std::string& name) {
  SavedScene scene;
  scene.name = name;
  Current& current = scenes_[name];
  current.id = id;
  if (absl::Status status = RecoverVersions(id, scene, current); !status.ok()) return status;
  if (!scene.status.ok()) {
    current.root = {};  // `RecoverVersions` leaves the root of the preceding version
    return scene;
  }
  const auto read = [this](const PageHash& hash) { return ReadPage(read_page_, hash); };
  scene.status = ReadTree(current.root, read, [&](Polygon polygon) {
    scene.polygons.push_back(std::move(polygon));
    return absl::OkStatus();
  });
  if (scene.status.ok()) return scene;
  // An error other than DATA_LOSS, such as a failed read, may be temporary, and is not damage.
  if (!absl::IsDataLoss(scene.status)) return scene.status;
  scene.polygons = {};
  return scene;
}

absl::Status SqliteJournal::RecoverScenes(absl::FunctionRef<void(SavedScene)> visit) {
  auto names = database_.Prepare("SELECT id, tenant, name FROM scenes ORDER BY tenant, name");
  if (!names.ok()) return names.status();
  absl::StatusOr<bool> row = names->Step();
  for (; row.ok() && *row; row = names->Step()) {
    auto scene = RecoverScene(names->Int(0), SceneKey(names->Bytes(1), names->Bytes(2)));
    if (!scene.ok()) return scene.status();  // an error of the file as a whole
    visit(*std::move(scene));
  }
  return row.status();
}

absl::Status SqliteJournal::Recover(absl::FunctionRef<void(SavedScene)> visit) {
  if (absl::Status status = RecoverScenes(visit); !status.ok()) {
    return CannotUse(options_.folder, status);
  }
  return absl::OkStatus();
}

// --- Writing ------------------------------------------------------------------------------------

absl::Status SqliteJournal::AddPage(const Page& page) {
  return add_page_.BindBlob(1, BytesOf(page.hash)).BindBlob(2, page.bytes).Run();
}

absl::Status SqliteJournal::DropPage(const PageHash& hash) {
  const absl::StatusOr<bool> is_deleted = drop_page_.BindBlob(1, BytesOf(hash)).Step();
  if (!is_deleted.ok()) return is_deleted.status();
  if (!*is_deleted) return release_page_.BindBlob(1, BytesOf(hash)).Run();
  drop_page_.Reset();
  return absl::OkStatus();
}

// Removes one reference to each page in `hashes`, concatenated hashes as in the column `dropped`.
absl::Status SqliteJournal::DropPages(absl::string_view hashes) {
  PageHash hash;
  for (; hashes.size() >= hash.size(); hashes.remove_prefix(hash.size())) {
    std::memcpy(hash.data(), hashes.data(), hash.size());
    if (absl::Status status = DropPage(hash); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Returns the pages of a tree, without those below a damaged page: they stay in the file.
absl::StatusOr<std::vector<PageHash>> SqliteJournal::PagesToDrop(const PageHash& root) {
  std::vector<PageHash> pages;
  const auto read = [this](const PageHash& hash) { return ReadPage(read_page_, hash); };
  const absl::Status status = CollectPages(root, read, pages);
  if (status.ok() || absl::IsDataLoss(status)) return pages;
  return status;
}

absl::StatusOr<SqliteJournal::Current> SqliteJournal::FindOrAdd(absl::string_view name) {
  const auto known = scenes_.find(name);
  if (known != scenes_.end()) return known->second;
  const auto row = add_scene_.BindText(1, TenantOfKey(name)).BindText(2, NameOfKey(name)).Step();
  if (!row.ok()) return row.status();
  const Current added{.id = add_scene_.Int(0)};
  add_scene_.Reset();
  return added;
}

absl::Status SqliteJournal::WriteDropped(Current& current, const std::vector<PageHash>& dropped) {
  std::string hashes;
  int64_t bytes = 0;
  for (const PageHash& hash : dropped) {
    hashes.append(hash.data(), hash.size());
    const absl::StatusOr<bool> row = page_size_.BindBlob(1, BytesOf(hash)).Step();
    if (!row.ok()) return row.status();
    if (!*row) continue;  // the page is missing: the tree is damaged
    bytes += page_size_.Int(0);
    page_size_.Reset();
  }
  current.history_bytes += static_cast<uint64_t>(bytes);
  return set_dropped_.Bind(1, current.id)
      .Bind(2, static_cast<int64_t>(current.version))
      .Bind(3, bytes)
      .BindBlob(4, hashes)
      .Run();
}

// Deletes the oldest versions first, but never the current one. The pages in `dropped` of a deleted
// version, which the next version does not have, lose one reference each.
absl::StatusOr<uint64_t> SqliteJournal::Prune(Current& current) {
  for (;; --current.versions) {
    const absl::StatusOr<bool> row = oldest_version_.Bind(1, current.id).Step();
    if (!row.ok()) return row.status();
    const auto oldest = static_cast<uint64_t>(oldest_version_.Int(0));
    const auto oldest_bytes = static_cast<uint64_t>(oldest_version_.Int(1));
    const std::string dropped = oldest_version_.Bytes(2);
    oldest_version_.Reset();
    const bool fits = current.versions <= options_.history_versions &&
                      current.history_bytes <= options_.history_bytes;
    if (oldest == current.version || fits) return oldest;
    current.history_bytes -= std::min(current.history_bytes, oldest_bytes);
    absl::Status status = DropPages(dropped);
    if (status.ok()) {
      status = drop_version_.Bind(1, current.id).Bind(2, static_cast<int64_t>(oldest)).Run();
    }
    if (!status.ok()) return status;
  }
}

// Writes `change.added`, the preceding version's `dropped`, the version's row, and the counter.
absl::StatusOr<uint64_t> SqliteJournal::Write(absl::string_view name, const TreeChange& change,
                                              const VersionSummary& summary) {
  absl::StatusOr<Current> current = FindOrAdd(name);
  if (!current.ok()) return current.status();
  for (const Page& page : change.added) {
    if (absl::Status status = AddPage(page); !status.ok()) return status;
  }
  absl::Status status = absl::OkStatus();
  if (current->version != 0) status = WriteDropped(*current, change.dropped);
  const VersionRow record = MakeRow(name, summary, change.root);
  if (status.ok()) {
    status = add_version_.Bind(1, current->id)
                 .Bind(2, static_cast<int64_t>(summary.version))
                 .BindBlob(3, record.bytes)
                 .BindBlob(4, record.checksum)
                 .Run();
  }
  if (status.ok()) status = set_last_version_.Bind(1, static_cast<int64_t>(summary.version)).Run();
  if (!status.ok()) return status;
  current->version = summary.version;
  current->root = change.root;
  ++current->versions;
  absl::StatusOr<uint64_t> oldest = Prune(*current);
  running_->name = std::string(name);
  running_->after = *current;
  return oldest;
}

absl::StatusOr<WriteResult> SqliteJournal::RunWrite(absl::string_view name,
                                                    const VersionSummary& summary,
                                                    TreeChange& change, Work make) {
  uint64_t oldest = 0;
  const absl::Status status = Run([&]() -> absl::Status {
    if (absl::Status made = make(); !made.ok()) return made;
    const absl::StatusOr<uint64_t> kept = Write(name, change, summary);
    if (kept.ok()) oldest = *kept;
    return kept.status();
  });
  if (!status.ok()) return status;
  return WriteResult{.version = summary.version, .oldest = oldest};
}

absl::StatusOr<WriteResult> SqliteJournal::Replace(absl::string_view name, const Scene& scene,
                                                   const VersionSummary& summary) {
  std::vector<const Polygon*> polygons(scene.polygon_count());
  for (size_t i = 0; i < polygons.size(); ++i) polygons[i] = &scene.polygon(i);
  // Builds the tree on the caller's thread, while another thread may use the connection.
  TreeChange change = BuildTree(polygons);
  return RunWrite(name, summary, change, [&]() -> absl::Status {
    const auto known = scenes_.find(name);
    if (known == scenes_.end()) return absl::OkStatus();
    absl::StatusOr<std::vector<PageHash>> dropped = PagesToDrop(known->second.root);
    if (!dropped.ok()) return dropped.status();
    change.dropped = *std::move(dropped);
    return absl::OkStatus();
  });
}

absl::StatusOr<WriteResult> SqliteJournal::Edit(absl::string_view name,
                                                absl::Span<const SceneEdit> edits,
                                                const VersionSummary& summary) {
  TreeEdits by_id;
  for (const SceneEdit& edit : edits) {
    if (const auto* add = std::get_if<AddPolygon>(&edit)) {
      by_id[add->polygon.id()] = &add->polygon;
    } else if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) {
      by_id[replace->polygon.id()] = &replace->polygon;
    } else {
      by_id[std::get<RemovePolygon>(edit).id] = nullptr;
    }
  }
  TreeChange change;
  return RunWrite(name, summary, change, [&]() -> absl::Status {
    const auto read = [this](const PageHash& hash) { return ReadPage(read_page_, hash); };
    absl::StatusOr<TreeChange> edited = EditTree(scenes_.at(name).root, by_id, read);
    if (!edited.ok()) return edited.status();
    change = *std::move(edited);
    return absl::OkStatus();
  });
}

// Each page of version `version` gains a reference. Each page of the current version is listed in
// `dropped` of that version, and loses a reference when that version is deleted.
absl::StatusOr<WriteResult> SqliteJournal::Restore(absl::string_view name, uint64_t version,
                                                   const VersionSummary& summary) {
  TreeChange change;
  return RunWrite(name, summary, change, [&]() -> absl::Status {
    const absl::StatusOr<PageHash> root = RootOf(find_version_, name, version);
    if (!root.ok()) return root.status();
    change.root = *root;
    absl::StatusOr<std::vector<PageHash>> dropped = PagesToDrop(scenes_.at(name).root);
    if (!dropped.ok()) return dropped.status();
    change.dropped = *std::move(dropped);
    std::vector<PageHash> pages;
    const auto read = [this](const PageHash& hash) { return ReadPage(read_page_, hash); };
    if (absl::Status status = CollectPages(*root, read, pages); !status.ok()) return status;
    for (const PageHash& hash : pages) {
      if (absl::Status status = retain_page_.BindBlob(1, BytesOf(hash)).Run(); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  });
}

// Removes one reference to each page of the current version, and to each in `dropped` of others.
absl::Status SqliteJournal::Delete(absl::string_view name) {
  return Run([&]() -> absl::Status {
    const Current& current = scenes_.at(name);
    const absl::StatusOr<std::vector<PageHash>> pages = PagesToDrop(current.root);
    absl::Status status = pages.status();
    if (!status.ok()) return status;
    for (const PageHash& hash : *pages) {
      if (status.ok()) status = DropPage(hash);
    }
    std::string dropped;
    absl::StatusOr<bool> row = read_versions_.Bind(1, current.id).Step();
    for (; row.ok() && *row; row = read_versions_.Step()) dropped += read_versions_.Bytes(3);
    status.Update(row.status());
    if (status.ok()) status = DropPages(dropped);
    if (status.ok()) status = delete_versions_.Bind(1, current.id).Run();
    if (status.ok()) status = delete_scene_.Bind(1, current.id).Run();
    running_->name = std::string(name);
    running_->deletes = true;
    return status;
  });
}

// --- Transactions -------------------------------------------------------------------------------

// The first writer that finds the connection free takes it and runs all queued jobs.
absl::Status SqliteJournal::Run(Work work) {
  Job job{.work = work};
  const Executor::Blocked blocked;
  absl::MutexLock lock(&mu_);
  jobs_.push_back(&job);
  job.is_busy = &is_busy_;
  const auto is_done_or_free = +[](Job* waiting) { return waiting->is_done || !*waiting->is_busy; };
  while (!job.is_done) {
    mu_.Await(absl::Condition(is_done_or_free, &job));
    if (!job.is_done) RunQueue();
  }
  return job.status;
}

// While one transaction is synced, jobs queue up for the next one. If a job runs out of memory,
// only it fails (`RunJob`). Storing a committed result in `scenes_` must not fail, hence noexcept:
// if memory runs out, the process ends, and the next start reads the version from the file.
void SqliteJournal::RunQueue() noexcept {
  is_busy_ = true;
  const size_t count = std::min(jobs_.size(), kMaxJobs);
  std::array<Job*, kMaxJobs> taken;
  std::copy_n(jobs_.begin(), count, taken.begin());
  const absl::Span<Job* const> jobs(taken.data(), count);
  jobs_.erase(jobs_.begin(), jobs_.begin() + count);
  mu_.Unlock();
  RunJobs(jobs);
  mu_.Lock();
  // Marks the jobs as done before it shortens the log, because shortening may wait for a reader.
  for (Job* job : jobs) job->is_done = true;
  mu_.Unlock();
  log_->AfterCommit();
  mu_.Lock();
  is_busy_ = false;
}

// If the transaction of all jobs fails, as on a disk error, runs each job in one of its own.
void SqliteJournal::RunJobs(absl::Span<Job* const> jobs) {
  if (absl::Status status = RunTogether(jobs); status.ok()) return;
  if (jobs.size() == 1) return;
  for (size_t i = 0; i < jobs.size(); ++i) RunTogether(jobs.subspan(i, 1)).IgnoreError();
}

absl::Status SqliteJournal::RunTogether(absl::Span<Job* const> jobs) {
  absl::Status all = begin_.Run();
  for (Job* job : jobs) {
    if (all.ok()) all = RunJob(*job, jobs.size() == 1);
  }
  if (all.ok()) all = Commit(jobs.size());
  // After some errors SQLite has already rolled the transaction back.
  if (!all.ok()) rollback_.Run().IgnoreError();
  for (Job* job : jobs) {
    if (!all.ok()) job->status = all;
    if (!job->status.ok() || job->name.empty()) continue;
    if (job->deletes) {
      scenes_.erase(job->name);
    } else {
      scenes_[job->name] = job->after;
    }
  }
  return all;
}

// Returns only errors that end the transaction of all jobs. Undoes a job that fails otherwise.
absl::Status SqliteJournal::RunJob(Job& job, bool is_alone) {
  if (!is_alone) {
    if (absl::Status status = begin_job_.Run(); !status.ok()) return status;
  }
  running_ = &job;
  try {
    job.status = job.work();
  } catch (const std::bad_alloc&) {
    job.status = OutOfMemory();
    for (Statement* statement : statements_) statement->Reset();
  }
  running_ = nullptr;
  // If SQLite has rolled the transaction back, later statements would run outside of it.
  if (database_.is_transaction_over()) {
    return job.status.ok() ? absl::UnavailableError("the store's file: a transaction was lost")
                           : job.status;
  }
  if (is_alone) return job.status;
  if (!job.status.ok()) {
    if (absl::Status status = undo_job_.Run(); !status.ok()) return status;
  }
  return end_job_.Run();
}

}  // namespace carom::server
