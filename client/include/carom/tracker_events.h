// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons has a tracker begun to touch, and which has it ceased to touch?
//
// Answers have no history, so events are the difference of two answers: `TrackerEvents` keeps the
// last answer of each tracker and compares the next answer with it. The caller passes moves and
// their answers in the order of the frames, whether a server or the library answered them.
//
//   TrackerEvents state;
//   std::vector<TrackerEvent> events;
//   const bool fits = state.Update(moves, answers, events);
//   // events[0]: kind kEnter, tracker 0, polygon_id 7
//
// A fraction is a share of the path of a move. Shapes that touch without overlapping count as
// touching. Errors: none, an item with an error changes nothing. Cost: O(n), n the items and the
// polygons that they touch. Not thread-safe. Cheaper alternative: the answers of carom/tracker.h
// themselves. More powerful: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "carom/tracker.h"

namespace carom {

// A tracker (a moving shape) has begun (kEnter) or ceased (kExit) to touch a polygon.
struct TrackerEvent {
  enum class Kind : uint8_t { kEnter, kExit };

  Kind kind = Kind::kEnter;
  uint32_t tracker = 0;
  uint64_t polygon_id = 0;
  // For an ENTER of the polygon that a sweep touches first: the fraction of the path at which the
  // sweep touches it, in [0, 1]; if the shape rotates on its path, `FirstTouch::high`, the upper
  // end of the interval that contains this fraction. Absent for every other event.
  std::optional<double> fraction = std::nullopt;

  friend bool operator==(const TrackerEvent&, const TrackerEvent&) = default;
};

// Holds the polygons that each tracker (a moving shape) touched at its last move, and turns the
// answers to the next moves into events: ENTER, if a tracker begins to touch a polygon, and EXIT,
// if it ceases to. Not thread-safe.
class TrackerEvents {
 public:
  // Appends to `events` the changes from the previous answers to `answers`: item (move of one
  // tracker) after item, within an item EXITs before ENTERs, and both EXITs and ENTERs by ascending
  // polygon id. `answers` are the answers to `moves`; the function does not read the trackers in
  // `moves`.
  //
  // If the polygon that a sweep touches first on its path was not touched before the move and is
  // not touched at the end of the path, the function appends an ENTER and an EXIT for this polygon,
  // both where the order of ids places the ENTER. If the shape rotates, the shape may only have
  // come closer to this polygon than `MoveOptions::tolerance`, without touching it. Items with an
  // error change nothing. Returns false, and changes nothing, if the answers do not fit the moves,
  // for instance because the server did not answer their group. Cost O(items).
  bool Update(const MoveColumns& moves, const MoveAnswers& answers,
              std::vector<TrackerEvent>& events);

  // Returns the ids of the polygons that the tracker touched at its last move, ascending; empty for
  // a tracker that has not moved. Valid until the next call of `Update` or `Forget`.
  const std::vector<uint64_t>& touched(uint32_t tracker) const;

  // Forgets the last answer of a tracker. Call it when the handle `tracker` is defined again for
  // another shape: the next move then makes an ENTER for each polygon that the shape touches, and
  // no EXIT.
  void Forget(uint32_t tracker);

 private:
  struct Item;

  void Add(const Item& item, std::vector<TrackerEvent>& events);

  // ids of the touched polygons, ascending, by tracker; trackers that touch nothing are absent
  absl::flat_hash_map<uint32_t, std::vector<uint64_t>> touched_;
};

}  // namespace carom
