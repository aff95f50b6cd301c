// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes in a file of SQLite's.
//
// One writer at a time has the connection. What others ask meanwhile is one transaction, which the
// first of them makes for all, so that they share what a disk takes to make it last (WAL,
// synchronous=FULL) and a writer that is alone waits for no thread; one that fails takes back what
// it did, and no other's. Old versions are read beside it
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
#include "server/store/page_tree.h"
#include "server/store/scene_journal.h"
#include "server/store/sqlite/log_keeper.h"
#include "server/store/sqlite/sqlite.h"
#include "server/store/sqlite/sqlite_history.h"

namespace carom::server {

struct SqliteJournalOptions {
  std::string folder;
  // Of a scene, the current version among them; bytes of pages that the current one does not have.
  size_t history_versions = 64;
  uint64_t history_bytes = 64u << 20;
  const char* vfs = nullptr;  // of SQLite, for tests; null: the system's
};

class SqliteJournal final : public SceneJournal {
 public:
  // Makes the folder and the file if they are missing, and brings tables of an older release up to
  // date.
  //
  // Errors, of one line: UNAVAILABLE for a folder that cannot be written, or that another process
  // uses; INTERNAL for a file that is damaged; FAILED_PRECONDITION for one of a newer release.
  static absl::StatusOr<std::unique_ptr<SqliteJournal>> Open(const SqliteJournalOptions& options);

  // Errors as of `Open`.
  absl::Status Recover(absl::FunctionRef<void(SavedScene)> visit) override;
  uint64_t last_version() const override { return last_version_; }
  absl::StatusOr<Written> Replace(absl::string_view name, const Scene& scene,
                                  const VersionSummary& summary) override;
  absl::StatusOr<Written> Edit(absl::string_view name, absl::Span<const SceneEdit> edits,
                               const VersionSummary& summary) override;
  absl::StatusOr<Written> Restore(absl::string_view name, uint64_t version,
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
  // A scene's row, its current version, and what its history is.
  struct Current {
    int64_t id = 0;
    uint64_t version = 0;  // 0: it has none, or what was stored of it is lost
    PageHash root = {};
    uint64_t versions = 0;       // the current one among them
    uint64_t history_bytes = 0;  // of pages that it does not have
  };
  // It is called again if the transaction that it was a part of fails.
  using Work = absl::FunctionRef<absl::Status()>;
  struct Job {
    Work work;
    absl::Status status = {};
    bool is_done = false;
    const bool* is_taken = nullptr;  // the journal's
    // What the work wrote, known to others once it lasts: a scene's current version, or its end.
    std::string name = {};
    Current after = {};
    bool deletes = false;
  };

  SqliteJournal(const SqliteJournalOptions& options, FileDescriptor lock, Database database)
      : options_(options), lock_(std::move(lock)), database_(std::move(database)) {}

  // --- Of the writer who has the connection, or before there is one ---
  absl::Status Prepare();
  absl::Status OpenConnections();
  absl::Status Migrate();
  absl::StatusOr<int64_t> Schema();
  // Whether what says which scenes and versions there are is whole, and the last version.
  absl::Status CheckTables();
  absl::StatusOr<SavedScene> RecoverScene(int64_t id, const std::string& name);
  absl::Status RecoverVersions(int64_t id, SavedScene& scene, Current& current);
  absl::Status RecoverScenes(absl::FunctionRef<void(SavedScene)> visit);
  // Makes `change` the current version of a scene, and forgets versions that are too old.
  absl::StatusOr<uint64_t> Write(absl::string_view name, const TreeChange& change,
                                 const VersionSummary& summary);
  absl::StatusOr<Current> FindOrAdd(absl::string_view name);
  absl::Status WriteDropped(Current& current, const std::vector<PageHash>& dropped);
  // Returns the oldest version that is left.
  absl::StatusOr<uint64_t> Prune(Current& current);
  absl::Status AddPage(const Page& page);
  // One reference less; the page goes with the last one.
  absl::Status DropPage(const PageHash& hash);
  absl::Status DropPages(absl::string_view hashes);
  absl::StatusOr<std::vector<PageHash>> PagesToDrop(const PageHash& root);
  // Runs jobs as one transaction, or each by itself.
  void RunJobs(absl::Span<Job* const> jobs);
  // The error is that of the transaction, and of all of them.
  absl::Status RunTogether(absl::Span<Job* const> jobs);
  // One that is alone in its transaction needs no savepoint.
  absl::Status RunJob(Job& job, bool is_alone);

  // --- On any thread ---
  // Has `work` run, on this thread or on that of another writer, as a part of a transaction that
  // lasts when this returns.
  absl::Status Run(Work work);
  // With the connection, which is free.
  void RunQueue() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The same for `change`, once `make` has completed it.
  absl::StatusOr<Written> RunWrite(absl::string_view name, const VersionSummary& summary,
                                   TreeChange& change, Work make);

  const SqliteJournalOptions options_;
  const FileDescriptor lock_;
  Database database_;
  // The statements, in the order of their use.
  Statement begin_, commit_, rollback_, begin_job_, end_job_, undo_job_;
  Statement read_page_, add_page_, page_size_, drop_page_, retain_page_, release_page_;
  Statement add_scene_, delete_scene_;
  Statement add_version_, read_versions_, drop_version_, oldest_version_;
  Statement set_dropped_, delete_versions_, set_last_version_, find_version_;
  std::vector<Statement*> statements_;  // all of them
  absl::flat_hash_map<std::string, Current> scenes_;
  uint64_t last_version_ = 0;
  Job* running_ = nullptr;
  std::unique_ptr<SqliteHistory> history_;
  std::unique_ptr<LogKeeper> log_;

  absl::Mutex mu_;
  std::vector<Job*> jobs_ ABSL_GUARDED_BY(mu_);
  bool is_taken_ ABSL_GUARDED_BY(mu_) = false;  // the connection
};

}  // namespace carom::server
