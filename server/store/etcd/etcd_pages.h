// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Pages of polygons in etcd, and those of them that are at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/store/etcd/etcd_client.h"
#include "server/store/etcd/etcd_records.h"
#include "server/store/page_tree.h"

namespace carom::server {

// What one transaction has at most, below etcd's own limits by default: 128 parts and 1.5 MiB.
inline constexpr size_t kMaxTxnPages = 96;
inline constexpr size_t kMaxTxnBytes = 768 << 10;

// Thread-safe. Pages never change, so one that was seen is as good as etcd's; the last
// `kCachedBytes` of them are kept.
class EtcdPages {
 public:
  static constexpr size_t kCachedBytes = 32 << 20;

  // Both outlive it.
  EtcdPages(EtcdClient& client, const EtcdKeys& keys) : client_(client), keys_(keys) {}

  // A page, as `PageReader` has it. UNAVAILABLE if etcd does not answer.
  absl::StatusOr<std::string> Read(const PageHash& hash);
  // Several pages, in one call or few; those that are not there are left out.
  absl::StatusOr<std::vector<Page>> Fetch(std::span<const PageHash> hashes);
  // Writes pages, whether they are there or not. All are there if it is OK, else some may be.
  absl::Status Write(std::span<const Page> pages);
  // Keeps a page that came by.
  void Keep(const PageHash& hash, const std::string& bytes) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool FindKept(const PageHash& hash, std::string& bytes) ABSL_LOCKS_EXCLUDED(mu_);

  EtcdClient& client_;
  const EtcdKeys& keys_;
  absl::Mutex mu_;
  std::list<Page> kept_ ABSL_GUARDED_BY(mu_);  // the last one that was used is first
  absl::flat_hash_map<PageHash, std::list<Page>::iterator> by_hash_ ABSL_GUARDED_BY(mu_);
  size_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

// Reads a tree as a whole: with a page those below it, a hundred in a call. Not thread-safe.
class PagesAhead {
 public:
  explicit PagesAhead(EtcdPages& pages) : pages_(pages) {}
  absl::StatusOr<std::string> operator()(const PageHash& hash);

 private:
  EtcdPages& pages_;
  absl::flat_hash_map<PageHash, std::string> ahead_;  // read, and not yet asked for
};

}  // namespace carom::server
