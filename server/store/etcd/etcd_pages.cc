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

// Pages below an inner page.
// In their order, which is that in which a tree is read. Leaves and parts of polygons have none:
// the parts of a large polygon are read when it is.
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
      continue;  // whoever reads the page says that it is damaged
    }
    std::memcpy(hash.data(), child.page().data(), hash.size());
    children.push_back(hash);
  }
  return children;
}

}  // namespace

// The page that was not used for longest goes first.
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

// It is the last one that was used, from here on.
bool EtcdPages::FindKept(const PageHash& hash, std::string& bytes) {
  absl::MutexLock lock(&mu_);
  const auto it = by_hash_.find(hash);
  if (it == by_hash_.end()) return false;
  kept_.splice(kept_.begin(), kept_, it->second);
  bytes = it->second->bytes;
  return true;
}

// What is kept was checked when it came; what comes now is checked here.
absl::StatusOr<std::string> EtcdPages::Read(const PageHash& hash) {
  const absl::StatusOr<std::vector<Page>> read = Fetch({&hash, 1});
  if (!read.ok()) return read.status();
  if (read->empty()) return DamagedScene("a page is missing");
  if (absl::Status status = CheckPage(hash, read->front().bytes); !status.ok()) return status;
  return read->front().bytes;
}

// Ranges of one key each, a hundred in a transaction that writes nothing.
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
        // One that is damaged is for its reader alone.
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

// Nobody names these pages yet, so an error between two of the transactions leaves nothing but
// pages that the next sweep takes.
//
// What was put twice is as if it was put once, so what is not known to be there is put again.
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
    // The pages before were written, so the time begins anew with each of these transactions.
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

// Trees are read depth first, so what is read ahead is the pages below those on the path down: some
// hundreds at most, of 4 KiB each.
absl::StatusOr<std::string> PagesAhead::operator()(const PageHash& hash) {
  std::string bytes;
  if (const auto it = ahead_.find(hash); it != ahead_.end()) {
    bytes = std::move(it->second);
    ahead_.erase(it);
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
    ahead_[page.hash] = std::move(page.bytes);
  }
  return bytes;
}

}  // namespace carom::server
