// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What has a tracker begun to touch, and what not any more?
//
// Answers have no history, so what changed is the difference of two of them: `TrackerEvents` keeps
// the last answer of each tracker and compares the next one with it. It is fed with moves and
// their answers, in the order of the frames, whether a server answered them or the library.
//
//   TrackerEvents state;
//   std::vector<TrackerEvent> events;
//   const bool fits = state.Update(moves, answers, events);
//   // events[0]: kind kEnter, tracker 0, polygon_id 7
//
// Fractions are of the path of a move. Touching counts. Errors: none, an item with an error changes
// nothing. Cost: O(n), n the items and the polygons that they touch. Not thread-safe. Cheaper: the
// answers of carom/tracker.h themselves; richer: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "carom/tracker.h"

namespace carom {

struct TrackerEvent {
  enum class Kind : uint8_t { kEnter, kExit };

  Kind kind = Kind::kEnter;
  uint32_t tracker = 0;
  uint64_t polygon_id = 0;
  // Of an ENTER by what a sweep touches first: when, in [0, 1], the fraction of the path of the
  // move; where the shape turns, the end `high` of the certified interval.
  std::optional<double> fraction = std::nullopt;

  friend bool operator==(const TrackerEvent&, const TrackerEvent&) = default;
};

// Not thread-safe.
class TrackerEvents {
 public:
  // Appends to `events` what the answers change, item after item, in each EXITs before ENTERs and
  // both by ascending polygon id. What a sweep touches first on its path, and neither before nor at
  // its end, enters and then exits; where it turns, that may be a polygon that it came closer to
  // than the tolerance. Items with an error change nothing. `answers` are those to `moves`, whose
  // trackers are not read. Returns false, and changes nothing, if the answers do not fit the moves,
  // as when their group was not answered. Cost O(items).
  bool Update(const MoveColumns& moves, const MoveAnswers& answers,
              std::vector<TrackerEvent>& events);

  // What the tracker touched at its last move, ascending; empty for one that has not moved. Valid
  // until the next change.
  const std::vector<uint64_t>& touched(uint32_t tracker) const;

  // Forgets a tracker whose handle is defined anew: what it touches enters again, nothing exits.
  void Forget(uint32_t tracker);

 private:
  struct Item;

  void Add(const Item& item, std::vector<TrackerEvent>& events);

  absl::flat_hash_map<uint32_t, std::vector<uint64_t>> touched_;  // where it is not empty
};

}  // namespace carom
