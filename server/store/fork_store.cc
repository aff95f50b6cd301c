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

// Least time until the timer starts the next deletion of forks whose leases have ended.
constexpr Clock::duration kLeastPause = std::chrono::milliseconds(200);

// Returns the error of a call that would create a scene or fork under a name that a scene or fork
// already has. The error does not reveal which of the two has the name.
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

// Merges two lists of scenes, each by ascending name, and returns the first `limit` scenes of the
// merged list.
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

// `limits.max_bytes` limits the memory of all forks to a part of the memory for scenes, so that
// clients that make forks cannot use up the memory that imports of scenes need.
ForkStore::ForkStore(MemoryStore& scenes, MemoryAccount& account, const ForkLimits& limits,
                     Timer& timer, Executor& executor)
    : scenes_(scenes),
      account_(account),
      limits_(limits),
      timer_(timer),
      executor_(executor),
      kept_(scenes, account, limits.kept),
      memory_(limits.max_bytes, account),
      count_(limits.max_forks, limits.max_forks_per_peer, "forks", Limit::kForks) {}

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

// The returned pointer keeps the fork in memory, even if the fork's lease ends while the caller
// uses the fork.
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
    // Loads the version from the journal. The loaded scene shares no memory with other versions,
    // and exists as long as a fork of the version. The server runs ForkScene calls for one base one
    // after the other, so no other call loads this version at the same time.
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
  // Counts the fork before `BaseOf`, which may load the base (the version that the fork begins as)
  // from the journal, so that a call that exceeds the limits of the number of forks does not load
  // the base.
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

// Holds the lock for both the check of the name and the insertion, so that no other thread creates
// a scene or fork of this name between the two steps.
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

std::pair<size_t, uint64_t> ForkStore::usage() const {
  absl::MutexLock lock(&mu_);
  return {forks_.size(), memory_.used()};
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

// If `version` is the scene's current version, returns it without a search in `kept_` (the versions
// in memory), which may not contain a version that has just become current. For a scene that is not
// a fork, finds only versions in memory, because a query frame (a client's message of queries for
// one tick) never waits for the disk.
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

// `Fork::Edit` calls the second lambda, which notifies listeners, once the edited version is
// visible and while `Fork::Edit` holds the lock that only one writer of the fork can hold. So
// listeners receive the versions of the fork in ascending order.
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

absl::StatusOr<std::shared_ptr<ForkBodySets>> ForkStore::BodySetsOf(absl::string_view name,
                                                                    absl::string_view field) {
  const ForkPtr fork = FindFork(name);
  if (fork != nullptr) {
    fork->Renew();
    return fork->body_sets();
  }
  if (scenes_.Find(name) == nullptr) return scenes_.WhyMissing(name, field);
  return Refused(absl::StatusCode::kFailedPrecondition, field, "must be a fork");
}

// --- Leases

// One timer serves all forks; it is due when the first lease of a fork ends (when no client has
// used that fork for its lease time), but at least kLeastPause after it was set. If that lease was
// renewed after the timer was set, `Run` does not delete the fork and sets the timer again.
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

// Deletes the forks whose leases have ended: no client has used them for their lease time. Destroys
// these forks after it has released `mu_`, because freeing their memory may take long.
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

// Readers that hold a version of the fork can still read that version. Later edits of the fork
// fail, because `Close` marks the fork as deleted.
void ForkStore::Forget(const std::string& name, const ForkPtr& fork) {
  fork->Close();
  count_.Leave(fork->peer().get());
  scenes_.Notify(name, 0, nullptr);
}

// --- Functions of SceneStore

// Does not renew the lease of a fork (the time until the fork is deleted): listing and reading
// scenes do not count as use of a fork.
Scene::Ptr ForkStore::Find(absl::string_view name) const {
  if (Scene::Ptr scene = scenes_.Find(name)) return scene;
  const ForkPtr fork = FindFork(name);
  return fork == nullptr ? nullptr : fork->current();
}

// The store keeps no record of a deleted fork (a temporary copy of a scene), so the name of a
// deleted fork gives the same error as a name that no scene ever had.
absl::Status ForkStore::WhyMissing(absl::string_view name, absl::string_view field) const {
  return scenes_.WhyMissing(name, field);
}

// For a fork, returns the versions that the fork still keeps: its most recent ones, at most
// `ForkLimits::max_versions`.
std::vector<VersionSummary> ForkStore::Versions(absl::string_view name) const {
  const ForkPtr fork = FindFork(name);
  return fork == nullptr ? scenes_.Versions(name) : fork->Versions();
}

// Does not renew the lease of a fork (the time until the fork is deleted), like `Find`.
Scene::Ptr ForkStore::FindVersion(absl::string_view name, uint64_t version) const {
  const ForkPtr fork = FindFork(name);
  if (fork == nullptr) return scenes_.FindVersion(name, version);
  return version == 0 ? fork->current() : fork->Find(version);
}

// Returns OUT_OF_RANGE for every version of a fork: `FindVersion` returns the versions that a fork
// keeps, and older versions of a fork are not stored anywhere.
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

// A preloaded scene has a key as if it were a scene of the tenant `default`, so `List` returns the
// preloaded scenes for the tenant `default` only. For every other tenant, `ListOf` adds the
// preloaded scenes.
ScenePage ForkStore::ListOf(absl::string_view tenant, absl::string_view after, size_t limit) const {
  const std::string key = after.empty() ? "" : SceneKey(tenant, after);
  ScenePage page = List(key, limit, KeyPrefix(tenant));
  for (NamedScene& named : page.scenes) named.name = std::string(NameOfKey(named.name));
  if (tenant == kDefaultTenant) return page;
  return Merge(std::move(page), scenes_.ListPreloaded(after, limit), limit);
}

// Merges the list of scenes that are not forks with the list of forks; both lists are by ascending
// name.
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
                                             absl::FunctionRef<bool()> abandoned,
                                             absl::string_view note) {
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
  return scenes_.Import(name, mode, std::move(polygons), abandoned, note);
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
