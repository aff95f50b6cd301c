// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which limits do clients meet?
//
// Each place that refuses something because a limit is reached calls `CountRefusal`, which counts
// the refusal for the metrics and logs it: the first one, and then at most one line a second for
// each limit. The counters are those of the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace carom::server {

// The limits at which the server refuses something. The comments name the members of
// `ServerOptions` that set the limits; a peer is a client address or a tenant.
enum class Limit : uint8_t {
  kStreams,          // max_streams, and the part of it that one peer may use
  kSceneCalls,       // max_scene_calls, max_scene_calls_per_peer
  kWatches,          // max_watches, max_watches_per_peer
  kForks,            // max_forks, max_forks_per_peer
  kTenantShare,      // a resource limit of a tenant in the credentials file
  kMessageBytes,     // max_message_bytes
  kFrame,            // a limit of one frame: queries, groups, answer rows, work units, …
  kFramesInFlight,   // max_frames_in_flight
  kUnread,           // a client that does not read its answers
  kSceneMemory,      // the part of memory_limit_bytes for scenes
  kTrackerMemory,    // the part of memory_limit_bytes for trackers (moving shapes)
  kMessageMemory,    // the part of memory_limit_bytes for messages
  kForkMemory,       // max_fork_bytes
  kScenes,           // max_scenes
  kStoreBytes,       // store_bytes
  kConnections,      // max_connections, max_connections_per_peer
  kHttpConnections,  // max_http_connections
};
inline constexpr size_t kLimitCount = static_cast<size_t>(Limit::kHttpConnections) + 1;

// Returns the name of a limit in metrics and log lines, such as `streams`.
const char* NameOf(Limit limit);

// Counts a refusal by `limit`. `detail` is the message of the error, or the name of the refused
// peer. Cost: some nanoseconds; writes at most one log line a second for each limit. Thread-safe.
void CountRefusal(Limit limit, absl::string_view detail);

// Returns the number of refusals by `limit` since the process started.
uint64_t RefusalsBy(Limit limit);

}  // namespace carom::server
