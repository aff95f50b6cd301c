// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/tracker_events.h"

#include <algorithm>
#include <span>

namespace carom {

// The answer to one move of a tracker.
struct TrackerEvents::Item {
  uint32_t tracker;
  std::span<const uint64_t> polygon_ids;
  FirstTouch first_touch;
};

bool TrackerEvents::Update(const MoveColumns& moves, const MoveAnswers& answers,
                           std::vector<TrackerEvent>& events) {
  // `Fits` guarantees that no column is read past its end, that every item that touches something
  // has a count, and that errors have ascending indices.
  if (!Fits(moves, answers)) return false;
  size_t counted = 0;  // number of items before i whose bit in `clear` is 0
  size_t row = 0;
  size_t error = 0;
  for (size_t i = 0; i < moves.size(); ++i) {
    // An index above 2^32 - 1 is no handle: the server answers such an item with an error.
    const size_t index = moves.tracker.empty() ? moves.first_tracker + i : moves.tracker[i];
    const auto tracker = static_cast<uint32_t>(index);
    Item item{tracker, {}, {}};
    if ((answers.clear[i / 64] >> (i % 64) & 1) == 0) {
      const size_t count = answers.counts[counted];
      item.polygon_ids = std::span(answers.polygon_ids).subspan(row, count);
      if (!answers.first_touches.empty()) item.first_touch = answers.first_touches[counted];
      row += count;
      ++counted;
    }
    if (error < answers.errors.size() && answers.errors[error].index == i) {
      ++error;
      // Most items touch nothing before and after the move: they cost a single look-up of the
      // tracker.
    } else if (!item.polygon_ids.empty() || item.first_touch.touches || !touched(tracker).empty()) {
      Add(item, events);
    }
  }
  return true;
}

// Appends an EXIT for each polygon that the tracker touched at its previous move and does not touch
// at the move `item`, and an ENTER for each polygon that it touches only at `item`; then stores the
// polygons of `item` for the next move.
void TrackerEvents::Add(const Item& item, std::vector<TrackerEvent>& events) {
  using Kind = TrackerEvent::Kind;
  std::vector<uint64_t>& before = touched_[item.tracker];
  const std::span<const uint64_t> after = item.polygon_ids;
  for (const uint64_t id : before) {
    if (std::ranges::binary_search(after, id)) continue;
    events.push_back({Kind::kExit, item.tracker, id});
  }
  const FirstTouch& first = item.first_touch;
  // Whether the polygon that a sweep (a move along a path) touches first is touched neither before
  // the move nor at its end. The ENTER and EXIT of this polygon are placed among the ENTER events
  // by polygon id.
  const bool passes = first.touches && !std::ranges::binary_search(before, first.polygon_id) &&
                      !std::ranges::binary_search(after, first.polygon_id);
  bool has_passed = !passes;
  const auto pass = [&] {
    events.push_back({Kind::kEnter, item.tracker, first.polygon_id, first.high});
    events.push_back({Kind::kExit, item.tracker, first.polygon_id});
    has_passed = true;
  };
  for (const uint64_t id : after) {
    if (std::ranges::binary_search(before, id)) continue;
    if (!has_passed && first.polygon_id < id) pass();
    events.push_back({Kind::kEnter, item.tracker, id});
    if (first.touches && first.polygon_id == id) events.back().fraction = first.high;
  }
  if (!has_passed) pass();
  before.assign(after.begin(), after.end());
  if (before.empty()) touched_.erase(item.tracker);
}

const std::vector<uint64_t>& TrackerEvents::touched(uint32_t tracker) const {
  static const std::vector<uint64_t> kNone;
  const auto found = touched_.find(tracker);
  return found == touched_.end() ? kNone : found->second;
}

void TrackerEvents::Forget(uint32_t tracker) { touched_.erase(tracker); }

}  // namespace carom
