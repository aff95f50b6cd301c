// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/etcd_commits.h"

#include <random>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "carom/store/v1/pages.pb.h"

namespace carom::server {
namespace {

constexpr char kConflictUrl[] = "carom/conflict";

// Time limit of `Commit` for all attempts to commit a change. It is also the time limit of
// `Resolve`, from its own start, for all attempts to determine whether the change was made.
constexpr absl::Duration kChangeTime = absl::Seconds(12);
constexpr absl::Duration kPauseOfEtcd = absl::Milliseconds(50);
constexpr int kSweepAttempts = 10;

// Returns a value for the key /epoch, with the number `sweep` of sweeps (deletions of unused
// pages). A random name in the value makes every value unique.
std::string EncodeEpoch(uint64_t sweep) {
  store::v1::SharedEpoch epoch;
  epoch.set_sweep(sweep);
  epoch.set_writer(RandomName());
  return epoch.SerializeAsString();
}

// Adds the comparisons that the scene's key has the revision and the value of `base`; null: that
// the key does not exist. The value is needed because a cluster that is restored from a backup
// assigns its revisions a second time.
void AddSceneCompare(etcd::TxnRequest& request, const std::string& key, const SharedScene* base) {
  AddModCompare(request, key, base == nullptr ? 0 : base->version);
  if (base == nullptr) return;
  etcd::Compare& compare = *request.add_compare();
  compare.set_target(etcd::Compare::VALUE);
  compare.set_key(key);
  compare.set_value(base->value);
}

// Returns whether `found`, the result of reading a scene's key, is the state `base`. Repeats the
// comparison of `AddSceneCompare`, to find out which comparison of a failed transaction did not
// hold.
bool IsBase(const SharedScene* base, const etcd::RangeResponse& found) {
  if (base == nullptr) return found.kvs_size() == 0;
  return found.kvs_size() == 1 && found.kvs(0).value() == base->value &&
         static_cast<uint64_t>(found.kvs(0).mod_revision()) == base->version;
}

// Returns whether the version `kept`, which was put at `revision`, is the first version after
// `base`, the state that a change was based on, or an earlier version. As the kept versions of a
// scene have consecutive sequence numbers, all versions since `base` are then still kept. Returns
// true for a damaged `base`, after which the history of the scene begins anew.
bool ReachesBack(const SharedScene* base, const store::v1::SharedVersion& kept, uint64_t revision) {
  if (base == nullptr) return kept.number() == 1;
  if (!base->status.ok() || base->kept.empty()) return true;
  return revision <= base->version || kept.number() == base->current().number + 1;
}

absl::Status OutcomeUnknown(absl::string_view why) {
  return absl::UnknownError(absl::StrCat(why, ": whether the change was made is not known"));
}

}  // namespace

// The payload distinguishes a conflict, which `FleetStore` handles by a retry, from other ABORTED
// errors of a change, which the client receives.
absl::Status Conflict() {
  absl::Status status = absl::AbortedError("another server has changed the scene");
  status.SetPayload(kConflictUrl, absl::Cord());
  return status;
}

bool IsConflict(const absl::Status& status) { return status.GetPayload(kConflictUrl).has_value(); }

// Replaces all codes of etcd but RESOURCE_EXHAUSTED, such as the code of a missing permission, by
// UNAVAILABLE, because the client of this server has not caused the error.
absl::Status NotCommitted(const absl::Status& why) {
  const absl::StatusCode code = absl::IsResourceExhausted(why)
                                    ? absl::StatusCode::kResourceExhausted
                                    : absl::StatusCode::kUnavailable;
  return absl::Status(code, absl::StrCat("the change was not made: ", why.message()));
}

// Uses random numbers of the operating system, so that servers that start at the same moment get
// different names.
std::string RandomName() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) {
    const uint32_t word = random();
    for (int shift = 0; shift < 32; shift += 8) name.push_back(static_cast<char>(word >> shift));
  }
  return name;
}

void AddPut(etcd::TxnRequest& request, std::string key, std::string value) {
  etcd::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(std::move(key));
  put.set_value(std::move(value));
}

void AddDelete(etcd::TxnRequest& request, std::string key, std::string end) {
  etcd::DeleteRangeRequest& range = *request.add_success()->mutable_request_delete_range();
  range.set_key(std::move(key));
  range.set_range_end(std::move(end));
}

void AddModCompare(etcd::TxnRequest& request, std::string key, uint64_t revision) {
  etcd::Compare& compare = *request.add_compare();
  compare.set_target(etcd::Compare::MOD);
  compare.set_key(std::move(key));
  compare.set_mod_revision(static_cast<int64_t>(revision));
}

// The returned epoch may be outdated. A transaction that compares the key /epoch with an outdated
// epoch fails, and the response of the transaction has the current epoch for the next attempt.
EtcdCommits::Epoch EtcdCommits::epoch() const {
  absl::MutexLock lock(&mu_);
  return epoch_;
}

// The epoch is the value of the key /epoch, which every commit compares. Ignores an epoch that is
// older than the recorded one: the watch of etcd may deliver an older epoch after the response of a
// transaction has brought a newer one.
void EtcdCommits::SetEpoch(uint64_t revision, const std::string& value) {
  store::v1::SharedEpoch epoch;
  if (!epoch.ParseFromString(value)) return;
  absl::MutexLock lock(&mu_);
  if (revision != 0 && revision < epoch_.revision) return;
  epoch_ = {revision, epoch.sweep()};
}

void EtcdCommits::RecordEpoch(const etcd::RangeResponse& found) {
  if (found.kvs_size() == 0) return SetEpoch(0, "");
  SetEpoch(static_cast<uint64_t>(found.kvs(0).mod_revision()), found.kvs(0).value());
}

void EtcdCommits::SetRefusal(absl::Status why) {
  absl::MutexLock lock(&mu_);
  refusal_ = std::move(why);
}

// Reads the recorded epoch (the value of the key /epoch, which other servers change to make this
// transaction fail), and then puts `draft.pages`. Then repeats the transaction, which compares the
// epoch and the scene, until it is committed, the scene has another version than `draft.base`, or
// the deadline has passed. Each return value states whether the change was made:
//
//   answered, and all compared equal    made
//   answered, and the scene differed    not made: a conflict
//   answered, and the epoch differed    not made: repeated, with pages put anew after a sweep
//   refused by etcd, or never sent      not made
//   not answered                        as `Resolve` finds, or UNKNOWN
absl::StatusOr<uint64_t> EtcdCommits::Commit(const SceneDraft& draft) {
  {
    absl::MutexLock lock(&mu_);
    if (!refusal_.ok()) return refusal_;
  }
  const absl::Time deadline = absl::Now() + kChangeTime;
  Epoch epoch = this->epoch();
  absl::Status written = pages_.Write(draft.pages);
  while (written.ok()) {
    etcd::TxnRequest request = draft.request;
    AddModCompare(request, keys_.epoch(), epoch.revision);
    AddSceneCompare(request, keys_.SceneKey(draft.name), draft.base.get());
    request.add_failure()->mutable_request_range()->set_key(keys_.epoch());
    request.add_failure()->mutable_request_range()->set_key(keys_.SceneKey(draft.name));
    etcd::TxnResponse response;
    absl::Status status;
    const EtcdClient::Outcome outcome = client_.Write(request, response, status);
    if (outcome == EtcdClient::Outcome::kNotApplied) return NotCommitted(status);
    if (outcome == EtcdClient::Outcome::kApplied) {
      if (response.succeeded()) return static_cast<uint64_t>(response.header().revision());
      if (absl::Status learned = CheckFailedCommit(draft, response); !learned.ok()) return learned;
    } else {
      uint64_t revision = 0;
      const absl::StatusOr<CommitOutcome> resolved = Resolve(draft, revision);
      if (!resolved.ok()) return resolved.status();
      if (*resolved == CommitOutcome::kCommitted) return revision;
      if (*resolved == CommitOutcome::kSuperseded) return Conflict();
      if (*resolved == CommitOutcome::kUnknown)
        return OutcomeUnknown("other servers have made many changes since");
    }
    if (absl::Now() > deadline) return NotCommitted(absl::UnavailableError("etcd takes too long"));
    const Epoch next = this->epoch();
    // A raised `sweep` shows that a sweep (a deletion of unused pages) has begun, which may have
    // deleted the pages that `pages_.Write` has put.
    if (next.sweep != epoch.sweep) written = pages_.Write(draft.pages);
    epoch = next;
  }
  return NotCommitted(written);
}

// `response` has the results of the two reads in the transaction's failure list: first the key
// /epoch, then the key of the scene.
absl::Status EtcdCommits::CheckFailedCommit(const SceneDraft& draft,
                                            const etcd::TxnResponse& response) {
  if (response.responses_size() != 2)
    return NotCommitted(absl::InternalError("etcd: unexpected response"));
  RecordEpoch(response.responses(0).response_range());
  return IsBase(draft.base.get(), response.responses(1).response_range()) ? absl::OkStatus()
                                                                          : Conflict();
}

// A committed version has its own key /version/… as long as the history keeps the version, whatever
// was committed since, and `writer` in the value of the key identifies the commit. The key may
// already be deleted: while no etcd member answered this server, other servers may have committed
// more versions than the history keeps.
//
// A deletion leaves no key that identifies it. If the scene does not exist, or was created again
// since, then either the deletion of `draft` or another deletion of the version `draft.base` was
// committed. Either deletion has the effect that the client wants, so the outcome is kCommitted.
EtcdCommits::CommitOutcome EtcdCommits::OutcomeOf(const SceneDraft& draft,
                                                  const etcd::TxnResponse& response,
                                                  uint64_t& revision) const {
  const etcd::RangeResponse& current = response.responses(1).response_range();
  if (IsBase(draft.base.get(), current)) return CommitOutcome::kNotCommitted;
  if (draft.deletes) {
    revision = static_cast<uint64_t>(response.header().revision());
    const bool is_of_before =
        current.kvs_size() == 1 &&
        static_cast<uint64_t>(current.kvs(0).create_revision()) <= draft.base->version;
    return is_of_before ? CommitOutcome::kSuperseded : CommitOutcome::kCommitted;
  }
  // whether all versions since the base are still kept, or the scene was deleted with its history
  bool reaches_back = current.kvs_size() == 0;
  for (const etcd::KeyValue& found : response.responses(2).response_range().kvs()) {
    store::v1::SharedVersion version;
    if (!version.ParseFromString(found.value())) continue;
    const auto put = static_cast<uint64_t>(found.mod_revision());
    reaches_back = reaches_back || ReachesBack(draft.base.get(), version, put);
    if (version.writer() != draft.writer) continue;
    revision = put;
    return CommitOutcome::kCommitted;
  }
  return reaches_back ? CommitOutcome::kSuperseded : CommitOutcome::kUnknown;
}

// The transaction in question, that of `draft`, has an unknown outcome. Puts another value of the
// key /epoch, the epoch, which every commit compares: either the transaction in question was
// committed before this put, or it fails.
//
// Raft, the consensus protocol of etcd, orders the transaction in question and the transaction of
// `Resolve`. If the transaction in question is applied first, the transaction of `Resolve`, which
// reads the scene after its own put, reads the result. If the transaction in question is applied
// later, it finds another epoch and does nothing, even if it is still in the log of a leader that
// has failed, or in transit. If the transaction of `Resolve` is not answered either, it is
// repeated.
absl::StatusOr<EtcdCommits::CommitOutcome> EtcdCommits::Resolve(const SceneDraft& draft,
                                                                uint64_t& revision) {
  const absl::Time deadline = absl::Now() + kChangeTime;
  while (absl::Now() < deadline && !client_.is_stopping()) {
    const Epoch epoch = this->epoch();
    etcd::TxnRequest request;
    AddModCompare(request, keys_.epoch(), epoch.revision);
    const std::string value = EncodeEpoch(epoch.sweep);
    AddPut(request, keys_.epoch(), value);
    request.add_success()->mutable_request_range()->set_key(keys_.SceneKey(draft.name));
    etcd::RangeRequest& range = *request.add_success()->mutable_request_range();
    range.set_key(keys_.VersionsOf(draft.name));
    range.set_range_end(EndOfPrefix(keys_.VersionsOf(draft.name)));
    request.add_failure()->mutable_request_range()->set_key(keys_.epoch());
    etcd::TxnResponse response;
    absl::Status status;
    if (client_.Write(request, response, status) != EtcdClient::Outcome::kApplied) {
      absl::SleepFor(kPauseOfEtcd);
      continue;
    }
    if (response.succeeded()) {
      SetEpoch(static_cast<uint64_t>(response.header().revision()), value);
      return OutcomeOf(draft, response, revision);
    }
    RecordEpoch(response.responses(0).response_range());
  }
  return OutcomeUnknown("etcd did not answer");
}

// Raises `sweep`, a number in the key /epoch, which every commit compares. An attempt that etcd did
// not answer may have raised `sweep` nevertheless. The next attempt then raises `sweep` a second
// time, which only makes running commits retry once more.
absl::StatusOr<uint64_t> EtcdCommits::RaiseSweep() {
  for (int i = 0; i < kSweepAttempts && !client_.is_stopping(); ++i) {
    const Epoch epoch = this->epoch();
    etcd::TxnRequest request;
    AddModCompare(request, keys_.epoch(), epoch.revision);
    const std::string value = EncodeEpoch(epoch.sweep + 1);
    AddPut(request, keys_.epoch(), value);
    request.add_failure()->mutable_request_range()->set_key(keys_.epoch());
    etcd::TxnResponse response;
    absl::Status status;
    const EtcdClient::Outcome outcome = client_.Write(request, response, status);
    if (outcome == EtcdClient::Outcome::kNotApplied) return status;
    if (outcome == EtcdClient::Outcome::kUnknown) continue;
    if (response.succeeded()) {
      SetEpoch(static_cast<uint64_t>(response.header().revision()), value);
      return static_cast<uint64_t>(response.header().revision());
    }
    RecordEpoch(response.responses(0).response_range());
  }
  return absl::UnavailableError("etcd: the epoch changes too often");
}

}  // namespace carom::server
