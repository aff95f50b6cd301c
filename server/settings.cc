// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/settings.h"

#include <arpa/inet.h>

#include <array>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "carom/status.h"
#include "server/base/log.h"
#include "server/http/origin_policy.h"
#include "server/store/etcd/etcd_client.h"

namespace carom::server {
namespace {

constexpr size_t kMaxUnixPathBytes = 107;  // size of sockaddr_un::sun_path without the final 0

// Returns whether `address` has the form `HOST:PORT` or `unix:PATH`. Whether the server can listen
// on the address is found out by `Listen` (server/transport/listener.h).
bool IsAddress(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "unix:")) {
    return !address.empty() && address.size() <= kMaxUnixPathBytes;
  }
  const size_t colon = address.rfind(':');  // the last colon, as an IPv6 host contains colons
  if (colon == absl::string_view::npos || colon == 0) return false;
  const absl::string_view digits = address.substr(colon + 1);
  uint32_t port = 0;
  return !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(digits, &port) && port <= 65535;
}

// The next four functions check the value of a text option. Each returns an error message, or an
// empty string if the value is valid.

std::string CheckAddress(const std::string& value) {
  if (IsAddress(value)) return "";
  return absl::StrCat("must be HOST:PORT with a port in [0, 65535], or unix:PATH with at most ",
                      kMaxUnixPathBytes, " bytes");
}

std::string CheckAddressOrOff(const std::string& value) {
  if (value == kOff || IsAddress(value)) return "";
  return absl::StrCat(
      "must be off, HOST:PORT with a port in [0, 65535], or unix:PATH with at most ",
      kMaxUnixPathBytes, " bytes");
}

std::string CheckStore(const std::string& value) {
  if (value == "memory" || value == "sqlite") return "";
  if (!absl::StartsWith(value, "etcd:")) return "must be sqlite, memory or etcd://HOST:PORT/PREFIX";
  return std::string(ParseEtcdUrl(value).status().message());
}

std::string CheckOrigins(const std::string& value) {
  const std::vector<Violation> violations = Violations(OriginPolicy::Check(value));
  return violations.empty() ? "" : violations[0].description;
}

std::string CheckLogFormat(const std::string& value) {
  return value == "json" || value == "text" ? "" : "must be json or text";
}

std::string CheckLogLevel(const std::string& value) {
  return ParseLogLevel(value).has_value() ? "" : "must be error, warning, info or debug";
}

constexpr auto kRestart = Reloadable::kNo;
constexpr auto kReload = Reloadable::kYes;

// A path must not be empty: an empty path is a mistake, such as `--credentials "$FILE"` with an
// unset variable, and must not start a server without credentials.
std::string CheckPath(const std::string& value) {
  return value.empty() ? "must be a path, but is empty" : "";
}

constexpr std::array kTextOptions = {
    TextOption{"--address", "CAROM_ADDRESS", &ServerOptions::address, CheckAddress, kRestart,
               "Address to listen on: HOST:PORT (port 0: any free port) or unix:PATH"},
    TextOption{"--admin-address", "CAROM_ADMIN_ADDRESS", &ServerOptions::admin_address,
               CheckAddressOrOff, kRestart,
               "Address of the HTTP port for operators: HOST:PORT, unix:PATH or off. Serves "
               "/metrics, /healthz, /readyz, /version and /config"},
    TextOption{"--http-address", "CAROM_HTTP_ADDRESS", &ServerOptions::http_address,
               CheckAddressOrOff, kRestart,
               "Address of the HTTP port for clients without gRPC: HOST:PORT, unix:PATH or off. "
               "Serves the Connect protocol and web sockets"},
    TextOption{"--http-allowed-origins", "CAROM_HTTP_ALLOWED_ORIGINS",
               &ServerOptions::http_allowed_origins, CheckOrigins, kRestart,
               "Origins of web pages that may use --http-address, such as https://game.example, "
               "separated by commas; *: all"},
    TextOption{"--store", "CAROM_STORE", &ServerOptions::store, CheckStore, kRestart,
               "Store of the scenes: sqlite (a file in --state-dir), memory (lost on exit), or "
               "etcd://[USER@]HOST:PORT[,HOST:PORT...]/PREFIX (shared with other servers)"},
    TextOption{"--log-format", "CAROM_LOG_FORMAT", &ServerOptions::log_format, CheckLogFormat,
               kRestart, "Form of the lines on standard error: json (one object a line) or text"},
    TextOption{"--log-level", "CAROM_LOG_LEVEL", &ServerOptions::log_level, CheckLogLevel, kReload,
               "Least level of the lines that are logged: error, warning, info or debug"},
    TextOption{"--state-dir", "CAROM_STATE_DIR", &ServerOptions::state_dir, CheckPath, kRestart,
               "Folder of the sqlite file; default: $STATE_DIRECTORY, else $XDG_STATE_HOME/carom, "
               "else ~/.local/state/carom"},
    TextOption{"--record", "CAROM_RECORD", &ServerOptions::record, CheckPath, kRestart,
               "Folder in which the frames of streams, their answers and scenes are recorded"},
    TextOption{"--preload", "CAROM_PRELOAD", &ServerOptions::preload, CheckPath, kRestart,
               "Folder of bundles (NAME.carom) that are served read-only as scenes/NAME, in "
               "addition to the scenes of the store"},
    TextOption{"--tls-certificate", "CAROM_TLS_CERTIFICATE", &ServerOptions::tls_certificate,
               CheckPath, kRestart,
               "File in PEM with the server's certificate, followed by the certificates of the "
               "authorities that signed it; enables TLS. Reloaded when it changes"},
    TextOption{"--tls-key", "CAROM_TLS_KEY", &ServerOptions::tls_key, CheckPath, kRestart,
               "File in PEM with the key of --tls-certificate, without a passphrase; may be the "
               "file of --tls-certificate"},
    TextOption{"--tls-client-ca", "CAROM_TLS_CLIENT_CA", &ServerOptions::tls_client_ca, CheckPath,
               kRestart,
               "File in PEM with certificates of authorities: each client must present a "
               "certificate that one of these authorities has signed"},
    TextOption{"--credentials", "CAROM_CREDENTIALS", &ServerOptions::credentials, CheckPath,
               kRestart,
               "File of token hashes and certificate names, each with a tenant and a role: each "
               "client must present one of these credentials. Reloaded when it changes, and on "
               "SIGHUP"},
    TextOption{"--etcd-password-file", "CAROM_ETCD_PASSWORD_FILE",
               &ServerOptions::etcd_password_file, CheckPath, kRestart,
               "File whose first line is the password of the user that --store names"},
    TextOption{"--etcd-ca", "CAROM_ETCD_CA", &ServerOptions::etcd_ca, CheckPath, kRestart,
               "File in PEM with certificates of authorities, one of which has signed the "
               "certificates of etcd; enables TLS"},
    TextOption{"--etcd-certificate", "CAROM_ETCD_CERTIFICATE", &ServerOptions::etcd_certificate,
               CheckPath, kRestart,
               "File in PEM with the certificate that caromd presents to etcd"},
    TextOption{"--etcd-key", "CAROM_ETCD_KEY", &ServerOptions::etcd_key, CheckPath, kRestart,
               "File in PEM with the key of --etcd-certificate"},
};

constexpr std::array kFlagOptions = {
    FlagOption{"--reflection", "CAROM_REFLECTION", &ServerOptions::reflection,
               "Serve reflection and channelz, for tools such as grpcurl"},
    FlagOption{"--allow-plaintext-network", "CAROM_ALLOW_PLAINTEXT_NETWORK",
               &ServerOptions::allow_plaintext_network,
               "Allow an address that other machines can reach although connections are not "
               "encrypted"},
    FlagOption{"--trust-forwarded-for", "CAROM_TRUST_FORWARDED_FOR",
               &ServerOptions::trust_forwarded_for,
               "Identify the peer of a call by the header x-forwarded-for; only for a Unix socket "
               "to which no process but a proxy can connect"},
    FlagOption{"--metrics-per-tenant", "CAROM_METRICS_PER_TENANT",
               &ServerOptions::metrics_per_tenant,
               "Add metrics with the name of each tenant: their number is not bounded"},
};

// Lists each numeric setting with its flag, environment variable, member, minimum, maximum and help
// text. docs/operations.md repeats the table, and a test compares both.
constexpr std::array kNumberOptions = {
    NumberOption{"--max-message-bytes", "CAROM_MAX_MESSAGE_BYTES",
                 &ServerOptions::max_message_bytes, 1024, 268435456, kReload,
                 "Maximum bytes of a request; bounds the memory that one message takes"},
    NumberOption{"--max-connections", "CAROM_MAX_CONNECTIONS", &ServerOptions::max_connections, 1,
                 1048576, kRestart,
                 "Maximum connections; fewer if the process may not have two descriptors for each. "
                 "Further connections are closed at once"},
    NumberOption{"--max-connections-per-peer", "CAROM_MAX_CONNECTIONS_PER_PEER",
                 &ServerOptions::max_connections_per_peer, 1, 1048576, kRestart,
                 "Maximum connections from one IP address (IPv6: from one /64 network); does not "
                 "limit connections on loopback or a Unix socket"},
    NumberOption{"--max-http-connections", "CAROM_MAX_HTTP_CONNECTIONS",
                 &ServerOptions::max_http_connections, 1, 1048576, kRestart,
                 "Maximum connections to --http-address; a further one replaces an idle one"},
    NumberOption{"--max-streams", "CAROM_MAX_STREAMS", &ServerOptions::max_streams, 1, 1048576,
                 kReload,
                 "Maximum concurrent streams and Evaluate calls; an idle stream takes about 20 "
                 "KiB"},
    NumberOption{"--max-calls-per-connection", "CAROM_MAX_CALLS_PER_CONNECTION",
                 &ServerOptions::max_calls_per_connection, 1, 1048576, kRestart,
                 "Maximum concurrent calls of a connection, including streams; the client delays "
                 "further calls"},
    NumberOption{"--max-scene-calls", "CAROM_MAX_SCENE_CALLS", &ServerOptions::max_scene_calls, 1,
                 65536, kReload,
                 "Maximum concurrent calls of SceneService; bounds the memory of their messages"},
    NumberOption{"--max-scene-calls-per-peer", "CAROM_MAX_SCENE_CALLS_PER_PEER",
                 &ServerOptions::max_scene_calls_per_peer, 1, 65536, kReload,
                 "Maximum concurrent calls of SceneService from one IP address (IPv6: one /64 "
                 "network; loopback and Unix socket: one connection)"},
    NumberOption{"--max-watches", "CAROM_MAX_WATCHES", &ServerOptions::max_watches, 1, 1048576,
                 kReload,
                 "Maximum concurrent WatchScene calls; a call that waits takes about 20 KiB"},
    NumberOption{"--max-watches-per-peer", "CAROM_MAX_WATCHES_PER_PEER",
                 &ServerOptions::max_watches_per_peer, 1, 1048576, kReload,
                 "Maximum concurrent WatchScene calls from one IP address (IPv6: one /64 network; "
                 "loopback and Unix socket: one connection)"},
    NumberOption{"--max-scenes", "CAROM_MAX_SCENES", &ServerOptions::max_scenes, 1, 1048576,
                 kRestart, "Maximum scenes; together with the limits per scene, bounds the store"},
    NumberOption{"--max-polygons-per-scene", "CAROM_MAX_POLYGONS_PER_SCENE",
                 &ServerOptions::max_polygons_per_scene, 1, 67108864, kRestart,
                 "Maximum polygons of a scene; bounds the index of the scene"},
    NumberOption{"--max-vertices-per-polygon", "CAROM_MAX_VERTICES_PER_POLYGON",
                 &ServerOptions::max_vertices_per_polygon, 1, 16777216, kRestart,
                 "Maximum vertices of a polygon; bounds the longest step of a commit"},
    NumberOption{"--max-vertices-per-scene", "CAROM_MAX_VERTICES_PER_SCENE",
                 &ServerOptions::max_vertices_per_scene, 1, 1073741824, kRestart,
                 "Maximum vertices of a scene; bounds the memory of the scene, about 100 bytes for "
                 "each vertex"},
    NumberOption{"--max-user-data-bytes", "CAROM_MAX_USER_DATA_BYTES",
                 &ServerOptions::max_user_data_bytes, 0, 1048576, kRestart,
                 "Maximum bytes of user data of a polygon; caromd stores the data but does not "
                 "interpret it"},
    NumberOption{
        "--max-queries-per-frame", "CAROM_MAX_QUERIES_PER_FRAME",
        &ServerOptions::max_queries_per_frame, 1, 1048576, kReload,
        "Maximum queries of a frame, and maximum shapes; bounds how long one frame occupies a "
        "thread"},
    NumberOption{"--max-groups-per-frame", "CAROM_MAX_GROUPS_PER_FRAME",
                 &ServerOptions::max_groups_per_frame, 1, 65536, kReload,
                 "Maximum groups of a frame; each group costs a lookup of its scene"},
    NumberOption{
        "--max-answer-rows-per-frame", "CAROM_MAX_ANSWER_ROWS_PER_FRAME",
        &ServerOptions::max_answer_rows_per_frame, 1, 16777216, kReload,
        "Maximum rows (hits, polygons, edges, beams) of the answer to a frame; a small request can "
        "have a large answer"},
    NumberOption{"--max-work-units-per-frame", "CAROM_MAX_WORK_UNITS_PER_FRAME",
                 &ServerOptions::max_work_units_per_frame, 0, 1000000000000000000, kReload,
                 "Maximum polygons and edges that a frame may visit, each of which takes some "
                 "nanoseconds; 0: no limit"},
    NumberOption{
        "--max-frames-in-flight", "CAROM_MAX_FRAMES_IN_FLIGHT",
        &ServerOptions::max_frames_in_flight, 1, 1024, kReload,
        "Maximum frames of a stream that are not answered yet; further frames are refused"},
    NumberOption{"--max-unread-bytes", "CAROM_MAX_UNREAD_BYTES", &ServerOptions::max_unread_bytes,
                 4096, 1073741824, kReload,
                 "Maximum bytes of answers that the client of a stream has not read, beyond one "
                 "answer, and of frames read ahead; bounds the memory that a slow client takes"},
    NumberOption{
        "--max-trackers-per-stream", "CAROM_MAX_TRACKERS_PER_STREAM",
        &ServerOptions::max_trackers_per_stream, 1, 16777216, kReload,
        "Maximum trackers of a stream, and upper bound of tracker handles and of the numbers "
        "of eyes that have a memory; bounds the table of trackers"},
    NumberOption{"--max-tracker-bytes-per-stream", "CAROM_MAX_TRACKER_BYTES_PER_STREAM",
                 &ServerOptions::max_tracker_bytes_per_stream, 65536, 1099511627776, kReload,
                 "Maximum bytes of the trackers of a stream; the server drops their caches before "
                 "it refuses a definition"},
    NumberOption{"--max-forks", "CAROM_MAX_FORKS", &ServerOptions::max_forks, 1, 1048576, kRestart,
                 "Maximum forks; a fork without edits takes about 1 KiB"},
    NumberOption{"--max-forks-per-peer", "CAROM_MAX_FORKS_PER_PEER",
                 &ServerOptions::max_forks_per_peer, 1, 1048576, kRestart,
                 "Maximum forks of one IP address (IPv6: one /64 network; loopback and Unix "
                 "socket: one connection)"},
    NumberOption{"--max-fork-bytes", "CAROM_MAX_FORK_BYTES", &ServerOptions::max_fork_bytes,
                 1048576, 1099511627776, kRestart,
                 "Maximum bytes of all forks, without the memory of their base scenes; the server "
                 "drops old versions of forks before it refuses an edit"},
    NumberOption{"--max-fork-versions", "CAROM_MAX_FORK_VERSIONS",
                 &ServerOptions::max_fork_versions, 1, 65536, kRestart,
                 "Maximum versions of a fork that are kept, including the current one; frames can "
                 "read each kept version"},
    NumberOption{"--max-fork-lease-seconds", "CAROM_MAX_FORK_LEASE_SECONDS",
                 &ServerOptions::max_fork_lease_seconds, 1, 86400, kRestart,
                 "Maximum seconds of the lease of a fork: how long it lives without use; "
                 "bounds how long an unused fork takes memory"},
    NumberOption{"--pinned-versions", "CAROM_PINNED_VERSIONS", &ServerOptions::pinned_versions, 1,
                 1024, kRestart,
                 "Maximum versions of a scene in memory, including the current one, that frames "
                 "and forks can read"},
    NumberOption{"--pinned-bytes", "CAROM_PINNED_BYTES", &ServerOptions::pinned_bytes, 0,
                 1099511627776, kRestart,
                 "Maximum bytes of the older versions of a scene in memory; the older versions of "
                 "all scenes take at most 1/16 of the memory limit for scenes"},
    NumberOption{"--history-versions", "CAROM_HISTORY_VERSIONS", &ServerOptions::history_versions,
                 1, 1024, kRestart,
                 "Maximum versions of a scene in sqlite or etcd, including the current one"},
    NumberOption{
        "--history-bytes", "CAROM_HISTORY_BYTES", &ServerOptions::history_bytes, 0, 1099511627776,
        kRestart,
        "Maximum bytes, approximately, of the older versions of a scene in sqlite or etcd"},
    NumberOption{
        "--store-bytes", "CAROM_STORE_BYTES", &ServerOptions::store_bytes, 1048576, 1099511627776,
        kRestart,
        "Bytes of etcd's file from which on caromd refuses to add data; must be below etcd's own "
        "quota, at which etcd refuses all writes"},
    NumberOption{"--memory-quota-bytes", "CAROM_MEMORY_QUOTA_BYTES",
                 &ServerOptions::memory_quota_bytes, 16777216, 1099511627776, kRestart,
                 "Maximum bytes of gRPC's buffers; calls beyond the quota get RESOURCE_EXHAUSTED"},
    NumberOption{
        "--memory-limit-bytes", "CAROM_MEMORY_LIMIT_BYTES", &ServerOptions::memory_limit_bytes, 0,
        1125899906842624, kRestart,
        "Maximum bytes that clients can make the server allocate; 0: three quarters of the memory "
        "of its control group or machine"},
    NumberOption{"--idle-stream-seconds", "CAROM_IDLE_STREAM_SECONDS",
                 &ServerOptions::idle_stream_seconds, 1, 86400, kReload,
                 "Seconds after which a stream ends that receives no frame, and after which a "
                 "stream or Evaluate call ends whose client reads no answer; frees abandoned "
                 "sessions"},
    NumberOption{
        "--stalled-stream-seconds", "CAROM_STALLED_STREAM_SECONDS",
        &ServerOptions::stalled_stream_seconds, 1, 86400, kReload,
        "Seconds after which a stream or Evaluate call ends whose client reads no answer while "
        "more than --max-unread-bytes are unread, and a scene call whose client does not read its "
        "answer"},
    NumberOption{"--import-seconds", "CAROM_IMPORT_SECONDS", &ServerOptions::import_seconds, 1,
                 86400, kRestart,
                 "Maximum seconds of an import; frees the memory of a slow client's import"},
    NumberOption{"--sweep-seconds", "CAROM_SWEEP_SECONDS", &ServerOptions::sweep_seconds, 1, 86400,
                 kRestart,
                 "Seconds, approximately, between deletions of pages in etcd that no version "
                 "refers to"},
    NumberOption{
        "--max-connection-age-seconds", "CAROM_MAX_CONNECTION_AGE_SECONDS",
        &ServerOptions::max_connection_age_seconds, 0, 31536000, kRestart,
        "Seconds after which clients are asked to connect again, so that long streams move "
        "to new servers; 0: never"},
    NumberOption{"--max-connection-grace-seconds", "CAROM_MAX_CONNECTION_GRACE_SECONDS",
                 &ServerOptions::max_connection_grace_seconds, 1, 86400, kRestart,
                 "Seconds that the calls of a connection have to end after "
                 "--max-connection-age-seconds"},
    NumberOption{"--drain-seconds", "CAROM_DRAIN_SECONDS", &ServerOptions::drain_seconds, 0, 3600,
                 kRestart,
                 "Seconds that calls in progress have to complete after SIGTERM; must be below the "
                 "stop timeout of the supervisor"},
    NumberOption{
        "--slow-frame-ms", "CAROM_SLOW_FRAME_MS", &ServerOptions::slow_frame_ms, 0, 3600000,
        kReload,
        "Milliseconds from the receipt of a frame to its answer from which on the frame is "
        "logged; 0: never"},
    NumberOption{"--max-record-bytes", "CAROM_MAX_RECORD_BYTES", &ServerOptions::max_record_bytes,
                 1u << 20, uint64_t{1} << 50, kRestart,
                 "Maximum bytes of the recordings in --record; the oldest are deleted first"},
    NumberOption{
        "--threads", "CAROM_THREADS", &ServerOptions::threads, 0, 1024, kRestart,
        "Threads that answer small frames; as many threads answer large frames, and as many "
        "change scenes. 0: one for each CPU, within the CPU limit of the control group"},
    NumberOption{"--shadow-interval", "CAROM_SHADOW_INTERVAL", &ServerOptions::shadow_interval, 0,
                 4294967295, kRestart,
                 "The server computes a part of every so many batches of moves, and of every so "
                 "many groups with numbered eyes, a second time without caches, to compare the "
                 "answers; 0: never"},
};

}  // namespace

std::span<const TextOption> TextOptions() { return kTextOptions; }
std::span<const FlagOption> FlagOptions() { return kFlagOptions; }
std::span<const NumberOption> NumberOptions() { return kNumberOptions; }

bool TextOption::is_path() const { return check == CheckPath; }

std::string KeyOf(absl::string_view flag) {
  return absl::StrReplaceAll(absl::StripPrefix(flag, "--"), {{"-", "_"}});
}

}  // namespace carom::server
