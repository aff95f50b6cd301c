// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do others write to etcd?
//
// An `EtcdFollower` has two threads. One watches all keys of a prefix from a revision on, through
// members that fail, and has everything read again where etcd has forgotten what came in between.
// The other one asks twice a second for the revision of the last change, linearizably: so it is
// known how far behind this process may be, whether etcd can be reached, and whether the cluster is
// still the one that it was.
//
// That last change has a value that no other one has, so it stands for the history up to it. A
// cluster that is restored from a backup ends every watch, and each watch begins with the last
// change that is here: where it is not there, the history is another one, though the cluster may
// have the same id and greater revisions by now.
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

// Called on the follower's threads, one call at a time but for `OnState` and `OnSize`.
class EtcdEvents {
 public:
  // A key was put, or is deleted. Returns once that is done; changes come in their order, and may
  // come again.
  virtual void OnPut(const etcd::KeyValue& pair) = 0;
  virtual void OnDelete(absl::string_view key, uint64_t revision) = 0;
  // What happened in between is not known: reads all there is, as of a revision, which it returns.
  // `anew`: the cluster is another one, or an older one, so that revisions may go back. ABORTED if
  // it has to be anew, and is not: what is there does not follow from what is here.
  virtual absl::StatusOr<uint64_t> ReadAll(bool anew) = 0;
  // Whether etcd answers, and what is here is of its cluster.
  virtual void OnState(bool is_reachable, bool is_ready) = 0;
  // The bytes of etcd's file.
  virtual void OnSize(uint64_t bytes) = 0;

 protected:
  ~EtcdEvents() = default;
};

// Thread-safe. Begins with `Start`, and ends with `Stop`, once each.
class EtcdFollower {
 public:
  static constexpr absl::Duration kProbeInterval = absl::Milliseconds(500);
  // So long without an answer, and etcd is taken for unreachable.
  static constexpr absl::Duration kUnreachable = absl::Seconds(2);

  // Both outlive it.
  EtcdFollower(EtcdClient& client, EtcdEvents& events)
      : client_(client), events_(events), head_key_(EtcdKeys(client.prefix()).head()) {}
  ~EtcdFollower() { Stop(); }

  // All up to `revision` is there, of that cluster.
  void Start(uint64_t revision, uint64_t cluster_id);
  void Stop();

  // Changes up to this revision are there.
  uint64_t applied() const { return applied_.load(std::memory_order_acquire); }
  uint64_t staleness_us() const;
  // Waits until all is there that anybody has made before this call. UNAVAILABLE if that takes
  // longer than `timeout`, or nobody answers.
  absl::Status CatchUp(absl::Duration timeout);

 private:
  // The last change of the prefix; revision 0: not known.
  struct Head {
    uint64_t revision = 0;
    std::string value;
  };
  // What a linearizable read has said: all up to `head` was there at `time`.
  struct Probe {
    absl::Time time;
    Head head = {};
    // The greatest revisions that were known then, of all and of the last change.
    uint64_t floor = 0;
    uint64_t head_floor = 0;
  };

  void Follow();
  // Until the stream ends. False if nothing came of it.
  bool FollowStream(EtcdClient::WatchStream& stream);
  // False if the history is another one.
  bool Apply(const etcd::WatchResponse& response);
  bool CheckHead(const etcd::KeyValue& pair) ABSL_LOCKS_EXCLUDED(mu_);
  // Reads everything again if that is needed; false: it cannot be, for now.
  bool Reread();
  void SetApplied(uint64_t revision) ABSL_LOCKS_EXCLUDED(mu_);
  void CancelWatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void ProbeAgain();
  absl::StatusOr<Probe> Ask(absl::Duration timeout, etcd::ResponseHeader* header);
  void OnProbe(const Probe& probe, const etcd::ResponseHeader& header) ABSL_LOCKS_EXCLUDED(mu_);
  bool IsOfThisCluster(const Probe& probe, const etcd::ResponseHeader& header) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // All is to be read anew.
  void LeaveCluster() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReportState() ABSL_LOCKS_EXCLUDED(mu_);
  bool HasApplied(uint64_t head) const { return applied() >= head; }

  EtcdClient& client_;
  EtcdEvents& events_;
  const std::string head_key_;
  std::atomic<uint64_t> applied_{0};
  std::atomic<int64_t> fresh_us_{0};  // all that there was then is here

  mutable absl::Mutex mu_;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  grpc::ClientContext* watch_ ABSL_GUARDED_BY(mu_) = nullptr;  // of the stream that is open
  bool must_reread_ ABSL_GUARDED_BY(mu_) = false;
  bool is_other_cluster_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t cluster_id_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t greatest_revision_ ABSL_GUARDED_BY(mu_) = 0;  // that any answer has had
  std::deque<Probe> probes_ ABSL_GUARDED_BY(mu_);        // not reached yet
  Head head_ ABSL_GUARDED_BY(mu_);                       // of those that are here
  absl::Time answered_ ABSL_GUARDED_BY(mu_);
  absl::Time moved_ ABSL_GUARDED_BY(mu_);  // when changes came, or there were none to come

  // Of the follower's thread: the last change that its stream has brought, and the one that the
  // stream has yet to begin with.
  Head brought_;
  Head expected_;

  std::thread follower_;
  std::thread prober_;
};

}  // namespace carom::server
