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

namespace CLI {
class App;
}

namespace carom::cli {

// Exit statuses, as `carom --help` tells them.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

void AddSceneCommands(CLI::App& app, int& exit_status);
void AddCastCommand(CLI::App& app, int& exit_status);
void AddEvalCommand(CLI::App& app, int& exit_status);
void AddDemoCommand(CLI::App& app, int& exit_status);
void AddLoadCommand(CLI::App& app, int& exit_status);

// Adds `--address` to `command`: the flag, else CAROM_ADDRESS, else 127.0.0.1:7420.
void AddAddress(CLI::App& command, std::string& address);

// `scenes/arena` for `arena` and for `scenes/arena`.
std::string FullName(std::string_view scene);

// Writes `carom: CODE: message` and further violations to standard error; returns `kFailure`.
int Fail(const absl::Status& status);

}  // namespace carom::cli
