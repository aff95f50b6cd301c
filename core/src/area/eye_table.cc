// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/eye_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "area/eye_memory.h"

namespace carom {
namespace {

// The bytes that a group may add for each of its eyes: memories among the walls of rooms take
// 300 bytes to 3 KB.
constexpr size_t kBytesOfEye = 4096;
// A table whose memories take more than 7/8 of their room drops some until they take half. It drops
// none that the frame before used: eyes for which there is no room would drop each other's
// memories before they are of use.
constexpr uint32_t kLeastAge = 2;
constexpr size_t kEntriesAtOnce = 256;

}  // namespace

void EyeTable::BeginFrame() {
  ++frame_;
  made_room_ = false;
  if (states_.empty()) return;
  // Differences of frame numbers are right after the counter has wrapped around, too.
  if (frame_ - last_group_ > kMaxIdleFrames) return Clear();
  for (size_t left = (trackers_.size() + 63) / 64; left > 0; --left, ++next_idle_) {
    if (next_idle_ >= trackers_.size()) next_idle_ = 0;
    if (frame_ - states_[next_idle_].last_used > kMaxIdleFrames) Drop(next_idle_);
  }
}

void EyeTable::Begin(Group& group, Coherence coherence) {
  group.areas.trackers = group.sees.trackers = {};
  const bool is_on = coherence == Coherence::kOn;
  areas_ = is_on ? group.areas.eye : std::span<const uint32_t>();
  observers_ = is_on ? group.sees.eye : std::span<const uint32_t>();
  room_ = memory_bytes();
  const size_t count = areas_.size() + observers_.size();
  if (count == 0 || limits_.max_eyes == 0) return;
  last_group_ = frame_;
  Grow(CountEntries());
  MakeRoom();
  const size_t used = memory_bytes();
  room_ = std::max(used, std::min(limits_.max_bytes, used + count * kBytesOfEye));
  const bool has_both = !areas_.empty() && !observers_.empty();
  const size_t budget = (room_ - used) / (has_both ? 2 : 1);
  GiveTrackers(group.areas, budget);
  GiveTrackers(group.sees, budget);
}

size_t EyeTable::CountEntries() const {
  size_t count = 0;
  for (const std::span<const uint32_t> eyes : {areas_, observers_}) {
    for (const size_t eye : eyes) {
      if (eye < limits_.max_eyes) count = std::max(count, eye + 1);
    }
  }
  return count;
}

// Entries take at most half of the room, so that there is some for memories. They are made some at
// a time, and no more are reserved.
void EyeTable::Grow(size_t count) {
  if (count <= trackers_.size()) return;
  const size_t most = std::min(limits_.max_eyes, limits_.max_bytes / 2 / kEntryBytes);
  count = std::min((count + kEntriesAtOnce - 1) / kEntriesAtOnce * kEntriesAtOnce, most);
  if (count <= trackers_.size()) return;
  states_.reserve(count);
  trackers_.reserve(count);
  states_.resize(count);
  trackers_.resize(count);
}

void EyeTable::MakeRoom() {
  const size_t fixed = entry_bytes();
  const size_t room = limits_.max_bytes - std::min(limits_.max_bytes, fixed);
  if (learned_bytes_ > room / 8 * 7 && !made_room_) {
    made_room_ = true;
    DropOldest(kLeastAge, [&] { return learned_bytes_ <= room / 2; });
  }
  if (learned_bytes_ > room) DropOldest(0, [&] { return learned_bytes_ <= room; });
  if (memory_bytes() > limits_.max_bytes) Clear();  // entries take room, too
}

// Drops memories that were not used for at least `least_age` frames, those that were not used for
// longest first, until `is_enough()`.
template <class IsEnough>
void EyeTable::DropOldest(uint32_t least_age, const IsEnough& is_enough) {
  const auto age = [this](size_t eye) { return frame_ - states_[eye].last_used; };
  std::vector<size_t> eyes;
  for (size_t eye = 0; eye < trackers_.size(); ++eye) {
    if (states_[eye].bytes > 0 && age(eye) >= least_age) eyes.push_back(eye);
  }
  std::ranges::stable_sort(eyes, std::ranges::greater(), age);
  for (const size_t eye : eyes) {
    if (is_enough()) return;
    Drop(eye);
  }
}

void EyeTable::Drop(size_t eye) {
  trackers_[eye].Forget();
  learned_bytes_ -= states_[eye].bytes;
  states_[eye].bytes = 0;
}

void EyeTable::GiveTrackers(AreaColumns& eyes, size_t budget) {
  if (eyes.eye.empty()) return;
  eyes.trackers = trackers_;
  eyes.memory_budget = static_cast<int64_t>(budget);
}

void EyeTable::End() {
  CountBytes(areas_);
  CountBytes(observers_);
}

// Counts the bytes of the memories of `eyes`, and which of them were used: by an item that asks the
// scene. Others, such as items in error, keep no memory from being dropped.
void EyeTable::CountBytes(std::span<const uint32_t> eyes) {
  for (const uint32_t eye : eyes) {
    if (eye >= trackers_.size()) continue;
    State& state = states_[eye];
    internal::EyeMemory* const memory = internal::EyeTrackerAccess::MemoryOf(trackers_[eye]).get();
    const size_t bytes = memory != nullptr ? memory->memory_bytes() : 0;
    learned_bytes_ = learned_bytes_ - state.bytes + bytes;
    state.bytes = static_cast<uint32_t>(bytes);
    if (memory == nullptr || !memory->is_used) continue;
    memory->is_used = false;
    state.last_used = frame_;
  }
}

void EyeTable::Forget() {
  for (size_t eye = 0; eye < trackers_.size(); ++eye) Drop(eye);
}

void EyeTable::Clear() {
  trackers_ = std::vector<EyeTracker>();
  states_ = std::vector<State>();
  learned_bytes_ = 0;
}

}  // namespace carom
