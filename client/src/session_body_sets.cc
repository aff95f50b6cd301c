// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The body sets (bodies with poses by tick) of a `StreamSession`: records and replays them.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "carom/body_history.h"
#include "client/src/stream_session.h"

namespace carom {
namespace {

// Limits of one frame that replays body sets: sets, ticks, and encoded bytes.
constexpr int kMaxReplayedSets = 16;
constexpr int kMaxReplayedTicks = 1024;
constexpr uint64_t kMaxReplayedBytes = 1 << 20;

}  // namespace

size_t StreamSession::BodySet::keep_ticks() const {
  return definition.keep_ticks() == 0 ? BodyDefinition().keep_ticks : definition.keep_ticks();
}

// Keeps the first definition of a handle: the server accepts only equal ones after it. Keeps the
// ticks that the server keeps.
void StreamSession::ApplyBodySets(v1::Frame& frame) {
  for (const uint32_t handle : frame.removed_body_sets()) body_sets_.erase(handle);
  for (v1::BodySet& definition : *frame.mutable_body_sets()) {
    BodySet& set = body_sets_[definition.body_set()];
    if (set.definition.shapes_size() == 0) set.definition.Swap(&definition);
  }
  for (v1::BodyPoses& poses : *frame.mutable_poses()) {
    const auto found = body_sets_.find(poses.body_set());
    if (found == body_sets_.end()) continue;
    BodySet& set = found->second;
    set.ticks.try_emplace(poses.tick(), std::move(poses));
    while (set.ticks.size() > set.keep_ticks()) set.ticks.erase(set.ticks.begin());
  }
}

bool StreamSession::ReplayBodySets(const v1::StreamLimits& limits, Cursor& cursor,
                                   v1::Frame& frame) const {
  const uint64_t limit = limits.max_frame_bytes() / 2;
  const uint64_t max_bytes = limit == 0 ? kMaxReplayedBytes : std::min(kMaxReplayedBytes, limit);
  uint64_t bytes = 0;
  const auto has_room = [&](uint64_t more) {
    bytes += more;
    return bytes == more || (bytes <= max_bytes && frame.body_sets_size() < kMaxReplayedSets &&
                             frame.poses_size() < kMaxReplayedTicks);
  };
  if (cursor.next_body_set > UINT32_MAX) return false;
  auto next = body_sets_.lower_bound(static_cast<uint32_t>(cursor.next_body_set));
  for (; next != body_sets_.end(); ++next) {
    cursor.next_body_set = next->first;
    if (!cursor.is_defined) {
      if (!has_room(next->second.definition.ByteSizeLong())) return true;
      *frame.add_body_sets() = next->second.definition;
      cursor.is_defined = true;
    }
    auto tick = next->second.ticks.lower_bound(cursor.next_tick);
    for (; tick != next->second.ticks.end(); ++tick) {
      cursor.next_tick = tick->first;
      if (!has_room(tick->second.ByteSizeLong())) return true;
      *frame.add_poses() = tick->second;
    }
    cursor.next_tick = 0;
    cursor.is_defined = false;
  }
  cursor.next_body_set = uint64_t{UINT32_MAX} + 1;
  return frame.body_sets_size() + frame.poses_size() != 0;
}

}  // namespace carom
