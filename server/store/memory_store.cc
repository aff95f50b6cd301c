// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/memory_store.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "carom/status.h"
#include "server/base/refusals.h"
#include "server/store/journal_times.h"
#include "server/store/scene_change.h"
#include "server/transport/executor.h"

namespace carom::server {
namespace {

// Returns the workers with which a scene is built. They call `Executor::Checkpoint` between steps,
// so that the build yields its thread to other tasks when its time slice ends.
Workers YieldingWorkers() {
  Workers workers;
  workers.between = Executor::Checkpoint;
  return workers;
}

// Maximum number of version summaries, and of changes for WatchScene calls, that the store keeps in
// memory for one scene, even if the journal keeps more versions.
constexpr size_t kMaxSummaries = 1024;

// Limits of the changes that the store keeps in memory for WatchScene calls: maximum bytes of one
// change, maximum bytes of all kept changes of one scene, and the part of the memory for scenes
// (1/kKeptPart) that the kept changes of all scenes together may take.
constexpr uint64_t kMaxChangeBytes = 256 << 10;
constexpr uint64_t kMaxKeptBytes = 1 << 20;
constexpr uint64_t kKeptPart = 16;

}  // namespace

// Applies the edits to an empty scene: `Scene::Commit` then returns INVALID_ARGUMENT exactly for
// edits that are invalid for every scene, such as two edits of the same polygon id.
absl::Status StaleCommit(uint64_t current, std::vector<SceneEdit> edits) {
  const absl::StatusOr<Scene::Ptr> empty = Scene::Create({});
  if (!empty.ok()) return empty.status();
  const absl::Status status = (*empty)->Commit(std::move(edits), 1).status();
  if (absl::IsInvalidArgument(status)) return status;
  return StaleVersion("base_version", current);
}

VersionSummary MemoryStore::SummaryOf(const Scene& scene, absl::string_view edit_id) {
  return {.version = scene.version(),
          .polygon_count = scene.polygon_count(),
          .vertex_count = scene.vertex_count(),
          .bounds = scene.bounds(),
          .edit_id = std::string(edit_id),
          .created_us = absl::GetCurrentTimeNanos() / 1000};
}

// Runs at the start of the server, when no other thread but that of the server's health check uses
// the store.
absl::Status MemoryStore::Recover(
    absl::FunctionRef<void(size_t scenes, uint64_t vertices)> progress) {
  uint64_t vertices = 0;
  absl::Status failed;
  const absl::Status status = journal_->Recover([&](SavedScene saved) {
    Entry entry;
    entry.versions.assign(saved.versions.begin(), saved.versions.end());
    if (saved.status.ok()) {
      uint64_t bytes = 0;
      for (const Polygon& polygon : saved.polygons) bytes += BytesOf(polygon);
      MemoryCharge charge(account_, MemoryShare::kScenes);
      charge.Set(bytes);
      entry.bytes = bytes;
      // Checks no limits: the scene was within the limits when it was stored, and the server serves
      // it even if `limits_` are stricter than the limits were then.
      constexpr size_t kAny = std::numeric_limits<size_t>::max();
      absl::StatusOr<Scene::Ptr> scene =
          Scene::Create(std::move(saved.polygons), saved.versions.back().version,
                        {.max_polygons = kAny, .max_vertices = kAny});
      if (scene.ok()) {
        vertices += (*scene)->vertex_count();
        entry.snapshot = SceneSnapshot::Create(*std::move(scene), std::move(charge));
        entry.scene = SceneSnapshot::SceneOf(entry.snapshot);
      } else {
        failed.Update(scene.status());
      }
    }
    if (tenants_ != nullptr) tenants_->Find(TenantOfKey(saved.name))->TakePastLimit(1, entry.bytes);
    absl::MutexLock lock(&mu_);
    scenes_[saved.name] = std::move(entry);
    progress(scenes_.size(), vertices);
  });
  last_version_.store(journal_->last_version());
  return status.ok() ? failed : status;
}

Scene::Ptr MemoryStore::Find(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  return it == scenes_.end() ? nullptr : it->second.scene;
}

bool MemoryStore::Contains(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  return scenes_.contains(name);
}

absl::Status MemoryStore::WhyMissing(absl::string_view name, absl::string_view field) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  // If the scene exists and is not damaged, it was created after the caller's `Find` returned null;
  // NOT_FOUND was right at that time.
  if (it == scenes_.end() || it->second.scene != nullptr) return NoSuchScene(field);
  return Refused(absl::StatusCode::kDataLoss, field,
                 "the stored data of this scene is damaged; delete or replace the scene");
}

std::vector<VersionSummary> MemoryStore::Versions(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  if (it == scenes_.end()) return {};
  return {it->second.versions.begin(), it->second.versions.end()};
}

absl::StatusOr<std::vector<Polygon>> MemoryStore::Load(absl::string_view name, uint64_t version,
                                                       MemoryCharge& charge) const {
  const absl::Status not_kept = Refused(absl::StatusCode::kOutOfRange, "version",
                                        "the polygons of this version are not kept");
  std::vector<Polygon> polygons;
  if (const Scene::Ptr scene = Find(name); scene != nullptr && scene->version() == version) {
    polygons.reserve(scene->polygon_count());
    for (size_t i = 0; i < scene->polygon_count(); ++i) {
      absl::Status charged = charge.Add(BytesOf(scene->polygon(i)));
      if (!charged.ok()) return charged;
      polygons.push_back(scene->polygon(i));
    }
    return polygons;
  }
  if (journal_ == nullptr) return not_kept;
  const absl::Status status = journal_->Load(name, version, [&](Polygon polygon) {
    absl::Status charged = charge.Add(BytesOf(polygon));
    if (charged.ok()) polygons.push_back(std::move(polygon));
    return charged;
  });
  if (absl::IsOutOfRange(status)) return not_kept;
  if (!status.ok()) return status;
  return polygons;
}

// Tries the change that made the current version first: it may be too large for `Entry::changes`,
// but `last_change` refers to it as long as another object, such as a watch, holds the change.
SceneChange::Ptr MemoryStore::FindChange(absl::string_view name, uint64_t version) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  if (it == scenes_.end()) return nullptr;
  SceneChange::Ptr last = it->second.last_change.lock();
  if (last != nullptr && last->base == version) return last;
  const std::deque<SceneChange::Ptr>& changes = it->second.changes;
  const auto found = std::lower_bound(
      changes.begin(), changes.end(), version,
      [](const SceneChange::Ptr& change, uint64_t base) { return change->base < base; });
  return found != changes.end() && (*found)->base == version ? *found : nullptr;
}

// Calls the journal only if the store has summaries of `version` and of the next version. If the
// journal deletes one of these two versions before it has read both, `LoadChange` returns
// OUT_OF_RANGE, as for any version that is not kept.
absl::StatusOr<SceneChange::Ptr> MemoryStore::LoadChange(absl::string_view name, uint64_t version,
                                                         MemoryCharge charge) const {
  const absl::Status not_kept = Refused(absl::StatusCode::kOutOfRange, "from_version",
                                        "the changes after this version of the scene are not kept");
  auto change = std::make_shared<SceneChange>();
  change->base = version;
  {
    absl::ReaderMutexLock lock(&mu_);
    const auto it = scenes_.find(name);
    if (it == scenes_.end()) return NoSuchScene();
    const std::deque<VersionSummary>& versions = it->second.versions;
    const auto known = std::lower_bound(
        versions.begin(), versions.end(), version,
        [](const VersionSummary& summary, uint64_t value) { return summary.version < value; });
    if (known == versions.end() || known->version != version || known + 1 == versions.end()) {
      return not_kept;
    }
    change->summary = *(known + 1);
    if (change->summary.follows_damage) {
      return absl::DataLossError("the version after this one is damaged");
    }
  }
  if (journal_ == nullptr) return not_kept;
  const absl::Status status =
      journal_->Compare(name, version, change->summary.version,
                        [&](const Polygon* before, const Polygon* after) -> absl::Status {
                          std::optional<PolygonChange> changed = ChangeOf(before, after);
                          if (!changed.has_value()) return absl::OkStatus();
                          absl::Status charged = charge.Add(BytesOf(*changed));
                          if (charged.ok()) change->list.push_back(*std::move(changed));
                          return charged;
                        });
  if (absl::IsOutOfRange(status)) return not_kept;
  if (!status.ok()) return status;
  change->charge = std::move(charge);
  return SceneChange::Ptr(std::move(change));
}

ScenePage MemoryStore::List(absl::string_view after, size_t limit, absl::string_view prefix) const {
  ScenePage page;
  absl::ReaderMutexLock lock(&mu_);
  auto it = after < prefix ? scenes_.lower_bound(prefix) : scenes_.upper_bound(after);
  const auto end = scenes_.end();
  const auto is_one = [&] { return it != end && absl::StartsWith(it->first, prefix); };
  for (; is_one() && page.scenes.size() < limit; ++it) {
    if (it->second.scene != nullptr) page.scenes.push_back({it->first, it->second.scene});
  }
  page.last = !is_one();
  return page;
}

ScenePage MemoryStore::ListPreloaded(absl::string_view after, size_t limit) const {
  ScenePage page;
  auto it = preloaded_.upper_bound(after);
  for (; it != preloaded_.end() && page.scenes.size() < limit; ++it) {
    page.scenes.push_back({*it, Find(*it)});
  }
  page.last = it == preloaded_.end();
  return page;
}

// Charges the scene's memory to the account, even beyond the account's limit, as `Recover` does.
absl::Status MemoryStore::Preload(absl::string_view name, const Scene::Ptr& scene,
                                  int64_t created_us) {
  Entry entry;
  uint64_t bytes = 0;
  for (size_t i = 0; i < scene->polygon_count(); ++i) bytes += BytesOf(scene->polygon(i));
  MemoryCharge charge(account_, MemoryShare::kScenes);
  charge.Set(bytes);
  entry.snapshot = SceneSnapshot::Create(scene, std::move(charge));
  entry.scene = SceneSnapshot::SceneOf(entry.snapshot);
  entry.versions.push_back(SummaryOf(*scene, ""));
  entry.versions.back().created_us = created_us;
  entry.is_read_only = true;
  absl::MutexLock lock(&mu_);
  for (const auto& [key, other] : scenes_) {
    if (NameOfKey(key) != name) continue;
    return absl::AlreadyExistsError(
        absl::StrCat("the tenant ", TenantOfKey(key), " has a scene of the name ", name));
  }
  scenes_.emplace(std::string(name), std::move(entry));
  preloaded_.insert(std::string(name));
  return absl::OkStatus();
}

absl::Status MemoryStore::CheckWritable(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  return it != scenes_.end() && it->second.is_read_only ? ReadOnlyScene() : absl::OkStatus();
}

absl::Status MemoryStore::CheckImport(absl::string_view name, ImportMode mode) const {
  if (const auto it = scenes_.find(name); it != scenes_.end()) {
    if (it->second.is_read_only) return ReadOnlyScene();
    if (mode == ImportMode::kReplace) return absl::OkStatus();
    return Refused(absl::StatusCode::kAlreadyExists, "name", "a scene of this name exists already");
  }
  if (scenes_.size() + reserved_ < max_scenes_) return absl::OkStatus();
  const std::string why = absl::StrCat("the server keeps at most ", max_scenes_, " scenes");
  CountRefusal(Limit::kScenes, why);
  return Refused(absl::StatusCode::kResourceExhausted, "name", why);
}

absl::StatusOr<Scene::Ptr> MemoryStore::Import(absl::string_view name, ImportMode mode,
                                               std::vector<Polygon> polygons,
                                               absl::FunctionRef<bool()> abandoned,
                                               absl::string_view note) {
  KeyedMutex::Lock writer(writers_, name);
  size_t reserved = 0;  // number of scenes that the import adds: 0 if it replaces a scene
  {
    absl::MutexLock lock(&mu_);
    if (absl::Status status = CheckImport(name, mode); !status.ok()) return status;
    reserved = scenes_.contains(name) ? 0 : 1;
    reserved_ += reserved;
  }
  const auto release = absl::MakeCleanup([&] {
    absl::MutexLock lock(&mu_);
    reserved_ -= reserved;
  });
  MemoryCharge charge(account_, MemoryShare::kScenes);
  for (const Polygon& polygon : polygons) {
    if (absl::Status status = charge.Add(BytesOf(polygon)); !status.ok()) return status;
  }
  const uint64_t bytes = charge.bytes();
  absl::StatusOr<TenantCharge> share = ChargeTenant(name, reserved, bytes);
  if (!share.ok()) return share.status();
  // Builds the scene while `mu_` is free, so that readers and other writers do not wait.
  absl::StatusOr<Scene::Ptr> made =
      Scene::Create(std::move(polygons), NextVersion(), limits_, YieldingWorkers());
  if (!made.ok()) return made.status();
  const Scene::Ptr scene = *std::move(made);
  if (abandoned()) return absl::CancelledError("the caller has cancelled; the scene is unchanged");
  VersionSummary summary = SummaryOf(*scene, "");
  summary.note = std::string(note);
  std::shared_ptr<SceneChange> change = DifferenceOf(Find(name), scene, summary);
  absl::StatusOr<WriteResult> written = WriteResult{.version = summary.version};
  if (journal_ != nullptr) {
    written = MeasureWrite(*metrics_, [&] { return journal_->Replace(name, *scene, summary); });
  }
  if (!written.ok()) return written.status();
  Scene::Ptr current = MakeCurrent(
      name, {scene, std::move(summary), std::move(change), std::move(charge), nullptr, {}},
      *written);
  Settle(name, bytes, *share);
  return current;
}

// Returns a change that lists the changed polygons. If the list would exceed kMaxChangeBytes,
// returns a change that refers to the scenes `before` and `after` instead, which takes no
// additional memory.
std::shared_ptr<SceneChange> MemoryStore::DifferenceOf(const Scene::Ptr& before,
                                                       const Scene::Ptr& after,
                                                       const VersionSummary& summary) {
  if (before == nullptr) return nullptr;
  auto both = std::make_shared<SceneChange>();
  both->summary = summary;
  both->base = before->version();
  both->before = before;
  both->after = after;
  auto change = std::make_shared<SceneChange>();
  change->summary = summary;
  change->base = before->version();
  change->bytes = sizeof(SceneChange);
  ChangeCursor cursor(both);
  for (; cursor.current() != nullptr && change->bytes <= kMaxChangeBytes; cursor.Next()) {
    change->bytes += BytesOf(*cursor.current());
    change->list.push_back(*cursor.current());
    Executor::Checkpoint();
  }
  if (change->bytes > kMaxChangeBytes) return both;
  change->charge = MemoryCharge(account_, MemoryShare::kScenes);
  change->charge.Set(change->bytes);
  return change;
}

std::shared_ptr<SceneChange> MemoryStore::DifferenceBy(std::span<const SceneEdit> edits,
                                                       const Scene& before, const Scene& after,
                                                       const VersionSummary& summary) {
  auto change = std::make_shared<SceneChange>();
  change->summary = summary;
  change->base = before.version();
  change->list = ChangesOf(before, after, edits);
  change->is_by_edits = true;
  const auto id_of = [](const PolygonChange& changed) { return changed.id; };
  for (const SceneEdit& edit : edits) {
    if (std::ranges::binary_search(change->list, IdOf(edit), {}, id_of)) continue;
    change->equal_ids.push_back(IdOf(edit));
  }
  change->bytes = BytesOf(change->list) + change->equal_ids.size() * sizeof(uint64_t);
  change->charge = MemoryCharge(account_, MemoryShare::kScenes);
  change->charge.Set(change->bytes);
  return change;
}

// Makes room by dropping the oldest changes of `entry` alone, even if the exceeded limit is that of
// the kept changes of all scenes. So the kept changes of a scene are dropped only when that scene
// changes.
void MemoryStore::Keep(Entry& entry, const std::shared_ptr<SceneChange>& change,
                       std::vector<SceneChange::Ptr>& dropped) {
  entry.last_change = change;
  const uint64_t room = account_.limit(MemoryShare::kScenes) / kKeptPart;
  const bool fits = change->before == nullptr && change->bytes <= kMaxChangeBytes;
  const uint64_t added = fits ? change->bytes : 0;
  while (!entry.changes.empty() &&
         (entry.change_bytes + added > kMaxKeptBytes || kept_bytes_ + added > room ||
          entry.changes.size() >= kMaxSummaries)) {
    const uint64_t bytes = entry.changes.front()->bytes;
    entry.change_bytes -= bytes;
    kept_bytes_ -= bytes;
    dropped.push_back(std::move(entry.changes.front()));
    entry.changes.pop_front();
  }
  if (!fits || kept_bytes_ + added > room) return;
  change->is_kept = true;
  entry.change_bytes += added;
  kept_bytes_ += added;
  entry.changes.push_back(change);
}

// The journal has already made the version durable, so it must become visible. Hence `noexcept`: if
// memory runs out, the process ends, and its next start loads the version from the journal.
Scene::Ptr MemoryStore::MakeCurrent(absl::string_view name, DurableVersion made,
                                    const WriteResult& written) noexcept {
  NoteVersion(written.version);
  if (made.scene->version() != written.version) {
    made.scene = made.scene->WithVersion(written.version);
  }
  made.summary.version = written.version;
  SceneSnapshot::Ptr snapshot =
      made.before == nullptr ? SceneSnapshot::Create(std::move(made.scene), std::move(made.charge))
                             : SceneSnapshot::Follow(made.before, std::move(made.scene), made.edits,
                                                     std::move(made.charge));
  Scene::Ptr scene = SceneSnapshot::SceneOf(snapshot);
  if (made.change != nullptr) {
    made.change->summary.version = written.version;
    if (made.change->after != nullptr) made.change->after = scene;
  }
  Scene::Ptr old;  // destroyed, like `dropped`, after the lock is released
  std::vector<SceneChange::Ptr> dropped;
  {
    absl::MutexLock lock(&mu_);
    Entry& entry = scenes_[std::string(name)];
    old = std::exchange(entry.scene, scene);
    entry.snapshot.swap(snapshot);
    made.summary.follows_damage = old == nullptr && !entry.versions.empty();
    if (made.versions.empty()) {
      entry.versions.push_back(std::move(made.summary));
    } else {
      entry.versions.assign(made.versions.begin(), made.versions.end());
    }
    while (entry.versions.front().version < written.oldest ||
           entry.versions.size() > kMaxSummaries) {
      entry.versions.pop_front();
    }
    if (made.change != nullptr) Keep(entry, made.change, dropped);
  }
  Notify(name, written.version, made.change);
  return scene;
}

void MemoryStore::NoteVersion(uint64_t version) {
  uint64_t last = last_version_.load(std::memory_order_relaxed);
  while (last < version && !last_version_.compare_exchange_weak(last, version)) {
  }
}

uint64_t MemoryStore::BytesOfScene(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = scenes_.find(name);
  return it == scenes_.end() ? 0 : it->second.bytes;
}

// Charges only the growth of the scene. The caller holds the scene's mutex in `writers_`, so the
// scene's size does not change until the caller calls `Settle`.
absl::StatusOr<TenantCharge> MemoryStore::ChargeTenant(absl::string_view name, uint64_t scenes,
                                                       uint64_t bytes) const {
  if (tenants_ == nullptr) return TenantCharge();
  const uint64_t before = BytesOfScene(name);
  const uint64_t growth = bytes - std::min(bytes, before);
  std::shared_ptr<Tenant> tenant = tenants_->Find(TenantOfKey(name));
  if (absl::Status status = tenant->Take(scenes, growth); !status.ok()) return status;
  return TenantCharge(std::move(tenant), scenes, growth);
}

// Called after the version with the size `bytes` has become visible. If the preceding version was
// larger, gives the difference back to the tenant's quota.
void MemoryStore::Settle(absl::string_view name, uint64_t bytes, TenantCharge& share) {
  metrics_->Add(Counter::kCommits);
  uint64_t before = 0;
  {
    absl::MutexLock lock(&mu_);
    before = std::exchange(scenes_.find(name)->second.bytes, bytes);
  }
  share.Keep(before - std::min(before, bytes));
}

absl::StatusOr<SceneSnapshot::Ptr> MemoryStore::FindBase(absl::string_view name) const {
  {
    absl::ReaderMutexLock lock(&mu_);
    const auto it = scenes_.find(name);
    if (it != scenes_.end() && it->second.snapshot != nullptr) return it->second.snapshot;
  }
  return WhyMissing(name, "name");
}

absl::StatusOr<Scene::Ptr> MemoryStore::Commit(absl::string_view name, uint64_t base_version,
                                               std::vector<SceneEdit> edits,
                                               absl::string_view edit_id) {
  KeyedMutex::Lock writer(writers_, name);
  if (absl::Status status = CheckWritable(name); !status.ok()) return status;
  // The scene in `found` stays the current version until `MakeCurrent` below: only a thread that
  // holds the scene's mutex in `writers_`, as `writer` does, makes another version current.
  const absl::StatusOr<SceneSnapshot::Ptr> found = FindBase(name);
  if (!found.ok()) return found.status();
  const Scene::Ptr base = SceneSnapshot::SceneOf(*found);
  if (base_version != 0 && base_version != base->version()) {
    return StaleCommit(base->version(), std::move(edits));
  }
  MemoryCharge added(account_, MemoryShare::kScenes);
  uint64_t removed = 0;
  for (const SceneEdit& edit : edits) {
    if (const Polygon* const old = base->Find(IdOf(edit))) removed += BytesOf(*old);
    const Polygon* const polygon = PolygonOf(edit);
    if (polygon == nullptr) continue;
    if (absl::Status status = added.Add(BytesOf(*polygon)); !status.ok()) return status;
  }
  const uint64_t before = BytesOfScene(name);
  const uint64_t bytes = before + added.bytes() - std::min(before, removed);
  absl::StatusOr<TenantCharge> share = ChargeTenant(name, 0, bytes);
  if (!share.ok()) return share.status();
  absl::StatusOr<Scene::Ptr> made = base->Commit(edits, NextVersion(), limits_);
  if (!made.ok()) return made.status();
  const Scene::Ptr scene = *std::move(made);
  VersionSummary summary = SummaryOf(*scene, edit_id);
  std::shared_ptr<SceneChange> change = DifferenceBy(edits, *base, *scene, summary);
  absl::StatusOr<WriteResult> written = WriteResult{.version = summary.version};
  if (journal_ != nullptr) {
    written = MeasureWrite(*metrics_, [&] { return journal_->Edit(name, edits, summary); });
  }
  if (!written.ok()) return written.status();
  Scene::Ptr current = MakeCurrent(
      name, {scene, std::move(summary), std::move(change), std::move(added), *found, edits},
      *written);
  Settle(name, bytes, *share);
  return current;
}

// Gets the polygons of `version` from `Load`, which reads them from the journal unless `version` is
// current: a `MemoryStore` has only the polygons of the current version in memory.
absl::StatusOr<Scene::Ptr> MemoryStore::Rollback(absl::string_view name, uint64_t version,
                                                 uint64_t base_version) {
  KeyedMutex::Lock writer(writers_, name);
  if (absl::Status status = CheckWritable(name); !status.ok()) return status;
  const absl::StatusOr<SceneSnapshot::Ptr> found = FindBase(name);
  if (!found.ok()) return found.status();
  const Scene::Ptr base = SceneSnapshot::SceneOf(*found);
  if (base_version != 0 && base_version != base->version()) {
    return StaleVersion("base_version", base->version());
  }
  MemoryCharge charge(account_, MemoryShare::kScenes);
  absl::StatusOr<std::vector<Polygon>> polygons = Load(name, version, charge);
  if (!polygons.ok()) return polygons.status();
  const uint64_t bytes = charge.bytes();
  absl::StatusOr<TenantCharge> share = ChargeTenant(name, 0, bytes);
  if (!share.ok()) return share.status();
  absl::StatusOr<Scene::Ptr> made =
      Scene::Create(*std::move(polygons), NextVersion(), limits_, YieldingWorkers());
  if (!made.ok()) return made.status();
  const Scene::Ptr scene = *std::move(made);
  VersionSummary summary = SummaryOf(*scene, "");
  std::shared_ptr<SceneChange> change = DifferenceOf(base, scene, summary);
  absl::StatusOr<WriteResult> written = WriteResult{.version = summary.version};
  if (journal_ != nullptr) {
    written = MeasureWrite(*metrics_, [&] { return journal_->Restore(name, version, summary); });
  }
  if (!written.ok()) return written.status();
  Scene::Ptr current = MakeCurrent(
      name, {scene, std::move(summary), std::move(change), std::move(charge), nullptr, {}},
      *written);
  Settle(name, bytes, *share);
  return current;
}

absl::Status MemoryStore::Delete(absl::string_view name, uint64_t version) {
  KeyedMutex::Lock writer(writers_, name);
  if (absl::Status status = CheckWritable(name); !status.ok()) return status;
  const Scene::Ptr current = Find(name);
  // A damaged scene (`current` is null, but the scene exists) can be deleted, whatever `version`
  // is.
  if (current == nullptr) {
    const absl::Status missing = WhyMissing(name, "name");
    if (absl::IsNotFound(missing)) return missing;
  } else if (version != 0 && version != current->version()) {
    return StaleVersion("version", current->version());
  }
  if (journal_ != nullptr) {
    absl::Status status = MeasureWrite(*metrics_, [&] { return journal_->Delete(name); });
    if (!status.ok()) return status;
  }
  AdoptDeletion(name);
  return absl::OkStatus();
}

void MemoryStore::AdoptDeletion(absl::string_view name) {
  Entry deleted;  // destroyed after the lock is released
  {
    absl::MutexLock lock(&mu_);
    const auto it = scenes_.find(name);
    if (it == scenes_.end()) return;
    kept_bytes_ -= it->second.change_bytes;
    deleted = std::move(it->second);
    scenes_.erase(it);
  }
  if (tenants_ != nullptr) tenants_->Find(TenantOfKey(name))->Release(1, deleted.bytes);
  Notify(name, 0, nullptr);
}

void MemoryStore::AddListener(SceneListener* listener) {
  absl::MutexLock lock(&listeners_mu_);
  listeners_.push_back(listener);
}

void MemoryStore::Notify(absl::string_view name, uint64_t version, const SceneChange::Ptr& change) {
  absl::ReaderMutexLock lock(&listeners_mu_);
  for (SceneListener* listener : listeners_) listener->OnSceneChanged(name, version, change);
}

}  // namespace carom::server
