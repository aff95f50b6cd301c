// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/frame_codec.h"

#include <string>
#include <variant>

#include "client/src/edit_id.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/errors.h"

namespace carom {

// Clears `message` first: protobuf keeps the memory of cleared submessages for reuse.
void EncodeFrame(const Frame& frame, v1::Frame& message) {
  message.Clear();
  message.set_seq(frame.seq);
  message.set_budget_us(frame.budget_us);
  for (const SceneBinding& binding : frame.bindings) {
    v1::SceneBinding& encoded = *message.add_bindings();
    encoded.set_handle(binding.handle);
    encoded.set_scene(binding.scene);
  }
  message.mutable_removed_trackers()->Add(frame.removed_trackers.begin(),
                                          frame.removed_trackers.end());
  for (const TrackerDefinitions& definitions : frame.trackers) {
    wire::EncodeTrackers(definitions, *message.add_trackers());
  }
  message.set_coherence(wire::EncodeCoherence(frame.coherence));
  message.set_supersede(frame.supersede);
  message.mutable_removed_body_sets()->Add(frame.removed_body_sets.begin(),
                                           frame.removed_body_sets.end());
  for (const BodySet& set : frame.body_sets) {
    v1::BodySet& encoded = *message.add_body_sets();
    wire::EncodeBodySet(set.bodies, encoded);
    encoded.set_body_set(set.body_set);
    if (!set.fork.empty()) encoded.set_scene(set.fork);
  }
  for (const BodyPoses& poses : frame.poses) {
    v1::BodyPoses& encoded = *message.add_poses();
    wire::EncodePoses(poses.poses, encoded);
    encoded.set_body_set(poses.body_set);
  }
  for (const FrameGroup& group : frame.groups) {
    v1::Group& encoded = *message.add_groups();
    wire::EncodeGroup(group.group, encoded);
    // A group names its scene either by name or by a handle of the stream.
    if (const auto* name = std::get_if<std::string>(&group.scene)) {
      encoded.set_scene(*name);
    } else {
      encoded.set_scene_handle(std::get<uint64_t>(group.scene));
    }
    encoded.set_min_version(group.min_version);
    encoded.set_version(group.version);
    if (group.body_set.has_value()) encoded.set_body_set(*group.body_set);
    if (group.version_at_tick.has_value()) encoded.set_version_at_tick(*group.version_at_tick);
    if (!group.edits.has_value()) continue;
    v1::GroupEdits& edits = *encoded.mutable_edits();
    edits.set_edit_id(group.edits->edit_id.empty() ? NewEditId() : group.edits->edit_id);
    edits.set_base_version(group.edits->base_version);
    for (const SceneEdit& edit : group.edits->edits) wire::EncodeEdit(edit, *edits.add_edits());
  }
}

// Returns the error of the first group that cannot be decoded. Does not compare the answers with
// the queries; `CheckFrameAnswer` does.
absl::Status DecodeFrameAnswer(const v1::FrameAnswer& message, FrameAnswer& out) {
  out.seq = message.seq();
  out.skipped = message.skipped();
  out.status = message.has_status() ? wire::DecodeStatus(message.status()) : absl::OkStatus();
  out.stats = {.elapsed_ns = message.stats().elapsed_ns(),
               .evaluate_ns = message.stats().evaluate_ns(),
               .work_units = message.stats().work_units(),
               .moves = {.quiet = message.stats().quiet_moves(),
                         .near = message.stats().near_moves(),
                         .refresh = message.stats().refreshed_moves(),
                         .cold = message.stats().cold_moves()},
               .tracker_bytes = message.stats().tracker_bytes(),
               .shadow_moves = message.stats().shadow_moves(),
               .shadow_eyes = message.stats().shadow_eyes(),
               .shadow_differences = message.stats().shadow_differences(),
               .staleness_us = message.stats().staleness_us(),
               .eyes = {.quiet = message.stats().quiet_eyes(),
                        .refresh = message.stats().refreshed_eyes(),
                        .cold = message.stats().cold_eyes()}};
  out.groups.resize(static_cast<size_t>(message.groups_size()));
  for (int i = 0; i < message.groups_size(); ++i) {
    const v1::GroupAnswer& encoded = message.groups(i);
    GroupResult& result = out.groups[static_cast<size_t>(i)];
    result.edited_version = encoded.edited_version();
    // `result` may hold the answers of an earlier frame. A group with an error status has no
    // answers, so the function decodes none.
    result.answers.Clear();
    if (encoded.has_status()) {
      result.status = wire::DecodeStatus(encoded.status());
      continue;
    }
    result.status = absl::OkStatus();
    const absl::Status decoded = wire::DecodeGroupAnswers(encoded, result.answers);
    if (!decoded.ok()) return decoded;
  }
  return absl::OkStatus();
}

}  // namespace carom
