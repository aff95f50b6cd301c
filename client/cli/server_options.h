// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which server does a command call, and with which credentials?
//
// A command adds the flags by `AddServer` and connects by `ConnectTo`. What the user does not give
// as a flag comes from the context that `--context` names, else from the environment (CAROM_ADDRESS
// and so on), else from the current context of the configuration file:
//
//   current = "staging"
//
//   [contexts.staging]
//   address = "carom.staging:7420"
//   ca = "/etc/carom/ca.pem"
//
// A context has the members address, ca, certificate, key and token_file. The file is
// $XDG_CONFIG_HOME/carom/config.toml, with ~/.config in place of an absent XDG_CONFIG_HOME.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/client.h"

namespace CLI {
class App;
}  // namespace CLI

namespace carom::cli {

// The flags of a command; empty members were not given.
struct ServerOptions {
  std::string address;
  std::string context;
  ClientOptions client;
};

// Adds the flags `--address`, `--context`, `--ca`, `--certificate`, `--key` and `--token-file`. All
// values of the last four are paths, because every user of a machine can read command lines.
void AddServer(CLI::App& command, ServerOptions& options);
// Adds `--context` to the program itself, for all commands that do not have the flag.
void AddContext(CLI::App& app);

// Returns the options with what comes from contexts, the environment and the defaults. Errors:
// INVALID_ARGUMENT naming the configuration file and the line, or the member, of a fault in it;
// NOT_FOUND for a context that is not in the file, with the nearest names.
absl::StatusOr<ServerOptions> Resolved(ServerOptions options);
// Returns what `Resolved` returned last in this process, for advice about a server that does not
// answer.
const ServerOptions& CalledServer();
// Returns a client of the server that the options name. Errors: those of `Resolved` and
// `Client::Connect`.
absl::StatusOr<std::unique_ptr<Client>> ConnectTo(const ServerOptions& options);

// One context of the configuration file.
struct Context {
  std::string name;
  std::string address;
  bool is_current = false;
};
// Returns the contexts of the configuration file, by name; none if there is no file. Errors: those
// of `Resolved` about the file.
absl::StatusOr<std::vector<Context>> Contexts();

}  // namespace carom::cli
