// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a client query in one tick, and what does the server answer?
//
// A `Frame` is a list of groups, each of which queries one scene; a `FrameAnswer` has one result
// per group, in the same order. The queries of a group are a `carom::Group` and its answers a
// `carom::GroupAnswers` (carom/group.h), whether a server or the library answers them.
// `Client::Evaluate` (carom/client.h) sends one frame at a time; a `Stream` (carom/stream.h) sends
// many frames ahead of their answers.
//
//   Group group;
//   group.points = {x, y};  // columns that outlive the call that takes the frame
//   Frame frame;
//   frame.seq = 1;  // repeated in the answer
//   frame.bindings.push_back({1, "scenes/arena"});
//   frame.groups.push_back({.scene = uint64_t{1}, .group = group});
//
// Lengths are in the unit of the caller's coordinates; times are in microseconds or nanoseconds, as
// their names end in `_us` or `_ns`. Errors: a status of the frame, a status of each group, and the
// errors of items. Cost: that of carom/group.h, and O(n) bytes, n the items and the rows of
// answers. Not thread-safe: plain values. Cheaper alternative: carom/group.h, without a server.
// More powerful: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "carom/body_sets.h"
#include "carom/group.h"
#include "carom/scene.h"
#include "carom/tracker_table.h"

namespace carom {

// Defines a handle for a scene, a number that stands for the scene's name, so that the groups (the
// queries of one scene) of this frame and of later frames of the stream need not repeat the name.
struct SceneBinding {
  uint64_t handle = 0;  // handle of the scene, any number that the caller chooses
  std::string scene;    // `scenes/{scene}`; the scene need not exist yet
};

// Edits of a fork (an editable copy of a scene, made by `Client::ForkScene`), as a part of a frame.
// The server applies all of the edits, or none, and applies them once, however often the client
// sends the frame again.
struct GroupEdits {
  std::vector<SceneEdit> edits;
  // Version of the fork for which the edits were made; if another version is current, the edits
  // fail with ABORTED. 0 means that the edits apply to any version.
  uint64_t base_version = 0;
  // Id of the edits, at most 64 bytes, unique among the edits of the fork, else INVALID_ARGUMENT.
  // Empty means that the client chooses an id.
  std::string edit_id = {};
};

// Queries of one version of one scene.
struct FrameGroup {
  // The name `scenes/{scene}`, or a handle that this frame or an earlier frame of the stream binds
  // (`SceneBinding`).
  std::variant<std::string, uint64_t> scene;
  // Least version that the group may read. If the scene has not reached this version, the group
  // waits for it until the frame's budget ends; without a budget the group does not wait. 0 means
  // the current version.
  uint64_t min_version = 0;
  // Queries, as views into the caller's columns, which must stay valid until `Client::Evaluate` or
  // `Stream::Send` returns. In `group.moves`, the column `tracker` holds handles of trackers of the
  // stream; `group.moves.trackers`, and `coherence` and `memory_budget` of `group.move_options`,
  // are ignored.
  Group group = {};
  // Exact version that the group reads, as far back as the server keeps versions: by default 256
  // versions of a fork, 16 of another scene. Illegal beside `min_version` or `edits`. 0 means that
  // `min_version` selects the version.
  uint64_t version = 0;
  // Edits of a fork. The server makes them before it evaluates the queries, which read the version
  // that the edits make.
  std::optional<GroupEdits> edits = {};
  // Handle of a body set (carom/body_sets.h) in place of `group.bodies`. `group.body_history` is
  // ignored; `group.body_rotation` applies.
  std::optional<uint32_t> body_set = {};
  // Tick of `body_set`, a set of the fork that the group queries: the group reads the version that
  // was current when that tick came. OUT_OF_RANGE for a tick that a stream sent again after a
  // break, to a fork that was made again. Illegal beside `version`, `min_version` or `edits`.
  std::optional<uint64_t> version_at_tick = {};
};

// The queries of a client in one tick, a step of its simulation, as groups, each of which queries
// one scene. `Client::Evaluate` and `Stream::Send` read all that the frame points to before they
// return.
struct Frame {
  uint64_t seq = 0;  // number of the frame: any value, which the answer repeats
  // Time budget in microseconds from the server's receipt of the frame, in [0, 60000000]. Groups
  // that are not answered within the budget get DEADLINE_EXCEEDED. 0 means no budget.
  uint64_t budget_us = 0;
  std::vector<SceneBinding> bindings;
  // Before the server evaluates the groups, it removes the trackers (moving shapes that it keeps
  // for the stream) with the handles `removed_trackers`, of which some may be undefined, and then
  // defines `trackers`, which stay defined for later frames of the stream. It makes all of these
  // changes, or refuses the frame.
  std::vector<uint32_t> removed_trackers = {};
  std::vector<TrackerDefinitions> trackers = {};
  // Whether trackers use and update their memory, a cache of what their last moves found in the
  // scene. The value changes the cost of an answer, and no byte of it.
  Coherence coherence = Coherence::kOn;
  std::vector<FrameGroup> groups = {};
  // Whether a later frame of the stream with `supersede` supersedes this frame: if the server has
  // not begun to evaluate this frame when the later frame arrives, it answers this frame with
  // `skipped`.
  bool supersede = false;
  // Before the server evaluates the groups, it removes body sets (bodies with poses by tick), then
  // defines `body_sets`, at most 1,024, and then adds `poses`, in this order. It makes all of these
  // changes, or refuses the frame.
  std::vector<uint32_t> removed_body_sets = {};
  std::vector<BodySet> body_sets = {};
  std::vector<BodyPoses> poses = {};
};

// The result of one group (the queries of one scene in a frame). `answers` contains the errors of
// single items (queries). An item that hits nothing is no error.
//
// If the status is not OK, the server answered no query of the group, and `answers` is empty.
// INVALID_ARGUMENT names the field (`Violations` of carom/status.h); NOT_FOUND: no such scene, or a
// polygon to replace or remove is not in the scene; UNAVAILABLE: the scene did not reach
// `min_version` in time; DEADLINE_EXCEEDED: the budget ended; RESOURCE_EXHAUSTED: a limit of the
// server was exceeded, which the message names; OUT_OF_RANGE: `version`, or the version that the
// edits made before, is not kept; ABORTED: the edits were made for another version; ALREADY_EXISTS:
// the id of a polygon to add is in the scene; FAILED_PRECONDITION: edits of a scene that is not a
// fork; PERMISSION_DENIED: the credential does not permit edits; DATA_LOSS: the stored scene is
// damaged.
struct GroupResult {
  absl::Status status;
  GroupAnswers answers;
  // Version that the edits of the group made, also if the budget ended after the edits. 0 means
  // that the group has no edits, or that the server refused them.
  uint64_t edited_version = 0;
};

// The costs of a frame on the server. They differ from run to run, unlike the answers. A tracker is
// a moving shape that the server keeps for the stream, with a memory: a cache of what its moves
// found.
struct FrameStats {
  uint64_t elapsed_ns = 0;     // time from receipt to the last group's answer, waits included
  uint64_t evaluate_ns = 0;    // time of evaluation, without waiting, decoding and encoding
  uint64_t work_units = 0;     // visited polygons, edges and index nodes, and comparisons of hits
  MoveTiers moves;             // numbers of tracker moves, by the way the server answered them
  uint64_t tracker_bytes = 0;  // bytes of the stream's trackers after the frame
  // Number of moves, and of areas and observers, that the server also evaluated without memory, to
  // compare the answers; and number of batches whose answers with and without memory differed,
  // which is a fault of the server.
  uint64_t shadow_moves = 0;
  uint64_t shadow_eyes = 0;
  uint64_t shadow_differences = 0;
  // Upper bound of the staleness in microseconds, where several servers share their scenes: the
  // frame read every change that any of the servers had made until this many microseconds before
  // the answer. 0 where one server has the scenes.
  uint64_t staleness_us = 0;
  // How many eyes with a number (`AreaColumns::eye`) were answered in which way.
  EyeTiers eyes;
};

// The answer to one frame.
struct FrameAnswer {
  uint64_t seq = 0;
  // INVALID_ARGUMENT or RESOURCE_EXHAUSTED: the server refused the frame as a whole, and `groups`
  // is empty; so, too, NOT_FOUND or FAILED_PRECONDITION for a body set of no fork. An error from a
  // temporary limit, such as the limit of frames in flight, has a `RetryDelay` (carom/status.h).
  absl::Status status;
  // Whether a later frame superseded this frame, so that the server did not evaluate it; `groups`
  // is then empty. The server still applies the scene handles and trackers that the frame defines.
  bool skipped = false;
  std::vector<GroupResult> groups;
  FrameStats stats;
};

}  // namespace carom
