// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a change of a scene committed to etcd exactly once?
//
// A transaction is applied only if the scene's key still has the value that the writer read, and if
// the epoch, the value of a key that all commits compare, is unchanged. The epoch serves two
// purposes. A writer that does not receive the outcome of a transaction puts another epoch: either
// the transaction was applied before this put, which the scene's keys show, or it can no longer be
// applied. A sweeper raises the number `sweep` in the epoch before it deletes unused pages
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
// Returns the error of a change that was certainly not made, because of the error `why`:
// RESOURCE_EXHAUSTED if `why` has this code, else UNAVAILABLE.
absl::Status NotCommitted(const absl::Status& why);

// Returns 16 random bytes, a name that identifies one put or commit.
std::string RandomName();

// Adds a put to a transaction.
void AddPut(etcd::TxnRequest& request, std::string key, std::string value);
// Adds the deletion of the keys from `key` to `end` (exclusive) to a transaction; an empty `end`:
// only the key `key`.
void AddDelete(etcd::TxnRequest& request, std::string key, std::string end);
// Adds the condition that the key was last put at `revision` (0: that the key does not exist) to a
// transaction.
void AddModCompare(etcd::TxnRequest& request, std::string key, uint64_t revision);

// A change of a scene to be committed to etcd. Pages are the nodes of the tree in which a version's
// polygons are stored.
struct SceneDraft {
  absl::string_view name;
  // state of the scene that the change is based on; null: the change creates the scene
  SharedScene::Ptr base;
  std::string writer;  // random name that identifies the commit
  bool deletes = false;
  etcd::TxnRequest request = {};     // operations; `Commit` adds comparisons
  std::span<const Page> pages = {};  // pages to put before the transaction
};

// Commits changes of scenes to etcd. The epoch is the value of the key /epoch; every commit
// requires that the epoch is unchanged, so a put of another epoch makes running commits fail. A
// sweep is a deletion of unused pages, before which the number `sweep` in the epoch is raised.
// Thread-safe. `client`, `keys` and `pages` outlive the `EtcdCommits`.
class EtcdCommits {
 public:
  EtcdCommits(EtcdClient& client, const EtcdKeys& keys, EtcdPages& pages)
      : client_(client), keys_(keys), pages_(pages) {}

  // Commits a change and returns the revision of its transaction. Errors: `Conflict` if the scene
  // in etcd is not `draft.base`; those of `NotCommitted`; UNKNOWN if it cannot be determined in
  // time whether the change was made.
  absl::StatusOr<uint64_t> Commit(const SceneDraft& draft) ABSL_LOCKS_EXCLUDED(mu_);

  // Records the epoch that later commits compare: the value `value` that was put at revision
  // `revision`; 0: the epoch was never put.
  void SetEpoch(uint64_t revision, const std::string& value) ABSL_LOCKS_EXCLUDED(mu_);
  // Puts an epoch whose `sweep` is greater by 1 than that of the current epoch, and returns the
  // revision of the put, which all later commits compare.
  absl::StatusOr<uint64_t> RaiseSweep();
  // Sets the error that `Commit` returns for every change until `SetRefusal` is called again; OK:
  // `Commit` makes changes.
  void SetRefusal(absl::Status why) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Epoch {
    uint64_t revision = 0;  // revision at which the key /epoch was put; 0: never
    uint64_t sweep = 0;
  };
  // The outcome of the transaction of a change. kNotCommitted: the change was not made, and the
  // scene is still `SceneDraft::base`. kSuperseded: the change was not made, because another change
  // came first. kUnknown: it is not known whether the change was made, because the version that it
  // made may already be deleted from the scene's history.
  enum class CommitOutcome { kCommitted, kNotCommitted, kSuperseded, kUnknown };

  Epoch epoch() const ABSL_LOCKS_EXCLUDED(mu_);
  // Records the epoch from the response of a read of the epoch's key.
  void RecordEpoch(const etcd::RangeResponse& found);
  // Evaluates the response of a transaction that has changed nothing, because one of its
  // comparisons failed. Returns `Conflict` if the scene differs from `draft.base`. If only the
  // epoch differs, records the current epoch and returns OK: the transaction can be repeated.
  absl::Status CheckFailedCommit(const SceneDraft& draft, const etcd::TxnResponse& response);
  // Determines whether a transaction that etcd did not answer was committed, and prevents that it
  // is committed later. Sets `revision` to the revision of the commit.
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
