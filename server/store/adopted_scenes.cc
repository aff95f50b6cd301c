// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a `MemoryStore` (server/store/memory_store.h) make changes visible that other server
// processes have made and stored in the journal that the processes share?

#include <limits>
#include <utility>

#include "server/store/memory_store.h"
#include "server/store/scene_change.h"

namespace carom::server {
namespace {

// Limits that every scene satisfies. The server process that made a scene has already checked the
// scene against that process's limits.
constexpr SceneLimits kNoSceneLimits{.max_polygons = std::numeric_limits<size_t>::max(),
                                     .max_vertices = std::numeric_limits<size_t>::max()};

}  // namespace

// Charges the tenant even beyond the tenant's quota, because the server process that made the
// change has already checked the quota.
void MemoryStore::SettlePastLimit(absl::string_view name, bool is_new, uint64_t bytes) {
  uint64_t before = 0;
  {
    absl::MutexLock lock(&mu_);
    before = std::exchange(scenes_.find(name)->second.bytes, bytes);
  }
  if (tenants_ == nullptr) return;
  const std::shared_ptr<Tenant> tenant = tenants_->Find(TenantOfKey(name));
  tenant->TakePastLimit(is_new ? 1 : 0, bytes);
  tenant->Release(0, before);
}

// Does what `Commit` does, except that `AdoptEdits` checks neither quotas nor limits, and does not
// write the edits to the journal, which has the edits already.
absl::Status MemoryStore::AdoptEdits(absl::string_view name, const std::vector<SceneEdit>& edits,
                                     Adopted adopted) {
  const absl::StatusOr<SceneSnapshot::Ptr> found = FindBase(name);
  if (!found.ok()) return found.status();
  const Scene::Ptr base = SceneSnapshot::SceneOf(*found);
  VersionSummary summary = adopted.versions.back();
  absl::StatusOr<Scene::Ptr> made = base->Commit(edits, summary.version, kNoSceneLimits);
  if (!made.ok()) return made.status();
  MemoryCharge added(account_, MemoryShare::kScenes);
  uint64_t removed = 0;
  for (const SceneEdit& edit : edits) {
    if (const Polygon* const old = base->Find(IdOf(edit))) removed += BytesOf(*old);
    if (const Polygon* const polygon = PolygonOf(edit)) {
      added.Set(added.bytes() + BytesOf(*polygon));
    }
  }
  const uint64_t before = BytesOfScene(name);
  const uint64_t bytes = before + added.bytes() - std::min(before, removed);
  std::shared_ptr<SceneChange> change =
      adopted.follows ? DifferenceBy(edits, *base, **made, summary) : nullptr;
  const WriteResult written{.version = summary.version, .oldest = 0};
  MakeCurrent(name,
              {*std::move(made), std::move(summary), std::move(change), std::move(added), *found,
               edits, std::move(adopted.versions)},
              written);
  SettlePastLimit(name, false, bytes);
  return absl::OkStatus();
}

// Does what `Import` does, except that `AdoptPolygons` checks neither quotas nor limits, and does
// not write the polygons to the journal, which has them already. Computes the difference for
// WatchScene calls only if the adopted version directly follows this store's current version.
absl::Status MemoryStore::AdoptPolygons(absl::string_view name, std::vector<Polygon> polygons,
                                        Adopted adopted) {
  VersionSummary summary = adopted.versions.back();
  MemoryCharge charge(account_, MemoryShare::kScenes);
  for (const Polygon& polygon : polygons) charge.Set(charge.bytes() + BytesOf(polygon));
  const uint64_t bytes = charge.bytes();
  absl::StatusOr<Scene::Ptr> made =
      Scene::Create(std::move(polygons), summary.version, kNoSceneLimits);
  if (!made.ok()) return made.status();
  const bool is_new = !Contains(name);
  std::shared_ptr<SceneChange> change =
      adopted.follows ? DifferenceOf(Find(name), *made, summary) : nullptr;
  const WriteResult written{.version = summary.version, .oldest = 0};
  MakeCurrent(name,
              {*std::move(made),
               std::move(summary),
               std::move(change),
               std::move(charge),
               nullptr,
               {},
               std::move(adopted.versions)},
              written);
  SettlePastLimit(name, is_new, bytes);
  return absl::OkStatus();
}

// Notifies listeners as if the scene were deleted. WatchScene calls, and query frames (clients'
// messages of queries) that wait for a version of the scene, then find no scene, and return the
// error of `WhyMissing`: the stored data of the scene is damaged.
void MemoryStore::AdoptDamage(absl::string_view name, const Adopted& adopted) {
  Entry old;  // declared before the lock, so destroyed after its release
  bool is_new = false;
  {
    absl::MutexLock lock(&mu_);
    const auto [it, is_first] = scenes_.try_emplace(std::string(name));
    is_new = is_first;
    kept_bytes_ -= it->second.change_bytes;
    old = std::exchange(it->second, Entry());
    it->second.versions.assign(adopted.versions.begin(), adopted.versions.end());
    it->second.bytes = old.bytes;
  }
  SettlePastLimit(name, is_new, 0);
  Notify(name, 0, nullptr);
}

}  // namespace carom::server
