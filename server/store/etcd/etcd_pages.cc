// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/etcd_pages.h"

#include <algorithm>
#include <cstring>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "carom/store/v1/pages.pb.h"
#include "server/store/page_members.h"

namespace carom::server {
namespace {

constexpr absl::Duration kPagesTime = absl::Seconds(10);

// Returns the hashes of the child pages of an inner page, in the order in which a tree is read.
// Returns none for a leaf or a chunk: the chunks of a large polygon are read with the polygon.
std::vector<PageHash> ChildrenOf(const std::string& bytes) {
  std::vector<PageHash> children;
  const absl::StatusOr<PageMembers> page = MembersOf(bytes);
  if (!page.ok() || page->kind != PageKind::kInner) return children;
  children.reserve(page->members.size());
  for (const PageMember& member : page->members) {
    store::v1::Child child;
    PageHash hash;
    if (!child.ParseFromArray(member.bytes.data(), static_cast<int>(member.bytes.size())) ||
        child.page().size() != hash.size()) {
      continue;  // the code that reads the tree reports the damage
    }
    std::memcpy(hash.data(), child.page().data(), hash.size());
    children.push_back(hash);
  }
  return children;
}

}  // namespace

// Removes the least recently used pages while the cache exceeds `kCachedBytes`.
void EtcdPages::Keep(const PageHash& hash, const std::string& bytes) {
  absl::MutexLock lock(&mu_);
  if (by_hash_.contains(hash)) return;
  kept_.push_front({hash, bytes});
  by_hash_[hash] = kept_.begin();
  kept_bytes_ += bytes.size();
  while (kept_bytes_ > kCachedBytes) {
    kept_bytes_ -= kept_.back().bytes.size();
    by_hash_.erase(kept_.back().hash);
    kept_.pop_back();
  }
}

// Marks the page as the most recently used one.
bool EtcdPages::FindKept(const PageHash& hash, std::string& bytes) {
  absl::MutexLock lock(&mu_);
  const auto it = by_hash_.find(hash);
  if (it == by_hash_.end()) return false;
  kept_.splice(kept_.begin(), kept_, it->second);
  bytes = it->second->bytes;
  return true;
}

// Checks that the page matches its hash. `Fetch` takes the page from the cache or from etcd.
absl::StatusOr<std::string> EtcdPages::Read(const PageHash& hash) {
  const absl::StatusOr<std::vector<Page>> read = Fetch({&hash, 1});
  if (!read.ok()) return read.status();
  if (read->empty()) return DamagedScene("a page is missing");
  if (absl::Status status = CheckPage(hash, read->front().bytes); !status.ok()) return status;
  return read->front().bytes;
}

// Takes pages from the cache, and reads pages that are not in the cache from etcd, up to
// `kMaxTxnPages` in one read-only transaction with a range of one key for each page.
absl::StatusOr<std::vector<Page>> EtcdPages::Fetch(std::span<const PageHash> hashes) {
  std::vector<Page> pages;
  pages.reserve(hashes.size());
  etcd::TxnRequest request;
  const auto fetch = [&]() -> absl::Status {
    if (request.success_size() == 0) return absl::OkStatus();
    etcd::TxnResponse response;
    if (absl::Status status = client_.Read(request, response, kPagesTime); !status.ok()) {
      return status;
    }
    for (const etcd::ResponseOp& part : response.responses()) {
      for (const etcd::KeyValue& found : part.response_range().kvs()) {
        const std::optional<PageHash> hash = keys_.PageOf(found.key());
        if (!hash.has_value()) continue;
        pages.push_back({*hash, found.value()});
        // If the page is damaged, it is returned, so that the caller reports the damage, but not
        // cached.
        if (CheckPage(*hash, found.value()).ok()) Keep(*hash, found.value());
      }
    }
    request.Clear();
    return absl::OkStatus();
  };
  for (const PageHash& hash : hashes) {
    if (std::string bytes; FindKept(hash, bytes)) {
      pages.push_back({hash, std::move(bytes)});
      continue;
    }
    request.add_success()->mutable_request_range()->set_key(keys_.PageKey(hash));
    if (static_cast<size_t>(request.success_size()) < kMaxTxnPages) continue;
    if (absl::Status status = fetch(); !status.ok()) return status;
  }
  if (absl::Status status = fetch(); !status.ok()) return status;
  return pages;
}

// Writes the pages in one or more transactions. No version refers to these pages yet, so an error
// between two of the transactions only leaves unused pages in etcd, which an `EtcdSweeper` deletes
// later.
//
// Writing a page twice has the effect of writing it once, so a transaction with an unknown outcome
// is repeated.
absl::Status EtcdPages::Write(std::span<const Page> pages) {
  const absl::Time deadline = absl::Now() + kPagesTime;
  for (size_t i = 0; i < pages.size();) {
    etcd::TxnRequest request;
    size_t bytes = 0;
    size_t end = i;
    while (end < pages.size() && end - i < kMaxTxnPages &&
           (end == i || bytes + pages[end].bytes.size() <= kMaxTxnBytes)) {
      etcd::PutRequest& put = *request.add_success()->mutable_request_put();
      put.set_key(keys_.PageKey(pages[end].hash));
      put.set_value(pages[end].bytes);
      bytes += pages[end++].bytes.size();
    }
    etcd::TxnResponse response;
    absl::Status status;
    EtcdClient::Outcome outcome = client_.Write(request, response, status);
    // Each transaction is repeated for up to `kPagesTime`, even after `deadline`, because giving up
    // would waste the earlier transactions, which have succeeded.
    for (const absl::Time until = std::max(deadline, absl::Now() + kPagesTime);
         outcome == EtcdClient::Outcome::kUnknown && absl::Now() < until;) {
      outcome = client_.Write(request, response, status);
    }
    if (outcome != EtcdClient::Outcome::kApplied) return status;
    i = end;
  }
  for (const Page& page : pages) Keep(page.hash, page.bytes);
  return absl::OkStatus();
}

// Trees are read depth first, so `prefetched_` has only children of the pages on the path from the
// root to the current page: at most about 140 pages, the children of one inner page, for each level
// of the tree. Each page has at most 4 KiB.
absl::StatusOr<std::string> PrefetchingReader::operator()(const PageHash& hash) {
  std::string bytes;
  if (const auto it = prefetched_.find(hash); it != prefetched_.end()) {
    bytes = std::move(it->second);
    prefetched_.erase(it);
  } else {
    absl::StatusOr<std::string> read = pages_.Read(hash);
    if (!read.ok()) return read.status();
    bytes = *std::move(read);
  }
  const std::vector<PageHash> below = ChildrenOf(bytes);
  if (below.empty()) return bytes;
  absl::StatusOr<std::vector<Page>> fetched = pages_.Fetch(below);
  if (!fetched.ok()) return fetched.status();
  for (Page& page : *fetched) {
    if (absl::Status status = CheckPage(page.hash, page.bytes); !status.ok()) return status;
    prefetched_[page.hash] = std::move(page.bytes);
  }
  return bytes;
}

}  // namespace carom::server
