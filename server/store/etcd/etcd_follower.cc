// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/etcd_follower.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "server/store/etcd/etcd_records.h"
#include "server/transport/executor.h"

namespace carom::server {
namespace {

constexpr absl::Duration kProbeTime = absl::Milliseconds(1500);
constexpr absl::Duration kWatchPause = absl::Milliseconds(50);
// If the watch delivers nothing for this time, although probes (reads of the key of the last
// change) show that changes are missing, `OnProbe` cancels the watch, and `Follow` watches another
// member.
constexpr absl::Duration kStuck = absl::Seconds(3);
constexpr size_t kMaxProbes = 64;
constexpr int kProbesASize = 4;

}  // namespace

// `revision` is the revision at which `EtcdJournal::Recover` has read all scenes, so the watch
// begins at the next revision.
void EtcdFollower::Start(uint64_t revision, uint64_t cluster_id) {
  const absl::Time now = absl::Now();
  {
    absl::MutexLock lock(&mu_);
    cluster_id_ = cluster_id;
    greatest_revision_ = revision;
    last_answer_ = last_progress_ = now;
  }
  applied_.store(revision, std::memory_order_release);
  fresh_at_us_.store(absl::ToUnixMicros(now), std::memory_order_relaxed);
  follower_ = std::thread([this] { Follow(); });
  prober_ = std::thread([this] { ProbeLoop(); });
}

// Cancels the open watch stream and prevents that `Follow` opens another one. Then stops the
// client, so that functions of `events_` that wait for etcd on one of the threads return. Both
// threads end after that.
void EtcdFollower::Stop() {
  {
    absl::MutexLock lock(&mu_);
    is_stopping_ = true;
    CancelWatch();
  }
  client_.Stop();
  if (follower_.joinable()) follower_.join();
  if (prober_.joinable()) prober_.join();
}

// Makes `FollowStream` return on the follower's thread, which then opens another stream unless
// `Stop` was called.
void EtcdFollower::CancelWatch() {
  if (watch_ != nullptr) watch_->TryCancel();
}

// --- The watch ----------------------------------------------------------------------------------

// Opens one watch stream after the other, each from the last change that was applied. If a stream
// ends in the middle of a revision, the next stream delivers the changes of that revision again,
// and `events_` recognizes a repeated change by its revision.
void EtcdFollower::Follow() {
  while (!client_.is_stopping()) {
    if (!Resync()) {
      absl::SleepFor(kWatchPause);
      continue;
    }
    grpc::ClientContext context;
    {
      absl::MutexLock lock(&mu_);
      if (is_stopping_) return;
      watch_ = &context;
      expected_ = head_;
    }
    etcd::WatchCreateRequest create;
    create.set_key(client_.prefix() + "/");
    create.set_range_end(EndOfPrefix(create.key()));
    const uint64_t begin = expected_.revision != 0 ? expected_.revision : applied() + 1;
    create.set_start_revision(static_cast<int64_t>(begin));
    create.set_fragment(true);
    const std::unique_ptr<EtcdClient::WatchStream> stream = client_.Watch(context, create);
    const bool was_good = stream != nullptr && FollowStream(*stream);
    {
      absl::MutexLock lock(&mu_);
      watch_ = nullptr;
    }
    if (stream != nullptr) {
      context.TryCancel();
      stream->Finish();
    }
    if (stream != nullptr && !was_good) client_.AvoidWatchedMember();
    absl::SleepFor(kWatchPause);
  }
}

// If a member cancels the watch because it has no leader, the watch has delivered all changes up to
// some revision, and the next watch continues from there. Only after a compaction must all keys be
// read again.
bool EtcdFollower::FollowStream(EtcdClient::WatchStream& stream) {
  etcd::WatchResponse response;
  bool is_created = false;
  while (stream.Read(&response)) {
    if (response.canceled()) {
      absl::MutexLock lock(&mu_);
      must_resync_ = must_resync_ || response.compact_revision() != 0;
      return must_resync_;
    }
    is_created = is_created || response.created();
    if (Apply(response)) continue;
    absl::MutexLock lock(&mu_);
    LeaveCluster();
    return true;
  }
  return is_created;
}

// Etcd may send the changes of one revision in several responses (fragments); the revision counts
// as applied after the last fragment.
bool EtcdFollower::Apply(const etcd::WatchResponse& response) {
  for (const etcd::Event& event : response.events()) {
    if (client_.is_stopping()) return true;
    if (!CheckHead(event.kv())) return false;
    const auto revision = static_cast<uint64_t>(event.kv().mod_revision());
    if (HasApplied(revision)) continue;
    if (event.type() == etcd::Event::DELETE) {
      events_.OnDelete(event.kv().key(), revision);
    } else {
      events_.OnPut(event.kv());
    }
  }
  if (response.events_size() == 0 || response.fragment()) return true;
  {
    absl::MutexLock lock(&mu_);
    if (delivered_.revision > head_.revision) head_ = delivered_;
  }
  SetApplied(static_cast<uint64_t>(response.events().rbegin()->kv().mod_revision()));
  return true;
}

// Returns false if an event shows that etcd does not have the change `expected_`, the last one that
// this process has applied, with which the watch begins: the event has the revision of that change
// but another value, or it has a later revision and comes before that change, although events come
// in the order of their revisions.
bool EtcdFollower::CheckHead(const etcd::KeyValue& pair) {
  const auto revision = static_cast<uint64_t>(pair.mod_revision());
  const bool is_head = pair.key() == head_key_;
  if (is_head && revision == expected_.revision) {
    if (pair.value() != expected_.value) return false;
    expected_ = {};
  }
  if (is_head) delivered_ = {revision, pair.value()};
  return expected_.revision == 0 || revision <= expected_.revision;
}

// If etcd has only compacted changes (deleted old revisions), the revision that `ReadAll` returns
// is not below the applied revision, up to which this process has applied all changes. In another
// cluster (`anew`) the revision may be lower, so the function sets the applied revision to 0 before
// `SetApplied`, which only raises it.
bool EtcdFollower::Resync() {
  bool anew = false;
  {
    absl::MutexLock lock(&mu_);
    if (!must_resync_ && !is_other_cluster_) return true;
    anew = is_other_cluster_;
  }
  const absl::StatusOr<uint64_t> revision = events_.ReadAll(anew);
  if (!revision.ok()) {
    absl::MutexLock lock(&mu_);
    if (absl::IsAborted(revision.status())) LeaveCluster();
    return false;
  }
  {
    absl::MutexLock lock(&mu_);
    must_resync_ = false;
    if (anew) is_other_cluster_ = false;
    head_ = delivered_ = {};
  }
  if (anew) applied_.store(0, std::memory_order_release);
  SetApplied(*revision);
  ReportState();
  return true;
}

// Raises the applied revision, up to which this process has applied all changes in etcd, to
// `revision`. Also sets `fresh_at_us_`, the time up to which all changes are applied: once the
// `head` of a probe (the last change in etcd when the probe was answered) is applied, this process
// has all changes that were made before the `time` of the probe.
void EtcdFollower::SetApplied(uint64_t revision) {
  absl::MutexLock lock(&mu_);
  if (revision > applied()) applied_.store(revision, std::memory_order_release);
  last_progress_ = absl::Now();
  greatest_revision_ = std::max(greatest_revision_, revision);
  while (!probes_.empty() && HasApplied(probes_.front().head.revision)) {
    fresh_at_us_.store(absl::ToUnixMicros(probes_.front().time), std::memory_order_relaxed);
    probes_.pop_front();
  }
}

// --- Probes -------------------------------------------------------------------------------------

// Reads the key of the last change from etcd. Takes `Probe::time` before the request, so that the
// answer covers all changes that were made before that time.
absl::StatusOr<EtcdFollower::Probe> EtcdFollower::SendProbe(absl::Duration timeout,
                                                            etcd::ResponseHeader* header) {
  Probe probe{.time = absl::Now()};
  {
    absl::MutexLock lock(&mu_);
    probe.floor = greatest_revision_;
    probe.head_floor = head_.revision;
  }
  etcd::RangeRequest request;
  request.set_key(head_key_);
  etcd::RangeResponse response;
  if (absl::Status status = client_.Range(request, response, timeout); !status.ok()) return status;
  if (response.kvs_size() == 1) {
    probe.head = {static_cast<uint64_t>(response.kvs(0).mod_revision()), response.kvs(0).value()};
  }
  *header = response.header();
  return probe;
}

// Sends a probe (a read of the key of the last change) every `kProbeInterval`, and requests the
// size of etcd's database file after every fourth probe: the size need not be exact, because
// `EtcdJournal` counts the bytes that it adds meanwhile.
void EtcdFollower::ProbeLoop() {
  for (int i = 0;; ++i) {
    if (i != 0) {
      absl::MutexLock lock(&mu_);
      mu_.AwaitWithTimeout(absl::Condition(&is_stopping_), kProbeInterval);
      if (is_stopping_) return;
    }
    etcd::ResponseHeader header;
    const absl::StatusOr<Probe> probe = SendProbe(kProbeTime, &header);
    if (probe.ok()) OnProbe(*probe, header);
    ReportState();
    etcd::StatusResponse member;
    if (probe.ok() && i % kProbesASize == 0 && client_.MemberStatus(member, kProbeTime).ok()) {
      events_.OnSize(static_cast<uint64_t>(member.dbsize()));
    }
  }
}

// A probe is a read of the key of the last change. Returns whether the probe's answer can come from
// the cluster that this process follows. In one cluster, a linearizable read returns no smaller
// revision, and no older last change, than was known when the read began, and the last change of a
// given revision always has one value.
bool EtcdFollower::IsOfThisCluster(const Probe& probe, const etcd::ResponseHeader& header) const {
  return header.cluster_id() == cluster_id_ &&
         static_cast<uint64_t>(header.revision()) >= probe.floor &&
         probe.head.revision >= probe.head_floor &&
         (probe.head.revision != head_.revision || probe.head.value == head_.value);
}

void EtcdFollower::LeaveCluster() {
  is_other_cluster_ = true;
  probes_.clear();
  CancelWatch();
}

// If the watch has delivered nothing for `kStuck` although the probe (a read of the key of the last
// change) shows changes, the watched member is behind or cut off from the other members. `OnProbe`
// then cancels the watch, and `Follow` watches another member.
void EtcdFollower::OnProbe(const Probe& probe, const etcd::ResponseHeader& header) {
  const auto revision = static_cast<uint64_t>(header.revision());
  absl::MutexLock lock(&mu_);
  last_answer_ = absl::Now();
  if (!IsOfThisCluster(probe, header)) {
    cluster_id_ = header.cluster_id();
    greatest_revision_ = revision;
    head_ = {};
    return LeaveCluster();
  }
  greatest_revision_ = std::max(greatest_revision_, revision);
  if (is_other_cluster_) return;
  if (HasApplied(probe.head.revision)) {
    if (head_.revision == 0) head_ = probe.head;
    probes_.clear();
    last_progress_ = last_answer_;
    fresh_at_us_.store(absl::ToUnixMicros(probe.time), std::memory_order_relaxed);
    return;
  }
  if (probes_.size() < kMaxProbes) probes_.push_back(probe);
  if (last_answer_ - last_progress_ < kStuck) return;
  last_progress_ = last_answer_;
  client_.AvoidWatchedMember();
  CancelWatch();
}

// Calls `events_.OnState` without holding `mu_`, because `OnState` may acquire other locks.
void EtcdFollower::ReportState() {
  bool is_reachable = false, is_ready = false;
  {
    absl::MutexLock lock(&mu_);
    is_reachable = absl::Now() - last_answer_ < kUnreachable;
    is_ready = !is_other_cluster_;
  }
  events_.OnState(is_reachable, is_ready);
}

// If the system clock is set back, the returned staleness is 0 for a while; if the clock is set
// forward, the staleness is too high for about half a second, until `OnProbe` or `SetApplied` sets
// `fresh_at_us_` again.
uint64_t EtcdFollower::staleness_us() const {
  const int64_t age =
      absl::ToUnixMicros(absl::Now()) - fresh_at_us_.load(std::memory_order_relaxed);
  return age < 0 ? 0 : static_cast<uint64_t>(age);
}

// Reads the key of the last change from etcd, and then waits until the watch has delivered that
// change.
absl::Status EtcdFollower::CatchUp(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  etcd::ResponseHeader header;
  const absl::StatusOr<Probe> probe = SendProbe(timeout, &header);
  if (!probe.ok()) return absl::UnavailableError(probe.status().message());
  struct Wanted {
    EtcdFollower& follower;
    uint64_t head;
  } wanted{*this, probe->head.revision};
  const auto is_done = +[](Wanted* all) {
    return all->follower.HasApplied(all->head) || all->follower.client_.is_stopping();
  };
  const Executor::Blocked blocked;
  absl::MutexLock lock(&mu_);
  if (mu_.AwaitWithDeadline(absl::Condition(is_done, &wanted), deadline) &&
      HasApplied(probe->head.revision)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError("the server has not received all changes of other servers");
}

}  // namespace carom::server
