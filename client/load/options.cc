// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/options.h"

#include "absl/strings/str_cat.h"

namespace carom::load {

// CLI11, which parses the command line, has already checked the range of each single flag.
absl::Status CheckOptions(const LoadOptions& options) {
  const auto refused = [](auto... words) {
    return absl::InvalidArgumentError(absl::StrCat(words...));
  };
  if (options.connections > options.streams) {
    return refused("--connections ", options.connections, " is above --streams ", options.streams,
                   ": a connection without a stream is never made");
  }
  if (options.threads > options.streams) {
    return refused("--threads ", options.threads, " is above --streams ", options.streams,
                   ": a thread without a stream has nothing to do");
  }
  if (options.queries_per_frame() > 65536) {
    return refused("--bullets ", options.bullets, " and --trackers ", options.trackers,
                   " are more than 65536 queries a frame");
  }
  if (options.is_closed() && options.queries_per_frame() == 0) {
    return refused("--closed needs --bullets or --trackers above 0");
  }
  return absl::OkStatus();
}

}  // namespace carom::load
