// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a client ask in one tick, and what does it get back?
//
// A `Frame` is a list of groups, each of which asks one scene; a `FrameAnswer` has one result a
// group, in the same order. Both speak the core's vocabulary: the questions of a group are a
// `carom::Group` and its answers a `carom::GroupAnswers` (carom/group.h), whether a server answers
// them or the library does. Frames are sent by `Client::Evaluate` (carom/client.h), one at a time,
// or by a `Stream` (carom/stream.h), many ahead of their answers.
//
//   Group group;
//   group.points = {x, y};  // columns that outlive the call that takes the frame
//   Frame frame;
//   frame.seq = 1;  // the answer has it too
//   frame.bindings.push_back({1, "scenes/arena"});
//   frame.groups.push_back({.scene = uint64_t{1}, .group = group});
//
// Lengths are in the unit of the caller's coordinates, times in microseconds or nanoseconds as the
// name says. Errors: a status of the frame, one of each group, and the errors of items. Cost: that
// of carom/group.h and bytes O(n), n the items and the rows of answers. Not thread-safe: plain
// values. Cheaper: carom/group.h, without a server; richer: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "carom/group.h"
#include "carom/scene.h"
#include "carom/tracker_table.h"

namespace carom {

// Gives a scene a handle, so that later frames of the same stream need not repeat its name.
struct SceneBinding {
  uint64_t handle = 0;  // chosen by the caller
  std::string scene;    // `scenes/{scene}`; it need not exist yet
};

// Changes of a fork (`Client::ForkScene`): all of them, or none. They are made once, however often
// the frame is sent.
struct GroupEdits {
  std::vector<SceneEdit> edits;
  // The version that they were made for; any other current version is ABORTED. 0: any.
  uint64_t base_version = 0;
  // At most 64 bytes that no other edits of the fork have, else INVALID_ARGUMENT. Empty: one is
  // made up.
  std::string edit_id = {};
};

// Questions to one version of one scene.
struct FrameGroup {
  // The name `scenes/{scene}`, or a handle bound in this frame or earlier on this stream.
  std::variant<std::string, uint64_t> scene;
  // The group waits, within the frame's budget, for a version at least this; without a budget it
  // does not wait. 0: the current version.
  uint64_t min_version = 0;
  // Views into the caller's columns, which outlive the call that takes the frame (not the answer).
  // Of moves, `tracker` holds handles of trackers that the stream has; `trackers`, the coherence
  // and the budget are not read.
  Group group = {};
  // The group reads this version exactly, as far back as the server keeps it: 256 versions of a
  // fork, 16 of another scene, by default. Beside neither `min_version` nor `edits`. 0: see
  // `min_version`.
  uint64_t version = 0;
  // Of a fork: made before the questions, which read the version that they make.
  std::optional<GroupEdits> edits = {};
};

// One tick. What it points to is read before `Evaluate` or `Send` returns.
struct Frame {
  uint64_t seq = 0;  // echoed in the answer; any value
  // Microseconds from the server's receipt, in [0, 60000000]; groups that are not answered by then
  // get DEADLINE_EXCEEDED. 0: no budget.
  uint64_t budget_us = 0;
  std::vector<SceneBinding> bindings;
  // Trackers that are taken from the stream, defined or not, and then those that are given to it,
  // before the groups are read: all of them, or the frame is refused. They stay for later frames.
  std::vector<uint32_t> removed_trackers = {};
  std::vector<TrackerDefinitions> trackers = {};
  // OFF: trackers neither use nor learn what they know, which changes no byte of an answer.
  Coherence coherence = Coherence::kOn;
  std::vector<FrameGroup> groups = {};
  // On a stream, a later frame with `supersede` takes the place of this one if the server has not
  // begun it: this one is answered `skipped`.
  bool supersede = false;
};

// What one group got. Errors of single items are in `answers`, and a miss is no error.
//
// Where the status is not OK, nothing of the group was answered; `answers` is then empty.
// INVALID_ARGUMENT names the field (`Violations` of carom/status.h), NOT_FOUND means no such scene,
// UNAVAILABLE that `min_version` did not come in time, DEADLINE_EXCEEDED that the budget ended,
// RESOURCE_EXHAUSTED that a limit of the server was passed, which the message names. OUT_OF_RANGE
// means that the pinned version, or that which the edits made before, is not kept, ABORTED that
// edits were made for another version, FAILED_PRECONDITION that the scene is no fork.
struct GroupResult {
  absl::Status status;
  GroupAnswers answers;
  // The version that the edits of the group made, even if the budget ended after them. 0: there
  // were none, or they are refused.
  uint64_t edited_version = 0;
};

// What a frame cost the server. Advice: never the same twice.
struct FrameStats {
  uint64_t elapsed_ns = 0;     // from receipt to the last answer, waiting included
  uint64_t evaluate_ns = 0;    // evaluation alone
  uint64_t work_units = 0;     // index nodes and edges visited
  MoveTiers moves;             // how trackers were answered
  uint64_t tracker_bytes = 0;  // that the stream's trackers take
  // Moves that the server also answered without memory, to compare, and batches of these that
  // differed, which is a fault of the server.
  uint64_t shadow_moves = 0;
  uint64_t shadow_differences = 0;
  // What was read is all that there was so many microseconds ago, at most: of scenes that several
  // servers share. Else 0.
  uint64_t staleness_us = 0;
};

// The answer of one frame.
struct FrameAnswer {
  uint64_t seq = 0;
  // INVALID_ARGUMENT or RESOURCE_EXHAUSTED: the frame as a whole was refused, `groups` is empty. A
  // limit that passes, such as that of frames in flight, has a `RetryDelay` (carom/status.h).
  absl::Status status;
  // A later frame took this one's place: its definitions hold, `groups` is empty.
  bool skipped = false;
  std::vector<GroupResult> groups;
  FrameStats stats;
};

}  // namespace carom
