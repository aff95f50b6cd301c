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

// Shortest delay of the timer that deletes forks with expired leases.
constexpr Clock::duration kLeastPause = std::chrono::milliseconds(200);

// Returns the error for a name that a fork or another scene has. It is one error for both, so that
// it does not reveal whether a fork or a scene has the name.
absl::Status NameTaken() {
  return Refused(absl::StatusCode::kAlreadyExists, "name", "a scene of this name exists already");
}

// Returns a name with 64 random bits, because a client that guesses a fork's name could edit the
// fork.
std::string NewName() {
  std::random_device random;
  return absl::StrCat("scenes/fork-", absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

// Returns the first `limit` scenes of two pages, by ascending name.
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

// `limits.max_bytes` limits forks to a part of the memory share of scenes, so that clients that
// make forks cannot take the memory that imports need.
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

// Waits for a timer callback that is about to submit `Run`, and for a running `Run`, which sets
// `is_sweeping_` to false at its end. Waits for the callback without the lock, because the callback
// acquires the lock.
void ForkStore::Stop() {
  Timer::Id timer = 0;
  {
    absl::MutexLock lock(&mu_);
    is_ending_ = true;
    timer = std::exchange(timer_id_, 0);
  }
  if (timer != 0) timer_.CancelAndWait(timer);
  absl::MutexLock lock(&mu_);
  const auto is_idle = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !is_sweeping_; };
  mu_.Await(absl::Condition(&is_idle));
}

// --- Forks

// The pointer keeps the fork alive, even if the fork's lease ends meanwhile.
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
  base.kept = kept_.Acquire(key, order.version);
  if (base.kept == nullptr) {
    if (scenes_.Find(key) == nullptr) return scenes_.WhyMissing(key, "base");
    // Loads the version from the journal, as a scene that shares no memory with other versions and
    // exists as long as its forks. ForkScene calls for one base run one after the other, so no
    // other call loads this version meanwhile.
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
  // Counts the fork before `BaseOf` may load the base from the journal, so that a call above the
  // limits of forks costs no load.
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

// Holds the lock for both the check of the name and the insertion, so that no scene or fork of this
// name is created in between.
absl::StatusOr<std::string> ForkStore::Enter(const ForkOrder& order, const ForkPtr& fork) {
  absl::MutexLock lock(&mu_);
  std::string key = KeyOf(order.tenant, order.name.empty() ? NewName() : order.name);
  if (!order.name.empty() && IsTaken(key)) return NameTaken();
  while (IsTaken(key)) key = KeyOf(order.tenant, NewName());
  forks_.emplace(key, fork);
  Arm(fork->expiry());
  return key;
}

// A name is taken by a fork, by a running import of a scene, or by a scene of `scenes_`, even a
// damaged one.
bool ForkStore::IsTaken(absl::string_view name) const {
  return forks_.contains(name) || imported_.contains(name) || scenes_.Contains(name);
}

// The returned `ForkOrigin` becomes the fields `base` and `base_version` of a fork's v1.Scene
// message.
std::optional<ForkOrigin> ForkStore::OriginOf(absl::string_view name) const {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return std::nullopt;
  return ForkOrigin{fork->base().name, fork->base().version};
}

// Searches the scenes that are not forks first, because most queries are for such scenes.
Scene::Ptr ForkStore::Use(absl::string_view name) const {
  if (Scene::Ptr scene = scenes_.Find(name)) return scene;
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return nullptr;
  fork->Renew();
  return fork->current();
}

// Returns the current version without a search in `kept_`, which may not contain it. Of a scene
// that is not a fork, finds only versions in memory, because a query frame (a client's message of
// queries for one tick) never waits for the disk.
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

// `Fork::Edit` notifies listeners through the last lambda, once the version is visible and while
// the fork's lock of writers is held, so that listeners receive the versions of the fork in order.
absl::StatusOr<Scene::Ptr> ForkStore::EditFork(absl::string_view name, ForkEdits edits,
                                               EditTime time) {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) {
    if (scenes_.Find(name) == nullptr) return NoSuchScene();
    return Refused(absl::StatusCode::kFailedPrecondition, "",
                   "the scene is not a fork; edit it with CommitEdits");
  }
  fork->Renew();
  return fork->Edit(
      std::move(edits), time, [this] { return scenes_.NextVersion(); },
      [&](uint64_t version) { scenes_.Notify(name, version, nullptr); });
}

// --- Leases

// One timer serves all forks and is due when the first lease ends. If that lease was renewed
// meanwhile, `Run` deletes no fork and schedules the timer again.
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

// Deletes the forks whose leases have ended. Destroys them without the lock, because freeing their
// memory may take long.
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

// A reader that holds a version of the fork keeps the version's memory; a later edit fails, because
// the fork is closed.
void ForkStore::Forget(const std::string& name, const ForkPtr& fork) {
  fork->Close();
  count_.Leave(fork->peer().get());
  scenes_.Notify(name, 0, nullptr);
}

// --- Functions of SceneStore

// Does not renew the lease of a fork: listing and reading scenes do not count as use of a fork.
Scene::Ptr ForkStore::Find(absl::string_view name) const {
  if (Scene::Ptr scene = scenes_.Find(name)) return scene;
  const ForkPtr fork = FindFork(name);
  return fork == nullptr ? nullptr : fork->current();
}

// The store keeps nothing of a deleted fork, so the error for its name is that of a scene that
// never existed.
absl::Status ForkStore::WhyMissing(absl::string_view name, absl::string_view field) const {
  return scenes_.WhyMissing(name, field);
}

// A fork keeps its last versions, up to the limit that the fork was made with.
std::vector<VersionSummary> ForkStore::Versions(absl::string_view name) const {
  const ForkPtr fork = FindFork(name);
  return fork == nullptr ? scenes_.Versions(name) : fork->Versions();
}

// Does not renew the lease of a fork, like `Find`.
Scene::Ptr ForkStore::FindVersion(absl::string_view name, uint64_t version) const {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return scenes_.FindVersion(name, version);
  return version == 0 ? fork->current() : fork->Find(version);
}

// `FindVersion` returns every version that a fork keeps, so no other version can be loaded.
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
                 "the changes after this version of the scene are not kept");
}

// The keys of preloaded scenes are those of the tenant `default`, so `List` returns preloaded
// scenes only for `default`; adds them for other tenants.
ScenePage ForkStore::ListOf(absl::string_view tenant, absl::string_view after, size_t limit) const {
  const std::string key = after.empty() ? "" : SceneKey(tenant, after);
  ScenePage page = List(key, limit, KeyPrefix(tenant));
  for (NamedScene& named : page.scenes) named.name = std::string(NameOfKey(named.name));
  if (tenant == kDefaultTenant) return page;
  return Merge(std::move(page), scenes_.ListPreloaded(after, limit), limit);
}

// Merges scenes and forks, two lists by ascending name.
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
