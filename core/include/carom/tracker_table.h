// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a server keep the trackers of a client?
//
// A `TrackerTable` has a tracker at each handle that was defined, and bounds what all of them take:
// memories are dropped, least recently moved first, before a definition is refused; and those of
// trackers that have not moved for long, as they may hold polygons that left their scene. What to
// ask the trackers is a `MoveColumns` (carom/tracker.h), whose trackers and budget the table
// provides.
//
//   absl::Status status = table.Define({}, definitions);
//   table.BeginFrame();
//   table.Begin(group);
//   status = EvaluateGroup(*scene, group, answers, meter);
//   table.End(answers.moves.memory_growth);
//
// Sizes are in bytes. Memory: by the trackers that are defined, wherever their handles are. Cost:
// O(n) to define, n the vertices of the shapes; a frame a 64th of the trackers, and O(t log t) for
// t trackers where memories are dropped. Not thread-safe. Cheaper: a vector of trackers
// (carom/tracker.h) where memory needs no bound; richer: carom/stream.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "carom/group.h"
#include "carom/shape.h"
#include "carom/tracker.h"

namespace carom {

// Definition i gives the handle tracker[i] a tracker of the shape shapes[shape[i]]. An empty
// `tracker` column means first_tracker + i, an empty `shape` column shapes[i].
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
  size_t max_bytes = 64ul << 20;  // of table, shapes and memories
};

// Not thread-safe. Its trackers live as long as it does, at an address that `Define` may change. A
// copy of one outside of the table keeps its shape on the table's account.
class TrackerTable {
 public:
  // A tracker that has not moved for so many frames forgets, some frames later.
  static constexpr uint32_t kMaxIdleFrames = 256;

  explicit TrackerTable(const TrackerTableLimits& limits = {}) : limits_(limits) {}

  // Frees the handles `removed`, defined or not, and then makes `definitions`; a handle that is
  // defined already gets another tracker. All of it, or nothing on an error.
  //
  // INVALID_ARGUMENT for columns of unequal length, an index outside of the shapes, a handle that
  // is defined twice, a `within` out of range. RESOURCE_EXHAUSTED for a shape above
  // `kMaxMovingVertices`, a handle at or above `max_trackers`, more definitions than that, and
  // shapes that take more than `max_bytes`. Fields are `trackers[k].shape[i]` and so on. Cost
  // O(vertices).
  absl::Status Define(std::span<const uint32_t> removed,
                      std::span<const TrackerDefinitions> definitions);

  // Trackers grow older by a frame.
  void BeginFrame();
  // Gives the moves of `group` their trackers, which then are numbered otherwise, and a budget,
  // having made room; and after they were evaluated, or the work was stopped, takes account of what
  // was learned. What it gives is valid until the next `Begin` or `Define`.
  void Begin(Group& group);
  void End(int64_t memory_growth);
  // All forget what they learned.
  void Forget();

  // Bounds what may be taken from now on; what is above it is not taken away.
  void set_max_bytes(size_t max_bytes) { limits_.max_bytes = max_bytes; }
  // Of the table, the shapes and the memories.
  size_t memory_bytes() const { return fixed_bytes() + learned_bytes_; }
  // Null where the handle is not defined.
  const Tracker* Find(uint32_t handle) const;

 private:
  class Checker;
  static constexpr uint32_t kNoSlot = ~uint32_t{0};

  // Where the trackers of handles are. Those of a run of handles, which most tables are, are found
  // by a subtraction, and behind them are those that came when the run could not be extended.
  class Slots {
   public:
    // kNoSlot where the handle has none.
    uint32_t Find(uint32_t handle) const {
      if (handle - first_ < run_) return handle - first_;  // wraps around below the run
      const auto it = others_.find(handle);
      return it == others_.end() ? kNoSlot : it->second;
    }
    // The slot of the handle, a new one if it has none.
    uint32_t Take(uint32_t handle);
    // One behind the run is free for other handles from now on.
    void Release(uint32_t handle);

    // Whether every slot is that of the handle `first() + slot`.
    bool is_run() const { return run_ == size_; }
    uint32_t first() const { return first_; }
    size_t size() const { return size_; }
    size_t other_count() const { return others_.size() + free_.size(); }

   private:
    uint32_t first_ = 0;
    uint32_t run_ = 0;   // handles
    uint32_t size_ = 0;  // slots, free ones too
    absl::flat_hash_map<uint32_t, uint32_t> others_;
    std::vector<uint32_t> free_;
  };

  // What was checked and is to be done.
  struct Edit {
    std::vector<uint32_t> handles;
    std::vector<Tracker> trackers;  // beside `handles`
    size_t shape_bytes = 0;         // of the table afterwards
  };

  void Free(uint32_t slot);
  void Forget(uint32_t slot);
  void MakeRoom();
  void Renumber(MoveColumns& moves);
  // Bytes that may be learned in all.
  size_t room() const {
    return fixed_bytes() < limits_.max_bytes ? limits_.max_bytes - fixed_bytes() : 0;
  }
  // Of so many slots, of which those behind the run have an entry of a hash table.
  static size_t SlotBytes(size_t slots, size_t others) {
    return slots * (sizeof(Tracker) + sizeof(uint32_t)) + others * 20;
  }
  size_t fixed_bytes() const {
    return SlotBytes(slots_.size(), slots_.other_count()) + shape_bytes_;
  }

  TrackerTableLimits limits_;
  Slots slots_;
  std::vector<Tracker> trackers_;     // by slot
  std::vector<uint32_t> last_moved_;  // frame, beside `trackers_`
  std::vector<uint32_t> moved_;       // slots of the moves at hand
  uint32_t frame_ = 0;                // wraps around
  size_t next_idle_ = 0;              // slot whose age is checked next
  bool made_room_ = false;            // in this frame
  size_t defined_ = 0;                // trackers
  size_t shape_bytes_ = 0;
  size_t learned_bytes_ = 0;  // of the memories
};

}  // namespace carom
