// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the commands of `carom` share: how they are added, where the server is, how they fail.
//
// Each `Add…` adds one command to `app` and, when that command is the one given, leaves the exit
// status of the process in `exit_status`: 0 for success, 1 if a request failed (the message is on
// standard error). Command lines that cannot be read are CLI11's: exit status 2.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "carom/client.h"

namespace CLI {
class App;
class Error;
class Option;
}  // namespace CLI

namespace carom::cli {

// Exit statuses, as `carom --help` lists them.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

void AddSceneCommands(CLI::App& app, int& exit_status);
void AddCastCommand(CLI::App& app, int& exit_status);
void AddBundleCommand(CLI::App& app, int& exit_status);
void AddEvalCommand(CLI::App& app, int& exit_status);
void AddDemoCommand(CLI::App& app, int& exit_status);
void AddLoadCommand(CLI::App& app, int& exit_status);

// Adds `--address` to `command`: the flag, else CAROM_ADDRESS, else 127.0.0.1:7420.
void AddAddress(CLI::App& command, std::string& address);

// Adds `--ca`, `--certificate`, `--key` and `--token-file` to `command`: the flag, else CAROM_CA,
// CAROM_CERTIFICATE, CAROM_KEY and CAROM_TOKEN_FILE, else none. All are paths: a secret on a
// command line is seen by every user of the machine.
void AddSecurity(CLI::App& command, ClientOptions& options);

// `scenes/arena` for `arena` and for `scenes/arena`.
std::string FullName(std::string_view scene);

// Writes `text` to the file `path`. UNKNOWN if it cannot be written.
absl::Status WriteFile(const std::string& path, const std::string& text);

// Writes `carom: CODE: message` and further violations to standard error; returns `kFailure`.
int Fail(const absl::Status& status);

// The same for a request about `scene`, which the message names in place of the request's field.
int FailOf(std::string_view scene, const absl::Status& status);

// The option `name` of `command`: a coordinate (carom/geometry.h), in the user's own notation.
CLI::Option* AddCoordinate(CLI::App& command, const std::string& name, double& value);

// Why the command line could not be read, in a line: the argument at fault as it was typed, and the
// command or option that may have been meant.
std::string UsageMessage(CLI::App& app, const CLI::Error& error);

// The command that was asked for, or as much of it as there is: `carom scene import`.
std::string CommandName(CLI::App& app);

}  // namespace carom::cli
