// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/etcd/fleet_store.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/log.h"

namespace carom::server {
namespace {

constexpr absl::Duration kCommitRetryTime = absl::Seconds(10);
constexpr absl::Duration kCatchUpTime = absl::Seconds(5);
constexpr absl::Duration kPauseOfFollower = absl::Milliseconds(100);

// Returns whether the error of a change may be due to an outdated state of the scene in this
// process, so that the change may succeed on the state in etcd.
bool DependsOnScene(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

// Returns whether the state `listed` of a scene in etcd may have developed from its state `known`
// in this process: `listed` keeps the version of `known`, with an equal `writer` (the random name
// of the commit that made the version), or keeps only later versions. If not, etcd has another
// history.
bool MayFollow(const SharedScene& known, const SharedScene& listed) {
  if (!known.status.ok() || !listed.status.ok()) return true;
  if (listed.kept.front().summary.version > known.version) return true;
  const StoredVersion* const same = listed.Find(known.version);
  return same != nullptr && same->writer == known.current().writer;
}

}  // namespace

// --- Changes ------------------------------------------------------------------------------------

// Returns the version of the scene in this process, also of a damaged scene, whose polygons are
// lost; 0 if the scene does not exist.
uint64_t FleetStore::VersionOf(absl::string_view name) const {
  const SharedScene::Ptr scene = journal_.Find(name);
  return scene == nullptr ? 0 : scene->version;
}

// After a failed attempt, waits until this process has applied all changes in etcd. If the version
// of the scene is then the same as before the attempt, the error is final, unless it is a conflict;
// otherwise the function tries the change again on the newer state. A failed attempt has changed
// nothing, so any error may end the loop.
//
// If a version has the `edit_id`, an earlier attempt or request has made the edits: the caller
// finds that version by its `edit_id`.
absl::StatusOr<Scene::Ptr> FleetStore::CommitWithRetry(absl::string_view name,
                                                       absl::string_view edit_id, Attempt attempt) {
  const absl::Time deadline = absl::Now() + kCommitRetryTime;
  while (true) {
    const uint64_t before = VersionOf(name);
    absl::StatusOr<Scene::Ptr> made = attempt();
    if (made.ok()) return made;
    const bool is_conflict = IsConflict(made.status());
    if (!is_conflict && !DependsOnScene(made.status())) return made;
    metrics().Add(Counter::kEtcdRetries);
    if (absl::Status status = CatchUp(); !status.ok()) return status;
    for (const VersionSummary& known : Versions(name)) {
      if (!edit_id.empty() && known.edit_id == edit_id) {
        return absl::AbortedError("these edits were committed already");
      }
    }
    if (!is_conflict && VersionOf(name) == before) return made;
    if (absl::Now() > deadline) {
      return is_conflict ? absl::UnavailableError("other servers change the scene too often")
                         : made;
    }
  }
}

// Each attempt gets a copy of `polygons` (in `Commit`, of `edits`). A copy of a polygon shares the
// vertices of the polygon, so it is cheap.
absl::StatusOr<Scene::Ptr> FleetStore::Import(absl::string_view name, ImportMode mode,
                                              std::vector<Polygon> polygons,
                                              absl::FunctionRef<bool()> abandoned,
                                              absl::string_view note) {
  return CommitWithRetry(
      name, "", [&] { return MemoryStore::Import(name, mode, polygons, abandoned, note); });
}

absl::StatusOr<Scene::Ptr> FleetStore::Commit(absl::string_view name, uint64_t base_version,
                                              std::vector<SceneEdit> edits,
                                              absl::string_view edit_id) {
  return CommitWithRetry(name, edit_id,
                         [&] { return MemoryStore::Commit(name, base_version, edits, edit_id); });
}

absl::StatusOr<Scene::Ptr> FleetStore::Rollback(absl::string_view name, uint64_t version,
                                                uint64_t base_version) {
  return CommitWithRetry(name, "",
                         [&] { return MemoryStore::Rollback(name, version, base_version); });
}

absl::Status FleetStore::Delete(absl::string_view name, uint64_t version) {
  return CommitWithRetry(name, "",
                         [&]() -> absl::StatusOr<Scene::Ptr> {
                           absl::Status status = MemoryStore::Delete(name, version);
                           if (!status.ok()) return status;
                           return Scene::Ptr();
                         })
      .status();
}

// Catches up with the changes of all scenes, because one watch of etcd delivers all of them in
// order.
absl::Status FleetStore::CatchUp() { return follower_.CatchUp(kCatchUpTime); }

// --- Changes of other servers --------------------------------------------------------------------

// From this call on, the thread of `follower_` makes the changes of other servers visible, and
// notifies the store's listeners.
void FleetStore::Follow(OnChangeOfState on_state, absl::Duration sweep_interval) {
  on_state_ = std::move(on_state);
  follower_.Start(journal_.listed_revision(), journal_.cluster_id());
  sweeper_.Start(sweep_interval, metrics());
}

// `is_ready` is false while etcd has another history than this process, such as after a restore
// from a backup, until all scenes were read again.
void FleetStore::OnState(bool is_reachable, bool is_ready) {
  absl::Status refusal;
  if (!is_reachable)
    refusal = absl::UnavailableError("etcd cannot be reached, so changes are refused");
  if (!is_ready) refusal = absl::UnavailableError("etcd was restored: scenes are read again");
  const bool takes_changes = refusal.ok();
  journal_.commits().SetRefusal(std::move(refusal));
  if (on_state_ != nullptr) on_state_(takes_changes, is_ready);
}

// Receives the puts of pages (nodes of the tree of a version's polygons) before the put of the
// scene's key, which makes the version current. Adds the pages to the cache, so that
// `FollowVersion` mostly finds them in the cache; `FollowVersion` reads pages that are not in the
// cache from etcd.
void FleetStore::OnPut(const etcd::KeyValue& pair) {
  const EtcdKeys& keys = journal_.keys();
  const auto revision = static_cast<uint64_t>(pair.mod_revision());
  if (const std::optional<PageHash> hash = keys.PageOf(pair.key())) {
    if (CheckPage(*hash, pair.value()).ok()) journal_.pages().Keep(*hash, pair.value());
    return;
  }
  if (pair.key() == keys.epoch()) return journal_.commits().SetEpoch(revision, pair.value());
  const std::optional<std::string> name = keys.SceneOf(pair.key());
  if (!name.has_value()) return;
  // If `FollowVersion` fails, retries until the version is visible, so that changes become visible
  // in their order.
  while (!FollowVersion(*name, pair.value(), revision).ok()) {
    if (journal_.client().is_stopping()) return;
    absl::SleepFor(kPauseOfFollower);
  }
}

// Removes a scene whose key was deleted. Ignores deletions of the keys of old versions and pages,
// which do not change the current version of a scene.
void FleetStore::OnDelete(absl::string_view key, uint64_t revision) {
  if (const auto name = journal_.keys().SceneOf(key)) Remove(*name, revision);
}

// Removes a scene that another server has deleted at `revision`, unless this server has created the
// scene again since.
void FleetStore::Remove(absl::string_view name, uint64_t revision) {
  KeyedMutex::Lock writer(writers(), name);
  const SharedScene::Ptr known = journal_.Find(name);
  if (known == nullptr || known->version >= revision) return;
  NoteVersion(revision);
  journal_.Set(name, nullptr);
  AdoptDeletion(name);
}

// Ignores a version that this process has committed: the version is already visible, and in
// `journal_`, when the writer that committed it releases the lock of the scene's writers.
absl::Status FleetStore::FollowVersion(const std::string& name, const std::string& value,
                                       uint64_t version) {
  KeyedMutex::Lock writer(writers(), name);
  const SharedScene::Ptr before = journal_.Find(name);
  if (before != nullptr && before->version >= version) return absl::OkStatus();
  SharedScene::Ptr scene = FollowingScene(before, name, value, version);
  const bool follows = before != nullptr && before->status.ok() && scene->status.ok() &&
                       scene->current().number == before->current().number + 1;
  const bool is_first = before == nullptr && scene->status.ok() && scene->current().number == 1;
  if (!follows && !is_first) {
    absl::StatusOr<SharedScene::Ptr> fetched = journal_.Fetch(name);
    if (!fetched.ok()) return fetched.status();
    if (*fetched == nullptr) return absl::OkStatus();  // the watch delivers the deletion later
    scene = *std::move(fetched);
  }
  return Show(name, std::move(scene), follows);
}

// Sets the state of the scene in `journal_` before the version becomes visible, as a commit of this
// process does. Applies the difference from the visible version if the difference is small
// (`EtcdJournal::Difference`), else reads all polygons.
absl::Status FleetStore::Show(absl::string_view name, SharedScene::Ptr scene, bool follows) {
  if (IsReadOnly(name)) {
    if (!std::exchange(has_logged_hidden_, true)) {
      LogLine(LogLevel::kWarning, "scene_hidden")
          .With("detail", "a preloaded scene hides one that another server has made");
    }
    return absl::OkStatus();
  }
  if (!scene->status.ok()) {
    ShowDamage(name, scene);
    return absl::OkStatus();
  }
  const SharedScene::Ptr before = journal_.Find(name);
  if (before == nullptr || Find(name) == nullptr) {
    return ShowPolygons(name, std::move(scene), follows);
  }
  std::vector<SceneEdit> edits;
  absl::Status status = journal_.Difference(before->current().root, scene->current().root, edits);
  if (status.ok()) {
    journal_.Set(name, scene);
    status = AdoptEdits(name, edits, {scene->Summaries(), follows});
    if (status.ok()) return status;
  } else if (!absl::IsDataLoss(status) && !absl::IsOutOfRange(status)) {
    return status;
  }
  return ShowPolygons(name, std::move(scene), follows);
}

// Reads all polygons of the current version of `scene`, which are stored in pages, and makes that
// version visible. If a page is missing, etcd may no longer keep the version, so the function reads
// the state of the scene from etcd again and tries again, up to 5 times.
absl::Status FleetStore::ShowPolygons(absl::string_view name, SharedScene::Ptr scene,
                                      bool follows) {
  for (int i = 0; i < 5; ++i) {
    std::vector<Polygon> polygons;
    absl::Status status = journal_.ReadPolygons(scene->current().root, polygons);
    if (status.ok()) {
      journal_.Set(name, scene);
      status = AdoptPolygons(name, std::move(polygons), {scene->Summaries(), follows});
      if (status.ok()) return status;
      break;
    }
    if (!absl::IsDataLoss(status)) return status;
    absl::StatusOr<SharedScene::Ptr> newer = journal_.Fetch(name);
    if (!newer.ok()) return newer.status();
    if (*newer == nullptr) return absl::OkStatus();
    if ((*newer)->version == scene->version || !(*newer)->status.ok()) break;
    scene = *std::move(newer);
    follows = false;
  }
  ShowDamage(name, scene);
  return absl::OkStatus();
}

// Makes the scene a damaged one: reads of it fail with DATA_LOSS until a client replaces or deletes
// the scene, as in any store.
void FleetStore::ShowDamage(absl::string_view name, const SharedScene::Ptr& scene) {
  auto damaged = std::make_shared<SharedScene>(*scene);
  if (damaged->status.ok()) damaged->status = DamagedScene("its pages are missing");
  journal_.Set(name, damaged);
  AdoptDamage(name, {damaged->Summaries(), false});
}

// A scene may get a smaller version number than before only if `anew`; then `ReadAll` first removes
// every scene of this process that differs from the scene in etcd. Otherwise etcd must have
// developed from the state of this process (`MayFollow`): the kept versions of a scene in etcd have
// consecutive sequence numbers, so either they include this process's version of the scene, or all
// of them are newer.
absl::StatusOr<uint64_t> FleetStore::ReadAll(bool anew) {
  if (anew) journal_.commits().SetEpoch(0, "");
  const absl::StatusOr<EtcdJournal::Listing> listing = journal_.List();
  if (!listing.ok()) return listing.status();
  for (const std::string& name : journal_.Names()) {
    KeyedMutex::Lock writer(writers(), name);
    const SharedScene::Ptr known = journal_.Find(name);
    const auto it = listing->scenes.find(name);
    const bool exists = it != listing->scenes.end();
    if (known == nullptr || (exists && it->second->value == known->value)) continue;
    if (!anew && exists && known->version <= listing->revision && !MayFollow(*known, *it->second)) {
      return absl::AbortedError("etcd has another history");
    }
    if (!anew && (exists || known->version > listing->revision)) continue;
    journal_.Set(name, nullptr);
    AdoptDeletion(name);
  }
  for (const auto& [name, scene] : listing->scenes) {
    KeyedMutex::Lock writer(writers(), name);
    const SharedScene::Ptr known = journal_.Find(name);
    if (known != nullptr && known->version >= scene->version) continue;
    if (absl::Status status = Show(name, scene, false); !status.ok()) return status;
  }
  return listing->revision;
}

}  // namespace carom::server
