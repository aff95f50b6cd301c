// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client give a server the poses of players by tick, for shots in the past?
//
// A frame (carom/frame.h) defines body sets, adds ticks of poses to them, and its groups name a set
// in place of bodies; each item is answered as of its own moment (`Scope::as_of`). The server keeps
// the sets for the stream, or for a fork. The rules are those of carom/body_history.h, which does
// the same without a server.
//
//   Frame frame;
//   frame.body_sets.push_back({.body_set = 1, .bodies = players});
//   frame.poses.push_back({1, {.tick = 100, .x = x, .y = y}});
//   Group group;
//   group.segments = bullets;
//   group.segments.scope = {Against::kBoth, {}, {}, as_of};
//   frame.groups.push_back({.scene = "scenes/arena", .group = group, .body_set = 1});
//
// Lengths are in the unit of the caller's coordinates, moments in ticks. A stream (carom/stream.h)
// that breaks sends its sets and their last ticks again; the ticks of a fork then have no walls
// (`FrameGroup::version_at_tick`). The server keeps the sets of a fork that does not exist, and
// gives them to the fork once it exists; until then, groups that name such a set are NOT_FOUND
// (`body_set`). The server refuses the sets of a fork that has other sets by then; the stream then
// drops these sets, and the caller defines them again. Cost: 8 bytes a pose without rotation where
// positions are floats, else 16. Not thread-safe: plain values. Cheaper alternative: the bodies of
// a group (carom/bodies.h), for one moment. More powerful: none.
#pragma once

#include <cstdint>
#include <string>

#include "carom/body_history.h"

namespace carom {

// Defines a body set. The same definition again changes nothing; another one under a handle in use
// is INVALID_ARGUMENT.
struct BodySet {
  uint32_t body_set = 0;  // handle, below 65,536, chosen by the caller
  // The fork that keeps the set (`scenes/{scene}`), for all of its streams: each defines the set,
  // with the same handle. Empty: the stream keeps it.
  std::string fork = {};
  BodyDefinition bodies = {};
};

// Adds a tick to a body set. The columns must stay valid until `Client::Evaluate` or `Stream::Send`
// returns.
struct BodyPoses {
  uint32_t body_set = 0;
  PoseColumns poses = {};
};

}  // namespace carom
