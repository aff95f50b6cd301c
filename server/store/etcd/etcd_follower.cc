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
// A watch that brings nothing for so long, though there is something, is begun at another member.
constexpr absl::Duration kStuck = absl::Seconds(3);
constexpr size_t kMaxProbes = 64;
constexpr int kProbesASize = 4;

}  // namespace

// What `Recover` has read is the beginning: the watch goes on from the revision after it.
void EtcdFollower::Start(uint64_t revision, uint64_t cluster_id) {
  const absl::Time now = absl::Now();
  {
    absl::MutexLock lock(&mu_);
    cluster_id_ = cluster_id;
    greatest_revision_ = revision;
    answered_ = moved_ = now;
  }
  applied_.store(revision, std::memory_order_release);
  fresh_us_.store(absl::ToUnixMicros(now), std::memory_order_relaxed);
  follower_ = std::thread([this] { Follow(); });
  prober_ = std::thread([this] { ProbeAgain(); });
}

// In this order: a stream that is open ends, one that is about to be opened is not, and calls of
// the events' that wait for etcd give up. Then both threads come to their ends.
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

// The stream then ends on its thread, which opens another one unless it is to stop.
void EtcdFollower::CancelWatch() {
  if (watch_ != nullptr) watch_->TryCancel();
}

// --- The watch ----------------------------------------------------------------------------------

// One stream after the other, each from the last change that is here. Revisions that come twice,
// because a stream ended in the middle of one, are known to the events by their number.
void EtcdFollower::Follow() {
  while (!client_.is_stopping()) {
    if (!Reread()) {
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
    if (stream != nullptr && !was_good) client_.LeaveWatchedMember();
    absl::SleepFor(kWatchPause);
  }
}

// A watch that ends for want of a leader has brought all up to some revision, and the next one goes
// on from there.
bool EtcdFollower::FollowStream(EtcdClient::WatchStream& stream) {
  etcd::WatchResponse response;
  bool is_created = false;
  while (stream.Read(&response)) {
    if (response.canceled()) {
      absl::MutexLock lock(&mu_);
      must_reread_ = must_reread_ || response.compact_revision() != 0;
      return must_reread_;
    }
    is_created = is_created || response.created();
    if (Apply(response)) continue;
    absl::MutexLock lock(&mu_);
    LeaveCluster();
    return true;
  }
  return is_created;
}

// What a revision has changed may come in several responses; it is there with the last of them.
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
    if (brought_.revision > head_.revision) head_ = brought_;
  }
  SetApplied(static_cast<uint64_t>(response.events().rbegin()->kv().mod_revision()));
  return true;
}

// Events come in the order of their revisions, so one that is later than the change that is
// expected says that this is not there.
bool EtcdFollower::CheckHead(const etcd::KeyValue& pair) {
  const auto revision = static_cast<uint64_t>(pair.mod_revision());
  const bool is_head = pair.key() == head_key_;
  if (is_head && revision == expected_.revision) {
    if (pair.value() != expected_.value) return false;
    expected_ = {};
  }
  if (is_head) brought_ = {revision, pair.value()};
  return expected_.revision == 0 || revision <= expected_.revision;
}

// After a compaction revisions go on from those that are here; in another cluster they begin where
// that one is, which may be lower.
bool EtcdFollower::Reread() {
  bool anew = false;
  {
    absl::MutexLock lock(&mu_);
    if (!must_reread_ && !is_other_cluster_) return true;
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
    must_reread_ = false;
    if (anew) is_other_cluster_ = false;
    head_ = brought_ = {};
  }
  if (anew) applied_.store(0, std::memory_order_release);
  SetApplied(*revision);
  ReportState();
  return true;
}

// All that a probe has asked for is here once its revision is: at the time of that probe this was
// all there was.
void EtcdFollower::SetApplied(uint64_t revision) {
  absl::MutexLock lock(&mu_);
  if (revision > applied()) applied_.store(revision, std::memory_order_release);
  moved_ = absl::Now();
  greatest_revision_ = std::max(greatest_revision_, revision);
  while (!probes_.empty() && HasApplied(probes_.front().head.revision)) {
    fresh_us_.store(absl::ToUnixMicros(probes_.front().time), std::memory_order_relaxed);
    probes_.pop_front();
  }
}

// --- Probes -------------------------------------------------------------------------------------

// The time is taken before the question: what is there at any moment between counts.
absl::StatusOr<EtcdFollower::Probe> EtcdFollower::Ask(absl::Duration timeout,
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

// The size is asked for less often: it is a hint, and writers count what they add meanwhile.
void EtcdFollower::ProbeAgain() {
  for (int i = 0;; ++i) {
    if (i != 0) {
      absl::MutexLock lock(&mu_);
      mu_.AwaitWithTimeout(absl::Condition(&is_stopping_), kProbeInterval);
      if (is_stopping_) return;
    }
    etcd::ResponseHeader header;
    const absl::StatusOr<Probe> probe = Ask(kProbeTime, &header);
    if (probe.ok()) OnProbe(*probe, header);
    ReportState();
    etcd::StatusResponse member;
    if (probe.ok() && i % kProbesASize == 0 && client_.MemberStatus(member, kProbeTime).ok()) {
      events_.OnSize(static_cast<uint64_t>(member.dbsize()));
    }
  }
}

// A linearizable read is of no older revision than any that was known when it began, while the
// cluster is the same; and so is the last change, which has one value.
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

// Where the watch has brought nothing for a while that the probe knows of, its member is behind or
// cut off from the others, and another one is watched.
void EtcdFollower::OnProbe(const Probe& probe, const etcd::ResponseHeader& header) {
  const auto revision = static_cast<uint64_t>(header.revision());
  absl::MutexLock lock(&mu_);
  answered_ = absl::Now();
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
    moved_ = answered_;
    fresh_us_.store(absl::ToUnixMicros(probe.time), std::memory_order_relaxed);
    return;
  }
  if (probes_.size() < kMaxProbes) probes_.push_back(probe);
  if (answered_ - moved_ < kStuck) return;
  moved_ = answered_;
  client_.LeaveWatchedMember();
  CancelWatch();
}

// Not under the lock: the events may take locks of their own.
void EtcdFollower::ReportState() {
  bool is_reachable = false, is_ready = false;
  {
    absl::MutexLock lock(&mu_);
    is_reachable = absl::Now() - answered_ < kUnreachable;
    is_ready = !is_other_cluster_;
  }
  events_.OnState(is_reachable, is_ready);
}

// A clock that is set back makes it 0 for a while, and one that is set forward old for half a
// second.
uint64_t EtcdFollower::staleness_us() const {
  const int64_t age = absl::ToUnixMicros(absl::Now()) - fresh_us_.load(std::memory_order_relaxed);
  return age < 0 ? 0 : static_cast<uint64_t>(age);
}

// The watch brings what the probe has found, so this asks etcd for one key and then waits.
absl::Status EtcdFollower::CatchUp(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  etcd::ResponseHeader header;
  const absl::StatusOr<Probe> probe = Ask(timeout, &header);
  if (!probe.ok()) return absl::UnavailableError(probe.status().message());
  struct Wanted {
    EtcdFollower& follower;
    uint64_t head;
  } wanted{*this, probe->head.revision};
  const auto is_there = +[](Wanted* all) {
    return all->follower.HasApplied(all->head) || all->follower.client_.is_stopping();
  };
  const Executor::Blocked blocked;
  absl::MutexLock lock(&mu_);
  if (mu_.AwaitWithDeadline(absl::Condition(is_there, &wanted), deadline) &&
      HasApplied(probe->head.revision)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError("the server is behind what others have written");
}

}  // namespace carom::server
