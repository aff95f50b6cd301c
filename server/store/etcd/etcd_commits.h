// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a change of a scene become a transaction of etcd, once?
//
// A transaction compares the scene, as its writer knows it, and the epoch. The epoch does two
// things. Whoever does not know what became of a transaction puts another epoch: then it was
// applied before that, which shows, or it never will be. And whoever deletes pages that nobody has
// raises `sweep` first (server/store/etcd/etcd_sweeper.h): a commit that fails for that puts its
// pages again.
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

// Another process has changed the scene: the change was not made.
absl::Status Conflict();
bool IsConflict(const absl::Status& status);
// RESOURCE_EXHAUSTED if that is why, else UNAVAILABLE: the change was certainly not made.
absl::Status NotMade(const absl::Status& why);

// 16 random bytes.
std::string RandomName();

// Parts of transactions.
void AddPut(etcd::TxnRequest& request, std::string key, std::string value);
// A range, or of an empty `end` one key.
void AddDelete(etcd::TxnRequest& request, std::string key, std::string end);
// The key was last put at this revision; 0: it is not there.
void AddModCompare(etcd::TxnRequest& request, std::string key, uint64_t revision);

// A change of a scene that is to be made.
struct SceneDraft {
  absl::string_view name;
  SharedScene::Ptr base;  // null: there is no scene
  std::string writer;     // of the version
  bool deletes = false;
  etcd::TxnRequest request = {};     // without comparisons
  std::span<const Page> pages = {};  // to be put before
};

// Thread-safe; all outlive it.
class EtcdCommits {
 public:
  EtcdCommits(EtcdClient& client, const EtcdKeys& keys, EtcdPages& pages)
      : client_(client), keys_(keys), pages_(pages) {}

  // Makes a change; returns its revision. A conflict, or as `NotMade`; UNKNOWN if nobody answers
  // what became of it.
  absl::StatusOr<uint64_t> Make(const SceneDraft& draft) ABSL_LOCKS_EXCLUDED(mu_);

  // The epoch as it was put; revision 0: never.
  void SetEpoch(uint64_t revision, const std::string& value) ABSL_LOCKS_EXCLUDED(mu_);
  // Raises `sweep`; returns the revision of that, which commits compare from then on.
  absl::StatusOr<uint64_t> RaiseSweep();
  // Why nothing is written for the time being; OK: it is.
  void SetRefusal(absl::Status why) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Epoch {
    uint64_t revision = 0;
    uint64_t sweep = 0;
  };
  // What became of a transaction. Forgotten: it was made or overtaken, and what it would be known
  // by is no longer kept.
  enum class Fate { kMade, kNotMade, kOvertaken, kForgotten };

  Epoch epoch() const ABSL_LOCKS_EXCLUDED(mu_);
  // What an answer says of the epoch's key.
  void LearnEpoch(const etcd::RangeResponse& found);
  // Reads what the comparisons that failed are about. A conflict, or OK: it was the epoch.
  absl::Status Learn(const SceneDraft& draft, const etcd::TxnResponse& response);
  // What became of a transaction that was not answered, for good; `revision` if it was made.
  absl::StatusOr<Fate> Resolve(const SceneDraft& draft, uint64_t& revision);
  Fate FateOf(const SceneDraft& draft, const etcd::TxnResponse& response, uint64_t& revision) const;

  EtcdClient& client_;
  const EtcdKeys& keys_;
  EtcdPages& pages_;
  mutable absl::Mutex mu_;
  Epoch epoch_ ABSL_GUARDED_BY(mu_);
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
