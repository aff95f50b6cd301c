// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/fork_store.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::server {
namespace {

// How often forks are looked at, at most, to see whether their leases have ended.
constexpr Clock::duration kLeastPause = std::chrono::milliseconds(200);

// The same error for forks and scenes, so that it does not reveal which of the two has the name.
absl::Status NameTaken() {
  return Refused(absl::StatusCode::kAlreadyExists, "name", "a scene of this name is there");
}

// 64 random bits: whoever guesses a name could edit the fork.
std::string NewName() {
  std::random_device random;
  return absl::StrCat("scenes/fork-", absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

// The first `limit` scenes of two pages.
ScenePage Merge(ScenePage page, ScenePage other, size_t limit) {
  const auto middle = static_cast<std::ptrdiff_t>(page.scenes.size());
  page.scenes.insert(page.scenes.end(), std::make_move_iterator(other.scenes.begin()),
                     std::make_move_iterator(other.scenes.end()));
  std::inplace_merge(page.scenes.begin(), page.scenes.begin() + middle, page.scenes.end(),
                     [](const NamedScene& a, const NamedScene& b) { return a.name < b.name; });
  page.last = page.last && other.last && page.scenes.size() <= limit;
  if (page.scenes.size() > limit) page.scenes.resize(limit);
  return page;
}

}  // namespace

// Forks count in the account by a share of their own, within that of scenes, so that those who
// make forks cannot take what imports need.
ForkStore::ForkStore(MemoryStore& scenes, MemoryAccount& account, const ForkLimits& limits,
                     Timer& timer, Executor& executor)
    : scenes_(scenes),
      account_(account),
      limits_(limits),
      timer_(timer),
      executor_(executor),
      kept_(scenes, account, limits.kept),
      memory_(limits.max_bytes, account),
      count_(limits.max_forks, limits.max_forks_per_peer, "forks") {}

// The timer may be about to submit the sweep, and the sweep may be under way: both are waited for,
// the first without the lock that its callback takes.
void ForkStore::Stop() {
  Timer::Id timer = 0;
  {
    absl::MutexLock lock(&mu_);
    is_ending_ = true;
    timer = std::exchange(timer_id_, 0);
  }
  if (timer != 0) timer_.CancelAndWait(timer);
  absl::MutexLock lock(&mu_);
  const auto is_still = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !is_sweeping_; };
  mu_.Await(absl::Condition(&is_still));
}

// --- Forks

// A fork that is found stays alive as long as the pointer, even if its lease ends meanwhile.
ForkStore::ForkPtr ForkStore::FindFork(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto it = forks_.find(name);
  return it == forks_.end() ? nullptr : it->second;
}

absl::StatusOr<ForkBase> ForkStore::BaseOf(const ForkOrder& order, MemoryPeer& peer) {
  const std::string key = KeyOf(order.tenant, order.base);
  if (const ForkPtr parent = FindFork(key)) {
    parent->Renew();
    std::optional<ForkBase> base = parent->BaseAt(order.version);
    if (base.has_value()) return *std::move(base);
    return Refused(absl::StatusCode::kOutOfRange, "version", "this version is not kept");
  }
  ForkBase base{.name = order.base, .version = order.version, .kept = {}, .scene = {}};
  base.kept = kept_.Share(key, order.version);
  if (base.kept == nullptr) {
    if (scenes_.Find(key) == nullptr) return scenes_.WhyMissing(key, "base");
    // From the journal: a scene that shares nothing, and lives as long as its forks. The calls for
    // one base come one after the other, so nobody else reads the same version.
    MemoryCharge charge(account_, MemoryShare::kScenes, &peer);
    absl::StatusOr<std::vector<Polygon>> polygons = scenes_.Load(key, order.version, charge);
    if (!polygons.ok()) return polygons.status();
    absl::StatusOr<Scene::Ptr> scene =
        Scene::Create(*std::move(polygons), order.version, scenes_.limits());
    if (!scene.ok()) return scene.status();
    base.kept = std::make_shared<KeptVersion>(*std::move(scene), std::move(charge));
    kept_.Add(key, base.kept);
  }
  base.scene = base.kept->scene();
  base.version = base.scene->version();
  return base;
}

absl::StatusOr<NamedScene> ForkStore::MakeFork(const ForkOrder& order,
                                               const std::shared_ptr<MemoryPeer>& peer) {
  const uint64_t lease = LeaseOf(order);
  if (lease > limits_.max_lease_seconds) {
    return InvalidField("lease_seconds",
                        absl::StrCat("must be in [0, ", limits_.max_lease_seconds, "]"));
  }
  // Before a base is read from the file, for one that could not be made.
  if (absl::Status status = count_.Enter(peer.get()); !status.ok()) return status;
  absl::Cleanup leave = [&] { count_.Leave(peer.get()); };
  absl::StatusOr<ForkBase> base = BaseOf(order, *peer);
  if (!base.ok()) return base.status();
  const auto fork = std::make_shared<Fork>(
      *std::move(base), std::chrono::seconds(lease),
      Fork::Limits{.max_versions = limits_.max_versions, .scene = scenes_.limits()}, memory_, peer);
  const absl::Status begun = fork->Begin(scenes_.NextVersion());
  const absl::StatusOr<std::string> key =
      begun.ok() ? Enter(order, fork) : absl::StatusOr<std::string>(begun);
  if (!key.ok()) return key.status();
  std::move(leave).Cancel();
  const Scene::Ptr scene = fork->current();
  scenes_.Notify(*key, scene->version(), nullptr);
  return NamedScene{std::string(NameOfKey(*key)), scene};
}

// The lock keeps a scene of the name from coming between the look and the entry.
absl::StatusOr<std::string> ForkStore::Enter(const ForkOrder& order, const ForkPtr& fork) {
  absl::MutexLock lock(&mu_);
  std::string key = KeyOf(order.tenant, order.name.empty() ? NewName() : order.name);
  if (!order.name.empty() && IsTaken(key)) return NameTaken();
  while (IsTaken(key)) key = KeyOf(order.tenant, NewName());
  forks_.emplace(key, fork);
  Arm(fork->expiry());
  return key;
}

// Forks, scenes that are being imported, and scenes of the store, damaged ones too.
bool ForkStore::IsTaken(absl::string_view name) const {
  return forks_.contains(name) || imported_.contains(name) || scenes_.Contains(name);
}

// What `Scene.base` and `Scene.base_version` say of a fork.
std::optional<ForkOrigin> ForkStore::OriginOf(absl::string_view name) const {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return std::nullopt;
  return ForkOrigin{fork->base().name, fork->base().version};
}

// Scenes that are no forks are found first: most frames are about those.
Scene::Ptr ForkStore::Use(absl::string_view name) const {
  if (Scene::Ptr scene = scenes_.Find(name)) return scene;
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return nullptr;
  fork->Renew();
  return fork->current();
}

// The current version needs no search, and no memory that is kept. Of a scene in the file only
// those versions are at hand that memory has: a frame never waits for the disk.
absl::StatusOr<Scene::Ptr> ForkStore::UseVersion(absl::string_view name, uint64_t version,
                                                 absl::string_view field) {
  Scene::Ptr current = scenes_.Find(name);
  if (current != nullptr && current->version() == version) return current;
  Scene::Ptr found;
  if (current != nullptr) {
    const std::shared_ptr<KeptVersion> kept = kept_.Find(name, version);
    if (kept != nullptr) found = kept->scene();
  } else {
    const ForkPtr fork = FindFork(name);
    if (fork == nullptr) return scenes_.WhyMissing(name, field);
    fork->Renew();
    found = fork->Find(version);
  }
  if (found != nullptr) return found;
  return Refused(absl::StatusCode::kOutOfRange, "version", "this version is not kept");
}

// Listeners hear of the version once it is visible, in the order of versions: the fork's writer is
// still alone then.
absl::StatusOr<Scene::Ptr> ForkStore::EditFork(absl::string_view name, ForkEdits edits,
                                               EditTime time) {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) {
    if (scenes_.Find(name) == nullptr) return NoSuchScene();
    return Refused(absl::StatusCode::kFailedPrecondition, "",
                   "the scene is no fork; CommitEdits edits it");
  }
  fork->Renew();
  return fork->Edit(
      std::move(edits), time, [this] { return scenes_.NextVersion(); },
      [&](uint64_t version) { scenes_.Notify(name, version, nullptr); });
}

// --- Leases

// One timer for all forks, for the first lease that ends. A lease that was renewed meanwhile is
// found so by the sweep, which then waits for the next.
void ForkStore::Arm(Clock::time_point expiry) {
  if (is_sweeping_ || is_ending_) return;
  const Clock::time_point due = std::max(expiry, Clock::now() + kLeastPause);
  if (timer_id_ != 0 && (due_ <= due || !timer_.Cancel(timer_id_))) return;
  due_ = due;
  timer_id_ = timer_.Schedule(due, [this] {
    absl::MutexLock lock(&mu_);
    timer_id_ = 0;
    if (is_sweeping_ || is_ending_) return;
    is_sweeping_ = true;
    executor_.Submit(this);
  });
}

// Forks are destroyed without the lock: their pages may be many.
void ForkStore::Run() {
  std::vector<std::pair<std::string, ForkPtr>> expired;
  {
    absl::MutexLock lock(&mu_);
    const Clock::time_point now = Clock::now();
    for (auto it = forks_.begin(); it != forks_.end();) {
      if (it->second->expiry() > now) {
        ++it;
        continue;
      }
      expired.emplace_back(it->first, std::move(it->second));
      it = forks_.erase(it);
    }
  }
  for (const auto& [name, fork] : expired) Forget(name, fork);
  expired.clear();
  absl::MutexLock lock(&mu_);
  is_sweeping_ = false;
  Clock::time_point first = Clock::time_point::max();
  for (const auto& [name, fork] : forks_) first = std::min(first, fork->expiry());
  if (!forks_.empty()) Arm(first);
}

// Whoever still reads the fork keeps its pages; its writers find it closed.
void ForkStore::Forget(const std::string& name, const ForkPtr& fork) {
  fork->Close();
  count_.Leave(fork->peer().get());
  scenes_.Notify(name, 0, nullptr);
}

// --- As every store

// Without renewing a lease: lists and reads of scenes are no use of a fork.
Scene::Ptr ForkStore::Find(absl::string_view name) const {
  if (Scene::Ptr scene = scenes_.Find(name)) return scene;
  const ForkPtr fork = FindFork(name);
  return fork == nullptr ? nullptr : fork->current();
}

// A fork that is gone leaves no trace, so it is missing as any scene is.
absl::Status ForkStore::WhyMissing(absl::string_view name, absl::string_view field) const {
  return scenes_.WhyMissing(name, field);
}

// The last versions of a fork, by the limit that it was made with.
std::vector<VersionSummary> ForkStore::Versions(absl::string_view name) const {
  const ForkPtr fork = FindFork(name);
  return fork == nullptr ? scenes_.Versions(name) : fork->Versions();
}

// Without renewing a lease, as `Find`.
Scene::Ptr ForkStore::FindVersion(absl::string_view name, uint64_t version) const {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return scenes_.FindVersion(name, version);
  return version == 0 ? fork->current() : fork->Find(version);
}

// What a fork has of a version is found as a scene, so the others are gone.
absl::StatusOr<std::vector<Polygon>> ForkStore::Load(absl::string_view name, uint64_t version,
                                                     MemoryCharge& charge) const {
  if (FindFork(name) == nullptr) return scenes_.Load(name, version, charge);
  return Refused(absl::StatusCode::kOutOfRange, "version",
                 "the polygons of this version are not kept");
}

SceneChange::Ptr ForkStore::FindChange(absl::string_view name, uint64_t version) const {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return scenes_.FindChange(name, version);
  return fork->FindChange(version, MemoryCharge(account_, MemoryShare::kScenes));
}

absl::StatusOr<SceneChange::Ptr> ForkStore::LoadChange(absl::string_view name, uint64_t version,
                                                       MemoryCharge charge) const {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return scenes_.LoadChange(name, version, std::move(charge));
  SceneChange::Ptr change = fork->FindChange(version, std::move(charge));
  if (change != nullptr) return change;
  return Refused(absl::StatusCode::kOutOfRange, "from_version",
                 "what came after this version of the scene is not kept");
}

// Of another tenant than `default`, whose preloaded scenes are among its own.
ScenePage ForkStore::ListOf(absl::string_view tenant, absl::string_view after, size_t limit) const {
  const std::string key = after.empty() ? "" : SceneKey(tenant, after);
  ScenePage page = List(key, limit, KeyPrefix(tenant));
  for (NamedScene& named : page.scenes) named.name = std::string(NameOfKey(named.name));
  if (tenant == kDefaultTenant) return page;
  return Merge(std::move(page), scenes_.ListPreloaded(after, limit), limit);
}

// Two lists by ascending name, merged.
ScenePage ForkStore::List(absl::string_view after, size_t limit, absl::string_view prefix) const {
  ScenePage page = scenes_.List(after, limit, prefix);
  ScenePage forks;
  {
    absl::ReaderMutexLock lock(&mu_);
    auto it = after < prefix ? forks_.lower_bound(prefix) : forks_.upper_bound(after);
    const auto end = forks_.end();
    const auto is_one = [&] { return it != end && absl::StartsWith(it->first, prefix); };
    for (; is_one() && forks.scenes.size() < limit; ++it) {
      forks.scenes.push_back({it->first, it->second->current()});
    }
    forks.last = !is_one();
  }
  return Merge(std::move(page), std::move(forks), limit);
}

absl::StatusOr<Scene::Ptr> ForkStore::Import(absl::string_view name, ImportMode mode,
                                             std::vector<Polygon> polygons,
                                             absl::FunctionRef<bool()> abandoned) {
  {
    absl::MutexLock lock(&mu_);
    if (forks_.contains(name)) return NameTaken();
    ++imported_[std::string(name)];
  }
  const auto release = absl::MakeCleanup([&] {
    absl::MutexLock lock(&mu_);
    const auto it = imported_.find(name);
    if (--it->second == 0) imported_.erase(it);
  });
  return scenes_.Import(name, mode, std::move(polygons), abandoned);
}

absl::StatusOr<Scene::Ptr> ForkStore::Commit(absl::string_view name, uint64_t base_version,
                                             std::vector<SceneEdit> edits,
                                             absl::string_view edit_id) {
  if (FindFork(name) == nullptr) {
    return scenes_.Commit(name, base_version, std::move(edits), edit_id);
  }
  ForkEdits of_fork{std::move(edits), base_version, std::string(edit_id)};
  return EditFork(name, std::move(of_fork), EditTime::kAny);
}

absl::StatusOr<Scene::Ptr> ForkStore::Rollback(absl::string_view name, uint64_t version,
                                               uint64_t base_version) {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return scenes_.Rollback(name, version, base_version);
  fork->Renew();
  return fork->Rollback(
      version, base_version, [this] { return scenes_.NextVersion(); },
      [&](uint64_t made) { scenes_.Notify(name, made, nullptr); });
}

absl::Status ForkStore::Delete(absl::string_view name, uint64_t version) {
  ForkPtr fork;
  {
    absl::MutexLock lock(&mu_);
    const auto it = forks_.find(name);
    if (it != forks_.end()) {
      const uint64_t current = it->second->current()->version();
      if (version != 0 && version != current) return StaleVersion("version", current);
      fork = std::move(it->second);
      forks_.erase(it);
    }
  }
  if (fork == nullptr) return scenes_.Delete(name, version);
  Forget(std::string(name), fork);
  return absl::OkStatus();
}

}  // namespace carom::server
