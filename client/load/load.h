// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does `carom load` do, and what does it measure?
//
// `RunLoad` imports a map as a scene with a random name, opens streams, sends frames for the
// measured time, closes the streams and deletes the scene.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "client/load/checker.h"
#include "client/load/editor.h"
#include "client/load/engine.h"
#include "client/load/options.h"
#include "client/load/tally.h"

namespace carom::load {

// The results of a run of `carom load`, which sends frames (messages with the queries of one tick)
// on streams.
struct LoadReport {
  LoadOptions options;
  uint64_t polygon_count = 0;
  uint64_t vertex_count = 0;
  double import_s = 0;      // time of the import
  double open_s = 0;        // time until the first frame of every stream was answered
  double measured_s = 0;    // length of the measured time
  bool is_stopped = false;  // the stop flag ended the measured time early
  Tally tally;
  CheckFigures checks;
  EditFigures edits;
  absl::Status stream_status;          // the first error with which a stream ended; else OK
  std::optional<double> server_cpu_s;  // CPU time of the server in the measured time
  double own_cpu_s = 0;                // CPU time of this process in the measured time

  // Returns the number of due frames that were not sent, or were sent and not answered.
  uint64_t frames_lost() const;
  double frames_per_second() const;
  double queries_per_second() const;
  // Returns the server's CPU time per answered query in nanoseconds, or nullopt if it is unknown.
  std::optional<double> server_cpu_ns_per_query() const;
};

// Runs a load until the measured time is over or `stop` is set, and returns the report; a stopped
// run reports the time until `stop`. Errors: those of `CheckOptions`, of the map, of the import and
// of the opening of streams; CANCELLED if stopped before all streams were open. Deletes the scene
// in any case.
absl::StatusOr<LoadReport> RunLoad(const LoadOptions& options, const StopFlag& stop);

}  // namespace carom::load
