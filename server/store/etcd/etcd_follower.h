// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which changes do other processes write to etcd?
//
// An `EtcdFollower` has two threads. One thread watches all keys below the store's prefix from a
// revision on, fails over to other members, and reads all keys again if etcd has compacted the
// changes in between. The other thread reads the key of the last change twice a second,
// linearizably: the answers show how far behind this process may be, whether etcd can be reached,
// and whether the cluster is still the original one.
//
// Every change of a scene puts the key /head with a unique value, so this value identifies the
// history up to that change. A cluster that is restored from a backup ends every watch, and each
// watch begins with the last change that this process has applied: if etcd does not have that
// change, etcd has another history than this process, though the cluster may have an equal id and
// greater revisions.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/store/etcd/etcd_client.h"
#include "server/store/etcd/etcd_records.h"

namespace carom::server {

// Receives the changes that an `EtcdFollower` reads. The follower's threads make one call at a
// time, except for `OnState` and `OnSize`.
class EtcdEvents {
 public:
  // `OnPut` applies the put of a key, `OnDelete` the deletion of a key. Changes come in the order
  // of their revisions, and may come more than once.
  virtual void OnPut(const etcd::KeyValue& pair) = 0;
  virtual void OnDelete(absl::string_view key, uint64_t revision) = 0;
  // Reads all keys again, because changes may have been missed; returns the revision of the read.
  // `anew`: the cluster is another one than before, or was restored to an older state, so revisions
  // may go back. ABORTED if `anew` is false and the keys in etcd do not follow from the state of
  // this process.
  virtual absl::StatusOr<uint64_t> ReadAll(bool anew) = 0;
  // Receives whether etcd answers, and whether the scenes of this process come from the present
  // cluster: `is_ready` is false after a change of clusters, until all keys were read again.
  virtual void OnState(bool is_reachable, bool is_ready) = 0;
  // Receives the size in bytes of the database file of an etcd member.
  virtual void OnSize(uint64_t bytes) = 0;

 protected:
  ~EtcdEvents() = default;
};

// Follows the changes in etcd: a thread watches all keys of the store and passes their changes to
// `events`, and another thread probes (reads the key /head, which every change of a scene puts)
// twice a second. A member is a server of the etcd cluster. Thread-safe. `Start` and `Stop` are
// called once each.
class EtcdFollower {
 public:
  static constexpr absl::Duration kProbeInterval = absl::Milliseconds(500);
  // The time without an answer after which etcd counts as unreachable.
  static constexpr absl::Duration kUnreachable = absl::Seconds(2);

  // `client` and `events` outlive the follower.
  EtcdFollower(EtcdClient& client, EtcdEvents& events)
      : client_(client), events_(events), head_key_(EtcdKeys(client.prefix()).head()) {}
  ~EtcdFollower() { Stop(); }

  // Starts the threads. The caller has already applied all changes of the cluster `cluster_id` up
  // to the revision `revision`.
  void Start(uint64_t revision, uint64_t cluster_id);
  void Stop();

  // Returns the revision up to which this process has applied all changes.
  uint64_t applied() const { return applied_.load(std::memory_order_acquire); }
  uint64_t staleness_us() const;
  // Blocks until this process has applied all changes that any process made before the call.
  // UNAVAILABLE if that takes longer than `timeout`, or if no member answers.
  absl::Status CatchUp(absl::Duration timeout);

 private:
  // The last change of any scene in etcd: revision and value of the key /head, which every change
  // of a scene puts. Revision 0: unknown.
  struct Head {
    uint64_t revision = 0;
    std::string value;
  };
  // The result of a linearizable read of the key /head. The read began at `time`: every change that
  // was made before `time` has at most the revision of `head`.
  struct Probe {
    absl::Time time;
    Head head = {};
    // `floor` is the greatest revision that etcd had returned when the read began, `head_floor` the
    // revision of the last change that this process had applied when the read began. A read from
    // the original cluster returns no smaller revisions.
    uint64_t floor = 0;
    uint64_t head_floor = 0;
  };

  void Follow();
  // Applies changes until the stream ends. Returns false if the next watch should use another
  // member, because the member at the other end of `stream` did not create the watch, or cancelled
  // the watch without a compaction.
  bool FollowStream(EtcdClient::WatchStream& stream);
  // Applies the changes of a response of the watch. Returns false if they show that etcd has
  // another history than this process.
  bool Apply(const etcd::WatchResponse& response);
  bool CheckHead(const etcd::KeyValue& pair) ABSL_LOCKS_EXCLUDED(mu_);
  // Reads all keys again if a watch cannot continue from the applied revision, because etcd has
  // deleted older revisions (a compaction) or is another cluster. Returns false if the read fails
  // and must be tried again.
  bool Resync();
  void SetApplied(uint64_t revision) ABSL_LOCKS_EXCLUDED(mu_);
  void CancelWatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void ProbeLoop();
  absl::StatusOr<Probe> SendProbe(absl::Duration timeout, etcd::ResponseHeader* header);
  void OnProbe(const Probe& probe, const etcd::ResponseHeader& header) ABSL_LOCKS_EXCLUDED(mu_);
  bool IsOfThisCluster(const Probe& probe, const etcd::ResponseHeader& header) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Records that the cluster is another one, or was restored to an older state, so that `Resync`
  // reads all keys anew.
  void LeaveCluster() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReportState() ABSL_LOCKS_EXCLUDED(mu_);
  bool HasApplied(uint64_t head) const { return applied() >= head; }

  EtcdClient& client_;
  EtcdEvents& events_;
  const std::string head_key_;
  std::atomic<uint64_t> applied_{0};
  // Unix time in microseconds: this process has applied all changes that were made before this time
  std::atomic<int64_t> fresh_at_us_{0};

  mutable absl::Mutex mu_;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  // context of the open watch stream; null: no stream is open
  grpc::ClientContext* watch_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool must_resync_ ABSL_GUARDED_BY(mu_) = false;
  bool is_other_cluster_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t cluster_id_ ABSL_GUARDED_BY(mu_) = 0;
  // greatest revision that etcd has returned
  uint64_t greatest_revision_ ABSL_GUARDED_BY(mu_) = 0;
  // probes with a `head` that this process has not applied yet, in the order of `Probe::time`
  std::deque<Probe> probes_ ABSL_GUARDED_BY(mu_);
  Head head_ ABSL_GUARDED_BY(mu_);  // last change that this process has applied
  absl::Time last_answer_ ABSL_GUARDED_BY(mu_);
  // time at which the watch last delivered changes, or a probe last showed that no changes were
  // missing
  absl::Time last_progress_ ABSL_GUARDED_BY(mu_);

  // Used only by the thread `follower_`: the last change that its watch stream has delivered, and
  // the change that the stream must deliver first, which is the last one that this process has
  // applied.
  Head delivered_;
  Head expected_;

  std::thread follower_;
  std::thread prober_;
};

}  // namespace carom::server
