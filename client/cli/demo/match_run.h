// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Runs `carom demo match`: plays a match in a fork (a copy that the match edits) of the scene, with
// one frame and one round trip per tick.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "carom/client.h"
#include "client/cli/demo/demo_run.h"
#include "client/cli/demo/match_world.h"

namespace carom::cli {

// Plays `world` for `ticks` (at least 1) ticks in a fork (a copy that the match edits) of the scene
// `base`, and deletes the fork. In the returned figures, `hits` counts the bullets that hit a bot
// or a wall, and `overlapping_pairs` is 0. Errors: those of the fork, of the stream, of a frame or
// of a group.
absl::StatusOr<DemoFigures> RunMatch(Client& client, const std::string& base, uint64_t ticks,
                                     MatchWorld& world, const DemoProgress& progress);

}  // namespace carom::cli
