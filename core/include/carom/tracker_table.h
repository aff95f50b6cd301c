// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a server keep the trackers of a client?
//
// A `TrackerTable` contains a tracker for each handle that was defined, and bounds the memory of
// all trackers. Before it refuses a definition, it drops memories of trackers, least recently moved
// first. It also drops the memories of trackers that have not moved for long, since a memory may
// keep polygons alive that an edit removed from their scene. Questions for the trackers are
// `MoveColumns` (carom/tracker.h); the table sets their trackers and their memory budget.
//
//   absl::Status status = table.Define({}, definitions);
//   table.BeginFrame();
//   table.Begin(group);
//   status = EvaluateGroup(*scene, group, answers, meter);
//   table.End(answers.moves.memory_growth);
//
// The table contains the memories of eyes, too (carom/eye_table.h), which take at most a quarter of
// its bytes.
//
// Sizes are in bytes. Memory: proportional to the number of defined trackers, whatever their
// handles. Cost: O(n) to define shapes of n vertices; per frame a 64th of the trackers, and O(t log
// t) for t trackers if memories are dropped. Not thread-safe. Cheaper alternative: a vector of
// trackers (carom/tracker.h), if memory needs no bound. More powerful: carom/stream.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "carom/eye_table.h"
#include "carom/group.h"
#include "carom/shape.h"
#include "carom/tracker.h"

namespace carom {

// Definitions in columns: definition i gives the handle tracker[i] a tracker of the shape
// shapes[shape[i]]. An empty `tracker` column means first_tracker + i, an empty `shape` column
// means shapes[i].
struct TrackerDefinitions {
  std::span<const Shape> shapes = {};
  std::span<const uint32_t> shape = {};
  std::span<const uint32_t> tracker = {};
  uint32_t first_tracker = 0;
  TrackerOptions options = {};

  size_t size() const { return shape.empty() ? shapes.size() : shape.size(); }
};

struct TrackerTableLimits {
  size_t max_trackers = 65536;    // handles are below this; at most 2^24
  size_t max_bytes = 64ul << 20;  // limit for the table, the shapes and the memories
  size_t max_eyes = 65536;        // eyes with a number below this may have a memory
};

// A table of trackers by handle. Not thread-safe. A tracker lives as long as the table or until its
// handle is defined again or removed; `Define` may move it to another address. A copy of a tracker
// outside of the table keeps the bytes of its shape charged to the table.
class TrackerTable {
 public:
  // A tracker that has not moved for more than this many frames forgets, some frames later.
  static constexpr uint32_t kMaxIdleFrames = 256;

  explicit TrackerTable(const TrackerTableLimits& limits = {})
      : limits_(limits), most_eye_bytes_(limits.max_bytes / 4), eyes_({limits.max_eyes}) {}

  // Frees the handles `removed`, defined or not, and then makes `definitions`; a handle that is
  // already defined gets another tracker. On an error, changes nothing.
  //
  // INVALID_ARGUMENT for columns of unequal length, an index outside of the shapes, a handle that
  // is defined twice in one call, a `within` out of range. RESOURCE_EXHAUSTED for a shape above
  // `kMaxMovingVertices`, a handle at or above `max_trackers`, more than `max_trackers`
  // definitions, and shapes that take more than `max_bytes`. Fields are `trackers[k].shape[i]` and
  // so on. Cost O(vertices).
  absl::Status Define(std::span<const uint32_t> removed,
                      std::span<const TrackerDefinitions> definitions);

  // Returns the error that `Define` would return. Cost O(vertices).
  absl::Status Check(std::span<const uint32_t> removed,
                     std::span<const TrackerDefinitions> definitions) const;

  // Begins a frame: each tracker and each memory of an eye ages by one frame.
  void BeginFrame();
  // `Begin` sets the trackers and the memory budget of the moves of `group`, which it renumbers,
  // and those of the eyes with numbers, which have no memories under kOff. It drops memories if it
  // needs room. `End` adds `memory_growth` to the bytes of the memories of trackers and counts
  // those of eyes, whose columns must still be there, after the group was evaluated or its work was
  // stopped. What `Begin` sets is valid until the next `Begin`, `BeginFrame` or `Define`.
  void Begin(Group& group, Coherence coherence = Coherence::kOn);
  void End(int64_t memory_growth);
  // Drops the memories of all trackers and eyes.
  void Forget();

  // Sets the bound for later growth. Memory above the bound is not freed.
  void set_max_bytes(size_t max_bytes) { limits_.max_bytes = max_bytes; }
  // Returns the bytes of the table, the shapes and the memories.
  size_t memory_bytes() const { return fixed_bytes() + learned_bytes_ + eyes_.memory_bytes(); }
  // Returns the number of eyes that may have a memory.
  size_t max_eyes() const { return limits_.max_eyes; }
  // Returns the tracker of `handle`; null if the handle is not defined.
  const Tracker* Find(uint32_t handle) const;

 private:
  class Checker;
  static constexpr uint32_t kNoSlot = ~uint32_t{0};

  // Maps handles to slots. A run of handles, which most tables have, is mapped by a subtraction.
  // Behind the slots of the run are the slots of handles that could not extend the run; a hash
  // table maps these handles.
  class Slots {
   public:
    // Returns the slot of `handle`; kNoSlot if it has none.
    uint32_t Find(uint32_t handle) const {
      if (handle - first_ < run_) return handle - first_;  // wraps around for handles below the run
      const auto it = others_.find(handle);
      return it == others_.end() ? kNoSlot : it->second;
    }
    // Returns the slot of `handle`; gives the handle a slot if it has none.
    uint32_t Take(uint32_t handle);
    // Frees the slot of `handle` for other handles if it is behind the run. A slot of the run stays
    // with its handle.
    void Release(uint32_t handle);

    // Returns whether each slot belongs to the handle `first() + slot`.
    bool is_run() const { return run_ == size_; }
    uint32_t first() const { return first_; }
    size_t size() const { return size_; }
    size_t other_count() const { return others_.size() + free_.size(); }

   private:
    uint32_t first_ = 0;
    uint32_t run_ = 0;   // number of handles of the run
    uint32_t size_ = 0;  // number of slots, including free ones
    std::unordered_map<uint32_t, uint32_t> others_;
    std::vector<uint32_t> free_;
  };

  // A checked change of the table that is to be applied.
  struct Edit {
    std::vector<uint32_t> handles;
    std::vector<Tracker> trackers;  // the tracker for each of `handles`
    size_t shape_bytes = 0;         // bytes of all shapes after the edit
  };

  void Free(uint32_t slot);
  void Forget(uint32_t slot);
  void MakeRoom();
  void BeginEyes(Group& group, Coherence coherence);
  void BeginMoves(Group& group);
  void Renumber(MoveColumns& moves);
  // Returns the bytes that the memories of all trackers may take.
  size_t room() const {
    const size_t taken = fixed_bytes() + eye_room_;
    return taken < limits_.max_bytes ? limits_.max_bytes - taken : 0;
  }
  // Returns the bytes of `slots` slots. `others` of them are behind the run and have an entry in a
  // hash table.
  static size_t SlotBytes(size_t slots, size_t others) {
    return slots * (sizeof(Tracker) + sizeof(uint32_t)) + others * 40;
  }
  size_t fixed_bytes() const {
    return SlotBytes(slots_.size(), slots_.other_count()) + shape_bytes_;
  }

  TrackerTableLimits limits_;
  Slots slots_;
  std::vector<Tracker> trackers_;     // tracker of each slot
  std::vector<uint32_t> last_moved_;  // frame of the last move of each slot
  std::vector<uint32_t> moved_;       // slots of the moves between `Begin` and `End`
  uint32_t frame_ = 0;                // number of the current frame; wraps around
  size_t next_idle_ = 0;              // next slot to check for idleness
  bool made_room_ = false;            // memories were dropped in this frame
  size_t defined_ = 0;                // number of defined trackers
  size_t shape_bytes_ = 0;
  size_t learned_bytes_ = 0;  // bytes of the memories of trackers
  size_t most_eye_bytes_;
  EyeTable eyes_;
  size_t eye_room_ = 0;  // bytes that eyes take, or may take after the current group
};

}  // namespace carom
