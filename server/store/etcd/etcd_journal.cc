// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/etcd_journal.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "carom/status.h"
#include "server/base/log.h"
#include "server/base/refusals.h"
#include "server/store/scene_change.h"

namespace carom::server {
namespace {

constexpr absl::Duration kReadAllTime = absl::Seconds(10);
constexpr absl::Duration kStartTime = absl::Seconds(60);
constexpr int64_t kScanLimit = 1000;

// Maximum number of edits that `Difference` returns. If two versions differ in more polygons, the
// caller reads all polygons of the later version instead.
constexpr size_t kMaxFollowedEdits = 4096;
// Maximum bytes of a chunk, a page with a part of a large polygon; used as an estimate of the size
// of a chunk that was not read.
constexpr uint64_t kChunkGuess = 256 << 10;
// Estimated bytes that a version takes in etcd without its pages.
constexpr uint64_t kRecordBytes = 512;

// Returns the edits by id. The result points to the polygons of `edits`, which must outlive it.
TreeEdits EditsById(absl::Span<const SceneEdit> edits) {
  TreeEdits by_id;
  for (const SceneEdit& edit : edits) by_id[IdOf(edit)] = PolygonOf(edit);
  return by_id;
}

// Removes repeated pages from `pages`, so that each page occurs once, because a key may be in a
// transaction of etcd only once. Returns the bytes of the remaining pages.
uint64_t RemoveDuplicates(std::vector<Page>& pages) {
  absl::flat_hash_set<PageHash> seen;
  std::erase_if(pages, [&](const Page& page) { return !seen.insert(page.hash).second; });
  uint64_t bytes = 0;
  for (const Page& page : pages) bytes += page.bytes.size();
  return bytes;
}

}  // namespace

// --- The state in this process -------------------------------------------------------------------

// Returns a `SharedScene`, which is immutable, so that callers use it without a lock.
SharedScene::Ptr EtcdJournal::Find(absl::string_view name) const {
  absl::MutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  return it == scenes_.end() ? nullptr : it->second;
}

// A caller that got the earlier state from `Find` still has that state.
void EtcdJournal::Set(absl::string_view name, SharedScene::Ptr scene) {
  absl::MutexLock lock(&mu_);
  if (scene == nullptr) {
    scenes_.erase(name);
  } else {
    scenes_[name] = std::move(scene);
  }
}

// Returns the names in no particular order.
std::vector<std::string> EtcdJournal::Names() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> names;
  names.reserve(scenes_.size());
  for (const auto& [name, scene] : scenes_) names.push_back(name);
  return names;
}

// Adds `bytes` to `added_bytes_` before they are written: the size of etcd's file is read only now
// and then (`NoteSize`), and without the counter many writers together could exceed the limit
// between two readings.
absl::Status EtcdJournal::CheckRoom(uint64_t bytes) {
  const uint64_t used = file_bytes_.load(std::memory_order_relaxed) +
                        added_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (used + bytes <= options_.store_bytes) return absl::OkStatus();
  added_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  const std::string why = absl::StrCat("etcd's file has ", used, " of the ", options_.store_bytes,
                                       " bytes that it may have (--store-bytes)");
  CountRefusal(Limit::kStoreBytes, why);
  return Refused(absl::StatusCode::kResourceExhausted, "", why);
}

// --- Reading ------------------------------------------------------------------------------------

// Reads at most kScanLimit keys in a request, all at the revision of the first response.
absl::Status EtcdJournal::Scan(const std::string& prefix, int64_t& revision, Listing& listing,
                               absl::FunctionRef<void(const etcd::KeyValue&)> visit) {
  etcd::RangeRequest request;
  request.set_key(prefix);
  request.set_range_end(EndOfPrefix(prefix));
  request.set_limit(kScanLimit);
  etcd::RangeResponse response;
  do {
    request.set_revision(revision);
    if (absl::Status status = client_->Range(request, response, kReadAllTime); !status.ok()) {
      return status;
    }
    if (revision == 0) {
      revision = response.header().revision();
      listing.revision = static_cast<uint64_t>(revision);
      listing.cluster_id = response.header().cluster_id();
    }
    for (const etcd::KeyValue& found : response.kvs()) visit(found);
    if (response.kvs_size() != 0) request.set_key(response.kvs().rbegin()->key() + '\0');
  } while (response.more() && response.kvs_size() != 0);
  return absl::OkStatus();
}

// Etcd returns keys in ascending order, so `SharedScene::kept` gets the versions of a scene in the
// order of their numbers.
absl::StatusOr<EtcdJournal::Listing> EtcdJournal::ListOnce() {
  Listing listing;
  int64_t revision = 0;
  std::map<std::string, std::shared_ptr<SharedScene>> scenes;
  absl::Status status = Scan(keys_.scenes(), revision, listing, [&](const etcd::KeyValue& found) {
    auto scene = std::make_shared<SharedScene>();
    scene->version = static_cast<uint64_t>(found.mod_revision());
    scene->value = found.value();
    scenes[*keys_.SceneOf(found.key())] = std::move(scene);
  });
  if (status.ok()) {
    status = Scan(keys_.versions(), revision, listing, [&](const etcd::KeyValue& found) {
      const std::string name = *keys_.SceneOfVersion(found.key());
      const auto it = scenes.find(name);
      if (it == scenes.end()) return;
      SharedScene& scene = *it->second;
      absl::StatusOr<StoredVersion> version =
          DecodeVersion(name, found.value(), static_cast<uint64_t>(found.mod_revision()));
      if (version.ok()) {
        version->summary.follows_damage =
            std::exchange(scene.status, absl::OkStatus()) != absl::OkStatus();
        scene.kept.push_back(*std::move(version));
      } else {
        scene.status = version.status();
      }
    });
  }
  if (!status.ok()) return status;
  for (auto& [name, scene] : scenes) {
    // The scene's own key decides which version is current. One transaction puts that key and the
    // key of the last version, so the two differ only if one of them is damaged.
    absl::StatusOr<StoredVersion> current = DecodeVersion(name, scene->value, scene->version);
    if (current.ok() && (scene->kept.empty() || scene->kept.back().number != current->number)) {
      scene->kept.push_back(*current);
    }
    scene->status = current.status();
    listing.scenes[name] = std::move(scene);
  }
  return listing;
}

// `ListOnce` reads with several requests at one revision. A compaction of etcd between two of the
// requests can delete that revision: the next request then returns OUT_OF_RANGE, and the whole list
// is read again.
absl::StatusOr<EtcdJournal::Listing> EtcdJournal::List() {
  absl::StatusOr<Listing> listing = ListOnce();
  for (int i = 0; i < 5 && absl::IsOutOfRange(listing.status()); ++i) listing = ListOnce();
  return listing;
}

// Reads the key of the scene and the keys of its versions in one transaction, so that all are of
// one revision.
absl::StatusOr<SharedScene::Ptr> EtcdJournal::Fetch(absl::string_view name) {
  etcd::TxnRequest request;
  request.add_success()->mutable_request_range()->set_key(keys_.SceneKey(name));
  etcd::RangeRequest& range = *request.add_success()->mutable_request_range();
  range.set_key(keys_.VersionsOf(name));
  range.set_range_end(EndOfPrefix(keys_.VersionsOf(name)));
  etcd::TxnResponse response;
  if (absl::Status status = client_->Read(request, response, kReadAllTime); !status.ok()) {
    return status;
  }
  const etcd::RangeResponse& current = response.responses(0).response_range();
  if (current.kvs_size() == 0) return SharedScene::Ptr();
  auto scene = std::make_shared<SharedScene>();
  scene->version = static_cast<uint64_t>(current.kvs(0).mod_revision());
  scene->value = current.kvs(0).value();
  for (const etcd::KeyValue& found : response.responses(1).response_range().kvs()) {
    absl::StatusOr<StoredVersion> version =
        DecodeVersion(name, found.value(), static_cast<uint64_t>(found.mod_revision()));
    scene->status = version.status();
    if (version.ok()) scene->kept.push_back(*std::move(version));
  }
  if (scene->kept.empty() || scene->kept.back().summary.version != scene->version) {
    scene->status = DamagedScene("its current version is missing");
  }
  return SharedScene::Ptr(std::move(scene));
}

// Reads the polygons of the tree with the root page `root`. When it reads a page that refers to
// other pages, fetches all these pages at once.
absl::Status EtcdJournal::ReadPolygons(const PageHash& root, std::vector<Polygon>& polygons) {
  PrefetchingReader prefetching(pages_);
  const auto read = [&prefetching](const PageHash& hash) { return prefetching(hash); };
  return ReadTree(root, read, [&](Polygon polygon) {
    polygons.push_back(std::move(polygon));
    return absl::OkStatus();
  });
}

// Reads few pages but those in which the trees differ. After a small commit of another process,
// almost all pages to read are in the cache: this process has read or written the pages of
// `before`, and the watch of etcd has delivered the pages that the commit added.
absl::Status EtcdJournal::Difference(const PageHash& before, const PageHash& after,
                                     std::vector<SceneEdit>& edits) {
  const auto read = [this](const PageHash& hash) { return pages_.Read(hash); };
  return CompareTrees(before, after, read,
                      [&](const Polygon* old, const Polygon* current) -> absl::Status {
                        if (edits.size() >= kMaxFollowedEdits) {
                          return absl::OutOfRangeError("the versions differ in too many polygons");
                        }
                        if (current == nullptr) {
                          edits.emplace_back(RemovePolygon{old->id()});
                        } else if (old == nullptr) {
                          edits.emplace_back(AddPolygon{*current});
                        } else if (!AreEqual(*old, *current)) {
                          edits.emplace_back(ReplacePolygon{*current});
                        }
                        return absl::OkStatus();
                      });
}

// Reads the polygons of the current version of a scene, which are stored in pages. If a page is
// missing, the version may no longer be current, so the function reads the state of the scene
// again, sets `scene` to it, and tries again, up to 5 times.
SavedScene EtcdJournal::ReadSaved(const std::string& name, SharedScene::Ptr& scene,
                                  absl::Status& status) {
  SavedScene saved;
  saved.name = name;
  for (int i = 0; i < 5; ++i) {
    saved.polygons.clear();
    saved.versions = scene->Summaries();
    saved.status = scene->status;
    if (saved.status.ok()) saved.status = ReadPolygons(scene->current().root, saved.polygons);
    if (!saved.status.ok() && !absl::IsDataLoss(saved.status)) status = saved.status;
    if (saved.status.ok() || !status.ok()) return saved;
    const absl::StatusOr<SharedScene::Ptr> newer = Fetch(name);
    if (!newer.ok()) status = newer.status();
    if (!newer.ok() || *newer == nullptr || (*newer)->version == scene->version) break;
    scene = *newer;
  }
  saved.polygons = {};
  return saved;
}

// Lists the scenes, and then reads the polygons of each. If a scene changes in between, `ReadSaved`
// may read a later version than the listed one; the watch delivers that version again, and
// `FleetStore` ignores it by its number.
absl::Status EtcdJournal::Recover(absl::FunctionRef<void(SavedScene)> visit) {
  absl::StatusOr<Listing> listing = List();
  const absl::Time end = absl::Now() + kStartTime;
  while (absl::IsUnavailable(listing.status()) && absl::Now() < end && !client_->is_stopping()) {
    LogLine(LogLevel::kWarning, "etcd_fault")
        .With("detail", absl::StrCat("waiting for etcd: ", listing.status().message()));
    absl::SleepFor(absl::Seconds(1));
    listing = List();
  }
  if (!listing.ok()) {
    return absl::Status(listing.status().code(),
                        absl::StrCat("the store cannot be used: ", listing.status().message()));
  }
  listed_revision_ = listing->revision;
  cluster_id_ = listing->cluster_id;
  for (auto& [name, scene] : listing->scenes) {
    absl::Status status;
    SavedScene saved = ReadSaved(name, scene, status);
    if (!status.ok()) return status;
    Set(name, scene);
    visit(std::move(saved));
  }
  return absl::OkStatus();
}

// Reads the polygons from etcd, because the store calls `Load` only for versions that it does not
// have in memory.
absl::Status EtcdJournal::Load(absl::string_view name, uint64_t version,
                               absl::FunctionRef<absl::Status(Polygon)> visit) {
  const absl::Status not_kept = absl::OutOfRangeError("the version is not kept");
  const SharedScene::Ptr scene = Find(name);
  const StoredVersion* const kept = scene == nullptr ? nullptr : scene->Find(version);
  if (kept == nullptr) return not_kept;
  PrefetchingReader prefetching(pages_);
  const auto read = [&prefetching](const PageHash& hash) { return prefetching(hash); };
  absl::Status status = ReadTree(kept->root, read, visit);
  if (!absl::IsDataLoss(status)) return status;
  // DATA_LOSS: a page is missing or damaged. It is not damage if another process has deleted the
  // version meanwhile.
  const absl::StatusOr<SharedScene::Ptr> newer = Fetch(name);
  if (!newer.ok()) return newer.status();
  return *newer == nullptr || (*newer)->Find(version) == nullptr ? not_kept : status;
}

// Returns DATA_LOSS for a missing page even if another process has deleted the version, unlike
// `Load`: the caller is a watch, which ends with the error, and its client starts another watch.
absl::Status EtcdJournal::Compare(
    absl::string_view name, uint64_t before, uint64_t after,
    absl::FunctionRef<absl::Status(const Polygon* before, const Polygon* after)> visit) {
  const SharedScene::Ptr scene = Find(name);
  const StoredVersion* const a = scene == nullptr ? nullptr : scene->Find(before);
  const StoredVersion* const b = scene == nullptr ? nullptr : scene->Find(after);
  if (a == nullptr || b == nullptr) return absl::OutOfRangeError("the version is not kept");
  const auto read = [this](const PageHash& hash) { return pages_.Read(hash); };
  return CompareTrees(a->root, b->root, read, visit);
}

// --- Writing ------------------------------------------------------------------------------------

// Builds the whole tree of pages with the polygons of `scene`, even if etcd has many of the pages
// already: a page that exists is put again under its key, which its content determines.
absl::StatusOr<WriteResult> EtcdJournal::Replace(absl::string_view name, const Scene& scene,
                                                 const VersionSummary& summary) {
  std::vector<const Polygon*> polygons(scene.polygon_count());
  for (size_t i = 0; i < polygons.size(); ++i) polygons[i] = &scene.polygon(i);
  const SharedScene::Ptr base = Find(name);
  const bool has_tree = base != nullptr && base->status.ok();
  TreeChange change = BuildTree(polygons);
  const uint64_t bytes = RemoveDuplicates(change.added);
  return WriteVersion(name, base, std::move(change),
                      {.summary = summary,
                       .tree_bytes = bytes,
                       .replaced_bytes = has_tree ? base->current().tree_bytes : 0});
}

// Applies `edits` to the tree of pages that stores the polygons, and sums the sizes of the pages
// that the edited tree no longer has. `EditTree` has read these pages through `read`, which records
// their sizes, except for chunks (pages with a part of a large polygon), each of which counts with
// the maximum size of a chunk.
absl::StatusOr<WriteResult> EtcdJournal::Edit(absl::string_view name,
                                              absl::Span<const SceneEdit> edits,
                                              const VersionSummary& summary) {
  const SharedScene::Ptr base = Find(name);
  if (base == nullptr || !base->status.ok()) return Conflict();
  absl::flat_hash_map<PageHash, size_t> sizes;
  const auto read = [&](const PageHash& hash) {
    absl::StatusOr<std::string> bytes = pages_.Read(hash);
    if (bytes.ok()) sizes[hash] = bytes->size();
    return bytes;
  };
  absl::StatusOr<TreeChange> change = EditTree(base->current().root, EditsById(edits), read);
  if (!change.ok())
    return absl::IsDataLoss(change.status()) ? change.status() : NotCommitted(change.status());
  uint64_t dropped = 0;
  for (const PageHash& hash : change->dropped) {
    const auto known = sizes.find(hash);
    dropped += known == sizes.end() ? kChunkGuess : known->second;
  }
  const uint64_t added = RemoveDuplicates(change->added);
  const uint64_t before = base->current().tree_bytes;
  return WriteVersion(name, base, *std::move(change),
                      {.summary = summary,
                       .tree_bytes = before + added - std::min(before + added, dropped),
                       .replaced_bytes = dropped});
}

// Writes only the record of the version that `Restore` makes: all pages of that version exist,
// because the restored version is kept.
absl::StatusOr<WriteResult> EtcdJournal::Restore(absl::string_view name, uint64_t version,
                                                 const VersionSummary& summary) {
  const SharedScene::Ptr base = Find(name);
  const StoredVersion* const kept = base == nullptr ? nullptr : base->Find(version);
  if (kept == nullptr || !base->status.ok()) return Conflict();
  return WriteVersion(name, base, {.root = kept->root, .added = {}, .dropped = {}},
                      {.summary = summary,
                       .tree_bytes = kept->tree_bytes,
                       .replaced_bytes = base->current().tree_bytes});
}

// Deletes the keys of the scene and its versions; their pages stay until an `EtcdSweeper` deletes
// them. Does not call `CheckRoom`, because a deletion must be possible even if the store is full.
absl::Status EtcdJournal::Delete(absl::string_view name) {
  const SharedScene::Ptr base = Find(name);
  if (base == nullptr) return Conflict();
  SceneDraft draft{.name = name, .base = base, .writer = RandomName(), .deletes = true};
  AddDelete(draft.request, keys_.SceneKey(name), "");
  AddDelete(draft.request, keys_.VersionsOf(name), EndOfPrefix(keys_.VersionsOf(name)));
  AddPut(draft.request, keys_.head(), draft.writer);
  if (const absl::StatusOr<uint64_t> made = commits_.Commit(draft); !made.ok())
    return made.status();
  Set(name, nullptr);
  return absl::OkStatus();
}

// Returns the `number` of the oldest version that stays within the limits of the scene's history
// after the commit of `next`; `next` itself always stays.
uint64_t EtcdJournal::OldestKept(const SharedScene* base, const StoredVersion& next) const {
  std::vector<const StoredVersion*> kept;
  if (base != nullptr && base->status.ok()) {
    kept.reserve(base->kept.size() + 1);
    for (const StoredVersion& version : base->kept) kept.push_back(&version);
  }
  kept.push_back(&next);
  uint64_t bytes = 0;
  for (size_t i = 1; i < kept.size(); ++i) bytes += kept[i]->replaced_bytes;
  size_t first = 0;
  while (first + 1 < kept.size() &&
         (kept.size() - first > options_.history_versions || bytes > options_.history_bytes)) {
    bytes -= kept[++first]->replaced_bytes;
  }
  return kept[first]->number;
}

// If the scene is damaged, leaves a gap in the sequence numbers (`number`) of its versions and
// drops the earlier versions, because it is not known which number the damaged version has.
//
// A small commit puts its pages in its transaction, so that no reader finds a version without its
// pages, and the commit need not put pages again after a sweep (the deletion of unused pages). A
// watch of etcd delivers the puts of the transaction in their order: the pages, the version's key,
// and the scene's key, on which another server makes the version visible.
absl::StatusOr<WriteResult> EtcdJournal::WriteVersion(absl::string_view name,
                                                      const SharedScene::Ptr& base,
                                                      TreeChange change, StoredVersion next) {
  uint64_t bytes = kRecordBytes;
  for (const Page& page : change.added) bytes += page.bytes.size();
  if (absl::Status status = CheckRoom(bytes); !status.ok()) return status;
  next.root = change.root;
  next.writer = RandomName();
  const uint64_t last = base == nullptr || base->kept.empty() ? 0 : base->current().number;
  next.number = last + (base == nullptr || base->status.ok() ? 1 : 2);
  next.oldest = OldestKept(base.get(), next);
  const std::string value = EncodeVersion(name, next);
  SceneDraft draft{.name = name, .base = base, .writer = next.writer};
  if (change.added.size() <= kMaxTxnPages && bytes <= kMaxTxnBytes) {
    for (const Page& page : change.added) {
      AddPut(draft.request, keys_.PageKey(page.hash), page.bytes);
    }
  } else {
    draft.pages = change.added;
  }
  AddPut(draft.request, keys_.VersionKey(name, next.number), value);
  AddPut(draft.request, keys_.SceneKey(name), value);
  if (base != nullptr) {
    AddDelete(draft.request, keys_.VersionsOf(name), keys_.VersionKey(name, next.oldest));
  }
  AddPut(draft.request, keys_.head(), draft.writer);
  const absl::StatusOr<uint64_t> version = commits_.Commit(draft);
  if (!version.ok()) return version.status();
  for (const Page& page : change.added) pages_.Keep(page.hash, page.bytes);
  SharedScene::Ptr scene = FollowingScene(base, name, value, *version);
  const uint64_t oldest = scene->kept.front().summary.version;
  Set(name, std::move(scene));
  return WriteResult{.version = *version, .oldest = oldest};
}

}  // namespace carom::server
