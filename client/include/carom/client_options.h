// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can a program choose about a client and its calls?
//
// `ClientOptions` are those of a client (carom/client.h), `CallOptions` those of one call, and
// `ForkOptions` those of a fork. All have defaults; each call takes `CallOptions` last.
//
//   ClientOptions options;
//   options.call_timeout = std::chrono::seconds(5);
//   const auto client = Client::Connect(address, options).value();
//   const CallOptions minute{.timeout = std::chrono::seconds(60)};  // other calls may take 5 s
//   const auto scene = client->GetScene("scenes/arena", minute);
//   // scene->polygon_count == 1
//
// Times are in the units of their types, sizes in bytes. Thread-safe: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace carom {

struct ClientOptions {
  // Behaviour. Timeout of calls without a `CallOptions::timeout`; zero: none. Streams have none.
  std::chrono::milliseconds call_timeout{30000};
  // Interval of keepalive pings: after this time without data in a call or stream, the client pings
  // the server. If the server does not respond within another interval (20 s at most), calls and
  // streams fail with UNAVAILABLE. A server treats pings at intervals below 10 s as an attack and
  // closes the connection. Zero means no pings.
  std::chrono::milliseconds keepalive_interval{60000};

  // Security. The following options are paths of files. `Connect` checks the files, and the client
  // reads a file again when it changes: certificates and keys within a second, for later
  // connections; the token at the next call. If the changed file cannot be used, the client keeps
  // using the previous content.
  //
  // Certificates in PEM of the authorities that sign the server's certificate. The client then
  // connects by TLS; empty means plaintext.
  std::string ca_file = {};
  // Certificate of the client followed by the certificates of its signers, and the key of the
  // client without a passphrase, in PEM; both may be in one file. Empty means none.
  std::string certificate_file = {};
  std::string key_file = {};
  // Token that every call carries, over TLS or to a server on this machine. Empty means none.
  std::string token_file = {};

  // Performance. Whether the client has its own connection; else clients of one process share a
  // connection to the same target. One connection carries at most about as much traffic as one core
  // can process; with less traffic than that, leave this option false.
  bool own_connection = false;
  // Maximum number of bytes of a message that the client accepts. The answer to a frame with
  // 262,144 hits, the server's default limit, is below 32 MiB.
  int32_t max_receive_bytes = 64 << 20;
};

// Called with how many vertices of a transfer are done, and of how many; 0: unknown.
using TransferProgress = std::function<void(uint64_t done, uint64_t total)>;

struct CallOptions {
  // Time after which the call fails with DEADLINE_EXCEEDED. Absent means
  // `ClientOptions::call_timeout`. Zero means no timeout.
  std::optional<std::chrono::milliseconds> timeout;
  // Called by `ImportScene` and `ExportScene`, on the thread of the call, after each message of
  // about 1 MiB. The total of an export is not known. Must exist until the call returns.
  const TransferProgress* progress = nullptr;
  // Text of at most 1,024 bytes that a version made by `ImportScene` keeps (`SceneVersion::note`).
  absl::string_view note = "";
};

// Options of `Client::ForkScene`, which makes a fork: an editable copy of a scene on one server.
struct ForkOptions {
  uint64_t version = 0;   // version of the scene that is forked; 0: its current version
  std::string name = {};  // `scenes/{scene}`; empty: the client chooses a name
  // time without use after which the server deletes the fork; 0: the server's default, 60 s
  std::chrono::seconds lease{0};
};

}  // namespace carom
