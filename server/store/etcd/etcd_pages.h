// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are pages of polygons read from etcd, written, and cached?
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

// The limits of one transaction, below etcd's own limits by default: 128 operations and 1.5 MiB.
inline constexpr size_t kMaxTxnPages = 96;
inline constexpr size_t kMaxTxnBytes = 768 << 10;

// The pages in etcd, and a cache of them. Thread-safe. Pages never change, so a cached page is
// always valid; the cache keeps the `kCachedBytes` that were used last.
class EtcdPages {
 public:
  static constexpr size_t kCachedBytes = 32 << 20;

  // `client` and `keys` outlive it.
  EtcdPages(EtcdClient& client, const EtcdKeys& keys) : client_(client), keys_(keys) {}

  // Returns a page, as a `PageReader` does. UNAVAILABLE if etcd does not answer.
  absl::StatusOr<std::string> Read(const PageHash& hash);
  // Returns several pages, with as few requests as possible; leaves out pages that do not exist.
  // The caller must check the pages against their hashes.
  absl::StatusOr<std::vector<Page>> Fetch(std::span<const PageHash> hashes);
  // Writes pages, whether they exist or not. If the status is OK, all of them exist, otherwise some
  // may.
  absl::Status Write(std::span<const Page> pages);
  // Adds a page to the cache.
  void Keep(const PageHash& hash, const std::string& bytes) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool FindKept(const PageHash& hash, std::string& bytes) ABSL_LOCKS_EXCLUDED(mu_);

  EtcdClient& client_;
  const EtcdKeys& keys_;
  absl::Mutex mu_;
  std::list<Page> kept_ ABSL_GUARDED_BY(mu_);  // the most recently used page is first
  absl::flat_hash_map<PageHash, std::list<Page>::iterator> by_hash_ ABSL_GUARDED_BY(mu_);
  size_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

// Reads a whole tree: fetches with each page the pages below it, about a hundred in a request. Not
// thread-safe.
class PrefetchingReader {
 public:
  explicit PrefetchingReader(EtcdPages& pages) : pages_(pages) {}
  absl::StatusOr<std::string> operator()(const PageHash& hash);

 private:
  EtcdPages& pages_;
  absl::flat_hash_map<PageHash, std::string> prefetched_;  // fetched, and not yet returned
};

}  // namespace carom::server
