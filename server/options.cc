// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/options.h"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <ostream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "carom/status.h"
#include "server/store/etcd/etcd_client.h"

#ifndef CAROM_VERSION
#define CAROM_VERSION "unversioned"
#endif

namespace carom::server {
namespace {

constexpr size_t kMaxUnixPathBytes = 107;  // size of sockaddr_un::sun_path without the final 0

// A setting that is the path of a file or a folder.
struct FileOption {
  const char* flag;
  const char* environment;
  std::string ServerOptions::*member;
  const char* help;
};

constexpr std::array kFileOptions = {
    FileOption{"--state-dir", "CAROM_STATE_DIR", &ServerOptions::state_dir,
               "Folder of the sqlite file; default: $STATE_DIRECTORY, else $XDG_STATE_HOME/carom, "
               "else ~/.local/state/carom"},
    FileOption{"--preload", "CAROM_PRELOAD", &ServerOptions::preload,
               "Folder of bundles (NAME.carom) that are served read-only as scenes/NAME, in "
               "addition to the scenes of the store"},
    FileOption{"--tls-certificate", "CAROM_TLS_CERTIFICATE", &ServerOptions::tls_certificate,
               "File in PEM with the server's certificate, followed by the certificates of the "
               "authorities that signed it; enables TLS. Reloaded when it changes"},
    FileOption{"--tls-key", "CAROM_TLS_KEY", &ServerOptions::tls_key,
               "File in PEM with the key of --tls-certificate, without a passphrase; may be the "
               "file of --tls-certificate"},
    FileOption{"--tls-client-ca", "CAROM_TLS_CLIENT_CA", &ServerOptions::tls_client_ca,
               "File in PEM with certificates of authorities: each client must present a "
               "certificate that one of these authorities has signed"},
    FileOption{"--credentials", "CAROM_CREDENTIALS", &ServerOptions::credentials,
               "File of token hashes and certificate names, each with a tenant and a role: each "
               "client must present one of these credentials. Reloaded when it changes, and on "
               "SIGHUP"},
    FileOption{"--etcd-password-file", "CAROM_ETCD_PASSWORD_FILE",
               &ServerOptions::etcd_password_file,
               "File whose first line is the password of the user that --store names"},
    FileOption{"--etcd-ca", "CAROM_ETCD_CA", &ServerOptions::etcd_ca,
               "File in PEM with certificates of authorities, one of which has signed the "
               "certificates of etcd; enables TLS"},
    FileOption{"--etcd-certificate", "CAROM_ETCD_CERTIFICATE", &ServerOptions::etcd_certificate,
               "File in PEM with the certificate that caromd presents to etcd"},
    FileOption{"--etcd-key", "CAROM_ETCD_KEY", &ServerOptions::etcd_key,
               "File in PEM with the key of --etcd-certificate"},
};

// Lists each numeric setting with its flag, environment variable, member, minimum, maximum and help
// text. docs/operations.md repeats the table, and a test compares both.
constexpr std::array kNumberOptions = {
    NumberOption{"--max-message-bytes", "CAROM_MAX_MESSAGE_BYTES",
                 &ServerOptions::max_message_bytes, 1024, 268435456,
                 "Maximum bytes of a request; bounds the memory that one message takes"},
    NumberOption{"--max-connections", "CAROM_MAX_CONNECTIONS", &ServerOptions::max_connections, 1,
                 1048576,
                 "Maximum connections; fewer if the process may not have two descriptors for each. "
                 "Further connections are closed at once"},
    NumberOption{"--max-connections-per-peer", "CAROM_MAX_CONNECTIONS_PER_PEER",
                 &ServerOptions::max_connections_per_peer, 1, 1048576,
                 "Maximum connections from one IP address (IPv6: from one /64 network); does not "
                 "limit connections on loopback or a Unix socket"},
    NumberOption{"--max-streams", "CAROM_MAX_STREAMS", &ServerOptions::max_streams, 1, 1048576,
                 "Maximum concurrent streams and Evaluate calls; an idle stream takes about 20 "
                 "KiB"},
    NumberOption{"--max-calls-per-connection", "CAROM_MAX_CALLS_PER_CONNECTION",
                 &ServerOptions::max_calls_per_connection, 1, 1048576,
                 "Maximum concurrent calls of a connection, including streams; the client delays "
                 "further calls"},
    NumberOption{"--max-scene-calls", "CAROM_MAX_SCENE_CALLS", &ServerOptions::max_scene_calls, 1,
                 65536,
                 "Maximum concurrent calls of SceneService; bounds the memory of their messages"},
    NumberOption{"--max-scene-calls-per-peer", "CAROM_MAX_SCENE_CALLS_PER_PEER",
                 &ServerOptions::max_scene_calls_per_peer, 1, 65536,
                 "Maximum concurrent calls of SceneService from one IP address (IPv6: one /64 "
                 "network; loopback and Unix socket: one connection)"},
    NumberOption{"--max-watches", "CAROM_MAX_WATCHES", &ServerOptions::max_watches, 1, 1048576,
                 "Maximum concurrent WatchScene calls; a call that waits takes about 20 KiB"},
    NumberOption{"--max-watches-per-peer", "CAROM_MAX_WATCHES_PER_PEER",
                 &ServerOptions::max_watches_per_peer, 1, 1048576,
                 "Maximum concurrent WatchScene calls from one IP address (IPv6: one /64 network; "
                 "loopback and Unix socket: one connection)"},
    NumberOption{"--max-scenes", "CAROM_MAX_SCENES", &ServerOptions::max_scenes, 1, 1048576,
                 "Maximum scenes; together with the limits per scene, bounds the store"},
    NumberOption{"--max-polygons-per-scene", "CAROM_MAX_POLYGONS_PER_SCENE",
                 &ServerOptions::max_polygons_per_scene, 1, 67108864,
                 "Maximum polygons of a scene; bounds the index of the scene"},
    NumberOption{"--max-vertices-per-polygon", "CAROM_MAX_VERTICES_PER_POLYGON",
                 &ServerOptions::max_vertices_per_polygon, 1, 16777216,
                 "Maximum vertices of a polygon; bounds the longest step of a commit"},
    NumberOption{"--max-vertices-per-scene", "CAROM_MAX_VERTICES_PER_SCENE",
                 &ServerOptions::max_vertices_per_scene, 1, 1073741824,
                 "Maximum vertices of a scene; bounds the memory of the scene, about 100 bytes for "
                 "each vertex"},
    NumberOption{"--max-user-data-bytes", "CAROM_MAX_USER_DATA_BYTES",
                 &ServerOptions::max_user_data_bytes, 0, 1048576,
                 "Maximum bytes of user data of a polygon; caromd stores the data but does not "
                 "interpret it"},
    NumberOption{
        "--max-queries-per-frame", "CAROM_MAX_QUERIES_PER_FRAME",
        &ServerOptions::max_queries_per_frame, 1, 1048576,
        "Maximum queries of a frame, and maximum shapes; bounds how long one frame occupies a "
        "thread"},
    NumberOption{"--max-groups-per-frame", "CAROM_MAX_GROUPS_PER_FRAME",
                 &ServerOptions::max_groups_per_frame, 1, 65536,
                 "Maximum groups of a frame; each group costs a lookup of its scene"},
    NumberOption{
        "--max-answer-rows-per-frame", "CAROM_MAX_ANSWER_ROWS_PER_FRAME",
        &ServerOptions::max_answer_rows_per_frame, 1, 16777216,
        "Maximum rows (hits, polygons, edges, beams) of the answer to a frame; a small request can "
        "have a large answer"},
    NumberOption{"--max-work-units-per-frame", "CAROM_MAX_WORK_UNITS_PER_FRAME",
                 &ServerOptions::max_work_units_per_frame, 0, 1000000000000000000,
                 "Maximum polygons and edges that a frame may visit, each of which takes some "
                 "nanoseconds; 0: no limit"},
    NumberOption{
        "--max-frames-in-flight", "CAROM_MAX_FRAMES_IN_FLIGHT",
        &ServerOptions::max_frames_in_flight, 1, 1024,
        "Maximum frames of a stream that are not answered yet; further frames are refused"},
    NumberOption{"--max-unread-bytes", "CAROM_MAX_UNREAD_BYTES", &ServerOptions::max_unread_bytes,
                 4096, 1073741824,
                 "Maximum bytes of answers that the client of a stream has not read, beyond one "
                 "answer, and of frames read ahead; bounds the memory that a slow client takes"},
    NumberOption{"--max-trackers-per-stream", "CAROM_MAX_TRACKERS_PER_STREAM",
                 &ServerOptions::max_trackers_per_stream, 1, 16777216,
                 "Maximum trackers of a stream, and upper bound of tracker handles; bounds the "
                 "table of trackers"},
    NumberOption{"--max-tracker-bytes-per-stream", "CAROM_MAX_TRACKER_BYTES_PER_STREAM",
                 &ServerOptions::max_tracker_bytes_per_stream, 65536, 1099511627776,
                 "Maximum bytes of the trackers of a stream; the server drops their caches before "
                 "it refuses a definition"},
    NumberOption{"--max-forks", "CAROM_MAX_FORKS", &ServerOptions::max_forks, 1, 1048576,
                 "Maximum forks; a fork without edits takes about 1 KiB"},
    NumberOption{"--max-forks-per-peer", "CAROM_MAX_FORKS_PER_PEER",
                 &ServerOptions::max_forks_per_peer, 1, 1048576,
                 "Maximum forks of one IP address (IPv6: one /64 network; loopback and Unix "
                 "socket: one connection)"},
    NumberOption{"--max-fork-bytes", "CAROM_MAX_FORK_BYTES", &ServerOptions::max_fork_bytes,
                 1048576, 1099511627776,
                 "Maximum bytes of all forks, without the memory of their base scenes; the server "
                 "drops old versions of forks before it refuses an edit"},
    NumberOption{"--max-fork-versions", "CAROM_MAX_FORK_VERSIONS",
                 &ServerOptions::max_fork_versions, 1, 65536,
                 "Maximum versions of a fork that are kept, including the current one; frames can "
                 "read each kept version"},
    NumberOption{"--max-fork-lease-seconds", "CAROM_MAX_FORK_LEASE_SECONDS",
                 &ServerOptions::max_fork_lease_seconds, 1, 86400,
                 "Maximum seconds of the lease of a fork: how long it lives without use; "
                 "bounds how long an unused fork takes memory"},
    NumberOption{"--pinned-versions", "CAROM_PINNED_VERSIONS", &ServerOptions::pinned_versions, 1,
                 1024,
                 "Maximum versions of a scene in memory, including the current one, that frames "
                 "and forks can read"},
    NumberOption{"--pinned-bytes", "CAROM_PINNED_BYTES", &ServerOptions::pinned_bytes, 0,
                 1099511627776,
                 "Maximum bytes of the older versions of a scene in memory; the older versions of "
                 "all scenes take at most 1/16 of the memory limit for scenes"},
    NumberOption{"--history-versions", "CAROM_HISTORY_VERSIONS", &ServerOptions::history_versions,
                 1, 1024,
                 "Maximum versions of a scene in sqlite or etcd, including the current one"},
    NumberOption{
        "--history-bytes", "CAROM_HISTORY_BYTES", &ServerOptions::history_bytes, 0, 1099511627776,
        "Maximum bytes, approximately, of the older versions of a scene in sqlite or etcd"},
    NumberOption{
        "--store-bytes", "CAROM_STORE_BYTES", &ServerOptions::store_bytes, 1048576, 1099511627776,
        "Bytes of etcd's file from which on caromd refuses to add data; must be below etcd's own "
        "quota, at which etcd refuses all writes"},
    NumberOption{"--memory-quota-bytes", "CAROM_MEMORY_QUOTA_BYTES",
                 &ServerOptions::memory_quota_bytes, 16777216, 1099511627776,
                 "Maximum bytes of gRPC's buffers; calls beyond the quota get RESOURCE_EXHAUSTED"},
    NumberOption{
        "--memory-limit-bytes", "CAROM_MEMORY_LIMIT_BYTES", &ServerOptions::memory_limit_bytes, 0,
        1125899906842624,
        "Maximum bytes that clients can make the server allocate; 0: three quarters of the memory "
        "of its control group or machine"},
    NumberOption{"--idle-stream-seconds", "CAROM_IDLE_STREAM_SECONDS",
                 &ServerOptions::idle_stream_seconds, 1, 86400,
                 "Seconds after which a stream ends that receives no frame, and after which a "
                 "stream or Evaluate call ends whose client reads no answer; frees abandoned "
                 "sessions"},
    NumberOption{
        "--stalled-stream-seconds", "CAROM_STALLED_STREAM_SECONDS",
        &ServerOptions::stalled_stream_seconds, 1, 86400,
        "Seconds after which a stream or Evaluate call ends whose client reads no answer while "
        "more than --max-unread-bytes are unread, and a scene call whose client does not read its "
        "answer"},
    NumberOption{"--import-seconds", "CAROM_IMPORT_SECONDS", &ServerOptions::import_seconds, 1,
                 86400, "Maximum seconds of an import; frees the memory of a slow client's import"},
    NumberOption{"--sweep-seconds", "CAROM_SWEEP_SECONDS", &ServerOptions::sweep_seconds, 1, 86400,
                 "Seconds, approximately, between deletions of pages in etcd that no version "
                 "refers to"},
    NumberOption{"--drain-seconds", "CAROM_DRAIN_SECONDS", &ServerOptions::drain_seconds, 0, 3600,
                 "Seconds that calls in progress have to complete after SIGTERM; must be below the "
                 "stop timeout of the supervisor"},
    NumberOption{
        "--threads", "CAROM_THREADS", &ServerOptions::threads, 0, 1024,
        "Threads that answer small frames; as many threads answer large frames, and as many "
        "change scenes. 0: one for each CPU, within the CPU limit of the control group"},
    NumberOption{"--shadow-interval", "CAROM_SHADOW_INTERVAL", &ServerOptions::shadow_interval, 0,
                 4294967295,
                 "Batches of moves between two batches that the server computes a second time, "
                 "without the caches of the trackers, to compare the answers; 0: never"},
};

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

// Returns whether only processes of this machine can connect to `address`: a Unix socket or a
// loopback address.
bool IsLocal(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  absl::string_view host = address.substr(0, address.rfind(':'));
  if (absl::ConsumePrefix(&host, "[")) host.remove_suffix(1);
  in_addr v4;
  in6_addr v6;
  const std::string text(host);
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

// Returns an error message if `value` is no valid `--address`, else an empty string. The signature
// is that of CLI11's validators; `CheckServerOptions` calls the function, too.
std::string CheckAddressFlag(const std::string& value) {
  if (IsAddress(value)) return "";
  return absl::StrCat("must be HOST:PORT with a port in [0, 65535], or unix:PATH with at most ",
                      kMaxUnixPathBytes, " bytes");
}

// Returns an error message if `value` is no valid `--store`, else an empty string. The signature is
// that of CLI11's validators; `CheckServerOptions` calls the function, too.
std::string CheckStoreFlag(const std::string& value) {
  if (value == "memory" || value == "sqlite") return "";
  if (!absl::StartsWith(value, "etcd:")) return "must be sqlite, memory or etcd://HOST:PORT/PREFIX";
  return std::string(ParseEtcdUrl(value).status().message());
}

// Adds a path option that refuses an empty value. An empty path is a mistake, such as
// `--credentials "$FILE"` with an unset variable, and must not start a server without credentials.
void AddPath(CLI::App& app, ServerOptions& options, const FileOption& file) {
  CLI::Option* const option =
      app.add_option(file.flag, options.*file.member, file.help)->envname(file.environment);
  option->check(CLI::Validator(
      [](const std::string& path) {
        return path.empty() ? std::string("must be a path, but is empty") : std::string();
      },
      ""));
}

// Refuses empty environment variables of path options: CLI11 takes an empty variable for an unset
// one.
absl::Status CheckEnvironment() {
  for (const FileOption& file : kFileOptions) {
    const char* const value = std::getenv(file.environment);
    if (value != nullptr && *value == '\0') {
      return InvalidField(file.environment, "must be a path, but is empty");
    }
  }
  return absl::OkStatus();
}

// Checks that the options for TLS, credentials and reflection go together, and that a server that
// other machines can reach encrypts connections and authenticates clients.
absl::Status CheckTransport(const ServerOptions& options) {
  const bool is_encrypted = !options.tls_certificate.empty();
  if (is_encrypted == options.tls_key.empty()) {
    return InvalidField(is_encrypted ? "--tls-key" : "--tls-certificate",
                        "must be given: the certificate and its key are one pair");
  }
  if (!options.tls_client_ca.empty() && !is_encrypted) {
    return InvalidField("--tls-client-ca", "must be with --tls-certificate and --tls-key");
  }
  if (!options.credentials.empty() && options.reflection) {
    return InvalidField("--reflection",
                        "must not be with --credentials: reflection requires no credential");
  }
  if (IsLocal(options.address)) return absl::OkStatus();
  if (!options.credentials.empty() && !is_encrypted) {
    return InvalidField("--credentials",
                        "must be with --tls-certificate, or on a loopback address or unix:PATH: "
                        "without TLS, tokens could be read in transit");
  }
  if (options.allow_plaintext_network) return absl::OkStatus();
  if (!is_encrypted) {
    return InvalidField("--address",
                        "must be a loopback address or unix:PATH without --tls-certificate, unless "
                        "--allow-plaintext-network is given");
  }
  if (options.tls_client_ca.empty() && options.credentials.empty()) {
    return InvalidField("--credentials",
                        "must be given, or --tls-client-ca: other machines can reach the address");
  }
  return absl::OkStatus();
}

// Checks that the options for etcd go together: a certificate needs a key and `--etcd-ca`, and a
// user in `--store` needs a password file and vice versa.
absl::Status CheckEtcd(const ServerOptions& options) {
  if (options.etcd_certificate.empty() != options.etcd_key.empty()) {
    return InvalidField(options.etcd_key.empty() ? "--etcd-key" : "--etcd-certificate",
                        "must be given: the certificate and its key are one pair");
  }
  if (!options.etcd_certificate.empty() && options.etcd_ca.empty()) {
    return InvalidField("--etcd-ca", "must be with --etcd-certificate and --etcd-key");
  }
  const absl::StatusOr<EtcdUrl> url = ParseEtcdUrl(options.store);
  const bool has_user = url.ok() && !url->user.empty();
  if (has_user == options.etcd_password_file.empty()) {
    return InvalidField("--etcd-password-file", has_user ? "must be given: --store names a user"
                                                         : "must be with a user in --store");
  }
  return absl::OkStatus();
}

void AddFlags(CLI::App& app, ServerOptions& options) {
  app.set_version_flag("--version", "caromd " CAROM_VERSION);
  app.add_option("--address", options.address,
                 "Address to listen on: HOST:PORT (port 0: any free port) or unix:PATH")
      ->envname("CAROM_ADDRESS")
      ->capture_default_str()
      ->check(CLI::Validator(CheckAddressFlag, "", "address"));
  app.add_option("--store", options.store,
                 "Store of the scenes: sqlite (a file in --state-dir), memory (lost on exit), or "
                 "etcd://[USER@]HOST:PORT[,HOST:PORT...]/PREFIX (shared with other servers)")
      ->envname("CAROM_STORE")
      ->capture_default_str()
      ->check(CLI::Validator(CheckStoreFlag, "", "store"));
  for (const FileOption& file : kFileOptions) AddPath(app, options, file);
  app.add_flag("--reflection", options.reflection,
               "Serve reflection and channelz, for tools such as grpcurl")
      ->envname("CAROM_REFLECTION");
  app.add_flag("--allow-plaintext-network", options.allow_plaintext_network,
               "Allow an address that other machines can reach although connections are not "
               "encrypted")
      ->envname("CAROM_ALLOW_PLAINTEXT_NETWORK");
  app.add_flag(
         "--trust-forwarded-for", options.trust_forwarded_for,
         "Identify the peer of a call by the header x-forwarded-for; only for a Unix socket to "
         "which no process but a proxy can connect")
      ->envname("CAROM_TRUST_FORWARDED_FOR");
  // With an empty description, CLI11 does not append the range to the help text, which already has
  // the range.
  for (const NumberOption& number : kNumberOptions) {
    app.add_option(number.flag, options.*number.member,
                   absl::StrCat(number.help, ". In [", number.min, ", ", number.max, "]"))
        ->envname(number.environment)
        ->capture_default_str()
        ->check(CLI::Range(number.min, number.max).description(""));
  }
}

}  // namespace

// Falls back to folders of the user only, never to a system folder such as /var/lib: caromd may run
// as any user, who may not write there.
std::string DefaultStateDir() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  // systemd may list several folders, separated by colons; the first one is used.
  const std::string systemd = variable("STATE_DIRECTORY");
  if (!systemd.empty()) return systemd.substr(0, systemd.find(':'));
  if (const std::string xdg = variable("XDG_STATE_HOME"); !xdg.empty()) return xdg + "/carom";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.local/state/carom";
}

std::span<const NumberOption> NumberOptions() { return kNumberOptions; }

absl::Status CheckServerOptions(const ServerOptions& options) {
  if (const std::string why = CheckAddressFlag(options.address); !why.empty()) {
    return InvalidField("--address", why);
  }
  if (absl::Status status = CheckTransport(options); !status.ok()) return status;
  if (options.trust_forwarded_for && !absl::StartsWith(options.address, "unix:")) {
    return InvalidField("--trust-forwarded-for",
                        "must be with --address unix:PATH: the header of any client that connects "
                        "is trusted");
  }
  if (const std::string why = CheckStoreFlag(options.store); !why.empty()) {
    return InvalidField("--store", why);
  }
  if (absl::Status status = CheckEtcd(options); !status.ok()) return status;
  if (options.store == "sqlite" && options.state_dir.empty() && DefaultStateDir().empty()) {
    return InvalidField("--state-dir", "must be given: there is no home folder for the default");
  }
  for (const NumberOption& number : kNumberOptions) {
    const uint64_t value = options.*number.member;
    if (value < number.min || value > number.max) {
      return InvalidField(number.flag,
                          absl::StrCat("must be in [", number.min, ", ", number.max, "]"));
    }
  }
  return absl::OkStatus();
}

std::variant<ServerOptions, int> ParseServerOptions(int argc, const char* const* argv,
                                                    std::ostream& out, std::ostream& err) {
  ServerOptions options;
  options.store = "sqlite";
  CLI::App app("caromd answers collision queries in 2D scenes, exactly, over gRPC.", "caromd");
  app.footer(
      "The environment variable named beside a flag sets the flag's value, too; a flag on the "
      "command line overrides the variable.");
  AddFlags(app, options);
  // CLI11 throws an exception for each error, and also for `--help` and `--version`.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : 2;
  }
  if (const absl::Status status = CheckEnvironment(); !status.ok()) {
    err << "caromd: " << status.message() << '\n';
    return 2;
  }
  return options;
}

}  // namespace carom::server
