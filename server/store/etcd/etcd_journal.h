// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes in etcd, which several processes write.
//
// A commit is one transaction (server/store/etcd/etcd_commits.h), which puts the version
// (server/store/etcd/etcd_records.h); its revision is the version's number. Pages are in the same
// transaction, or were put before it where they are many.
//
// The journal knows of each scene what its caller has of it, and not what etcd has by now: that is
// the follower's to bring (server/store/etcd/fleet_store.h). Where the two differ, a commit is a
// conflict.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/store/etcd/etcd_client.h"
#include "server/store/etcd/etcd_commits.h"
#include "server/store/etcd/etcd_pages.h"
#include "server/store/etcd/etcd_records.h"
#include "server/store/scene_journal.h"

namespace carom::server {

struct EtcdJournalOptions {
  // Of a scene, the current version among them; bytes of pages that the current one does not have.
  size_t history_versions = 64;
  uint64_t history_bytes = 64u << 20;
  uint64_t store_bytes = 1536u << 20;  // of etcd's file, from which on nothing is added
};

// Thread-safe as SceneJournal. Changes are UNAVAILABLE if they were certainly not made, UNKNOWN if
// nobody knows; RESOURCE_EXHAUSTED where there is no room; or a conflict, as above.
class EtcdJournal final : public SceneJournal {
 public:
  EtcdJournal(std::unique_ptr<EtcdClient> client, const EtcdJournalOptions& options)
      : options_(options), client_(std::move(client)), keys_(client_->prefix()) {}

  // Waits a minute for etcd, if nobody answers.
  absl::Status Recover(absl::FunctionRef<void(SavedScene)> visit) override;
  uint64_t last_version() const override { return listed_revision_; }
  absl::StatusOr<Written> Replace(absl::string_view name, const Scene& scene,
                                  const VersionSummary& summary) override;
  absl::StatusOr<Written> Edit(absl::string_view name, absl::Span<const SceneEdit> edits,
                               const VersionSummary& summary) override;
  absl::StatusOr<Written> Restore(absl::string_view name, uint64_t version,
                                  const VersionSummary& summary) override;
  absl::Status Delete(absl::string_view name) override;
  absl::Status Load(absl::string_view name, uint64_t version,
                    absl::FunctionRef<absl::Status(Polygon)> visit) override;
  absl::Status Compare(
      absl::string_view name, uint64_t before, uint64_t after,
      absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) override;

  // --- For whoever follows ---
  EtcdClient& client() { return *client_; }
  const EtcdKeys& keys() const { return keys_; }
  EtcdPages& pages() { return pages_; }
  EtcdCommits& commits() { return commits_; }

  // What this process has of a scene; null: none. Set by whoever has locked the scene's writers
  // out.
  SharedScene::Ptr Find(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  void Set(absl::string_view name, SharedScene::Ptr scene) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<std::string> Names() const ABSL_LOCKS_EXCLUDED(mu_);

  struct Listing {
    std::map<std::string, SharedScene::Ptr> scenes;
    uint64_t revision = 0;
    uint64_t cluster_id = 0;
  };
  // What etcd has of all scenes, at one revision.
  absl::StatusOr<Listing> List();
  // And of one, null if there is none.
  absl::StatusOr<SharedScene::Ptr> Fetch(absl::string_view name);
  // Of `Recover`.
  uint64_t listed_revision() const { return listed_revision_; }
  uint64_t cluster_id() const { return cluster_id_; }

  absl::Status ReadPolygons(const PageHash& root, std::vector<Polygon>& polygons);
  // What makes one tree of another one; OUT_OF_RANGE if that is much.
  absl::Status Difference(const PageHash& before, const PageHash& after,
                          std::vector<SceneEdit>& edits);

  // The bytes of etcd's file, as of now.
  void NoteSize(uint64_t bytes) {
    file_bytes_.store(bytes, std::memory_order_relaxed);
    added_bytes_.store(0, std::memory_order_relaxed);
  }

 private:
  absl::Status CheckRoom(uint64_t bytes);
  uint64_t OldestKept(const SharedScene* base, const StoredVersion& next) const;
  // Makes the tree `change` the current version, with what `next` has beside it.
  absl::StatusOr<Written> WriteVersion(absl::string_view name, const SharedScene::Ptr& base,
                                       TreeChange change, StoredVersion next);
  // All keys of a prefix, at `revision`, or at the one that it becomes.
  absl::Status Scan(const std::string& prefix, int64_t& revision, Listing& listing,
                    absl::FunctionRef<void(const etcd::KeyValue&)> visit);
  absl::StatusOr<Listing> ListOnce();
  SavedScene ReadSaved(const std::string& name, SharedScene::Ptr& scene, absl::Status& status);

  const EtcdJournalOptions options_;
  const std::unique_ptr<EtcdClient> client_;
  const EtcdKeys keys_;
  EtcdPages pages_{*client_, keys_};
  EtcdCommits commits_{*client_, keys_, pages_};
  uint64_t listed_revision_ = 0;  // set by `Recover`
  uint64_t cluster_id_ = 0;
  std::atomic<uint64_t> file_bytes_{0};
  std::atomic<uint64_t> added_bytes_{0};  // since that was looked at

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, SharedScene::Ptr> scenes_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
