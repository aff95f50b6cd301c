// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The main program of the command line `carom COMMAND`.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/command.h"

// client/CMakeLists.txt sets CAROM_VERSION. The fallback is for tools that compile this file
// without CMake's definitions.
#ifndef CAROM_VERSION
#define CAROM_VERSION "unversioned"
#endif

namespace {

// Returns the arguments in reverse order, as CLI11 expects them. Turns `help COMMAND` into
// `COMMAND --help`.
std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return {arguments.rbegin(), arguments.rend()};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Exact 2D collision queries: manage and query the scenes of a caromd server",
               "carom"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "carom " CAROM_VERSION);
  app.footer(
      "`carom help COMMAND` prints a command's arguments.\n"
      "Exit status: 0 success; 1 a request failed (code and field on standard error), or eval read "
      "a line that is not JSON; 2 the command line is malformed.");
  int exit_status = carom::cli::kSuccess;
  carom::cli::AddSceneCommands(app, exit_status);
  carom::cli::AddCastCommand(app, exit_status);
  carom::cli::AddBundleCommand(app, exit_status);
  carom::cli::AddEvalCommand(app, exit_status);
  carom::cli::AddDemoCommand(app, exit_status);
  carom::cli::AddLoadCommand(app, exit_status);
  try {
    app.parse(Arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    // CLI11 also throws to print the help or the version, with exit code 0.
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "carom: " << carom::cli::UsageMessage(app, error) << "\nRun `"
              << carom::cli::CommandName(app) << " --help` for usage.\n";
    return carom::cli::kUsage;
  }
  return exit_status;
}
