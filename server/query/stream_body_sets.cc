// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/stream_body_sets.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/store/fork_store.h"
#include "wire/decode.h"

namespace carom::server {
namespace {

constexpr uint32_t kMaxHandle = 65535;
// Frames of several streams that change one fork at the same time begin again this often.
constexpr int kMaxAttempts = 16;

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

absl::Status StreamBodySets::StageRemoval(uint32_t handle, const Forks& forks, Staged& staged) {
  staged.own.Remove(handle);
  const auto found = staged.shared.find(handle);
  if (found == staged.shared.end()) return absl::OkStatus();
  BodySetChange& change = staged.ChangeOf(found->second.sets);
  if (change.Has(handle) && !forks.may_change.ok()) return forks.may_change;
  change.Remove(handle);
  staged.shared.erase(found);
  return absl::OkStatus();
}

absl::Status StreamBodySets::StageSet(const v1::BodySet& message, const Forks& forks, KeyOf key_of,
                                      Staged& staged) {
  const absl::StatusOr<BodySetDefinition> definition = DefinitionOf(message);
  if (!definition.ok()) return definition.status();
  const uint32_t handle = message.body_set();
  const bool is_new = !staged.shared.contains(handle) && !staged.own.Has(handle);
  if (is_new && staged.shared.size() + staged.own.size() >= BodySetTable::kMaxSets) {
    return OverLimit("body_set", BodySetTable::kMaxSets, "body sets a stream");
  }
  const auto in_use = [] {
    return InvalidField("body_set", "must not have a set of another stream or fork");
  };
  if (message.fork_case() == v1::BodySet::FORK_NOT_SET) {
    if (staged.shared.contains(handle)) return in_use();
    return staged.own.Define(handle, *definition);
  }
  const absl::StatusOr<std::string> key = key_of(message);
  if (!key.ok()) return key.status();
  absl::StatusOr<std::shared_ptr<ForkBodySets>> sets = forks.store.BodySetsOf(
      *key, message.fork_case() == v1::BodySet::kScene ? "scene" : "scene_handle");
  if (!sets.ok()) return sets.status();
  const auto before = staged.shared.find(handle);
  if (staged.own.Has(handle)) return in_use();
  if (before != staged.shared.end() && before->second.sets != *sets) return in_use();
  BodySetChange& change = staged.ChangeOf(*sets);
  if (!change.Has(handle) && !forks.may_change.ok()) return forks.may_change;
  absl::Status status = change.Define(handle, *definition);
  if (status.ok()) {
    staged.shared[handle] = {*key, *std::move(sets), change.Find(handle)->definition};
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
    return BelowFloats(message, staged.own.Add(message.body_set(), decoded.poses, 0));
  }
  if (!forks.may_change.ok()) return forks.may_change;
  // A tick is a use of the fork, which renews its lease.
  if (!forks.store.BodySetsOf(shared->second.fork, "body_set").ok()) {
    return InvalidField("body_set", "must be the handle of a body set");
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
  if (frame.body_sets_size() != 0) {  // the handles of deleted forks are free
    absl::erase_if(staged.shared, [](const auto& set) { return set.second.sets->is_closed(); });
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
  return status;
}

absl::Status StreamBodySets::Define(const v1::Frame& frame, const Forks& forks, KeyOf key_of) {
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
    Staged staged{BodySetChange(own_), shared_, {}};
    status = Stage(frame, forks, key_of, staged);
    if (!status.ok()) return status;
    status = Commit(staged);
    if (status.code() != absl::StatusCode::kAborted) return status;
  }
  return status;
}

StreamBodySets::Found StreamBodySets::Find(uint32_t handle) const {
  const auto shared = shared_.find(handle);
  if (shared == shared_.end()) return {own_.Find(handle), ""};
  std::shared_ptr<const KeptBodySet> set = shared->second.sets->Find(handle);
  if (!shared->second.IsDefinitionOf(set.get())) set = nullptr;
  return {std::move(set), shared->second.fork};
}

// Counts each definition as new and with room for all of its ticks, and no tick: the set of a tick
// has room for it.
uint64_t StreamBodySets::GrowthBy(const v1::Frame& frame) {
  constexpr uint64_t kShapeBytes = 1024;
  constexpr uint64_t kSetBytes = 1024;
  uint64_t bytes = 0;
  for (const v1::BodySet& set : frame.body_sets()) {
    if (set.fork_case() != v1::BodySet::FORK_NOT_SET) continue;
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
