// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The run of `carom load`: a map is registered under a name of its own, streams are opened, frames
// are sent for a while, and everything is taken away again.
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

// What a run came to.
struct LoadReport {
  LoadOptions options;
  uint64_t polygon_count = 0;
  uint64_t vertex_count = 0;
  double import_s = 0;
  double open_s = 0;      // until the first frame of every stream was answered
  double measured_s = 0;  // the measured time
  bool is_stopped = false;
  Tally tally;
  CheckFigures checks;
  EditFigures edits;
  absl::Status stream_status;          // of a stream that did not end well; else OK
  std::optional<double> server_cpu_s;  // in the measured time
  double own_cpu_s = 0;                // in the measured time

  uint64_t frames_lost() const;
  double frames_per_second() const;
  double queries_per_second() const;
  // CPU nanoseconds of the server a query answered; nothing where that is not known.
  std::optional<double> server_cpu_ns_per_query() const;
};

// Runs until the time is over or `stop` is set; the report is then of the time until that. Errors:
// those of `CheckOptions`, of the map, of the import, of opening; CANCELLED if stopped before the
// streams were open. The scene is deleted in any case.
absl::StatusOr<LoadReport> RunLoad(const LoadOptions& options, const StopFlag& stop);

}  // namespace carom::load
