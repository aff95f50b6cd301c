// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Runs `carom demo`: sends a frame (a message with all queries of one tick) per tick to a server,
// as fast as the server answers, with several frames in flight.
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

// The results of a run of `carom demo` or `carom demo match`.
struct DemoFigures {
  uint64_t ticks = 0;
  uint64_t queries = 0;
  uint64_t bullets = 0;
  uint64_t hits = 0;  // bullets that hit a polygon or, in a match, a bot
  // overlaps of a moving shape and a polygon, summed over all ticks; 0 for a match
  uint64_t overlapping_pairs = 0;
  double evaluate_ns_per_query = 0;  // evaluation time by the server's clock
  double latency_p50_ms = 0;         // latency from sending a frame to the arrival of its answer
  double latency_p99_ms = 0;
  double queries_per_second = 0;
};

// The result of a run of `carom demo`. `last_tick` has the answers to the queries of the last tick,
// which the `DemoWorld` of the run still has.
struct DemoOutcome {
  DemoFigures figures;
  GroupAnswers last_tick;
};

// A function that is called after every answered tick with the number of answered ticks, the number
// of all ticks, and the number of bullets that have hit so far.
using DemoProgress = std::function<void(uint64_t, uint64_t, uint64_t)>;

// Runs `world` for `ticks` (at least 1) ticks in the scene `scene`. Errors: those of the stream, of
// a frame or of a group.
absl::StatusOr<DemoOutcome> RunDemo(Client& client, const std::string& scene, uint64_t ticks,
                                    DemoWorld& world, const DemoProgress& progress);

// Returns the quantile `share` (in [0, 1]; 0.5 is the median) of `values`, which must not be empty.
// Reorders `values`.
double Quantile(std::vector<double>& values, double share);

}  // namespace carom::cli
