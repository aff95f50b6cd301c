// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/command.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "carom/status.h"

namespace carom::cli {

void AddAddress(CLI::App& command, std::string& address) {
  // CLI11 would read the variable for every command that has the flag, over one that was given.
  const char* environment = std::getenv("CAROM_ADDRESS");
  address = environment && *environment ? environment : "127.0.0.1:7420";
  command
      .add_option("--address", address,
                  "Server: host:port or unix:PATH, or a list with commas; else CAROM_ADDRESS")
      ->capture_default_str();
}

std::string FullName(std::string_view scene) {
  const std::string name(scene);
  return scene.starts_with("scenes/") ? name : "scenes/" + name;
}

int Fail(const absl::Status& status) {
  std::cerr << "carom: " << absl::StatusCodeToString(status.code()) << ": " << status.message()
            << '\n';
  const std::vector<Violation> violations = Violations(status);
  if (violations.size() > 1) {  // the message tells the first
    for (const Violation& violation : violations) {
      std::cerr << "  " << violation.field << ": " << violation.description << '\n';
    }
  }
  return kFailure;
}

}  // namespace carom::cli
