// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is the server ready for queries, and if not, why?
//
// `/readyz` and the metric carom_ready report it. A server is ready unless it reads its scenes, is
// shutting down, or may not answer from its scenes because etcd has another history.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace carom::server {

// Thread-safe.
class Readiness {
 public:
  // Notes how many scenes and vertices the start has read, and logs it once a second.
  void NoteRecovery(uint64_t scenes, uint64_t vertices) ABSL_LOCKS_EXCLUDED(mu_);
  // The scenes are read.
  void SetRecovered() ABSL_LOCKS_EXCLUDED(mu_);
  void SetDraining() ABSL_LOCKS_EXCLUDED(mu_);
  // Sets whether etcd can be reached, and whether the scenes in memory may be read.
  void SetReachable(bool is_reachable, bool may_read) ABSL_LOCKS_EXCLUDED(mu_);

  // Returns OK, or UNAVAILABLE with the reason. A server that cannot reach etcd answers queries
  // from its memory, and is ready.
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the numbers of scenes and vertices of the last `NoteRecovery`.
  std::pair<uint64_t, uint64_t> recovered() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  bool is_recovering_ ABSL_GUARDED_BY(mu_) = true;
  bool is_draining_ ABSL_GUARDED_BY(mu_) = false;
  bool is_reachable_ ABSL_GUARDED_BY(mu_) = true;
  bool may_read_ ABSL_GUARDED_BY(mu_) = true;
  uint64_t scenes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t vertices_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time next_line_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

}  // namespace carom::server
