// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/etcd_sweeper.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "server/base/log.h"

namespace carom::server {
namespace {

constexpr absl::Duration kLeaseTime = absl::Seconds(20);
constexpr absl::Duration kRenewAfter = absl::Seconds(4);
constexpr absl::Duration kSweepReadTime = absl::Seconds(10);
constexpr int64_t kKeysAtOnce = 5000;
constexpr size_t kDeletedAtOnce = 100;

}  // namespace

// The first sweep (deletion of unused pages) comes after about an `interval`, because etcd is busy
// at the start of a server, which reads all scenes.
void EtcdSweeper::Start(absl::Duration interval, Metrics& metrics) {
  thread_ = std::thread([this, interval, &metrics] { Run(interval, metrics); });
}

// A running sweep (deletion of unused pages) ends soon: the owner stops the `EtcdClient` before the
// sweeper, and then `Renew` fails.
void EtcdSweeper::Stop() {
  {
    absl::MutexLock lock(&mu_);
    is_stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

// Waits a random time of 0.5 to 1.5 times `interval` before each sweep (deletion of unused pages),
// so that servers that were started together do not sweep at the same time.
void EtcdSweeper::Run(absl::Duration interval, Metrics& metrics) {
  std::mt19937 random{std::random_device()()};
  std::uniform_real_distribution<double> part(0.5, 1.5);
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      mu_.AwaitWithTimeout(absl::Condition(&is_stopping_), interval * part(random));
      if (is_stopping_) return;
    }
    const absl::StatusOr<uint64_t> swept = Sweep();
    if (swept.ok()) metrics.Add(Counter::kEtcdSweeps);
    if (swept.ok() || absl::IsUnavailable(swept.status()) || absl::IsAborted(swept.status())) {
      continue;
    }
    LogLine(LogLevel::kWarning, "etcd_fault")
        .With("detail", absl::StrCat("unused pages stay in etcd: ", swept.status().message()));
  }
}

// Puts the key /sweeper with a lease, raises the number `sweep` in the key /epoch, which every
// commit compares, collects the pages that kept versions use, finds the pages that no kept version
// uses, and deletes these unused pages. Each step that fails ends the sweep; a later sweep of any
// server deletes the remaining pages.
absl::StatusOr<uint64_t> EtcdSweeper::Sweep() {
  EtcdClient& client = journal_.client();
  const absl::StatusOr<int64_t> lease = client.GrantLease(kLeaseTime);
  if (!lease.ok()) return lease.status();
  const auto revoke = absl::MakeCleanup([&] { client.RevokeLease(*lease); });
  Claim claim{.lease = *lease, .renewed = absl::Now()};
  etcd::TxnRequest request;
  AddModCompare(request, journal_.keys().sweeper(), 0);
  AddPut(request, journal_.keys().sweeper(), RandomName());
  request.mutable_success(0)->mutable_request_put()->set_lease(*lease);
  etcd::TxnResponse response;
  absl::Status status;
  // If the outcome of the put is unknown, the sweep ends, and so does the key, with its lease.
  if (client.Write(request, response, status) != EtcdClient::Outcome::kApplied) return status;
  if (!response.succeeded()) return 0;
  claim.claimed = static_cast<uint64_t>(response.header().revision());
  const absl::StatusOr<uint64_t> raised = journal_.commits().RaiseSweep();
  if (!raised.ok()) return raised.status();
  claim.raised = *raised;
  absl::flat_hash_set<PageHash> used;
  status = Mark(claim, used);
  if (!status.ok()) return status;
  const absl::StatusOr<std::vector<Unused>> unused = FindUnused(claim, used);
  if (!unused.ok()) return unused.status();
  uint64_t count = 0;
  for (size_t i = 0; i < unused->size(); i += kDeletedAtOnce) {
    if (status = Renew(claim); !status.ok()) return status;
    const size_t size = std::min(kDeletedAtOnce, unused->size() - i);
    const absl::StatusOr<uint64_t> deleted =
        Delete(claim, std::span<const Unused>(*unused).subspan(i, size));
    if (!deleted.ok()) return deleted.status();
    count += *deleted;
  }
  return count;
}

// Renews the lease of the sweep (a deletion of unused pages) if the last renewal was at least
// `kRenewAfter` ago. Called before each step that takes time: etcd deletes the key /sweeper when
// the lease ends, and every deletion of pages requires that the key exists.
absl::Status EtcdSweeper::Renew(Claim& claim) {
  if (journal_.client().is_stopping()) return absl::AbortedError("the server stops");
  if (absl::Now() - claim.renewed < kRenewAfter) return absl::OkStatus();
  claim.renewed = absl::Now();
  return journal_.client().RenewLease(claim.lease);
}

// Reads the pages of the newest version of a scene up to `kMaxTxnPages` at a time; of an older
// version it reads each page alone, because few of them are not yet in `used`. A page that cannot
// be read ends the sweep, because the pages below it are unknown.
absl::Status EtcdSweeper::Mark(Claim& claim, absl::flat_hash_set<PageHash>& used) {
  const absl::StatusOr<EtcdJournal::Listing> listing = journal_.List();
  if (!listing.ok()) return listing.status();
  for (const auto& [name, scene] : listing->scenes) {
    if (!scene->status.ok()) return scene->status;
    for (size_t i = scene->kept.size(); i-- > 0;) {
      if (absl::Status status = Renew(claim); !status.ok()) return status;
      PrefetchingReader reader(journal_.pages());
      const bool is_current = i + 1 == scene->kept.size();
      const auto read = [&](const PageHash& hash) -> absl::StatusOr<std::string> {
        if (absl::Status status = Renew(claim); !status.ok()) return status;
        return is_current ? reader(hash) : journal_.pages().Read(hash);
      };
      absl::Status status = CollectNewPages(scene->kept[i].root, read, used);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Reads only the keys of pages, up to `kKeysAtOnce` at a time, and returns the pages that are not
// in `used`. Leaves out a page that was put at or after the revision `claim.raised`, because a
// commit may be about to use it.
absl::StatusOr<std::vector<EtcdSweeper::Unused>> EtcdSweeper::FindUnused(
    Claim& claim, const absl::flat_hash_set<PageHash>& used) {
  std::vector<Unused> unused;
  etcd::RangeRequest request;
  request.set_key(journal_.keys().pages());
  request.set_range_end(EndOfPrefix(request.key()));
  request.set_limit(kKeysAtOnce);
  request.set_keys_only(true);
  etcd::RangeResponse response;
  do {
    absl::Status status = Renew(claim);
    if (status.ok()) status = journal_.client().Range(request, response, kSweepReadTime);
    if (!status.ok()) return status;
    for (const etcd::KeyValue& page : response.kvs()) {
      const std::optional<PageHash> hash = journal_.keys().PageOf(page.key());
      const auto put = static_cast<uint64_t>(page.mod_revision());
      if (!hash.has_value() || put >= claim.raised || used.contains(*hash)) continue;
      unused.push_back({*hash, put});  // NOLINT(performance-inefficient-vector-operation)
    }
    if (response.kvs_size() != 0) request.set_key(response.kvs().rbegin()->key() + '\0');
  } while (response.more() && response.kvs_size() != 0);
  return unused;
}

// Deletes all `pages` in one transaction. The transaction deletes nothing if one of `pages` was put
// again after `FindUnused` found it; the function then deletes each half of `pages` by a
// transaction of its own, recursively.
absl::StatusOr<uint64_t> EtcdSweeper::Delete(const Claim& claim, std::span<const Unused> pages) {
  const EtcdKeys& keys = journal_.keys();
  etcd::TxnRequest request;
  AddModCompare(request, keys.epoch(), claim.raised);
  AddModCompare(request, keys.sweeper(), claim.claimed);
  for (const Unused& page : pages) {
    AddModCompare(request, keys.PageKey(page.hash), page.put);
    AddDelete(request, keys.PageKey(page.hash), "");
  }
  request.add_failure()->mutable_request_range()->set_key(keys.epoch());
  request.add_failure()->mutable_request_range()->set_key(keys.sweeper());
  etcd::TxnResponse response;
  absl::Status status;
  const EtcdClient::Outcome outcome = journal_.client().Write(request, response, status);
  if (outcome != EtcdClient::Outcome::kApplied) return status;
  if (response.succeeded()) return pages.size();
  // If /epoch or /sweeper does not have the revision of this sweep, another sweep, or
  // `EtcdCommits::Resolve`, has put the key, or the lease has ended.
  const auto is_put_at = [&](int part, uint64_t revision) {
    const etcd::RangeResponse& found = response.responses(part).response_range();
    return found.kvs_size() == 1 && static_cast<uint64_t>(found.kvs(0).mod_revision()) == revision;
  };
  if (!is_put_at(0, claim.raised) || !is_put_at(1, claim.claimed)) {
    return absl::AbortedError("the sweep is overtaken");
  }
  // The keys /epoch and /sweeper are unchanged, so one of the pages was put again after
  // `FindUnused` found it.
  if (pages.size() == 1) return 0;
  const absl::StatusOr<uint64_t> first = Delete(claim, pages.first(pages.size() / 2));
  if (!first.ok()) return first.status();
  const absl::StatusOr<uint64_t> second = Delete(claim, pages.subspan(pages.size() / 2));
  if (!second.ok()) return second.status();
  return *first + *second;
}

}  // namespace carom::server
