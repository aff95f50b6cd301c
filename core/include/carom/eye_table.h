// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a server keep the memories of the eyes of a client?
//
// The client numbers its eyes: `AreaColumns::eye` of areas and of observers (carom/area.h,
// carom/sees.h). An `EyeTable` contains a tracker (carom/eye_tracker.h) for each number and bounds
// the bytes of all. Nothing is defined and nothing is refused: a table without room drops the
// memories that were not used for longest, or makes none. No answer depends on a memory.
//
//   EyeTable table;
//   table.BeginFrame();
//   table.Begin(group);
//   const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
//   table.End();
//   // answers.areas.tiers.cold == 1: a memory is made by the next question, and used from then on
//
// Sizes are in bytes. Cost: O(eyes) per group, a 64th of the table per frame, and O(t log t) for t
// memories if memories are dropped. Not thread-safe. Cheaper alternative: a vector of trackers.
// More powerful: carom/tracker_table.h, which contains such a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/eye_tracker.h"
#include "carom/group.h"

namespace carom {

struct EyeTableLimits {
  size_t max_eyes = 65536;        // eyes with a number below this may have a memory
  size_t max_bytes = 16ul << 20;  // limit for the table and the memories
};

// Trackers of eyes by number. Low numbers take least room. Not thread-safe.
class EyeTable {
 public:
  // A memory that was not used for more than this many frames is dropped, some frames later: it may
  // keep polygons alive that an edit removed from their scene.
  static constexpr uint32_t kMaxIdleFrames = 256;
  static constexpr size_t kEntryBytes = 16;  // of each number up to the greatest one

  explicit EyeTable(const EyeTableLimits& limits = {}) : limits_(limits) {}

  // Begins a frame: each memory ages by one frame.
  void BeginFrame();
  // `Begin` sets the trackers and the memory budgets of the areas and observers of `group` that
  // have a column `eye`, but none under kOff, and drops memories if it needs room. What it sets is
  // valid until the next `Begin` or `BeginFrame`. `End` counts the bytes of the memories of these
  // eyes, whose columns must still be there, after the group was evaluated or its work was stopped.
  // It may be called more than once.
  void Begin(Group& group, Coherence coherence = Coherence::kOn);
  void End();
  // Drops all memories.
  void Forget();

  // Sets the bound for later growth. A `Begin` of a group with eyes frees memory above the bound.
  void set_max_bytes(size_t max_bytes) { limits_.max_bytes = max_bytes; }
  // Returns the bytes of the table and the memories.
  size_t memory_bytes() const { return entry_bytes() + learned_bytes_; }
  // Returns the bytes that the table may take once the group of the last `Begin` is evaluated.
  size_t room() const { return room_; }

 private:
  // What the table contains of an eye beside its tracker.
  struct State {
    uint32_t last_used = 0;  // the frame that last used the memory
    uint32_t bytes = 0;      // of the memory
  };
  static_assert(sizeof(EyeTracker) + sizeof(State) <= kEntryBytes);
  size_t entry_bytes() const {
    return trackers_.capacity() * sizeof(EyeTracker) + states_.capacity() * sizeof(State);
  }
  // Returns the greatest number of an eye of the group that may have a memory, plus 1.
  size_t CountEntries() const;
  void Grow(size_t count);
  void MakeRoom();
  template <class IsEnough>
  void DropOldest(uint32_t least_age, const IsEnough& is_enough);
  void Drop(size_t eye);
  void GiveTrackers(AreaColumns& eyes, size_t budget);
  void CountBytes(std::span<const uint32_t> eyes);
  void Clear();

  EyeTableLimits limits_;
  // Of each eye, by its number. There are never fewer states than trackers.
  std::vector<State> states_;
  std::vector<EyeTracker> trackers_;
  std::span<const uint32_t> areas_, observers_;  // the eyes of the group
  size_t room_ = 0;
  size_t learned_bytes_ = 0;  // bytes of the memories
  uint32_t frame_ = 0;        // number of the current frame; wraps around
  uint32_t last_group_ = 0;   // the frame of the last group with eyes
  size_t next_idle_ = 0;      // the next eye whose memory may be idle
  bool made_room_ = false;    // in this frame
};

}  // namespace carom
