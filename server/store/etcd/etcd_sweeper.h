// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who deletes pages that no version has any longer?
//
// Nobody counts pages in etcd. Now and then one of the servers reads which pages the versions have
// that are kept, and deletes the others. It may be wrong about pages that a commit is about to take
// up, so it raises the epoch's `sweep` first, at a revision R:
//
//   1. A commit that was made before R shows in the versions, which are read after R.
//   2. A commit that puts its pages before R and is made after R fails, and puts them again after R
//      (server/store/etcd/etcd_commits.h): pages that were put after R are not deleted.
//   3. What a commit has in common with the version that it is made on, or with one that it goes
//      back to, is of a version that is kept, because it compares the scene.
//
// Deletions compare that no page was put meanwhile, the epoch, and that the sweeper has its lease.
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
#include "server/store/etcd/etcd_journal.h"

namespace carom::server {

// Thread-safe. A thread of its own from `Start` to `Stop`, once each.
class EtcdSweeper {
 public:
  // The journal outlives it.
  explicit EtcdSweeper(EtcdJournal& journal) : journal_(journal) {}
  ~EtcdSweeper() { Stop(); }

  // Sweeps about so often.
  void Start(absl::Duration interval);
  void Stop();

  // Sweeps once; how many pages were deleted. 0 if another server is sweeping.
  absl::StatusOr<uint64_t> Sweep();

 private:
  // What one sweep has to show for itself.
  struct Claim {
    int64_t lease = 0;
    uint64_t claimed = 0;  // revision of the sweeper's key
    uint64_t raised = 0;   // and of the epoch
    absl::Time renewed;
  };
  struct Unused {
    PageHash hash;
    uint64_t put = 0;  // revision
  };

  void Run(absl::Duration interval);
  absl::Status Renew(Claim& claim);
  // Pages of all versions that are kept.
  absl::Status Mark(Claim& claim, absl::flat_hash_set<PageHash>& used);
  absl::StatusOr<std::vector<Unused>> FindUnused(Claim& claim,
                                                 const absl::flat_hash_set<PageHash>& used);
  // How many of these pages, which one transaction takes, were deleted. ABORTED if the claim is
  // over.
  absl::StatusOr<uint64_t> Delete(const Claim& claim, std::span<const Unused> pages);

  EtcdJournal& journal_;
  absl::Mutex mu_;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
