// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/body_set_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::server {
namespace {

// What a set takes beside its history: the entry of the table, and a version for each tick.
constexpr uint64_t kSetBytes = 512;
constexpr uint64_t kVersionBytes = sizeof(std::pair<uint64_t, uint64_t>);

bool IsBefore(const std::pair<uint64_t, uint64_t>& entry, uint64_t tick) {
  return entry.first < tick;
}

}  // namespace

// Counts every tick twice as long as a change is made to a copy: one tick more than are kept.
uint64_t KeptBodySet::memory_bytes() const {
  const size_t ticks = size_t{history.keep_ticks()} + 1;
  return kSetBytes + definition->capacity() + history.defined_bytes() +
         BodyHistory::TickBytes(history.size(), ticks) + ticks * kVersionBytes;
}

uint64_t KeptBodySet::VersionAt(uint64_t tick) const {
  const auto found = std::lower_bound(versions.begin(), versions.end(), tick, IsBefore);
  return found == versions.end() || found->first != tick ? 0 : found->second;
}

absl::Status BodySetChange::Define(uint32_t handle, const BodySetDefinition& definition) {
  const auto found = table_.sets_.find(handle);
  if (found != table_.sets_.end()) {
    if (*found->second->definition == *definition.bytes) return absl::OkStatus();
    return InvalidField("body_set", "must not have a set of another definition");
  }
  absl::Status status = CheckRoom();
  if (!status.ok()) return status;
  auto set = std::make_shared<KeptBodySet>();
  set->definition = definition.bytes;
  set->history = definition.history;
  made_[handle] = set;
  table_.sets_.emplace(handle, std::move(set));
  is_changed_ = true;
  return status;
}

absl::Status BodySetChange::CheckRoom() const {
  if (size() < BodySetTable::kMaxSets) return absl::OkStatus();
  return Refused(absl::StatusCode::kResourceExhausted, "body_set",
                 absl::StrCat("must be one of at most ", BodySetTable::kMaxSets, " body sets"));
}

absl::Status BodySetChange::Add(uint32_t handle, const PoseColumns& poses, uint64_t version) {
  const auto found = table_.sets_.find(handle);
  if (found == table_.sets_.end()) {
    return InvalidField("body_set", "must be the handle of a body set");
  }
  std::shared_ptr<KeptBodySet>& set = made_[handle];
  if (set == nullptr) found->second = set = std::make_shared<KeptBodySet>(*found->second);
  BodyHistory& history = set->history;
  const bool is_known = history.tick_count() != 0 && poses.tick <= history.newest_tick();
  absl::Status status = history.Add(poses);
  if (!status.ok() || is_known) return status;
  is_changed_ = true;
  std::vector<std::pair<uint64_t, uint64_t>>& versions = set->versions;
  if (version != 0) versions.emplace_back(poses.tick, version);
  const auto kept =
      std::lower_bound(versions.begin(), versions.end(), history.oldest_tick(), IsBefore);
  versions.erase(versions.begin(), kept);
  return status;
}

absl::Status BodySetChange::Take(uint32_t handle, std::shared_ptr<const KeptBodySet> kept) {
  absl::Status status = Has(handle) ? absl::OkStatus() : CheckRoom();
  if (!status.ok()) return status;
  made_.erase(handle);
  table_.sets_[handle] = std::move(kept);
  is_changed_ = true;
  return status;
}

void BodySetChange::Remove(uint32_t handle) {
  is_changed_ |= table_.sets_.erase(handle) != 0;
  made_.erase(handle);
}

std::shared_ptr<const KeptBodySet> BodySetTable::Find(uint32_t handle) const {
  const auto found = sets_.find(handle);
  return found == sets_.end() ? nullptr : found->second;
}

uint64_t BodySetTable::memory_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [handle, set] : sets_) bytes += set->memory_bytes();
  return bytes;
}

std::pair<BodySetTable, uint64_t> ForkBodySets::Copy() const {
  absl::MutexLock lock(&mu_);
  return {table_, number_};
}

// Locks the forks in the order of their addresses, so that calls for the same forks do not wait for
// each other.
absl::Status ForkBodySets::Replace(std::vector<Replacement> replacements) {
  std::sort(replacements.begin(), replacements.end(),
            [](const Replacement& a, const Replacement& b) { return a.sets < b.sets; });
  for (const Replacement& one : replacements) one.sets->mu_.Lock();
  absl::Status status = ReplaceLocked(replacements);
  for (const Replacement& one : replacements) one.sets->mu_.Unlock();
  return status;
}

// First charges what each fork takes before or after, whichever is more: that can be undone, as
// lowering a charge always succeeds.
absl::Status ForkBodySets::ReplaceLocked(std::span<Replacement> replacements) {
  for (const Replacement& one : replacements) {
    if (one.number != one.sets->number_) {
      return absl::AbortedError("other streams changed the body sets of a fork");
    }
  }
  absl::Status status;
  size_t charged = 0;
  for (; charged < replacements.size() && status.ok(); ++charged) {
    const auto& [sets, table, number] = replacements[charged];
    const uint64_t before = sets->table_.memory_bytes();
    if (!sets->is_closed_) status = sets->charge_.Set(std::max(before, table.memory_bytes()));
  }
  for (auto& [sets, table, number] : replacements.first(charged)) {
    if (sets->is_closed_) continue;
    if (status.ok()) {
      sets->table_ = std::move(table);
      ++sets->number_;
    }
    sets->charge_.Set(sets->table_.memory_bytes()).IgnoreError();  // not more than before
  }
  return status;
}

std::shared_ptr<const KeptBodySet> ForkBodySets::Find(uint32_t handle) const {
  absl::MutexLock lock(&mu_);
  return table_.Find(handle);
}

void ForkBodySets::Close() {
  absl::MutexLock lock(&mu_);
  is_closed_ = true;
  table_ = {};
  charge_.Set(0).IgnoreError();
}

bool ForkBodySets::is_closed() const {
  absl::MutexLock lock(&mu_);
  return is_closed_;
}

}  // namespace carom::server
