// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can an operator set, and within which limits?
//
// `ServerOptions` holds every setting of caromd with its default; server/settings.h has the tables
// of names and ranges. `ParseServerOptions` reads the settings: a flag overrides its environment
// variable, which overrides the configuration file, which overrides the default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom::server {

struct ServerOptions {
  // --- Address and store -----------------------------------------------------------------------
  // address to listen on: `HOST:PORT` (port 0: any free port) or `unix:PATH`
  std::string address = "127.0.0.1:7420";
  // store of the scenes: `sqlite` (the default of caromd); `memory`, which loses the scenes when
  // the process ends; or a URL of etcd, `etcd://[USER@]HOST:PORT[,HOST:PORT…]/PREFIX`, which shares
  // the scenes with other servers
  std::string store = "memory";
  // folder of the sqlite file; empty: `DefaultStateDir()`
  std::string state_dir = "";

  // Files for the connection to etcd: the user's password; in PEM, the certificate authorities that
  // have signed etcd's certificates, and the client certificate and key that caromd presents.
  // Empty: no such file. Without authorities the connection is plaintext.
  std::string etcd_password_file = "";
  std::string etcd_ca = "";
  std::string etcd_certificate = "";
  std::string etcd_key = "";

  // folder of bundles that the server serves read-only in addition to the scenes of the store;
  // empty: none
  std::string preload = "";

  // --- HTTP (server/http/) and what operators see ------------------------------------------------
  // Addresses of the HTTP ports, as `address`, or `off`: `admin_address` for operators, by default
  // off here and 127.0.0.1:7421 for caromd; `http_address` for clients without gRPC
  std::string admin_address = "off";
  std::string http_address = "off";
  // origins of the web pages that may use `http_address`, separated by commas; `*`: all
  std::string http_allowed_origins = "";
  // connections to `http_address` at once
  uint64_t max_http_connections = 4096;
  std::string log_format = "json";
  std::string log_level = "info";
  // time from the receipt of a frame (a message with the queries of one tick) to its answer from
  // which on the frame is logged; 0: never
  uint64_t slow_frame_ms = 100;
  // folder of the recordings of streams (server/query/recorder.h), and their greatest size in all;
  // empty: no stream is recorded
  std::string record = "";
  uint64_t max_record_bytes = uint64_t{1} << 30;
  bool metrics_per_tenant = false;  // adds metrics with the name of each tenant

  // --- Services and network --------------------------------------------------------------------
  bool reflection = false;  // serves reflection and channelz, for tools such as grpcurl
  // allows an address that other machines can reach although connections are not encrypted
  bool allow_plaintext_network = false;

  // --- Authentication of clients ---------------------------------------------------------------
  // Files in PEM. `tls_certificate`: the server's certificate, followed by the certificates of the
  // authorities that signed it; `tls_key`: the key of `tls_certificate`; both empty: connections
  // are plaintext. `tls_client_ca`: the authorities one of which must have signed the certificate
  // of each client; empty: clients need no certificate.
  std::string tls_certificate = "";
  std::string tls_key = "";
  std::string tls_client_ca = "";
  // file that lists the accepted tokens (by their hashes) and certificates (by their names); each
  // client must present a listed token or certificate (server/access/credentials.h); empty: clients
  // need no credential
  std::string credentials = "";

  // identifies the client address of a call by the header `x-forwarded-for`; safe only on a Unix
  // socket to which no process but a proxy can connect
  bool trust_forwarded_for = false;

  // --- Limits: each bounds the memory that clients can take ------------------------------------
  // bytes of a request, or of one chunk (message) of a scene import
  uint64_t max_message_bytes = 4u << 20;
  // connections at once; lowered if the process may not open two file descriptors for each
  // connection
  uint64_t max_connections = 16384;
  // connections of one client address (server/access/peer.h) at once
  uint64_t max_connections_per_peer = 1024;
  uint64_t max_streams = 16384;
  uint64_t max_calls_per_connection = 1024;  // calls at once; gRPC's client delays further calls
  uint64_t max_scene_calls = 256;            // SceneService calls at once, including imports
  uint64_t max_scene_calls_per_peer = 128;
  uint64_t max_watches = 4096;  // WatchScene calls at once
  uint64_t max_watches_per_peer = 256;
  uint64_t max_scenes = 1024;
  uint64_t max_polygons_per_scene = 4194304;
  uint64_t max_vertices_per_polygon = 1048576;
  uint64_t max_vertices_per_scene = 16777216;
  uint64_t max_user_data_bytes = 4096;     // bytes that a client attaches to one polygon
  uint64_t max_queries_per_frame = 65536;  // a frame: a message with the queries of one tick
  uint64_t max_groups_per_frame = 1024;
  // rows of the answers to a frame: a row is a hit, a polygon, an edge or a beam
  uint64_t max_answer_rows_per_frame = 262144;
  // work units of the queries of a frame; a work unit is a visit of a polygon, an edge or an index
  // node, or a comparison of two hits; 0: no limit
  uint64_t max_work_units_per_frame = 4000000000;
  uint64_t max_frames_in_flight = 16;  // frames of one stream that are read but not yet answered
  // the limit, in one stream, for the bytes of answers that the client has not read, and separately
  // for the bytes of frames that wait for their evaluation
  uint64_t max_unread_bytes = 256u << 10;
  // trackers (moving shapes that a stream follows); also the exclusive upper bound of a tracker's
  // handle, the number by which the client names it
  uint64_t max_trackers_per_stream = 65536;
  uint64_t max_tracker_bytes_per_stream = 64u << 20;  // memory of the trackers' shapes and caches
  uint64_t max_forks = 4096;
  uint64_t max_forks_per_peer = 1024;
  // memory of all forks (private copies of scenes), without the memory that forks share with scenes
  uint64_t max_fork_bytes = 1u << 30;
  uint64_t max_fork_versions = 256;  // versions of one fork that the server keeps in memory
  // longest lease of a fork: each frame that uses the fork renews the lease, and the server deletes
  // the fork when the lease ends
  uint64_t max_fork_lease_seconds = 3600;
  // versions of a scene that the server keeps in memory, including the current version
  uint64_t pinned_versions = 16;
  // memory of the versions of a scene that the server keeps in memory, without the current version
  uint64_t pinned_bytes = 16u << 20;
  // versions of a scene that the store keeps (in sqlite or etcd), including the current one
  uint64_t history_versions = 64;
  // for each scene: bytes in the store for data that only older versions have, not the current one
  uint64_t history_bytes = 64u << 20;
  // size of etcd's database file from which on the server refuses writes
  uint64_t store_bytes = 1536u << 20;
  // limit of the memory of gRPC's buffers; the server lowers it to a fifth of the memory limit of
  // the process if it is higher
  uint64_t memory_quota_bytes = 1u << 30;
  // memory limit of the process; 0: three quarters of the memory of the control group of the
  // process, or of the machine
  uint64_t memory_limit_bytes = 0;

  // --- Times ---------------------------------------------------------------------------------
  uint64_t idle_stream_seconds = 300;
  uint64_t stalled_stream_seconds = 30;
  uint64_t import_seconds = 600;
  // time between two sweeps, which delete the data in etcd that no version of a scene refers to
  uint64_t sweep_seconds = 600;
  uint64_t drain_seconds = 10;
  // age of a connection from which on its client is asked to connect again; 0: never
  uint64_t max_connection_age_seconds = 0;
  // time that the calls of such a connection have to end
  uint64_t max_connection_grace_seconds = 30;

  // --- Performance; keep the default unless caromd shares its machine ----------------------------
  // threads of the event loop, which answer small frames (batches of queries); as many threads
  // answer large frames, and as many serve calls about scenes; 0: one for each CPU, within the CPU
  // limit of the control group
  uint64_t threads = 0;
  // Once in `shadow_interval` batches of tracker moves of a stream, and once in so many groups with
  // numbered eyes, the server computes a few of the questions a second time, without caches, and
  // compares the answers; 0: never.
  uint64_t shadow_interval = 1024;

  PolygonLimits polygon_limits() const {
    return {.max_vertices = max_vertices_per_polygon, .max_user_data_bytes = max_user_data_bytes};
  }
  SceneLimits scene_limits() const {
    return {.max_polygons = max_polygons_per_scene, .max_vertices = max_vertices_per_scene};
  }
};

// Returns the version of caromd, such as `0.1.0`.
const char* Version();

// Returns the folder of the sqlite file for an empty `state_dir`: $STATE_DIRECTORY, which systemd
// sets, else $XDG_STATE_HOME/carom, else $HOME/.local/state/carom. Returns an empty string if none
// of the three variables is set.
std::string DefaultStateDir();

// Returns INVALID_ARGUMENT for the first invalid option, with its flag and the allowed values.
absl::Status CheckServerOptions(const ServerOptions& options);

// Returns the defaults of caromd: those of `ServerOptions`, but with a durable store and an admin
// port.
ServerOptions CaromdDefaults();

// What caromd does with its options.
struct CommandLine {
  ServerOptions options;
  // address of the admin port that `--probe` asks, instead of starting a server
  std::optional<std::string> probe;
};

// Returns what a command line asks for, or the exit code with which the process should end: 0 after
// `--help`, `--version` and `--print-config` (whose text goes to `out`), 2 for a bad flag, value or
// configuration file (with a message on `err`). Reads the file that `--config` names.
std::variant<CommandLine, int> ParseServerOptions(int argc, const char* const* argv,
                                                  std::ostream& out, std::ostream& err);

}  // namespace carom::server
