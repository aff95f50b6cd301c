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
// Sizes are in bytes. Cost: O(n) to define, n the vertices of the shapes; a frame a 64th of the
// handles, and O(t log t) for t trackers where memories are dropped. Not thread-safe. Cheaper: a
// vector of trackers (carom/tracker.h) where memory needs no bound; richer: carom/stream.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
  // Gives the moves of `group` their trackers and a budget, having made room; and after they were
  // evaluated, or the work was stopped, takes account of what was learned.
  void Begin(Group& group);
  void End(int64_t memory_growth);
  // All forget what they learned.
  void Forget();

  // Of the table, the shapes and the memories.
  size_t memory_bytes() const { return fixed_bytes_ + learned_bytes_; }
  // The trackers by handle; undefined ones have no shape.
  std::span<Tracker> trackers() { return trackers_; }

 private:
  class Checker;
  // What was checked and is to be done.
  struct Edit {
    std::vector<uint32_t> handles;
    std::vector<Tracker> trackers;  // beside `handles`
    size_t fixed_bytes = 0;         // of the table afterwards
    size_t slots = 0;               // it has then
  };

  void Free(uint32_t handle);
  void Forget(uint32_t handle);
  void MakeRoom();
  // Bytes that may be learned in all.
  size_t room() const {
    return fixed_bytes_ < limits_.max_bytes ? limits_.max_bytes - fixed_bytes_ : 0;
  }

  TrackerTableLimits limits_;
  std::vector<Tracker> trackers_;
  std::vector<uint32_t> last_moved_;  // frame, beside `trackers_`
  uint32_t frame_ = 0;                // wraps around
  size_t next_idle_ = 0;              // handle whose age is checked next
  bool made_room_ = false;            // in this frame
  size_t fixed_bytes_ = 0;            // of the vectors' entries and the shapes
  size_t learned_bytes_ = 0;          // of the memories
};

}  // namespace carom
