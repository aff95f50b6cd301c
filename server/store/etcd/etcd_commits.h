// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a change of a scene committed to etcd exactly once?
//
// A transaction compares the scene with the state that its writer has, and compares the epoch. The
// epoch serves two purposes. A writer that does not receive the outcome of a transaction puts
// another epoch: either the transaction was applied before that, which the scene shows, or it can
// no longer be applied. A sweeper raises the epoch's number `sweep` before it deletes unused pages
// (server/store/etcd/etcd_sweeper.h): a commit that fails because of the sweep puts its pages
// again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/store/etcd/etcd_client.h"
#include "server/store/etcd/etcd_pages.h"
#include "server/store/etcd/etcd_records.h"
#include "server/store/page_tree.h"

namespace carom::server {

// Returns the error of a change that was not made because another process has changed the scene.
absl::Status Conflict();
bool IsConflict(const absl::Status& status);
// Returns the error of a change that was certainly not made: RESOURCE_EXHAUSTED if `why` is, else
// UNAVAILABLE.
absl::Status NotCommitted(const absl::Status& why);

// Returns 16 random bytes.
std::string RandomName();

// Adds a put to a transaction.
void AddPut(etcd::TxnRequest& request, std::string key, std::string value);
// Adds the deletion of the keys from `key` to `end` to a transaction; an empty `end`: of one key.
void AddDelete(etcd::TxnRequest& request, std::string key, std::string end);
// Adds the comparison that the key was last put at `revision`; 0: that the key does not exist.
void AddModCompare(etcd::TxnRequest& request, std::string key, uint64_t revision);

// A change of a scene to be committed.
struct SceneDraft {
  absl::string_view name;
  SharedScene::Ptr base;  // null: the scene does not exist
  std::string writer;     // the name that identifies the commit
  bool deletes = false;
  etcd::TxnRequest request = {};     // the operations, without the comparisons
  std::span<const Page> pages = {};  // pages to put before the transaction
};

// Commits changes of scenes to etcd. Thread-safe; `client`, `keys` and `pages` outlive it.
class EtcdCommits {
 public:
  EtcdCommits(EtcdClient& client, const EtcdKeys& keys, EtcdPages& pages)
      : client_(client), keys_(keys), pages_(pages) {}

  // Commits a change and returns its revision. Errors: a conflict; those of `NotCommitted`; UNKNOWN
  // if the outcome cannot be determined in time.
  absl::StatusOr<uint64_t> Commit(const SceneDraft& draft) ABSL_LOCKS_EXCLUDED(mu_);

  // Records the epoch that was put at `revision`; 0: the epoch was never put.
  void SetEpoch(uint64_t revision, const std::string& value) ABSL_LOCKS_EXCLUDED(mu_);
  // Raises `sweep` in the epoch, and returns the epoch's revision, which commits compare from then
  // on.
  absl::StatusOr<uint64_t> RaiseSweep();
  // Sets the error that `Commit` returns for every change until further notice; OK: changes are
  // made.
  void SetRefusal(absl::Status why) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Epoch {
    uint64_t revision = 0;
    uint64_t sweep = 0;
  };
  // The outcome of a transaction. kNotCommitted: it was not made, and the scene is still the base.
  // kSuperseded: it was not made, because another change came first. kUnknown: the version that
  // would show the outcome may no longer be kept.
  enum class CommitOutcome { kCommitted, kNotCommitted, kSuperseded, kUnknown };

  Epoch epoch() const ABSL_LOCKS_EXCLUDED(mu_);
  // Records the epoch from a response that contains its key.
  void RecordEpoch(const etcd::RangeResponse& found);
  // Evaluates the response of a transaction with a failed comparison. Returns a conflict if the
  // scene differs, and OK if only the epoch differs, which it records.
  absl::Status CheckFailedCommit(const SceneDraft& draft, const etcd::TxnResponse& response);
  // Determines the final outcome of a transaction that was not answered. Sets `revision` if it was
  // committed.
  absl::StatusOr<CommitOutcome> Resolve(const SceneDraft& draft, uint64_t& revision);
  CommitOutcome OutcomeOf(const SceneDraft& draft, const etcd::TxnResponse& response,
                          uint64_t& revision) const;

  EtcdClient& client_;
  const EtcdKeys& keys_;
  EtcdPages& pages_;
  mutable absl::Mutex mu_;
  Epoch epoch_ ABSL_GUARDED_BY(mu_);
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
