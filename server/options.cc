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

constexpr size_t kMaxUnixPathBytes = 107;  // sun_path without its terminator

// A setting that is the path of a file or a folder.
struct FileOption {
  const char* flag;
  const char* environment;
  std::string ServerOptions::*member;
  const char* help;
};

constexpr std::array kFileOptions = {
    FileOption{"--state-dir", "CAROM_STATE_DIR", &ServerOptions::state_dir,
               "Folder of the file of sqlite; default: $STATE_DIRECTORY, $XDG_STATE_HOME/carom or "
               "~/.local/state/carom"},
    FileOption{"--preload", "CAROM_PRELOAD", &ServerOptions::preload,
               "Folder of bundles (NAME.carom) that are served read-only as scenes/NAME, beside "
               "those of the store"},
    FileOption{"--tls-certificate", "CAROM_TLS_CERTIFICATE", &ServerOptions::tls_certificate,
               "File of the server's certificate in PEM, with those that signed it after it: TLS. "
               "Read again when it changes"},
    FileOption{"--tls-key", "CAROM_TLS_KEY", &ServerOptions::tls_key,
               "File of the certificate's key in PEM, without a passphrase; it may be the same"},
    FileOption{"--tls-client-ca", "CAROM_TLS_CLIENT_CA", &ServerOptions::tls_client_ca,
               "File of certificates of authorities in PEM: each client must have a certificate "
               "that one of them has signed"},
    FileOption{"--credentials", "CAROM_CREDENTIALS", &ServerOptions::credentials,
               "File of hashed tokens and names of certificates, each with a tenant and a role: "
               "each client must have one. Read again when it changes, and on SIGHUP"},
    FileOption{"--etcd-password-file", "CAROM_ETCD_PASSWORD_FILE",
               &ServerOptions::etcd_password_file,
               "File whose first line is the password of the user that --store names"},
    FileOption{"--etcd-ca", "CAROM_ETCD_CA", &ServerOptions::etcd_ca,
               "File of certificates of authorities in PEM, one of which has signed those of etcd: "
               "TLS"},
    FileOption{"--etcd-certificate", "CAROM_ETCD_CERTIFICATE", &ServerOptions::etcd_certificate,
               "File of a certificate in PEM that etcd asks of its clients"},
    FileOption{"--etcd-key", "CAROM_ETCD_KEY", &ServerOptions::etcd_key,
               "File of the key of that certificate"},
};

// Flag, environment variable, member, least, greatest, help. docs/operations.md repeats the table,
// and a test compares the two.
constexpr std::array kNumberOptions = {
    NumberOption{"--max-message-bytes", "CAROM_MAX_MESSAGE_BYTES",
                 &ServerOptions::max_message_bytes, 1024, 268435456,
                 "Bytes of a request at most; bounds the memory that one message takes"},
    NumberOption{"--max-connections", "CAROM_MAX_CONNECTIONS", &ServerOptions::max_connections, 1,
                 1048576,
                 "Connections at most, or fewer if the process may not have two descriptors for "
                 "each; one more is closed"},
    NumberOption{"--max-connections-per-peer", "CAROM_MAX_CONNECTIONS_PER_PEER",
                 &ServerOptions::max_connections_per_peer, 1, 1048576,
                 "Connections from one IP address (of IPv6, from 64 bits of it) at most; not on "
                 "loopback or a Unix socket"},
    NumberOption{"--max-streams", "CAROM_MAX_STREAMS", &ServerOptions::max_streams, 1, 1048576,
                 "Streams and Evaluate calls at once at most; an idle stream takes about 20 KiB"},
    NumberOption{"--max-calls-per-connection", "CAROM_MAX_CALLS_PER_CONNECTION",
                 &ServerOptions::max_calls_per_connection, 1, 1048576,
                 "Calls of a connection at once at most, streams among them; others wait at the "
                 "client"},
    NumberOption{"--max-scene-calls", "CAROM_MAX_SCENE_CALLS", &ServerOptions::max_scene_calls, 1,
                 65536, "Calls of SceneService at once at most; bounds their messages"},
    NumberOption{"--max-scene-calls-per-peer", "CAROM_MAX_SCENE_CALLS_PER_PEER",
                 &ServerOptions::max_scene_calls_per_peer, 1, 65536,
                 "Calls of SceneService of one IP address (of IPv6, 64 bits of it) at most, on "
                 "loopback of one connection"},
    NumberOption{"--max-watches", "CAROM_MAX_WATCHES", &ServerOptions::max_watches, 1, 1048576,
                 "WatchScene calls at once at most; one that waits takes about 20 KiB"},
    NumberOption{"--max-watches-per-peer", "CAROM_MAX_WATCHES_PER_PEER",
                 &ServerOptions::max_watches_per_peer, 1, 1048576,
                 "WatchScene calls of one IP address (of IPv6, 64 bits of it) at most, on loopback "
                 "of one connection"},
    NumberOption{"--max-scenes", "CAROM_MAX_SCENES", &ServerOptions::max_scenes, 1, 1048576,
                 "Scenes at most; with the limits a scene, bounds the store"},
    NumberOption{"--max-polygons-per-scene", "CAROM_MAX_POLYGONS_PER_SCENE",
                 &ServerOptions::max_polygons_per_scene, 1, 67108864,
                 "Polygons of a scene at most; bounds its index"},
    NumberOption{"--max-vertices-per-polygon", "CAROM_MAX_VERTICES_PER_POLYGON",
                 &ServerOptions::max_vertices_per_polygon, 1, 16777216,
                 "Vertices of a polygon at most; bounds the longest step of a commit"},
    NumberOption{"--max-vertices-per-scene", "CAROM_MAX_VERTICES_PER_SCENE",
                 &ServerOptions::max_vertices_per_scene, 1, 1073741824,
                 "Vertices of a scene at most; bounds its memory, about 100 bytes each"},
    NumberOption{"--max-user-data-bytes", "CAROM_MAX_USER_DATA_BYTES",
                 &ServerOptions::max_user_data_bytes, 0, 1048576,
                 "Bytes of user data a polygon at most; caromd keeps them and never reads them"},
    NumberOption{
        "--max-queries-per-frame", "CAROM_MAX_QUERIES_PER_FRAME",
        &ServerOptions::max_queries_per_frame, 1, 1048576,
        "Queries of a frame at most, and shapes; bounds how long one frame occupies a thread"},
    NumberOption{"--max-groups-per-frame", "CAROM_MAX_GROUPS_PER_FRAME",
                 &ServerOptions::max_groups_per_frame, 1, 65536,
                 "Groups of a frame at most; each costs a lookup of its scene"},
    NumberOption{
        "--max-answer-rows-per-frame", "CAROM_MAX_ANSWER_ROWS_PER_FRAME",
        &ServerOptions::max_answer_rows_per_frame, 1, 16777216,
        "Rows (hits, polygons, edges, beams) of a frame's answer at most; a short question can "
        "have a long answer"},
    NumberOption{"--max-work-units-per-frame", "CAROM_MAX_WORK_UNITS_PER_FRAME",
                 &ServerOptions::max_work_units_per_frame, 0, 1000000000000000000,
                 "Polygons and edges that a frame may visit, some nanoseconds each; 0: no limit"},
    NumberOption{"--max-frames-in-flight", "CAROM_MAX_FRAMES_IN_FLIGHT",
                 &ServerOptions::max_frames_in_flight, 1, 1024,
                 "Frames of a stream ahead of their answers at most; one more is refused"},
    NumberOption{"--max-unread-bytes", "CAROM_MAX_UNREAD_BYTES", &ServerOptions::max_unread_bytes,
                 4096, 1073741824,
                 "Bytes of answers of a stream that wait for its client, beyond one answer, and of "
                 "frames read ahead; bounds the memory that a slow client takes"},
    NumberOption{"--max-trackers-per-stream", "CAROM_MAX_TRACKERS_PER_STREAM",
                 &ServerOptions::max_trackers_per_stream, 1, 16777216,
                 "Trackers of a stream at most: their handles are below this; bounds its table"},
    NumberOption{"--max-tracker-bytes-per-stream", "CAROM_MAX_TRACKER_BYTES_PER_STREAM",
                 &ServerOptions::max_tracker_bytes_per_stream, 65536, 1099511627776,
                 "Bytes of a stream's trackers at most; their memories are dropped before a "
                 "definition is refused"},
    NumberOption{"--max-forks", "CAROM_MAX_FORKS", &ServerOptions::max_forks, 1, 1048576,
                 "Forks at most; one that is not edited takes about 1 KiB"},
    NumberOption{"--max-forks-per-peer", "CAROM_MAX_FORKS_PER_PEER",
                 &ServerOptions::max_forks_per_peer, 1, 1048576,
                 "Forks of one IP address (of IPv6, 64 bits of it) at most, on loopback of one "
                 "connection"},
    NumberOption{"--max-fork-bytes", "CAROM_MAX_FORK_BYTES", &ServerOptions::max_fork_bytes,
                 1048576, 1099511627776,
                 "Bytes of all forks at most, beside the memory of their bases; their old versions "
                 "are dropped before an edit is refused"},
    NumberOption{"--max-fork-versions", "CAROM_MAX_FORK_VERSIONS",
                 &ServerOptions::max_fork_versions, 1, 65536,
                 "Versions of a fork that are kept, with the current one: how far frames can go "
                 "back"},
    NumberOption{"--max-fork-lease-seconds", "CAROM_MAX_FORK_LEASE_SECONDS",
                 &ServerOptions::max_fork_lease_seconds, 1, 86400,
                 "Seconds that a fork may ask to live without a frame, at most; bounds how long "
                 "what nobody uses takes memory"},
    NumberOption{"--pinned-versions", "CAROM_PINNED_VERSIONS", &ServerOptions::pinned_versions, 1,
                 1024,
                 "Versions of a scene in memory, with the current one, that frames and forks can "
                 "go back to"},
    NumberOption{"--pinned-bytes", "CAROM_PINNED_BYTES", &ServerOptions::pinned_bytes, 0,
                 1099511627776,
                 "Bytes of older versions of a scene in memory at most; of all scenes, a 16th of "
                 "what scenes may take"},
    NumberOption{"--history-versions", "CAROM_HISTORY_VERSIONS", &ServerOptions::history_versions,
                 1, 1024, "Versions of a scene that sqlite or etcd keeps, with the current one"},
    NumberOption{"--history-bytes", "CAROM_HISTORY_BYTES", &ServerOptions::history_bytes, 0,
                 1099511627776,
                 "Bytes of older versions of a scene that sqlite or etcd keeps, about"},
    NumberOption{
        "--store-bytes", "CAROM_STORE_BYTES", &ServerOptions::store_bytes, 1048576, 1099511627776,
        "Bytes of etcd's file from which on nothing is added; below etcd's own quota, which "
        "stops all writes"},
    NumberOption{"--memory-quota-bytes", "CAROM_MEMORY_QUOTA_BYTES",
                 &ServerOptions::memory_quota_bytes, 16777216, 1099511627776,
                 "Bytes of gRPC's buffers at most; calls beyond get RESOURCE_EXHAUSTED"},
    NumberOption{
        "--memory-limit-bytes", "CAROM_MEMORY_LIMIT_BYTES", &ServerOptions::memory_limit_bytes, 0,
        1125899906842624,
        "Bytes that clients can make the server hold, in all; 0: three quarters of what its "
        "control group or its machine has"},
    NumberOption{"--idle-stream-seconds", "CAROM_IDLE_STREAM_SECONDS",
                 &ServerOptions::idle_stream_seconds, 1, 86400,
                 "Seconds without a frame, or with an unread answer, after which a stream ends, or "
                 "an Evaluate "
                 "call with an unread answer; frees forgotten sessions"},
    NumberOption{
        "--stalled-stream-seconds", "CAROM_STALLED_STREAM_SECONDS",
        &ServerOptions::stalled_stream_seconds, 1, 86400,
        "Seconds after which a stream or Evaluate call ends whose client reads no answer while "
        "more than the unread bytes wait, and a scene call whose client does not read its answer"},
    NumberOption{"--import-seconds", "CAROM_IMPORT_SECONDS", &ServerOptions::import_seconds, 1,
                 86400, "Seconds of an import at most; frees what a slow client has sent"},
    NumberOption{"--sweep-seconds", "CAROM_SWEEP_SECONDS", &ServerOptions::sweep_seconds, 1, 86400,
                 "Seconds, about, from one deletion of pages in etcd that no version has to the "
                 "next"},
    NumberOption{"--drain-seconds", "CAROM_DRAIN_SECONDS", &ServerOptions::drain_seconds, 0, 3600,
                 "Seconds after SIGTERM for calls in progress; keep it below the time that the "
                 "supervisor allows"},
    NumberOption{
        "--threads", "CAROM_THREADS", &ServerOptions::threads, 0, 1024,
        "Threads that answer small frames, as many for large ones, and as many for scenes; 0: "
        "one for each that can run at once, within the CPU limit of the control group"},
    NumberOption{"--shadow-interval", "CAROM_SHADOW_INTERVAL", &ServerOptions::shadow_interval, 0,
                 4294967295,
                 "Batches of moves from one that is also answered without memory, and compared, to "
                 "the next; 0: never"},
};

// Whether an address has the form of one. Whether it can be listened on:
// server/transport/listener.h.
bool IsAddress(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "unix:")) {
    return !address.empty() && address.size() <= kMaxUnixPathBytes;
  }
  const size_t colon = address.rfind(':');  // the last one: an IPv6 host has others
  if (colon == absl::string_view::npos || colon == 0) return false;
  const absl::string_view digits = address.substr(colon + 1);
  uint32_t port = 0;
  return !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(digits, &port) && port <= 65535;
}

// Whether nobody but this machine can connect to an address.
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

// What is wrong with a value, in the words of an error; empty if nothing is. CLI11 and
// `CheckServerOptions` share these checks.

std::string CheckAddressFlag(const std::string& value) {
  if (IsAddress(value)) return "";
  return absl::StrCat("must be HOST:PORT with a port in [0, 65535], or unix:PATH with at most ",
                      kMaxUnixPathBytes, " bytes");
}

std::string CheckStoreFlag(const std::string& value) {
  if (value == "memory" || value == "sqlite") return "";
  if (!absl::StartsWith(value, "etcd:")) return "must be sqlite, memory or etcd://HOST:PORT/PREFIX";
  return std::string(ParseEtcdUrl(value).status().message());
}

// A path that is given and empty is a mistake, as of a variable that was not set: nobody who asks
// for credentials is to get a server without. Where nothing is given there is no such option.
void AddPath(CLI::App& app, ServerOptions& options, const FileOption& file) {
  CLI::Option* const option =
      app.add_option(file.flag, options.*file.member, file.help)->envname(file.environment);
  option->check(CLI::Validator(
      [](const std::string& path) {
        return path.empty() ? std::string("must be a path, and is empty") : std::string();
      },
      ""));
}

// What CLI11 takes for a variable that is not there.
absl::Status CheckEnvironment() {
  for (const FileOption& file : kFileOptions) {
    const char* const value = std::getenv(file.environment);
    if (value != nullptr && *value == '\0') {
      return InvalidField(file.environment, "must be a path, and is empty");
    }
  }
  return absl::OkStatus();
}

// Who can reach the address, and whether that is safe.
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
                        "must not be with --credentials: nobody is asked for one there");
  }
  if (IsLocal(options.address)) return absl::OkStatus();
  if (!options.credentials.empty() && !is_encrypted) {
    return InvalidField("--credentials",
                        "must be with --tls-certificate, or on a loopback address or unix:PATH: "
                        "tokens could be read on their way");
  }
  if (options.allow_plaintext_network) return absl::OkStatus();
  if (!is_encrypted) {
    return InvalidField("--address",
                        "must be a loopback address or unix:PATH without --tls-certificate, unless "
                        "--allow-plaintext-network is given");
  }
  if (options.tls_client_ca.empty() && options.credentials.empty()) {
    return InvalidField("--credentials",
                        "must be given, or --tls-client-ca: others than this machine can reach the "
                        "address");
  }
  return absl::OkStatus();
}

// Who it is whose password is given, and where a certificate without a key leads.
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
                 "Where to listen: HOST:PORT (port 0: any free one) or unix:PATH")
      ->envname("CAROM_ADDRESS")
      ->capture_default_str()
      ->check(CLI::Validator(CheckAddressFlag, "", "address"));
  app.add_option("--store", options.store,
                 "Where scenes are kept: sqlite (a file in --state-dir), memory (gone on exit), or "
                 "etcd://[USER@]HOST:PORT[,HOST:PORT...]/PREFIX (shared with other servers)")
      ->envname("CAROM_STORE")
      ->capture_default_str()
      ->check(CLI::Validator(CheckStoreFlag, "", "store"));
  for (const FileOption& file : kFileOptions) AddPath(app, options, file);
  app.add_flag("--reflection", options.reflection,
               "Serve reflection and channelz, which tools such as grpcurl ask")
      ->envname("CAROM_REFLECTION");
  app.add_flag("--allow-plaintext-network", options.allow_plaintext_network,
               "Listen on addresses that other machines can reach, though there is no encryption")
      ->envname("CAROM_ALLOW_PLAINTEXT_NETWORK");
  app.add_flag(
         "--trust-forwarded-for", options.trust_forwarded_for,
         "Take who a client is from the header x-forwarded-for, on a Unix socket that a proxy "
         "alone can connect to")
      ->envname("CAROM_TRUST_FORWARDED_FOR");
  // CLI11 would append a text of its own to ranges; the help names them itself.
  for (const NumberOption& number : kNumberOptions) {
    app.add_option(number.flag, options.*number.member,
                   absl::StrCat(number.help, ". In [", number.min, ", ", number.max, "]"))
        ->envname(number.environment)
        ->capture_default_str()
        ->check(CLI::Range(number.min, number.max).description(""));
  }
}

}  // namespace

// Not a folder of the system's, which caromd may not write: it runs as anybody.
std::string DefaultStateDir() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  // systemd may give several, with colons between.
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
                        "must be with --address unix:PATH, since whoever connects is believed");
  }
  if (const std::string why = CheckStoreFlag(options.store); !why.empty()) {
    return InvalidField("--store", why);
  }
  if (absl::Status status = CheckEtcd(options); !status.ok()) return status;
  if (options.store == "sqlite" && options.state_dir.empty() && DefaultStateDir().empty()) {
    return InvalidField("--state-dir", "must be given: there is no home folder to keep scenes in");
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
  CLI::App app("caromd answers what touches what in 2D scenes, exactly, over gRPC.", "caromd");
  app.footer(
      "Each flag may be given by the environment variable named beside it; a flag wins over it.");
  AddFlags(app, options);
  // CLI11 reports by exceptions, `--help` and `--version` among them.
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
