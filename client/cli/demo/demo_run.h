// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The run of `carom demo`: ticks through a server, unpaced, several frames in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/client.h"
#include "carom/group.h"
#include "client/cli/demo/demo_world.h"

namespace carom::cli {

// What a run came to. Everything but the world's own numbers is from the stream's answers.
struct DemoFigures {
  uint64_t ticks = 0;
  uint64_t queries = 0;
  uint64_t bullets = 0;
  uint64_t hits = 0;               // bullets that hit
  uint64_t overlapping_pairs = 0;  // of a moving shape and a polygon, in a tick
  double evaluate_ns_per_query = 0;
  double latency_p50_ms = 0;  // from sending a frame to the arrival of its answer
  double latency_p99_ms = 0;
  double queries_per_second = 0;
};

// The last tick: its questions are in the world, these are the answers.
struct DemoOutcome {
  DemoFigures figures;
  GroupAnswers last_tick;
};

// Called after every tick with the ticks done, the ticks in all, and the bullets that hit so far.
using DemoProgress = std::function<void(uint64_t, uint64_t, uint64_t)>;

// Runs `world` for `ticks` (at least 1) in the scene `scene`. Errors: those of the stream, of a
// frame or of the group.
absl::StatusOr<DemoOutcome> RunDemo(Client& client, const std::string& scene, uint64_t ticks,
                                    DemoWorld& world, const DemoProgress& progress);

// The value below which `share` of `values`, of which there are some, are; sorts them in part.
double Quantile(std::vector<double>& values, double share);

}  // namespace carom::cli
