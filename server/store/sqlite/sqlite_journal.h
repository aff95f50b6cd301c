// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are scenes stored in an SQLite file?
//
// One writer at a time owns the connection. In one transaction, it runs its own job (a change of a
// scene) and the jobs that other writers have queued, so that all these jobs share one sync of the
// disk (WAL, synchronous=FULL); a writer that is alone waits for no other thread. A job that fails
// undoes only its own changes. Another connection reads old versions
// (server/store/sqlite/sqlite_history.h). The tables are in server/store/sqlite/sqlite_journal.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/base/file_descriptor.h"
#include "server/base/metrics.h"
#include "server/store/page_tree.h"
#include "server/store/scene_journal.h"
#include "server/store/sqlite/log_keeper.h"
#include "server/store/sqlite/sqlite.h"
#include "server/store/sqlite/sqlite_history.h"

namespace carom::server {

struct SqliteJournalOptions {
  std::string folder;
  // The limits of the history of a scene: `history_versions` is the number of kept versions,
  // including the current one; `history_bytes` the bytes of pages that older versions have and the
  // current version does not have.
  size_t history_versions = 64;
  uint64_t history_bytes = 64u << 20;
  const char* vfs = nullptr;  // SQLite's file system, for tests; null: the default one
};

// A `SceneJournal` in an SQLite file. The polygons of a version are stored as a tree of pages
// (server/store/page_tree.h); versions share pages, and each page has a count of references. The
// history of a scene is the versions that the file keeps of it. A job is one change of a scene; the
// jobs of several writers may share a transaction. A writer that runs a transaction owns the
// connection to the file meanwhile.
class SqliteJournal final : public SceneJournal {
 public:
  // Opens the store in a folder. Creates the folder and the file if they are missing, and migrates
  // tables of an older release.
  //
  // The message of an error is one line. Errors: UNAVAILABLE for a folder that cannot be written,
  // or that another process uses; INTERNAL for a file that is damaged; FAILED_PRECONDITION for a
  // file of a newer release.
  static absl::StatusOr<std::unique_ptr<SqliteJournal>> Open(const SqliteJournalOptions& options);

  // Returns the errors of `Open`.
  absl::Status Recover(absl::FunctionRef<void(SavedScene)> visit) override;
  uint64_t last_version() const override { return last_version_; }
  void set_metrics(Metrics& metrics) override { metrics_ = &metrics; }
  absl::StatusOr<WriteResult> Replace(absl::string_view name, const Scene& scene,
                                      const VersionSummary& summary) override;
  absl::StatusOr<WriteResult> Edit(absl::string_view name, absl::Span<const SceneEdit> edits,
                                   const VersionSummary& summary) override;
  absl::StatusOr<WriteResult> Restore(absl::string_view name, uint64_t version,
                                      const VersionSummary& summary) override;
  absl::Status Delete(absl::string_view name) override;
  absl::Status Load(absl::string_view name, uint64_t version,
                    absl::FunctionRef<absl::Status(Polygon)> visit) override {
    return history_->Load(name, version, visit);
  }
  absl::Status Compare(
      absl::string_view name, uint64_t before, uint64_t after,
      absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) override {
    return history_->Compare(name, before, after, visit);
  }

 private:
  // What the journal keeps in memory of a scene: the id of its row in the table `scenes`, its
  // current version, and the size of its history.
  struct Current {
    int64_t id = 0;
    // number of the current version; 0: the scene has no version yet, or the row of its current
    // version is missing
    uint64_t version = 0;
    PageHash root = {};
    uint64_t versions = 0;       // number of versions, including the current one
    uint64_t history_bytes = 0;  // bytes of pages that only older versions have
  };
  // Function that makes the changes of a job (one change of a scene), within a transaction. If a
  // transaction of several jobs fails, each job's function is called again, in a transaction of its
  // own.
  using Work = absl::FunctionRef<absl::Status()>;
  struct Job {
    Work work;
    absl::Status status = {};
    bool is_done = false;
    // points to `SqliteJournal::is_busy_`, for the wait condition in `Run`, which gets only the job
    const bool* is_busy = nullptr;
    // The result of `work`: `after` is the current version of the scene `name`, or `deletes` is
    // true if the scene was deleted. Stored in `scenes_` once the transaction is durable.
    std::string name = {};
    Current after = {};
    bool deletes = false;
  };

  SqliteJournal(const SqliteJournalOptions& options, FileDescriptor lock, Database database)
      : options_(options), lock_(std::move(lock)), database_(std::move(database)) {}

  // --- Called only by the writer that owns the connection, and by `Open` ---
  absl::Status Prepare();
  absl::Status OpenConnections();
  absl::Status Migrate();
  absl::StatusOr<int64_t> Schema();
  // Checks the tables that list scenes and versions, and sets `last_version_` from the stored
  // counter.
  absl::Status CheckTables();
  absl::StatusOr<SavedScene> RecoverScene(int64_t id, const std::string& name);
  absl::Status RecoverVersions(int64_t id, SavedScene& scene, Current& current);
  absl::Status RecoverScenes(absl::FunctionRef<void(SavedScene)> visit);
  // Stores the tree `change` as the current version of a scene, with the summary `summary`, and
  // prunes the scene's history. Returns the number of the oldest version that is kept.
  absl::StatusOr<uint64_t> Write(absl::string_view name, const TreeChange& change,
                                 const VersionSummary& summary);
  absl::StatusOr<Current> FindOrAdd(absl::string_view name);
  absl::Status WriteDropped(Current& current, const std::vector<PageHash>& dropped);
  // Deletes old versions that exceed the limits of the history. Returns the number of the oldest
  // version that is kept.
  absl::StatusOr<uint64_t> Prune(Current& current);
  absl::Status AddPage(const Page& page);
  // Removes one reference to a page, and deletes the page if no reference is left.
  absl::Status DropPage(const PageHash& hash);
  absl::Status DropPages(absl::string_view hashes);
  absl::StatusOr<std::vector<PageHash>> PagesToDrop(const PageHash& root);
  // Runs jobs as one transaction, or each as its own if the transaction fails.
  void RunJobs(absl::Span<Job* const> jobs);
  // Runs jobs as one transaction. Returns an error if the transaction as a whole fails; the error
  // is then the status of all its jobs.
  absl::Status RunTogether(absl::Span<Job* const> jobs);
  // Runs one job. `is_alone`: it is the only job of its transaction, so that no savepoint is needed
  // to undo its changes.
  absl::Status RunJob(Job& job, bool is_alone);

  // --- Called on any thread --- Runs `work` as a part of a transaction, on this thread or on that
  // of another writer. Returns once the transaction is durable.
  absl::Status Run(Work work);
  // Takes the connection, which must be free, and runs the queued jobs.
  void RunQueue() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Commits the transaction of `jobs` jobs, and measures the commit, whose sync of the file takes
  // most of the time.
  absl::Status Commit(size_t jobs);
  // Runs one job: `make`, which completes the tree `change`, and then `Write`, which stores
  // `change` as the version that `summary` describes.
  absl::StatusOr<WriteResult> RunWrite(absl::string_view name, const VersionSummary& summary,
                                       TreeChange& change, Work make);

  const SqliteJournalOptions options_;
  const FileDescriptor lock_;
  Database database_;
  // The prepared statements. The list in `Prepare` has the SQL text of each.
  Statement begin_, commit_, rollback_, begin_job_, end_job_, undo_job_;
  Statement read_page_, add_page_, page_size_, drop_page_, retain_page_, release_page_;
  Statement add_scene_, delete_scene_;
  Statement add_version_, read_versions_, drop_version_, oldest_version_;
  Statement set_dropped_, delete_versions_, set_last_version_, find_version_;
  std::vector<Statement*> statements_;  // all statements above
  absl::flat_hash_map<std::string, Current> scenes_;
  uint64_t last_version_ = 0;
  Job* running_ = nullptr;
  std::unique_ptr<SqliteHistory> history_;
  std::unique_ptr<LogKeeper> log_;

  absl::Mutex mu_;
  std::vector<Job*> jobs_ ABSL_GUARDED_BY(mu_);
  bool is_busy_ ABSL_GUARDED_BY(mu_) = false;  // whether a writer owns the connection
  Metrics* metrics_ = &Metrics::Unread();
};

}  // namespace carom::server
