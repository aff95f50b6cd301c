// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The body sets (bodies with poses by tick) of a `StreamSession`: records and replays them.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "carom/body_history.h"
#include "client/src/stream_session.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom {
namespace {

// Limits of one frame that replays body sets: sets, ticks, and encoded bytes.
constexpr int kMaxReplayedSets = 16;
constexpr int kMaxReplayedTicks = 1024;
constexpr uint64_t kMaxReplayedBytes = 1 << 20;

// Counts what a frame has, within the limits of a replay and of the server.
class ReplayRoom {
 public:
  explicit ReplayRoom(const v1::StreamLimits& limits)
      : max_bytes_(Capped(kMaxReplayedBytes, limits.max_frame_bytes() / 2)),
        max_shapes_(Capped(kMaxReplayedBytes, limits.max_queries_per_frame())) {}

  // Return whether the frame has room for one more. An empty frame has room for any.
  bool Add(const v1::BodySet& set) {
    ++sets_;
    shapes_ += static_cast<uint64_t>(set.shapes_size());
    return Add(set.ByteSizeLong());
  }
  bool Add(const v1::BodyPoses& poses) {
    ++ticks_;
    return Add(poses.ByteSizeLong());
  }

 private:
  bool Add(uint64_t bytes) {
    bytes_ += bytes;
    return sets_ + ticks_ == 1 || (bytes_ <= max_bytes_ && shapes_ <= max_shapes_ &&
                                   sets_ <= kMaxReplayedSets && ticks_ <= kMaxReplayedTicks);
  }

  const uint64_t max_bytes_, max_shapes_;
  uint64_t bytes_ = 0, shapes_ = 0;
  int sets_ = 0, ticks_ = 0;
};

}  // namespace

size_t StreamSession::BodySet::keep_ticks() const {
  return definition.keep_ticks() == 0 ? BodyDefinition().keep_ticks : definition.keep_ticks();
}

// Keeps the ticks of a set that is defined again. Another definition, or one of another fork, is of
// another set: the one before has ended, as with its fork.
void StreamSession::ApplyBodySet(v1::BodySet& definition) {
  if (definition.fork_case() == v1::BodySet::kSceneHandle) {
    // The handle may be bound to another scene later.
    definition.set_scene(scenes_[definition.scene_handle()]);
  }
  const absl::StatusOr<BodyDefinition> bodies = wire::DecodeBodySet(definition);
  if (!bodies.ok()) return;  // the server refuses it, too
  std::string bytes = wire::BodySetBytes(*bodies);
  BodySet& set = body_sets_[definition.body_set()];
  if (set.bytes == bytes && set.definition.scene() == definition.scene()) {
    set.is_defined_again = true;
    return;
  }
  set = {};
  set.definition.Swap(&definition);
  set.bytes = std::move(bytes);
}

// The server accepts a tick that is not above the newest one in three cases: the tick is kept with
// the same poses; the tick is below all that are kept, and changes nothing; or, if the set was
// defined again, the fork was made again meanwhile, and its set had no ticks.
void StreamSession::BodySet::Add(v1::BodyPoses& poses) {
  if (!ticks.empty() && poses.tick() <= ticks.rbegin()->first) {
    const auto known = ticks.find(poses.tick());
    const bool is_same =
        known != ticks.end() && known->second.SerializeAsString() == poses.SerializeAsString();
    if (is_same || !is_defined_again) return;
    ticks.clear();
  }
  is_defined_again = false;
  const uint64_t tick = poses.tick();
  ticks[tick].Swap(&poses);
  while (ticks.size() > keep_ticks()) ticks.erase(ticks.begin());
}

// Keeps the ticks that the server keeps. When they are sent again, they have no walls any longer
// (`BodyPoses.resent`).
void StreamSession::ApplyBodySets(v1::Frame& frame) {
  for (const uint32_t handle : frame.removed_body_sets()) body_sets_.erase(handle);
  for (v1::BodySet& definition : *frame.mutable_body_sets()) ApplyBodySet(definition);
  for (v1::BodyPoses& poses : *frame.mutable_poses()) {
    const auto found = body_sets_.find(poses.body_set());
    if (found == body_sets_.end()) continue;
    poses.set_resent(true);
    found->second.Add(poses);
  }
}

std::string StreamSession::ForkOf(const v1::Frame& replayed) const {
  if (replayed.body_sets_size() != 0) return replayed.body_sets(0).scene();
  if (replayed.poses_size() == 0) return "";
  const auto found = body_sets_.find(replayed.poses(0).body_set());
  return found == body_sets_.end() ? "" : found->second.definition.scene();
}

void StreamSession::DropFork(const std::string& fork) {
  std::erase_if(body_sets_, [&](const auto& set) { return set.second.definition.scene() == fork; });
}

bool StreamSession::ReplayBodySets(const v1::StreamLimits& limits, Cursor& cursor,
                                   v1::Frame& frame) const {
  if (cursor.next_body_set > UINT32_MAX) return false;
  ReplayRoom room(limits);
  const std::string* fork = nullptr;  // of the sets in the frame; null: there are none yet
  auto next = body_sets_.lower_bound(static_cast<uint32_t>(cursor.next_body_set));
  for (; next != body_sets_.end(); ++next) {
    const auto& [handle, set] = *next;
    if (cursor.next_body_set != handle) {  // not the set that was replayed in part
      cursor.next_body_set = handle;
      cursor.next_tick = 0;
      cursor.is_defined = false;
    }
    if (fork != nullptr && *fork != set.definition.scene()) return true;
    fork = &set.definition.scene();
    if (!cursor.is_defined) {
      if (!room.Add(set.definition)) return true;
      *frame.add_body_sets() = set.definition;
      cursor.is_defined = true;
    }
    auto tick = set.ticks.lower_bound(cursor.next_tick);
    for (; tick != set.ticks.end(); ++tick) {
      cursor.next_tick = tick->first;
      if (!room.Add(tick->second)) return true;
      *frame.add_poses() = tick->second;
    }
    cursor.next_tick = kMaxTick + 1;  // the set is replayed
  }
  cursor.next_body_set = uint64_t{UINT32_MAX} + 1;
  return frame.body_sets_size() + frame.poses_size() != 0;
}

}  // namespace carom
