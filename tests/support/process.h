// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Child processes for tests: run one to its end with `RunProcess`, or keep a `caromd` up with
// `ServerProcess`.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace carom::testing {

/// What a child left. `exit_code` is the exit status, 128 + n after signal n, and −1 where it could
/// not be started
/// (`standard_error` says why) or was killed because its time was up (`timed_out`).
struct ProcessResult {
  int exit_code = -1;
  bool timed_out = false;
  std::string standard_output;
  std::string standard_error;
};

/// Runs `command` (looked up in PATH) with `standard_input` until it ends or `timeout_seconds` have
/// passed. Input and outputs of any size are moved at the same time, so neither side waits for the
/// other for ever.
ProcessResult RunProcess(const std::vector<std::string>& command, const std::string& standard_input,
                         double timeout_seconds);

/// A running `caromd`. Not copyable; the destructor kills what still runs. Not thread-safe.
class ServerProcess {
 public:
  /// Starts `binary --address ADDRESS extra…` and waits for its line `caromd listening on
  /// HOST:PORT`. Returns null where that line does not come within `timeout_seconds`.
  static std::unique_ptr<ServerProcess> Start(const std::string& binary,
                                              const std::vector<std::string>& extra = {},
                                              double timeout_seconds = 20.0,
                                              const std::string& address = "127.0.0.1:0");

  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  /// Returns HOST:PORT.
  const std::string& address() const { return address_; }
  pid_t pid() const { return pid_; }

  /// Sends SIGTERM and returns the exit status as in ProcessResult; after `timeout_seconds` kills
  /// it and returns −1.
  int Stop(double timeout_seconds = 20.0);

 private:
  ServerProcess(pid_t pid, int output) : pid_(pid), output_(output) {}

  pid_t pid_;
  int output_;
  std::string address_;
};

}  // namespace carom::testing
