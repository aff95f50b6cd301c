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

absl::Status BodySetTable::Define(uint32_t handle, const BodySetDefinition& definition) {
  const auto found = sets_.find(handle);
  if (found != sets_.end()) {
    if (*found->second->definition == *definition.bytes) return absl::OkStatus();
    return InvalidField("body_set", "must not have a set of another definition");
  }
  if (sets_.size() >= kMaxSets) {
    return Refused(absl::StatusCode::kResourceExhausted, "body_set",
                   absl::StrCat("must be one of at most ", kMaxSets, " body sets"));
  }
  auto set = std::make_shared<KeptBodySet>();
  set->definition = definition.bytes;
  set->history = definition.history;
  sets_.emplace(handle, std::move(set));
  return absl::OkStatus();
}

absl::Status BodySetTable::Add(uint32_t handle, const PoseColumns& poses, uint64_t version) {
  const auto found = sets_.find(handle);
  if (found == sets_.end()) return InvalidField("body_set", "must be the handle of a body set");
  auto next = std::make_shared<KeptBodySet>(*found->second);
  absl::Status status = next->history.Add(poses);
  if (!status.ok()) return status;
  const bool is_known = !next->versions.empty() && poses.tick <= next->versions.back().first;
  if (version != 0 && !is_known) {
    next->versions.emplace_back(poses.tick, version);
    const auto kept = std::lower_bound(next->versions.begin(), next->versions.end(),
                                       next->history.oldest_tick(), IsBefore);
    next->versions.erase(next->versions.begin(), kept);
  }
  found->second = std::move(next);
  return absl::OkStatus();
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

absl::Status ForkBodySets::Replace(BodySetTable table, uint64_t number) {
  absl::MutexLock lock(&mu_);
  if (number != number_) return absl::AbortedError("another stream changed the body sets");
  if (is_closed_) return absl::OkStatus();
  absl::Status status = charge_.Set(table.memory_bytes());
  if (!status.ok()) return status;
  table_ = std::move(table);
  ++number_;
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
