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

// How long a change is tried, and then what became of it is asked.
constexpr absl::Duration kChangeTime = absl::Seconds(12);
constexpr absl::Duration kPauseOfEtcd = absl::Milliseconds(50);
constexpr int kSweepAttempts = 10;

// Never the same twice, so that the key changes whenever it is put.
std::string EncodeEpoch(uint64_t sweep) {
  store::v1::SharedEpoch epoch;
  epoch.set_sweep(sweep);
  epoch.set_writer(RandomName());
  return epoch.SerializeAsString();
}

// The value too: a cluster that was restored counts its revisions a second time.
void AddSceneCompare(etcd::TxnRequest& request, const std::string& key, const SharedScene* base) {
  AddModCompare(request, key, base == nullptr ? 0 : base->version);
  if (base == nullptr) return;
  etcd::Compare& compare = *request.add_compare();
  compare.set_target(etcd::Compare::VALUE);
  compare.set_key(key);
  compare.set_value(base->value);
}

// Whether a scene's key is as its writer knows it: what `AddSceneCompare` compares, looked at here
// to find out which of the comparisons has failed.
bool IsBase(const SharedScene* base, const etcd::RangeResponse& found) {
  if (base == nullptr) return found.kvs_size() == 0;
  return found.kvs_size() == 1 && found.kvs(0).value() == base->value &&
         static_cast<uint64_t>(found.kvs(0).mod_revision()) == base->version;
}

// Whether a version that is kept shows that those before it, back to the one that followed `base`,
// are kept as well: what is kept of a scene has no gaps. Of a damaged scene the history begins
// anew.
bool ReachesBack(const SharedScene* base, const store::v1::SharedVersion& kept, uint64_t revision) {
  if (base == nullptr) return kept.number() == 1;
  if (!base->status.ok() || base->kept.empty()) return true;
  return revision <= base->version || kept.number() == base->current().number + 1;
}

absl::Status FateUnknown(absl::string_view why) {
  return absl::UnknownError(absl::StrCat(why, ": whether the change was made is not known"));
}

}  // namespace

// The payload distinguishes it from an ABORTED of the store, which is the client's to know.
absl::Status Conflict() {
  absl::Status status = absl::AbortedError("another server has changed the scene");
  status.SetPayload(kConflictUrl, absl::Cord());
  return status;
}

bool IsConflict(const absl::Status& status) { return status.GetPayload(kConflictUrl).has_value(); }

// Whatever else etcd has said, such as that a permission is missing, is not the client's doing.
absl::Status NotMade(const absl::Status& why) {
  const absl::StatusCode code = absl::IsResourceExhausted(why)
                                    ? absl::StatusCode::kResourceExhausted
                                    : absl::StatusCode::kUnavailable;
  return absl::Status(code, absl::StrCat("the change was not made: ", why.message()));
}

// From the system: servers that start at the same moment must not agree.
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

// What is known may be old: then a transaction fails once, and says what it is by now.
EtcdCommits::Epoch EtcdCommits::epoch() const {
  absl::MutexLock lock(&mu_);
  return epoch_;
}

// One that is older than what is known comes late, by the watch.
void EtcdCommits::SetEpoch(uint64_t revision, const std::string& value) {
  store::v1::SharedEpoch epoch;
  if (!epoch.ParseFromString(value)) return;
  absl::MutexLock lock(&mu_);
  if (revision != 0 && revision < epoch_.revision) return;
  epoch_ = {revision, epoch.sweep()};
}

void EtcdCommits::LearnEpoch(const etcd::RangeResponse& found) {
  if (found.kvs_size() == 0) return SetEpoch(0, "");
  SetEpoch(static_cast<uint64_t>(found.kvs(0).mod_revision()), found.kvs(0).value());
}

void EtcdCommits::SetRefusal(absl::Status why) {
  absl::MutexLock lock(&mu_);
  refusal_ = std::move(why);
}

// The pages come first, under an epoch that was read before them. Then the transaction is tried
// until it is made, the scene has another version than the base, or the deadline has passed. Each
// return value says whether the change was made:
//
//   answered, and all compared equal    made
//   answered, and the scene differed    not made: a conflict
//   answered, and the epoch differed    not made: tried again, with pages put anew after a sweep
//   refused by etcd, or never sent      not made
//   not answered                        as `Resolve` finds, or UNKNOWN
absl::StatusOr<uint64_t> EtcdCommits::Make(const SceneDraft& draft) {
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
    if (outcome == EtcdClient::Outcome::kNotApplied) return NotMade(status);
    if (outcome == EtcdClient::Outcome::kApplied) {
      if (response.succeeded()) return static_cast<uint64_t>(response.header().revision());
      if (absl::Status learned = Learn(draft, response); !learned.ok()) return learned;
    } else {
      uint64_t revision = 0;
      const absl::StatusOr<Fate> fate = Resolve(draft, revision);
      if (!fate.ok()) return fate.status();
      if (*fate == Fate::kMade) return revision;
      if (*fate == Fate::kOvertaken) return Conflict();
      if (*fate == Fate::kForgotten) return FateUnknown("others have made many changes since");
    }
    if (absl::Now() > deadline) return NotMade(absl::UnavailableError("etcd takes too long"));
    const Epoch next = this->epoch();
    // A sweep may have taken the pages.
    if (next.sweep != epoch.sweep) written = pages_.Write(draft.pages);
    epoch = next;
  }
  return NotMade(written);
}

// The two ranges of the failure list, in their order: the epoch and the scene.
absl::Status EtcdCommits::Learn(const SceneDraft& draft, const etcd::TxnResponse& response) {
  if (response.responses_size() != 2) return NotMade(absl::InternalError("etcd: no such answer"));
  LearnEpoch(response.responses(0).response_range());
  return IsBase(draft.base.get(), response.responses(1).response_range()) ? absl::OkStatus()
                                                                          : Conflict();
}

// A version that was made is there under its own key as long as it is kept, whoever has written
// since: by what its writer has put there it is known. Others may have made more versions since
// than are kept, while no member answered this server.
//
// Of a deletion nothing is left by which it is known: a scene that is gone, or was made anew since,
// was deleted by it, or by another deletion of the same version, which is as good.
EtcdCommits::Fate EtcdCommits::FateOf(const SceneDraft& draft, const etcd::TxnResponse& response,
                                      uint64_t& revision) const {
  const etcd::RangeResponse& current = response.responses(1).response_range();
  if (IsBase(draft.base.get(), current)) return Fate::kNotMade;
  if (draft.deletes) {
    revision = static_cast<uint64_t>(response.header().revision());
    const bool is_of_before =
        current.kvs_size() == 1 &&
        static_cast<uint64_t>(current.kvs(0).create_revision()) <= draft.base->version;
    return is_of_before ? Fate::kOvertaken : Fate::kMade;
  }
  bool reaches_back = current.kvs_size() == 0;  // a scene that is gone has no history
  for (const etcd::KeyValue& found : response.responses(2).response_range().kvs()) {
    store::v1::SharedVersion version;
    if (!version.ParseFromString(found.value())) continue;
    const auto put = static_cast<uint64_t>(found.mod_revision());
    reaches_back = reaches_back || ReachesBack(draft.base.get(), version, put);
    if (version.writer() != draft.writer) continue;
    revision = put;
    return Fate::kMade;
  }
  return reaches_back ? Fate::kOvertaken : Fate::kForgotten;
}

// The epoch that is put here is compared by the transaction in question: that came first, or fails.
//
// Raft orders the two. If the first is applied before this one, then this one, which reads the
// scene after its own put, sees what it has made. If it comes later, it finds another epoch, and
// does nothing; a leader that has died with it in its log, or a message that is still in transit,
// cannot change that. If this one is not answered either, it is simply tried again.
absl::StatusOr<EtcdCommits::Fate> EtcdCommits::Resolve(const SceneDraft& draft,
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
      return FateOf(draft, response, revision);
    }
    LearnEpoch(response.responses(0).response_range());
  }
  return FateUnknown("etcd did not answer");
}

// An attempt of which nothing was heard may have raised it: it is raised again, which costs commits
// that are under way one more attempt, and nothing else.
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
    LearnEpoch(response.responses(0).response_range());
  }
  return absl::UnavailableError("etcd: the epoch changes too often");
}

}  // namespace carom::server
