// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/stream_body_sets.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/store/fork_store.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

constexpr uint32_t kMaxHandle = 65535;
// Frames of several streams that change one fork at the same time begin again this often.
constexpr int kMaxAttempts = 16;
// What a stream keeps of the set of a fork, beside its definition: entries of tables, and the key
// of the fork.
constexpr uint64_t kSharedBytes = 512;
// The work units (visited polygons or edges, about 5 ns each) of an attempt to change the sets of
// forks that other streams changed meanwhile: for the copies of tables, and for each number of
// poses.
constexpr uint64_t kUnitsPerAttempt = 1 << 10;
constexpr uint64_t kUnitsPerNumber = 2;

// Returns `status` with `path` and a point put in front of each field path that `is_below` accepts.
absl::Status Below(
    absl::string_view path, const absl::Status& status,
    absl::FunctionRef<bool(absl::string_view)> is_below = [](absl::string_view) { return true; }) {
  if (status.ok()) return status;
  Refusal refusal;
  const std::vector<Violation> violations = Violations(status);
  if (violations.empty()) return status;
  for (const Violation& violation : violations) {
    const bool is_prefixed = is_below(violation.field);
    refusal.Add(is_prefixed ? absl::StrCat(path, ".", violation.field) : violation.field,
                violation.description);
  }
  refusal.AddUnlisted(ViolationCount(status) - violations.size());
  return WithRetryDelay(refusal.status(status.code()), RetryDelay(status));
}

// Puts `floats` in front of the field paths of the columns that are given as floats.
absl::Status BelowFloats(const v1::BodyPoses& message, const absl::Status& status) {
  if (!message.has_floats()) return status;
  return Below("floats", status, [](absl::string_view field) {
    const absl::string_view column = field.substr(0, field.find('['));
    return v1::FloatBodyPoses::descriptor()->FindFieldByName(std::string(column)) != nullptr;
  });
}

absl::StatusOr<BodySetDefinition> DefinitionOf(const v1::BodySet& message) {
  if (message.body_set() > kMaxHandle) {
    return InvalidField("body_set", absl::StrCat("must be in [0, ", kMaxHandle, "]"));
  }
  absl::StatusOr<BodyDefinition> definition = wire::DecodeBodySet(message);
  if (!definition.ok()) return definition.status();
  auto bytes = std::make_shared<const std::string>(wire::BodySetBytes(*definition));
  absl::StatusOr<BodyHistory> history = BodyHistory::Create(*std::move(definition));
  if (!history.ok()) return history.status();
  return BodySetDefinition{std::move(bytes), *std::move(history)};
}

// Returns the work units of an attempt to make the changes of `frame`.
uint64_t UnitsOfAttempt(const v1::Frame& frame) {
  uint64_t units = kUnitsPerAttempt;
  for (const v1::BodySet& set : frame.body_sets()) units += kUnitsPerAttempt + set.ByteSizeLong();
  for (const v1::BodyPoses& poses : frame.poses()) {
    units += kUnitsPerNumber * static_cast<uint64_t>(poses.x_size());
    units += kUnitsPerNumber * static_cast<uint64_t>(poses.floats().x_size());
  }
  return units;
}

absl::Status ForkIsMissing() {
  return Refused(absl::StatusCode::kNotFound, "body_set",
                 "must be a set whose fork exists: it was deleted, or does not exist yet");
}

absl::Status IsInUse() {
  return InvalidField("body_set", "must not have a set of another stream or fork");
}

}  // namespace

bool StreamBodySets::Shared::IsDefinitionOf(const KeptBodySet* set) const {
  return set != nullptr && (set->definition == definition || *set->definition == *definition);
}

BodySetChange& StreamBodySets::Staged::ChangeOf(const std::shared_ptr<ForkBodySets>& sets) {
  const auto found = forks.find(sets);
  if (found != forks.end()) return found->second.first;
  auto [table, number] = sets->Copy();
  return forks.try_emplace(sets, BodySetChange(std::move(table)), number).first->second.first;
}

void StreamBodySets::Staged::Free(uint32_t handle) {
  if (waiting.erase(handle) != 0) own.Remove(handle);
  const auto found = shared.find(handle);
  if (found != shared.end() && found->second.sets->is_closed()) shared.erase(found);
}

absl::Status StreamBodySets::Staged::MakeRoom() {
  if (shared.size() + own.size() < BodySetTable::kMaxSets) return absl::OkStatus();
  absl::erase_if(shared, [](const auto& set) { return set.second.sets->is_closed(); });
  if (shared.size() + own.size() < BodySetTable::kMaxSets) return absl::OkStatus();
  return OverLimit("body_set", BodySetTable::kMaxSets, "body sets a stream");
}

// The fork may have the set from another stream: then that stays, unless it has no tick. No tick
// that the stream gives has a version of the fork.
absl::Status StreamBodySets::Give(uint32_t handle, const std::shared_ptr<ForkBodySets>& sets,
                                  const absl::Status& may_change, uint64_t& work_units) {
  const std::shared_ptr<const KeptBodySet> kept = own_.Find(handle);
  auto [table, number] = sets->Copy();
  work_units += kUnitsPerAttempt + table.size();
  BodySetChange change(std::move(table));
  const std::shared_ptr<const KeptBodySet> there = change.Find(handle);
  const bool is_same = there != nullptr && *there->definition == *kept->definition;
  const bool is_empty = is_same && there->history.tick_count() == 0;
  if (there == nullptr || (is_empty && kept->history.tick_count() != 0)) {
    if (!may_change.ok()) return may_change;
    absl::Status status = change.Take(handle, kept);
    std::vector<ForkBodySets::Replacement> replacements;
    replacements.push_back({sets, change.Finish(), number});
    if (status.ok()) status = ForkBodySets::Replace(std::move(replacements));
    if (!status.ok()) return status;
  }
  BodySetChange own(std::move(own_));
  own.Remove(handle);
  own_ = own.Finish();
  shared_[handle] = {std::move(waiting_[handle].fork), sets,
                     is_same ? there->definition : kept->definition};
  waiting_.erase(handle);
  return absl::OkStatus();
}

void StreamBodySets::GiveUsed(const v1::Frame& frame, const Forks& forks, uint64_t& work_units) {
  if (waiting_.empty()) return;
  absl::flat_hash_set<uint32_t> used;
  for (const v1::BodyPoses& poses : frame.poses()) used.insert(poses.body_set());
  for (const v1::Group& group : frame.groups()) {
    if (group.has_body_set()) used.insert(group.body_set());
  }
  for (const uint32_t handle : frame.removed_body_sets()) used.erase(handle);
  for (const v1::BodySet& set : frame.body_sets()) used.erase(set.body_set());
  for (const uint32_t handle : used) {
    const auto waiting = waiting_.find(handle);
    if (waiting == waiting_.end()) continue;
    const auto sets = forks.store.BodySetsOf(waiting->second.fork, "body_set");
    absl::Status status = sets.ok() ? absl::AbortedError("") : ForkIsMissing();
    for (int attempt = 0; attempt < kMaxAttempts && absl::IsAborted(status); ++attempt) {
      status = Give(handle, *sets, forks.may_change, work_units);
    }
    if (!status.ok()) waiting_[handle].why = std::move(status);
  }
}

absl::Status StreamBodySets::StageRemoval(uint32_t handle, const Forks& forks, Staged& staged) {
  staged.Free(handle);
  staged.own.Remove(handle);
  const auto found = staged.shared.find(handle);
  if (found == staged.shared.end()) return absl::OkStatus();
  BodySetChange& change = staged.ChangeOf(found->second.sets);
  if (change.Has(handle) && !forks.may_change.ok()) return forks.may_change;
  change.Remove(handle);
  staged.shared.erase(found);
  return absl::OkStatus();
}

absl::Status StreamBodySets::StageWaiting(uint32_t handle, const BodySetDefinition& definition,
                                          const std::string& key, Staged& staged) {
  const auto before = staged.waiting.find(handle);
  const bool is_same = before != staged.waiting.end() && before->second.fork == key &&
                       *staged.own.Find(handle)->definition == *definition.bytes;
  if (is_same) return absl::OkStatus();
  staged.Free(handle);
  if (staged.own.Has(handle) || staged.shared.contains(handle)) return IsInUse();
  absl::Status status = staged.MakeRoom();
  if (status.ok()) status = staged.own.Define(handle, definition);
  if (status.ok()) staged.waiting[handle] = {key, ForkIsMissing()};
  return status;
}

absl::Status StreamBodySets::StageSet(const v1::BodySet& message, const Forks& forks, KeyOf key_of,
                                      Staged& staged) {
  const absl::StatusOr<BodySetDefinition> definition = DefinitionOf(message);
  if (!definition.ok()) return definition.status();
  const uint32_t handle = message.body_set();
  const bool has_fork = message.fork_case() != v1::BodySet::FORK_NOT_SET;
  std::string key;
  std::shared_ptr<ForkBodySets> sets;
  if (has_fork) {
    const absl::StatusOr<std::string> found_key = key_of(message);
    if (!found_key.ok()) return found_key.status();
    key = *found_key;
    auto found = forks.store.BodySetsOf(
        key, message.fork_case() == v1::BodySet::kScene ? "scene" : "scene_handle");
    if (absl::IsNotFound(found.status())) return StageWaiting(handle, *definition, key, staged);
    if (!found.ok()) return found.status();
    sets = *std::move(found);
  }
  staged.Free(handle);
  const auto before = staged.shared.find(handle);
  const bool is_shared = before != staged.shared.end();
  if (is_shared ? before->second.sets != sets : has_fork && staged.own.Has(handle)) {
    return IsInUse();
  }
  absl::Status status;
  if (!is_shared && !staged.own.Has(handle)) status = staged.MakeRoom();
  if (!status.ok()) return status;
  if (!has_fork) return staged.own.Define(handle, *definition);
  BodySetChange& change = staged.ChangeOf(sets);
  if (!change.Has(handle) && !forks.may_change.ok()) return forks.may_change;
  status = change.Define(handle, *definition);
  if (status.ok()) {
    staged.shared[handle] = {std::move(key), std::move(sets), change.Find(handle)->definition};
  }
  return status;
}

// A tick that came before has no version: the fork may have been made again since, with other
// walls.
absl::Status StreamBodySets::StagePoses(const v1::BodyPoses& message, const Forks& forks,
                                        Staged& staged) {
  wire::DecodedPoses decoded;
  absl::Status status = wire::DecodePoses(message, decoded);
  if (!status.ok()) return status;
  const auto shared = staged.shared.find(message.body_set());
  if (shared == staged.shared.end()) {
    if (staged.waiting.contains(message.body_set()) && !forks.may_change.ok()) {
      return forks.may_change;
    }
    return BelowFloats(message, staged.own.Add(message.body_set(), decoded.poses, 0));
  }
  if (!forks.may_change.ok()) return forks.may_change;
  // A tick is a use of the fork, which renews its lease. The groups that name the set of a deleted
  // fork get the error (`Find`).
  if (shared->second.sets->is_closed() ||
      !forks.store.BodySetsOf(shared->second.fork, "body_set").ok()) {
    return absl::OkStatus();
  }
  const Scene::Ptr scene = message.resent() ? nullptr : forks.store.Find(shared->second.fork);
  const uint64_t version = scene == nullptr ? 0 : scene->version();
  BodySetChange& change = staged.ChangeOf(shared->second.sets);
  const std::shared_ptr<const KeptBodySet> set = change.Find(message.body_set());
  if (set != nullptr && !shared->second.IsDefinitionOf(set.get())) {
    return InvalidField("body_set",
                        "must be defined again: the fork has another set of the handle");
  }
  return BelowFloats(message, change.Add(message.body_set(), decoded.poses, version));
}

absl::Status StreamBodySets::Stage(const v1::Frame& frame, const Forks& forks, KeyOf key_of,
                                   Staged& staged) {
  for (const uint32_t handle : frame.removed_body_sets()) {
    absl::Status status = StageRemoval(handle, forks, staged);
    if (!status.ok()) return status;
  }
  for (int i = 0; i < frame.body_sets_size(); ++i) {
    const absl::Status status = StageSet(frame.body_sets(i), forks, key_of, staged);
    if (!status.ok()) return Below(absl::StrCat("body_sets[", i, "]"), status);
  }
  for (int i = 0; i < frame.poses_size(); ++i) {
    const absl::Status status = StagePoses(frame.poses(i), forks, staged);
    if (!status.ok()) return Below(absl::StrCat("poses[", i, "]"), status);
  }
  return absl::OkStatus();
}

absl::Status StreamBodySets::Commit(Staged& staged) {
  std::vector<ForkBodySets::Replacement> replacements;
  replacements.reserve(staged.forks.size());
  for (auto& [sets, change] : staged.forks) {
    if (!change.first.is_changed()) continue;
    replacements.push_back({sets, change.first.Finish(), change.second});
  }
  absl::Status status = ForkBodySets::Replace(std::move(replacements));
  if (!status.ok()) return status;
  own_ = staged.own.Finish();
  shared_ = std::move(staged.shared);
  waiting_ = std::move(staged.waiting);
  return status;
}

absl::Status StreamBodySets::Define(const v1::Frame& frame, const Forks& forks, KeyOf key_of,
                                    uint64_t& work_units) {
  GiveUsed(frame, forks, work_units);
  if (frame.removed_body_sets_size() + frame.body_sets_size() + frame.poses_size() == 0) {
    return absl::OkStatus();
  }
  if (frame.body_sets_size() > static_cast<int>(BodySetTable::kMaxSets)) {
    return OverLimit("body_sets", BodySetTable::kMaxSets, "body sets a frame");
  }
  if (frame.poses_size() > static_cast<int>(kMaxTicksOfFrame)) {
    return OverLimit("poses", kMaxTicksOfFrame, "ticks a frame");
  }
  absl::Status status;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    Staged staged{BodySetChange(own_), shared_, waiting_, {}};
    status = Stage(frame, forks, key_of, staged);
    if (!status.ok()) return status;
    status = Commit(staged);
    if (status.code() != absl::StatusCode::kAborted) return status;
    work_units += UnitsOfAttempt(frame);
  }
  return status;
}

StreamBodySets::Found StreamBodySets::Find(uint32_t handle) const {
  const auto waiting = waiting_.find(handle);
  if (waiting != waiting_.end()) return {nullptr, waiting->second.fork, waiting->second.why};
  const auto shared = shared_.find(handle);
  if (shared == shared_.end()) return {own_.Find(handle), "", absl::OkStatus()};
  const std::string& fork = shared->second.fork;
  std::shared_ptr<const KeptBodySet> set = shared->second.sets->Find(handle);
  if (set == nullptr && shared->second.sets->is_closed()) return {nullptr, fork, ForkIsMissing()};
  if (!shared->second.IsDefinitionOf(set.get())) set = nullptr;
  return {std::move(set), fork, absl::OkStatus()};
}

// Several streams may share the bytes of a definition. Each is charged for them, as each may be the
// last one that holds them.
uint64_t StreamBodySets::memory_bytes() const {
  uint64_t bytes = own_.memory_bytes() + waiting_.size() * kSharedBytes;
  for (const auto& [handle, shared] : shared_) {
    bytes += kSharedBytes + shared.definition->capacity();
  }
  return bytes;
}

// Counts each definition as new and with room for all of its ticks, and no tick: the set of a tick
// has room for it. Counts the set of a fork, too: the stream keeps it if the fork does not exist.
uint64_t StreamBodySets::GrowthBy(const v1::Frame& frame) {
  constexpr uint64_t kShapeBytes = 1024;
  constexpr uint64_t kSetBytes = 1024 + kSharedBytes;
  uint64_t bytes = 0;
  for (const v1::BodySet& set : frame.body_sets()) {
    const auto shapes = static_cast<uint64_t>(set.shapes_size());
    const auto bodies = std::max(shapes, static_cast<uint64_t>(set.shape_size()));
    const uint32_t ticks = set.keep_ticks() == 0 ? BodyDefinition().keep_ticks : set.keep_ticks();
    // Numbers that `BodyHistory::Create` refuses take no memory.
    if (bodies > kMaxBodies || ticks > kMaxKeepTicks) continue;
    bytes += kSetBytes + 2 * set.ByteSizeLong() + shapes * kShapeBytes + 64 * bodies +
             BodyHistory::TickBytes(bodies, ticks + 1) + uint64_t{16} * (ticks + 1);
    for (const v1::Shape& shape : set.shapes()) {
      for (const v1::Ring& ring : shape.polygon().rings()) {
        bytes += 128 + 64 * static_cast<uint64_t>(ring.x_size());
      }
    }
  }
  return bytes;
}

}  // namespace carom::server
