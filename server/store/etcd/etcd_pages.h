// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are pages of polygons (server/store/page_tree.h) read from etcd, written to it, and cached?
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

// The greatest number of pages that one transaction reads or writes, and the greatest total bytes
// of the pages that one transaction writes. The defaults of etcd's own limits for a transaction are
// 128 operations and 1.5 MiB.
inline constexpr size_t kMaxTxnPages = 96;
inline constexpr size_t kMaxTxnBytes = 768 << 10;

// Reads and writes the pages of polygons (server/store/page_tree.h) in etcd, and caches them.
// Thread-safe. Pages never change, so a cached page is always valid; the cache keeps the most
// recently used pages, up to `kCachedBytes`.
class EtcdPages {
 public:
  static constexpr size_t kCachedBytes = 32 << 20;

  // `client` and `keys` outlive the `EtcdPages`.
  EtcdPages(EtcdClient& client, const EtcdKeys& keys) : client_(client), keys_(keys) {}

  // Returns the bytes of the page with the hash `hash`. DATA_LOSS if the page is missing or
  // damaged; UNAVAILABLE if etcd does not answer.
  absl::StatusOr<std::string> Read(const PageHash& hash);
  // Returns several pages, with as few requests as possible; leaves out pages that do not exist.
  // The caller must check the pages against their hashes.
  absl::StatusOr<std::vector<Page>> Fetch(std::span<const PageHash> hashes);
  // Writes pages to etcd, even if they exist already. After an error, some of them may have been
  // written.
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

// Returns the pages of a tree that is read as a whole. When the caller requests an inner page,
// which refers to child pages, the reader also fetches all these child pages, up to `kMaxTxnPages`
// in a request, before the caller requests them. Not thread-safe.
class PrefetchingReader {
 public:
  explicit PrefetchingReader(EtcdPages& pages) : pages_(pages) {}
  absl::StatusOr<std::string> operator()(const PageHash& hash);

 private:
  EtcdPages& pages_;
  absl::flat_hash_map<PageHash, std::string> prefetched_;  // fetched in advance, not yet returned
};

}  // namespace carom::server
