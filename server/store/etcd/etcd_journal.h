// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do several processes write scenes to etcd?
//
// A commit is one transaction of etcd (server/store/etcd/etcd_commits.h), which puts the keys of
// the version that it makes (server/store/etcd/etcd_records.h); the revision of the transaction is
// the version's number. The transaction also puts the pages of polygons that the version adds; if
// those pages are too many for one transaction, earlier transactions put them.
//
// The journal keeps in memory the state of each scene that clients of this process see, which may
// be older than the state in etcd: an `EtcdFollower` delivers the changes of other processes
// (server/store/etcd/fleet_store.h). If the state in memory differs from the state in etcd, a
// commit fails with a conflict (`IsConflict`).
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
  // The limits of the history of a scene: `history_versions` is the number of kept versions,
  // including the current one; `history_bytes` the bytes of pages that older versions have and the
  // current version does not have.
  size_t history_versions = 64;
  uint64_t history_bytes = 64u << 20;
  // size of etcd's database file from which on the journal refuses changes that add data
  uint64_t store_bytes = 1536u << 20;
};

// A `SceneJournal` in etcd. The state of a scene is its kept versions without their polygons; the
// polygons of a version are a tree of pages (server/store/page_tree.h). Thread-safe, but callers
// must serialize the changes of one scene. A function that changes a scene returns UNAVAILABLE if
// the change was certainly not made; UNKNOWN if it is not known whether the change was made;
// RESOURCE_EXHAUSTED if etcd has no room for the change; or a conflict (`IsConflict`) if another
// process has changed the scene in etcd.
class EtcdJournal final : public SceneJournal {
 public:
  EtcdJournal(std::unique_ptr<EtcdClient> client, const EtcdJournalOptions& options)
      : options_(options), client_(std::move(client)), keys_(client_->prefix()) {}

  // Waits for up to a minute if no member (server) of the etcd cluster answers at first.
  absl::Status Recover(absl::FunctionRef<void(SavedScene)> visit) override;
  uint64_t last_version() const override { return listed_revision_; }
  absl::StatusOr<WriteResult> Replace(absl::string_view name, const Scene& scene,
                                      const VersionSummary& summary) override;
  absl::StatusOr<WriteResult> Edit(absl::string_view name, absl::Span<const SceneEdit> edits,
                                   const VersionSummary& summary) override;
  absl::StatusOr<WriteResult> Restore(absl::string_view name, uint64_t version,
                                      const VersionSummary& summary) override;
  absl::Status Delete(absl::string_view name) override;
  absl::Status Load(absl::string_view name, uint64_t version,
                    absl::FunctionRef<absl::Status(Polygon)> visit) override;
  absl::Status Compare(
      absl::string_view name, uint64_t before, uint64_t after,
      absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) override;

  // --- For `FleetStore` and `EtcdSweeper` ---
  EtcdClient& client() { return *client_; }
  const EtcdKeys& keys() const { return keys_; }
  EtcdPages& pages() { return pages_; }
  EtcdCommits& commits() { return commits_; }

  // `Find` returns the state of a scene in this process, and `Set` replaces that state; null: the
  // scene does not exist. A caller of `Set` holds the lock of the scene's writers
  // (`MemoryStore::writers`).
  SharedScene::Ptr Find(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  void Set(absl::string_view name, SharedScene::Ptr scene) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<std::string> Names() const ABSL_LOCKS_EXCLUDED(mu_);

  // The states of all scenes in etcd, by name, at one revision of etcd.
  struct Listing {
    std::map<std::string, SharedScene::Ptr> scenes;
    uint64_t revision = 0;
    uint64_t cluster_id = 0;
  };
  // Reads the state of all scenes from etcd, at one revision.
  absl::StatusOr<Listing> List();
  // Reads the state of one scene from etcd; null if the scene does not exist.
  absl::StatusOr<SharedScene::Ptr> Fetch(absl::string_view name);
  // Returns the revision of etcd at which `Recover` has read the scenes.
  uint64_t listed_revision() const { return listed_revision_; }
  uint64_t cluster_id() const { return cluster_id_; }

  absl::Status ReadPolygons(const PageHash& root, std::vector<Polygon>& polygons);
  // Computes the edits that turn the tree of polygons with the root page `before` into the tree
  // with the root page `after`; OUT_OF_RANGE if there are more than 4096 edits.
  absl::Status Difference(const PageHash& before, const PageHash& after,
                          std::vector<SceneEdit>& edits);

  // Records the current size of etcd's database file, which limits later changes.
  void NoteSize(uint64_t bytes) {
    file_bytes_.store(bytes, std::memory_order_relaxed);
    added_bytes_.store(0, std::memory_order_relaxed);
  }

 private:
  absl::Status CheckRoom(uint64_t bytes);
  uint64_t OldestKept(const SharedScene* base, const StoredVersion& next) const;
  // Commits a version with the tree `change`. `next` has the summary, `tree_bytes` and
  // `replaced_bytes` of the version; the function sets the other members of `next`. `base` is the
  // state of the scene that the change is based on.
  absl::StatusOr<WriteResult> WriteVersion(absl::string_view name, const SharedScene::Ptr& base,
                                           TreeChange change, StoredVersion next);
  // Calls `visit` for all keys that begin with `prefix`, as they were at the revision `revision`.
  // If `revision` is 0, reads the current revision, and sets `revision`, `listing.revision` and
  // `listing.cluster_id`.
  absl::Status Scan(const std::string& prefix, int64_t& revision, Listing& listing,
                    absl::FunctionRef<void(const etcd::KeyValue&)> visit);
  absl::StatusOr<Listing> ListOnce();
  SavedScene ReadSaved(const std::string& name, SharedScene::Ptr& scene, absl::Status& status);

  const EtcdJournalOptions options_;
  const std::unique_ptr<EtcdClient> client_;
  const EtcdKeys keys_;
  EtcdPages pages_{*client_, keys_};
  EtcdCommits commits_{*client_, keys_, pages_};
  uint64_t listed_revision_ = 0;  // revision at which `Recover` has read the scenes
  uint64_t cluster_id_ = 0;
  std::atomic<uint64_t> file_bytes_{0};
  // bytes that this process has added to etcd's database file since the last `NoteSize`
  std::atomic<uint64_t> added_bytes_{0};

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, SharedScene::Ptr> scenes_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
