// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can an operator set, and within which limits?
//
// `ServerOptions` holds every setting of caromd with its default; `ParseServerOptions` reads it
// from flags and the environment (flag over environment over default). `NumberOptions` is the one
// table of ranges: the command line, `CheckServerOptions` and docs/operations.md all follow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom::server {

struct ServerOptions {
  // --- Where ---------------------------------------------------------------------------------
  // `HOST:PORT` (port 0: any free one) or `unix:PATH`.
  std::string address = "127.0.0.1:7420";
  // Where scenes are kept: `sqlite`, which caromd has by default; `memory`, gone with the process;
  // or a URL of etcd, `etcd://[USER@]HOST:PORT[,HOST:PORT…]/PREFIX`, shared with other servers.
  std::string store = "memory";
  // Of sqlite; empty: see `DefaultStateDir`.
  std::string state_dir = "";

  // Of etcd: files with the user's password, and in PEM the authorities for its certificates, and a
  // certificate and key of our own; empty: none, and plaintext without the latter three.
  std::string etcd_password_file = "";
  std::string etcd_ca = "";
  std::string etcd_certificate = "";
  std::string etcd_key = "";

  // A folder of bundles that are served read-only beside the store's scenes; empty: none.
  std::string preload = "";

  // --- What is served ------------------------------------------------------------------------
  bool reflection = false;  // and channelz: what is there, for tools such as grpcurl
  // Listens without encryption where others than this machine may connect.
  bool allow_plaintext_network = false;

  // --- Who is served ---------------------------------------------------------------------------
  // Files in PEM: the server's certificate, with those that signed it after it, and its key; empty:
  // plaintext. Of authorities for clients' certificates, which every client then has; empty: none.
  std::string tls_certificate = "";
  std::string tls_key = "";
  std::string tls_client_ca = "";
  // File of tokens and names of certificates (server/access/credentials.h), one of which every
  // client then has; empty: none.
  std::string credentials = "";

  // Takes who a client is from the header `x-forwarded-for`: only for a Unix socket that a proxy
  // alone can connect to.
  bool trust_forwarded_for = false;

  // --- Limits: each bounds memory that a client can take ---------------------------------------
  uint64_t max_message_bytes = 4u << 20;     // of a request; an import sends its parts
  uint64_t max_connections = 16384;          // and what there are descriptors for, two each
  uint64_t max_connections_per_peer = 1024;  // server/access/peer.h
  uint64_t max_streams = 16384;
  uint64_t max_calls_per_connection = 1024;  // at once; others wait at the client
  uint64_t max_scene_calls = 256;            // imports among them
  uint64_t max_scene_calls_per_peer = 128;
  uint64_t max_watches = 4096;  // WatchScene calls at once
  uint64_t max_watches_per_peer = 256;
  uint64_t max_scenes = 1024;
  uint64_t max_polygons_per_scene = 4194304;
  uint64_t max_vertices_per_polygon = 1048576;
  uint64_t max_vertices_per_scene = 16777216;
  uint64_t max_user_data_bytes = 4096;  // a polygon
  uint64_t max_queries_per_frame = 65536;
  uint64_t max_groups_per_frame = 1024;
  uint64_t max_answer_rows_per_frame = 262144;        // a row is a hit, a polygon or an edge
  uint64_t max_work_units_per_frame = 4000000000;     // polygons and edges visited; 0: no limit
  uint64_t max_frames_in_flight = 16;                 // of one stream, read and not yet answered
  uint64_t max_unread_bytes = 256u << 10;             // of one stream: answers, and frames, waiting
  uint64_t max_trackers_per_stream = 65536;           // their handles are below this
  uint64_t max_tracker_bytes_per_stream = 64u << 20;  // shapes, and what they remember
  uint64_t max_forks = 4096;
  uint64_t max_forks_per_peer = 1024;
  uint64_t max_fork_bytes = 1u << 30;      // of all, beside what they share with their bases
  uint64_t max_fork_versions = 256;        // kept of each
  uint64_t max_fork_lease_seconds = 3600;  // without a frame
  uint64_t pinned_versions = 16;           // of a scene in memory, with the current one
  uint64_t pinned_bytes = 16u << 20;       // of a scene, beside the current version
  uint64_t history_versions = 64;          // of a scene, with the current one
  uint64_t history_bytes = 64u << 20;      // of a scene, beside the current version
  uint64_t store_bytes = 1536u << 20;      // of etcd's file, from which on nothing is added
  uint64_t memory_quota_bytes = 1u << 30;  // of gRPC's buffers; at most a fifth of the next
  // Of the process; 0: three quarters of what its control group or its machine has.
  uint64_t memory_limit_bytes = 0;

  // --- Times ---------------------------------------------------------------------------------
  uint64_t idle_stream_seconds = 300;
  uint64_t stalled_stream_seconds = 30;
  uint64_t import_seconds = 600;
  uint64_t sweep_seconds = 600;  // between deletions of what nobody needs in etcd
  uint64_t drain_seconds = 10;

  // --- Performance; leave it alone unless caromd shares its machine ------------------------------
  // That answer small frames where they arrive, as many that evaluate large ones, and as many that
  // write scenes; 0: one for each that can run at once, within the CPU limit of the control group.
  uint64_t threads = 0;
  // Batches of moves of a stream from one of which a few are also answered without memory, and
  // compared, to the next; 0: never.
  uint64_t shadow_interval = 1024;

  PolygonLimits polygon_limits() const {
    return {.max_vertices = max_vertices_per_polygon, .max_user_data_bytes = max_user_data_bytes};
  }
  SceneLimits scene_limits() const {
    return {.max_polygons = max_polygons_per_scene, .max_vertices = max_vertices_per_scene};
  }
};

// One numeric setting: values are in [min, max].
struct NumberOption {
  const char* flag;         // "--max-scenes"
  const char* environment;  // "CAROM_MAX_SCENES"
  uint64_t ServerOptions::*member;
  uint64_t min;
  uint64_t max;
  const char* help;  // the unit first, then the reason
};

std::span<const NumberOption> NumberOptions();

// The folder of a store where none is given: $STATE_DIRECTORY, which systemd sets, else
// $XDG_STATE_HOME/carom, else $HOME/.local/state/carom; empty if there is none of these.
std::string DefaultStateDir();

// INVALID_ARGUMENT naming the flag and its range for the first value that is out of it.
absl::Status CheckServerOptions(const ServerOptions& options);

// The options of a command line, or the exit code of a process that has nothing left to do: 0 after
// `--help` and `--version` (text on `out`), 2 for a bad flag or value (message on `err`).
std::variant<ServerOptions, int> ParseServerOptions(int argc, const char* const* argv,
                                                    std::ostream& out, std::ostream& err);

}  // namespace carom::server
