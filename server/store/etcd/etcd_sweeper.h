// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are pages of polygons (server/store/page_tree.h) deleted from etcd that no version uses any
// longer?
//
// etcd counts no references to pages. Now and then one of the servers reads which pages the kept
// versions use, and deletes all other pages. A commit may be about to use a page that the sweep is
// about to delete. The sweeper therefore first raises the number `sweep` in the epoch, a value that
// every commit compares, by a transaction with a revision R:
//
//   1. A commit that was made before R shows in the versions, which are read after R.
//   2. A commit that puts its pages before R and is made after R fails, and puts them again after R
//      (server/store/etcd/etcd_commits.h): pages that were put after R are not deleted.
//   3. The pages that a commit shares with its base version, or with a version that it restores,
//      belong to a kept version, because the commit fails unless the scene's key still has the
//      value that the writer read.
//
// A transaction that deletes pages is applied only if none of the pages was put again since the
// sweeper found it unused, if the epoch is unchanged, and if the sweeper's key, which ends with the
// sweeper's lease, exists.
#pragma once

#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/base/metrics.h"
#include "server/store/etcd/etcd_journal.h"

namespace carom::server {

// Deletes from etcd the pages of polygons that no version of a scene uses, on a thread that exists
// from `Start` to `Stop`. One such deletion is a sweep. While a sweep runs, the key /sweeper
// exists, with a lease. At its start, the sweep puts the key /epoch (the epoch), which every commit
// compares. `Start` and `Stop` are called once each. Thread-safe.
class EtcdSweeper {
 public:
  // `journal` outlives the sweeper.
  explicit EtcdSweeper(EtcdJournal& journal) : journal_(journal) {}
  ~EtcdSweeper() { Stop(); }

  // Starts the thread, which sweeps (deletes unused pages) about every `interval`. The thread
  // counts completed sweeps in `metrics`, which must outlive the sweeper.
  void Start(absl::Duration interval, Metrics& metrics = Metrics::Unread());
  void Stop();

  // Sweeps once, and returns the number of deleted pages; 0 if another server is sweeping.
  absl::StatusOr<uint64_t> Sweep();

 private:
  // Holds what permits a running sweep to delete pages: the sweep's lease, and the revisions that
  // each deletion compares.
  struct Claim {
    int64_t lease = 0;
    uint64_t claimed = 0;  // revision of the sweeper's put of /sweeper
    uint64_t raised = 0;   // revision of the sweeper's put of /epoch
    absl::Time renewed;
  };
  // A page that no kept version uses.
  struct Unused {
    PageHash hash;
    uint64_t put = 0;  // revision at which the page's key was last put
  };

  void Run(absl::Duration interval, Metrics& metrics);
  absl::Status Renew(Claim& claim);
  // Adds the hashes of the pages of all kept versions to `used`. Renews the lease of `claim`
  // meanwhile.
  absl::Status Mark(Claim& claim, absl::flat_hash_set<PageHash>& used);
  absl::StatusOr<std::vector<Unused>> FindUnused(Claim& claim,
                                                 const absl::flat_hash_set<PageHash>& used);
  // Deletes `pages`, which fit into one transaction, and returns the number of deleted pages.
  // ABORTED if the claim no longer permits deletions, because the lease has ended or the epoch has
  // changed.
  absl::StatusOr<uint64_t> Delete(const Claim& claim, std::span<const Unused> pages);

  EtcdJournal& journal_;
  absl::Mutex mu_;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
